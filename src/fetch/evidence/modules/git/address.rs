//! The address of a repository: what goes to git, and what only lockctl reads (rules 5.1, 5.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::GitFailure;
use crate::addr::module::Query;
use crate::world::Secret;

/// Who wrote an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOrigin {
    /// The user, in configuration that is trusted to name files of this machine.
    User,
    /// A registry or a web server, over an encrypted connection: it may not name files of this machine, but settings
    /// of the user's git may put a file in the place of what it names.
    Server,
    /// As [`AddressOrigin::Server`], over a connection that is not encrypted.
    PlainServer,
    /// A repository that names a submodule: settings do not put a file in its place either, as in git.
    Repository,
}

/// The address of a repository, with what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitAddress {
    /// The URL for git; it begins with one of the schemes that are allowed, or is `[USER@]HOST:PATH`.
    url: String,
    /// The address for messages, without secrets.
    shown: String,
    /// The text that must not be in any message.
    password: Option<Secret>,
    pub(super) reference: Option<String>,
    /// Only the last commits are fetched: then a ref has to be the name of a branch or tag.
    pub(super) is_shallow: bool,
    pub(super) key: Option<Secret>,
    pub(super) origin: AddressOrigin,
}

/// The schemes that git may be given.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "git"];

/// Minimum length of a password that is masked anywhere in a message, in bytes; a shorter one would be
/// found in words.
const MIN_VEILED_BYTES: usize = 4;

/// The scheme of a directory of this machine.
const FILE: &str = "file";

impl GitAddress {
    /// Reads the address of a package: a URL with its query, perhaps behind `git::`.
    pub(super) fn parse(package: &str, origin: AddressOrigin) -> Result<Self, GitFailure> {
        let package = package.strip_prefix("git::").unwrap_or(package);
        let (base, query) = package.split_once('?').unwrap_or((package, ""));
        let mut query = Query::parse_readable(query);
        let stated =
            |query: &Query, name| query.get(name).filter(|v| !v.is_empty()).map(str::to_owned);
        let reference = stated(&query, "ref");
        let is_shallow = query
            .get("depth")
            .and_then(|depth| depth.parse::<i64>().ok())
            .is_some_and(|depth| depth > 0);
        let key = match stated(&query, "sshkey") {
            None => None,
            Some(text) => {
                let key = STANDARD.decode(text.replace(['\r', '\n'], "")).ok();
                let key = key.and_then(|key| String::from_utf8(key).ok());
                let fault = "the address has an sshkey that is no base64 of a key";
                Some(Secret::new(
                    key.ok_or_else(|| GitFailure::Unusable(fault.to_owned()))?,
                ))
            }
        };
        // go-getter takes these arguments out; git gets the others (rules 5.1).
        for name in ["ref", "depth", "sshkey"] {
            query.remove(name);
        }
        let rest = query.encode();
        let url = if rest.is_empty() {
            base.to_owned()
        } else {
            format!("{base}?{rest}")
        };
        if let Some(reference) = &reference {
            // git could take such a ref for something else.
            let why = if reference.starts_with('-') {
                Some("it looks like an option")
            } else if reference.chars().any(char::is_control) {
                Some("it has a control character")
            } else {
                None
            };
            if let Some(why) = why {
                let what = format!("the ref {reference:?}");
                return Err(GitFailure::Refused { what, why });
            }
        }
        let (url, shown, password) = check_url(url, origin)?;
        Ok(Self {
            url,
            shown,
            password,
            reference,
            is_shallow,
            key,
            origin,
        })
    }

    /// Makes the address of a submodule, which a repository names; the key is that of its parent.
    pub(super) fn of_submodule(url: String, key: Option<Secret>) -> Result<Self, GitFailure> {
        let (url, shown, password) = if scp_like(&url) {
            (url.clone(), url, None)
        } else {
            // A repository may not lead to files of this machine or to helper programs (rules 7.3).
            check_url(url, AddressOrigin::Repository)?
        };
        Ok(Self {
            url,
            shown,
            password,
            reference: None,
            is_shallow: false,
            key,
            origin: AddressOrigin::Repository,
        })
    }

    /// Returns the URL as git gets it: with a password, if it has one.
    pub(super) fn secret_url(&self) -> &str {
        &self.url
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Masks the secrets of the address in a text.
    pub(super) fn veil(&self, text: &str) -> String {
        let text = text.replace(&self.url, &self.shown);
        let Some(password) = self.password.as_ref().map(Secret::reveal) else {
            return text;
        };
        let text = text.replace(&format!(":{password}@"), ":***@");
        if password.len() < MIN_VEILED_BYTES {
            return text;
        }
        text.replace(password, "***")
    }
}

/// Checks a URL; returns it with its spelling for messages and its password.
fn check_url(
    url: String,
    origin: AddressOrigin,
) -> Result<(String, String, Option<Secret>), GitFailure> {
    let refused = |what: String, why| Err(GitFailure::Refused { what, why });
    let Some((scheme, rest)) = url.split_once("://") else {
        // A text before `@` may be a user with a password.
        let what = match url.rsplit_once('@') {
            Some((_, rest)) => format!("the address \"…@{rest}\""),
            None => format!("the address {url:?}"),
        };
        return refused(what, "it is no URL");
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme == FILE {
        if origin != AddressOrigin::User {
            let what = format!("the address {url:?}");
            return refused(
                what,
                "only your own configuration may name files of this machine",
            );
        }
    } else if !SCHEMES.contains(&&*scheme) {
        let what = format!("the scheme {scheme:?}");
        return refused(what, "only https, http, ssh, git and file are");
    }
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let shown = match user.and_then(|user| user.split_once(':')) {
        Some((name, _)) => format!("{scheme}://{name}:***@{host}{path}"),
        None => format!("{scheme}://{rest}"),
    };
    let unsafe_address = |why| refused(format!("the address {shown:?}"), why);
    let lower = rest.to_ascii_lowercase();
    // git decodes the URL for credential helpers, whose protocol has one value per line: a line feed could name
    // another host (CVE-2020-5260).
    let ends_lines = ["%00", "%0a", "%0d"]
        .iter()
        .any(|escape| lower.contains(escape));
    if ends_lines || rest.chars().any(char::is_control) {
        return unsafe_address("it has a control character");
    }
    // ssh would take such a host for an option, such as `-oProxyCommand` (CVE-2017-1000117).
    if authority.starts_with('-') || host.starts_with('-') {
        return unsafe_address("its host looks like an option");
    }
    if host.is_empty() && scheme != FILE {
        return unsafe_address("it has no host");
    }
    let password = user
        .and_then(|user| user.split_once(':'))
        .map(|(_, password)| password)
        .filter(|password| !password.is_empty())
        .map(Secret::new);
    Ok((format!("{scheme}://{rest}"), shown, password))
}

/// Returns true if a text is `[USER@]HOST:PATH`, which git takes for ssh; false for a helper program, a path or
/// an option.
fn scp_like(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else {
        return false;
    };
    // On Windows, `C:\modules` is a path.
    let is_drive = cfg!(windows) && host.len() == 1;
    let bare = host.rsplit_once('@').map_or(host, |(_, host)| host);
    !bare.is_empty()
        && !is_drive
        && !host.contains('/')
        // git, or the ssh that it starts, would take these for options.
        && !host.starts_with('-')
        && !bare.starts_with('-')
        && !path.starts_with(':')
        && !path.starts_with("//")
        && !path.starts_with('-')
        && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the URL for git, the ref, and whether a depth or key is stated; or the error.
    fn parsed(package: &str, origin: AddressOrigin) -> String {
        match GitAddress::parse(package, origin) {
            Ok(address) => format!(
                "{} {:?}{}{}",
                address.url,
                address.reference.unwrap_or_default(),
                if address.is_shallow { " shallow" } else { "" },
                if address.key.is_some() { " key" } else { "" },
            ),
            Err(error) => format!("! {error}"),
        }
    }

    #[test]
    fn arguments_for_lockctl_are_taken_off() {
        for (package, expected) in [
            ("git::https://h/r.git", "https://h/r.git \"\""),
            ("https://h/r.git?ref=v1", "https://h/r.git \"v1\""),
            ("git::https://h/r.git?ref=", "https://h/r.git \"\""),
            (
                "git::https://h/r.git?ref=a%2Fb&ref=c",
                "https://h/r.git \"a/b\"",
            ),
            (
                "git::https://h/r.git?ref=v1.0.0+b",
                "https://h/r.git \"v1.0.0 b\"",
            ),
            (
                "git::https://h/r.git?x=1&ref=v1&a=b",
                "https://h/r.git?a=b&x=1 \"v1\"",
            ),
            (
                "git::https://h/r.git?depth=1&ref=v1",
                "https://h/r.git \"v1\" shallow",
            ),
            ("git::https://h/r.git?depth=0", "https://h/r.git \"\""),
            ("git::https://h/r.git?depth=x", "https://h/r.git \"\""),
            (
                "git::ssh://git@h/r.git?sshkey=a2V5",
                "ssh://git@h/r.git \"\" key",
            ),
            (
                "git::ssh://git@h/r.git?sshkey=%21",
                "! the address has an sshkey that is no base64 of a key",
            ),
            ("git::HTTPS://h/r.git", "https://h/r.git \"\""),
            ("git::file:///srv/r.git", "file:///srv/r.git \"\""),
        ] {
            assert_eq!(parsed(package, AddressOrigin::User), expected, "{package}");
        }
    }

    #[test]
    fn what_is_unsafe_never_reaches_git() {
        for package in [
            "git::https://h/r.git?ref=-b",
            "git::https://h/r.git?ref=--upload-pack=x",
            "git::https://h/r.git?ref=a%0Ab",
            "git::ext::sh -c x",
            "git::ext://sh",
            "git::fd::0",
            "git::-x",
            "git::--upload-pack=x",
            "git::ssh://-oProxyCommand=x/r",
            "git::ssh://-oProxyCommand=x@h/r",
            "git::ssh://u@-oProxyCommand=x/r",
            "git::https://h/a%0ahost=x",
            "git::https:///r.git",
            "git::ftp://h/r.git",
            "git::/srv/r.git",
        ] {
            let error = GitAddress::parse(package, AddressOrigin::User).expect_err(package);
            assert!(error.is_refusal(), "{package}: {error}");
        }
        for package in ["file:///srv/r.git", "git::FILE:///srv/r.git"] {
            let error = GitAddress::parse(package, AddressOrigin::Server).expect_err(package);
            assert!(error.is_refusal(), "{package}: {error}");
        }
    }

    #[test]
    fn submodules_name_no_files_and_no_programs() {
        for url in [
            "https://h/lib.git",
            "git@h:o/lib.git",
            "host:lib",
            "ssh://git@h/lib",
            "host:/lib",
        ] {
            assert!(
                GitAddress::of_submodule(url.to_owned(), None).is_ok(),
                "{url}"
            );
        }
        for url in [
            "/srv/lib",
            "lib",
            "file:///srv/lib",
            "ext::sh -c x",
            "h::x",
            "-u:x",
            "a@-o:x",
            ":x",
            "h:-x",
            "./a:b",
            "https://-h/x",
        ] {
            let error = GitAddress::of_submodule(url.to_owned(), None).expect_err(url);
            assert!(error.is_refusal(), "{url}: {error}");
        }
    }

    #[test]
    fn no_message_shows_a_password() {
        let package = "git::https://u:pass%21word@h/r.git?ref=v1&sshkey=a2V5";
        let address = GitAddress::parse(package, AddressOrigin::User).expect("good");
        assert_eq!(address.shown(), "https://u:***@h/r.git");
        let said = "fatal: https://u:pass%21word@h/r.git: pass%21word is wrong";
        assert_eq!(
            address.veil(said),
            "fatal: https://u:***@h/r.git: *** is wrong"
        );
        assert!(!format!("{address:?}").contains("a2V5"));
        let bad = GitAddress::parse("git::x@u:secret@h", AddressOrigin::User).expect_err("no URL");
        assert!(!bad.to_string().contains("secret"), "{bad}");
    }
}
