//! Servers on loopback: threads, ports, the certificate of their authority, and connections.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::future::Future;
use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::path::PathBuf;

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
pub(crate) trait Connection: Send + 'static {
    /// The stream below TLS.
    type Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn socket(&self, stream: TcpStream) -> Self::Socket;

    /// Serves requests until the connection ends.
    fn serve(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> impl Future<Output = ()> + Send;
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
                        None => connection.serve(socket).await,
                        Some(tls) => {
                            // A client that does not trust us is no failure of ours.
                            if let Ok(stream) = tls.accept(socket).await {
                                connection.serve(stream).await;
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
