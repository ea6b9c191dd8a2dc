//! The job that converts roots: each lock file is converted, and then locked.

use super::{failures, report};
use crate::cli::lock::{LockJob, LockOutcome, OpenRoot, StartingLock, sound};
use crate::config::Loaded;
use crate::diag::Texts;
use crate::locker::{self, Conversion, LockError, Locked};
use crate::report::{Failure, RootResult, Sentence};
use crate::run::root::Root;
use crate::run::{Job, OpenResult};
use crate::world::{Disk, Exclusive, Replaced};

/// The job that converts roots.
pub(super) struct ConvertJob<'j, 'a> {
    pub(super) lock: &'j mut LockJob<'a>,
    pub(super) files: &'j dyn Disk,
    /// Roots without a lock file are errors: they were named one by one.
    pub(super) needs_lock: bool,
}

impl Job for ConvertJob<'_, '_> {
    type Opened = (OpenRoot, Conversion);
    type Done = (OpenRoot, Conversion, LockOutcome);

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<Self::Opened>, Failure> {
        let Some(loaded) = sound(&root, loaded, result)? else {
            return Ok(OpenResult::Finished);
        };
        if root.lock.is_none() {
            if self.needs_lock {
                return Err(root.no_lock());
            }
            result.changed = Some(false);
            result.lock_mut().outcome =
                Some("there is no lock file, so there is nothing to convert".to_owned());
            result.verdict = Some(Sentence::note(format!(
                "{}: there is no lock file, so there is nothing to convert",
                root.dir.display()
            )));
            return Ok(OpenResult::Finished);
        }
        failures::check_builtin(&root, &loaded, texts)?;
        let requirements = &loaded.requirements;
        let conversion = locker::convert(&root.document().lock, requirements, root.flavor);
        let start = StartingLock {
            lock: conversion.lock.clone(),
            elsewhere: conversion.recorded(),
            kept: conversion.staying.keys().cloned().collect(),
        };
        let opened = self
            .lock
            .open_from(Some(start), root, loaded, texts, result)?;
        Ok(match opened {
            OpenResult::Ready(opened) => OpenResult::Ready((opened, conversion)),
            OpenResult::Finished => OpenResult::Finished,
            OpenResult::Changed => OpenResult::Changed,
        })
    }

    fn work(
        &mut self,
        roots: Vec<(Self::Opened, &mut RootResult)>,
        texts: &Texts,
    ) -> Vec<Self::Done> {
        let (opened, conversions): (Vec<_>, Vec<Conversion>) = roots
            .into_iter()
            .map(|((opened, conversion), result)| ((opened, result), conversion))
            .unzip();
        self.lock
            .work(opened, texts)
            .into_iter()
            .zip(conversions)
            .map(|((opened, outcome), conversion)| (opened, conversion, outcome))
            .collect()
    }

    fn finish(
        &mut self,
        (opened, conversion, outcome): Self::Done,
        held: Option<&Exclusive>,
        texts: &Texts,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        self.lock.report_sources(&opened, result);
        // `lock` keeps an entry that a source does not have as it is (`locker` rules 2.6); a moved one has
        // no hashes to keep.
        match outcome.and_then(|locked| complete(&conversion, locked)) {
            Ok(locked) => {
                self.lock.report_state(&opened, &locked, result);
                report::entries(result, &conversion, &opened, texts);
                report::settings(result, &opened.root, self.files);
                let replaced = self.lock.write(&opened, &locked, held, result)?;
                if replaced == Replaced::Done && result.changed == Some(true) {
                    report::verdict(
                        result,
                        &conversion,
                        &opened.root,
                        &locked,
                        self.lock.writes(),
                    );
                }
                Ok(replaced)
            }
            Err(errors) => {
                let (missing, errors) = failures::missing(&conversion, errors, &opened.root);
                self.lock.report_errors(&opened, &errors, texts, result);
                for failure in missing {
                    result.fail(failure);
                }
                Ok(Replaced::Done)
            }
        }
    }
}

/// Makes an error of a moved entry that the registry of the program does not have: it has no hashes, and
/// would be trusted on first use (`lockfile` rules 5.2).
fn complete(conversion: &Conversion, locked: Locked) -> Result<Locked, Vec<LockError>> {
    let is_moved = |error: &LockError| {
        let absent = error.absent();
        conversion
            .moved
            .iter()
            .any(|entry| absent == Some(&entry.to))
    };
    if !locked.unavailable.iter().any(is_moved) {
        return Ok(locked);
    }
    Err(locked.unavailable.into_iter().filter(is_moved).collect())
}
