//! Listeners, and answers to requests.

use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::{Request, Response};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::{Answers, Asked, Reply, Role};
use crate::servers::{Connection, Servers};

/// A connection of a role.
pub(crate) struct SiteConnection<A> {
    pub(crate) site: Arc<A>,
    pub(crate) role: Role,
}

impl<A: Answers> Connection for SiteConnection<A> {
    type Socket = TcpStream;
    type Body = Parcel;

    fn socket(&self, stream: TcpStream) -> TcpStream {
        stream
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Parcel> {
        respond(Arc::clone(&self.site), self.role, request).await
    }
}

/// Answers what arrives at a port.
pub(crate) fn listen<A: Answers>(
    servers: &Servers,
    listener: TcpListener,
    site: Arc<A>,
    role: Role,
    tls: Option<TlsAcceptor>,
) {
    servers.listen(listener, tls, move || SiteConnection {
        site: Arc::clone(&site),
        role,
    });
}

async fn respond<A: Answers>(
    site: Arc<A>,
    role: Role,
    request: Request<Incoming>,
) -> Response<Parcel> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes().to_vec());
    let target = match head.uri.path_and_query() {
        Some(target) => target.as_str().to_owned(),
        None => head.uri.to_string(),
    };
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let asked = Asked {
        role,
        method: head.method.as_str().to_owned(),
        target,
        headers: headers.collect(),
        body: body.unwrap_or_default(),
    };
    let method = asked.method.clone();
    // Git is a program that is waited for.
    let reply = tokio::task::spawn_blocking(move || site.answer(&asked)).await;
    let reply = reply.unwrap();
    if let Some(delay) = reply.delay {
        tokio::time::sleep(delay).await;
    }
    response(&method, reply)
}

fn response(method: &str, reply: Reply) -> Response<Parcel> {
    let mut response = Response::builder().status(reply.status);
    let mut has_length = false;
    for (name, value) in &reply.headers {
        has_length |= name.eq_ignore_ascii_case("content-length");
        response = response.header(name, value);
    }
    if !has_length && reply.status != 204 {
        response = response.header("Content-Length", reply.body.len());
    }
    let is_sent = method != "HEAD" && reply.status != 204;
    let mut body = if is_sent { reply.body } else { Vec::new() };
    let cut = reply.cut && is_sent;
    if cut {
        body.truncate(body.len() / 2);
    }
    let parcel = Parcel {
        body: Some(Bytes::from(body)),
        cut,
    };
    response.body(parcel).unwrap()
}

/// A body, or the first half of one behind which the connection breaks.
pub(crate) struct Parcel {
    body: Option<Bytes>,
    cut: bool,
}

impl Body for Parcel {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(match self.body.take() {
            Some(body) => Some(Ok(Frame::data(body))),
            None if self.cut => Some(Err(std::io::ErrorKind::ConnectionAborted.into())),
            None => None,
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
