//! The schema of the JSON output, made of the types.
//!
//! Only this test derives and compares it: a program that prints JSON needs no code for its schema.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;
use snapbox::{assert_data_eq, file};

use super::JsonDocument;
use crate::sources::net::Event;

#[test]
fn the_schema_in_the_repository_is_that_of_the_types() {
    let text = serde_json::to_string_pretty(&schema_of::<JsonDocument<'_>>()).expect("JSON")
        + "
";
    assert_data_eq!(text, file!["../../../../fixtures/schema/output.json"].raw());
}

#[test]
fn the_schema_of_events_is_that_of_the_type() {
    let mut schema = schema_of::<Event<'_>>();
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        // The types have no place for the text of the field that says which variant a line is.
        variant["properties"]["event"]["description"] = "What happened.".into();
    }
    let text = serde_json::to_string_pretty(&schema).expect("JSON")
        + "
";
    assert_data_eq!(text, file!["../../../../fixtures/schema/event.json"].raw());
}

/// Makes the schema of a type, as it is printed (JSON Schema, draft 2020-12).
fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(tidy));
    settings.into_generator().into_root_schema_for::<T>()
}

/// Makes a schema say what is printed, in words that every validator supports.
fn tidy(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    // Names of Rust's integers; strict validators refuse formats that they do not know.
    fields.remove("format");
    if let Some(Value::String(text)) = fields.get_mut("description") {
        // A line of a doc comment ends at the width of the source, which says nothing to readers of the schema.
        let paragraphs: Vec<String> = text
            .split("\n\n")
            .map(|lines| lines.replace('\n', " "))
            .collect();
        *text = paragraphs.join("\n\n");
    }
    // Fields that may be absent are left out rather than null.
    let required = fields.get("required").and_then(Value::as_array).cloned();
    let required = required.unwrap_or_default();
    let Some(Value::Object(properties)) = fields.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        let Some(property) = property.as_object_mut() else {
            continue;
        };
        if required.iter().any(|required_name| required_name == name) {
            continue;
        }
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|type_name| type_name != "null");
            if let [only] = &types[..] {
                let only = only.clone();
                property.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(any)) = property.get_mut("anyOf") {
            any.retain(|schema| schema["type"] != "null");
            if let [Value::Object(only)] = &any[..] {
                let only = only.clone();
                property.remove("anyOf");
                property.extend(only);
            }
        }
    }
}
