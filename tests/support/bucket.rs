//! A bucket of S3 on loopback: signatures are verified, and a conditional write is one step; or a fault that a test
//! asks for.
//!
//! The crate `s3s-fs` compares a version and writes in two steps, so that it loses objects of writers that meet.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(dead_code, reason = "not every test binary needs all of it")]

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::future::pending;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use ring::hmac;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::lab::Lab;
use crate::registry::sha256_hex;
use crate::servers::{Connection, Servers, open_port};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// Maximum number of keys in one part of a list, so that few objects make several parts.
const LISTED: usize = 2;

/// The behaviour of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Sound,
    /// Writes an object whether its condition holds or not.
    IgnoresConditions,
    NeverAnswers,
    /// Sends an object in bytes with pauses between them.
    Drips,
    /// Sends 10 GB for each object.
    Floods,
    Redirects,
    /// Answers with an object of another key.
    OtherObjects,
    /// Answers with the first version of each object.
    FirstVersions,
}

/// A running bucket; it ends when it is dropped.
pub(crate) struct Bucket {
    shared: Arc<Shared>,
    port: u16,
    _servers: Servers,
}

struct Shared {
    state: Mutex<State>,
}

struct State {
    manner: Manner,
    /// The number of writes that are refused with 409, as S3 does for requests at the same moment.
    collisions: usize,
    /// The versions of each object, the last one is the current one.
    objects: BTreeMap<String, Vec<Bytes>>,
    log: Vec<String>,
}

impl Bucket {
    pub(crate) fn start() -> Self {
        let servers = Servers::start(1);
        let (listener, port) = open_port();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                manner: Manner::Sound,
                collisions: 0,
                objects: BTreeMap::new(),
                log: Vec::new(),
            }),
        });
        let connected = Arc::clone(&shared);
        servers.listen(listener, None, move || {
            BucketConnection(Arc::clone(&connected))
        });
        Self {
            shared,
            port,
            _servers: servers,
        }
    }

    /// Gives a machine the credentials of the bucket.
    pub(crate) fn let_in(&self, lab: &mut Lab) {
        lab.set("AWS_ACCESS_KEY_ID", "AKEXAMPLE");
        lab.set("AWS_SECRET_ACCESS_KEY", SECRET);
        lab.set("AWS_REGION", "eu-central-1");
        lab.set(
            "AWS_ENDPOINT_URL",
            format!("http://127.0.0.1:{}", self.port),
        );
        lab.set("AWS_ALLOW_HTTP", "true");
    }

    /// The URL by which everybody may read the objects.
    pub(crate) fn web_url(&self) -> String {
        format!("http://127.0.0.1:{}/box/lockctl", self.port)
    }

    pub(crate) fn set_manner(&self, manner: Manner) {
        self.shared.state.lock().unwrap().manner = manner;
    }

    pub(crate) fn set_collisions(&self, collisions: usize) {
        self.shared.state.lock().unwrap().collisions = collisions;
    }

    /// The keys of the objects, and the number of versions that each had.
    pub(crate) fn versions(&self) -> BTreeMap<String, usize> {
        let state = self.shared.state.lock().unwrap();
        let objects = state.objects.iter();
        objects
            .map(|(key, versions)| (key.clone(), versions.len()))
            .collect()
    }

    /// Puts the first version of each object back.
    pub(crate) fn roll_back(&self) {
        let mut state = self.shared.state.lock().unwrap();
        for versions in state.objects.values_mut() {
            let first = versions[0].clone();
            versions.push(first);
        }
    }

    /// The requests since the last call, as in `PUT 200`.
    pub(crate) fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state.lock().unwrap().log)
    }
}

struct BucketConnection(Arc<Shared>);

impl Connection for BucketConnection {
    type Socket = TcpStream;
    type Body = Content;

    fn socket(&self, stream: TcpStream) -> TcpStream {
        stream
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Content> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(|body| body.to_bytes());
        let answer = {
            let mut state = self.0.state.lock().unwrap();
            let answer = state.answer(&head, body.unwrap_or_default());
            let status = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
            state.log.push(format!("{} {status}", head.method));
            answer
        };
        match answer {
            Some(answer) => answer,
            None => pending().await,
        }
    }
}

impl State {
    /// Answers a request; `None` if it is never answered.
    fn answer(&mut self, head: &Parts, body: Bytes) -> Option<Response<Content>> {
        // Reading needs no key, as in a bucket that is public.
        if (head.headers.contains_key("authorization") || head.method != "GET")
            && !is_signed(head, &body)
        {
            return Some(plain(
                403,
                "<Error><Code>SignatureDoesNotMatch</Code></Error>",
            ));
        }
        let Some(key) = head.uri.path().strip_prefix("/box") else {
            return Some(plain(404, "<Error><Code>NoSuchBucket</Code></Error>"));
        };
        let key = key.trim_start_matches('/');
        match self.manner {
            Manner::NeverAnswers => return None,
            Manner::Redirects => {
                let mut response = plain(302, "");
                let elsewhere = "http://127.0.0.1:9/".parse().unwrap();
                response.headers_mut().insert("location", elsewhere);
                return Some(response);
            }
            _ => {}
        }
        Some(match head.method.as_str() {
            "PUT" => self.put(key, head, body),
            "DELETE" => {
                self.objects.remove(key);
                plain(204, "")
            }
            _ if key.is_empty() => plain(200, &self.list(head.uri.query().unwrap_or_default())),
            _ => self.get(key),
        })
    }

    fn get(&self, key: &str) -> Response<Content> {
        let found = match self.manner {
            Manner::OtherObjects => self.objects.iter().find(|(other, _)| *other != key),
            _ => self.objects.get_key_value(key),
        };
        let Some((_, versions)) = found else {
            return plain(404, "<Error><Code>NoSuchKey</Code></Error>");
        };
        let number = match self.manner {
            Manner::FirstVersions => 1,
            _ => versions.len(),
        };
        let bytes = &versions[number - 1];
        let content = match self.manner {
            Manner::Drips => Content {
                parts: bytes.iter().map(|byte| vec![*byte].into()).collect(),
                pause: Some(Box::pin(sleep(PAUSE))),
            },
            Manner::Floods => Content {
                parts: vec![Bytes::from(vec![b'x'; 1 << 20]); 10 << 10].into(),
                pause: None,
            },
            _ => Content::whole(bytes.clone()),
        };
        Response::builder()
            .header("ETag", format!("\"{number}\""))
            .header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
            .body(content)
            .unwrap()
    }

    fn put(&mut self, key: &str, head: &Parts, body: Bytes) -> Response<Content> {
        if let Some(left) = self.collisions.checked_sub(1) {
            self.collisions = left;
            return plain(
                409,
                "<Error><Code>ConditionalRequestConflict</Code></Error>",
            );
        }
        let versions = self.objects.get(key).map_or(0, Vec::len);
        let condition = |name| head.headers.get(name).map(|value| value.to_str().unwrap());
        let holds = match (condition("if-match"), condition("if-none-match")) {
            (Some(tag), None) => tag == format!("\"{versions}\"") && versions > 0,
            (None, Some("*")) => versions == 0,
            _ => panic!("a write without a condition"),
        };
        if !holds && self.manner != Manner::IgnoresConditions {
            return plain(412, "<Error><Code>PreconditionFailed</Code></Error>");
        }
        self.objects.entry(key.to_owned()).or_default().push(body);
        let mut response = plain(200, "");
        let tag = format!("\"{}\"", versions + 1).parse().unwrap();
        response.headers_mut().insert("etag", tag);
        response
    }

    /// Lists keys as `ListObjectsV2` does, in parts.
    fn list(&self, query: &str) -> String {
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let found = pairs.into_iter().find(|(key, _)| *key == name);
            found.map_or(String::new(), |(_, value)| value.replace("%2F", "/"))
        };
        let (prefix, after) = (value("prefix"), value("continuation-token"));
        let mut keys: Vec<&String> = self.objects.keys().collect();
        keys.retain(|key| key.starts_with(&prefix) && **key > after);
        let is_cut = keys.len() > LISTED;
        keys.truncate(LISTED);
        let contents: String = keys
            .iter()
            .map(|key| {
                format!(
                    "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
                     <ETag>\"1\"</ETag><Size>1</Size></Contents>"
                )
            })
            .collect();
        let next = match keys.last() {
            Some(last) if is_cut => {
                format!("<NextContinuationToken>{last}</NextContinuationToken>")
            }
            _ => String::new(),
        };
        format!(
            "<ListBucketResult><IsTruncated>{is_cut}</IsTruncated>{next}{contents}</ListBucketResult>"
        )
    }
}

fn plain(status: u16, text: &str) -> Response<Content> {
    let content = Content::whole(text.to_owned().into());
    Response::builder().status(status).body(content).unwrap()
}

/// Verifies a request as version 4 of the signatures of AWS describes it.
fn is_signed(head: &Parts, body: &Bytes) -> bool {
    let text = |name: &str| {
        let value = head.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    };
    let part = |name: &str| {
        let parts = text("authorization").split([' ', ',']);
        let value = parts.filter_map(|part| part.strip_prefix(name)).next();
        value.unwrap_or_default()
    };
    let (signed, credential) = (part("SignedHeaders="), part("Credential="));
    let headers: String = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", text(name).trim()))
        .collect();
    let mut query: Vec<&str> = head.uri.query().unwrap_or_default().split('&').collect();
    query.sort_unstable();
    let content = text("x-amz-content-sha256");
    let canonical = format!(
        "{}\n{}\n{}\n{headers}\n{signed}\n{content}",
        head.method,
        head.uri.path(),
        query.join("&")
    );
    let (_, scope) = credential.split_once('/').unwrap_or_default();
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{}\n{scope}\n{}",
        text("x-amz-date"),
        sha256_hex(canonical.as_bytes())
    );
    // The key for a day, a region and a service.
    let mut key = format!("AWS4{SECRET}").into_bytes();
    for word in scope.split('/').chain([&*to_sign]) {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, &key);
        key = hmac::sign(&secret, word.as_bytes()).as_ref().to_vec();
    }
    hex::encode(key) == part("Signature=") && content == sha256_hex(body)
}

/// The time between two bytes that drip.
const PAUSE: Duration = Duration::from_millis(20);

/// The body of an answer, in parts.
pub(crate) struct Content {
    /// What is left.
    parts: VecDeque<Bytes>,
    /// Ends before the next part.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Content {
    fn whole(bytes: Bytes) -> Self {
        Self {
            parts: [bytes].into(),
            pause: None,
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(pause) = &mut self.pause {
            if pause.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.pause = Some(Box::pin(sleep(PAUSE)));
        }
        Poll::Ready(self.parts.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.parts.iter().map(|part| part.len() as u64).sum())
    }
}
