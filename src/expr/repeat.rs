//! What walks through collections or puts text together: `for`, and templates.

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
use crate::hcl::tree::{Expr, For, TemplateFor, TemplatePart};

/// The items of a collection with their keys; nothing where it is not known.
type Pairs = Option<Vec<(Typed, Typed)>>;

/// What one turn of a `for` gives.
enum Turn {
    LeftOut,
    /// Its condition or its key is not known.
    Unknown,
    Item(Typed),
    Entry(String, Typed),
}

/// Text as far as it is known, and its marks.
#[derive(Default)]
struct Text {
    text: String,
    is_unknown: bool,
    marks: Marks,
}

impl Text {
    fn add(&mut self, other: Self) {
        self.text.push_str(&other.text);
        self.is_unknown |= other.is_unknown;
        self.marks = self.marks.and(other.marks);
    }
}

impl<'e> Evaluator<'e> {
    /// Lists what a `for` walks through.
    fn pairs(&mut self, collection: &'e Expr) -> Outcome<(Pairs, Marks)> {
        let (value, marks) = self.expr(collection)?.unmarked();
        let pairs = match (&value.ty, &value.value) {
            (_, Value::Null) => return self.wrong(collection.span, "Iteration over null value"),
            (Type::Bool | Type::Number | Type::String, _) => {
                return self.wrong(collection.span, "Iteration over non-iterable value");
            }
            (_, Value::Unknown) => None,
            (Type::Set(_), _) => {
                let items = value.into_items().unwrap_or_default().into_iter();
                Some(items.map(|item| (item.clone(), item)).collect())
            }
            (_, Value::Object(_)) => {
                let items = value.into_attributes().unwrap_or_default().into_iter();
                Some(
                    items
                        .map(|(key, item)| (Typed::string(key), item))
                        .collect(),
                )
            }
            _ => {
                let items = value.into_items().unwrap_or_default();
                let keys = (0_u32..).map(|at| Typed::number(Number::from(at)));
                Some(keys.zip(items).collect())
            }
        };
        Ok((pairs, marks))
    }

    fn turn<T>(
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

    pub(super) fn for_expr(&mut self, walk: &'e For) -> Outcome {
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
            let turn = self.turn(names, pair, |eval| eval.for_item(walk, &mut marks))?;
            match turn {
                Turn::LeftOut => {}
                Turn::Unknown => is_unknown = true,
                Turn::Item(value) => items.push(value),
                Turn::Entry(key, value) => {
                    let group = entries.entry(key).or_default();
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
            let groups = entries.into_iter();
            Typed::object(
                groups
                    .map(|(key, group)| (key, Typed::tuple(group)))
                    .collect(),
            )
        } else {
            let entries = entries.into_iter();
            let entries = entries.filter_map(|(key, mut group)| Some((key, group.pop()?)));
            Typed::object(entries.collect())
        };
        Ok(value.marked(marks))
    }

    /// Checks the condition of a `for` before any item is known, as the programs do: what is wrong
    /// about it is wrong even if there are no items (rules 5.6).
    fn early(
        &mut self,
        condition: &'e Expr,
        names: (Option<&'e str>, &'e str),
        is_empty: bool,
    ) -> Outcome<()> {
        let open = || Typed::unknown(Type::Any);
        let value = self.turn(names, (open(), open()), |eval| eval.expr(condition));
        let title = "Invalid 'for' condition";
        match value.map(|value| value.unmarked().0) {
            // With an item at hand, there may be an answer.
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

    fn for_item(&mut self, walk: &'e For, marks: &mut Marks) -> Outcome<Turn> {
        if let Some(condition) = &walk.condition {
            let (value, own) = self.expr(condition)?.unmarked();
            *marks = marks.and(own);
            let counts = match value.value {
                Value::Null => return self.wrong(condition.span, "Condition is null"),
                Value::Unknown => return Ok(Turn::Unknown),
                value => self.check(condition.span, to_bool(&value, "Invalid 'for' condition"))?,
            };
            if !counts {
                return Ok(Turn::LeftOut);
            }
        }
        let Some(key) = &walk.key else {
            return Ok(Turn::Item(self.expr(&walk.value)?));
        };
        let (value, own) = self.expr(key)?.unmarked();
        *marks = marks.and(own);
        if value.value == Value::Unknown {
            return Ok(Turn::Unknown);
        }
        match value.value.to_text() {
            Some(text) => Ok(Turn::Entry(text, self.expr(&walk.value)?)),
            None => self.wrong(key.span, "Invalid object key"),
        }
    }

    pub(super) fn template(&mut self, parts: &'e [TemplatePart], span: Span) -> Outcome {
        // A lone interpolation hands its value through.
        if let [TemplatePart::Interpolation(value)] = parts {
            return self.expr(value);
        }
        let Text {
            text,
            is_unknown,
            marks,
        } = self.text(parts, span)?;
        let value = match is_unknown {
            true => Typed::unknown(Type::String),
            false => Typed::string(text),
        };
        Ok(value.marked(marks))
    }

    fn text(&mut self, parts: &'e [TemplatePart], span: Span) -> Outcome<Text> {
        let mut all = Text::default();
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
                    let condition = &choice.condition;
                    let (value, marks) = self.expr(condition)?.unmarked();
                    all.marks = all.marks.and(marks);
                    let is_true = match value.value {
                        Value::Null => return self.wrong(condition.span, "Null condition"),
                        Value::Unknown => None,
                        value => {
                            let title = "Incorrect condition type";
                            Some(self.check(condition.span, to_bool(&value, title))?)
                        }
                    };
                    let (chosen, other) = match is_true {
                        Some(false) => (&choice.otherwise, &choice.then),
                        _ => (&choice.then, &choice.otherwise),
                    };
                    all.add(self.text(chosen, span)?);
                    all.is_unknown |= is_true.is_none();
                    // Of the other branch only its marks count, and its faults do not.
                    match self.text(other, span) {
                        Ok(other) => all.marks = all.marks.and(other.marks),
                        Err(problems) if problems.uncertain.is_empty() => {}
                        Err(problems) => return Err(problems),
                    }
                }
                TemplatePart::For(walk) => all.add(self.text_for(walk, span)?),
            }
            self.charge(span, 1 + all.text.len() - before)?;
        }
        Ok(all)
    }

    fn text_for(&mut self, walk: &'e TemplateFor, span: Span) -> Outcome<Text> {
        let (pairs, marks) = self.pairs(&walk.collection)?;
        let names = (walk.key_name.as_deref(), walk.value_name.as_str());
        let mut all = Text {
            is_unknown: pairs.is_none(),
            marks,
            ..Text::default()
        };
        for pair in pairs.unwrap_or_default() {
            all.add(self.turn(names, pair, |eval| eval.text(&walk.body, span))?);
        }
        Ok(all)
    }
}
