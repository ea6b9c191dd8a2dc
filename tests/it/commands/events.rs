//! `--format json-lines`: what happens, line by line, and then the result.

use super::registry::{DEMO, TWO, lock, rule, with_registry};
use super::*;

/// Returns the lines that a command prints, each of which is held against its schema.
fn lines(stdout: &str) -> Vec<Value> {
    let lines = stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("an object per line"))
        .collect()
}

/// Returns how often something happened to a URL that ends like this.
fn count(lines: &[Value], event: &str, end: &str) -> usize {
    let is = |line: &&Value| {
        line["event"] == event && line["url"].as_str().is_some_and(|url| url.ends_with(end))
    };
    lines.iter().filter(is).count()
}

#[test]
fn events_come_line_by_line_and_the_result_last() {
    let (_registry, lab) = with_registry(DEMO);
    let lined = lock(&lab, &[TWO, &["--format", "json-lines", "-v"]].concat()).exits(0);
    assert_eq!(lined.stderr, "");
    let mut lines = lines(&lined.stdout);
    let result = lines.pop().unwrap();
    for (event, end) in [
        ("requested", "/v1/providers/acme/demo/versions"),
        ("answered", "/v1/providers/acme/demo/versions"),
        ("download-started", "demo_1.0.0_linux_amd64.zip"),
        ("download-finished", "demo_1.0.0_linux_amd64.zip"),
        ("download-finished", "demo_1.0.0_darwin_arm64.zip"),
    ] {
        assert_eq!(count(&lines, event, end), 1, "{event} {end}");
    }
    assert!(
        lines
            .iter()
            .all(|line| line.get("format_version").is_none())
    );
    assert_eq!(result["roots"][0]["providers"][0]["version"], "1.0.0");
    // The last line is the object of the other format; nothing is left to do then.
    let again = lock(&lab, &[TWO, &["--format", "json-lines"]].concat());
    let object = lock(&lab, &[TWO, &["--format", "json"]].concat());
    let again = super::events::lines(&again.stdout).pop().unwrap();
    let object = object.json();
    assert_eq!(again, object);
}

#[test]
fn what_is_repeated_and_what_fails_are_events() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&rule("versions", "503"));
    let failed = lock(&lab, &["--format", "json-lines"]).exits(2);
    let lines = lines(&failed.stdout);
    let end = "/v1/providers/acme/demo/versions";
    assert_eq!(count(&lines, "repeated", end), 1);
    assert_eq!(lines.last().unwrap()["roots"][0]["status"], "failed");
}

#[test]
fn only_commands_that_take_long_have_events() {
    let (_registry, lab) = with_registry(DEMO);
    let refused = lab.run(&["show", "--format", "json-lines"]).exits(2);
    refused.stderr_has("[possible values: human, json]");
}
