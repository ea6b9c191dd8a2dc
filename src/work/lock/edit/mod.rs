//! `update --edit`: constraints that exclude the wanted versions are rewritten, and everything is locked with them.
//!
//! The constraints of all roots are planned first. Then the lock run reads the edited files from a staged disk,
//! which is committed only if every root could be locked.

mod foreign;
mod plan;
pub(super) mod text;

use std::rc::Rc;

use super::{LockRequest, Moves};
use crate::report::{CLEAN, FAILED, FINDINGS};
use crate::report::{CommandResult, ResultSubject, RootResult, Sentence};
use crate::run::edits::{PlannedEdits, nothing_written};
use crate::run::session::Session;
use crate::version::ConstraintForm;
use crate::world::StagedDisk;

/// Edits constraints and locks all roots of a command line, together or not at all.
pub(crate) fn run(
    session: &Rc<Session<'_>>,
    request: LockRequest<'_>,
    moves: &Moves,
    form: ConstraintForm,
) -> CommandResult {
    let (edits, planned) = plan::plan(session, request, moves, form);
    if planned.exit != CLEAN {
        return planned;
    }
    write_with(session, request, &edits)
}

/// Locks all roots as if files were edited already, and writes all files together or none.
pub(crate) fn write_with(
    session: &Rc<Session<'_>>,
    request: LockRequest<'_>,
    edits: &PlannedEdits,
) -> CommandResult {
    let staged = StagedDisk::new(session.world.disk);
    if let Err(failure) = edits.write(&staged) {
        return CommandResult::failed(request.command, [failure]);
    }
    let request = LockRequest {
        edits: Some(edits),
        ..request
    };
    let mut result = super::run(&session.with_disk(&staged), request);
    let are_edited = !edits.is_empty();
    result.edits = are_edited.then(|| edits.report());
    if result.exit == FAILED && are_edited {
        result.remarks.push(Sentence::note(
            "failures quote constraints as the edits would leave them",
        ));
    }
    if request.options.check && are_edited {
        result.exit = result.exit.max(FINDINGS);
    }
    if !request.options.writes() {
        return result;
    }
    if result.exit == CLEAN {
        return match staged.commit() {
            Ok(()) => result,
            Err(unwritten) => CommandResult::failed(request.command, [nothing_written(&unwritten)]),
        };
    }
    result.edits = None;
    let ResultSubject::Roots(roots) = &mut result.subject else {
        return result;
    };
    let is_written = |root: &RootResult| root.changed == Some(true);
    if roots.iter().any(is_written) {
        result.remarks.push(Sentence::warning(
            "nothing was written: configuration and lock files are written together, and some root failed",
        ));
    }
    for root in roots.iter_mut().filter(|root| is_written(root)) {
        root.changed = Some(false);
        root.verdict = None;
        root.providers.clear();
    }
    result
}
