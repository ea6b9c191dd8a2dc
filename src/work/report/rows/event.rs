//! Events of a run, one line each.

use serde::Serialize;

/// Every line but the last one of `--format json-lines`: something that happened on the
/// network while the command ran.
///
/// Lines are in the order of the events, several requests at a time; the last line is the object of `--format
/// json`, the only one with `format_version`. Fields and words are only ever added, so ignore those that you do
/// not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
#[cfg_attr(test, schemars(title = "Event of lockctl", transform = crate::report::json::describe_event))]
pub enum EventLine {
    /// A request is being sent.
    Requested {
        /// The URL of the request.
        url: String,
    },
    /// A server redirected a request.
    Redirected {
        /// The URL that was requested.
        url: String,
        /// The status of the redirect.
        status: u16,
        /// The URL that it leads to.
        to: String,
    },
    /// A server answered; the body of a package still has to come.
    Answered {
        /// The URL that was requested.
        url: String,
        /// The status of the answer.
        status: u16,
        /// The length of the body in bytes; absent if it is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
    },
    /// A request got no answer.
    Failed {
        /// The URL that was requested.
        url: String,
        /// The cause, in words.
        cause: String,
    },
    /// A request is about to be repeated.
    Repeated {
        /// The URL that is requested again.
        url: String,
        /// After how many milliseconds.
        wait_ms: u64,
    },
    /// A download began, or continues where it was interrupted.
    DownloadStarted {
        /// The URL of the package.
        url: String,
        /// Number of bytes that are there already.
        from: u64,
        /// The length of the package in bytes; absent if it is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    },
    /// A download is complete.
    DownloadFinished {
        /// The URL of the package.
        url: String,
        /// The length of the package, in bytes.
        bytes: u64,
    },
}
