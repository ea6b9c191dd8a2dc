//! `module` blocks.

use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::Block;
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
        let wrong = match expr::constant(faults.file, &argument.value) {
            Ok(Value::Bool(_)) => None,
            Ok(_) => Some("type"),
            // What only lockctl cannot compute is no fault.
            Err(error) if error.refused.is_empty() => None,
            Err(_) => Some("value"),
        };
        if let Some(wrong) = wrong {
            let title = format!("Invalid {wrong} for ignore_nested_deprecations");
            faults.invalid(title, argument.value.span, "write true or false");
        }
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
