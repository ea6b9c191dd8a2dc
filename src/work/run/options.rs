//! Options of a run as plain values: the command line makes them out of what was typed.

use std::path::{Path, PathBuf};

use crate::cliconfig::RepositoryTemplate;
use crate::config::ValueArgument;
use crate::diag::quoted;
use crate::flavor::FlavorChoice;
use crate::project::PackageSource;
use crate::run::root::Root;
use crate::sources::network_mirror::MirrorUrl;

/// Options that every command has.
#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    /// The directory that relative paths start from; `None` for the working directory.
    pub(crate) dir: Option<PathBuf>,
    /// The program whose rules apply, if it was chosen; else each root decides.
    pub(crate) flavor: FlavorChoice,
    /// Notes and other details are shown.
    pub(crate) verbose: bool,
    /// No network request may be made.
    pub(crate) offline: bool,
    /// Nothing of earlier runs is used, and nothing is kept.
    pub(crate) no_cache: bool,
    /// The project file that counts instead of every `.lockctl.hcl`.
    pub(crate) project_file: Option<PathBuf>,
    /// The CLI configuration that is read instead of the user's.
    pub(crate) cli_config: Option<PathBuf>,
}

/// Roots to work on, or directories to search for roots.
#[derive(Clone, Debug)]
pub(crate) struct RootChoice {
    /// Directories as typed, at least one.
    pub(crate) dirs: Vec<PathBuf>,
    /// Roots are searched for in these directories and below.
    pub(crate) recursive: bool,
    /// Units of Terragrunt are roots even if they have no lock file.
    pub(crate) terragrunt: bool,
}

/// Options for reading the configuration of a root.
#[derive(Clone, Debug)]
pub(crate) struct ConfigurationOptions {
    /// The directory of test files, if it is not `tests`.
    pub(crate) test_directory: Option<PathBuf>,
    /// A module that is not visible is an error.
    pub(crate) strict_modules: bool,
    /// The places that remote modules are read from.
    pub(crate) modules: ModuleChoice,
    /// The state is read, and providers that only it requires count.
    pub(crate) reads_state: bool,
    /// Nothing outside of a directory may be read.
    pub(crate) is_confined: bool,
    /// Values of variables, in the order of the command line.
    pub(crate) values: Vec<ValueArgument>,
}

/// The places that remote modules are read from where they are not installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleChoice {
    /// The cache; a command that makes requests anyway also fetches modules.
    Auto,
    /// No place: such a module is not visible.
    Installed,
    /// The cache, then the network; a module that cannot be fetched is an error.
    Fetch,
}

/// The place that packages come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageChoice {
    /// The registry of each provider.
    Registry,
    /// The sources that the CLI configuration states.
    CliConfiguration,
    /// A filesystem mirror, by its directory as seen from the working directory.
    FilesystemMirror(PathBuf),
    /// A network mirror, by its URL.
    NetworkMirror(MirrorUrl),
    /// Repositories of OCI artifacts.
    OciMirror(RepositoryTemplate),
}

impl PackageChoice {
    /// Returns the option that chooses the place.
    pub(crate) fn option(&self) -> String {
        match self {
            Self::Registry => "--installation registry".to_owned(),
            Self::CliConfiguration => "--installation cli".to_owned(),
            Self::FilesystemMirror(dir) => {
                format!("--fs-mirror {}", quoted(&dir.display().to_string()))
            }
            Self::NetworkMirror(url) => format!("--net-mirror {}", quoted(&url.to_string())),
            Self::OciMirror(template) => {
                format!("--oci-mirror {}", quoted(&template.to_string()))
            }
        }
    }

    /// Returns the name of the place in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Registry => "registries".to_owned(),
            Self::CliConfiguration => "CLI configuration".to_owned(),
            Self::FilesystemMirror(dir) => dir.display().to_string(),
            Self::NetworkMirror(url) => url.to_string(),
            Self::OciMirror(_) => "OCI mirror".to_owned(),
        }
    }

    /// Returns the place that the project file of a root states, if any.
    pub(crate) fn of_project(root: &Root) -> Option<Self> {
        let setting = root.project().packages.as_ref()?;
        Some(match &setting.source {
            PackageSource::FilesystemMirror(dir) => Self::FilesystemMirror(root.project_path(dir)),
            PackageSource::NetworkMirror(url) => Self::NetworkMirror(url.clone()),
            PackageSource::OciMirror(template) => Self::OciMirror(template.clone()),
            PackageSource::Registry => Self::Registry,
            PackageSource::CliConfiguration => Self::CliConfiguration,
        })
    }
}

impl RunOptions {
    /// Returns a path as seen from the directory of the run.
    pub(crate) fn below(&self, path: &Path) -> PathBuf {
        match &self.dir {
            Some(dir) if path == Path::new(".") => dir.clone(),
            Some(dir) => dir.join(path),
            None => path.to_owned(),
        }
    }
}

impl RootChoice {
    /// Returns the directories as seen from the directory of the run.
    pub(crate) fn dirs_below(&self, options: &RunOptions) -> Vec<PathBuf> {
        self.dirs.iter().map(|dir| options.below(dir)).collect()
    }
}

/// Returns true if an argument that may be an address is a path instead: no address begins with a dot or a
/// slash, ends with a slash, or has a backslash.
pub(crate) fn is_path(text: &str) -> bool {
    text.starts_with(['.', '/']) || text.ends_with('/') || text.contains('\\')
}
