//! What may stand where: the table that tells arguments from blocks (`config.md` 1.5, 1.6, 12).
//!
//! Where it is not known for certain whether a program takes something, the table does: a wrong
//! "no" would refuse a good file.

use crate::flavor::Flavor;

/// What may stand in a body.
pub(super) struct Schema {
    /// Arguments that every program knows.
    pub arguments: &'static [&'static str],
    /// Arguments that only some know.
    pub newer: &'static [Newer],
    pub blocks: &'static [Nested],
    pub rest: Rest,
}

/// An argument, and who knows it.
type Newer = (&'static str, fn(Flavor) -> bool);

/// What everything else in a body is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// A fault.
    Refused,
    /// An argument, as far as can be told here; what it is decides a provider, or a called module.
    Arguments,
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
    pub(super) fn has_argument(&self, name: &str, flavor: Flavor) -> bool {
        let mut newer = self.newer.iter();
        self.arguments.contains(&name)
            || newer.any(|(newer, known_to)| *newer == name && known_to(flavor))
    }

    pub(super) fn block(&self, kind: &str, flavor: Flavor) -> Option<&'static Nested> {
        let mut blocks = self.blocks.iter();
        blocks.find(|block| block.kind == kind && (block.known_to)(flavor))
    }
}

const fn body(rest: Rest, arguments: &'static [&'static str], blocks: &'static [Nested]) -> Schema {
    Schema {
        arguments,
        newer: &[],
        blocks,
        rest,
    }
}

const fn strict(arguments: &'static [&'static str], blocks: &'static [Nested]) -> Schema {
    body(Rest::Refused, arguments, blocks)
}

const fn open(arguments: &'static [&'static str], blocks: &'static [Nested]) -> Schema {
    body(Rest::Arguments, arguments, blocks)
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
static NAMES: Schema = body(Rest::Names, &[], &[]);
static RULE: Schema = strict(&["condition", "error_message"], &[]);

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
    &["required_version", "experiments", "language"],
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
        "version",
        "alias",
        "count",
        "depends_on",
        "for_each",
        "source",
    ],
    &[
        block("_", &[], &ANY),
        block("lifecycle", &[], &ANY),
        block("locals", &[], &ANY),
    ],
);

static VARIABLE: Schema = Schema {
    newer: &[("const", is_new), ("deprecated", is_new)],
    ..strict(
        &[
            "description",
            "default",
            "type",
            "sensitive",
            "ephemeral",
            "nullable",
        ],
        &[block("validation", &[], &RULE)],
    )
};

static OUTPUT: Schema = Schema {
    newer: &[("deprecated", is_new), ("type", is_new_terraform)],
    ..strict(
        &[
            "description",
            "value",
            "depends_on",
            "sensitive",
            "ephemeral",
        ],
        &[
            block("precondition", &[], &RULE),
            block("postcondition", &[], &RULE),
        ],
    )
};

static CALL: Schema = open(
    &[
        "source",
        "version",
        "count",
        "for_each",
        "depends_on",
        "providers",
    ],
    &[
        block("_", &[], &ANY),
        block("lifecycle", &[], &ANY),
        block("locals", &[], &ANY),
        block("provider", &["type"], &ANY),
    ],
);

const COMMON: &[&str] = &["count", "for_each", "provider", "depends_on"];

static RESOURCE: Schema = open(
    COMMON,
    &[
        block("locals", &[], &ANY),
        block("lifecycle", &[], &LIFECYCLE),
        block("connection", &[], &ANY),
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

static LIFECYCLE: Schema = Schema {
    newer: &[
        ("destroy", |flavor| {
            matches!(flavor, Flavor::Terraform1_16 | Flavor::OpenTofu1_12)
        }),
        ("enabled", Flavor::is_opentofu),
    ],
    ..strict(
        &[
            "create_before_destroy",
            "prevent_destroy",
            "ignore_changes",
            "replace_triggered_by",
        ],
        &[
            block("precondition", &[], &RULE),
            block("postcondition", &[], &RULE),
            some(Flavor::has_actions, block("action_trigger", &[], &TRIGGER)),
        ],
    )
};

static TRIGGER: Schema = strict(&["events", "condition", "actions"], &[]);

static PROVISIONER: Schema = open(
    &["when", "on_failure"],
    &[
        block("_", &[], &ANY),
        block("connection", &[], &ANY),
        block("lifecycle", &[], &ANY),
    ],
);

static ACTION: Schema = strict(COMMON, &[block("config", &[], &ANY)]);

static MOVED: Schema = strict(&["from", "to"], &[]);

static REMOVED: Schema = strict(
    &["from"],
    &[
        block("lifecycle", &[], &strict(&["destroy"], &[])),
        block("connection", &[], &ANY),
        block("provisioner", &["type"], &PROVISIONER),
    ],
);

static IMPORT: Schema = Schema {
    newer: &[("identity", is_new)],
    ..strict(&["id", "to", "provider", "for_each"], &[])
};

static CHECK: Schema = strict(
    &[],
    &[
        block("data", &["type", "name"], &DATA),
        block("assert", &[], &RULE),
    ],
);

static LANGUAGE: Schema = strict(
    &["edition", "experiments"],
    &[block("compatible_with", &[], &ANY)],
);

/// Test files (`config.md` 5).
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

static RUN: Schema = Schema {
    newer: &[("parallel", is_new), ("skip_cleanup", is_new)],
    ..strict(
        &["command", "providers", "expect_failures", "state_key"],
        &[
            block("plan_options", &[], &PLAN_OPTIONS),
            block("assert", &[], &RULE),
            block("variables", &[], &NAMES),
            block("module", &[], &strict(&["source", "version"], &[])),
            block("override_resource", &[], &OVERRIDE_RESOURCE),
            block("override_data", &[], &OVERRIDE_RESOURCE),
            block("override_module", &[], &OVERRIDE_MODULE),
            some(is_new_terraform, block("backend", &["name"], &ANY)),
        ],
    )
};

static PLAN_OPTIONS: Schema = Schema {
    newer: &[("exclude", Flavor::is_opentofu)],
    ..strict(&["mode", "refresh", "replace", "target"], &[])
};

static MOCK_PROVIDER: Schema = strict(
    &["alias", "source", "override_during", "for_each"],
    &[
        block("mock_resource", &["type"], &MOCK),
        block("mock_data", &["type"], &MOCK),
        some(is_new, block("mock_ephemeral", &["type"], &MOCK)),
        block("override_resource", &[], &OVERRIDE_RESOURCE),
        block("override_data", &[], &OVERRIDE_RESOURCE),
        some(is_new, block("override_module", &[], &OVERRIDE_MODULE)),
    ],
);

static MOCK: Schema = strict(&["defaults", "override_during"], &[]);
static OVERRIDE_RESOURCE: Schema = strict(&["target", "values", "override_during"], &[]);
static OVERRIDE_MODULE: Schema = strict(&["target", "outputs", "override_during"], &[]);
