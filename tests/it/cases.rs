//! The recorded cases of `fixtures/cases`, as each of the four programs answered them.
//!
//! A case was recorded with Terraform 1.11.4. Where another program gave other fields, they stand
//! in the case under the key of that program. OpenTofu was asked with hosts, headers and titles
//! exchanged, and so the case as it sees it has them exchanged too.

use lockctl::flavor::Flavor;
use serde_json::{Map, Value};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cases");

/// What is exchanged in everything that goes into OpenTofu; longer texts before shorter ones.
const PAIRS: [(&str, &str); 4] = [
    ("registry.terraform.io", "registry.opentofu.org"),
    ("Registry.Terraform.io", "Registry.OpenTofu.org"),
    ("Registry.Terraform.IO", "Registry.OpenTofu.ORG"),
    ("by \"terraform init\"", "by \"tofu init\""),
];

/// What else is exchanged in titles.
const TITLE_PAIR: (&str, &str) = ("Terraform", "OpenTofu");

/// The fields that hold titles, at any depth.
const TITLE_FIELDS: [&str; 3] = ["errors", "error", "summary"];

/// One recorded case.
pub(crate) struct Case {
    fields: Map<String, Value>,
}

/// Reads all cases of a group, in their order.
#[track_caller]
pub(crate) fn load(group: &str) -> Vec<Case> {
    let text = std::fs::read(format!("{FOLDER}/{group}.json")).expect("the group is there");
    let file: Value = serde_json::from_slice(&text).expect("the group is JSON");
    let cases = file["cases"].as_array().expect("a group has cases");
    assert!(!cases.is_empty(), "{group}");
    cases
        .iter()
        .map(|case| Case {
            fields: case.as_object().expect("a case is an object").clone(),
        })
        .collect()
}

impl Case {
    /// Returns the id of the case, e.g. `lifecycle/fresh_constraint`.
    pub(crate) fn id(&self) -> String {
        self.fields["id"].as_str().expect("a text").to_owned()
    }

    /// Returns the command that was recorded, e.g. `tofu init`.
    pub(crate) fn command(&self) -> &str {
        self.fields["command"].as_str().expect("a text")
    }

    /// Returns the case as it was recorded, whichever program that was.
    pub(crate) fn as_recorded(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// Returns the case as one program answered it, without the keys of the others.
    ///
    /// A field that the program did not give is absent.
    pub(crate) fn for_program(&self, program: Flavor) -> Value {
        let mut fields = self.fields.clone();
        fields.retain(|name, _| !Flavor::ALL.iter().any(|other| key(*other) == Some(name)));
        if program.is_opentofu() {
            fields = exchange_fields(&fields);
        }
        let own = key(program).and_then(|key| self.fields.get(key));
        for (name, value) in own.and_then(Value::as_object).into_iter().flatten() {
            match value {
                Value::Null => fields.remove(name),
                value => fields.insert(name.clone(), value.clone()),
            };
        }
        Value::Object(fields)
    }
}

/// Reads a file that a case names, as one program saw it or wrote it.
#[track_caller]
pub(crate) fn file(program: Flavor, path: &str) -> Vec<u8> {
    let bytes = std::fs::read(format!("{FOLDER}/{path}")).expect("the file is there");
    let is_own = key(program).is_some_and(|key| path.starts_with(key));
    if program.is_opentofu() && !is_own {
        exchange_bytes(&bytes, &PAIRS)
    } else {
        bytes
    }
}

/// Exchanges hosts and headers, both ways at once, as for OpenTofu.
pub(crate) fn exchange(text: &str) -> String {
    as_text(exchange_bytes(text.as_bytes(), &PAIRS))
}

/// Exchanges hosts, headers and the names of the programs, as for titles of OpenTofu.
pub(crate) fn exchange_title(text: &str) -> String {
    let pairs: Vec<_> = PAIRS.into_iter().chain([TITLE_PAIR]).collect();
    as_text(exchange_bytes(text.as_bytes(), &pairs))
}

/// Returns the key of what a program answered otherwise; Terraform 1.11 has none.
fn key(program: Flavor) -> Option<&'static str> {
    match program {
        Flavor::Terraform1_11 => None,
        Flavor::Terraform1_15 => Some("terraform_1_15_9"),
        Flavor::Terraform1_16 => Some("terraform_1_16_0_rc2"),
        Flavor::OpenTofu1_12 => Some("opentofu_1_12_6"),
        other => panic!("no recorded answers of {other}"),
    }
}

fn exchange_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let exchanged = fields.iter().map(|(name, value)| {
        let exchange = if TITLE_FIELDS.contains(&name.as_str()) {
            exchange_title
        } else {
            exchange
        };
        (name.clone(), exchange_value(value, exchange))
    });
    exchanged.collect()
}

fn exchange_value(value: &Value, exchange: fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => exchange(text).into(),
        Value::Array(items) => items
            .iter()
            .map(|item| exchange_value(item, exchange))
            .collect(),
        Value::Object(fields) => Value::Object(exchange_fields(fields)),
        other => other.clone(),
    }
}

/// Works on bytes, because some recorded files are no UTF-8.
fn exchange_bytes(bytes: &[u8], pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        let both_ways = pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let mut matching = both_ways.filter(|(from, _)| rest.starts_with(from.as_bytes()));
        match matching.next() {
            Some((from, to)) => {
                result.extend_from_slice(to.as_bytes());
                rest = &rest[from.len()..];
            }
            None => {
                result.push(*first);
                rest = behind;
            }
        }
    }
    result
}

fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("whole texts were exchanged for whole texts")
}

#[test]
fn hosts_and_headers_are_exchanged_both_ways_at_once() {
    let given = "Registry.Terraform.IO registry.opentofu.org by \"terraform init\" Terraform";
    let exchanged = "Registry.OpenTofu.ORG registry.terraform.io by \"tofu init\" Terraform";
    assert_eq!(exchange(given), exchanged);
    assert_eq!(exchange(exchanged), given);
    assert_eq!(exchange_title("No Terraform é"), "No OpenTofu é");
}

#[test]
fn the_fields_of_a_program_replace_those_of_the_case() {
    let case = Case {
        fields: serde_json::from_str(
            r#"{"input": "registry.terraform.io/a/b", "errors": ["Bad Terraform"], "line": 1,
                "opentofu_1_12_6": {"errors": ["Terraform"], "line": null},
                "terraform_1_16_0_rc2": {"line": 2}}"#,
        )
        .unwrap(),
    };
    let check = |program, expected: &str| {
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(case.for_program(program), expected, "{program}");
    };
    let recorded =
        r#"{"input": "registry.terraform.io/a/b", "errors": ["Bad Terraform"], "line": 1}"#;
    check(Flavor::Terraform1_11, recorded);
    check(Flavor::Terraform1_15, recorded);
    check(Flavor::Terraform1_16, &recorded.replace('1', "2"));
    check(
        Flavor::OpenTofu1_12,
        r#"{"input": "registry.opentofu.org/a/b", "errors": ["Terraform"]}"#,
    );
}

#[test]
fn a_file_is_exchanged_unless_the_program_wrote_it() {
    let header = |program, path| {
        let bytes = file(program, path);
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap().to_vec();
        String::from_utf8(line).unwrap()
    };
    let [terraform, tofu] = ["terraform", "tofu"]
        .map(|name| format!("# This file is maintained automatically by \"{name} init\"."));
    let path = "parse/addr_opentofu.out.hcl";
    assert_eq!(header(Flavor::Terraform1_16, path), terraform);
    assert_eq!(header(Flavor::OpenTofu1_12, path), tofu);
    let own = format!("opentofu_1_12_6/{path}");
    assert_eq!(header(Flavor::OpenTofu1_12, &own), tofu);
}
