//! Locations of the state: `backend` and `cloud` blocks (config rules 3.6, 12.5).
//!
//! Only those of the root count. Only what says where the state is kept is read.

use crate::expr::{self, Value};
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::decode::contents::{Backend, ComputedBackend, Contents, LocalBackend};
use crate::module_config::decode::late::Late;
use crate::module_config::faults::Faults;
use crate::module_config::syntax::{self, references};

/// The service behind a `cloud` block, in words.
const IN_THE_CLOUD: &str = "HCP Terraform";

/// Decodes a setting, if it says where the state is kept; the last such block of a file counts, a
/// `cloud` block before all others.
pub(crate) fn decode(kind: &str, block: &Block, contents: &mut Contents, faults: &Faults) {
    // A `cloud` block wins over a `backend` in the same file, wherever it stands (config rules 3.6).
    let is_in_cloud = match &contents.backend {
        Some(Backend::Elsewhere { kind, .. }) => kind == IN_THE_CLOUD,
        Some(Backend::Computed(computed)) => computed.kind == IN_THE_CLOUD,
        _ => false,
    };
    let backend = match kind {
        "backend" if is_in_cloud => None,
        "cloud" | "backend" if is_computed(&block.body, faults) => Some(computed(block, faults)),
        "cloud" => Some(elsewhere(IN_THE_CLOUD.to_owned(), block, faults)),
        "backend" => labelled(block, faults),
        _ => None,
    };
    contents.set_backend(backend);
}

/// Returns whether an argument of a body, or of a block in it, is computed.
fn is_computed(body: &Body, faults: &Faults) -> bool {
    // Terraform takes constants only (config rules 10.3).
    faults.flavor.is_opentofu()
        && body.items.iter().any(|item| match item {
            Item::Attribute(argument) => {
                let value = syntax::as_template(&argument.value, faults);
                references::refers(&value) || !references::functions(&value).is_empty()
            }
            Item::Block(nested) => is_computed(&nested.body, faults),
        })
}

fn computed(block: &Block, faults: &Faults) -> Backend {
    let label = block.labels.first().map(|label| label.text.as_str());
    let mut arguments = Vec::new();
    keep_all(&block.body, faults, &mut arguments);
    Backend::Computed(ComputedBackend {
        is_local: label == Some("local"),
        kind: match label {
            Some("local") => "a backend whose path is computed".to_owned(),
            Some(label) => format!("the backend {label:?}"),
            None => IN_THE_CLOUD.to_owned(),
        },
        place: faults.place(block.header),
        arguments,
    })
}

/// Keeps the arguments of a body and of all blocks in it, with their names.
pub(crate) fn keep_all(body: &Body, faults: &Faults, kept: &mut Vec<(String, Late)>) {
    for item in &body.items {
        match item {
            Item::Attribute(argument) => {
                let late = Late::keep(&argument.value, faults);
                kept.extend(late.map(|late| (argument.name.text.clone(), late)));
            }
            Item::Block(nested) => keep_all(&nested.body, faults, kept),
        }
    }
}

fn elsewhere(kind: String, block: &Block, faults: &Faults) -> Backend {
    let place = faults.place(block.header);
    Backend::Elsewhere { kind, place }
}

fn labelled(block: &Block, faults: &Faults) -> Option<Backend> {
    let label = &block.labels.first()?.text;
    if label != "local" {
        return Some(elsewhere(format!("the backend {label:?}"), block, faults));
    }
    // Null is as good as no argument; anything computed leaves the state out of sight.
    let path = |name| match block.body.attribute(name) {
        None => Some(None),
        Some(argument) => match expr::constant(faults.file, &argument.value) {
            Ok(Value::Null) => Some(None),
            Ok(value) => value.to_text().map(|text| Some(text.into())),
            Err(_) => None,
        },
    };
    Some(match (path("path"), path("workspace_dir")) {
        (Some(path), Some(workspace_dir)) => Backend::Local(LocalBackend {
            path,
            workspace_dir,
        }),
        _ => elsewhere("a backend whose path is computed".to_owned(), block, faults),
    })
}
