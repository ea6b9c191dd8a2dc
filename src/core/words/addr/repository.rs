//! Addresses of repositories of OCI artifacts.

use std::fmt;
use std::str::FromStr;

use super::Url;

/// The address of a repository in a registry of OCI artifacts: `DOMAIN[:PORT]/NAME`.
///
/// The domain is kept as it is written, since credentials are given for that.
///
/// ```
/// use lockctl_core::addr::RepositoryAddr;
///
/// let address: RepositoryAddr = "ghcr.io/acme/demo".parse()?;
/// assert_eq!((address.domain(), address.name()), ("ghcr.io", "acme/demo"));
/// assert!("https://ghcr.io/acme".parse::<RepositoryAddr>().is_err());
/// assert!("ghcr.io/Acme".parse::<RepositoryAddr>().is_err());
/// # Ok::<(), lockctl_core::addr::RepositoryAddrError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepositoryAddr {
    domain: Box<str>, // Invariant: the host and port of a URL, as written.
    name: Box<str>,   // Invariant: of the form that `is_name` wants.
}

/// A text that is no address of a repository of OCI artifacts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no OCI repository: write DOMAIN/NAME, as in ghcr.io/acme/demo, without scheme, tag or digest, and \
     the name in lower case"
)]
pub struct RepositoryAddrError {
    text: String,
}

/// The registry of this domain answers under another name than the one in addresses.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// Maximum length of an address, in bytes; the longest that registries accept has some 500.
const MAX_BYTES: usize = 1024;

impl RepositoryAddr {
    /// Returns the domain of the registry, with its port if that is stated.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the name of the repository in its registry.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the URL below which the registry answers; always https.
    #[must_use]
    pub fn registry(&self) -> Url {
        let host = match &*self.domain {
            domain if domain == DOCKER_HUB.0 => DOCKER_HUB.1,
            domain => domain,
        };
        let url = format!("https://{host}/v2/");
        url.parse().expect("the domain was checked")
    }

    /// Returns how many parts of the name a prefix of an address has, if this address begins with it:
    /// none for a domain alone.
    #[must_use]
    pub fn matched_parts(&self, prefix: &str) -> Option<usize> {
        let (domain, name) = prefix.split_once('/').unwrap_or((prefix, ""));
        if domain != &*self.domain {
            return None;
        }
        if name.is_empty() {
            return (domain == prefix).then_some(0);
        }
        let rest = self.name.strip_prefix(name)?;
        let ends_with_a_part = rest.is_empty() || rest.starts_with('/');
        (is_name(name) && ends_with_a_part).then(|| name.split('/').count())
    }

    /// Returns true if credentials can be given for this text: a domain or an address.
    #[must_use]
    pub fn is_prefix(text: &str) -> bool {
        if text.contains('/') {
            text.parse::<Self>().is_ok()
        } else {
            is_domain(text)
        }
    }
}

impl FromStr for RepositoryAddr {
    type Err = RepositoryAddrError;

    fn from_str(text: &str) -> Result<Self, RepositoryAddrError> {
        let parts = text
            .split_once('/')
            .filter(|(domain, name)| text.len() <= MAX_BYTES && is_domain(domain) && is_name(name));
        let (domain, name) = parts.ok_or_else(|| RepositoryAddrError {
            text: text.chars().take(MAX_BYTES).collect(),
        })?;
        Ok(Self {
            domain: domain.into(),
            name: name.into(),
        })
    }
}

impl fmt::Display for RepositoryAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.domain, self.name)
    }
}

/// Returns whether a text is a host, perhaps with a port.
fn is_domain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]_".contains(c);
    let url = format!("https://{text}/").parse::<Url>();
    // The text is a host if the URL parser keeps it as the host: anything else moves into other parts of the
    // URL. The parser drops the usual port.
    let kept = |url: Url| {
        let host = text.to_ascii_lowercase();
        let host = host.strip_suffix(":443").unwrap_or(&host).to_owned();
        url.host_and_port() == host && url.path() == "/"
    };
    text.chars().all(is_plain) && url.is_ok_and(kept)
}

/// Returns whether a text is the name of a repository: parts with slashes between them, each made of
/// lower-case letters and digits, with one `.`, one or two `_`, or any number of `-` between those.
fn is_name(text: &str) -> bool {
    let is_separator = |separator: &str| {
        matches!(separator, "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-')
    };
    let is_part = |part: &str| {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let begins_and_ends = part.starts_with(is_word) && part.ends_with(is_word);
        begins_and_ends
            && part
                .split(is_word)
                .filter(|between| !between.is_empty())
                .all(is_separator)
    };
    text.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_a_domain_and_a_name() {
        let parse = |text: &str| text.parse::<RepositoryAddr>();
        for text in [
            "a.example/b",
            "127.0.0.1:5000/acme/demo",
            "[::1]:5000/acme",
            "localhost/a__b/c.d/e---f",
            "a.example:443/b",
            "GHCR.io/b",
        ] {
            let address = parse(text).expect(text);
            assert_eq!(address.to_string(), text);
            assert_eq!(
                text.split_once('/'),
                Some((address.domain(), address.name()))
            );
        }
        let long = format!("a.example/{}", "a".repeat(MAX_BYTES));
        for text in [
            "https://a.example/b",
            "https:/b",
            "u:p@a.example/b",
            "a.example",
            "a.example//b",
            "/b",
            "a.example/UP/b",
            "a.example/b:tag",
            "a.example/b@sha256:c",
            "a.example/",
            "a.example/b/",
            "a.example/a___b",
            "a.example/-a",
            "a.example/a..b",
            "a.example/a/../b",
            "a.example?x/b",
            "a.example:x/b",
            &long,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn whole_parts_of_a_prefix_count() {
        let address: RepositoryAddr = "a.example:5000/acme/tools/demo".parse().expect("valid");
        for (prefix, parts) in [
            ("a.example:5000", Some(0)),
            ("a.example:5000/acme", Some(1)),
            ("a.example:5000/acme/tools/demo", Some(3)),
            ("a.example:5000/acme/tools/demo/x", None),
            ("a.example:5000/acm", None),
            ("a.example:5000/", None),
            ("a.example:5000/acme/", None),
            ("a.example", None),
            ("https://a.example:5000", None),
            ("", None),
        ] {
            assert_eq!(address.matched_parts(prefix), parts, "of {prefix:?}");
        }
    }

    #[test]
    fn registries_answer_below_their_domain() {
        let url = |text: &str| {
            let address: RepositoryAddr = text.parse().expect("valid");
            address.registry().to_string()
        };
        assert_eq!(url("a.example:5000/b"), "https://a.example:5000/v2/");
        assert_eq!(url("docker.io/b/c"), "https://registry-1.docker.io/v2/");
    }
}
