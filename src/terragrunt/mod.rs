//! Units of Terragrunt, evaluated without running it: which module a unit runs, which files are
//! generated, and which files lie in the directory that Terraform sees.
//!
//! `discovery` finds the units. `evaluation` reads a unit and its parents on demand: only the local values
//! that decide source, copying and generated files must be known. `names` says what expressions may use,
//! `functions` are Terragrunt's own, `include` and `merge` put parents and unit together. `source`,
//! `generate` and `unit` make plain values of the result; `ways` runs all of that, `notes` says what else Terragrunt would
//! stop at. `assembled` is the directory that Terraform sees, as files.
//!
//! Invariant: what only a run of Terragrunt knows is unknown, with the reason and its place. No program is
//! run, nothing is fetched.
//!
//! # From a directory to requirements
//!
//! ```
//! use std::path::{Path, PathBuf};
//! use lockctl::config::{self, Settings};
//! use lockctl::diag::Texts;
//! use lockctl::flavor::Flavor;
//! use lockctl::terragrunt::{
//!     Documents, LockOrigin, Repository, UnitSurroundings, assemble, discover, evaluate,
//! };
//! use lockctl::world::mem::MemFiles;
//!
//! let files = MemFiles::with(&[
//!     ("/repo/live/app/terragrunt.hcl", "terraform {\n  source = \"../../modules//app\"\n}\n"),
//!     ("/repo/live/app/.terraform.lock.hcl", ""),
//!     ("/repo/modules/app/main.tf", "resource \"null_resource\" \"a\" {}\n"),
//! ]);
//! // One value for all units of a run: what they share is parsed once.
//! let documents = Documents::default();
//! let top = PathBuf::from("/repo");
//! let around = UnitSurroundings {
//!     repository: Repository::At(top.clone()),
//!     top: Some(top.clone()),
//!     ..UnitSurroundings::new(&documents)
//! };
//! let mut texts = Texts::default();
//! for dir in discover(&files, &top, None).units {
//!     let (unit, notes) = evaluate(&files, &mut texts, &dir, &around);
//!     assert!(notes.is_empty() && unit.unseen().is_none());
//!     let assembled = assemble(&files, &unit, None).expect("a local package");
//!     assert_eq!(assembled.lock_file(), LockOrigin::Unit(dir.join(".terraform.lock.hcl")));
//!     let settings = Settings::new(Flavor::Terraform1_11);
//!     let loaded = config::load(&assembled, &mut texts, assembled.module_dir(), &settings);
//!     assert_eq!(loaded.requirements.providers.len(), 1);
//! }
//! ```

mod assembled;
mod discovery;
mod documents;
mod evaluation;
mod file_config;
mod functions;
mod generate;
mod globs;
mod include;
mod json;
mod limits;
mod merge;
mod names;
mod notes;
mod object;
mod outcome;
mod schema;
mod source;
mod stack;
mod surroundings;
mod unit;
mod ways;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::path::Path;

use crate::diag::{Diagnostic, Texts};
use crate::world::Files;

pub use assembled::{
    AssembleError, Assembled, FetchedPackage, LockOrigin, assemble, assemble_in_place,
};
pub use discovery::{
    Component, Discovered, STACK_FILE, UNIT_FILE, UNIT_FILE_JSON, component, discover,
};
pub use documents::Documents;
pub use generate::{GeneratedFile, IfDisabled, IfExists, SIGNATURE};
pub use globs::Glob;
pub use limits::{
    MAX_DIRECTORIES, MAX_FILE_BYTES, MAX_FILES, MAX_INCLUDES, MAX_READ_DEPTH, MAX_TOTAL_BYTES,
};
pub use outcome::{Known, Unknown};
pub use source::{Package, RegistryPackage, UnitSource};
pub use stack::{StackComponent, stack};
pub use surroundings::{Repository, SourceOverride, UnitSurroundings};
pub use unit::{Unit, UnitPart, UnknownPart};
pub use ways::Rendered;

/// The name of a file of values.
pub const VALUES_FILE: &str = "terragrunt.values.hcl";

/// Evaluates the unit of a directory, which is absolute: functions answer with absolute paths.
///
/// Every file that is read is added to `texts`. Nothing fails: what is unknown says why, and what
/// Terragrunt would refuse elsewhere in the unit is a note.
///
/// ```
/// use std::path::Path;
/// use lockctl::diag::Texts;
/// use lockctl::terragrunt::{Documents, Package, UnitSurroundings, evaluate};
/// use lockctl::world::mem::MemFiles;
///
/// let files = MemFiles::with(&[
///     ("/r/root.hcl", "locals {\n  v = \"1.0\"\n}\n"),
///     ("/r/app/terragrunt.hcl", "include \"root\" {\n  path   = find_in_parent_folders(\"root.hcl\")\n  \
///      expose = true\n}\nterraform {\n  source = \"../m?v=${include.root.locals.v}\"\n}\n"),
/// ]);
/// let documents = Documents::default();
/// let around = UnitSurroundings::new(&documents);
/// let mut texts = Texts::default();
/// let (unit, found) = evaluate(&files, &mut texts, Path::new("/r/app"), &around);
/// assert!(found.is_empty(), "{found:?}");
/// let source = unit.source.value().unwrap();
/// assert_eq!(source.package, Package::Local("/r/m".into()));
/// ```
#[must_use]
pub fn evaluate(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> (Unit, Vec<Diagnostic>) {
    ways::evaluate(files, texts, unit_dir, around)
}

/// Evaluates all of a unit, used or not, as `terragrunt render --json` shows it.
///
/// # Errors
/// The first thing that Terragrunt refuses, or that is not computed.
#[doc(hidden)]
pub fn render(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> Result<Rendered, Box<Diagnostic>> {
    ways::render(files, texts, unit_dir, around)
}

/// Returns whether a path is that of a unit file.
fn is_unit_file(path: &Path, around: &UnitSurroundings<'_>) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == UNIT_FILE
        || name == UNIT_FILE_JSON
        || around
            .unit_file
            .as_ref()
            .is_some_and(|own| name == own.as_str())
}
