//! What was asked of a registry, in order of arrival.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Request, Version};

/// How many requests a recorded outcome lists.
const LISTED: usize = 30;

/// A listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The registry.
    Lab,
    /// Where packages are announced.
    Files,
    /// The registry again, by plain http.
    Plain,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) origin: Origin,
    /// `HTTP/1.1` or `HTTP/2.0`.
    pub(crate) protocol: String,
    pub(crate) method: String,
    /// Path and query as sent.
    pub(crate) target: String,
    /// `None` if the connection ended in place of an answer. An answer that nobody waited for counts.
    pub(crate) status: Option<u16>,
    /// All of them, in order of arrival, names in lower case; `host` also over HTTP/2.
    pub(crate) headers: Vec<(String, String)>,
}

/// Keeps the requests of one registry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<(Mutex<LogState>, Condvar)>);

#[derive(Debug, Default)]
struct LogState {
    entries: Vec<Entry>,
    /// Per origin: answers under way, and the most there were at once.
    under_way: [(usize, usize); 3],
}

/// An answer under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    log: Log,
    origin: Origin,
}

impl Entry {
    pub(crate) fn of(origin: Origin, request: &Request<Incoming>, status: Option<u16>) -> Self {
        let uri = request.uri();
        let spell = |value: &hyper::header::HeaderValue| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        let mut headers: Vec<(String, String)> = request
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), spell(value)))
            .collect();
        if request.version() == Version::HTTP_2
            && let Some(authority) = uri.authority()
        {
            headers.insert(0, ("host".to_owned(), authority.to_string()));
        }
        Self {
            origin,
            protocol: format!("{:?}", request.version()),
            method: request.method().to_string(),
            target: uri
                .path_and_query()
                .map_or("/", |target| target.as_str())
                .to_owned(),
            status,
            headers,
        }
    }

    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// The request as recorded outcomes spell it: `METHOD PATH STATUS [auth=SCHEME]`.
    ///
    /// Recorded redirects to another host name are marked by the query `other`.
    pub(crate) fn line(&self) -> String {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let path = match (query, path.strip_prefix("/files/")) {
            ("other", _) => format!("other-host{path}"),
            (_, Some(file)) => format!("files:/{file}"),
            (_, None) => path.to_owned(),
        };
        let status = self
            .status
            .map_or("dropped".to_owned(), |code| code.to_string());
        let scheme = |sent: &str| format!(" auth={}", sent.split(' ').next().unwrap_or(""));
        let auth = self
            .header("authorization")
            .map_or_else(String::new, scheme);
        format!("{} {path} {status}{auth}", self.method)
    }
}

impl Log {
    /// Forgets all requests so far.
    pub(crate) fn reset(&self) {
        let mut state = self.lock();
        state.entries.clear();
        for (now, most) in &mut state.under_way {
            *most = *now;
        }
    }

    pub(crate) fn push(&self, entry: Entry) -> InFlight {
        let origin = entry.origin;
        let mut state = self.lock();
        state.entries.push(entry);
        let (now, most) = &mut state.under_way[origin as usize];
        *now += 1;
        *most = (*most).max(*now);
        drop(state);
        self.0.1.notify_all();
        InFlight {
            log: self.clone(),
            origin,
        }
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.lock().entries.clone()
    }

    /// Waits for a request; returns false if none has come when the time is over.
    pub(crate) fn wait_for(&self, limit: Duration, is_wanted: impl Fn(&Entry) -> bool) -> bool {
        let is_missing = |state: &mut LogState| !state.entries.iter().any(&is_wanted);
        let waited = self.0.1.wait_timeout_while(self.lock(), limit, is_missing);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// The requests as a recorded outcome lists them.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.lock().entries.iter().map(Entry::line).collect();
        if lines.len() > LISTED {
            lines.truncate(LISTED);
            lines.push("(more)".to_owned());
        }
        lines
    }

    /// The most requests that were under way at once.
    pub(crate) fn most_in_flight(&self, origin: Origin) -> usize {
        self.lock().under_way[origin as usize].1
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LogState> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.log.lock().under_way[self.origin as usize].0 -= 1;
    }
}
