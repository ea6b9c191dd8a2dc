//! A stand-in for the API of GitHub: one pull request with its comments, and code scanning.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

/// The author of what jobs write.
pub(crate) const BOT: &str = "github-actions[bot]";

/// The only token that is accepted.
pub(crate) const TOKEN: &str = "job-token-1234";

/// How many comments an answer has; GitHub's largest page has 100.
const PER_PAGE: usize = 100;

/// What the server holds, and the requests that it had.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The commit that the pull request leads to now.
    pub(crate) head: String,
    pub(crate) comments: Vec<Comment>,
    /// The status of every request that writes; none: it is done.
    pub(crate) refuse_writing: Option<u16>,
    /// A comment that appears just before the next one is created, as by a run at the same time.
    pub(crate) overtaken_by: Option<Comment>,
    pub(crate) requests: Vec<String>,
    pub(crate) uploads: Vec<Value>,
    /// The snapshots of dependencies that were submitted.
    pub(crate) snapshots: Vec<Value>,
    /// The `Authorization` headers of each request of git, which is refused.
    pub(crate) git: Vec<Vec<String>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) login: String,
    pub(crate) body: String,
}

impl Comment {
    pub(crate) fn new(id: u64, login: &str, body: &str) -> Self {
        Self {
            id,
            login: login.to_owned(),
            body: body.to_owned(),
        }
    }
}

/// A server on loopback; its thread ends with the process.
pub(crate) struct GitHubApi {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

impl GitHubApi {
    pub(crate) fn start(state: State) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(state));
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = serve(stream.unwrap(), &served);
            }
        });
        Self { url, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// Answers one request, and closes the connection.
fn serve(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut tokens) = (0, Vec::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap();
            }
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                tokens.push(value.to_owned());
            }
            Some((name, value)) if name.eq_ignore_ascii_case("expect") => {
                assert_eq!(value, "100-continue");
                (&stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            }
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let (status, next, answer) = if path.contains("/info/refs?service=git-") {
        state.lock().unwrap().git.push(tokens);
        (403, None, Value::Null)
    } else if tokens == [format!("Bearer {TOKEN}")] {
        let body = serde_json::from_slice(&body).unwrap_or_default();
        answer(&mut state.lock().unwrap(), method, path, &body)
    } else {
        (401, None, json!({"message": "Bad credentials"}))
    };
    let link = next.map_or(String::new(), |page| {
        format!("Link: <http://api.test/comments?page={page}>; rel=\"next\"\r\n")
    });
    let answer = answer.to_string();
    write!(
        &stream,
        "HTTP/1.1 {status} Status\r\n{link}Content-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    )
}

/// Does what a request asks for: the status, the number of the next page, and a document.
fn answer(
    state: &mut State,
    method: &str,
    path: &str,
    body: &Value,
) -> (u16, Option<usize>, Value) {
    state.requests.push(format!("{method} {path}"));
    if let (Some(status), true) = (state.refuse_writing, method != "GET") {
        let message = "Resource not accessible by integration";
        return (status, None, json!({"message": message}));
    }
    let path = path.strip_prefix("/repos/owner/repo/").unwrap_or_default();
    let sent = body["body"].as_str().unwrap_or_default();
    // GitHub counts characters.
    if sent.chars().count() > 65_536 {
        return (422, None, json!({"message": "body is too long"}));
    }
    if let Some(query) = path.strip_prefix("issues/7/comments?per_page=100&page=") {
        let page: usize = query.parse().unwrap();
        let pages: Vec<&[Comment]> = state.comments.chunks(PER_PAGE).collect();
        let comments = pages.get(page - 1).copied().unwrap_or_default();
        let comments = comments.iter().map(|comment| {
            let kind = if comment.login.ends_with("[bot]") {
                "Bot"
            } else {
                "User"
            };
            let user = json!({"login": comment.login, "type": kind});
            json!({"id": comment.id, "user": user, "body": comment.body})
        });
        let answer = (
            200,
            (page < pages.len()).then_some(page + 1),
            comments.collect(),
        );
        return answer;
    }
    if let Some(id) = path.strip_prefix("issues/comments/") {
        let id: u64 = id.parse().unwrap();
        let Some(at) = state.comments.iter().position(|comment| comment.id == id) else {
            return (404, None, json!({"message": "Not Found"}));
        };
        if method == "DELETE" {
            state.comments.remove(at);
            return (204, None, Value::Null);
        }
        sent.clone_into(&mut state.comments[at].body);
        return (200, None, json!({"id": id}));
    }
    match (method, path) {
        ("GET", "pulls/7") => (200, None, json!({"head": {"sha": state.head}})),
        ("POST", "issues/7/comments") => {
            state.comments.extend(state.overtaken_by.take());
            let id = 1 + state
                .comments
                .iter()
                .map(|comment| comment.id)
                .max()
                .unwrap_or(500);
            state.comments.push(Comment::new(id, BOT, sent));
            (201, None, json!({"id": id}))
        }
        ("POST", "code-scanning/sarifs") => {
            state.uploads.push(body.clone());
            (202, None, json!({"id": "1"}))
        }
        ("POST", "dependency-graph/snapshots") => {
            state.snapshots.push(body.clone());
            (201, None, json!({"id": 1, "result": "SUCCESS"}))
        }
        _ => (404, None, json!({"message": "Not Found"})),
    }
}
