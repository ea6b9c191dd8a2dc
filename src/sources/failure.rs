//! Documents and packages that could not be fetched.

use std::time::Duration;

use super::retry;
use crate::addr::{Url, UrlError};
use crate::world::HttpError;

/// A document or a package that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    #[error("{url} could not be fetched{}", times(*attempts))]
    Http {
        url: Url,
        attempts: usize,
        #[source]
        cause: HttpError,
    },
    #[error("{url} answered {}{}{}", said(*status), times(*attempts), asked_for(*wait))]
    Status {
        url: Url,
        attempts: usize,
        status: u16,
        wait: Option<Duration>,
    },
    #[error("{url} was redirected more than {limit} times")]
    TooManyRedirects { url: Url, limit: usize },
    #[error("{url} answered with a redirect that cannot be followed")]
    BadRedirect {
        url: Url,
        /// The fault of the target; `None` if the answer names no target.
        #[source]
        cause: Option<UrlError>,
    },
    #[error("{url} answered with a redirect to plain http")]
    Unencrypted { url: Url },
    #[error("{url} sends more than {limit} bytes")]
    TooLarge {
        url: Url,
        /// The limit in bytes.
        limit: u64,
    },
    #[error("{url} sends {found} bytes, and {stated} are stated for it")]
    OtherLength {
        url: Url,
        /// The length that the source states, in bytes.
        stated: u64,
        /// The length of the answer, in bytes.
        found: u64,
    },
    #[error("{url} sends less than {rate} bytes per second")]
    TooSlow {
        url: Url,
        /// The least that is waited for.
        rate: u64,
    },
    #[error("{url} was not requested, because its host failed before in this run")]
    GivenUp {
        url: Url,
        #[source]
        cause: Outage,
    },
    #[error("the package from {url} could not be stored: {reason}")]
    Scratch {
        url: Url,
        kind: std::io::ErrorKind,
        reason: String,
    },
}

/// A failure of a host, whatever was requested from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Outage {
    #[error(transparent)]
    Http(HttpError),
    #[error("it answered {}", said(*.status))]
    Status { status: u16 },
    #[error("it sends less than {rate} bytes per second")]
    TooSlow {
        /// The least that is waited for.
        rate: u64,
    },
}

impl Outage {
    /// Returns how the host failed, if an error has to do with the host rather than with a path.
    ///
    /// A connection that breaks was there before, so that it may have broken because of what was sent.
    pub(super) fn of(error: &FetchError) -> Option<Self> {
        match error {
            FetchError::Http { cause, .. } => match cause {
                // Whatever is requested next would fail in the same way, after the same wait (rules 4.8).
                HttpError::Connect { .. } | HttpError::Timeout { .. } => {
                    Some(Self::Http(cause.clone()))
                }
                _ => None,
            },
            FetchError::Status { status, .. } if retry::is_worth_it(*status) => {
                Some(Self::Status { status: *status })
            }
            FetchError::TooSlow { rate, .. } => Some(Self::TooSlow { rate: *rate }),
            FetchError::GivenUp { cause, .. } => Some(cause.clone()),
            _ => None,
        }
    }
}

impl FetchError {
    /// Returns whether another failure is the same but for the path that was asked for.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        if self.url().origin() != other.url().origin() {
            return false;
        }
        // The first failure of a host and those that follow from it are one failure to the reader.
        if matches!(self, Self::GivenUp { .. }) || matches!(other, Self::GivenUp { .. }) {
            return Outage::of(self) == Outage::of(other);
        }
        // Requests for several providers fail at several paths of one host; the message names one of them.
        let mut twin = other.clone();
        *twin.url_mut() = self.url().clone();
        *self == twin
    }

    pub(super) fn url(&self) -> &Url {
        match self {
            Self::Http { url, .. }
            | Self::Status { url, .. }
            | Self::TooManyRedirects { url, .. }
            | Self::BadRedirect { url, .. }
            | Self::Unencrypted { url }
            | Self::TooLarge { url, .. }
            | Self::OtherLength { url, .. }
            | Self::TooSlow { url, .. }
            | Self::GivenUp { url, .. }
            | Self::Scratch { url, .. } => url,
        }
    }

    fn url_mut(&mut self) -> &mut Url {
        match self {
            Self::Http { url, .. }
            | Self::Status { url, .. }
            | Self::TooManyRedirects { url, .. }
            | Self::BadRedirect { url, .. }
            | Self::Unencrypted { url }
            | Self::TooLarge { url, .. }
            | Self::OtherLength { url, .. }
            | Self::TooSlow { url, .. }
            | Self::GivenUp { url, .. }
            | Self::Scratch { url, .. } => url,
        }
    }

    /// Returns whether the same request may succeed later: connections, time-outs, bodies that break
    /// off; not a certificate that does not hold, nor an answer that is a refusal.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Http { cause, .. } => match cause {
                HttpError::Connect { .. }
                | HttpError::Timeout { .. }
                | HttpError::Broken { .. } => true,
                HttpError::Certificate { .. }
                | HttpError::Environment { .. }
                | HttpError::Setup { .. } => false,
            },
            Self::Status { status, .. } => retry::is_worth_it(*status),
            Self::TooSlow { .. } => true,
            Self::TooManyRedirects { .. }
            | Self::BadRedirect { .. }
            | Self::Unencrypted { .. }
            | Self::TooLarge { .. }
            | Self::OtherLength { .. }
            | Self::GivenUp { .. }
            | Self::Scratch { .. } => false,
        }
    }
}

/// Spells a status with its usual words.
fn said(status: u16) -> String {
    let reason = http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason());
    match reason {
        Some(reason) => format!("{status} {reason}"),
        None => status.to_string(),
    }
}

fn asked_for(wait: Option<Duration>) -> String {
    wait.map_or_else(String::new, |wait| {
        format!(", and asks to wait {} s", wait.as_secs())
    })
}

fn times(attempts: usize) -> String {
    if attempts > 1 {
        format!(" after {attempts} attempts")
    } else {
        String::new()
    }
}
