//! Documents and packages that could not be fetched.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::retry;
use crate::addr::{Url, UrlError};
use crate::world::HttpError;

/// Maximum number of errors of an answer that are shown.
const MAX_STATED: usize = 3;

/// A document or a package that could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchError {
    pub url: Url,
    /// The number of requests that were made.
    pub attempts: usize,
    pub fault: FetchFault,
}

/// The reason why a document or a package could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchFault {
    Http(HttpError),
    Status {
        status: u16,
        wait: Option<Duration>,
        /// The reason that the server states, escaped and cut.
        stated: Option<String>,
    },
    TooManyRedirects {
        limit: usize,
    },
    /// A redirect cannot be followed: the fault of its target; `None` if the answer names no target.
    BadRedirect(Option<UrlError>),
    /// A redirect leads to plain http.
    Unencrypted,
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// With this package the run would download more than it may.
    NotAllowed {
        /// The bytes that all packages of the run may have together.
        limit: u64,
    },
    OtherLength {
        /// The length that the source states, in bytes.
        stated: u64,
        /// The length of the answer, in bytes.
        found: u64,
    },
    TooSlow {
        /// The least number of bytes per second.
        rate: u64,
    },
    /// Nothing was requested, because the host failed before in this run: in this way.
    GivenUp(Box<FetchError>),
    /// The package could not be stored.
    Scratch {
        kind: std::io::ErrorKind,
        reason: String,
    },
}

impl FetchError {
    /// Makes the error of a single request.
    pub(super) fn new(url: &Url, fault: FetchFault) -> Self {
        Self {
            url: url.clone(),
            attempts: 1,
            fault,
        }
    }

    /// Returns the status of the answer, if it is a refusal.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self.fault {
            FetchFault::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Returns true if the answer requires credentials, or rejects those that were sent.
    pub(super) fn is_unauthorized(&self) -> bool {
        matches!(self.status(), Some(401 | 403))
    }

    /// Returns the failure of the host, if it was given up for that.
    #[must_use]
    pub fn first(&self) -> &Self {
        match &self.fault {
            FetchFault::GivenUp(first) => first,
            _ => self,
        }
    }

    /// Returns whether another failure is the same but for the path that was asked for.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        // The first failure of a host and those that follow from it are one failure to the reader.
        let (first, other) = (self.first(), other.first());
        if first.url.origin() != other.url.origin() || first.attempts != other.attempts {
            return false;
        }
        match (&first.fault, &other.fault) {
            // Servers state other reasons for other paths.
            (
                FetchFault::Status { status, wait, .. },
                FetchFault::Status {
                    status: other_status,
                    wait: other_wait,
                    ..
                },
            ) => (status, wait) == (other_status, other_wait),
            (fault, other_fault) => fault == other_fault,
        }
    }

    /// Returns whether the failure has to do with the host rather than with a path (rules 4.8).
    ///
    /// A connection that breaks was there before, so that it may have broken because of what was sent.
    pub(super) fn is_of_host(&self) -> bool {
        self.may_pass() && !matches!(self.fault, FetchFault::Http(HttpError::Broken { .. }))
    }

    /// Returns whether the same request may succeed later: connections, time-outs, bodies that break
    /// off; not a certificate that does not hold, nor an answer that is a refusal.
    pub(super) fn may_pass(&self) -> bool {
        match &self.fault {
            FetchFault::Http(cause) => matches!(
                cause,
                HttpError::Connect { .. } | HttpError::Timeout { .. } | HttpError::Broken { .. }
            ),
            FetchFault::Status { status, .. } => retry::is_worth_it(*status),
            FetchFault::TooSlow { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = &self.url;
        let times = match self.attempts {
            0 | 1 => String::new(),
            attempts => format!(" after {attempts} attempts"),
        };
        match &self.fault {
            FetchFault::Http(_) => write!(f, "{url} could not be fetched{times}"),
            FetchFault::Status {
                status,
                wait,
                stated,
            } => {
                let reason = http::StatusCode::from_u16(*status)
                    .ok()
                    .and_then(|status| status.canonical_reason())
                    .map(|reason| format!(" {reason}"))
                    .unwrap_or_default();
                write!(f, "{url} answered {status}{reason}{times}")?;
                if let Some(wait) = wait {
                    write!(f, ", and asks to wait {} s", wait.as_secs())?;
                }
                f.write_str(&quoted(stated.as_deref()))
            }
            FetchFault::TooManyRedirects { limit } => {
                write!(f, "{url} was redirected more than {limit} times")
            }
            FetchFault::BadRedirect(_) => {
                write!(f, "{url} answered with a redirect that cannot be followed")
            }
            FetchFault::Unencrypted => write!(f, "{url} answered with a redirect to plain http"),
            FetchFault::TooLarge { limit } => write!(f, "{url} sends more than {limit} bytes"),
            FetchFault::NotAllowed { limit } => {
                write!(
                    f,
                    "{url} would exceed the {limit} bytes that this run may download"
                )
            }
            FetchFault::OtherLength { stated, found } => {
                write!(
                    f,
                    "{url} sends {found} bytes, and {stated} are stated for it"
                )
            }
            FetchFault::TooSlow { rate } => {
                write!(f, "{url} sends less than {rate} bytes per second")
            }
            FetchFault::GivenUp(_) => write!(
                f,
                "{url} was not requested, because its host failed before in this run"
            ),
            FetchFault::Scratch { reason, .. } => {
                write!(f, "the package from {url} could not be stored: {reason}")
            }
        }
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            FetchFault::Http(cause) => Some(cause),
            FetchFault::BadRedirect(cause) => cause.as_ref().map(|cause| cause as _),
            FetchFault::GivenUp(first) => Some(first),
            _ => None,
        }
    }
}

/// Continues a message with the reason that a server states.
pub(super) fn quoted(stated: Option<&str>) -> String {
    stated.map_or_else(String::new, |stated| format!(": {stated}"))
}

/// Returns the texts of `{"errors": […]}` in a body, which are texts or objects with one, escaped and cut; `None` if
/// there are none.
pub(super) fn stated_errors(body: &[u8]) -> Option<String> {
    let stated: Value = super::read_json(body).ok()?;
    let texts: Vec<&str> = stated["errors"]
        .as_array()?
        .iter()
        .take(MAX_STATED)
        .filter_map(|error| {
            let fields = ["detail", "message", "title"];
            let of_object = || fields.iter().find_map(|field| error[field].as_str());
            error.as_str().or_else(of_object)
        })
        .filter(|text| !text.trim().is_empty())
        .collect();
    // The text is that of a server: its control characters would steer the terminal.
    let mut escaped = String::new();
    for c in texts.join("; ").chars() {
        if c.is_control() {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    (!texts.is_empty()).then(|| super::cut(&escaped))
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
