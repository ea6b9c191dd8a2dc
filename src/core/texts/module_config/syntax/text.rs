//! Strings that stand for something else: references and templates in JSON syntax.

use std::borrow::Cow;

use crate::diag::Span;
use crate::hcl;
use crate::hcl::tree::{
    Conditional, Expr, ExprKind, Item, ObjectItem, ObjectKey, Step, TemplateFor, TemplateIf,
    TemplatePart, Word,
};
use crate::module_config::faults::Faults;
use crate::module_config::file::Syntax;

/// Maximum nesting of values in which templates are read.
const MAX_DEPTH: usize = crate::json::MAX_NESTING;

/// Reads the reference that a string of a JSON file is; everything else stays what it is.
///
/// A string that is no expression stays a string, for the caller to refuse: in JSON no reference
/// is one, however it is quoted.
pub(crate) fn as_reference<'e>(expr: &'e Expr, faults: &Faults) -> Cow<'e, Expr> {
    let ExprKind::String(text) = &expr.kind else {
        return Cow::Borrowed(expr);
    };
    if faults.syntax != Syntax::Json {
        return Cow::Borrowed(expr);
    }
    expression(text, expr.span, faults).map_or(Cow::Borrowed(expr), Cow::Owned)
}

/// Reads all strings of a JSON value as the templates that they are where the programs evaluate;
/// an expression of native syntax stays what it is.
///
/// A template with a fault stays a string.
pub(crate) fn as_template<'e>(expr: &'e Expr, faults: &Faults) -> Cow<'e, Expr> {
    match faults.syntax {
        Syntax::Native => Cow::Borrowed(expr),
        Syntax::Json => Cow::Owned(templates(expr, faults, MAX_DEPTH)),
    }
}

fn templates(expr: &Expr, faults: &Faults, depth: usize) -> Expr {
    let kind = match &expr.kind {
        ExprKind::String(text) => match template(text, expr.span, faults) {
            Some(read) => return read,
            None => expr.kind.clone(),
        },
        ExprKind::Tuple(elements) if depth > 0 => ExprKind::Tuple(
            elements
                .iter()
                .map(|element| templates(element, faults, depth - 1))
                .collect(),
        ),
        ExprKind::Object(items) if depth > 0 => {
            let item = |item: &ObjectItem| ObjectItem {
                key: match &item.key {
                    ObjectKey::Expr(key) => ObjectKey::Expr(templates(key, faults, depth - 1)),
                    name @ ObjectKey::Name(_) => name.clone(),
                },
                value: templates(&item.value, faults, depth - 1),
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

/// Parses a text as one expression that stands where the string stands.
fn expression(text: &str, at: Span, faults: &Faults) -> Option<Expr> {
    // Line ends mean nothing in an expression on its own.
    let source = format!("_ = {}", text.replace(['\n', '\r'], " "));
    let (body, found) = hcl::parse(faults.file, source.as_bytes());
    let mut items = body.items.into_iter();
    match (items.next(), items.next(), found.is_empty()) {
        (Some(Item::Attribute(only)), None, true) => {
            let mut read = only.value;
            put(&mut read, at);
            Some(read)
        }
        _ => None,
    }
}

/// Parses a text as a template, if it has the signs of one.
fn template(text: &str, at: Span, faults: &Faults) -> Option<Expr> {
    if !text.contains("${") && !text.contains("%{") {
        return None;
    }
    let mut read = hcl::template(faults.file, text).ok()?;
    put(&mut read, at);
    Some(read)
}

/// Puts an expression with all its parts at a place.
fn put(expr: &mut Expr, at: Span) {
    expr.span = at;
    match &mut expr.kind {
        ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Number(_)
        | ExprKind::String(_)
        | ExprKind::Variable(_) => {}
        ExprKind::Template(parts) => put_parts(parts, at),
        ExprKind::Tuple(elements) => elements.iter_mut().for_each(|element| put(element, at)),
        ExprKind::Object(items) => {
            for item in items {
                match &mut item.key {
                    ObjectKey::Name(word) => word.span = at,
                    ObjectKey::Expr(key) => put(key, at),
                }
                put(&mut item.value, at);
            }
        }
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => put(inner, at),
        ExprKind::Traversal(base, steps) => {
            put(base, at);
            for step in steps {
                match step {
                    Step::Attr(Word { span, .. }) => *span = at,
                    Step::Index(index) => put(index, at),
                    Step::AttrSplat | Step::FullSplat => {}
                }
            }
        }
        ExprKind::Call(call) => {
            call.name.span = at;
            call.args.iter_mut().for_each(|arg| put(arg, at));
        }
        ExprKind::Conditional(conditional) => {
            let Conditional {
                condition,
                then,
                otherwise,
            } = &mut **conditional;
            for branch in [condition, then, otherwise] {
                put(branch, at);
            }
        }
        ExprKind::Binary(_, sides) => {
            put(&mut sides.0, at);
            put(&mut sides.1, at);
        }
        ExprKind::For(walk) => {
            put(&mut walk.collection, at);
            put(&mut walk.value, at);
            for part in [&mut walk.key, &mut walk.condition].into_iter().flatten() {
                put(part, at);
            }
        }
    }
}

fn put_parts(parts: &mut [TemplatePart], at: Span) {
    for part in parts {
        match part {
            TemplatePart::Literal(_) => {}
            TemplatePart::Interpolation(value) => put(value, at),
            TemplatePart::If(choice) => {
                let TemplateIf {
                    condition,
                    then,
                    otherwise,
                } = &mut **choice;
                put(condition, at);
                put_parts(then, at);
                put_parts(otherwise, at);
            }
            TemplatePart::For(walk) => {
                let TemplateFor {
                    collection, body, ..
                } = &mut **walk;
                put(collection, at);
                put_parts(body, at);
            }
        }
    }
}
