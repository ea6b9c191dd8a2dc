//! Test files, as far as requirements depend on them (`config.md` 5).
//!
//! Two things add requirements: modules that runs call and, with OpenTofu, `provider` blocks.

use std::path::Path;

use crate::hcl::tree::{Block, Body};

use super::contents::{Call, CallVersion, Contents, Faults};
use super::{calls, providers};

/// Decodes a test file; each call of its runs is named after the run.
pub(super) fn decode(body: &Body, faults: &mut Faults) -> Contents {
    let mut contents = Contents::default();
    for block in body.blocks() {
        match block.kind.text.as_str() {
            "run" => contents.calls.extend(calls_of(block, faults)),
            "provider" if faults.flavor.is_opentofu() => {
                providers::provider_block(block, &mut contents, faults);
            }
            _ => {}
        }
    }
    contents
}

/// Returns the name that the programs give to a test file, which is given from the root on.
///
/// Only one ending is removed; a name that is no text is shown as far as it is.
pub(super) fn branch(path: &Path) -> String {
    let parts = path.iter().map(|part| part.to_string_lossy());
    let name = parts.collect::<Vec<_>>().join(".");
    name.strip_suffix(".tftest.hcl").unwrap_or(&name).to_owned()
}

fn calls_of(run: &Block, faults: &mut Faults) -> Vec<Call> {
    let name = run.labels.first().map_or("", |label| &label.text);
    let modules = run
        .body
        .blocks()
        .filter(|block| block.kind.text == "module");
    // Without a source this is an error that a later part reports; here nothing is called.
    let sources = modules.filter_map(|module| module.body.attribute("source"));
    sources
        .map(|argument| Call {
            name: name.to_owned(),
            source: calls::of_run(&argument.value, faults),
            version: CallVersion::Absent,
            place: faults.place_of(&argument.value),
            header: faults.place(run.header),
        })
        .collect()
}
