//! Pinned modules against what is installed, and against what their sources name now.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::addr::module::ModuleSource;
use crate::archive::FileDigest;
use crate::archive::dir::hash_module;
use crate::config::{Loaded, RemoteCall};
use crate::diag::{Diagnostic, rules};
use crate::hash::{READ_BUFFER_BYTES, Sha256Stream};
use crate::parallel;
use crate::remote_module::{ModulePin, ModuleRequest, PinRequest, RemoteModules, RequestedSource};
use crate::report::Failure;
use crate::run::World;
use crate::run::root::Root;
use crate::version::CoreConstraints;
use crate::workspace::data_dir;
use crate::world::{FileKind, Files};

/// A call with the pin that fits it.
struct PinnedCall<'a> {
    call: &'a RemoteCall,
    pin: &'a ModulePin,
}

impl PinnedCall<'_> {
    fn error(&self, rule: &'static str, remark: impl Into<String>) -> Diagnostic {
        let title = format!("Module {} is not the pinned one", self.call.key);
        Diagnostic::error(rule, title).at(self.call.file, self.call.span, remark.into())
    }
}

fn pinned<'a>(root: &'a Root, loaded: &'a Loaded) -> Vec<PinnedCall<'a>> {
    let Some(text) = &root.pins else {
        return Vec::new();
    };
    let pins = &text.document.pins;
    loaded
        .remote_calls
        .iter()
        .filter_map(|call| {
            let pin = pins.get(&call.key).filter(|pin| call.fits(pin))?;
            Some(PinnedCall { call, pin })
        })
        .collect()
}

/// Returns the directory of each package that is installed where `init` puts it, and reports the others.
fn packages<'a>(
    pinned: Vec<PinnedCall<'a>>,
    modules: &Path,
    faults: &mut Vec<Diagnostic>,
) -> Vec<(PinnedCall<'a>, PathBuf)> {
    let mut packages = Vec::new();
    for pinned in pinned {
        let Some(dir) = &pinned.call.installed else {
            continue;
        };
        let package = modules.join(&pinned.call.key);
        if dir.starts_with(&package) {
            packages.push((pinned, package));
        } else {
            let remark = format!("modules.json names the directory {}", dir.display());
            faults.push(pinned.error(rules::MODULE_DIFFERS, remark));
        }
    }
    packages
}

/// Compares the installed modules of a root with their pins; `kept` are the modules of the cache.
pub(super) fn installed(
    root: &Root,
    loaded: &Loaded,
    world: World<'_>,
    kept: &dyn RemoteModules,
) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let modules = data_dir(world.env).join("modules");
    // A second call of a package gets a copy, which can be compared with what the first call got.
    let mut sound: BTreeMap<&str, PathBuf> = BTreeMap::new();
    let mut odd = Vec::new();
    let packages = packages(pinned(root, loaded), &modules, &mut faults);
    // Packages have thousands of files; a root may have hundreds of packages.
    let hashes = parallel::map(parallel::cores(), &packages, |(_, package)| {
        hash_module(world.disk, &root.dir.join(package))
    });
    for ((pinned, package), hashed) in packages.into_iter().zip(hashes) {
        match hashed {
            Ok(hashed) if hashed.h1 == pinned.pin.hash => {
                sound.insert(pinned.pin.hash.as_str(), root.dir.join(&package));
            }
            Ok(hashed) => odd.push((pinned, package, hashed)),
            Err(error) => {
                let remark = format!("{} cannot be hashed: {error}", package.display());
                faults.push(pinned.error(rules::MODULE_DIFFERS, remark));
            }
        }
    }
    for (pinned, package, hashed) in odd {
        // A sound copy names the files that differ, and the hash alone only says that some do.
        let beside = sound.get(pinned.pin.hash.as_str());
        let difference = match beside {
            Some(top) => difference(world.disk, top, &hashed.files, NamesWithDot::MayLack),
            None => match from_cache(&pinned, root, kept) {
                Some(files) => {
                    difference(&*files, Path::new(""), &hashed.files, NamesWithDot::Count)
                }
                None => Ok(Some(format!(
                    "has the hash {}, and {} is pinned",
                    hashed.h1.as_str(),
                    pinned.pin.hash.as_str()
                ))),
            },
        };
        let remark = match difference {
            Ok(None) => continue,
            Ok(Some(difference)) => difference,
            Err(error) => format!("cannot be compared: {error}"),
        };
        let remark = format!("{} {remark}", package.display());
        let help = format!(
            "find out who changed it; delete {} and run init again to install what the source names",
            modules.display()
        );
        faults.push(pinned.error(rules::MODULE_DIFFERS, remark).help(help));
    }
    faults
}

/// The meaning of names that begin with a dot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamesWithDot {
    /// They must be there, as all others.
    Count,
    /// Terraform and OpenTofu leave them out of the copy of a package (`config` rules 5.12).
    MayLack,
}

/// Returns the files of a pinned package that the cache holds.
fn from_cache(
    pinned: &PinnedCall<'_>,
    root: &Root,
    kept: &dyn RemoteModules,
) -> Option<crate::remote_module::PackageFiles> {
    let request = ModuleRequest {
        source: requested(pinned.call, None)?,
        flavor: root.flavor,
        pin: PinRequest::Kept(pinned.pin),
    };
    kept.find(&request).ok().map(|found| found.files)
}

fn requested<'a>(
    call: &'a RemoteCall,
    version: Option<&'a CoreConstraints>,
) -> Option<RequestedSource<'a>> {
    match &call.source {
        ModuleSource::Registry(module) => Some(RequestedSource::Registry(module, version)),
        ModuleSource::Remote(module) => Some(RequestedSource::Remote(module)),
        ModuleSource::Local(_) => None,
    }
}

/// Says what differs first between installed files and those of a package, by name.
fn difference(
    files: &dyn Files,
    top: &Path,
    installed: &[FileDigest],
    with_dot: NamesWithDot,
) -> io::Result<Option<String>> {
    let mut expected = BTreeMap::new();
    names(files, top, Path::new(""), &mut expected)?;
    for file in installed {
        let name = PathBuf::from(String::from_utf8_lossy(&file.name).into_owned());
        match expected.remove(&name) {
            None => {
                return Ok(Some(format!(
                    "has {} besides the pinned files",
                    name.display()
                )));
            }
            // The content of a link is its target, which the files of a package do not show.
            Some(FileKind::Symlink) => continue,
            Some(_) => {}
        }
        let mut stream = Sha256Stream::default();
        let Ok(reader) = files.open(&top.join(&name)) else {
            // The cache keeps no large files.
            continue;
        };
        stream.read_all(reader, &mut vec![0; READ_BUFFER_BYTES])?;
        if stream.finish() != file.digest {
            return Ok(Some(format!("differs in {}", name.display())));
        }
    }
    let begins_with_dot = |name: &Path| {
        name.iter()
            .any(|part| part.as_encoded_bytes().starts_with(b"."))
    };
    let lacking = expected
        .keys()
        .find(|name| with_dot == NamesWithDot::Count || !begins_with_dot(name));
    Ok(match lacking {
        Some(name) => Some(format!("lacks {}", name.display())),
        None if with_dot == NamesWithDot::MayLack => None,
        None => Some("differs in a link or in a large file".to_owned()),
    })
}

/// Collects the names of all files and links below a directory.
fn names(
    files: &dyn Files,
    top: &Path,
    dir: &Path,
    found: &mut BTreeMap<PathBuf, FileKind>,
) -> io::Result<()> {
    for entry in files.list(&top.join(dir))? {
        let name = dir.join(&entry.name);
        match entry.kind {
            _ if entry.name == ".git" => {}
            FileKind::Directory => names(files, top, &name, found)?,
            kind => {
                found.insert(name, kind);
            }
        }
    }
    Ok(())
}

/// Compares the pins of a root with what their sources name now.
pub(super) fn upstream(
    root: &Root,
    loaded: &Loaded,
    now: &dyn RemoteModules,
    failures: &mut Vec<Failure>,
) -> Vec<Diagnostic> {
    let calls = pinned(root, loaded);
    // Any version but the pinned one is no change of it.
    let exact: Vec<Option<CoreConstraints>> = calls
        .iter()
        .map(|pinned| {
            let version = pinned.pin.version.as_ref()?;
            CoreConstraints::parse(&format!("={version}")).ok()
        })
        .collect();
    let mut asked = Vec::new();
    for (pinned, version) in calls.iter().zip(&exact) {
        if let Some(source) = requested(pinned.call, version.as_ref()) {
            let request = ModuleRequest {
                source,
                flavor: root.flavor,
                // What is there now is wanted, not what the cache kept of an earlier run.
                pin: PinRequest::New,
            };
            asked.push((pinned, request));
        }
    }
    let requests: Vec<ModuleRequest<'_>> = asked.iter().map(|(_, request)| *request).collect();
    // Announced together, so that they are fetched side by side.
    now.prepare(&requests);
    let mut faults = Vec::new();
    for (pinned, request) in asked {
        match now.find(&request) {
            Ok(found) if found.hash.as_ref() == Some(&pinned.pin.hash) => {}
            Ok(found) => {
                let remark = match (&found.version, &pinned.pin.commit, &found.commit) {
                    (Some(version), ..) => format!("version {version} has other files now"),
                    (None, Some(pinned), Some(now)) => {
                        format!("it is at commit {now} now, and {pinned} is pinned")
                    }
                    _ => "its package has other files now".to_owned(),
                };
                let error = pinned.error(rules::MODULE_MOVED, remark);
                faults.push(error.help(format!(
                    "compare both; if the change is wanted, run `lockctl update --pins={}`",
                    pinned.call.key
                )));
            }
            Err(failure) => failures.push(
                Failure::new(format!("module {} could not be compared", pinned.call.key))
                    .because(failure.cause),
            ),
        }
    }
    faults
}
