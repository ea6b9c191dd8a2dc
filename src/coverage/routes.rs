//! What `init`, `plan` and `validate` will make of what a lock file holds.
//!
//! It follows rules 2 to 4, which rest on `hash` rules 3 and on `lockfile` rules 4 and 5.
//! Every provider is looked at by itself: one that fails stops the run for all, and one that rewrites
//! rewrites the file of all.

use std::borrow::Cow;

use super::held::{Guess, Held, HeldEntry, Machine, MachineSource, Need, NeededBy, Recorded, Zh};
use crate::flavor::Flavor;

/// A way by which a program meets a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Route {
    /// `init`, downloading from a registry that signs its checksums.
    Registry,
    /// `init`, from a filesystem mirror of unpacked packages.
    UnpackedMirror,
    /// `init`, from a filesystem mirror of zips.
    PackedMirror,
    /// `init`, downloading, with a plugin cache directory that holds the package.
    PluginCache,
    /// `init -lockfile=readonly`, downloading.
    Readonly,
    /// `plan`, with the right package installed.
    Plan,
    /// `plan` after `init -lockfile=readonly`.
    PlanAfterInit,
    /// `validate`, with the right package installed.
    Validate,
    /// `init` in this root, with what is installed, configured and cached now.
    Here,
    /// `plan` in this root, with what is installed now.
    HerePlan,
}

/// What happens by a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It succeeds and changes no file.
    Passes,
    /// It succeeds with a warning and leaves the lock file as it is, although it would change it.
    Warns,
    /// It succeeds and changes the lock file.
    Rewrites,
    /// It fails and changes no file.
    Fails,
}

/// What happens by one route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The way.
    pub route: Route,
    /// What happens.
    pub outcome: Outcome,
    /// The title of the warning or error that the program prints, if there is one; `…` stands for
    /// words that differ from provider to provider, and others may follow.
    pub title: Option<Cow<'static, str>>,
    /// The package is compared with nothing.
    pub unchecked: bool,
    /// It depends on something that is unknown here, and could be different.
    pub assumed: bool,
}

impl Route {
    /// All routes but those that depend on this machine, in the order of the matrix.
    pub const ALL: [Self; 8] = [
        Self::Registry,
        Self::UnpackedMirror,
        Self::PackedMirror,
        Self::PluginCache,
        Self::Readonly,
        Self::Plan,
        Self::PlanAfterInit,
        Self::Validate,
    ];

    /// The routes that depend on this machine.
    pub const HERE: [Self; 2] = [Self::Here, Self::HerePlan];

    /// Returns the command that takes it, as in `init`.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self {
            Self::Plan | Self::PlanAfterInit | Self::HerePlan => "plan",
            Self::Validate => "validate",
            _ => "init",
        }
    }

    /// Returns what follows the command in a sentence.
    #[must_use]
    pub fn way(self) -> &'static str {
        match self {
            Self::Registry => "from a registry",
            Self::UnpackedMirror => "from an unpacked mirror",
            Self::PackedMirror => "from a packed mirror",
            Self::PluginCache => "with a plugin cache",
            Self::Readonly => "with -lockfile=readonly",
            Self::Plan | Self::Validate => "with the package installed",
            Self::PlanAfterInit => "after a read-only init",
            Self::Here | Self::HerePlan => "in this root as it is now",
        }
    }
}

impl Prediction {
    /// Returns whether the program reports this after what is wrong with packages: the verdict on the lock
    /// file comes last (rules 3.1, 4.7).
    #[must_use]
    pub fn is_about_entries(&self) -> bool {
        let title = self.title.as_deref();
        title.is_some_and(|title| [ENTRIES_CHANGE, INCONSISTENT].contains(&title))
    }
}

impl Outcome {
    /// Returns the word of tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Warns => "warns",
            Self::Rewrites => "rewrites",
            Self::Fails => "fails",
        }
    }
}

/// The title of a package that `init` refuses.
const NOT_INSTALLED: &str = "Failed to install provider";
/// Terraform's title of a cached package that it may use unseen, and whose hash is not recorded.
const NOT_SHARED: &str = "Failed to install provider from shared cache";
/// The title where the only source has the version, and no package for this platform.
const NO_PLATFORM: &str = "Incompatible provider version";
/// The title of a package that `plan` finds missing; Terraform's also for one that does not match.
const NOT_THERE: &str = "Required plugins are not installed";
/// OpenTofu's title where `plan` finds a package that does not match; it goes on with the address.
const NO_SCHEMA: &str = "failed to read provider configuration schema";
/// What `validate` says of a package that does not match, with the address before and in it.
const MISMATCH: &str =
    "the cached package … does not match any of the checksums recorded in the dependency lock file";
/// The title where `plan` misses an entry, or does not allow its version.
const INCONSISTENT: &str = "Inconsistent dependency lock file";
/// The title where `validate` misses an entry, or `plan` misses one that only the state needs.
const NO_ENTRY: &str = "Missing required provider";
/// The title where a read-only `init` would add or remove an entry.
const ENTRIES_CHANGE: &str = "Provider dependency changes detected";
/// The title where a read-only `init` would change the hashes of an entry.
const NOT_UPDATED: &str = "Provider lock file not updated";
/// The title where `init` writes an entry with nothing but hashes that it computed.
const INCOMPLETE: &str = "Incomplete lock file information for providers";
/// OpenTofu's title where it reads one entry out of another.
const CARRIED_OVER: &str = "Dependency lock file entries automatically updated";
/// What titles begin with where the lock file cannot be read.
const UNREADABLE: &str = "failed to read dependency lock file";

/// The source that a package comes from, as far as hashes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Zips, with a signed list of checksums.
    Signed,
    /// Zips of a mirror.
    Zips,
    /// Zips of which OpenTofu compares the digest before it downloads them (`hash` rules 3.6).
    OciZips,
    /// Directories of a mirror.
    Directories,
    /// Linked from the plugin cache.
    Cache,
}

/// What `init` makes of an entry whose version fits.
enum Install {
    Refused,
    Accepted { unchecked: bool, changes: bool },
}

/// What a route comes to: [`Prediction`] without the route.
struct Verdict {
    outcome: Outcome,
    title: Option<&'static str>,
    unchecked: bool,
    assumed: bool,
}

/// Predicts what each route does, in the order of [`Route::ALL`].
#[must_use]
pub fn predict(held: &Held, flavor: Flavor) -> Vec<Prediction> {
    let prediction = |route| {
        let verdict = match route {
            Route::Registry => init(held, Source::Signed, flavor),
            Route::UnpackedMirror => init(held, Source::Directories, flavor),
            Route::PackedMirror => init(held, Source::Zips, flavor),
            Route::PluginCache => init(held, through_cache(held), flavor),
            Route::Readonly => readonly(held, flavor),
            Route::Plan => plan(held, flavor),
            Route::PlanAfterInit => plan_after_init(held, flavor),
            // The last two are none of those, and have a function of their own.
            Route::Validate | Route::Here | Route::HerePlan => validate(held, flavor),
        };
        verdict.of(route)
    };
    Route::ALL.map(prediction).into()
}

/// Predicts what `init` and `plan` do in a root with what this machine has (rules 5).
#[must_use]
pub fn predict_here(held: &Held, machine: Machine, flavor: Flavor) -> Vec<Prediction> {
    vec![
        init_here(held, machine, flavor).of(Route::Here),
        plan_here(held, machine, flavor).of(Route::HerePlan),
    ]
}

fn init_here(held: &Held, machine: Machine, flavor: Flavor) -> Verdict {
    let source = match machine.source {
        MachineSource::Registry => Source::Signed,
        MachineSource::Zips => Source::Zips,
        MachineSource::OciZips => Source::OciZips,
        MachineSource::Directories => Source::Directories,
        MachineSource::NoVersion | MachineSource::NoPlatform => Source::Signed,
    };
    match held {
        Held::HeldEntry(entry) if entry.need == Need::Fits => {
            let asks_nothing = flavor.is_opentofu() && machine.cached == Some(true);
            let is_doubtful = machine.is_doubtful && !asks_nothing;
            install_here(entry, machine, source, flavor).assumed_if(is_doubtful)
        }
        // Nothing is installed for it.
        Held::HeldEntry(_) | Held::Version { fits: false, .. } => init(held, source, flavor),
        Held::Nothing(_) | Held::Version { .. } => match machine.source {
            MachineSource::NoVersion => Verdict::fails(flavor.no_version_title()),
            MachineSource::NoPlatform => Verdict::fails(NO_PLATFORM),
            _ => init(held, source, flavor).assumed_if(machine.is_doubtful),
        },
    }
}

/// What `init` makes of an entry whose version fits.
fn install_here(entry: &HeldEntry, machine: Machine, source: Source, flavor: Flavor) -> Verdict {
    let held = &Held::HeldEntry(*entry);
    let is_linked = machine.cached == Some(true);
    // Where packages come from is looked at first, whatever is installed; but OpenTofu asks no source
    // for what it has in the cache.
    match machine.source {
        _ if is_linked && flavor.is_opentofu() => {}
        MachineSource::NoVersion => return Verdict::fails(flavor.no_version_title()),
        MachineSource::NoPlatform => return Verdict::fails(NO_PLATFORM),
        _ => {}
    }
    match machine.installed {
        Some(true) if entry.has_twin => Verdict::new(Outcome::Rewrites, CARRIED_OVER),
        Some(true) if entry.hashes.in_order => Verdict::new(Outcome::Passes, None),
        Some(true) => Verdict::new(Outcome::Rewrites, None),
        // OpenTofu does not unpack over another package.
        Some(false) if flavor.is_opentofu() && entry.hashes.own_h1 => {
            Verdict::fails(NOT_INSTALLED).assumed_if(is_linked)
        }
        // What is installed may be that package.
        Some(false) if flavor.is_opentofu() => {
            let fetched = init(held, source, flavor);
            let fails = fetched.outcome == Outcome::Fails;
            fetched.assumed_if(!fails)
        }
        _ => match machine.cached {
            Some(true) => init(&machine.with(entry, true), Source::Cache, flavor),
            Some(false) => past_cache(entry, machine, source, flavor),
            None => init(held, source, flavor),
        },
    }
}

/// What `init` makes of an entry that does not record the hash of the cached package.
fn past_cache(entry: &HeldEntry, machine: Machine, source: Source, flavor: Flavor) -> Verdict {
    if !flavor.is_opentofu() && machine.cache_may_break {
        return match entry.hashes.is_blind() {
            true => Verdict::new(Outcome::Rewrites, INCOMPLETE).unchecked(true),
            false => Verdict::fails(NOT_SHARED),
        };
    }
    let fetched = init(&Held::HeldEntry(*entry), source, flavor);
    // What is fetched takes the place of what is cached; whether the two differ is not known where
    // the hash of neither is recorded.
    let is_doubtful = match (flavor.is_opentofu(), fetched.outcome, source) {
        (_, Outcome::Fails, _) => false,
        (true, ..) if entry.hashes.own_h1 => return Verdict::fails(NOT_INSTALLED),
        (true, ..) => true,
        // Terraform unpacks over what is there: files that are not replaced change the hash.
        (false, Outcome::Passes, Source::Signed | Source::Zips) => true,
        (false, ..) => false,
    };
    fetched.assumed_if(is_doubtful)
}

fn plan_here(held: &Held, machine: Machine, flavor: Flavor) -> Verdict {
    match (held, machine.installed) {
        (Held::HeldEntry(_), None) => Verdict::fails(NOT_THERE),
        (Held::HeldEntry(entry), Some(is_recorded)) => {
            plan(&machine.with(entry, is_recorded), flavor)
        }
        _ => plan(held, flavor),
    }
}

/// Predicts what each route does where not everything is known: what is most likely, marked where
/// another case would come out otherwise.
#[must_use]
pub fn predict_guess(guess: &Guess<Held>, flavor: Flavor) -> Vec<Prediction> {
    of_guess(guess, |held| predict(held, flavor))
}

/// Predicts as [`predict_here`] does where not everything is known.
#[must_use]
pub fn predict_guess_here(
    guess: &Guess<Held>,
    machine: Machine,
    flavor: Flavor,
) -> Vec<Prediction> {
    of_guess(guess, |held| predict_here(held, machine, flavor))
}

fn of_guess(guess: &Guess<Held>, predict: impl Fn(&Held) -> Vec<Prediction>) -> Vec<Prediction> {
    let mut predictions = predict(&guess.likely);
    for other in &guess.otherwise {
        for (likely, other) in predictions.iter_mut().zip(predict(other)) {
            likely.assumed |= other.assumed;
            let same = likely.outcome == other.outcome && likely.title == other.title;
            likely.assumed |= !same;
        }
    }
    predictions
}

/// Predicts what each route does with a lock file that cannot be read; `titles` are those of its
/// errors, in the order of the file (`lockfile` rules 3.1).
#[must_use]
pub fn predict_unreadable(titles: &[&str], flavor: Flavor, routes: &[Route]) -> Vec<Prediction> {
    let prediction = |&route: &Route| {
        let by_itself = flavor.reports_lock_errors_singly() && route != Route::Validate;
        let title = match titles.first() {
            Some(first) if by_itself => Cow::Owned((*first).to_owned()),
            _ => Cow::Borrowed(UNREADABLE),
        };
        Prediction {
            route,
            outcome: Outcome::Fails,
            title: Some(title),
            unchecked: false,
            assumed: false,
        }
    };
    routes.iter().map(prediction).collect()
}

impl Verdict {
    fn of(self, route: Route) -> Prediction {
        Prediction {
            route,
            outcome: self.outcome,
            title: self.title.map(Cow::Borrowed),
            unchecked: self.unchecked,
            assumed: self.assumed,
        }
    }

    fn new(outcome: Outcome, title: impl Into<Option<&'static str>>) -> Self {
        Self {
            outcome,
            title: title.into(),
            unchecked: false,
            assumed: false,
        }
    }

    fn fails(title: &'static str) -> Self {
        Self::new(Outcome::Fails, title)
    }

    fn unchecked(self, unchecked: bool) -> Self {
        Self { unchecked, ..self }
    }

    fn assumed_if(self, is_doubtful: bool) -> Self {
        Self {
            assumed: self.assumed || is_doubtful,
            ..self
        }
    }
}

/// A package is linked from the cache only if its `h1:` is recorded (`cliconfig` rules 6.1).
fn through_cache(held: &Held) -> Source {
    match held {
        Held::HeldEntry(entry) if entry.hashes.own_h1 => Source::Cache,
        _ => Source::Signed,
    }
}

fn init(held: &Held, source: Source, flavor: Flavor) -> Verdict {
    let signed = source == Source::Signed;
    let incomplete = (!signed).then_some(INCOMPLETE);
    match held {
        Held::Nothing(_) => Verdict::new(Outcome::Rewrites, incomplete).unchecked(true),
        Held::Version { fits: true, .. } => {
            Verdict::new(Outcome::Rewrites, CARRIED_OVER).unchecked(true)
        }
        Held::Version { fits: false, .. } => Verdict::fails(flavor.no_version_title()),
        Held::HeldEntry(entry) => match entry.need {
            Need::NotRequired => {
                let title = entry.has_twin.then_some(CARRIED_OVER);
                Verdict::new(Outcome::Rewrites, title)
            }
            Need::Outside | Need::OutsideInTests => Verdict::fails(flavor.no_version_title()),
            Need::Fits => match install(&entry.hashes, source) {
                Install::Refused => Verdict::fails(NOT_INSTALLED),
                Install::Accepted { unchecked, .. } if entry.has_twin => {
                    Verdict::new(Outcome::Rewrites, CARRIED_OVER).unchecked(unchecked)
                }
                Install::Accepted {
                    unchecked,
                    changes: true,
                } => {
                    let knew_no_other = !entry.hashes.other_h1 && entry.hashes.zh == Zh::None;
                    let title = incomplete.filter(|_| knew_no_other);
                    Verdict::new(Outcome::Rewrites, title).unchecked(unchecked)
                }
                Install::Accepted { unchecked, .. } => {
                    Verdict::new(Outcome::Passes, None).unchecked(unchecked)
                }
            },
        },
    }
}

/// The table of `hash` rules 3.5, and what is recorded then (`sources` rules 9).
fn install(hashes: &Recorded, source: Source) -> Install {
    let blind = hashes.is_blind();
    let own_zh = matches!(hashes.zh, Zh::Release | Zh::Own);
    let (accepted, unchecked) = match source {
        Source::Signed | Source::Zips => (blind || hashes.own_h1 || own_zh, blind),
        Source::OciZips => (blind || own_zh, blind),
        Source::Cache => (hashes.own_h1, false),
        // Only h1 can be compared with a directory; without any it is taken as it is.
        Source::Directories => {
            let no_h1 = !hashes.own_h1 && !hashes.other_h1;
            (hashes.own_h1 || no_h1, no_h1)
        }
    };
    if !accepted {
        return Install::Refused;
    }
    let signed = source == Source::Signed;
    let lists_more = signed && (hashes.zh != Zh::Release || hashes.lacks_stated);
    let changes = !hashes.own_h1 || hashes.unknown_schemes || !hashes.in_order || lists_more;
    Install::Accepted { unchecked, changes }
}

fn readonly(held: &Held, flavor: Flavor) -> Verdict {
    let changed = match held {
        Held::Nothing(_) | Held::Version { fits: true, .. } => {
            return Verdict::fails(ENTRIES_CHANGE);
        }
        Held::Version { fits: false, .. } => return Verdict::fails(flavor.no_version_title()),
        Held::HeldEntry(entry) => match entry.need {
            Need::NotRequired => return Verdict::fails(ENTRIES_CHANGE),
            Need::Outside | Need::OutsideInTests => {
                return Verdict::fails(flavor.no_version_title());
            }
            Need::Fits => install(&entry.hashes, Source::Signed),
        },
    };
    let has_twin = matches!(held, Held::HeldEntry(entry) if entry.has_twin);
    match changed {
        Install::Refused => Verdict::fails(NOT_INSTALLED),
        // The verdict on the file comes last.
        Install::Accepted { .. } if has_twin => Verdict::fails(ENTRIES_CHANGE),
        Install::Accepted {
            unchecked,
            changes: true,
        } => Verdict::new(Outcome::Warns, NOT_UPDATED).unchecked(unchecked),
        Install::Accepted { unchecked, .. } => {
            Verdict::new(Outcome::Passes, None).unchecked(unchecked)
        }
    }
}

/// What a command makes of an installed package: only `h1:` can match.
fn installed(hashes: &Recorded, mismatch: &'static str) -> Verdict {
    if hashes.own_h1 || hashes.is_blind() {
        Verdict::new(Outcome::Passes, None).unchecked(hashes.is_blind())
    } else {
        Verdict::fails(mismatch)
    }
}

/// Returns the title of a package that `plan` finds changed.
fn plan_mismatch(flavor: Flavor) -> &'static str {
    if flavor.is_opentofu() {
        NO_SCHEMA
    } else {
        NOT_THERE
    }
}

fn plan(held: &Held, flavor: Flavor) -> Verdict {
    let entry = match held {
        Held::Nothing(by) => return plan_without_entry(*by),
        Held::Version { .. } => return Verdict::fails(INCONSISTENT),
        Held::HeldEntry(entry) => entry,
    };
    let outside = Verdict::fails(INCONSISTENT);
    let package = installed(&entry.hashes, plan_mismatch(flavor));
    match (entry.need, flavor.is_opentofu()) {
        (Need::Fits | Need::OutsideInTests, _) if entry.by.plan() => package,
        // Terraform looks at all packages first, OpenTofu when it starts them.
        (Need::Outside, false) if package.outcome == Outcome::Fails => package,
        (Need::Outside, _) => outside,
        (Need::NotRequired | Need::Fits | Need::OutsideInTests, _) => unused(package, flavor),
    }
}

/// What `plan` makes of a provider that has no entry.
fn plan_without_entry(by: NeededBy) -> Verdict {
    match by {
        NeededBy {
            configuration: true,
            ..
        } => Verdict::fails(INCONSISTENT),
        NeededBy { state: true, .. } => Verdict::fails(NO_ENTRY),
        _ => Verdict::new(Outcome::Passes, None),
    }
}

fn validate(held: &Held, flavor: Flavor) -> Verdict {
    let entry = match held {
        Held::Nothing(by) if !by.validate() => return Verdict::new(Outcome::Passes, None),
        Held::Nothing(_) | Held::Version { .. } => return Verdict::fails(NO_ENTRY),
        Held::HeldEntry(entry) => entry,
    };
    let package = installed(&entry.hashes, MISMATCH);
    match entry.need {
        // Whether the version is allowed is not looked at.
        Need::Fits | Need::Outside | Need::OutsideInTests if entry.by.validate() => package,
        _ => unused(package, flavor),
    }
}

/// What comes of an entry that nothing uses: Terraform compares its package, too.
fn unused(package: Verdict, flavor: Flavor) -> Verdict {
    if flavor.is_opentofu() {
        Verdict::new(Outcome::Passes, None).unchecked(true)
    } else {
        package
    }
}

/// A read-only `init` that fails has installed packages, but for those that it refuses or does
/// not look for.
fn plan_after_init(held: &Held, flavor: Flavor) -> Verdict {
    match held {
        Held::Nothing(by) => plan_without_entry(*by),
        Held::Version {
            fits: true,
            other_stays: true,
        } => Verdict::fails(INCONSISTENT),
        // The entry that the version was taken from is not installed.
        Held::Version { .. } => Verdict::fails(NOT_THERE),
        Held::HeldEntry(entry) => match (entry.need, install(&entry.hashes, Source::Signed)) {
            (Need::Fits, Install::Accepted { .. }) => plan(held, flavor),
            _ => Verdict::fails(NOT_THERE),
        },
    }
}
