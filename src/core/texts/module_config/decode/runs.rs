//! Test files (config rules 6).
//!
//! Two things add requirements: modules that runs call and, with OpenTofu, `provider` blocks. Nothing else
//! is looked at.

use std::path::Path;

use crate::hcl::tree::{Block, Body};
use crate::module_config::decode::contents::{Call, CallVersion, Contents, PassedArgument};
use crate::module_config::decode::{bodies, calls, providers};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::words;

/// Decodes a test file; each call of its runs is named after the run.
pub(crate) fn decode(body: &Body, faults: &mut Faults) -> Contents {
    let mut contents = Contents::default();
    for (kind, block) in bodies::check(body, &language::TEST_FILE, faults) {
        match (kind, &*block.labels) {
            ("run", [name]) => {
                if !words::is_identifier(&name.text) {
                    faults.invalid("Invalid run block name", name.span, words::NAME);
                }
                contents.calls.extend(run(block, &name.text, faults));
            }
            ("provider", _) => {
                providers::provider_block(block, &mut contents, faults);
                // Only OpenTofu adds providers of test files to the requirements (config rules 6.2).
                if !faults.flavor.is_opentofu() {
                    contents.provider_blocks.clear();
                }
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
    let before = faults.errors();
    let blocks = bodies::check(&run.body, &language::RUN, faults);
    let module = bodies::at_most_one(&blocks, "module", "Multiple \"module\" blocks", faults)?;
    bodies::check(&module.body, &language::RUN_MODULE, faults);
    let version = calls::version(module, faults);
    if let (Some(CallVersion::Computed), Some(argument)) =
        (&version, module.body.attribute("version"))
    {
        // No program computes it: this reports why it is none.
        bodies::constant(&argument.value, faults);
    }
    let Some(argument) = module.body.attribute("source") else {
        if !faults.may_hide(module.body.span) {
            let title = "Missing \"source\" attribute for module block";
            faults.invalid(title, module.header, "source is missing");
        }
        return None;
    };
    let version = version?;
    let source = calls::of_run(&argument.value, &version, faults);
    let arguments = blocks
        .iter()
        .filter(|(kind, _)| *kind == "variables")
        .flat_map(|(_, block)| block.body.attributes())
        .map(|argument| PassedArgument::new(argument, faults))
        .collect();
    // A run whose `module` block has a fault calls nothing.
    (faults.errors() == before).then(|| Call {
        name: name.to_owned(),
        source,
        version,
        version_place: calls::version_place(module, faults),
        place: faults.place_of(&argument.value),
        header: faults.place(run.header),
        arguments,
        // No program computes the source of a run (config rules 6.3).
        source_late: None,
        version_late: None,
    })
}
