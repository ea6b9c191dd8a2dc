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
use crate::config::tree::way::CallSite;
use crate::diag::{Diagnostic, Label, rules};
use crate::flavor::Flavor;
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
            let Some((module, source)) = requested(call) else {
                continue;
            };
            let key = path.join(PathStep::Call(call.name.clone())).manifest_key();
            let is_installed = self.installed(&key, call).is_ok();
            // An unsafe address is not asked for ahead of time either (`addr` rules 5.9).
            if !is_installed && module.danger().is_none() {
                requests.push(ModuleRequest {
                    source,
                    flavor: self.reader.flavor,
                    pin: self.pin(&key, module, call),
                });
            }
        }
        self.remote.prepare(&requests);
    }

    /// Finds what is installed for a call, where that counts.
    pub(super) fn installed(&self, key: &str, call: &Call) -> Result<Installed, &'static str> {
        match &self.settings.pins {
            // Nothing shows which version or commit the files of an installed module are.
            Some(pins) if !pins.reads_installed => Err(manifest::NOT_INSTALLED),
            _ => self.manifest.find(key, call, &self.reader),
        }
    }

    /// Returns what is asked for about the pin of a call; one that does not fit the call any more does not count.
    fn pin(&self, key: &str, module: &ModuleSource, call: &Call) -> PinRequest<'_> {
        let Some(pins) = &self.settings.pins else {
            return PinRequest::Unused;
        };
        match pins.kept.get(key) {
            Some(pin) if loaded::fits(module, allowed(call), pin) => PinRequest::Kept(pin),
            _ => PinRequest::New,
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
        let Some((module, requested)) = requested(way.call) else {
            return self.unseen(way, source, title, place_of(way.call, title));
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
        let request = ModuleRequest {
            source: requested,
            flavor: self.reader.flavor,
            pin: self.pin(&key, module, way.call),
        };
        match self.remote.find(&request) {
            Ok(found) => self.mount(way, source, &key, found),
            Err(failure) => self.not_found(way, source, title, &failure),
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
        if !self.reader.is_directory(&dir) {
            // It is in the package, but not in a copy for a second call.
            let title = missing_directory(way.call, self.reader.flavor);
            let remark = format!("the copy for a second call has no {}", dir.display());
            self.unreadable(way.call.place, title, &remark);
            return ControlFlow::Continue(());
        }
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
        title: &'static str,
        failure: &ModuleFailure,
    ) -> ControlFlow<()> {
        let place = way.call.place;
        let code = match failure.kind {
            ModuleFailureKind::NotFetched => {
                return self.unseen(way, source, title, place_of(way.call, title));
            }
            ModuleFailureKind::Refused(rule) => rule,
            // Only commands that cannot work without the module ask for an error.
            ModuleFailureKind::Missing | ModuleFailureKind::Unreachable
                if self.settings.unreached == Unreached::Error =>
            {
                rules::MODULE_UNREADABLE
            }
            // The answer is incomplete, but an outage of one host must not stop every other check.
            _ => {
                let unseen = self.unseen(way, source, failure.title, place);
                let because = Label {
                    file: place.file,
                    span: place.span,
                    note: failure.cause.clone(),
                };
                self.unseen.explain(way.call, Some(because));
                self.unseen
                    .advise(way.call, failure.help.clone().map(Into::into));
                self.unseen.set_reason(way.call, UnseenReason::FetchFailed);
                return unseen;
            }
        };
        let mut error = Diagnostic::error(code, failure.title).at(
            place.file,
            place.span,
            failure.cause.as_str(),
        );
        error.help = failure.help.clone().map(Into::into);
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

/// Returns the title of the programs for a directory behind `//` that a package lacks (`modules` rules 2.2, 2.3).
fn missing_directory(call: &Call, flavor: Flavor) -> &'static str {
    match requested(call) {
        Some((_, RequestedSource::Registry(..))) if flavor.is_opentofu() => {
            "Module subdirectory not found"
        }
        Some((_, RequestedSource::Registry(..))) => "Unreadable module subdirectory",
        _ => "Failed to expand subdir globs",
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
