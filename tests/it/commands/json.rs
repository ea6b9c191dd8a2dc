//! What programs are told.

use serde_json::{Value, json};

use super::{LOCK, ONE_PROVIDER};
use crate::lab::Lab;

/// Runs a command and returns the object that it prints.
fn told(lab: &Lab, args: &[&str]) -> Value {
    let outcome = lab.run(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&outcome.stdout).expect("one object")
}

/// A lock of `x`, with an é before the second block, for columns are characters.
const TWICE: &str = "\
provider \"example.com/t/x\" {
  version = \"1.0.0\"
}

/* é */ provider \"example.com/t/x\" {
  version = \"1.1.0\"
}
";

#[test]
fn a_finding_has_the_range_that_it_is_about_and_the_places_that_explain_it() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER).write(LOCK, TWICE);
    let findings = &told(&lab, &["verify", "--only", "file"])["roots"][0]["findings"];
    let is_twice = |finding: &&Value| finding["rule"] == "duplicate-provider";
    let twice = findings.as_array().unwrap().iter().find(is_twice).unwrap();
    let range = ["line", "column", "end_line", "end_column"].map(|name| &twice[name]);
    assert_eq!(json!(range), json!([5, 9, 5, 35]));
    assert_eq!(
        twice["related"],
        json!([{
            "file": LOCK, "line": 1, "column": 1, "end_line": 1, "end_column": 27,
            "text": "first locked here",
        }])
    );
}
