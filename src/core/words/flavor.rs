//! Whose rules apply: Terraform 1.11, 1.15 or 1.16, or OpenTofu 1.12.
//!
//! This room is the one table of what differs between the programs. Nothing else compares
//! program names or versions; it asks a [`Flavor`] instead.

use std::fmt;

/// A rule set: what one program, from one of its versions on, does.
///
/// Ordered by program, then by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Flavor {
    /// Terraform up to and including 1.14, as observed on 1.11.4.
    Terraform1_11,
    /// Terraform 1.15, as observed on 1.15.9.
    Terraform1_15,
    /// Terraform 1.16 and later, as observed on 1.16.0-rc2.
    Terraform1_16,
    /// OpenTofu, as observed on 1.12.6.
    OpenTofu1_12,
}

/// One of the two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// Terraform by HashiCorp, of any supported version.
    Terraform,
    /// OpenTofu, a fork of Terraform.
    OpenTofu,
}

/// The value of `--flavor`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlavorChoice {
    /// `auto`: decided by the root at hand.
    #[default]
    Auto,
    /// A program, perhaps with a version.
    Stated(StatedFlavor),
}

impl FlavorChoice {
    /// Makes the choice of a rule set that no version was typed for.
    #[must_use]
    pub fn rules_of(flavor: Flavor) -> Self {
        Self::Stated(StatedFlavor {
            flavor,
            version: None,
            patch: None,
            older_than_known: false,
        })
    }

    /// Returns the choice, or another one if nothing is stated.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Auto => other,
            Self::Stated(_) => self,
        }
    }
}

/// A flavor that was stated, with its version if there was one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedFlavor {
    /// The rule set that was chosen for it.
    pub flavor: Flavor,
    /// The stated `major.minor`, if a version was stated.
    pub version: Option<(u64, u64)>,
    /// The third number of the version, if it was stated, too.
    pub patch: Option<u64>,
    /// The stated version is older than every rule set; the oldest rule set is used for it.
    pub older_than_known: bool,
}

impl StatedFlavor {
    /// Reads a version as tools state it, with or without `v` before it; a text that is no version, such as
    /// `latest`, states the program only.
    #[must_use]
    pub fn of_tool(program: Program, version: &str) -> Self {
        let numbers = numbers(version.strip_prefix('v').unwrap_or(version));
        Self {
            patch: numbers.and_then(|(.., patch)| patch),
            ..stated(program, numbers.map(|(major, minor, _)| (major, minor)))
        }
    }
}

impl fmt::Display for StatedFlavor {
    /// Writes the flavor as it was stated, as in `terraform@1.9.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.flavor.program().name())?;
        if let Some((major, minor)) = self.version {
            write!(f, "@{major}.{minor}")?;
        }
        match self.patch {
            Some(patch) => write!(f, ".{patch}"),
            None => Ok(()),
        }
    }
}

/// A text that names no flavor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no flavor: write auto, terraform, opentofu, or one of them with a version, as in terraform@1.11"
)]
pub struct FlavorError {
    text: String,
}

impl Flavor {
    /// Every rule set, oldest first within each program.
    pub const ALL: [Self; 4] = [
        Self::Terraform1_11,
        Self::Terraform1_15,
        Self::Terraform1_16,
        Self::OpenTofu1_12,
    ];

    /// Returns the newest rule set of a program.
    #[must_use]
    pub fn newest(program: Program) -> Self {
        match program {
            Program::Terraform => Self::Terraform1_16,
            Program::OpenTofu => Self::OpenTofu1_12,
        }
    }

    /// Returns the program whose rules these are.
    #[must_use]
    pub fn program(self) -> Program {
        match self {
            Self::Terraform1_11 | Self::Terraform1_15 | Self::Terraform1_16 => Program::Terraform,
            Self::OpenTofu1_12 => Program::OpenTofu,
        }
    }

    /// Returns whether the ending `.tbz2` is known to be that of an archive.
    #[must_use]
    pub fn unpacks_tbz2(self) -> bool {
        !self.is_opentofu()
    }

    /// Returns whether the ref of a module's repository is looked up as a revision; else it is given to
    /// `git checkout`, and that twice.
    #[must_use]
    pub fn verifies_module_refs(self) -> bool {
        self.is_opentofu() || self >= Self::Terraform1_15
    }

    /// Returns whether these are OpenTofu's rules.
    #[must_use]
    pub fn is_opentofu(self) -> bool {
        self.program() == Program::OpenTofu
    }

    /// Returns the hostname that a source address without one means (`addr` rules 1.2).
    #[must_use]
    pub fn default_host(self) -> &'static str {
        match self.program() {
            Program::Terraform => "registry.terraform.io",
            Program::OpenTofu => "registry.opentofu.org",
        }
    }

    /// Returns the hostnames whose namespace `builtin` is never locked (`addr` rules 1.6).
    #[must_use]
    pub fn builtin_hosts(self) -> &'static [&'static str] {
        match self.program() {
            Program::Terraform => &["terraform.io"],
            Program::OpenTofu => &["terraform.io", "opentofu.org"],
        }
    }

    /// Returns the beginnings that no provider type may have (`addr` rules 1.5).
    #[must_use]
    pub fn refused_type_prefixes(self) -> &'static [&'static str] {
        match self.program() {
            Program::Terraform => &["terraform-"],
            Program::OpenTofu => &["terraform-", "opentofu-"],
        }
    }

    /// Returns whether a namespace may contain underscores (`addr` rules 1.4).
    #[must_use]
    pub fn allows_underscore_in_namespace(self) -> bool {
        self == Self::Terraform1_16
    }

    /// Returns whether `init` and `plan` report each error of a lock file by itself; else they fold all
    /// of them into one (`lockfile` rules 3.1).
    #[must_use]
    pub fn reports_lock_errors_singly(self) -> bool {
        matches!(self, Self::Terraform1_15 | Self::Terraform1_16)
    }

    /// Returns the title of the error that a module does not allow the version of the program.
    #[must_use]
    pub fn unmet_core_title(self) -> &'static str {
        match self.program() {
            Program::Terraform => "Unsupported Terraform Core version",
            Program::OpenTofu => "Incompatible module",
        }
    }

    /// Returns the title of the error that no version can be selected (`resolve` rules 3.1).
    #[must_use]
    pub fn no_version_title(self) -> &'static str {
        match self.program() {
            Program::Terraform => "Failed to query available provider packages",
            Program::OpenTofu => "Failed to resolve provider packages",
        }
    }

    /// Returns the header of a lock file, 107 bytes for Terraform (`lockfile` rules 1.1).
    #[must_use]
    pub fn header(self) -> &'static str {
        match self.program() {
            Program::Terraform => {
                "# This file is maintained automatically by \"terraform init\".\n\
                 # Manual edits may be lost in future updates.\n"
            }
            Program::OpenTofu => {
                "# This file is maintained automatically by \"tofu init\".\n\
                 # Manual edits may be lost in future updates.\n"
            }
        }
    }

    /// Returns the endings of native-syntax configuration files (`config` rules 1.1).
    #[must_use]
    pub fn native_extensions(self) -> &'static [&'static str] {
        match self.program() {
            Program::Terraform => &[".tf"],
            Program::OpenTofu => &[".tf", ".tofu"],
        }
    }

    /// Returns whether `action` is a block of the language (`config` rules 1.8).
    #[must_use]
    pub fn has_actions(self) -> bool {
        matches!(self, Self::Terraform1_15 | Self::Terraform1_16)
    }

    /// Returns whether sources and versions of modules are computed from values that are known early.
    #[must_use]
    pub fn computes_sources(self) -> bool {
        self != Self::Terraform1_11
    }

    /// Returns whether a variable may be `const` or `deprecated` (`config` rules 11.3).
    #[must_use]
    pub fn has_newer_variables(self) -> bool {
        self != Self::Terraform1_11
    }

    /// Returns whether a root with test files only is a configuration (`config` rules 1.6).
    #[must_use]
    pub fn counts_tests_as_configuration(self) -> bool {
        matches!(self, Self::Terraform1_15 | Self::Terraform1_16)
    }

    /// Returns whether test files have what came after Terraform 1.11: settings for all runs, variables
    /// of their own, values of mocks that are evaluated when the tests run.
    #[must_use]
    pub fn has_newer_tests(self) -> bool {
        matches!(self, Self::Terraform1_15 | Self::Terraform1_16)
    }

    /// Returns whether names of backups count in the test directory (`config` rules 1.2).
    #[must_use]
    pub fn reads_backups_of_tests(self) -> bool {
        matches!(self, Self::Terraform1_15 | Self::Terraform1_16)
    }

    /// Returns how many redirects of a service discovery document are followed (`sources` rules 1.3).
    #[must_use]
    pub fn discovery_redirects(self) -> usize {
        match self.program() {
            // Behind one redirect more the programs fail, so an answer there must not count (`sources`
            // rules 1.3).
            Program::Terraform => 3,
            Program::OpenTofu => 9,
        }
    }

    /// Returns whether texts in a registry's list that are no version are passed over, rather than
    /// failing the whole query (`sources` rules 2.3).
    #[must_use]
    pub fn skips_unreadable_versions(self) -> bool {
        matches!(self, Self::Terraform1_15 | Self::Terraform1_16)
    }

    /// Returns whether `~/.netrc` holds credentials for packages (`sources` rules 5.4).
    #[must_use]
    pub fn reads_netrc(self) -> bool {
        self.program() == Program::Terraform
    }

    /// Returns whether the hashes that a registry states beside its signed list count
    /// (`sources` rules 3.8).
    #[must_use]
    pub fn reads_stated_hashes(self) -> bool {
        self.program() == Program::OpenTofu
    }

    /// Returns whether releases of a host count although it names no signing key (`authenticate`
    /// rules 4.1).
    #[must_use]
    pub fn accepts_unsigned_from(self, host: &str) -> bool {
        self.is_opentofu() && host == self.default_host()
    }

    /// Returns whether hashes that a host states without signing them, which are those of every
    /// platform, are recorded by `init` (`sources` rules 9.4).
    #[must_use]
    pub fn records_claims_of(self, host: &str) -> bool {
        self.is_opentofu() && host == self.default_host()
    }

    /// Returns whether providers of `dev_overrides` are installed and locked all the same (`cliconfig`
    /// rules 5.5).
    #[must_use]
    pub fn locks_overridden(self) -> bool {
        matches!(self, Self::Terraform1_11 | Self::OpenTofu1_12)
    }

    /// Returns whether single `zh:` of mirrors are recorded, so that those of a lock file need not be the
    /// whole list of a release (`sources` rules 8.5, 14.8).
    #[must_use]
    pub fn records_hashes_of_mirrors(self) -> bool {
        self.program() == Program::OpenTofu
    }

    /// Returns the version that these rules were observed on: what requests to registries state.
    #[must_use]
    pub fn observed_version(self) -> &'static str {
        match self {
            Self::Terraform1_11 => "1.11.4",
            Self::Terraform1_15 => "1.15.9",
            Self::Terraform1_16 => "1.16.0",
            Self::OpenTofu1_12 => "1.12.6",
        }
    }

    /// Returns the name of the program as its own command line spells it.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self.program() {
            Program::Terraform => "terraform",
            Program::OpenTofu => "tofu",
        }
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Terraform1_11 => "terraform@1.11",
            Self::Terraform1_15 => "terraform@1.15",
            Self::Terraform1_16 => "terraform@1.16",
            Self::OpenTofu1_12 => "opentofu@1.12",
        })
    }
}

impl Program {
    /// Returns the name as `--flavor` takes it.
    fn name(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::OpenTofu => "opentofu",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Terraform => "Terraform",
            Self::OpenTofu => "OpenTofu",
        })
    }
}

impl std::str::FromStr for FlavorChoice {
    type Err = FlavorError;

    /// Reads `auto`, `terraform`, `opentofu`, or one of these with `@VERSION`.
    ///
    /// ```
    /// use lockctl_core::flavor::{Flavor, FlavorChoice};
    ///
    /// let FlavorChoice::Stated(stated) = "terraform@1.12.3".parse()? else { panic!() };
    /// assert_eq!(stated.flavor, Flavor::Terraform1_11);
    /// # Ok::<(), lockctl_core::flavor::FlavorError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, FlavorError> {
        let error = || FlavorError {
            text: text.to_owned(),
        };
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(numbers(version).ok_or_else(error)?)),
            None => (text, None),
        };
        let patch = version.and_then(|(.., patch)| patch);
        let version = version.map(|(major, minor, _)| (major, minor));
        let program = match name {
            "terraform" => Program::Terraform,
            "opentofu" => Program::OpenTofu,
            _ => return Err(error()),
        };
        Ok(Self::Stated(StatedFlavor {
            patch,
            ..stated(program, version)
        }))
    }
}

/// Picks the newest rule set that is not above the stated version, else the oldest.
fn stated(program: Program, version: Option<(u64, u64)>) -> StatedFlavor {
    let since: &[((u64, u64), Flavor)] = match program {
        Program::Terraform => &[
            ((1, 11), Flavor::Terraform1_11),
            ((1, 15), Flavor::Terraform1_15),
            ((1, 16), Flavor::Terraform1_16),
        ],
        Program::OpenTofu => &[((1, 12), Flavor::OpenTofu1_12)],
    };
    let Some(wanted) = version else {
        return StatedFlavor {
            flavor: Flavor::newest(program),
            version,
            patch: None,
            older_than_known: false,
        };
    };
    // The program still refuses or accepts by its own rules: the oldest known ones are the nearest.
    let (oldest, _) = since[0];
    let (_, flavor) = since
        .iter()
        .rfind(|(first, _)| *first <= wanted)
        .unwrap_or(&since[0]);
    StatedFlavor {
        flavor: *flavor,
        version,
        patch: None,
        older_than_known: wanted < oldest,
    }
}

/// Reads `MAJOR.MINOR` or a whole version.
fn numbers(text: &str) -> Option<(u64, u64, Option<u64>)> {
    if let Ok(whole) = semver::Version::parse(text) {
        return Some((whole.major, whole.minor, Some(whole.patch)));
    }
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, flavor: Flavor, older: bool) {
        let FlavorChoice::Stated(stated) = given.parse().expect("valid") else {
            panic!("{given} is stated")
        };
        assert_eq!(
            (stated.flavor, stated.older_than_known),
            (flavor, older),
            "from {given:?}"
        );
    }

    #[test]
    fn a_version_takes_the_newest_rule_set_that_is_not_above_it() {
        check("terraform", Flavor::Terraform1_16, false);
        check("terraform@1.11", Flavor::Terraform1_11, false);
        check("terraform@1.11.4", Flavor::Terraform1_11, false);
        check("terraform@1.14.9", Flavor::Terraform1_11, false);
        check("terraform@1.15.0-beta1", Flavor::Terraform1_15, false);
        check("terraform@2.0", Flavor::Terraform1_16, false);
        check("terraform@1.5", Flavor::Terraform1_11, true);
        check("opentofu@1.12.6", Flavor::OpenTofu1_12, false);
        check("opentofu@1.6", Flavor::OpenTofu1_12, true);
    }

    #[test]
    fn other_words_are_refused() {
        for given in [
            "",
            "tofu",
            "terraform@",
            "terraform@1",
            "terraform@x.y",
            "Auto",
            "opentofu@v1.12",
        ] {
            assert!(given.parse::<FlavorChoice>().is_err(), "{given:?}");
        }
    }

    #[test]
    fn the_header_of_terraform_has_107_bytes() {
        assert_eq!(Flavor::Terraform1_11.header().len(), 107);
    }
}
