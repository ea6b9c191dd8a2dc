//! The tree in the JSON syntax of the programs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::diag::Texts;
use crate::effective::json_syntax::{StringMeaning, meaning};
use crate::effective::literal::literal;
use crate::effective::module::{
    EffectiveAttribute, EffectiveBlock, EffectiveItem, EffectiveModule,
};
use crate::effective::native::{Places, origin};
use crate::expr::{Value, constant};
use crate::flavor::Flavor;
use crate::hcl::tree::{Expr, ExprKind, ObjectKey, TemplatePart, UnaryOp};

/// A value of JSON; numbers are text, so that no digit is lost.
enum Json {
    Text(String),
    Verbatim(String),
    Array(Vec<Self>),
    Object(Members),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            // A number of `serde_json` would lose digits.
            Self::Verbatim(text) => serde_json::from_str::<&RawValue>(text)
                .map_err(Error::custom)?
                .serialize(serializer),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                serializer.collect_map(members.list.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

/// The members of an object in their order; a hostile file has many, so that they are also found by name.
#[derive(Default)]
struct Members {
    list: Vec<(String, Json)>,
    indexes: BTreeMap<String, usize>,
}

impl Members {
    fn push(&mut self, name: String, value: Json) {
        self.indexes.insert(name.clone(), self.list.len());
        self.list.push((name, value));
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        let index = self.indexes.get(name)?;
        Some(&mut self.list[*index].1)
    }
}

/// Prints a module in JSON syntax; the meaning of each string follows from the flavor.
#[must_use]
pub fn tf_json(
    module: &EffectiveModule<'_>,
    places: Places,
    texts: &Texts,
    flavor: Flavor,
) -> String {
    let mut members = Members::default();
    for block in &module.blocks {
        let mut body = Members::default();
        if places == Places::Shown {
            body.push("//".to_owned(), Json::Text(origin(block, texts)));
        }
        add_items(&mut body, &[&*block.kind], block, flavor);
        insert(&mut members, &block.kind, &block.labels, Json::Object(body));
    }
    let printed = serde_json::to_string_pretty(&Json::Object(members));
    // Names are texts and numbers are numbers, so nothing is refused.
    printed.unwrap_or_default() + "\n"
}

/// Adds a block below its type and labels; of several with one name an array is made.
fn insert(members: &mut Members, name: &str, labels: &[Cow<'_, str>], body: Json) {
    match (members.get_mut(name), labels) {
        (None, []) => members.push(name.to_owned(), body),
        (None, [label, labels @ ..]) => {
            let mut below = Members::default();
            insert(&mut below, label, labels, body);
            members.push(name.to_owned(), Json::Object(below));
        }
        (Some(Json::Object(below)), [label, labels @ ..]) => insert(below, label, labels, body),
        (Some(Json::Array(bodies)), []) => bodies.push(body),
        (Some(first), []) => {
            let first_body = std::mem::replace(first, Json::Array(Vec::new()));
            *first = Json::Array(vec![first_body, body]);
        }
        // A type of block always has the same number of labels.
        (Some(_), _) => {}
    }
}

fn add_items(members: &mut Members, path: &[&str], block: &EffectiveBlock<'_>, flavor: Flavor) {
    for item in &block.items {
        let nested = match item {
            EffectiveItem::Attribute(attribute) => {
                let meaning = meaning(path, &attribute.name, flavor);
                let json = match attribute.expr() {
                    Some(expr) => value(attribute, &expr, meaning),
                    None => Json::Text(attribute.text.to_string()),
                };
                members.push(attribute.name.to_string(), json);
                continue;
            }
            EffectiveItem::Block(nested) => nested,
        };
        let path: Vec<&str> = path.iter().copied().chain([&*nested.kind]).collect();
        let mut body = Members::default();
        add_items(&mut body, &path, nested, flavor);
        let body = Json::Object(body);
        if nested.labels.is_empty() && members.get_mut(&nested.kind).is_none() {
            // A list even of a single one: only the provider knows whether an argument of the name is meant.
            members.push(nested.kind.to_string(), Json::Array(vec![body]));
        } else {
            insert(members, &nested.kind, &nested.labels, body);
        }
    }
}

fn value(attribute: &EffectiveAttribute<'_>, expr: &Expr, meaning: StringMeaning) -> Json {
    let text = &attribute.text[expr.span.start..expr.span.end];
    match &expr.kind {
        ExprKind::Tuple(items) => Json::Array(
            items
                .iter()
                .map(|item| value(attribute, item, meaning))
                .collect(),
        ),
        ExprKind::Object(items) => {
            let mut members = Members::default();
            for item in items {
                let key = match &item.key {
                    ObjectKey::Name(word) => word.text.clone(),
                    ObjectKey::Expr(key) => match value(attribute, key, meaning) {
                        Json::Text(key) | Json::Verbatim(key) => key,
                        Json::Array(_) | Json::Object(_) => continue,
                    },
                };
                let inside = meaning.of_member(&key);
                members.push(key, value(attribute, &item.value, inside));
            }
            Json::Object(members)
        }
        ExprKind::String(string) if meaning == StringMeaning::Template => {
            Json::Text(escaped(string))
        }
        // Of old, references were in quotes.
        ExprKind::String(string) => Json::Text(string.clone()),
        _ if meaning == StringMeaning::Expression => Json::Text(text.to_owned()),
        ExprKind::Null | ExprKind::Bool(_) => Json::Verbatim(text.to_owned()),
        // As it is written where JSON has such numbers, too.
        ExprKind::Number(_) | ExprKind::Unary(UnaryOp::Negate, _) => {
            match constant(attribute.origin.file, expr) {
                _ if serde_json::from_str::<serde_json::Number>(text).is_ok() => {
                    Json::Verbatim(text.to_owned())
                }
                Ok(value @ Value::Number(_)) => of_value(&value),
                _ => Json::Text(interpolation(text)),
            }
        }
        ExprKind::Template(parts) => {
            Json::Text(template(attribute, parts).unwrap_or_else(|| interpolation(text)))
        }
        _ if meaning == StringMeaning::Literal => {
            let computed = constant(attribute.origin.file, expr).ok();
            computed.map_or_else(|| Json::Text(interpolation(text)), |value| of_value(&value))
        }
        _ => Json::Text(interpolation(text)),
    }
}

/// Writes a constant, whose strings are literal.
fn of_value(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::Text(text.clone()),
        Value::Tuple(items) => Json::Array(items.iter().map(of_value).collect()),
        Value::Object(items) => {
            let mut members = Members::default();
            for (name, value) in items {
                members.push(name.clone(), of_value(value));
            }
            Json::Object(members)
        }
        _ => Json::Verbatim(literal(value).unwrap_or_else(|| "null".to_owned())),
    }
}

/// Writes a template of text and interpolations; directives have no parts that could be printed one by one.
fn template(attribute: &EffectiveAttribute<'_>, parts: &[TemplatePart]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            TemplatePart::Literal(literal) => text.push_str(&escaped(literal)),
            TemplatePart::Interpolation(expr) => {
                let inner = &attribute.text[expr.span.start..expr.span.end];
                text.push_str(&interpolation(inner));
            }
            TemplatePart::If(_) | TemplatePart::For(_) => return None,
        }
    }
    Some(text)
}

fn interpolation(text: &str) -> String {
    // The marker of a heredoc must be alone on its line.
    let end = if text.contains("<<") { "\n" } else { "" };
    format!("${{{text}{end}}}")
}

/// Escapes literal text in a template.
fn escaped(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}
