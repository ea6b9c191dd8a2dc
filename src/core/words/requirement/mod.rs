//! Requirements of a configuration on providers and on the program.

mod clash;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::addr::{AddrErrorKind, ProviderAddr};
use crate::diag::{Diagnostic, FileId, Span};
use crate::flavor::Flavor;
use crate::version::{Constraints, CoreConstraints, Version};

/// The requirements of the modules of one root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requirements {
    /// Every required provider with each place that requires it, built-in ones included.
    pub providers: BTreeMap<ProviderAddr, Vec<Requirement>>,
    /// Module calls whose module could not be read, in the order they were met.
    pub unseen_calls: Vec<UnseenCall>,
    /// The part of the state in the requirements.
    pub state: StateSeen,
    /// Something in the configuration was not read or is wrong, so that requirements may be missing
    /// or different: not to be used for locking or checking.
    pub faulty: bool,
    /// Conditions that visible places stated before they were edited: a record of them is no word of a module that
    /// is not visible.
    pub edited: BTreeMap<ProviderAddr, Constraints>,
}

/// One place that requires a provider.
///
/// A module that many calls share gives one of these for each of them, so what may be long is
/// shared, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The conditions stated there; empty if there are none.
    pub constraints: Arc<Constraints>,
    /// The module with the requirement.
    pub module: ModulePath,
    /// The kind of construct that states it.
    pub origin: RequirementOrigin,
    /// The file that states it.
    pub file: FileId,
    /// The bytes to show: the constraint where there is one, else what requires the provider.
    pub span: Span,
}

impl Requirement {
    /// Returns whether the configuration that `plan` reads states it: neither the state nor a test does.
    #[must_use]
    pub fn is_for_plan(&self) -> bool {
        self.origin != RequirementOrigin::State && !self.module.is_in_test()
    }
}

/// A `required_version`, or what OpenTofu reads instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreVersion {
    /// The versions of the program that are allowed.
    pub constraints: CoreConstraints,
    /// The file that states it.
    pub file: FileId,
    /// The bytes of the constraint.
    pub span: Span,
}

/// Values of variables of the root that are not known, and that no provider depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingValues {
    /// The names of the variables that have no value, in the order of their places.
    pub variables: Vec<String>,
    /// The files with values that could not be read, in order of precedence.
    pub files: Vec<UnreadValues>,
}

/// A file of values that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadValues {
    /// Its path, as messages show it.
    pub path: String,
    /// The file is encrypted by git-crypt.
    pub is_encrypted: bool,
}

/// Errors of the programs about the backend, about variables of the root without a value, or about modules that are not
/// installed. They keep no provider from being locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueErrors {
    /// The errors of `init`, in the order of their places.
    pub errors: Vec<Diagnostic>,
    /// The title of the error of `plan` about a called module that the next `init` installs.
    pub modules: Option<&'static str>,
}

impl ValueErrors {
    /// OpenTofu's title of an expression that needs something without a value.
    pub const NOT_COMPUTED: &str = "Unable to compute static value";

    /// Returns the title of the error about the first variable in every checkout, if there is one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.errors
            .iter()
            .map(|error| error.title.as_str())
            .find(|title| *title != Self::NOT_COMPUTED)
    }
}

/// The path of calls from the root to a module.
///
/// Displayed as the programs show it: `module.a.module.b`, `test.tests.main.run.setup`, and nothing
/// for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModulePath(Arc<[PathStep]>);

/// One step from a module to another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// A `module` block, by its name.
    Call(String),
    /// A test file, by the name that the programs give to its branch (`config` rules 6.4).
    Test(String),
    /// A run of a test file, by its name.
    Run(String),
}

impl ModulePath {
    /// Returns the steps from the root on.
    #[must_use]
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// Returns whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether only a test leads here.
    #[must_use]
    pub fn is_in_test(&self) -> bool {
        self.0.iter().any(|step| matches!(step, PathStep::Test(_)))
    }

    /// Returns the path one step further down.
    #[must_use]
    pub fn join(&self, step: PathStep) -> Self {
        self.0.iter().cloned().chain([step]).collect()
    }

    /// Returns the key of the module in the manifest of installed modules (`config` rules 5.2, 6.4).
    #[must_use]
    pub fn manifest_key(&self) -> String {
        self.0
            .iter()
            .map(|step| match step {
                PathStep::Call(name) | PathStep::Run(name) => name.clone(),
                // The keys of test files begin with this word (`config` rules 6.4).
                PathStep::Test(name) => format!("test.{name}"),
            })
            .collect::<Vec<_>>()
            .join(".")
    }
}

impl FromIterator<PathStep> for ModulePath {
    fn from_iter<I: IntoIterator<Item = PathStep>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            let dot = if at == 0 { "" } else { "." };
            match step {
                PathStep::Call(name) => write!(f, "{dot}module.{name}")?,
                PathStep::Test(name) => write!(f, "{dot}test.{name}")?,
                PathStep::Run(name) => write!(f, "{dot}run.{name}")?,
            }
        }
        Ok(())
    }
}

/// The kind of construct that requires a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "PlaceKind"))]
pub enum RequirementOrigin {
    /// An entry of `required_providers`.
    RequiredProviders,
    /// A `provider` block of a module.
    ProviderBlock,
    /// A block of a type that implies the provider.
    Implied,
    /// A resource of the state.
    State,
}

/// The reason why no source can ever meet a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The address is one of Terraform 0.12.
    #[error("addresses of Terraform 0.12 mean nothing any more")]
    Legacy,
    /// The address is among the built-in ones, but the program has no such provider.
    #[error("there is no such built-in provider")]
    NotBuiltin,
    /// The built-in provider is constrained.
    #[error("a built-in provider has no versions")]
    BuiltinVersion,
    /// A part of the address is valid in configuration, but in no lock file: the programs accept it and then
    /// write a lock file that they cannot read (`addr` rules 1.5). This is a deliberate difference.
    #[error("a lock file with this address could not be read again")]
    Unlockable(AddrErrorKind),
}

impl Refusal {
    /// Returns why the requirement cannot be met, if it cannot.
    #[must_use]
    pub fn of(provider: &ProviderAddr, constraints: &Constraints, flavor: Flavor) -> Option<Self> {
        if provider.is_legacy() {
            Some(Self::Legacy)
        } else if !provider.is_builtin(flavor) {
            provider.unlockable_part(flavor).map(Self::Unlockable)
        // The programs have only this one built in.
        } else if provider.type_name() != "terraform" {
            Some(Self::NotBuiltin)
        } else {
            (!constraints.is_empty()).then_some(Self::BuiltinVersion)
        }
    }

    /// Returns the title that the programs print.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Legacy => "Invalid legacy provider address",
            Self::NotBuiltin | Self::BuiltinVersion => "Invalid dependency on built-in provider",
            Self::Unlockable(part) => part.title(),
        }
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Legacy | Self::NotBuiltin | Self::Unlockable(_) => "correct the source address",
            Self::BuiltinVersion => "remove the version constraint",
        }
    }
}

/// A module call, as it is written, whose module could not be read; or a generated file; or the whole
/// configuration, if that counts as not seen.
#[derive(Clone, Debug, PartialEq)]
pub struct UnseenCall {
    /// The module that is called; the first one, if several paths lead here. The root means the whole
    /// configuration, or a generated file of it.
    pub module: ModulePath,
    /// The number of ways from the root to this call.
    pub ways: usize,
    /// The source as written, or why there is none.
    pub source: String,
    /// The reason why its module cannot be read.
    pub reason: UnseenReason,
    /// The file of the call.
    pub file: FileId,
    /// The source argument, or the call.
    pub span: Span,
}

/// The reason why a module cannot be read, as far as it decides what helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnseenReason {
    /// The module is not here; fetching or installing it may help.
    NotHere,
    /// The module is in a git submodule that is not checked out.
    NotCheckedOut,
    /// Fetching the module failed, or lockctl fetches no such source.
    FetchFailed,
    /// The source depends on something that is not known here, so there is nothing to fetch.
    NotComputed,
    /// Terragrunt generates the file `source` of the module, and only a run knows its contents.
    Generated,
}

impl UnseenCall {
    /// Names what could not be read, to be written in a sentence.
    #[must_use]
    pub fn name(&self) -> String {
        if self.reason == UnseenReason::Generated {
            format!("the generated file {}", self.source)
        } else if self.module.is_root() {
            "the configuration".to_owned()
        } else {
            self.module.to_string()
        }
    }
}

/// The outcome of reading the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateSeen {
    /// The state could not be read, so entries that only it needs are unknown.
    #[default]
    No,
    /// The state was read, or there is none.
    Yes,
    /// The state was left out on purpose: only the configuration counts.
    LeftOut,
}

impl Requirements {
    /// Returns the union of all conditions on a provider: what a lock file records.
    #[must_use]
    pub fn constraints(&self, provider: &ProviderAddr) -> Constraints {
        let places = self.places(provider);
        // What a module states is shared by all calls to it, and is looked at once.
        let written: BTreeMap<*const Constraints, &Constraints> = places
            .iter()
            .map(|place| (Arc::as_ptr(&place.constraints), &*place.constraints))
            .collect();
        // Sorted once: joined one by one, 700 places allocated 178 MB.
        written
            .into_values()
            .flat_map(|constraints| constraints.iter().cloned())
            .collect()
    }

    /// Returns the conditions that a lock file records of a provider whose entry records some already:
    /// all visible ones.
    ///
    /// Terms of modules that cannot be seen stay beside them, wherever any module cannot.
    #[must_use]
    pub fn to_record(&self, provider: &ProviderAddr, recorded: &Constraints) -> Constraints {
        self.constraints(provider)
            .union(self.unseen_terms(provider, recorded))
    }

    /// Returns the recorded conditions on a provider that no visible place states; none if every module is visible.
    #[must_use]
    pub fn unseen_terms(&self, provider: &ProviderAddr, recorded: &Constraints) -> Constraints {
        if self.unseen_calls.is_empty() {
            return Constraints::default();
        }
        let visible = self.constraints(provider);
        let edited = self.edited.get(provider);
        recorded
            .iter()
            .filter(|term| {
                visible
                    .iter()
                    .chain(edited.into_iter().flat_map(Constraints::iter))
                    .all(|other| other != *term)
            })
            .cloned()
            .collect()
    }

    /// Returns the conditions that a locked version has to meet: all visible ones.
    ///
    /// While a module cannot be seen, the recorded ones may name the pre-release that is locked; they
    /// never make a locked version a conflict.
    #[must_use]
    pub fn on_locked(
        &self,
        provider: &ProviderAddr,
        locked: &Version,
        recorded: &Constraints,
    ) -> Constraints {
        let all = self.to_record(provider, recorded);
        if all.allows(locked) {
            all
        } else {
            self.constraints(provider)
        }
    }

    /// Returns whether everything that may require a provider was seen, so that what nothing requires
    /// is needed by nothing.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.faulty && self.unseen_calls.is_empty() && self.state != StateSeen::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(written: &[&str]) -> (ProviderAddr, Requirements) {
        let provider = ProviderAddr::parse("a/x", Flavor::Terraform1_11).unwrap();
        let file = crate::diag::Texts::default().add("main.tf", Vec::new());
        let place = |text: &&str| Requirement {
            constraints: Arc::new(Constraints::parse_lock(text).unwrap()),
            module: ModulePath::default(),
            origin: RequirementOrigin::RequiredProviders,
            file,
            span: Span::default(),
        };
        let places = written.iter().map(place).collect();
        let requirements = Requirements {
            providers: [(provider.clone(), places)].into(),
            ..Requirements::default()
        };
        (provider, requirements)
    }

    fn texts(places: &[&Requirement]) -> Vec<String> {
        let texts = places.iter().map(|place| place.constraints.to_string());
        texts.collect()
    }

    #[track_caller]
    fn check(written: &[&str], clashing: &[&str]) {
        let (provider, requirements) = required(written);
        let found = texts(&requirements.clash(&provider));
        assert_eq!(found, clashing, "of {written:?}");
    }

    #[track_caller]
    fn check_over(written: &[&str], offered: &[&str], clashing: &[&str]) {
        let (provider, requirements) = required(written);
        let offered = offered.iter().map(|one| one.parse().expect("a version"));
        let offered: Vec<_> = offered.collect();
        let found = texts(&requirements.clash_over(&provider, &offered));
        assert_eq!(found, clashing, "of {written:?} over {offered:?}");
        assert_eq!(
            clashing.is_empty(),
            requirements
                .constraints(&provider)
                .newest(offered.iter())
                .is_some()
                || offered.iter().all(|one| one.is_prerelease()),
        );
    }

    #[test]
    fn a_clash_names_as_few_places_as_possible() {
        check(&["~> 1.0", ">= 1.2", "", "!= 1.3.0"], &[]);
        check(&["", "~> 1.0", ">= 1.2", ">= 2.0"], &["~> 1.0", ">= 2.0.0"]);
        check(
            &["> 1.0.0", "< 1.0.2", "!= 1.0.1"],
            &["> 1.0.0", "< 1.0.2", "!= 1.0.1"],
        );
        check(&[">= 1", "> 2, < 1", "1.0.0"], &["< 1.0.0, > 2.0.0"]);
        check(&["1.0.0-beta1", ">= 1.0.0-alpha"], &[]);
        check(&["1.0.0", "2.0.0", "1.0.0"], &["1.0.0", "2.0.0"]);
        check(
            &["< 2", "< 3", ">= 1", ">= 4", ">= 5", "!= 6.0.0", "< 4.0.1"],
            &[">= 5.0.0", "< 4.0.1"],
        );
        check(
            &["1.0.0", "!= 1.0.0", "> 1.0.0", "< 1.0.2", "!= 1.0.1"],
            &["1.0.0", "!= 1.0.0"],
        );
    }

    #[test]
    fn a_clash_over_what_is_offered_blames_only_what_excludes_it() {
        let offered = &["1.0.0", "1.1.0", "2.0.0"];
        check_over(&[">= 1.0", "", "< 2"], offered, &[]);
        check_over(&["< 3", ">= 2.1", "!= 1.0.0"], offered, &[">= 2.1.0"]);
        check_over(
            &["> 1.1.0", "!= 7.0.0", "< 2"],
            offered,
            &["> 1.1.0", "< 2.0.0"],
        );
        check_over(
            &["!= 2.0.0", "!= 1.0.0", "> 0.1.0", "!= 1.1.0"],
            offered,
            &["!= 2.0.0", "!= 1.0.0", "!= 1.1.0"],
        );
        // A pre-release counts for all places as soon as one names it.
        check_over(&["> 1.0.0", "2.0.0-rc1"], &["1.0.0", "2.0.0-rc1"], &[]);
        check_over(&["> 1.0.0"], &["1.0.0", "2.0.0-rc1"], &["> 1.0.0"]);
        check_over(&["> 1.0.0"], &["2.0.0-rc1"], &[]);
    }

    #[test]
    fn many_conditions_end_in_a_clash_soon() {
        let holes: Vec<String> = (0..400).map(|n| format!("!= 1.0.{n}")).collect();
        let mut written: Vec<&str> = holes.iter().map(String::as_str).collect();
        written.extend([">= 1.0", "< 1.0.400"]);
        let (provider, requirements) = required(&written);
        assert_eq!(requirements.clash(&provider).len(), 402);
    }

    #[test]
    fn places_that_exclude_a_version_are_named_once() {
        let (provider, requirements) = required(&["< 2", "< 2", ">= 1"]);
        let found = requirements.excluding(&provider, &"2.0.0".parse().expect("a version"));
        // Both have the same place here, as those of a module have that is called twice.
        assert_eq!(texts(&found), ["< 2.0.0"]);
    }

    #[test]
    fn terms_of_unseen_modules_stay_recorded() {
        let provider = ProviderAddr::parse("a/x", Flavor::Terraform1_11).unwrap();
        let file = crate::diag::Texts::default().add("main.tf", Vec::new());
        let set = |text| Constraints::parse_lock(text).unwrap();
        let place = Requirement {
            constraints: Arc::new(set("~> 1.1")),
            module: ModulePath::default(),
            origin: RequirementOrigin::RequiredProviders,
            file,
            span: Span::default(),
        };
        let mut requirements = Requirements {
            providers: [(provider.clone(), vec![place])].into(),
            ..Requirements::default()
        };
        let recorded = set("< 3.0.0");
        let now = |requirements: &Requirements| requirements.to_record(&provider, &recorded);
        assert_eq!(now(&requirements), set("~> 1.1"));
        requirements.unseen_calls.push(UnseenCall {
            module: ModulePath::default(),
            ways: 1,
            source: "a/b/c".to_owned(),
            reason: UnseenReason::NotHere,
            file,
            span: Span::default(),
        });
        assert_eq!(now(&requirements), set("~> 1.1, < 3.0.0"));
    }

    #[test]
    fn a_requirement_that_nothing_can_meet_is_refused_under_the_title_of_the_program() {
        let title = |source: &str, constraints: &str, flavor| {
            let provider = ProviderAddr::parse(source, flavor).unwrap();
            let constraints = Constraints::parse_lock(constraints).unwrap();
            Refusal::of(&provider, &constraints, flavor).map(Refusal::title)
        };
        let terraform = Flavor::Terraform1_11;
        let builtin = Some("Invalid dependency on built-in provider");
        assert_eq!(title("hashicorp/aws", "", terraform), None);
        assert_eq!(title("terraform.io/builtin/terraform", "", terraform), None);
        assert_eq!(title("terraform.io/builtin/other", "", terraform), builtin);
        assert_eq!(
            title("terraform.io/builtin/terraform", "1.0", terraform),
            builtin
        );
        assert_eq!(
            title("-/aws", "", terraform),
            Some("Invalid legacy provider address")
        );
        assert_eq!(
            title("a\u{3002}b/x", "", terraform),
            Some("Invalid provider namespace")
        );
        assert_eq!(
            title("a/x\u{3002}y", "", terraform),
            Some("Invalid provider type")
        );
        assert_eq!(
            title("terraform-x", "", terraform),
            Some("Invalid provider type")
        );
    }
}
