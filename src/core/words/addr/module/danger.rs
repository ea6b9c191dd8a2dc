//! Sources that are unsafe by their text alone, even if the programs accept them (rules 5.9).

use super::{ModuleSource, Query, RemoteModule};

/// The reason why a source is not fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Danger {
    /// The module is the directory above its package.
    #[error("the directory {sub:?} is not in the package")]
    LeavesPackage {
        /// The directory, as the source names it.
        sub: Box<str>,
    },
    /// The address of a repository would be an option of git, or a transport that runs a program.
    #[error("git would run a program: {transport:?} is no protocol of a repository")]
    Transport {
        /// The text in the place of the protocol.
        transport: Box<str>,
    },
    /// The ref would be an option of git.
    #[error("the ref begins with a dash")]
    Ref,
}

impl ModuleSource {
    /// Returns why the module must not be fetched, where the source shows that.
    ///
    /// ```
    /// use lockctl_core::addr::module::{Danger, ModuleSource};
    /// use lockctl_core::flavor::Flavor;
    ///
    /// let source = ModuleSource::parse("git::https://h.test/r.git?ref=-x", Flavor::OpenTofu1_12)?;
    /// assert_eq!(source.danger(), Some(Danger::Ref));
    /// # Ok::<(), lockctl_core::addr::module::ModuleSourceError>(())
    /// ```
    #[must_use]
    pub fn danger(&self) -> Option<Danger> {
        let leaves = |sub: &str| sub == ".." || sub.starts_with("../");
        match self {
            Self::Local(_) => None,
            _ if leaves(self.sub()) => Some(Danger::LeavesPackage {
                sub: self.sub().into(),
            }),
            Self::Registry(_) => None,
            Self::Remote(remote) => remote.danger(),
        }
    }
}

impl RemoteModule {
    fn danger(&self) -> Option<Danger> {
        let (kind, url) = self.forced_kind();
        if kind != Some("git") {
            return None;
        }
        // `TRANSPORT::ADDRESS` is how git calls a helper program of that name.
        if let Some((transport, _)) = url.split_once("::")
            // Behind a slash the colons are part of a path.
            && !transport.contains('/')
        {
            let transport = transport.into();
            return Some(Danger::Transport { transport });
        }
        // git would take the address for an option, as `--upload-pack=COMMAND`.
        if url.starts_with('-') {
            let transport = url.split(':').next().unwrap_or(url).into();
            return Some(Danger::Transport { transport });
        }
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let query = Query::parse_readable(query);
        let is_option = query.get("ref").is_some_and(|name| name.starts_with('-'));
        is_option.then_some(Danger::Ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flavor::Flavor;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let source = ModuleSource::parse(source, Flavor::Terraform1_11).expect("valid");
        let danger = source.danger().map(|danger| danger.to_string());
        assert_eq!(danger.unwrap_or_default(), expected, "of {source}");
    }

    #[test]
    fn what_is_unsafe_is_seen_in_the_text() {
        for safe in [
            "acme/net/aws//a",
            "./..",
            "git::https://h.test/r.git?ref=v1-x",
            "git::ssh://git@h.test/r.git",
            "https://h.test/a::b.zip?ref=-x",
        ] {
            check(safe, "");
        }
        check(
            "acme/net/aws//..",
            "the directory \"..\" is not in the package",
        );
        check(
            "git::https://h.test/r//..",
            "the directory \"..\" is not in the package",
        );
        check(
            "git::https://h.test/r?ref=--upload-pack%3Did",
            "the ref begins with a dash",
        );
        check(
            "git::ext::sh -c id",
            "git would run a program: \"ext\" is no protocol of a repository",
        );
    }
}
