//! What one file can get wrong in the blocks that providers and modules fill (rules 12.1 to 12.4).
//!
//! Providers and modules decide what most of such a block means, so that most of it passes. Only the
//! words that the programs keep for themselves are looked at here: which of them stand where, in
//! which flavor, how often, and with which values. None of it changes a requirement; each fault
//! leaves the module without any.

pub(super) mod bodies;
mod calls;
mod conditions;
mod lifecycle;
pub(super) mod mocks;
pub(super) mod passing;
mod providers;
mod provisioners;
mod repetition;
mod resources;
pub(super) mod run_types;
pub(super) mod statements;
#[cfg(test)]
mod tests;
mod triggers;

pub(in crate::config) use calls::call;
pub(in crate::config) use providers::provider;
pub(in crate::config) use resources::{Inside, resource};

use crate::config::decode::contents::Faults;
use crate::config::language::{self, ESCAPE, Rule};
use crate::hcl::tree::Block;

/// Looks at the nested blocks that a table knows; returns those that count, in their order.
fn known_blocks<'b>(
    block: &'b Block,
    kind: &str,
    schema: &language::Schema,
    faults: &mut Faults,
) -> Vec<(&'static str, &'b Block)> {
    let mut counted: Vec<(&'static str, &'b Block)> = Vec::new();
    for inner in block.body.blocks() {
        // Everything else is for the provider or the module to judge.
        let Some(known) = schema.block(&inner.kind.text, faults.flavor) else {
            continue;
        };
        if !bodies::labels_fit(inner, known.labels, faults) {
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
                    ESCAPE => "escaping",
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
