//! What leads to a change, and how much it matters.

use std::fmt;

use crate::hash::Scheme;
use crate::version::{ScopeChange, Step, Upgrade};

/// How much a reader should care, in rising order.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Risk {
    /// This happens every day.
    #[default]
    Routine,
    /// Worth knowing.
    Notice,
    /// Somebody will be hindered, or it is unusual.
    Warning,
    /// This is how an attack would look.
    Danger,
}

impl Risk {
    /// Returns its name, a kebab-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Routine => "routine",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Danger => "danger",
        }
    }
}

/// One thing that explains a part of a change.
///
/// Displayed as a clause: no capital letter, no period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The provider is new in the lock file.
    NewProvider,
    /// The provider is gone from it.
    ProviderGone,
    /// The registries of Terraform and OpenTofu took turns.
    ProgramSwitched {
        /// The hostname now.
        to: String,
    },
    /// Some other registry serves the provider now.
    HostSwitched {
        /// The hostname before.
        from: String,
        /// The hostname now.
        to: String,
    },
    /// A provider of another namespace stands in for it.
    NamespaceSwitched {
        /// The namespace before.
        from: String,
        /// The namespace now.
        to: String,
    },
    /// So does one whose namespace is nearly the same.
    LookAlike {
        /// The namespace before.
        from: String,
        /// The namespace now.
        to: String,
    },
    /// The version moved, and with it every hash.
    VersionMoved(Step),
    /// The version moved to a pre-release.
    Prerelease,
    /// The version moved, yet some hashes are those of the version before.
    HashesCarriedOver(usize),
    /// The new version is not one that the recorded constraints allow.
    OutsideConstraints,
    /// There are fewer `h1:` than before, because the version moved and only some platforms were
    /// locked again.
    FewerPlatforms {
        /// How many there were.
        from: usize,
        /// How many there are.
        to: usize,
    },
    /// There are more `h1:` than before, and the version moved.
    MorePlatforms {
        /// How many there were.
        from: usize,
        /// How many there are.
        to: usize,
    },
    /// `h1:` were added, and nothing else.
    PlatformsAdded(usize),
    /// The hashes of a scheme came, which the entry had not had.
    SchemeCompleted(Scheme),
    /// `zh:` were added to those that were there.
    ReleaseGrew(usize),
    /// Some `h1:` went.
    PlatformsLost(usize),
    /// Some of the `zh:` went.
    ListShrank(usize),
    /// All of the `zh:` went.
    ListLost,
    /// All of the `h1:` went.
    AllH1Lost,
    /// There are no hashes yet, as OpenTofu writes an entry that it carried over.
    NoHashes,
    /// There are no hashes any more.
    AllHashesLost,
    /// `h1:` gave way to others, while the `zh:` say that the release is the same.
    OtherPlatform,
    /// Hashes gave way to others, and nothing says that the release is the same.
    PublishedAgain,
    /// Hashes of schemes that no program knows came or went.
    UnknownScheme,
    /// The constraints changed.
    Constraints(ScopeChange),
    /// The entry states constraints for the first time.
    ConstraintsAdded,
    /// The entry states no constraints any more.
    ConstraintsDropped,
}

impl Cause {
    /// Returns how much it matters.
    #[must_use]
    pub fn risk(&self) -> Risk {
        match self {
            Self::LookAlike { .. } | Self::PublishedAgain => Risk::Danger,
            Self::HostSwitched { .. }
            | Self::NamespaceSwitched { .. }
            | Self::VersionMoved(Step::Down)
            | Self::HashesCarriedOver(_)
            | Self::FewerPlatforms { .. }
            | Self::PlatformsLost(_)
            | Self::ListShrank(_)
            | Self::ListLost
            | Self::AllH1Lost
            | Self::NoHashes
            | Self::AllHashesLost
            | Self::OtherPlatform
            | Self::Constraints(ScopeChange::Impossible) => Risk::Warning,
            Self::NewProvider
            | Self::ProgramSwitched { .. }
            | Self::VersionMoved(Step::Up(Upgrade::Major))
            | Self::Prerelease
            | Self::OutsideConstraints
            | Self::ReleaseGrew(_)
            | Self::UnknownScheme
            | Self::ConstraintsDropped => Risk::Notice,
            Self::ProviderGone
            | Self::VersionMoved(_)
            | Self::MorePlatforms { .. }
            | Self::PlatformsAdded(_)
            | Self::SchemeCompleted(_)
            | Self::Constraints(_)
            | Self::ConstraintsAdded => Risk::Routine,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewProvider => f.write_str("a provider that was not locked before"),
            Self::ProviderGone => f.write_str("nothing is locked for it any more"),
            Self::ProgramSwitched { to } => {
                write!(f, "it comes from {to} now: the other program was run")
            }
            Self::HostSwitched { from, to } => {
                write!(f, "another registry serves it: {to} instead of {from}")
            }
            Self::NamespaceSwitched { from, to } => {
                write!(
                    f,
                    "another publisher's provider stands in: {to} instead of {from}"
                )
            }
            Self::LookAlike { from, to } => write!(
                f,
                "another publisher with nearly the same name: {to} instead of {from}"
            ),
            Self::VersionMoved(step) => f.write_str(moved(*step)),
            Self::Prerelease => f.write_str("it is a pre-release"),
            Self::OutsideConstraints => {
                f.write_str("the recorded constraints do not allow this version")
            }
            Self::Constraints(change) => f.write_str(scope(*change)),
            Self::ConstraintsAdded => f.write_str("constraints are recorded for the first time"),
            Self::ConstraintsDropped => f.write_str("no constraints are recorded any more"),
            of_hashes => f.write_str(&of_hashes.about_hashes()),
        }
    }
}

impl Cause {
    /// Returns what happened to the hashes; nothing if something else happened.
    fn about_hashes(&self) -> String {
        match self {
            Self::HashesCarriedOver(count) => {
                format!(
                    "{} of the version before are still there",
                    counted(*count, "hash", "hashes")
                )
            }
            Self::FewerPlatforms { from, to } => {
                let locked = counted(*to, "platform", "platforms");
                format!("only {locked} of {from} locked again")
            }
            Self::MorePlatforms { from, to } => {
                format!("{to} platforms are locked instead of {from}")
            }
            Self::PlatformsAdded(count) => {
                let added = counted(*count, "platform was", "platforms were");
                format!("{added} added, so the hashes only grew")
            }
            Self::PlatformsLost(count) => {
                let lost = counted(*count, "platform was", "platforms were");
                format!("{lost} lost, and nothing came instead")
            }
            Self::ReleaseGrew(count) => {
                format!("the release has {} more", counted(*count, "zip", "zips"))
            }
            Self::ListShrank(count) => {
                format!("the release has {} less", counted(*count, "zip", "zips"))
            }
            fixed => fixed.about_all_hashes().to_owned(),
        }
    }

    fn about_all_hashes(&self) -> &'static str {
        match self {
            Self::SchemeCompleted(Scheme::Zh) => "the list of all zips of the release was added",
            Self::SchemeCompleted(_) => {
                "hashes of unpacked packages were added to those of the zips"
            }
            Self::ListLost => {
                "the list of all zips of the release was lost, as a mirror or a plugin cache does"
            }
            Self::AllH1Lost => "no platform is covered by an h1 any more",
            Self::NoHashes => "it has no hash yet, so that any package would do",
            Self::AllHashesLost => "no hash is left, so that any package would do",
            Self::OtherPlatform => {
                "platforms gave way to others: the list of zips says that the release is the same"
            }
            Self::PublishedAgain => {
                "the hashes are others although the version stands: published again, or tampered with"
            }
            Self::UnknownScheme => "hashes of an unknown scheme came or went",
            _ => "",
        }
    }
}

fn moved(step: Step) -> &'static str {
    match step {
        Step::Same => "the version stands",
        Step::Down => "the version went down, so all hashes moved",
        Step::Up(Upgrade::Metadata) => "only the metadata of the version changed",
        Step::Up(Upgrade::Major) => "a new major version, so all hashes moved",
        Step::Up(_) => "the version moved, so all hashes moved",
    }
}

fn scope(change: ScopeChange) -> &'static str {
    match change {
        ScopeChange::Same => "the constraints are written otherwise, to the same effect",
        ScopeChange::Widened => "the constraints allow more versions",
        ScopeChange::Narrowed => "the constraints allow fewer versions",
        ScopeChange::Pinned => "the constraints allow one version only",
        ScopeChange::Loosened => "the constraints no longer allow one version only",
        ScopeChange::Moved | ScopeChange::Replaced => "the constraints allow other versions",
        ScopeChange::Impossible => "the constraints allow no version at all",
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}
