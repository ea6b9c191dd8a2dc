//! Properties of reading and printing.

use proptest::prelude::*;

use super::parse::parse_any;
use super::{Document, LockFile, ProviderLock, canonical, parse, write};
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, FileId, Severity, Texts};
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::version::{Constraints, Version};

fn addr() -> impl Strategy<Value = ProviderAddr> {
    let host = prop_oneof![
        Just("registry.terraform.io"),
        Just("example.com:8443"),
        Just("été.example"),
        Just("localhost"),
    ];
    (host, "[a-z0-9]{1,4}", "[a-zé][a-z0-9]{0,4}").prop_map(|(host, namespace, type_name)| {
        let text = format!("{host}/{namespace}/{type_name}");
        ProviderAddr::parse(&text, Flavor::Terraform1_16).expect("well-formed")
    })
}

fn version() -> impl Strategy<Value = Version> {
    let suffix = "(-[a-zA-Z0-9.-]{1,6})?(\\+[a-zA-Z0-9.-]{1,6})?";
    (any::<u64>(), 0..9u64, any::<u64>(), suffix)
        .prop_map(|(a, b, c, suffix)| format!("{a}.{b}.{c}{suffix}").parse().expect("well-formed"))
}

fn constraints() -> impl Strategy<Value = Constraints> {
    let operator = prop_oneof![
        Just(""),
        Just(">"),
        Just(">="),
        Just("<"),
        Just("<="),
        Just("!="),
        Just("~>"),
    ];
    let term = (operator, 0..5u64, 0..5u64)
        .prop_map(|(operator, a, b)| format!("{operator} {a}.{b}").trim().to_owned());
    prop::collection::vec(term, 0..4)
        .prop_map(|terms| Constraints::parse_lock(&terms.join(", ")).expect("well-formed"))
}

fn hash() -> impl Strategy<Value = Hash> {
    // The text is NFC as it is read, so only such texts come back as they went.
    let value = "[ -~é😀\\n\\t\u{a0}\u{200b}]{0,8}";
    ("[a-z0-9A-Z${%]{1,3}", value)
        .prop_map(|(scheme, value)| format!("{scheme}:{value}").parse().expect("well-formed"))
}

fn lock_file() -> impl Strategy<Value = LockFile> {
    let entry = (
        version(),
        constraints(),
        prop::collection::vec(hash(), 0..5),
    )
        .prop_map(|(version, constraints, hashes)| ProviderLock {
            version,
            constraints,
            hashes: hashes.into_iter().collect(),
        });
    prop::collection::btree_map(addr(), entry, 0..5).prop_map(|providers| LockFile { providers })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(lock in lock_file()) {
        let text = write(&lock, Flavor::Terraform1_16);
        let file = Texts::default().add("lock", Vec::new());
        let (document, diagnostics) = parse(file, text.as_bytes(), Flavor::Terraform1_16);
        prop_assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
        prop_assert_eq!(document.lock, lock);
        prop_assert_eq!(document.comments, 0);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let file = Texts::default().add("lock", bytes.clone());
        let _ = parse(file, &bytes, Flavor::OpenTofu1_12);
    }

    #[test]
    fn a_damaged_file_is_reported_or_read(lock in lock_file(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut text = write(&lock, Flavor::Terraform1_16).into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        let mut texts = Texts::default();
        let file = texts.add("lock", text.clone());
        let (document, diagnostics) = parse(file, &text, Flavor::Terraform1_16);
        let read = parse_any(file, &text, Flavor::Terraform1_16);
        prop_assert_eq!((&document, &diagnostics), (&read.0, &read.1));
        for diagnostic in &diagnostics {
            let label = diagnostic.primary.as_ref().expect("every problem has a place");
            prop_assert!(label.span.start <= label.span.end && label.span.end <= text.len());
        }
    }
}

/// A file of the usual layout with all that a block may lack.
const USUAL: &str = r#"# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/a/b" {
  version     = "1.2.3"
  constraints = "~> 1.2, != 1.2.1"
  hashes = [
    "h1:a/b+c=",
    "zh:00",
  ]
}

provider "x.io/a/c" {
  version = "2.0.0-beta1"
}
"#;

#[test]
fn the_usual_layout_needs_no_grammar() {
    let read = |text: &str| canonical::read(text.as_bytes(), Flavor::Terraform1_16);
    let file = FileId::ALONE;
    let by_grammar = |text: &str| parse_any(file, text.as_bytes(), Flavor::Terraform1_16);
    assert_eq!((read(USUAL), Vec::new()), {
        let (document, diagnostics) = by_grammar(USUAL);
        (Some(document), diagnostics)
    });
    // Whatever one byte is replaced by, the grammar reads the same, or it alone reads.
    let mut usual = 0;
    for at in 0..USUAL.len() {
        for byte in *b"\n\"\\$ x0{}=[],#" {
            let mut text = USUAL.as_bytes().to_vec();
            text[at] = byte;
            let text = String::from_utf8(text).expect("it is ASCII");
            if let Some(document) = read(&text) {
                usual += 1;
                let wanted: (Document, Vec<Diagnostic>) = by_grammar(&text);
                assert_eq!((document, Vec::new()), wanted, "{text}");
            }
        }
    }
    assert!(usual > 100, "{usual}");
}

#[test]
fn conflicts_name_their_providers() {
    let check = |text: &str, wanted: &[&str]| {
        let mut texts = Texts::default();
        let file = texts.add("lock", text.as_bytes().to_vec());
        let (_, problems) = parse(file, text.as_bytes(), Flavor::Terraform1_16);
        let markers = problems
            .iter()
            .find(|problem| problem.code == "conflict-markers")
            .expect("there is a conflict");
        let notes: Vec<&str> = markers
            .primary
            .iter()
            .chain(&markers.related)
            .filter(|label| label.note.starts_with("one side"))
            .map(|label| &*label.note)
            .collect();
        assert_eq!(notes, wanted, "{text}");
    };
    let entry = |name: &str| format!("provider \"x.io/a/{name}\" {{\n  version = \"1.0.0\"\n}}\n");
    let (a, b) = (entry("a"), entry("b"));
    check(
        &format!("<<<<<<< ours\n{a}=======\n{b}{a}>>>>>>> x\n{b}<<<<<<< y\n{b}=======\n>>>>>>>\n"),
        &[
            "one side begins: x.io/a/a, x.io/a/b",
            "one side begins: x.io/a/b",
        ],
    );
    check(
        &a.replace('}', "<<<<<<< a\n=======\n>>>>>>> b\n}"),
        &["one side begins: x.io/a/a"],
    );
    check("<<<<<<<\n=======\n>>>>>>>\n", &["one side begins"]);
    check("<<<<<<< never ends\n", &["one side begins"]);
}

#[test]
fn bytes_in_the_form_of_utf8_are_written_as_the_programs_write_them() {
    let text = b"provider \"x.io/a/b\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:\xed\xa0\x80\",\n  ]\n}\n";
    let file = Texts::default().add("lock", text.to_vec());
    let (document, found) = parse(file, text, Flavor::Terraform1_16);
    assert!(
        found.iter().all(|one| one.severity < Severity::Error),
        "{found:?}"
    );
    let written = write(&document.lock, Flavor::Terraform1_16);
    assert!(
        written.contains("\"h1:\u{FFFD}\u{FFFD}\u{FFFD}\""),
        "{written}"
    );
}
