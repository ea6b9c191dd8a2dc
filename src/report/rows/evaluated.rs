//! The value of an expression, for `eval`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::ValueState;

/// The value of an expression.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvaluatedExpression {
    /// The type as the language writes it, as in `list(string)`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Known if the value may be shown: all of it is known, and no part is a secret.
    pub state: ValueState,
    /// The value; absent unless it may be shown. Sets are lists; a number that a double does not hold exactly
    /// is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<PlainValue>,
    /// The value as people read it, with words for what may not be shown.
    pub text: String,
}

/// A value as JSON has it.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum PlainValue {
    /// No value at all: `null`.
    Null,
    /// A truth value, `true` or `false`.
    Bool(bool),
    /// A whole number that a double holds exactly.
    Whole(i64),
    /// A number with a fraction.
    Number(f64),
    /// Text, or a number that a double does not hold exactly.
    Text(String),
    /// A list, a set or a tuple.
    List(Vec<Self>),
    /// A map or an object.
    Map(BTreeMap<String, Self>),
}

/// Any value: which one it is, only the expression says.
#[cfg(test)]
impl schemars::JsonSchema for PlainValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PlainValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::Schema::default()
    }
}
