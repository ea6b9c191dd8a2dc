//! `resource`, `data`, `ephemeral` and `action` blocks.

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
    let titles = match kind {
        "data" => ["Invalid data source name", "Invalid data resource name"],
        "ephemeral" if faults.flavor.is_opentofu() => [
            "Invalid ephemeral resource type name",
            "Invalid ephemeral resource name",
        ],
        "ephemeral" => [
            "Invalid ephemeral resource type",
            "Invalid ephemeral resource name",
        ],
        "action" => ["Invalid action type name", "Invalid action name"],
        _ => ["Invalid resource type name", "Invalid resource name"],
    };
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
        "action" => {
            let configs = bodies::check(&block.body, &language::ACTION, faults);
            repetition::check(block, None, faults);
            // The provider's part of an action is a block of its own.
            if let [_, (_, second), ..] = &*configs {
                let remark = "only one is allowed here";
                faults.invalid("Duplicate config block", second.header, remark);
            }
        }
        _ => body(owner, block, inside, faults),
    }
    are_names
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
        Inside::Check => {
            let remark = "not in a check block";
            for name in ["count", "for_each"] {
                if let Some(argument) = block.body.attribute(name) {
                    let title = format!("Invalid {name:?} attribute");
                    faults.invalid(title, argument.name.span, remark);
                }
            }
            let nested_blocks = block.body.blocks();
            for nested in nested_blocks.filter(|nested| nested.kind.text == "lifecycle") {
                faults.invalid("Invalid lifecycle block", nested.header, remark);
            }
        }
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
