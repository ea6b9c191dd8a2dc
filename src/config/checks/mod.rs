//! What one file can get wrong in the blocks that providers and modules fill (`config.md` 12).
//!
//! Providers and modules decide what most of such a block means, so that most of it passes. Only the
//! words that the programs keep for themselves are looked at here: which of them stand where, in
//! which flavor, how often, and with which values. None of it changes a requirement; each fault
//! leaves the module without any.

mod calls;
mod conditions;
mod lifecycle;
mod providers;
mod provisioners;
mod references;
mod repetition;
mod resources;
#[cfg(test)]
mod tests;
mod triggers;

pub(super) use calls::call;
pub(super) use providers::provider;
pub(super) use references::{depends_on, is_reference};
pub(super) use resources::{Inside, resource};

use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Block};

use super::blocks::{labels_fit, unsupported_argument};
use super::contents::Faults;

/// A nested block that a kind of block keeps from its provider or module.
struct Nested {
    kind: &'static str,
    labels: &'static [&'static str],
    known_to: fn(Flavor) -> bool,
    rule: Rule,
}

/// What is done with a nested block.
#[derive(Clone, Copy)]
enum Rule {
    /// Any number of them may stand here.
    Any,
    /// One may stand here.
    Once,
    /// None may: the name is kept for later versions.
    Reserved,
    /// None may, under this title.
    Refused(&'static str),
}

const fn nested(kind: &'static str, rule: Rule) -> Nested {
    Nested {
        kind,
        labels: &[],
        known_to: |_| true,
        rule,
    }
}

/// Looks at the nested blocks that a table knows; returns those that count, in their order.
fn known_blocks<'b>(
    block: &'b Block,
    kind: &str,
    table: &[Nested],
    faults: &mut Faults,
) -> Vec<(&'static str, &'b Block)> {
    let mut counted: Vec<(&'static str, &'b Block)> = Vec::new();
    for inner in block.body.blocks() {
        let known = table
            .iter()
            .find(|known| known.kind == inner.kind.text && (known.known_to)(faults.flavor));
        // Everything else is for the provider or the module to judge.
        let Some(known) = known else { continue };
        if !labels_fit(inner, known.labels, faults) {
            continue;
        }
        match known.rule {
            Rule::Reserved => {
                let title = format!("Reserved block type name in {kind} block");
                let remark = "this name is kept for later versions";
                faults.invalid(title, inner.kind.span, remark);
            }
            Rule::Refused(title) => faults.invalid(title, inner.header, ""),
            Rule::Once if counted.iter().any(|(name, _)| *name == known.kind) => {
                let name = match known.kind {
                    "_" => "escaping",
                    name => name,
                };
                let title = format!("Duplicate {name} block");
                faults.invalid(title, inner.header, "only one may stand here");
            }
            Rule::Once | Rule::Any => counted.push((known.kind, inner)),
        }
    }
    counted
}

/// An argument of a block that holds only what the programs know.
struct Argument {
    name: &'static str,
    known_to: fn(Flavor) -> bool,
    is_required: bool,
}

const fn optional(name: &'static str) -> Argument {
    Argument {
        name,
        known_to: |_| true,
        is_required: false,
    }
}

const fn required(name: &'static str) -> Argument {
    Argument {
        is_required: true,
        ..optional(name)
    }
}

/// Reports arguments that a block does not have, and those that it lacks; returns the others.
fn known_arguments<'b>(
    block: &'b Block,
    table: &[Argument],
    faults: &mut Faults,
) -> Vec<&'b Attribute> {
    let mut found = Vec::new();
    for argument in block.body.attributes() {
        let is_known =
            |known: &Argument| known.name == argument.name.text && (known.known_to)(faults.flavor);
        match table.iter().any(is_known) {
            true => found.push(argument),
            false => unsupported_argument(argument, faults),
        }
    }
    for missing in table.iter().filter(|known| known.is_required) {
        if block.body.attribute(missing.name).is_none() {
            let remark = format!("{} is missing", missing.name);
            faults.invalid("Missing required argument", block.header, &remark);
        }
    }
    found
}

/// Checks an argument that must be true or false, and known before anything else is.
///
/// What only we cannot compute is none of our business: the value changes no requirement.
fn truth(argument: &Attribute, faults: &mut Faults) {
    let converts = match expr::constant(faults.file, &argument.value) {
        Ok(Value::Bool(_)) => true,
        Ok(Value::String(text)) => ["true", "false", "1", "0"].contains(&&*text),
        Ok(_) => false,
        Err(error) => return faults.add(error.refused),
    };
    if !converts {
        let (at, remark) = (argument.value.span, "write true or false");
        faults.error("wrong-type", "Unsuitable value type", at, remark);
    }
}
