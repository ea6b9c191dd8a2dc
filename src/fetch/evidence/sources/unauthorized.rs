//! A host that requires credentials, or rejects those that were sent.

use std::fmt;

use super::failure::quoted;
use crate::addr::{Origin, Url};

/// The use that was made of credentials for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    Yes,
    Nothing,
    /// They were withheld, because the connection is not encrypted or a redirect led to another origin.
    Withheld,
}

impl Sent {
    /// Determines it from where the answer came from; `home` is the origin that credentials may be sent
    /// to, if it is known.
    pub(super) fn to(url: &Url, home: Option<&Origin>, has_credentials: bool) -> Self {
        let is_home = home.is_some_and(|home| home.encrypted && *home == url.origin());
        match (has_credentials, is_home) {
            (false, _) => Self::Nothing,
            (true, true) => Self::Yes,
            (true, false) => Self::Withheld,
        }
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "rejected the credentials",
            Self::Nothing => "requires credentials",
            Self::Withheld => "requires credentials, which are not sent there",
        })
    }
}

/// An answer that requires credentials, or rejects those that were sent.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{host} {sent}: {url} answered {status}{}", quoted(stated.as_deref()))]
pub struct Unauthorized {
    /// The host that credentials are for, as it is shown: that of the provider's address, or of the mirror.
    pub host: String,
    pub url: Url,
    pub status: u16,
    /// The use that was made of credentials.
    pub sent: Sent,
    /// The reason that the server states, escaped and cut.
    pub stated: Option<String>,
    /// The failure of the credentials helper, or of the place that keeps credentials, if that is why there are none.
    pub why_none: Option<String>,
}
