//! Locations of the state: `backend` and `cloud` blocks (config rules 3.6, 10.3).

use crate::diag::Diagnostic;
use crate::expr::{self, Value};
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::decode::contents::{Backend, ComputedBackend, Contents, LocalBackend};
use crate::module_config::decode::late::Late;
use crate::module_config::faults::Faults;
use crate::module_config::flood;
use crate::module_config::syntax::{self, references};

/// The service behind a `cloud` block, in words.
const IN_THE_CLOUD: &str = "HCP Terraform";

/// Decodes a setting that says where the state is kept; the last such block of a file counts, a `cloud` block
/// before all others.
pub(crate) fn decode(block: &Block, contents: &mut Contents, faults: &Faults) {
    // A `cloud` block wins over a `backend` in the same file, wherever it stands (config rules 3.6).
    let is_in_cloud = match &contents.backend {
        Some(Backend::Elsewhere { kind, .. } | Backend::Computed(ComputedBackend { kind, .. })) => {
            kind == IN_THE_CLOUD
        }
        _ => false,
    };
    let label = block.labels.first().map(|label| label.text.as_str());
    let is_local = label == Some("local");
    let service = match label {
        Some(_) if is_in_cloud => return,
        Some("local") => "a backend whose path is computed".to_owned(),
        Some(label) => format!("the backend {label:?}"),
        None => IN_THE_CLOUD.to_owned(),
    };
    let place = faults.place(block.header);
    contents.backend = Some(
        if faults.flavor.is_opentofu() && is_computed(&block.body, faults) {
            let mut arguments = Vec::new();
            keep_all(&block.body, faults, &mut arguments);
            Backend::Computed(ComputedBackend {
                is_local,
                kind: service,
                place,
                arguments,
            })
        } else if is_local && let Some(backend) = local(&block.body, faults) {
            Backend::Local(backend)
        } else {
            let mut refused = Vec::new();
            if !faults.flavor.is_opentofu() {
                refuse_computed(&block.body, faults, &mut refused);
            }
            Backend::Elsewhere {
                kind: service,
                place,
                refused,
            }
        },
    );
}

/// Returns whether an argument of a body, or of a block in it, is computed.
fn is_computed(body: &Body, faults: &Faults) -> bool {
    body.items.iter().any(|item| match item {
        Item::Attribute(argument) => {
            let value = syntax::as_template(&argument.value, faults);
            references::refers(&value) || !references::functions(&value).is_empty()
        }
        Item::Block(nested) => is_computed(&nested.body, faults),
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

/// Reads a backend of constants; null is as good as no argument.
fn local(body: &Body, faults: &Faults) -> Option<LocalBackend> {
    let path = |name| match body.attribute(name) {
        None => Some(None),
        Some(argument) => match expr::constant(faults.file, &argument.value).ok()? {
            Value::Null => Some(None),
            value => Some(Some(value.to_text()?.into())),
        },
    };
    Some(LocalBackend {
        path: path("path")?,
        workspace_dir: path("workspace_dir")?,
    })
}

/// Collects what Terraform would have to compute. It is a sign that the rules of OpenTofu apply, which takes
/// variables here (config rules 10.3).
fn refuse_computed(body: &Body, faults: &Faults, refused: &mut Vec<Diagnostic>) {
    let help = "OpenTofu takes variables and locals here: `--flavor opentofu`";
    for item in &body.items {
        match item {
            Item::Attribute(argument) => {
                if let Err(error) = expr::constant(faults.file, &argument.value) {
                    for fault in error.refused {
                        flood::push(refused, fault.help(help));
                    }
                }
            }
            Item::Block(nested) => refuse_computed(&nested.body, faults, refused),
        }
    }
}
