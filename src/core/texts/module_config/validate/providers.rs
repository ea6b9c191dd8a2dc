//! `provider` blocks.

use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::validate::bodies::known_blocks;

use crate::hcl::tree::Block;

/// Checks a `provider` block, but for its name, alias and version.
pub(crate) fn provider(block: &Block, alias: Option<&str>, faults: &mut Faults) {
    let flavor = faults.flavor;
    let arguments = language::PROVIDER.arguments_of(flavor);
    for reserved in arguments.filter(|known| (known.reserved_in)(flavor)) {
        if let Some(argument) = block.body.attribute(reserved.name) {
            let title = "Reserved argument name in provider block";
            let remark = "this name is kept for later versions";
            faults.invalid(title, argument.name.span, remark);
        }
    }
    // A key follows the alias in references, so that there must be one (config rules 10.1, 10.2).
    let for_each = block.body.attribute("for_each");
    let for_each = for_each.filter(|_| faults.flavor.is_opentofu() && alias.is_none());
    if let Some(argument) = for_each {
        let title = "Alias required when using \"for_each\"";
        faults.invalid(title, argument.value.span, "set alias, too");
    }
    known_blocks(block, "provider", &language::PROVIDER, faults);
}
