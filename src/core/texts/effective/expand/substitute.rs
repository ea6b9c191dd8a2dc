//! Values in the place of the iterators in an expression; the rest of its text stays.

use crate::config::{ExtraNames, PlannedValues, UnknownReason};
use crate::diag::{FileId, Span};
use crate::effective::expand::MAX_GENERATED_BYTES;
use crate::effective::literal::literal;
use crate::expr::{Type, Typed};
use crate::hcl::references;
use crate::hcl::tree::{Expr, ExprKind, Step, TemplatePart};

/// The text of a value that must not be shown. It is no valid expression, so the programs refuse it.
const SENSITIVE: &str = "(sensitive)";

/// Maximum number of steps behind an iterator that are replaced together with it.
const MAX_STEPS: usize = 32;

/// The replacement of iterators in the text of one expression.
pub(super) struct Substitution<'s, 'v, 'a> {
    pub text: &'s str,
    pub file: FileId,
    pub iterators: &'s ExtraNames,
    pub values: &'v mut PlannedValues<'a>,
    /// The number of bytes that may still be looked at or written.
    pub bytes_left: usize,
    /// The texts that replace parts of the expression.
    pub edits: Vec<(Span, String)>,
}

/// The surroundings of a part of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartRole {
    /// The part is the whole argument, which has the type that the provider wants.
    Whole,
    /// The part is an operand or an argument, where types matter.
    Inside,
    /// The part is followed by steps, as `.name`.
    Base,
}

impl Substitution<'_, '_, '_> {
    /// Returns the text of the expression with values in the place of iterators.
    pub(super) fn apply(&mut self, expr: &Expr) -> Result<String, UnknownReason> {
        self.expr(expr, PartRole::Whole, &[])?;
        self.edits.sort_by_key(|(span, _)| span.start);
        let mut text = String::with_capacity(self.text.len());
        let mut end = 0;
        for (span, replacement) in &self.edits {
            text.push_str(&self.text[end..span.start]);
            text.push_str(replacement);
            end = span.end;
        }
        text.push_str(&self.text[end..]);
        Ok(text)
    }

    /// Replaces the largest parts that depend on iterators alone. `hidden` are the names that an enclosing `for`
    /// defines.
    fn expr(&mut self, expr: &Expr, role: PartRole, hidden: &[&str]) -> Result<(), UnknownReason> {
        // Each level of nesting looks at all of its text.
        let length = expr.span.end - expr.span.start;
        self.bytes_left = self.bytes_left.saturating_sub(length);
        if self.bytes_left == 0 {
            return Err(too_large());
        }
        let used = references::inside(expr);
        let count = used
            .iter()
            .filter(|used| self.replaces(used.root, hidden))
            .count();
        if count == 0 {
            return Ok(());
        }
        // A value that depends on files or on the machine says less than its call.
        let is_foldable = count == used.len()
            && !references::functions(expr).iter().any(|name| {
                let name = name.text.strip_prefix("core::").unwrap_or(&name.text);
                name.starts_with("file")
                    || ["abspath", "pathexpand", "templatefile"].contains(&name)
            });
        if is_foldable {
            // Where the whole has no value, its parts may have some.
            if let Ok(value) = self.values.evaluate(self.file, expr, self.iterators) {
                let text = shown(value, role).ok_or("a value that it needs is not known")?;
                self.edits.push((expr.span, text));
                return Ok(());
            }
        }
        self.parts(expr, hidden)
    }

    fn parts(&mut self, expr: &Expr, hidden: &[&str]) -> Result<(), UnknownReason> {
        let inside = PartRole::Inside;
        match &expr.kind {
            ExprKind::Variable(_) => self.traversal(expr, &[], hidden),
            ExprKind::Template(parts) => {
                let template = &self.text[expr.span.start..expr.span.end];
                self.template(parts, template, hidden)
            }
            ExprKind::Traversal(base, steps) => self.traversal(base, steps, hidden),
            ExprKind::For(turns) => {
                self.expr(&turns.collection, inside, hidden)?;
                let hidden = names(hidden, turns.key_name.as_deref(), &turns.value_name);
                let parts = [
                    Some(&turns.value),
                    turns.key.as_ref(),
                    turns.condition.as_ref(),
                ];
                parts
                    .into_iter()
                    .flatten()
                    .try_for_each(|part| self.expr(part, inside, &hidden))
            }
            _ => expr
                .operands()
                .into_iter()
                .try_for_each(|operand| self.expr(operand, inside, hidden)),
        }
    }

    /// Replaces the part of a traversal that has a value, and the iterators in its other steps. A step that fails
    /// stays: `try` may catch that.
    fn traversal(
        &mut self,
        base: &Expr,
        steps: &[Step],
        hidden: &[&str],
    ) -> Result<(), UnknownReason> {
        let fixed = steps
            .iter()
            .take_while(|step| references::is_fixed(step))
            .count();
        let rest = match &base.kind {
            ExprKind::Variable(name) if self.replaces(name, hidden) => {
                let (span, value) = (0..=fixed.min(MAX_STEPS))
                    .rev()
                    .find_map(|count| self.prefix(base, &steps[..count]))
                    .ok_or("a value that it needs is not known")?;
                let text =
                    shown(value, PartRole::Base).ok_or("a value that it needs is not known")?;
                self.edits.push((span, text));
                &steps[fixed..]
            }
            ExprKind::Variable(_) => steps,
            _ => {
                self.expr(base, PartRole::Base, hidden)?;
                steps
            }
        };
        rest.iter().try_for_each(|step| match step {
            Step::Index(index) => self.expr(index, PartRole::Inside, hidden),
            _ => Ok(()),
        })
    }

    /// Computes a name with some of the steps behind it; `None` if one of them fails.
    fn prefix(&mut self, base: &Expr, steps: &[Step]) -> Option<(Span, Typed)> {
        let end = match steps.last() {
            Some(Step::Attr(word)) => word.span.end,
            Some(Step::Index(index)) => self.text[index.span.end..]
                .find(']')
                .map_or(index.span.end, |bracket| index.span.end + bracket + 1),
            _ => base.span.end,
        };
        let span = Span::new(base.span.start, end);
        let kind = match steps {
            [] => base.kind.clone(),
            steps => ExprKind::Traversal(Box::new(base.clone()), steps.to_vec()),
        };
        let expr = Expr { kind, span };
        let value = self.values.evaluate(self.file, &expr, self.iterators);
        Some((span, value.ok()?))
    }

    /// Returns true for an iterator whose value is known.
    fn replaces(&self, name: &str, hidden: &[&str]) -> bool {
        !hidden.contains(&name) && self.iterators.get(name).is_some_and(Option::is_some)
    }

    fn template(
        &mut self,
        parts: &[TemplatePart],
        template: &str,
        hidden: &[&str],
    ) -> Result<(), UnknownReason> {
        for part in parts {
            match part {
                TemplatePart::Literal(_) => {}
                TemplatePart::Interpolation(inner) => {
                    let before = self.edits.len();
                    self.expr(inner, PartRole::Inside, hidden)?;
                    self.fold(inner.span, before, template);
                }
                TemplatePart::If(choice) => {
                    self.expr(&choice.condition, PartRole::Inside, hidden)?;
                    self.template(&choice.then, template, hidden)?;
                    self.template(&choice.otherwise, template, hidden)?;
                }
                TemplatePart::For(turns) => {
                    self.expr(&turns.collection, PartRole::Inside, hidden)?;
                    let hidden = names(hidden, turns.key_name.as_deref(), &turns.value_name);
                    self.template(&turns.body, template, &hidden)?;
                }
            }
        }
        Ok(())
    }

    /// Makes plain text of an interpolation that a value replaced as a whole: `${"a"}` becomes `a`.
    fn fold(&mut self, inner: Span, before: usize, template: &str) {
        let [(span, value)] = &mut self.edits[before..] else {
            return;
        };
        let start = self.text[..inner.start].trim_end();
        let end = self.text[inner.end..].trim_start();
        let (Some(start), Some(end)) = (start.strip_suffix("${"), end.strip_prefix('}')) else {
            return;
        };
        let text = value
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let is_plain = match text {
            // Such text is part of no sequence, and no `~` strips it.
            Some(text) => {
                !text.is_empty()
                    && text.trim() == text
                    && !text.contains(['$', '%', '{', '}', '~', '\\'])
            }
            None => value
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)),
        };
        let plain = text.unwrap_or(value).to_owned();
        // A line of a heredoc could become its end.
        let heredoc = template.strip_prefix("<<").unwrap_or_default();
        let is_end = heredoc
            .lines()
            .next()
            .is_some_and(|end| end.contains(&plain));
        if *span == inner && is_plain && value != "null" && !is_end {
            *span = Span::new(start.len(), self.text.len() - end.len());
            *value = plain;
        }
    }
}

/// Returns the reason why no further blocks are generated.
pub(super) fn too_large() -> UnknownReason {
    let limit = MAX_GENERATED_BYTES >> 20;
    format!("more than {limit} MiB of expressions would be generated")
}

/// Adds the names of a `for` to those of the enclosing ones.
fn names<'n>(hidden: &[&'n str], key: Option<&'n str>, value: &'n str) -> Vec<&'n str> {
    hidden.iter().copied().chain(key).chain([value]).collect()
}

/// Writes a known value; nothing of one with a secret in it.
fn shown(value: Typed, role: PartRole) -> Option<String> {
    let (value, marks) = value.bare();
    if !marks.is_none() {
        return Some(SENSITIVE.to_owned());
    }
    let text = literal(&value.value)?;
    if role == PartRole::Whole || value.is_null() {
        return Some(text);
    }
    Some(match &value.ty {
        Type::List(_) => format!("tolist({text})"),
        Type::Set(_) => format!("toset({text})"),
        Type::Map(_) => format!("tomap({text})"),
        _ if role == PartRole::Base => format!("({text})"),
        _ => text,
    })
}
