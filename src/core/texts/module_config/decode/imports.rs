//! `import` blocks: what they point to (config rules 4.9).

use crate::hcl;
use crate::hcl::tree::{Block, Expr, ExprKind, Step};
use crate::module_config::decode::contents::{Contents, ImportBlock, ImportTarget};
use crate::module_config::faults::Faults;
use crate::module_config::syntax::{self, names};

/// Decodes a block that says which resource it is about; any other requires nothing.
pub(super) fn decode(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    let Some(to) = block.body.attribute("to") else {
        return;
    };
    let value = syntax::as_reference(&to.value, faults);
    if let ExprKind::String(text) = &value.kind {
        // In JSON the target is a string that holds an expression.
        let fault = hcl::expression(faults.file, text, to.value.span).err();
        faults.add(fault.map(|fault| *fault));
    }
    let Some(target) = target(&value) else {
        return;
    };
    let Ok(provider) = names::provider_argument(&block.body, faults) else {
        return;
    };
    contents.imports.push(ImportBlock {
        target,
        provider,
        place: faults.place(to.value.span),
    });
}

/// Reads `module.NAME.TYPE.NAME`, with keys of instances anywhere.
fn target(value: &Expr) -> Option<ImportTarget> {
    let mut words = Vec::new();
    if !names_of(value, &mut words) {
        return None;
    }
    let mut words = &*words;
    let mut in_module = false;
    while let ["module", _, inner @ ..] = words {
        in_module = true;
        words = inner;
    }
    let (kind, type_name, name) = match words {
        ["data", type_name, name] => ("data", type_name, name),
        ["ephemeral", type_name, name] => ("ephemeral", type_name, name),
        ["resource", type_name, name] | [type_name, name] => ("resource", type_name, name),
        _ => return None,
    };
    Some(ImportTarget {
        in_module,
        kind,
        type_name: (*type_name).to_owned(),
        name: (*name).to_owned(),
    })
}

/// Adds the names of a reference in their order; returns false if it is none.
fn names_of<'e>(value: &'e Expr, words: &mut Vec<&'e str>) -> bool {
    let (base, steps) = match &value.kind {
        ExprKind::Traversal(base, steps) => (&**base, &**steps),
        _ => {
            let word = value.unquoted_word();
            words.extend(word);
            return word.is_some();
        }
    };
    let is_reference = names_of(base, words);
    for step in steps {
        match step {
            Step::Attr(word) => words.push(&word.text),
            Step::Index(_) => {}
            Step::AttrSplat | Step::FullSplat => return false,
        }
    }
    is_reference
}
