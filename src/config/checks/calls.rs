//! `module` blocks.

use std::collections::BTreeSet;

use crate::diag::Span;
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Block, ExprKind, ObjectItem, ObjectKey};

use super::super::blocks::kind_of;
use super::super::contents::{Faults, Reference};
use super::super::names;
use super::{
    Argument, Nested, Rule, depends_on, known_arguments, known_blocks, nested, optional, repetition,
};

const INSIDE: &[Nested] = &[
    nested("_", Rule::Once),
    Nested {
        known_to: Flavor::is_opentofu,
        ..nested("lifecycle", Rule::Once)
    },
    Nested {
        known_to: |flavor| !flavor.is_opentofu(),
        ..nested("lifecycle", Rule::Reserved)
    },
    nested("locals", Rule::Reserved),
    Nested {
        labels: &["type"],
        ..nested("provider", Rule::Reserved)
    },
];

/// Checks a call of a module, but for its name, source and version.
pub(in crate::config) fn call(block: &Block, faults: &mut Faults) {
    if let Some(argument) = block.body.attribute("depends_on") {
        depends_on(argument, faults);
    }
    if let Some(argument) = block.body.attribute("providers") {
        providers(argument, faults);
    }
    let nested_deprecations = block.body.attribute("ignore_nested_deprecations");
    if let Some(argument) = nested_deprecations.filter(|_| keeps_deprecations(faults.flavor)) {
        ignore_nested_deprecations(argument, faults);
    }
    let blocks = known_blocks(block, "module", INSIDE, faults);
    let lifecycle = blocks.iter().find(|(kind, _)| *kind == "lifecycle");
    let lifecycle = lifecycle.map(|(_, block)| *block);
    repetition::check(block, lifecycle, faults);
    if let Some(lifecycle) = lifecycle {
        const ARGUMENTS: &[Argument] = &[optional("enabled")];
        known_arguments(lifecycle, ARGUMENTS, faults);
        for inner in lifecycle.body.blocks() {
            kind_of(inner, &[], faults);
        }
    }
}

/// Checks which provider configurations a call passes: a map from names there to names here.
fn providers(argument: &Attribute, faults: &mut Faults) {
    let ExprKind::Object(pairs) = &argument.value.kind else {
        let at = argument.value.span;
        return faults.invalid("Invalid expression", at, "a map is needed here");
    };
    passed_twice(pairs, argument.value.span, faults);
    let mut passed = BTreeSet::new();
    for pair in pairs {
        let inside = match &pair.key {
            ObjectKey::Name(word) => names::bare_reference(word, faults),
            ObjectKey::Expr(key) => names::provider_reference(key, faults),
        };
        let outside = names::provider_reference(&pair.value, faults);
        let (
            Ok(Reference {
                local_name, alias, ..
            }),
            Ok(_),
        ) = (inside, outside)
        else {
            continue;
        };
        if !passed.insert((local_name, alias)) {
            duplicate(pair, faults);
        }
    }
}

fn duplicate(pair: &ObjectItem, faults: &mut Faults) {
    let remark = "each configuration of a module is passed only once";
    faults.invalid("Duplicate provider address", pair.value.span, remark);
}

/// Reports keys that are repeated letter by letter: of these the tree keeps the last one only.
fn passed_twice(pairs: &[ObjectItem], map: Span, faults: &mut Faults) {
    let notes = faults.found.iter();
    let notes = notes.filter(|note| note.code == "duplicate-key");
    let keys = notes.filter_map(|note| note.primary.as_ref().map(|label| label.span.start));
    let keys: Vec<usize> = keys
        .filter(|at| (map.start..map.end).contains(at))
        .collect();
    for key in keys {
        let behind = pairs.iter().filter(|pair| pair.value.span.start > key);
        if let Some(pair) = behind.min_by_key(|pair| pair.value.span.start) {
            duplicate(pair, faults);
        }
    }
}

/// Tells whether a module may leave it to its caller to be told what is deprecated in it.
fn keeps_deprecations(flavor: Flavor) -> bool {
    matches!(flavor, Flavor::Terraform1_15 | Flavor::Terraform1_16)
}

/// Checks an argument that newer versions of Terraform keep from the module.
fn ignore_nested_deprecations(argument: &Attribute, faults: &mut Faults) {
    let kind = match expr::constant(faults.file, &argument.value) {
        Ok(Value::Bool(_)) => return,
        Ok(_) => "type",
        Err(error) if error.refused.is_empty() => return,
        Err(_) => "value",
    };
    let title = format!("Invalid {kind} for ignore_nested_deprecations");
    faults.invalid(title, argument.value.span, "write true or false");
}
