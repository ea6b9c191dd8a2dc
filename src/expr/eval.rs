//! The evaluator.

use std::collections::BTreeMap;
use std::iter::Chain;
use std::vec::IntoIter;

use super::Number;
use super::failure::Failure;
use super::operators::{Misfit, binary, to_bool, unary, unify};
use super::value::{Value, normalised};
use crate::diag::{Diagnostic, FileId, Span};
use crate::hcl::tree::{
    Conditional, Expr, ExprKind, For, ObjectItem, ObjectKey, TemplateFor, TemplatePart,
};

/// How much one expression may compute: values made or copied, and bytes of text.
const MAX_WORK: usize = 4 * 1024 * 1024;

/// How deep expressions may be nested; native syntax stops before.
const MAX_DEPTH: usize = 256;

/// Evaluates an expression that needs neither variables nor functions.
///
/// ```
/// use lockctl::{diag::Texts, expr, hcl};
///
/// let text = b"version = true ? \"3.${2}.1\" : \"\"\n";
/// let file = Texts::default().add("x", text.to_vec());
/// let (body, _) = hcl::parse(file, text);
/// let version = &body.attribute("version").unwrap().value;
/// assert_eq!(expr::constant(file, version), Ok(expr::Value::string("3.2.1")));
/// ```
///
/// # Errors
/// All that stands in the way.
pub fn constant(file: FileId, expr: &Expr) -> Result<Value, NotConstant> {
    let mut eval = Eval {
        file,
        names: Vec::new(),
        work: MAX_WORK,
        depth: 0,
    };
    eval.expr(expr)
}

/// Why an expression has no value here: iterates over all of it, the program's faults first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotConstant {
    /// What the program refuses, too, under its titles: variables, functions, wrong types.
    pub refused: Vec<Diagnostic>,
    /// What lockctl alone cannot compute for certain: rounded numbers, conversions between
    /// collection types, more than a fixed amount of work. The program may have a value.
    pub uncertain: Vec<Diagnostic>,
}

impl NotConstant {
    /// Adds what stands in the way elsewhere.
    pub(super) fn add(&mut self, other: Self) {
        self.refused.extend(other.refused);
        self.uncertain.extend(other.uncertain);
    }

    /// Returns the value if nothing stands in the way.
    pub(super) fn or_value<T>(self, value: T) -> Outcome<T> {
        if self.refused.is_empty() && self.uncertain.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

impl IntoIterator for NotConstant {
    type Item = Diagnostic;
    type IntoIter = Chain<IntoIter<Diagnostic>, IntoIter<Diagnostic>>;

    fn into_iter(self) -> Self::IntoIter {
        self.refused.into_iter().chain(self.uncertain)
    }
}

pub(super) type Outcome<T = Value> = Result<T, NotConstant>;

/// One evaluation.
pub(super) struct Eval<'e> {
    file: FileId,
    /// What `for` expressions around have named, innermost last.
    names: Vec<(&'e str, Value)>,
    work: usize,
    depth: usize,
}

impl<'e> Eval<'e> {
    pub(super) fn fail<T>(&self, span: Span, failure: Failure) -> Outcome<T> {
        let mut problems = NotConstant::default();
        match failure {
            Failure::Unknown(title) => problems
                .refused
                .push(Diagnostic::error("not-constant", title).at(self.file, span, "")),
            Failure::Type(title) => problems
                .refused
                .push(Diagnostic::error("wrong-type", title).at(self.file, span, "")),
            Failure::Uncertain(reason) => problems.uncertain.push(
                Diagnostic::error("not-constant", "Expression cannot be evaluated here")
                    .at(self.file, span, reason)
                    .help("write the value itself"),
            ),
        }
        Err(problems)
    }

    pub(super) fn wrong<T>(&self, span: Span, title: &'static str) -> Outcome<T> {
        self.fail(span, Failure::Type(title))
    }

    fn check<T>(&self, span: Span, result: Result<T, Failure>) -> Outcome<T> {
        result.or_else(|failure| self.fail(span, failure))
    }

    fn charge(&mut self, span: Span, work: usize) -> Outcome<()> {
        match self.work.checked_sub(work) {
            Some(left) => {
                self.work = left;
                Ok(())
            }
            None => self.fail(span, Failure::Uncertain("this computes too much")),
        }
    }

    pub(super) fn expr(&mut self, expr: &'e Expr) -> Outcome {
        self.charge(expr.span, 1)?;
        if self.depth >= MAX_DEPTH {
            return self.fail(expr.span, Failure::Uncertain("this is nested too deep"));
        }
        self.depth += 1;
        let value = self.kind(expr);
        self.depth -= 1;
        value
    }

    fn kind(&mut self, expr: &'e Expr) -> Outcome {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Number(text) => match Number::parse(text) {
                Some(number) => Ok(Value::Number(number)),
                None => self.fail(span, Failure::Uncertain("this number has too many digits")),
            },
            ExprKind::String(text) => {
                self.charge(span, text.len())?;
                Ok(Value::string(text.as_str()))
            }
            ExprKind::Template(parts) => self.template(parts, span),
            ExprKind::Tuple(items) => self.all(items).map(Value::Tuple),
            ExprKind::Object(items) => self.object(items),
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::Variable(name) => self.variable(name, span),
            ExprKind::Traversal(base, steps) => self.traversal(base, steps),
            ExprKind::Call(call) => self.fail(
                call.name.span,
                Failure::Unknown("Function calls not allowed"),
            ),
            ExprKind::Conditional(conditional) => self.conditional(conditional, span),
            ExprKind::Unary(operator, operand) => {
                let value = self.expr(operand)?;
                self.check(operand.span, unary(*operator, &value))
            }
            ExprKind::Binary(operator, operands) => {
                let (left, right) = &**operands;
                let (a, b) = self.both(left, right)?;
                binary(*operator, &a, &b).or_else(|misfit| self.misfit(misfit, expr, left, right))
            }
            ExprKind::For(walk) => self.for_expr(walk),
        }
    }

    fn misfit(&self, misfit: Misfit, whole: &Expr, left: &Expr, right: &Expr) -> Outcome {
        match misfit {
            Misfit::Left(failure) => self.fail(left.span, failure),
            Misfit::Right(failure) => self.fail(right.span, failure),
            Misfit::Whole(failure) => self.fail(whole.span, failure),
            Misfit::Both(a, b) => joined(
                self.fail::<()>(left.span, a),
                self.fail::<()>(right.span, b),
            )
            .map(|_| Value::Null),
        }
    }

    fn both(&mut self, left: &'e Expr, right: &'e Expr) -> Outcome<(Value, Value)> {
        let left = self.expr(left);
        let right = self.expr(right);
        joined(left, right)
    }

    fn all(&mut self, items: &'e [Expr]) -> Outcome<Vec<Value>> {
        let mut values = Vec::new();
        let mut problems = NotConstant::default();
        for item in items {
            match self.expr(item) {
                Ok(value) => values.push(value),
                Err(found) => problems.add(found),
            }
        }
        problems.or_value(values)
    }

    fn object(&mut self, items: &'e [ObjectItem]) -> Outcome {
        let mut values = BTreeMap::new();
        let mut problems = NotConstant::default();
        for item in items {
            let key = self.key(&item.key);
            let value = self.expr(&item.value);
            match joined(key, value) {
                Ok((key, value)) => {
                    values.insert(key, value);
                }
                Err(found) => problems.add(found),
            }
        }
        problems.or_value(Value::Object(values))
    }

    fn key(&mut self, key: &'e ObjectKey) -> Outcome<String> {
        let expr = match key {
            ObjectKey::Name(name) => return Ok(normalised(name.text.clone())),
            ObjectKey::Expr(expr) => expr,
        };
        if let ExprKind::Traversal(..) = expr.kind {
            return self.wrong(expr.span, "Ambiguous attribute key");
        }
        match self.expr(expr)? {
            Value::Null => self.wrong(expr.span, "Null value as key"),
            value => match value.to_text() {
                Some(text) => Ok(text),
                None => self.wrong(expr.span, "Incorrect key type"),
            },
        }
    }

    fn variable(&mut self, name: &str, span: Span) -> Outcome {
        let known = self.names.iter().rev().find(|(known, _)| *known == name);
        match known {
            Some((_, value)) => {
                let value = value.clone();
                self.charge(span, value.weight())?;
                Ok(value)
            }
            // Where there are names at all, HCL reports that this one is unknown.
            None if self.names.is_empty() => {
                self.fail(span, Failure::Unknown("Variables not allowed"))
            }
            None => self.fail(span, Failure::Unknown("Unknown variable")),
        }
    }

    fn conditional(&mut self, conditional: &'e Conditional, span: Span) -> Outcome {
        let condition = &conditional.condition;
        let is_true = match self.expr(condition)? {
            Value::Null => return self.wrong(condition.span, "Null condition"),
            value => self.check(condition.span, to_bool(&value, "Incorrect condition type"))?,
        };
        let (chosen, other) = if is_true {
            (&conditional.then, &conditional.otherwise)
        } else {
            (&conditional.otherwise, &conditional.then)
        };
        let chosen = self.expr(chosen)?;
        match self.expr(other) {
            Ok(other) => self.check(span, unify(chosen, &other)),
            // The programs take no notice of faults in the other branch. Of ours they know
            // nothing: there the branch has a type that may change the chosen one's.
            Err(mut problems) => {
                problems.refused.clear();
                problems.or_value(chosen)
            }
        }
    }

    /// Lists what a `for` walks through, as keys and values.
    fn pairs(&mut self, collection: &'e Expr) -> Outcome<Vec<(Value, Value)>> {
        match self.expr(collection)? {
            Value::Null => self.wrong(collection.span, "Iteration over null value"),
            Value::Tuple(items) => {
                let keys = (0_u32..).map(|at| Value::Number(Number::from(at)));
                Ok(keys.zip(items).collect())
            }
            Value::Object(items) => {
                let items = items.into_iter();
                Ok(items
                    .map(|(key, item)| (Value::String(key), item))
                    .collect())
            }
            _ => self.wrong(collection.span, "Iteration over non-iterable value"),
        }
    }

    /// Evaluates with the names of one turn.
    fn turn<T>(
        &mut self,
        names: (Option<&'e str>, &'e str),
        pair: (Value, Value),
        evaluate: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        let outside = self.names.len();
        self.names.extend(names.0.map(|name| (name, pair.0)));
        self.names.push((names.1, pair.1));
        let result = evaluate(self);
        self.names.truncate(outside);
        result
    }

    fn for_expr(&mut self, walk: &'e For) -> Outcome {
        let pairs = self.pairs(&walk.collection)?;
        let names = (walk.key_name.as_deref(), walk.value_name.as_str());
        let mut tuple = Vec::new();
        let mut object = BTreeMap::new();
        for pair in pairs {
            let item = self.turn(names, pair, |eval| eval.for_item(walk))?;
            match item {
                None => {}
                Some((None, value)) => tuple.push(value),
                Some((Some(key), value)) if walk.grouping => {
                    let group = object
                        .entry(key)
                        .or_insert_with(|| Value::Tuple(Vec::new()));
                    if let Value::Tuple(group) = group {
                        group.push(value);
                    }
                }
                Some((Some(key), _)) if object.contains_key(&key) => {
                    let span = walk.key.as_ref().map_or(walk.value.span, |key| key.span);
                    return self.wrong(span, "Duplicate object key");
                }
                Some((Some(key), value)) => {
                    object.insert(key, value);
                }
            }
        }
        match walk.key {
            Some(_) => Ok(Value::Object(object)),
            None => Ok(Value::Tuple(tuple)),
        }
    }

    /// Evaluates one turn of a `for`; nothing if the condition leaves it out.
    fn for_item(&mut self, walk: &'e For) -> Outcome<Option<(Option<String>, Value)>> {
        if let Some(condition) = &walk.condition {
            let counts = match self.expr(condition)? {
                Value::Null => return self.wrong(condition.span, "Condition is null"),
                value => self.check(condition.span, to_bool(&value, "Invalid 'for' condition"))?,
            };
            if !counts {
                return Ok(None);
            }
        }
        let Some(key) = &walk.key else {
            return Ok(Some((None, self.expr(&walk.value)?)));
        };
        match self.expr(key)?.to_text() {
            Some(text) => Ok(Some((Some(text), self.expr(&walk.value)?))),
            None => self.wrong(key.span, "Invalid object key"),
        }
    }

    fn template(&mut self, parts: &'e [TemplatePart], span: Span) -> Outcome {
        // A lone interpolation hands its value through.
        if let [TemplatePart::Interpolation(value)] = parts {
            return self.expr(value);
        }
        self.text(parts, span).map(Value::string)
    }

    fn text(&mut self, parts: &'e [TemplatePart], span: Span) -> Outcome<String> {
        let mut text = String::new();
        for part in parts {
            let before = text.len();
            match part {
                TemplatePart::Literal(literal) => text.push_str(literal),
                TemplatePart::Interpolation(expr) => match self.expr(expr)?.to_text() {
                    Some(value) => text.push_str(&value),
                    None => {
                        return self.wrong(expr.span, "Invalid template interpolation value");
                    }
                },
                TemplatePart::If(choice) => {
                    let condition = &choice.condition;
                    let is_true = match self.expr(condition)? {
                        Value::Null => return self.wrong(condition.span, "Null condition"),
                        value => {
                            let title = "Incorrect condition type";
                            self.check(condition.span, to_bool(&value, title))?
                        }
                    };
                    let branch = if is_true {
                        &choice.then
                    } else {
                        &choice.otherwise
                    };
                    text.push_str(&self.text(branch, span)?);
                }
                TemplatePart::For(walk) => text.push_str(&self.text_for(walk, span)?),
            }
            self.charge(span, 1 + text.len() - before)?;
        }
        Ok(text)
    }

    fn text_for(&mut self, walk: &'e TemplateFor, span: Span) -> Outcome<String> {
        let pairs = self.pairs(&walk.collection)?;
        let names = (walk.key_name.as_deref(), walk.value_name.as_str());
        let mut text = String::new();
        for pair in pairs {
            text.push_str(&self.turn(names, pair, |eval| eval.text(&walk.body, span))?);
        }
        Ok(text)
    }
}

/// Puts two results together, or all that stands in the way of either.
pub(super) fn joined<A, B>(a: Outcome<A>, b: Outcome<B>) -> Outcome<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut a), Err(b)) => {
            a.add(b);
            Err(a)
        }
        (Err(problems), _) | (_, Err(problems)) => Err(problems),
    }
}
