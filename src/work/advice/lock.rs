//! The failures of a run that gave no lock file, and advice on them.

use crate::acquire::PackageFault;
use crate::addr::{ProviderAddr, is_known_publisher, look_alike};
use crate::advice::required::Required;
use crate::advice::{self, selection};
use crate::archive::{ArchiveError, EntryFault};
use crate::diag::{self, Diagnostic, Finding};
use crate::flavor::Flavor;
use crate::locker::{LockError, Remedy};
use crate::platform::Platform;
use crate::project::{PlatformName, SettingPlace};
use crate::report::json::RootStatus;
use crate::report::{Failure, FindingDisplay, ResultEntry, RootResult};
use crate::resolve::SelectError;
use crate::store::shared;
use crate::verify::Advice;
use crate::version::{Constraints, Version};

impl Required<'_> {
    /// Returns the demand of the project file that an error is about, in words and with its place.
    fn demand(&self, error: &LockError, flavor: Flavor) -> Option<(String, SettingPlace)> {
        let pinned = |provider: &ProviderAddr| {
            let pin = self
                .project
                .policy
                .iter()
                .flat_map(|policy| &policy.keys)
                .find(|pin| pin.provider.means(provider, flavor))?;
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

    /// Returns the block that keeps the project file from wanting platforms that a release lacks, if it is
    /// the project file that wants them.
    fn narrowed(&self, error: &LockError, all: &[&LockError], flavor: Flavor) -> Option<String> {
        let file = self.platforms_from.as_ref()?;
        let (id, offered) = error.lacking_release()?;
        let own = self.project.platforms_of(&id.provider, flavor);
        let wanted = if own.is_empty() {
            &*self.project.platforms
        } else {
            own
        };
        let lacking: Vec<&Platform> = all
            .iter()
            .filter_map(|error| error.lacking_release())
            .filter(|(other, _)| other.is_of_same_release(id))
            .map(|(other, _)| &other.platform)
            .collect();
        let kept: Vec<String> = wanted
            .iter()
            .filter_map(|name| match name {
                PlatformName::Named(platform) => {
                    (!lacking.contains(&platform)).then(|| platform.to_string())
                }
                PlatformName::Common => Some("common".to_owned()),
            })
            .collect();
        if kept.is_empty() {
            return None;
        }
        let short = id.provider.short(flavor);
        Some(format!(
            "{}; in {file}, write `provider {short:?} {{ platforms = {kept:?} }}`",
            advice::network::offered(offered)
        ))
    }
}

impl Required<'_> {
    /// Returns the constraint that leads to an older release, where a newly selected one is broken.
    fn older(&self, error: &LockError, flavor: Flavor) -> Option<String> {
        let (provider, version) = error.broken_release()?;
        // A locked version would be excluded, too, and is not newly selected.
        if self.locked.as_ref()?.get(provider) == Some(version) {
            return None;
        }
        let below = Constraints::parse_config(&format!("< {version}")).ok()?;
        let stated = self.requirements.constraints(provider);
        stated.union(below).example()?;
        Some(format!(
            "if an older release will do, add `!= {version}` to the constraint of {}",
            provider.short(flavor)
        ))
    }
}

/// Says why there is no lock file; alarms are findings, all else is a failure.
pub(crate) fn errors(
    result: &mut RootResult,
    errors: &[LockError],
    flavor: Flavor,
    required: &Required<'_>,
) {
    for error in errors {
        if let Some(alarm) = error.alarm() {
            // A finding has no causes: its title says all.
            let wrong_hashes = error.wrong_hashes();
            let title = if wrong_hashes.is_empty() {
                error.to_string()
            } else {
                format!("{error}: {}", wrong_hashes.join("; "))
            };
            let mut diagnostic = Diagnostic {
                help: advice(error, flavor, &required.commands).map(Into::into),
                ..diag::named(alarm.rule).diagnostic(title)
            };
            if let Some((demand, SettingPlace { file, span })) = required.demand(error, flavor) {
                diagnostic = diagnostic.at(file, span, demand);
            }
            let finding = Finding {
                platform: alarm.platform.cloned(),
                ..Finding::about(alarm.provider, diagnostic)
            };
            // The failure below says the same to people.
            result.entries.push(ResultEntry::Finding(
                Box::new(finding),
                FindingDisplay::Hidden,
            ));
        }
    }
    for failure in grouped(errors, flavor, required) {
        result.fail(failure);
    }
    // An alarm is an answer, so the exit code is 1; a run that could not finish its job has 2.
    if errors.iter().all(|error| error.alarm().is_some()) {
        result.status = RootStatus::Findings;
    }
}

/// Says in one line why a provider gets no version, where that is no failure.
pub(crate) fn in_one_line(error: &SelectError, flavor: Flavor, required: &Required<'_>) -> String {
    let explanation = selection::explain(error, required, flavor);
    std::iter::once(error.to_string())
        .chain(explanation.causes)
        .chain(explanation.help)
        .collect::<Vec<_>>()
        .join("; ")
}

/// Turns errors into failures; those that have one cause become one failure.
pub(crate) fn grouped<'e>(
    errors: impl IntoIterator<Item = &'e LockError>,
    flavor: Flavor,
    required: &Required<'_>,
) -> Vec<Failure> {
    let errors: Vec<&LockError> = errors.into_iter().collect();
    // The first error of each cause with its failure, and the subjects of the others.
    let mut groups: Vec<(&LockError, Failure, Vec<String>)> = Vec::new();
    for &error in &errors {
        let same = groups
            .iter_mut()
            .find(|(first, ..)| first.shares_cause(error));
        if let Some((first, _, others)) = same {
            others.push(first.name_beside(error));
            continue;
        }
        let mut failure = Failure::from_error(error);
        failure.causes.extend(error.wrong_hashes());
        if let LockError::Select(error) = error {
            // A conflict of constraints has its own way of listing places: they are the causes.
            let explanation = selection::explain(error, required, flavor);
            failure.causes.extend(explanation.causes);
            failure.help = explanation.help;
        } else {
            if let LockError::TooYoung { search, .. } = error {
                failure.causes.extend(advice::age::causes(search));
            }
            failure.causes.extend(not_asked(error, required.has_lock));
            failure.causes.extend(
                error
                    .required_provider()
                    .and_then(|provider| required.places(provider)),
            );
            // The first that applies: a misspelled address makes any other advice wrong.
            let help = meant_instead(error, &errors, required, flavor)
                .or_else(|| required.narrowed(error, &errors, flavor))
                .or_else(|| advice(error, flavor, &required.commands));
            failure.help = match (help, required.older(error, flavor)) {
                (Some(help), Some(older)) => Some(format!("{help}; {older}")),
                (help, older) => help.or(older),
            };
        }
        if let Some((demand, place)) = required.demand(error, flavor) {
            let line = required.texts.position(place.file, place.span.start).line;
            let name = required.texts.name(place.file);
            failure.causes.push(format!("{demand} in {name}:{line}"));
        }
        groups.push((error, failure, Vec::new()));
    }
    let with_others = |(_, failure, others): (_, Failure, Vec<String>)| match others.join(", ") {
        others if others.is_empty() => failure,
        others => failure.because(format!("the same applies to {others}")),
    };
    groups.into_iter().map(with_others).collect()
}

/// Names the provider that is probably meant by one that a source does not have.
///
/// Terraform suggests the provider of another namespace that the configuration requires with the same type, too.
fn meant_instead(
    error: &LockError,
    all: &[&LockError],
    required: &Required<'_>,
    flavor: Flavor,
) -> Option<String> {
    let unknown = unknown_provider(error)?;
    // Two unknown providers of one type would be named for each other.
    let also_unknown: Vec<&ProviderAddr> = all
        .iter()
        .filter_map(|error| unknown_provider(error))
        .collect();
    let others = required
        .requirements
        .providers
        .keys()
        .filter(|other| !also_unknown.contains(other));
    let same_type = others.clone().find(|other| {
        other.type_name() == unknown.type_name() && other.hostname() == unknown.hostname()
    });
    if let Some(meant) = same_type {
        let place = required.places(meant)?;
        return Some(format!(
            "did you mean {0}, {place}? write source = \"{0}\" in required_providers of every module \
             that uses it",
            meant.short(flavor)
        ));
    }
    // Without a source the namespace is hashicorp, and another one may publish the type in the public registries.
    let type_name = unknown.type_name();
    let publisher = PUBLISHERS
        .iter()
        .find(|(published, _)| *published == type_name)
        .map(|(_, namespace)| *namespace)
        .or_else(|| is_known_publisher(type_name).then_some(type_name));
    let is_default =
        unknown.namespace() == "hashicorp" && unknown.hostname().ascii() == flavor.default_host();
    if let Some(namespace) = publisher.filter(|_| is_default) {
        return Some(format!(
            "did you mean {0}? write source = \"{0}\" in required_providers of every module that uses it",
            format_args!("{namespace}/{}", unknown.type_name())
        ));
    }
    let resembled = look_alike(unknown, others)?.resembles;
    let name = if resembled.contains('/') {
        resembled
    } else {
        format!("{resembled}/{}", unknown.type_name())
    };
    Some(format!("did you mean {name}? correct the source address"))
}

/// Namespaces of types that are often required without a source, where the namespace differs from the type.
const PUBLISHERS: [(&str, &str); 8] = [
    ("argocd", "argoproj-labs"),
    ("azapi", "azure"),
    ("datadog", "DataDog"),
    ("docker", "kreuzwerker"),
    ("flux", "fluxcd"),
    ("github", "integrations"),
    ("mongodbatlas", "mongodb"),
    ("sops", "carlpett"),
];

/// Returns the provider that a source does not have, if that is the error.
fn unknown_provider(error: &LockError) -> Option<&ProviderAddr> {
    match error {
        LockError::Source(cause) => cause.unknown_provider(),
        _ => None,
    }
}

/// Says why something is not known that a source would have been asked for.
fn not_asked(error: &LockError, has_lock: bool) -> Vec<String> {
    match error {
        LockError::VersionsNotAsked { is_locked, .. } => {
            let gap = if *is_locked {
                "the locked version is to be moved"
            } else if has_lock {
                "the lock file has no entry for it"
            } else {
                "there is no lock file"
            };
            vec![format!("{gap}, and --offline forbids network requests")]
        }
        LockError::PackagesNotAsked { unexplained, .. } => {
            let few = match unexplained {
                1 => "only 1 recorded h1: may be that of one of them".to_owned(),
                more => format!("only {more} recorded h1: may be those of some of them"),
            };
            let causes = [
                Some("no earlier run kept them, and --offline forbids network requests".to_owned()),
                (*unexplained > 0).then_some(few),
            ];
            causes.into_iter().flatten().collect()
        }
        _ => Vec::new(),
    }
}

/// Says what to do about facts that contradict each other.
pub(crate) fn facts_contradict(provider: &ProviderAddr, version: &Version) -> String {
    format!(
        "one of both is false: take the key that signed it out of trust.fact_keys, and delete the object {} from \
         the store; `lockctl explain facts-contradict` says more",
        shared::key(provider, version)
    )
}

/// Says what to do about an error.
fn advice(error: &LockError, flavor: Flavor, commands: &Advice) -> Option<String> {
    Some(match error {
        // It has places to name, too.
        LockError::Select(_) => return None,
        LockError::TooYoung { provider, search } => {
            advice::age::help(search, &provider.short(flavor), &commands.update)
        }
        LockError::NotAdmitted { provider, newest } => format!(
            "without the policy {newest} would be selected: correct `allow`, `deny` or `prereleases` of the \
             project file, or the constraints, as `lockctl update {}@VERSION --edit` does",
            provider.short(flavor)
        ),
        LockError::Source(cause) | LockError::Asking { cause } => {
            return advice::network::source(cause, flavor);
        }
        LockError::VersionsNotAsked { .. } | LockError::PackagesNotAsked { .. } => {
            "run it once without --offline".to_owned()
        }
        LockError::NoPlatform {
            announced: true, ..
        } => "try again later, or report it to the operator of the registry".to_owned(),
        LockError::NoPlatform { offered, .. } => advice::network::offered(offered),
        LockError::Unproven { cause, .. } => advice::network::unproven(cause, flavor).to_owned(),
        LockError::Download { cause, .. } => return advice::network::fetch(cause),
        LockError::FactsContradict {
            provider, version, ..
        } => facts_contradict(provider, version),
        // OpenTofu compares what its registry states with nothing (`locker` rules 4.3).
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
        // The programs refuse such a package as well (`archive` rules 3.1).
        LockError::Package { cause, .. } if matches!(**cause, PackageFault::Archive(ArchiveError::Entry { fault: EntryFault::ParentInName, .. })) => "do not install this package: it would write outside its directory".to_owned(),
        LockError::Package { .. } | LockError::NoExecutable { .. } => {
            "replace the package with an intact copy".to_owned()
        }
        LockError::Contradiction { remedy, .. } => {
            contradiction_advice(*remedy, flavor, commands)
        }
        LockError::Unlisted { .. } => MIRROR_DIFFERS.to_owned(),
        LockError::ListsDiffer { .. } => {
            "nothing was written or downloaded; report it to the operator of the registry".to_owned()
        }
        LockError::Unvouched {
            any_listed,
            surplus,
            remedy,
            ..
        } => unvouched_advice(*any_listed, surplus.is_some(), *remedy, commands),
        // The programs accept unsigned packages from mirrors; it is the project file that does not (`locker`
        // rules 3.4).
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

/// The way out where nothing shows which of the recorded hashes are right. Without the whole entry `lock` would
/// select the newest version.
const CLEARED: &str = "delete `hashes` from the entry and lock again, which keeps the version";

/// The way out where a mirror has a package that the signed list lacks. Deleting a recorded `zh:` is none: the next
/// run would record it again.
const MIRROR_DIFFERS: &str = "nothing was written: the mirror may have a changed package; replace it there by \
     that of the registry, or take no package from it (`--installation registry`)";

/// Says what to do about a package that the recorded list of its release does not have.
fn contradiction_advice(remedy: Remedy, flavor: Flavor, commands: &Advice) -> String {
    let refused = format!(
        "nothing was written, and `{} init` would refuse this package",
        flavor.command()
    );
    match remedy {
        Remedy::Repair | Remedy::RepairAllPlatforms => format!(
            "{refused}; find out first why the release was replaced: only then let `{}` replace the recorded hashes",
            commands.lock.with("--repair")
        ),
        Remedy::ByHand => format!(
            "{refused}; find out which copy is genuine, and only if the release was replaced on \
             purpose {CLEARED}"
        ),
    }
}

/// Says what to do about recorded hashes that the signed list contradicts.
fn unvouched_advice(
    any_listed: bool,
    has_surplus: bool,
    remedy: Remedy,
    commands: &Advice,
) -> String {
    let what = if any_listed {
        "nothing was written: such a hash accepts a package that no signature covers; find out first \
         where it came from"
    } else {
        "nothing was written; no recorded zh: is of this version: was the version edited by hand? \
         then restore the entry from version control"
    };
    // `providers lock` is no way out: it keeps a wrong hash beside the right ones (`locker` rules 2.4).
    match remedy {
        Remedy::Repair => {
            format!(
                "{what}; `{}` replaces what is wrong",
                commands.lock.with("--repair")
            )
        }
        Remedy::RepairAllPlatforms => format!(
            "{what}; `{}` compares the packages of all platforms and replaces what is wrong",
            commands.lock.with("--repair --prove --platform all")
        ),
        // It is known that some of these `h1:` are wrong, and not which: deleting one may leave a wrong one.
        Remedy::ByHand if any_listed && has_surplus => format!("{what}, then {CLEARED}"),
        Remedy::ByHand if any_listed => {
            format!("{what}, then delete it from the entry and lock again")
        }
        // Nothing of the entry holds, so there is no part of it to start from.
        Remedy::ByHand => format!("{what}; if it was not, {CLEARED}"),
    }
}
