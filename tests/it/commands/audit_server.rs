//! `audit --db URL`: requests, kept documents, and runs without the server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use lockctl::os::{RealClock, RealDisk};
use lockctl::store::answers::{AnswerCache, AnswerKind};
use lockctl::world::Disk as _;

use super::audit::lock_of;
use super::cache;
use super::*;

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
    lab.set("LOCKCTL_CACHE_DIR", home);
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
    let offline = audit(&lab, &server.url, &["--offline"]).exits(1);
    assert!(server.take_asked().is_empty());
    offline.stderr_has("changed on 2026-08-21");
    offline.stderr_has("kept copy, last compared");
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
    let nothing = audit(&lab, &server.url, &["--offline"]).exits(2);
    nothing.stderr_has("are kept");
    audit(&lab, &server.url, &[]).exits(2);
    server.publish("2026-08-21T00:00:00Z");
    assert_exit(&audit(&lab, &server.url, &[]), 1);
    server.documents.lock().unwrap().clear();
    let outcome = audit(&lab, &server.url, &[]).exits(1);
    outcome.stderr_has("kept advisories are used");
    // A damaged document is not used.
    for group in std::fs::read_dir(lab.path("home/answers-1/advisories")).unwrap() {
        for entry in std::fs::read_dir(group.unwrap().path()).unwrap() {
            std::fs::write(entry.unwrap().path(), "lockctl answer 1\n").unwrap();
        }
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
    let outcome = audit(&lab, &server.url, &[]).exits(2);
    outcome.stderr_has("1 advisory could not be read");
    server.put(
        "/ID/GO-1999-0003.json",
        ADVISORY.replace("GO-1999-0003", "GO-1999-0004"),
    );
    let outcome = audit(&lab, &server.url, &[]).exits(2);
    outcome.stderr_has("it is GO-1999-0004");
}

#[test]
fn the_cache_counts_and_removes_documents() {
    let (server, mut lab) = (DocumentServer::start(), lab());
    let stats = |lab: &Lab| cache::json(lab, &["cache", "stats"], 0)["stats"]["advisories"].take();
    assert_eq!(
        stats(&lab),
        json!({"documents": 0, "bytes": 0, "old": 0}),
        "nothing was asked"
    );
    server.publish("2026-08-21T00:00:00Z");
    assert_exit(&audit(&lab, &server.url, &[]), 1);
    let kept = stats(&lab);
    assert_eq!((&kept["documents"], &kept["old"]), (&2.into(), &0.into()));
    let text = lab.run(&["cache", "stats"]).stdout;
    let row = format!("\nadvisories  2 documents: {} bytes\n", kept["bytes"]);
    assert!(text.ends_with(&row), "{text}");
    // In use: nothing is removed unless all of it is to go.
    let removed =
        |lab: &Lab, args: &[&str]| cache::json(lab, args, 0)["removed"]["advisories"].take();
    assert_eq!(removed(&lab, &["cache", "clean"]), 0);
    assert_eq!(removed(&lab, &["cache", "clean", "--all", "--dry-run"]), 2);
    assert_eq!(stats(&lab)["documents"], 2);
    // After half a year without use the database counts as old.
    let half_a_year = std::time::Duration::from_secs(181 * 24 * 60 * 60);
    lab.clock = lockctl::world::mem::MemClock::at(std::time::SystemTime::now() + half_a_year);
    assert_eq!(stats(&lab)["old"], 2);
    let outcome = lab.run(&["cache", "clean"]).exits(0);
    assert_eq!(
        outcome.stdout,
        "removed 2 of advisories; 0 facts are left\n"
    );
    assert_eq!(stats(&lab)["documents"], 0);
    assert_exit(&audit(&lab, &server.url, &["--offline"]), 2);
}

/// `outdated` and `diff` make no request: they mark versions by what an audit of the public database has kept.
#[test]
fn other_commands_mark_versions_with_kept_advisories() {
    let (server, lab) = (DocumentServer::start(), lab());
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    custom = { source = \"acme/custom\" }\n  }\n}\n",
    );
    let old = lock_of(&[("acme/custom", "5.5.0", "")]);
    lab.write("old.hcl", &old);
    let diff = ["diff", "old.hcl", LOCK];
    let mirror = "mirror/registry.terraform.io/acme/custom";
    lab.write(
        &format!("{mirror}/terraform-provider-custom_5.4.0_linux_amd64.zip"),
        "",
    );
    let outdated = words("outdated --flavor terraform@1.11 --fs-mirror mirror");
    let rows = |args: &[&str]| {
        let outcome = lab.run(&[args, &["--format", "json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let row = document["files"][0]["changes"][0].clone();
        if row.is_null() {
            document["roots"][0]["providers"][0].clone()
        } else {
            row
        }
    };
    for args in [&diff[..], &outdated] {
        let row = rows(args);
        assert!(row["provider"].is_string(), "{row}");
        assert!(row.get("advisories").is_none(), "{row}");
        lab.run(args).stderr_lacks("vulnerabilities");
    }
    server.publish("2026-08-21T00:00:00Z");
    assert_exit(&audit(&lab, &server.url, &[]), 1);
    // The database of the test takes the place of the public one, which has this name in the cache.
    let home = lab.path("home");
    let cache = AnswerCache::new(RealDisk.objects(&home), &RealClock);
    for name in ["index-modules", "GO-1999-0003"] {
        let question = |url: &str| format!("{url} {name}");
        let kept = cache.find(AnswerKind::Advisories, &question(&server.url));
        let answer = kept.unwrap().answer;
        let public = question("https://vuln.go.dev/");
        cache.keep(AnswerKind::Advisories, &public, &answer);
    }
    for args in [&diff[..], &outdated] {
        assert_eq!(rows(args)["advisories"], json!(["GO-1999-0003"]));
        lab.run(args).stderr_has("warning: acme/custom 5.4.0 has known vulnerabilities: GO-1999-0003; see `lockctl audit`");
    }
    // A version that the advisory does not concern is not marked.
    let back = ["diff", LOCK, "old.hcl"];
    assert!(rows(&back).get("advisories").is_none());
}

/// Each advisory that an index names is a request, so that an index cannot cause any number of them.
#[test]
fn an_index_with_too_many_advisories_is_refused() {
    let (server, lab) = (DocumentServer::start(), lab());
    let vulns: Vec<_> = (0..=20_000)
        .map(|number| json!({"id": format!("GO-{number}")}))
        .collect();
    let module = "github.com/acme/terraform-provider-custom";
    let index = json!([{"path": module, "vulns": vulns}]);
    server.put("/index/modules.json", index.to_string());
    let outcome = audit(&lab, &server.url, &[]).exits(2);
    outcome.stderr_has("advisories about the locked providers");
    let requests = server.take_asked();
    assert!(requests.len() <= 2, "{} requests", requests.len());
}

/// Identifiers that differ in case only share a file of the cache: neither is read as the other.
#[test]
fn identifiers_that_differ_in_case_are_two_advisories() {
    let (server, lab) = (DocumentServer::start(), lab());
    server.publish("2026-08-21T00:00:00Z");
    let module = "github.com/acme/terraform-provider-custom";
    let modified = "2026-08-21T00:00:00Z";
    let index = json!([{"path": module, "vulns": [
        {"id": "GO-1999-0003", "modified": modified},
        {"id": "Go-1999-0003", "modified": modified},
    ]}]);
    server.put("/index/modules.json", index.to_string());
    server.put(
        "/ID/Go-1999-0003.json",
        ADVISORY.replace("GO-1999-0003", "Go-1999-0003"),
    );
    for _ in 0..3 {
        assert_exit(&audit(&lab, &server.url, &[]), 1);
    }
}
