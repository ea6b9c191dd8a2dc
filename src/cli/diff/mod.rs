//! `lockctl diff`: what changed between lock files, and whether it is alarming.

mod configuration;
mod revisions;
pub(super) mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::CLEAN;
use crate::cli::World;
use crate::cli::args::{Common, Diff, FailOn, Format};
use crate::cli::diff::configuration::Configured;
use crate::cli::diff::text::{Compared, Side};
use crate::cli::output::{self, Output};
use crate::cli::root;
use crate::cli::roots::Ran;
use crate::cli::setup;
use crate::diag::Texts;
use crate::lockfile;
use crate::report::json::{self, Status};
use crate::report::{Block, Failure};
use crate::review::{FileReview, Risk, review, verdict};
use crate::world::{FileKind, Files};

pub(in crate::cli) fn run(common: &Common, args: &Diff, world: World<'_>) -> Output {
    let mut texts = Texts::default();
    let paths = paths(common, args, world.disk);
    let are_named = paths.is_none();
    let compared = match paths {
        Some((old, new)) => {
            let compared = two_files(common, [&old, &new], world, &mut texts);
            compared.map(|one| vec![one])
        }
        None => revisions::compare(common, args, world, &mut texts),
    };
    match compared {
        Ok(all) => finish(common, args, (&all, are_named), texts),
        Err(failure) => Output::failed("diff", failure),
    }
}

/// Returns the two paths that were typed, if there is something at both.
fn paths(common: &Common, args: &Diff, files: &dyn Files) -> Option<(PathBuf, PathBuf)> {
    let existing = |path: &Option<PathBuf>| {
        let path = setup::below(common, path.as_ref()?);
        files.kind(&path).is_ok().then_some(path)
    };
    Some((existing(&args.old)?, existing(&args.new)?))
}

/// Compares the files of two paths.
fn two_files(
    common: &Common,
    paths: [&Path; 2],
    world: World<'_>,
    texts: &mut Texts,
) -> Result<Compared, Failure> {
    let files: &dyn Files = world.disk;
    let [old, new] = paths.map(|path| lock_path(files, path));
    let before = side(common, files, &old, texts)?;
    let now = side(common, files, &new, texts)?;
    if before.is_none() && now.is_none() {
        return Err(Failure {
            title: "there is no lock file on either side".to_owned(),
            help: Some("name two lock files, or the directories that hold them".to_owned()),
            ..Failure::default()
        });
    }
    let path = if now.is_some() { &new } else { &old };
    let mut one = compare(path.display().to_string(), before, now);
    let dirs = [old.parent(), new.parent()].map(|dir| dir.map(Configured::Disk));
    configuration::explain(&mut one, dirs, world, texts);
    Ok(one)
}

/// Explains what differs between two sides.
pub(in crate::cli) fn compare(path: String, old: Option<Side>, new: Option<Side>) -> Compared {
    let review = review(
        old.as_ref().map(Side::as_file),
        new.as_ref().map(Side::as_file),
    );
    Compared {
        path,
        old,
        new,
        review,
        because: BTreeMap::new(),
        failures: Vec::new(),
    }
}

/// Returns the path of a lock file for a directory, too.
fn lock_path(files: &dyn Files, path: &Path) -> PathBuf {
    match files.kind(path) {
        Ok(FileKind::Directory) => root::shown(path).join(lockfile::FILE_NAME),
        _ => path.to_owned(),
    }
}

/// Reads one side; `None` is a file that is not there, and so is the null device, as in git.
fn side(
    common: &Common,
    files: &dyn Files,
    path: &Path,
    texts: &mut Texts,
) -> Result<Option<Side>, Failure> {
    if path == Path::new("/dev/null") {
        return Ok(None);
    }
    let Some(bytes) = root::read_lock(files, path)? else {
        return Ok(None);
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    let name = path.display().to_string();
    Ok(Some(parsed(common, (files, dir), (name, bytes), texts)))
}

/// Parses one side, which lies in a directory.
pub(in crate::cli) fn parsed(
    common: &Common,
    (files, dir): (&dyn Files, &Path),
    (name, bytes): (String, Vec<u8>),
    texts: &mut Texts,
) -> Side {
    let flavor = setup::flavor(common.flavor, files, dir, Some(&bytes));
    let file = texts.add(name, bytes.clone());
    let (document, diagnostics) = lockfile::parse(file, &bytes, flavor);
    Side {
        bytes,
        document,
        diagnostics,
        flavor,
    }
}

/// Says what all comparisons came to.
fn finish(
    common: &Common,
    args: &Diff,
    (all, are_named): (&[Compared], bool),
    texts: Texts,
) -> Output {
    let mut output = Output::of_roots("diff", Ran::default());
    let reviews: Vec<(&str, &FileReview)> =
        all.iter().map(|one| (&*one.path, &one.review)).collect();
    let flavor = all.first().map(Compared::flavor);
    let verdict = verdict(&reviews, |addr| match flavor {
        Some(flavor) => addr.short(flavor),
        None => addr.to_string(),
    });
    let with_details = common.verbose || common.format == Format::Markdown;
    for one in all {
        output
            .report
            .results
            .push(Block::Changes(text::changes(one, are_named, with_details)));
        for side in one.old.iter().chain(&one.new) {
            let faults = side.diagnostics.iter().cloned().map(Block::Diagnostic);
            output.report.notes.extend(faults);
        }
        let failures = one.failures.iter().cloned().map(Block::Failure);
        output.report.notes.extend(failures);
    }
    let tone = text::tone(verdict.risk);
    output
        .report
        .results
        .push(Block::Verdict(tone, verdict.text.clone()));
    let told = all
        .iter()
        .map(|one| (one, status(one, args.fail_on)))
        .filter(|(one, status)| !one.review.is_empty() || *status == Status::Failed);
    let rows = told.map(|(one, status)| text::row_of_file(one, status, &texts));
    let rows: Vec<json::File> = rows.collect();
    let worst = rows.iter().map(|row| row.status).max();
    output.exit = worst.map_or(CLEAN, output::exit_code);
    let verdict = json::Verdict {
        risk: verdict.risk,
        text: verdict.text,
    };
    output.files = Some((rows, verdict));
    output.texts = texts;
    output
}

/// Judges a file: whether it could be compared, and whether it is worse than is allowed.
fn status(one: &Compared, fail_on: Option<FailOn>) -> Status {
    let limit = match fail_on {
        _ if one.is_broken() || !one.failures.is_empty() => return Status::Failed,
        None => return Status::Clean,
        Some(FailOn::Warning) => Risk::Warning,
        Some(FailOn::Danger) => Risk::Danger,
    };
    match one.review.risk() >= limit {
        true => Status::Findings,
        false => Status::Clean,
    }
}
