//! The state of a lock file for a provider on one platform: the input of a prediction.

use crate::hash::{Hash, Hashes, Scheme};

/// The state of a lock file for a provider, against the requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockState {
    /// There is no entry, or no file, and the provider is required.
    Nothing(NeededBy),
    /// There is no entry, but OpenTofu takes the version of that of `registry.terraform.io`, and
    /// none of its hashes (`lockfile` rules 5.2).
    Version {
        /// The configuration allows that version.
        fits: bool,
    },
    /// The file has an entry.
    EntryState(EntryState),
}

/// An entry of a lock file, as one platform sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryState {
    /// The requirement that it fits or not.
    pub need: EntryNeed,
    /// The commands that need the provider.
    pub by: NeededBy,
    /// The hashes as the platform sees them.
    pub hashes: EntryHashes,
    /// OpenTofu reads a second entry out of this one, which the file does not have: that alone is a
    /// change of the providers (`lockfile` rules 5.3).
    pub has_twin: bool,
}

/// The packages of the locked version of a provider on this machine, for its own platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachinePackages {
    /// An `h1:` of the installed package is recorded; `None` if none is installed.
    pub installed: Option<bool>,
    /// The installed package has files that stay where `init` unpacks the recorded one over it; `None` if that is
    /// not known.
    pub keeps_stray_files: Option<bool>,
    /// An `h1:` of the package in the plugin cache is recorded; `None` if there is none.
    pub cached: Option<bool>,
    /// A cached package may be used although none of its hashes is recorded.
    pub cache_may_break: bool,
    /// The source that `init` takes packages from.
    pub source: MachineSource,
    /// The versions and claims of this source are not known.
    pub is_doubtful: bool,
    /// `dev_overrides` names a directory for the provider.
    pub is_overridden: bool,
}

/// The source of `init` for a package on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineSource {
    /// A registry, which can be reached.
    Registry,
    /// A zip of a mirror, in a directory or elsewhere.
    Zips,
    /// A zip of a registry of OCI artifacts.
    OciZips,
    /// A directory of a mirror.
    Directories,
    /// Mirrors only, which lack the version.
    NoVersion,
    /// Mirrors only, which have the version for other platforms.
    NoPlatform,
}

impl MachinePackages {
    /// Returns an entry as a package sees it whose `h1:` is recorded or not.
    pub(super) fn with(self, entry: &EntryState, own_h1: bool) -> LockState {
        let hashes = EntryHashes {
            own_h1,
            other_h1: entry.hashes.other_h1 || (entry.hashes.own_h1 && !own_h1),
            ..entry.hashes
        };
        LockState::EntryState(EntryState { hashes, ..*entry })
    }
}

/// The relation of an entry to the requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryNeed {
    /// Something requires the provider, and allows the locked version.
    Fits,
    /// Something requires the provider, and does not allow the locked version.
    Outside,
    /// Only a module that a test runs, or the state, does not allow the locked version: `plan` does not ask them.
    OutsideForInit,
    /// Nothing requires the provider.
    NotRequired,
}

/// The places that need a provider: `init` installs it for any of these, later commands need it for some
/// (rules 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededBy {
    /// The configuration, for any command.
    pub configuration: bool,
    /// The state, for `plan`.
    pub state: bool,
}

impl NeededBy {
    /// A provider that the configuration needs; nothing else matters then.
    pub const CONFIGURATION: Self = Self {
        configuration: true,
        state: false,
    };

    /// Returns true if `plan` needs it.
    #[must_use]
    pub fn plan(self) -> bool {
        self.configuration || self.state
    }
}

/// The hashes of an entry, as one platform sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHashes {
    /// An `h1:` is that of the platform's package.
    pub own_h1: bool,
    /// There are `h1:` that are not.
    pub other_h1: bool,
    /// The extent of the `zh:`.
    pub zh: Zh,
    /// There are hashes of unknown schemes, which `init` drops when it installs the package.
    pub unknown_schemes: bool,
    /// They are listed in order, and each of them once: else `init` rewrites the file.
    pub in_order: bool,
    /// OpenTofu's registry states an `h1:` of another platform that is not here, and that `init` adds
    /// (`sources` rules 9.4).
    pub lacks_stated: bool,
}

/// The extent of the `zh:` of an entry, as one platform sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zh {
    /// The entry has no `zh:`.
    None,
    /// The whole list of the release, with the platform's zip.
    Release,
    /// The `zh:` of the platform's zip, but not those of the whole release.
    Own,
    /// Only `zh:` of other zips than the platform's.
    Others,
}

/// Proven facts about the package of a platform, beside the lock file.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownPackage<'a> {
    /// The `h1:` of the package.
    pub h1: Option<&'a Hash>,
    /// The `zh:` of the zip.
    pub zh: Option<&'a Hash>,
    /// As many `h1:` are recorded as platforms that they could belong to; read only if `h1` is not known.
    pub counts_suffice: bool,
    /// One of the recorded `h1:` may be that of the platform; read only if `h1` is not known.
    pub may_be_recorded: bool,
    /// The registry states the `h1:` of every platform, to OpenTofu alone.
    pub registry_states_h1: bool,
    /// No hash of the package is recorded.
    pub is_unrecorded: bool,
    /// Other platforms are wanted as well, one of which a single `zh:` may be of.
    pub is_one_of_several: bool,
    /// Recorded hashes that facts show to be of no package of the release.
    pub strangers: Option<&'a Hashes>,
}

impl KnownPackage<'_> {
    /// Facts about a package that was compared, and none of whose hashes is recorded.
    #[must_use]
    pub fn unrecorded() -> Self {
        Self {
            is_unrecorded: true,
            ..Self::default()
        }
    }
}

/// The most likely case, and the others that are possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess<T> {
    /// The case that a prediction shows.
    pub likely: T,
    /// The cases that nothing rules out; empty if `likely` is known.
    pub otherwise: Vec<T>,
}

impl<T> Guess<T> {
    /// Makes a guess of a value that is certain.
    #[must_use]
    pub fn known(value: T) -> Self {
        Self {
            likely: value,
            otherwise: Vec::new(),
        }
    }

    /// Turns each case into others; the first of them is the likely one.
    #[must_use]
    pub fn each<U>(self, mut cases: impl FnMut(T) -> Guess<U>) -> Guess<U> {
        let Guess {
            likely,
            mut otherwise,
        } = cases(self.likely);
        for other in self.otherwise {
            let cases = cases(other);
            otherwise.push(cases.likely);
            otherwise.extend(cases.otherwise);
        }
        Guess { likely, otherwise }
    }
}

impl EntryHashes {
    /// Returns true if no hash can be compared with a package, so that any package is accepted.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        !self.own_h1 && !self.other_h1 && self.zh == Zh::None
    }

    /// Judges recorded hashes from the view of a platform.
    ///
    /// `listed` are the hashes as the file lists them. Where `facts` show nothing the numbers of hashes
    /// decide: of `h1:` as in the rule `platforms-unattributed`, of `zh:` by
    /// [`Hashes::lists_release`]. A hash of the wrong form matches no package, but keeps any package
    /// from being accepted unseen.
    #[must_use]
    pub fn of<'a>(
        listed: impl IntoIterator<Item = &'a Hash>,
        facts: KnownPackage<'_>,
    ) -> Guess<Self> {
        let listed: Vec<&Hash> = Vec::from_iter(listed);
        let in_order = listed.is_sorted_by(|a, b| a < b);
        let hashes: Hashes = listed.into_iter().cloned().collect();
        let counts = SchemeCounts::of(&hashes);
        // A hash of another release matches no package either.
        let matchable = match facts.strangers {
            Some(strangers) => hashes.matchable().without(strangers),
            None => hashes.matchable(),
        };
        let recorded = own_h1(&matchable, facts).each(|own_h1| {
            // Without any `zh:` nothing has to be guessed about them.
            let zh = if counts.zh == 0 {
                Guess::known(Zh::None)
            } else {
                zh(&matchable, facts, own_h1, counts.zh)
            };
            zh.each(|zh| {
                Guess::known(Self {
                    own_h1,
                    other_h1: counts.h1 > usize::from(own_h1),
                    zh,
                    unknown_schemes: counts.other > 0,
                    in_order,
                    lacks_stated: false,
                })
            })
        });
        recorded.each(|recorded| {
            lacks_stated(&SchemeCounts::of(&matchable), facts).each(|lacks_stated| {
                Guess::known(Self {
                    lacks_stated,
                    ..recorded
                })
            })
        })
    }
}

/// The number of hashes of each scheme.
struct SchemeCounts {
    h1: usize,
    zh: usize,
    other: usize,
}

impl SchemeCounts {
    fn of(hashes: &Hashes) -> Self {
        let count = |scheme| hashes.of(scheme).count();
        Self {
            h1: count(Scheme::H1),
            zh: count(Scheme::Zh),
            other: count(Scheme::Other),
        }
    }
}

/// Guesses if the `h1:` of the platform is recorded.
fn own_h1(hashes: &Hashes, facts: KnownPackage<'_>) -> Guess<bool> {
    match facts.h1 {
        _ if facts.is_unrecorded => Guess::known(false),
        Some(own) => Guess::known(hashes.contains(own)),
        // Counting cannot tell platforms apart: enough `h1:` for all make it likely, and one for some makes it
        // possible (rules 1.1).
        None if facts.may_be_recorded => Guess {
            likely: facts.counts_suffice,
            otherwise: vec![!facts.counts_suffice],
        },
        None => Guess::known(false),
    }
}

/// Guesses if the registry states an `h1:` that is not recorded.
///
/// One line of a signed list may be that of the manifest, which is no package.
fn lacks_stated(counts: &SchemeCounts, facts: KnownPackage<'_>) -> Guess<bool> {
    // OpenTofu's registry states one `h1:` for each zip of the list.
    if !facts.registry_states_h1 || counts.h1 >= counts.zh {
        return Guess::known(false);
    }
    let likely = counts.h1 + 1 < counts.zh;
    Guess {
        likely,
        otherwise: vec![!likely],
    }
}

/// Guesses the extent of the `zh:` for a platform whose `h1:` is recorded or not; some `zh:` may match nothing.
///
/// `listed` counts all `zh:` of the entry, also those of the wrong form.
fn zh(hashes: &Hashes, facts: KnownPackage<'_>, own_h1: bool, listed: usize) -> Guess<Zh> {
    let SchemeCounts { h1, zh, .. } = SchemeCounts::of(hashes);
    let is_recorded = facts.zh.map(|zh| hashes.contains(zh));
    let guess = |likely, other| Guess {
        likely,
        otherwise: vec![other],
    };
    if zh == 0 {
        return Guess::known(Zh::Others);
    }
    let has_foreign_zips = facts
        .strangers
        .is_some_and(|strangers| strangers.of(Scheme::Zh).next().is_some());
    match is_recorded {
        _ if facts.is_unrecorded => Guess::known(Zh::Others),
        Some(false) => Guess::known(Zh::Others),
        // A `zh:` of the wrong form may replace that of any zip, so a list with one is not complete for
        // certain.
        Some(true) if listed > zh => guess(Zh::Own, Zh::Release),
        // A list with zips of another release is most likely that of the other one.
        None if has_foreign_zips => guess(Zh::Others, Zh::Own),
        None if listed > zh => Guess {
            likely: Zh::Own,
            otherwise: vec![Zh::Others, Zh::Release],
        },
        // A list of the release names every zip, even if the fact about this one is unknown.
        _ if hashes.lists_release() => Guess::known(Zh::Release),
        // One `zh:` for each of some `h1:` is most likely all that there is.
        _ if own_h1 && zh == h1 => guess(Zh::Release, Zh::Own),
        Some(true) => Guess::known(Zh::Own),
        // Such `zh:` were left by a mirror, or belong to a release with one package for each `h1:`. Either
        // names the zips of those platforms alone.
        None if own_h1 => Guess::known(Zh::Own),
        None if h1 == 0 && !facts.is_one_of_several => guess(Zh::Own, Zh::Others),
        None => guess(Zh::Others, Zh::Own),
    }
}
