//! The schema of the JSON output, as the repository keeps it.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

/// The schema for readers, who pass over fields that they do not know.
pub(crate) static PUBLISHED: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/schema/output.json"
    ));
    serde_json::from_str(text).expect("the schema is JSON")
});

/// The same, in which a field that the schema does not know is an error: nothing is printed that
/// it does not describe.
static CLOSED: LazyLock<Validator> = LazyLock::new(|| {
    let mut schema = PUBLISHED.clone();
    close(&mut schema);
    jsonschema::draft202012::new(&schema).expect("the schema is one")
});

/// Tells whether a command line asks for JSON.
pub(crate) fn is_asked(args: &[&str]) -> bool {
    args.contains(&"--format=json") || args.windows(2).any(|pair| pair == ["--format", "json"])
}

/// Holds what a command printed against the schema; arguments that are refused print nothing.
#[track_caller]
pub(crate) fn check(printed: &[u8], args: &[&str]) {
    if printed.is_empty() {
        return;
    }
    let document: Value = serde_json::from_slice(printed).expect("one object");
    let faults = faults(&document);
    assert!(faults.is_empty(), "{args:?}: {faults:#?} in {document:#}");
}

/// Lists what about a document is not as the schema says.
pub(crate) fn faults(document: &Value) -> Vec<String> {
    let faults = CLOSED.iter_errors(document);
    let faults = faults.map(|fault| format!("{}: {fault}", fault.instance_path()));
    faults.collect()
}

/// Forbids fields that are not named, here and below.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
