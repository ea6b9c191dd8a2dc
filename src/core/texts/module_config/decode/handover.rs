//! Arguments of a `module` block beside source and version (config rules 5.7, 5.8, 12.4).

use std::collections::BTreeSet;

use crate::diag::Span;
use crate::hcl::tree::{Attribute, Block, Body, Expr, ExprKind, ObjectKey};
use crate::module_config::decode::late::Late;
use crate::module_config::faults::Faults;
use crate::module_config::file::SourcePlace;
use crate::module_config::language::{self, ESCAPE};
use crate::module_config::syntax;
use crate::module_config::syntax::names::{self, Reference};

/// The values and providers that a call hands over to its module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handover {
    /// The entries of `providers`.
    pub providers: Vec<Passed>,
    pub repetition: Repetition,
    /// Values for variables, and blocks that are none of the call's own.
    pub arguments: Vec<PassedArgument>,
}

/// An entry of `providers`: a configuration of the caller that the module gets, and under which
/// name.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    pub child: Reference,
    pub parent: Reference,
}

/// The expressions that forbid a module to configure providers itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repetition {
    pub count: Option<SourcePlace>,
    pub for_each: Option<SourcePlace>,
    pub enabled: Option<SourcePlace>,
    pub depends_on: Option<SourcePlace>,
}

/// Something that only the module defines.
#[derive(Clone, Debug)]
pub(crate) struct PassedArgument {
    pub name: String,
    pub is_block: bool,
    pub place: SourcePlace,
    /// The value, where sources are computed from it.
    pub value: Option<Late>,
}

impl Repetition {
    /// Returns the place to show for a module that must not configure providers itself.
    pub(crate) fn place(&self) -> Option<SourcePlace> {
        let Self {
            count,
            for_each,
            enabled,
            depends_on,
        } = *self;
        count.or(for_each).or(enabled).or(depends_on)
    }
}

/// Decodes all of a `module` block but its source and version.
pub(crate) fn decode(block: &Block, faults: &mut Faults) -> Handover {
    let body = &block.body;
    let value = |name, faults: &Faults| {
        let argument = body.attribute(name)?;
        Some(faults.place_of(&argument.value))
    };
    let mut handover = Handover {
        repetition: Repetition {
            count: value("count", faults),
            for_each: value("for_each", faults),
            enabled: None,
            // An empty list depends on nothing, so that it forbids nothing either.
            depends_on: match body.attribute("depends_on").map(|list| &list.value.kind) {
                Some(ExprKind::Tuple(items)) => items.first().map(|first| faults.place_of(first)),
                _ => None,
            },
        },
        ..Handover::default()
    };
    if let Some(argument) = body.attribute("providers") {
        handover.providers = passed(&argument.value, faults);
    }
    for argument in body.attributes() {
        if !language::CALL.has_argument(&argument.name.text) {
            handover.argument(argument, faults);
        }
    }
    // Which blocks may stand there is checked elsewhere.
    for block in body.blocks() {
        match block.kind.text.as_str() {
            // Inside `_` every name is a variable of the module, also the words of the program.
            ESCAPE => {
                for argument in block.body.attributes() {
                    handover.argument(argument, faults);
                }
            }
            // `enabled` of OpenTofu bans provider blocks below like `count` does (config rules 5.6).
            "lifecycle" => {
                let enabled = block.body.attribute("enabled");
                handover.repetition.enabled =
                    enabled.map(|argument| faults.place_of(&argument.value));
            }
            kind => handover.arguments.push(PassedArgument {
                name: kind.to_owned(),
                is_block: true,
                place: faults.place(block.kind.span),
                value: None,
            }),
        }
    }
    handover
}

impl Handover {
    /// Adds a value for a variable.
    pub(crate) fn argument(&mut self, argument: &Attribute, faults: &Faults) {
        self.arguments.push(PassedArgument {
            name: argument.name.text.clone(),
            is_block: false,
            place: faults.place(argument.name.span),
            value: Late::keep(&argument.value, faults),
        });
    }
}

/// Decodes a map of providers; what is wrong in it is reported and left out.
fn passed(value: &Expr, faults: &mut Faults) -> Vec<Passed> {
    let ExprKind::Object(items) = &value.kind else {
        let remark = "write { NAME = NAME }, of the module on the left, of the caller on the right";
        faults.invalid("Invalid expression", value.span, remark);
        return Vec::new();
    };
    let mut all: Vec<Passed> = Vec::new();
    // Of keys that are equal as text only the last one is in the tree.
    for key in faults.overruled(value.span) {
        duplicate(key, faults);
    }
    let mut known = BTreeSet::new();
    for item in items {
        let child = match &item.key {
            ObjectKey::Name(word) => {
                let name = Expr {
                    kind: ExprKind::Variable(word.text.clone()),
                    span: word.span,
                };
                names::configuration(&name, faults)
            }
            ObjectKey::Expr(key) => {
                names::configuration(&syntax::as_reference(key, faults), faults)
            }
        };
        let parent = names::configuration(&syntax::as_reference(&item.value, faults), faults);
        let (Ok(child), Ok(parent)) = (child, parent) else {
            continue;
        };
        // To the parser `a` and `"a"` are different keys, but they are one name.
        if known.insert((child.local_name.clone(), child.alias.clone())) {
            all.push(Passed { child, parent });
        } else {
            duplicate(item.value.span, faults);
        }
    }
    all
}

fn duplicate(at: Span, faults: &mut Faults) {
    let remark = "the module got this provider before";
    faults.invalid("Duplicate provider address", at, remark);
}

/// Returns whether a `provider` block holds nothing for the provider, so that it may stand for one that
/// a caller passes (config rules 5.6).
pub(crate) fn is_empty_provider(body: &Body) -> bool {
    let is_empty_escape = |block: &Block| block.kind.text == ESCAPE && block.body.items.is_empty();
    body.attributes()
        .all(|argument| language::PROVIDER.has_argument(&argument.name.text))
        && body.blocks().all(is_empty_escape)
}
