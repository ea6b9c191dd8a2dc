//! `for` expressions, and templates.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Number;
use super::convert::to_bool;
use super::eval::Evaluator;
use super::failure::Outcome;
use super::typed::Typed;
use super::types::Type;
use super::unify::possible;
use super::value::{Marks, Value};
use crate::diag::Span;
use crate::hcl::tree::{Expr, For, TemplatePart};

/// The keys and items of a collection; `None` if it is unknown.
type Pairs = Option<Vec<(Typed, Typed)>>;

/// The result of a `for` for one item of its collection.
enum ForItem {
    LeftOut,
    /// The condition or the key is unknown.
    Unknown,
    Item(Typed),
    Entry(String, Typed),
}

/// The known part of a text, and the marks of the whole.
#[derive(Default)]
struct PartialText {
    text: String,
    is_unknown: bool,
    marks: Marks,
}

impl PartialText {
    fn add(&mut self, other: Self) {
        self.text.push_str(&other.text);
        self.is_unknown |= other.is_unknown;
        self.marks = self.marks.and(other.marks);
    }
}

impl<'e> Evaluator<'e> {
    /// Evaluates the collection of a `for`.
    fn pairs(&mut self, collection: &'e Expr) -> Outcome<(Pairs, Marks)> {
        let (value, marks) = self.expr(collection)?.unmarked();
        let pairs = match (&value.ty, &value.value) {
            (_, Value::Null) => return self.wrong(collection.span, "Iteration over null value"),
            (Type::Bool | Type::Number | Type::String, _) => {
                return self.wrong(collection.span, "Iteration over non-iterable value");
            }
            // An unknown collection gives an unknown result for every body (rules 5.1).
            (_, Value::Unknown) => None,
            (Type::Set(_), _) => {
                // The key of an item of a set is the item.
                let items = value.into_items().unwrap_or_default();
                Some(items.into_iter().map(|item| (item.clone(), item)).collect())
            }
            (_, Value::Object(_)) => {
                let items = value.into_attributes().unwrap_or_default();
                let pair = |(key, item)| (Typed::string(key), item);
                Some(items.into_iter().map(pair).collect())
            }
            _ => {
                let items = value.into_items().unwrap_or_default();
                let keys = (0_u32..).map(|at| Typed::number(Number::from(at)));
                Some(keys.zip(items).collect())
            }
        };
        Ok((pairs, marks))
    }

    fn with_item<T>(
        &mut self,
        names: (Option<&'e str>, &'e str),
        pair: (Typed, Typed),
        evaluate: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        let outside = self.names.len();
        let (key, item) = pair;
        self.names.extend(names.0.map(|name| (name, Arc::new(key))));
        self.names.push((names.1, Arc::new(item)));
        let result = evaluate(self);
        self.names.truncate(outside);
        result
    }

    pub(super) fn for_expr(&mut self, walk: &'e For, is_partial: bool) -> Outcome {
        let (pairs, mut marks) = self.pairs(&walk.collection)?;
        let Some(pairs) = pairs else {
            return Ok(Typed::unknown(Type::Any).marked(marks));
        };
        let names = (walk.key_name.as_deref(), walk.value_name.as_str());
        if let Some(condition) = &walk.condition {
            self.early(condition, names, pairs.is_empty())?;
        }
        let mut items = Vec::new();
        let mut entries: BTreeMap<String, Vec<Typed>> = BTreeMap::new();
        let mut is_unknown = false;
        for pair in pairs {
            let item = self.with_item(names, pair, |eval| {
                eval.for_item(walk, &mut marks, is_partial)
            })?;
            match item {
                ForItem::LeftOut => {}
                ForItem::Unknown => is_unknown = true,
                ForItem::Item(value) => items.push(value),
                ForItem::Entry(key, value) => {
                    let group = entries.entry(key).or_default();
                    // Without `...` two items with one key are an error.
                    if !walk.grouping && !group.is_empty() {
                        let span = walk.key.as_ref().map_or(walk.value.span, |key| key.span);
                        return self.wrong(span, "Duplicate object key");
                    }
                    group.push(value);
                }
            }
        }
        let value = if is_unknown {
            Typed::unknown(Type::Any)
        } else if walk.key.is_none() {
            Typed::tuple(items)
        } else if walk.grouping {
            let group = |(key, group)| (key, Typed::tuple(group));
            Typed::object(entries.into_iter().map(group).collect())
        } else {
            // Each group has one item here: a second one was an error above.
            let only = |(key, mut group): (String, Vec<Typed>)| Some((key, group.pop()?));
            Typed::object(entries.into_iter().filter_map(only).collect())
        };
        Ok(value.marked(marks))
    }

    /// Checks the condition of a `for` before any item is known, as the programs do.
    fn early(
        &mut self,
        condition: &'e Expr,
        names: (Option<&'e str>, &'e str),
        is_empty: bool,
    ) -> Outcome<()> {
        // A fault in the condition is an error even if there are no items (rules 5.6).
        let open = || Typed::unknown(Type::Any);
        let value = self.with_item(names, (open(), open()), |eval| eval.expr(condition));
        let title = "Invalid 'for' condition";
        match value.map(|value| value.unmarked().0) {
            // Only lockctl has no value for it so far; with an item it may have one.
            Err(problems) if problems.refused.is_empty() && !is_empty => Ok(()),
            Err(problems) => Err(problems),
            Ok(value) if value.value == Value::Null => {
                self.wrong(condition.span, "Condition is null")
            }
            Ok(value) => match possible(&value.ty, &Type::Bool) {
                Ok(false) => self.wrong(condition.span, title),
                _ if value.value == Value::Unknown => Ok(()),
                _ => self
                    .check(condition.span, to_bool(&value.value, title))
                    .map(drop),
            },
        }
    }

    fn for_item(&mut self, walk: &'e For, marks: &mut Marks, is_partial: bool) -> Outcome<ForItem> {
        if let Some(condition) = &walk.condition {
            let (value, condition_marks) = self.expr(condition)?.unmarked();
            // The number of items of the result shows something of the condition.
            *marks = marks.and(condition_marks);
            let is_included = match value.value {
                Value::Null => return self.wrong(condition.span, "Condition is null"),
                Value::Unknown => return Ok(ForItem::Unknown),
                value => self.check(condition.span, to_bool(&value, "Invalid 'for' condition"))?,
            };
            if !is_included {
                return Ok(ForItem::LeftOut);
            }
        }
        let Some(key) = &walk.key else {
            return Ok(ForItem::Item(self.part(&walk.value, is_partial)?));
        };
        let (value, key_marks) = self.expr(key)?.unmarked();
        *marks = marks.and(key_marks);
        if value.value == Value::Unknown {
            return Ok(ForItem::Unknown);
        }
        match value.value.to_text() {
            Some(text) => Ok(ForItem::Entry(text, self.part(&walk.value, is_partial)?)),
            None => self.wrong(key.span, "Invalid object key"),
        }
    }

    pub(super) fn template(&mut self, parts: &'e [TemplatePart], span: Span) -> Outcome {
        // A template of one interpolation is its value, of any type.
        if let [TemplatePart::Interpolation(value)] = parts {
            return self.expr(value);
        }
        let PartialText {
            text,
            is_unknown,
            marks,
        } = self.text(parts, span)?;
        let value = if is_unknown {
            Typed::unknown(Type::String)
        } else {
            Typed::string(text)
        };
        Ok(value.marked(marks))
    }

    fn text(&mut self, parts: &'e [TemplatePart], span: Span) -> Outcome<PartialText> {
        let mut all = PartialText::default();
        for part in parts {
            let before = all.text.len();
            match part {
                TemplatePart::Literal(literal) => all.text.push_str(literal),
                TemplatePart::Interpolation(expr) => {
                    let (value, marks) = self.expr(expr)?.unmarked();
                    all.marks = all.marks.and(marks);
                    let is_text = value.ty.is_primitive() || value.ty == Type::Any;
                    match (value.value, is_text) {
                        (Value::Unknown, true) => all.is_unknown = true,
                        (value, _) => match value.to_text() {
                            Some(text) => all.text.push_str(&text),
                            None => {
                                let title = "Invalid template interpolation value";
                                return self.wrong(expr.span, title);
                            }
                        },
                    }
                }
                TemplatePart::If(choice) => {
                    let (is_true, marks) = self.condition(&choice.condition)?;
                    all.marks = all.marks.and(marks);
                    let (chosen, other) = match is_true {
                        Some(false) => (&choice.otherwise, &choice.then),
                        _ => (&choice.then, &choice.otherwise),
                    };
                    all.add(self.text(chosen, span)?);
                    all.is_unknown |= is_true.is_none();
                    // The marks of the other branch count, its faults do not (rules 5.3).
                    match self.text(other, span) {
                        Ok(other) => all.marks = all.marks.and(other.marks),
                        Err(problems) if problems.uncertain.is_empty() => {}
                        Err(problems) => return Err(problems),
                    }
                }
                TemplatePart::For(walk) => {
                    let (pairs, marks) = self.pairs(&walk.collection)?;
                    all.marks = all.marks.and(marks);
                    all.is_unknown |= pairs.is_none();
                    let names = (walk.key_name.as_deref(), walk.value_name.as_str());
                    for pair in pairs.unwrap_or_default() {
                        all.add(self.with_item(names, pair, |eval| eval.text(&walk.body, span))?);
                    }
                }
            }
            // A template in a loop may make megabytes of a short text.
            self.charge(span, 1 + all.text.len() - before)?;
        }
        Ok(all)
    }
}
