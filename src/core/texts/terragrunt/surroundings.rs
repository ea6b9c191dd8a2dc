//! Surroundings of a unit: the values that no file holds.

use std::path::PathBuf;

use super::documents::Documents;

/// Values that the evaluation of units may use besides files.
///
/// ```
/// use lockctl_core::terragrunt::{Documents, UnitSurroundings};
///
/// let documents = Documents::default();
/// let around = UnitSurroundings {
///     platform: "linux",
///     ..UnitSurroundings::new(&documents)
/// };
/// assert!(around.command.is_none());
/// ```
pub struct UnitSurroundings<'a> {
    /// The files that units share, parsed once.
    pub documents: &'a Documents,
    /// Finds an environment variable; one that is set but empty is set (rules 5.3).
    pub variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// The value of a variable that is set is not known: nothing of it may be shown.
    pub hides_variables: bool,
    /// The top of the repository that the units are in, as an absolute path without links; `None` if they are in none.
    pub repository: Option<PathBuf>,
    /// The directory that relative paths of `abspath` start at, if known.
    pub working_dir: Option<PathBuf>,
    /// The operating system as Go names it, such as `linux` or `darwin`.
    pub platform: &'a str,
    /// The command of Terraform and its arguments, as `["init"]`; `None` if any may run.
    pub command: Option<Vec<String>>,
    /// The program that a variable names (`TG_TF_PATH`).
    pub program: Option<String>,
    /// The programs that are on the search path, of `tofu` and `terraform`.
    pub programs: Vec<String>,
    /// The registry of `tfr:///` that a variable names (`TG_TF_DEFAULT_REGISTRY_HOST`).
    pub registry_host: Option<String>,
}

impl<'a> UnitSurroundings<'a> {
    /// Makes surroundings without any setting.
    #[must_use]
    pub fn new(documents: &'a Documents) -> Self {
        Self {
            documents,
            variable: &|_| None,
            hides_variables: false,
            repository: None,
            working_dir: None,
            platform: "linux",
            command: None,
            program: None,
            programs: Vec::new(),
            registry_host: None,
        }
    }
}
