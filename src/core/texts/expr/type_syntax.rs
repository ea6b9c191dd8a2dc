//! Type expressions, as the argument `type` of a variable holds them (rules 1).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::convert::convert;
use super::eval::constant;
use super::failure::{Misfit, NotConstant, Outcome, joined, joined_all};
use super::typed::Typed;
use super::types::{AttributeType, Presence, Type};
use super::value::normalised;
use crate::diag::{Diagnostic, FileId, Span, has_errors, rules};
use crate::hcl;
use crate::hcl::tree::{Call, Expr, ExprKind, Item, ObjectKey, TemplatePart};

impl Type {
    /// Reads a type expression of native syntax, as the argument `type` of a variable has it.
    ///
    /// ```
    /// use lockctl_core::{diag::Texts, expr::Type, hcl};
    ///
    /// let text = b"type = map(object({ size = optional(number, 1) }))\n";
    /// let file = Texts::default().add("x", text.to_vec());
    /// let (body, _) = hcl::parse(file, text);
    /// let ty = Type::of_variable(file, &body.attribute("type").unwrap().value).unwrap();
    /// assert_eq!(ty.to_string(), "map(object({size=optional(number)}))");
    /// ```
    ///
    /// # Errors
    /// All errors of the program; without errors, the defaults in it that are not certain.
    pub fn of_variable(file: FileId, expr: &Expr) -> Result<Self, NotConstant> {
        let is_quoted = match &expr.kind {
            ExprKind::String(_) => true,
            // A template of one interpolation is its value, not a text.
            ExprKind::Template(parts) => !matches!(&**parts, [TemplatePart::Interpolation(_)]),
            _ => false,
        };
        if !is_quoted {
            return of_variable(file, expr);
        }
        // Quotes are the form of Terraform 0.11, which had three types.
        let title = match constant(file, expr)?.to_text().as_deref() {
            Some("string" | "list" | "map") => "Invalid quoted type constraints",
            _ => "Invalid legacy variable type hint",
        };
        refused(file, expr.span, title, "write the type without quotes")
    }

    /// Selects the repeated attributes of a type expression from all repeated keys in it; the tree holds only
    /// the last of each.
    #[must_use]
    pub fn repeated(expr: &Expr, mut keys: Vec<Span>) -> Vec<Span> {
        if keys.is_empty() {
            return keys;
        }
        // Keys of default values may be repeated.
        let mut values = Vec::new();
        defaults(expr, &mut values);
        values.sort_unstable();
        keys.retain(|key| {
            let before = values.partition_point(|value| value.start <= key.start);
            let last = before.checked_sub(1).map(|at| values[at]);
            last.is_none_or(|value| value.end < key.end)
        });
        keys
    }

    /// Reads the text of a string in JSON syntax as the type of a variable; all problems are at `span`.
    ///
    /// # Errors
    /// As [`Type::of_variable`].
    pub fn of_json(file: FileId, text: &str, span: Span) -> Result<Self, NotConstant> {
        // In parentheses the text may begin and end with line breaks, as in a string.
        let (body, faults) = hcl::parse(file, format!("type = (\n{text}\n)\n").as_bytes());
        let keys = faults
            .iter()
            .filter(|fault| fault.code == rules::DUPLICATE_KEY)
            .filter_map(|fault| fault.primary.as_ref().map(|label| label.span))
            .collect();
        let whole = match &*body.items {
            [Item::Attribute(argument)] if !has_errors(&faults) => &argument.value.kind,
            _ => &ExprKind::Null,
        };
        let read = match whole {
            ExprKind::Paren(ty) if Self::repeated(ty, keys).is_empty() => of_variable(file, ty),
            _ => refused(file, span, INVALID, "this is no type expression"),
        };
        read.map_err(|mut found| {
            for diagnostic in found.refused.iter_mut().chain(&mut found.uncertain) {
                if let Some(label) = &mut diagnostic.primary {
                    label.span = span;
                }
            }
            found
        })
    }
}

/// Collects the places of the defaults of attributes, which are values and no types.
fn defaults(expr: &Expr, found: &mut Vec<Span>) {
    match &expr.kind {
        ExprKind::Call(call) => match (&*call.name.text, &*call.args) {
            ("optional", [ty, default]) => {
                found.push(default.span);
                defaults(ty, found);
            }
            (_, args) => args.iter().for_each(|arg| defaults(arg, found)),
        },
        ExprKind::Tuple(items) => items.iter().for_each(|item| defaults(item, found)),
        ExprKind::Object(items) => items.iter().for_each(|item| defaults(&item.value, found)),
        _ => {}
    }
}

const INVALID: &str = "Invalid type specification";

fn refused<T>(
    file: FileId,
    at: Span,
    title: &'static str,
    remark: impl Into<String>,
) -> Outcome<T> {
    let error = Diagnostic::error(rules::TYPE_INVALID, title).at(file, at, remark);
    Err(NotConstant::refused(error))
}

fn of_variable(file: FileId, expr: &Expr) -> Outcome<Type> {
    // At the top, but not inside of other types, these two are valid without the type of their items.
    match expr.unquoted_word() {
        Some("list") => Ok(Type::List(Box::new(Type::Any))),
        Some("map") => Ok(Type::Map(Box::new(Type::Any))),
        _ => read(file, expr),
    }
}

fn read(file: FileId, expr: &Expr) -> Outcome<Type> {
    if let Some(word) = expr.unquoted_word() {
        return match word {
            "bool" => Ok(Type::Bool),
            "string" => Ok(Type::String),
            "number" => Ok(Type::Number),
            "any" => Ok(Type::Any),
            "list" | "map" | "set" => {
                let remark = format!("write the type of the elements, as in {word}(string)");
                refused(file, expr.span, INVALID, remark)
            }
            "object" | "tuple" => {
                let remark = format!("{word} needs the type of its items");
                refused(file, expr.span, INVALID, remark)
            }
            _ => refused(file, expr.span, INVALID, "there is no such type"),
        };
    }
    match &expr.kind {
        ExprKind::Call(call) => constructed(file, expr, call),
        _ => refused(file, expr.span, INVALID, "this is no type expression"),
    }
}

/// Reads a type with arguments: `name(…)`.
fn constructed(file: FileId, expr: &Expr, call: &Call) -> Outcome<Type> {
    let name = call.name.text.as_str();
    let behind_name = Span::new(call.name.span.end, expr.span.end);
    match (name, &*call.args) {
        // The programs point behind the name here, to the parentheses.
        ("bool" | "string" | "number" | "any", _) => {
            let remark = format!("{name} takes no arguments");
            refused(file, behind_name, INVALID, remark)
        }
        // It is no type of its own: only `object` reads it (rules 1.2).
        ("optional", _) => {
            let remark = "only an attribute of an object can be optional";
            refused(file, call.name.span, INVALID, remark)
        }
        ("list" | "set" | "map", [item]) => {
            let item = Box::new(read(file, item)?);
            Ok(match name {
                "list" => Type::List(item),
                "set" => Type::Set(item),
                _ => Type::Map(item),
            })
        }
        ("object", [attributes]) => object(file, attributes),
        ("tuple", [items]) => match &items.kind {
            ExprKind::Tuple(items) => joined_all(items.iter().map(|item| read(file, item))),
            _ => refused(
                file,
                items.span,
                INVALID,
                "a tuple needs a list of types in brackets",
            ),
        }
        .map(|items| Type::Tuple(items.into())),
        ("list" | "set" | "map" | "object" | "tuple", args) => {
            let at = match args {
                [_, second, .., last] => Span::new(second.span.start, last.span.end),
                [_, second] => second.span,
                _ => behind_name,
            };
            refused(
                file,
                at,
                INVALID,
                format!("{name} takes exactly one argument"),
            )
        }
        _ => refused(file, expr.span, INVALID, "there is no such type"),
    }
}

fn object(file: FileId, attributes: &Expr) -> Outcome<Type> {
    let ExprKind::Object(items) = &attributes.kind else {
        let remark = "an object needs its attributes in braces";
        return refused(file, attributes.span, INVALID, remark);
    };
    let mut seen = BTreeMap::new();
    let attributes = items.iter().map(|item| {
        let name = match &item.key {
            ObjectKey::Name(word) => Some(word.text.as_str()),
            ObjectKey::Expr(expr) => expr.unquoted_word(),
        };
        // The programs compare names after normalisation (NFC).
        let Some(name) = name.map(|name| normalised(name.to_owned())) else {
            let remark = "the name of an attribute is an identifier";
            return refused(file, key_span(&item.key), INVALID, remark);
        };
        if seen.insert(name.clone(), ()).is_some() {
            let remark = "this attribute is written twice here";
            return refused(file, key_span(&item.key), INVALID, remark);
        }
        Ok((name, attribute(file, &item.value)?))
    });
    let attributes = joined_all(attributes)?;
    Ok(Type::Object(Arc::new(attributes.into_iter().collect())))
}

fn key_span(key: &ObjectKey) -> Span {
    match key {
        ObjectKey::Name(word) => word.span,
        ObjectKey::Expr(expr) => expr.span,
    }
}

/// Reads the type of an attribute; only attributes may be optional.
fn attribute(file: FileId, expr: &Expr) -> Outcome<AttributeType> {
    let call = match &expr.kind {
        ExprKind::Call(call) if call.name.text == "optional" => call,
        _ => return read(file, expr).map(AttributeType::required),
    };
    match &*call.args {
        // Without a default the attribute is null where it is absent (rules 1.2).
        [ty] => Ok(AttributeType {
            ty: read(file, ty)?,
            presence: Presence::Optional,
        }),
        [ty, default] => {
            let value = constant(file, default);
            // Both are read for their errors, even if one of them has some already.
            let (ty, value) = joined(read(file, ty), value)?;
            let value = convert(Typed::of(value), &ty).map_err(|misfit| match misfit {
                Misfit::Refused(reason) => {
                    let title = "Invalid default value for optional attribute";
                    let error = Diagnostic::error(rules::WRONG_TYPE, title);
                    NotConstant::refused(error.at(file, default.span, reason))
                }
                Misfit::Uncertain(reason) => {
                    let title = "Expression cannot be evaluated here";
                    let error = Diagnostic::error(rules::NOT_CONSTANT, title);
                    NotConstant::uncertain(error.at(file, default.span, reason))
                }
            })?;
            Ok(AttributeType {
                ty,
                presence: Presence::Default(value),
            })
        }
        _ => {
            let behind_name = Span::new(call.name.span.end, expr.span.end);
            let remark = "optional takes a type and perhaps a default";
            refused(file, behind_name, INVALID, remark)
        }
    }
}
