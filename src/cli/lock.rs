//! `lockctl lock`: create or complete the lock file.

use super::args::{Common, Lock};
use super::lock_errors;
use super::lock_report as say;
use super::output::{Output, RootOutput};
use super::root::{self, LockText, Root};
use super::{World, setup};
use crate::config::Loaded;
use crate::diag::{Texts, has_errors};
use crate::flavor::Flavor;
use crate::locker::{self, Locked, Request, Wanted};
use crate::lockfile;
use crate::report::Failure;
use crate::report::json::Status;
use crate::sources::SourceError;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::world::Replaced;

/// What all roots of a run share.
struct Run<'a> {
    common: &'a Common,
    args: &'a Lock,
    world: World<'a>,
    platforms: Wanted,
    /// The mirror, scanned once for each flavor that comes up.
    mirrors: Vec<(Flavor, FilesystemMirror)>,
}

pub(super) fn run(common: &Common, args: &Lock, world: World<'_>) -> Output {
    let platforms = match setup::wanted(&args.platforms.platforms) {
        Ok(platforms) => platforms,
        Err(failure) => return Output::failed("lock", failure),
    };
    let mut run = Run {
        common,
        args,
        world,
        platforms,
        mirrors: Vec::new(),
    };
    let (outputs, texts) = root::each(common, &args.roots, world.disk, |root, texts, output| {
        run.root(root, texts, output)
    });
    let mut output = Output::of_roots("lock", outputs, texts);
    output.remarks(setup::platform_remarks(&args.platforms.platforms));
    output
}

impl Run<'_> {
    fn root(
        &mut self,
        root: &Root,
        texts: &mut Texts,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        if let Some(lock) = &root.lock {
            output.faults(&lock.diagnostics, texts);
        }
        let loaded = root.load(self.world.disk, texts);
        if !loaded.found {
            return Err(root.no_configuration());
        }
        output.faults(&loaded.diagnostics, texts);
        let broken = root
            .lock
            .as_ref()
            .is_some_and(|lock| has_errors(&lock.diagnostics));
        if broken || has_errors(&loaded.diagnostics) {
            return Ok(Replaced::Done);
        }
        let required = &loaded.requirements.providers;
        if root.lock.is_none() && required.keys().all(|addr| addr.is_builtin(root.flavor)) {
            say::nothing_required(output, root);
            return Ok(Replaced::Done);
        }
        self.lock(root, &loaded, output)
    }

    fn lock(
        &mut self,
        root: &Root,
        loaded: &Loaded,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        self.scan(root.flavor)?;
        let document = root.document();
        let request = Request {
            flavor: root.flavor,
            requirements: &loaded.requirements,
            lock: &document.lock,
            platforms: &self.platforms,
            jobs: setup::jobs(self.args.jobs),
        };
        let mirror = self
            .mirrors
            .iter()
            .find(|(flavor, _)| *flavor == root.flavor);
        let (_, mirror) = mirror.expect("the mirror was scanned for this flavor");
        match locker::run(self.world.disk, mirror, &request) {
            Ok(locked) => self.finish(root, &locked, output),
            Err(errors) => {
                lock_errors::errors(output, &errors, root.flavor);
                Ok(Replaced::Done)
            }
        }
    }

    /// Scans the mirror by the rules of a flavor, unless that was done.
    fn scan(&mut self, flavor: Flavor) -> Result<(), Failure> {
        if self.mirrors.iter().any(|(known, _)| *known == flavor) {
            return Ok(());
        }
        let Some(dir) = &self.args.fs_mirror else {
            return Err(Failure {
                title: "no source of packages was given".to_owned(),
                causes: vec!["this version locks from filesystem mirrors only".to_owned()],
                help: Some("name one: lockctl lock --fs-mirror DIR".to_owned()),
            });
        };
        let dir = setup::below(self.common, dir);
        let mirror = FilesystemMirror::scan(self.world.disk, &dir, flavor).map_err(|error| {
            let is_top = matches!(&error, SourceError::Unreadable { path, .. } if *path == dir);
            let help = if is_top {
                "name the top directory of a filesystem mirror"
            } else {
                "make it readable"
            };
            Failure::from_error(&error).help(help)
        })?;
        self.mirrors.push((flavor, mirror));
        Ok(())
    }

    /// Writes the lock file, or says what would be written.
    fn finish(
        &self,
        root: &Root,
        locked: &Locked,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        let text = lockfile::write(&locked.lock, root.flavor);
        let old = root.lock.as_ref().map(|lock| &*lock.bytes);
        let changed = old != Some(text.as_bytes());
        let write = changed && !self.args.check && !self.args.dry_run;
        if write {
            let replaced = self
                .world
                .disk
                .replace(&root.lock_path, old, text.as_bytes());
            if replaced.map_err(|error| root.unwritable(&error))? == Replaced::Changed {
                return Ok(Replaced::Changed);
            }
        }
        output.json.changed = Some(changed);
        say::outcome(output, locked, root);
        if self.common.verbose {
            say::hashes(output, locked, root.flavor);
        }
        if !changed {
            say::up_to_date(output, locked, root);
            return Ok(Replaced::Done);
        }
        if let Some(remark) = root.lock.as_ref().and_then(LockText::dropped) {
            output.remark(remark);
        }
        if write {
            say::written(output, locked, root);
            return Ok(Replaced::Done);
        }
        if self.args.dry_run {
            say::difference(output, root, &text);
        }
        if self.args.check {
            output.json.status = Status::Findings;
        }
        say::would_write(output, root);
        Ok(Replaced::Done)
    }
}
