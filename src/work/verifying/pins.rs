//! Pinned modules against what is installed, and against what their sources name now.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::addr::module::ModuleSource;
use crate::archive::FileDigest;
use crate::archive::dir::hash_module;
use crate::config::{Loaded, RemoteCall};
use crate::diag::{Diagnostic, rules};
use crate::hash::{Digest, READ_BUFFER_BYTES, Sha256Stream};
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
    let mut sound: BTreeMap<&str, ExpectedFiles> = BTreeMap::new();
    let mut odd = Vec::new();
    let packages = packages(pinned(root, loaded), &modules, &mut faults);
    // Packages have thousands of files; a root may have hundreds of packages.
    let hashes = parallel::map(parallel::cores(), &packages, |(_, package)| {
        hash_module(world.disk, &root.dir.join(package))
    });
    for ((pinned, package), hashed) in packages.into_iter().zip(hashes) {
        match hashed {
            Ok(hashed) if hashed.h1 == pinned.pin.hash => {
                let named = |file: FileDigest| (file.name, Some(file.digest));
                let files = hashed.files.into_iter().map(named).collect();
                sound.insert(pinned.pin.hash.as_str(), files);
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
        let remark = if let Some(expected) = beside {
            match difference(expected, &hashed.files, NamesWithDot::MayLack) {
                Some(difference) => difference,
                None => continue,
            }
        } else {
            match from_cache(&pinned, root, kept) {
                Some(Ok(expected)) => difference(&expected, &hashed.files, NamesWithDot::Count)
                    .unwrap_or_else(|| "differs in a link or in a large file".to_owned()),
                Some(Err(error)) => format!("cannot be compared: {error}"),
                None => format!(
                    "has the hash {}, and {} is pinned",
                    hashed.h1.as_str(),
                    pinned.pin.hash.as_str()
                ),
            }
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

/// The files of a package by name; a digest is missing where the content is not known.
type ExpectedFiles = BTreeMap<Box<[u8]>, Option<Digest>>;

/// Reads the files of a pinned package that the cache holds.
fn from_cache(
    pinned: &PinnedCall<'_>,
    root: &Root,
    kept: &dyn RemoteModules,
) -> Option<io::Result<ExpectedFiles>> {
    let request = ModuleRequest {
        source: requested(pinned.call, None)?,
        flavor: root.flavor,
        pin: PinRequest::Kept(pinned.pin),
    };
    let files = kept.find(&request).ok()?.files;
    let mut expected = ExpectedFiles::new();
    Some(collect(&*files, Path::new(""), b"", &mut expected).map(|()| expected))
}

/// Collects all files and links below a directory, whose names begin with the prefix.
fn collect(
    files: &dyn Files,
    dir: &Path,
    prefix: &[u8],
    expected: &mut ExpectedFiles,
) -> io::Result<()> {
    for entry in files.list(dir)? {
        let path = dir.join(&entry.name);
        let mut name = [prefix, entry.name.as_encoded_bytes()].concat();
        if entry.name == ".git" {
            continue;
        }
        if entry.kind == FileKind::Directory {
            name.push(b'/');
            collect(files, &path, &name, expected)?;
            continue;
        }
        let mut digest = None;
        // The content of a link is its target, which the files of a package do not show; the cache keeps no large
        // files.
        if entry.kind != FileKind::Symlink
            && let Ok(reader) = files.open(&path)
        {
            let mut stream = Sha256Stream::default();
            stream.read_all(reader, &mut vec![0; READ_BUFFER_BYTES])?;
            digest = Some(stream.finish());
        }
        expected.insert(name.into(), digest);
    }
    Ok(())
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
    expected: &ExpectedFiles,
    installed: &[FileDigest],
    with_dot: NamesWithDot,
) -> Option<String> {
    let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let mut lacking: BTreeSet<&[u8]> = expected.keys().map(|name| &**name).collect();
    for file in installed {
        let name = &*file.name;
        match expected.get(name) {
            None => return Some(format!("has {} besides the pinned files", shown(name))),
            Some(Some(digest)) if *digest != file.digest => {
                return Some(format!("differs in {}", shown(name)));
            }
            Some(_) => lacking.remove(name),
        };
    }
    let begins_with_dot = |name: &[u8]| {
        name.split(|byte| *byte == b'/')
            .any(|part| part.starts_with(b"."))
    };
    let name = lacking
        .into_iter()
        .find(|name| with_dot == NamesWithDot::Count || !begins_with_dot(name))?;
    Some(format!("lacks {}", shown(name)))
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
