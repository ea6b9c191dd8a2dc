//! Configuration directories: both syntaxes mean the same, and reading ends within its budget.

use std::path::Path;

use lockctl::config::{Loaded, Settings, load};
use lockctl::diag::{FileId, Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::hcl::parse;
use lockctl::hcl::tree::{Body, Expr, ExprKind, Item, ObjectKey};
use lockctl::world::mem::MemFiles;
use serde_json::{Map, Value};

use super::{Budget, diagnostics, tree};

pub(super) const BUDGET: Budget = Budget {
    base_bytes: 4 << 20,
    bytes: 2_000,
    base_allocations: 40_000,
    allocations: 400,
};

/// What stands before the first name is `main.tf`.
pub fn run(data: &[u8]) {
    check(&tree::files("/top/root", "main.tf", data), data);
    if let Some(json) = to_json(data) {
        check_both(data, &json);
    }
}

/// Reads a directory by the rules of all flavors.
pub(super) fn check(files: &MemFiles, data: &[u8]) {
    for flavor in Flavor::ALL {
        let mut texts = Texts::default();
        let mut settings = Settings::new(flavor);
        settings.traces_values = true;
        settings.absolute_root = Some("/top/root".into());
        let loaded = BUDGET.spend(data, || {
            load(files, &mut texts, Path::new("/top/root"), &settings)
        });
        check_loaded(&loaded, &texts);
        for module in loaded.modules.iter().take(4) {
            let _ = module.merged(&texts, flavor);
        }
    }
}

fn check_loaded(loaded: &Loaded, texts: &Texts) {
    assert!(loaded.diagnostics.len() <= lockctl::diag::MAX_PROBLEMS + 1);
    let mut has_error = false;
    for diagnostic in &loaded.diagnostics {
        has_error |= diagnostic.severity == Severity::Error;
        for label in diagnostic.primary.iter().chain(&diagnostic.related) {
            diagnostics::check_span(texts.bytes(label.file), label.span);
        }
    }
    assert!(
        loaded.requirements.faulty || !has_error,
        "{:?}",
        loaded.diagnostics
    );
}

/// Reads one file in both syntaxes and compares what is required.
fn check_both(native: &[u8], json: &str) {
    for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
        let native = summary(&tree::files("/top/root", "main.tf", native), flavor);
        let other = MemFiles::with(&[("/top/root/main.tf.json", json)]);
        let other = summary(&other, flavor);
        if let (Some(native), Some(other)) = (native, other) {
            assert_eq!(native, other, "{json}");
        }
    }
}

/// The providers with their constraints, and the modules; `None` with any error.
fn summary(files: &MemFiles, flavor: Flavor) -> Option<Vec<String>> {
    let mut texts = Texts::default();
    let loaded = load(
        files,
        &mut texts,
        Path::new("/top/root"),
        &Settings::new(flavor),
    );
    if loaded.requirements.faulty {
        return None;
    }
    let mut lines: Vec<String> = loaded
        .requirements
        .providers
        .keys()
        .map(|addr| format!("{addr} {}", loaded.requirements.constraints(addr)))
        .collect();
    lines.extend(
        loaded
            .modules
            .iter()
            .map(|module| format!("{} {:?}", module.path, module.source)),
    );
    lines.sort();
    Some(lines)
}

/// Writes a file of plain blocks in the other syntax; `None` if it is no such file.
fn to_json(data: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(data)
        .ok()
        .filter(|text| !text.contains("\n-- "))?;
    let (body, problems) = parse(FileId::ALONE, data);
    problems
        .is_empty()
        .then(|| object(text, &body))
        .map(|value| Value::Object(value).to_string())
}

fn object(text: &str, body: &Body) -> Map<String, Value> {
    let mut members = Map::new();
    for item in &body.items {
        match item {
            Item::Attribute(attribute) => {
                members.insert(attribute.name.text.clone(), value(text, &attribute.value));
            }
            Item::Block(block) => {
                let mut inside = Value::Object(object(text, &block.body));
                for label in block.labels.iter().rev() {
                    inside = Value::Object(Map::from_iter([(label.text.clone(), inside)]));
                }
                let list = members
                    .entry(block.kind.text.clone())
                    .or_insert(Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.push(inside);
                }
            }
        }
    }
    members
}

fn value(text: &str, expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Null => Value::Null,
        ExprKind::Bool(truth) => Value::Bool(*truth),
        ExprKind::String(text) => Value::String(text.replace("${", "$${").replace("%{", "%%{")),
        ExprKind::Tuple(elements) => elements
            .iter()
            .map(|element| value(text, element))
            .collect(),
        ExprKind::Object(items) => {
            let mut members = Map::new();
            for item in items {
                let ObjectKey::Name(name) = &item.key else {
                    return template(text, expr);
                };
                members.insert(name.text.clone(), value(text, &item.value));
            }
            Value::Object(members)
        }
        _ => template(text, expr),
    }
}

/// Any other expression stands in a template of its own.
fn template(text: &str, expr: &Expr) -> Value {
    Value::String(format!("${{{}}}", &text[expr.span.start..expr.span.end]))
}
