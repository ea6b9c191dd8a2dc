//! The table of all rules: one stable kebab-case name for every kind of fault.

use std::fmt;

use super::{Diagnostic, Severity, pages};
use Severity::{Error, Note, Warning};

/// A kind of fault that lockctl can find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name: in output, in JSON, in the project file.
    pub name: &'static str,
    /// How bad its findings are unless somebody says otherwise, as far as they are told.
    pub severity: Severity,
    /// Whether its findings are told only where a project file states a level for them.
    pub is_off: bool,
    /// What it means, in one sentence.
    pub meaning: &'static str,
}

/// What becomes of the findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// They are not shown, and change no exit code.
    Off,
    /// They are as bad as this.
    As(Severity),
}

impl Rule {
    /// Returns what becomes of its findings where nobody states a level.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self.is_off {
            true => Level::Off,
            false => Level::As(self.severity),
        }
    }

    /// Makes a fault of this kind, as severe as usual, with neither place nor help yet.
    #[must_use]
    pub fn diagnostic(&self, title: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.name, self.severity, title)
    }

    /// Returns its page of documentation: Markdown that begins with its name as a heading.
    ///
    /// # Panics
    /// If it has none, which a test forbids.
    #[must_use]
    pub fn page(&self) -> &'static str {
        pages::page(self.name).expect("every rule has a page")
    }
}

impl fmt::Display for Level {
    /// Writes the word for it in a project file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::As(Severity::Note) => "note",
            Self::As(Severity::Warning) => "warning",
            Self::As(Severity::Error) => "error",
        })
    }
}

const fn rule(name: &'static str, severity: Severity, meaning: &'static str) -> Rule {
    Rule {
        name,
        severity,
        is_off: false,
        meaning,
    }
}

/// A rule that nobody follows unless a project file says so.
const fn unasked(name: &'static str, severity: Severity, meaning: &'static str) -> Rule {
    Rule {
        is_off: true,
        ..rule(name, severity, meaning)
    }
}

/// Finds a rule by its name.
///
/// # Panics
/// If there is none: names are written by us.
#[must_use]
pub fn named(name: &str) -> &'static Rule {
    let found = RULES.iter().find(|rule| rule.name == name);
    found.expect("every name in the program stands in the table")
}

/// Every rule, sorted by name.
pub const RULES: &[Rule] = &[
    rule(
        "address-malformed",
        Error,
        "what is written cannot be the address of a provider",
    ),
    rule(
        "address-not-canonical",
        Error,
        "a lock file does not spell a provider address in full and canonical form",
    ),
    rule(
        "cli-configuration-invalid",
        Error,
        "a CLI configuration says something that can have no effect",
    ),
    rule(
        "cli-configuration-missing",
        Warning,
        "the CLI configuration file that a variable names is not there",
    ),
    rule(
        "cli-configuration-not-followed",
        Note,
        "a CLI configuration names mirrors, and lockctl asks registries",
    ),
    rule(
        "cli-configuration-without-effect",
        Warning,
        "a CLI configuration has a block that the program ignores",
    ),
    rule(
        "configuration-invalid",
        Error,
        "a configuration contains something that the program refuses",
    ),
    rule(
        "configuration-odd",
        Note,
        "a configuration contains something that works but often surprises",
    ),
    rule(
        "conflict-markers",
        Error,
        "a merge left its conflict markers in the file",
    ),
    rule(
        "constraint-invalid",
        Error,
        "a version constraint in the configuration cannot be read",
    ),
    rule(
        "constraints-malformed",
        Error,
        "the constraints in a lock file are wrong or not in canonical form",
    ),
    rule(
        "constraints-stale",
        Note,
        "the recorded constraints are not those of the configuration",
    ),
    rule(
        "duplicate-key",
        Note,
        "an object has a key twice, and the last one counts",
    ),
    rule(
        "duplicate-provider",
        Error,
        "a lock file has two blocks for one provider",
    ),
    rule(
        "entries-carried-over",
        Warning,
        "OpenTofu reads an entry of Terraform's registry as one of its own",
    ),
    rule(
        "file-not-canonical",
        Note,
        "a lock file is not in the form that the program writes",
    ),
    rule("file-unreadable", Error, "a file cannot be read"),
    rule(
        "hash-not-well-formed",
        Warning,
        "a hash can never match, because its value does not fit its scheme",
    ),
    rule(
        "hash-scheme-missing",
        Error,
        "a hash in a lock file has no scheme",
    ),
    rule(
        "hash-unknown-upstream",
        Warning,
        "a recorded hash is not in the signed list of its release",
    ),
    rule(
        "hashes-contradicted",
        Error,
        "a recorded hash cannot come from the signed list of its release",
    ),
    rule(
        "hashes-empty",
        Error,
        "a lock file has an empty list of hashes",
    ),
    rule(
        "hashes-unexplained",
        Warning,
        "a package of a mirror is new, and recorded h1: hashes are left over",
    ),
    rule(
        "hosts-mixed",
        Warning,
        "a lock file has entries of one provider from several hosts",
    ),
    rule(
        "key-not-allowed",
        Error,
        "a release is signed by another key than the policy of the project file pins",
    ),
    rule(
        "key-not-compared",
        Note,
        "a pinned key is compared with nothing, because registries were not asked",
    ),
    rule(
        "label-wrong",
        Error,
        "a block has too few or too many labels",
    ),
    rule(
        "lock-missing",
        Error,
        "a root has configuration but no lock file",
    ),
    rule(
        "mirror-missing",
        Error,
        "a filesystem mirror that the CLI configuration names is not there",
    ),
    rule(
        "module-lock",
        Warning,
        "a lock file has blocks for modules, which no program uses",
    ),
    rule(
        "module-not-visible",
        Note,
        "a module cannot be read, so its requirements are unknown",
    ),
    rule("module-unreadable", Error, "a local module cannot be read"),
    rule(
        "nested-too-deep",
        Error,
        "an expression or a JSON text is nested deeper than lockctl follows",
    ),
    rule(
        "newer-patch",
        Note,
        "a newer patch of the locked version is out",
    ),
    rule(
        "not-constant",
        Error,
        "an expression stands where only a value is of use",
    ),
    rule(
        "object-too-large",
        Error,
        "an object has more than 10,000 items",
    ),
    rule(
        "package-mismatch",
        Error,
        "a package on disk is not one that the lock file records",
    ),
    rule(
        "package-misnamed",
        Warning,
        "a package is signed under another name than that of its version and platform",
    ),
    rule(
        "package-missing",
        Warning,
        "a registry announces a package that it does not have",
    ),
    rule(
        "package-not-locked",
        Error,
        "a package that was named belongs to no entry of a lock file",
    ),
    rule(
        "package-odd",
        Warning,
        "a package is built so unusually that programs disagree about its hash",
    ),
    rule(
        "package-repacked",
        Note,
        "a zip holds what the lock file records, and is not the zip that was published",
    ),
    rule(
        "package-stray-file",
        Error,
        "files were added to a package that is otherwise what the lock file records",
    ),
    rule(
        "package-unreadable",
        Error,
        "a package on disk cannot be hashed",
    ),
    rule(
        "package-unverifiable",
        Warning,
        "the lock file holds no hash that could verify a package on disk",
    ),
    rule(
        "platforms-incomplete",
        Warning,
        "the lock file lacks hashes for wanted platforms",
    ),
    rule(
        "platforms-unattributed",
        Note,
        "nothing tells which recorded hash belongs to which platform",
    ),
    rule(
        "project-invalid",
        Error,
        "a project file says something that cannot be meant",
    ),
    rule(
        "project-odd",
        Note,
        "a project file names a platform that is rarely released for",
    ),
    rule(
        "provider-not-allowed",
        Error,
        "a provider is none of those that the policy of the project file allows",
    ),
    rule(
        "provider-not-locked",
        Error,
        "the configuration requires a provider that the lock file lacks",
    ),
    rule(
        "provider-not-required",
        Warning,
        "the lock file has an entry that neither configuration nor state requires",
    ),
    rule(
        "registry-warning",
        Warning,
        "a registry wants users of a provider to know something",
    ),
    rule(
        "signature-odd",
        Warning,
        "a signature counts, though its key has expired or its digest is weak",
    ),
    rule(
        "state-not-visible",
        Note,
        "the state cannot be seen, so what only it requires is unknown",
    ),
    rule(
        "state-unreadable",
        Error,
        "the state names providers in a form that cannot be read",
    ),
    rule("syntax-error", Error, "a file cannot be parsed"),
    rule(
        "test-directory-missing",
        Warning,
        "the directory that should hold test files is not there",
    ),
    rule("type-invalid", Error, "a type expression cannot be read"),
    rule(
        "unsupported-item",
        Error,
        "a file has an argument or block that does not belong there",
    ),
    rule(
        "version-gone",
        Error,
        "the registry does not offer the locked version any more",
    ),
    rule(
        "version-malformed",
        Error,
        "the version in a lock file is wrong or not in canonical form",
    ),
    rule(
        "version-missing",
        Error,
        "an entry of a lock file has no version",
    ),
    rule(
        "version-outside-constraint",
        Error,
        "the locked version does not meet a constraint of the configuration",
    ),
    unasked(
        "versions-differ",
        Warning,
        "roots lock different versions of one provider",
    ),
    rule(
        "wrong-type",
        Error,
        "a value has a type that does not fit here",
    ),
    rule(
        "zh-missing",
        Note,
        "an entry lacks the zh: hashes that its registry signs",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_may_be_off_until_somebody_asks() {
        let on = rule("a", Warning, "");
        let off = Rule { is_off: true, ..on };
        let levels = [on, off].map(|rule| rule.level());
        assert_eq!(levels, [Level::As(Warning), Level::Off]);
        assert_eq!(levels.map(|level| level.to_string()), ["warning", "off"]);
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(RULES.is_sorted_by(|a, b| a.name < b.name));
    }
}
