//! Values of JSON files in native syntax.
//!
//! In JSON every expression is a string, and the place of the string decides what it means.

use crate::diag::{FileId, Span};
use crate::effective::literal::{key, push_escaped, quoted};
use crate::flavor::Flavor;
use crate::hcl;
use crate::hcl::tree::{Expr, ExprKind, ObjectItem, ObjectKey};

/// The meaning of the strings in a value of a JSON file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringMeaning {
    /// Text as it is.
    Literal,
    /// Text as it is, but `configuration_aliases` are references.
    RequiredProvider,
    /// A string with templates, as source text.
    Template,
    /// A reference, a keyword or a type, as native syntax has it without quotes.
    Expression,
}

impl StringMeaning {
    /// Returns what the strings in a member of an object mean.
    pub(super) fn of_member(self, name: &str) -> Self {
        match self {
            Self::RequiredProvider if name == "configuration_aliases" => Self::Expression,
            Self::RequiredProvider => Self::Literal,
            meaning => meaning,
        }
    }
}

/// Returns what the strings of an argument mean, by the types of the blocks around it.
pub(super) fn meaning(path: &[&str], name: &str, flavor: Flavor) -> StringMeaning {
    use StringMeaning::{Expression, Literal, Template};
    let is_top = path.len() == 1;
    let is_managed = ["resource", "data", "ephemeral", "action"].contains(&path[0]);
    match (path[0], path.last().copied().unwrap_or_default(), name) {
        (_, _, "depends_on") => Expression,
        ("terraform", _, _) if path.contains(&"provider_meta") => Template,
        ("terraform", "required_providers", _) => StringMeaning::RequiredProvider,
        // OpenTofu computes these before anything else.
        ("terraform", "backend" | "encryption" | "cloud", _) if flavor.is_opentofu() => Template,
        ("terraform" | "language", _, _) => Literal,
        ("variable", "variable", "type") => Expression,
        ("variable", "variable", _) => Literal,
        ("provider", "provider", "alias" | "version") => Literal,
        ("output", "output", "description" | "deprecated") => Literal,
        ("module", "module", "source" | "version") if !flavor.computes_sources() => Literal,
        ("module", "module", "providers") => Expression,
        ("moved" | "removed" | "import", _, "from" | "to" | "provider") => Expression,
        (_, "lifecycle", "ignore_changes" | "replace_triggered_by") => Expression,
        (_, "action_trigger", "events" | "actions") => Expression,
        (_, "provisioner", "when" | "on_failure") => Expression,
        (_, "dynamic", "iterator") => Expression,
        (_, _, "provider") if is_top && is_managed => Expression,
        _ => Template,
    }
}

/// Returns the name of a member, with its place.
pub(super) fn key_of(item: &ObjectItem) -> Option<(&str, Span)> {
    match &item.key {
        ObjectKey::Expr(Expr {
            kind: ExprKind::String(name),
            span,
        }) => Some((name, *span)),
        _ => None,
    }
}

/// Writes a value of a JSON file as an expression of native syntax.
pub(super) fn native(file: FileId, value: &Expr, meaning: StringMeaning) -> String {
    match &value.kind {
        ExprKind::String(text) => match meaning {
            StringMeaning::Expression if hcl::expression(file, text, value.span).is_ok() => {
                text.to_owned()
            }
            // A template that is a single interpolation becomes the expression in it.
            StringMeaning::Template if is_template(text) => {
                let parsed = hcl::template(file, text, value.span);
                let inner = text
                    .strip_prefix("${")
                    .and_then(|text| text.strip_suffix('}'))
                    .filter(|inner| {
                        !inner.contains('\n') && !inner.starts_with('~') && !inner.ends_with('~')
                    })
                    // Two interpolations have the same ends as one.
                    .filter(|inner| hcl::expression(file, inner, value.span).is_ok());
                match (parsed, inner) {
                    (Ok(_), Some(inner)) => inner.trim().to_owned(),
                    (Ok(_), None) => template(text),
                    // The program refuses it, too.
                    (Err(_), _) => quoted(text),
                }
            }
            _ => quoted(text),
        },
        ExprKind::Tuple(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| native(file, item, meaning))
                .collect();
            format!("[{}]", items.join(", "))
        }
        ExprKind::Object(items) => {
            let mut text = String::from("{");
            for item in items {
                let Some((name, _)) = key_of(item) else {
                    continue;
                };
                let key = match meaning {
                    StringMeaning::Template if is_template(name) => template(name),
                    // A provider in `providers` may be a reference with an alias.
                    StringMeaning::Expression => name.to_owned(),
                    _ => key(name),
                };
                text.push_str(&format!(
                    "\n{key} = {}",
                    native(file, &item.value, meaning.of_member(name))
                ));
            }
            text.push_str(if items.is_empty() { "}" } else { "\n}" });
            text
        }
        ExprKind::Bool(truth) => truth.to_string(),
        ExprKind::Number(digits) => digits.clone(),
        ExprKind::Unary(_, number) => format!("-{}", native(file, number, meaning)),
        // JSON has no other values.
        _ => "null".to_owned(),
    }
}

fn is_template(text: &str) -> bool {
    text.contains("${") || text.contains("%{")
}

/// Quotes the literal parts of a template, and leaves the sequences in it as they are.
fn template(text: &str) -> String {
    let mut quoted = String::from("\"");
    for (part, is_literal) in hcl::template_parts(text) {
        if is_literal {
            part.chars().for_each(|c| push_escaped(&mut quoted, c));
        } else {
            quoted.push_str(part);
        }
    }
    quoted.push('"');
    quoted
}
