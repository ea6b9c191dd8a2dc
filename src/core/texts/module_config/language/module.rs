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
        block("ephemeral", &["type", "name"], &DATA).merged_by_labels(),
        block("moved", &[], &ANY).kept(),
        block("removed", &[], &ANY).kept(),
        block("import", &[], &ANY).kept(),
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
    &[any("required_version"), any("experiments"), any("language")],
    &[
        block("required_providers", &[], &NAMES),
        block("backend", &["type"], &ANY),
        block("cloud", &[], &CLOUD),
        block("provider_meta", &["provider"], &ANY),
        // Alone of the settings it is merged block by block (config rules 3.7).
        block("encryption", &[], &ENCRYPTION).known_to(Flavor::is_opentofu),
    ],
);

static CLOUD: Schema = strict_later(
    &[any("hostname"), any("organization"), any("token")],
    &[block("workspaces", &[], &WORKSPACES)],
);

static WORKSPACES: Schema = strict_later(&[any("name"), any("project"), any("tags")], &[]);

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
        any("count").kept(),
        any("depends_on").kept(),
        any("source").kept(),
        // OpenTofu's, and not merged (config rules 3.12, 10.1).
        any("for_each").kept(),
    ],
    &[block(ESCAPE, &[], &ANY).merged()],
);

pub(crate) static VARIABLE: Schema = strict(
    &[
        any("description"),
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
    &[block("validation", &[], &ANY).kept()],
);

static OUTPUT: Schema = open(
    &[
        any("description").effect(|_| Effect::ReplacesUnlessEmpty),
        // Refused in override files, unless it is empty (config rules 3.11).
        any("depends_on").kept(),
        any("deprecated").effect(deprecated),
    ],
    &[
        block("precondition", &[], &ANY).kept(),
        block("postcondition", &[], &ANY).kept(),
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
        any("depends_on").kept(),
        // As a whole, not entry by entry (config rules 3.12).
        any("providers").effect(|_| Effect::ReplacesUnlessEmpty),
    ],
    &[
        block(ESCAPE, &[], &ANY).merged(),
        block("lifecycle", &[], &ANY)
            .known_to(Flavor::is_opentofu)
            .kept(),
    ],
);

/// The arguments of everything that a provider reads or manages.
const COMMON: &[Argument] = &[
    any("count"),
    any("for_each"),
    any("provider"),
    any("depends_on").kept(),
];

static RESOURCE: Schema = open(
    COMMON,
    &[
        block("lifecycle", &[], &LIFECYCLE).merged(),
        block(ESCAPE, &[], &ANY).merged(),
        block("connection", &[], &ANY),
        // One in an override file replaces all of the base (config rules 3.10).
        block("provisioner", &["type"], &ANY),
    ],
);

/// Data sources, and ephemeral resources; a provider may have the other names.
static DATA: Schema = open(
    COMMON,
    &[
        block("lifecycle", &[], &LIFECYCLE).kept(),
        block(ESCAPE, &[], &ANY).merged(),
    ],
);

/// The arguments for every kind of resource.
static LIFECYCLE: Schema = open(
    &[
        any("create_before_destroy"),
        any("prevent_destroy"),
        any("ignore_changes").effect(|_| Effect::Grows),
        // An override file may write it, without effect (config rules 3.10).
        any("replace_triggered_by").kept(),
        // It says that a resource may be dropped without being destroyed.
        any("destroy").effect(|flavor| {
            if flavor.is_opentofu() {
                Effect::Replaces
            } else {
                Effect::Stays
            }
        }),
        any("enabled").kept(),
    ],
    &[
        block("precondition", &[], &ANY).kept(),
        block("postcondition", &[], &ANY).kept(),
        block("action_trigger", &[], &ANY).known_to(Flavor::has_actions),
    ],
);

/// `action` blocks, in which the provider's part is a block of its own.
static ACTION: Schema = open(
    &[any("count"), any("for_each"), any("provider")],
    &[block("config", &[], &ANY).merged()],
);

static CHECK: Schema = open(&[], &[block("data", &["type", "name"], &DATA)]);

/// `language` blocks of OpenTofu.
pub(crate) static LANGUAGE: Schema = strict(
    &[any("edition"), any("experiments")],
    &[block("compatible_with", &[], &ANY)],
);
