//! Modules that are not installed: asked for and put among the files of the root, or not visible (rules 5.11).

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Reached, TreeWalk, place_of};
use crate::addr::module::{Danger, ModuleSource};
use crate::config::loaded::{self, FetchedModule, Unreached};
use crate::config::tree::manifest::{self, Installed};
use crate::config::tree::packages::Mounted;
use crate::config::tree::unseen::Obstacle;
use crate::config::tree::way::CallSite;
use crate::diag::{Diagnostic, Help, Label, rules};
use crate::module_config::decode::contents::{Call, CallVersion, Source};
use crate::module_config::file::SourcePlace;
use crate::remote_module::{
    FoundModule, ModuleFailure, ModuleFailureKind, ModulePin, ModuleRequest, PackageFiles,
    PinRequest, RequestedSource,
};
use crate::requirement::{ModulePath, PathStep, UnseenReason};
use crate::version::CoreConstraints;
use crate::world::{DirEntry, Files, Layer};

/// The title of a local call that leads out of its package.
pub(super) const ESCAPES: &str = "Local module path escapes module package";

/// A package that was fetched, at its place.
pub(super) struct MountedPackage {
    /// Its directory, from the root on.
    top: PathBuf,
    /// The directory of this machine that it is, if the programs would have made a link to it.
    place: Option<Arc<Path>>,
    /// The text that says which package it is.
    package: Arc<str>,
}

impl MountedPackage {
    fn holds(&self, dir: &Path) -> bool {
        let mut tops = [Some(&*self.top), self.place.as_deref()]
            .into_iter()
            .flatten();
        tops.any(|top| dir.starts_with(top))
    }
}

impl TreeWalk<'_> {
    /// Announces which modules the calls of a module will ask for.
    pub(super) fn prepare(&self, path: &ModulePath, calls: &[Call]) {
        let mut requests = Vec::new();
        for call in calls.iter().filter(|call| call.computed().is_none()) {
            let key = path.join(PathStep::Call(call.name.clone())).manifest_key();
            let Some((module, request)) = self.request(&key, call) else {
                continue;
            };
            // An unsafe address is not asked for ahead of time either (`addr` rules 5.9).
            if self.installed(&key, call).is_err() && module.danger().is_none() {
                requests.push(request);
            }
        }
        self.remote.prepare(&requests);
    }

    /// Returns what is asked for a call; nothing if it names no remote module.
    fn request<'c>(
        &'c self,
        key: &str,
        call: &'c Call,
    ) -> Option<(&'c ModuleSource, ModuleRequest<'c>)> {
        let (module, source) = requested(call)?;
        // A pin that does not fit the call any more does not count.
        let pin = match &self.settings.pins {
            None => PinRequest::Unused,
            Some(pins) => match pins.kept.get(key) {
                Some(pin) if loaded::fits(module, allowed(call), pin) => PinRequest::Kept(pin),
                _ => PinRequest::New,
            },
        };
        let request = ModuleRequest {
            source,
            flavor: self.reader.flavor,
            pin,
        };
        Some((module, request))
    }

    /// Finds what is installed for a call, where that counts.
    pub(super) fn installed(&self, key: &str, call: &Call) -> Result<Installed, &'static str> {
        match &self.settings.pins {
            // Nothing shows which version or commit the files of an installed module are.
            Some(pins) if !pins.reads_installed => Err(manifest::NOT_INSTALLED),
            _ => self.manifest.find(key, call, &self.reader),
        }
    }

    /// Asks for the module of a call that is not installed; `title` says why what is installed does not
    /// count.
    pub(super) fn fetch(
        &mut self,
        way: &CallSite<'_>,
        source: &str,
        title: &'static str,
    ) -> ControlFlow<()> {
        let key = way.path.manifest_key();
        let obstacle = Obstacle::new(title, place_of(way.call, title));
        let Some((module, request)) = self.request(&key, way.call) else {
            return self.unseen(way, source, obstacle);
        };
        // Checked before anything is fetched: a helper program that an address names would run with the
        // user's rights.
        if let Some(danger) = module.danger() {
            let (rule, refused, help) = match danger {
                Danger::LeavesPackage { .. } => (
                    rules::MODULE_ESCAPES_PACKAGE,
                    "Module leaves its package",
                    "name a directory of the package",
                ),
                Danger::Transport { .. } | Danger::Ref => (
                    rules::MODULE_UNSAFE,
                    "Unsafe module source",
                    "write another source",
                ),
            };
            let place = way.call.place;
            let error = Diagnostic::error(rule, refused);
            let error = error.at(place.file, place.span, danger.to_string());
            self.report_once(place, refused, error.help(help));
            return ControlFlow::Continue(());
        }
        match self.remote.find(&request) {
            Ok(found) => self.mount(way, source, &key, found),
            Err(failure) => self.not_found(way, source, obstacle, failure),
        }
    }

    /// Puts a package where the programs would install it, and follows the call to there.
    fn mount(
        &mut self,
        way: &CallSite<'_>,
        source: &str,
        key: &str,
        found: FoundModule,
    ) -> ControlFlow<()> {
        for (title, remark) in &found.warnings {
            let place = way.call.place;
            let warning = Diagnostic::note(rules::CONFIGURATION_ODD, *title);
            self.report_once(
                place,
                title,
                warning.at(place.file, place.span, remark.as_str()),
            );
        }
        if let Some(call) = self.remote_calls.last_mut() {
            call.pin = found.hash.clone().map(|hash| ModulePin {
                source: call.source.shown(),
                version: found.version.clone(),
                commit: found.commit.as_deref().map(str::to_owned),
                hash,
            });
        }
        // Where installing would put it, so that relative calls in it mean what they mean to the
        // programs (rules 5.11).
        let top = self.settings.data_dir.join("modules").join(key);
        let package = self.as_installed(&found);
        let place = package.place.clone();
        self.reader.mount(&top, package);
        let dir = if found.dir.as_os_str().is_empty() {
            top.clone()
        } else {
            top.join(found.dir)
        };
        self.packages.push(MountedPackage {
            top,
            place,
            package: found.package,
        });
        self.follow(
            way,
            Reached {
                source,
                dir,
                fetched: Some(FetchedModule {
                    package: found.shown,
                    version: found.version,
                    commit: found.commit,
                }),
            },
        )
    }

    /// Returns a package as installing it for one more call would leave it.
    fn as_installed(&self, found: &FoundModule) -> Mounted {
        // For a second call the programs copy the package, without names that begin with a dot (rules 5.12).
        let is_copy = self
            .packages
            .iter()
            .any(|package| package.package == found.package);
        let files = Arc::clone(&found.files);
        Mounted {
            files: if is_copy {
                Arc::new(CopiedPackage(files))
            } else {
                files
            },
            shown: Arc::clone(&found.shown),
            place: found.place.clone().filter(|_| !is_copy),
        }
    }

    /// Reports a module that was not found, or notes that the call cannot be seen.
    fn not_found(
        &mut self,
        way: &CallSite<'_>,
        source: &str,
        obstacle: Obstacle,
        failure: ModuleFailure,
    ) -> ControlFlow<()> {
        let place = way.call.place;
        let help = failure.help.map(Help::from);
        let code = match failure.kind {
            ModuleFailureKind::NotFetched => return self.unseen(way, source, obstacle),
            ModuleFailureKind::Refused(rule) => rule,
            // Only commands that cannot work without the module ask for an error.
            ModuleFailureKind::Missing | ModuleFailureKind::Unreachable
                if self.settings.unreached == Unreached::Error =>
            {
                rules::MODULE_UNREADABLE
            }
            // The answer is incomplete, but an outage of one host must not stop every other check.
            _ => {
                let obstacle = Obstacle {
                    title: failure.title,
                    place,
                    reason: UnseenReason::FetchFailed,
                    causes: vec![Label::new(place.file, place.span, failure.cause)],
                    help,
                };
                return self.unseen(way, source, obstacle);
            }
        };
        let error = Diagnostic::error(code, failure.title);
        let mut error = error.at(place.file, place.span, failure.cause);
        error.help = help;
        error.package = way.call.repository();
        self.report_once(place, failure.title, error);
        ControlFlow::Continue(())
    }

    /// Returns true if a local call leads out of the package of its caller.
    pub(super) fn leaves_package(&self, caller: usize, dir: &Path) -> bool {
        let Some(here) = self.nodes[caller].dir.as_deref() else {
            return false;
        };
        // The programs read what they find there. Here it is refused, because the files beside a package depend
        // on the machine.
        self.packages
            .iter()
            .find(|package| package.holds(here))
            .is_some_and(|package| !package.holds(dir))
    }
}

/// Returns the versions that a call allows, if it states any.
pub(super) fn allowed(call: &Call) -> Option<&CoreConstraints> {
    match &call.version {
        CallVersion::Stated(constraints) => Some(constraints),
        CallVersion::Absent | CallVersion::Null | CallVersion::Computed => None,
    }
}

/// Returns the source of a call and what it asks for; nothing if it names no remote module.
fn requested(call: &Call) -> Option<(&ModuleSource, RequestedSource<'_>)> {
    let Some(Source::Remote { module, .. }) = &call.source else {
        return None;
    };
    match module {
        ModuleSource::Registry(registry) => {
            Some((module, RequestedSource::Registry(registry, allowed(call))))
        }
        ModuleSource::Remote(remote) => Some((module, RequestedSource::Remote(remote))),
        ModuleSource::Local(_) => None,
    }
}

/// Refuses a local call that leads out of its package.
pub(super) fn escaping(source: &str, place: SourcePlace) -> Diagnostic {
    let remark = format!("{source:?} leads out of the package that this module is in");
    Diagnostic::error(rules::MODULE_ESCAPES_PACKAGE, ESCAPES)
        .at(place.file, place.span, remark)
        .help("call the other module by an address of its own")
}

/// A package that another call of the run fetched: the programs copy it, and leave out every name that
/// begins with a dot (rules 5.12).
struct CopiedPackage(PackageFiles);

impl CopiedPackage {
    fn has(path: &Path) -> bool {
        let begins_with_dot = |part: &std::ffi::OsStr| part.as_encoded_bytes().starts_with(b".");
        !path.iter().any(begins_with_dot)
    }
}

impl Layer for CopiedPackage {
    fn base(&self) -> &dyn Files {
        &*self.0
    }

    fn at<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        if Self::has(path) {
            Ok(Cow::Borrowed(path))
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn entries(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = self.pass(dir, |files, dir| files.list(dir))?;
        entries.retain(|entry| Self::has(Path::new(&entry.name)));
        Ok(entries)
    }
}
