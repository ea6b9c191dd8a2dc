//! Asking for documents: redirects hop by hop, repetition, limits.
//!
//! Credentials are bound to an origin: no request to another one carries them, wherever a redirect
//! leads. That is why redirects are followed here and not by the HTTP client, which has rules of its
//! own for what it sends on; besides, each kind of document has its own limit of hops.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};

use super::failure::stated_errors;
use super::outages::Outages;
use super::retry::{self, RetryPolicy};
use super::{FetchError, FetchFault, cut};
use crate::addr::{Origin, Url};
use crate::package::calendar;
use crate::world::{Clock, Credentials, Http, HttpError, HttpRequest, HttpResponse};

/// Maximum number of redirects of documents of registries, and of packages (rules 2.8).
pub(super) const HOPS: usize = 9;

/// Returns the credentials for the download of a package, if there are some.
pub type PackageCredentials<'a> = Arc<dyn Fn(&Url) -> Option<Credentials> + Send + Sync + 'a>;

/// The network as the sources use it.
#[derive(Clone)]
pub struct Net<'a> {
    pub http: &'a dyn Http,
    pub clock: &'a dyn Clock,
    /// The number of attempts and the time limits.
    pub policy: RetryPolicy,
    /// The credentials for packages, by host (rules 5.4: Terraform sends what `~/.netrc` holds).
    pub package_credentials: PackageCredentials<'a>,
    /// Is informed of progress, and cannot influence it.
    pub observer: &'a (dyn Fn(&Event<'_>) + Sync),
    pub outages: Arc<Outages>,
}

/// Every line but the last one of `--format json-lines`: something that happened on the
/// network while the command ran.
///
/// Lines are in the order of the events, several requests at a time; the last line is the object of `--format
/// json`, the only one with `format_version`. Fields and words are only ever added, so ignore those that you do
/// not know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Event of lockctl"))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// A request is being sent.
    #[serde(rename = "requested")]
    Asking {
        /// The URL of the request.
        url: &'a Url,
    },
    /// A server redirected a request.
    Redirected {
        /// The URL that was requested.
        url: &'a Url,
        /// The status of the redirect.
        status: u16,
        /// The URL that it leads to.
        to: &'a Url,
    },
    /// A server answered; the body of a package still has to come.
    Answered {
        /// The URL that was requested.
        url: &'a Url,
        /// The status of the answer.
        status: u16,
        /// The length of the body in bytes; absent if it is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
    },
    /// A request got no answer.
    Failed {
        /// The URL that was requested.
        url: &'a Url,
        /// The cause, in words.
        #[serde(serialize_with = "as_text")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        cause: &'a HttpError,
    },
    /// A request is about to be repeated.
    #[serde(rename = "repeated")]
    Repeating {
        /// The URL that is requested again.
        url: &'a Url,
        /// After how many milliseconds.
        #[serde(rename = "wait_ms", serialize_with = "as_milliseconds")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        wait: Duration,
    },
    /// A download began, or continues where it was interrupted.
    #[serde(rename = "download-started")]
    Started {
        /// The URL of the package.
        url: &'a Url,
        /// Number of bytes that are there already.
        from: u64,
        /// The length of the package in bytes; absent if it is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
    },
    /// Bytes of a package arrived; each block of a download would give a line, so there is none.
    #[serde(skip)]
    Received {
        url: &'a Url,
        /// The number of bytes in this piece.
        bytes: u64,
    },
    /// A download is complete.
    #[serde(rename = "download-finished")]
    Finished {
        /// The URL of the package.
        url: &'a Url,
        /// The length of the package, in bytes.
        bytes: u64,
    },
}

fn as_text<S: Serializer>(cause: &&HttpError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cause)
}

fn as_milliseconds<S: Serializer>(wait: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

/// A request for a document.
pub(super) struct Ask<'a> {
    /// The first URL of the chain.
    pub(super) url: &'a Url,
    /// Header fields beside those that the client adds.
    pub(super) headers: &'a [(&'a str, &'a str)],
    /// The credentials, for the origin of `url` alone.
    pub(super) credentials: Option<&'a Credentials>,
    pub(super) hops: usize,
    /// Maximum length of the document, in bytes.
    pub(super) limit: u64,
    /// Maximum time of one attempt, redirects included.
    pub(super) timeout: Duration,
    pub(super) redirects: Redirects,
}

/// The connections that redirects may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redirects {
    /// Anywhere: what is fetched is proved by other means.
    Any,
    /// To encrypted connections only: what is fetched is believed.
    Encrypted,
    /// To encrypted connections only, unless the first one is not: that was the choice of the user.
    NoDowngrade,
}

/// The limits on a chain of redirects.
#[derive(Clone, Copy, Debug)]
pub(super) struct RedirectLimits {
    pub(super) hops: usize,
    pub(super) redirects: Redirects,
    /// The number of the attempt, counted from 1.
    pub(super) attempt: usize,
}

/// A document, or what a server said instead of one.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The URL that answered, behind all redirects.
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) content_type: String,
    /// The address in `X-Terraform-Get`, if there is one that is not empty.
    pub(super) location: Option<String>,
    /// When the document was changed last, if the server says so.
    pub(super) changed: Option<SystemTime>,
    /// All header fields, the names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// Returns the values of a header field, the name in lower case.
    pub(super) fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(field, _)| field == name)
            .map(|(_, value)| &**value)
    }

    /// Returns the media type of the body: its content type without parameters.
    pub(super) fn media_type(&self) -> &str {
        self.content_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
    }

    /// Makes the error of an answer that is a refusal and was not worth a repetition.
    pub(super) fn refusal(self) -> FetchError {
        FetchError {
            fault: FetchFault::Status {
                stated: stated_errors(&self.body),
                status: self.status,
                wait: None,
            },
            url: self.url,
            attempts: 1,
        }
    }

    /// Returns the fault of the content type of a JSON document, if there is one; parameters do not matter.
    pub(super) fn media_type_fault(&self) -> Option<String> {
        if self.media_type().eq_ignore_ascii_case("application/json") {
            return None;
        }
        let found = if self.content_type.is_empty() {
            "none".to_owned()
        } else {
            cut(&self.content_type)
        };
        Some(format!("its content type is {found}, not application/json"))
    }
}

impl Net<'_> {
    /// Fetches a document; any status but those that are worth a repetition is an answer.
    ///
    /// Repeated as `delays` says, from the first URL on. A host that fails to the end is not asked again.
    pub(super) fn document(
        &self,
        ask: &Ask<'_>,
        mut delays: impl Iterator<Item = Duration>,
    ) -> Result<Answer, FetchError> {
        let mut attempts = 0;
        // An answer from this host after this moment shows that it works, although this request fails
        // (rules 4.8).
        let start = self.outages.now();
        loop {
            attempts += 1;
            let (error, wait) = match self.answer(ask, attempts) {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            // A certificate or a refusal is the same the next time (rules 4.3).
            if !error.may_pass() {
                return Err(error);
            }
            // A server that asks for a longer wait than `MAX_RETRY_AFTER` is not asked again sooner either:
            // that would only add to its load.
            let Some(delay) = delays.next().filter(|_| retry::is_bearable(wait)) else {
                self.outages.gave_up(start, &error);
                return Err(error);
            };
            self.wait(ask.url, wait.unwrap_or(delay));
        }
    }

    /// Fetches a document that nothing depends on: nothing is repeated, and what is needed of its host is still asked
    /// for if it fails.
    pub(super) fn optional_document(&self, ask: &Ask<'_>) -> Result<Answer, FetchError> {
        self.answer(ask, 1).map_err(|(error, _)| error)
    }

    /// Makes one attempt; returns beside an error the time that the server asks to wait.
    fn answer(
        &self,
        ask: &Ask<'_>,
        attempts: usize,
    ) -> Result<Answer, (FetchError, Option<Duration>)> {
        let (answer, wait) = self.attempt(ask, attempts).map_err(|error| (error, None))?;
        if retry::is_worth_it(answer.status) {
            // If this was the last attempt, its status is what the user should read.
            let fault = FetchFault::Status {
                stated: stated_errors(&answer.body),
                status: answer.status,
                wait,
            };
            let url = answer.url;
            let error = FetchError {
                url,
                attempts,
                fault,
            };
            return Err((error, wait));
        }
        self.outages.answered(&answer.url);
        Ok(answer)
    }

    pub(super) fn wait(&self, url: &Url, wait: Duration) {
        (self.observer)(&Event::Repeating { url, wait });
        self.clock.sleep(wait);
    }

    /// Makes one attempt, with all redirects; returns beside the answer the time that the server asks to
    /// wait.
    fn attempt(
        &self,
        ask: &Ask<'_>,
        attempts: usize,
    ) -> Result<(Answer, Option<Duration>), FetchError> {
        let request = HttpRequest {
            url: ask.url,
            headers: ask.headers,
            credentials: ask.credentials,
            timeout: Some(ask.timeout),
            // A document is small: the limit for all of it is a good one for its parts.
            first_byte: ask.timeout,
            idle: ask.timeout,
            compressed: true,
        };
        let limits = RedirectLimits {
            hops: ask.hops,
            redirects: ask.redirects,
            attempt: attempts,
        };
        let (url, mut response) = self.follow(&request, limits)?;
        let body = self.read_body(ask, &url, attempts, &mut response)?;
        (self.observer)(&Event::Answered {
            url: &url,
            status: response.status,
            bytes: Some(body.len() as u64),
        });
        let after = retry::after(&response, self.clock.now());
        let answer = Answer {
            status: response.status,
            location: response
                .header("x-terraform-get")
                .filter(|location| !location.is_empty())
                .map(str::to_owned),
            content_type: response
                .header("content-type")
                .unwrap_or_default()
                .to_owned(),
            changed: last_modified(&response),
            headers: response.headers,
            url,
            body,
        };
        Ok((answer, after))
    }

    fn read_body(
        &self,
        ask: &Ask<'_>,
        url: &Url,
        attempts: usize,
        response: &mut HttpResponse,
    ) -> Result<Vec<u8>, FetchError> {
        let mut body = Vec::new();
        // One byte more than the limit shows whether a document is too long or just fits.
        let mut limited = (&mut response.body).take(ask.limit + 1);
        if let Err(error) = limited.read_to_end(&mut body) {
            let cause = within(http_error(&error), Some(ask.timeout));
            (self.observer)(&Event::Failed { url, cause: &cause });
            return Err(FetchError {
                url: url.clone(),
                attempts,
                fault: FetchFault::Http(cause),
            });
        }
        if body.len() as u64 > ask.limit {
            let limit = ask.limit;
            return Err(FetchError::new(url, FetchFault::TooLarge { limit }));
        }
        Ok(body)
    }

    /// Sends a request and follows redirects; returns where that ended, with the answer there.
    ///
    /// Credentials go to the origin of the first URL only, and no longer once a redirect has left it: what is
    /// requested behind that is the choice of another server.
    pub(super) fn follow(
        &self,
        request: &HttpRequest<'_>,
        limits: RedirectLimits,
    ) -> Result<(Url, HttpResponse), FetchError> {
        let mut passed = Duration::ZERO;
        let home: Origin = request.url.origin();
        let mut url = request.url.clone();
        let mut at_home = true;
        // A user and a password are dropped even on that origin if the redirect names its place in full, as in
        // the programs (rules 13.6).
        let is_basic = matches!(request.credentials, Some(Credentials::Basic { .. }));
        for _ in 0..=limits.hops {
            // This never becomes true again: a server that redirects back chooses the path, and could have
            // the credentials sent to a place of its choice (rules 5.2).
            at_home &= url.origin() == home;
            let sent = HttpRequest {
                url: &url,
                // The limit holds for the whole chain, else each hop could use it up anew.
                timeout: request.timeout.map(|limit| limit.saturating_sub(passed)),
                credentials: request.credentials.filter(|_| at_home),
                ..request.clone()
            };
            // Each hop is checked: a redirect may lead to a host that has been given up (rules 4.8).
            self.outages.check(&url)?;
            (self.observer)(&Event::Asking { url: &url });
            let response = self.http.get(&sent).map_err(|cause| {
                (self.observer)(&Event::Failed {
                    url: &url,
                    cause: &cause,
                });
                FetchError {
                    url: url.clone(),
                    attempts: limits.attempt,
                    fault: FetchFault::Http(within(cause, request.timeout)),
                }
            })?;
            passed += response.took;
            // Statuses that the HTTP library of the programs follows for GET; 300 and 304 are answers to
            // it.
            if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
                return Ok((url, response));
            }
            self.outages.answered(&url);
            at_home &= !is_basic || response.header("location").is_some_and(is_relative);
            // An attacker who can answer in the place of a plain http server could choose the document
            // (rules 8.3, 12.9).
            let must_be_encrypted = match limits.redirects {
                Redirects::Any => false,
                Redirects::Encrypted => true,
                Redirects::NoDowngrade => home.encrypted,
            };
            url = self.redirect_target(&url, &response, must_be_encrypted)?;
        }
        let limit = limits.hops;
        let fault = FetchFault::TooManyRedirects { limit };
        Err(FetchError::new(request.url, fault))
    }

    /// Returns the URL that an answer redirects to.
    fn redirect_target(
        &self,
        url: &Url,
        response: &HttpResponse,
        must_be_encrypted: bool,
    ) -> Result<Url, FetchError> {
        let bad = |cause| FetchError::new(url, FetchFault::BadRedirect(cause));
        let location = response.header("location").ok_or_else(|| bad(None))?;
        let target = url.join(location).map_err(|cause| bad(Some(cause)))?;
        (self.observer)(&Event::Redirected {
            url,
            status: response.status,
            to: &target,
        });
        // Without encryption anybody on the way could replace the answer.
        if must_be_encrypted && !target.origin().encrypted {
            return Err(FetchError::new(url, FetchFault::Unencrypted));
        }
        Ok(target)
    }
}

/// Returns true if a reference has no host.
fn is_relative(reference: &str) -> bool {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme_ends = reference.trim_start_matches(is_scheme).starts_with(':');
    !scheme_ends && !reference.starts_with("//")
}

/// Returns the time of a document's last change, as its server states it; `None` if that cannot be read.
pub(super) fn last_modified(response: &HttpResponse) -> Option<SystemTime> {
    calendar::read_http_date(response.header("last-modified")?.trim())
}

/// Names the limit that was set, where what was left of it has passed.
fn within(cause: HttpError, whole: Option<Duration>) -> HttpError {
    match (cause, whole) {
        (HttpError::Timeout { .. }, Some(limit)) => HttpError::Timeout { limit },
        (cause, _) => cause,
    }
}

/// Unwraps the failure of a body.
pub(super) fn http_error(error: &std::io::Error) -> HttpError {
    error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<HttpError>())
        .cloned()
        .unwrap_or_else(|| HttpError::Broken {
            reason: error.to_string(),
        })
}

#[cfg(test)]
impl<'a> Net<'a> {
    /// Makes a network of doubles that has no credentials and no observer.
    pub(super) fn of_doubles(
        http: &'a dyn Http,
        clock: &'a dyn Clock,
        flavor: crate::flavor::Flavor,
    ) -> Self {
        Self {
            http,
            clock,
            policy: RetryPolicy::of(&crate::world::mem::MemEnv::default(), flavor),
            package_credentials: Arc::new(|_| None),
            observer: &|_| {},
            outages: Arc::default(),
        }
    }
}
