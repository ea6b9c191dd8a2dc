//! Files of explicit stacks, as far as `read_terragrunt_config` shows them (rules 10.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::{Evaluation, Stage};
use super::outcome::Outcome;
use crate::expr::Typed;

/// Evaluates a stack file: `local`, and what its units and stacks say.
pub(super) fn read(evaluation: &mut Evaluation<'_>, at: usize) -> Outcome<Typed> {
    let document = Arc::clone(&evaluation.instances[at].document);
    let mut all = BTreeMap::new();
    let mut locals = BTreeMap::new();
    for name in evaluation.local_names(at) {
        if let Some(value) = evaluation.local(at, &name) {
            locals.insert(name, Typed::clone(&*value?));
        }
    }
    all.insert("local".to_owned(), Typed::object(locals));
    for kind in ["unit", "stack"] {
        let mut named = BTreeMap::new();
        for block in document
            .body
            .blocks()
            .filter(|block| block.kind.text == kind)
        {
            let Some(label) = block.labels.first() else {
                continue;
            };
            let mut items = BTreeMap::new();
            for attribute in block.body.attributes() {
                let value = evaluation.slot(at, attribute, Stage::Rest).outcome?;
                items.insert(attribute.name.text.clone(), Typed::clone(&value));
            }
            items.insert("name".to_owned(), Typed::string(label.text.as_str()));
            named.insert(label.text.clone(), Typed::object(items));
        }
        if !named.is_empty() {
            all.insert(kind.to_owned(), Typed::object(named));
        }
    }
    Ok(Typed::object(all))
}
