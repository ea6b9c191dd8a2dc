//! The schema of the JSON output says all that there is to say (`report/json/schema` makes it of the types).
//!
//! Every output that a test of a command obtains is held against it, too (`support/schema`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::schema::{self, EVENTS, PUBLISHED};
use crate::texts::Text as _;

#[test]
fn the_schema_is_sound_and_open() {
    jsonschema::meta::validate(&PUBLISHED).unwrap();
    let text = PUBLISHED.to_string();
    text.lacks("additionalProperties");
    text.lacks("$id");
    text.lacks("\"format\"");
    assert!(PUBLISHED["title"].is_string());
}

/// Calls `look` with every schema below one, and where it stands.
fn walk(schema: &Value, place: &str, look: &mut dyn FnMut(&str, &Value)) {
    match schema {
        Value::Object(fields) => {
            look(place, schema);
            for (name, field) in fields {
                walk(field, &format!("{place}/{name}"), look);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk(item, &format!("{place}/{at}"), look);
            }
        }
        _ => {}
    }
}

#[test]
fn everything_is_described() {
    let mut seen = 0;
    for schema in [&*PUBLISHED, &*EVENTS] {
        walk(schema, "", &mut |place, schema| {
            let above = place.rsplit('/').nth(1);
            let is_word = schema.get("const").is_some_and(Value::is_string);
            if matches!(above, Some("properties" | "$defs")) || is_word {
                seen += 1;
                let text = schema["description"].as_str().unwrap_or_default();
                assert!(text.ends_with('.'), "{place}: {text:?}");
                assert!(!text.contains("[`"), "{place} links to nowhere: {text}");
            }
            assert_eq!(schema.get("enum"), None, "{place} has words without a text");
        });
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn words_and_fields_are_spelled_alike() {
    let is_word = |word: &str, between: char| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c == between || c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    walk(&PUBLISHED, "", &mut |place, schema| {
        if let Some(word) = schema.get("const").and_then(Value::as_str) {
            assert!(is_word(word, '-'), "{place}: {word}");
        }
        let fields = schema.get("properties").and_then(Value::as_object);
        for name in fields.into_iter().flat_map(|fields| fields.keys()) {
            assert!(is_word(name, '_'), "{place}: {name}");
        }
    });
}

/// A small document that is as the schema says.
fn sound() -> Value {
    json!({
        "format_version": "1.0", "command": "tree", "exit": 0,
        "roots": [{
            "path": ".", "flavor": null, "status": "clean", "findings": [], "failures": [],
            "providers": [{"provider": "example.com/t/x", "constraints": ""}],
        }],
        "summary": {"roots": 1, "errors": 0, "warnings": 0, "notes": 0, "failed": 0},
    })
}

#[test]
fn what_the_schema_does_not_say_is_noticed() {
    assert_eq!(schema::faults(&sound()), [""; 0]);
    let mut seen = BTreeSet::new();
    let wrong = [
        ("/exit", json!(256)),
        ("/format_version", json!("2.0")),
        ("/more", json!(1)),
        ("/roots/0/more", json!(null)),
        ("/roots/0/providers/0/more", json!("")),
        ("/roots/0/providers/0/constraints", json!(null)),
        ("/roots/0/status", json!("fine")),
        ("/roots/0/path", json!(7)),
        ("/summary/roots", json!(-1)),
    ];
    for (place, value) in &wrong {
        let mut document = sound();
        let (above, name) = place.rsplit_once('/').unwrap();
        document.pointer_mut(above).unwrap()[name] = value.clone();
        let faults = schema::faults(&document);
        assert!(!faults.is_empty(), "{place}");
        seen.extend(faults);
    }
    assert_eq!(seen.len(), wrong.len(), "{seen:#?}");
}

/// Readers take what is still to come.
#[test]
fn fields_to_come_are_no_fault_for_readers() {
    let open = jsonschema::draft202012::new(&PUBLISHED).unwrap();
    let mut document = sound();
    document["roots"][0]["to_come"] = json!({});
    document["roots"][0]["providers"][0]["to_come"] = json!([]);
    assert!(open.is_valid(&document));
}
