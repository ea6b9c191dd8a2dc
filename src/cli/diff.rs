//! `lockctl diff`: what changed between lock files, and whether it is alarming.

use std::path::{Path, PathBuf};

use super::args::{Common, Diff, FailOn, Format};
use super::diff_report::{self, Compared, Side};
use super::output::Output;
use super::root;
use super::roots::Ran;
use super::{CLEAN, FAILED, FINDINGS, World, setup};
use crate::diag::Texts;
use crate::lockfile;
use crate::report::{Block, Failure};
use crate::review::{FileReview, Risk, Verdict, review, verdict};
use crate::world::{FileKind, Files};

pub(super) fn run(common: &Common, args: &Diff, world: World<'_>) -> Output {
    let mut texts = Texts::default();
    let compared = match two_files(common, args, world.disk, &mut texts) {
        Ok(compared) => compared,
        Err(failure) => return Output::failed("diff", failure),
    };
    finish(common, args, &[compared], texts)
}

/// Compares the files of two paths.
fn two_files(
    common: &Common,
    args: &Diff,
    files: &dyn Files,
    texts: &mut Texts,
) -> Result<Compared, Failure> {
    let [old, new] =
        [&args.old, &args.new].map(|path| lock_path(files, &setup::below(common, path)));
    let (old, new) = (old?, new?);
    let before = side(common, files, &old, texts)?;
    let now = side(common, files, &new, texts)?;
    if before.is_none() && now.is_none() {
        return Err(Failure {
            title: "there is no lock file on either side".to_owned(),
            help: Some("name two lock files, or the directories that hold them".to_owned()),
            ..Failure::default()
        });
    }
    let path = if now.is_some() { new } else { old };
    Ok(compare(path.display().to_string(), before, now))
}

/// Explains what differs between two sides.
fn compare(path: String, old: Option<Side>, new: Option<Side>) -> Compared {
    let review = review(
        old.as_ref().map(Side::as_file),
        new.as_ref().map(Side::as_file),
    );
    Compared {
        path,
        old,
        new,
        review,
    }
}

/// Returns the path of a lock file for a directory, too.
///
/// # Errors
/// If there is nothing; the null device stands for a file that is not there, as in git.
fn lock_path(files: &dyn Files, path: &Path) -> Result<PathBuf, Failure> {
    match files.kind(path) {
        Ok(FileKind::Directory) => Ok(root::shown(path).join(lockfile::FILE_NAME)),
        Ok(_) => Ok(path.to_owned()),
        Err(error) => Err(Failure {
            title: format!("{} cannot be read", path.display()),
            causes: vec![error.to_string()],
            help: Some("name a lock file, or the directory that holds it".to_owned()),
        }),
    }
}

/// Reads one side; `None` is a file that is not there.
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
    let flavor = setup::flavor(common.flavor, files, dir, Some(&bytes));
    let file = texts.add(path.display().to_string(), bytes.clone());
    let (document, diagnostics) = lockfile::parse(file, &bytes, flavor);
    Ok(Some(Side {
        bytes,
        document,
        diagnostics,
        flavor,
    }))
}

/// Says what all comparisons came to.
fn finish(common: &Common, args: &Diff, all: &[Compared], texts: Texts) -> Output {
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
            .push(Block::Changes(diff_report::changes(
                one,
                all.len() > 1,
                with_details,
            )));
        for side in one.old.iter().chain(&one.new) {
            let faults = side.diagnostics.iter().cloned().map(Block::Diagnostic);
            output.report.notes.extend(faults);
        }
    }
    let tone = diff_report::tone(verdict.risk);
    output
        .report
        .results
        .push(Block::Verdict(tone, verdict.text.clone()));
    output.exit = exit_code(args.fail_on, all, &verdict);
    let files = all.iter().filter(|one| !one.review.is_empty());
    let files = files.map(|one| diff_report::json(one, &texts)).collect();
    output.files = Some((files, diff_report::verdict_json(&verdict)));
    output.texts = texts;
    output
}

fn exit_code(fail_on: Option<FailOn>, all: &[Compared], verdict: &Verdict) -> u8 {
    if all.iter().any(Compared::is_broken) {
        return FAILED;
    }
    let limit = match fail_on {
        None => return CLEAN,
        Some(FailOn::Warning) => Risk::Warning,
        Some(FailOn::Danger) => Risk::Danger,
    };
    if verdict.risk >= limit {
        FINDINGS
    } else {
        CLEAN
    }
}
