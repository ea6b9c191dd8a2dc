//! The names that expressions use.

use super::tree::{Expr, ExprKind, For, Step, TemplatePart, Word};
use crate::diag::Span;

/// A name that an expression uses, with the steps behind it as far as they are fixed.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'e> {
    /// The first name of the traversal.
    pub root: &'e str,
    /// The attributes that follow, and the indexes that are written out.
    pub steps: &'e [Step],
    /// From the name to the last of these steps.
    pub span: Span,
}

/// Returns whether a step says which one it takes without anything being computed.
#[must_use]
pub fn is_fixed(step: &Step) -> bool {
    match step {
        Step::Attr(_) => true,
        Step::Index(key) => matches!(
            key.kind,
            ExprKind::Number(_) | ExprKind::String(_) | ExprKind::Bool(_) | ExprKind::Null
        ),
        Step::AttrSplat | Step::FullSplat => false,
    }
}

/// Finds every name that an expression uses and does not define itself.
#[must_use]
pub fn inside(value: &Expr) -> Vec<Reference<'_>> {
    let mut walk = ReferenceWalk::default();
    walk.expr(value);
    walk.found
}

/// Finds the names of all functions that an expression calls.
#[must_use]
pub fn functions(value: &Expr) -> Vec<&Word> {
    let mut walk = ReferenceWalk::default();
    walk.expr(value);
    walk.functions
}

#[derive(Default)]
struct ReferenceWalk<'e> {
    /// The names that enclosing `for` expressions define.
    own: Vec<&'e str>,
    found: Vec<Reference<'e>>,
    /// The names of the functions that are called.
    functions: Vec<&'e Word>,
}

impl<'e> ReferenceWalk<'e> {
    fn expr(&mut self, value: &'e Expr) {
        match &value.kind {
            ExprKind::Variable(root) => self.name(root, &[], value.span),
            ExprKind::Traversal(base, steps) => {
                if let ExprKind::Variable(root) = &base.kind {
                    let fixed = steps.iter().take_while(|step| is_fixed(step)).count();
                    let steps = &steps[..fixed];
                    let end = steps.last().map_or(base.span.end, |step| match step {
                        Step::Attr(word) => word.span.end,
                        Step::Index(index) => index.span.end,
                        Step::AttrSplat | Step::FullSplat => base.span.end,
                    });
                    self.name(root, steps, Span::new(base.span.start, end));
                } else {
                    self.expr(base);
                }
                // Keys may use names as well, also those behind a splat.
                for step in steps {
                    if let Step::Index(key) = step {
                        self.expr(key);
                    }
                }
            }
            ExprKind::Template(parts) => self.parts(parts),
            ExprKind::For(turns) => self.turns(turns),
            kind => {
                if let ExprKind::Call(call) = kind {
                    self.functions.push(&call.name);
                }
                for operand in value.operands() {
                    self.expr(operand);
                }
            }
        }
    }

    fn name(&mut self, root: &'e str, steps: &'e [Step], span: Span) {
        // A name that an enclosing `for` defines hides all others.
        if !self.own.contains(&root) {
            self.found.push(Reference { root, steps, span });
        }
    }

    fn turns(&mut self, turns: &'e For) {
        // The names of a `for` are not defined in its own collection.
        self.expr(&turns.collection);
        let before = self.own.len();
        self.own.extend(turns.key_name.as_deref());
        self.own.push(&turns.value_name);
        let parts = [
            turns.key.as_ref(),
            Some(&turns.value),
            turns.condition.as_ref(),
        ];
        parts.into_iter().flatten().for_each(|part| self.expr(part));
        self.own.truncate(before);
    }

    fn parts(&mut self, parts: &'e [TemplatePart]) {
        for part in parts {
            match part {
                TemplatePart::Literal(_) => {}
                TemplatePart::Interpolation(inner) => self.expr(inner),
                TemplatePart::If(choice) => {
                    self.expr(&choice.condition);
                    self.parts(&choice.then);
                    self.parts(&choice.otherwise);
                }
                TemplatePart::For(turns) => {
                    self.expr(&turns.collection);
                    let before = self.own.len();
                    self.own.extend(turns.key_name.as_deref());
                    self.own.push(&turns.value_name);
                    self.parts(&turns.body);
                    self.own.truncate(before);
                }
            }
        }
    }
}

/// Returns whether a text is an identifier.
///
/// Characters outside ASCII are not looked at: whether they are letters decides no requirement.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let inside = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts = text.starts_with(|c: char| !c.is_ascii() || c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(inside)
}
