//! Servers on loopback: threads, ports, the certificate of their authority, connections and HTTP.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

use crate::registry::authority_pem;

/// The threads of some servers; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Servers {
    runtime: Option<Runtime>,
    dir: tempfile::TempDir,
}

/// A connection that was accepted.
pub(crate) trait Connection: Send + Sync + 'static {
    /// The stream below TLS.
    type Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    /// The body of an answer.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    fn socket(&self, stream: TcpStream) -> Self::Socket;

    /// Answers a request.
    fn respond(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// Is ready when the connection is to end although the client would go on.
    fn poll_end(&self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

/// Serves requests, by HTTP/2 or HTTP/1.1 as the client likes it, until the connection ends.
async fn serve<C: Connection>(
    connection: C,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) {
    let connection = Arc::new(connection);
    let answering = Arc::clone(&connection);
    let service = service_fn(move |request| {
        let connection = Arc::clone(&answering);
        async move { Ok::<_, Infallible>(connection.respond(request).await) }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    let mut served = Box::pin(builder.serve_connection(TokioIo::new(stream), service));
    // What an answer has sent is on its way before the end is seen.
    poll_fn(|context| match served.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(()),
        Poll::Pending => connection.poll_end(context),
    })
    .await;
}

impl Servers {
    pub(crate) fn start(threads: usize) -> Self {
        let dir = crate::temp::dir();
        std::fs::write(dir.path().join("ca.pem"), authority_pem()).unwrap();
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(threads).enable_io().enable_time();
        Self {
            runtime: Some(builder.build().unwrap()),
            dir,
        }
    }

    /// The PEM file to pass as `SSL_CERT_FILE`.
    pub(crate) fn ca_file(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// Accepts connections for ever, with TLS or without.
    pub(crate) fn listen<C: Connection>(
        &self,
        listener: StdListener,
        tls: Option<TlsAcceptor>,
        connection: impl Fn() -> C + Send + 'static,
    ) {
        let runtime = self.runtime.as_ref().unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let (connection, tls) = (connection(), tls.clone());
                tokio::spawn(async move {
                    let socket = connection.socket(stream);
                    match tls {
                        None => serve(connection, socket).await,
                        Some(tls) => {
                            // A client that does not trust us is no failure of ours.
                            if let Ok(stream) = tls.accept(socket).await {
                                serve(connection, stream).await;
                            }
                        }
                    }
                });
            }
        });
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // What is still being answered is dropped, not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Opens a port of loopback for a server.
pub(crate) fn open_port() -> (StdListener, u16) {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}
