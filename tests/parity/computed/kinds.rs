//! Types that are made up, and values for them.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// Texts with something to get wrong: numbers and truth values in disguise, templates, letters in two
/// ways.
const TEXTS: &[&str] = &[
    "", "a", "b", "ab", "x-y", "A b", "10", "1", "-2", "0.5", "true", "false", "null", "é",
    "e\u{301}", "${a}", "%{b}", "a\"b", "c\\d", "l1\nl2", "a,b,c", " x ", "<&>",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "10",
    "0.5",
    "1.25",
    "100000000000000000000",
];

/// Names of attributes and keys.
pub(super) const NAMES: &[&str] = &["p", "q", "r", "s"];

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Text,
    Number,
    Truth,
    List(Box<Self>),
    Set(Box<Self>),
    Map(Box<Self>),
    Tuple(Vec<Self>),
    Object(Vec<Attribute>),
}

/// An attribute of an object type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attribute {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) need: Need,
}

/// Whether an attribute must be there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Need {
    Required,
    Optional,
    Default(Value),
}

/// How well a value fits its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is of the type.
    Exact,
    /// It converts to the type.
    Loose,
}

impl Kind {
    pub(super) fn primitive(dice: &mut Dice) -> Self {
        match dice.below(5) {
            0 | 1 => Self::Number,
            2 => Self::Truth,
            _ => Self::Text,
        }
    }

    pub(super) fn make_up(dice: &mut Dice, depth: usize) -> Self {
        if depth == 0 || dice.below(3) == 0 {
            return Self::primitive(dice);
        }
        let mut inner = || Box::new(Self::make_up(dice, depth - 1));
        match inner() {
            first if *first == Self::Truth => Self::Set(inner()),
            first if *first == Self::Number => Self::Tuple(vec![*first, *inner()]),
            first => match dice.below(4) {
                0 => Self::List(first),
                1 => Self::Map(first),
                _ => {
                    let mut attributes = vec![Attribute {
                        name: NAMES[0],
                        kind: *first,
                        need: Need::Required,
                    }];
                    for name in &NAMES[1..1 + dice.below(3)] {
                        attributes.push(Attribute::make_up(name, dice, depth - 1));
                    }
                    Self::Object(attributes)
                }
            },
        }
    }

    /// Writes it as the type of a variable.
    pub(super) fn written(&self) -> String {
        match self {
            Self::Text => "string".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Truth => "bool".to_owned(),
            Self::List(item) => format!("list({})", item.written()),
            Self::Set(item) => format!("set({})", item.written()),
            Self::Map(item) => format!("map({})", item.written()),
            Self::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Self::written).collect();
                format!("tuple([{}])", items.join(", "))
            }
            Self::Object(attributes) => {
                let attributes = attributes.iter().map(Attribute::written);
                format!(
                    "object({{ {} }})",
                    attributes.collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    /// Makes up a value.
    pub(super) fn value(&self, dice: &mut Dice, fit: Fit) -> Value {
        let loosely = fit == Fit::Loose && dice.below(4) == 0;
        match self {
            Self::Text if loosely => {
                [json!(15), json!(true), json!(0.5), json!("15")][dice.below(4)].clone()
            }
            Self::Text => Value::from(TEXTS[dice.below(TEXTS.len())]),
            Self::Number if loosely => Value::from(NUMBERS[dice.below(NUMBERS.len())]),
            Self::Number => serde_json::from_str(NUMBERS[dice.below(8)]).unwrap(),
            Self::Truth if loosely => Value::from(["true", "false"][dice.below(2)]),
            Self::Truth => Value::from(dice.below(2) == 0),
            Self::List(item) | Self::Set(item) => {
                (0..dice.below(4)).map(|_| item.value(dice, fit)).collect()
            }
            Self::Map(item) => {
                let names = &NAMES[..dice.below(4)];
                let pairs = names
                    .iter()
                    .map(|&name| (name.to_owned(), item.value(dice, fit)));
                Value::Object(pairs.collect())
            }
            Self::Tuple(items) => items.iter().map(|item| item.value(dice, fit)).collect(),
            Self::Object(attributes) => {
                let mut object = Map::new();
                for attribute in attributes {
                    if let Some(value) = attribute.value(dice, fit) {
                        object.insert(attribute.name.to_owned(), value);
                    }
                }
                if loosely {
                    object.insert("further".to_owned(), json!([1]));
                }
                Value::Object(object)
            }
        }
    }
}

impl Attribute {
    fn make_up(name: &'static str, dice: &mut Dice, depth: usize) -> Self {
        let kind = Kind::make_up(dice, depth);
        let need = match dice.below(4) {
            0 => Need::Optional,
            1 => Need::Default(kind.value(dice, Fit::Loose)),
            _ => Need::Required,
        };
        Self { name, kind, need }
    }

    fn written(&self) -> String {
        let (name, kind) = (self.name, self.kind.written());
        match &self.need {
            Need::Required => format!("{name} = {kind}"),
            Need::Optional => format!("{name} = optional({kind})"),
            Need::Default(value) => format!("{name} = optional({kind}, {})", native(value)),
        }
    }

    /// Makes up a value; none where the attribute is left out.
    fn value(&self, dice: &mut Dice, fit: Fit) -> Option<Value> {
        let is_loose = fit == Fit::Loose && self.need != Need::Required;
        match dice.below(4) {
            0 if is_loose => None,
            1 if is_loose => Some(Value::Null),
            _ => Some(self.kind.value(dice, fit)),
        }
    }
}

/// Writes a value in native syntax, on one line.
pub(super) fn native(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let text = text
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            format!("\"{}\"", text.replace("${", "$${").replace("%{", "%%{"))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(native).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(items) => {
            let items = items
                .iter()
                .map(|(name, value)| format!("{name} = {}", native(value)));
            format!("{{ {} }}", items.collect::<Vec<_>>().join(", "))
        }
    }
}
