//! `precondition` and `postcondition`.

use crate::hcl::tree::Block;
use crate::module_config::faults::Faults;
use crate::module_config::file::ModuleFileRole;
use crate::module_config::language;
use crate::module_config::syntax::references::{self, ReferenceSubject};
use crate::module_config::validate::bodies;

/// The resource that the condition belongs to.
#[derive(Clone, Copy)]
pub(super) struct Owner<'b> {
    pub kind: &'static str,
    pub type_name: &'b str,
    pub name: &'b str,
}

/// Checks a condition of a resource, which no override file may have.
pub(super) fn check(owner: Owner<'_>, block: &Block, faults: &mut Faults) {
    let kind = &block.kind.text;
    if faults.role == ModuleFileRole::Override {
        let title = format!("Can't override {kind} blocks");
        return faults.invalid(title, block.header, "only the primary files may have them");
    }
    bodies::check(&block.body, &language::RULE, faults);
    for argument in bodies::known(&language::RULE, &block.body, faults.flavor) {
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
        // A condition is evaluated with the resource, which it can name as `self` only.
        let own = ReferenceSubject::Resource {
            kind: owner.kind,
            type_name: owner.type_name,
            name: owner.name,
        };
        if used
            .iter()
            .any(|reference| ReferenceSubject::of(*reference, faults.flavor) == Ok(own))
        {
            let title = format!("Invalid reference in {kind}");
            faults.invalid(title, value.span, "a resource calls itself self here");
        }
    }
}

/// Checks a block of a condition and a message, whatever it is called.
pub(crate) fn rule(block: &Block, faults: &mut Faults) {
    let kind = &block.kind.text;
    if faults.role == ModuleFileRole::Override {
        let title = format!("Can't override {kind} blocks");
        faults.invalid(title, block.header, "");
        return;
    }
    bodies::check(&block.body, &language::RULE, faults);
    let condition = block.body.attribute("condition");
    if let Some(condition) = condition.filter(|condition| !references::refers(&condition.value)) {
        let title = format!("Invalid {kind} expression");
        let remark = "this is always the same";
        faults.invalid(title, condition.value.span, remark);
    }
}
