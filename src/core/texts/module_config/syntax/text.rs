//! Strings that stand for something else: references and templates in JSON syntax.

use std::borrow::Cow;

use crate::diag::{Diagnostic, MAX_PROBLEMS, Span};
use crate::hcl;
use crate::hcl::tree::{
    Conditional, Expr, ExprKind, ObjectItem, ObjectKey, Step, TemplateFor, TemplateIf,
    TemplatePart, Word,
};
use crate::module_config::faults::Faults;
use crate::module_config::file::Syntax;
use crate::module_config::language::ValueCheck;
use crate::module_config::syntax::words;

/// Maximum nesting of values in which templates are read.
const MAX_DEPTH: usize = crate::json::MAX_NESTING;

/// Makes of a value what the programs take it for where an argument takes this.
///
/// Decoders then see what they would see in native syntax. A string that is no expression becomes a
/// template, which is no reference either; `refused` counts them, for in a flood of faults it makes no
/// difference any more what the others are.
pub(super) fn meant(value: Expr, takes: ValueCheck, faults: &Faults, refused: &mut usize) -> Expr {
    match takes {
        ValueCheck::Anything | ValueCheck::Text | ValueCheck::Truth => value,
        ValueCheck::Reference => named(value, faults, refused),
        ValueCheck::References | ValueCheck::UncheckedReferences => match value.kind {
            ExprKind::Tuple(items) => {
                let items = items
                    .into_iter()
                    .map(|item| named(item, faults, refused))
                    .collect();
                Expr {
                    kind: ExprKind::Tuple(items),
                    span: value.span,
                }
            }
            _ => named(value, faults, refused),
        },
        ValueCheck::Expression => templates(&value, faults, MAX_DEPTH),
    }
}

fn named(value: Expr, faults: &Faults, refused: &mut usize) -> Expr {
    let ExprKind::String(text) = value.kind else {
        return value;
    };
    let read = dotted(&text, value.span).or_else(|| {
        let reads_on = *refused <= MAX_PROBLEMS;
        reads_on.then(|| expression(&text, value.span, faults).ok())?
    });
    read.unwrap_or_else(|| {
        *refused += 1;
        Expr {
            kind: ExprKind::Template(vec![TemplatePart::Literal(text)]),
            span: value.span,
        }
    })
}

/// Reads `NAME.NAME` without the parser, for there may be a great many of them.
fn dotted(text: &str, at: Span) -> Option<Expr> {
    let mut names = text.split('.');
    let is_name = |name: &str| name.is_ascii() && words::is_identifier(name);
    let root = names.next().filter(|root| is_name(root))?;
    // To the parser these are values, not variables.
    if ["null", "true", "false"].contains(&root) {
        return None;
    }
    let base = Expr {
        kind: ExprKind::Variable(root.to_owned()),
        span: at,
    };
    let steps = names.map(|name| {
        is_name(name).then(|| {
            let text = name.to_owned();
            Step::Attr(Word { text, span: at })
        })
    });
    let steps: Vec<Step> = steps.collect::<Option<_>>()?;
    if steps.is_empty() {
        Some(base)
    } else {
        Some(Expr {
            kind: ExprKind::Traversal(Box::new(base), steps),
            span: at,
        })
    }
}

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
    match expression(text, expr.span, faults) {
        Ok(read) => Cow::Owned(read),
        Err(_) => Cow::Borrowed(expr),
    }
}

/// Reads the expression that a string of a JSON file is, where the programs take no other value
/// and report its faults as such; an expression of native syntax stays what it is.
pub(crate) fn as_expression<'e>(expr: &'e Expr, faults: &mut Faults) -> Option<Cow<'e, Expr>> {
    if faults.syntax != Syntax::Json {
        return Some(Cow::Borrowed(expr));
    }
    let ExprKind::String(text) = &expr.kind else {
        let remark = "a reference in a string is needed here";
        faults.invalid("Invalid reference expression", expr.span, remark);
        return None;
    };
    match expression(text, expr.span, faults) {
        Ok(read) => Some(Cow::Owned(read)),
        Err(found) => {
            for diagnostic in found {
                faults.push(diagnostic);
            }
            None
        }
    }
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
fn expression(text: &str, at: Span, faults: &Faults) -> Result<Expr, Vec<Diagnostic>> {
    // Line ends mean nothing in an expression on its own.
    let source = format!("_ = {}", text.replace(['\n', '\r'], " "));
    let (body, mut found) = hcl::parse(faults.file, source.as_bytes());
    let mut attributes = body.attributes();
    match (attributes.next(), attributes.next(), found.is_empty()) {
        (Some(only), None, true) => {
            let mut read = only.value.clone();
            put(&mut read, at);
            Ok(read)
        }
        _ => {
            for diagnostic in &mut found {
                // The title that the fault has in a text on its own.
                if diagnostic.title == "Missing newline after argument" {
                    "Extra characters after expression".clone_into(&mut diagnostic.title);
                }
                if let Some(label) = &mut diagnostic.primary {
                    label.span = at;
                }
                diagnostic.related.clear();
            }
            Err(found)
        }
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
