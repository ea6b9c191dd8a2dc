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

/// The schema of the lines of `--format json-lines` before the last.
pub(crate) static EVENTS: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/schema/event.json"
    ));
    serde_json::from_str(text).expect("the schema is JSON")
});

/// The same, in which a field that the schema does not know is an error: nothing is printed that
/// it does not describe.
static CLOSED: LazyLock<Validator> = LazyLock::new(|| closed(&PUBLISHED));

static CLOSED_EVENTS: LazyLock<Validator> = LazyLock::new(|| closed(&EVENTS));

fn closed(schema: &Value) -> Validator {
    let mut schema = schema.clone();
    close(&mut schema);
    jsonschema::draft202012::new(&schema).expect("the schema is one")
}

/// Holds what a command printed against the schemas if it was asked for JSON; arguments that are
/// refused print nothing.
#[track_caller]
pub(crate) fn check(printed: &[u8], args: &[&str]) {
    let is = |format| {
        let joined = format!("--format={format}");
        let mut pairs = args.windows(2);
        args.contains(&&*joined) || pairs.any(|pair| pair == ["--format", format])
    };
    let mut lines: Vec<&[u8]> = match (is("json"), is("json-lines")) {
        (true, _) => vec![printed],
        (_, true) => printed.split_inclusive(|byte| *byte == b'\n').collect(),
        _ => return,
    };
    let Some(last) = lines.pop().filter(|last| !last.is_empty()) else {
        return;
    };
    let value = |line| serde_json::from_slice::<Value>(line).expect("one object");
    let found = lines.into_iter().map(value);
    let found = found.flat_map(|event| faults_by(&CLOSED_EVENTS, &event));
    let found: Vec<String> = found.chain(faults(&value(last))).collect();
    assert!(found.is_empty(), "{args:?}: {found:#?}");
}

/// Lists what about a document is not as the schema says.
pub(crate) fn faults(document: &Value) -> Vec<String> {
    faults_by(&CLOSED, document)
}

fn faults_by(validator: &Validator, value: &Value) -> Vec<String> {
    let faults = validator.iter_errors(value);
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
