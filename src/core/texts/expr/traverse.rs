//! Steps into values: attributes, indexes, splats.

use std::sync::Arc;

use super::convert::to_number;
use super::eval::{Evaluator, ResolvedName};
use super::failure::{EvalFailure, NotConstant, Outcome, joined};
use super::typed::Typed;
use super::types::Type;
use super::value::{Marks, Value, normalised};
use crate::diag::Span;
use crate::hcl::tree::{Expr, ExprKind, Step};

const NO_ATTRIBUTE: &str = "Unsupported attribute";

/// A step with the value of its index, if it has one.
type Stepped<'s> = (&'s Step, Option<Typed>);

impl<'e> Evaluator<'e> {
    pub(super) fn traversal(&mut self, base: &'e Expr, steps: &'e [Step]) -> Outcome {
        let (value, steps) = match self.beginning(base, steps) {
            Ok((value, steps)) => (Ok(value), steps),
            Err(problems) => (Err(problems), steps),
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
        let (value, indexes) = joined(value, problems.or_value(indexes))?;
        // Only the part is copied: a value may hold megabytes, and the expression uses one attribute of it.
        let (part, taken) =
            ValuePart::new(&value.ty, &value.value, Marks::default()).after(&indexes);
        self.charge(base.span, 2 * part.value.weight())?;
        let copy = Typed {
            ty: part.ty.clone(),
            value: part.value.clone(),
        };
        self.steps(copy.marked(part.marks), &indexes[taken..], base.span)
    }

    /// Returns the value at the beginning of a traversal, and the steps that are left.
    fn beginning(
        &mut self,
        base: &'e Expr,
        steps: &'e [Step],
    ) -> Outcome<(Arc<Typed>, &'e [Step])> {
        let ExprKind::Variable(name) = &base.kind else {
            return Ok((Arc::new(self.expr(base)?), steps));
        };
        match (self.named(name, base.span)?, steps) {
            (ResolvedName::Value(value), _) => Ok((value, steps)),
            (ResolvedName::Attributes(attributes), [Step::Attr(attribute), rest @ ..]) => {
                match attributes.get(&attribute.text) {
                    Some(value) => Ok((Arc::clone(value), rest)),
                    None => self.wrong(attribute.span, NO_ATTRIBUTE),
                }
            }
            (ResolvedName::Attributes(attributes), _) => {
                let value = self.object_of(attributes, base.span)?;
                Ok((Arc::new(value), steps))
            }
        }
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
        // Behind `.*` a bracket indexes the whole list, and `.0` each element; the tree does not distinguish the two.
        let is_simple = match splat {
            Step::AttrSplat => rest.iter().all(is_attribute),
            _ => !rest.iter().any(is_splat),
        };
        if !is_simple {
            return self.fail(
                span,
                EvalFailure::Uncertain("this splat has several readings"),
            );
        }
        // A splat of something unknown is unknown: null and lists have different results.
        let (value, marks) = value.unmarked();
        if value.value == Value::Unknown {
            return Ok(Typed::unknown(Type::Any).marked(marks));
        }
        let is_list = matches!(value.ty, Type::List(_) | Type::Set(_));
        let items = match value.value {
            Value::Null if is_list => return self.wrong(span, "Splat of null value"),
            // A splat of a null that is no list is an empty tuple.
            Value::Null => Vec::new(),
            Value::Tuple(_) => value.into_items().unwrap_or_default(),
            // A splat of a value that is no list makes a list of one.
            _ => vec![value],
        };
        let items = items
            .into_iter()
            .map(|item| self.steps(item, rest, span))
            .collect::<Outcome<Vec<Typed>>>()?;
        let value = match items.first().map(|first| first.ty.clone()) {
            // Items of one type keep it.
            Some(ty) if is_list && items.iter().all(|item| item.ty == ty) => {
                Typed::list(ty, items.into_iter().map(|item| item.value).collect())
            }
            None if is_list => return self.fail(span, EvalFailure::Uncertain("an empty splat")),
            _ => Typed::tuple(items),
        };
        Ok(value.marked(marks))
    }

    fn attribute(&self, value: Typed, name: &str, span: Span) -> Outcome {
        let name = normalised(name.to_owned());
        // What is taken out of a secret is a secret, too.
        let (value, marks) = value.unmarked();
        let item = match (&value.ty, &value.value) {
            (_, Value::Null) => {
                return self.wrong(span, "Attempt to get attribute from null value");
            }
            // The value may turn out to be an object with this attribute.
            (Type::Any, Value::Unknown) => Some(Typed::unknown(Type::Any)),
            (Type::Object(types), Value::Unknown) => {
                let attribute = types.get(&name);
                attribute.map(|attribute| Typed::unknown(attribute.ty.clone()))
            }
            (Type::Map(item), Value::Unknown) => Some(Typed::unknown((**item).clone())),
            (Type::Map(_), _) => {
                let item = value.into_attributes().unwrap_or_default().remove(&name);
                return match item {
                    Some(item) => Ok(item.marked(marks)),
                    None => self.wrong(span, "Missing map element"),
                };
            }
            (Type::Object(types), Value::Object(items)) => types
                .get(&name)
                .zip(items.get(&name))
                .map(|(attribute, item)| Typed {
                    ty: attribute.ty.clone(),
                    value: item.clone(),
                }),
            _ => None,
        };
        match item {
            Some(item) => Ok(item.marked(marks)),
            None => self.wrong(span, NO_ATTRIBUTE),
        }
    }

    fn index(&self, value: Typed, index: &Typed, span: Span) -> Outcome {
        let (value, marks) = value.unmarked();
        let (index, index_marks) = index.clone().unmarked();
        let marks: Marks = marks.and(index_marks);
        if value.value == Value::Null {
            return self.wrong(span, "Attempt to index null value");
        }
        if index.value == Value::Null {
            return self.wrong(span, "Invalid index");
        }
        if value.value == Value::Unknown || index.value == Value::Unknown {
            let item = match value.ty {
                Type::List(item) | Type::Map(item) => *item,
                // The index decides which item it is, so that its type is not known either.
                Type::Any | Type::Tuple(_) | Type::Object(_) => Type::Any,
                _ => return self.wrong(span, "Invalid index"),
            };
            return Ok(Typed::unknown(item).marked(marks));
        }
        let item = match (&value.ty, &value.value) {
            // The items of a set have no order that the programs promise (rules 2.5).
            (Type::Set(_), _) => None,
            (_, Value::Tuple(_)) => match to_number(&index.value) {
                Ok(number) => number.to_index().and_then(|at| {
                    let mut items = value.into_items()?;
                    (at < items.len()).then(|| items.swap_remove(at))
                }),
                Err(EvalFailure::Type(_)) => None,
                Err(failure) => return self.fail(span, failure),
            },
            (_, Value::Object(_)) => {
                // A number is a key as well: primitive values convert to strings (rules 2.1).
                let key = index.value.to_text();
                key.and_then(|key| value.into_attributes()?.remove(&key))
            }
            _ => None,
        };
        match item {
            Some(item) => Ok(item.marked(marks)),
            None => self.wrong(span, "Invalid index"),
        }
    }
}

/// A part of a value, by reference.
#[derive(Clone, Copy)]
struct ValuePart<'v> {
    ty: &'v Type,
    value: &'v Value,
    /// The marks of the part and of all values around it.
    marks: Marks,
}

impl<'v> ValuePart<'v> {
    fn new(ty: &'v Type, value: &'v Value, marks: Marks) -> Self {
        match value {
            Value::Marked(own, value) => Self {
                ty,
                value,
                marks: marks.and(*own),
            },
            _ => Self { ty, value, marks },
        }
    }

    /// Follows steps as far as they lead to known parts; returns the number of these steps.
    fn after(mut self, steps: &[Stepped<'_>]) -> (Self, usize) {
        for (taken, (step, index)) in steps.iter().enumerate() {
            let next = match (step, index) {
                (Step::Attr(name), _) => self.member(&normalised(name.text.clone())),
                (Step::Index(_), Some(index)) => self.element(&index.value),
                _ => None,
            };
            match next {
                Some(next) => self = next,
                None => return (self, taken),
            }
        }
        (self, steps.len())
    }

    fn member(self, name: &str) -> Option<Self> {
        let Value::Object(items) = self.value else {
            return None;
        };
        let ty = match self.ty {
            Type::Object(types) => &types.get(name)?.ty,
            Type::Map(item) => item,
            _ => return None,
        };
        Some(Self::new(ty, items.get(name)?, self.marks))
    }

    fn element(self, index: &Value) -> Option<Self> {
        match (self.value, index) {
            (Value::Object(_), Value::String(key)) => self.member(key),
            (Value::Tuple(items), Value::Number(at)) => {
                let at = at.to_index()?;
                let ty = match self.ty {
                    Type::Tuple(types) => types.get(at)?,
                    Type::List(item) => item,
                    _ => return None,
                };
                Some(Self::new(ty, items.get(at)?, self.marks))
            }
            _ => None,
        }
    }
}
