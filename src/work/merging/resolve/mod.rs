//! `lockctl resolve`: lock files with conflict markers.

mod text;

use std::path::Path;
use std::rc::Rc;

use clap::Args;

use crate::diag::{counted, has_errors};
use crate::flavor::{Flavor, FlavorChoice};
use crate::merging::merge;
use crate::merging::merge::MergePolicy;
use crate::report::json::RootStatus;
use crate::report::{CommandResult, Failure, Look, RootResult, Sentence, TextBlock, Tone};
use crate::review::{self, MergeBase, MergeSides, Parted};
use crate::run::command::Command;
use crate::run::commands::quoted;
use crate::run::options::{Options, RootArgs, examples};
use crate::run::root::{LockText, Root};
use crate::run::session::Session;
use crate::run::{World, commands};
use crate::workspace::read_lock;
use crate::world::Replaced;
use crate::{driver, git, lockfile, pins};

/// Merge lock files with conflict markers, entry by entry
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl resolve", "the lock file of this directory"),
    ("lockctl resolve -r --prefer theirs", "all below; their version where both sides moved"),
]))]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    #[command(flatten)]
    pub(crate) policy: MergePolicy,
}

impl Command for ResolveArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let resolution = Resolution {
            options: session.options,
            args: self,
            world: session.world,
        };
        let all = driver::each(session, &self.roots, |root, _, result| {
            resolution.root(root, result)
        });
        all.into_result("resolve")
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result.roots(), look)
    }
}

/// The options that all roots of a run share.
struct Resolution<'a> {
    options: &'a Options,
    args: &'a ResolveArgs,
    world: World<'a>,
}

impl Resolution<'_> {
    fn root(&self, root: &Root, result: &mut RootResult) -> Result<Replaced, Failure> {
        // The pins first: a merge that left both files open is not finished by the lock file alone.
        let path = root.lock_path.with_file_name(pins::FILE_NAME);
        if let Some(bytes) = read_lock(self.world.disk, &path)?
            && let Ok(Some(parted)) = review::part(&bytes)
        {
            let replaced = self.pins(root, (&path, &bytes), &parted, result)?;
            if replaced == Replaced::Changed || root.lock.is_none() {
                return Ok(replaced);
            }
        }
        let Some(lock) = &root.lock else {
            if self.args.roots.recursive {
                root.note_lack(result);
                return Ok(Replaced::Done);
            }
            return Err(root.no_lock());
        };
        match review::part(&lock.bytes) {
            Ok(Some(parted)) => self.resolve(root, lock, &parted, result),
            Ok(None) => {
                result.faults(&lock.diagnostics);
                result.changed = Some(false);
                if !has_errors(&lock.diagnostics) {
                    let place = root.lock_path.display();
                    result.detail(format!("{place}: there are no conflict markers"));
                }
                Ok(Replaced::Done)
            }
            Err(error) => {
                result.faults([&error.diagnostic(lock.file)]);
                Ok(Replaced::Done)
            }
        }
    }

    /// Merges a file of pinned modules that has conflict markers.
    fn pins(
        &self,
        root: &Root,
        (path, bytes): (&Path, &[u8]),
        parted: &Parted,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let place = path.display().to_string();
        let [Some(ours), Some(theirs)] =
            [&parted.ours, &parted.theirs].map(|side| pins::read(side))
        else {
            result.warn(format!("{place}: not merged, because a side has errors"));
            result.status = RootStatus::Findings;
            return Ok(Replaced::Done);
        };
        let base = git::base_of(self.world.run, &root.dir, pins::FILE_NAME, pins::MAX_BYTES)
            .or_else(|| parted.base.clone())
            .and_then(|bytes| pins::read(&bytes))
            .unwrap_or_default();
        let merged = review::merge_pins([&base, &ours, &theirs], self.args.policy.prefer);
        let text = merged.write(&parted.markers);
        let replaced = self.world.disk.replace(path, Some(bytes), text.as_bytes());
        if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
            return Ok(Replaced::Changed);
        }
        result.changed = Some(true);
        if merge::text::pins(&place, &merged, result) == 0 {
            result.remark(format!(
                "{place}: no conflict is left; run `git add {place}`"
            ));
        }
        Ok(Replaced::Done)
    }

    /// Merges the sides between the markers; nothing is written if one has faults, which are reported.
    fn resolve(
        &self,
        root: &Root,
        lock: &LockText,
        parted: &Parted,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        let flavor = self.flavor(root, lock, parted);
        let place = root.lock_path.display().to_string();
        let mut side = |bytes| merge::text::side(lock.file, bytes, flavor, &root.advice, result);
        let (Some(ours), Some(theirs)) = (side(&parted.ours), side(&parted.theirs)) else {
            return Ok(Replaced::Done);
        };
        let base = match base_of(root, parted, self.world) {
            Some(bytes) => MergeBase::read(&bytes, flavor),
            None => {
                result.remark(
                    "the common base of both sides is unknown: what only one side has is kept, and the newer version \
                     is taken, also where a side went down, unless `--prefer` says otherwise",
                );
                MergeBase::unknown()
            }
        };
        let sides = MergeSides { base, ours, theirs };
        let prefer = self.args.policy.prefer;
        let texts = [&*parted.ours, &*parted.theirs];
        let file = sides.merge(texts, prefer, flavor, &parted.markers);
        let new = file.text.as_bytes();
        let changed = new != &*lock.bytes;
        if changed {
            let replaced = self
                .world
                .disk
                .replace(&root.lock_path, Some(&lock.bytes), new);
            // Something else wrote the file meanwhile: the driver reads it again.
            if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
                return Ok(Replaced::Changed);
            }
        }
        result.changed = Some(changed);
        // Of several roots the advice is one sentence for all of them, and each sentence follows the name of its root.
        let all = commands::of_all(self.options, &self.args.roots);
        merge::text::outcome("", &file, &all, result);
        let added = if all.resolve == root.advice.resolve {
            format!("run `git add {}`", quoted(&place))
        } else {
            "run `git add` with the files".to_owned()
        };
        merge::text::advise(&file, &all.resolve.for_root, &added, result);
        let (tone, text) = match file.merged.conflicts.len() {
            0 => {
                // For git a file is in conflict until it is added, even without conflict markers.
                if git::is_unmerged(self.world.run, &root.dir, lockfile::FILE_NAME) {
                    result.remark(format!("{added} to mark it as resolved"));
                }
                (Tone::Good, "no conflict is left".to_owned())
            }
            n => {
                let left = if n == 1 { "needs" } else { "need" };
                (
                    Tone::Warning,
                    format!("{} {left} manual resolution", counted(n, "provider")),
                )
            }
        };
        result.verdict = Some(Sentence {
            tone,
            text: format!("{place}: {text}"),
        });
        Ok(Replaced::Done)
    }

    /// Decides about the flavor again if the header itself is in conflict.
    fn flavor(&self, root: &Root, lock: &LockText, parted: &Parted) -> Flavor {
        let choice = self.options.flavor.or(root.project().flavor);
        // With two headers between markers the file as a whole has none that could be read; they merge as
        // an entry does (`review` rules 1.6).
        if choice != FlavorChoice::Auto || lockfile::header_of(&lock.bytes).is_some() {
            return root.flavor;
        }
        let base = base_of(root, parted, self.world).unwrap_or_default();
        parted
            .program(lockfile::header_of(&base))
            .map_or(root.flavor, Flavor::newest)
    }
}

/// Returns the text that both sides started from, by git's index, else by the markers; nothing if neither
/// has it.
fn base_of(root: &Root, parted: &Parted, world: World<'_>) -> Option<Vec<u8>> {
    let name = lockfile::FILE_NAME;
    // During a merge git's index has the base in any case; the markers show it only in two of three styles.
    git::base_of(world.run, &root.dir, name, lockfile::MAX_BYTES).or_else(|| parted.base.clone())
}
