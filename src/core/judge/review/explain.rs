//! The causes of a change, by the two entries alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::builds::BuildChange;
use super::causes::{Cause, Risk};
use super::configuration::ConfigurationCause;
use super::diff::{ChangeKind, FaultChange, ProviderChange, ProviderSide, Sides};
use super::origin::StepDown;
use crate::addr::{ProviderAddr, is_known_publisher};
use crate::diag::nearest;
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes, Scheme};
use crate::lockfile::ProviderLock;
use crate::platform::Platform;
use crate::version::{Constraints, ScopeChange, VersionStep, scope_change};

/// A change with everything that explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedChange {
    /// The difference between the entries.
    pub change: ProviderChange,
    /// The causes that the two entries show.
    pub explained: Explained,
    /// The cause in the configuration, where that is known.
    pub configuration: Option<ConfigurationCause>,
    /// The platforms that hashes which only one side has belong to, as far as that is known.
    pub owners: BTreeMap<Hash, Vec<Platform>>,
    /// The changes of the builds, if the builds of both sides are known.
    pub builds: Vec<BuildChange>,
    /// The steps down in who signs the release and where it comes from.
    pub trust: Vec<StepDown>,
    /// Identifiers of the known advisories about the new version, sorted.
    pub advisories: Vec<String>,
}

/// The causes of a change, by the two entries alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The causes, the one with the highest risk first; never empty.
    pub causes: Vec<Cause>,
    /// The highest risk of the causes.
    pub risk: Risk,
}

/// Explains a change by the two entries alone.
#[must_use]
pub fn explain(change: &ProviderChange) -> Explained {
    let mut causes = match &change.sides {
        Sides::Added(new) => added(change, &new.lock),
        Sides::Removed(_) => vec![Cause::ProviderRemoved],
        Sides::Both { old, new } => both(change, old, new),
    };
    causes.extend(change.fault.as_deref().map(|fault| match fault {
        FaultChange::Added(title) => Cause::Fault(title.clone()),
        FaultChange::Removed => Cause::FaultRemoved,
    }));
    Explained::of(causes)
}

/// The numbers of added hashes that facts do not confirm as hashes of the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgedHashes {
    /// `h1:` that no fact explains, although facts know packages of the release.
    pub unknown: usize,
    /// Hashes that belong to no package of the release.
    pub of_no_package: usize,
    /// Those of them that are `h1:`.
    pub h1_of_no_package: usize,
}

impl Explained {
    /// Sorts causes, and takes their highest risk.
    fn of(mut causes: Vec<Cause>) -> Self {
        // Another source is another provider, so all else follows from it. The sort is stable: of equal causes the
        // one that was found first stays first.
        causes.sort_by_key(|cause| Reverse((cause.is_about_the_source(), cause.risk())));
        let risk = causes.iter().map(Cause::risk).max().unwrap_or_default();
        Self { causes, risk }
    }

    /// Returns the causes as one sentence, without a period.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.causes
            .iter()
            .map(Cause::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    }
}

impl ExplainedChange {
    /// Explains a change by the two entries alone.
    #[must_use]
    pub fn of(change: ProviderChange) -> Self {
        Self {
            explained: explain(&change),
            change,
            configuration: None,
            owners: BTreeMap::new(),
            builds: Vec::new(),
            trust: Vec::new(),
            advisories: Vec::new(),
        }
    }

    /// Adds what facts say of hashes that were added.
    pub fn add_judged(&mut self, judged: JudgedHashes) {
        let Some(side) = self.change.now() else {
            return;
        };
        let version = side.lock.version.to_string();
        let doubtful = judged.unknown + judged.h1_of_no_package;
        let mut causes = std::mem::take(&mut self.explained.causes);
        for cause in &mut causes {
            // Such an `h1:` is no platform.
            if let Cause::PlatformsAdded(count) | Cause::H1Added(count) = cause {
                *count = count.saturating_sub(doubtful);
            }
        }
        causes.retain(|cause| !matches!(cause, Cause::PlatformsAdded(0) | Cause::H1Added(0)));
        if judged.of_no_package > 0 {
            causes.push(Cause::OfNoPackage {
                count: judged.of_no_package,
                version: version.clone(),
            });
        }
        if judged.unknown > 0 {
            causes.push(Cause::H1Unknown {
                count: judged.unknown,
                version,
            });
        }
        self.explained = Explained::of(causes);
    }

    /// Returns the causes as one sentence without a period: with the terms of the constraints that changed,
    /// and with the cause in the configuration.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.clauses(Length::Full).join("; ")
    }

    /// Returns the clauses of [`sentence`](Self::sentence) that the kinds of the change and the two versions do
    /// not show; empty if these show all.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.clauses(Length::Short)
    }

    fn clauses(&self, length: Length) -> Vec<String> {
        let constraints = |side: Option<&ProviderSide>| {
            side.map(|side| side.lock.constraints.clone())
                .unwrap_or_default()
        };
        let old = constraints(self.change.before());
        let new = constraints(self.change.now());
        // Where the change follows from the configuration, its clause has the same two texts.
        let is_said = matches!(
            &self.configuration,
            Some(ConfigurationCause::ConstraintsChanged { from, to, .. })
                if *from == old.to_string() && *to == new.to_string()
        );
        let is_moved = self
            .change
            .step()
            .is_some_and(|step| step != VersionStep::Same);
        let mut clauses = Vec::new();
        for cause in &self.explained.causes {
            if length == Length::Short && cause.is_shown_by_kinds() {
                continue;
            }
            clauses.push(match cause {
                Cause::Constraints(ScopeChange::Impossible) => {
                    format!("{cause} ({})", terms(&old, &new))
                }
                Cause::Constraints(_) if is_moved && is_said => continue,
                // Constraints of another version allow other versions: that says nothing.
                Cause::Constraints(_) if is_moved => {
                    format!("the constraints changed ({})", terms(&old, &new))
                }
                Cause::Constraints(_) if is_said => cause.to_string(),
                Cause::Constraints(_) => format!("{cause} ({})", terms(&old, &new)),
                Cause::ProgramSwitched { to } if length == Length::Short => {
                    format!("now from {to}")
                }
                Cause::ConstraintsAdded => format!("{cause} ({new})"),
                Cause::ConstraintsDropped => format!("{cause} (before: {old})"),
                _ => cause.to_string(),
            });
        }
        clauses.extend(self.configuration.iter().map(ToString::to_string));
        clauses
    }
}

/// The length of the text about a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// Every cause in full.
    Full,
    /// The causes that kinds and versions do not show.
    Short,
}

/// Shows the terms of constraints that were replaced, added or removed; most terms of a long list stay.
fn terms(old: &Constraints, new: &Constraints) -> String {
    let only_in = |constraints: &Constraints, other: &Constraints| {
        constraints
            .iter()
            .filter(|term| !other.iter().any(|same| same == *term))
            .cloned()
            .collect::<Constraints>()
            .to_string()
    };
    match (only_in(old, new), only_in(new, old)) {
        (lost, gained) if gained.is_empty() && lost.is_empty() => format!("{old} → {new}"),
        (lost, gained) if lost.is_empty() => format!("{gained} was added"),
        (lost, gained) if gained.is_empty() => format!("{lost} was removed"),
        (lost, gained) => format!("{lost} → {gained}"),
    }
}

fn added(change: &ProviderChange, lock: &ProviderLock) -> Vec<Cause> {
    let mut causes = Vec::new();
    causes.extend(change.look_alike.clone().map(Cause::LookAlike));
    causes.push(Cause::NewProvider);
    // The twin that OpenTofu makes of an entry of Terraform's registry has none (`lockfile` rules 5.1).
    if lock.hashes.is_empty() {
        causes.push(Cause::NoHashes);
    }
    causes.extend(unexplained(
        lock.hashes.of(Scheme::H1).count(),
        &lock.hashes,
    ));
    if lock.version.is_prerelease() {
        causes.push(Cause::Prerelease);
    }
    causes.extend(outside(lock));
    causes
}

fn both(change: &ProviderChange, old: &ProviderSide, new: &ProviderSide) -> Vec<Cause> {
    let mut causes = switched(change, &old.addr, &new.addr);
    let moved = change.step().filter(|step| *step != VersionStep::Same);
    if let Some(step) = moved {
        causes.extend(version(step, &old.lock, &new.lock));
    }
    let (before, now) = (&old.lock.hashes, &new.lock.hashes);
    // Another version or address has other packages, so all its hashes are expected to differ.
    causes.extend(if moved.is_some() || old.addr != new.addr {
        of_other_packages(before, now)
    } else {
        of_same_packages(change, before, now)
    });
    if change.kinds.contains(&ChangeKind::ConstraintsChanged) {
        let (before, now) = (&old.lock.constraints, &new.lock.constraints);
        causes.push(match (before.is_empty(), now.is_empty()) {
            (true, _) => Cause::ConstraintsAdded,
            (_, true) => Cause::ConstraintsDropped,
            _ => Cause::Constraints(scope_change(before, now)),
        });
    }
    if moved.is_some() || change.kinds.contains(&ChangeKind::ConstraintsChanged) {
        causes.extend(outside(&new.lock));
    }
    causes
}

/// Finds a version that the recorded constraints exclude. The programs never select one; an edited lock file may
/// hold it.
fn outside(lock: &ProviderLock) -> Option<Cause> {
    let allowed = lock.constraints.allows(&lock.version);
    (!allowed && !lock.constraints.is_empty()).then_some(Cause::OutsideConstraints)
}

fn switched(change: &ProviderChange, old: &ProviderAddr, new: &ProviderAddr) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (from, to) = (old.hostname().unicode(), new.hostname().unicode());
    if from != to {
        let is_default = |host| {
            Flavor::ALL
                .iter()
                .any(|flavor| flavor.default_host() == host)
        };
        // Both public registries serve the same publishers: a switch of programs is no alarm, another host is.
        causes.push(if is_default(from) && is_default(to) {
            Cause::ProgramSwitched { to: to.to_owned() }
        } else {
            Cause::HostSwitched {
                from: from.to_owned(),
                to: to.to_owned(),
            }
        });
    }
    if old.namespace() != new.namespace() {
        let (from, to) = (old.namespace().to_owned(), new.namespace().to_owned());
        let is_near = nearest(&from, std::iter::once(&*to)).is_some() && !is_known_publisher(&to);
        // A name that is near to the one before says more than one that is near to a third.
        let other = change
            .look_alike
            .clone()
            .filter(|look_alike| !is_near && look_alike.resembles != from);
        causes.push(if is_near {
            Cause::SimilarNamespace { from, to }
        } else {
            Cause::NamespaceSwitched { from, to }
        });
        causes.extend(other.map(Cause::LookAlike));
    }
    causes
}

fn version(step: VersionStep, old: &ProviderLock, new: &ProviderLock) -> Vec<Cause> {
    let mut causes = Vec::new();
    if new.version.is_prerelease() && !old.version.is_prerelease() {
        causes.push(Cause::Prerelease);
    }
    let carried = |scheme| {
        old.hashes
            .of(scheme)
            .filter(|hash| new.hashes.contains(hash))
            .count()
    };
    // The signed list names a manifest, too, which is often the same in all releases: `saturating_sub` passes
    // over one `zh:` for it.
    let count = carried(Scheme::H1) + carried(Scheme::Zh).saturating_sub(1);
    causes.push(match count {
        0 => Cause::VersionMoved(step),
        count => Cause::HashesCarriedOver { step, count },
    });
    causes
}

/// Explains the numbers of hashes, where none of them could have stayed.
fn of_other_packages(old: &Hashes, new: &Hashes) -> Vec<Cause> {
    let count = |hashes: &Hashes, scheme| hashes.of(scheme).count();
    let mut causes = Vec::new();
    let (from, to) = (count(old, Scheme::H1), count(new, Scheme::H1));
    causes.extend(match (from, to) {
        // `init` accepts any package then, without a check (`hash` rules 3.1).
        _ if new.is_empty() && !old.is_empty() => Some(Cause::AllHashesLost),
        (1.., 0) => Some(Cause::AllH1Lost),
        _ if to < from => Some(Cause::FewerPlatforms { from, to }),
        (1.., _) if from < to => Some(Cause::MorePlatforms { from, to }),
        _ => None,
    });
    // Without `zh:` a zip whose `h1:` is not recorded is refused, on every other platform (`hash` rules 3.5).
    if count(old, Scheme::Zh) > 0 && count(new, Scheme::Zh) == 0 && !new.is_empty() {
        causes.push(Cause::ListLost);
    }
    let added = new.of(Scheme::H1).filter(|hash| !old.contains(hash));
    causes.extend(unexplained(added.count(), new));
    causes
}

/// Finds `h1:` of no package; `added` of all `h1:` are new.
fn unexplained(added: usize, hashes: &Hashes) -> Option<Cause> {
    let count = |scheme| hashes.of(scheme).count();
    (added > 0 && hashes.has_unexplained_h1()).then(|| Cause::UnexplainedH1 {
        added,
        h1: count(Scheme::H1),
        zh: count(Scheme::Zh),
    })
}

/// Explains hashes that changed while the version did not.
fn of_same_packages(change: &ProviderChange, old: &Hashes, new: &Hashes) -> Vec<Cause> {
    // `init` accepts any package then, so other changes of the hashes do not matter (`hash` rules 3.1).
    if new.is_empty() && !old.is_empty() {
        return vec![Cause::AllHashesLost];
    }
    let counts = |scheme| (change.lost(scheme).len(), change.gained(scheme).len());
    let (zh, h1) = (counts(Scheme::Zh), counts(Scheme::H1));
    let of = |hashes: &Hashes, scheme| hashes.of(scheme).count();
    let mut causes = Vec::new();
    let (from, to) = (of(old, Scheme::Zh), of(new, Scheme::Zh));
    // A mirror leaves a `zh:` for each `h1:`; a registry leaves the list of all platforms (`hash` rules 3.7).
    let is_mirrored = |hashes: &Hashes| of(hashes, Scheme::Zh) <= of(hashes, Scheme::H1);
    let packages_came = zh.0 == 0 && h1.0 == 0 && zh.1 == h1.1 && zh.1 > 0 && from > 0;
    if packages_came && is_mirrored(old) && is_mirrored(new) {
        causes.push(Cause::PackagesAdded(zh.1));
        return causes;
    }
    causes.extend(match zh {
        (0, 0) => None,
        // A registry that is asked for the first time since a mirror adds its whole list (`sources` rules 9.3).
        (0, _) if from == 0 => Some(Cause::SchemeCompleted(Scheme::Zh)),
        (0, count) if !old.lists_release() && count > from => {
            Some(Cause::ListCompleted { from, to })
        }
        (0, _) => Some(Cause::ListGrew { from, to }),
        (_, 0) if to == 0 => Some(Cause::ListLost),
        (_, 0) => Some(Cause::ListShrank { from, to }),
        (lost, _) => Some(Cause::ZhReplaced {
            lost,
            of: from,
            is_list: old.lists_release() && new.lists_release(),
        }),
    });
    // Other zips have other contents: a replaced list explains replaced `h1:`.
    let is_replaced = matches!(causes.last(), Some(Cause::ZhReplaced { .. }));
    let same_list = zh == (0, 0) && from > 0;
    causes.extend(unexplained(h1.1, new));
    causes.extend(match h1 {
        (0, 0) => None,
        // `unexplained` has said so, with a higher risk.
        (0, _) if new.has_unexplained_h1() => None,
        (0, _) if of(old, Scheme::H1) == 0 => Some(Cause::SchemeCompleted(Scheme::H1)),
        (0, count) if to == 0 => Some(Cause::H1Added(count)),
        (0, count) => Some(Cause::PlatformsAdded(count)),
        (_, 0) if of(new, Scheme::H1) == 0 => Some(Cause::AllH1Lost),
        (count, 0) => Some(Cause::PlatformsLost(count)),
        _ if is_replaced => None,
        (count, _) if same_list => Some(Cause::H1ReplacedBesideList(count)),
        (count, _) => Some(Cause::H1Replaced(count)),
    });
    let unknown_schemes: BTreeSet<String> = change
        .moved()
        .filter(|hash| hash.scheme() == Scheme::Other)
        .map(|hash| hash.scheme_name().to_owned())
        .collect();
    if !unknown_schemes.is_empty() {
        causes.push(Cause::UnknownSchemes(unknown_schemes));
    }
    causes
}
