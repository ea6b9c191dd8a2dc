//! The evaluation of expressions, except for steps into values, `for` and templates.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Number;
use super::convert::to_bool;
use super::failure::{EvalFailure, NotConstant, Outcome, joined, joined_all};
use super::functions;
use super::operators::{common, decided, unary};
use super::scope::{Budget, EvalScope, NameValue};
use super::typed::Typed;
use super::types::Type;
use super::value::{Marks, Value, normalised};
use crate::diag::{Diagnostic, FileId, Span, rules};
use crate::hcl::tree::{Conditional, Expr, ExprKind, ObjectItem, ObjectKey};

/// Limit of the work of one expression: values made or copied, in bytes. A few lines of nested `for` would
/// otherwise fill the memory.
pub(super) const MAX_WORK: usize = 40 << 20;

/// Maximum nesting of expressions. The parser of native syntax stops before; functions that evaluate further
/// expressions count from the place of their call.
pub(super) const MAX_DEPTH: usize = 256;

/// Evaluates an expression that needs neither variables nor functions.
///
/// ```
/// use lockctl_core::{diag::Texts, expr, hcl};
///
/// let text = b"version = true ? \"3.${2}.1\" : \"\"\n";
/// let file = Texts::default().add("x", text.to_vec());
/// let (body, _) = hcl::parse(file, text);
/// let version = &body.attribute("version").unwrap().value;
/// assert_eq!(expr::constant(file, version), Ok(expr::Value::string("3.2.1")));
/// ```
///
/// # Errors
/// All problems of the expression.
pub fn constant(file: FileId, expr: &Expr) -> Result<Value, NotConstant> {
    let value = evaluate(file, expr, &EvalScope::default(), &mut Budget::default())?;
    Ok(value.value)
}

/// Evaluates an expression with the names and functions of a scope.
///
/// ```
/// use std::collections::BTreeMap;
/// use lockctl_core::expr::{self, Budget, EvalScope, Typed, Value};
/// use lockctl_core::{diag::Texts, hcl};
///
/// let text = b"a = \"${var.env}-1\"\n";
/// let file = Texts::default().add("x", text.to_vec());
/// let (body, _) = hcl::parse(file, text);
/// let var = Typed::object(BTreeMap::from([("env".to_owned(), Typed::string("prod"))]));
/// let scope = EvalScope { names: BTreeMap::from([("var".to_owned(), var.into())]), functions: None };
/// let value = expr::evaluate(file, &body.attribute("a").unwrap().value, &scope, &mut Budget::default());
/// assert_eq!(value.unwrap().value, Value::string("prod-1"));
/// ```
///
/// # Errors
/// All problems of the expression.
pub fn evaluate(
    file: FileId,
    expr: &Expr,
    scope: &EvalScope<'_>,
    budget: &mut Budget,
) -> Result<Typed, NotConstant> {
    evaluate_at(0, file, expr, scope, budget)
}

/// Evaluates an expression at this depth of nesting.
///
/// # Errors
/// All problems of the expression.
pub fn evaluate_at(
    depth: usize,
    file: FileId,
    expr: &Expr,
    scope: &EvalScope<'_>,
    budget: &mut Budget,
) -> Result<Typed, NotConstant> {
    // One expression may not use up the budget of all others.
    let allowance = budget.work.min(MAX_WORK);
    let mut eval = Evaluator {
        file,
        scope,
        names: Vec::new(),
        work: allowance,
        depth,
        guards: 0,
        is_partial: false,
    };
    let value = eval.expr(expr);
    budget.work -= allowance - eval.work;
    value
}

/// The attributes of a name.
type Attributes = BTreeMap<String, Arc<Typed>>;

/// The value of a name in the scope.
pub(super) enum ResolvedName<'e> {
    Value(Arc<Typed>),
    Attributes(&'e Attributes),
}

/// The state of the evaluation of one expression.
pub(super) struct Evaluator<'e> {
    pub(super) file: FileId,
    pub(super) scope: &'e EvalScope<'e>,
    /// The variables of the enclosing `for` expressions, innermost last.
    pub(super) names: Vec<(&'e str, Arc<Typed>)>,
    /// The work that is left, in bytes of values made or copied.
    pub(super) work: usize,
    pub(super) depth: usize,
    /// The number of enclosing `try` and `can`.
    pub(super) guards: usize,
    /// Parts of the constructor that comes next may be refused, and are unknown then.
    pub(super) is_partial: bool,
}

impl<'e> Evaluator<'e> {
    pub(super) fn fail<T>(&self, span: Span, failure: EvalFailure) -> Outcome<T> {
        match failure {
            EvalFailure::Unknown(title) => self.refuse(rules::NOT_CONSTANT, title, span, ""),
            EvalFailure::Type(title) => self.refuse(rules::WRONG_TYPE, title, span, ""),
            EvalFailure::Uncertain(reason) => self.uncertain(span, reason),
        }
    }

    /// Fails with an error of the program.
    pub(super) fn refuse<T>(
        &self,
        code: &'static str,
        title: &str,
        span: Span,
        note: &str,
    ) -> Outcome<T> {
        let error = Diagnostic::error(code, title).at(self.file, span, note);
        Err(NotConstant::refused(error))
    }

    /// Fails because of a limit of lockctl: the program may have a value.
    pub(super) fn uncertain<T>(&self, span: Span, reason: &str) -> Outcome<T> {
        let diagnostic =
            Diagnostic::error(rules::NOT_CONSTANT, "Expression cannot be evaluated here");
        Err(NotConstant::uncertain(
            diagnostic
                .at(self.file, span, reason)
                .help("write the value itself"),
        ))
    }

    pub(super) fn wrong<T>(&self, span: Span, title: &'static str) -> Outcome<T> {
        self.fail(span, EvalFailure::Type(title))
    }

    pub(super) fn check<T>(&self, span: Span, result: Result<T, EvalFailure>) -> Outcome<T> {
        result.or_else(|failure| self.fail(span, failure))
    }

    pub(super) fn charge(&mut self, span: Span, work: usize) -> Outcome<()> {
        match self.work.checked_sub(work) {
            Some(left) => {
                self.work = left;
                Ok(())
            }
            None => {
                // The rest of the expression must not go on after a part was too much.
                self.work = 0;
                self.fail(span, EvalFailure::Uncertain("this computes too much"))
            }
        }
    }

    pub(super) fn expr(&mut self, expr: &'e Expr) -> Outcome {
        self.charge(expr.span, size_of::<Typed>())?;
        if self.depth >= MAX_DEPTH {
            return self.fail(expr.span, EvalFailure::Uncertain("this is nested too deep"));
        }
        self.depth += 1;
        let value = self.kind(expr);
        self.depth -= 1;
        value
    }

    /// Evaluates a part of a constructor.
    pub(super) fn part(&mut self, expr: &'e Expr, is_partial: bool) -> Outcome {
        self.is_partial = is_partial;
        let value = self.expr(expr);
        self.is_partial = false;
        match value {
            Err(problems) if is_partial && problems.uncertain.is_empty() => {
                Ok(Typed::unknown(Type::Any))
            }
            value => value,
        }
    }

    fn kind(&mut self, expr: &'e Expr) -> Outcome {
        let span = expr.span;
        let is_partial = std::mem::take(&mut self.is_partial);
        match &expr.kind {
            ExprKind::Null => Ok(Typed::null(Type::Any)),
            ExprKind::Bool(value) => Ok(Typed::bool(*value)),
            // More digits than a decimal holds might round differently (rules 3.2).
            ExprKind::Number(text) => match Number::parse(text) {
                Some(number) => Ok(Typed::number(number)),
                None => self.fail(
                    span,
                    EvalFailure::Uncertain("this number has too many digits"),
                ),
            },
            ExprKind::String(text) => {
                self.charge(span, text.len())?;
                Ok(Typed::string(text.as_str()))
            }
            ExprKind::Template(parts) => self.template(parts, span),
            ExprKind::Tuple(items) => self.all(items, is_partial).map(Typed::tuple),
            ExprKind::Object(items) => self.object(items, is_partial),
            ExprKind::Paren(inner) => {
                self.is_partial = is_partial;
                self.expr(inner)
            }
            ExprKind::Variable(name) => match self.named(name, span)? {
                ResolvedName::Value(value) => self.copied(&value, span),
                ResolvedName::Attributes(attributes) => self.object_of(attributes, span),
            },
            ExprKind::Traversal(base, steps) => self.traversal(base, steps),
            ExprKind::Call(call) => functions::call(self, call, span),
            ExprKind::Conditional(conditional) => self.conditional(conditional, span),
            ExprKind::Unary(operator, operand) => {
                let value = self.expr(operand)?;
                self.check(operand.span, unary(*operator, value))
            }
            ExprKind::Binary(operator, operands) => {
                let (left, right) = &**operands;
                let (a, b) = (self.expr(left), self.expr(right));
                // Only the programs with functions decide by one operand (rules 5.5).
                if self.scope.functions.is_some()
                    && let Some(decided) = decided(*operator, &a, &b)
                {
                    return Ok(decided);
                }
                let (a, b) = joined(a, b)?;
                self.binary(*operator, (a, left.span), (b, right.span), span)
            }
            ExprKind::For(walk) => self.for_expr(walk, is_partial),
        }
    }

    pub(super) fn all(&mut self, items: &'e [Expr], is_partial: bool) -> Outcome<Vec<Typed>> {
        joined_all(items.iter().map(|item| self.part(item, is_partial)))
    }

    fn object(&mut self, items: &'e [ObjectItem], is_partial: bool) -> Outcome {
        let mut values = BTreeMap::new();
        let mut problems = NotConstant::default();
        let (mut marks, mut has_unknown_key) = (Marks::default(), false);
        for item in items {
            let key = self.key(&item.key);
            let value = self.part(&item.value, is_partial);
            match joined(key, value) {
                Ok(((key, key_marks), value)) => {
                    // The keys of a value with marked keys show them: the marks go to the whole.
                    marks = marks.and(key_marks);
                    match key {
                        Some(key) => drop(values.insert(key, value)),
                        // With an unknown key all attributes are open (rules 5.1).
                        None => has_unknown_key = true,
                    }
                }
                Err(found) => problems.add(found),
            }
        }
        let value = if has_unknown_key {
            Typed::unknown(Type::Any)
        } else {
            Typed::object(values)
        };
        problems.or_value(value.marked(marks))
    }

    /// Evaluates a key of an object; `None` for an unknown one.
    fn key(&mut self, key: &'e ObjectKey) -> Outcome<(Option<String>, Marks)> {
        let expr = match key {
            ObjectKey::Name(name) => {
                return Ok((Some(normalised(name.text.clone())), Marks::default()));
            }
            ObjectKey::Expr(expr) => expr,
        };
        // HCL asks for parentheses: `a.b = 1` looks like a nested key.
        if let ExprKind::Traversal(..) = expr.kind {
            return self.wrong(expr.span, "Ambiguous attribute key");
        }
        let (key, marks) = self.expr(expr)?.unmarked();
        match key.value {
            Value::Null => self.wrong(expr.span, "Null value as key"),
            // The key may become any text.
            Value::Unknown => Ok((None, marks)),
            value => match value.to_text() {
                Some(text) => Ok((Some(text), marks)),
                None => self.wrong(expr.span, "Incorrect key type"),
            },
        }
    }

    /// Copies a value that a scope holds, at the cost of its size.
    pub(super) fn copied(&mut self, value: &Typed, span: Span) -> Outcome {
        self.charge(span, value.weight())?;
        Ok(value.clone())
    }

    /// Makes a value of all attributes of a name.
    pub(super) fn object_of(&mut self, attributes: &Attributes, span: Span) -> Outcome {
        let mut copies = BTreeMap::new();
        for (name, value) in attributes {
            copies.insert(name.clone(), self.copied(value, span)?);
        }
        Ok(Typed::object(copies))
    }

    /// Returns the value of a name; the innermost `for` hides others.
    pub(super) fn named(&self, name: &str, span: Span) -> Outcome<ResolvedName<'e>> {
        let variable = self.names.iter().rev().find(|(known, _)| *known == name);
        if let Some((_, value)) = variable {
            return Ok(ResolvedName::Value(Arc::clone(value)));
        }
        match self.scope.names.get(name) {
            Some(NameValue::Value(value)) => Ok(ResolvedName::Value(Arc::clone(value))),
            Some(NameValue::Attributes(attributes)) => Ok(ResolvedName::Attributes(attributes)),
            // Where there are names at all, HCL reports that this one is unknown.
            None if self.names.is_empty() && self.scope.names.is_empty() => {
                self.fail(span, EvalFailure::Unknown("Variables not allowed"))
            }
            None => self.fail(span, EvalFailure::Unknown("Unknown variable")),
        }
    }

    /// Evaluates a condition; `None` for an unknown one.
    pub(super) fn condition(&mut self, condition: &'e Expr) -> Outcome<(Option<bool>, Marks)> {
        let (value, marks) = self.expr(condition)?.unmarked();
        let is_true = match value.value {
            Value::Null => return self.wrong(condition.span, "Null condition"),
            Value::Unknown => None,
            value => Some(self.check(condition.span, to_bool(&value, "Incorrect condition type"))?),
        };
        Ok((is_true, marks))
    }

    fn conditional(&mut self, conditional: &'e Conditional, span: Span) -> Outcome {
        let condition = &conditional.condition;
        let checked = self.condition(condition);
        let (is_true, marks) = match checked {
            Ok(checked) => checked,
            Err(problems) => {
                // If the branches have no type in common, the program reports only that (rules 5.6).
                let then = self.expr(&conditional.then);
                let otherwise = self.expr(&conditional.otherwise);
                if let (Ok(then), Ok(otherwise)) = (then, otherwise)
                    && let Err(failure @ EvalFailure::Type(_)) =
                        common(then.unmarked().0, &otherwise.unmarked().0)
                {
                    return self.fail(span, failure);
                }
                return Err(problems);
            }
        };
        let (chosen, other) = match is_true {
            // An unknown condition leaves the type, which both branches share.
            Some(false) => (&conditional.otherwise, &conditional.then),
            _ => (&conditional.then, &conditional.otherwise),
        };
        let (chosen, chosen_marks) = self.expr(chosen)?.unmarked();
        let mut marks = marks.and(chosen_marks);
        let value = match self.expr(other) {
            Ok(other) => {
                // Marks of the other branch count, too (rules 5.3).
                let (other, other_marks) = other.unmarked();
                marks = marks.and(other_marks);
                self.check(span, common(chosen, &other))?
            }
            Err(problems) if is_true.is_none() => return Err(problems),
            // The programs ignore faults in the other branch. Where only lockctl has no value for it, the type of the
            // branch may change that of the chosen one, and so the result is uncertain.
            Err(mut problems) => {
                problems.refused.clear();
                let chosen = problems.or_value(chosen)?;
                // What is refused in a constructor is only a part without a known type: those of the others must
                // be in common all the same (rules 5.6).
                let other = self.part(other, true)?.unmarked().0;
                if let Err(failure @ EvalFailure::Type(_)) = common(chosen.clone(), &other) {
                    return self.fail(span, failure);
                }
                chosen
            }
        };
        let value = match is_true {
            Some(_) => value,
            None => Typed::unknown(value.ty),
        };
        Ok(value.marked(marks))
    }
}
