//! `module` blocks.

use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Block};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::references;
use crate::module_config::validate::bodies::{self, known_blocks};
use crate::module_config::validate::repetition;

/// Checks a call of a module, but for its name, source, version and providers.
pub(crate) fn call(block: &Block, faults: &mut Faults) {
    if let Some(argument) = block.body.attribute("depends_on") {
        references::depends_on(argument, faults);
    }
    let nested_deprecations = block.body.attribute("ignore_nested_deprecations");
    if let Some(argument) = nested_deprecations
        // To the other flavors the name is a variable of the module.
        && matches!(faults.flavor, Flavor::Terraform1_15 | Flavor::Terraform1_16)
    {
        ignore_nested_deprecations(argument, faults);
    }
    let blocks = known_blocks(block, "module", &language::CALL, faults);
    let lifecycle = blocks
        .iter()
        .find(|(kind, _)| *kind == "lifecycle")
        .map(|(_, block)| *block);
    repetition::check(block, lifecycle, faults);
    if let Some(lifecycle) = lifecycle {
        bodies::check(&lifecycle.body, &language::CALL_LIFECYCLE, faults);
    }
}

/// Checks an argument that newer versions of Terraform keep from the module.
fn ignore_nested_deprecations(argument: &Attribute, faults: &mut Faults) {
    let kind = match expr::constant(faults.file, &argument.value) {
        Ok(Value::Bool(_)) => return,
        Ok(_) => "type",
        Err(error) if error.refused.is_empty() => return,
        Err(_) => "value",
    };
    let title = format!("Invalid {kind} for ignore_nested_deprecations");
    faults.invalid(title, argument.value.span, "write true or false");
}
