//! Attestations of builds, by an authority of the tests and by real ones.

use lockctl::authenticate::{AttestationError, AttestationRoots};
use lockctl::hash::{digest_of_hex, zh_of_digest};
use serde_json::{Value, json};

use crate::attestations::{Authority, Stated};

const REPOSITORY: &str = "github.com/acme/terraform-provider-demo";

fn digest(digit: &str) -> String {
    digit.repeat(64)
}

/// Verifies a bundle for the package whose digest has one digit.
fn verified(authority: &Authority, bundle: &Value, digit: &str) -> Result<String, String> {
    let roots = AttestationRoots::parse(authority.roots().as_bytes()).unwrap();
    let package = digest_of_hex(&digest(digit)).unwrap();
    roots
        .verify(&bundle.to_string(), &package, REPOSITORY)
        .map(|attested| {
            assert!(attested.packages.contains(&zh_of_digest(&package)));
            let build = attested.build;
            format!(
                "{} {} {} {}, {} files",
                build.repository,
                &build.commit[..7],
                build.git_ref,
                build.workflow,
                attested.packages.len()
            )
        })
        .map_err(|error| error.to_string())
}

#[track_caller]
fn check(authority: &Authority, bundle: &Value, digit: &str, wanted: &str) {
    let said = verified(authority, bundle, digit).unwrap_or_else(|error| error);
    assert!(said.contains(wanted), "{said:?} has no {wanted:?}");
}

#[test]
fn a_bundle_attests_the_files_that_it_names() {
    let authority = Authority::new();
    let (one, two) = (digest("1"), digest("2"));
    let bundle = authority.bundle(&Stated::default(), &[&one, &two]);
    let said = "github.com/acme/terraform-provider-demo 0123456 refs/tags/v1.0.0 .github/workflows/release.yml, 2 files";
    assert_eq!(verified(&authority, &bundle, "1").as_deref(), Ok(said));
    assert_eq!(verified(&authority, &bundle, "2").as_deref(), Ok(said));
    check(&authority, &bundle, "3", "about other files");
}

#[test]
fn statements_that_prove_no_build_there_are_refused() {
    let authority = Authority::new();
    let one = digest("1");
    let stated = Stated::default();
    let of = |stated: Stated<'_>| authority.bundle(&stated, &[&one]);
    for (bundle, wanted) in [
        (
            of(Stated {
                until: 2025,
                ..stated.clone()
            }),
            "CertExpired",
        ),
        (
            of(Stated {
                repository: "github.com/other/terraform-provider-demo",
                ..stated.clone()
            }),
            "from github.com/other/terraform-provider-demo, not from github.com/acme/",
        ),
        (
            of(Stated {
                issuer: "https://accounts.google.com",
                ..stated.clone()
            }),
            "no workflow of the host",
        ),
        (
            of(Stated {
                predicate: "https://spdx.dev/Document",
                ..stated.clone()
            }),
            "https://spdx.dev/Document, which states no build",
        ),
        (
            of(Stated {
                git_ref: "refs/heads/two words",
                ..stated.clone()
            }),
            "of several words",
        ),
        // Another authority with the same name.
        (Authority::new().bundle(&stated, &[&one]), "not valid"),
        (json!({}), "not valid"),
        (json!("bundle"), "not valid"),
    ] {
        check(&authority, &bundle, "1", wanted);
    }
}

/// Each part is changed by itself; the log, the certificate and the signature hold each other.
#[test]
fn no_part_of_a_bundle_can_be_cut_or_exchanged() {
    let authority = Authority::new();
    let (one, two) = (digest("1"), digest("2"));
    let bundle = authority.bundle(&Stated::default(), &[&one]);
    let other = authority.bundle(&Stated::default(), &[&two]);
    check(&authority, &bundle, "1", "v1.0.0");
    let entry = "/verificationMaterial/tlogEntries/0";
    for part in [
        "/verificationMaterial/certificate",
        entry,
        &format!("{entry}/canonicalizedBody"),
        &format!("{entry}/inclusionPromise"),
        &format!("{entry}/inclusionProof"),
        &format!("{entry}/inclusionProof/rootHash"),
        &format!("{entry}/inclusionProof/checkpoint"),
        "/dsseEnvelope/signatures",
    ] {
        let mut changed = bundle.clone();
        *changed.pointer_mut(part).unwrap() = other.pointer(part).unwrap().clone();
        assert!(
            verified(&authority, &changed, "1").is_err(),
            "{part} of another"
        );
        let (parent, name) = part.rsplit_once('/').unwrap();
        let mut cut = bundle.clone();
        match cut.pointer_mut(parent).unwrap() {
            Value::Object(members) => drop(members.remove(name)),
            Value::Array(elements) => elements.clear(),
            other => panic!("{other}"),
        }
        let said = verified(&authority, &cut, "1");
        assert!(said.is_err(), "without {part}: {said:?}");
    }
    // The payload of the other bundle is about the other file, and is not what was signed here.
    let mut replaced = bundle.clone();
    replaced["dsseEnvelope"]["payload"] = other["dsseEnvelope"]["payload"].clone();
    check(&authority, &replaced, "2", "not valid");
    let text = bundle.to_string();
    let roots = AttestationRoots::parse(authority.roots().as_bytes()).unwrap();
    let package = digest_of_hex(&one).unwrap();
    for end in (0..text.len()).step_by(97) {
        assert!(
            roots.verify(&text[..end], &package, REPOSITORY).is_err(),
            "{end}"
        );
    }
}

#[test]
fn roots_are_read_whole_or_not_at_all() {
    let roots = Authority::new().roots();
    assert!(AttestationRoots::parse(format!("{roots}\n{roots}\n").as_bytes()).is_ok());
    for text in ["", "{", "[]", "{}x", &roots[..roots.len() / 2]] {
        assert!(
            AttestationRoots::parse(text.as_bytes()).is_err(),
            "{text:?}"
        );
    }
    assert!(AttestationRoots::embedded().is_ok());
}

/// The authority of a test is none that the program knows.
#[test]
fn only_known_authorities_count() {
    let one = digest("1");
    let bundle = Authority::new().bundle(&Stated::default(), &[&one]);
    let package = digest_of_hex(&one).unwrap();
    let roots = AttestationRoots::embedded().unwrap();
    let error = roots.verify(&bundle.to_string(), &package, REPOSITORY);
    assert!(
        matches!(error, Err(AttestationError::Invalid(_))),
        "{error:?}"
    );
}

/// Bundles of the public service, and of the one of GitHub, lead to the roots that the program has.
#[test]
fn real_bundles_lead_to_the_known_authorities() {
    let roots = AttestationRoots::embedded().unwrap();
    for (name, kind) in [
        (
            "public",
            "https://schemas.conda.org/attestations-publish-1.schema.json",
        ),
        ("github", "https://in-toto.io/attestation/release/v0.2"),
    ] {
        let path = format!("fixtures/attestations/{name}.sigstore.json");
        let text = std::fs::read_to_string(path).unwrap();
        let bundle: Value = serde_json::from_str(&text).unwrap();
        let payload = bundle["dsseEnvelope"]["payload"].as_str().unwrap();
        let statement = lockctl::hash::bytes_of_base64(payload).unwrap();
        let statement: Value = serde_json::from_slice(&statement).unwrap();
        let subjects = statement["subject"].as_array().unwrap();
        let package = subjects
            .iter()
            .find_map(|subject| subject["digest"]["sha256"].as_str());
        let package = digest_of_hex(package.unwrap()).unwrap();
        // All checks of the bundle pass; it states no build.
        let said = roots.verify(&text, &package, REPOSITORY);
        assert_eq!(
            said,
            Err(AttestationError::OtherStatement(kind.to_owned())),
            "{name}"
        );
        let signature = bundle["dsseEnvelope"]["signatures"][0]["sig"]
            .as_str()
            .unwrap();
        let forged = text.replacen(&signature[10..20], "AAAAAAAAAA", 1);
        let said = roots.verify(&forged, &package, REPOSITORY);
        assert!(
            matches!(said, Err(AttestationError::Invalid(_))),
            "{name}: {said:?}"
        );
    }
}
