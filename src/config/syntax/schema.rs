//! What may stand where: the table that tells arguments from blocks, and what strings stand for
//! (rules 1.8, 2, 12).
//!
//! Where it is not known for certain whether a program takes something, the table does: a wrong
//! "no" would refuse a good file.

use crate::config::validate::bodies::{Argument, Takes};
use crate::flavor::Flavor;

/// What may stand in a body.
pub(super) struct Schema {
    pub arguments: &'static [Argument],
    pub blocks: &'static [Nested],
    pub rest: Rest,
}

/// What everything else in a body is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// A fault.
    Refused,
    /// An argument, as far as can be told here; what it is decides a provider, or a called module.
    Arguments,
    /// The same, and somebody asks what it refers to.
    Expressions,
    /// An argument, and nothing may stand twice. Such a body is one object, never an array.
    Names,
}

/// A type of block.
pub(super) struct Nested {
    pub kind: &'static str,
    /// What its labels are called.
    pub labels: &'static [&'static str],
    pub body: &'static Schema,
    pub known_to: fn(Flavor) -> bool,
}

impl Schema {
    pub(super) fn argument(&self, name: &str, flavor: Flavor) -> Option<&'static Argument> {
        let mut arguments = self.arguments.iter();
        arguments.find(|known| known.name == name && (known.known_to)(flavor))
    }

    pub(super) fn block(&self, kind: &str, flavor: Flavor) -> Option<&'static Nested> {
        let mut blocks = self.blocks.iter();
        blocks.find(|block| block.kind == kind && (block.known_to)(flavor))
    }
}

const fn body(rest: Rest, arguments: &'static [Argument], blocks: &'static [Nested]) -> Schema {
    Schema {
        arguments,
        blocks,
        rest,
    }
}

const fn strict(arguments: &'static [Argument], blocks: &'static [Nested]) -> Schema {
    body(Rest::Refused, arguments, blocks)
}

const fn open(arguments: &'static [Argument], blocks: &'static [Nested]) -> Schema {
    body(Rest::Arguments, arguments, blocks)
}

const fn any(name: &'static str) -> Argument {
    Argument::new(name, Takes::Anything)
}

const fn reference(name: &'static str) -> Argument {
    Argument::new(name, Takes::Reference)
}

const fn references(name: &'static str) -> Argument {
    Argument::new(name, Takes::References)
}

const fn expression(name: &'static str) -> Argument {
    Argument::new(name, Takes::Expression)
}

const fn block(
    kind: &'static str,
    labels: &'static [&'static str],
    body: &'static Schema,
) -> Nested {
    Nested {
        kind,
        labels,
        body,
        known_to: |_| true,
    }
}

const fn some(known_to: fn(Flavor) -> bool, nested: Nested) -> Nested {
    Nested { known_to, ..nested }
}

fn is_new(flavor: Flavor) -> bool {
    flavor != Flavor::Terraform1_11
}

/// What programs newer than Terraform 1.11 know, OpenTofu not among them.
fn is_new_terraform(flavor: Flavor) -> bool {
    is_new(flavor) && !flavor.is_opentofu()
}

/// Whatever stands there is not looked into.
static ANY: Schema = open(&[], &[]);
static EXPRESSIONS: Schema = body(Rest::Expressions, &[], &[]);
static NAMES: Schema = body(Rest::Names, &[], &[]);
static RULE: Schema = strict(&[expression("condition"), expression("error_message")], &[]);

/// Primary and override files.
pub(super) static MODULE: Schema = strict(
    &[],
    &[
        block("terraform", &[], &SETTINGS),
        block("required_providers", &[], &ANY),
        block("provider", &["name"], &PROVIDER),
        block("variable", &["name"], &VARIABLE),
        block("locals", &[], &NAMES),
        block("output", &["name"], &OUTPUT),
        block("module", &["name"], &CALL),
        block("resource", &["type", "name"], &RESOURCE),
        block("data", &["type", "name"], &DATA),
        block("ephemeral", &["type", "name"], &DATA),
        block("moved", &[], &MOVED),
        block("removed", &[], &REMOVED),
        block("import", &[], &IMPORT),
        block("check", &["name"], &CHECK),
        some(
            Flavor::has_actions,
            block("action", &["type", "name"], &ACTION),
        ),
        some(Flavor::is_opentofu, block("language", &[], &LANGUAGE)),
    ],
);

static SETTINGS: Schema = strict(
    &[
        any("required_version"),
        references("experiments"),
        reference("language"),
    ],
    &[
        block("required_providers", &[], &NAMES),
        block("backend", &["type"], &ANY),
        block("cloud", &[], &ANY),
        block("provider_meta", &["provider"], &ANY),
        some(Flavor::is_opentofu, block("encryption", &[], &ANY)),
    ],
);

static PROVIDER: Schema = open(
    &[
        any("version"),
        any("alias"),
        any("count"),
        any("depends_on"),
        any("for_each"),
        any("source"),
    ],
    &[
        block("_", &[], &ANY),
        block("lifecycle", &[], &ANY),
        block("locals", &[], &ANY),
    ],
);

static VARIABLE: Schema = strict(
    &[
        any("description"),
        any("default"),
        any("type"),
        any("sensitive"),
        any("ephemeral"),
        any("nullable"),
        any("const").known_to(is_new),
        any("deprecated").known_to(is_new),
    ],
    &[block("validation", &[], &RULE)],
);

static OUTPUT: Schema = strict(
    &[
        any("description"),
        any("value"),
        references("depends_on"),
        any("sensitive"),
        any("ephemeral"),
        any("deprecated").known_to(is_new),
        any("type").known_to(is_new_terraform),
    ],
    &[
        block("precondition", &[], &RULE),
        block("postcondition", &[], &RULE),
    ],
);

static CALL: Schema = open(
    &[
        any("source"),
        any("version"),
        any("count"),
        any("for_each"),
        references("depends_on"),
        any("providers"),
    ],
    &[
        block("_", &[], &ANY),
        block("lifecycle", &[], &ANY),
        block("locals", &[], &ANY),
        block("provider", &["type"], &ANY),
    ],
);

/// The arguments of everything that some provider manages.
const COMMON: &[Argument] = &[
    any("count"),
    any("for_each"),
    any("provider"),
    references("depends_on"),
];

static RESOURCE: Schema = open(
    COMMON,
    &[
        block("locals", &[], &ANY),
        block("lifecycle", &[], &LIFECYCLE),
        block("connection", &[], &EXPRESSIONS),
        block("provisioner", &["type"], &PROVISIONER),
        block("_", &[], &ANY),
    ],
);

/// Data sources and ephemeral resources.
static DATA: Schema = open(
    COMMON,
    &[
        block("lifecycle", &[], &LIFECYCLE),
        block("locals", &[], &ANY),
        block("_", &[], &ANY),
    ],
);

static LIFECYCLE: Schema = strict(
    &[
        any("create_before_destroy"),
        any("prevent_destroy"),
        references("ignore_changes"),
        references("replace_triggered_by"),
        any("destroy")
            .known_to(|flavor| matches!(flavor, Flavor::Terraform1_16 | Flavor::OpenTofu1_12)),
        any("enabled").known_to(Flavor::is_opentofu),
    ],
    &[
        block("precondition", &[], &RULE),
        block("postcondition", &[], &RULE),
        some(Flavor::has_actions, block("action_trigger", &[], &TRIGGER)),
    ],
);

static TRIGGER: Schema = strict(
    &[
        references("events"),
        expression("condition"),
        references("actions"),
        reference("on_failure").known_to(|flavor| flavor == Flavor::Terraform1_16),
    ],
    &[],
);

static PROVISIONER: Schema = body(
    Rest::Expressions,
    &[reference("when"), reference("on_failure")],
    &[
        block("_", &[], &EXPRESSIONS),
        block("connection", &[], &EXPRESSIONS),
        block("lifecycle", &[], &ANY),
    ],
);

static ACTION: Schema = strict(COMMON, &[block("config", &[], &ANY)]);

static MOVED: Schema = strict(&[reference("from"), reference("to")], &[]);

static REMOVED: Schema = strict(
    &[reference("from")],
    &[
        block("lifecycle", &[], &strict(&[any("destroy")], &[])),
        block("connection", &[], &EXPRESSIONS),
        block("provisioner", &["type"], &PROVISIONER),
    ],
);

static IMPORT: Schema = strict(
    &[
        any("id"),
        any("to"),
        any("provider"),
        any("for_each"),
        any("identity").known_to(is_new),
    ],
    &[],
);

static CHECK: Schema = strict(
    &[],
    &[
        block("data", &["type", "name"], &DATA),
        block("assert", &[], &RULE),
    ],
);

static LANGUAGE: Schema = strict(
    &[reference("edition"), references("experiments")],
    &[block("compatible_with", &[], &ANY)],
);

/// Test files (rules 6).
pub(super) static TEST: Schema = strict(
    &[],
    &[
        block("run", &["name"], &RUN),
        block("provider", &["name"], &PROVIDER),
        block("mock_provider", &["name"], &MOCK_PROVIDER),
        block("variables", &[], &NAMES),
        block("override_resource", &[], &OVERRIDE_RESOURCE),
        block("override_data", &[], &OVERRIDE_RESOURCE),
        block("override_module", &[], &OVERRIDE_MODULE),
        some(is_new_terraform, block("test", &[], &ANY)),
    ],
);

static RUN: Schema = strict(
    &[
        reference("command"),
        any("providers"),
        references("expect_failures"),
        any("state_key"),
        any("parallel").known_to(is_new),
        any("skip_cleanup").known_to(is_new),
    ],
    &[
        block("plan_options", &[], &PLAN_OPTIONS),
        block("assert", &[], &RULE),
        block("variables", &[], &NAMES),
        block(
            "module",
            &[],
            &strict(&[any("source"), any("version")], &[]),
        ),
        block("override_resource", &[], &OVERRIDE_RESOURCE),
        block("override_data", &[], &OVERRIDE_RESOURCE),
        block("override_module", &[], &OVERRIDE_MODULE),
        some(is_new_terraform, block("backend", &["name"], &ANY)),
    ],
);

static PLAN_OPTIONS: Schema = strict(
    &[
        reference("mode"),
        any("refresh"),
        references("replace"),
        references("target"),
        references("exclude").known_to(Flavor::is_opentofu),
    ],
    &[],
);

static MOCK_PROVIDER: Schema = strict(
    &[
        any("alias"),
        any("source"),
        reference("override_during"),
        any("for_each"),
    ],
    &[
        block("mock_resource", &["type"], &MOCK),
        block("mock_data", &["type"], &MOCK),
        some(is_new, block("mock_ephemeral", &["type"], &MOCK)),
        block("override_resource", &[], &OVERRIDE_RESOURCE),
        block("override_data", &[], &OVERRIDE_RESOURCE),
        some(is_new, block("override_module", &[], &OVERRIDE_MODULE)),
    ],
);

static MOCK: Schema = strict(&[any("defaults"), reference("override_during")], &[]);

static OVERRIDE_RESOURCE: Schema = strict(
    &[
        reference("target"),
        any("values"),
        reference("override_during"),
    ],
    &[],
);

static OVERRIDE_MODULE: Schema = strict(
    &[
        reference("target"),
        any("outputs"),
        reference("override_during"),
    ],
    &[],
);
