//! The network: `reqwest` behind [`Http`], with the runtime that it needs hidden inside.

mod buckets;
mod certificates;
mod proxy;

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, redirect};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use self::buckets::Bucket;
use self::certificates::{Authorities, Roots};
use self::proxy::Proxies;
use crate::addr::{Origin, StorePlace, StoreUrl};
use crate::world::{Credentials, Env, Http, HttpError, HttpRequest, HttpResponse, SharedObjects};

/// Maximum number of requests to one origin at a time.
///
/// Enough that the latency of small documents does not show, and few enough that a registry is not
/// flooded: OpenTofu has no limit here.
const MAX_PER_ORIGIN: usize = 16;

/// Lifetime of an unused connection: registries and their package servers take turns.
const POOL_IDLE: Duration = Duration::from_secs(30);

/// Receive window of one HTTP/2 stream, in bytes: with the usual 64 KiB a package would wait for every
/// round trip.
const HTTP2_WINDOW: u32 = 4 * 1024 * 1024;

/// Threads that move bytes between sockets and callers.
const IO_THREADS: usize = 2;

/// The program that sends the requests.
const USER_AGENT: &str = concat!("lockctl/", env!("CARGO_PKG_VERSION"));

/// The network of this machine, set up when the first request is made.
pub struct RealHttp<'a> {
    env: &'a dyn Env,
    authorities: Authorities,
    net: OnceLock<Result<HttpStack, HttpError>>,
}

/// Everything that requests need.
struct HttpStack {
    /// Always there until the end.
    runtime: Option<Runtime>,
    /// For documents, which may be compressed on the way.
    documents: Client,
    /// For what is hashed.
    packages: Client,
    proxies: Proxies,
    limits: Mutex<BTreeMap<Origin, Arc<Semaphore>>>,
}

impl<'a> RealHttp<'a> {
    /// Makes a network by the proxies and certificates that the environment names
    /// (`sources` rules 6).
    #[must_use]
    pub fn new(env: &'a dyn Env) -> Self {
        Self {
            env,
            authorities: Authorities::OfThisSystem,
            net: OnceLock::new(),
        }
    }

    /// Makes a network that trusts as on Linux: `SSL_CERT_FILE` counts on macOS and Windows, too.
    ///
    /// For tests, whose registries have an authority of their own.
    #[doc(hidden)]
    #[must_use]
    pub fn trusting_as_on_linux(env: &'a dyn Env) -> Self {
        Self {
            authorities: Authorities::AsOnLinux,
            ..Self::new(env)
        }
    }
}

impl Http for RealHttp<'_> {
    fn get(&self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        self.stack()?.get(request)
    }

    fn bucket(&self, url: &StoreUrl) -> io::Result<Box<dyn SharedObjects + '_>> {
        let StorePlace::Bucket {
            service,
            bucket,
            prefix,
        } = url.place()
        else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let stack = self.stack()?;
        let runtime = stack.runtime.as_ref().expect("it ends with this value");
        let place = (*service, &**bucket, &**prefix);
        let bucket = Bucket::open(self.env, stack.packages.clone(), runtime, place)?;
        Ok(Box::new(bucket))
    }
}

impl RealHttp<'_> {
    fn stack(&self) -> Result<&HttpStack, HttpError> {
        let stack = self.net.get_or_init(|| {
            let runtime = Builder::new_multi_thread()
                .worker_threads(IO_THREADS)
                .enable_all()
                .build()
                .map_err(|error| setup(format!("no threads for the network: {error}")))?;
            // A second installation fails, and then the first one serves as well.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let proxies = Proxies::of(self.env);
            let roots = certificates::roots(self.env, self.authorities)
                .map_err(|reason| HttpError::Environment { reason })?;
            Ok(HttpStack {
                runtime: Some(runtime),
                documents: client(&proxies, &roots, Compression::Accepted)?,
                packages: client(&proxies, &roots, Compression::Refused)?,
                proxies,
                limits: Mutex::default(),
            })
        });
        stack.as_ref().map_err(Clone::clone)
    }
}

impl HttpStack {
    fn get(&self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        let origin = request.url.origin();
        // `client` sets the library up, where an error could not be returned.
        let proxy = self
            .proxies
            .of_target(&origin)
            .map_err(|error| HttpError::Environment {
                reason: error.to_string(),
            })?;
        let limit = self.limit(&origin);
        let sent = self.request(request)?;
        let runtime = self.runtime.as_ref().expect("it ends with this value");
        runtime.block_on(async {
            let permit = limit.acquire_owned().await.expect("it is never closed");
            // The clock starts when it is this request's turn.
            let start = Instant::now();
            let deadline = Deadline::of(request, start);
            let response = match timeout_at(deadline.next(start), sent.send()).await {
                Ok(response) => response.map_err(|error| broken(&error, proxy.as_ref()))?,
                Err(_) => return Err(deadline.passed(Instant::now())),
            };
            Ok(HttpResponse {
                status: response.status().as_u16(),
                headers: response
                    .headers()
                    .iter()
                    .filter_map(|(name, value)| {
                        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
                    })
                    .collect(),
                took: start.elapsed(),
                body: Box::new(StreamedBody {
                    response,
                    chunk: Vec::new().into(),
                    deadline,
                    handle: runtime.handle().clone(),
                    _permit: permit,
                }),
            })
        })
    }

    fn request(&self, request: &HttpRequest<'_>) -> Result<RequestBuilder, HttpError> {
        let client = if request.compressed {
            &self.documents
        } else {
            &self.packages
        };
        let mut sent = client.get(request.url.secret_text());
        for (name, value) in request.headers {
            let name = HeaderName::try_from(*name);
            let value = HeaderValue::try_from(*value);
            let (Ok(name), Ok(value)) = (name, value) else {
                return Err(setup("a header field cannot be sent".to_owned()));
            };
            sent = sent.header(name, value);
        }
        Ok(match request.credentials {
            None => sent,
            Some(Credentials::Basic { user, password }) => {
                sent.basic_auth(user, Some(password.reveal()))
            }
            Some(Credentials::Bearer(token)) => {
                let value = HeaderValue::try_from(format!("Bearer {}", token.reveal()));
                let mut value = value.map_err(|_| {
                    setup("the token holds a character that cannot be sent".to_owned())
                })?;
                // Keeps the token out of the debug output of the HTTP library.
                value.set_sensitive(true);
                sent.header(AUTHORIZATION, value)
            }
        })
    }

    fn limit(&self, origin: &Origin) -> Arc<Semaphore> {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            limits
                .entry(origin.clone())
                .or_insert_with(|| Arc::new(Semaphore::new(MAX_PER_ORIGIN))),
        )
    }
}

impl Drop for HttpStack {
    fn drop(&mut self) {
        // Without waiting: a name that is still being looked up must not keep the process.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Compression of a body on the way.
#[derive(Clone, Copy)]
enum Compression {
    Accepted,
    Refused,
}

fn client(proxies: &Proxies, roots: &Roots, compression: Compression) -> Result<Client, HttpError> {
    let chosen = proxies.clone();
    // A server may close an unused connection at the moment when it is used again. The library then sends
    // the request on a new one, but only if nothing of it was sent; all other retries are in `sources`.
    let mut builder = Client::builder()
        .user_agent(USER_AGENT)
        // The programs differ in the redirections that they follow (`sources` rules).
        .redirect(redirect::Policy::none())
        // The library would read ALL_PROXY, and the settings of the system on macOS and Windows.
        .no_proxy()
        .proxy(reqwest::Proxy::custom(move |url| {
            let origin = Origin {
                encrypted: url.scheme() == "https",
                host: url.host_str()?.to_owned(),
                port: url.port_or_known_default()?,
            };
            chosen.of_target(&origin).ok()?
        }))
        .pool_idle_timeout(POOL_IDLE)
        .http2_initial_stream_window_size(HTTP2_WINDOW)
        .http2_initial_connection_window_size(HTTP2_WINDOW)
        .gzip(matches!(compression, Compression::Accepted));
    if let Roots::These(certificates) = roots {
        let mut parsed = Vec::with_capacity(certificates.len());
        for der in certificates {
            // A system may hold a certificate that this library cannot read; others will do.
            parsed.extend(reqwest::Certificate::from_der(der));
        }
        builder = builder.tls_certs_only(parsed);
    }
    builder.build().map_err(|error| setup(innermost(&error)))
}

/// The time limits of a request that was sent.
#[derive(Clone, Copy)]
struct Deadline {
    whole: Option<(Instant, Duration)>,
    /// The limit for the first byte of the body; `None` once it has arrived.
    first: Option<(Instant, Duration)>,
    idle: Duration,
}

impl Deadline {
    fn of(request: &HttpRequest<'_>, start: Instant) -> Self {
        let end = |limit| (start + limit, limit);
        Self {
            whole: request.timeout.map(end),
            first: Some(end(request.first_byte)),
            idle: request.idle,
        }
    }

    /// Returns until when something must have arrived.
    fn next(&self, now: Instant) -> Instant {
        // The head may come late and the body later still, so that there is always time for the body.
        let idle = now + self.idle;
        let next = self.first.map_or(idle, |(end, _)| end.max(idle));
        self.whole.map_or(next, |(end, _)| end.min(next))
    }

    /// Returns the error of a deadline that has passed.
    fn passed(&self, now: Instant) -> HttpError {
        let limit = match (self.whole, self.first) {
            (Some((end, limit)), _) if end <= now => limit,
            (_, Some((_, limit))) => limit,
            (_, None) => self.idle,
        };
        HttpError::Timeout { limit }
    }
}

/// A body whose parts are read as they arrive.
struct StreamedBody {
    response: reqwest::Response,
    chunk: bytes::Bytes,
    deadline: Deadline,
    handle: tokio::runtime::Handle,
    _permit: OwnedSemaphorePermit,
}

impl Read for StreamedBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            // Inside the block, because a timer needs the runtime when it is made.
            let end = self.deadline.next(Instant::now());
            let chunk = async { timeout_at(end, self.response.chunk()).await };
            match self.handle.block_on(chunk) {
                Err(_) => return Err(self.deadline.passed(Instant::now()).into()),
                Ok(Err(error)) => return Err(broken(&error, None).into()),
                Ok(Ok(None)) => return Ok(0),
                Ok(Ok(Some(chunk))) => self.chunk = chunk,
            }
            // The limit for the first byte of the body ends with it.
            self.deadline.first = None;
        }
        let length = self.chunk.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.chunk.split_to(length));
        Ok(length)
    }
}

/// Converts an error of the library.
fn broken(error: &reqwest::Error, proxy: Option<&reqwest::Url>) -> HttpError {
    let reason = innermost(error);
    if let Some(reason) = certificate_error(error) {
        HttpError::Certificate { reason }
    } else if error.is_connect() {
        // Without its user and password.
        let proxy = proxy.map(|proxy| {
            let host = proxy.host_str().unwrap_or_default();
            match proxy.port_or_known_default() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            }
        });
        HttpError::Connect { reason, proxy }
    } else {
        HttpError::Broken { reason }
    }
}

/// Finds the error of a certificate; errors of the system wrap others any number of times.
fn certificate_error(error: &reqwest::Error) -> Option<String> {
    let mut next = error.source();
    while let Some(cause) = next {
        let mut inner: Option<&(dyn std::error::Error + 'static)> = Some(cause);
        while let Some(wrapped) = inner {
            if let Some(rustls::Error::InvalidCertificate(fault)) = wrapped.downcast_ref() {
                return Some(fault.to_string());
            }
            inner = wrapped
                .downcast_ref::<io::Error>()
                .and_then(io::Error::get_ref)
                .map(|inner| inner as &(dyn std::error::Error + 'static));
        }
        next = cause.source();
    }
    None
}

/// Returns the cause at the bottom, which names no URL.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    // The text of such an error holds the URL, which may have secrets.
    if cause.is::<reqwest::Error>() {
        return "the request could not be made".to_owned();
    }
    let early = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    if cause.downcast_ref().is_some_and(early) {
        return "it ended early".to_owned();
    }
    cause.to_string()
}

fn setup(reason: String) -> HttpError {
    HttpError::Setup { reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Url;
    use crate::world::mem::MemEnv;

    fn ask(env: &MemEnv, url: &str) -> HttpError {
        let http = RealHttp::trusting_as_on_linux(env);
        let url: Url = url.parse().expect("valid");
        let request = HttpRequest {
            url: &url,
            headers: &[],
            credentials: None,
            timeout: Some(Duration::from_secs(5)),
            first_byte: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            compressed: true,
        };
        http.get(&request)
            .map(drop)
            .expect_err("nothing listens there")
    }

    #[test]
    fn nothing_that_listens_is_a_failed_connection() {
        // Nothing listens on the port of the discard service.
        let error = ask(&MemEnv::default(), "https://127.0.0.1:9/");
        assert!(matches!(error, HttpError::Connect { .. }), "{error:?}");
    }

    #[test]
    fn the_first_byte_may_take_longer_than_the_next_ones() {
        let (start, seconds) = (Instant::now(), Duration::from_secs);
        let url: Url = "https://a.example/x.zip".parse().expect("valid");
        let request = |timeout| HttpRequest {
            url: &url,
            headers: &[],
            credentials: None,
            timeout,
            first_byte: seconds(120),
            idle: seconds(30),
            compressed: false,
        };
        let after = |deadline: &Deadline, passed| {
            let now = start + seconds(passed);
            let left = deadline.next(now).duration_since(start).as_secs();
            let HttpError::Timeout { limit } = deadline.passed(deadline.next(now)) else {
                panic!("a time limit")
            };
            (left, limit.as_secs())
        };
        let mut deadline = Deadline::of(&request(None), start);
        assert_eq!(after(&deadline, 0), (120, 120));
        assert_eq!(after(&deadline, 35), (120, 120));
        assert_eq!(
            after(&deadline, 119),
            (149, 120),
            "the head came just in time"
        );
        deadline.first = None;
        assert_eq!(after(&deadline, 119), (149, 30));

        // A document has a limit for everything.
        let mut deadline = Deadline::of(&request(Some(seconds(10))), start);
        assert_eq!(after(&deadline, 0), (10, 10));
        deadline.first = None;
        assert_eq!(after(&deadline, 9), (10, 10));
    }

    #[test]
    fn certificates_that_cannot_be_read_are_no_reason_to_take_others() {
        let mut env = MemEnv::default();
        env.vars
            .insert("SSL_CERT_FILE".to_owned(), "/nowhere/ca.pem".into());
        let error = ask(&env, "https://127.0.0.1:9/");
        assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
        env.vars
            .insert("SSL_CERT_FILE".to_owned(), "Cargo.toml".into());
        let error = ask(&env, "https://127.0.0.1:9/");
        assert!(error.to_string().contains("no certificate"), "{error}");
    }
}
