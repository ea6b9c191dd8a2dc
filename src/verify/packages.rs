//! The group *packages*: every installed package against the hashes that the lock file records.

use std::num::NonZeroUsize;
use std::path::Path;

use super::platforms::KnownHashes;
use super::{Finding, LEFT_ALONE, Subject};
use crate::archive::{ArchiveError, Limits, dir};
use crate::diag::{self, Diagnostic, Severity};
use crate::hash::{self, Hash, Match, Package};
use crate::package::{Location, PackageMeta};
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
    let of_locked = |meta: &PackageMeta| {
        let entry = lock.providers.get(&meta.id.provider);
        matches!(meta.location, Location::Directory(_))
            && entry.is_some_and(|entry| entry.version == meta.id.version)
    };
    let metas: Vec<PackageMeta> = installed.packages().filter(of_locked).collect();
    let within = parallel::within(jobs, metas.len());
    let hashes = parallel::map(jobs, &metas, |meta| {
        dir::hash_directory(files, meta.location.path(), &Limits::PACKAGE, within)
            .map(|hashes| hashes.h1)
    });
    let mut checked = Checked {
        hashed: metas.len(),
        ..Checked::default()
    };
    for (meta, hash) in metas.into_iter().zip(hashes) {
        let recorded = &lock.providers[&meta.id.provider].hashes;
        let h1 = match hash {
            Ok(h1) => h1,
            Err(error) => {
                checked.findings.push(unreadable(subject, &meta, &error));
                continue;
            }
        };
        match hash::matches(recorded, &Package::Installed { h1: &h1 }) {
            Match::Matched(_) => {
                let known = checked.known.entry(meta.id.provider).or_default();
                known.insert(meta.id.platform, h1);
            }
            Match::Mismatch => checked.findings.push(mismatch(subject, &meta, &h1)),
            Match::NotComparable => checked.findings.push(unverifiable(
                subject,
                &meta,
                &format!(
                    "; until then `{} plan` refuses it",
                    subject.flavor.command()
                ),
            )),
            Match::NothingRecorded | Match::Unchecked => {
                checked.findings.push(unverifiable(subject, &meta, ""));
            }
        }
    }
    Ok(checked)
}

/// Reports a package whose hash is not recorded.
fn mismatch(subject: Subject<'_>, meta: &PackageMeta, h1: &Hash) -> Finding {
    let id = &meta.id;
    let place = meta.location.path().display();
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
fn unverifiable(subject: Subject<'_>, meta: &PackageMeta, consequence: &str) -> Finding {
    let id = &meta.id;
    let title = format!("Nothing recorded can verify the installed package of {id}");
    let diagnostic = Diagnostic::warning("package-unverifiable", title).at(
        subject.file,
        subject.header(&id.provider),
        "no h1: is recorded here",
    );
    let diagnostic = if subject.is_left_alone(&id.provider) {
        Diagnostic {
            severity: Severity::Note,
            ..diagnostic.help(LEFT_ALONE)
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

fn unreadable(subject: Subject<'_>, meta: &PackageMeta, error: &ArchiveError) -> Finding {
    let id = &meta.id;
    let place = meta.location.path().display();
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
