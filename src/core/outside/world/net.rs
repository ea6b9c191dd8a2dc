//! The network and the clock.

use std::fmt;
use std::io::{self, Read};
use std::time::{Duration, SystemTime};

use super::SharedObjects;
use crate::addr::{StoreUrl, Url};

/// A text that must never be shown: a token or a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Credentials, as HTTP sends them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// A token in `Authorization: Bearer TOKEN`.
    Bearer(Secret),
    /// A user and password in `Authorization: Basic …`.
    Basic {
        /// The name of the user.
        user: String,
        /// The password, which may be empty.
        password: Secret,
    },
}

/// A GET request with its time limits.
#[derive(Clone, Debug)]
pub struct HttpRequest<'a> {
    /// The address; a user and password in it are sent as Basic authentication.
    pub url: &'a Url,
    /// Header fields beside those that HTTP itself needs.
    pub headers: &'a [(&'a str, &'a str)],
    /// The credentials to send, if any.
    pub credentials: Option<&'a Credentials>,
    /// Time limit of the whole exchange, body included; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Time limit until the first byte of the body arrives.
    pub first_byte: Duration,
    /// Time limit between two parts of the body.
    pub idle: Duration,
    /// The body may be compressed on the way: never for what is hashed.
    pub compressed: bool,
}

/// The answer to a request: the head, and the body as it comes.
pub struct HttpResponse {
    /// The HTTP status code, as in `404`.
    pub status: u16,
    /// The header fields, the names in lower case; values that are no text are left out.
    pub headers: Vec<(String, String)>,
    /// Time from the start of the request, without waiting for its turn, to this head.
    pub took: Duration,
    /// The body. Reading it gives [`HttpError`] inside [`io::Error`] when it breaks off.
    pub body: Box<dyn Read + Send>,
}

/// A failure to get an answer, or all of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// No server answers there.
    #[error("no connection{}: {reason}", through(proxy.as_deref()))]
    Connect {
        /// The message of the system or of the TLS library.
        reason: String,
        /// The proxy that was to take the request there, with its port.
        proxy: Option<String>,
    },
    /// The server could not prove who it is.
    #[error("its certificate cannot be trusted: {reason}")]
    Certificate {
        /// The message of the library.
        reason: String,
    },
    /// A time limit of the request was exceeded.
    #[error("no answer within {} s", (limit.as_secs_f32() * 10.0).round() / 10.0)]
    Timeout {
        /// The limit that was passed.
        limit: Duration,
    },
    /// The connection broke before the end.
    #[error("the connection broke: {reason}")]
    Broken {
        /// The message of the library.
        reason: String,
    },
    /// A variable about certificates or proxies is not in order, so nothing is asked.
    #[error("{reason}")]
    Environment {
        /// The problem, with the name of the variable.
        reason: String,
    },
    /// No request can be made, for a reason of this program or machine.
    #[error("{reason}")]
    Setup {
        /// The problem, with the path of the file.
        reason: String,
    },
}

/// HTTP requests to web servers.
pub trait Http: Sync {
    /// Sends one GET request and waits for the head of the answer.
    ///
    /// No redirect is followed, nothing is retried but what a stale connection never sent, and
    /// no header is invented beside `Host`, `User-Agent`, `Accept: */*` and `Accept-Encoding`. Many
    /// threads may ask at once; how many requests go to one origin at a time is limited here, and
    /// a request counts until its body is dropped.
    ///
    /// # Errors
    /// If no head came. Any status is an answer.
    fn get(&self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError>;

    /// Returns the objects of a bucket, with the credentials of this machine.
    ///
    /// # Errors
    /// If the environment has no usable credentials; always where there are no such services.
    fn bucket(&self, url: &StoreUrl) -> io::Result<Box<dyn SharedObjects + '_>> {
        let _ = url;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The time of day, and waiting.
pub trait Clock: Sync {
    /// Returns the time of day.
    fn now(&self) -> SystemTime;

    /// Waits for at least `duration`.
    fn sleep(&self, duration: Duration);
}

fn through(proxy: Option<&str>) -> String {
    proxy.map_or_else(String::new, |proxy| format!(" through the proxy {proxy}"))
}

impl Secret {
    /// Wraps a text that must not be shown.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text: for requests only.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl HttpResponse {
    /// Makes an answer of parts that are known; header names are in lower case.
    #[must_use]
    pub fn of(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: headers
                .iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect(),
            took: Duration::ZERO,
            body: Box::new(io::Cursor::new(body.into())),
        }
    }

    /// Returns the first header field of a name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(field, _)| field == name)
            .map(|(_, value)| &**value)
    }
}

impl From<HttpError> for io::Error {
    fn from(error: HttpError) -> Self {
        let kind = match &error {
            HttpError::Timeout { .. } => io::ErrorKind::TimedOut,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
