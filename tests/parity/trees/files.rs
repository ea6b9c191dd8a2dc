//! Trees as files, in native or in JSON syntax.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::blocks::Block;
use super::strategy::{Fault, Module, Test, Tree};

const PRIMARY: [&str; 3] = ["main.tf", "extra.tf", "more.tf.json"];
const OVERRIDES: [&str; 4] = [
    "a_override.tf",
    "override.tf",
    "override.tf.json",
    "z_override.tf.json",
];

/// Returns the text of each file, by its path from the root on.
pub(super) fn files(tree: &Tree) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let dirs = directories(tree);
    for (at, module) in tree.modules.iter().enumerate() {
        write_module(module, &dirs[at], &dirs, &mut files);
    }
    for (n, test) in tree.tests.iter().enumerate() {
        let dir = if test.in_directory { "tests/" } else { "" };
        let (ending, text) = match test.json {
            true => ("json", json_test(test, &dirs)),
            false => ("hcl", native_test(test, &dirs)),
        };
        files.insert(format!("{dir}t{n}.tftest.{ending}"), text);
    }
    let mut state = tree.state.as_ref().map(|state| {
        let resources = state.resources.iter().enumerate();
        state_text(resources.map(|(n, (addr, in_module))| {
            let module = if *in_module { "module.c0" } else { "" };
            in_state(&format!("r{n}"), addr, module)
        }))
    });
    if let Some((at, fault)) = &tree.fault {
        let dir = &dirs[*at];
        match fault {
            Fault::Text(text) => {
                files.insert(format!("{dir}q.tf"), (*text).to_owned());
            }
            Fault::Json(text) => {
                files.insert(format!("{dir}q.tf.json"), (*text).to_owned());
            }
            Fault::Test(text) => {
                files.insert("q.tftest.hcl".to_owned(), (*text).to_owned());
            }
            Fault::State(text) => state = Some((*text).to_owned()),
            Fault::Source(_) | Fault::Constraint(_) | Fault::Version(_) => {}
        }
    }
    if let Some(state) = state {
        files.insert("terraform.tfstate".to_owned(), state);
    }
    files
}

/// Returns the directory of each module from the root on, with a slash behind it.
fn directories(tree: &Tree) -> Vec<String> {
    let mut dirs: Vec<String> = Vec::new();
    for (at, module) in tree.modules.iter().enumerate() {
        dirs.push(match at {
            0 => String::new(),
            _ => format!("{}m{at}/", dirs[module.inside]),
        });
    }
    dirs
}

/// Writes the way from one directory to another, in one of several spellings.
pub(super) fn way(from: &str, to: &str, spelling: usize) -> String {
    let to = to.trim_end_matches('/');
    let ups = "../".repeat(from.matches('/').count());
    match (spelling, from) {
        (1, _) => format!("./{ups}{to}/"),
        (2, _) => format!("./nowhere/../{ups}./{to}"),
        (_, "") => format!("./{to}"),
        _ => format!("{ups}{to}"),
    }
}

fn write_module(module: &Module, dir: &str, dirs: &[String], files: &mut BTreeMap<String, String>) {
    // A directory without files would be no module.
    files.insert(format!("{dir}{}", PRIMARY[0]), String::new());
    let mut jsons: BTreeMap<String, Vec<Block<'_>>> = BTreeMap::new();
    let primary = super::blocks::primary(module, dir, dirs).into_iter();
    let primary = primary.zip(module.first_file..);
    let primary = primary.map(|(block, n)| (block, PRIMARY[n % PRIMARY.len()]));
    let overrides = super::blocks::overrides(module, dir, dirs).into_iter();
    let overrides = overrides.zip(module.first_file..);
    let overrides = overrides.map(|(block, n)| (block, OVERRIDES[n % OVERRIDES.len()]));
    for (block, name) in primary.chain(overrides) {
        let path = format!("{dir}{name}");
        match path.ends_with(".json") {
            true => jsons.entry(path).or_default().push(block),
            false => *files.entry(path).or_default() += &block.native(),
        }
    }
    for (path, blocks) in jsons {
        let file = match module.nests {
            true => nested(&blocks),
            false => listed(&blocks),
        };
        files.insert(path, file.to_string() + "\n");
    }
}

/// Lists blocks of a kind, each with its labels around it.
fn listed(blocks: &[Block<'_>]) -> Value {
    let mut file = Map::new();
    for (kind, labels, body) in blocks.iter().flat_map(Block::json) {
        let whole = labels
            .iter()
            .rev()
            .fold(body, |body, label| json!({ label: body }));
        let list = file.entry(kind).or_insert_with(|| json!([]));
        list.as_array_mut().unwrap().push(whole);
    }
    Value::Object(file)
}

/// Puts blocks of a kind into one object; where labels are the same, a list has the bodies.
fn nested(blocks: &[Block<'_>]) -> Value {
    let mut file = json!({});
    for (kind, labels, body) in blocks.iter().flat_map(Block::json) {
        let mut at = &mut file[kind];
        for label in &labels {
            at = &mut at[label.as_str()];
        }
        *at = match std::mem::take(at) {
            Value::Null => body,
            Value::Array(mut bodies) => {
                bodies.push(body);
                bodies.into()
            }
            first => vec![first, body].into(),
        };
    }
    file
}

fn native_test(test: &Test, dirs: &[String]) -> String {
    let mut text = String::new();
    if let Some(name) = test.provider {
        text += &format!("provider {name:?} {{}}\n");
    }
    if let Some(name) = test.mock {
        text += &format!("mock_provider {name:?} {{\n  alias = \"mock\"\n}}\n");
    }
    for (n, target) in test.runs.iter().enumerate() {
        let module = target.map(|at| {
            let source = way("", &dirs[at], 0);
            format!("  module {{\n    source = {source:?}\n  }}\n")
        });
        text += &format!("run \"u{n}\" {{\n{}}}\n", module.unwrap_or_default());
    }
    text
}

fn json_test(test: &Test, dirs: &[String]) -> String {
    let mut file = json!({});
    if let Some(name) = test.provider {
        file["provider"][name] = json!({});
    }
    if let Some(name) = test.mock {
        file["mock_provider"][name] = json!({ "alias": "mock" });
    }
    for (n, target) in test.runs.iter().enumerate() {
        let run = match target {
            Some(at) => json!({ "module": { "source": way("", &dirs[*at], 0) } }),
            None => json!({}),
        };
        file["run"][format!("u{n}")] = run;
    }
    file.to_string()
}

/// Writes a state.
pub(super) fn state_text(resources: impl Iterator<Item = Value>) -> String {
    let state = json!({
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": 1,
        "lineage": "00000000-0000-0000-0000-000000000001",
        "outputs": {},
        "resources": resources.collect::<Vec<_>>(),
        "check_results": null,
    });
    state.to_string()
}

fn in_state(name: &str, addr: &str, module: &str) -> Value {
    let mut resource = json!({
        "mode": "managed",
        "type": "kept_x",
        "name": name,
        "provider": format!("provider[{addr:?}]"),
        "instances": [],
    });
    if !module.is_empty() {
        resource["module"] = module.into();
        resource["provider"] = format!("{module}.provider[{addr:?}].own").into();
    }
    resource
}
