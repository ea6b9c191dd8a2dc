//! Variables whose type or default is of an override file (config rules 3.13).
//!
//! The programs convert a default to the type of its own file before an override file changes either, and
//! `optional()` defaults are always those of the first type. A merged block has lost these steps, so that its
//! default is written as the value that the steps come to.

use std::collections::BTreeMap;

use crate::diag::Texts;
use crate::effective::literal::literal;
use crate::effective::module::{EffectiveBlock, EffectiveItem, EffectiveModule};
use crate::expr::{Type, Typed, constant};
use crate::flavor::Flavor;
use crate::module_config::decode::variables::{Variable, decode};
use crate::module_config::file::ModuleFile;
use crate::module_config::syntax;

const OTHER_DEFAULTS: &str = "the program ignores the defaults of optional() in an overriding type; this text does not express that";

/// Puts the defaults in place that override files leave to variables.
pub(super) fn correct(
    module: &mut EffectiveModule<'_>,
    files: &[ModuleFile],
    texts: &Texts,
    flavor: Flavor,
) {
    let is_overridden = |block: &EffectiveBlock<'_>, name| {
        block.attribute(name).is_some_and(|attribute| {
            !attribute.replaces.is_empty() || attribute.origin.file != block.origin.file
        })
    };
    let mut overridden: BTreeMap<String, &mut EffectiveBlock<'_>> = module
        .blocks
        .iter_mut()
        .filter(|block| {
            block.kind == "variable"
                && (is_overridden(block, "type") || is_overridden(block, "default"))
        })
        .filter_map(|block| Some((block.labels.first()?.to_string(), block)))
        .collect();
    if overridden.is_empty() {
        return;
    }
    let mut variables: BTreeMap<String, Variable> = BTreeMap::new();
    for file in files {
        let (body, mut faults) = syntax::parse(*file, texts.bytes(file.id), flavor);
        for block in body.blocks().filter(|block| block.kind.text == "variable") {
            let is_wanted = |name| overridden.contains_key(name);
            let Some(label) = block.labels.first().filter(|label| is_wanted(&label.text)) else {
                continue;
            };
            let Some(variable) = decode(block, &mut faults) else {
                continue;
            };
            match variables.get_mut(&label.text) {
                Some(base) if file.is_override() => base.merge(variable, &mut Vec::new()),
                Some(_) => {}
                None => drop(variables.insert(label.text.clone(), variable)),
            }
        }
    }
    let mut doubts = Vec::new();
    for (name, variable) in variables {
        if let Some(block) = overridden.get_mut(&name)
            && let Some(doubt) = correct_block(block, &variable)
        {
            block.remarks.push(doubt.to_owned());
            doubts.push(format!("variable \"{name}\": {doubt}"));
        }
    }
    module.doubts.append(&mut doubts);
}

/// Writes the default that the steps come to; returns why the text means something else than the program does.
fn correct_block(block: &mut EffectiveBlock<'_>, variable: &Variable) -> Option<&'static str> {
    let written_type = variable.ty.as_ref().and_then(|ty| ty.value.clone());
    let types = [&variable.filled_by, &written_type];
    let doubt = (variable.filled_by != written_type
        && types.into_iter().flatten().any(Type::has_defaults))
    .then_some(OTHER_DEFAULTS);
    let Some(default) = variable
        .default
        .as_ref()
        .and_then(|given| given.value.as_ref())
    else {
        return doubt;
    };
    // The printed text has one type, whose own defaults of optional attributes count.
    let printed = Variable {
        filled_by: written_type,
        ..variable.clone()
    };
    let comes_to_default = |value| printed.take(Typed::of(value)).as_ref() == Ok(default);
    let file = block.origin.file;
    let attribute = block.items.iter_mut().find_map(|item| match item {
        EffectiveItem::Attribute(attribute) if attribute.name == "default" => Some(attribute),
        _ => None,
    })?;
    let written = attribute.expr().and_then(|expr| constant(file, &expr).ok());
    if written.is_some_and(comes_to_default) {
        return doubt;
    }
    attribute.text = literal(&default.value)?.into();
    doubt.or((!comes_to_default(default.value.clone())).then_some(OTHER_DEFAULTS))
}
