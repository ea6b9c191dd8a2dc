//! `lockctl lock`: create or complete the lock file.

mod args;
mod text;

use std::io::Write;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::cli::World;
use crate::cli::advice;
use crate::cli::advice::lock::Required;
use crate::cli::args::Common;
use crate::cli::network::{self, Told};
use crate::cli::output::{Output, RootOutput};
use crate::cli::progress::Progress;
use crate::cli::root::{self, Root};
use crate::cli::roots::{self, Together};
use crate::cli::setup;
use crate::cli::setup::Typed;
use crate::config::Loaded;
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::flavor::Flavor;
use crate::locker::{
    self, DOWNLOADS, FlavorSource, LockError, Locked, RootRequest, Settings, WantedPlatforms,
};
use crate::lockfile::{self, LockFile};
use crate::report::Failure;
use crate::report::json::Status;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::sources::net::{Event, Net};
use crate::sources::{Empty, Source, SourceError};
use crate::world::Replaced;
pub(in crate::cli) use args::Lock;

/// The lock run of a command line.
struct LockRun<'a> {
    common: &'a Common,
    args: &'a Lock,
    world: World<'a>,
    platforms: Typed,
    told: Told<'a>,
    settings: Settings,
    /// The sources that the roots so far need.
    sources: Vec<SourceSetup<'a>>,
}

/// Where packages come from by the rules of a flavor.
struct SourceSetup<'a> {
    flavor: Flavor,
    net: Net<'a>,
    packages: Packages<'a>,
    /// What is to be said about the CLI configuration.
    diagnostics: Vec<Diagnostic>,
    /// Whether that was said of a root that counts.
    is_said: bool,
}

/// Which packages there are.
enum Packages<'a> {
    Of(Box<dyn Source + 'a>),
    /// Unknown: the CLI configuration has errors.
    Unknown,
    /// None are needed, since all providers are built in.
    NotNeeded,
}

/// A root that is ready to be locked.
struct OpenRoot {
    root: Root,
    lock: LockFile,
    loaded: Loaded,
    platforms: WantedPlatforms,
    /// The place of its source.
    source: usize,
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
    let mut run = LockRun {
        common,
        args,
        world,
        platforms,
        told: &told,
        settings: Settings {
            jobs: setup::jobs(args.jobs),
            downloads: args.jobs.unwrap_or(DOWNLOADS),
            enforce_expiration: setup::is_true(world.env, "OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        },
        sources: Vec::new(),
    };
    let ran = roots::together(common, &args.roots, world, &mut run);
    progress.finish();
    let mut output = Output::of_roots("lock", ran);
    output.remarks(setup::platform_remarks(&args.platforms.platforms));
    output
}

impl Together for LockRun<'_> {
    type Opened = OpenRoot;
    type Outcome = Result<Locked, Vec<LockError>>;

    fn open(
        &mut self,
        root: Root,
        texts: &mut Texts,
        output: &mut RootOutput,
    ) -> Result<Option<OpenRoot>, Failure> {
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
            return Ok(None);
        }
        let required: Vec<&ProviderAddr> = loaded.requirements.providers.keys().collect();
        let needs_packages = !required.iter().all(|addr| addr.is_builtin(root.flavor));
        if root.lock.is_none() && !needs_packages {
            text::nothing_required(output, &root);
            return Ok(None);
        }
        let source = if needs_packages {
            self.source(root.flavor, texts)?
        } else {
            self.add(root.flavor, Packages::NotNeeded, Vec::new())
        };
        // Errors of the CLI configuration stop every root; its warnings are said once, later on.
        if let SourceSetup {
            packages: Packages::Unknown,
            diagnostics,
            ..
        } = &self.sources[source]
        {
            output.faults(diagnostics, texts);
            return Ok(None);
        }
        Ok(Some(OpenRoot {
            platforms: self.platforms.of_root(&root, &required),
            lock: root.document().lock,
            root,
            loaded,
            source,
        }))
    }

    fn work(&mut self, roots: &[&OpenRoot]) -> Vec<Result<Locked, Vec<LockError>>> {
        let sources = self.sources.iter().map(|setup| FlavorSource {
            flavor: setup.flavor,
            source: match &setup.packages {
                Packages::Of(source) => &**source,
                Packages::Unknown | Packages::NotNeeded => &Empty,
            },
            net: &setup.net,
        });
        let sources: Vec<FlavorSource<'_>> = sources.collect();
        let requests = roots.iter().map(|one| RootRequest {
            source: &sources[one.source],
            requirements: &one.loaded.requirements,
            lock: &one.lock,
            platforms: &one.platforms,
        });
        let requests: Vec<RootRequest<'_>> = requests.collect();
        locker::run(self.world.disk, &self.settings, &requests)
    }

    fn finish(
        &mut self,
        opened: &OpenRoot,
        outcome: Result<Locked, Vec<LockError>>,
        texts: &Texts,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        let source = &self.sources[opened.source];
        if !source.is_said {
            output.faults(&source.diagnostics, texts);
        }
        let OpenRoot { root, loaded, .. } = opened;
        let done = match outcome {
            Ok(locked) => {
                // That a state cannot be seen is worth a word only where that changes something.
                let about_state = loaded.diagnostics.iter().filter(|one| is_about_state(one));
                if self.common.verbose || !locked.unrequired.is_empty() {
                    output.faults(about_state, texts);
                } else {
                    output.aside(about_state, texts);
                }
                self.write(root, &locked, output)
            }
            Err(errors) => {
                let required = Required {
                    requirements: &loaded.requirements,
                    texts,
                };
                advice::lock::errors(output, &errors, root.flavor, &required);
                Ok(Replaced::Done)
            }
        };
        // A root that starts over says everything again.
        self.sources[opened.source].is_said |= !matches!(done, Ok(Replaced::Changed));
        done
    }
}

impl<'a> LockRun<'a> {
    /// Returns the place of the source for a flavor, setting it up if no root needed it before.
    fn source(&mut self, flavor: Flavor, texts: &mut Texts) -> Result<usize, Failure> {
        let has_packages = |one: &SourceSetup<'_>| !matches!(one.packages, Packages::NotNeeded);
        let mut known = self.sources.iter();
        if let Some(at) = known.position(|one| one.flavor == flavor && has_packages(one)) {
            return Ok(at);
        }
        let (packages, diagnostics) = match &self.args.fs_mirror {
            Some(dir) => (self.mirror(dir, flavor)?, Vec::new()),
            None => self.registry(flavor, texts)?,
        };
        Ok(self.add(flavor, packages, diagnostics))
    }

    fn add(
        &mut self,
        flavor: Flavor,
        packages: Packages<'a>,
        diagnostics: Vec<Diagnostic>,
    ) -> usize {
        self.sources.push(SourceSetup {
            flavor,
            net: network::net(self.world, flavor, self.told),
            packages,
            diagnostics,
            is_said: false,
        });
        self.sources.len() - 1
    }

    fn mirror(&self, dir: &Path, flavor: Flavor) -> Result<Packages<'a>, Failure> {
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
        Ok(Packages::Of(Box::new(mirror)))
    }

    fn registry(
        &self,
        flavor: Flavor,
        texts: &mut Texts,
    ) -> Result<(Packages<'a>, Vec<Diagnostic>), Failure> {
        if self.common.offline {
            return Err(Failure {
                title: "there is nobody to ask".to_owned(),
                causes: vec![
                    "packages come from registries, and --offline forbids that".to_owned(),
                ],
                help: Some("leave out --offline, or name a mirror with --fs-mirror DIR".to_owned()),
            });
        }
        let (config, mut diagnostics) =
            network::configuration(self.common, self.world, flavor, texts);
        diagnostics.extend(config.not_followed(flavor));
        let packages = if has_errors(&diagnostics) {
            Packages::Unknown
        } else {
            let net = network::net(self.world, flavor, self.told);
            Packages::Of(Box::new(network::registry(&net, flavor, config)))
        };
        Ok((packages, diagnostics))
    }

    /// Writes the lock file, or says what would be written.
    fn write(
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
            if replaced.map_err(|error| root.unwritable(error))? == Replaced::Changed {
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
        if let Some(remark) = root.lock.as_ref().and_then(root::dropped) {
            output.remark(remark);
        }
        if write {
            text::written(output, locked, root);
            return Ok(Replaced::Done);
        }
        if self.args.dry_run {
            text::difference(output, root, locked, &text);
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
