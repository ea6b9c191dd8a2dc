//! Module sources: what the `source` of a `module` block names (rules 5).

mod danger;
mod detect;
mod error;
mod query;
mod reference;

use std::fmt;

use super::Hostname;
use crate::flavor::Flavor;
pub use danger::Danger;
pub use error::ModuleSourceError;
use error::ModuleSourceErrorKind;
pub use query::{Query, QueryError};

/// The source of a module call in normal form; its `Display` is the text that `modules.json` records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModuleSource {
    /// A directory, from the calling module on.
    Local(LocalModule),
    /// A module of a registry.
    Registry(RegistryModule),
    /// A package that is fetched from where its address says.
    Remote(RemoteModule),
}

/// A directory, from the calling module on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalModule {
    /// The path with slashes, without `.` and `..` between its parts; begins with `./` or `../`.
    pub path: Box<str>,
}

/// A module of a registry, as in `registry.terraform.io/acme/net/aws//modules/vpc`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegistryModule {
    /// The host of the registry.
    pub host: Hostname,
    /// Whose module it is; case matters.
    pub namespace: Box<str>,
    /// The name of the module; case matters.
    pub name: Box<str>,
    /// The remote system that it is for.
    pub system: Box<str>,
    /// The directory of the module in its package, with slashes; empty for the package itself.
    pub sub: Box<str>,
}

/// A package with a full address, as in `git::https://example.com/net.git//vpc?ref=v1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteModule {
    /// The address of the package: a URL with its query, behind `KIND::` where that is forced.
    ///
    /// Two packages are the same within a run if this text is equal.
    pub package: Box<str>,
    /// The directory of the module in the package, with slashes, perhaps with a pattern; empty for the
    /// package itself.
    pub sub: Box<str>,
}

/// The beginnings of local sources; a backslash means the same on every system.
const LOCAL_PREFIXES: [&str; 4] = ["./", "../", ".\\", "..\\"];
/// Hosts that hold repositories, so that an address on them is never one of a registry.
const REPOSITORY_HOSTS: [&str; 2] = ["github.com", "bitbucket.org"];
/// Arguments of a query that are no secret.
const SHOWN_ARGUMENTS: [&str; 8] = [
    "ref", "rev", "depth", "archive", "checksum", "filename", "tag", "digest",
];
/// Maximum length of a part of a registry address, in characters (rules 5.3).
const MAX_PART_CHARS: usize = 64;

impl ModuleSource {
    /// Reads the source of a call without a version and brings it to normal form (rules 5.1).
    ///
    /// No request is made. A kind of package that the programs cannot fetch is no error.
    ///
    /// # Errors
    /// If the text is an address of no kind, or its subdirectory leads out of the package.
    ///
    /// ```
    /// use lockctl_core::addr::module::ModuleSource;
    /// use lockctl_core::flavor::Flavor;
    ///
    /// let source = ModuleSource::parse("github.com/acme/net//vpc?ref=v1", Flavor::Terraform1_11)?;
    /// assert_eq!(source.to_string(), "git::https://github.com/acme/net.git//vpc?ref=v1");
    /// # Ok::<(), lockctl_core::addr::module::ModuleSourceError>(())
    /// ```
    pub fn parse(text: &str, flavor: Flavor) -> Result<Self, ModuleSourceError> {
        if LOCAL_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
            let path = reference::clean(&text.replace('\\', "/"));
            // `../` alone becomes `./..`: that is what the programs record (rules 5.2).
            let path = if path.starts_with("../") {
                path
            } else {
                format!("./{path}")
            };
            return Ok(Self::Local(LocalModule { path: path.into() }));
        }
        // `a/b/c` is an address of a registry, never a path: local sources begin with `./` (rules 5.1,
        // 5.2).
        if let Ok(registry) = RegistryModule::parse(text, flavor) {
            return Ok(Self::Registry(registry));
        }
        RemoteModule::parse(text).map(Self::Remote)
    }

    /// Returns the directory of the module in its package; empty for the package itself, and for a
    /// local module.
    #[must_use]
    pub fn sub(&self) -> &str {
        match self {
            Self::Local(_) => "",
            Self::Registry(registry) => &registry.sub,
            Self::Remote(remote) => &remote.sub,
        }
    }
}

impl ModuleSource {
    /// Returns the normal form without what may be secret.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Remote(remote) => remote.shown(),
            Self::Local(_) | Self::Registry(_) => self.to_string(),
        }
    }

    /// Names the host and the repository or package, without what may be secret; `None` for a local module.
    ///
    /// ```
    /// use lockctl_core::addr::module::ModuleSource;
    /// use lockctl_core::flavor::Flavor;
    ///
    /// let source = ModuleSource::parse("git@github.com:acme/net.git//vpc", Flavor::Terraform1_11)?;
    /// assert_eq!(source.repository().as_deref(), Some("github.com/acme/net"));
    /// # Ok::<(), lockctl_core::addr::module::ModuleSourceError>(())
    /// ```
    #[must_use]
    pub fn repository(&self) -> Option<String> {
        match self {
            Self::Local(_) => None,
            Self::Registry(RegistryModule {
                host,
                namespace,
                name,
                system,
                ..
            }) => Some(format!("{host}/{namespace}/{name}/{system}")),
            Self::Remote(remote) => Some(remote.repository()),
        }
    }
}

impl RegistryModule {
    /// Reads the source of a call with a version, which only a module of a registry has (rules 5.3).
    ///
    /// # Errors
    /// If the text is no address of a registry's module.
    pub fn parse(text: &str, flavor: Flavor) -> Result<Self, ModuleSourceError> {
        let refused = |kind| ModuleSourceError::of_registry(text, kind);
        let (address, sub) = split_sub(text);
        if leads_out(&sub) {
            return Err(refused(ModuleSourceErrorKind::LeavesPackage));
        }
        let parts: Vec<&str> = address.split('/').collect();
        let (host, namespace, name, system) = match *parts {
            [namespace, name, system] => (flavor.default_host(), namespace, name, system),
            [host, namespace, name, system] => (host, namespace, name, system),
            _ => return Err(refused(ModuleSourceErrorKind::Nothing)),
        };
        let host: Option<Hostname> = host.parse().ok();
        // An address at one of these hosts names a repository, in any form (rules 5.4).
        let host = host.filter(|host| {
            host.unicode().contains('.') && !REPOSITORY_HOSTS.contains(&host.unicode())
        });
        let is_system = (1..=MAX_PART_CHARS).contains(&system.len())
            && system
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
        let good_names = is_name(namespace) && is_name(name) && is_system;
        let Some(host) = host.filter(|_| good_names) else {
            return Err(refused(ModuleSourceErrorKind::Nothing));
        };
        Ok(Self {
            host,
            namespace: namespace.into(),
            name: name.into(),
            system: system.into(),
            sub: sub.into(),
        })
    }
}

impl RemoteModule {
    /// Reads a source that is neither local nor of a registry, or an address that a registry names
    /// (rules 5.5 to 5.7).
    ///
    /// # Errors
    /// If the text is no such address, or its subdirectory leads out of the package.
    pub fn parse(text: &str) -> Result<Self, ModuleSourceError> {
        let refused = |kind| ModuleSourceError::of_call(text, kind);
        let (package, sub) = split_sub(text);
        if leads_out(&sub) {
            return Err(refused(ModuleSourceErrorKind::LeavesPackage));
        }
        // Before the detection, so that `//` of the user is not taken for a part of the shorthand
        // (rules 5.7).
        // A shorthand can hold a subdirectory as well, which comes first.
        let address = detect::address(&package).map_err(refused)?;
        let (package, outer) = split_sub(&address);
        let sub = match (&*outer, &*sub) {
            ("", _) => sub,
            (_, "") => outer,
            _ => reference::clean(&format!("{outer}/{sub}")),
        };
        // Checked again: two harmless subdirectories may lead out together.
        if leads_out(&sub) {
            return Err(refused(ModuleSourceErrorKind::LeavesPackage));
        }
        Ok(Self {
            package: package.into(),
            sub: sub.into(),
        })
    }

    /// Reads an address that must be written in full: with a scheme, or forced to a kind.
    ///
    /// # Errors
    /// If it is a shorthand or a path, or its subdirectory leads out of the package.
    pub fn parse_full(text: &str) -> Result<Self, ModuleSourceError> {
        let (package, _) = split_sub(text);
        let (_, rest) = detect::split_force(&package);
        if reference::form_of(rest) != reference::UrlForm::WithScheme {
            let kind = ModuleSourceErrorKind::Nothing;
            return Err(ModuleSourceError::of_call(text, kind));
        }
        Self::parse(text)
    }

    /// Returns the address without what may be secret: user, password, and most of the query.
    ///
    /// ```
    /// use lockctl_core::addr::module::RemoteModule;
    ///
    /// let module = RemoteModule::parse("git::https://u:p@h/r.git//x?token=1&ref=v1")?;
    /// assert_eq!(module.shown(), "git::https://h/r.git//x?ref=v1");
    /// # Ok::<(), lockctl_core::addr::module::ModuleSourceError>(())
    /// ```
    #[must_use]
    pub fn shown(&self) -> String {
        let (address, query) = self.package.split_once('?').unwrap_or((&self.package, ""));
        let mut address = address.split('#').next().unwrap_or_default().to_owned();
        if let Some(start) = address.find("://").map(|at| at + 3) {
            let end = address[start..]
                .find('/')
                .map_or(address.len(), |at| start + at);
            let at = address[start..end].rfind('@').map(|at| start + at + 1);
            // The name `git` of addresses for ssh is no secret, and belongs to them.
            if let Some(at) = at.filter(|at| &address[start..*at] != "git@") {
                address.replace_range(start..at, "");
            }
        }
        // Shown are arguments that are known to be harmless: others may hold tokens, as those of signed URLs.
        let query = query
            .split('&')
            .filter(|argument| {
                let name = argument.split('=').next().unwrap_or_default();
                SHOWN_ARGUMENTS.contains(&name)
            })
            .collect::<Vec<_>>()
            .join("&");
        let mark = if query.is_empty() { "" } else { "?" };
        let shown = Self {
            package: format!("{address}{mark}{query}").into(),
            sub: self.sub.clone(),
        };
        shown.to_string()
    }

    /// Names the host and the repository, as in `github.com/acme/net`, without what may be secret.
    #[must_use]
    pub fn repository(&self) -> String {
        let shown = Self {
            package: self.package.clone(),
            sub: "".into(),
        }
        .shown();
        let (_, address) = detect::split_force(&shown);
        let (address, _) = address.split_once('?').unwrap_or((address, ""));
        let (_, address) = address.split_once("://").unwrap_or(("", address));
        let address = address.strip_prefix("git@").unwrap_or(address);
        address
            .strip_suffix(".git")
            .unwrap_or(address)
            .trim_end_matches('/')
            .to_owned()
    }

    /// Returns the kind that the address is forced to, as in `git` of `git::https://…`, and the rest.
    #[must_use]
    pub fn forced_kind(&self) -> (Option<&str>, &str) {
        detect::split_force(&self.package)
    }
}

/// Splits the subdirectory off an address: the part between the first `//` behind the scheme and the query
/// (rules 5.7).
fn split_sub(text: &str) -> (String, String) {
    let (path, query) = match text.find('?') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    // The `//` of the scheme separates nothing.
    let start = path.find("://").map_or(0, |at| at + 3);
    let Some(at) = path[start..].find("//") else {
        return (text.to_owned(), String::new());
    };
    let (address, sub) = (&path[..start + at], &path[start + at + 2..]);
    let sub = match sub {
        "" => String::new(),
        sub => reference::clean(sub),
    };
    (format!("{address}{query}"), sub)
}

/// Returns whether a subdirectory leads out of its package; `..` alone passes, as in the programs (rules 5.7).
fn leads_out(sub: &str) -> bool {
    sub.starts_with("../")
}

fn is_name(text: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let inside = |b: &u8| b.is_ascii_alphanumeric() || b"-_".contains(b);
    // Letters or digits at both ends; case is kept (rules 5.3).
    let edges = is_edge(bytes.first()) && is_edge(bytes.last());
    edges && bytes.len() <= MAX_PART_CHARS && bytes.iter().all(inside)
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(local) => f.write_str(&local.path),
            Self::Registry(registry) => registry.fmt(f),
            Self::Remote(remote) => remote.fmt(f),
        }
    }
}

impl fmt::Display for RegistryModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.unicode();
        write!(f, "{host}/{}/{}/{}", self.namespace, self.name, self.system)?;
        match &*self.sub {
            "" => Ok(()),
            sub => write!(f, "//{sub}"),
        }
    }
}

impl fmt::Display for RemoteModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sub.is_empty() {
            return f.write_str(&self.package);
        }
        match self.package.split_once('?') {
            // The normal form has the subdirectory before the query, wherever the user wrote it (rules
            // 5.7).
            Some((address, query)) => write!(f, "{address}//{}?{query}", self.sub),
            None => write!(f, "{}//{}", self.package, self.sub),
        }
    }
}
