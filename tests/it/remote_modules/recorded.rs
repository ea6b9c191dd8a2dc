//! The recorded cases of `fixtures/module-cases`, as each program answered them.

use lockctl::flavor::Flavor;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/module-cases");

/// The programs that were run, each with the rules that it stands for.
pub(crate) const PROGRAMS: [(&str, Flavor); 2] = [
    (TERRAFORM, Flavor::Terraform1_11),
    ("tofu 1.12.6", Flavor::OpenTofu1_12),
];

const TERRAFORM: &str = "terraform 1.11.4";

/// Reads all cases of a group, in their order.
#[track_caller]
pub(crate) fn load(group: &str) -> Vec<Value> {
    let text = std::fs::read(format!("{FOLDER}/{group}.json")).expect("the group is there");
    let file: Value = serde_json::from_slice(&text).expect("the group is JSON");
    let cases = file["cases"].as_array().expect("a group has cases");
    assert!(!cases.is_empty(), "{group}");
    cases.clone()
}

/// Returns what a program answered to a case; `None` if it was not run.
///
/// Where both answered the same, this is what Terraform said: compare with it what went through
/// [`as_terraform`].
pub(crate) fn outcome(case: &Value, program: &str) -> Option<Value> {
    match &case["outcomes"][program] {
        Value::Null => None,
        Value::String(same) => {
            assert_eq!(same, &format!("as {TERRAFORM}"), "{}", case["id"]);
            Some(case["outcomes"][TERRAFORM].clone())
        }
        outcome => Some(outcome.clone()),
    }
}

/// Exchanges the names of OpenTofu for those of Terraform, as the recorder did before it compared.
pub(crate) fn as_terraform(text: &str) -> String {
    text.replace("registry.opentofu.org", "registry.terraform.io")
        .replace("OpenTofu", "Terraform")
}
