//! Steps into values: attributes, indexes, splats.

use super::eval::{Eval, NotConstant, Outcome, joined};
use super::failure::Failure;
use super::operators::to_number;
use super::typed::Typed;
use super::types::Type;
use super::value::{Marks, Value, normalised};
use crate::diag::Span;
use crate::hcl::tree::{Expr, ExprKind, Step};

/// A step with the value of its index, if it has one.
type Stepped<'s> = (&'s Step, Option<Typed>);

impl<'e> Eval<'e> {
    pub(super) fn traversal(&mut self, base: &'e Expr, steps: &'e [Step]) -> Outcome {
        // Only the attribute that is meant is copied: a name may hold a great deal.
        let (base_value, steps) = match (&base.kind, steps) {
            (ExprKind::Variable(name), [Step::Attr(attribute), rest @ ..]) => {
                let named = self.named(name, base.span);
                let value = named.and_then(|value| {
                    let found = borrowed(value, &attribute.text);
                    found.map_or_else(
                        || self.attribute(value.clone(), &attribute.text, attribute.span),
                        Ok,
                    )
                });
                (value, rest)
            }
            _ => (self.expr(base), steps),
        };
        let mut indexes = Vec::new();
        let mut problems = NotConstant::default();
        for step in steps {
            let index = match step {
                Step::Index(index) => self.expr(index).map(Some),
                _ => Ok(None),
            };
            match index {
                Ok(index) => indexes.push((step, index)),
                Err(found) => problems.add(found),
            }
        }
        let (value, indexes) = joined(base_value, problems.or_value(indexes))?;
        self.charge(base.span, value.value.weight())?;
        self.steps(value, &indexes, base.span)
    }

    /// Walks down `steps`, each with the value of its index.
    fn steps(&mut self, mut value: Typed, steps: &[Stepped<'_>], span: Span) -> Outcome {
        for (at, (step, index)) in steps.iter().enumerate() {
            let rest = &steps[at + 1..];
            value = match (step, index) {
                (Step::Attr(name), _) => self.attribute(value, &name.text, name.span)?,
                (Step::Index(expr), Some(index)) => self.index(value, index, expr.span)?,
                _ => return self.splat(value, step, rest, span),
            };
        }
        Ok(value)
    }

    fn splat(&mut self, value: Typed, splat: &Step, rest: &[Stepped<'_>], span: Span) -> Outcome {
        let is_attribute = |(step, _): &Stepped<'_>| matches!(step, Step::Attr(_));
        let is_splat = |(step, _): &Stepped<'_>| matches!(step, Step::AttrSplat | Step::FullSplat);
        // Behind `.*` a bracket belongs to the whole list and `.0` to each element; the tree does
        // not distinguish the two.
        let is_simple = match splat {
            Step::AttrSplat => rest.iter().all(is_attribute),
            _ => !rest.iter().any(is_splat),
        };
        if !is_simple {
            return self.fail(span, Failure::Uncertain("this splat has several readings"));
        }
        let (value, marks) = value.unmarked();
        if value.value == Value::Unknown {
            return Ok(Typed::unknown(Type::Any).marked(marks));
        }
        let is_list = matches!(value.ty, Type::List(_) | Type::Set(_));
        let items = match value.value {
            Value::Null if is_list => return self.wrong(span, "Splat of null value"),
            Value::Null => Vec::new(),
            Value::Tuple(_) => value.into_items().unwrap_or_default(),
            _ => vec![value],
        };
        let items = items.into_iter().map(|item| self.steps(item, rest, span));
        let items = items.collect::<Outcome<Vec<Typed>>>()?;
        let value = match items.first().map(|first| first.ty.clone()) {
            // Items of one type keep it.
            Some(ty) if is_list && items.iter().all(|item| item.ty == ty) => {
                Typed::list(ty, items.into_iter().map(|item| item.value).collect())
            }
            None if is_list => return self.fail(span, Failure::Uncertain("an empty splat")),
            _ => Typed::tuple(items),
        };
        Ok(value.marked(marks))
    }

    fn attribute(&self, value: Typed, name: &str, span: Span) -> Outcome {
        let name = normalised(name.to_owned());
        let (value, marks) = value.unmarked();
        let found = match (&value.ty, &value.value) {
            (_, Value::Null) => {
                return self.wrong(span, "Attempt to get attribute from null value");
            }
            (Type::Any, Value::Unknown) => Some(Typed::unknown(Type::Any)),
            (Type::Object(types), Value::Unknown) => {
                let attribute = types.get(&name);
                attribute.map(|attribute| Typed::unknown(attribute.ty.clone()))
            }
            (Type::Map(item), Value::Unknown) => Some(Typed::unknown((**item).clone())),
            (Type::Map(_), _) => {
                let found = value.into_attributes().unwrap_or_default().remove(&name);
                return match found {
                    Some(item) => Ok(item.marked(marks)),
                    None => self.wrong(span, "Missing map element"),
                };
            }
            _ => borrowed(&value, &name),
        };
        match found {
            Some(item) => Ok(item.marked(marks)),
            None => self.wrong(span, "Unsupported attribute"),
        }
    }

    fn index(&self, value: Typed, index: &Typed, span: Span) -> Outcome {
        let (value, marks) = value.unmarked();
        let (index, own) = index.clone().unmarked();
        let marks: Marks = marks.and(own);
        if value.value == Value::Null {
            return self.wrong(span, "Attempt to index null value");
        }
        if index.value == Value::Null {
            return self.wrong(span, "Invalid index");
        }
        if value.value == Value::Unknown || index.value == Value::Unknown {
            let item = match value.ty {
                Type::List(item) | Type::Map(item) => *item,
                Type::Any | Type::Tuple(_) | Type::Object(_) => Type::Any,
                _ => return self.wrong(span, "Invalid index"),
            };
            return Ok(Typed::unknown(item).marked(marks));
        }
        let found = match (&value.ty, &value.value) {
            (Type::Set(_), _) => None,
            (_, Value::Tuple(_)) => match to_number(&index.value) {
                Ok(number) => number.to_index().and_then(|at| {
                    let mut items = value.into_items()?;
                    (at < items.len()).then(|| items.swap_remove(at))
                }),
                Err(Failure::Type(_)) => None,
                Err(failure) => return self.fail(span, failure),
            },
            (_, Value::Object(_)) => {
                let key = index.value.to_text();
                key.and_then(|key| value.into_attributes()?.remove(&key))
            }
            _ => None,
        };
        match found {
            Some(item) => Ok(item.marked(marks)),
            None => self.wrong(span, "Invalid index"),
        }
    }
}

/// Copies an attribute out of a known object without marks.
fn borrowed(value: &Typed, name: &str) -> Option<Typed> {
    let (Type::Object(types), Value::Object(items)) = (&value.ty, &value.value) else {
        return None;
    };
    Some(Typed {
        ty: types.get(name)?.ty.clone(),
        value: items.get(name)?.clone(),
    })
}
