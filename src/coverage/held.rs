//! What a lock file holds of a provider for one platform: what a prediction rests on.

use crate::hash::{Hash, Hashes, Scheme};

/// What a lock file holds for a provider, and whether it fits what is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// There is no entry, or no file, and the provider is required.
    Nothing(NeededBy),
    /// There is no entry, but OpenTofu takes the version of that of `registry.terraform.io`, and
    /// none of its hashes (`lockfile` rules 5.2).
    Version {
        /// The configuration allows that version.
        fits: bool,
        /// That entry is required as well, so that its package gets installed.
        other_stays: bool,
    },
    /// There is an entry.
    HeldEntry(HeldEntry),
}

/// An entry of a lock file, as one platform sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldEntry {
    /// Why it is there.
    pub need: Need,
    /// What needs it, if anything does.
    pub by: NeededBy,
    /// The hashes.
    pub hashes: Recorded,
    /// OpenTofu reads a second entry out of this one, which the file does not have: that alone is a
    /// change of the providers (`lockfile` rules 5.3).
    pub has_twin: bool,
}

/// What this machine has of the locked version of a provider, for its own platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Whether an `h1:` of the installed package is recorded; `None` if none is installed.
    pub installed: Option<bool>,
    /// Whether an `h1:` of the package in the plugin cache is recorded; `None` if there is none.
    pub cached: Option<bool>,
    /// Whether a cached package may be used although none of its hashes is recorded.
    pub cache_may_break: bool,
    /// Where `init` takes packages from.
    pub source: MachineSource,
    /// Whether it is not known that this source has the version, or what it states.
    pub is_doubtful: bool,
}

/// Where `init` takes a package from on this machine.
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

impl Machine {
    /// Returns an entry as it is to a package whose `h1:` is recorded or not.
    pub(super) fn with(self, entry: &HeldEntry, own_h1: bool) -> Held {
        let hashes = Recorded {
            own_h1,
            other_h1: entry.hashes.other_h1 || (entry.hashes.own_h1 && !own_h1),
            ..entry.hashes
        };
        Held::HeldEntry(HeldEntry { hashes, ..*entry })
    }
}

/// Whether an entry is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Something requires the provider, and allows the locked version.
    Fits,
    /// Something requires the provider, and does not allow the locked version.
    Outside,
    /// Only a module that a test runs does not allow the locked version.
    OutsideInTests,
    /// Nothing requires the provider.
    NotRequired,
}

/// What needs a provider: `init` installs it for any of these, later commands need it for some (rules
/// 4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededBy {
    /// The configuration, for any command.
    pub configuration: bool,
    /// The state, for `plan`.
    pub state: bool,
    /// A module that a test runs, for `validate`.
    pub tests: bool,
}

impl NeededBy {
    /// The configuration needs it, and nothing else is of interest.
    pub const CONFIGURATION: Self = Self {
        configuration: true,
        state: false,
        tests: false,
    };

    /// Returns whether `plan` needs it.
    #[must_use]
    pub fn plan(self) -> bool {
        self.configuration || self.state
    }

    /// Returns whether `validate` needs it.
    #[must_use]
    pub fn validate(self) -> bool {
        self.configuration || self.tests
    }
}

/// The hashes of an entry, as one platform sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// An `h1:` is that of the platform's package.
    pub own_h1: bool,
    /// There are `h1:` that are not.
    pub other_h1: bool,
    /// What the `zh:` are.
    pub zh: Zh,
    /// There are hashes of unknown schemes, which `init` drops when it installs the package.
    pub unknown_schemes: bool,
    /// They are listed in order, and each of them once: else `init` rewrites the file.
    pub in_order: bool,
    /// OpenTofu's registry states an `h1:` of another platform that is not here, and that `init` adds
    /// (`sources` rules 9.4).
    pub lacks_stated: bool,
}

/// What the `zh:` of an entry are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zh {
    /// There is none.
    None,
    /// The whole list of the release, with the platform's zip.
    Release,
    /// That of the platform's zip is among them; others of the release are not.
    Own,
    /// None is that of the platform's zip.
    Others,
}

/// What is known for sure about the package of a platform, beside the lock file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The `h1:` of the package.
    pub h1: Option<&'a Hash>,
    /// The `zh:` of the zip.
    pub zh: Option<&'a Hash>,
    /// Where the `h1:` is not known: enough of them are recorded for all platforms that they could
    /// belong to.
    pub counts_suffice: bool,
    /// Where the `h1:` is not known: one that is recorded may be that of the platform.
    pub may_be_recorded: bool,
    /// The registry states the `h1:` of every platform, to OpenTofu alone.
    pub registry_states_h1: bool,
    /// No hash of the package is recorded.
    pub is_unrecorded: bool,
}

impl Facts<'_> {
    /// What is known of a package that was compared, and none of whose hashes is recorded.
    #[must_use]
    pub fn unrecorded() -> Self {
        Self {
            is_unrecorded: true,
            ..Self::default()
        }
    }
}

/// What is most likely the case, and what else may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess<T> {
    /// What a prediction says.
    pub likely: T,
    /// What nothing rules out; empty if `likely` is known.
    pub otherwise: Vec<T>,
}

impl<T> Guess<T> {
    /// A guess that is none.
    #[must_use]
    pub fn known(value: T) -> Self {
        Self {
            likely: value,
            otherwise: Vec::new(),
        }
    }

    /// Turns each case into others, the first of which is the likely one.
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

impl Recorded {
    /// Returns whether no hash can be compared with a package, so that any package will do.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        !self.own_h1 && !self.other_h1 && self.zh == Zh::None
    }

    /// Returns what recorded hashes are to a platform.
    ///
    /// `listed` are the hashes as the file lists them. What `facts` do not show follows from how many
    /// hashes there are: `h1:` as the rule `platforms-unattributed` has it, `zh:` by
    /// [`Hashes::lists_release`]. A hash of the wrong form matches no package, but keeps any package
    /// from being accepted unseen.
    #[must_use]
    pub fn of<'a>(listed: impl IntoIterator<Item = &'a Hash>, facts: Facts<'_>) -> Guess<Self> {
        let listed: Vec<&Hash> = listed.into_iter().collect();
        let in_order = listed.is_sorted_by(|a, b| a < b);
        let hashes: Hashes = listed.into_iter().cloned().collect();
        let counts = Counts::of(&hashes);
        let matchable = hashes.matchable();
        let own_h1 = own_h1(&matchable, facts);
        let recorded = own_h1.each(|own_h1| {
            let zh = match counts.zh {
                0 => Guess::known(Zh::None),
                _ => zh(&matchable, facts, own_h1),
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
            let stated = lacks_stated(&Counts::of(&matchable), facts);
            stated.each(|lacks_stated| {
                Guess::known(Self {
                    lacks_stated,
                    ..recorded
                })
            })
        })
    }
}

/// How many hashes there are of each scheme.
struct Counts {
    h1: usize,
    zh: usize,
    other: usize,
}

impl Counts {
    fn of(hashes: &Hashes) -> Self {
        let count = |scheme| hashes.of(scheme).count();
        Self {
            h1: count(Scheme::H1),
            zh: count(Scheme::Zh),
            other: count(Scheme::Other),
        }
    }
}

/// Returns whether the `h1:` of the platform is recorded.
fn own_h1(hashes: &Hashes, facts: Facts<'_>) -> Guess<bool> {
    match facts.h1 {
        _ if facts.is_unrecorded => Guess::known(false),
        Some(own) => Guess::known(hashes.contains(own)),
        None if facts.may_be_recorded => Guess {
            likely: facts.counts_suffice,
            otherwise: vec![!facts.counts_suffice],
        },
        None => Guess::known(false),
    }
}

/// Returns whether the registry states an `h1:` that is not recorded.
///
/// One line of a signed list may be that of the manifest, which is no package.
fn lacks_stated(counts: &Counts, facts: Facts<'_>) -> Guess<bool> {
    if !facts.registry_states_h1 || counts.h1 >= counts.zh {
        return Guess::known(false);
    }
    let likely = counts.h1 + 1 < counts.zh;
    Guess {
        likely,
        otherwise: vec![!likely],
    }
}

/// Returns what the `zh:`, some of which may match nothing, are to a platform whose `h1:` is recorded or
/// not.
///
/// What is no list of a release was left by a mirror or belongs to a release with one package for
/// each `h1:`; either names the zips of those platforms alone.
fn zh(hashes: &Hashes, facts: Facts<'_>, own_h1: bool) -> Guess<Zh> {
    let Counts { h1, zh, .. } = Counts::of(hashes);
    let own = facts.zh.map(|own| hashes.contains(own));
    let guess = |likely, other| Guess {
        likely,
        otherwise: vec![other],
    };
    if zh == 0 {
        return Guess::known(Zh::Others);
    }
    match own {
        _ if facts.is_unrecorded => Guess::known(Zh::Others),
        Some(false) => Guess::known(Zh::Others),
        _ if hashes.lists_release() => Guess::known(Zh::Release),
        // One `zh:` for each of some `h1:` is most likely all that there is.
        _ if own_h1 && zh == h1 => guess(Zh::Release, Zh::Own),
        Some(true) => Guess::known(Zh::Own),
        None if own_h1 => Guess::known(Zh::Own),
        None if h1 == 0 => guess(Zh::Own, Zh::Others),
        None => guess(Zh::Others, Zh::Own),
    }
}
