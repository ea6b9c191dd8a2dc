//! Test files (config rules 6).
//!
//! Two things add requirements: modules that runs call and, with OpenTofu, `provider` blocks. Nothing else
//! is looked at.

use std::path::Path;

use crate::hcl::tree::{Block, Body};
use crate::module_config::decode::contents::{Call, Contents, PassedArgument};
use crate::module_config::decode::{bodies, calls, providers};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::words;

/// Decodes a test file; each call of its runs is named after the run.
pub(crate) fn decode(body: &Body, faults: &mut Faults) -> Contents {
    let mut contents = Contents::default();
    for (kind, block) in bodies::check(body, &language::TEST_FILE, faults) {
        match (kind, &*block.labels) {
            ("run", [name]) if !words::is_identifier(&name.text) => {
                faults.invalid("Invalid run block name", name.span, words::NAME);
            }
            ("run", [name]) => contents.calls.extend(run(block, &name.text, faults)),
            // Only OpenTofu adds providers of test files to the requirements (config rules 6.2).
            ("provider", _) if faults.flavor.is_opentofu() => {
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
pub(crate) fn branch(path: &Path) -> String {
    let name = path
        .iter()
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join(".");
    // The name is part of the key in the manifest, in which every other ending stays (config rules
    // 6.4).
    name.strip_suffix(".tftest.hcl").unwrap_or(&name).to_owned()
}

/// Decodes a run; returns the call of its module, if it has one without a fault.
fn run(run: &Block, name: &str, faults: &mut Faults) -> Option<Call> {
    let blocks_of = |kind: &'static str| {
        let blocks = run.body.blocks();
        blocks.filter(move |block| block.kind.text == kind)
    };
    let module = blocks_of("module").next()?;
    let version = calls::version(module, faults);
    let Some(argument) = module.body.attribute("source") else {
        let title = "Missing \"source\" attribute for module block";
        faults.invalid(title, module.header, "source is missing");
        return None;
    };
    let version = version?;
    let source = calls::of_run(&argument.value, &version, faults)?;
    Some(Call {
        name: name.to_owned(),
        source: Some(source),
        version,
        version_place: calls::version_place(module, faults),
        place: faults.place_of(&argument.value),
        header: faults.place(run.header),
        arguments: blocks_of("variables")
            .flat_map(|block| block.body.attributes())
            .map(|argument| PassedArgument::new(argument, faults))
            .collect(),
        // No program computes the source of a run (config rules 6.3).
        source_late: None,
        version_late: None,
    })
}
