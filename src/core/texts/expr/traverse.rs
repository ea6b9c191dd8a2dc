//! Steps into values: attributes, indexes, splats.

use std::sync::Arc;

use super::convert::to_number;
use super::eval::{Evaluator, ResolvedName};
use super::failure::{EvalFailure, Outcome, joined, joined_all};
use super::typed::Typed;
use super::types::Type;
use super::value::{Marks, Value, normalised};
use crate::diag::Span;
use crate::hcl::tree::{Expr, ExprKind, Step, Word};

const NO_ATTRIBUTE: &str = "Unsupported attribute";

/// A step with the value of its index, if it has one.
type Stepped<'s> = (&'s Step, Option<Typed>);

impl<'e> Evaluator<'e> {
    pub(super) fn traversal(&mut self, base: &'e Expr, steps: &'e [Step]) -> Outcome {
        let (value, steps) = match self.beginning(base, steps) {
            Ok((value, steps)) => (Ok(value), steps),
            Err(problems) => (Err(problems), steps),
        };
        let indexes = joined_all(steps.iter().map(|step| match step {
            Step::Index(index) => Ok((step, Some(self.expr(index)?))),
            _ => Ok((step, None)),
        }));
        let (value, indexes) = joined(value, indexes)?;
        let part = ValuePart::new(&value.ty, &value.value, Marks::default());
        self.steps(part, &indexes, base.span)
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

    /// Walks down `steps`, each with the value of its index. Only the part is copied: a value may hold megabytes, and
    /// the expression uses one attribute of it.
    fn steps(&mut self, mut part: ValuePart<'_>, steps: &[Stepped<'_>], span: Span) -> Outcome {
        for (at, (step, index)) in steps.iter().enumerate() {
            part = match (step, index) {
                (Step::Attr(name), _) => self.attribute(part, name)?,
                (Step::Index(expr), Some(index)) => self.index(part, index, expr.span)?,
                _ => return self.splat(part, step, &steps[at + 1..], span),
            };
        }
        self.charge(span, 2 * part.value.weight())?;
        let copy = Typed {
            ty: part.ty.clone(),
            value: part.value.clone(),
        };
        Ok(copy.marked(part.marks))
    }

    fn splat(
        &mut self,
        part: ValuePart<'_>,
        splat: &Step,
        rest: &[Stepped<'_>],
        span: Span,
    ) -> Outcome {
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
        if *part.value == Value::Unknown {
            return Ok(Typed::unknown(Type::Any).marked(part.marks));
        }
        let is_list = matches!(part.ty, Type::List(_) | Type::Set(_));
        let of_item = |(at, item)| {
            let ty = item_type(part.ty, at)?;
            Some(ValuePart::new(ty, item, Marks::default()))
        };
        let items = match part.value {
            Value::Null if is_list => return self.wrong(span, "Splat of null value"),
            // A splat of a null that is no list is an empty tuple.
            Value::Null => Vec::new(),
            Value::Tuple(items) => items.iter().enumerate().filter_map(of_item).collect(),
            // A splat of a value that is no list makes a list of one.
            value => vec![ValuePart::new(part.ty, value, Marks::default())],
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
        Ok(value.marked(part.marks))
    }

    fn attribute<'v>(&self, part: ValuePart<'v>, name: &Word) -> Outcome<ValuePart<'v>> {
        let span = name.span;
        let name = normalised(name.text.clone());
        let found = match (part.ty, part.value) {
            (_, Value::Null) => {
                return self.wrong(span, "Attempt to get attribute from null value");
            }
            // The value may turn out to be an object with this attribute.
            (Type::Any, Value::Unknown) => Some((&Type::Any, &Value::Unknown)),
            (Type::Object(_) | Type::Map(_), Value::Unknown) => {
                attribute_type(part.ty, &name).map(|ty| (ty, &Value::Unknown))
            }
            (Type::Map(item), Value::Object(items)) => match items.get(&name) {
                Some(value) => Some((&**item, value)),
                None => return self.wrong(span, "Missing map element"),
            },
            (Type::Object(_), Value::Object(items)) => {
                attribute_type(part.ty, &name).zip(items.get(&name))
            }
            _ => None,
        };
        match found {
            // What is taken out of a secret is a secret, too.
            Some((ty, value)) => Ok(ValuePart::new(ty, value, part.marks)),
            None => self.wrong(span, NO_ATTRIBUTE),
        }
    }

    fn index<'v>(&self, part: ValuePart<'v>, index: &Typed, span: Span) -> Outcome<ValuePart<'v>> {
        let (index, index_marks) = index.clone().unmarked();
        if *part.value == Value::Null {
            return self.wrong(span, "Attempt to index null value");
        }
        if index.value == Value::Null {
            return self.wrong(span, "Invalid index");
        }
        let is_unknown = [part.value, &index.value].contains(&&Value::Unknown);
        let found = match (part.ty, part.value) {
            (Type::List(item) | Type::Map(item), _) if is_unknown => {
                Some((&**item, &Value::Unknown))
            }
            // The index decides which item it is, so that its type is not known either.
            (Type::Any | Type::Tuple(_) | Type::Object(_), _) if is_unknown => {
                Some((&Type::Any, &Value::Unknown))
            }
            // The items of a set have no order that the programs promise (rules 2.5).
            (Type::Set(_), _) => None,
            (ty, Value::Tuple(items)) => match to_number(&index.value) {
                Ok(number) => number
                    .to_index()
                    .and_then(|at| item_type(ty, at).zip(items.get(at))),
                Err(EvalFailure::Type(_)) => None,
                Err(failure) => return self.fail(span, failure),
            },
            // A number is a key as well: primitive values convert to strings (rules 2.1).
            (ty, Value::Object(items)) => {
                let key = index.value.to_text();
                key.and_then(|key| attribute_type(ty, &key).zip(items.get(&key)))
            }
            _ => None,
        };
        match found {
            Some((ty, value)) => Ok(ValuePart::new(ty, value, part.marks.and(index_marks))),
            None => self.wrong(span, "Invalid index"),
        }
    }
}

fn item_type(ty: &Type, at: usize) -> Option<&Type> {
    match ty {
        Type::Tuple(types) => types.get(at),
        Type::List(item) | Type::Set(item) => Some(item),
        _ => None,
    }
}

fn attribute_type<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    match ty {
        Type::Object(types) => Some(&types.get(name)?.ty),
        Type::Map(item) => Some(item),
        _ => None,
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
}
