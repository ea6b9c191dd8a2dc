//! What `lockctl lock` says of a run that gave no lock file.

use super::output::RootOutput;
use crate::archive::ArchiveError;
use crate::diag;
use crate::flavor::Flavor;
use crate::locker::LockError;
use crate::package::PackageId;
use crate::platform::{self, Platform};
use crate::report::Failure;
use crate::report::json::{Finding, Status};
use crate::resolve::SelectError;
use crate::sources::SourceError;

/// Says why there is no lock file; alarms are findings, all else is a failure.
pub(super) fn errors(output: &mut RootOutput, errors: &[LockError], flavor: Flavor) {
    for error in errors {
        if let Some(id) = error.alarm() {
            output.json.findings.push(Finding {
                provider: Some(id.provider.to_string()),
                platform: Some(id.platform.to_string()),
                help: advice(error, flavor),
                ..Finding::without_place(diag::named("package-mismatch"), error.to_string())
            });
        }
    }
    for failure in grouped(errors, flavor) {
        output.fail(failure);
    }
    if errors.iter().all(|error| error.alarm().is_some()) {
        output.json.status = Status::Findings;
    }
}

/// Turns errors into failures; packages of one release with one fault become one failure.
fn grouped(errors: &[LockError], flavor: Flavor) -> Vec<Failure> {
    let mut groups: Vec<(Failure, &LockError, Vec<Platform>)> = Vec::new();
    for error in errors {
        let failure = Failure {
            help: advice(error, flavor),
            ..Failure::from_error(error)
        };
        let Some(id) = package(error) else {
            groups.push((failure, error, Vec::new()));
            continue;
        };
        let same = groups.iter_mut().find(|(other, first, _)| {
            other.causes == failure.causes
                && package(first).is_some_and(|first| same_release(first, id))
                && std::mem::discriminant(*first) == std::mem::discriminant(error)
        });
        match same {
            Some((_, _, more)) => more.push(id.platform.clone()),
            None => groups.push((failure, error, Vec::new())),
        }
    }
    let told = groups.into_iter().map(|(mut failure, _, more)| {
        if !more.is_empty() {
            failure
                .causes
                .push(format!("the same goes for {}", platform::join(&more, ", ")));
        }
        failure
    });
    told.collect()
}

fn same_release(a: &PackageId, b: &PackageId) -> bool {
    a.provider == b.provider && a.version == b.version
}

fn package(error: &LockError) -> Option<&PackageId> {
    match error {
        LockError::Package { id, .. }
        | LockError::NoExecutable { id, .. }
        | LockError::Contradiction { id, .. } => Some(id),
        LockError::Select(_) | LockError::Source(_) | LockError::NoPlatform { .. } => None,
    }
}

/// Says what to do about an error.
fn advice(error: &LockError, flavor: Flavor) -> Option<String> {
    let offered = |platforms: &[Platform]| match platforms {
        [] => "give another source".to_owned(),
        some => format!("it has packages for {}", platform::join(some, ", ")),
    };
    Some(match error {
        LockError::Select(error) => return select_advice(error),
        LockError::Source(SourceError::UnknownProvider { .. }) => {
            "check the source address, or add the provider to the mirror".to_owned()
        }
        LockError::Source(SourceError::NoSuchPackage {
            offered: platforms, ..
        })
        | LockError::NoPlatform {
            offered: platforms, ..
        } => offered(platforms),
        LockError::Source(_) => return None,
        LockError::Package {
            cause: ArchiveError::ParentInName { .. },
            ..
        } => "do not install this package: it would write outside its directory".to_owned(),
        LockError::Package { .. } | LockError::NoExecutable { .. } => {
            "replace the package by an intact copy".to_owned()
        }
        LockError::Contradiction { .. } => format!(
            "nothing was written, and `{} init` would refuse this package; find out which copy is \
             genuine, and only if the release was replaced on purpose delete the entry and lock again",
            flavor.command()
        ),
    })
}

fn select_advice(error: &SelectError) -> Option<String> {
    match error {
        SelectError::LockedConflict { .. } => Some(
            "`lock` never moves a version: change the constraint, or delete the entry from the \
             lock file to select anew"
                .to_owned(),
        ),
        SelectError::LockedGone { newest, .. } | SelectError::NoMatch { newest, .. } => newest
            .as_ref()
            .map(|newest| format!("the newest release offered is {newest}")),
        SelectError::Refused { refusal, .. } => Some(refusal.help().to_owned()),
    }
}
