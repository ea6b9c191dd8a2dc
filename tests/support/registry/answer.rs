//! Answers: whole ones, parts of them, and what faults make of their bodies.

use hyper::HeaderMap;
use hyper::body::Bytes;
use serde_json::Value;

use super::delivery::Delivery;
use super::documents;
use super::knobs::Fault;

/// The usual type of a body.
pub(crate) const JSON: &str = "application/json";

/// A request as the answer depends on it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    /// Without the query.
    pub(crate) path: &'a str,
    pub(crate) headers: &'a HeaderMap,
}

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    pub(crate) delivery: Delivery,
    pub(crate) etag: Option<String>,
    /// Parts of it may be asked for.
    pub(crate) in_parts: bool,
}

impl Answer {
    pub(crate) fn new(status: u16, body: impl Into<Bytes>, content_type: &str) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: body.into(),
            delivery: Delivery::default(),
            etag: None,
            in_parts: false,
        }
    }

    pub(crate) fn missing() -> Self {
        Self::new(404, r#"{"errors":["Not Found"]}"#, JSON)
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// Heeds `If-None-Match`, `Range` and `If-Range`.
    pub(crate) fn in_form_for(self, asked: Asked<'_>) -> Self {
        let Some(etag) = self.etag.clone() else {
            return self;
        };
        let mut answer = self.with("ETag", format!("\"{etag}\""));
        let header = |name| {
            asked
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let same = |sent: &str| sent.trim_matches('"') == etag;
        if header("if-none-match").is_some_and(same) {
            answer.status = 304;
            answer.body = Bytes::new();
            return answer;
        }
        if !answer.in_parts {
            return answer;
        }
        answer = answer.with("Accept-Ranges", "bytes");
        let size = answer.body.len();
        let range = header("range")
            .filter(|_| header("if-range").is_none_or(same))
            .and_then(|range| parse_range(range, size));
        match range {
            None => answer,
            Some((start, end)) if start >= end => {
                answer.status = 416;
                answer.body = Bytes::new();
                answer.with("Content-Range", format!("bytes */{size}"))
            }
            Some((start, end)) => {
                answer.status = 206;
                answer.body = answer.body.slice(start..end);
                let last = end - 1;
                answer.with("Content-Range", format!("bytes {start}-{last}/{size}"))
            }
        }
    }

    /// Changes places of a JSON document; anything else stays as it is.
    pub(crate) fn patched(self, fault: &Fault) -> Self {
        if self.status != 200 {
            return self;
        }
        let body = match self.header("Content-Encoding") {
            Some(_) => inflated(&self.body),
            None => self.body.to_vec(),
        };
        let mut document: Value =
            serde_json::from_slice(&body).expect("only JSON documents are patched");
        for (path, value) in fault.pairs("set") {
            documents::set(&mut document, path, value);
        }
        let content_type = fault.field("ctype").and_then(Value::as_str).unwrap_or(JSON);
        Self::new(200, document.to_string(), content_type)
    }

    /// Makes one byte of the body wrong, in the middle unless told where.
    pub(crate) fn flip(&mut self, fault: &Fault) {
        let mut body = self.body.to_vec();
        let at = fault.number("at", body.len() as u64 / 2) as usize;
        let last = body.len().saturating_sub(1);
        if let Some(byte) = body.get_mut(at.min(last)) {
            *byte ^= 0xff;
        }
        self.body = body.into();
    }
}

/// Reads `bytes=FROM-TO`, with either left out, as a half-open range.
fn parse_range(text: &str, size: usize) -> Option<(usize, usize)> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let count: usize = last.parse().ok()?;
        return Some((size.saturating_sub(count), size));
    }
    let end = match last {
        "" => size,
        last => (last.parse::<usize>().ok()? + 1).min(size),
    };
    Some((first.parse().ok()?, end))
}

fn inflated(body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(body);
    std::io::Read::read_to_end(&mut decoder, &mut plain).unwrap();
    plain
}
