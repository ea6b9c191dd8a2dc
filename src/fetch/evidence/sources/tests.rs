//! The network side of the sources, on a network that is made up.

use std::io::{Cursor, Read as _, Seek as _, SeekFrom};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::download::{self, Check, Downloaded, PackageRequest};
use super::net::{Ask, Net, Redirects};
use super::{FetchError, FetchFault};
use crate::addr::Url;
use crate::flavor::Flavor;
use crate::hash::sha256;
use crate::world::mem::{MemClock, MemFiles, MemHttp};
use crate::world::{Credentials, Disk as _, HttpError, HttpResponse, Secret};

type Answer = Result<HttpResponse, HttpError>;

/// Answers one request after another, whatever they are.
fn in_turn(answers: Vec<Answer>) -> MemHttp<'static> {
    let answers = Mutex::new(answers.into_iter());
    MemHttp::new(move |_| {
        let mut answers = answers.lock().expect("no panic");
        answers.next().expect("no further request")
    })
}

fn status(status: u16) -> Answer {
    Ok(HttpResponse::of(status, &[], ""))
}

fn redirect(to: &str) -> Answer {
    Ok(HttpResponse::of(302, &[("location", to)], ""))
}

fn body(text: &str) -> Answer {
    Ok(HttpResponse::of(200, &[], text))
}

/// A body that ends in a broken connection.
fn torn(status: u16, headers: &[(&str, &str)], text: &[u8]) -> Answer {
    struct Torn(Cursor<Vec<u8>>);
    impl std::io::Read for Torn {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(broken().into()),
                length => Ok(length),
            }
        }
    }
    let mut response = HttpResponse::of(status, headers, "");
    response.body = Box::new(Torn(Cursor::new(text.to_vec())));
    Ok(response)
}

fn broken() -> HttpError {
    HttpError::Broken {
        reason: "reset".to_owned(),
    }
}

fn net<'a>(http: &'a MemHttp<'_>, clock: &'a MemClock) -> Net<'a> {
    Net::of_doubles(http, clock, Flavor::Terraform1_11)
}

fn url(text: &str) -> Url {
    text.parse().expect("valid")
}

/// Asks for a document, with one repetition and three redirects.
fn document(net: &Net<'_>, place: &str, token: Option<&Credentials>) -> Result<String, FetchError> {
    let ask = Ask {
        url: &url(place),
        headers: &[],
        credentials: token,
        hops: 3,
        limit: 10,
        timeout: Duration::from_secs(1),
        redirects: Redirects::Any,
    };
    let answer = net.document(&ask, net.policy.documents())?;
    let body = String::from_utf8(answer.body).expect("text");
    Ok(format!("{} {body}", answer.status))
}

/// Asks for a document with a token.
fn ask(http: &MemHttp<'_>, clock: &MemClock) -> Result<String, FetchError> {
    let token = Credentials::Bearer(Secret::new("word"));
    document(&net(http, clock), "https://a.example/one", Some(&token))
}

fn sent_token(http: &MemHttp<'_>) -> Vec<(String, bool)> {
    let asked = http.asked().into_iter();
    asked.map(|r| (r.url, r.credentials.is_some())).collect()
}

#[test]
fn a_token_stays_at_its_origin() {
    let rows = [
        ("https://a.example/two", true),
        ("https://a.example:8443/two", false),
        ("https://b.a.example/two", false),
        ("http://a.example/two", false),
        ("//b.example/two", false),
    ];
    for (place, kept) in rows {
        let http = in_turn(vec![redirect(place), body("ok")]);
        ask(&http, &MemClock::default()).expect("an answer");
        let sent: Vec<bool> = sent_token(&http)
            .into_iter()
            .map(|(_, sent)| sent)
            .collect();
        assert_eq!(sent, [true, kept], "redirected to {place}");
    }
}

#[test]
fn a_token_does_not_come_back_from_elsewhere() {
    let elsewhere = redirect("https://b.example/x");
    let back = redirect("https://a.example/y");
    let http = in_turn(vec![elsewhere, back, body("ok")]);
    ask(&http, &MemClock::default()).expect("an answer");
    let sent: Vec<bool> = sent_token(&http)
        .into_iter()
        .map(|(_, sent)| sent)
        .collect();
    assert_eq!(sent, [true, false, false]);
}

#[test]
fn redirects_have_a_limit_and_must_lead_somewhere() {
    let on = || redirect("/next");
    let http = in_turn(vec![on(), on(), on(), body("ok")]);
    assert_eq!(ask(&http, &MemClock::default()).expect("three"), "200 ok");
    let error = ask(&in_turn(vec![on(), on(), on(), on()]), &MemClock::default()).expect_err("4");
    assert!(
        matches!(error.fault, FetchFault::TooManyRedirects { limit: 3 }),
        "{error}"
    );
    for nowhere in [
        status(302),
        redirect("ftp://a.example/"),
        redirect("http://["),
    ] {
        let error = ask(&in_turn(vec![nowhere]), &MemClock::default()).expect_err("nowhere");
        assert!(matches!(error.fault, FetchFault::BadRedirect(_)), "{error}");
    }
}

#[test]
fn what_may_pass_is_asked_once_more() {
    let timeout = || HttpError::Timeout {
        limit: Duration::from_secs(1),
    };
    let refused = || HttpError::Connect {
        reason: "refused".to_owned(),
        proxy: None,
    };
    for once in [
        status(500),
        status(503),
        status(429),
        Err(broken()),
        Err(timeout()),
        Err(refused()),
        torn(200, &[], b"o"),
    ] {
        let clock = MemClock::default();
        let http = in_turn(vec![once, body("ok")]);
        assert_eq!(ask(&http, &clock).expect("at last"), "200 ok");
        assert_eq!(clock.slept(), [Duration::from_secs(1)]);
    }
    let http = in_turn(vec![status(503), Err(refused())]);
    let error = ask(&http, &MemClock::default()).expect_err("twice");
    let text = "https://a.example/one could not be fetched after 2 attempts";
    assert_eq!(error.to_string(), text);
}

#[test]
fn what_stays_is_an_answer_at_once() {
    for stays in [400, 401, 404, 501] {
        let http = in_turn(vec![status(stays)]);
        let answer = ask(&http, &MemClock::default()).expect("an answer");
        assert_eq!(answer, format!("{stays} "));
    }
    let untrusted = HttpError::Certificate {
        reason: "unknown".to_owned(),
    };
    let http = in_turn(vec![Err(untrusted)]);
    ask(&http, &MemClock::default()).expect_err("it would be the same again");
    let http = in_turn(vec![body("more than ten")]);
    let error = ask(&http, &MemClock::default()).expect_err("too much");
    assert!(
        matches!(error.fault, FetchFault::TooLarge { limit: 10 }),
        "{error}"
    );
}

#[test]
fn a_server_that_asks_for_too_much_time_is_not_waited_for() {
    let busy = HttpResponse::of(429, &[("retry-after", "600")], "");
    let clock = MemClock::default();
    let error = ask(&in_turn(vec![Ok(busy)]), &clock).expect_err("too long");
    assert!(clock.slept().is_empty());
    let text = "https://a.example/one answered 429 Too Many Requests, and asks to wait \
                600 s";
    assert_eq!(error.to_string(), text);
}

/// Downloads the package of a provider.
fn download(
    net: &Net<'_>,
    disk: &MemFiles,
    url: &Url,
    check: Check,
) -> Result<Downloaded, FetchError> {
    download::download(
        net,
        &|| disk.scratch(),
        PackageRequest::of_provider(url, check),
    )
}

/// Downloads `PACKAGE` from a server that answers so; returns what arrived and what was asked.
fn fetch(answers: Vec<Answer>) -> (Result<Vec<u8>, FetchError>, Vec<String>) {
    let (http, clock) = (in_turn(answers), MemClock::default());
    let disk = MemFiles::default();
    let place = url("https://a.example/x.zip");
    let done = download(
        &net(&http, &clock),
        &disk,
        &place,
        Check::Digest(sha256(PACKAGE)),
    );
    let arrived = done.map(|mut downloaded| {
        let mut bytes = Vec::new();
        downloaded.file.seek(SeekFrom::Start(0)).expect("in memory");
        downloaded.file.read_to_end(&mut bytes).expect("in memory");
        bytes
    });
    let asked = http.asked().into_iter().map(|request| {
        let headers = request.headers.into_iter();
        let range = headers.filter(|(name, _)| name.contains("range"));
        let range: Vec<String> = range
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        range.join(" ")
    });
    (arrived, asked.collect())
}

const PACKAGE: &[u8] = b"0123456789";
const TAGGED: [(&str, &str); 2] = [("accept-ranges", "bytes"), ("etag", "\"1\"")];
const REST: [(&str, &str); 2] = [("content-range", "bytes 4-9/10"), ("etag", "\"1\"")];

#[test]
fn a_package_starts_over_where_the_server_sends_no_pieces() {
    let whole = || Ok(HttpResponse::of(200, &[], PACKAGE));
    let (arrived, asked) = fetch(vec![torn(200, &[], &PACKAGE[..4]), whole()]);
    assert_eq!(
        (arrived.expect("whole").as_slice(), asked.join(",")),
        (PACKAGE, ",".to_owned())
    );

    // The package changed meanwhile, so the server sends all of it.
    let (arrived, _) = fetch(vec![torn(200, &TAGGED, b"abcd"), whole()]);
    assert_eq!(arrived.expect("whole"), PACKAGE);

    // Another piece than was asked for.
    let other = HttpResponse::of(206, &[("content-range", "bytes 2-9/10")], &PACKAGE[2..]);
    let (arrived, asked) = fetch(vec![torn(200, &TAGGED, &PACKAGE[..4]), Ok(other), whole()]);
    assert_eq!(arrived.expect("whole"), PACKAGE);
    assert_eq!(asked.last().map(String::as_str), Some(""));

    // Pieces of two packages.
    let rest = Ok(HttpResponse::of(206, &REST, &PACKAGE[4..]));
    let (arrived, asked) = fetch(vec![torn(200, &TAGGED, b"abcd"), rest, whole()]);
    assert_eq!(arrived.expect("whole"), PACKAGE);
    assert_eq!(asked.len(), 3);
}

#[test]
fn a_package_is_given_up_in_the_end() {
    let (arrived, asked) = fetch(vec![status(503), Err(broken()), torn(200, &[], b"0")]);
    let error = arrived.map(drop).expect_err("three times");
    assert_eq!(
        error.to_string(),
        "https://a.example/x.zip could not be fetched after 3 attempts"
    );
    assert_eq!(asked.len(), 3);
    let (arrived, asked) = fetch(vec![status(404)]);
    let error = arrived.map(drop).expect_err("refused");
    assert_eq!((error.status(), error.attempts), (Some(404), 1));
    assert_eq!(asked.len(), 1);
}

#[test]
fn progress_renews_patience() {
    const PIECE: usize = 1024 * 1024;
    let package: Vec<u8> = (0..PIECE * 6).map(|n| (n % 251) as u8).collect();
    let served = package.clone();
    let http = MemHttp::new(move |request| {
        let range = request.headers.iter().find(|(name, _)| *name == "range");
        let from = range.map_or(0, |(_, value)| {
            let digits = value.trim_start_matches("bytes=").trim_end_matches('-');
            digits.parse().expect("a number")
        });
        let range = format!("bytes {from}-{}/{}", served.len() - 1, served.len());
        let headers = [TAGGED[0], TAGGED[1], ("content-range", &*range)];
        let status = if from == 0 { 200 } else { 206 };
        torn(
            status,
            &headers,
            &served[from..served.len().min(from + PIECE)],
        )
    });
    let clock = MemClock::default();
    let place = url("https://a.example/x.zip");
    let done = download(
        &net(&http, &clock),
        &MemFiles::default(),
        &place,
        Check::Stated,
    );
    // Each piece is progress, so only the last one, after which nothing comes, uses up the patience.
    assert!(done.is_err());
    assert_eq!(http.asked().len(), 6 + 2);
    assert!(clock.slept().iter().take(5).all(|wait| wait.as_secs() == 1));
}

#[test]
fn pieces_of_two_packages_are_fetched_once_more_and_no_oftener() {
    let rest = || Ok(HttpResponse::of(206, &REST, &b"ABCDEF"[..]));
    let first = || torn(200, &TAGGED, &PACKAGE[..4]);
    let (arrived, asked) = fetch(vec![first(), rest(), first(), rest()]);
    assert_eq!(arrived.expect("whole, but wrong"), b"0123ABCDEF");
    assert_eq!(asked.len(), 4);
}

#[test]
fn a_server_that_always_starts_over_is_given_up() {
    const PIECE: usize = 1024 * 1024;
    let calls = AtomicUsize::new(0);
    let http = MemHttp::new(|_| {
        let pieces = calls.fetch_add(1, Ordering::Relaxed) + 1;
        torn(200, &TAGGED, &vec![0; pieces * PIECE])
    });
    let clock = MemClock::default();
    let place = url("https://a.example/x.zip");
    let done = download(
        &net(&http, &clock),
        &MemFiles::default(),
        &place,
        Check::Stated,
    );
    assert!(done.is_err());
    assert_eq!(http.asked().len(), 3);
}

#[test]
fn a_package_of_which_nothing_is_known_is_never_fetched_over_plain_http() {
    let fetch = |check| {
        let plain = "http://b.example/x.zip";
        let moved = HttpResponse::of(302, &[("location", plain)], "");
        let http = in_turn(vec![Ok(moved), body("0123456789")]);
        let (clock, disk) = (MemClock::default(), MemFiles::default());
        let done = download(
            &net(&http, &clock),
            &disk,
            &url("https://a.example/x"),
            check,
        );
        (done.map(|_| ()), http.asked().len())
    };
    let (done, asked) = fetch(Check::Server);
    let error = done.map(drop).expect_err("plain http");
    assert_eq!(error.fault, FetchFault::Unencrypted);
    assert_eq!(asked, 1);
    let (done, asked) = fetch(Check::Stated);
    assert!(done.is_ok(), "{done:?}");
    assert_eq!(asked, 2);
}

#[test]
fn a_package_that_is_announced_too_long_is_not_fetched() {
    let length = [("content-length", "99999999999999")];
    let (arrived, _) = fetch(vec![Ok(HttpResponse::of(200, &length, ""))]);
    let error = arrived.map(drop).expect_err("too large");
    assert!(matches!(error.fault, FetchFault::TooLarge { .. }));
}

#[test]
fn a_package_that_begins_late_is_waited_for() {
    struct Late<'a>(&'a MemClock, Cursor<&'static [u8]>);
    impl std::io::Read for Late<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            use crate::world::Clock as _;
            if self.1.position() == 0 {
                self.0.sleep(Duration::from_secs(100));
            }
            self.1.read(buffer)
        }
    }
    static CLOCK: std::sync::LazyLock<MemClock> = std::sync::LazyLock::new(MemClock::default);
    let limits = Mutex::new(Vec::new());
    let http = MemHttp::new(|request| {
        let own = (request.first_byte.as_secs(), request.idle.as_secs());
        limits.lock().expect("no panic").push(own);
        let mut response = HttpResponse::of(200, &[], "");
        response.body = Box::new(Late(&CLOCK, Cursor::new(PACKAGE)));
        Ok(response)
    });
    let place = url("https://a.example/x.zip");
    let done = download(
        &net(&http, &CLOCK),
        &MemFiles::default(),
        &place,
        Check::Stated,
    );
    assert!(done.is_ok(), "{:?}", done.err());
    assert_eq!(*limits.lock().expect("no panic"), [(120, 30)]);
}

#[test]
fn a_trickle_is_given_up() {
    struct Trickle<'a>(&'a MemClock);
    impl std::io::Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            use crate::world::Clock as _;
            self.0.sleep(Duration::from_secs(1));
            buffer[0] = 0;
            Ok(1)
        }
    }
    static CLOCK: std::sync::LazyLock<MemClock> = std::sync::LazyLock::new(MemClock::default);
    let http = MemHttp::new(|_| {
        let mut response = HttpResponse::of(200, &[], "");
        response.body = Box::new(Trickle(&CLOCK));
        Ok(response)
    });
    let place = url("https://a.example/x.zip");
    let done = download(
        &net(&http, &CLOCK),
        &MemFiles::default(),
        &place,
        Check::Stated,
    );
    let error = done.map(drop).expect_err("too slow");
    assert!(matches!(error.fault, FetchFault::TooSlow { .. }));
    assert_eq!(http.asked().len(), 3);
}

/// Asks for a document of each host in turn, in one run; returns the ends of the messages.
fn ask_in_one_run(http: &MemHttp<'_>, clock: &MemClock, places: &[&str]) -> Vec<String> {
    let net = net(http, clock);
    let answers = places.iter().map(|place| {
        let answer = document(&net, place, None);
        answer.unwrap_or_else(|error| error.to_string())
    });
    answers.collect()
}

fn hangs() -> Answer {
    let limit = Duration::from_secs(1);
    Err(HttpError::Timeout { limit })
}

#[test]
fn a_host_behind_a_redirect_is_given_up_and_not_the_one_before() {
    let http = MemHttp::new(|request| match request.url.secret_text() {
        "https://a.example/fine" => body("ok"),
        text if text.starts_with("https://a.example/") => redirect("https://hangs.example/x"),
        _ => hangs(),
    });
    let clock = MemClock::default();
    let places = [
        "https://a.example/1",
        "https://a.example/2",
        "https://a.example/fine",
    ];
    let said = ask_in_one_run(&http, &clock, &places);
    assert!(
        said[1].starts_with("https://hangs.example/x was not requested"),
        "{said:?}"
    );
    assert_eq!(said[2], "200 ok");
    let asked = sent_token(&http).into_iter();
    let hung = asked.filter(|(url, _)| url.starts_with("https://hangs.example/"));
    assert_eq!(hung.count(), 2);
}

#[test]
fn what_is_not_needed_gives_no_host_up() {
    let http = in_turn(vec![status(500), body("ok")]);
    let clock = MemClock::default();
    let net = net(&http, &clock);
    let place = url("https://a.example/extra");
    let ask = Ask {
        url: &place,
        headers: &[],
        credentials: None,
        hops: 3,
        limit: 10,
        timeout: Duration::from_secs(1),
        redirects: Redirects::Any,
    };
    assert!(net.optional_document(&ask).is_err());
    let needed = document(&net, "https://a.example/needed", None);
    assert_eq!(needed.as_deref(), Ok("200 ok"));
    assert!(clock.slept().is_empty());
}
