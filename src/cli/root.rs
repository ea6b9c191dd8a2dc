//! One root module directory: its lock file and its configuration.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::cli::World;
use crate::cli::args::{Common, Configuration};
use crate::cli::setup;
use crate::config::{self, Settings};
use crate::diag::{Diagnostic, FileId, Texts, has_errors};
use crate::flavor::Flavor;
use crate::lockfile::{self, Document};
use crate::project::{self, Project, ProjectFile};
use crate::report::{Failure, RootResult};
use crate::requirement::Requirements;
use crate::sources::SourceError;
use crate::verify::packages::{Origin, Unscanned};
use crate::verify::{Advice, Subject};
use crate::world::{Env, FileKind, Files};

/// A root with its lock file read.
pub(super) struct Root {
    /// The directory.
    pub(super) dir: PathBuf,
    /// The path of the lock file, whether it exists or not.
    pub(super) lock_path: PathBuf,
    /// Whose rules apply.
    pub(super) flavor: Flavor,
    /// The lock file, if there is one.
    pub(super) lock: Option<LockText>,
    /// Commands that help.
    pub(super) advice: Advice,
    /// The project file that governs it, without any error.
    file: Rc<ProjectFile>,
}

/// A lock file as it was read.
pub(super) struct LockText {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// Its place in the table of texts.
    pub(super) file: FileId,
    /// What was understood of it.
    pub(super) document: Document,
    /// What is wrong with it.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Makes sure that a root is a directory.
///
/// # Errors
/// If it is none, or nobody may look.
pub(super) fn check(files: &dyn Files, dir: &Path) -> Result<(), Failure> {
    let (title, causes) = match files.kind(dir) {
        Ok(FileKind::Directory) => return Ok(()),
        Ok(_) => (format!("{} is not a directory", dir.display()), Vec::new()),
        Err(error) => {
            let title = format!("{} cannot be read", dir.display());
            (title, vec![error.to_string()])
        }
    };
    Err(Failure {
        title,
        causes,
        help: Some("name the directory of a root module".to_owned()),
    })
}

/// Opens a root: reads the lock file, decides about the flavor.
///
/// # Errors
/// If the lock file cannot be read; one that can be read but not parsed is no error here.
pub(super) fn open(
    common: &Common,
    files: &dyn Files,
    (dir, file): (&Path, Rc<ProjectFile>),
    texts: &mut Texts,
) -> Result<Root, Failure> {
    let lock_path = shown(dir).join(lockfile::FILE_NAME);
    let bytes = read_lock(files, &lock_path)?;
    let flavor = {
        let choice = setup::choice(common.flavor, file.project.flavor);
        setup::flavor(choice, files, dir, bytes.as_deref())
    };
    let lock = bytes.map(|bytes| LockText::new(&lock_path, bytes, flavor, texts));
    Ok(Root {
        advice: setup::advice(common, dir),
        dir: dir.to_owned(),
        lock_path,
        flavor,
        lock,
        file,
    })
}

pub(super) fn read_lock(files: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match files.read(path, lockfile::MAX_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if is_link(files, path) {
                return Err(Failure {
                    title: format!("{} is a link that leads nowhere", path.display()),
                    help: Some("remove the link, or create the file that it leads to".to_owned()),
                    ..Failure::default()
                });
            }
            Ok(None)
        }
        Err(error) => Err(Failure {
            title: format!("{} cannot be read", path.display()),
            causes: vec![if error.kind() == io::ErrorKind::FileTooLarge {
                format!("it has more than {} bytes", lockfile::MAX_BYTES)
            } else {
                error.to_string()
            }],
            help: Some(
                match error.kind() {
                    io::ErrorKind::PermissionDenied => "make it readable",
                    _ => "a lock file is a small regular file; restore it from version control",
                }
                .to_owned(),
            ),
        }),
    }
}

/// Returns the failure of a directory of packages that cannot be scanned.
pub(super) fn unreadable_packages(unscanned: &Unscanned) -> Failure {
    let (path, cause) = match &*unscanned.error {
        SourceError::Unreadable { path, cause } => (path, cause.to_string()),
        other => (&unscanned.dir, other.to_string()),
    };
    let (which, help) = match unscanned.origin {
        Origin::Installed => (
            "installed packages",
            "make it a readable directory, or delete it and run init again",
        ),
        Origin::Cache => ("cached packages", "make it a readable directory"),
        Origin::Mirror | Origin::Named => (
            "packages",
            "name a readable directory, laid out as a filesystem mirror",
        ),
    };
    Failure {
        title: format!("the {which} in {} cannot be looked at", path.display()),
        causes: vec![cause],
        help: Some(help.to_owned()),
    }
}

/// Returns the directory of the program's own records, from the root on.
pub(super) fn data_dir(env: &dyn Env) -> PathBuf {
    let named = env.var("TF_DATA_DIR").filter(|dir| !dir.is_empty());
    named.unwrap_or_else(|| ".terraform".into()).into()
}

/// Returns a variable of the environment that is set to a text.
fn variable(env: &dyn Env, name: &str) -> Option<String> {
    let value = env.var(name)?.into_string().ok()?;
    (!value.is_empty()).then_some(value)
}

/// Names a directory in a sentence.
pub(super) fn named(dir: &Path) -> String {
    if dir == Path::new(".") {
        "the working directory".to_owned()
    } else {
        dir.display().to_string()
    }
}

/// Tells whether a path is a link, wherever it leads.
fn is_link(files: &dyn Files, path: &Path) -> bool {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let entries = files
        .list(dir.unwrap_or(Path::new(".")))
        .unwrap_or_default();
    let own = entries
        .iter()
        .find(|entry| Some(&*entry.name) == path.file_name());
    own.is_some_and(|entry| entry.kind == FileKind::Symlink)
}

/// Returns the directory without the dot that means the working directory.
pub(super) fn shown(dir: &Path) -> PathBuf {
    if dir == Path::new(".") {
        PathBuf::new()
    } else {
        dir.to_owned()
    }
}

impl LockText {
    fn new(path: &Path, bytes: Vec<u8>, flavor: Flavor, texts: &mut Texts) -> Self {
        let file = texts.add(path.display().to_string(), bytes.clone());
        let (document, diagnostics) = lockfile::parse(file, &bytes, flavor);
        Self {
            bytes,
            file,
            document,
            diagnostics,
        }
    }

    /// Says how many comments a rewrite drops, if any.
    pub(super) fn dropped(&self) -> Option<String> {
        match self.document.comments {
            0 => None,
            1 => Some("a rewrite drops 1 comment, as that of the program does".to_owned()),
            n => Some(format!(
                "a rewrite drops {n} comments, as that of the program does"
            )),
        }
    }
}

impl Root {
    /// Returns the root as it is after its lock file was written.
    pub(super) fn rewritten(&self, bytes: Vec<u8>, texts: &mut Texts) -> Self {
        let lock = LockText::new(&self.lock_path, bytes, self.flavor, texts);
        Self {
            dir: self.dir.clone(),
            lock_path: self.lock_path.clone(),
            flavor: self.flavor,
            lock: Some(lock),
            advice: self.advice.clone(),
            file: Rc::clone(&self.file),
        }
    }

    /// Returns what the project file states.
    pub(super) fn project(&self) -> &Project {
        &self.file.project
    }

    /// Returns the name of the project file to show, that of a new one if there is none.
    pub(super) fn project_name(&self) -> String {
        match &self.file.path {
            Some(path) => path.display().to_string(),
            None => project::FILE_NAME.to_owned(),
        }
    }

    /// Adds what is wrong with the lock file and returns it, unless it cannot be worked with.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn sound_lock(&self, result: &mut RootResult) -> Result<Option<&LockText>, Failure> {
        let Some(lock) = &self.lock else {
            return Err(self.no_lock());
        };
        result.faults(&lock.diagnostics);
        Ok((!has_errors(&lock.diagnostics)).then_some(lock))
    }

    /// Returns the failure of a lock file that is not there.
    pub(super) fn no_lock(&self) -> Failure {
        Failure {
            title: format!("there is no {}", self.lock_path.display()),
            help: Some(format!("run `{}` to create it", self.advice.lock)),
            ..Failure::default()
        }
    }

    /// Returns the failure of a lock file that cannot be written.
    pub(super) fn unwritable(&self, error: &io::Error) -> Failure {
        let next = match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "; make the directory writable"
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room on the disk",
            _ => "",
        };
        Failure {
            title: format!("{} cannot be written", self.lock_path.display()),
            causes: vec![error.to_string()],
            help: Some(format!("nothing was written{next}")),
        }
    }

    /// Returns the failure of a lock file that nobody could read again.
    pub(super) fn too_large(&self, bytes: usize) -> Failure {
        Failure {
            title: format!(
                "{} would have {bytes} bytes, more than {}",
                self.lock_path.display(),
                lockfile::MAX_BYTES
            ),
            causes: vec!["a registry lists far more packages than any release has".to_owned()],
            help: Some("nothing was written; tell whoever runs the registry".to_owned()),
        }
    }

    /// Returns what is checked of the lock file.
    pub(super) fn subject<'a>(
        &'a self,
        lock: &'a LockText,
        requirements: Option<&'a Requirements>,
    ) -> Subject<'a> {
        Subject {
            document: &lock.document,
            file: lock.file,
            flavor: self.flavor,
            requirements,
            advice: &self.advice,
        }
    }

    /// Reads the configuration of the root, its modules and its state.
    pub(super) fn load(
        &self,
        world: World<'_>,
        args: &Configuration,
        texts: &mut Texts,
    ) -> config::Loaded {
        let mut settings = Settings::new(self.flavor);
        settings.test_directory = args.test_directory.clone();
        settings.data_dir = data_dir(world.env);
        settings.workspace = variable(world.env, "TF_WORKSPACE");
        settings.reads_state = !args.no_state;
        let moves = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION";
        settings.moves_state_hosts = variable(world.env, moves).is_none_or(|value| value != "0");
        let mut loaded = config::load(world.disk, texts, &self.dir, &settings);
        if args.strict_modules {
            loaded.require_modules();
        }
        loaded
    }

    /// Returns where installed packages lie: in the program's data directory.
    pub(super) fn providers_dir(&self, env: &dyn Env) -> PathBuf {
        self.dir.join(data_dir(env)).join("providers")
    }

    /// Returns the document, an empty one if there is no lock file.
    pub(super) fn document(&self) -> Document {
        self.lock
            .as_ref()
            .map(|lock| lock.document.clone())
            .unwrap_or_default()
    }

    /// Returns the failure of a root without any configuration.
    pub(super) fn no_configuration(&self) -> Failure {
        Failure {
            title: format!("no configuration in {}", named(&self.dir)),
            causes: vec![format!(
                "there is no {} file",
                self.flavor.native_extensions().join(" or ")
            )],
            help: Some("name the directory of a root module".to_owned()),
        }
    }
}
