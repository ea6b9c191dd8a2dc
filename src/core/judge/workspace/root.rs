//! One root module directory: its lock file, its project file, its configuration.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::error::{LockCause, SpecialDirectory, WorkspaceError};
use super::flavor::{FlavorSign, holds_tofu_files};
use super::unit::{self, UnitFile, UnitLockUse, UnitReading};
use super::{RootFlavor, Workspace};
use crate::config::{
    self, ConfigSources, DEFAULT_DATA_DIR, GivenValues, Loaded, ModuleNode, PinSettings,
    PlannedValues, Settings, Submodules, Unreached, VALUE_PREFIX, ValueArgument,
};
use crate::diag::{Texts, has_errors};
use crate::flavor::{Flavor, FlavorChoice};
use crate::lockfile::{self, Document, LockText};
use crate::pins::{self, PinText};
use crate::project::{self, Project, ProjectFile, ProjectPlace};
use crate::remote_module::InstalledOnly;
use crate::terragrunt::UNIT_FILE;
use crate::world::{Env, Files, clean, is_link};

/// A root with its lock file read.
#[derive(Clone, Debug)]
pub struct Root {
    /// The directory, as it was named.
    pub dir: PathBuf,
    /// The path of the lock file, whether it exists or not.
    pub lock_path: PathBuf,
    /// The program and version whose rules apply.
    pub flavor: Flavor,
    /// The flavor that was stated, by the user or by the repository, if any.
    pub choice: FlavorChoice,
    /// The evidence for the flavor.
    pub sign: FlavorSign,
    /// The file of another tool that states the program or its version, if one does.
    pub tool_file: Option<PathBuf>,
    /// The lock file, if there is one.
    pub lock: Option<LockText>,
    /// The file of pinned modules, if the project file asks for one; an empty one if there is none yet.
    pub pins: Option<PinText>,
    /// There is no configuration beside the lock file, which then counts as not seen (`project`
    /// rules 3.2).
    pub is_alone: bool,
    /// The kind of a directory that is neither a root module nor a unit.
    pub special: Option<SpecialDirectory>,
    /// The unit file of Terragrunt, if the root is a unit.
    pub unit: Option<UnitFile>,
    /// The top of the repository that the root is in, as seen from the working directory.
    pub(super) repository: Option<PathBuf>,
    /// The git submodules of the repository that are not checked out.
    pub(super) submodules: Submodules,
    /// The project file that governs it, without any error.
    pub(super) file: Arc<ProjectFile>,
}

/// The variable that keeps OpenTofu from reading providers of Terraform's registry in a state as its own.
const STATE_TRANSLATION: &str = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION";

/// The title of the note about a lock file without configuration.
const ALONE: &str = "No configuration beside the lock file";

/// The use that configuration may make of variables of the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EnvironmentUse {
    /// Their values are used, as the programs do.
    #[default]
    Read,
    /// A value that depends on one of them is not known.
    ///
    /// A pull request decides which variables its configuration asks for, and a token becomes a name that a message
    /// shows: `source = "./${get_env("TOKEN")}"`. In another encoding no log masks it.
    Hidden,
}

/// The sources and options for reading the configuration of roots.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The files of the root, and its remote modules.
    pub sources: ConfigSources<'a>,
    /// The place of the program's records, the workspace that counts, and values of variables.
    pub env: &'a dyn Env,
    /// The use of its variables for values of the configuration.
    pub environment: EnvironmentUse,
    /// The directory of test files, if it is not `tests`.
    pub test_directory: Option<&'a Path>,
    /// A module that cannot be seen is an error.
    pub strict_modules: bool,
    /// The state is read, too.
    pub reads_state: bool,
    /// Addresses of Terraform 0.12 are no error: the run replaces them.
    pub keeps_legacy: bool,
    /// Values of variables from the command line, in their order.
    pub values: &'a [ValueArgument],
    /// Notes say how sources and versions of modules got their values.
    pub traces_values: bool,
    /// Each module is kept as its override files leave it.
    pub keeps_merged: bool,
    /// The meaning of a remote module that could not be fetched.
    pub unreached: Unreached,
    /// The use of the pins of modules, in roots that have some.
    pub pins: &'a PinUse,
}

/// The use of the pins of modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PinUse {
    /// A module that is not installed is the one that its pin names.
    #[default]
    Read,
    /// Every module is the one that its pin names, and what has no pin gets one.
    Kept,
    /// As [`Kept`](Self::Kept), but the pins of these calls move, and those of the calls in their modules; all if none
    /// is named.
    Moved(Vec<String>),
}

impl PinUse {
    /// Returns true if the pin of a call is to be made anew.
    #[must_use]
    pub fn moves(&self, key: &str) -> bool {
        let Self::Moved(names) = self else {
            return false;
        };
        let holds = |name: &String| {
            key.strip_prefix(&**name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        names.is_empty() || names.iter().any(holds)
    }
}

impl<'a> Reading<'a> {
    /// Returns the options of a reading of nothing but configuration: no state, no backend, no values
    /// from the command line.
    #[must_use]
    pub fn new(sources: ConfigSources<'a>, env: &'a dyn Env) -> Self {
        Self {
            sources,
            env,
            environment: EnvironmentUse::Read,
            test_directory: None,
            strict_modules: false,
            reads_state: false,
            keeps_legacy: false,
            values: &[],
            traces_values: false,
            keeps_merged: false,
            unreached: Unreached::Unseen,
            pins: &PinUse::Read,
        }
    }
}

impl Workspace<'_> {
    /// Opens a root that a project file governs: reads the lock file, decides whose rules apply.
    /// Returns nothing if the project file has errors.
    ///
    /// Roots are opened side by side: what one finds out about the repository serves the others.
    ///
    /// # Errors
    /// If the lock file cannot be read; one that can be read but not parsed is no error here.
    pub fn open(
        &self,
        dir: &Path,
        file: Arc<ProjectFile>,
        texts: &mut Texts,
    ) -> Result<Option<Root>, WorkspaceError> {
        // Nothing of a file with an error counts (`project` rules 2.1), so it is not known what was meant.
        if has_errors(&file.diagnostics) {
            return Ok(None);
        }
        let lock_path = lock_path(dir);
        let kept = self.kept_locks.take(&clean(&self.current.join(&lock_path)));
        let bytes = match kept {
            Some(bytes) => Some(bytes),
            None => read_lock(self.files, &lock_path)?.map(Arc::from),
        };
        // The command line wins over the project file (`project` rules 3.1).
        let choice = self.flavor.or(file.project.flavor);
        let place = ProjectPlace::new(dir, &self.current);
        let repository = self.repository(&place);
        let RootFlavor {
            flavor,
            choice,
            sign,
            tool_file,
        } = self.flavor(choice, &place, repository.as_ref(), bytes.as_deref());
        let submodules = Submodules {
            missing: self
                .missing_submodules(repository.as_ref())
                .iter()
                .map(|submodule| submodule.absolute().to_owned())
                .collect(),
            root: place.absolute().to_owned(),
        };
        let special = self.special(&place, flavor, &submodules);
        let unit_file = unit::unit_file(self.files, dir)
            .filter(|name| *name != UNIT_FILE || special != Some(SpecialDirectory::UnitParent));
        let unit = unit_file.map(|name| UnitFile {
            name,
            repository: repository.as_ref().map(|top| top.absolute().to_owned()),
            documents: Arc::clone(&self.documents),
            evaluated: Arc::default(),
        });
        // A lock file without configuration may be kept by a tool that generates the configuration, which
        // therefore counts as not seen (`project` rules 3.2).
        let is_alone = match (&bytes, &unit) {
            (Some(_), None) if special != Some(SpecialDirectory::Stack) => {
                config::has_files(self.files, dir, flavor).is_ok_and(|has| !has)
            }
            _ => false,
        };
        let lock = bytes.map(|bytes| LockText::new(&lock_path, bytes, flavor, texts));
        let pins = if file.project.pins_modules {
            let path = lock_path.with_file_name(pins::FILE_NAME);
            let bytes = read_lock(self.files, &path)?.map(Arc::from);
            Some(PinText::new(path, bytes, texts))
        } else {
            None
        };
        Ok(Some(Root {
            dir: dir.to_owned(),
            lock_path,
            flavor,
            choice,
            sign,
            tool_file,
            lock,
            pins,
            is_alone,
            special,
            unit,
            repository: repository.map(|top| top.shown().to_owned()),
            submodules,
            file,
        }))
    }
}

impl Root {
    /// Returns the root as it is after its lock file was written.
    #[must_use]
    pub fn rewritten(&self, bytes: Vec<u8>, texts: &mut Texts) -> Self {
        let lock = LockText::new(&self.lock_path, bytes.into(), self.flavor, texts);
        Self {
            lock: Some(lock),
            ..self.clone()
        }
    }

    /// Returns the root with nothing of it read yet, which shares nothing with other roots.
    #[must_use]
    pub fn alone(&self) -> Self {
        let mut root = self.clone();
        if let Some(unit) = &mut root.unit {
            unit.documents = Arc::default();
            unit.evaluated = Arc::default();
        }
        root
    }

    /// Returns what the project file states.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.file.project
    }

    /// Returns the path of the project file; `None` if none governs the root.
    #[must_use]
    pub fn project_file(&self) -> Option<&Path> {
        self.file.path.as_deref()
    }

    /// Returns the name of the project file to show, that of a new one if there is none.
    #[must_use]
    pub fn project_name(&self) -> String {
        match &self.file.path {
            Some(path) => path.display().to_string(),
            None => project::FILE_NAME.to_owned(),
        }
    }

    /// Returns a path that the project file states as seen from the working directory.
    #[must_use]
    pub fn project_path(&self, path: &Path) -> PathBuf {
        self.file.resolve(path)
    }

    /// Returns what was understood of the lock file; an empty document if there is none.
    #[must_use]
    pub fn document(&self) -> &Document {
        static EMPTY: LazyLock<Document> = LazyLock::new(Document::default);
        match &self.lock {
            Some(lock) => &lock.document,
            None => &EMPTY,
        }
    }

    /// Returns where installed packages are: in the program's data directory.
    #[must_use]
    pub fn providers_dir(&self, env: &dyn Env) -> PathBuf {
        self.dir.join(data_dir(env)).join("providers")
    }

    /// Reads the configuration of the root, of its modules and of its state.
    pub fn load(&self, reading: &Reading<'_>, texts: &mut Texts) -> Loaded {
        let (outside, env) = (reading.sources, reading.env);
        let mut settings = self.settings(env, reading.environment, reading.values);
        settings.submodules = self.submodules.clone();
        settings.test_directory = reading.test_directory.map(Path::to_owned);
        settings.reads_state = reading.reads_state;
        settings.keeps_legacy = reading.keeps_legacy;
        settings.traces_values = reading.traces_values;
        settings.keeps_merged = reading.keeps_merged;
        // Any other value leaves the translation on (`config` rules 7.5).
        settings.moves_state_hosts =
            variable(env, STATE_TRANSLATION).is_none_or(|value| value != "0");
        settings.unreached = reading.unreached;
        settings.pins = self.pins.as_ref().map(|pins| {
            let mut kept = pins.document.pins.clone();
            kept.retain(|key, _| !reading.pins.moves(key));
            PinSettings {
                kept: Arc::new(kept),
                reads_installed: *reading.pins == PinUse::Read,
            }
        });
        let mut loaded = match (&self.unit, &self.lock) {
            (Some(unit), _) => {
                let reading = UnitReading {
                    outside,
                    env,
                    environment: reading.environment,
                    settings,
                };
                unit::load(&self.dir, unit, reading, texts)
            }
            (None, _) if self.special == Some(SpecialDirectory::Stack) => {
                config::load_stack(outside.files, texts, &self.dir, self.flavor)
            }
            (None, Some(lock)) if self.is_alone => Loaded::unseen(lock.file, "", ALONE),
            _ => config::load_with(outside, texts, &self.dir, &settings),
        };
        // `--strict-modules`: a module that is not visible may require anything.
        if reading.strict_modules {
            loaded.require_modules();
        }
        loaded
    }

    /// Computes values in the modules of the root, which was [loaded](Self::load), as a plan knows them.
    pub fn with_planned<T>(
        &self,
        reading: &Reading<'_>,
        texts: &mut Texts,
        nodes: &[ModuleNode],
        work: impl FnOnce(&mut PlannedValues<'_>) -> T,
    ) -> T {
        let settings = self.settings(reading.env, reading.environment, reading.values);
        let files = reading.sources.files;
        config::with_planned(files, texts, &self.dir, &settings, nodes, work)
    }

    /// Says what values there are besides those in the files of the root.
    fn settings(
        &self,
        env: &dyn Env,
        environment: EnvironmentUse,
        values: &[ValueArgument],
    ) -> Settings {
        let mut settings = Settings::new(self.flavor);
        settings.data_dir = data_dir(env);
        settings.workspace = variable(env, "TF_WORKSPACE");
        settings.values = GivenValues {
            arguments: values.to_vec(),
            ..match environment {
                EnvironmentUse::Read => GivenValues {
                    environment: environment_values(env),
                    ..GivenValues::default()
                },
                EnvironmentUse::Hidden => GivenValues {
                    // The names only: the program would use the values, which this run may not read.
                    hidden: environment_values(env).into_keys().collect(),
                    ..GivenValues::default()
                },
            }
        };
        let current = env.current_dir().ok();
        settings.repository.clone_from(&self.repository);
        settings.absolute_root = current.map(|current| clean(&current.join(&self.dir)));
        settings
    }

    /// Returns what a run of Terragrunt does with the lock file; nothing special where this is no unit.
    pub fn unit_lock_use(&self, files: &dyn Files, env: &dyn Env) -> UnitLockUse {
        let Some(unit) = &self.unit else {
            return UnitLockUse::default();
        };
        let outside = ConfigSources {
            files,
            modules: &InstalledOnly,
        };
        let reading = UnitReading {
            outside,
            env,
            // Nothing of this evaluation is printed.
            environment: EnvironmentUse::Read,
            settings: self.settings(env, EnvironmentUse::Read, &[]),
        };
        unit::lock_use(&self.dir, unit, &reading)
    }

    /// Returns whether the directory holds `.tofu` files that are not read, because the lock file is
    /// one of Terraform.
    #[must_use]
    pub fn ignores_tofu_files(&self, files: &dyn Files) -> bool {
        self.sign == FlavorSign::Lock && !self.flavor.is_opentofu() && self.has_tofu_files(files)
    }

    /// Returns whether the directory holds configuration that only OpenTofu reads.
    #[must_use]
    pub fn has_tofu_files(&self, files: &dyn Files) -> bool {
        let entries = files.list(&self.dir);
        entries.is_ok_and(|entries| holds_tofu_files(&entries))
    }

    /// Returns the error of a root that has no lock file.
    #[must_use]
    pub fn no_lock(&self) -> WorkspaceError {
        WorkspaceError::NoLock {
            path: self.lock_path.clone(),
        }
    }

    /// Returns the error of a root that has no configuration.
    #[must_use]
    pub fn no_configuration(&self) -> WorkspaceError {
        WorkspaceError::NoConfiguration {
            dir: self.dir.clone(),
            flavor: self.flavor,
            special: self.special,
        }
    }

    /// Returns the error of a lock file that cannot be written.
    #[must_use]
    pub fn unwritable(&self, cause: io::Error) -> WorkspaceError {
        WorkspaceError::Unwritable {
            path: self.lock_path.clone(),
            cause,
        }
    }

    /// Returns the error of a lock file that would have too many bytes to be read again.
    #[must_use]
    pub fn too_large(&self, bytes: usize) -> WorkspaceError {
        WorkspaceError::TooLarge {
            path: self.lock_path.clone(),
            bytes,
        }
    }
}

/// Returns the path of the lock file of a directory, without the dot that means the working directory.
#[must_use]
pub fn lock_path(dir: &Path) -> PathBuf {
    // Messages show paths as the programs do, without `./`.
    if dir == Path::new(".") {
        PathBuf::from(lockfile::FILE_NAME)
    } else {
        dir.join(lockfile::FILE_NAME)
    }
}

/// Returns the directory of the program's own records, from a root on.
#[must_use]
pub fn data_dir(env: &dyn Env) -> PathBuf {
    env.var("TF_DATA_DIR")
        .filter(|dir| !dir.is_empty())
        .unwrap_or_else(|| DEFAULT_DATA_DIR.into())
        .into()
}

/// Returns the values of variables that the environment holds, by their names.
#[must_use]
pub fn environment_values(env: &dyn Env) -> BTreeMap<String, String> {
    env.names(VALUE_PREFIX)
        .into_iter()
        .filter_map(|variable| {
            let value = env.var(&variable)?.into_string().ok()?;
            Some((variable.strip_prefix(VALUE_PREFIX)?.to_owned(), value))
        })
        .collect()
}

/// Reads a lock file; returns nothing if there is none.
///
/// # Errors
/// If there is something that cannot be read, or is too large.
pub fn read_lock(files: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>, WorkspaceError> {
    match files.read(path, lockfile::MAX_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        // The system reports a dangling link as a missing file. Creating one in its place would replace a
        // link that somebody made on purpose, as the programs do (`lockfile` rules 1.7).
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_link(files, path) => {
            Err(WorkspaceError::DanglingLink {
                path: path.to_owned(),
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(WorkspaceError::UnreadableLock {
            path: path.to_owned(),
            cause: if error.kind() == io::ErrorKind::FileTooLarge {
                LockCause::TooLarge
            } else {
                LockCause::Io(error)
            },
        }),
    }
}

/// Returns a variable of the environment that is set to a text.
fn variable(env: &dyn Env, name: &str) -> Option<String> {
    // Both programs take an empty variable for one that is not set.
    let value = env.var(name)?.into_string().ok()?;
    (!value.is_empty()).then_some(value)
}
