//! Asking for documents: redirects hop by hop, repetition, limits.
//!
//! Credentials are bound to an origin: no request to another one carries them, wherever a redirect
//! leads. That is why redirects are followed here and not by the HTTP client, which has rules of its
//! own for what it sends on; besides, each kind of document has its own limit of hops.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::outages::Outages;
use super::retry::{self, Policy};
use super::{FetchError, cut};
use crate::addr::{Origin, Url};
use crate::world::{Clock, Credentials, Http, HttpError, HttpRequest, HttpResponse};

/// Returns the credentials for the download of a package, if there are some.
pub type PackageCredentials<'a> = Arc<dyn Fn(&Url) -> Option<Credentials> + Send + Sync + 'a>;

/// The network as the sources use it.
#[derive(Clone)]
pub struct Net<'a> {
    /// The client that sends the requests.
    pub http: &'a dyn Http,
    /// The clock that waits between attempts.
    pub clock: &'a dyn Clock,
    /// The number of attempts and the time limits.
    pub policy: Policy,
    /// The credentials for packages, by host (rules 5.4: Terraform sends what `~/.netrc` holds).
    pub package_credentials: PackageCredentials<'a>,
    /// Is informed of progress, and cannot influence it.
    pub observer: &'a (dyn Fn(&Event<'_>) + Sync),
    /// The hosts that are not asked again.
    pub outages: Arc<Outages>,
}

/// Something that happened on the network.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A server is being asked.
    Asking {
        /// The URL that is requested.
        url: &'a Url,
    },
    /// A server redirected the request.
    Redirected {
        /// The URL that was requested.
        url: &'a Url,
        /// The status of the redirect.
        status: u16,
        /// The target of the redirect.
        to: &'a Url,
    },
    /// A server answered; a body of a package still has to come.
    Answered {
        /// The URL that was requested.
        url: &'a Url,
        /// The status of the answer.
        status: u16,
        /// The length of the body in bytes, where it is known.
        bytes: Option<u64>,
    },
    /// A request failed for good or will be repeated.
    Failed {
        /// The URL that was requested.
        url: &'a Url,
        /// The cause of the failure.
        cause: &'a HttpError,
    },
    /// A request is about to be repeated.
    Repeating {
        /// The URL that is requested again.
        url: &'a Url,
        /// The time until the next request.
        wait: Duration,
    },
    /// A download began, or goes on where it broke off.
    Started {
        /// The URL of the package.
        url: &'a Url,
        /// The number of bytes that are there already.
        from: u64,
        /// The length of the package in bytes, if it is known.
        total: Option<u64>,
    },
    /// Bytes of a package arrived.
    Received {
        /// The URL of the package.
        url: &'a Url,
        /// The number of bytes in this piece.
        bytes: u64,
    },
    /// A download is over.
    Finished {
        /// The URL of the package.
        url: &'a Url,
        /// The length of the package, in bytes.
        bytes: u64,
    },
}

/// A request for a document.
pub(super) struct Ask<'a> {
    /// The first URL of the chain.
    pub(super) url: &'a Url,
    /// Header fields beside those that the client adds.
    pub(super) headers: &'a [(&'a str, &'a str)],
    /// The credentials, for the origin of `url` alone.
    pub(super) credentials: Option<&'a Credentials>,
    /// Maximum number of redirects.
    pub(super) hops: usize,
    /// Maximum length of the document, in bytes.
    pub(super) limit: u64,
    /// Maximum time of one attempt, redirects included.
    pub(super) timeout: Duration,
    /// The connections to which redirects may lead.
    pub(super) route: Route,
}

/// The connections to which redirects may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Anywhere: what is fetched is proved by other means.
    Any,
    /// To encrypted connections only: what is fetched is believed.
    Encrypted,
    /// To encrypted connections only, unless the first one is not: that was the choice of the user.
    NoDowngrade,
}

/// The limits on a chain of redirects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trail {
    /// Maximum number of redirects.
    pub(super) hops: usize,
    /// The connections to which they may lead.
    pub(super) route: Route,
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
        let fields = self.headers.iter();
        fields.filter_map(move |(known, value)| (known == name).then_some(&**value))
    }

    /// Returns the media type of the body: its content type without parameters.
    pub(super) fn media_type(&self) -> &str {
        let media_type = self.content_type.split(';').next();
        media_type.unwrap_or_default().trim()
    }

    /// Returns what is wrong with the content type of a JSON document, if anything is; parameters do
    /// not matter.
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

impl std::fmt::Debug for Net<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net").finish_non_exhaustive()
    }
}

impl Net<'_> {
    /// Fetches a document; any status but those that are worth a repetition is an answer.
    ///
    /// Repeated as `delays` says, from the first URL on. A host that fails to the end is not asked again.
    pub(super) fn document(
        &self,
        ask: &Ask<'_>,
        delays: impl Iterator<Item = Duration>,
    ) -> Result<Answer, FetchError> {
        let mut delays = delays;
        let mut attempts = 0;
        let start = self.outages.now();
        loop {
            attempts += 1;
            let (error, wait) = match self.answer(ask, attempts) {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
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

    /// Fetches a document that nothing depends on: it is not asked for again, and what is needed of the
    /// host still is.
    pub(super) fn optional_document(&self, ask: &Ask<'_>) -> Result<Answer, FetchError> {
        self.answer(ask, 1).map_err(|(error, _)| error)
    }

    /// Makes one attempt; returns beside an error how long the server asks to wait.
    fn answer(
        &self,
        ask: &Ask<'_>,
        attempts: usize,
    ) -> Result<Answer, (FetchError, Option<Duration>)> {
        let (answer, wait) = self.attempt(ask, attempts).map_err(|error| (error, None))?;
        if retry::is_worth_it(answer.status) {
            // If this was the last attempt, its status is what the user should read.
            let error = FetchError::Status {
                url: answer.url,
                attempts,
                status: answer.status,
                wait,
            };
            return Err((error, wait));
        }
        self.outages.answered(&answer.url);
        Ok(answer)
    }

    /// Waits before a repetition.
    pub(super) fn wait(&self, url: &Url, wait: Duration) {
        (self.observer)(&Event::Repeating { url, wait });
        self.clock.sleep(wait);
    }

    /// Makes one attempt, with all redirects; returns beside the answer how long the server asks to
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
            first_byte: ask.timeout,
            idle: ask.timeout,
            compressed: true,
        };
        let trail = Trail {
            hops: ask.hops,
            route: ask.route,
            attempt: attempts,
        };
        let (url, mut response) = self.follow(&request, trail)?;
        let failed = |cause| FetchError::Http {
            url: url.clone(),
            attempts,
            cause,
        };
        let mut body = Vec::new();
        // One byte more than the limit shows whether a document is too long or just fits.
        let read = (&mut response.body).take(ask.limit + 1);
        if let Err(error) = { read }.read_to_end(&mut body) {
            let cause = within(http_error(&error), Some(ask.timeout));
            (self.observer)(&Event::Failed {
                url: &url,
                cause: &cause,
            });
            return Err(failed(cause));
        }
        if body.len() as u64 > ask.limit {
            let limit = ask.limit;
            return Err(FetchError::TooLarge { url, limit });
        }
        (self.observer)(&Event::Answered {
            url: &url,
            status: response.status,
            bytes: Some(body.len() as u64),
        });
        let after = retry::after(&response, self.clock.now());
        let content_type = response.header("content-type").unwrap_or_default();
        let location = response.header("x-terraform-get");
        let location = location.filter(|location| !location.is_empty());
        let answer = Answer {
            status: response.status,
            location: location.map(str::to_owned),
            content_type: content_type.to_owned(),
            changed: last_modified(&response),
            headers: response.headers,
            url,
            body,
        };
        Ok((answer, after))
    }

    /// Sends a request and follows redirects; returns where that ended, with the answer there.
    ///
    /// Credentials go to the origin of the first URL only, and no longer once a redirect has left
    /// it: what is requested behind that is the choice of another server. A user and a password are dropped
    /// even there where the redirect names its place in full, as the programs do (rules 13.6).
    pub(super) fn follow(
        &self,
        request: &HttpRequest<'_>,
        trail: Trail,
    ) -> Result<(Url, HttpResponse), FetchError> {
        let mut passed = Duration::ZERO;
        let home: Origin = request.url.origin();
        let mut url = request.url.clone();
        let mut at_home = true;
        let is_basic = matches!(request.credentials, Some(Credentials::Basic { .. }));
        for _ in 0..=trail.hops {
            // This never becomes true again: a server that redirects back chooses the path, and could have
            // the credentials sent to a place of its choice.
            at_home &= url.origin() == home;
            let sent = HttpRequest {
                url: &url,
                // The limit holds for the whole chain, else each hop could use it up anew.
                timeout: request.timeout.map(|limit| limit.saturating_sub(passed)),
                credentials: request.credentials.filter(|_| at_home),
                ..request.clone()
            };
            self.outages.check(&url)?;
            (self.observer)(&Event::Asking { url: &url });
            let response = self.http.get(&sent).map_err(|cause| {
                (self.observer)(&Event::Failed {
                    url: &url,
                    cause: &cause,
                });
                FetchError::Http {
                    url: url.clone(),
                    attempts: trail.attempt,
                    cause: within(cause, request.timeout),
                }
            })?;
            passed += response.took;
            if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
                return Ok((url, response));
            }
            self.outages.answered(&url);
            let next = match response.header("location") {
                Some(location) => {
                    at_home &= !is_basic || is_relative(location);
                    url.join(location).map_err(Some)
                }
                None => Err(None),
            };
            let next = next.map_err(|cause| FetchError::BadRedirect {
                url: url.clone(),
                cause,
            })?;
            (self.observer)(&Event::Redirected {
                url: &url,
                status: response.status,
                to: &next,
            });
            let must_be_encrypted = match trail.route {
                Route::Any => false,
                Route::Encrypted => true,
                Route::NoDowngrade => home.encrypted,
            };
            if must_be_encrypted && !next.origin().encrypted {
                return Err(FetchError::Unencrypted { url });
            }
            url = next;
        }
        Err(FetchError::TooManyRedirects {
            url: request.url.clone(),
            limit: trail.hops,
        })
    }
}

/// Returns whether a reference leaves the host out.
fn is_relative(reference: &str) -> bool {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let scheme_ends = reference.trim_start_matches(is_scheme).starts_with(':');
    !scheme_ends && !reference.starts_with("//")
}

/// Returns when a server says that what it sends was changed last; `None` if it says nothing that can
/// be read.
pub(super) fn last_modified(response: &HttpResponse) -> Option<SystemTime> {
    httpdate::parse_http_date(response.header("last-modified")?.trim()).ok()
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
    let inner = error.get_ref().and_then(|e| e.downcast_ref::<HttpError>());
    inner.cloned().unwrap_or_else(|| HttpError::Broken {
        reason: error.to_string(),
    })
}
