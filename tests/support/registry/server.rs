//! Connections, and answers to requests.

use std::future::{Future as _, pending};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::answer::{Answer, Asked};
use super::catalog::Catalog;
use super::delivery::{Ending, Fate, Parcel};
use super::knobs::Knobs;
use super::log::{Entry, InFlight, Log, Origin};
use super::mutation::Mutation;
use super::route::Route;
use super::shop::{Origins, Shop};
use crate::servers::Connection;

/// What all connections of a registry share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) origins: Origins,
    pub(crate) log: Log,
    stock: Mutex<Stock>,
}

/// What a test may change while the registry runs.
#[derive(Debug)]
pub(crate) struct Stock {
    pub(crate) catalog: Catalog,
    pub(crate) knobs: Knobs,
    pub(crate) mutation: Option<Mutation>,
}

impl Shared {
    pub(crate) fn new(origins: Origins) -> Self {
        Self {
            origins,
            log: Log::default(),
            stock: Mutex::new(Stock {
                catalog: Catalog::default(),
                knobs: Knobs::good(),
                mutation: None,
            }),
        }
    }

    pub(crate) fn stock(&self) -> std::sync::MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides the answer and writes the request down.
    fn decide(&self, origin: Origin, request: &Request<Incoming>) -> (Answer, InFlight) {
        let asked = Asked {
            method: request.method().as_str(),
            path: request.uri().path(),
            headers: request.headers(),
        };
        let mut stock = self.stock();
        let kind = Route::of(asked.path).kind();
        let fault = stock.knobs.fault(kind, asked.path, asked.method);
        let shop = Shop {
            catalog: &stock.catalog,
            knobs: &stock.knobs,
            origins: &self.origins,
        };
        let mut answer = shop.answer(asked, fault.as_ref());
        if let Some(mutation) = &mut stock.mutation {
            let host = request
                .headers()
                .get("host")
                .and_then(|host| host.to_str().ok());
            let host = host.or_else(|| request.uri().authority().map(|host| host.as_str()));
            let url = format!(
                "https://{}{}",
                host.unwrap_or_default(),
                request.uri().path()
            );
            mutation.apply(&url, &mut answer);
        }
        let status = match answer.delivery.instead {
            Some(_) => None,
            None => Some(answer.status),
        };
        // Still under the lock, so that the log has the order in which rules were applied.
        let in_flight = self.log.push(Entry::of(origin, request, status));
        (answer, in_flight)
    }
}

/// A connection of an origin.
pub(crate) struct RegistryConnection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) origin: Origin,
    pub(crate) fate: Fate,
}

impl Connection for RegistryConnection {
    type Socket = Socket;
    type Body = Parcel;

    fn socket(&self, stream: TcpStream) -> Socket {
        Socket {
            stream,
            fate: self.fate.clone(),
            pause: None,
        }
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Parcel> {
        respond(&self.shared, self.origin, request, self.fate.clone()).await
    }

    fn poll_end(&self, context: &mut Context<'_>) -> Poll<()> {
        self.fate.poll_end(context)
    }
}

async fn respond(
    shared: &Shared,
    origin: Origin,
    request: Request<Incoming>,
    fate: Fate,
) -> Response<Parcel> {
    let (answer, in_flight) = shared.decide(origin, &request);
    let delivery = &answer.delivery;
    if let Some(ending) = delivery.instead {
        fate.end(ending);
        return pending().await;
    }
    if let Some(wait) = delivery.wait {
        sleep(wait).await;
    }
    fate.set_trickle(delivery.trickle);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    let length = delivery.length.unwrap_or(answer.body.len() as u64);
    response = response.header("Content-Length", length);
    let body = match request.method().as_str() {
        "HEAD" => Bytes::new(),
        _ => answer.body.clone(),
    };
    let parcel = Parcel::new(body, delivery, fate, in_flight);
    response.body(parcel).unwrap()
}

/// A TCP stream that can trickle, and that ends as its fate says.
pub(crate) struct Socket {
    stream: TcpStream,
    fate: Fate,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.fate.ending() == Some(Ending::Reset) {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(pause) = &mut self.pause {
            if pause.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.pause = None;
        }
        let Some(rate) = self.fate.trickle() else {
            return Pin::new(&mut self.stream).poll_write(context, bytes);
        };
        let one = &bytes[..bytes.len().min(1)];
        let written = Pin::new(&mut self.stream).poll_write(context, one);
        if written.is_ready() {
            let time = Duration::from_secs_f64(1.0 / rate as f64);
            self.pause = Some(Box::pin(sleep(time)));
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
