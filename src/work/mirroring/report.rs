//! The result of a mirror: rows of each root, failures, and remarks on the directory.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::diag::{counted, counted_as};
use crate::flavor::{Flavor, Program};
use crate::mirror::{
    self, MirrorExtent, MirrorOutcome, MirrorUse, MirroredRelease, MirroredState, MirroringError,
};
use crate::mirroring::MirrorArgs;
use crate::platform::Platform;
use crate::report::json::{MirroredProvider, Provider, RootStatus};
use crate::report::shared::first_names;
use crate::report::{CommandResult, Failure, ResultEntry, ResultSubject, RootResult, Sentence};
use crate::run::{World, commands};

/// Maximum size of a CLI configuration that is replaced, in bytes.
const MAX_CLI_CONFIG_BYTES: u64 = 1024 * 1024;

/// Maximum number of paths that a remark names; more are counted.
const MAX_NAMED: usize = 5;

/// Reports the releases of each root; the results are in the order of the numbers that the outcome names.
pub(super) fn roots(mut results: Vec<&mut RootResult>, outcome: &MirrorOutcome, args: &MirrorArgs) {
    let mut errors: Vec<Vec<&MirroringError>> = results.iter().map(|_| Vec::new()).collect();
    for release in &outcome.releases {
        for root in &release.roots {
            let result = &mut *results[*root];
            let row = provider(release);
            result.providers.push(Provider::Mirrored(row));
            // A run that places packages reports why one is missing.
            if args.extent() == MirrorExtent::Check && !release.is_complete() {
                result.status = result.status.max(RootStatus::Findings);
            }
        }
        for error in &release.errors {
            let concerned = match error {
                // A contradiction is reported only for the roots whose lock file it contradicts.
                MirroringError::H1Differs { roots, .. }
                | MirroringError::H1OfNoPackage { roots, .. }
                | MirroringError::ZipNotLocked { roots, .. } => roots,
                _ => &release.roots,
            };
            for root in concerned {
                errors[*root].push(error);
            }
        }
    }
    for (result, errors) in results.iter_mut().zip(errors) {
        report(&errors, result);
        let changed = result.providers.iter().any(|provider| match provider {
            Provider::Mirrored(row) => row.is_new(),
            _ => false,
        });
        result.changed = Some(changed);
    }
}

/// Completes the result with what is about the directory; `all_read` says that every lock file could be read.
pub(super) fn complete(
    result: &mut CommandResult,
    outcome: &MirrorOutcome,
    args: &MirrorArgs,
    all_read: bool,
) {
    if args.prune && !all_read {
        result.remarks.push(Sentence::warning(
            "nothing was removed, because not every lock file could be read and mirrored",
        ));
    }
    let superfluous = &outcome.superfluous;
    if !superfluous.is_empty() {
        let count = counted(superfluous.len(), "path");
        let names = names(superfluous);
        result.remarks.push(match args.extent() {
            MirrorExtent::Place => {
                Sentence::note(format!("removed {count} that no lock file needs: {names}"))
            }
            MirrorExtent::DryRun => Sentence::note(format!(
                "would remove {count} that no lock file needs: {names}"
            )),
            MirrorExtent::Check => {
                Sentence::warning(format!("no lock file needs {count}: {names}"))
            }
        });
    }
    if args.extent() == MirrorExtent::Check && !outcome.documents.is_empty() {
        let count = counted(outcome.documents.len(), "document");
        let names = names(&outcome.documents);
        result.remarks.push(Sentence::warning(format!(
            "{count} would change, so as to list the packages that are there: {names}"
        )));
    }
    if let Some(dir) = &args.oci_layout {
        result.remarks.extend(oci_layout(dir, outcome, args));
    }
    result.remarks.extend(wrong_packages(outcome));
    if args.extent() != MirrorExtent::Check {
        result.remarks.extend(without_lists(outcome));
    }
    result.remarks.extend(without_h1(outcome));
    let is_bad = args.extent() == MirrorExtent::Check
        && !(superfluous.is_empty()
            && outcome.documents.is_empty()
            && outcome.oci_files.is_empty());
    if is_bad {
        result.exit = result.exit.max(RootStatus::Findings.exit_code());
    }
    for error in &outcome.errors {
        fail_all(result, &failure(error));
    }
}

/// Returns a remark on the number of files of the OCI layout, and on pushing it.
fn oci_layout(dir: &Path, outcome: &MirrorOutcome, args: &MirrorArgs) -> Option<Sentence> {
    let shown = dir.display();
    let count = counted(outcome.oci_files.len(), "file");
    match args.extent() {
        _ if outcome.oci_files.is_empty() => None,
        MirrorExtent::Place => Some(Sentence::note(format!(
            "wrote {count} of the OCI layout {shown}; `lockctl explain mirror` shows how to push it"
        ))),
        MirrorExtent::DryRun => Some(Sentence::note(format!(
            "would write {count} of the OCI layout {shown} about packages that are in the mirror"
        ))),
        MirrorExtent::Check => Some(Sentence::warning(format!(
            "{count} of the OCI layout would change: {}",
            names(&Vec::from_iter(outcome.oci_files.clone()))
        ))),
    }
}

/// Names the first of some paths.
fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.display().to_string());
    first_names(names, MAX_NAMED).join(", ")
}

/// Names the packages that are wrong or were replaced, with the hash that was expected.
fn wrong_packages(outcome: &MirrorOutcome) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    // A path that cannot be read or written has an error of its own.
    let releases = outcome.releases.iter().filter(|release| {
        let is_io = |error: &MirroringError| {
            matches!(
                error,
                MirroringError::Io { .. } | MirroringError::Link { .. }
            )
        };
        !release.errors.iter().any(is_io)
    });
    for release in releases {
        for package in &release.packages {
            let verb = match package.state {
                MirroredState::Wrong => "is wrong",
                MirroredState::Replaced => "was wrong and was replaced",
                _ => continue,
            };
            let reason = package.reason.as_deref().unwrap_or_default();
            let text = format!("{} {verb}: {reason}", package.path);
            sentences.push(Sentence::warning(text));
        }
    }
    let hidden = sentences.len().saturating_sub(MAX_NAMED);
    if hidden > 0 {
        sentences.truncate(MAX_NAMED);
        let text = format!(
            "{} wrong (--format json has every path)",
            counted_as(hidden, "more package is", "more packages are")
        );
        sentences.push(Sentence::warning(text));
    }
    sentences
}

/// Notes the platforms whose packages lock files cover by `zh:` only, which a mirror of unpacked packages needs more for.
fn without_h1(outcome: &MirrorOutcome) -> Option<Sentence> {
    let platforms: BTreeSet<&Platform> = outcome
        .releases
        .iter()
        .flat_map(|release| &release.without_h1)
        .collect();
    if platforms.is_empty() {
        return None;
    }
    let platforms: Vec<String> = platforms.iter().map(ToString::to_string).collect();
    Some(Sentence::note(format!(
        "lock files have the zh: but no known h1: for {0}: `init` accepts the zips, and unpacked packages only after \
         `lockctl lock --platform {0}`",
        platforms.join(",")
    )))
}

/// Names the registries whose lists were not used, each reason once.
fn without_lists(outcome: &MirrorOutcome) -> impl Iterator<Item = Sentence> {
    // A registry that cannot be reached fails for each of its releases, with the same reason.
    let reasons: BTreeSet<(&str, &str)> = outcome
        .releases
        .iter()
        .filter_map(|release| {
            let reason = release.without_list.as_deref()?;
            Some((release.release.provider.hostname().unicode(), reason))
        })
        .collect();
    reasons.into_iter().map(|(host, reason)| {
        Sentence::note(format!(
            "no signed list of {host} was used ({reason}): the zh: of the lock file vouches for its packages"
        ))
    })
}

/// Reports a failure that is about no root by itself.
pub(super) fn fail_all(result: &mut CommandResult, failure: &Failure) {
    result.exit = RootStatus::Failed.exit_code();
    if let ResultSubject::Roots(roots) = &mut result.subject {
        for root in roots {
            root.fail(failure.clone());
        }
    }
}

/// Writes the CLI configuration that makes `init` use the mirror; returns the two lines of shell that CI needs.
pub(super) fn write_cli_config(
    world: World<'_>,
    args: &MirrorArgs,
    path: &Path,
    outcome: &MirrorOutcome,
    result: &CommandResult,
) -> Result<[Sentence; 2], Failure> {
    let unusable = |path: &Path, cause: &io::Error| {
        Failure::new(format!("{} cannot be written", path.display())).because(cause.to_string())
    };
    let used = match &args.url {
        Some(url) => MirrorUse::Network(url.to_string()),
        // A relative path would be another one in each root.
        None => MirrorUse::Directory(
            world
                .disk
                .resolve(&args.dir)
                .map_err(|cause| unusable(&args.dir, &cause))?,
        ),
    };
    let text = mirror::cli_config(&used, outcome, args.fallback);
    let old = match world.disk.read(path, MAX_CLI_CONFIG_BYTES) {
        Ok(old) => Some(old),
        // Written for the first time. Any other failure leaves what the user may have written there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(cause) => return Err(unusable(path, &cause)),
    };
    if old.as_deref() != Some(text.as_bytes()) {
        world
            .disk
            .replace(path, old.as_deref(), text.as_bytes())
            .map_err(|cause| unusable(path, &cause))?;
    }
    let shown = world.disk.resolve(path).unwrap_or_else(|_| path.to_owned());
    let path = commands::quoted(&shown.display().to_string());
    // One command is shown for all roots of a pipeline: that of Terraform if the roots differ.
    let programs: BTreeSet<&str> = result
        .roots()
        .iter()
        .filter_map(|root| root.flavor)
        .map(Flavor::command)
        .collect();
    let program = match programs.first() {
        Some(program) if programs.len() == 1 => program,
        _ => Flavor::newest(Program::Terraform).command(),
    };
    Ok([
        format!("`export TF_CLI_CONFIG_FILE={path}` makes `init` use the mirror"),
        format!("`{program} init -lockfile=readonly` then installs from it, and leaves the lock file as it is"),
    ]
    .map(Sentence::note))
}

/// Reports the errors of a root; packages that are missing for the same reason are one failure.
fn report(errors: &[&MirroringError], result: &mut RootResult) {
    // The first error of each reason with its failure, and the packages of the others.
    let mut groups: Vec<(&MirroringError, Failure, Vec<String>)> = Vec::new();
    for &error in errors {
        let failure = failure(error);
        let same = groups.iter_mut().find(|(first, known, _)| {
            first.missing_package().is_some()
                && known.causes == failure.causes
                && known.help == failure.help
        });
        match (same, error.missing_package()) {
            (Some((.., others)), Some(id)) => others.push(id.to_string()),
            _ => groups.push((error, failure, Vec::new())),
        }
    }
    for (error, mut failure, others) in groups {
        if !others.is_empty() {
            let others = others.join(", ");
            failure.causes.push(format!("the same applies to {others}"));
        }
        if error.is_alarm() {
            // An alarm is a finding, exit code 1: everything could be looked at, and something is wrong.
            result.entries.push(ResultEntry::Failure(failure));
            result.status = result.status.max(RootStatus::Findings);
        } else {
            result.fail(failure);
        }
    }
}

pub(super) fn failure(error: &MirroringError) -> Failure {
    Failure {
        title: error.to_string(),
        causes: error.causes(),
        help: error.help(),
    }
}

fn provider(release: &MirroredRelease) -> MirroredProvider {
    MirroredProvider {
        provider: release.release.provider.clone(),
        version: release.release.version.clone(),
        packages: release.packages.clone(),
        skipped_platforms: release.skipped.clone(),
        without_list: release.without_list.clone(),
    }
}
