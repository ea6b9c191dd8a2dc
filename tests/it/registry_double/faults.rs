//! Faults, each of them what its name says.

use std::io::{self, Cursor, Read as _};

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use reqwest::Method;
use serde_json::{Value, json};

use super::{DOWNLOAD, Got, PACKAGE, Pair, SUMS, VERSIONS, ZIP};
use crate::registry::{Origin, false_hash, sha256_hex};
use crate::zips::{Entry, Zip};

#[test]
fn rules_count_what_they_hit() {
    let pair = Pair::with_rule(
        json!({"kind": "versions", "action": "503", "skip": 1, "times": 2,
        "method": "GET", "path": "acme", "retry_after": 7}),
    );
    pair.send(Method::HEAD, &pair.url(VERSIONS), &[]).unwrap();
    let answers: Vec<Got> = (0..4).map(|_| pair.get(VERSIONS)).collect();
    let statuses = answers.iter().map(|got| got.status.as_u16());
    assert!(statuses.eq([200, 503, 503, 200]));
    assert_eq!(answers[1].header("retry-after"), "7");
}

#[test]
fn an_answer_can_be_another() {
    let pair = Pair::with_rule(json!({"action": "status", "status": 418}));
    assert_eq!(pair.get(SUMS).status.as_u16(), 418);
    let pair = Pair::with_rule(json!({"kind": "versions", "action": "html"}));
    assert_eq!(pair.get(VERSIONS).header("content-type"), "text/html");
    let pair = Pair::with_rule(json!({"kind": "versions", "action": "bad_json"}));
    assert!(serde_json::from_slice::<Value>(&pair.get(VERSIONS).bytes()).is_err());
    let pair = Pair::with_rule(
        json!({"kind": ["versions"], "action": "answer", "status": 302,
        "text": "moved", "headers": {"Location": "{url}{path}?x"}}),
    );
    let got = pair.get(VERSIONS);
    assert_eq!(got.header("location"), pair.url(&format!("{VERSIONS}?x")));
    assert_eq!(got.body.unwrap(), b"moved");
}

#[test]
fn documents_can_be_patched() {
    let pair = Pair::with_rule(
        json!({"kind": "download", "action": "patch", "ctype": "text/x", "set": {
        "os": "plan9", "shasum": null, "protocols/+": "9.0", "protocols/0": null, "a/b": 1}}),
    );
    let got = pair.get(DOWNLOAD);
    assert_eq!(got.header("content-type"), "text/x");
    let document: Value = serde_json::from_slice(&got.bytes()).unwrap();
    assert_eq!(
        (&document["os"], &document["shasum"]),
        (&json!("plan9"), &Value::Null)
    );
    assert_eq!(document["protocols"], json!(["6.0", "9.0"]));
    assert_eq!(document["a"]["b"], 1);
}

#[test]
fn download_documents_can_lie() {
    let with = |action| {
        let pair = Pair::with_rule(json!({"kind": "download", "action": action}));
        pair.json(DOWNLOAD)
    };
    let lie = sha256_hex(sha256_hex(ZIP));
    assert_eq!(with("wrong_checksum")["shasum"], lie);
    assert_eq!(with("wrong_platform")["arch"], "mips");
    assert_eq!(
        with("no_keys")["signing_keys"]["gpg_public_keys"],
        json!([])
    );
    assert!(
        with("missing_signature")
            .get("shasums_signature_url")
            .is_none()
    );
}

#[test]
fn packages_of_all_platforms_can_be_listed() {
    let pair = Pair::start();
    let zip = Zip::of([Entry::file("README.md", "text")]).bytes();
    for platform in ["linux_amd64", "linux_arm64"] {
        pair.registry.add_zip("acme/real", "1.0.0", platform, &zip);
    }
    let listed = |action: &str| {
        let rule = json!({"kind": "download", "action": action, "only": "linux_arm64 h1:"});
        let rules = if action.is_empty() {
            json!([])
        } else {
            json!([rule])
        };
        pair.registry
            .reset(&json!({ "packages": true, "rules": rules }));
        pair.json(&DOWNLOAD.replace("tool", "real"))["packages"].clone()
    };
    let good = listed("");
    let h1 = hash_zip(Cursor::new(&zip), &Limits::PACKAGE)
        .unwrap()
        .h1
        .to_string();
    let hashes = json!([format!("zh:{}", sha256_hex(&zip)), h1]);
    assert_eq!(
        good["linux_amd64"],
        json!({"hashes": hashes, "package_size": zip.len()})
    );
    let wrong = listed("wrong_packages");
    assert_eq!(wrong["linux_amd64"], good["linux_amd64"]);
    assert_eq!(
        wrong["linux_arm64"]["hashes"],
        json!([hashes[0], false_hash(&h1)])
    );
    let size = &listed("wrong_size")["linux_amd64"]["package_size"];
    assert_eq!(*size, zip.len() + 1);
    assert!(listed("missing_package").get("linux_amd64").is_none());
}

#[test]
fn connections_end_as_told() {
    for (action, kind) in [
        ("reset", Some(io::ErrorKind::ConnectionReset)),
        ("close", None),
    ] {
        let pair = Pair::with_rule(json!({"kind": "package", "action": action, "times": -1}));
        let mut answer = Vec::new();
        let end = pair.send_raw(PACKAGE).read_to_end(&mut answer);
        assert_eq!(end.err().map(|error| error.kind()), kind, "{action}");
        assert!(answer.is_empty(), "{action}");
        assert!(
            pair.send(Method::GET, &pair.url(PACKAGE), &[]).is_err(),
            "{action}"
        );
        let dropped = format!("GET {} dropped", PACKAGE.replace("/files/", "files:/"));
        assert_eq!(pair.registry.requests()[0], dropped, "{action}");
    }
}

#[test]
fn bodies_break_off_as_told() {
    let pair = Pair::with_rule(json!({"kind": "package", "action": "truncate", "after_bytes": 9}));
    let mut answer = Vec::new();
    pair.send_raw(PACKAGE).read_to_end(&mut answer).unwrap();
    let text = String::from_utf8(answer).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(
        head.to_lowercase()
            .contains(&format!("content-length: {}", ZIP.len()))
    );
    assert_eq!(body.as_bytes(), &ZIP[..9]);
    // What had arrived may be lost with a reset, so only the end is looked at.
    let pair = Pair::with_rule(json!({"kind": "package", "action": "reset_mid"}));
    // Windows may end the connection in order.
    let end = pair.send_raw(PACKAGE).read_to_end(&mut Vec::new());
    if cfg!(unix) {
        assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }
    for action in ["truncate", "reset_mid"] {
        let pair = Pair::with_rule(json!({"kind": "package", "action": action}));
        let got = pair.send(Method::GET, &pair.url(PACKAGE), &[]);
        let whole = got.is_ok_and(|got| got.body.is_some());
        assert!(!whole, "{action} over HTTP/2");
    }
}

#[test]
fn bodies_can_be_wrong_or_slow() {
    let pair = Pair::with_rule(json!({"kind": "package", "action": "flip", "at": 3}));
    let mut wrong = ZIP.to_vec();
    wrong[3] ^= 0xff;
    assert_eq!(pair.get(PACKAGE).bytes(), wrong);
    for action in ["slow", "slowloris"] {
        let pair = Pair::with_rule(json!({"kind": "package", "action": action, "rate": 100_000}));
        assert_eq!(pair.get(PACKAGE).bytes(), ZIP, "{action}");
        assert_eq!(pair.get(PACKAGE).bytes(), ZIP, "behind {action}");
    }
}

#[test]
fn a_stalled_answer_holds_up_nobody_else() {
    let pair = Pair::with_rule(json!({"kind": "versions", "action": "stall", "seconds": 3600}));
    let stalled = pair.send_raw(VERSIONS);
    while pair.registry.entries().is_empty() {
        std::thread::yield_now();
    }
    let mut other = pair.send_raw(PACKAGE);
    other.read_exact(&mut [0; 12]).unwrap();
    assert_eq!(pair.registry.most_in_flight(Origin::Plain), 2);
    assert_eq!(pair.registry.most_in_flight(Origin::Lab), 0);
    // As in recordings, it counts as the answer that would have come.
    assert_eq!(pair.registry.requests()[0], format!("GET {VERSIONS} 200"));
    drop(pair);
    assert!(matches!(stalled.peek(&mut [0]), Ok(0) | Err(_)));
    let pair = Pair::with_rule(json!({"kind": "versions", "action": "stall", "seconds": 0.001}));
    pair.json(VERSIONS);
}
