//! Causes of changes, and their risk.

use std::collections::BTreeSet;
use std::fmt;

use crate::addr::LookAlike;
use crate::hash::Scheme;
use crate::version::{ScopeChange, Upgrade, VersionStep};

/// The risk of a change, in rising order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// A change of every day.
    #[default]
    Routine,
    /// A change that a reader should know of.
    Notice,
    /// A change that is unusual, or likely to cause a failure.
    Warning,
    /// A change as an attack would make it.
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
/// Displayed as a clause: no capital letter, no period. It states what is known; where several things may
/// have led to it, it names them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The provider is new in the lock file.
    NewProvider,
    /// The provider was removed from it.
    ProviderRemoved,
    /// The registry of Terraform was replaced by that of OpenTofu, or the other way round.
    ProgramSwitched {
        /// The hostname of the registry now.
        to: String,
    },
    /// Some other registry serves the provider now.
    HostSwitched {
        /// The hostname of the registry before.
        from: String,
        /// The hostname of the registry now.
        to: String,
    },
    /// A provider of another namespace replaces it.
    NamespaceSwitched {
        /// The namespace of the provider before.
        from: String,
        /// The namespace of the provider now.
        to: String,
    },
    /// A provider of a namespace that is nearly the same replaces it.
    SimilarNamespace {
        /// The namespace of the provider before.
        from: String,
        /// The namespace of the provider now.
        to: String,
    },
    /// The name of a new provider is one typing error away from a known one.
    LookAlike(LookAlike),
    /// The version moved, and with it every hash that is recorded.
    VersionMoved(VersionStep),
    /// The version moved, yet some hashes are those of the version before.
    HashesCarriedOver {
        /// The direction of the step.
        step: VersionStep,
        /// The number of these hashes.
        count: usize,
    },
    /// The version moved to a pre-release.
    Prerelease,
    /// The new version is not one that the recorded constraints allow.
    OutsideConstraints,
    /// There are fewer `h1:` than before, because the version moved and only some platforms were
    /// locked again.
    FewerPlatforms {
        /// The number of them before.
        from: usize,
        /// The number of them now.
        to: usize,
    },
    /// There are more `h1:` than before, and the version moved.
    MorePlatforms {
        /// The number of them before.
        from: usize,
        /// The number of them now.
        to: usize,
    },
    /// `h1:` were added beside a list of `zh:`, and nothing else.
    PlatformsAdded(usize),
    /// `h1:` were added, and nothing else; without a list of `zh:` they may be of any package.
    H1Added(usize),
    /// As many `h1:` as `zh:` were added to an entry without a signed list.
    PackagesAdded(usize),
    /// There are more `h1:` than packages, and some of the `h1:` are new.
    UnexplainedH1 {
        /// The number of new `h1:`.
        added: usize,
        /// The number of all `h1:`.
        h1: usize,
        /// The number of packages, by the list of `zh:`.
        zh: usize,
    },
    /// The hashes of a scheme were added, which the entry had not had.
    SchemeCompleted(Scheme),
    /// A few `zh:` that were no signed list are some of many now.
    ListCompleted {
        /// The number of them before.
        from: usize,
        /// The number of them now.
        to: usize,
    },
    /// `zh:` were added to those that were there.
    ListGrew {
        /// The number of them before.
        from: usize,
        /// The number of them now.
        to: usize,
    },
    /// Some `h1:` were removed.
    PlatformsLost(usize),
    /// Some of the `zh:` were removed.
    ListShrank {
        /// The number of them before.
        from: usize,
        /// The number of them now.
        to: usize,
    },
    /// All of the `zh:` were removed.
    ListLost,
    /// All of the `h1:` were removed.
    AllH1Lost,
    /// There are no hashes yet, as OpenTofu writes an entry that it carried over.
    NoHashes,
    /// There are no hashes any more.
    AllHashesLost,
    /// `h1:` were replaced beside unchanged `zh:`, which say nothing about `h1:`.
    H1ReplacedBesideList(usize),
    /// `h1:` were replaced, and no `zh:` shows which packages they belong to.
    H1Replaced(usize),
    /// `zh:` were replaced: the release has other packages.
    ZhReplaced {
        /// The number of `zh:` that are gone.
        lost: usize,
        /// The number of them before.
        of: usize,
        /// They were the signed list of a release.
        is_list: bool,
    },
    /// `h1:` were added that no fact explains, although facts know packages of the release.
    H1Unknown {
        /// The number of these `h1:`.
        count: usize,
        /// The version that the new entry locks.
        version: String,
    },
    /// Hashes were added that belong to no package of the release, by facts and signed lists.
    OfNoPackage {
        /// The number of these hashes.
        count: usize,
        /// The version that the new entry locks.
        version: String,
    },
    /// Hashes of schemes that no program supports were added or removed.
    UnknownSchemes(BTreeSet<String>),
    /// The constraints allow other versions, or the same in other words.
    Constraints(ScopeChange),
    /// The entry states constraints for the first time.
    ConstraintsAdded,
    /// The entry states no constraints any more.
    ConstraintsDropped,
    /// The title of a fault in the entry that makes the programs refuse the file; empty if the syntax is wrong.
    Fault(String),
    /// The entry has no fault any more.
    FaultRemoved,
}

impl Cause {
    /// Returns the risk of the change, by this cause alone.
    #[must_use]
    pub fn risk(&self) -> Risk {
        match self {
            Self::SimilarNamespace { .. }
            | Self::LookAlike(_)
            | Self::H1Replaced(_)
            | Self::ZhReplaced { .. }
            | Self::OfNoPackage { .. } => Risk::Danger,
            // Without any hash every package is accepted; where only some are lost, `init` or `plan` fails on a
            // platform or a route (`hash` rules 3.5).
            Self::HostSwitched { .. }
            | Self::NamespaceSwitched { .. }
            | Self::VersionMoved(VersionStep::Down)
            | Self::HashesCarriedOver { .. }
            | Self::FewerPlatforms { .. }
            | Self::PlatformsLost(_)
            | Self::UnexplainedH1 { .. }
            | Self::ListGrew { .. }
            | Self::ListShrank { .. }
            | Self::ListLost
            | Self::AllH1Lost
            | Self::NoHashes
            | Self::AllHashesLost
            | Self::H1ReplacedBesideList(_)
            | Self::Fault(_)
            | Self::Constraints(ScopeChange::Impossible) => Risk::Warning,
            Self::NewProvider
            | Self::ProgramSwitched { .. }
            | Self::VersionMoved(VersionStep::Up(Upgrade::Major))
            | Self::Prerelease
            | Self::OutsideConstraints
            | Self::PackagesAdded(_)
            | Self::ListCompleted { .. }
            | Self::H1Unknown { .. }
            | Self::UnknownSchemes(_)
            | Self::ConstraintsDropped => Risk::Notice,
            Self::ProviderRemoved
            | Self::VersionMoved(_)
            | Self::MorePlatforms { .. }
            | Self::PlatformsAdded(_)
            | Self::H1Added(_)
            | Self::SchemeCompleted(_)
            | Self::Constraints(_)
            | Self::ConstraintsAdded
            | Self::FaultRemoved => Risk::Routine,
        }
    }

    /// Returns true if the cause names the publisher or registry of the provider, which comes before all else.
    #[must_use]
    pub fn is_about_the_source(&self) -> bool {
        matches!(
            self,
            Self::ProgramSwitched { .. }
                | Self::HostSwitched { .. }
                | Self::NamespaceSwitched { .. }
                | Self::SimilarNamespace { .. }
                | Self::LookAlike(_)
        )
    }

    /// Returns true if somebody else publishes or serves the provider now.
    #[must_use]
    pub fn is_another_publisher(&self) -> bool {
        matches!(
            self,
            Self::HostSwitched { .. }
                | Self::NamespaceSwitched { .. }
                | Self::SimilarNamespace { .. }
        )
    }

    /// Returns true if the kinds of the change and the two versions say the same.
    #[must_use]
    pub fn is_shown_by_kinds(&self) -> bool {
        matches!(
            self,
            Self::NewProvider | Self::ProviderRemoved | Self::VersionMoved(_)
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewProvider => f.write_str("the provider was not locked before"),
            Self::ProviderRemoved => f.write_str("the provider is no longer locked"),
            Self::ProgramSwitched { to } => {
                write!(
                    f,
                    "the registry is {to} now, as after a switch between Terraform and OpenTofu"
                )
            }
            Self::HostSwitched { from, to } => {
                write!(f, "the registry changed from {from} to {to}")
            }
            Self::NamespaceSwitched { from, to } => {
                write!(f, "the publisher changed from {from} to {to}")
            }
            Self::SimilarNamespace { from, to } => write!(
                f,
                "the publisher changed from {from} to {to}, which is nearly the same name"
            ),
            Self::LookAlike(found) => write!(f, "{found}"),
            Self::VersionMoved(step) => {
                let what = moved(*step);
                match step {
                    VersionStep::Same | VersionStep::Up(Upgrade::Metadata) => f.write_str(what),
                    VersionStep::Down | VersionStep::Up(_) => {
                        write!(f, "{what}, so all hashes changed")
                    }
                }
            }
            Self::HashesCarriedOver { step, count } => {
                let (counted, are) = match count {
                    1 => ("1 hash".to_owned(), "is"),
                    _ => (format!("{count} hashes"), "are"),
                };
                let what = moved(*step);
                write!(
                    f,
                    "{what}, but {counted} of the version before {are} still recorded"
                )
            }
            Self::Prerelease => f.write_str("the version is a pre-release"),
            Self::OutsideConstraints => {
                f.write_str("the recorded constraints do not allow this version")
            }
            Self::Constraints(change) => f.write_str(scope(*change)),
            Self::ConstraintsAdded => f.write_str("constraints are recorded for the first time"),
            Self::ConstraintsDropped => f.write_str("no constraints are recorded any more"),
            Self::Fault(title) if title.is_empty() => {
                f.write_str("the entry is there, with a fault in its syntax")
            }
            Self::Fault(title) => write!(f, "the entry is there, with a fault: {title}"),
            Self::FaultRemoved => f.write_str("the fault that the entry had is gone"),
            of_hashes => match of_hashes.about_facts() {
                Some(text) => f.write_str(&text),
                None => f.write_str(&of_hashes.about_hashes()),
            },
        }
    }
}

impl Cause {
    fn about_hashes(&self) -> String {
        match self {
            Self::FewerPlatforms { from, to } => {
                let (locked, was) = counted(*to, "platform", "platforms");
                format!("only {locked} of {from} {was} locked again")
            }
            Self::MorePlatforms { from, to } => {
                format!("{to} platforms are locked instead of {from}")
            }
            Self::PlatformsAdded(count) => {
                let (added, was) = counted(*count, "platform", "platforms");
                format!("{added} {was} added")
            }
            Self::H1Added(count) => {
                let (added, was) = counted(*count, "h1:", "h1:");
                let platforms = if *count == 1 {
                    "another platform"
                } else {
                    "other platforms"
                };
                format!("{added} {was} added, as for {platforms}")
            }
            Self::PackagesAdded(count) => {
                let (added, was) = counted(*count, "package", "packages");
                format!("{added} {was} added with zh: and h1:, as from a mirror")
            }
            Self::UnexplainedH1 { added, h1, zh } if added == h1 => format!(
                "{h1} h1: are recorded, more than the {zh} packages in the list of zh: explain"
            ),
            Self::UnexplainedH1 { added, h1, zh } => {
                let (new, was) = counted(*added, "h1:", "h1:");
                format!(
                    "{new} {was} added, and {h1} h1: are more than the {zh} packages in the list of zh: \
                     explain"
                )
            }
            Self::ListCompleted { from, to } => {
                format!("{to} zh: are recorded instead of {from}, as when the signed list is added")
            }
            Self::ListGrew { from, to } => format!(
                "the list of zh: grew from {from} to {to}, but the version did not change: packages were \
                 added to the release, or hashes to the file by hand"
            ),
            Self::ListShrank { from, to } => format!(
                "the list of zh: shrank from {from} to {to}, but the version did not change: packages \
                 were removed from the release, or hashes from the file by hand"
            ),
            Self::PlatformsLost(count) => {
                let (lost, was) = counted(*count, "h1:", "h1:");
                format!("{lost} {was} removed, so fewer platforms are locked")
            }
            Self::H1ReplacedBesideList(count) => {
                let (lost, was) = counted(*count, "h1:", "h1:");
                format!(
                    "{lost} {was} replaced beside the same zh:, which say nothing about h1:: other \
                     platforms were locked, or an h1: was exchanged"
                )
            }
            Self::H1Replaced(count) => {
                let (lost, was) = counted(*count, "h1:", "h1:");
                format!(
                    "{lost} {was} replaced, but the version did not change: another platform or another \
                     mirror, a release that was published again, or tampering"
                )
            }
            Self::ZhReplaced { lost, of, is_list } => {
                let (_, was) = counted(*lost, "", "");
                // The signed list names every package of a release, so that another mirror would not change it.
                let reasons = if *is_list {
                    "the release was published again, or the lock file was tampered with"
                } else {
                    "another mirror, a release that was published again, or tampering"
                };
                format!(
                    "{lost} of {of} zh: {was} replaced, but the version did not change: {reasons}"
                )
            }
            Self::UnknownSchemes(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let scheme = if names.len() == 1 {
                    "scheme"
                } else {
                    "schemes"
                };
                format!(
                    "hashes of the unknown {scheme} {} were added or removed",
                    names.join(", ")
                )
            }
            fixed => fixed.about_all_hashes().to_owned(),
        }
    }

    /// Says what facts know of hashes that were added.
    fn about_facts(&self) -> Option<String> {
        match self {
            Self::H1Unknown { count, version } => {
                let (are, belong) = match count {
                    1 => ("1 h1: is".to_owned(), "a package"),
                    _ => (format!("{count} h1: are"), "packages"),
                };
                Some(format!(
                    "{are} not known to belong to {belong} of {version}"
                ))
            }
            Self::OfNoPackage { count, version } => {
                let belong = match count {
                    1 => "1 hash belongs".to_owned(),
                    _ => format!("{count} hashes belong"),
                };
                Some(format!(
                    "{belong} to no package of {version}, by what this machine has proven"
                ))
            }
            _ => None,
        }
    }

    fn about_all_hashes(&self) -> &'static str {
        match self {
            Self::SchemeCompleted(Scheme::Zh) => "the list of zh: was added",
            Self::SchemeCompleted(_) => "h1: were added to the zh:",
            Self::ListLost => {
                "the list of zh: is no longer recorded: a mirror, a plugin cache and tools that compute \
                 h1: only leave such an entry"
            }
            Self::AllH1Lost => "no platform has an h1: any more",
            Self::NoHashes => "no hash is recorded yet, so any package is accepted",
            Self::AllHashesLost => "no hash is recorded any more, so any package is accepted",
            _ => "",
        }
    }
}

fn moved(step: VersionStep) -> &'static str {
    match step {
        VersionStep::Same => "the version did not change",
        VersionStep::Down => "the version went down",
        VersionStep::Up(Upgrade::Metadata) => "only the metadata of the version changed",
        VersionStep::Up(Upgrade::Major) => "the major version changed",
        VersionStep::Up(_) => "the version moved",
    }
}

fn scope(change: ScopeChange) -> &'static str {
    match change {
        ScopeChange::Same => "the constraints are written in another way, to the same effect",
        ScopeChange::Widened => "the constraints allow more versions",
        ScopeChange::Narrowed => "the constraints allow fewer versions",
        ScopeChange::Pinned => "the constraints allow one version only",
        ScopeChange::Loosened => "the constraints no longer allow one version only",
        ScopeChange::Moved | ScopeChange::Replaced => "the constraints allow other versions",
        ScopeChange::Impossible => "the constraints allow no version at all",
    }
}

/// Counts things, with the verb that follows.
fn counted(count: usize, singular: &str, plural: &str) -> (String, &'static str) {
    match count {
        1 => (format!("1 {singular}"), "was"),
        _ => (format!("{count} {plural}"), "were"),
    }
}
