//! What `render --json` showed, value by value.

use lockctl::diag::Texts;
use lockctl::expr::Value as Shown;
use lockctl::os::RealDisk;
use lockctl::terragrunt::{Documents, evaluate, render};
use serde_json::{Map, Number, Value};

use super::Counts;
use super::lab::Lab;
use super::steps::Step;

/// Marks a value that only a run knows.
const UNKNOWN: &str = "<unknown>";

pub(super) fn compare(
    lab: &Lab,
    step: &Step,
    outcome: &Value,
    counts: &mut Counts,
    fault: &mut dyn FnMut(String),
) {
    let documents = Documents::default();
    let variable = |name: &str| step.variables.get(name).cloned();
    let around = step.surroundings(lab, &documents, &variable);
    let rendered = render(&RealDisk, &mut Texts::default(), &step.dir, &around);
    let (_, notes) = evaluate(&RealDisk, &mut Texts::default(), &step.dir, &around);
    if step.is_unknown {
        return functions(lab, step, outcome, fault);
    }
    let is_clean = outcome["exit"] == 0 && outcome["error"].is_null();
    if !is_clean {
        // Faults that decide no file are not looked for.
        counts.stopped += 1;
        return;
    }
    let rendered = match rendered {
        Ok(rendered) => rendered,
        Err(problem) => {
            // What lockctl does not compute is unknown, which is right where nothing else is.
            match problem.code == "not-constant"
                && problem.severity == lockctl::diag::Severity::Error
                && is_unknowable(&problem)
            {
                true => counts.unknown += 1,
                false => fault(format!("{problem:?}")),
            }
            return;
        }
    };
    if notes
        .iter()
        .any(|note| note.title.starts_with("Terragrunt stops"))
    {
        fault(format!("notes: {notes:?}"));
    }
    let Some(expected) = outcome.get("config") else {
        return;
    };
    let shown = slim(lab, &rendered.value.value);
    let mut found = shown.as_object().cloned().unwrap_or_default();
    if !step.keep.is_empty() {
        found.retain(|key, _| step.keep.contains(key));
    }
    let found = Value::Object(found);
    let mut has_unknown = false;
    if let Some(difference) = difference(expected, &found, "", &mut has_unknown) {
        fault(difference);
    }
    if has_unknown {
        counts.unknown += 1;
        if rendered.reasons.is_empty() && !outcome["config"]["errors"].is_object() {
            fault("unknown without a reason".to_owned());
        }
    }
}

/// What is refused differs from what is only not computed.
fn is_unknowable(problem: &lockctl::diag::Diagnostic) -> bool {
    problem.title == "Expression cannot be evaluated here"
        || problem.title == "This is known only in a run of Terragrunt"
}

/// Each function that exists is refused for want of arguments, under another title.
fn functions(lab: &Lab, step: &Step, outcome: &Value, fault: &mut dyn FnMut(String)) {
    let text = std::fs::read_to_string(step.dir.join("terragrunt.hcl")).unwrap();
    let unknown: Vec<&str> = super::lab::texts(&outcome["unknown"]).collect();
    let calls = text.lines().filter_map(|line| line.split_once(" = "));
    let names: Vec<&str> = calls.map(|(_, call)| call.trim_end_matches("()")).collect();
    assert!(names.len() > 100, "functions are called");
    for name in names {
        let path = step.dir.join("terragrunt.hcl");
        std::fs::write(&path, format!("locals {{\n  f = {name}()\n}}\n")).unwrap();
        let documents = Documents::default();
        let variable = |_: &str| None;
        let around = step.surroundings(lab, &documents, &variable);
        let rendered = render(&RealDisk, &mut Texts::default(), &step.dir, &around);
        let is_unknown = rendered.is_err_and(|problem| problem.title == "Call to unknown function");
        if is_unknown != unknown.contains(&name) {
            fault(format!("{name}: unknown is {is_unknown}"));
        }
    }
}

/// Writes a value as the recorder kept it: without null, empty and default values.
fn slim(lab: &Lab, value: &Shown) -> Value {
    match value {
        Shown::Null => Value::Null,
        Shown::Unknown => Value::String(UNKNOWN.to_owned()),
        Shown::Marked(_, value) => slim(lab, value),
        Shown::Bool(value) => Value::Bool(*value),
        Shown::Number(number) => {
            let text = number.to_string();
            let number = text.parse::<i64>().map(Number::from).ok();
            let number = number.or_else(|| Number::from_f64(text.parse().unwrap()));
            Value::Number(number.unwrap())
        }
        Shown::String(text) => Value::String(lab.plain(text)),
        Shown::Tuple(items) => items.iter().map(|item| slim(lab, item)).collect(),
        Shown::Object(items) => {
            let mut kept = Map::new();
            for (name, item) in items {
                let item = slim(lab, item);
                if !is_default(name, &item) {
                    kept.insert(name.clone(), item);
                }
            }
            Value::Object(kept)
        }
    }
}

fn is_default(name: &str, value: &Value) -> bool {
    const TEXTS: &[&str] = &[
        "download_dir",
        "iam_role",
        "terraform_binary",
        "terraform_version_constraint",
        "terragrunt_version_constraint",
        "iam_web_identity_token",
        "iam_assume_role_session_name",
        "comment_prefix",
    ];
    const WORDS: &[&str] = &["disable", "disable_signature", "if_disabled", "skip"];
    match value {
        Value::Null => true,
        Value::Object(items) => items.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => {
            TEXTS.contains(&name) && ["", "# "].contains(&text.as_str())
                || WORDS.contains(&name) && text == "skip"
        }
        Value::Bool(false) => WORDS.contains(&name),
        _ => false,
    }
}

/// Finds the first place where something else was recorded.
fn difference(expected: &Value, found: &Value, at: &str, has_unknown: &mut bool) -> Option<String> {
    if found == UNKNOWN {
        *has_unknown = true;
        return None;
    }
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let place = format!("{at}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => difference(a, b, &place, has_unknown),
                    // Defaults of a dependency's arguments mean nothing to us.
                    (None, Some(b)) if b == UNKNOWN => None,
                    (a, b) => Some(format!("{place}: {a:?}, but {b:?}")),
                }
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(n, (a, b))| difference(a, b, &format!("{at}[{n}]"), has_unknown)),
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (a, b) if a == b => None,
        (a, b) => Some(format!("{at}: {a}, but {b}")),
    }
}
