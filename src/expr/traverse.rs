//! Steps into values: attributes, indexes, splats.

use super::eval::{Eval, NotConstant, Outcome, joined};
use super::failure::Failure;
use super::operators::to_number;
use super::value::{Value, normalised};
use crate::diag::Span;
use crate::hcl::tree::{Expr, Step};

impl<'e> Eval<'e> {
    pub(super) fn traversal(&mut self, base: &'e Expr, steps: &'e [Step]) -> Outcome {
        let base_value = self.expr(base);
        let mut indexes = Vec::new();
        let mut problems = NotConstant::default();
        for step in steps {
            let index = match step {
                Step::Index(index) => self.expr(index),
                _ => Ok(Value::Null),
            };
            match index {
                Ok(index) => indexes.push((step, index)),
                Err(found) => problems.add(found),
            }
        }
        let (value, indexes) = joined(base_value, problems.or_value(indexes))?;
        self.steps(value, &indexes, base.span)
    }

    /// Walks down `steps`, each with the value of its index.
    fn steps(&mut self, mut value: Value, steps: &[(&Step, Value)], span: Span) -> Outcome {
        for (at, (step, index)) in steps.iter().enumerate() {
            let rest = &steps[at + 1..];
            value = match step {
                Step::Attr(name) => self.attribute(value, &name.text, name.span)?,
                Step::Index(expr) => self.index(value, index, expr.span)?,
                Step::FullSplat | Step::AttrSplat => return self.splat(value, step, rest, span),
            };
        }
        Ok(value)
    }

    fn splat(
        &mut self,
        value: Value,
        splat: &Step,
        rest: &[(&Step, Value)],
        span: Span,
    ) -> Outcome {
        let is_attribute = |(step, _): &(&Step, Value)| matches!(step, Step::Attr(_));
        let is_splat =
            |(step, _): &(&Step, Value)| matches!(step, Step::AttrSplat | Step::FullSplat);
        // Behind `.*` a bracket belongs to the whole list and `.0` to each element; the tree does
        // not distinguish the two.
        let is_simple = match splat {
            Step::AttrSplat => rest.iter().all(is_attribute),
            _ => !rest.iter().any(is_splat),
        };
        if !is_simple {
            return self.fail(span, Failure::Uncertain("this splat has several readings"));
        }
        let items = match value {
            Value::Null => Vec::new(),
            Value::Tuple(items) => items,
            single => vec![single],
        };
        let items = items.into_iter().map(|item| self.steps(item, rest, span));
        items.collect::<Outcome<Vec<Value>>>().map(Value::Tuple)
    }

    fn attribute(&self, value: Value, name: &str, span: Span) -> Outcome {
        match value {
            Value::Null => self.wrong(span, "Attempt to get attribute from null value"),
            Value::Object(mut items) => match items.remove(&normalised(name.to_owned())) {
                Some(item) => Ok(item),
                None => self.wrong(span, "Unsupported attribute"),
            },
            _ => self.wrong(span, "Unsupported attribute"),
        }
    }

    fn index(&self, value: Value, index: &Value, span: Span) -> Outcome {
        let found = match value {
            Value::Null => return self.wrong(span, "Attempt to index null value"),
            Value::Tuple(mut items) => match to_number(index) {
                Ok(number) => number
                    .to_index()
                    .filter(|at| *at < items.len())
                    .map(|at| items.swap_remove(at)),
                Err(Failure::Type(_)) => None,
                Err(failure) => return self.fail(span, failure),
            },
            Value::Object(mut items) => index.to_text().and_then(|key| items.remove(&key)),
            _ => None,
        };
        match found {
            Some(item) => Ok(item),
            None => self.wrong(span, "Invalid index"),
        }
    }
}
