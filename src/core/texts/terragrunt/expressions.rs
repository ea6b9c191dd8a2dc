//! Values of expressions, arguments and local values.

use std::cell::RefCell;
use std::sync::Arc;

use super::documents::ParsedFile;
use super::evaluation::{Evaluation, ExprContext, block, directory};
use super::functions::Calls;
use super::outcome::{Outcome, Slot, Stop};
use crate::expr::{self, Budget, Demand, EvalScope, FunctionSet, Surroundings, Value};
use crate::hcl::tree::{Attribute, Expr};

impl Evaluation<'_> {
    /// Evaluates an argument, with the causes of unknown parts.
    pub(super) fn slot(&mut self, at: usize, attribute: &Attribute, context: ExprContext) -> Slot {
        let place = self.attribute_place(at, attribute);
        let (outcome, causes) = self.traced(|this| this.value(at, &attribute.value, context));
        Slot {
            place,
            outcome,
            causes,
        }
    }

    /// Evaluates an expression of a file.
    pub(super) fn value(&mut self, at: usize, expr: &Expr, context: ExprContext) -> Outcome {
        let names = self.names(at, expr, context)?;
        let instance = &self.instances[at];
        let (file, is_json) = (instance.file, instance.document.is_json);
        let dir = directory(&instance.document.path).to_owned();
        let place = self.place(at, expr.span);
        let (files, around, depth) = (self.readable.clone(), self.around, self.depth);
        let given_work = self.budget.work_left();
        let calls = Calls {
            evaluation: RefCell::new(self),
            at,
        };
        let surroundings = Surroundings {
            files: &files,
            // File functions are relative to the file, `abspath` to the shell (rules 5.11).
            dir: &dir,
            absolute_dir: around.working_dir.as_ref(),
            has_volatile: true,
            // Terragrunt has this version of the language built in (rules 5.10).
            functions: FunctionSet::Terraform0_15,
            extra: Some(&calls),
        };
        let scope = EvalScope {
            names,
            functions: Some(&surroundings),
        };
        // Functions spend from the budget of the unit meanwhile, which `calls` borrows.
        let mut budget = Budget::of_work(given_work);
        let result = expr::evaluate_at(depth, file, expr, &scope, &mut budget);
        drop(scope);
        let this = calls.evaluation.into_inner();
        this.budget
            .spend(given_work.saturating_sub(budget.work_left()));
        let value = result.map_err(|problems| {
            let stop = Stop::of_expression(problems, place);
            // Templates in JSON have places of their own, which mean nothing in the file.
            if is_json { stop.moved(place) } else { stop }
        })?;
        let value = value.bare().0;
        match this.budget.keep(&value) {
            Some(_) => Ok(Arc::new(value)),
            None => Err(Stop::uncertain(place, "this computes too much")),
        }
    }

    /// Returns the value of a local; `None` if there is none of that name.
    pub(super) fn local(&mut self, at: usize, name: &str) -> Option<Outcome> {
        let document = Arc::clone(&self.instances[at].document);
        let attribute = document.local(name)?;
        let key = (at, name.to_owned());
        let chain = self.chain;
        match self.locals.begin(key.clone()) {
            Demand::Computed(traced) => return Some(self.recalled(traced)),
            Demand::Cycle => {
                let place = self.place(at, attribute.span);
                let title = "Could not evaluate all locals in block";
                let note = format!("local.{name} needs itself");
                return Some(Err(Stop::invalid(title, place, &note)));
            }
            Demand::Begun => {}
        }
        let Some(longer) = chain.longer() else {
            // Not kept: from another value the chain may be short enough.
            self.locals.forget(&key);
            let place = self.attribute_place(at, attribute);
            return Some(Err(Stop::uncertain(
                place,
                "too many locals need each other",
            )));
        };
        self.chain = longer;
        let slot = self.slot(at, attribute, ExprContext::Locals);
        self.chain = chain;
        self.locals.finish(key, (slot.outcome.clone(), slot.causes));
        Some(slot.outcome)
    }

    pub(super) fn local_names(&self, at: usize) -> Vec<String> {
        let document: &ParsedFile = &self.instances[at].document;
        block(document, "locals")
            .into_iter()
            .flat_map(|block| block.body.attributes())
            .map(|attribute| attribute.name.text.clone())
            .collect()
    }

    /// Evaluates an argument that is a text; `None` for null.
    pub(super) fn text(
        &mut self,
        at: usize,
        attribute: &Attribute,
        context: ExprContext,
    ) -> Outcome<Option<String>> {
        let slot = self.slot(at, attribute, context);
        let value = slot.outcome.clone()?;
        match &value.value {
            Value::Null => Ok(None),
            Value::Unknown => {
                let place = slot.causes.first().map_or(slot.place, |cause| cause.place);
                Err(Stop::uncertain(place, &slot.unknown().reason))
            }
            value => match value.to_text() {
                Some(text) => Ok(Some(text)),
                None => Err(Stop::wrong_type(slot.place, "a string is required")),
            },
        }
    }
}
