//! `provider` blocks.

use crate::config::decode::contents::Faults;
use crate::config::validate::bodies::{Argument, Takes};
use crate::config::validate::{Nested, Rule, known_blocks, nested};
use crate::hcl::tree::Block;

/// Arguments that no provider can have.
const RESERVED: &[Argument] = &[
    Argument::new("count", Takes::Anything),
    Argument::new("depends_on", Takes::Anything),
    Argument::new("source", Takes::Anything),
    Argument::new("for_each", Takes::Anything).known_to(|flavor| !flavor.is_opentofu()),
];

const INSIDE: &[Nested] = &[
    nested("_", Rule::Once),
    nested("lifecycle", Rule::Reserved),
    nested("locals", Rule::Reserved),
];

/// Checks a `provider` block, but for its name, alias and version.
pub(in crate::config) fn provider(block: &Block, alias: Option<&str>, faults: &mut Faults) {
    for reserved in RESERVED {
        let argument = block.body.attribute(reserved.name);
        if let Some(argument) = argument.filter(|_| (reserved.known_to)(faults.flavor)) {
            let title = "Reserved argument name in provider block";
            let remark = "this name is kept for later versions";
            faults.invalid(title, argument.name.span, remark);
        }
    }
    let for_each = block.body.attribute("for_each");
    let for_each = for_each.filter(|_| faults.flavor.is_opentofu() && alias.is_none());
    if let Some(argument) = for_each {
        let title = "Alias required when using \"for_each\"";
        faults.invalid(title, argument.value.span, "set alias, too");
    }
    known_blocks(block, "provider", INSIDE, faults);
}
