//! Answers that are not as they should be, each by a number.

use std::io::Write as _;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;

use super::answer::Answer;
use super::delivery::{Delivery, Ending};
use crate::seed::Seed;

/// Length of an answer that is longer than any document may be, in bytes.
const OVERSIZED: usize = 72 << 20;

/// A pause that is longer than any time limit of a test, in seconds.
const STALL: f64 = 600.0;

/// Places where no redirect of a registry may lead a request, or where it never ends. `{self}` is the request itself.
const TARGETS: &[&str] = &[
    "{self}",
    "{self}?again",
    "file:///etc/passwd",
    "file:main.tf",
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fe80::1]/",
    "https://[::ffff:169.254.169.254]/",
    "http://localhost/",
    "//evil.test/x",
    "https://user:secret@evil.test/",
    "data:application/json,{}",
    "javascript:alert(1)",
    "gopher://evil.test/1",
    "https://",
    "",
    "\t",
    "..",
    "https://evil.test:99999/",
];

const TYPES: &[&str] = &[
    "text/html",
    "application/json; charset=utf-16",
    "application/json;charset=\"",
    "application/JSON",
    "application/octet-stream",
    "application/zip",
    "multipart/mixed; boundary=x",
    "",
];

const STATUS: &[u16] = &[
    201, 203, 204, 205, 206, 226, 300, 301, 302, 303, 304, 305, 307, 308, 400, 401, 402, 403, 404,
    406, 407, 408, 410, 413, 418, 421, 425, 426, 429, 431, 451, 500, 501, 502, 503, 504, 511, 599,
    999,
];

/// Bytes that mean something to a parser or a terminal.
const PIECES: &[&[u8]] = &[
    b"\0",
    b"\x1b[2J",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xc2\xad",
    b"\"",
    b"\\ud800",
    b"\\u0000",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"\n::error::pwned\n",
    b"../../../../etc/passwd",
    b"1.0.0",
    b"99999999999999999999.0.0",
    b"1.1.0-beta+x",
    b"linux",
    b"\r\n",
];

/// A rule by which some of the next answers are changed.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    seed: Seed,
    /// Number of answers that are as they should be, before the first that is not.
    skip: usize,
    /// Number of answers that are not.
    times: usize,
}

impl Mutation {
    pub(crate) fn new(number: u64) -> Self {
        let mut seed = Seed::new(number);
        Self {
            skip: seed.below(8),
            times: *seed.pick(&[1, 1, 2, usize::MAX]),
            seed,
        }
    }

    /// Changes an answer to a request for a URL, or leaves it alone.
    pub(super) fn apply(&mut self, url: &str, answer: &mut Answer) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if self.times > 0 {
            self.times -= 1;
            self.change(url, answer);
        }
    }

    fn change(&mut self, url: &str, answer: &mut Answer) {
        let seed = &mut self.seed;
        let size = answer.body.len();
        match seed.below(16) {
            0 => {
                let ending = *seed.pick(&[Ending::Reset, Ending::Close]);
                answer.delivery.cut = Some((seed.below(size + 1), ending));
            }
            1 => answer.delivery.instead = Some(*seed.pick(&[Ending::Reset, Ending::Close])),
            2 => {
                let slow = Some(50 + seed.below(5000) as u64);
                answer.delivery = match seed.below(2) {
                    0 => Delivery {
                        rate: slow,
                        ..Delivery::default()
                    },
                    _ => Delivery {
                        trickle: slow,
                        ..Delivery::default()
                    },
                };
            }
            3 => answer.delivery.wait = Some(std::time::Duration::from_secs_f64(STALL)),
            4 => answer.body = answer.body.repeat(2 + seed.below(3)).into(),
            5 => answer.body = oversized(&answer.body, seed.below(2) == 0),
            6 => set(answer, "Content-Type", seed.pick::<&str>(TYPES)),
            7 => recode(answer, seed),
            8 | 9 => {
                answer.status = *seed.pick(&[301, 302, 303, 307, 308]);
                let target = seed.pick(TARGETS).replace("{self}", url);
                set(answer, "Location", &target);
            }
            10 => {
                for number in 0..*seed.pick(&[90, 150, 5000]) {
                    answer.headers.push((format!("X-{number}"), "x".repeat(40)));
                }
            }
            11 => set(
                answer,
                "X-Long",
                &"x".repeat(*seed.pick(&[10_000, 100_000, 500_000])),
            ),
            12 => {
                answer.status = *seed.pick(STATUS);
                set(
                    answer,
                    "Retry-After",
                    seed.pick::<&str>(&["99999999999", "-1", "x", "0"]),
                );
            }
            13 => match seed.below(3) {
                0 => {
                    set(answer, "Content-Encoding", "gzip");
                    answer.body = bomb();
                }
                1 => set(
                    answer,
                    "Content-Encoding",
                    seed.pick::<&str>(&["gzip", "br", "x", "gzip, gzip"]),
                ),
                _ => set(answer, "Content-Range", "bytes 5-4/3"),
            },
            14 => answer.body = Bytes::new(),
            _ => {
                for _ in 0..1 + seed.below(3) {
                    answer.body = edited(&answer.body, seed);
                }
            }
        }
    }
}

fn set(answer: &mut Answer, name: &str, value: &str) {
    answer.headers.retain(|(known, _)| known != name);
    answer.headers.push((name.to_owned(), value.to_owned()));
}

/// A body and much more behind it, or before it.
fn oversized(body: &Bytes, is_behind: bool) -> Bytes {
    let filling = vec![b' '; OVERSIZED];
    match is_behind {
        true => [body, &*filling].concat().into(),
        false => [&*filling, body].concat().into(),
    }
}

/// Some hundred kilobytes of which a reader makes hundreds of megabytes.
fn bomb() -> Bytes {
    static MADE: OnceLock<Bytes> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let zeros = vec![b' '; 1 << 20];
        for _ in 0..256 {
            encoder.write_all(&zeros).unwrap();
        }
        encoder.finish().unwrap().into()
    });
    made.clone()
}

fn recode(answer: &mut Answer, seed: &mut Seed) {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    answer.body = match seed.below(3) {
        0 => text
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
        1 => [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat(),
        _ => text
            .replace('e', "\u{e9}")
            .chars()
            .map(|c| c as u8)
            .collect(),
    }
    .into();
}

fn edited(body: &Bytes, seed: &mut Seed) -> Bytes {
    let mut bytes = body.to_vec();
    let at = seed.below(bytes.len() + 1);
    let end = (at + 1 + seed.below(20)).min(bytes.len());
    match seed.below(5) {
        0 if at < bytes.len() => bytes[at] ^= 1 << seed.below(8),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        3 => {
            bytes.splice(at..end, seed.pick(PIECES).iter().copied());
        }
        _ => {
            bytes.splice(at..at, seed.pick(PIECES).iter().copied());
        }
    }
    bytes.into()
}
