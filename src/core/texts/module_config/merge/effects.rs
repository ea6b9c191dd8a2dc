//! Effects of arguments in override files (config rules 3.3 to 3.13).

use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::ExprKind;
use crate::module_config::language::{self, Effect, Merging, Schema};
use crate::module_config::merge::merged::MergedAttribute;

/// Returns what may stand in a type of block; `None` for what no override file may change.
pub(super) fn schema_of(kind: &str, flavor: Flavor) -> Option<&'static Schema> {
    language::MODULE
        .block(kind, flavor)
        .filter(|block_type| block_type.merging == Merging::MergesByLabels)
        .map(|block_type| block_type.body)
}

/// Returns whether an argument of an override counts.
pub(super) fn counts(
    effect: Effect,
    base: Option<&MergedAttribute>,
    given: &MergedAttribute,
) -> bool {
    match effect {
        Effect::Replaces => true,
        Effect::ReplacesUnlessNull => constant(given) != Some(Value::Null),
        Effect::ReplacesUnlessEmpty => !is_empty(given),
        Effect::Grows => {
            // In JSON a word is a string.
            let word = base.and_then(|base| match &base.written.value.kind {
                ExprKind::String(text) => Some(text.as_str()),
                _ => base.written.value.unquoted_word(),
            });
            // `ignore_changes = all` stays, whatever an override lists (config rules 3.10), and so does
            // `true` in `enforced` of `encryption`.
            !is_empty(given) && !word.is_some_and(|word| ["all", "true"].contains(&word))
        }
        Effect::Stays => false,
    }
}

fn constant(argument: &MergedAttribute) -> Option<Value> {
    expr::constant(argument.file, &argument.written.value).ok()
}

fn is_empty(argument: &MergedAttribute) -> bool {
    match &argument.written.value.kind {
        ExprKind::Tuple(items) => items.is_empty(),
        ExprKind::Object(items) => items.is_empty(),
        _ => match constant(argument) {
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            _ => false,
        },
    }
}
