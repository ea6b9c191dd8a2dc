//! The URL of a network mirror.

use std::fmt;
use std::str::FromStr;

use super::{Hostname, Url, UrlError};

/// The URL of a network mirror: https, with a host that may have credentials (`sources` rules 8.1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MirrorUrl {
    url: Url,
    host: Hostname,
}

/// A text that is no URL of a network mirror.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorUrlError {
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error("{url} is no URL of a network mirror, which must use https")]
    NotEncrypted { url: Url },
    #[error("{url} is no URL of a network mirror: its host is no hostname")]
    Host { url: Url },
}

impl MirrorUrl {
    /// Returns the URL below which documents are asked for.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the host whose credentials are sent.
    #[must_use]
    pub fn host(&self) -> &Hostname {
        &self.host
    }
}

impl TryFrom<Url> for MirrorUrl {
    type Error = MirrorUrlError;

    fn try_from(url: Url) -> Result<Self, MirrorUrlError> {
        if !url.origin().encrypted {
            return Err(MirrorUrlError::NotEncrypted { url });
        }
        match Hostname::parse_either(&url.host_and_port()) {
            Ok(host) => Ok(Self { url, host }),
            Err(_) => Err(MirrorUrlError::Host { url }),
        }
    }
}

impl FromStr for MirrorUrl {
    type Err = MirrorUrlError;

    /// Reads an absolute https URL.
    ///
    /// ```
    /// use lockctl_core::addr::MirrorUrl;
    ///
    /// let url: MirrorUrl = "https://mirror.example:8443/providers/".parse()?;
    /// assert_eq!(url.host().ascii(), "mirror.example:8443");
    /// assert!("http://mirror.example/".parse::<MirrorUrl>().is_err());
    /// # Ok::<(), lockctl_core::addr::MirrorUrlError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, MirrorUrlError> {
        text.parse::<Url>()?.try_into()
    }
}

impl fmt::Display for MirrorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.url, f)
    }
}
