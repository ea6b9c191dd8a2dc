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
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio_rustls::TlsAcceptor;

use crate::registry::{foreign_server_config, server_config};
use crate::servers::{Servers, open_port};
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
    servers: Servers,
}

impl ModuleLab {
    pub(crate) fn start() -> Self {
        let servers = Servers::start(2);
        let site = Arc::new(Site::default());
        let known = TlsAcceptor::from(server_config(&[], &["http/1.1"]));
        let foreign = TlsAcceptor::from(foreign_server_config());
        let ports = ROLES.map(|role| {
            let tls = match role {
                Role::Lab | Role::Alt => Some(known.clone()),
                Role::SelfSigned => Some(foreign.clone()),
                Role::Plain | Role::Proxy => None,
            };
            let (listener, port) = open_port();
            server::listen(&servers, listener, Arc::clone(&site), role, tls);
            port
        });
        Self {
            site,
            ports,
            servers,
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
        self.servers.ca_file()
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
