//! What an override does to each argument and nested block, by type of block (rules 3.3 to 3.13).

use crate::config::merge::MergedAttribute;
use crate::config::syntax::references;
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Expr, ExprKind};

/// How one type of block is merged.
pub(super) struct Rules {
    /// The arguments that are the program's own.
    arguments: &'static [Argument],
    /// What becomes of all other arguments.
    others: Fate,
    /// The nested blocks that are the program's own; all others replace those of their type.
    blocks: &'static [(&'static str, Nested)],
}

/// What becomes of an argument that an override sets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It takes the place of the one before.
    Replaces,
    /// It does so unless it is null.
    ReplacesUnlessNull,
    /// It does so unless it is null, or nothing stands in it.
    ReplacesUnlessEmpty,
    /// It does so unless nothing stands in it, or the one before is `all` or true: that stays.
    Grows,
    /// It is passed over.
    Stays,
}

/// What becomes of the nested blocks of a type.
#[derive(Clone, Copy)]
pub(super) enum Nested {
    /// They take the place of all that were there.
    Replaces,
    /// They are passed over.
    Stays,
    /// The only one is merged by these rules.
    Merges(&'static Rules),
    /// Each is merged with the one that has its labels.
    MergesByLabels(&'static Rules),
}

struct Argument {
    name: &'static str,
    fate: fn(Flavor) -> Fate,
}

const fn argument(name: &'static str, fate: fn(Flavor) -> Fate) -> Argument {
    Argument { name, fate }
}

const fn replaced(name: &'static str) -> Argument {
    argument(name, |_| Fate::Replaces)
}

const fn kept(name: &'static str) -> Argument {
    argument(name, |_| Fate::Stays)
}

impl Rules {
    /// Tells whether an argument is the program's own.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|known| known.name == name)
    }

    /// Tells whether a type of nested block is the program's own.
    pub(super) fn has_block(&self, kind: &str) -> bool {
        self.blocks.iter().any(|(known, _)| *known == kind)
    }

    pub(super) fn fate(&self, name: &str, flavor: Flavor) -> Fate {
        let known = self.arguments.iter().find(|known| known.name == name);
        known.map_or(self.others, |known| (known.fate)(flavor))
    }

    pub(super) fn nested(&self, kind: &str) -> Nested {
        let known = self.blocks.iter().find(|(known, _)| *known == kind);
        known.map_or(Nested::Replaces, |(_, nested)| *nested)
    }
}

impl Fate {
    /// Tells whether an argument of an override counts.
    pub(super) fn counts(self, base: Option<&MergedAttribute>, given: &MergedAttribute) -> bool {
        match self {
            Self::Replaces => true,
            Self::ReplacesUnlessNull => constant(given) != Some(Value::Null),
            Self::ReplacesUnlessEmpty => !is_empty(given),
            Self::Grows => !is_empty(given) && !base.is_some_and(is_settled),
            Self::Stays => false,
        }
    }
}

fn constant(argument: &MergedAttribute) -> Option<Value> {
    expr::constant(argument.file, &argument.written.value).ok()
}

fn is_empty(argument: &MergedAttribute) -> bool {
    match &argument.written.value.kind {
        ExprKind::Tuple(items) => items.is_empty(),
        ExprKind::Object(items) => items.is_empty(),
        _ => match constant(argument) {
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            _ => false,
        },
    }
}

fn is_settled(argument: &MergedAttribute) -> bool {
    let value: &Expr = &argument.written.value;
    // In JSON a word is a string.
    let word = match &value.kind {
        ExprKind::String(text) => Some(text.as_str()),
        _ => references::word(value),
    };
    word.is_some_and(|word| ["all", "true"].contains(&word))
}

/// Returns how a type of block is merged; `None` for what no override file may change.
pub(super) fn of(kind: &str) -> Option<&'static Rules> {
    Some(match kind {
        "provider" => &PROVIDER,
        "variable" => &VARIABLE,
        "output" => &OUTPUT,
        "module" => &MODULE,
        "resource" => &RESOURCE,
        "data" | "ephemeral" => &DATA,
        "action" => &ACTION,
        "encryption" => &ENCRYPTION,
        _ => return None,
    })
}

static PROVIDER: Rules = Rules {
    arguments: &[
        argument("version", |_| Fate::ReplacesUnlessNull),
        // It is part of what is overridden.
        kept("alias"),
        kept("for_each"),
        kept("count"),
        kept("depends_on"),
        kept("source"),
    ],
    others: Fate::Replaces,
    blocks: &[],
};

static VARIABLE: Rules = Rules {
    arguments: &[
        replaced("description"),
        replaced("type"),
        replaced("default"),
        replaced("sensitive"),
        replaced("ephemeral"),
        replaced("nullable"),
        replaced("const"),
        argument("deprecated", deprecated),
    ],
    others: Fate::Stays,
    blocks: &[("validation", Nested::Stays)],
};

static OUTPUT: Rules = Rules {
    arguments: &[
        replaced("value"),
        argument("description", |_| Fate::ReplacesUnlessEmpty),
        replaced("sensitive"),
        replaced("ephemeral"),
        replaced("type"),
        argument("deprecated", deprecated),
    ],
    others: Fate::Stays,
    blocks: &[
        ("precondition", Nested::Stays),
        ("postcondition", Nested::Stays),
    ],
};

fn deprecated(flavor: Flavor) -> Fate {
    match flavor.is_opentofu() {
        true => Fate::ReplacesUnlessEmpty,
        false => Fate::Stays,
    }
}

static MODULE: Rules = Rules {
    arguments: &[
        replaced("source"),
        argument("version", |flavor| match flavor {
            Flavor::Terraform1_11 => Fate::ReplacesUnlessNull,
            _ => Fate::Replaces,
        }),
        replaced("count"),
        replaced("for_each"),
        argument("providers", |_| Fate::ReplacesUnlessEmpty),
        kept("depends_on"),
    ],
    others: Fate::Replaces,
    blocks: &[("lifecycle", Nested::Stays)],
};

static RESOURCE: Rules = Rules {
    arguments: RESOURCE_ARGUMENTS,
    others: Fate::Replaces,
    blocks: &[
        ("lifecycle", Nested::Merges(&LIFECYCLE)),
        ("provisioner", Nested::Replaces),
        ("connection", Nested::Replaces),
    ],
};

static DATA: Rules = Rules {
    arguments: RESOURCE_ARGUMENTS,
    others: Fate::Replaces,
    blocks: &[("lifecycle", Nested::Stays)],
};

const RESOURCE_ARGUMENTS: &[Argument] = &[
    replaced("count"),
    replaced("for_each"),
    replaced("provider"),
    kept("depends_on"),
];

static LIFECYCLE: Rules = Rules {
    arguments: &[
        replaced("create_before_destroy"),
        replaced("prevent_destroy"),
        argument("ignore_changes", |_| Fate::Grows),
        argument("destroy", |flavor| match flavor.is_opentofu() {
            true => Fate::Replaces,
            false => Fate::Stays,
        }),
    ],
    others: Fate::Stays,
    blocks: &[
        ("precondition", Nested::Stays),
        ("postcondition", Nested::Stays),
        ("action_trigger", Nested::Replaces),
    ],
};

static ACTION: Rules = Rules {
    arguments: &[
        replaced("count"),
        replaced("for_each"),
        replaced("provider"),
    ],
    others: Fate::Stays,
    blocks: &[("config", Nested::Merges(&OPEN))],
};

/// What somebody else decides about.
static OPEN: Rules = Rules {
    arguments: &[],
    others: Fate::Replaces,
    blocks: &[],
};

static ENCRYPTION: Rules = Rules {
    arguments: &[],
    others: Fate::Stays,
    blocks: &[
        ("key_provider", Nested::MergesByLabels(&KEY_PROVIDER)),
        ("method", Nested::MergesByLabels(&OPEN)),
        ("state", Nested::Merges(&TARGET)),
        ("plan", Nested::Merges(&TARGET)),
        ("remote_state_data_sources", Nested::Merges(&TARGETS)),
    ],
};

static KEY_PROVIDER: Rules = Rules {
    arguments: &[kept("encrypted_metadata_alias")],
    others: Fate::Replaces,
    blocks: &[],
};

static TARGET: Rules = Rules {
    arguments: &[argument("enforced", |_| Fate::Grows)],
    others: Fate::Replaces,
    blocks: &[("fallback", Nested::Replaces)],
};

static TARGETS: Rules = Rules {
    arguments: &[],
    others: Fate::Stays,
    blocks: &[
        ("default", Nested::Merges(&TARGET)),
        ("remote_state_data_source", Nested::MergesByLabels(&TARGET)),
    ],
};
