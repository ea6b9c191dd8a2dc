//! Remote modules on loopback, for tests: a module registry, git repositories and archives as a recorded
//! case describes them.
//!
//! | Symbol | Listener |
//! |---|---|
//! | `<LAB>`, `<NAME>` | `127.0.0.1:P1`, `localhost:P1`, with a certificate of the tests' authority |
//! | `<ALT>` | `127.0.0.1:P2`, the same content at another origin |
//! | `<PLAIN>` | `127.0.0.1:P3`, without encryption |
//! | `<SELF>` | `127.0.0.1:P4`, with a certificate that nobody trusts |
//! | `<PROXY>` | `127.0.0.1:P5`, a proxy that refuses everything |
//!
//! A request is answered by the first that fits: a route of `METHOD PATH?QUERY`, `PATH?QUERY` or `PATH`;
//! `/git/NAME.git/…` by `git http-backend`; `/archives/NAME`; else 404.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(
    dead_code,
    unused_imports,
    reason = "not every test binary needs all of it"
)]

mod archives;
pub(crate) mod git;
pub(crate) mod server;
mod site;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

use crate::registry::{authority_pem, foreign_server_config, server_config};
pub(crate) use archives::make as archive;
pub(crate) use site::LoggedRequest;
use site::Site;

/// Where requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Lab,
    Alt,
    Plain,
    SelfSigned,
    Proxy,
}

const ROLES: [Role; 5] = [
    Role::Lab,
    Role::Alt,
    Role::Plain,
    Role::SelfSigned,
    Role::Proxy,
];

/// Servers with nothing to serve yet; they end when this is dropped.
pub(crate) struct ModuleLab {
    site: Arc<Site>,
    ports: [u16; 5],
    runtime: Option<Runtime>,
    dir: tempfile::TempDir,
}

impl ModuleLab {
    pub(crate) fn start() -> Self {
        let dir = crate::temp::dir();
        std::fs::write(dir.path().join("ca.pem"), authority_pem()).unwrap();
        let mut builder = Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(2)
            .enable_io()
            .enable_time()
            .build()
            .unwrap();
        let site = Arc::new(Site::default());
        let known = TlsAcceptor::from(server_config(&[], &["http/1.1"]));
        let foreign = TlsAcceptor::from(foreign_server_config());
        let ports = ROLES.map(|role| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            listener.set_nonblocking(true).unwrap();
            let port = listener.local_addr().unwrap().port();
            let tls = match role {
                Role::Lab | Role::Alt => Some(known.clone()),
                Role::SelfSigned => Some(foreign.clone()),
                Role::Plain | Role::Proxy => None,
            };
            runtime.spawn(server::listen(Arc::clone(&site), role, listener, tls));
            port
        });
        Self {
            site,
            ports,
            runtime: Some(runtime),
            dir,
        }
    }

    /// Returns the symbols of the servers with their values.
    pub(crate) fn symbols(&self) -> Vec<(&'static str, String)> {
        let [lab, alt, plain, foreign, proxy] = self.ports;
        let at = |port: u16| format!("127.0.0.1:{port}");
        vec![
            ("<LAB>", at(lab)),
            ("<NAME>", format!("localhost:{lab}")),
            ("<ALT>", at(alt)),
            ("<PLAIN>", at(plain)),
            ("<SELF>", at(foreign)),
            ("<PROXY>", at(proxy)),
            ("<CA>", self.ca_file().display().to_string()),
        ]
    }

    /// The PEM file to pass as `SSL_CERT_FILE`.
    pub(crate) fn ca_file(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// Serves from now on what a case describes, its symbols replaced, and forgets all requests; `repos` is
    /// the directory of its repositories.
    pub(crate) fn serve(&self, input: &Value, repos: &Path) {
        self.site.serve(input, repos);
    }

    /// Replaces some routes.
    pub(crate) fn add_routes(&self, routes: &Value) {
        self.site.add_routes(routes);
    }

    /// Returns all requests since the last [`serve`](Self::serve), in the order of their arrival.
    pub(crate) fn requests(&self) -> Vec<LoggedRequest> {
        self.site.requests()
    }

    /// Forgets all requests.
    pub(crate) fn forget(&self) {
        self.site.forget();
    }
}

impl Drop for ModuleLab {
    fn drop(&mut self) {
        // What is still being answered is dropped, not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Header fields in the order in which they are sent.
pub(crate) type Fields = Vec<(String, String)>;

/// What a request says.
pub(crate) struct Asked {
    pub(crate) role: Role,
    pub(crate) method: String,
    /// The path with the query; for `CONNECT` the host.
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// What is sent back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Fields,
    pub(crate) body: Vec<u8>,
    /// Whether only the first half of the body is sent.
    pub(crate) cut: bool,
    pub(crate) delay: Option<std::time::Duration>,
}

/// What stands behind a listener.
pub(crate) trait Answers: Send + Sync + 'static {
    fn answer(&self, asked: &Asked) -> Reply;
}
