//! One root as commands use it: opened, with the commands that help.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::config;
use crate::coverage::Attributions;
use crate::diag::{Diagnostic, RootCommand, Severity, Texts, has_errors, rules};
use crate::flavor::Program;
use crate::packages::{
    self, Absence, PackageFindings, PackageMemo, PackagePlace, PackageSearch, RootCount, Unscanned,
};
use crate::project::{self, PackageSource, ProjectPlace};
use crate::report::{Failure, RootResult};
use crate::requirement::Requirements;
use crate::run::World;
use crate::run::commands;
use crate::run::options::{Options, RootArgs};
use crate::sources::SourceFault;
use crate::verify::{Advice, CheckedLock, PackageOrigin};
use crate::workspace::{self, FlavorSign, SpecialDirectory};
use crate::world::Files;

pub(crate) use crate::lockfile::LockText;

/// Maximum number of texts in another form than the required one that a remark lists; more are counted.
const MAX_FORMS: usize = 3;

/// A root with the commands that would be typed for it.
pub(crate) struct Root {
    root: workspace::Root,
    /// The commands that advice names for the root.
    pub(crate) advice: Advice,
    /// There is nothing in the directory that any command works on: no lock file, no configuration, no unit.
    pub(crate) is_empty: bool,
}

/// Says which program's rules apply to a root and how to state that, where nothing in the root shows it.
pub(crate) fn remark_on_flavor(root: &Root, result: &mut RootResult) {
    // The same lock file has other registries, header and hashes by the rules of the other program.
    let program = root.flavor.program();
    let why = match root.sign {
        FlavorSign::Stated | FlavorSign::Lock | FlavorSign::Reviewed | FlavorSign::Files => return,
        FlavorSign::Tool => {
            if let Some(path) = &root.tool_file {
                let path = path.display();
                result.remark(format!("the rules of {program} apply, as {path} states"));
            }
            return;
        }
        FlavorSign::NeighbourFiles => "because there are `.tofu` files in the repository",
        FlavorSign::Neighbours => "as in the other roots of the repository",
        FlavorSign::Mixed => "because the other roots of the repository do not agree",
        FlavorSign::Nothing => "because nothing shows which program is used",
    };
    let other = match program {
        Program::Terraform => "opentofu",
        Program::OpenTofu => "terraform",
    };
    result.remark(format!(
        "the rules of {program} apply, {why}; to change that, use `--flavor {other}`, or write \
         `flavor = {other:?}` to {}",
        root.project_name()
    ));
}

impl Root {
    /// Returns the path of the project file that governs the root. A new one is at the top of the repository; outside of
    /// any, in the directory of the run, so that it governs all roots below, else in the root.
    pub(crate) fn writable_project_file(&self, world: World<'_>, options: &Options) -> PathBuf {
        if let Some(path) = self.project_file() {
            return path.to_owned();
        }
        let current = world.env.current_dir().unwrap_or_default();
        let place = ProjectPlace::new(&self.dir, &current);
        let top = project::repository(world.disk, &place).unwrap_or_else(|| {
            let of_run = ProjectPlace::new(&options.below(Path::new(".")), &current);
            if place.absolute().starts_with(of_run.absolute()) {
                of_run
            } else {
                place
            }
        });
        top.file(project::FILE_NAME)
    }
}

impl Deref for Root {
    type Target = workspace::Root;

    fn deref(&self) -> &Self::Target {
        &self.root
    }
}

/// Returns the failure of a directory of packages that cannot be scanned.
pub(crate) fn unreadable_packages(unscanned: &Unscanned) -> Failure {
    let (path, cause) = match &*unscanned.error.fault {
        SourceFault::Unreadable { path, cause } => (path, cause.to_string()),
        _ => (&unscanned.dir, unscanned.error.to_string()),
    };
    let (which, help) = match unscanned.origin {
        PackageOrigin::Installed => (
            "installed packages",
            "make it a readable directory, or delete it and run init again",
        ),
        PackageOrigin::Cache => ("cached packages", "make it a readable directory"),
        PackageOrigin::Mirror | PackageOrigin::Named => (
            "packages",
            "name a readable directory, laid out as a filesystem mirror",
        ),
    };
    Failure::new(format!(
        "the {which} in {} could not be read",
        path.display()
    ))
    .because(cause)
    .help(help.to_owned())
}

/// Returns the directory without the dot that means the working directory.
pub(crate) fn shown(dir: &Path) -> PathBuf {
    if dir == Path::new(".") {
        PathBuf::new()
    } else {
        dir.to_owned()
    }
}

/// Says how many comments a rewrite drops, if any.
pub(crate) fn dropped(lock: &LockText) -> Option<String> {
    match lock.document.comments {
        0 => None,
        1 => Some("a rewrite drops 1 comment, as Terraform and OpenTofu do".to_owned()),
        n => Some(format!(
            "a rewrite drops {n} comments, as Terraform and OpenTofu do"
        )),
    }
}

impl Root {
    pub(crate) fn new(mut root: workspace::Root, options: &Options, files: &dyn Files) -> Self {
        let mut advice = commands::of_root(options, &root.dir);
        let packages = root.project().packages.as_ref();
        if packages.is_some_and(|packages| packages.source != PackageSource::Registry) {
            advice.take_from_registries();
        }
        let is_stack = root.special == Some(SpecialDirectory::Stack);
        if is_stack && root.lock.is_none() {
            // lockctl creates no lock file of a Stack: it does not see the modules of its components.
            advice.lock = RootCommand::new("terraform stacks providers-lock");
        }
        if let Some(lock) = &mut root.lock {
            advice.add_to(&mut lock.diagnostics, &lock.bytes);
        }
        let holds_files = || config::has_files(files, &root.dir, root.flavor).unwrap_or(true);
        let is_empty = root.lock.is_none() && root.unit.is_none() && !is_stack && !holds_files();
        Self {
            root,
            advice,
            is_empty,
        }
    }

    /// Returns the root as it is after its lock file was written.
    pub(crate) fn rewritten(&self, bytes: Vec<u8>, texts: &mut Texts) -> Self {
        Self {
            root: self.root.rewritten(bytes, texts),
            advice: self.advice.clone(),
            is_empty: self.is_empty,
        }
    }

    /// Adds what is wrong with the lock file and returns it, unless it cannot be worked with.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn sound_lock(&self, result: &mut RootResult) -> Result<Option<&LockText>, Failure> {
        let Some(lock) = &self.lock else {
            return Err(self.no_lock());
        };
        result.faults(&lock.diagnostics);
        Ok((!has_errors(&lock.diagnostics)).then_some(lock))
    }

    /// Returns the lock file with every text in its only right form, and says which had another one; `None` if none
    /// had, or if anything else is wrong.
    pub(crate) fn repaired_lock(&self, result: &mut RootResult) -> Option<LockText> {
        let lock = self.lock.as_ref()?;
        // Which of two blocks counts is for `verify --fix` to find out.
        let document = lock.document.repaired(&lock.diagnostics)?;
        let mut forms: Vec<String> = lock.document.forms().collect();
        let more = forms.len().saturating_sub(MAX_FORMS);
        forms.truncate(MAX_FORMS);
        let more = if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        };
        result.remark(format!(
            "fixed when the file is written: {}{more}",
            forms.join("; ")
        ));
        let mut repaired = lock.clone();
        repaired.document = document;
        repaired
            .diagnostics
            .retain(|fault| fault.severity != Severity::Error);
        Some(repaired)
    }

    /// Returns the root with another reading of its lock file.
    pub(crate) fn with_lock(&self, lock: LockText) -> Self {
        let mut root = self.root.clone();
        root.lock = Some(lock);
        Self {
            root,
            advice: self.advice.clone(),
            is_empty: self.is_empty,
        }
    }

    /// As [`sound_lock_of`](Self::sound_lock_of), but of a lock file with faults, which are added, returns what can be
    /// read.
    ///
    /// # Errors
    /// If a root that was named has none.
    pub(crate) fn readable_lock_of(
        &self,
        roots: &RootArgs,
        result: &mut RootResult,
    ) -> Result<Option<LockText>, Failure> {
        let sound = self.sound_lock_of(roots, result)?.cloned();
        Ok(sound.or_else(|| {
            let lock = self.lock.clone()?;
            Some(LockText {
                document: lock.document.readable(),
                ..lock
            })
        }))
    }

    /// As [`sound_lock`](Self::sound_lock), but a root that was searched for may lack a lock file: a run over
    /// all roots below a directory does not demand one. It is noted for programs.
    ///
    /// # Errors
    /// If a root that was named has none.
    pub(crate) fn sound_lock_of(
        &self,
        roots: &RootArgs,
        result: &mut RootResult,
    ) -> Result<Option<&LockText>, Failure> {
        if self.lock.is_some() || !roots.recursive {
            return self.sound_lock(result);
        }
        self.note_lack(result);
        Ok(None)
    }

    /// Notes for programs that a root that was searched for lacks a lock file.
    pub(crate) fn note_lack(&self, result: &mut RootResult) {
        let title = format!("There is no {}", self.lock_path.display());
        let help = format!("run `{}` to create it", self.advice.lock);
        let note = Diagnostic::note(rules::LOCK_MISSING, title).help(help);
        result.aside([&note]);
    }

    /// Returns the failure of a lock file that is not there.
    pub(crate) fn no_lock(&self) -> Failure {
        let failure = Failure::from(self.root.no_lock());
        // `lock` would find no configuration here, and send the user back.
        if self.is_empty {
            failure.help("name the directory of a root module")
        } else {
            failure.help(format!("run `{}` to create it", self.advice.lock))
        }
    }

    /// Returns the place that the project file states for packages, if any.
    pub(crate) fn package_source(&self) -> Option<PackageSource> {
        Some(match &self.project().packages.as_ref()?.source {
            PackageSource::FilesystemMirror(dir) => {
                PackageSource::FilesystemMirror(self.project_path(dir))
            }
            source => source.clone(),
        })
    }

    /// Returns the filesystem mirror that the project file states, if any.
    pub(crate) fn project_mirror(&self) -> Option<PackagePlace> {
        let place = self.project().packages.as_ref()?.place;
        match self.package_source()? {
            PackageSource::FilesystemMirror(dir) => {
                let absence = Absence::ProjectFault(place.file, place.span);
                Some(PackagePlace::new(PackageOrigin::Mirror, dir, absence))
            }
            _ => None,
        }
    }

    /// Hashes the packages in some places, and compares them with the lock file.
    ///
    /// # Errors
    /// If a place cannot be read.
    pub(crate) fn packages(
        &self,
        lock: &LockText,
        memo: &mut PackageMemo<'_>,
        places: &[PackagePlace],
        facts: &Attributions,
    ) -> Result<PackageFindings, Failure> {
        let search = PackageSearch {
            places,
            singles: &[],
            scope: RootCount::One,
            // No source is asked: what is found must not depend on the network.
            sources: &|_| Vec::new(),
            cache_may_break: false,
        };
        let checked = packages::check(memo, self.subject(lock, None), search, facts, None);
        match checked.failures.first() {
            None => Ok(checked),
            Some(unscanned) => Err(unreadable_packages(unscanned)),
        }
    }

    /// Returns what is checked of the lock file.
    pub(crate) fn subject<'a>(
        &'a self,
        lock: &'a LockText,
        requirements: Option<&'a Requirements>,
    ) -> CheckedLock<'a> {
        CheckedLock {
            document: &lock.document,
            file: lock.file,
            flavor: self.flavor,
            requirements,
            advice: &self.advice,
        }
    }
}
