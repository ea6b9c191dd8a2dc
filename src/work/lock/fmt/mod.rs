//! `lockctl fmt`: lock files in canonical form.

mod text;

use std::rc::Rc;

use clap::Args;

use crate::report::json::RootStatus;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::command::Command;
use crate::run::line_ends;
use crate::run::options::{RootArgs, examples};
use crate::run::root;
use crate::run::session::Session;
use crate::world::Replaced;
use crate::{driver, lockfile};

/// Rewrite lock files in canonical form
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl fmt", "rewrite the lock file of this directory"),
    ("lockctl fmt -r --check", "check all lock files below"),
]))]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Write nothing; exit with code 1 if a lock file is not canonical
    #[arg(long)]
    pub(crate) check: bool,
}

impl Command for FmtArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let world = session.world;
        let all = driver::each(session, &self.roots, |root, _, result| {
            let repaired = root.repaired_lock(result);
            let lock = match &repaired {
                Some(lock) => Some(lock),
                None => root.sound_lock_of(&self.roots, result)?,
            };
            let Some(lock) = lock else {
                return Ok(Replaced::Done);
            };
            let text = lockfile::write(&lock.document.lock, root.flavor);
            let is_canonical = !line_ends::differs(world, root, &text);
            result.changed = Some(!is_canonical);
            if is_canonical {
                return Ok(Replaced::Done);
            }
            line_ends::remark(root, result);
            if self.check {
                result.status = RootStatus::Findings;
            } else {
                let bytes = text.as_bytes();
                let replaced = world
                    .disk
                    .replace(&root.lock_path, Some(&lock.bytes), bytes);
                if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
                    return Ok(Replaced::Changed);
                }
            }
            // Canonical text has no comments (`lockfile` rules 1.8).
            if let Some(remark) = root::dropped(lock) {
                result.remark(remark);
            }
            Ok(Replaced::Done)
        });
        all.into_result("fmt")
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        // A lock file that was rewritten is no failure.
        if look.quiet && !self.check {
            return Vec::new();
        }
        text::of_all(result.roots())
    }
}
