//! A static server: the files of a directory over HTTPS, as any web server hands them out.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(dead_code, reason = "not every test binary needs all of it")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::registry::server_config;
use crate::servers::{Connection, Servers, open_port};

/// A running server; it ends when it is dropped.
pub(crate) struct StaticFiles {
    port: u16,
    paths: Arc<Mutex<Vec<String>>>,
    _servers: Servers,
}

struct StaticConnection {
    dir: PathBuf,
    paths: Arc<Mutex<Vec<String>>>,
}

impl StaticFiles {
    /// Serves everything below a directory.
    pub(crate) fn start(dir: PathBuf) -> Self {
        let servers = Servers::start(1);
        let (listener, port) = open_port();
        let tls = TlsAcceptor::from(server_config(&[], &["h2", "http/1.1"]));
        let paths = Arc::default();
        let shared = Arc::clone(&paths);
        servers.listen(listener, Some(tls), move || StaticConnection {
            dir: dir.clone(),
            paths: Arc::clone(&shared),
        });
        Self {
            port,
            paths,
            _servers: servers,
        }
    }

    /// The URL of a directory in it.
    pub(crate) fn url(&self, below: &str) -> String {
        format!("https://127.0.0.1:{}/{below}/", self.port)
    }

    /// The certificate of its authority.
    #[allow(dead_code, reason = "not every test binary asks for it")]
    pub(crate) fn ca_file(&self) -> PathBuf {
        self._servers.ca_file()
    }

    /// The paths that were requested since the last call.
    #[allow(dead_code, reason = "not every test binary asks for it")]
    pub(crate) fn take_paths(&self) -> Vec<String> {
        std::mem::take(&mut self.paths.lock().unwrap())
    }
}

impl Connection for StaticConnection {
    type Socket = TcpStream;
    type Body = Full<Bytes>;

    fn socket(&self, stream: TcpStream) -> TcpStream {
        stream
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_owned();
        let file = std::fs::read(self.dir.join(path.trim_start_matches('/')));
        // Web servers go by the end of the name; the programs want JSON to be named as such.
        let kind = if path.ends_with(".json") {
            "application/json"
        } else {
            "application/zip"
        };
        self.paths.lock().unwrap().push(path);
        let (status, body) = file.map_or((404, Vec::new()), |bytes| (200, bytes));
        let is_head = request.method().as_str() == "HEAD";
        let length = body.len();
        let body = if is_head { Vec::new() } else { body };
        Response::builder()
            .status(status)
            .header("Content-Type", kind)
            .header("Content-Length", length)
            .body(Full::new(body.into()))
            .unwrap()
    }
}
