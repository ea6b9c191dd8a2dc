//! Packages over the network: repeated when they break off, and resumed where the server can.
//!
//! Neither program repeats a body that breaks off. A package may be put together from pieces, but it is hashed
//! as a whole, so that a wrong piece cannot go unnoticed.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::net::{Event, Net, RedirectLimits, Redirects, http_error};
use super::retry;
use super::{FetchError, FetchFault};
use crate::addr::Url;
use crate::hash::{Digest, READ_BUFFER_BYTES, Sha256Stream};
use crate::world::{HttpError, HttpRequest, HttpResponse, Scratch};

/// Maximum size of a package, in bytes; the largest real ones have some 200 million.
const MAX_PACKAGE_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Maximum number of bytes in all attempts together, as a multiple of the limit on the package.
const MAX_RECEIVED_TIMES: u64 = 2;

/// Maximum number of redirects (rules 2.8).
pub(super) const PACKAGE_HOPS: usize = 9;

/// Maximum time until a package begins to arrive: a caching proxy sends nothing before it has fetched all
/// of it (rules 4.6).
pub(super) const FIRST_BYTE: Duration = Duration::from_secs(120);

/// Maximum time without any bytes after that: a package has no other time-out.
pub(super) const IDLE: Duration = Duration::from_secs(30);

/// A server that keeps sending may take its time, but not for ever: so many bytes per second...
const LEAST_RATE: u64 = 512;

/// ...have to arrive on average over this time.
const RATE_WINDOW: Duration = Duration::from_secs(60);

/// A piece of this size is progress: the next break counts as the first again.
const PROGRESS_BYTES: u64 = 1024 * 1024;

/// The proof that a package is the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The SHA-256 that it should have.
    Digest(Digest),
    /// Hashes that are stated for it; its content is compared with them later.
    Stated,
    /// Nothing but the server that sends it: so no connection on the way may be plain http.
    Server,
    /// Nothing but the address that the user chose: so no redirect may lead from https to http.
    Address,
}

/// A package to download.
#[derive(Clone, Copy, Debug)]
pub struct PackageRequest<'a> {
    pub url: &'a Url,
    /// The proof that it is the right one.
    pub check: Check,
    /// Header fields beside those that every request for a package has.
    pub headers: &'a [(&'a str, &'a str)],
    /// Maximum length of the package, in bytes.
    pub limit: u64,
    /// The exact length of the package in bytes, if its source states it.
    pub bytes: Option<u64>,
    /// The number of times to repeat it, if that is configured for its source.
    pub retries: Option<usize>,
    /// The permitted encodings of its bytes.
    pub transfer: Transfer,
    /// The share of a run with a limit, if it has one.
    pub allowance: Option<&'a DownloadAllowance>,
}

/// The bytes that all packages of a run may have together, also those that arrive at the same time.
#[derive(Debug)]
pub struct DownloadAllowance {
    limit: u64,
    left: AtomicU64,
}

impl DownloadAllowance {
    /// Allows so many bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            left: limit.into(),
        }
    }

    /// Takes bytes that arrived from a server.
    fn take(&self, server: &Url, bytes: u64) -> Result<(), FetchError> {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(bytes)
            });
        taken.map(|_| ()).map_err(|_| self.spent(server))
    }

    fn spent(&self, server: &Url) -> FetchError {
        let limit = self.limit;
        FetchError::new(server, FetchFault::NotAllowed { limit })
    }
}

/// The permitted encodings of the bytes of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// As they are, in pieces where the server gives them.
    Plain,
    /// As a whole, and compressed if the server likes: the programs offer that for packages of modules.
    Encoded,
}

impl<'a> PackageRequest<'a> {
    /// Requests the package of a provider.
    #[must_use]
    pub fn of_provider(url: &'a Url, check: Check) -> Self {
        Self {
            url,
            check,
            headers: &[],
            limit: MAX_PACKAGE_BYTES,
            bytes: None,
            retries: None,
            transfer: Transfer::Plain,
            allowance: None,
        }
    }
}

/// A package that was downloaded.
pub struct Downloaded<F = Box<dyn Scratch>> {
    /// Its bytes, in the file that was made for them.
    pub file: F,
    /// The SHA-256 of them.
    pub digest: Digest,
    /// The length of the file in bytes.
    pub bytes: u64,
}

/// Makes the file for the bytes of a package; a package that starts over gets another one.
pub type MakeFile<'a, F> = &'a dyn Fn() -> io::Result<F>;

/// The bytes of a package that have arrived so far.
struct Partial<F> {
    file: F,
    sha: Sha256Stream,
    bytes: u64,
    /// A strong entity tag or a date, so that the server can decide if the rest still belongs to the same file.
    validator: Option<String>,
    /// The file was put together from the bodies of several answers.
    in_pieces: bool,
    /// The number of bytes in all attempts together.
    received: u64,
}

/// Downloads a package into a file that the caller makes.
///
/// A package that was put together from pieces and has another SHA-256 than it should have is downloaded
/// once more as a whole.
///
/// # Errors
/// The last failure, when all repetitions failed.
pub fn download<F: Scratch>(
    net: &Net<'_>,
    make: MakeFile<'_, F>,
    request: PackageRequest<'_>,
) -> Result<Downloaded<F>, FetchError> {
    let PackageRequest { url, check, .. } = request;
    let retries = request.retries.unwrap_or(net.policy.package_retries);
    let mut delays = retry::seconds(retries);
    let mut attempts = 0;
    let mut partial = Partial::empty(make, url)?;
    // The whole package is fetched a second time at most once: a server that always mixes two files would
    // keep the run busy otherwise.
    let mut started_over = false;
    let mut start = net.outages.now();
    loop {
        attempts += 1;
        let before = partial.bytes;
        let (mut error, after) = match attempt(net, make, request, &mut partial) {
            Ok(server) => {
                let digest = partial.sha.clone().finish();
                // Servers behind one name may hold different files, or change theirs between two pieces.
                // One download in a single piece shows whether the package is really another one.
                let is_wrong = matches!(check, Check::Digest(expected) if expected != digest);
                if is_wrong && partial.in_pieces && !started_over {
                    partial.restart(make, url)?;
                    started_over = true;
                    continue;
                }
                return complete(net, request, &server, partial, digest);
            }
            Err(failed) => failed,
        };
        error.attempts = attempts;
        if !error.may_pass() {
            return Err(error);
        }
        // On a bad line a large package breaks off often. As long as each attempt adds something, it is
        // worth another one, so the count starts anew. What counts is a first piece, or one that was
        // added to others; a server that starts from the beginning each time adds nothing.
        let went_on = before == 0 || partial.in_pieces;
        if went_on && !started_over && partial.bytes >= before + PROGRESS_BYTES {
            (delays, attempts) = (retry::seconds(retries), 0);
            net.outages.answered(&error.url);
            start = net.outages.now();
        }
        let Some(delay) = delays.next().filter(|_| retry::is_bearable(after)) else {
            net.outages.gave_up(start, &error);
            return Err(error);
        };
        net.wait(url, after.unwrap_or(delay));
    }
}

/// Ends a download after its last byte.
fn complete<F>(
    net: &Net<'_>,
    request: PackageRequest<'_>,
    server: &Url,
    partial: Partial<F>,
    digest: Digest,
) -> Result<Downloaded<F>, FetchError> {
    let bytes = partial.bytes;
    // The length in a descriptor is compared as well, since OpenTofu refuses another one (rules 14.8).
    if let Some(error) = other_length(server, request.bytes, Some(bytes)) {
        return Err(error);
    }
    let url = request.url;
    (net.observer)(&Event::Finished { url, bytes });
    net.outages.answered(server);
    Ok(Downloaded {
        file: partial.file,
        digest,
        bytes,
    })
}

/// A failure, and the time that the server asks to wait after it.
type Failed = (FetchError, Option<Duration>);

/// Asks for what is missing and adds it; returns the URL that served it.
fn attempt<F: Scratch>(
    net: &Net<'_>,
    make: MakeFile<'_, F>,
    request: PackageRequest<'_>,
    partial: &mut Partial<F>,
) -> Result<Url, Failed> {
    let url = request.url;
    let alone = |error| (error, None);
    let (server, response) = ask(net, request, partial).map_err(alone)?;
    let length: Option<u64> = response
        .header("content-length")
        .and_then(|length| length.parse().ok());
    (net.observer)(&Event::Answered {
        url: &server,
        status: response.status,
        bytes: length,
    });
    match response.status {
        // The whole package, though perhaps only the rest was asked for: the server gives no pieces,
        // or its file has changed since.
        200 => partial.restart(make, url).map_err(alone)?,
        206 if first_byte(&response) == Some(partial.bytes) => partial.in_pieces = true,
        // Another piece than was asked for, or none: the next attempt starts over.
        206 | 416 => {
            partial.validator = None;
            let reason = "it does not go on where it broke off".to_owned();
            let fault = FetchFault::Http(HttpError::Broken { reason });
            return Err(alone(FetchError::new(&server, fault)));
        }
        _ => return Err(refused(net, &server, &response)),
    }
    partial.validator = match request.transfer {
        Transfer::Plain => validator(&response),
        // Positions of pieces count encoded bytes, which are not visible behind the decoder.
        Transfer::Encoded => None,
    };
    // The length of an answer with a piece is that of the piece.
    let total = length.map(|length| partial.bytes.saturating_add(length));
    if total.is_some_and(|total| total > request.limit) {
        return Err(alone(too_large(&server, request.limit)));
    }
    if let Some(error) = other_length(&server, request.bytes, total) {
        return Err(alone(error));
    }
    // A package that cannot come whole is not begun.
    if let (Some(allowance), Some(length)) = (request.allowance, length)
        && length > allowance.left.load(Ordering::Relaxed)
    {
        return Err(alone(allowance.spent(&server)));
    }
    let from = partial.bytes;
    (net.observer)(&Event::Started { url, from, total });
    receive(net, request, &server, response, partial).map_err(alone)?;
    Ok(server)
}

/// Returns the failure of an answer without a package.
fn refused(net: &Net<'_>, server: &Url, response: &HttpResponse) -> Failed {
    let status = response.status;
    let after = retry::after(response, net.clock.now());
    if !retry::is_worth_it(status) {
        net.outages.answered(server);
    }
    let fault = FetchFault::Status {
        status,
        wait: after,
        // The body of a package is not read.
        stated: None,
    };
    (FetchError::new(server, fault), after)
}

/// Requests what is missing, or everything where it is unknown whether the rest belongs to the same
/// file; returns the URL that serves it, behind all redirects.
fn ask<F>(
    net: &Net<'_>,
    package: PackageRequest<'_>,
    partial: &Partial<F>,
) -> Result<(Url, HttpResponse), FetchError> {
    let url = package.url;
    let range = format!("bytes={}-", partial.bytes);
    // The hash is over the bytes of the zip, and ranges count the bytes that are sent: so both must be
    // the same. With `if-range` the server itself says whether the rest still belongs to what is here;
    // if not, it sends everything.
    let mut headers = package.headers.to_vec();
    if package.transfer == Transfer::Plain {
        headers.push(("accept-encoding", "identity"));
    }
    if let (Some(validator), true) = (&partial.validator, partial.bytes > 0) {
        headers.extend([("range", range.as_str()), ("if-range", validator.as_str())]);
    }
    // Never the token of the registry (rules 5.3): only netrc, or the login of an OCI registry.
    let credentials = (net.package_credentials)(url);
    let request = HttpRequest {
        url,
        headers: &headers,
        credentials: credentials.as_ref(),
        // A package has no limit in total (rules 4.6): on a slow line 200 MB take long, but steadily.
        timeout: None,
        first_byte: FIRST_BYTE,
        idle: IDLE,
        compressed: package.transfer == Transfer::Encoded,
    };
    let limits = RedirectLimits {
        hops: PACKAGE_HOPS,
        redirects: match package.check {
            Check::Digest(_) | Check::Stated => Redirects::Any,
            Check::Server => Redirects::Encrypted,
            Check::Address => Redirects::NoDowngrade,
        },
        attempt: 1,
    };
    net.follow(&request, limits)
}

/// Adds a body as it comes; the server is where it comes from in the end.
fn receive<F: Scratch>(
    net: &Net<'_>,
    request: PackageRequest<'_>,
    server: &Url,
    mut response: HttpResponse,
    partial: &mut Partial<F>,
) -> Result<(), FetchError> {
    let PackageRequest { url, .. } = request;
    let limit = request.bytes.unwrap_or(request.limit).min(request.limit);
    let most_received = limit.saturating_mul(MAX_RECEIVED_TIMES);
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    // It begins with the first byte, which may take its time.
    let mut window: Option<(SystemTime, u64)> = None;
    loop {
        let length = match response.body.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let cause = http_error(&error);
                (net.observer)(&Event::Failed {
                    url: server,
                    cause: &cause,
                });
                return Err(FetchError::new(server, FetchFault::Http(cause)));
            }
        };
        let bytes = length as u64;
        partial.bytes += bytes;
        partial.received += bytes;
        // Without the second limit a server could make the run endless, by breaking off after each MiB.
        if partial.bytes > limit || partial.received > most_received {
            return Err(too_large(server, limit));
        }
        if let Some(allowance) = request.allowance {
            allowance.take(server, bytes)?;
        }
        partial.sha.update(&buffer[..length]);
        partial
            .file
            .write_all(&buffer[..length])
            .map_err(|error| not_stored(url, &error))?;
        (net.observer)(&Event::Received { url, bytes });
        let now = net.clock.now();
        let (start, arrived) = window.get_or_insert((now, 0));
        *arrived += bytes;
        // A clock that was set back begins a new window as well.
        if now
            .duration_since(*start)
            .map_or(true, |passed| passed >= RATE_WINDOW)
        {
            if *arrived < LEAST_RATE * RATE_WINDOW.as_secs() {
                let fault = FetchFault::TooSlow { rate: LEAST_RATE };
                return Err(FetchError::new(server, fault));
            }
            window = Some((now, 0));
        }
    }
}

/// Returns the error of a package that has another length than is stated for it.
fn other_length(server: &Url, stated: Option<u64>, found: Option<u64>) -> Option<FetchError> {
    let (stated, found) = (stated?, found?);
    let fault = FetchFault::OtherLength { stated, found };
    (stated != found).then(|| FetchError::new(server, fault))
}

impl<F> Partial<F> {
    fn empty(make: MakeFile<'_, F>, url: &Url) -> Result<Self, FetchError> {
        Ok(Self {
            file: make().map_err(|error| not_stored(url, &error))?,
            sha: Sha256Stream::default(),
            bytes: 0,
            validator: None,
            in_pieces: false,
            received: 0,
        })
    }

    /// Forgets what has arrived, but not how much that was.
    fn restart(&mut self, make: MakeFile<'_, F>, url: &Url) -> Result<(), FetchError> {
        let received = self.received;
        *self = Self {
            received,
            ..Self::empty(make, url)?
        };
        Ok(())
    }
}

/// Returns the tag or date of a file, for the detection of pieces of another file; `None` if the server sends
/// no pieces.
fn validator(response: &HttpResponse) -> Option<String> {
    // Without `Accept-Ranges` a request for the rest would be answered with the whole package at best.
    let gives_pieces = response.status == 206
        || response
            .header("accept-ranges")
            .is_some_and(|unit| unit.eq_ignore_ascii_case("bytes"));
    // A weak tag (`W/"…"`) promises the same meaning, not the same bytes.
    let tag = response.header("etag").filter(|tag| tag.starts_with('"'));
    let validator = tag.or_else(|| response.header("last-modified"))?;
    gives_pieces.then(|| validator.to_owned())
}

/// Reads the offset of a piece from `Content-Range: bytes FIRST-LAST/TOTAL`.
fn first_byte(response: &HttpResponse) -> Option<u64> {
    let range = response.header("content-range")?.strip_prefix("bytes ")?;
    range.split_once('-')?.0.trim().parse().ok()
}

fn too_large(url: &Url, limit: u64) -> FetchError {
    FetchError::new(url, FetchFault::TooLarge { limit })
}

fn not_stored(url: &Url, error: &io::Error) -> FetchError {
    let fault = FetchFault::Scratch {
        kind: error.kind(),
        reason: error.to_string(),
    };
    FetchError::new(url, fault)
}
