//! Keys and signatures of every kind: whether either program takes them.

use std::path::Path;

use lockctl::flavor::Flavor;

use crate::copy::copy_dir;
use crate::lab::Lab;
use crate::made::made;
use crate::registry::{Evidence, Registry, sha256_hex};
use crate::terraform::Terraform;
use crate::zips::{Entry, Zip};
use crate::{LOCK, lockctl};

const VERSION: &str = "1.0.0";
const PLATFORM: &str = "linux_amd64";

/// Each row: a case, the fixture that is the signature, and those that are the keys.
const FIXTURES: &[(&str, &str, &[&str])] = &[
    ("rsa1024", "rsa1024", &["rsa1024"]),
    ("rsa2048", "rsa2048", &["rsa2048"]),
    ("rsa4096", "rsa4096", &["rsa4096"]),
    ("dsa1024", "dsa1024", &["dsa1024"]),
    ("dsa2048", "dsa2048", &["dsa2048"]),
    ("ed25519", "ed25519", &["ed25519"]),
    ("nistp256", "nistp256", &["nistp256"]),
    ("nistp521", "nistp521", &["nistp521"]),
    ("secp256k1", "secp256k1", &["secp256k1"]),
    ("brainpool", "brainpoolP256r1", &["brainpoolP256r1"]),
    ("expired-signature", "expired-signature", &["rsa2048"]),
    ("future-signature", "future-signature", &["rsa2048"]),
    ("sha1-signature", "sha1-signature", &["rsa2048"]),
    ("sha1-ed25519", "sha1-ed25519", &["ed25519"]),
    ("sha512-signature", "sha512-signature", &["rsa2048"]),
    ("ripemd-signature", "ripemd-signature", &["rsa2048"]),
    ("armored-signature", "armored-signature", &["rsa2048"]),
    ("text-signature", "text-signature", &["rsa2048"]),
    ("notation-signature", "notation-signature", &["rsa2048"]),
    ("condition-signature", "condition-signature", &["rsa2048"]),
    ("other-document", "other-document", &["rsa2048"]),
    ("first-of-two", "two-signatures", &["ed25519"]),
    ("second-of-two", "two-signatures", &["rsa2048"]),
    ("both-of-two", "two-signatures", &["rsa2048", "ed25519"]),
    ("none-of-two", "two-signatures", &["dsa2048"]),
    ("expired", "expired", &["expired"]),
    ("expired-both", "expired-both", &["expired"]),
    ("renewed", "renewed", &["renewed"]),
    ("sha1-self", "sha1-self", &["sha1-self"]),
    ("revoked", "revoked", &["revoked"]),
    ("subkey", "subkey", &["subkey"]),
    ("expired-subkey", "expired-subkey", &["expired-subkey"]),
    ("revoked-subkey", "revoked-subkey", &["revoked-subkey"]),
    ("certified", "certified", &["certified"]),
    ("second-key", "rsa2048", &["ed25519", "rsa2048"]),
    ("other-keys", "rsa2048", &["ed25519", "dsa2048"]),
    ("no-keys", "rsa2048", &[]),
    (
        "wrong-before-other",
        "other-document",
        &["rsa2048", "ed25519"],
    ),
    (
        "other-before-wrong",
        "other-document",
        &["ed25519", "rsa2048"],
    ),
];

/// A way to spell an armored key.
type Spelling = fn(&str) -> String;

const SPELLINGS: &[(&str, Spelling)] = &[
    ("as-it-is", str::to_owned),
    ("crlf", |text| text.replace('\n', "\r\n")),
    ("no-last-newline", |text| text.trim_end().to_owned()),
    ("words-around", |text| {
        format!("My key:\n\n{text}thank you\n")
    }),
    ("headers", |text| {
        text.replacen("\n\n", "\nVersion: GnuPG v2\nComment:\nHash:x\n\n", 1)
    }),
    ("twice", |text| format!("{text}{text}")),
    ("no-check", |text| {
        let lines = text.lines().filter(|line| !line.starts_with('='));
        lines.map(|line| format!("{line}\n")).collect()
    }),
    ("wrong-check", |text| text.replace("\n=", "\n=A")),
    ("false-check", |text| {
        let lines = text.lines().map(|line| match line.starts_with('=') {
            true => "=AAAA\n".to_owned(),
            false => format!("{line}\n"),
        });
        lines.collect()
    }),
    ("indented", |text| text.replace('\n', "\n  ")),
    ("spaces-behind", |text| text.replace('\n', " \n")),
    ("one-line", |text| {
        let (start, rest) = text.split_once("\n\n").unwrap();
        let (content, end) = rest.split_once("\n=").unwrap();
        format!("{start}\n\n{}\n={end}", content.replace('\n', ""))
    }),
    ("no-blank-line", |text| text.replacen("\n\n", "\n", 1)),
    ("no-end", |text| {
        text[..text.find("\n-----END").unwrap()].to_owned()
    }),
    ("as-message", |text| {
        text.replace("PUBLIC KEY BLOCK", "MESSAGE")
    }),
    ("empty", |_| String::new()),
];

/// What lockctl does otherwise in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// It refuses what the program takes.
    Stricter,
    /// It takes what the program refuses.
    Looser,
    /// It takes what Terraform 1.11 refuses; programs with a later library take it.
    Later,
}
use Difference::{Later, Looser, Stricter};

const DIFFERENCES: &[(&str, Difference, &str)] = &[
    (
        "brainpool",
        Stricter,
        "the crate does not know these curves",
    ),
    (
        "secp256k1",
        Stricter,
        "the crate verifies one of two forms of such signatures",
    ),
    (
        "sha1-ed25519",
        Stricter,
        "the crate wants at least 256 bits of a digest with Ed25519",
    ),
    (
        "armor-indented",
        Looser,
        "white space around lines is dropped",
    ),
    (
        "armor-spaces-behind",
        Looser,
        "white space around lines is dropped",
    ),
    ("armor-one-line", Looser, "a line may be of any length"),
    ("armor-false-check", Later, "the check is not looked at"),
    ("critical-4", Later, "the statement is understood"),
    ("critical-23", Later, "the statement is understood"),
    ("critical-24", Later, "the statement is understood"),
    ("critical-35", Later, "the statement is understood"),
    ("rsa-sha3-256", Later, "RSA goes with SHA-3"),
    ("rsa-sha3-512", Later, "RSA goes with SHA-3"),
    ("new-ed25519", Later, "keys of RFC 9580 are known"),
    ("new-ed25519-sha512", Later, "keys of RFC 9580 are known"),
    ("ed448", Later, "keys of RFC 9580 are known"),
];

fn fixture(name: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/keys/kinds");
    std::fs::read(dir.join(name)).unwrap()
}

/// The package whose hash the signed document of the fixtures lists.
fn tool(platform: &str) -> Vec<u8> {
    let content = format!("made up for {platform}\n");
    Zip::of([Entry::file("terraform-provider-tool_v1.0.0", content)]).bytes()
}

#[test]
fn the_signed_document_lists_the_tool() {
    let lines = ["darwin_arm64", "linux_amd64", "windows_amd64"].map(|platform| {
        let name = format!("terraform-provider-tool_{VERSION}_{platform}.zip");
        format!("{}  {name}\n", sha256_hex(tool(platform)))
    });
    let document = String::from_utf8(fixture("SHA256SUMS")).unwrap();
    assert_eq!(document, lines.concat());
}

/// A signature with the keys that a registry announces with it.
struct Case {
    name: String,
    signature: Vec<u8>,
    keys: Vec<String>,
}

/// All cases, each of another name.
fn cases() -> Vec<Case> {
    let armored = |name: &str| String::from_utf8(fixture(&format!("{name}.asc"))).unwrap();
    let of_fixture = |(name, signature, keys): &(&str, &str, &[&str])| Case {
        name: (*name).to_owned(),
        signature: fixture(&format!("{signature}.sig")),
        keys: keys.iter().map(|key| armored(key)).collect(),
    };
    let spelled = |(name, spell): &(&str, Spelling)| Case {
        name: format!("armor-{name}"),
        signature: fixture("rsa2048.sig"),
        keys: vec![spell(&armored("rsa2048"))],
    };
    let own = made(&fixture("SHA256SUMS")).into_iter().map(|made| Case {
        name: made.case,
        signature: made.signature,
        keys: vec![made.key],
    });
    let fixtures = FIXTURES.iter().map(of_fixture);
    fixtures
        .chain(SPELLINGS.iter().map(spelled))
        .chain(own)
        .collect()
}

/// Writes a root that requires the tools of these cases.
fn write_root(lab: &Lab, root: &str, cases: &[&str]) {
    let line = |(at, case): (usize, &&str)| format!("    t{at} = {{ source = \"{case}/tool\" }}\n");
    let lines: String = cases.iter().enumerate().map(line).collect();
    let text = format!("terraform {{\n  required_providers {{\n{lines}  }}\n}}\n");
    lab.write(&format!("{root}/main.tf"), text);
}

const LOCK_ONE: [&str; 4] = ["providers", "lock", "-no-color", "-platform=linux_amd64"];

#[test]
fn the_same_keys_and_signatures_are_taken() {
    let Some(terraform) = Terraform::find_trusting() else {
        return;
    };
    let registry = Registry::start();
    let mut lab = Lab::new();
    terraform.use_registry(&mut lab, &registry, &[]);
    let cases = cases();
    for case in &cases {
        let source = format!("{}/tool", case.name);
        registry.add_zip(&source, VERSION, PLATFORM, &tool(PLATFORM));
        let evidence = Evidence {
            sums: fixture("SHA256SUMS"),
            signature: case.signature.clone(),
            keys: case.keys.clone(),
        };
        registry.replace_evidence(&source, VERSION, evidence);
    }
    let all: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    write_root(&lab, "theirs", &all);
    let (_, said) = terraform.run(&lab, "theirs", &LOCK_ONE);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");

    let mut taken = Vec::new();
    let mut faults = Vec::new();
    for case in all.iter().copied() {
        let theirs = said.contains(&format!("Retrieved {case}/tool {VERSION} "));
        let reason = refusal(&said, case);
        assert_ne!(theirs, reason.is_some(), "{case} is told once:\n{said}");
        write_root(&lab, case, &[case]);
        let args = ["lock", case, "--platform", PLATFORM];
        let outcome = lockctl(&lab, &terraform, &args);
        let ours = outcome.code == 0;
        if ours && theirs {
            taken.push(case);
        }
        if !is_expected(case, (ours, theirs), terraform.rules) {
            let program = reason.unwrap_or("takes it");
            faults.push(format!("{case}: terraform: {program}\n{}", outcome.stderr));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    bytes_are_equal(&lab, &terraform, &taken);
    println!(
        "parity: {} kinds of keys and signatures: {} taken by both, {} refused by both, {} differ as stated",
        all.len(),
        taken.len(),
        all.len() - taken.len() - DIFFERENCES.len(),
        DIFFERENCES.len()
    );
}

/// Why the program refused a case, if it did.
fn refusal<'a>(said: &'a str, case: &str) -> Option<&'a str> {
    let (_, rest) = said.split_once(&format!("- registry.terraform.io/{case}/tool: "))?;
    rest.split(" - registry.").next()
}

/// Tells whether the two verdicts are those that were stated, or the same.
fn is_expected(case: &str, (ours, theirs): (bool, bool), rules: Flavor) -> bool {
    let stated = DIFFERENCES.iter().find(|(name, _, _)| *name == case);
    match stated.map(|(_, difference, _)| difference) {
        None => ours == theirs,
        Some(Stricter) => !ours && theirs,
        Some(Looser) => ours && !theirs,
        Some(Later) => ours && (!theirs || rules != Flavor::Terraform1_11),
    }
}

/// Checks that both programs get through to the end with these cases.
fn bytes_are_equal(lab: &Lab, terraform: &Terraform, cases: &[&str]) {
    write_root(lab, "both", cases);
    copy_dir(&lab.path("both"), &lab.path("ours"));
    terraform.succeeds(lab, "both", &LOCK_ONE);
    let outcome = lockctl(lab, terraform, &["lock", "ours", "--platform", PLATFORM]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    let read = |root: &str| lab.read(&format!("{root}/{LOCK}"));
    assert_eq!(read("ours"), read("both"));
}

#[test]
fn stated_differences_are_about_cases() {
    let cases = cases();
    for (name, _, reason) in DIFFERENCES {
        let named = cases.iter().filter(|case| case.name == *name);
        assert_eq!(named.count(), 1, "{name}: {reason}");
    }
}
