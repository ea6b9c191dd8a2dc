//! `lock` through a proxy, which takes it to a host of another name.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::*;
use crate::registry::{Options, Origin, Registry};
use crate::scenarios::Packages;

const HOST: &str = "registry.example";

/// A proxy that connects everybody to one registry, and keeps what it was asked.
struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(registry: &Registry) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, to) = (Arc::clone(&asked), registry.port(Origin::Lab));
        // Ends with the process: nothing waits for it.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let log = Arc::clone(&log);
                std::thread::spawn(move || serve(client.unwrap(), to, &log));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one `CONNECT`, and passes bytes on both ways.
fn serve(client: TcpStream, to: u16, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let lower = line.to_lowercase();
        if lower.starts_with("connect") || lower.starts_with("proxy-authorization") {
            log.lock().unwrap().push(line.to_owned());
        }
    }
    let mut client = client;
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap();
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).unwrap();
    let back = (server.try_clone().unwrap(), client);
    std::thread::spawn(move || {
        let (mut from, mut to) = back;
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
    let mut server = server;
    let _ = std::io::copy(&mut reader, &mut server);
    let _ = server.shutdown(std::net::Shutdown::Both);
}

/// A root that requires a provider of a host that only the proxy can reach.
fn beyond_a_proxy() -> (Proxy, Registry, Lab) {
    let registry = Registry::start_with(&Options {
        names: vec![HOST.to_owned()],
        http1_only: false,
    });
    Packages::recorded().publish(&registry);
    let proxy = Proxy::start(&registry);
    let mut lab = Lab::new();
    for (name, value) in [
        ("SSL_CERT_FILE", registry.ca_file().display().to_string()),
        (
            "HTTPS_PROXY",
            format!("http://me:word@127.0.0.1:{}", proxy.port),
        ),
        // Neither counts for a target with https.
        ("HTTP_PROXY", "http://127.0.0.1:9".to_owned()),
        ("ALL_PROXY", "http://127.0.0.1:9".to_owned()),
    ] {
        lab.set(name, value);
    }
    lab.write(
        "main.tf",
        format!(
            "terraform {{\n  required_providers {{\n    demo = {{\n      source  = \"{HOST}/acme/demo\"\n      \
             version = \"1.0.0\"\n    }}\n  }}\n}}\n"
        ),
    );
    (proxy, registry, lab)
}

#[test]
fn the_proxy_is_asked_and_gets_its_own_credentials() {
    let (proxy, registry, lab) = beyond_a_proxy();
    let outcome = lab.run(&["lock", "--platform", "linux_amd64", "-v"]);
    assert_exit(&outcome, 0);
    let asked = proxy.asked();
    assert!(
        asked[0].starts_with(&format!("CONNECT {HOST}:443 ")),
        "{asked:?}"
    );
    assert!(
        asked
            .iter()
            .any(|line| line.starts_with("Proxy-Authorization: Basic ")
                || line.starts_with("proxy-authorization: Basic ")),
        "{asked:?}"
    );
    // What is on this machine goes past the proxy.
    assert!(
        !asked.iter().any(|line| line.contains("127.0.0.1")),
        "{asked:?}"
    );
    let got = registry.entries().into_iter();
    let got: Vec<_> = got
        .filter(|e| e.header("proxy-authorization").is_some())
        .collect();
    assert!(got.is_empty(), "the registry gets none");
    assert!(!(outcome.stdout + &outcome.stderr).contains("word"));
}
