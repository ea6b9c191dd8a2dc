//! The group *packages*: every installed package against the hashes that the lock file records.

use std::num::NonZeroUsize;
use std::path::Path;

use super::platforms::KnownHashes;
use super::{Finding, Subject};
use crate::archive::{ArchiveError, Limits, dir};
use crate::diag::{self, Diagnostic, Severity};
use crate::hash::{self, Hash, Match, Package};
use crate::package::{Local, LocalPackage};
use crate::parallel;
use crate::sources::SourceError;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::world::Files;

/// What became of the packages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The hashes of those that are right.
    pub known: KnownHashes,
    /// How many packages were hashed.
    pub hashed: usize,
}

/// Hashes every installed package of a locked version and compares it, as `plan` does
/// (`lockfile.md` 5.3).
///
/// `providers_dir` is laid out like an unpacked filesystem mirror: `.terraform/providers`. A missing one
/// holds no packages. Packages of other versions and providers are left alone: `init` never
/// cleans them up, and nothing uses them.
///
/// # Errors
/// If the directory cannot be read.
pub fn check(
    files: &dyn Files,
    subject: Subject<'_>,
    providers_dir: &Path,
    jobs: NonZeroUsize,
) -> Result<Checked, SourceError> {
    if files
        .kind(providers_dir)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    {
        return Ok(Checked::default());
    }
    let installed = FilesystemMirror::scan(files, providers_dir, subject.flavor)?;
    let lock = &subject.document.lock;
    let of_locked = |package: &LocalPackage| {
        let entry = lock.providers.get(&package.id.provider);
        matches!(package.place, Local::Directory(_))
            && entry.is_some_and(|entry| entry.version == package.id.version)
    };
    let packages: Vec<LocalPackage> = installed.packages().filter(of_locked).collect();
    let within = parallel::within(jobs, packages.len());
    let hashes = parallel::map(jobs, &packages, |package| {
        dir::hash_directory(files, package.place.path(), &Limits::PACKAGE, within)
            .map(|hashes| hashes.h1)
    });
    let mut checked = Checked {
        hashed: packages.len(),
        ..Checked::default()
    };
    for (package, hash) in packages.into_iter().zip(hashes) {
        let recorded = &lock.providers[&package.id.provider].hashes;
        let h1 = match hash {
            Ok(h1) => h1,
            Err(error) => {
                checked.findings.push(unreadable(subject, &package, &error));
                continue;
            }
        };
        match hash::matches(recorded, &Package::Installed { h1: &h1 }) {
            Match::Matched(_) => {
                let known = checked.known.entry(package.id.provider).or_default();
                known.insert(package.id.platform, h1);
            }
            Match::Mismatch => checked.findings.push(mismatch(subject, &package, &h1)),
            Match::NotComparable => checked.findings.push(unverifiable(
                subject,
                &package,
                &format!(
                    "; until then `{} plan` refuses it",
                    subject.flavor.command()
                ),
            )),
            Match::NothingRecorded | Match::Unchecked => {
                checked.findings.push(unverifiable(subject, &package, ""));
            }
        }
    }
    Ok(checked)
}

/// Reports a package whose hash is not recorded.
fn mismatch(subject: Subject<'_>, package: &LocalPackage, h1: &Hash) -> Finding {
    let id = &package.id;
    let place = package.place.path().display();
    let title = format!("The installed package of {id} is not one that the lock file records");
    let diagnostic = Diagnostic::error("package-mismatch", title)
        .at(
            subject.file,
            subject.header(&id.provider),
            format!("no recorded h1: is that of {place}"),
        )
        .help(format!(
            "{place} hashes to {h1}; if nobody can say why, delete that directory and run \
             `{} init` again",
            subject.flavor.command()
        ));
    Finding {
        platform: Some(id.platform.clone()),
        ..Finding::about(&id.provider, diagnostic)
    }
}

/// Reports a package that no recorded hash says anything about.
fn unverifiable(subject: Subject<'_>, package: &LocalPackage, consequence: &str) -> Finding {
    let id = &package.id;
    let title = format!("Nothing recorded can verify the installed package of {id}");
    let diagnostic = Diagnostic::warning("package-unverifiable", title).at(
        subject.file,
        subject.header(&id.provider),
        "no h1: is recorded here",
    );
    let diagnostic = if let Some(left_over) = subject.left_over(&id.provider) {
        Diagnostic {
            severity: Severity::Note,
            ..diagnostic.help(left_over)
        }
    } else {
        let command = &subject.advice.lock;
        let platform = &id.platform;
        diagnostic.help(format!(
            "run `{command} --platform {platform}` to add its h1:{consequence}"
        ))
    };
    Finding {
        platform: Some(id.platform.clone()),
        ..Finding::about(&id.provider, diagnostic)
    }
}

fn unreadable(subject: Subject<'_>, package: &LocalPackage, error: &ArchiveError) -> Finding {
    let id = &package.id;
    let place = package.place.path().display();
    let said = std::iter::once(error.to_string()).chain(diag::causes(error));
    let cause = said.collect::<Vec<_>>().join(": ");
    let diagnostic = Diagnostic::error(
        "package-unreadable",
        format!("The installed package of {id} cannot be hashed"),
    )
    .at(subject.file, subject.header(&id.provider), cause)
    .help(format!(
        "delete {place} and run `{} init` again",
        subject.flavor.command()
    ));
    Finding {
        platform: Some(id.platform.clone()),
        ..Finding::about(&id.provider, diagnostic)
    }
}
