//! The blocks of primary and override files.

use super::*;

/// Primary and override files (config rules 1.8).
///
/// What an override file cannot change is [`Merging::Stays`]; settings and local values are merged
/// one by one.
pub(crate) static MODULE: Schema = strict(
    &[],
    &[
        block("terraform", &[], &SETTINGS).kept(),
        // Only to be refused under a title of its own (config rules 1.8).
        block("required_providers", &[], &ANY).kept(),
        block("provider", &["name"], &PROVIDER).merged_by_labels(),
        block("variable", &["name"], &VARIABLE).merged_by_labels(),
        block("locals", &[], &NAMES).kept(),
        block("output", &["name"], &OUTPUT).merged_by_labels(),
        block("module", &["name"], &CALL).merged_by_labels(),
        block("resource", &["type", "name"], &RESOURCE).merged_by_labels(),
        block("data", &["type", "name"], &DATA).merged_by_labels(),
        // In override files Terraform passes over these, and OpenTofu merges them (config rules 3.9).
        block("ephemeral", &["type", "name"], &DATA)
            .known_to(is_terraform)
            .merged_by_labels(),
        block("ephemeral", &["type", "name"], &EPHEMERAL)
            .known_to(Flavor::is_opentofu)
            .merged_by_labels(),
        block("moved", &[], &MOVED).kept(),
        block("removed", &[], &REMOVED).kept(),
        block("import", &[], &IMPORT).kept(),
        block("check", &["name"], &CHECK).kept(),
        // Terraform's, from 1.15 on (config rules 11.4).
        block("action", &["type", "name"], &ACTION)
            .known_to(Flavor::has_actions)
            .merged_by_labels(),
        block("language", &[], &LANGUAGE)
            .known_to(Flavor::is_opentofu)
            .kept(),
    ],
);

pub(crate) static SETTINGS: Schema = strict(
    &[
        any("required_version"),
        unchecked("experiments"),
        reference("language"),
    ],
    &[
        block("required_providers", &[], &NAMES),
        block("backend", &["type"], &ANY),
        block("cloud", &[], &CLOUD),
        block("provider_meta", &["provider"], &ANY),
        // Alone of the settings it is merged block by block (config rules 3.7).
        block("encryption", &[], &ENCRYPTION).known_to(Flavor::is_opentofu),
    ],
);

pub(crate) static LOCAL_BACKEND: Schema = strict_later(&[any("path"), any("workspace_dir")], &[]);

pub(crate) static CLOUD: Schema = strict_later(
    &[any("hostname"), any("organization"), any("token")],
    &[block("workspaces", &[], &WORKSPACES)],
);

pub(crate) static WORKSPACES: Schema =
    strict_later(&[any("name"), any("project"), any("tags")], &[]);

/// OpenTofu's encryption of states and plans.
pub(crate) static ENCRYPTION: Schema = strict_later(
    &[],
    &[
        block("key_provider", &["type", "name"], &KEY_PROVIDER).merged_by_labels(),
        block("method", &["type", "name"], &ANY).merged_by_labels(),
        block("state", &[], &TARGET).merged(),
        block("plan", &[], &TARGET).merged(),
        block("remote_state_data_sources", &[], &TARGETS).merged(),
    ],
);

static KEY_PROVIDER: Schema = open(&[any("encrypted_metadata_alias").kept()], &[]);

static TARGET: Schema = open(
    &[any("enforced").effect(|_| Effect::Grows)],
    &[block("fallback", &[], &ANY)],
);

static TARGETS: Schema = strict_later(
    &[],
    &[
        block("default", &[], &TARGET).merged(),
        block("remote_state_data_source", &["name"], &TARGET).merged_by_labels(),
    ],
);

/// `provider` blocks. What makes one of a kind is part of what is overridden.
pub(crate) static PROVIDER: Schema = open(
    &[
        any("version").effect(|_| Effect::ReplacesUnlessNull),
        any("alias").kept(),
        any("count").reserved_in(|_| true).kept(),
        any("depends_on").reserved_in(|_| true).kept(),
        any("source").reserved_in(|_| true).kept(),
        // OpenTofu's, and not merged (config rules 3.12, 10.1).
        any("for_each").reserved_in(is_terraform).kept(),
    ],
    &[
        block(ESCAPE, &[], &ANY).once(),
        block("lifecycle", &[], &ANY).reserved(),
        block("locals", &[], &ANY).reserved(),
    ],
);

pub(crate) static VARIABLE: Schema = strict(
    &[
        text("description"),
        any("type"),
        any("default"),
        any("nullable"),
        any("sensitive"),
        any("ephemeral"),
        any("const").known_to(Flavor::has_newer_variables),
        any("deprecated")
            .known_to(Flavor::has_newer_variables)
            .effect(deprecated),
    ],
    // Validations of override files are not taken over (config rules 3.13).
    &[block("validation", &[], &RULE).kept()],
);

pub(crate) static OUTPUT: Schema = strict(
    &[
        any("value").needed(),
        text("description").effect(|_| Effect::ReplacesUnlessEmpty),
        truth("sensitive"),
        truth("ephemeral"),
        // Refused in override files, unless it is empty (config rules 3.11).
        references("depends_on").kept(),
        text("deprecated").known_to(is_new).effect(deprecated),
        // Newer than Terraform 1.11, and not in OpenTofu (config rules 11.3).
        any("type").known_to(Flavor::types_outputs),
    ],
    &[
        block("precondition", &[], &RULE).kept(),
        block("postcondition", &[], &RULE).kept(),
    ],
);

fn deprecated(flavor: Flavor) -> Effect {
    if flavor.is_opentofu() {
        Effect::ReplacesUnlessEmpty
    } else {
        Effect::Stays
    }
}

pub(crate) static CALL: Schema = open(
    &[
        any("source"),
        any("version").effect(|flavor| match flavor {
            Flavor::Terraform1_11 => Effect::ReplacesUnlessNull,
            _ => Effect::Replaces,
        }),
        any("count"),
        any("for_each"),
        unchecked("depends_on").kept(),
        // As a whole, not entry by entry (config rules 3.12).
        any("providers").effect(|_| Effect::ReplacesUnlessEmpty),
    ],
    &[
        block(ESCAPE, &[], &ANY).once(),
        block("lifecycle", &[], &CALL_LIFECYCLE)
            .known_to(Flavor::is_opentofu)
            .once()
            .kept(),
        block("lifecycle", &[], &ANY)
            .known_to(is_terraform)
            .reserved()
            .kept(),
        block("locals", &[], &ANY).reserved(),
        block("provider", &["type"], &ANY).reserved(),
    ],
);

pub(crate) static CALL_LIFECYCLE: Schema = strict_later(&[any("enabled")], &[]);

/// The arguments of everything that a provider reads or manages.
const COMMON: &[Argument] = &[
    any("count"),
    any("for_each"),
    any("provider"),
    unchecked("depends_on").kept(),
];

pub(crate) static RESOURCE: Schema = open(
    COMMON,
    &[
        block("lifecycle", &[], &LIFECYCLE).once().merged(),
        block("locals", &[], &ANY).reserved(),
        block(ESCAPE, &[], &ANY).once(),
        block("connection", &[], &EXPRESSIONS).once(),
        // One in an override file replaces all of the base (config rules 3.10).
        block("provisioner", &["type"], &PROVISIONER),
    ],
);

/// Data sources, and ephemeral resources of Terraform; a provider may have the other names.
pub(crate) static DATA: Schema = open(
    COMMON,
    &[
        block("lifecycle", &[], &LIFECYCLE).once().kept(),
        block("locals", &[], &ANY).reserved(),
        block(ESCAPE, &[], &ANY).once(),
    ],
);

/// Ephemeral resources of OpenTofu.
pub(crate) static EPHEMERAL: Schema = open(
    COMMON,
    &[
        block("lifecycle", &[], &LIFECYCLE).once().kept(),
        block("locals", &[], &ANY).reserved(),
        block(ESCAPE, &[], &ANY).once(),
        block("connection", &[], &EXPRESSIONS).rule(NestedRule::Refused(NOT_EPHEMERAL)),
        block("provisioner", &["type"], &PROVISIONER).rule(NestedRule::Refused(NOT_EPHEMERAL)),
    ],
);

const NOT_EPHEMERAL: &str = "Invalid configuration block for ephemeral resource";

/// The arguments for every kind of resource; most are listed only because they are refused.
pub(crate) static LIFECYCLE: Schema = strict(
    &[
        any("create_before_destroy"),
        any("prevent_destroy"),
        unchecked("ignore_changes").effect(|_| Effect::Grows),
        // An override file may write it, without effect (config rules 3.10).
        unchecked("replace_triggered_by").kept(),
        // It says that a resource may be dropped without being destroyed.
        any("destroy")
            .known_to(|flavor| matches!(flavor, Flavor::Terraform1_16 | Flavor::OpenTofu1_12))
            .effect(|flavor| {
                if flavor.is_opentofu() {
                    Effect::Replaces
                } else {
                    Effect::Stays
                }
            }),
        any("enabled").known_to(Flavor::is_opentofu).kept(),
    ],
    &[
        block("precondition", &[], &RULE).kept(),
        block("postcondition", &[], &RULE).kept(),
        block("action_trigger", &[], &TRIGGER).known_to(Flavor::has_actions),
    ],
);

pub(crate) static TRIGGER: Schema = strict(
    &[
        unchecked("events").needed(),
        unchecked("actions").needed(),
        expression("condition"),
        reference("on_failure").known_to(is_1_16),
    ],
    &[],
);

pub(crate) static PROVISIONER: Schema = body(
    Rest::Expressions,
    &[reference("when"), reference("on_failure")],
    &[
        block(ESCAPE, &[], &EXPRESSIONS).once(),
        block("connection", &[], &EXPRESSIONS).once(),
        block("lifecycle", &[], &ANY).reserved(),
    ],
);

/// `action` blocks, in which the provider's part is a block of its own.
pub(crate) static ACTION: Schema = strict(
    &[any("count"), any("for_each"), any("provider")],
    &[block("config", &[], &ANY).merged()],
);

pub(crate) static MOVED: Schema =
    strict(&[reference("from").needed(), reference("to").needed()], &[]);

pub(crate) static REMOVED: Schema = strict(
    &[reference("from").needed()],
    &[
        block("lifecycle", &[], &REMOVED_LIFECYCLE),
        block("connection", &[], &EXPRESSIONS).known_to(is_terraform),
        block("provisioner", &["type"], &PROVISIONER),
    ],
);

pub(crate) static REMOVED_LIFECYCLE: Schema = strict(&[truth("destroy")], &[]);

pub(crate) static IMPORT: Schema = strict(
    &[
        any("to").needed(),
        any("id"),
        // Newer than Terraform 1.11 (config rules 11.3).
        any("identity").known_to(is_new),
        any("provider"),
        any("for_each"),
    ],
    &[],
);

pub(crate) static CHECK: Schema = strict(
    &[],
    &[
        block("data", &["type", "name"], &DATA),
        block("assert", &[], &RULE),
    ],
);

/// `language` blocks of OpenTofu.
pub(crate) static LANGUAGE: Schema = strict(
    &[reference("edition"), unchecked("experiments")],
    &[block("compatible_with", &[], &ANY)],
);
