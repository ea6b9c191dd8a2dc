//! Evidence of every kind, and what becomes of it. What is expected was compared with the library of
//! the programs itself, in the releases of Terraform 1.11 and `OpenTofu` 1.12; where it differs on
//! purpose, `lockctl explain differences` says so.

mod partners;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::keyring::Keyring;
use super::*;

/// What good evidence proves.
#[derive(Debug, PartialEq)]
struct Authenticated {
    hashes: Hashes,
    signer: Signer,
    made: SystemTime,
}

/// Judges both halves of the evidence, in the order of the programs.
fn authenticate(
    evidence: &Evidence,
    rules: &Rules,
    now: SystemTime,
) -> Result<Authenticated, AuthError> {
    let hashes = listed(evidence)?.hashes().clone();
    let GoodSignature { signer, made } = signature(evidence, rules, now)?;
    Ok(Authenticated {
        hashes,
        signer,
        made,
    })
}

const SUMS: &[u8] = include_bytes!("../../../../../fixtures/keys/kinds/SHA256SUMS");
const ZIP: &str = "terraform-provider-tool_1.0.0_linux_amd64.zip";

const YEAR_2017: u64 = 1_500_000_000;
const JANUARY_2021: u64 = 1_610_000_000;
const MARCH_2021: u64 = 1_614_556_800;
/// When the release of HashiCorp among the fixtures was signed.
const HASHICORP_SIGNED: u64 = 1_619_111_814;
const YEAR_2024: u64 = 1_704_067_200;
const YEAR_2026: u64 = 1_767_225_600;

const TERRAFORM: Rules = Rules {
    flavor: Flavor::Terraform1_11,
    enforced: Enforcement::NONE,
};
const OPENTOFU: Rules = Rules {
    flavor: Flavor::OpenTofu1_12,
    enforced: Enforcement::NONE,
};
const STRICT_OPENTOFU: Rules = Rules {
    flavor: Flavor::OpenTofu1_12,
    enforced: Enforcement {
        expiration: true,
        ..Enforcement::NONE
    },
};

#[allow(clippy::disallowed_methods, reason = "fixtures lie in files")]
fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/keys/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn armored(name: &str) -> String {
    String::from_utf8(fixture(&format!("{name}.asc"))).expect("armor is text")
}

fn key(name: &str) -> SigningKey {
    SigningKey {
        ascii_armor: armored(&format!("kinds/{name}")),
        trust_signature: String::new(),
    }
}

/// Makes evidence with the document of the test keys.
fn evidence(signature: &[u8], keys: Vec<SigningKey>) -> Evidence {
    let sums = ChecksumList::parse(SUMS);
    Evidence {
        filename: ZIP.to_owned(),
        shasum: sums.digest_of(ZIP).expect("the file is listed"),
        shasum_text: String::new(),
        sums: sums.into(),
        sums_changed: None,
        signature: signature.into(),
        keys,
    }
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Spells an outcome in one line, with `ID` for each key ID.
fn spelled(outcome: Result<Authenticated, AuthError>) -> String {
    let text = match outcome {
        Err(error) => format!("refused: {error}"),
        Ok(good) => {
            let mut text = good.signer.to_string();
            for remark in &good.signer.remarks {
                text += &format!("; {remark}");
            }
            text
        }
    };
    let is_id = |word: &str| word.len() == 16 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let mut words = Vec::new();
    for word in text.split(' ') {
        let core = word.trim_end_matches([',', ';', ':']);
        words.push(if is_id(core) {
            word.replace(core, "ID")
        } else {
            word.to_owned()
        });
    }
    words.join(" ")
}

#[track_caller]
fn check(signature: &str, keys: &[&str], rules: &Rules, now: u64, expected: &str) {
    let keys_of = keys.iter().map(|name| key(name)).collect();
    let evidence = evidence(&fixture(&format!("kinds/{signature}.sig")), keys_of);
    let outcome = authenticate(&evidence, rules, at(now));
    assert_eq!(
        spelled(outcome),
        expected,
        "{signature} by {keys:?} for {rules:?}"
    );
}

/// Checks that either program gives the same answer; `self-signed` means the word of either.
#[track_caller]
fn check_both(signature: &str, keys: &[&str], expected: &str) {
    check(signature, keys, &TERRAFORM, YEAR_2024, expected);
    let for_opentofu = expected.replace("self-signed", "signed");
    check(signature, keys, &OPENTOFU, YEAR_2024, &for_opentofu);
}

const GOOD: &str = "self-signed, key ID ID";

#[test]
fn every_kind_of_mathematics_is_known() {
    for kind in [
        "rsa1024", "rsa2048", "rsa4096", "dsa2048", "ed25519", "nistp256", "nistp521",
    ] {
        check_both(kind, &[kind], GOOD);
    }
}

/// The programs support these curves. The crate does not know Brainpool, and verifies one of the two forms of
/// signatures on secp256k1 (rules 5.2). No provider with one is known.
#[test]
fn some_curves_are_not_known() {
    for kind in ["brainpoolP256r1", "secp256k1"] {
        check_both(
            kind,
            &[kind],
            "refused: signing key 1 is not readable: it holds no complete key of a known kind",
        );
    }
}

#[test]
fn odd_but_good_signatures_count() {
    for signature in ["sha512-signature", "text-signature", "notation-signature"] {
        check_both(signature, &["rsa2048"], GOOD);
    }
    let weak = "self-signed, key ID ID; the signature is over a SHA1 digest";
    check_both("dsa1024", &["dsa1024"], weak);
    check_both("sha1-signature", &["rsa2048"], weak);
    check_both("two-signatures", &["rsa2048"], GOOD);
    check_both("two-signatures", &["ed25519"], GOOD);
}

#[test]
fn odd_but_good_keys_count() {
    for kind in ["sha1-self", "renewed", "subkey", "certified"] {
        check_both(kind, &[kind], GOOD);
    }
}

/// The fingerprints are those that GnuPG prints.
#[test]
fn keys_are_told_by_their_fingerprints() {
    let subkey = "5F4D34EDC0EF37A7DD2B55E0D9AF90829FF89CCD";
    for (kind, fingerprint, subkey) in [
        ("rsa2048", "CF7CA3A6B5C78B2F01B9209EC241F25622AD39FE", None),
        (
            "subkey",
            "7D337122B29BC87074BF44647E4593831F3C387B",
            Some(subkey),
        ),
    ] {
        let bytes = fixture(&format!("kinds/{kind}.sig"));
        let evidence = evidence(&bytes, vec![key(kind)]);
        let good = signature(&evidence, &TERRAFORM, at(YEAR_2024));
        let signer = good.expect("a good signature").signer;
        assert_eq!(signer.key.fingerprint, fingerprint);
        assert_eq!(signer.key.subkey.as_deref(), subkey);
    }
}

#[test]
fn bad_signatures_are_refused() {
    check_both(
        "other-document",
        &["rsa2048"],
        "refused: the signature does not match the document, although it names key ID",
    );
    check_both(
        "armored-signature",
        &["rsa2048"],
        "refused: the signature is not readable: it has ASCII armor, which neither Terraform nor \
         OpenTofu reads",
    );
    check_both(
        "ripemd-signature",
        &["rsa2048"],
        "refused: the document has no signature of a known kind, but the registry names ID",
    );
    check_both(
        "condition-signature",
        &["rsa2048"],
        "refused: a signature of key ID depends on an unknown condition, \"must@lockctl.test\"",
    );
}

#[test]
fn a_key_that_did_not_sign_is_passed_over() {
    check_both("rsa2048", &["ed25519", "rsa2048"], GOOD);
    check_both(
        "rsa2048",
        &["ed25519", "dsa2048"],
        "refused: the document is signed by key ID, but the registry names ID, ID",
    );
}

/// The first key that the signature names decides.
#[test]
fn a_bad_signature_is_not_made_good_by_a_later_key() {
    check_both(
        "other-document",
        &["rsa2048", "ed25519"],
        "refused: the signature does not match the document, although it names key ID",
    );
}

#[test]
fn revoked_keys_are_refused() {
    check_both("revoked", &["revoked"], "refused: key ID is revoked");
    let (signature, keys) = ("revoked-subkey", &["revoked-subkey"]);
    check(signature, keys, &TERRAFORM, YEAR_2024, GOOD);
    let revoked = "refused: key ID is revoked";
    check(signature, keys, &TERRAFORM, YEAR_2026, revoked);
    check(signature, keys, &OPENTOFU, YEAR_2026, revoked);
}

#[test]
fn an_expired_key_is_good_enough_unless_one_insists() {
    for kind in ["expired", "expired-subkey"] {
        let good = "self-signed, key ID ID; the key has expired";
        check(kind, &[kind], &TERRAFORM, YEAR_2024, good);
        let good = "signed, key ID ID; the key has expired";
        check(kind, &[kind], &OPENTOFU, YEAR_2024, good);
        let refused = "refused: the signature by key ID is not valid now: the key has expired";
        check(kind, &[kind], &STRICT_OPENTOFU, YEAR_2024, refused);
        check(kind, &[kind], &TERRAFORM, MARCH_2021, GOOD);
        let good = "signed, key ID ID";
        check(kind, &[kind], &STRICT_OPENTOFU, MARCH_2021, good);
    }
}

#[test]
fn the_time_of_a_signature_matters_to_terraform() {
    for (signature, remark) in [
        ("expired-signature", "the signature has expired"),
        (
            "future-signature",
            "the signature was made 11 years in the future",
        ),
    ] {
        let refused = format!("refused: the signature by key ID is not valid now: {remark}");
        let keys = &["rsa2048"];
        check(signature, keys, &TERRAFORM, YEAR_2024, &refused);
        check(signature, keys, &STRICT_OPENTOFU, YEAR_2024, &refused);
        let good = format!("signed, key ID ID; {remark}");
        check(signature, keys, &OPENTOFU, YEAR_2024, &good);
    }
}

/// The library looks at the key first, and Terraform does not look any further.
#[test]
fn an_expired_key_hides_an_expired_signature() {
    check(
        "expired-both",
        &["expired"],
        &TERRAFORM,
        YEAR_2024,
        "self-signed, key ID ID; the key has expired; the signature has expired",
    );
    check(
        "expired-both",
        &["expired"],
        &TERRAFORM,
        MARCH_2021,
        "refused: the signature by key ID is not valid now: the signature has expired",
    );
}

#[test]
fn a_key_of_the_future_is_taken_for_an_expired_one() {
    check(
        "rsa2048",
        &["rsa2048"],
        &TERRAFORM,
        YEAR_2017,
        "self-signed, key ID ID; the key was made 3 years in the future; the signature was made 3 years in the \
         future",
    );
    check(
        "rsa2048",
        &["rsa2048"],
        &TERRAFORM,
        JANUARY_2021,
        "refused: the signature by key ID is not valid now: the signature was made 24 days in the future",
    );
}

#[test]
fn opentofu_prefers_a_later_key_that_has_not_expired() {
    let two = [fixture("kinds/expired.sig"), fixture("kinds/ed25519.sig")].concat();
    for (rules, keys, expected) in [
        (OPENTOFU, ["expired", "ed25519"], "signed, key ID ID"),
        (STRICT_OPENTOFU, ["expired", "ed25519"], "signed, key ID ID"),
        (
            OPENTOFU,
            ["expired", "dsa2048"],
            "signed, key ID ID; the key has expired",
        ),
        (
            TERRAFORM,
            ["expired", "ed25519"],
            "self-signed, key ID ID; the key has expired",
        ),
    ] {
        let evidence = evidence(&two, keys.map(key).into());
        assert_eq!(
            spelled(authenticate(&evidence, &rules, at(YEAR_2024))),
            expected
        );
    }
}

#[test]
fn keys_that_cannot_be_read_are_refused_even_beside_a_good_one() {
    let not_base64 =
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!!!!\n-----END PGP PUBLIC KEY BLOCK-----\n";
    let no_packets = not_base64.replace("!!!!", "bm90IGEga2V5");
    for (text, fault) in [
        ("", "it is no text with ASCII armor"),
        ("no key", "it is no text with ASCII armor"),
        (not_base64, "it is no text with ASCII armor"),
        (&no_packets, "it is damaged"),
        (
            &armored("hashicorp/author-trust"),
            "its armor holds no public key",
        ),
        (&"x".repeat(2 << 20), "it is longer than 1024 KiB"),
    ] {
        let bad = SigningKey {
            ascii_armor: text.to_owned(),
            trust_signature: String::new(),
        };
        let evidence = evidence(&fixture("kinds/rsa2048.sig"), vec![bad, key("rsa2048")]);
        for rules in [TERRAFORM, OPENTOFU] {
            let outcome = spelled(authenticate(&evidence, &rules, at(YEAR_2024)));
            assert_eq!(
                outcome,
                format!("refused: signing key 1 is not readable: {fault}")
            );
        }
    }
}

#[test]
fn a_key_behind_the_right_one_is_not_looked_at() {
    let bad = SigningKey {
        ascii_armor: String::new(),
        trust_signature: String::new(),
    };
    let evidence = evidence(&fixture("kinds/rsa2048.sig"), vec![key("rsa2048"), bad]);
    assert_eq!(
        spelled(authenticate(&evidence, &OPENTOFU, at(YEAR_2024))),
        "signed, key ID ID"
    );
}

#[test]
fn pasted_keys_are_read() {
    let good = armored("kinds/rsa2048");
    for text in [
        good.replace('\n', "\r\n"),
        good.trim_end().to_owned(),
        format!("My key:\n\n{good}thank you\n"),
        good.replace("\n", " \n  "),
        good.replacen("\n\n", "\nVersion: GnuPG v2\nComment:\nHash:x\n\n", 1),
        format!("{good}{good}"),
        good.lines()
            .filter(|line| !line.starts_with('='))
            .fold(String::new(), |all, line| all + line + "\n"),
    ] {
        let key = SigningKey {
            ascii_armor: text.clone(),
            trust_signature: String::new(),
        };
        let evidence = evidence(&fixture("kinds/rsa2048.sig"), vec![key]);
        assert_eq!(
            spelled(authenticate(&evidence, &TERRAFORM, at(YEAR_2024))),
            GOOD,
            "{text}"
        );
    }
}

#[test]
fn what_follows_the_right_signature_does_not_matter() {
    let junk = [&fixture("kinds/rsa2048.sig")[..], b"junk"].concat();
    let good = evidence(&junk, vec![key("rsa2048")]);
    assert_eq!(
        spelled(authenticate(&good, &TERRAFORM, at(YEAR_2024))),
        GOOD
    );
    let stranger_first = evidence(&junk, vec![key("ed25519"), key("rsa2048")]);
    assert_eq!(
        spelled(authenticate(&stranger_first, &TERRAFORM, at(YEAR_2024))),
        "refused: the signature is not readable: it is no OpenPGP signature, or a damaged one"
    );
}

#[test]
fn the_hash_that_the_registry_states_must_be_listed() {
    let good = evidence(&fixture("kinds/rsa2048.sig"), vec![key("rsa2048")]);
    let text = std::str::from_utf8(SUMS).expect("text");
    let listed = text.lines().map(|line| format!("zh:{}", &line[..64]));
    let listed: Hashes = listed.map(|text| text.parse().expect("a hash")).collect();
    let outcome = authenticate(&good, &TERRAFORM, at(YEAR_2024)).expect("good");
    assert_eq!(outcome.hashes, listed);
    let other_hash = Evidence {
        shasum: [0xab; 32],
        ..good.clone()
    };
    let error = authenticate(&other_hash, &TERRAFORM, at(YEAR_2024)).expect_err("differs");
    assert!(
        matches!(&error, AuthError::ListedHashDiffers { stated, .. } if stated.value() == "ab".repeat(32)),
        "{error}"
    );
    let other_file = Evidence {
        filename: "other.zip".to_owned(),
        // What comes first is what is reported: this signature is bad as well.
        signature: [].into(),
        ..good
    };
    assert_eq!(
        spelled(authenticate(&other_file, &TERRAFORM, at(YEAR_2024))),
        "refused: the checksum document does not list \"other.zip\""
    );
}

#[test]
fn there_must_be_keys_but_not_too_many() {
    let signature = fixture("kinds/rsa2048.sig");
    for rules in [TERRAFORM, OPENTOFU] {
        let none = authenticate(&evidence(&signature, Vec::new()), &rules, at(YEAR_2024));
        assert_eq!(none, Err(AuthError::NoKeys));
        let many = vec![key("ed25519"); MAX_KEYS + 1];
        let many = authenticate(&evidence(&signature, many), &rules, at(YEAR_2024));
        assert_eq!(many, Err(AuthError::TooManyKeys { count: 65 }));
    }
}

/// The real thing, with the document and the signature of a release.
#[test]
fn a_release_of_hashicorp_is_signed_by_hashicorp() {
    let name = "hashicorp/terraform-provider-null_3.1.0_SHA256SUMS";
    let sums = ChecksumList::parse(&fixture(name));
    let filename = "terraform-provider-null_3.1.0_linux_amd64.zip";
    let evidence = Evidence {
        filename: filename.to_owned(),
        shasum: sums.digest_of(filename).expect("listed"),
        shasum_text: String::new(),
        sums: sums.into(),
        sums_changed: None,
        signature: fixture(&format!("{name}.sig")).into(),
        keys: vec![SigningKey {
            ascii_armor: include_str!("../keys/hashicorp-release.asc").to_owned(),
            trust_signature: String::new(),
        }],
    };
    // The key was renewed after that.
    let now = at(1_782_864_000);
    let good = authenticate(&evidence, &TERRAFORM, now).expect("good");
    assert_eq!(good.signer.to_string(), "signed by HashiCorp");
    assert_eq!(good.signer.key.key_id(), "34365D9472D7468F");
    // As `gpg --list-packets` shows it.
    assert_eq!(good.made, at(HASHICORP_SIGNED));
    // The subkey that signed had a lifetime of a year.
    assert_eq!(good.signer.remarks, [KeyRemark::KeyExpired]);
    assert_eq!(good.signer.expires, Some(at(1_650_413_312)));
    assert_eq!(good.hashes.len(), 11);
    let good = authenticate(&evidence, &OPENTOFU, now).expect("good");
    assert_eq!(good.signer.to_string(), "signed, key ID 34365D9472D7468F");
}
