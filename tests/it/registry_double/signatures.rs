//! SHA256SUMS and their signatures.

use pgp::composed::{Deserializable as _, DetachedSignature, SignedPublicKey};
use pgp::types::KeyDetails as _;
use serde_json::json;

use super::{DOWNLOAD, Pair, SIGNATURE, SUMS};
use crate::registry::{Evidence, TestKey, sha256_hex};

#[test]
fn signatures_fit_their_keys() {
    for (with, key) in [
        ("main", TestKey::Main),
        ("stranger", TestKey::Stranger),
        ("expired", TestKey::Expired),
        ("sigexpired", TestKey::Main),
        ("sigfuture", TestKey::Main),
        ("armored", TestKey::Main),
    ] {
        let pair = Pair::start();
        pair.registry
            .reset(&json!({ "sign_with": with, "sums": ["manifest"] }));
        let bytes = pair.get(SIGNATURE).bytes();
        let signature = match with {
            "armored" => DetachedSignature::from_armor_single(&*bytes).unwrap().0,
            _ => DetachedSignature::from_bytes(&*bytes).unwrap(),
        };
        let (public, _) = SignedPublicKey::from_string(&key.public()).unwrap();
        let sums = pair.get(SUMS).bytes();
        signature.verify(&public, &sums).unwrap();
        assert!(signature.verify(&public, b"other").is_err(), "{with}");
        let created = signature.signature.created().unwrap().as_secs();
        let now = pgp::types::Timestamp::now().as_secs();
        assert_eq!(created > now, with == "sigfuture", "{with}");
        let expires = signature.signature.signature_expiration_time();
        assert_eq!(
            expires.map(|time| time.as_secs()),
            (with == "sigexpired").then_some(1)
        );
        assert_eq!(key.id(), public.legacy_key_id().to_string().to_uppercase());
    }
    assert!(SignedPublicKey::from_string(&TestKey::Garbage.public()).is_err());
}

#[test]
fn signatures_can_be_wrong() {
    let (main, _) = SignedPublicKey::from_string(&TestKey::Main.public()).unwrap();
    for action in [
        "bad_signature",
        "other_key",
        "garbage_signature",
        "missing_signature",
    ] {
        let pair = Pair::with_rule(json!({"kind": "signature", "action": action}));
        let got = pair.get(SIGNATURE);
        let found = DetachedSignature::from_bytes(&*got.body.unwrap());
        assert_eq!(got.status == 404, action == "missing_signature");
        assert_eq!(
            found.is_ok(),
            ["bad_signature", "other_key"].contains(&action),
            "{action}"
        );
        if let Ok(signature) = found {
            assert!(
                signature.verify(&main, &pair.get(SUMS).bytes()).is_err(),
                "{action}"
            );
        }
    }
}

#[test]
fn false_sums_can_be_properly_signed() {
    let pair = Pair::start();
    let good = pair.get(SUMS).bytes();
    let rule = |kind| json!({"kind": kind, "action": "wrong_checksum", "only": "darwin"});
    pair.registry
        .reset(&json!({ "rules": [rule("shasums"), rule("signature")] }));
    let (sums, signature) = (pair.get(SUMS).bytes(), pair.get(SIGNATURE).bytes());
    let line = good.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let lie = [sha256_hex(line).as_bytes(), &line[64..]].concat();
    assert_eq!(sums, [&lie, &good[line.len()..]].concat());
    let (main, _) = SignedPublicKey::from_string(&TestKey::Main.public()).unwrap();
    let signature = DetachedSignature::from_bytes(&*signature).unwrap();
    signature.verify(&main, &sums).unwrap();
    pair.registry
        .replace_sums("acme/tool", "1.0.0", b"what a test wants\n");
    assert_eq!(pair.get(SUMS).bytes(), b"what a test wants\n");
}

#[test]
fn sums_are_edited_before_they_are_signed() {
    let pair = Pair::start();
    let edited = |edits: &[&str]| {
        pair.registry.reset(&json!({ "sums": edits }));
        String::from_utf8(pair.get(SUMS).bytes()).unwrap()
    };
    let good = edited(&[]);
    let (first, second) = good.split_once('\n').unwrap();
    let false_line = format!("{}{}", sha256_hex(first), &first[64..]);
    assert_eq!(edited(&["blank"]), format!("{good}\n"));
    assert_eq!(edited(&["blank_inside"]), format!("{first}\n\n{second}"));
    assert_eq!(
        edited(&["comment"]),
        format!("# checksums of the release\n{good}")
    );
    assert_eq!(edited(&["junk", "no:linux"]), format!("{first}\njunk\n"));
    assert_eq!(edited(&["crlf"]), good.replace('\n', "\r\n"));
    assert_eq!(edited(&["binary"]), good.replace("  ", " *"));
    assert_eq!(edited(&["no_newline"]), good.trim_end());
    assert_eq!(edited(&["double:darwin"]), format!("{false_line}\n{good}"));
    assert!(edited(&["upper"]).starts_with(&first[..64].to_uppercase()));
    assert!(edited(&["manifest"]).ends_with("_manifest.json\n"));
}

#[test]
fn evidence_can_be_told() {
    let pair = Pair::start();
    let evidence = Evidence {
        sums: b"any sums".to_vec(),
        signature: b"any signature".to_vec(),
        keys: vec!["first".to_owned(), "second".to_owned()],
    };
    pair.registry
        .replace_evidence("acme/tool", "1.0.0", evidence);
    pair.registry
        .reset(&json!({ "sums": ["manifest"], "no_keys": true }));
    assert_eq!(pair.get(SUMS).bytes(), b"any sums");
    assert_eq!(pair.get(SIGNATURE).bytes(), b"any signature");
    let document: serde_json::Value = serde_json::from_slice(&pair.get(DOWNLOAD).bytes()).unwrap();
    let keys = &document["signing_keys"]["gpg_public_keys"];
    let armor = |at: usize| keys[at]["ascii_armor"].clone();
    assert_eq!([armor(0), armor(1)], ["first", "second"]);
}
