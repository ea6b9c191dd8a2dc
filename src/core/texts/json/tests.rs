//! The tree, its faults, and what is left out.

use std::io::BufReader;

use super::*;

/// Writes a tree so that it can be compared: names, values and spans.
fn written(value: &JsonValue) -> String {
    let text = match &value.kind {
        ValueKind::Null => "null".to_owned(),
        ValueKind::Bool(truth) => truth.to_string(),
        ValueKind::Number(number) => number.clone(),
        ValueKind::String(text) => format!("{text:?}"),
        ValueKind::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(written).collect();
            format!("[{}]", elements.join(" "))
        }
        ValueKind::Object(members) => {
            let member = |member: &Member| {
                let Span { start, end } = member.name_span;
                format!("{:?}@{start}-{end}={}", member.name, written(&member.value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(" "))
        }
    };
    format!("{text}@{}-{}", value.span.start, value.span.end)
}

#[track_caller]
fn check(text: &[u8], expected: &str) {
    let value = parse(text).expect("no fault");
    assert_eq!(written(&value), expected);
    // Read byte for byte it is the same.
    let slow = BufReader::with_capacity(1, text);
    let read = read(slow, &Members::All).expect("memory");
    assert_eq!(read, Ok(value));
}

#[track_caller]
fn check_faults(text: &[u8], expected: &[&str]) {
    let faults = parse(text).expect_err("faults");
    let reported: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(reported, expected, "{}", String::from_utf8_lossy(text));
    let slow = BufReader::with_capacity(1, text);
    let read = read(slow, &Members::All)
        .expect("memory")
        .expect_err("faults");
    let reported: Vec<String> = read.iter().map(ToString::to_string).collect();
    assert_eq!(reported, expected);
}

#[test]
fn a_tree_has_all_members_with_their_places() {
    check(
        br#"{"a": [1, -2.5e3, {}], "a": null}"#,
        r#"{"a"@1-4=[1@7-8 -2.5e3@10-16 {}@18-20]@6-21 "a"@23-26=null@28-32}@0-33"#,
    );
    check(b" [ true ,\n false ] ", "[true@3-7 false@11-16]@1-18");
}

#[test]
fn strings_are_decoded() {
    check(
        br#"["\"\\\/\b\f\n\r\t", "\u00e9\ud83d\ude00"]"#,
        "[\"\\\"\\\\/\\u{8}\\u{c}\\n\\r\\t\"@1-19 \"\u{e9}\u{1f600}\"@21-41]@0-42",
    );
    // Half a pair, two halves in the wrong order, and bytes that are no text.
    check(
        b"[\"\\ud83dx\", \"\\ude00\\ud83d\", \"\xff\xfe\", \"\xc3\xa9\"]",
        "[\"\u{fffd}x\"@1-10 \"\u{fffd}\u{fffd}\"@12-26 \"\u{fffd}\u{fffd}\"@28-32 \"\u{e9}\"@34-38]@0-39",
    );
}

#[test]
fn every_fault_is_reported_until_the_structure_breaks() {
    check_faults(
        br#"{"a": 01, "b": yes, "c": "\q", "d" 1, "e": 2}"#,
        &[
            "Invalid JSON number: line 1, column 7",
            "Invalid JSON keyword: line 1, column 16",
            "Invalid JSON string: line 1, column 26",
            "Missing property value colon: line 1, column 36",
        ],
    );
    check_faults(
        b"{\n \"a\":\n  [1,]}",
        &["Trailing comma in array: line 3, column 6"],
    );
    check_faults(b"", &["Missing value: line 1, column 1"]);
    check_faults(b"{} {}", &["Extraneous data after value: line 1, column 4"]);
    check_faults(b"12", &["Root value must be object: line 1, column 1"]);
}

#[test]
fn exponents_may_begin_with_zeros() {
    for number in ["1e0", "1E-00000000012", "2.5e+0999999999", "1e000000000000"] {
        check(
            format!("[{number}]").as_bytes(),
            &format!("[{number}@1-{}]@0-{}", number.len() + 1, number.len() + 2),
        );
    }
    for number in ["1e", "1e+", "1e1000000000"] {
        check_faults(
            format!("[{number}]").as_bytes(),
            &["Invalid JSON number: line 1, column 2"],
        );
    }
}

#[test]
fn faults_are_whole_characters() {
    for text in [
        "{\"a\":\u{e9}}",
        "{\"a\":\u{201c}x\u{201d}}",
        "{\"\\\u{1f600}\": 1}",
        "\u{feff}{}",
        "{} \u{e9}",
    ] {
        for fault in parse(text.as_bytes()).expect_err("faults") {
            let Span { start, end } = fault.span;
            assert!(text.get(start..end).is_some(), "{text}: {start} to {end}");
        }
    }
}

#[test]
fn only_what_is_wanted_is_kept_but_all_is_checked() {
    static WANTED: Members = Members::Only(&[
        ("v", Members::All),
        ("list", Members::Only(&[("name", Members::All)])),
    ]);
    let text = br#"{"x": {"v": [1, {"y": {}}]}, "v": 4, "list": [
        {"name": "a", "secret": "s", "deep": [{"name": "no"}]}, {"name": {"b": 1}}], "z": 1}"#;
    let value = read(&text[..], &WANTED).expect("memory").expect("good");
    let ValueKind::Object(members) = &value.kind else {
        panic!("an object");
    };
    let names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
    assert_eq!(names, ["v", "list"]);
    let shown = format!("{value:?}");
    assert!(
        shown.contains("\"a\"") && shown.contains("\"b\""),
        "{shown}"
    );
    assert!(
        !shown.contains("secret") && !shown.contains("no"),
        "{shown}"
    );
    let broken = br#"{"x": {"v": [01]}}"#;
    let faults = read(&broken[..], &WANTED)
        .expect("memory")
        .expect_err("one");
    assert_eq!(faults[0].title, "Invalid JSON number");
}

#[test]
fn nesting_has_a_limit() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(nested(MAX_NESTING).as_bytes()).is_ok());
    let faults = parse(nested(MAX_NESTING + 1).as_bytes()).expect_err("too deep");
    assert_eq!(faults[0].title, TOO_DEEP);
    static NOTHING: Members = Members::Only(&[]);
    let read_nested = |levels| {
        let text = format!("{{\"a\": {}}}", nested(levels));
        read(text.as_bytes(), &NOTHING).expect("memory").is_ok()
    };
    assert!(read_nested(MAX_SKIPPED_NESTING - 1));
    assert!(!read_nested(MAX_SKIPPED_NESTING));
}
