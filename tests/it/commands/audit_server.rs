//! `audit --db URL`: requests, kept documents, and runs without the server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::audit::lock_of;
use super::{LOCK, assert_exit};
use crate::lab::{Lab, Outcome};

const ADVISORY: &str = include_str!("../../../fixtures/advisories/GO-1999-0003.json");

/// A server of documents that supports `If-None-Match`; it ends with the test binary.
struct DocumentServer {
    url: String,
    documents: Arc<Mutex<BTreeMap<String, String>>>,
    /// The requested paths, with the status of the answers.
    asked: Arc<Mutex<Vec<String>>>,
}

impl DocumentServer {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let server = Self {
            url: format!("http://{}/", listener.local_addr().unwrap()),
            documents: Arc::default(),
            asked: Arc::default(),
        };
        let (documents, asked) = (Arc::clone(&server.documents), Arc::clone(&server.asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &documents, &asked);
            }
        });
        server
    }

    fn put(&self, path: &str, text: impl Into<String>) {
        self.documents
            .lock()
            .unwrap()
            .insert(path.to_owned(), text.into());
    }

    /// Publishes an advisory with the time of its last change.
    fn publish(&self, modified: &str) {
        let module = "github.com/acme/terraform-provider-custom";
        self.put(
            "/index/db.json",
            format!("{{\"modified\": \"{modified}\"}}"),
        );
        self.put(
            "/index/modules.json",
            format!(
                "[{{\"path\": \"{module}\", \"vulns\": [{{\"id\": \"GO-1999-0003\", \"modified\": \
                 \"{modified}\"}}]}}, {{\"path\": \"x.example/other\", \"vulns\": [{{\"id\": \"GO-9\"}}]}}]"
            ),
        );
        self.put("/ID/GO-1999-0003.json", ADVISORY);
    }

    fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(
    stream: TcpStream,
    documents: &Mutex<BTreeMap<String, String>>,
    asked: &Mutex<Vec<String>>,
) {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request).unwrap();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut kept = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("if-none-match:") {
            kept = value.trim().to_owned();
        }
    }
    let body = documents.lock().unwrap().get(&path).cloned();
    // The ETag of a document is made from its length and the sum of its bytes.
    let sum = |text: &str| text.bytes().map(u64::from).sum::<u64>();
    let etag = body
        .as_ref()
        .map(|body| format!("\"{}-{}\"", body.len(), sum(body)));
    let (status, body) = match (body, &etag) {
        (Some(_), Some(etag)) if *etag == kept => ("304 Not Modified", String::new()),
        (Some(body), _) => ("200 OK", body),
        (None, _) => ("404 Not Found", String::new()),
    };
    asked
        .lock()
        .unwrap()
        .push(format!("{path} {}", &status[..3]));
    let etag = etag
        .map(|etag| format!("ETag: {etag}\r\n"))
        .unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{etag}Connection: close\r\n\r\n",
        body.len()
    );
    let stream = reader.get_mut();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
}

fn lab() -> Lab {
    let mut lab = Lab::new();
    let home = lab.path("home");
    lab.env
        .vars
        .insert("LOCKCTL_CACHE_DIR".to_owned(), home.into());
    lab.write(LOCK, lock_of(&[("acme/custom", "5.4.0", "")]));
    lab
}

fn audit(lab: &Lab, url: &str, more: &[&str]) -> Outcome {
    lab.run(&[&["audit", "--db", url], more].concat())
}

#[test]
fn only_what_is_needed_is_asked_and_kept() {
    let (server, lab) = (DocumentServer::start(), lab());
    server.publish("2026-08-21T00:00:00Z");
    assert_exit(&audit(&lab, &server.url, &[]), 1);
    let first = server.take_asked();
    assert_eq!(
        first,
        [
            "/index/modules.json 200",
            "/index/db.json 200",
            "/ID/GO-1999-0003.json 200"
        ]
    );
    assert_exit(&audit(&lab, &server.url, &[]), 1);
    assert_eq!(server.take_asked(), ["/index/modules.json 304"]);
    // Kept documents give the same result without a request, with their age.
    let offline = audit(&lab, &server.url, &["--offline"]);
    assert_exit(&offline, 1);
    assert!(server.take_asked().is_empty());
    assert!(
        offline.stderr.contains("changed on 2026-08-21"),
        "{offline:?}"
    );
    assert!(offline.stderr.contains("as they were kept"), "{offline:?}");
    server.publish("2026-08-22T00:00:00Z");
    assert_exit(&audit(&lab, &server.url, &[]), 1);
    assert_eq!(
        server.take_asked(),
        first,
        "what changed is asked for again"
    );
    // `--no-cache` keeps nothing.
    assert_exit(&audit(&lab, &server.url, &["--no-cache"]), 1);
    assert_eq!(server.take_asked(), first);
}

#[test]
fn without_the_server_what_is_kept_is_used() {
    let (server, lab) = (DocumentServer::start(), lab());
    let nothing = audit(&lab, &server.url, &["--offline"]);
    assert_exit(&nothing, 2);
    assert!(nothing.stderr.contains("are kept"), "{nothing:?}");
    let empty = audit(&lab, &server.url, &[]);
    assert_exit(&empty, 2);
    server.publish("2026-08-21T00:00:00Z");
    assert_exit(&audit(&lab, &server.url, &[]), 1);
    server.documents.lock().unwrap().clear();
    let outcome = audit(&lab, &server.url, &[]);
    assert_exit(&outcome, 1);
    assert!(
        outcome.stderr.contains("kept advisories are used"),
        "{outcome:?}"
    );
    // A damaged document is not used.
    for entry in std::fs::read_dir(lab.path("home/advisories-1")).unwrap() {
        let path = entry.unwrap().path().join("index-modules");
        std::fs::write(path, "lockctl advisory document 1\n").unwrap();
    }
    assert_exit(&audit(&lab, &server.url, &["--offline"]), 2);
}

#[test]
fn an_advisory_that_is_missing_makes_the_answer_incomplete() {
    let (server, lab) = (DocumentServer::start(), lab());
    server.publish("2026-08-21T00:00:00Z");
    server
        .documents
        .lock()
        .unwrap()
        .remove("/ID/GO-1999-0003.json");
    let outcome = audit(&lab, &server.url, &[]);
    assert_exit(&outcome, 2);
    assert!(
        outcome.stderr.contains("1 advisory could not be read"),
        "{outcome:?}"
    );
    server.put(
        "/ID/GO-1999-0003.json",
        ADVISORY.replace("GO-1999-0003", "GO-1999-0004"),
    );
    let outcome = audit(&lab, &server.url, &[]);
    assert_exit(&outcome, 2);
    assert!(outcome.stderr.contains("it is GO-1999-0004"), "{outcome:?}");
}
