//! A registry of OCI artifacts on loopback, for tests: read only, with every mistake that a test asks for.
//!
//! | Path | What |
//! |---|---|
//! | `/v2/` | whether this is a registry |
//! | `/v2/NAME/tags/list[?last=T]` | tags, with a `Link` to the next page where `page` is set |
//! | `/v2/NAME/manifests/REF` | a manifest, by tag or digest |
//! | `/v2/NAME/blobs/DIGEST` | a zip |
//! | `/token` | a token for everybody |
//!
//! Knobs have the names and meanings of the recorded scenarios, so that their field `oci` can be passed
//! as it is.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(
    dead_code,
    unused_imports,
    reason = "not every test binary needs all of it"
)]

mod forms;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

use crate::module_lab::server::listen;
use crate::module_lab::{Answers, Asked, Reply, Role};
use crate::registry::server_config;
use crate::servers::{Servers, open_port};
pub(crate) use forms::FORMS;

/// What the registry gives to whoever asks `/token`.
pub(crate) const TOKEN: &str = "lab-token";

/// A running registry; it ends when it is dropped.
pub(crate) struct OciRegistry {
    shop: Arc<Shop>,
    port: u16,
    servers: Servers,
}

/// A request as recorded outcomes list it, and what was sent along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OciRequest {
    /// `METHOD oci:PATH STATUS [auth=SCHEME]`.
    pub(crate) line: String,
    /// The header field `Authorization`.
    pub(crate) authorization: Option<String>,
}

/// A repository.
#[derive(Clone, Debug, Default)]
struct Repository {
    tags: BTreeMap<String, String>,
    /// Content type and body by digest.
    manifests: BTreeMap<String, (String, Vec<u8>)>,
    /// What is listed and gone is `None`.
    blobs: BTreeMap<String, Option<Vec<u8>>>,
}

#[derive(Default)]
struct Shop {
    domain: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    repositories: BTreeMap<String, Repository>,
    knobs: Value,
    /// How often each rule was passed over, and how often it was applied.
    counts: Vec<(i64, i64)>,
    log: Vec<OciRequest>,
}

impl OciRegistry {
    pub(crate) fn start() -> Self {
        let servers = Servers::start(1);
        let (listener, port) = open_port();
        let shop = Arc::new(Shop {
            domain: format!("127.0.0.1:{port}"),
            state: Mutex::default(),
        });
        let tls = TlsAcceptor::from(server_config(&[], &["http/1.1"]));
        listen(&servers, listener, Arc::clone(&shop), Role::Lab, Some(tls));
        Self {
            shop,
            port,
            servers,
        }
    }

    pub(crate) fn domain(&self) -> &str {
        &self.shop.domain
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The PEM file to pass as `SSL_CERT_FILE`.
    pub(crate) fn ca_file(&self) -> PathBuf {
        self.servers.ca_file()
    }

    /// Forgets everything that was published and asked, and sets the knobs: `auth` (`basic` for
    /// `user:secret`, `bearer`), `realm`, `page`, `blob_redirect`, `no_ping`, `rules`.
    pub(crate) fn reset(&self, knobs: &Value) {
        *self.shop.lock() = State {
            knobs: knobs.clone(),
            ..State::default()
        };
    }

    /// Publishes packages, each with its platform, under a tag; `form` names one deliberate mistake in what
    /// is for `linux_amd64`.
    pub(crate) fn publish(&self, name: &str, tag: &str, packages: &[(&str, Vec<u8>)], form: &str) {
        let mut state = self.shop.lock();
        let repository = state.repositories.entry(name.to_owned()).or_default();
        forms::publish(repository, tag, packages, form);
    }

    /// Publishes the image layout in a directory, as a copy to a registry does: each tag with what it
    /// leads to, and every blob under its name.
    pub(crate) fn publish_layout(&self, name: &str, layout: &Path) {
        let mut state = self.shop.lock();
        let repository = state.repositories.entry(name.to_owned()).or_default();
        let document = |path: PathBuf| -> Value {
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap_or_default()
        };
        let blobs = layout.join("blobs/sha256");
        for entry in std::fs::read_dir(&blobs).unwrap() {
            let path = entry.unwrap().path();
            let digest = format!("sha256:{}", path.file_name().unwrap().to_str().unwrap());
            let bytes = std::fs::read(&path).unwrap();
            if let Some(kind) = document(path)["mediaType"].as_str() {
                let manifest = (kind.to_owned(), bytes.clone());
                repository.manifests.insert(digest.clone(), manifest);
            }
            repository.blobs.insert(digest, Some(bytes));
        }
        let index = document(layout.join("index.json"));
        for descriptor in index["manifests"].as_array().unwrap() {
            let tag = &descriptor["annotations"]["org.opencontainers.image.ref.name"];
            let (tag, digest) = (
                tag.as_str().unwrap(),
                descriptor["digest"].as_str().unwrap(),
            );
            repository.tags.insert(tag.to_owned(), digest.to_owned());
        }
    }

    /// All requests since the last reset.
    pub(crate) fn requests(&self) -> Vec<OciRequest> {
        self.shop.lock().log.clone()
    }

    /// The same as recorded outcomes list them, but for the limit of their number.
    pub(crate) fn lines(&self) -> Vec<String> {
        let requests = self.requests().into_iter();
        requests.map(|request| request.line).collect()
    }
}

impl Shop {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers for Shop {
    fn answer(&self, asked: &Asked) -> Reply {
        let mut state = self.lock();
        let reply = state.answer(asked, &self.domain);
        let authorization = asked.headers.get("authorization").cloned();
        let scheme = authorization
            .as_deref()
            .and_then(|one| one.split(' ').next());
        let auth = scheme.map_or_else(String::new, |scheme| format!(" auth={scheme}"));
        let line = format!(
            "{} oci:{} {}{auth}",
            asked.method, asked.target, reply.status
        );
        state.log.push(OciRequest {
            line,
            authorization,
        });
        reply
    }
}

impl State {
    fn answer(&mut self, asked: &Asked, domain: &str) -> Reply {
        let own = format!("https://{domain}");
        let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
        if let Some(rule) = self.rule(path) {
            let text = rule["text"].as_str().unwrap_or_default();
            let kind = rule["ctype"].as_str().unwrap_or("application/json");
            let mut reply = reply(rule["status"].as_u64().unwrap_or(500), kind, text);
            for (name, value) in rule["headers"].as_object().into_iter().flatten() {
                let value = value.as_str().unwrap().replace("{self}", &own);
                reply.headers.push((name.clone(), value));
            }
            return reply;
        }
        if path == "/token" {
            let text = json!({ "token": TOKEN, "expires_in": 300 }).to_string();
            return reply(200, "application/json", text);
        }
        // Where a redirect leads no credentials are wanted.
        if !query.contains("moved")
            && let Some(refused) = self.refused(asked, &own)
        {
            return refused;
        }
        if path == "/v2/" {
            return match self.knobs["no_ping"] == true {
                true => reply(404, "text/plain", ""),
                false => reply(200, "application/json", "{}"),
            };
        }
        self.content(path, query, &own)
    }

    fn content(&self, path: &str, query: &str, own: &str) -> Reply {
        let unknown = |code| failure(404, code);
        let Some((name, kind, what)) = split(path) else {
            return unknown("NAME_UNKNOWN");
        };
        let Some(repository) = self.repositories.get(name) else {
            return unknown("NAME_UNKNOWN");
        };
        match kind {
            "tags" => self.tags(name, repository, query),
            "manifests" => {
                let digest = repository.tags.get(what).map_or(what, String::as_str);
                let Some((kind, body)) = repository.manifests.get(digest) else {
                    return unknown("MANIFEST_UNKNOWN");
                };
                let mut reply = reply(200, kind, body.clone());
                let digest = ("Docker-Content-Digest".to_owned(), digest.to_owned());
                reply.headers.push(digest);
                reply
            }
            _ => {
                let Some(Some(body)) = repository.blobs.get(what) else {
                    return unknown("BLOB_UNKNOWN");
                };
                match self.knobs["blob_redirect"].as_str() {
                    Some(place) if query.is_empty() => {
                        let place = place.replace("{self}", own).replace("{path}", path);
                        let mut reply = reply(307, "text/plain", "");
                        reply.headers.push(("Location".to_owned(), place));
                        reply
                    }
                    _ => reply(200, "application/octet-stream", body.clone()),
                }
            }
        }
    }

    fn tags(&self, name: &str, repository: &Repository, query: &str) -> Reply {
        let last = query.strip_prefix("last=").unwrap_or_default();
        let tags = repository.tags.keys().filter(|tag| tag.as_str() > last);
        let mut tags: Vec<&String> = tags.collect();
        let page = self.knobs["page"].as_u64().unwrap_or(0) as usize;
        let is_cut = page > 0 && tags.len() > page;
        if is_cut {
            tags.truncate(page);
        }
        let body = json!({ "name": name, "tags": tags }).to_string();
        let mut reply = reply(200, "application/json", body);
        if is_cut {
            let link = format!(
                "</v2/{name}/tags/list?last={}>; rel=\"next\"",
                tags[page - 1]
            );
            reply.headers.push(("Link".to_owned(), link));
        }
        reply
    }

    /// Asks for credentials, if some are wanted and these were not sent.
    fn refused(&self, asked: &Asked, own: &str) -> Option<Reply> {
        let (wanted, challenge) = match self.knobs["auth"].as_str()? {
            "basic" => (
                "Basic dXNlcjpzZWNyZXQ=".to_owned(),
                "Basic realm=\"lab\"".to_owned(),
            ),
            _ => {
                let usual = format!("{own}/token");
                let realm = self.knobs["realm"].as_str().unwrap_or(&usual);
                let challenge = format!("Bearer realm=\"{realm}\",service=\"lab\"");
                (format!("Bearer {TOKEN}"), challenge)
            }
        };
        if asked.headers.get("authorization") == Some(&wanted) {
            return None;
        }
        let mut refused = failure(401, "UNAUTHORIZED");
        refused
            .headers
            .push(("WWW-Authenticate".to_owned(), challenge));
        Some(refused)
    }

    /// Finds the first rule that a request falls under, and counts it.
    fn rule(&mut self, path: &str) -> Option<Value> {
        let rules = self.knobs["rules"].as_array()?;
        self.counts.resize(rules.len(), (0, 0));
        for (rule, (skipped, applied)) in rules.iter().zip(&mut self.counts) {
            let times = rule["times"].as_i64().unwrap_or(-1);
            if !is_meant(rule["path"].as_str().unwrap(), path) || *applied == times {
                continue;
            }
            if *skipped < rule["skip"].as_i64().unwrap_or(0) {
                *skipped += 1;
                continue;
            }
            *applied += 1;
            return Some(rule.clone());
        }
        None
    }
}

/// Returns whether a path has what a rule wants in it; `^` and `$` stand for its ends.
fn is_meant(pattern: &str, path: &str) -> bool {
    let inner = pattern.trim_start_matches('^').trim_end_matches('$');
    match (pattern.starts_with('^'), pattern.ends_with('$')) {
        (true, true) => path == inner,
        (true, false) => path.starts_with(inner),
        (false, true) => path.ends_with(inner),
        (false, false) => path.contains(inner),
    }
}

/// Splits `/v2/NAME/KIND/WHAT`.
fn split(path: &str) -> Option<(&str, &str, &str)> {
    let path = path.strip_prefix("/v2/")?;
    let (rest, what) = path.rsplit_once('/')?;
    let (name, kind) = rest.rsplit_once('/')?;
    Some((name, kind, what))
}

fn reply(status: u64, content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
    Reply {
        status: status as u16,
        headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
        body: body.into(),
        cut: false,
        delay: None,
    }
}

fn failure(status: u64, code: &str) -> Reply {
    let body = json!({ "errors": [{ "code": code, "message": "no" }] });
    reply(status, "application/json", body.to_string())
}
