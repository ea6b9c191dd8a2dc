//! What it serves, and how requests are written down.

use std::io::Read as _;

use reqwest::{Client, Method, StatusCode, Version};
use serde_json::{Value, json};

use super::{DOWNLOAD, PACKAGE, Pair, SUMS, VERSIONS, ZIP};
use crate::registry::{Options, Origin, TestKey, sha256_hex};

#[test]
fn both_versions_of_http_are_spoken() {
    for (http1_only, version, text) in [
        (false, Version::HTTP_2, "HTTP/2.0"),
        (true, Version::HTTP_11, "HTTP/1.1"),
    ] {
        let pair = Pair::start_with(&Options {
            names: vec!["registry.example".to_owned()],
            http1_only,
        });
        assert_eq!(pair.get(VERSIONS).version, version);
        let entry = &pair.registry.entries()[0];
        assert_eq!((entry.protocol.as_str(), entry.origin), (text, Origin::Lab));
        let host = format!("127.0.0.1:{}", pair.registry.port(Origin::Lab));
        assert_eq!(entry.header("host"), Some(host.as_str()));
    }
}

#[test]
fn who_does_not_know_the_authority_asks_nothing() {
    let pair = Pair::start();
    let stranger = Client::builder()
        .tls_certs_only([])
        .no_proxy()
        .build()
        .unwrap();
    let asked = pair
        .runtime
        .block_on(stranger.get(pair.url(VERSIONS)).send());
    assert!(asked.unwrap_err().is_connect());
    assert!(pair.registry.entries().is_empty());
}

#[test]
fn a_package_is_found_from_its_documents() {
    let pair = Pair::start();
    let lab = pair.registry.url(Origin::Lab);
    let discovery = format!("{lab}/.well-known/terraform.json");
    let discovery = pair.send(Method::GET, &discovery, &[]).unwrap().bytes();
    assert_eq!(discovery, br#"{"providers.v1":"/v1/providers/"}"#);
    let versions = pair.json(VERSIONS);
    assert_eq!(versions["versions"][0]["protocols"], json!(["5.0", "6.0"]));
    let platform = json!({"os": "darwin", "arch": "arm64"});
    assert_eq!(versions["versions"][0]["platforms"][1], platform);
    let document = pair.json(DOWNLOAD);
    assert_eq!(document["download_url"], pair.url(PACKAGE));
    assert_eq!(document["shasum"], sha256_hex(ZIP));
    assert_eq!(pair.get(PACKAGE).bytes(), ZIP);
    let sums = String::from_utf8(pair.get(SUMS).bytes()).unwrap();
    let names = sums.lines().map(|line| line.split_once("  ").unwrap().1);
    let wanted = ["darwin_arm64", "linux_amd64"];
    assert!(names.eq(wanted.map(|p| format!("terraform-provider-tool_1.0.0_{p}.zip"))));
    assert!(sums.contains(&sha256_hex(ZIP)));
    let missing = pair.get("/v1/providers/acme/nothing/versions");
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[test]
fn packages_come_in_parts() {
    let pair = Pair::start();
    let part = pair.get_with(PACKAGE, &[("range", "bytes=4-8")]);
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(
        part.header("content-range"),
        format!("bytes 4-8/{}", ZIP.len())
    );
    assert_eq!(part.body.as_deref(), Some(&ZIP[4..9]));
    let etag = part.headers["etag"].to_str().unwrap();
    let rest = [("range", "bytes=-4"), ("if-range", etag)];
    assert_eq!(
        pair.get_with(PACKAGE, &rest).body.unwrap(),
        ZIP[ZIP.len() - 4..]
    );
    let other = [("range", "bytes=4-"), ("if-range", "\"other\"")];
    assert_eq!(pair.get_with(PACKAGE, &other).bytes(), ZIP);
    let behind = pair.get_with(PACKAGE, &[("range", "bytes=1000-")]);
    assert_eq!(behind.status, StatusCode::RANGE_NOT_SATISFIABLE);
    let known = pair.get_with(PACKAGE, &[("if-none-match", etag)]);
    assert_eq!(known.status, StatusCode::NOT_MODIFIED);
    let head = pair.send(Method::HEAD, &pair.url(PACKAGE), &[]).unwrap();
    assert_eq!(head.header("content-length"), ZIP.len().to_string());
    assert_eq!(
        pair.send(Method::POST, &pair.url(PACKAGE), &[])
            .unwrap()
            .status,
        405
    );
    pair.registry.reset(&json!({ "ranges": false }));
    assert_eq!(
        pair.get_with(PACKAGE, &[("range", "bytes=4-8")]).bytes(),
        ZIP
    );
}

#[test]
fn knobs_change_documents() {
    let pair = Pair::start();
    pair.registry.reset(&json!({
        "relative_urls": true, "redirects": 2, "trust_signature": "x",
        "keys": ["stranger", "garbage"],
    }));
    let document = pair.json(DOWNLOAD);
    let hop = PACKAGE.replace("/files/", "/hop/2/");
    assert_eq!(document["download_url"], hop);
    assert_eq!(
        pair.get(&hop).header("location"),
        pair.url(&hop.replace("/2/", "/1/"))
    );
    let last = pair.get(&hop.replace("/2/", "/1/"));
    assert_eq!(
        (last.status, last.header("location")),
        (StatusCode::FOUND, &*pair.url(PACKAGE))
    );
    let keys = &document["signing_keys"]["gpg_public_keys"];
    assert_eq!(keys[0]["key_id"], TestKey::Stranger.id());
    assert_eq!(
        (&keys[0]["trust_signature"], &keys[1]["key_id"]),
        (&json!("x"), &json!(""))
    );
    pair.registry.reset(&json!({ "no_keys": true }));
    assert_eq!(
        pair.json(DOWNLOAD)["signing_keys"]["gpg_public_keys"],
        json!([])
    );
}

#[test]
fn large_documents_are_compressed_on_request() {
    let pair = Pair::start();
    for version in ["1.1.0", "1.2.0"] {
        pair.registry
            .add_zip("acme/tool", version, "linux_amd64", ZIP);
    }
    let plain = pair.get(VERSIONS);
    let wish = [("accept-encoding", "gzip")];
    let packed = pair.get_with(VERSIONS, &wish);
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_ne!(packed.header("etag"), plain.header("etag"));
    let mut text = Vec::new();
    let packed = packed.bytes();
    flate2::read::GzDecoder::new(&*packed)
        .read_to_end(&mut text)
        .unwrap();
    assert_eq!(text, plain.bytes());
    pair.registry.reset(&json!({ "gzip": false }));
    assert!(
        pair.get_with(VERSIONS, &wish)
            .headers
            .get("content-encoding")
            .is_none()
    );
}

#[test]
fn requests_are_listed_as_in_recordings() {
    let pair = Pair::start();
    pair.registry.reset(&json!({ "token": "good" }));
    assert_eq!(pair.get(VERSIONS).status, StatusCode::UNAUTHORIZED);
    let token = [
        ("authorization", "Bearer good"),
        ("x-twice", "a"),
        ("x-twice", "b"),
    ];
    pair.get_with(&format!("{VERSIONS}?hop"), &token).bytes();
    pair.get_with(&format!("{VERSIONS}?other"), &token).bytes();
    pair.send(Method::HEAD, &pair.url(PACKAGE), &[]).unwrap();
    let wanted = [
        &format!("GET {VERSIONS} 401"),
        &format!("GET {VERSIONS} 200 auth=Bearer"),
        &format!("GET other-host{VERSIONS} 200 auth=Bearer"),
        &format!("HEAD {} 200", PACKAGE.replace("/files/", "files:/")),
    ];
    assert!(pair.registry.requests().iter().eq(wanted));
    let second = &pair.registry.entries()[1];
    assert_eq!(second.target, format!("{VERSIONS}?hop"));
    let twice = second.headers.iter().filter(|(name, _)| name == "x-twice");
    assert!(twice.map(|(_, value)| value).eq(["a", "b"]));
    for _ in 0..27 {
        pair.get(VERSIONS);
    }
    let lines = pair.registry.requests();
    assert_eq!((lines.len(), lines[30].as_str()), (31, "(more)"));
    pair.registry.reset(&Value::Null);
    assert!(pair.registry.requests().is_empty());
}
