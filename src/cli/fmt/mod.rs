//! `lockctl fmt`: lock files in canonical form.

use crate::cli::World;
use crate::cli::args::{Common, Fmt};
use crate::cli::output::{Output, RootOutput};
use crate::cli::root::{LockText, Root};
use crate::cli::roots;
use crate::diag::Texts;
use crate::lockfile;
use crate::report::json::Status;
use crate::report::{Block, Failure};
use crate::world::Replaced;

pub(in crate::cli) fn run(common: &Common, args: &Fmt, world: World<'_>) -> Output {
    let run = Run { args, world };
    let ran = roots::each(common, &args.roots, world, |root, texts, output| {
        run.root(root, texts, output)
    });
    Output::of_roots("fmt", ran)
}

/// What all roots of a run share.
struct Run<'a> {
    args: &'a Fmt,
    world: World<'a>,
}

impl Run<'_> {
    fn root(
        &self,
        root: &Root,
        texts: &mut Texts,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        let Some(lock) = root.sound_lock(texts, output)? else {
            return Ok(Replaced::Done);
        };
        let text = lockfile::write(&lock.document.lock, root.flavor);
        let changed = text.as_bytes() != lock.bytes;
        output.json.changed = Some(changed);
        if changed {
            self.finish(root, lock, &text, output)
        } else {
            Ok(Replaced::Done)
        }
    }

    /// Writes the canonical text, or says that it differs.
    fn finish(
        &self,
        root: &Root,
        lock: &LockText,
        text: &str,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        let place = root.lock_path.display();
        if self.args.check {
            output.json.status = Status::Findings;
        } else {
            let replaced =
                self.world
                    .disk
                    .replace(&root.lock_path, Some(&lock.bytes), text.as_bytes());
            if replaced.map_err(|error| root.unwritable(&error))? == Replaced::Changed {
                return Ok(Replaced::Changed);
            }
        }
        output
            .report
            .results
            .push(Block::Lines(vec![place.to_string()]));
        if let Some(remark) = lock.dropped() {
            output.remark(format!("{place}: {remark}"));
        }
        Ok(Replaced::Done)
    }
}
