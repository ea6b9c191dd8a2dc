//! `lockctl verify`: will this lock file work?

use std::path::Path;

use super::args::{Common, Group, Verify};
use super::output::{Output, RootOutput};
use super::root::{self, LockText, Root};
use super::verify_report::{Judged, say};
use super::{World, setup};
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::platform::Platform;
use crate::report::Failure;
use crate::requirement::Requirements;
use crate::verify::{Finding, Subject, configuration, file, packages, platforms};

/// What all roots of a run share.
struct Run<'a> {
    common: &'a Common,
    args: &'a Verify,
    world: World<'a>,
    platforms: Vec<Platform>,
}

pub(super) fn run(common: &Common, args: &Verify, world: World<'_>) -> Output {
    let platforms = match setup::checked(&args.platforms.platforms) {
        Ok(platforms) => platforms,
        Err(failure) => return Output::failed("verify", failure),
    };
    let mut texts = Texts::default();
    let run = Run {
        common,
        args,
        world,
        platforms,
    };
    let paths = args.roots.paths();
    let outputs = paths
        .iter()
        .map(|typed| {
            let shown = setup::below(common, typed).display().to_string();
            let mut output = RootOutput::new(shown, None);
            if let Err(failure) = run.root(typed, &mut texts, &mut output) {
                output.fail(failure);
            }
            output
        })
        .collect();
    let mut output = Output::of_roots("verify", outputs, texts);
    output.remarks(setup::platform_remarks(&args.platforms.platforms));
    output
}

impl Run<'_> {
    fn root(
        &self,
        typed: &Path,
        texts: &mut Texts,
        output: &mut RootOutput,
    ) -> Result<(), Failure> {
        let root = root::open(self.common, self.world.disk, typed, texts)?;
        root.introduce(self.common, output);
        let loaded = root.load(self.world.disk, texts);
        if !loaded.found {
            return Err(root.no_configuration());
        }
        let readable = !has_errors(&loaded.diagnostics);
        let requirements = readable.then_some(&loaded.requirements);
        let mut judged = match &root.lock {
            Some(lock) => self.lock(&root, lock, requirements),
            None => Judged {
                findings: missing(&root, requirements),
                ..Judged::default()
            },
        };
        let notes = loaded.diagnostics.into_iter().map(Finding::from);
        judged.findings.splice(..0, notes);
        judged.unread = !readable;
        judged.platforms = self.wants(Group::Platforms).then_some(self.platforms.len());
        judged.verbose = self.common.verbose;
        say(output, &root, judged, texts);
        Ok(())
    }

    /// Checks a lock file, group by group; behind a fault in the file nothing else is judged.
    fn lock(&self, root: &Root, lock: &LockText, requirements: Option<&Requirements>) -> Judged {
        let mut judged = Judged::default();
        // A file that cannot be read is told whichever groups are wanted: nothing can be checked.
        let broken = has_errors(&lock.diagnostics);
        if broken || self.wants(Group::File) {
            judged
                .findings
                .extend(lock.diagnostics.iter().cloned().map(Finding::from));
        }
        if broken {
            return judged;
        }
        let lock_command = setup::lock_command(&root.dir);
        let subject = root.subject(lock, &lock_command);
        judged.providers = lock.document.lock.providers.len();
        if self.wants(Group::File) {
            judged.findings.extend(file::check(subject, &lock.bytes));
        }
        if let (true, Some(requirements)) = (self.wants(Group::Configuration), requirements) {
            judged
                .findings
                .extend(configuration::check(subject, requirements));
        }
        let known = self.packages(root, subject, &mut judged);
        if self.wants(Group::Platforms) {
            let found = platforms::check(subject, requirements, &self.platforms, &known);
            judged.by_count = found
                .iter()
                .any(|f| f.diagnostic.code == "platforms-unattributed");
            judged.findings.extend(found);
        }
        judged
    }

    /// Checks installed packages, and returns what they tell about hashes.
    fn packages(
        &self,
        root: &Root,
        subject: Subject<'_>,
        judged: &mut Judged,
    ) -> platforms::KnownHashes {
        if !self.wants(Group::Packages) {
            return platforms::KnownHashes::new();
        }
        let dir = root.providers_dir(self.world.env);
        match packages::check(self.world.disk, subject, &dir, setup::jobs(self.args.jobs)) {
            Ok(checked) => {
                judged.findings.extend(checked.findings);
                judged.hashed = Some(checked.hashed);
                checked.known
            }
            Err(error) => {
                judged.failures.push(root::unreadable_packages(&error));
                platforms::KnownHashes::new()
            }
        }
    }

    fn wants(&self, group: Group) -> bool {
        if self.args.only.is_empty() {
            !self.args.skip.contains(&group)
        } else {
            self.args.only.contains(&group)
        }
    }
}

/// Reports a root that requires providers and has no lock file.
fn missing(root: &Root, requirements: Option<&Requirements>) -> Vec<Finding> {
    let mut diagnostic: Option<Diagnostic> = None;
    for (provider, places) in requirements.iter().flat_map(|all| &all.providers) {
        let Some(place) = places.first() else {
            continue;
        };
        if provider.is_builtin(root.flavor) {
            continue;
        }
        let note = format!("{provider} is required here");
        diagnostic = Some(match diagnostic {
            Some(diagnostic) => diagnostic.see(place.file, place.span, note),
            None => {
                let title = format!("There is no {}", root.lock_path.display());
                let help = format!("run `{}` to create it", setup::lock_command(&root.dir));
                Diagnostic::error("lock-missing", title)
                    .at(place.file, place.span, note)
                    .help(help)
            }
        });
    }
    diagnostic.into_iter().map(Finding::from).collect()
}
