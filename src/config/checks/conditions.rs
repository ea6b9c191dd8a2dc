//! `precondition` and `postcondition`.

use crate::config::blocks::kind_of;
use crate::config::contents::{Faults, Role};
use crate::hcl::tree::Block;

use super::references::{self, Subject};
use super::resources::Owner;
use super::{Argument, known_arguments, required};

const ARGUMENTS: &[Argument] = &[required("condition"), required("error_message")];

/// Checks a condition of a resource, which no override file may have.
pub(super) fn check(owner: Owner<'_>, block: &Block, faults: &mut Faults) {
    let kind = &block.kind.text;
    if faults.role == Role::Override {
        let title = format!("Can't override {kind} blocks");
        return faults.invalid(title, block.header, "only the primary files may have them");
    }
    for nested in block.body.blocks() {
        kind_of(nested, &[], faults);
    }
    for argument in known_arguments(block, ARGUMENTS, faults) {
        let value = &argument.value;
        let used = references::inside(value);
        if used.is_empty() && argument.name.text == "condition" {
            let title = format!("Invalid {kind} expression");
            faults.invalid(
                title,
                value.span,
                "this refers to nothing, so it checks nothing",
            );
        }
        let own = Subject::Resource {
            kind: owner.kind,
            type_name: owner.type_name,
            name: owner.name,
        };
        if used.iter().any(|one| one.subject(faults.flavor) == Ok(own)) {
            let title = format!("Invalid reference in {kind}");
            faults.invalid(title, value.span, "a resource calls itself self here");
        }
    }
}
