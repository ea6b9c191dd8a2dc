//! Stack files, as other files read them (rules 10.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::{Evaluation, ExprContext, blocks};
use super::outcome::Outcome;
use crate::expr::Typed;

impl Evaluation<'_> {
    /// Evaluates a stack file as `read_terragrunt_config` shows it: `local`, and the arguments of its units and
    /// stacks.
    pub(super) fn stack_configuration(&mut self, at: usize) -> Outcome<Typed> {
        let document = Arc::clone(&self.instances[at].document);
        let mut locals = BTreeMap::new();
        for name in self.local_names(at) {
            if let Some(value) = self.local(at, &name) {
                locals.insert(name, Typed::clone(&*value?));
            }
        }
        let mut sections = BTreeMap::from([("local".to_owned(), Typed::object(locals))]);
        for kind in ["unit", "stack"] {
            let mut components = BTreeMap::new();
            for block in blocks(&document, kind) {
                let Some(label) = block.labels.first() else {
                    continue;
                };
                let mut items = BTreeMap::new();
                for attribute in block.body.attributes() {
                    let value = self.slot(at, attribute, ExprContext::Rest).outcome?;
                    items.insert(attribute.name.text.clone(), Typed::clone(&value));
                }
                // The label is shown as an argument, as Terragrunt does.
                items.insert("name".to_owned(), Typed::string(label.text.as_str()));
                components.insert(label.text.clone(), Typed::object(items));
            }
            if !components.is_empty() {
                sections.insert(kind.to_owned(), Typed::object(components));
            }
        }
        Ok(Typed::object(sections))
    }
}
