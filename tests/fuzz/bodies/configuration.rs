//! Configuration directories: both syntaxes mean the same, and reading ends within its budget.

use std::collections::BTreeMap;
use std::path::Path;

use lockctl::config::{Loaded, Settings, load};
use lockctl::diag::{FileId, Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::hcl::parse;
use lockctl::hcl::tree::{Body, Expr, ExprKind, Item, ObjectKey};
use lockctl::requirement::ModulePath;
use lockctl::world::mem::MemFiles;
use serde_json::{Map, Value};

use super::{Budget, diagnostics, tree};

pub(super) const BUDGET: Budget = Budget {
    base_bytes: 4 << 20,
    bytes: 2_000,
    base_allocations: 40_000,
    allocations: 400,
};

/// The cost of modules that call themselves: `MAX_STEPS` and `MAX_PATH_STEPS` end it, whatever the size of
/// the input.
const RECURSION: Budget = Budget {
    base_bytes: 96 << 20,
    base_allocations: 4_000_000,
    ..BUDGET
};

/// What stands before the first name is `main.tf`.
pub fn run(data: &[u8]) {
    let parts = tree::parts("main.tf", data);
    check(&tree::put("/top/root", &parts), data);
    if let Some(json) = to_json(&parts) {
        check_both(&parts, &json);
    }
}

/// Reads a directory by the rules of all flavors.
pub(super) fn check(files: &MemFiles, data: &[u8]) {
    let calls = data.windows(6).filter(|word| word == b"module").count();
    let budget = if calls < 2 { BUDGET } else { RECURSION };
    for flavor in Flavor::ALL {
        let mut texts = Texts::default();
        let mut settings = Settings::new(flavor);
        settings.traces_values = true;
        settings.absolute_root = Some("/top/root".into());
        let loaded = budget.spend(data, || {
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

/// Reads a directory in both syntaxes and compares what is required.
fn check_both(native: &[(String, Vec<u8>)], json: &[(String, Vec<u8>)]) {
    for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
        let native = summary(&tree::put("/top/root", native), flavor);
        let other = summary(&tree::put("/top/root", json), flavor);
        if let (Some(native), Some(other)) = (native, other) {
            let texts: Vec<_> = json
                .iter()
                .map(|(name, text)| (name, String::from_utf8_lossy(text)))
                .collect();
            assert_eq!(native, other, "{texts:?}");
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
            .map(|module| format!("{} {:?}", without_ending(&module.path), module.source)),
    );
    lines.sort();
    Some(lines)
}

/// The path of a module without the ending of a test file, of which the programs cut `.tftest.hcl` alone.
fn without_ending(path: &ModulePath) -> String {
    let mut text = path.to_string();
    for (native, json) in ENDINGS {
        for ending in [native, json] {
            text = text.replace(&format!("{ending}."), ".");
        }
    }
    text
}

/// The endings of configuration files in both syntaxes. Of files in JSON alone none are made: `x.tofu` does not
/// hide `x.tf.json`, but `x.tofu.json` does (`config` rules 1.4).
const ENDINGS: [(&str, &str); 4] = [
    (".tf", ".tf.json"),
    (".tofu", ".tofu.json"),
    (".tftest.hcl", ".tftest.json"),
    (".tofutest.hcl", ".tofutest.json"),
];

/// Writes a directory in the other syntax; `None` if a file of it is faulty, or in JSON already.
fn to_json(parts: &[(String, Vec<u8>)]) -> Option<Vec<(String, Vec<u8>)>> {
    // Of two files with the same name the second is there.
    let files: BTreeMap<&str, &[u8]> = parts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_slice()))
        .collect();
    let mut written = Vec::new();
    for (name, text) in files {
        if ENDINGS.iter().any(|(_, json)| name.ends_with(json)) {
            return None;
        }
        let ending = ENDINGS.iter().find(|(native, _)| name.ends_with(native));
        written.push(match ending {
            Some((native, json)) => {
                let stem = name.strip_suffix(native)?;
                (format!("{stem}{json}"), file_to_json(text)?)
            }
            None => (name.to_owned(), text.to_vec()),
        });
    }
    // Files override in the order of their names, which has to be the same.
    written.is_sorted().then_some(written)
}

fn file_to_json(data: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(data).ok()?;
    let (body, problems) = parse(FileId::ALONE, data);
    problems
        .is_empty()
        .then(|| Value::Object(object(text, "", &body)).to_string().into())
}

/// The members of a body, which is that of a file or of a block of the given kind.
fn object(text: &str, kind: &str, body: &Body) -> Map<String, Value> {
    let mut members = Map::new();
    for item in &body.items {
        match item {
            Item::Attribute(attribute) => {
                let name = &attribute.name.text;
                let value = match (kind, name.as_str()) {
                    ("resource" | "data" | "ephemeral" | "import", "provider")
                    | ("module" | "run", "providers")
                    | ("resource" | "data" | "module" | "output", "depends_on")
                    | ("variable", "type") => references(text, &attribute.value),
                    _ => value(text, &attribute.value),
                };
                members.insert(name.clone(), value);
            }
            Item::Block(block) => {
                let mut inside = Value::Object(object(text, &block.kind.text, &block.body));
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

/// What is no value but names something is plain text in JSON (`config` rules 2.4).
fn references(text: &str, expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Null | ExprKind::String(_) => value(text, expr),
        ExprKind::Tuple(elements) => elements
            .iter()
            .map(|element| references(text, element))
            .collect(),
        ExprKind::Object(items) => {
            let mut members = Map::new();
            for item in items {
                let key = match &item.key {
                    ObjectKey::Name(name) => name.text.clone(),
                    ObjectKey::Expr(Expr {
                        kind: ExprKind::String(key),
                        ..
                    }) => key.clone(),
                    // A name with its alias: `aws.east`.
                    ObjectKey::Expr(key) => source_text(text, key),
                };
                members.insert(key, references(text, &item.value));
            }
            Value::Object(members)
        }
        _ => Value::String(source_text(text, expr)),
    }
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
                let Some(key) = literal_key(&item.key) else {
                    return template(text, expr);
                };
                let value = match key {
                    "configuration_aliases" => references(text, &item.value),
                    _ => value(text, &item.value),
                };
                members.insert(key.to_owned(), value);
            }
            Value::Object(members)
        }
        _ => template(text, expr),
    }
}

/// The text of a key that means the same in JSON, where keys are templates and one of them is a comment.
fn literal_key(key: &ObjectKey) -> Option<&str> {
    let text = match key {
        ObjectKey::Name(name) => &name.text,
        ObjectKey::Expr(Expr {
            kind: ExprKind::String(text),
            ..
        }) => text,
        ObjectKey::Expr(_) => return None,
    };
    (text != "//" && !text.contains("${") && !text.contains("%{")).then_some(text)
}

/// Any other expression stands in a template of its own.
fn template(text: &str, expr: &Expr) -> Value {
    Value::String(format!("${{{}}}", source_text(text, expr)))
}

fn source_text(text: &str, expr: &Expr) -> String {
    text[expr.span.start..expr.span.end].to_owned()
}
