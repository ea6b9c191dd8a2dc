//! The registry of the tests itself.

mod faults;
mod serving;
mod signatures;

use std::io::Write as _;
use std::net::TcpStream;

use reqwest::header::HeaderMap;
use reqwest::{Certificate, Client, Method, StatusCode, Version};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::registry::{Options, Origin, Registry};

const ZIP: &[u8] = b"any bytes will do, nobody unpacks them here";
const VERSIONS: &str = "/v1/providers/acme/tool/versions";
const DOWNLOAD: &str = "/v1/providers/acme/tool/1.0.0/download/linux/amd64";
const PACKAGE: &str = "/files/acme/tool/1.0.0/terraform-provider-tool_1.0.0_linux_amd64.zip";
const SUMS: &str = "/files/acme/tool/1.0.0/terraform-provider-tool_1.0.0_SHA256SUMS";
const SIGNATURE: &str = "/files/acme/tool/1.0.0/terraform-provider-tool_1.0.0_SHA256SUMS.sig";

/// A registry of one provider, and a client that trusts it.
struct Pair {
    registry: Registry,
    client: Client,
    runtime: Runtime,
}

/// An answer; its body may have broken off.
struct Got {
    status: StatusCode,
    version: Version,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Pair {
    fn start() -> Self {
        Self::start_with(&Options {
            names: Vec::new(),
            http1_only: false,
        })
    }

    fn start_with(options: &Options) -> Self {
        // Another test may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let registry = Registry::start_with(options);
        registry.add_zip("acme/tool", "1.0.0", "linux_amd64", ZIP);
        registry.add_zip("acme/tool", "1.0.0", "darwin_arm64", b"other");
        registry.set_protocols("acme/tool", "1.0.0", &["5.0", "6.0"]);
        let authority = std::fs::read(registry.ca_file()).unwrap();
        let builder = Client::builder()
            .tls_certs_only([Certificate::from_pem(&authority).unwrap()])
            .redirect(reqwest::redirect::Policy::none())
            .no_gzip()
            .no_proxy();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            registry,
            client: builder.build().unwrap(),
            runtime,
        }
    }

    /// Starts with one rule for all requests of a kind.
    fn with_rule(rule: Value) -> Self {
        let pair = Self::start();
        pair.registry.reset(&json!({ "rules": [rule] }));
        pair
    }

    fn send(&self, method: Method, url: &str, headers: &[(&str, &str)]) -> reqwest::Result<Got> {
        self.runtime.block_on(async {
            let mut request = self.client.request(method, url);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let answer = request.send().await?;
            Ok(Got {
                status: answer.status(),
                version: answer.version(),
                headers: answer.headers().clone(),
                body: answer.bytes().await.ok().map(|bytes| bytes.to_vec()),
            })
        })
    }

    fn url(&self, path: &str) -> String {
        let origin = if path.starts_with("/v1/") {
            Origin::Lab
        } else {
            Origin::Files
        };
        format!("{}{path}", self.registry.url(origin))
    }

    #[track_caller]
    fn get(&self, path: &str) -> Got {
        self.send(Method::GET, &self.url(path), &[]).unwrap()
    }

    #[track_caller]
    fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Got {
        self.send(Method::GET, &self.url(path), headers).unwrap()
    }

    #[track_caller]
    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&self.get(path).bytes()).unwrap()
    }

    /// Sends a request over plain http, without a client that might try again.
    fn send_raw(&self, path: &str) -> TcpStream {
        let port = self.registry.port(Origin::Plain);
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream
    }
}

impl Got {
    #[track_caller]
    fn bytes(self) -> Vec<u8> {
        assert_eq!(self.status, StatusCode::OK);
        self.body.expect("a whole body")
    }

    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}
