//! Servers that never stop sending: frames of HTTP/2, header lines and interim answers of HTTP/1.1.
//!
//! lockctl gives up within its time limits, whatever arrives meanwhile, says so, and writes nothing.

use std::io::{Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::registry::{DEMO, with_registry};
use super::*;
use crate::registry::{authority_pem, server_config};
use crate::servers::open_port;

/// Time limit of a command: all of its time limits, and its repetitions, with time to spare on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Time after which a flood ends by itself; none should.
const LONGEST: Duration = Duration::from_secs(100);

/// How many times sooner an answer is given up than stated.
const HURRY: u32 = 100;

/// The same where documents are answered well, and must not be given up on a busy machine.
const LITTLE_HURRY: u32 = 20;

// Types and flags of frames (RFC 9113, 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const UNKNOWN: u8 = 0x42;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

/// `:status: 200` (RFC 7541, appendix A).
const OK: &[u8] = &[0x88];

/// A server, and what it was made to send.
struct Flood {
    port: u16,
    sent: Arc<AtomicUsize>,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

impl Flood {
    /// Starts a server that sends `first` to every request, and then `more` for ever.
    fn start(protocol: &str, first: Vec<u8>, more: Vec<u8>) -> Self {
        let (listener, port) = open_port();
        listener.set_nonblocking(false).unwrap();
        let sent = Arc::new(AtomicUsize::new(0));
        let (config, counted) = (server_config(&[], &[protocol]), Arc::clone(&sent));
        thread::spawn(move || serve(&listener, &config, &counted, &first, &more));
        Self { port, sent }
    }
}

fn serve(
    listener: &TcpListener,
    config: &Arc<ServerConfig>,
    sent: &Arc<AtomicUsize>,
    first: &[u8],
    more: &[u8],
) {
    // Many of a small frame are one write.
    let more = more.repeat(1 + 4096 / more.len());
    for stream in listener.incoming() {
        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
        let (first, more, sent) = (first.to_vec(), more.clone(), Arc::clone(sent));
        thread::spawn(move || {
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            // It ends with an error when the client hangs up.
            drown(&mut stream, &first, &more, &sent).ok();
        });
    }
}

fn drown(
    stream: &mut StreamOwned<ServerConnection, TcpStream>,
    first: &[u8],
    more: &[u8],
    sent: &AtomicUsize,
) -> std::io::Result<()> {
    let start = Instant::now();
    let mut request = [0; 4096];
    // A request of HTTP/2 arrives in some pieces: its first stream is known before the last of them.
    let mut received = stream.read(&mut request)?;
    while received < 100 {
        received += stream.read(&mut request)?;
    }
    stream.write_all(first)?;
    while start.elapsed() < LONGEST {
        stream.write_all(more)?;
        stream.flush()?;
        sent.fetch_add(more.len(), Ordering::Relaxed);
    }
    Ok(())
}

/// Starts of a connection of HTTP/2, with frames that never end.
fn frames() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let settings = frame(SETTINGS, 0, 0, &[]);
    let with = |more: Vec<u8>| [settings.clone(), more].concat();
    let begun = with(frame(HEADERS, END_HEADERS, 1, OK));
    // A table size update costs a byte, and an entry of the dynamic table that is named again and again one more.
    let long_field = [&[0x40, 1, b'a', 0x7f, 0xa1, 0x1e][..], &[b'x'; 4000]].concat();
    let many = [long_field, vec![0xbe; 12_000]].concat();
    vec![
        ("pings", settings.clone(), frame(PING, 0, 0, &[0; 8])),
        ("settings", Vec::new(), settings.clone()),
        ("empty data", begun.clone(), frame(DATA, 0, 1, &[])),
        (
            "padding",
            begun.clone(),
            frame(DATA, PADDED, 1, &[[200].as_slice(), &[0; 200]].concat()),
        ),
        (
            "windows",
            settings.clone(),
            frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()),
        ),
        ("one byte of data", begun.clone(), frame(DATA, 0, 1, b" ")),
        (
            "continuations",
            with(frame(HEADERS, 0, 1, OK)),
            frame(
                CONTINUATION,
                0,
                1,
                &[[0x00, 1, b'a', 100].as_slice(), &[b'x'; 100]].concat(),
            ),
        ),
        (
            "empty continuations",
            with(frame(HEADERS, 0, 1, OK)),
            frame(CONTINUATION, 0, 1, &[]),
        ),
        (
            "indexed fields",
            settings.clone(),
            frame(HEADERS, 0, 1, &many),
        ),
        (
            "interim answers",
            settings.clone(),
            frame(HEADERS, END_HEADERS, 1, &[0x08, 3, b'1', b'0', b'3']),
        ),
        (
            "resets",
            settings.clone(),
            frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]),
        ),
        (
            "farewells",
            settings.clone(),
            frame(GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
        ),
        (
            "promises",
            settings.clone(),
            frame(
                PUSH_PROMISE,
                END_HEADERS,
                1,
                &[[0, 0, 0, 2].as_slice(), OK].concat(),
            ),
        ),
        (
            "unknown frames",
            settings.clone(),
            frame(UNKNOWN, 0, 0, &[0; 1000]),
        ),
    ]
}

/// Starts of an answer of HTTP/1.1, with lines that never end.
fn lines() -> Vec<(&'static str, &'static str, &'static str)> {
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let chunked =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![
        ("headers", json, "X-Field: value\r\n"),
        (
            "one header",
            "HTTP/1.1 200 OK\r\nX-Field: ",
            "xxxxxxxxxxxxxxxx",
        ),
        ("status line", "HTTP/1.1 200 ", "OK OK OK OK"),
        (
            "interim answers",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\n",
        ),
        ("line ends", "", "\r\n"),
        ("a chunk size", chunked, "0"),
        ("chunk extensions", chunked, "1;a=b\r\n \r\n"),
        (
            "an extension",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
            "aaaaaaaa",
        ),
        (
            "trailers",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            "X-Field: value\r\n",
        ),
        (
            "a body",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
            "{\"a\": [[[[[[[[",
        ),
        ("no HTTP", "", "SSH-2.0-x\r\n"),
    ]
}

/// Runs `lock` against a flood and looks at how it ends; returns how long that takes.
#[track_caller]
fn check(name: &str, flood: &Flood, lab: &Lab) -> Duration {
    let start = Instant::now();
    let outcome = lab.run(&["lock", "--no-cache", "--platform", "linux_amd64"]);
    let elapsed = start.elapsed();
    assert!(elapsed < MAX_TIME, "{name}: {elapsed:?}");
    assert_eq!(outcome.code, 2, "{name}: {outcome:#?}");
    let said = &outcome.stderr;
    assert!(
        said.contains(&flood.port.to_string()),
        "{name} names the server: {said}"
    );
    assert!(
        !said.contains("this is a bug") && said.len() < 4000,
        "{name}: {said}"
    );
    assert!(!lab.path(LOCK).exists(), "{name}");
    elapsed
}

/// A root whose provider comes from a server on this machine.
fn root(port: u16) -> Lab {
    let mut lab = Lab::new();
    lab.hurry = HURRY;
    lab.write("ca.pem", authority_pem());
    for (name, value) in [
        ("SSL_CERT_FILE", lab.path("ca.pem")),
        ("HOME", lab.path("home")),
        ("XDG_CACHE_HOME", lab.path("home/.cache")),
    ] {
        lab.set(name, value);
    }
    let config = DEMO.replace("acme/demo", &format!("localhost:{port}/acme/demo"));
    lab.write("main.tf", config);
    lab
}

#[test]
fn floods_of_frames_are_given_up() {
    for (name, first, more) in frames() {
        let flood = Flood::start("h2", first, more);
        let elapsed = check(name, &flood, &root(flood.port));
        println!(
            "{name}: {elapsed:?}, {} bytes",
            flood.sent.load(Ordering::Relaxed)
        );
    }
}

#[test]
fn floods_of_lines_are_given_up() {
    for (name, first, more) in lines() {
        let flood = Flood::start("http/1.1", first.into(), more.into());
        let elapsed = check(name, &flood, &root(flood.port));
        println!(
            "{name}: {elapsed:?}, {} bytes",
            flood.sent.load(Ordering::Relaxed)
        );
    }
}

#[test]
fn packages_that_never_come_are_given_up() {
    for (name, first, more) in frames() {
        // The others last as long as the time limit of a package, several times.
        if !["empty data", "continuations", "indexed fields", "promises"].contains(&name) {
            continue;
        }
        let flood = Flood::start("h2", first, more);
        let (registry, mut lab) = with_registry(DEMO);
        lab.hurry = LITTLE_HURRY;
        let url = format!("https://127.0.0.1:{}/package.zip", flood.port);
        registry.reset(&json!({"rules": [{
            "kind": "download", "action": "patch", "times": -1, "set": {"download_url": url},
        }]}));
        let elapsed = check(name, &flood, &lab);
        println!(
            "{name}: {elapsed:?}, {} bytes",
            flood.sent.load(Ordering::Relaxed)
        );
    }
}
