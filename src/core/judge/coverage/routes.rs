//! Predictions of `init` and `plan` with a lock file.
//!
//! They follow rules 2 to 4, which rest on `hash` rules 3 and on `lockfile` rules 4 and 5.
//! Every provider is looked at by itself: one that fails stops the run for all, and one that rewrites
//! rewrites the file of all.

use std::borrow::Cow;

use super::state::{EntryHashes, EntryNeed, Guess, LockState, NeededBy, Zh};
use crate::flavor::Flavor;

/// A command with a source of packages, where a program reads a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// `init`, downloading from a registry that signs its checksums.
    Registry,
    /// `init`, from a filesystem mirror of unpacked packages.
    UnpackedMirror,
    /// `init`, downloading, with a plugin cache directory that holds the package.
    PluginCache,
    /// `init -lockfile=readonly`, downloading from a registry.
    Readonly,
    /// `init` in this root, with what is installed, configured and cached now.
    Here,
    /// `plan` in this root, with what is installed now.
    HerePlan,
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The command succeeds and changes no file.
    Passes,
    /// The command succeeds with a warning and leaves the lock file as it is, although it would change it.
    Warns,
    /// The command succeeds and changes the lock file.
    Rewrites,
    /// The command fails and changes no file.
    Fails,
}

/// The predicted outcome of one route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prediction {
    /// The route of the package.
    pub route: Route,
    /// The outcome for the user.
    pub outcome: Outcome,
    /// The title of the warning or error that the program prints, if it prints one.
    // `…` replaces words that depend on the provider, and others may follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Cow<'static, str>>,
    /// Nothing is recorded that the package could be compared with.
    pub unchecked: bool,
    /// Not certain, because the platforms of the recorded hashes, the statements of the registry, or other
    /// requirements are unknown; too few hashes count as missing.
    pub assumed: bool,
}

impl Route {
    /// All routes but those that depend on this machine, in the order of the matrix.
    pub const ALL: [Self; 4] = [
        Self::Registry,
        Self::UnpackedMirror,
        Self::PluginCache,
        Self::Readonly,
    ];

    /// The routes that depend on this machine.
    pub const HERE: [Self; 2] = [Self::Here, Self::HerePlan];

    /// Returns the command that takes it, as in `init`.
    #[must_use]
    pub fn command(self) -> &'static str {
        match self {
            Self::HerePlan => "plan",
            _ => "init",
        }
    }

    /// Returns what follows the command in a sentence.
    #[must_use]
    pub fn way(self) -> &'static str {
        match self {
            Self::Registry => "from a registry",
            Self::UnpackedMirror => "from an unpacked mirror",
            Self::PluginCache => "with a plugin cache",
            Self::Readonly => "with -lockfile=readonly",
            Self::Here | Self::HerePlan => "in this root as it is now",
        }
    }
}

impl Prediction {
    /// Returns true if the program reports this after faults of packages: the verdict on the lock file comes
    /// last (rules 3.1, 4.7).
    #[must_use]
    pub fn is_about_entries(&self) -> bool {
        self.title
            .as_deref()
            .is_some_and(|title| [ENTRIES_CHANGE, INCONSISTENT].contains(&title))
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
pub(super) const NOT_INSTALLED: &str = "Failed to install provider";
/// Terraform's title of a cached package that it may use unseen, and whose hash is not recorded.
pub(super) const NOT_SHARED: &str = "Failed to install provider from shared cache";
/// The title where the only source has the version, and no package for this platform.
pub(super) const NO_PLATFORM: &str = "Incompatible provider version";
/// The title of a package that `plan` finds missing; Terraform's also for one that does not match.
pub(super) const NOT_THERE: &str = "Required plugins are not installed";
/// OpenTofu's title where `plan` finds a package that does not match; it goes on with the address.
const NO_SCHEMA: &str = "failed to read provider configuration schema";
/// The title where `plan` misses an entry, or does not allow its version.
const INCONSISTENT: &str = "Inconsistent dependency lock file";
/// The title where `plan` misses an entry that only the state needs.
const NO_ENTRY: &str = "Missing required provider";
/// The title where a read-only `init` would add or remove an entry.
const ENTRIES_CHANGE: &str = "Provider dependency changes detected";
/// The title where a read-only `init` would change the hashes of an entry.
const NOT_UPDATED: &str = "Provider lock file not updated";
/// The title where `init` writes an entry with nothing but hashes that it computed.
pub(super) const INCOMPLETE: &str = "Incomplete lock file information for providers";
/// OpenTofu's title where it reads one entry out of another.
pub(super) const CARRIED_OVER: &str = "Dependency lock file entries automatically updated";
/// The beginning of titles where the lock file cannot be read.
const UNREADABLE: &str = "failed to read dependency lock file";

/// The kind of source that a package comes from, by the hashes that it has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageKind {
    /// Zips, with a signed list of checksums.
    Signed,
    /// Zips of a mirror.
    Zips,
    /// Zips from a registry of OCI artifacts: OpenTofu compares the digest before the download (`hash` rules
    /// 3.6).
    OciZips,
    /// Directories of a mirror.
    Directories,
    /// Linked from the plugin cache.
    Cache,
}

/// The result of comparing a package with an entry whose version fits.
enum Install {
    Refused,
    Accepted { unchecked: bool, changes: bool },
}

/// A [`Prediction`] without the route.
pub(super) struct RouteVerdict {
    pub(super) outcome: Outcome,
    pub(super) title: Option<&'static str>,
    pub(super) unchecked: bool,
    pub(super) assumed: bool,
}

/// Predicts what each route does, in the order of [`Route::ALL`].
#[must_use]
pub fn predict(state: &LockState, flavor: Flavor) -> Vec<Prediction> {
    let prediction = |route| {
        let verdict = match route {
            Route::Registry => init(state, PackageKind::Signed, flavor),
            Route::UnpackedMirror => init(state, PackageKind::Directories, flavor),
            // A package is linked from the cache only if its `h1:` is recorded (`cliconfig` rules 6.1).
            Route::PluginCache => match state {
                LockState::EntryState(entry) if entry.hashes.own_h1 => {
                    init(state, PackageKind::Cache, flavor)
                }
                _ => init(state, PackageKind::Signed, flavor),
            },
            // The last two are none of those, and have a function of their own.
            Route::Readonly | Route::Here | Route::HerePlan => readonly(state, flavor),
        };
        verdict.of(route)
    };
    Route::ALL.map(prediction).into()
}

/// Predicts what each route does where not everything is known: what is most likely, marked where
/// another case would come out otherwise.
#[must_use]
pub fn predict_guess(guess: &Guess<LockState>, flavor: Flavor) -> Vec<Prediction> {
    of_guess(guess, |state| predict(state, flavor))
}

/// Predicts the likely case and marks each route where another case differs.
pub(super) fn of_guess(
    guess: &Guess<LockState>,
    predict: impl Fn(&LockState) -> Vec<Prediction>,
) -> Vec<Prediction> {
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
        let title = match titles.first() {
            // Some programs print each error by itself, the others all of them under one title.
            Some(first) if flavor.reports_lock_errors_singly() => Cow::Owned((*first).to_owned()),
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

impl RouteVerdict {
    pub(super) fn of(self, route: Route) -> Prediction {
        Prediction {
            route,
            outcome: self.outcome,
            title: self.title.map(Cow::Borrowed),
            unchecked: self.unchecked,
            assumed: self.assumed,
        }
    }

    pub(super) fn new(outcome: Outcome, title: impl Into<Option<&'static str>>) -> Self {
        Self {
            outcome,
            title: title.into(),
            unchecked: false,
            assumed: false,
        }
    }

    pub(super) fn fails(title: &'static str) -> Self {
        Self::new(Outcome::Fails, title)
    }

    pub(super) fn unchecked(self, unchecked: bool) -> Self {
        Self { unchecked, ..self }
    }

    pub(super) fn assumed_if(self, is_doubtful: bool) -> Self {
        Self {
            assumed: self.assumed || is_doubtful,
            ..self
        }
    }
}

pub(super) fn init(state: &LockState, source: PackageKind, flavor: Flavor) -> RouteVerdict {
    // A signed list holds the hashes of all platforms, so `init` has nothing to warn of (rules 2.5).
    let incomplete = (source != PackageKind::Signed).then_some(INCOMPLETE);
    match state {
        LockState::Nothing(_) => RouteVerdict::new(Outcome::Rewrites, incomplete).unchecked(true),
        LockState::Version { fits: true, .. } => {
            // OpenTofu takes the version of an entry of Terraform's registry, and none of its hashes: the
            // package is compared with nothing (rules 2.8).
            RouteVerdict::new(Outcome::Rewrites, CARRIED_OVER).unchecked(true)
        }
        // The locked version is the only candidate, so that this is an error before any request (`resolve`
        // rules 1.2, 1.4).
        LockState::Version { fits: false, .. } => RouteVerdict::fails(flavor.no_version_title()),
        LockState::EntryState(entry) => match entry.need {
            // `init` removes the entry and compares its hashes with nothing (rules 2.1).
            EntryNeed::NotRequired => {
                let title = entry.has_twin.then_some(CARRIED_OVER);
                RouteVerdict::new(Outcome::Rewrites, title)
            }
            EntryNeed::Outside | EntryNeed::OutsideForInit => {
                RouteVerdict::fails(flavor.no_version_title())
            }
            EntryNeed::Fits => match install(&entry.hashes, source) {
                // The file stays as it is, although other providers may be installed by then (rules 2.2).
                Install::Refused => RouteVerdict::fails(NOT_INSTALLED),
                Install::Accepted { unchecked, .. } if entry.has_twin => {
                    RouteVerdict::new(Outcome::Rewrites, CARRIED_OVER).unchecked(unchecked)
                }
                Install::Accepted {
                    unchecked,
                    changes: true,
                } => {
                    // `init` warns only if the old entry had no hashes, or exactly the one `h1:` that was just
                    // computed (rules 2.5).
                    let knew_no_other = !entry.hashes.other_h1 && entry.hashes.zh == Zh::None;
                    let title = incomplete.filter(|_| knew_no_other);
                    RouteVerdict::new(Outcome::Rewrites, title).unchecked(unchecked)
                }
                Install::Accepted { unchecked, .. } => {
                    RouteVerdict::new(Outcome::Passes, None).unchecked(unchecked)
                }
            },
        },
    }
}

/// The table of `hash` rules 3.5, and what is recorded then (`sources` rules 9).
fn install(hashes: &EntryHashes, source: PackageKind) -> Install {
    let blind = hashes.is_blind();
    let own_zh = matches!(hashes.zh, Zh::Release | Zh::Own);
    let (accepted, unchecked) = match source {
        PackageKind::Signed | PackageKind::Zips => (blind || hashes.own_h1 || own_zh, blind),
        // OpenTofu refuses the digest before the download, when no `h1:` can be computed (`hash` rules 3.6).
        PackageKind::OciZips => (blind || own_zh, blind),
        PackageKind::Cache => (hashes.own_h1, false),
        // Only `h1:` can be compared with a directory; without any it is accepted as it is.
        PackageKind::Directories => {
            let no_h1 = !hashes.own_h1 && !hashes.other_h1;
            (hashes.own_h1 || no_h1, no_h1)
        }
    };
    if !accepted {
        return Install::Refused;
    }
    let signed = source == PackageKind::Signed;
    // Only a registry adds hashes that the entry lacks (rules 2.3, 2.4); a mirror adds the `h1:` at most.
    let lists_more = signed && (hashes.zh != Zh::Release || hashes.lacks_stated);
    // Unknown schemes are dropped, and hashes sorted, as soon as an entry is written (rules 2.3, 2.4).
    let changes = !hashes.own_h1 || hashes.unknown_schemes || !hashes.in_order || lists_more;
    Install::Accepted { unchecked, changes }
}

fn readonly(state: &LockState, flavor: Flavor) -> RouteVerdict {
    let changed = match state {
        // An entry of the other program's registry is one of another address, so that the set of addresses
        // changes (rules 3.1, 3.4).
        LockState::Nothing(_) | LockState::Version { fits: true, .. } => {
            return RouteVerdict::fails(ENTRIES_CHANGE);
        }
        LockState::Version { fits: false, .. } => {
            return RouteVerdict::fails(flavor.no_version_title());
        }
        LockState::EntryState(entry) => match entry.need {
            EntryNeed::NotRequired => return RouteVerdict::fails(ENTRIES_CHANGE),
            EntryNeed::Outside | EntryNeed::OutsideForInit => {
                return RouteVerdict::fails(flavor.no_version_title());
            }
            EntryNeed::Fits => install(&entry.hashes, PackageKind::Signed),
        },
    };
    let has_twin = matches!(state, LockState::EntryState(entry) if entry.has_twin);
    match changed {
        Install::Refused => RouteVerdict::fails(NOT_INSTALLED),
        // The verdict on the file comes last (rules 3.1).
        Install::Accepted { .. } if has_twin => RouteVerdict::fails(ENTRIES_CHANGE),
        // The exit code is 0 all the same: where `zh:` alone let the package pass, the next command fails for want
        // of the `h1:` (rules 3.1, 3.3).
        Install::Accepted {
            unchecked,
            changes: true,
        } => RouteVerdict::new(Outcome::Warns, NOT_UPDATED).unchecked(unchecked),
        Install::Accepted { unchecked, .. } => {
            RouteVerdict::new(Outcome::Passes, None).unchecked(unchecked)
        }
    }
}

pub(super) fn plan(state: &LockState, flavor: Flavor) -> RouteVerdict {
    let entry = match state {
        LockState::Nothing(by) => {
            return match by {
                NeededBy {
                    configuration: true,
                    ..
                } => RouteVerdict::fails(INCONSISTENT),
                NeededBy { state: true, .. } => RouteVerdict::fails(NO_ENTRY),
                NeededBy { .. } => RouteVerdict::new(Outcome::Passes, None),
            };
        }
        LockState::Version { .. } => return RouteVerdict::fails(INCONSISTENT),
        LockState::EntryState(entry) => entry,
    };
    let outside = RouteVerdict::fails(INCONSISTENT);
    // OpenTofu starts the package and reads its schema, Terraform compares it before (rules 4.3).
    let mismatch = if flavor.is_opentofu() {
        NO_SCHEMA
    } else {
        NOT_THERE
    };
    // Only `h1:` can match an installed package.
    let package = if entry.hashes.own_h1 || entry.hashes.is_blind() {
        RouteVerdict::new(Outcome::Passes, None).unchecked(entry.hashes.is_blind())
    } else {
        RouteVerdict::fails(mismatch)
    };
    match (entry.need, flavor.is_opentofu()) {
        // `plan` does not read the modules of tests, so their constraints do not count (rules 4.6).
        (EntryNeed::Fits | EntryNeed::OutsideForInit, _) if entry.by.plan() => package,
        // Terraform looks at all packages first, OpenTofu when it starts them (rules 4.4).
        (EntryNeed::Outside, false) if package.outcome == Outcome::Fails => package,
        (EntryNeed::Outside, _) => outside,
        (EntryNeed::NotRequired | EntryNeed::Fits | EntryNeed::OutsideForInit, _) => {
            // Terraform compares the package of an entry that nothing uses, too (rules 4.4).
            if flavor.is_opentofu() {
                RouteVerdict::new(Outcome::Passes, None).unchecked(true)
            } else {
                package
            }
        }
    }
}
