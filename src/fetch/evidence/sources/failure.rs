//! Documents and packages that could not be fetched.

use std::time::Duration;

use super::retry;
use crate::addr::{Url, UrlError};
use crate::world::HttpError;

/// Maximum number of errors of an answer that are shown.
const MAX_STATED: usize = 3;

/// A document or a package that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("{url} could not be fetched{}", times(*attempts))]
    Http {
        url: Url,
        attempts: usize,
        #[source]
        cause: HttpError,
    },
    #[error(
        "{url} answered {}{}{}{}",
        said(*status),
        times(*attempts),
        asked_for(*wait),
        quoted(stated.as_deref())
    )]
    Status {
        url: Url,
        attempts: usize,
        status: u16,
        wait: Option<Duration>,
        /// The reason that the server states, escaped and cut.
        stated: Option<String>,
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

/// A failure of a host that affects all requests to it.
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
    pub(super) fn of(error: &FetchError) -> Option<Self> {
        match error {
            FetchError::Http { cause, .. } => match cause {
                // The next request would fail in the same way, after the same wait (rules 4.8).
                HttpError::Connect { .. } | HttpError::Timeout { .. } => {
                    Some(Self::Http(cause.clone()))
                }
                // A connection that breaks was there before, so the request itself may be the cause.
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
        if let (Self::Status { stated, .. }, Self::Status { stated: other, .. }) = (self, &mut twin)
        {
            other.clone_from(stated);
        }
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

/// Continues a message with the reason that a server states.
pub(super) fn quoted(stated: Option<&str>) -> String {
    stated.map_or_else(String::new, |stated| format!(": {stated}"))
}

/// The errors in the answer of a registry: texts, or objects with a text.
#[derive(serde::Deserialize)]
struct StatedErrors {
    errors: Vec<StatedError>,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum StatedError {
    Text(String),
    Object {
        detail: Option<String>,
        message: Option<String>,
        title: Option<String>,
    },
    Other(serde::de::IgnoredAny),
}

/// Returns the texts of `{"errors": […]}` in a body, escaped and cut; `None` if there are none.
pub(super) fn stated_errors(body: &[u8]) -> Option<String> {
    let stated: StatedErrors = super::read_json(body).ok()?;
    let texts: Vec<String> = stated
        .errors
        .into_iter()
        .take(MAX_STATED)
        .filter_map(|error| match error {
            StatedError::Text(text) => Some(text),
            StatedError::Object {
                detail,
                message,
                title,
            } => detail.or(message).or(title),
            StatedError::Other(_) => None,
        })
        .filter(|text| !text.trim().is_empty())
        .collect();
    // The text is that of a server: its control characters would steer the terminal.
    let escaped: String = texts
        .join("; ")
        .chars()
        .flat_map(|c| {
            let is_escaped = c.is_control();
            let plain = (!is_escaped).then_some(c);
            plain
                .into_iter()
                .chain(c.escape_default().filter(move |_| is_escaped))
        })
        .collect();
    (!texts.is_empty()).then(|| super::cut(&escaped))
}

fn times(attempts: usize) -> String {
    if attempts > 1 {
        format!(" after {attempts} attempts")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server's own words are part of the message, on one line and not without end.
    #[test]
    fn reasons_that_a_server_states_are_shown() {
        #[track_caller]
        fn check(body: &str, shown: Option<&str>) {
            assert_eq!(stated_errors(body.as_bytes()).as_deref(), shown, "{body}");
        }
        check(r#"{"errors":["token expired"]}"#, Some("token expired"));
        check(r#"{"errors":["a","b","c","d"]}"#, Some("a; b; c"));
        check(
            r#"{"errors":[{"title":"t","detail":"d"},{"message":"m"}]}"#,
            Some("d; m"),
        );
        check(r#"{"errors":["a\n\u001b[2Jb"]}"#, Some("a\\n\\u{1b}[2Jb"));
        for other in [
            "",
            "<html>",
            "[]",
            "{}",
            r#"{"errors":[]}"#,
            r#"{"errors":[" ",1,null]}"#,
        ] {
            check(other, None);
        }
        let long = format!(r#"{{"errors":["{}"]}}"#, "x".repeat(100_000));
        let shown = stated_errors(long.as_bytes()).expect("a text");
        assert_eq!(shown.chars().count(), crate::sources::MAX_SHOWN_CHARS + 1);
    }
}
