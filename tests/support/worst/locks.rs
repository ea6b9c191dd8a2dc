//! Lock files, and what compares and merges them.

use super::{Case, Reader, Work, case, nested, numbered, repeated, within};

use lockctl::diag::FileId;
use lockctl::flavor::Flavor;
use lockctl::review::{LockSide, review};

const LOCK: &str = ".terraform.lock.hcl";

const USED: (&str, &str) = (
    "main.tf",
    "terraform {\n  required_providers {\n    aws = { source = \"hashicorp/aws\" }\n  }\n}\n",
);

const ONE_ENTRY: (&str, &str) = (
    "other.hcl",
    "provider \"registry.terraform.io/hashicorp/aws\" {\n  version = \"1.0.0\"\n}\n",
);

/// Texts that are no lock file at all serve here, too: the same reader takes them.
const CASES: &[Case] = &[
    case("many", "entries", |bytes| {
        numbered(bytes, |n| entry(&format!("acme/x{n}"), n)).into_bytes()
    }),
    case("many", "entries of look-alikes", |bytes| {
        numbered(bytes, |n| entry(&format!("hashicorp{n}/aws"), n)).into_bytes()
    }),
    case("many", "entries of one letter less", |bytes| {
        numbered(bytes, |n| entry(&format!("{}/aws", letters(n)), n)).into_bytes()
    }),
    case("many", "comments", |bytes| {
        numbered(bytes, |n| format!("# {n}\n")).into_bytes()
    }),
    case("wide", "hashes", |bytes| {
        one_entry(&numbered(bytes, |n| format!("    \"zh:{n:064x}\",\n")))
    }),
    case("wide", "short hashes", |bytes| {
        one_entry(&numbered(bytes, |n| format!("\"a:{n}\",")))
    }),
    case("wide", "conditions", |bytes| {
        let terms = numbered(bytes, |n| format!(">= 1.{n}, "));
        within(
            "provider \"registry.terraform.io/hashicorp/aws\" {\n  version = \"1.0.0\"\n  constraints = \"",
            &terms,
            "< 9\"\n}\n",
        )
    }),
    case("wide", "arguments", |bytes| {
        let arguments = numbered(bytes, |n| format!("a{n} = 1\n"));
        within("provider \"x/y\" {\n", &arguments, "}\n")
    }),
    case("wide", "labels", |bytes| {
        within(
            "provider ",
            &numbered(bytes, |n| format!("\"{n}\" ")),
            "{\n}\n",
        )
    }),
    case("repetitive", "one entry", |bytes| {
        repeated(bytes, &entry("acme/x", 1))
    }),
    case("repetitive", "one hash", |bytes| {
        let hash = format!("\"zh:{:064x}\",", 1);
        one_entry(&hash.repeat(bytes.div_ceil(hash.len())))
    }),
    case("repetitive", "signs of equality", |bytes| {
        repeated(bytes, "=\n")
    }),
    case("repetitive", "names", |bytes| repeated(bytes, "x=\n")),
    case("repetitive", "blocks", |bytes| repeated(bytes, "a{}\n")),
    case("repetitive", "blocks in a line", |bytes| {
        repeated(bytes, "a{}")
    }),
    case("repetitive", "line ends", |bytes| repeated(bytes, "\r\n")),
    case("repetitive", "no UTF-8", |bytes| vec![0xff; bytes]),
    case("repetitive", "zeros", |bytes| vec![0; bytes]),
    case("deep", "open blocks", |bytes| repeated(bytes, "a {\n")),
    case("deep", "blocks", |bytes| {
        nested(bytes, "a {\n", "", "}\n").into()
    }),
    case("deep", "open lists", |bytes| repeated(bytes, "[")),
    case("deep", "lists of hashes", |bytes| {
        one_entry(&nested(bytes, "[", "", "]"))
    }),
    case("deep", "templates", |bytes| repeated(bytes, "\"${")),
    case("long", "line", |bytes| repeated(bytes, "x")),
    case("long", "comment", |bytes| {
        within("# ", &"x".repeat(bytes), "\n")
    }),
    case("long", "address", |bytes| {
        within("provider \"", &"a/".repeat(bytes / 2), "\" {\n}\n")
    }),
    case("long", "version", |bytes| {
        let version = format!("1.0.0-{}", "1.".repeat(bytes / 2));
        within("provider \"x/y\" {\n  version = \"", &version, "1\"\n}\n")
    }),
    case("long", "hash", |bytes| {
        one_entry(&format!("\"zh:{}\"", "a".repeat(bytes)))
    }),
    case("almost right", "entries that are not closed", |bytes| {
        numbered(bytes, |n| {
            format!("provider \"acme/x{n}\" {{\n  version = \"1.0.{n}\"\n")
        })
        .into_bytes()
    }),
    case("almost right", "quotes that are not closed", |bytes| {
        repeated(bytes, "provider \"x\n")
    }),
    case("almost right", "hashes with a digit less", |bytes| {
        one_entry(&numbered(bytes, |n| format!("\"zh:{n:063x}\",\n")))
    }),
    case("almost right", "entries without a version", |bytes| {
        numbered(bytes, |n| {
            format!("provider \"registry.terraform.io/acme/x{n}\" {{\n}}\n")
        })
        .into_bytes()
    }),
    case("almost right", "addresses that are none", |bytes| {
        numbered(bytes, |n| format!("provider \"acme/x_-{n}\" {{\n}}\n")).into_bytes()
    }),
    case("almost right", "heredocs that are not closed", |bytes| {
        numbered(bytes, |n| format!("a = <<E{n}\n")).into_bytes()
    }),
    case("almost right", "conflict markers", |bytes| {
        repeated(bytes, "<<<<<<< a\nx = 1\n=======\nx = 2\n>>>>>>> b\n")
    }),
    case(
        "almost right",
        "conflict markers that are not closed",
        |bytes| repeated(bytes, "<<<<<<< a\n"),
    ),
    case("almost right", "escapes", |bytes| {
        within("provider \"", &"\\u00zz".repeat(bytes / 6), "\" {\n}\n")
    }),
];

/// Two halves are the two sides.
const PAIRS: &[Case] = &[
    case("many", "entries without a common provider", |bytes| {
        numbered(bytes / 2, |n| entry(&format!("acme/x{n}"), n))
            .into_bytes()
            .into_iter()
            .chain(numbered(bytes / 2, |n| entry(&format!("bcme/y{n}"), n)).into_bytes())
            .collect()
    }),
    case("many", "entries that moved to another namespace", |bytes| {
        let mut text = numbered(bytes / 2, |n| entry(&format!("acme/x{n}"), n));
        text += &numbered(bytes / 2, |n| entry(&format!("bcme/x{n}"), n));
        text.into_bytes()
    }),
    case("many", "entries of one type", |bytes| {
        let mut text = numbered(bytes / 2, |n| entry(&format!("a{n}/x"), 1));
        text += &numbered(bytes / 2, |n| entry(&format!("b{n}/x"), 1));
        text.into_bytes()
    }),
    case("wide", "hashes", |bytes| {
        let mut text = one_entry(&numbered(bytes / 2, |n| format!("\"zh:{n:064x}\",\n")));
        text.extend(one_entry(&numbered(bytes / 2, |n| {
            format!("\"zh:{:064x}\",\n", n + (1 << 40))
        })));
        text
    }),
    case("repetitive", "names", |bytes| repeated(bytes, "x=\n")),
    case("repetitive", "blocks", |bytes| repeated(bytes, "a{}\n")),
];

pub(super) fn readers() -> Vec<Reader> {
    vec![
        Reader::beside("lock file", LOCK, &["verify"], &[USED], CASES),
        Reader::command("lock file, fmt", LOCK, &["fmt", "--check"], CASES),
        Reader::command("lock file, resolve", LOCK, &["resolve"], CASES),
        Reader::beside(
            "lock files, diff",
            LOCK,
            &["diff", "other.hcl", LOCK],
            &[ONE_ENTRY],
            CASES,
        ),
        Reader::library("lock files, both new", pair, PAIRS),
        Reader::beside(
            "lock files, merge",
            LOCK,
            &["merge", "other.hcl", LOCK, "other.hcl"],
            &[ONE_ENTRY],
            CASES,
        ),
    ]
}

fn pair(mut input: Vec<u8>) -> Work {
    let middle = input.len() / 2;
    let at = input[middle..]
        .windows(9)
        .position(|window| window == b"provider ")
        .map_or(middle, |at| middle + at);
    let new = input.split_off(at);
    Box::new(move || {
        let flavor = Flavor::Terraform1_16;
        let [old, new] = [input, new].map(|text| LockSide::read(FileId::ALONE, text, flavor));
        let review = review(Some(&old), Some(&new));
        for change in &review.providers {
            assert!(!change.sentence().is_empty());
        }
    })
}

fn entry(addr: &str, number: usize) -> String {
    format!(
        "provider \"registry.terraform.io/{addr}\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"zh:{number:064x}\",\n  ]\n}}\n"
    )
}

fn one_entry(hashes: &str) -> Vec<u8> {
    within(
        "provider \"registry.terraform.io/hashicorp/aws\" {\n  version = \"1.0.0\"\n  hashes = [\n",
        hashes,
        "  ]\n}\n",
    )
}

/// A name of six letters; each differs from many others in one of them.
fn letters(number: usize) -> String {
    (0..6)
        .scan(number, |rest, _| {
            let letter = b'a' + u8::try_from(*rest % 26).expect("a letter");
            *rest /= 26;
            Some(char::from(letter))
        })
        .collect()
}
