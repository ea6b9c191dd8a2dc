//! What `lockctl lock` says of a run that gave no lock file.

use crate::addr::ProviderAddr;
use crate::archive::ArchiveError;
use crate::cli::advice::{self, selection};
use crate::diag::{self, Diagnostic, Finding, Texts, counted_as};
use crate::flavor::Flavor;
use crate::locker::{LockError, Remedy};
use crate::package::PackageId;
use crate::platform;
use crate::project::{Place, Project};
use crate::report::json::Status;
use crate::report::{Failure, RootEntry, RootResult, Shown};
use crate::requirement::{Requirement, Requirements};
use crate::resolve::SelectError;
use crate::sources::SourceError;
use crate::sources::network_mirror::MirrorError;
use crate::sources::oci::OciError;
use crate::sources::registry::RegistryError;

/// What the configuration requires and the project file demands, and where.
pub(in crate::cli) struct Required<'a> {
    pub(in crate::cli) requirements: &'a Requirements,
    pub(in crate::cli) project: &'a Project,
    pub(in crate::cli) texts: &'a Texts,
}

impl Required<'_> {
    /// Names the places that require a provider, each with its condition; the first few.
    pub(super) fn places(&self, provider: &ProviderAddr) -> Option<String> {
        let places = self.requirements.providers.get(provider)?;
        let mut named: Vec<String> = Vec::new();
        for place in places {
            let at = self.at(place);
            let text = if place.constraints.is_empty() {
                at
            } else {
                format!("{at} (\"{}\")", place.constraints)
            };
            if !named.contains(&text) {
                named.push(text);
            }
        }
        let more = named.len().saturating_sub(MAX_PLACES);
        named.truncate(MAX_PLACES);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        Some(format!("required in {}{more}", named.join(", ")))
    }

    /// Names a place: file and line.
    pub(super) fn at(&self, place: &Requirement) -> String {
        let line = self.texts.position(place.file, place.span.start).line;
        format!("{}:{line}", self.texts.name(place.file))
    }
}

impl Required<'_> {
    /// Returns the demand of the project file that an error is about, in words and with its place.
    fn demand(&self, error: &LockError, flavor: Flavor) -> Option<(String, Place)> {
        let pinned = |provider: &ProviderAddr| {
            let mut pins = self.project.policy.iter().flat_map(|policy| &policy.keys);
            let pin = pins.find(|pin| pin.provider.means(provider, flavor))?;
            Some((format!("key {} is pinned", pin.key.as_str()), pin.place))
        };
        match error {
            LockError::Unsigned { pinned: None, .. } => {
                let place = self.project.trust.require_signature?;
                Some(("a signature is required".to_owned(), place))
            }
            LockError::Unsigned { id, .. } => pinned(&id.provider),
            LockError::OtherKey { provider, .. } => pinned(provider),
            _ => None,
        }
    }

    /// Says where the project file states a demand.
    fn stated(&self, (demand, place): (String, Place)) -> String {
        let line = self.texts.position(place.file, place.span.start).line;
        format!("{demand} in {}:{line}", self.texts.name(place.file))
    }
}

/// How many places that require a provider are named.
const MAX_PLACES: usize = 5;

/// Says why there is no lock file; alarms are findings, all else is a failure.
pub(in crate::cli) fn errors(
    result: &mut RootResult,
    errors: &[LockError],
    flavor: Flavor,
    required: &Required<'_>,
) {
    for error in errors {
        if let Some(alarm) = error.alarm() {
            let mut diagnostic = Diagnostic {
                help: advice(error, flavor),
                ..diag::named(alarm.rule).diagnostic(error.to_string())
            };
            if let Some((demand, Place { file, span })) = required.demand(error, flavor) {
                diagnostic = diagnostic.at(file, span, demand);
            }
            let finding = Finding {
                platform: alarm.platform.cloned(),
                ..Finding::about(alarm.provider, diagnostic)
            };
            // The failure below says the same to people.
            result
                .entries
                .push(RootEntry::Finding(finding, Shown::Hidden));
        }
    }
    for failure in grouped(errors, flavor, required) {
        result.fail(failure);
    }
    if errors.iter().all(|error| error.alarm().is_some()) {
        result.status = Status::Findings;
    }
}

/// Says in one line why a provider gets no version, where that is no failure.
pub(in crate::cli) fn in_one_line(
    error: &SelectError,
    flavor: Flavor,
    required: &Required<'_>,
) -> String {
    let explanation = selection::explain(error, required, flavor);
    let parts = std::iter::once(error.to_string());
    let parts = parts.chain(explanation.causes).chain(explanation.help);
    parts.collect::<Vec<_>>().join("; ")
}

/// Errors that have one cause.
struct Group<'e> {
    /// What is said of the first of them.
    failure: Failure,
    first: &'e LockError,
    /// What the others are about.
    others: Vec<String>,
}

/// Turns errors into failures; those that have one cause become one failure.
pub(in crate::cli) fn grouped<'e>(
    errors: impl IntoIterator<Item = &'e LockError>,
    flavor: Flavor,
    required: &Required<'_>,
) -> Vec<Failure> {
    let mut groups: Vec<Group<'e>> = Vec::new();
    for error in errors {
        let mut known = groups.iter_mut();
        if let Some(group) = known.find(|group| share_cause(group.first, error)) {
            group.others.push(beside(group.first, error));
            continue;
        }
        let mut failure = Failure::from_error(error);
        if let LockError::Select(error) = error {
            let explanation = selection::explain(error, required, flavor);
            failure.causes.extend(explanation.causes);
            failure.help = explanation.help;
        } else {
            if let LockError::TooYoung { search, .. } = error {
                failure.causes.extend(advice::age::causes(search));
            }
            failure.causes.extend(not_asked(error));
            let places = wanted(error).and_then(|addr| required.places(addr));
            failure.causes.extend(places);
            failure.help = advice(error, flavor);
        }
        let demand = required.demand(error, flavor);
        failure
            .causes
            .extend(demand.map(|demand| required.stated(demand)));
        groups.push(Group {
            failure,
            first: error,
            others: Vec::new(),
        });
    }
    let failures = groups.into_iter().map(|group| {
        let mut failure = group.failure;
        if !group.others.is_empty() {
            let others = group.others.join(", ");
            failure.causes.push(format!("the same applies to {others}"));
        }
        failure
    });
    failures.collect()
}

/// Returns the provider of an error that has to do with what is required.
fn wanted(error: &LockError) -> Option<&ProviderAddr> {
    match error {
        LockError::TooYoung { provider, .. } => Some(provider),
        LockError::Source(
            SourceError::UnknownProvider { provider, .. } | SourceError::Nowhere { provider, .. },
        ) => Some(provider),
        LockError::Source(SourceError::Registry(error)) => match &**error {
            RegistryError::UnknownProvider { provider, .. }
            | RegistryError::NoVersions { provider } => Some(provider),
            _ => None,
        },
        LockError::Source(SourceError::Mirror(error)) => match &**error {
            MirrorError::UnknownProvider { provider, .. } => Some(provider),
            _ => None,
        },
        LockError::Source(SourceError::Oci(error)) => match &**error {
            OciError::UnknownProvider { provider, .. } => Some(provider),
            _ => None,
        },
        LockError::Asking {
            package: None,
            provider,
            cause: SourceError::Registry(error),
        } if matches!(**error, RegistryError::Discovery { .. }) => Some(provider),
        _ => None,
    }
}

/// Returns whether two errors are reported together: those of one release, and those that have nothing
/// to do with what was asked for.
fn share_cause(first: &LockError, second: &LockError) -> bool {
    let equal_causes = || diag::causes(first) == diag::causes(second);
    match (first, second) {
        (
            LockError::Asking {
                cause: SourceError::Registry(cause),
                ..
            },
            LockError::Asking {
                cause: SourceError::Registry(other),
                ..
            },
        ) => equal_causes() || cause.is_like(other),
        (
            LockError::Source(SourceError::Registry(cause)),
            LockError::Source(SourceError::Registry(other)),
        ) => cause.is_like(other),
        (
            LockError::Asking {
                cause: SourceError::Mirror(cause),
                ..
            },
            LockError::Asking {
                cause: SourceError::Mirror(other),
                ..
            },
        ) => equal_causes() || cause.is_like(other),
        (
            LockError::Asking {
                cause: SourceError::Oci(cause),
                ..
            },
            LockError::Asking {
                cause: SourceError::Oci(other),
                ..
            },
        ) => equal_causes() || cause.is_like(other),
        (LockError::Asking { .. }, LockError::Asking { .. }) => equal_causes(),
        (LockError::Download { cause, .. }, LockError::Download { cause: other, .. }) => {
            cause.is_like(other)
        }
        (LockError::VersionsNotAsked { .. }, LockError::VersionsNotAsked { .. }) => true,
        (
            LockError::PackagesNotAsked { unexplained, .. },
            LockError::PackagesNotAsked {
                unexplained: other, ..
            },
        ) => unexplained == other,
        // Each has hashes of its own.
        (LockError::Checksum { .. }, _) => false,
        _ if std::mem::discriminant(first) != std::mem::discriminant(second) => false,
        _ => match (package(first), package(second)) {
            (Some(first), Some(second)) => equal_causes() && same_release(first, second),
            _ => false,
        },
    }
}

/// Says why something is not known that a source would have been asked for.
fn not_asked(error: &LockError) -> Vec<String> {
    match error {
        LockError::VersionsNotAsked { .. } => {
            vec!["none is locked that may stay, and --offline forbids network requests".to_owned()]
        }
        LockError::PackagesNotAsked { unexplained, .. } => {
            let count = counted_as(*unexplained, "recorded h1:", "recorded h1:");
            let few = format!("only {count} may be those of some of them");
            let causes = [
                Some("no earlier run kept them, and --offline forbids network requests".to_owned()),
                (*unexplained > 0).then_some(few),
            ];
            causes.into_iter().flatten().collect()
        }
        _ => Vec::new(),
    }
}

/// Names what an error is about, beside another one.
fn beside(first: &LockError, error: &LockError) -> String {
    match (package(first), package(error)) {
        (Some(first), Some(id)) if same_release(first, id) => id.platform.to_string(),
        (_, Some(id)) => id.to_string(),
        (_, None) => match error {
            LockError::Asking { provider, .. } | LockError::VersionsNotAsked { provider } => {
                provider.to_string()
            }
            LockError::PackagesNotAsked {
                provider,
                version,
                platforms,
                ..
            } => format!(
                "{provider} {version} for {}",
                platform::join(platforms, ", ")
            ),
            other => other.to_string(),
        },
    }
}

fn same_release(a: &PackageId, b: &PackageId) -> bool {
    a.provider == b.provider && a.version == b.version
}

fn package(error: &LockError) -> Option<&PackageId> {
    match error {
        LockError::Package { id, .. }
        | LockError::NoExecutable { id, .. }
        | LockError::Unproven { id, .. }
        | LockError::Download { id, .. }
        | LockError::Checksum { id, .. }
        | LockError::Unsigned { id, .. }
        | LockError::StatedSize { id, .. }
        | LockError::Contradiction { id, .. } => Some(id),
        LockError::Asking { package, .. } => package.as_deref(),
        LockError::Source(SourceError::Registry(error)) => match &**error {
            RegistryError::Protocol { id, .. } => Some(id),
            _ => None,
        },
        LockError::Select(_)
        | LockError::TooYoung { .. }
        | LockError::Source(_)
        | LockError::NoPlatform { .. }
        | LockError::VersionsNotAsked { .. }
        | LockError::PackagesNotAsked { .. }
        | LockError::ListsDiffer { .. }
        | LockError::OtherKey { .. }
        | LockError::FalseClaims { .. }
        | LockError::Unvouched { .. } => None,
    }
}

/// Says what to do about an error.
fn advice(error: &LockError, flavor: Flavor) -> Option<String> {
    Some(match error {
        // It has places to name, too.
        LockError::Select(_) => return None,
        LockError::TooYoung { search, .. } => advice::age::help(search),
        LockError::Source(cause) | LockError::Asking { cause, .. } => {
            return advice::network::source(cause, flavor);
        }
        LockError::VersionsNotAsked { .. } | LockError::PackagesNotAsked { .. } => {
            "run it once without --offline".to_owned()
        }
        LockError::NoPlatform {
            announced: true, ..
        } => "try again later, or report it to the operator of the registry".to_owned(),
        LockError::NoPlatform { offered, .. } => advice::network::offered(offered),
        LockError::Unproven { id, cause, .. } => {
            advice::network::unproven(cause, &id.provider, flavor)
        }
        LockError::Download { cause, .. } => return advice::network::fetch(cause),
        LockError::FalseClaims { .. } => format!(
            "nothing was written, and `{} init` would record what is stated without a word; report it \
             to the operator of the registry or the mirror",
            flavor.command()
        ),
        LockError::Checksum { .. } | LockError::StatedSize { .. } => {
            "nothing was written; try again, and if it fails again, report it to the operator of the \
             registry"
                .to_owned()
        }
        LockError::Package { cause, .. } if matches!(**cause, ArchiveError::ParentInName { .. }) => "do not install this package: it would write outside its directory".to_owned(),
        LockError::Package { .. } | LockError::NoExecutable { .. } => {
            "replace the package with an intact copy".to_owned()
        }
        LockError::Contradiction { remedy, .. } => contradiction_advice(*remedy, flavor),
        LockError::ListsDiffer { .. } => {
            "nothing was written or downloaded; report it to the operator of the registry".to_owned()
        }
        LockError::Unvouched {
            any_listed, remedy, ..
        } => unvouched_advice(*any_listed, *remedy),
        LockError::Unsigned { id, .. } => {
            let host = id.provider.hostname();
            format!(
                "nothing was written or downloaded; mirrors do not sign packages, and {host} may name \
                 no key: lock from a registry that signs this release"
            )
        }
        LockError::OtherKey { .. } => "nothing was written or downloaded; only if the publisher says \
                                       that the key has changed, pin the new one"
            .to_owned(),
    })
}

/// Says what to do about a package that the recorded list of its release does not have.
fn contradiction_advice(remedy: Remedy, flavor: Flavor) -> String {
    let refused = format!(
        "nothing was written, and `{} init` would refuse this package",
        flavor.command()
    );
    match remedy {
        Remedy::Repair | Remedy::RepairAllPlatforms => format!(
            "{refused}; find out first why the release was replaced: only then let `lockctl lock \
             --repair` replace the recorded hashes"
        ),
        Remedy::ByHand => format!(
            "{refused}; find out which copy is genuine, and only if the release was replaced on \
             purpose delete the entry and lock again"
        ),
    }
}

/// Says what to do about recorded hashes that the signed list contradicts.
fn unvouched_advice(any_listed: bool, remedy: Remedy) -> String {
    let what = match any_listed {
        false => {
            "nothing was written; no recorded zh: is of this version: was the version edited by hand? \
             then restore the entry from version control"
        }
        true => {
            "nothing was written: such a hash accepts a package that no signature covers; find out \
             first where it came from"
        }
    };
    match remedy {
        Remedy::Repair => format!("{what}; `lockctl lock --repair` replaces what is wrong"),
        Remedy::RepairAllPlatforms => format!(
            "{what}; `lockctl lock --repair --platform all` compares the packages of all platforms and \
             replaces what is wrong"
        ),
        Remedy::ByHand => format!("{what}, then delete it from the entry and lock again"),
    }
}
