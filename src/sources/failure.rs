//! Documents and packages that could not be fetched.

use std::time::Duration;

use super::retry;
use crate::addr::{Url, UrlError};
use crate::world::HttpError;

/// A document or a package that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No answer, or a part of one.
    #[error("{url} could not be fetched{}", times(*attempts))]
    Http {
        /// The URL that was requested.
        url: Url,
        /// The number of attempts.
        attempts: usize,
        /// The failure of the last attempt.
        #[source]
        cause: HttpError,
    },
    /// An answer that is a refusal.
    #[error("{url} answered {}{}{}", said(*status), times(*attempts), asked_for(*wait))]
    Status {
        /// The URL that was requested.
        url: Url,
        /// The number of attempts.
        attempts: usize,
        /// The status of the last answer.
        status: u16,
        /// The time that the server asks to wait before the next request.
        wait: Option<Duration>,
    },
    /// One redirect leads to the next.
    #[error("{url} was redirected more than {limit} times")]
    TooManyRedirects {
        /// The first URL of the chain.
        url: Url,
        /// The limit on redirects.
        limit: usize,
    },
    /// A redirect that leads nowhere.
    #[error("{url} answered with a redirect that cannot be followed")]
    BadRedirect {
        /// The URL that was requested.
        url: Url,
        /// The fault of the target; `None` if the answer names no target.
        #[source]
        cause: Option<UrlError>,
    },
    /// A redirect to plain http, where anything between could answer instead of the host.
    #[error("{url} answered with a redirect to plain http")]
    Unencrypted {
        /// The URL that was requested.
        url: Url,
    },
    /// More than any such document holds.
    #[error("{url} sends more than {limit} bytes")]
    TooLarge {
        /// The URL that was requested.
        url: Url,
        /// The limit in bytes.
        limit: u64,
    },
    /// A package of another length than its source states.
    #[error("{url} sends {found} bytes, and {stated} are stated for it")]
    OtherLength {
        /// The URL that was requested.
        url: Url,
        /// The length that the source states, in bytes.
        stated: u64,
        /// The length of the answer, in bytes.
        found: u64,
    },
    /// A download that makes no headway.
    #[error("{url} sends less than {rate} bytes per second")]
    TooSlow {
        /// The URL that was requested.
        url: Url,
        /// The least that is waited for.
        rate: u64,
    },
    /// A host that failed before in this run, so that it was not asked again.
    #[error("{url} was not requested, because its host failed before in this run")]
    GivenUp {
        /// The URL that was wanted.
        url: Url,
        /// The earlier failure of the host.
        #[source]
        cause: Outage,
    },
    /// The bytes could not be stored on this machine.
    #[error("the package from {url} could not be stored: {reason}")]
    Scratch {
        /// The URL of the package.
        url: Url,
        /// The error that the system reports.
        reason: String,
    },
}

/// A failure of a host, whatever was requested from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Outage {
    /// There was no answer.
    #[error(transparent)]
    Http(HttpError),
    /// The host was busy, or out of order.
    #[error("it answered {}", said(*.status))]
    Status {
        /// The status of the last answer.
        status: u16,
    },
    /// The host sent next to nothing.
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
    /// Makes the error of an answer that was not worth a repetition.
    pub(super) fn refusal(url: Url, status: u16) -> Self {
        Self::Status {
            url,
            attempts: 1,
            status,
            wait: None,
        }
    }

    /// Returns whether another failure is the same but for the path that was asked for.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let was_given_up =
            [self, other].map(|error| matches!(error, Self::GivenUp { .. })) != [false, false];
        if was_given_up {
            return self.url().origin() == other.url().origin()
                && Outage::of(self) == Outage::of(other);
        }
        let mut twin = other.clone();
        *twin.url_mut() = self.url().clone();
        self.url().origin() == other.url().origin() && *self == twin
    }

    /// Returns the URL that it is about.
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
    let words = http::StatusCode::from_u16(status);
    match words.ok().and_then(|status| status.canonical_reason()) {
        Some(words) => format!("{status} {words}"),
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
