//! A provider registry on loopback, for tests: signed packages, and every fault a test asks for.
//!
//! A registry listens at two origins, as real ones do: one for its documents and one for packages.
//! Either serves every path, over HTTP/2 or HTTP/1.1 as the client likes it. All it does wrong is
//! told by knobs of the names and meanings in `knobs`; those of recorded scenarios can be passed as
//! they are.
//!
//! | Path | What |
//! |---|---|
//! | `/.well-known/terraform.json` | service discovery |
//! | `/v1/providers/NS/TYPE/versions` | versions |
//! | `/v1/providers/NS/TYPE/VERSION/download/OS/ARCH` | download document |
//! | `/v1/providers/NS/TYPE/VERSION` | when a version was published, if that is stated |
//! | `/files/NS/TYPE/VERSION/FILE` | zip, `_SHA256SUMS`, `_SHA256SUMS.sig` |
//! | `/mirror/HOST/NS/TYPE/FILE` | network mirror: `index.json`, `VERSION.json`, zip |
//! | `/hop/N/NS/TYPE/VERSION/FILE` | redirects to it, N of them |
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(
    dead_code,
    unused_imports,
    reason = "not every test binary needs all of it"
)]

mod answer;
mod catalog;
mod delivery;
mod documents;
mod keys;
mod knobs;
mod log;
mod mutation;
mod route;
mod server;
mod shop;
mod sums;
mod tls;

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_rustls::TlsAcceptor;

use self::delivery::Fate;
use self::server::{RegistryConnection, Shared};
use self::shop::Origins;
use crate::servers::{Servers, open_port};

pub(crate) use self::catalog::{Dates, Evidence};
pub(crate) use self::keys::TestKey;
pub(crate) use self::knobs::Knobs;
pub(crate) use self::log::{Entry, Origin};
pub(crate) use self::mutation::Mutation;
pub(crate) use self::sums::{false_hash, sha256_hex};
pub(crate) use self::tls::{authority_pem, foreign_server_config, server_config};

/// A running registry; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Registry {
    shared: Arc<Shared>,
    ports: Ports,
    servers: Servers,
}

/// How a registry is started.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Names in its certificate beside `localhost`, `127.0.0.1` and `::1`.
    pub(crate) names: Vec<String>,
    /// Offers no HTTP/2.
    pub(crate) http1_only: bool,
}

#[derive(Clone, Copy, Debug)]
struct Ports {
    lab: u16,
    files: u16,
    plain: u16,
}

impl Registry {
    /// Starts an empty registry that does everything right.
    pub(crate) fn start() -> Self {
        Self::start_with(&Options {
            names: Vec::new(),
            http1_only: false,
        })
    }

    /// Starts an empty registry.
    pub(crate) fn start_with(options: &Options) -> Self {
        let ([lab, files, plain], ports) = open_ports();
        let shared = Arc::new(Shared::new(Origins {
            lab: format!("https://127.0.0.1:{}", ports.lab),
            files: format!("https://127.0.0.1:{}", ports.files),
        }));
        let protocols: &[&str] = match options.http1_only {
            true => &["http/1.1"],
            false => &["h2", "http/1.1"],
        };
        let tls = TlsAcceptor::from(tls::server_config(&options.names, protocols));
        let servers = Servers::start(2);
        for (origin, listener, tls) in [
            (Origin::Lab, lab, Some(tls.clone())),
            (Origin::Files, files, Some(tls)),
            (Origin::Plain, plain, None),
        ] {
            let shared = Arc::clone(&shared);
            servers.listen(listener, tls, move || RegistryConnection {
                shared: Arc::clone(&shared),
                origin,
                fate: Fate::default(),
            });
        }
        Self {
            shared,
            ports,
            servers,
        }
    }

    /// Publishes the zip of a platform of `namespace/type`.
    pub(crate) fn add_zip(&self, source: &str, version: &str, platform: &str, bytes: &[u8]) {
        let mut stock = self.shared.stock();
        stock.catalog.add_zip(source, version, platform, bytes);
    }

    /// States the protocols of a version, which are `5.0` alone otherwise.
    pub(crate) fn set_protocols(&self, source: &str, version: &str, protocols: &[&str]) {
        let mut stock = self.shared.stock();
        stock.catalog.set_protocols(source, version, protocols);
    }

    /// Serves, properly signed, this SHA256SUMS document in place of the true one.
    pub(crate) fn replace_sums(&self, source: &str, version: &str, sums: &[u8]) {
        let mut stock = self.shared.stock();
        stock.catalog.replace_sums(source, version, sums);
    }

    /// Serves this evidence of a version as it is, whatever the knobs say.
    pub(crate) fn replace_evidence(&self, source: &str, version: &str, evidence: Evidence) {
        let mut stock = self.shared.stock();
        stock.catalog.replace_evidence(source, version, evidence);
    }

    /// States dates of a version.
    pub(crate) fn set_dates(&self, source: &str, version: &str, dates: Dates) {
        self.shared
            .stock()
            .catalog
            .set_dates(source, version, dates);
    }

    /// Sets all knobs, those not in the JSON object to the good ones, and forgets all requests.
    pub(crate) fn reset(&self, knobs: &Value) {
        self.shared.stock().knobs = Knobs::parse(knobs);
        self.shared.log.reset();
    }

    /// Changes answers from now on, whatever the knobs say; a reset does not end this.
    pub(crate) fn mutate(&self, mutation: Option<Mutation>) {
        self.shared.stock().mutation = mutation;
    }

    /// All requests since the last reset, in order of arrival.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.shared.log.entries()
    }

    /// Waits for a request; returns false if none has come when the time is over.
    pub(crate) fn wait_for(&self, limit: Duration, is_wanted: impl Fn(&Entry) -> bool) -> bool {
        self.shared.log.wait_for(limit, is_wanted)
    }

    /// The same as recorded outcomes list them: at most 30, then `(more)`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.shared.log.lines()
    }

    /// The most requests that were under way at an origin at once, since the last reset.
    pub(crate) fn most_in_flight(&self, origin: Origin) -> usize {
        self.shared.log.most_in_flight(origin)
    }

    /// The PEM file to pass as `SSL_CERT_FILE`.
    pub(crate) fn ca_file(&self) -> PathBuf {
        self.servers.ca_file()
    }

    /// `https://127.0.0.1:PORT` of an origin (plain http for [`Origin::Plain`]).
    pub(crate) fn url(&self, origin: Origin) -> String {
        let scheme = match origin {
            Origin::Plain => "http",
            Origin::Lab | Origin::Files => "https",
        };
        format!("{scheme}://127.0.0.1:{}", self.port(origin))
    }

    pub(crate) fn port(&self, origin: Origin) -> u16 {
        match origin {
            Origin::Lab => self.ports.lab,
            Origin::Files => self.ports.files,
            Origin::Plain => self.ports.plain,
        }
    }
}

fn open_ports() -> ([TcpListener; 3], Ports) {
    let [(lab, lab_port), (files, files_port), (plain, plain_port)] =
        [open_port(), open_port(), open_port()];
    let ports = Ports {
        lab: lab_port,
        files: files_port,
        plain: plain_port,
    };
    ([lab, files, plain], ports)
}
