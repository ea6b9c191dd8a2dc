//! What the body of a block may hold: which arguments and blocks, and what is evaluated at once
//! (rules 11.3, 12).

use crate::config::decode::blocks::{self, BlockType};
use crate::config::decode::contents::{Faults, Role};
use crate::config::syntax::references;
use crate::diag::Diagnostic;
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Block, Body, Expr, Item};

/// One kind of body.
pub(in crate::config) struct Schema {
    pub arguments: &'static [Argument],
    pub blocks: &'static [BlockType],
}

/// One argument that a body may have.
pub(in crate::config) struct Argument {
    pub name: &'static str,
    pub takes: Takes,
    pub needed: bool,
    pub known_to: fn(Flavor) -> bool,
}

/// What is known of the value of an argument without any variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::config) enum Takes {
    /// It is looked at later, or by somebody else.
    Anything,
    /// A constant string.
    Text,
    /// A constant bool.
    Truth,
    /// One reference, or one bare word.
    Reference,
    /// A list of references, or of bare words.
    References,
    /// An expression that is evaluated when more is known.
    Expression,
}

impl Argument {
    /// An argument that may be left out, and that every flavor has.
    pub(in crate::config) const fn new(name: &'static str, takes: Takes) -> Self {
        Self {
            name,
            takes,
            needed: false,
            known_to: |_| true,
        }
    }

    pub(in crate::config) const fn needed(self) -> Self {
        Self {
            needed: true,
            ..self
        }
    }

    pub(in crate::config) const fn known_to(self, known_to: fn(Flavor) -> bool) -> Self {
        Self { known_to, ..self }
    }
}

impl Schema {
    /// An argument that may stand here by what the table says of its name.
    fn argument(&self, attribute: &Attribute, flavor: Flavor) -> Option<&Argument> {
        let name = &attribute.name.text;
        let mut arguments = self.arguments.iter();
        arguments.find(|known| known.name == name && (known.known_to)(flavor))
    }

    /// Walks over the arguments of a body that may stand there.
    pub(in crate::config) fn known<'b>(
        &'static self,
        body: &'b Body,
        flavor: Flavor,
    ) -> impl Iterator<Item = &'b Attribute> {
        body.attributes()
            .filter(move |one| self.argument(one, flavor).is_some())
    }
}

/// Reports what is wrong about a body; returns the blocks that may stand there, in their order.
pub(in crate::config) fn check<'b>(
    body: &'b Body,
    schema: &Schema,
    faults: &mut Faults,
) -> Vec<(&'static str, &'b Block)> {
    for argument in schema.arguments {
        let needed = argument.needed && (argument.known_to)(faults.flavor);
        // An override need not repeat what its base has.
        if needed && faults.role != Role::Override && body.attribute(argument.name).is_none() {
            missing(body, argument.name, faults);
        }
    }
    let mut blocks = Vec::new();
    for item in &body.items {
        match item {
            Item::Attribute(attribute) => match schema.argument(attribute, faults.flavor) {
                Some(argument) => value(&attribute.value, argument.takes, faults),
                None => {
                    let here = schema.arguments.iter();
                    let here = here.filter(|known| (known.known_to)(faults.flavor));
                    let here: Vec<&str> = here.map(|known| known.name).collect();
                    blocks::unsupported_argument(attribute, here.into_iter(), faults);
                }
            },
            Item::Block(block) => {
                let kind = blocks::kind_of(block, schema.blocks, faults);
                blocks.extend(kind.map(|kind| (kind, block)));
            }
        }
    }
    blocks
}

/// Reports an argument that must be there, unless it may be among what could not be read.
pub(in crate::config) fn missing(body: &Body, name: &str, faults: &mut Faults) {
    if !faults.may_hide(body.span) {
        let remark = format!("{name} is missing");
        faults.invalid("Missing required argument", faults.gap(body), &remark);
    }
}

/// Reports blocks where only arguments may stand, as the programs do: the first of them.
pub(in crate::config) fn arguments_only(body: &Body, faults: &mut Faults) {
    if let Some(nested) = body.blocks().next() {
        let title = format!("Unexpected \"{}\" block", nested.kind.text);
        let remark = "write an argument instead";
        faults.error("unsupported-item", title, nested.kind.span, remark);
    }
}

fn value(value: &Expr, takes: Takes, faults: &mut Faults) {
    match takes {
        Takes::Anything | Takes::Reference | Takes::Expression => {}
        Takes::Text => drop(text(value, faults)),
        Takes::Truth => drop(truth(value, faults)),
        Takes::References => references::check_list(value, faults),
    }
}

/// Evaluates a constant string; what is none is reported.
pub(in crate::config) fn text(value: &Expr, faults: &mut Faults) -> Option<String> {
    let constant = constant(value, faults)?;
    let text = constant.to_text();
    if text.is_none() {
        unsuitable(value, "a string is needed here", faults);
    }
    text
}

/// Evaluates a constant bool; what is none is reported.
pub(in crate::config) fn truth(value: &Expr, faults: &mut Faults) -> Option<bool> {
    let truth = match constant(value, faults)? {
        Value::Bool(truth) => Some(truth),
        Value::String(text) => match &*text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    };
    if truth.is_none() {
        unsuitable(value, "a bool is needed here", faults);
    }
    truth
}

/// Evaluates what may hold neither variables nor functions, and reports it if the program would.
///
/// What we alone cannot evaluate decides no requirement.
pub(in crate::config) fn constant(value: &Expr, faults: &mut Faults) -> Option<Value> {
    match expr::constant(faults.file, value) {
        Ok(constant) => Some(constant),
        Err(error) => {
            faults.add(error.refused);
            None
        }
    }
}

fn unsuitable(value: &Expr, remark: &str, faults: &mut Faults) {
    faults.error("wrong-type", "Unsuitable value type", value.span, remark);
}

/// Reports every block but the first, which is what may stand only once.
pub(in crate::config) fn at_most_one<'b>(
    blocks: &[(&'static str, &'b Block)],
    kind: &'static str,
    title: &str,
    faults: &mut Faults,
) -> Option<&'b Block> {
    let mut all = blocks
        .iter()
        .filter(|(known, _)| *known == kind)
        .map(|(_, block)| *block);
    let first = all.next()?;
    for other in all {
        let again = Diagnostic::error("configuration-invalid", title)
            .at(faults.file, other.header, "declared again")
            .see(faults.file, first.header, "first declared here");
        faults.push(again);
    }
    Some(first)
}
