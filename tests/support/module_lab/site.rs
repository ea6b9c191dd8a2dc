//! What is served, and what was asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{Answers, Asked, Reply, Role, archives};

/// What is served now.
#[derive(Default)]
pub(super) struct Site {
    served: Mutex<Served>,
}

#[derive(Default)]
struct Served {
    routes: BTreeMap<String, Value>,
    /// How often each route was asked for.
    hits: BTreeMap<String, u64>,
    archives: BTreeMap<String, Vec<u8>>,
    /// `USER:PASSWORD` that repositories ask for.
    git_auth: Option<String>,
    repos: PathBuf,
    log: Vec<LoggedRequest>,
}

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoggedRequest {
    pub(crate) method: String,
    /// `HOST:PORT` as the client wrote it.
    pub(crate) host: String,
    /// The path with the query.
    pub(crate) target: String,
    /// `None` for an answer that comes too late.
    pub(crate) status: Option<u16>,
    /// `SCHEME VALUE`; that of `Basic` is decoded.
    pub(crate) auth: Option<String>,
    /// How many bytes the body of the answer has.
    pub(crate) bytes: usize,
    /// The header fields that the route names, in its order.
    pub(crate) headers: Vec<(String, Option<String>)>,
}

impl Site {
    fn served(&self) -> MutexGuard<'_, Served> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn serve(&self, input: &Value, repos: &Path) {
        let archives =
            object(&input["archives"]).map(|(name, one)| (name.clone(), archives::make(one)));
        let archives = archives.collect();
        let mut served = self.served();
        *served = Served {
            archives,
            git_auth: input["git_auth"].as_str().map(str::to_owned),
            repos: repos.to_owned(),
            ..Served::default()
        };
        served.add_routes(&input["routes"]);
    }

    pub(super) fn add_routes(&self, routes: &Value) {
        self.served().add_routes(routes);
    }

    pub(super) fn requests(&self) -> Vec<LoggedRequest> {
        self.served().log.clone()
    }

    pub(super) fn forget(&self) {
        self.served().log.clear();
    }

    fn by_route(&self, asked: &Asked, route: &Value) -> Reply {
        let shown = route["log"].as_array().map_or(&[][..], Vec::as_slice);
        let shown: Vec<&str> = shown.iter().filter_map(Value::as_str).collect();
        let delay = route["delay"].as_f64().map(Duration::from_secs_f64);
        if let Some(wanted) = route["auth"].as_str() {
            let good = match wanted.starts_with("Bearer ") {
                true => wanted.to_owned(),
                false => format!("Basic {}", STANDARD.encode(wanted)),
            };
            if asked.headers.get("authorization") != Some(&good) {
                let reply = unauthorized();
                self.note(asked, Some(401), &reply, &shown);
                return reply;
            }
        }
        let status = route["status"].as_u64().unwrap_or(200);
        let status = u16::try_from(status).unwrap();
        let mut headers = Vec::new();
        for (name, value) in object(&route["headers"]) {
            match value {
                Value::Array(values) => {
                    let values = values.iter().filter_map(Value::as_str);
                    headers.extend(values.map(|value| (name.clone(), value.to_owned())));
                }
                value => headers.push((name.clone(), value.as_str().unwrap().to_owned())),
            }
        }
        let body = if let Some(json) = route.get("json") {
            if !headers.iter().any(|(name, _)| name == "Content-Type") {
                headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
            }
            json.to_string().into_bytes()
        } else if let Some(name) = route["archive"].as_str() {
            self.served().archives[name].clone()
        } else {
            route["body"]
                .as_str()
                .unwrap_or_default()
                .as_bytes()
                .to_vec()
        };
        let reply = Reply {
            status,
            headers,
            body,
            cut: route["cut"].as_bool().unwrap_or_default(),
            delay,
        };
        self.note(asked, delay.is_none().then_some(status), &reply, &shown);
        reply
    }

    fn by_git(&self, asked: &Asked, inside: &str) -> Reply {
        let (repos, wanted) = {
            let served = self.served();
            (served.repos.clone(), served.git_auth.clone())
        };
        if let Some(wanted) = wanted {
            let good = format!("Basic {}", STANDARD.encode(wanted));
            if asked.headers.get("authorization") != Some(&good) {
                return unauthorized();
            }
        }
        super::git::respond(asked, inside, &repos)
    }

    fn note(&self, asked: &Asked, status: Option<u16>, reply: &Reply, shown: &[&str]) {
        let auth = asked.headers.get("authorization").map(|value| {
            let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
            match scheme {
                "Basic" => {
                    let decoded = STANDARD.decode(rest).unwrap_or_default();
                    format!("{scheme} {}", String::from_utf8_lossy(&decoded))
                }
                _ => value.clone(),
            }
        });
        let headers = shown.iter().map(|name| {
            let value = asked.headers.get(&name.to_ascii_lowercase());
            ((*name).to_owned(), value.cloned())
        });
        let entry = LoggedRequest {
            method: asked.method.clone(),
            host: asked.headers.get("host").cloned().unwrap_or_default(),
            target: asked.target.clone(),
            status,
            auth,
            bytes: reply.body.len(),
            headers: headers.collect(),
        };
        self.served().log.push(entry);
    }
}

impl Answers for Site {
    /// Answers a request and writes it down.
    fn answer(&self, asked: &Asked) -> Reply {
        if asked.role == Role::Proxy {
            let reply = plain(403, "");
            self.note(asked, Some(403), &reply, &[]);
            return reply;
        }
        let path = asked.target.split('?').next().unwrap_or_default();
        let keys = [
            format!("{} {}", asked.method, asked.target),
            asked.target.clone(),
            path.to_owned(),
        ];
        let route = {
            let mut served = self.served();
            keys.iter().find_map(|key| served.route(key))
        };
        if let Some(route) = route {
            return self.by_route(asked, &route);
        }
        let reply = if let Some(inside) = path.strip_prefix("/git") {
            self.by_git(asked, inside)
        } else {
            let name = path.strip_prefix("/archives/").unwrap_or_default();
            match self.served().archives.get(name) {
                Some(bytes) => Reply {
                    body: bytes.clone(),
                    ..plain(200, "")
                },
                None => plain(404, "nothing here"),
            }
        };
        self.note(asked, Some(reply.status), &reply, &[]);
        reply
    }
}

impl Served {
    fn add_routes(&mut self, routes: &Value) {
        for (key, route) in object(routes) {
            self.routes.insert(key.clone(), route.clone());
        }
    }

    /// Returns the route of a key as it is by now.
    fn route(&mut self, key: &str) -> Option<Value> {
        let route = self.routes.get(key)?;
        let hits = self.hits.entry(key.to_owned()).or_default();
        *hits += 1;
        let is_over = route["times"].as_u64().is_some_and(|times| *hits > times);
        Some(match is_over {
            true => route["then"].clone(),
            false => route.clone(),
        })
    }
}

pub(super) fn plain(status: u16, body: &str) -> Reply {
    Reply {
        status,
        headers: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
        body: body.as_bytes().to_vec(),
        cut: false,
        delay: None,
    }
}

fn unauthorized() -> Reply {
    let mut reply = plain(401, "");
    let field = (
        "WWW-Authenticate".to_owned(),
        "Basic realm=\"lab\"".to_owned(),
    );
    reply.headers.push(field);
    reply
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
