//! URLs of what is fetched.

use std::fmt;

use super::Hostname;

/// An absolute `http` or `https` URL, without a fragment.
///
/// Its `Display` leaves out what may be a secret: user, password and query.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Url {
    url: Box<url::Url>, // Invariant: the scheme is http or https, there is a host and no fragment.
}

/// A text that is no such URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The text is not a URL.
    #[error("{text:?} is no URL: {reason}")]
    Malformed {
        /// The text as it was given, cut and without a password.
        text: String,
        /// The message of the URL parser.
        reason: String,
    },
    /// The URL does not lead to a web server.
    #[error("a URL must use http or https, not {scheme}")]
    Scheme {
        /// The scheme as it was written.
        scheme: String,
    },
}

/// Scheme, host and port of a URL: credentials are bound to them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The connection is encrypted: the scheme is `https`.
    pub encrypted: bool,
    /// The host as the URL spells it: lower case, punycode; brackets around an IPv6 address.
    pub host: String,
    /// The port, also where it is the usual one.
    pub port: u16,
}

impl Url {
    /// Returns the URL of the service discovery document of a host (rules 4.1).
    ///
    /// # Errors
    /// If the host cannot be part of a URL.
    pub fn discovery(host: &Hostname) -> Result<Self, UrlError> {
        format!("https://{}/.well-known/terraform.json", host.ascii()).parse()
    }

    /// Resolves a reference against this URL, as a browser resolves a link.
    ///
    /// An empty reference is the URL itself.
    ///
    /// # Errors
    /// If the result is no URL for a web server.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        let joined = self.url.join(reference);
        Self::checked(joined.map_err(|error| malformed(reference, error))?)
    }

    /// Resolves a path of these parts, as [`join`](Self::join) would; characters with a meaning in URLs are
    /// escaped inside a part.
    #[must_use]
    pub fn below<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut url = self.url.clone();
        url.set_query(None);
        if let Ok(mut path) = url.path_segments_mut() {
            // The part behind the last slash, which may be empty, does not count.
            path.pop().extend(parts);
        }
        Self { url }
    }

    /// Returns where the URL leads.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin {
            encrypted: self.url.scheme() == "https",
            host: self.url.host_str().unwrap_or_default().to_owned(),
            port: self.url.port_or_known_default().unwrap_or_default(),
        }
    }

    /// Returns the host, with the port where it is an unusual one.
    #[must_use]
    pub fn host_and_port(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Returns whether the URL holds a user or a password.
    #[must_use]
    pub fn has_user(&self) -> bool {
        !self.url.username().is_empty() || self.url.password().is_some()
    }

    /// Returns whether the path ends in a slash, so that references are resolved below it.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.url.path().ends_with('/')
    }

    /// Returns the path, as it is sent.
    #[must_use]
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// Returns the URL with another query: what a function makes of the present one. An empty one is left
    /// out.
    #[must_use]
    pub fn map_query(&self, query: impl FnOnce(&str) -> String) -> Self {
        let mut url = self.url.clone();
        let query = query(url.query().unwrap_or_default());
        url.set_query(Some(&*query).filter(|query| !query.is_empty()));
        Self { url }
    }

    /// Returns the URL with a slash at the end of its path, so that references are resolved below it.
    #[must_use]
    pub fn as_directory(&self) -> Self {
        let mut url = self.url.clone();
        if !self.is_directory() {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Self { url }
    }

    /// Returns the whole text, with everything that may be secret: for requests only.
    #[must_use]
    pub fn secret_text(&self) -> &str {
        self.url.as_str()
    }

    fn checked(mut url: url::Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme {
                scheme: url.scheme().to_owned(),
            });
        }
        // A fragment is never sent to the server.
        url.set_fragment(None);
        Ok(Self { url: Box::new(url) })
    }
}

impl std::str::FromStr for Url {
    type Err = UrlError;

    /// Reads an absolute URL; a fragment is dropped.
    ///
    /// ```
    /// use lockctl_core::addr::Url;
    ///
    /// let url: Url = "https://u:p@Example.com/a?token=1#b".parse()?;
    /// assert_eq!(url.to_string(), "https://example.com/a?…");
    /// assert!("ftp://example.com/".parse::<Url>().is_err());
    /// # Ok::<(), lockctl_core::addr::UrlError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::checked(url::Url::parse(text).map_err(|error| malformed(text, error))?)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, path) = (self.url.scheme(), self.url.path());
        write!(f, "{scheme}://{}{path}", self.host_and_port())?;
        if self.url.query().is_some() {
            f.write_str("?…")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({self})")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.encrypted { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// Maximum length of a malformed URL in a message, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// Makes the error for a text that is no URL. The text may hold a secret as well, so a password is left out.
fn malformed(text: &str, error: url::ParseError) -> UrlError {
    // Before the last `@` may be a user and a password.
    let shown = match text.rfind('@') {
        Some(at) => format!("…{}", &text[at..]),
        None => text.to_owned(),
    };
    UrlError::Malformed {
        text: shown
            .chars()
            .take_while(|c| !matches!(c, '?' | '#'))
            .take(MAX_SHOWN_CHARS)
            .collect(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, reference: &str, joined: &str) {
        let base: Url = base.parse().expect("valid");
        let found = base.join(reference).expect("valid");
        assert_eq!(found.secret_text(), joined, "{reference:?} from {base}");
    }

    #[test]
    fn references_are_resolved() {
        check(
            "https://h/v1/x/",
            "n/t/versions",
            "https://h/v1/x/n/t/versions",
        );
        check(
            "https://h/v1/x",
            "n/t/versions",
            "https://h/v1/n/t/versions",
        );
        check("https://h/a/b?q=1", "/v1/", "https://h/v1/");
        check("https://h/a/b?q=1", "https://g/c#f", "https://g/c");
        check("https://h/a/b?q=1", "", "https://h/a/b?q=1");
    }

    #[test]
    fn parts_lose_their_meaning() {
        let base = |text: &str| text.parse::<Url>().expect("valid");
        let below = |base: &Url, parts: &[&str]| {
            let url = base.below(parts.iter().copied());
            url.secret_text().to_owned()
        };
        let slash = base("https://h/v1/x/?q=1");
        assert_eq!(below(&slash, &["n", "1.0.0+b"]), "https://h/v1/x/n/1.0.0+b");
        assert_eq!(
            below(&base("https://h/v1/x"), &["n", "t"]),
            "https://h/v1/n/t"
        );
        assert_eq!(below(&base("https://h"), &["n"]), "https://h/n");
        assert_eq!(
            below(&slash, &["a/b", "?", "#", "é"]),
            "https://h/v1/x/a%2Fb/%3F/%23/%C3%A9"
        );
    }

    #[test]
    fn origins_count_the_port() {
        let origin = |text: &str| text.parse::<Url>().expect("valid").origin();
        assert_eq!(
            origin("https://H.example/a"),
            origin("https://h.example:443/b")
        );
        assert_ne!(
            origin("https://h.example/"),
            origin("https://h.example:8443/")
        );
        assert_ne!(origin("https://h.example/"), origin("http://h.example/"));
        assert_ne!(origin("https://h.example/"), origin("https://g.h.example/"));
    }

    #[test]
    fn secrets_are_not_shown() {
        let url: Url = "https://user:word@h/p?sig=word".parse().expect("valid");
        for shown in [url.to_string(), format!("{url:?}")] {
            assert!(
                !shown.contains("word") && !shown.contains("user"),
                "{shown}"
            );
        }
        let base: Url = "https://h/".parse().expect("valid");
        for bad in ["https://user:word@h:port/?sig=word", "//user:word@h:port/"] {
            let error = base.join(bad).expect_err("bad");
            assert!(!error.to_string().contains("word"), "{error}");
        }
    }
}
