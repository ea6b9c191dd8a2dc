//! `lockctl lock`: create or complete the lock file.

mod text;

use std::io::Write;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::cli::World;
use crate::cli::advice;
use crate::cli::advice::lock::Required;
use crate::cli::args::{Common, Lock};
use crate::cli::network::{self, Told};
use crate::cli::output::{Output, RootOutput};
use crate::cli::progress::Progress;
use crate::cli::root::{LockText, Root};
use crate::cli::roots;
use crate::cli::setup;
use crate::cli::setup::Typed;
use crate::config::Loaded;
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::flavor::Flavor;
use crate::locker::{self, DOWNLOADS, Locked, Outside, Request};
use crate::lockfile;
use crate::report::Failure;
use crate::report::json::Status;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::sources::net::Event;
use crate::sources::{Empty, Source, SourceError};
use crate::world::Replaced;

/// What all roots of a run share.
struct Run<'a> {
    common: &'a Common,
    args: &'a Lock,
    world: World<'a>,
    platforms: Typed,
    told: Told<'a>,
    /// What was made ready for each flavor that came up.
    ready: Vec<Ready<'a>>,
}

/// Where packages come from by the rules of a flavor.
struct Ready<'a> {
    flavor: Flavor,
    /// `None` if the CLI configuration is broken.
    source: Option<Box<dyn Source + 'a>>,
    /// What is to be said about the CLI configuration.
    diagnostics: Vec<Diagnostic>,
    /// Whether that was said of a root that counts.
    told: bool,
}

pub(in crate::cli) fn run(
    common: &Common,
    args: &Lock,
    world: World<'_>,
    stderr: &mut (dyn Write + Send),
) -> Output {
    let platforms = match setup::typed(&args.platforms.platforms) {
        Ok(platforms) => platforms,
        Err(failure) => return Output::failed("lock", failure),
    };
    let progress = Progress::new(common, world.env, stderr);
    let told = |event: &Event<'_>| progress.tell(event);
    let mut run = Run {
        common,
        args,
        world,
        platforms,
        told: &told,
        ready: Vec::new(),
    };
    let ran = roots::each(common, &args.roots, world, |root, texts, output| {
        run.root(root, texts, output)
    });
    progress.finish();
    let mut output = Output::of_roots("lock", ran);
    output.remarks(setup::platform_remarks(&args.platforms.platforms));
    output
}

impl<'a> Run<'a> {
    fn root(
        &mut self,
        root: &Root,
        texts: &mut Texts,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        if let Some(lock) = &root.lock {
            output.faults(&lock.diagnostics, texts);
        }
        let loaded = root.load(self.world, &self.args.configuration, texts);
        if !loaded.found {
            return Err(root.no_configuration());
        }
        output.faults(
            loaded.diagnostics.iter().filter(|one| !is_about_state(one)),
            texts,
        );
        let broken = root
            .lock
            .as_ref()
            .is_some_and(|lock| has_errors(&lock.diagnostics));
        if broken || has_errors(&loaded.diagnostics) {
            return Ok(Replaced::Done);
        }
        let required = &loaded.requirements.providers;
        if root.lock.is_none() && required.keys().all(|addr| addr.is_builtin(root.flavor)) {
            text::nothing_required(output, root);
            return Ok(Replaced::Done);
        }
        self.lock(root, &loaded, texts, output)
    }

    fn lock(
        &mut self,
        root: &Root,
        loaded: &Loaded,
        texts: &mut Texts,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        let required = &loaded.requirements.providers;
        if required.keys().all(|addr| addr.is_builtin(root.flavor)) {
            return self.run(root, loaded, &Empty, (texts, output));
        }
        let at = self.make_ready(root.flavor, texts)?;
        let ready = &self.ready[at];
        // Errors stop every root; the rest is told once.
        if !ready.told || ready.source.is_none() {
            output.faults(&ready.diagnostics, texts);
        }
        let Some(source) = &ready.source else {
            return Ok(Replaced::Done);
        };
        let done = self.run(root, loaded, &**source, (texts, output));
        // A root that starts over says everything again.
        self.ready[at].told |= !matches!(done, Ok(Replaced::Changed));
        done
    }

    /// Locks one root with what a source has.
    fn run(
        &self,
        root: &Root,
        loaded: &Loaded,
        source: &dyn Source,
        (texts, output): (&Texts, &mut RootOutput),
    ) -> Result<Replaced, Failure> {
        let net = network::net(self.world, root.flavor, self.told);
        let document = root.document();
        let providers: Vec<&ProviderAddr> = loaded.requirements.providers.keys().collect();
        let platforms = self.platforms.of_root(root, &providers);
        let request = Request {
            flavor: root.flavor,
            requirements: &loaded.requirements,
            lock: &document.lock,
            platforms: &platforms,
            jobs: setup::jobs(self.args.jobs),
            downloads: self.args.jobs.unwrap_or(DOWNLOADS),
            enforce_expiration: setup::is_true(self.world.env, "OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        };
        let outside = Outside {
            disk: self.world.disk,
            net: &net,
        };
        match locker::run(&outside, source, &request) {
            Ok(locked) => {
                // That a state cannot be seen is worth a word only where that changes something.
                let about_state = loaded.diagnostics.iter().filter(|one| is_about_state(one));
                match self.common.verbose || !locked.unrequired.is_empty() {
                    true => output.faults(about_state, texts),
                    false => output.aside(about_state, texts),
                }
                self.finish(root, &locked, output)
            }
            Err(errors) => {
                let required = Required {
                    requirements: &loaded.requirements,
                    texts,
                };
                advice::lock::errors(output, &errors, root.flavor, &required);
                Ok(Replaced::Done)
            }
        }
    }

    /// Makes the source ready by the rules of a flavor, unless that was done; returns where it stands.
    fn make_ready(&mut self, flavor: Flavor, texts: &mut Texts) -> Result<usize, Failure> {
        if let Some(at) = self.ready.iter().position(|ready| ready.flavor == flavor) {
            return Ok(at);
        }
        let ready = match &self.args.fs_mirror {
            Some(dir) => self.mirror(dir, flavor)?,
            None => self.registry(flavor, texts)?,
        };
        self.ready.push(ready);
        Ok(self.ready.len() - 1)
    }

    fn mirror(&self, dir: &Path, flavor: Flavor) -> Result<Ready<'a>, Failure> {
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
        Ok(Ready {
            flavor,
            source: Some(Box::new(mirror)),
            diagnostics: Vec::new(),
            told: false,
        })
    }

    fn registry(&self, flavor: Flavor, texts: &mut Texts) -> Result<Ready<'a>, Failure> {
        if self.common.offline {
            return Err(Failure {
                title: "there is nobody to ask".to_owned(),
                causes: vec![
                    "packages come from registries, and --offline forbids that".to_owned(),
                ],
                help: Some("leave out --offline, or name a mirror with --fs-mirror DIR".to_owned()),
            });
        }
        let net = network::net(self.world, flavor, self.told);
        let (config, mut diagnostics) =
            network::configuration(self.common, self.world, flavor, texts);
        diagnostics.extend(config.not_followed(flavor));
        let sound = !has_errors(&diagnostics);
        let source = sound
            .then(|| Box::new(network::registry(&net, flavor, config)) as Box<dyn Source + 'a>);
        Ok(Ready {
            flavor,
            source,
            diagnostics,
            told: false,
        })
    }

    /// Writes the lock file, or says what would be written.
    fn finish(
        &self,
        root: &Root,
        locked: &Locked,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        let text = lockfile::write(&locked.lock, root.flavor);
        if text.len() as u64 > lockfile::MAX_BYTES {
            return Err(root.too_large(text.len()));
        }
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
        text::outcome(output, locked, root);
        if self.common.verbose {
            text::hashes(output, locked, root.flavor);
        }
        if !changed {
            text::up_to_date(output, locked, root);
            return Ok(Replaced::Done);
        }
        if let Some(remark) = root.lock.as_ref().and_then(LockText::dropped) {
            output.remark(remark);
        }
        if write {
            text::written(output, locked, root);
            return Ok(Replaced::Done);
        }
        if self.args.dry_run {
            text::difference(output, root, &text);
        }
        if self.args.check {
            output.json.status = Status::Findings;
        }
        text::would_write(output, root);
        Ok(Replaced::Done)
    }
}

/// Tells whether a note says that the state cannot be seen.
fn is_about_state(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == "state-not-visible"
}
