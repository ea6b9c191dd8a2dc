//! Values as expressions and arguments of the tree that native syntax gives, too.

use super::{JsonValue, Member, ValueKind};
use crate::diag::{FileId, Span};
use crate::hcl;
use crate::hcl::tree::{Attribute, Expr, ExprKind, Item, ObjectItem, ObjectKey, UnaryOp, Word};

impl Member {
    /// Returns the name as a word.
    pub(crate) fn word(&self) -> Word {
        Word {
            text: self.name.clone(),
            span: self.name_span,
        }
    }

    /// Returns the member as an argument.
    pub(crate) fn argument(&self) -> Item {
        Item::Attribute(Attribute {
            name: self.word(),
            value: expr(&self.value),
            span: self.span(),
        })
    }
}

/// Makes an expression of a value; strings stay literal text.
pub(crate) fn expr(value: &JsonValue) -> Expr {
    let span = value.span;
    let kind = match &value.kind {
        ValueKind::String(text) => ExprKind::String(text.clone()),
        ValueKind::Null => ExprKind::Null,
        ValueKind::Bool(truth) => ExprKind::Bool(*truth),
        ValueKind::Number(text) => match text.strip_prefix('-') {
            None => ExprKind::Number(text.clone()),
            // As in native syntax, where the sign is an operator.
            Some(digits) => ExprKind::Unary(
                UnaryOp::Negate,
                Box::new(Expr {
                    kind: ExprKind::Number(digits.to_owned()),
                    span: Span::new(span.start + 1, span.end),
                }),
            ),
        },
        ValueKind::Array(elements) => ExprKind::Tuple(elements.iter().map(expr).collect()),
        ValueKind::Object(members) => {
            let item = |member: &Member| ObjectItem {
                key: ObjectKey::Expr(Expr {
                    kind: ExprKind::String(member.name.clone()),
                    span: member.name_span,
                }),
                value: expr(&member.value),
            };
            ExprKind::Object(members.iter().map(item).collect())
        }
    };
    Expr { kind, span }
}

/// Reads all strings of an expression that was made of a value as templates; one with a fault stays a
/// string.
pub(crate) fn templates(file: FileId, expr: &Expr) -> Expr {
    // Recursion is as deep as the text is nested.
    let kind = match &expr.kind {
        ExprKind::String(text) if text.contains("${") || text.contains("%{") => {
            return hcl::template(file, text, expr.span).unwrap_or_else(|_| expr.clone());
        }
        ExprKind::Tuple(elements) => ExprKind::Tuple(
            elements
                .iter()
                .map(|element| templates(file, element))
                .collect(),
        ),
        ExprKind::Object(items) => {
            let item = |item: &ObjectItem| ObjectItem {
                key: match &item.key {
                    ObjectKey::Expr(key) => ObjectKey::Expr(templates(file, key)),
                    name @ ObjectKey::Name(_) => name.clone(),
                },
                value: templates(file, &item.value),
            };
            ExprKind::Object(items.iter().map(item).collect())
        }
        kind => kind.clone(),
    };
    Expr {
        kind,
        span: expr.span,
    }
}
