//! Units of Terragrunt: roots whose configuration lies in no directory, but is put together.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::addr::module::{ModuleSource, RemoteModule};
use crate::config::{self, ConfigSources, Loaded, Settings};
use crate::diag::{Diagnostic, Label, Severity, Span, Texts, rules};
use crate::remote_module::{
    FoundModule, ModuleFailure, ModuleRequest, NamedFiles, PinRequest, RequestedSource,
};
use crate::requirement::{StateSeen, UnseenReason};
use crate::terragrunt::{
    self, Documents, EvaluatedUnit, FetchedPackage, LockOrigin, UNIT_FILE, UNIT_FILE_JSON,
    UnitPackage, UnitSurroundings, UnknownFile, assemble, assemble_in_place,
};
use crate::version::CoreConstraints;
use crate::workspace::EnvironmentUse;
use crate::world::{DirectoryMemo, Env, FileKind, Files, Layer, clean};

/// The directory where Terragrunt runs a unit.
pub const UNIT_CACHE: &str = ".terragrunt-cache";

/// The title for a unit with unknown parts.
const NOT_KNOWN: &str = "Terragrunt unit is not visible";

/// The unit file of a directory, and what units share in a run.
#[derive(Clone, Debug)]
pub struct UnitFile {
    /// The name of the unit file.
    pub name: &'static str,
    /// The top of its repository, as an absolute path.
    pub(super) repository: Option<PathBuf>,
    pub(super) documents: Arc<Documents>,
    /// The unit as it was evaluated to read its configuration, shared by all clones of a root.
    pub(super) evaluated: Arc<OnceLock<EvaluatedUnit>>,
}

impl UnitFile {
    /// Returns the directory that functions may read files below.
    fn top<'u>(&'u self, unit: &'u EvaluatedUnit) -> &'u Path {
        self.repository.as_deref().unwrap_or(&unit.dir)
    }
}

/// The use that a run of Terragrunt makes of the lock file beside a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitLockUse {
    /// A lock file of an earlier run is restored from [`UNIT_CACHE`], because the unit is its own
    /// package (`terragrunt` rules 9.4).
    pub is_restored: bool,
    /// The lock file stays in the cache (`copy_terraform_lock_file = false`).
    pub stays_in_cache: bool,
}

/// Returns the name of the unit file of a directory, if it has one.
pub(super) fn unit_file(files: &dyn Files, dir: &Path) -> Option<&'static str> {
    let is_file = |name: &&str| {
        let kind = files.kind(&dir.join(name));
        kind.is_ok_and(|kind| kind != FileKind::Directory)
    };
    // In one directory the JSON form wins (`terragrunt` rules 1.2).
    [UNIT_FILE_JSON, UNIT_FILE].into_iter().find(is_file)
}

/// The inputs for reading a unit.
pub(super) struct UnitReading<'a> {
    pub(super) outside: ConfigSources<'a>,
    pub(super) env: &'a dyn Env,
    /// The use of its variables for values of the unit.
    pub(super) environment: EnvironmentUse,
    /// Settings for the configuration that Terragrunt puts together.
    pub(super) settings: Settings,
}

/// Reads the configuration of a unit: of its module, with what Terragrunt copies and generates.
pub(super) fn load(
    dir: &Path,
    unit: &UnitFile,
    reading: UnitReading<'_>,
    texts: &mut Texts,
) -> Loaded {
    let current = reading.env.current_dir().unwrap_or_default();
    let files = ShownFrom {
        files: reading.outside.files,
        current: &current,
        is_relative: dir.is_relative(),
    };
    let (evaluated, notes) = evaluate(dir, unit, &files, &reading, texts);
    let mut loaded = match put_together(unit, &evaluated, &files, &reading, texts) {
        Ok(loaded) => loaded,
        Err(unseen) => unseen.loaded(&evaluated, unit, &files, texts),
    };
    // A state that Terragrunt keeps beside the module is in its cache, which is not read.
    let has_cache = files.kind(&evaluated.dir.join(UNIT_CACHE)).is_ok();
    if loaded.requirements.state == StateSeen::Yes && has_cache {
        loaded.requirements.state = StateSeen::No;
    }
    loaded.diagnostics.extend(notes);
    // The first evaluation of a run is kept: what becomes of the lock file is asked later.
    drop(unit.evaluated.set(evaluated));
    loaded
}

/// Finds out what becomes of the lock file beside a unit.
pub(super) fn lock_use(dir: &Path, unit: &UnitFile, reading: &UnitReading<'_>) -> UnitLockUse {
    let current = reading.env.current_dir().unwrap_or_default();
    let files = ShownFrom {
        files: reading.outside.files,
        current: &current,
        is_relative: dir.is_relative(),
    };
    // Places in a unit that is evaluated here mean nothing elsewhere, so that it is not kept.
    let fresh;
    let evaluated = match unit.evaluated.get() {
        Some(evaluated) => evaluated,
        None => {
            fresh = evaluate(dir, unit, &files, reading, &mut Texts::default()).0;
            &fresh
        }
    };
    UnitLockUse {
        is_restored: evaluated.runs_itself() == Some(true)
            && files.kind(&evaluated.dir.join(UNIT_CACHE)).is_ok(),
        stays_in_cache: evaluated.copies_lock_file == Ok(false),
    }
}

fn evaluate(
    dir: &Path,
    unit: &UnitFile,
    files: &ShownFrom<'_>,
    reading: &UnitReading<'_>,
    texts: &mut Texts,
) -> (EvaluatedUnit, Vec<Diagnostic>) {
    // Terragrunt evaluates a unit for one command of one program; `init` writes the lock file.
    let variable = |name: &str| reading.env.var(name)?.into_string().ok();
    let around = UnitSurroundings {
        variable: &variable,
        hides_variables: reading.environment == EnvironmentUse::Hidden,
        repository: unit.repository.clone(),
        working_dir: Some(files.current.to_owned()),
        platform: platform(),
        command: Some(vec!["init".to_owned()]),
        program: variable("TG_TF_PATH"),
        programs: vec![reading.settings.flavor.command().to_owned()],
        registry_host: variable("TG_TF_DEFAULT_REGISTRY_HOST"),
        ..UnitSurroundings::new(&unit.documents)
    };
    let dir = clean(&files.current.join(dir));
    terragrunt::evaluate(files, texts, &dir, &around)
}

/// A reason why the configuration of a unit cannot be seen.
enum UnseenUnit {
    /// Something of it is not known.
    NotKnown(String, Option<Label>),
    /// Its package was not found.
    NotFound(ModuleFailure),
}

/// Reads the configuration that Terragrunt would put together.
fn put_together(
    file: &UnitFile,
    unit: &EvaluatedUnit,
    files: &ShownFrom<'_>,
    reading: &UnitReading<'_>,
    texts: &mut Texts,
) -> Result<Loaded, UnseenUnit> {
    if let Some(unknown) = unit.unseen() {
        let (reason, place) = (unknown.reason.clone(), unknown.place.clone());
        return Err(UnseenUnit::NotKnown(reason, Some(place)));
    }
    let found = package(unit, reading)?;
    let named = found.as_ref().map(NamedFiles);
    let fetched = found
        .iter()
        .zip(&named)
        .next()
        .map(|(found, named)| FetchedPackage {
            files: named,
            dir: &found.dir,
        });
    let assembled = assemble(files, unit, fetched);
    let assembled = assembled.map_err(|error| UnseenUnit::NotKnown(error.to_string(), None))?;
    let outside = ConfigSources {
        files: &assembled,
        modules: reading.outside.modules,
    };
    let module = assembled.module_dir();
    let settings = Settings {
        // Paths in the module start from the copy in the cache, not from the unit.
        absolute_root: Some(module.to_owned()),
        repository: Some(file.top(unit).to_owned()),
        ..reading.settings.clone()
    };
    let mut loaded = config::load_with(outside, texts, module, &settings);
    // Terragrunt before 1.0 runs a unit without a source in its own directory, later ones in a copy.
    if unit.runs_itself() == Some(true)
        && let Some(in_place) = load_in_place(&loaded, file, unit, files, reading, texts)
    {
        loaded = in_place;
    }
    for UnknownFile { path, unknown } in assembled.unknown_files() {
        let place = &unknown.place;
        let place = Label::new(place.file, place.span, unknown.reason.as_str());
        loaded.add_generated(path, &place);
    }
    // Terragrunt copies the lock file of the module only where the unit has none.
    if let LockOrigin::Module(path) = assembled.lock_file() {
        let file = texts.add(files.shown(&unit.file), Vec::new());
        let title = "The lock file of the module counts until the unit has one";
        let note = Diagnostic::note(rules::CONFIGURATION_ODD, title);
        let remark = files.shown(&path);
        loaded
            .diagnostics
            .push(note.at(file, Span::default(), remark));
    }
    Ok(loaded)
}

/// Reads a unit in its own directory, where a call that leads out of it can be followed there only.
fn load_in_place(
    loaded: &Loaded,
    file: &UnitFile,
    unit: &EvaluatedUnit,
    files: &ShownFrom<'_>,
    reading: &UnitReading<'_>,
    texts: &mut Texts,
) -> Option<Loaded> {
    let leads_out = |fault: &&Diagnostic| {
        fault.severity == Severity::Error && fault.code == rules::MODULE_UNREADABLE
    };
    let place = loaded.diagnostics.iter().find(leads_out)?.primary.clone()?;
    let assembled = assemble_in_place(files, unit).ok()?;
    let outside = ConfigSources {
        files: &assembled,
        modules: reading.outside.modules,
    };
    let settings = Settings {
        absolute_root: Some(unit.dir.clone()),
        repository: Some(file.top(unit).to_owned()),
        ..reading.settings.clone()
    };
    let module = assembled.module_dir();
    let mut in_place = config::load_with(outside, texts, module, &settings);
    if in_place.diagnostics.iter().any(|fault| leads_out(&fault)) {
        return None;
    }
    let title = "Only Terragrunt before 1.0 finds this module";
    let remark =
        "later versions run a unit without a source in their cache, where this path leads nowhere";
    let note = Diagnostic::note(rules::CONFIGURATION_ODD, title);
    in_place
        .diagnostics
        .push(note.at(place.file, place.span, remark));
    Some(in_place)
}

/// Finds the package of a unit, if Terragrunt would fetch it.
fn package(
    unit: &EvaluatedUnit,
    reading: &UnitReading<'_>,
) -> Result<Option<FoundModule>, UnseenUnit> {
    let Ok(source) = &unit.source else {
        return Ok(None);
    };
    let (registry, remote, constraints);
    let requested = match &source.package {
        UnitPackage::Own | UnitPackage::Local(_) => return Ok(None),
        UnitPackage::Remote(address) => {
            remote = RemoteModule {
                package: address.as_str().into(),
                sub: "".into(),
            };
            RequestedSource::Remote(&remote)
        }
        UnitPackage::Registry(package) => {
            // `tfr://HOST/PATH?version=V` names one version.
            let unfit = |reason: String| UnseenUnit::NotKnown(reason, source.place.clone());
            let text = format!("{}/{}", package.host, package.path);
            let module = ModuleSource::parse(&text, reading.settings.flavor);
            let Ok(ModuleSource::Registry(module)) = module else {
                return Err(unfit(format!(
                    "{text:?} is no address of a registry's module"
                )));
            };
            registry = module;
            let exact = package
                .version
                .as_ref()
                .map(|version| format!("={version}"));
            // Without a version any will do.
            constraints = match exact.as_deref().map(CoreConstraints::parse) {
                Some(Ok(constraints)) => Some(constraints),
                None => None,
                Some(Err(_)) => return Err(unfit("its version is no version".to_owned())),
            };
            RequestedSource::Registry(&registry, constraints.as_ref())
        }
    };
    let request = ModuleRequest {
        source: requested,
        flavor: reading.settings.flavor,
        pin: PinRequest::Unused,
    };
    let found = reading.outside.modules.find(&request);
    found.map(Some).map_err(UnseenUnit::NotFound)
}

impl UnseenUnit {
    /// Makes the configuration of a unit that cannot be seen, with the reason at its place.
    fn loaded(
        self,
        unit: &EvaluatedUnit,
        file: &UnitFile,
        files: &ShownFrom<'_>,
        texts: &mut Texts,
    ) -> Loaded {
        let source = unit.source.as_ref().ok();
        let source = source.and_then(|source| source.place.clone());
        let why = match self {
            Self::NotKnown(..) => UnseenReason::NotComputed,
            Self::NotFound(_) => UnseenReason::NotHere,
        };
        let (title, reason, place, help) = match self {
            Self::NotKnown(reason, place) => (NOT_KNOWN, reason, place.or(source), None),
            Self::NotFound(failure) => (failure.title, failure.cause, source, failure.help),
        };
        let place = place.unwrap_or_else(|| {
            let file = texts.add(files.shown(&unit.file), Vec::new());
            Label::new(file, Span::default(), "")
        });
        let mut loaded = Loaded::unseen_at(place.file, place.span, file.name, title, why);
        let package: Option<Box<str>> = match unit.source.as_ref().map(|source| &source.package) {
            Ok(UnitPackage::Remote(address)) => RemoteModule::parse_full(address)
                .ok()
                .map(|module| module.repository().into()),
            Ok(UnitPackage::Registry(package)) => {
                Some(format!("{}/{}", package.host, package.path).into())
            }
            Ok(UnitPackage::Own | UnitPackage::Local(_)) | Err(_) => None,
        };
        for note in &mut loaded.diagnostics {
            note.package.clone_from(&package);
            let because = Label::new(place.file, place.span, reason.as_str());
            note.related.push(because);
            if let Some(help) = &help {
                note.help = Some(help.as_str().into());
            }
        }
        loaded
    }
}

/// Returns the operating system by the name that Terragrunt has for it.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// Files with absolute paths, which messages show from the working directory on where the unit was named so.
struct ShownFrom<'a> {
    files: &'a dyn Files,
    current: &'a Path,
    /// The unit was named by a relative path.
    is_relative: bool,
}

impl Layer for ShownFrom<'_> {
    fn base(&self) -> &dyn Files {
        self.files
    }

    fn name(&self, path: &Path) -> String {
        let path = clean(path);
        let below = path.strip_prefix(self.current).ok();
        let below = below.filter(|below| self.is_relative && !below.as_os_str().is_empty());
        self.files.shown(below.unwrap_or(&path))
    }

    fn directory_memo(&self, dir: &Path) -> Option<DirectoryMemo> {
        self.files.memo(dir)
    }
}
