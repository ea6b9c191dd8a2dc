//! Units of Terragrunt, evaluated without running it: which module a unit runs, which files are
//! generated, and which files lie in the directory that Terraform sees.
//!
//! `evaluation` holds the files of a unit and the computed values. Each value is computed on its first use:
//! only the local values that decide source, copying and generated files must be known. `expressions`
//! evaluates, `names` finds the values of names, `functions` are Terragrunt's own. `include` and `merge` join a
//! unit with its parents; `source`, `generate` and `unit` make plain values of the result. `passes` runs all of
//! that. `assembled` is the directory that Terraform sees, as files.
//!
//! Invariant: a value that only a run of Terragrunt knows is unknown, with the reason and its place. No program
//! is run, nothing is fetched.
//!
//! # From a directory to requirements
//!
//! ```
//! use std::path::PathBuf;
//! use lockctl_core::config::{self, Settings};
//! use lockctl_core::diag::Texts;
//! use lockctl_core::flavor::Flavor;
//! use lockctl_core::terragrunt::{
//!     Documents, LockOrigin, UnitSurroundings, assemble, evaluate,
//! };
//! use lockctl_core::world::mem::MemFiles;
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
//!     repository: Some(top.clone()),
//!     ..UnitSurroundings::new(&documents)
//! };
//! let mut texts = Texts::default();
//! let dir = top.join("live/app");
//! let (unit, notes) = evaluate(&files, &mut texts, &dir, &around);
//! assert!(notes.is_empty() && unit.unseen().is_none());
//! let assembled = assemble(&files, &unit, None).expect("a local package");
//! assert_eq!(assembled.lock_file(), LockOrigin::Unit(dir.join(".terraform.lock.hcl")));
//! let settings = Settings::new(Flavor::Terraform1_11);
//! let loaded = config::load(&assembled, &mut texts, assembled.module_dir(), &settings);
//! assert_eq!(loaded.requirements.providers.len(), 1);
//! ```

mod assembled;
mod documents;
mod evaluation;
mod expressions;
mod file_config;
mod file_names;
mod functions;
mod generate;
mod globs;
mod include;
mod json;
mod limits;
mod merge;
mod names;
mod object;
mod outcome;
mod passes;
mod source;
mod surroundings;
mod unit;
mod values;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use assembled::{
    AssembleError, Assembled, FetchedPackage, LockOrigin, UnknownFile, assemble, assemble_in_place,
};
pub use documents::Documents;
pub use file_names::{STACK_FILE, UNIT_FILE, UNIT_FILE_JSON, VALUES_FILE};
pub use generate::{GeneratedFile, IfDisabled, IfExists, SIGNATURE};
pub use globs::Glob;
pub use limits::{MAX_FILE_BYTES, MAX_FILES, MAX_INCLUDES, MAX_READ_DEPTH, MAX_TOTAL_BYTES};
pub use outcome::{UnitResult, UnitUnknown};
pub use passes::evaluate;
#[doc(hidden)]
pub use passes::{Rendered, render};
pub use source::{RegistryPackage, UnitPackage, UnitSource};
pub use surroundings::UnitSurroundings;
pub use unit::EvaluatedUnit;
