//! `resource`, `data`, `ephemeral` and `action` blocks.

use crate::flavor::Flavor;
use crate::hcl::tree::Block;
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::{references, words};
use crate::module_config::validate::bodies::{self, known_blocks};
use crate::module_config::validate::conditions::Owner;
use crate::module_config::validate::{lifecycle, provisioners, repetition};

/// The construct around a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    Module,
    /// A `check` block, which may hold a data source.
    Check,
}

/// Checks a block that some provider manages; returns whether its names can be some.
pub(crate) fn resource(
    kind: &'static str,
    block: &Block,
    inside: Inside,
    faults: &mut Faults,
) -> bool {
    let [type_name, name] = &*block.labels else {
        return false;
    };
    // Both names are checked, so that two faults are reported at once.
    let titles = name_titles(kind, faults.flavor);
    let mut are_names = true;
    for (word, title) in [type_name, name].into_iter().zip(titles) {
        if !words::is_identifier(&word.text) {
            are_names = false;
            let remark = "a name holds letters, digits, dashes and underscores";
            faults.invalid(title, word.span, remark);
        }
    }
    let owner = Owner {
        kind,
        type_name: &type_name.text,
        name: &name.text,
    };
    match kind {
        "action" => action(block, faults),
        _ => body(owner, block, inside, faults),
    }
    are_names
}

/// Titles for a bad type and for a bad name.
fn name_titles(kind: &str, flavor: Flavor) -> [&'static str; 2] {
    match kind {
        "data" => ["Invalid data source name", "Invalid data resource name"],
        "ephemeral" => {
            let type_title = if flavor.is_opentofu() {
                "Invalid ephemeral resource type name"
            } else {
                "Invalid ephemeral resource type"
            };
            [type_title, "Invalid ephemeral resource name"]
        }
        "action" => ["Invalid action type name", "Invalid action name"],
        _ => ["Invalid resource type name", "Invalid resource name"],
    }
}

fn body(owner: Owner<'_>, block: &Block, inside: Inside, faults: &mut Faults) {
    if let Some(argument) = block.body.attribute("depends_on") {
        references::depends_on(argument, faults);
    }
    // To Terraform an ephemeral resource is like a data source, where `connection` and `provisioner` are
    // names of the provider.
    let table = match owner.kind {
        "resource" => &language::RESOURCE,
        "ephemeral" if faults.flavor.is_opentofu() => &language::EPHEMERAL,
        _ => &language::DATA,
    };
    let blocks = known_blocks(block, owner.kind, table, faults);
    let first = |kind: &str| blocks.iter().find(|(name, _)| *name == kind);
    let lifecycle = first("lifecycle").map(|(_, block)| *block);
    match inside {
        Inside::Module => repetition::check(block, lifecycle, faults),
        // A check has one data source, without `count` and its like (config rules 12.6).
        Inside::Check => governed_by_check(block, faults),
    }
    if let Some(lifecycle) = lifecycle {
        lifecycle::check(owner, lifecycle, faults);
    }
    let provisioners: Vec<&Block> = blocks
        .iter()
        .filter(|(name, _)| *name == "provisioner")
        .map(|(_, block)| *block)
        .collect();
    provisioners::check(
        &provisioners,
        first("connection").map(|(_, block)| *block),
        faults,
    );
}

/// Reports what a data source in a `check` block leaves to that block.
fn governed_by_check(block: &Block, faults: &mut Faults) {
    let remark = "not in a check block";
    for name in ["count", "for_each"] {
        if let Some(argument) = block.body.attribute(name) {
            let title = format!("Invalid {name:?} attribute");
            faults.invalid(title, argument.name.span, remark);
        }
    }
    let blocks = block.body.blocks();
    for lifecycle in blocks.filter(|nested| nested.kind.text == "lifecycle") {
        faults.invalid("Invalid lifecycle block", lifecycle.header, remark);
    }
}

/// Checks an action, in which the provider's part is a block of its own.
fn action(block: &Block, faults: &mut Faults) {
    let configs = bodies::check(&block.body, &language::ACTION, faults);
    repetition::check(block, None, faults);
    if let [_, (_, second), ..] = &*configs {
        let remark = "only one is allowed here";
        faults.invalid("Duplicate config block", second.header, remark);
    }
}
