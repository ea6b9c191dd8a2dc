//! The table of all rules: one stable kebab-case name for every kind of fault.

use std::fmt;

use super::{Diagnostic, Severity};

/// A kind of fault that lockctl can find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name: in output, in JSON, in the project file.
    pub name: &'static str,
    /// The severity of its findings, unless a project file states another level.
    pub severity: Severity,
    /// Its findings are reported only where a project file states a level for them.
    pub is_off: bool,
    /// The meaning of its findings, in one clause without a period.
    pub meaning: &'static str,
    /// The title of several of its findings that one step fixes, if there is a better one than
    /// `meaning` with their number. In it, `{who}` is replaced by what they concern, as in
    /// `3 providers in 2 of 9 roots`, `{share}` by their shares, as in `1 to 4 of 5`, and `{are}` by
    /// the verb that follows these.
    pub together: Option<&'static str>,
    /// The subject that it shares with other rules.
    pub area: Area,
    /// Its page of documentation: Markdown that begins with its name as a heading. It is of the small
    /// kind that `report` renders: headings, paragraphs, lists and fenced blocks. A test runs its
    /// examples.
    pub page: &'static str,
}

/// A subject of rules, in the order of the list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The lock file by itself.
    LockFile,
    /// The lock file against the configuration.
    Requirements,
    /// Hashes for the wanted platforms.
    Platforms,
    /// Packages, registries and mirrors.
    Packages,
    /// Configuration and state by themselves.
    Configuration,
    /// The policy of the project file.
    Policy,
    /// Files of any kind.
    Files,
    /// Project file and CLI configuration.
    Settings,
}

impl Area {
    /// Every area, in the order of the list of rules.
    pub const ALL: [Self; 8] = [
        Self::LockFile,
        Self::Requirements,
        Self::Platforms,
        Self::Packages,
        Self::Configuration,
        Self::Policy,
        Self::Files,
        Self::Settings,
    ];

    /// Returns the heading above its rules.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::LockFile => "The lock file by itself",
            Self::Requirements => "The lock file against the configuration",
            Self::Platforms => "Platforms and hashes",
            Self::Packages => "Packages, registries and mirrors",
            Self::Configuration => "Configuration and state",
            Self::Policy => "Policy",
            Self::Files => "Files of any kind",
            Self::Settings => "Project file and CLI configuration",
        }
    }

    /// Returns its rules, sorted by name.
    pub fn rules(self) -> impl Iterator<Item = &'static Rule> {
        RULES.iter().filter(move |rule| rule.area == self)
    }
}

/// The level of the findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// They are not reported, and change no exit code.
    Off,
    /// They are as bad as this.
    #[serde(untagged)]
    As(Severity),
}

impl Rule {
    /// Returns the level of its findings unless a project file states one.
    #[must_use]
    pub const fn level(&self) -> Level {
        if self.is_off {
            Level::Off
        } else {
            Level::As(self.severity)
        }
    }

    /// Makes a fault of this kind, as severe as usual, with neither place nor help yet.
    #[must_use]
    pub fn diagnostic(&self, title: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.name, self.severity, title)
    }
}

impl fmt::Display for Level {
    /// Writes the word for it in a project file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::As(severity) => severity.name(),
        })
    }
}

/// Makes the constants of all rules and the table of them: constant, name, area, severity, meaning,
/// perhaps the title of several findings. The page is the file of that name. `off` means that the rule
/// applies only where a project file states a level for it.
macro_rules! rules {
    ($(
        $constant:ident = $name:literal, $area:ident, $severity:ident $($off:ident)?:
        $meaning:literal $(, together $together:literal)?;
    )*) => {
        $(
            #[doc = concat!("Name of a rule: ", $meaning, ".")]
            pub const $constant: &str = $name;
        )*

        /// Every rule, sorted by name.
        pub const RULES: &[Rule] = &[$(Rule {
            name: $constant,
            area: Area::$area,
            severity: Severity::$severity,
            is_off: first(&[$(stringify!($off))?]).is_some(),
            meaning: $meaning,
            together: first(&[$($together)?]),
            page: include_str!(concat!("pages/", $name, ".md")),
        }),*];
    };
}

/// Returns the first of some texts.
const fn first(texts: &[&'static str]) -> Option<&'static str> {
    match texts {
        [text, ..] => Some(*text),
        [] => None,
    }
}

/// Finds a rule by its name.
///
/// # Panics
/// If no rule has the name: names are constants of this module.
#[must_use]
pub fn named(name: &str) -> &'static Rule {
    RULES
        .iter()
        .find(|rule| rule.name == name)
        .expect("every name in the program is in the table")
}

rules! {
    ADDRESS_MALFORMED = "address-malformed", Files, Error:
        "a provider address is malformed";
    ADDRESS_NOT_CANONICAL = "address-not-canonical", LockFile, Error:
        "a lock file does not spell a provider address in full and canonical form";
    BUILD_INCONSISTENT = "build-inconsistent", Packages, Warning:
        "the packages of a release are built from different source";
    BUILD_OF_ANOTHER_MODULE = "build-of-another-module", Packages, Note:
        "a provider is built from the module of another publisher";
    CLI_CONFIGURATION_INVALID = "cli-configuration-invalid", Settings, Error:
        "a CLI configuration has a setting that can have no effect";
    CLI_CONFIGURATION_MISSING = "cli-configuration-missing", Settings, Warning:
        "the CLI configuration file that a variable names does not exist";
    CLI_CONFIGURATION_NOT_FOLLOWED = "cli-configuration-not-followed", Settings, Note:
        "a CLI configuration names mirrors, and lock uses registries";
    CLI_CONFIGURATION_WITHOUT_EFFECT = "cli-configuration-without-effect", Settings, Warning:
        "a CLI configuration has a block that the program ignores";
    CONFIGURATION_INVALID = "configuration-invalid", Configuration, Error:
        "a configuration contains something that the program refuses";
    CONFIGURATION_ODD = "configuration-odd", Configuration, Note:
        "a configuration contains something that works but often surprises";
    CONFLICT_MARKERS = "conflict-markers", Files, Error:
        "a file has conflict markers of a merge";
    CONSTRAINT_INVALID = "constraint-invalid", Configuration, Error:
        "a version constraint in the configuration cannot be read";
    CONSTRAINTS_MALFORMED = "constraints-malformed", LockFile, Error:
        "the constraints in a lock file are wrong or not in canonical form";
    CONSTRAINTS_STALE = "constraints-stale", Requirements, Note:
        "the recorded constraints differ from the configuration";
    CORE_VERSION_UNMET = "core-version-unmet", Configuration, Warning:
        "the stated version of the program does not meet a constraint of a module";
    DUPLICATE_KEY = "duplicate-key", Files, Note:
        "an object has a key twice, and the last one counts";
    DUPLICATE_PROVIDER = "duplicate-provider", LockFile, Error:
        "a lock file has two blocks for one provider";
    ENTRIES_CARRIED_OVER = "entries-carried-over", Packages, Warning:
        "OpenTofu reads an entry of Terraform's registry as one of its own";
    FACTS_CONTRADICT = "facts-contradict", Packages, Error:
        "a signed fact about a package contradicts another fact";
    FILE_NOT_CANONICAL = "file-not-canonical", LockFile, Note:
        "a lock file is not in the form that the program writes";
    FILE_UNREADABLE = "file-unreadable", Files, Error:
        "a file cannot be read";
    HASH_NOT_OF_RELEASE = "hash-not-of-release", Packages, Error:
        "a recorded hash is known to belong to no package of the locked release",
        together "Hashes that belong to no package of the locked release: {who}";
    HASH_NOT_WELL_FORMED = "hash-not-well-formed", LockFile, Warning:
        "a hash can never match, because its value does not fit its scheme",
        together "Hashes that can never match: {who}";
    HASH_SCHEME_MISSING = "hash-scheme-missing", LockFile, Error:
        "a hash in a lock file has no scheme";
    HASH_UNKNOWN_UPSTREAM = "hash-unknown-upstream", Packages, Warning:
        "a recorded hash is not in the signed list of its release";
    HASHES_CLAIMED = "hashes-claimed", Packages, Note:
        "a registry states recorded h1: hashes, and nothing proves them";
    HASHES_CONTRADICTED = "hashes-contradicted", Packages, Error:
        "a recorded hash cannot come from the signed list of its release";
    HASHES_EMPTY = "hashes-empty", LockFile, Error:
        "a lock file has an empty list of hashes";
    HASHES_OF_OTHER_VERSION = "hashes-of-other-version", Packages, Error:
        "an entry has hashes of the version that was locked before",
        together "Hashes of the version that was locked before: {who}";
    HASHES_UNEXPLAINED = "hashes-unexplained", Packages, Warning:
        "a package of a mirror is new, and recorded h1: hashes are left over";
    HOSTS_MIXED = "hosts-mixed", Requirements, Warning:
        "a lock file has entries of one provider from several hosts";
    INIT_REWRITES = "init-rewrites", LockFile, Note:
        "the next `init` writes the lock file, although nothing else changed";
    KEY_CHANGED = "key-changed", Policy, Error:
        "a release is signed by another key than the project file remembers";
    KEY_EXPIRES = "key-expires", Packages, Note:
        "the key that signed a locked release expires soon, or has expired";
    KEY_NOT_ALLOWED = "key-not-allowed", Policy, Error:
        "a release is signed by another key than a policy pins";
    KEY_NOT_COMPARED = "key-not-compared", Policy, Note:
        "a pinned key was not compared, because --upstream was not given";
    KNOWN_VULNERABILITY = "known-vulnerability", Packages, Error:
        "an advisory concerns a locked provider, its build or a module in it";
    LABEL_WRONG = "label-wrong", Files, Error:
        "a block has too few or too many labels";
    LOCK_IGNORED = "lock-ignored", LockFile, Warning:
        "git ignores the lock file",
        together "Lock files that git ignores: {who}";
    LOCK_IN_MODULE = "lock-in-module", Requirements, Note:
        "a directory that other roots call as a module has a lock file",
        together "Lock files of modules, without effect on their callers: {who}";
    LOCK_MISSING = "lock-missing", Requirements, Error:
        "a root has configuration but no lock file",
        together "No lock file in {who}";
    LOOK_ALIKE_PROVIDER = "look-alike-provider", LockFile, Warning:
        "the namespace of a provider is one typing error away from a known one";
    MIRROR_LACKS_VERSION = "mirror-lacks-version", Packages, Error:
        "no mirror of the CLI configuration has the locked version";
    MIRROR_MISSING = "mirror-missing", Packages, Error:
        "a filesystem mirror of the CLI configuration does not exist";
    MODULE_DIFFERS = "module-differs", Configuration, Error:
        "an installed module is not the pinned one";
    MODULE_ESCAPES_PACKAGE = "module-escapes-package", Configuration, Error:
        "a remote module leads out of its package";
    MODULE_LOCK = "module-lock", LockFile, Warning:
        "a lock file has blocks for modules, which no program uses";
    MODULE_MOVED = "module-moved", Configuration, Error:
        "what a pin names holds other files now";
    MODULE_NOT_PINNED = "module-not-pinned", Configuration, Error:
        "a call of a remote module has no pin";
    MODULE_NOT_VISIBLE = "module-not-visible", Configuration, Note:
        "a module cannot be read, so its requirements are unknown",
        together "Modules that are not visible: {who}";
    MODULE_PIN_UNUSED = "module-pin-unused", Configuration, Warning:
        "a pin belongs to no call of a remote module";
    MODULE_UNREADABLE = "module-unreadable", Configuration, Error:
        "a module cannot be read";
    MODULE_UNSAFE = "module-unsafe", Configuration, Error:
        "a module comes from where it is not safe to fetch it";
    NESTED_TOO_DEEP = "nested-too-deep", Files, Error:
        "an expression or a JSON text is nested deeper than lockctl follows";
    NEWER_PATCH = "newer-patch", Packages, Note:
        "a newer patch of the locked version is out";
    NOT_CONSTANT = "not-constant", Files, Error:
        "an expression is used where only a constant value is allowed";
    OBJECT_TOO_LARGE = "object-too-large", Files, Error:
        "a file has more words or values than lockctl reads";
    ORIGIN_CHANGED = "origin-changed", Policy, Error:
        "a provider is built from another module than the project file remembers";
    OVERRIDDEN = "overridden", Configuration, Warning off:
        "an override file changes a block";
    PACKAGE_MISMATCH = "package-mismatch", Packages, Error:
        "a package on disk is not one that the lock file records";
    PACKAGE_MISNAMED = "package-misnamed", Packages, Warning:
        "a package is signed under the name of another version or platform";
    PACKAGE_MISSING = "package-missing", Packages, Warning:
        "a registry lists a package that it does not have";
    PACKAGE_NOT_LOCKED = "package-not-locked", Packages, Error:
        "a package given with --package belongs to no entry of a lock file";
    PACKAGE_ODD = "package-odd", Packages, Warning:
        "programs disagree about the hash of a package";
    PACKAGE_REPACKED = "package-repacked", Packages, Note:
        "a zip has the recorded content, but is not the published zip";
    PACKAGE_STRAY_FILE = "package-stray-file", Packages, Error:
        "files were added to a package that is otherwise what the lock file records";
    PACKAGE_TRACKED = "package-tracked", Packages, Warning:
        "git tracks an installed package";
    PACKAGE_UNREADABLE = "package-unreadable", Packages, Error:
        "a package on disk cannot be hashed";
    PACKAGE_UNVERIFIABLE = "package-unverifiable", Packages, Warning:
        "the lock file holds no hash that could verify a package on disk";
    PLATFORMS_INCOMPLETE = "platforms-incomplete", Platforms, Warning:
        "the lock file lacks hashes for wanted platforms",
        together "{share} wanted platforms {are} missing for {who}";
    PLATFORMS_UNATTRIBUTED = "platforms-unattributed", Platforms, Note:
        "the recorded hashes are not attributed to platforms";
    POLICY_UNUSED = "policy-unused", Policy, Note:
        "an entry of a policy concerns nothing that is locked";
    PROJECT_INVALID = "project-invalid", Settings, Error:
        "a project file has an invalid setting";
    PROJECT_ODD = "project-odd", Settings, Note:
        "a project file names a platform that is rarely released for";
    PROVENANCE_INVALID = "provenance-invalid", Policy, Warning:
        "an attestation about a locked package does not hold";
    PROVENANCE_LOST = "provenance-lost", Policy, Error:
        "the repository that the project file remembers does not attest a release";
    PROVIDER_MOVED = "provider-moved", LockFile, Note:
        "a provider is known to have another address now";
    PROVIDER_NOT_ALLOWED = "provider-not-allowed", Policy, Error:
        "a provider is not allowed by a policy";
    PROVIDER_NOT_LOCKED = "provider-not-locked", Requirements, Error:
        "the configuration requires a provider that the lock file lacks",
        together "Required but not locked: {who}";
    PROVIDER_NOT_REQUIRED = "provider-not-required", Requirements, Warning:
        "the lock file has an entry that neither configuration nor state requires",
        together "Locked but not required: {who}";
    REGISTRY_WARNING = "registry-warning", Packages, Warning:
        "a registry sends a warning about a provider";
    RELEASE_TOO_OLD = "release-too-old", Policy, Note:
        "a locked release is older than the greatest age that a policy states";
    RELEASE_TOO_YOUNG = "release-too-young", Policy, Error:
        "a locked release is younger than the least age that a policy states";
    RELEASE_UNSIGNED = "release-unsigned", Packages, Warning:
        "a registry names no signing key for a release, and the program accepts that";
    SIGNATURE_LOST = "signature-lost", Policy, Error:
        "a release is not signed, and the project file remembers signed ones";
    SIGNATURE_ODD = "signature-odd", Packages, Warning:
        "a signature is valid, but its key has expired or its digest is weak";
    STATE_NOT_VISIBLE = "state-not-visible", Configuration, Note:
        "the state is not visible, so what only it requires is unknown",
        together "State that is not visible: {who}";
    STATE_UNREADABLE = "state-unreadable", Configuration, Error:
        "the providers of the state cannot be read";
    STATED_HASH_FALSE = "stated-hash-false", Packages, Error:
        "a registry or a mirror states a hash of a package that is shown to be wrong";
    SYNTAX_ERROR = "syntax-error", Files, Error:
        "a file cannot be parsed";
    TEST_DIRECTORY_MISSING = "test-directory-missing", Configuration, Warning:
        "the directory of test files does not exist";
    TYPE_INVALID = "type-invalid", Configuration, Error:
        "a type expression cannot be read";
    UNSUPPORTED_ITEM = "unsupported-item", Files, Error:
        "a file has an argument or block that is not allowed there";
    VALUES_UNREADABLE = "values-unreadable", Configuration, Note:
        "a file of values for variables cannot be read, and no provider depends on it";
    VARIABLE_NOT_SET = "variable-not-set", Configuration, Note:
        "a variable has no value, and no provider depends on it";
    VERSION_GONE = "version-gone", Packages, Error:
        "the registry does not list the locked version any more";
    VERSION_MALFORMED = "version-malformed", LockFile, Error:
        "the version in a lock file is wrong or not in canonical form";
    VERSION_MISSING = "version-missing", LockFile, Error:
        "an entry of a lock file has no version";
    VERSION_NOT_ALLOWED = "version-not-allowed", Policy, Error:
        "a locked version is not allowed by a policy";
    VERSION_OUTSIDE_CONSTRAINT = "version-outside-constraint", Requirements, Error:
        "the locked version does not meet a constraint of the configuration";
    VERSIONS_DIFFER = "versions-differ", Policy, Warning off:
        "roots lock different versions of one provider";
    WRONG_TYPE = "wrong-type", Files, Error:
        "a value has the wrong type";
    ZH_LOST = "zh-lost", Policy, Warning:
        "an entry has fewer zh: hashes than the project file remembers";
    ZH_MISSING = "zh-missing", Platforms, Note:
        "an entry lacks the zh: hashes that its registry signs";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_may_be_off_by_default() {
        let on = *named("platforms-incomplete");
        let off = Rule { is_off: true, ..on };
        let levels = [on, off].map(|rule| rule.level());
        assert_eq!(levels, [Level::As(Severity::Warning), Level::Off]);
        assert_eq!(levels.map(|level| level.to_string()), ["warning", "off"]);
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(RULES.is_sorted_by(|a, b| a.name < b.name));
    }
}
