//! Configuration to requirements: which providers the modules of a root need, and with which
//! constraints ([`rules`]).
//!
//! One module goes through these steps, each in a folder of its own:
//!
//! 1. `tree` chooses the files of a directory and walks from the root along the calls.
//! 2. `syntax` brings native and JSON syntax to one tree, and reads what expressions name.
//! 3. `decode` makes plain contents of each file; `validate` reports what the programs refuse in it.
//! 4. `merge` applies the override files.
//! 5. `tree` resolves all names to requirements.
//!
//! `language` is the one table of blocks and arguments that all of them look into; `flood` puts in order what there is to tell.
//!
//! Invariant: what is not read is never passed over in silence. Either it cannot change the
//! requirements, or [`Requirements::is_complete`] is false and a diagnostic says why.

mod decode;
mod flood;
mod language;
mod merge;
mod syntax;
mod tree;
mod validate;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diag::{Diagnostic, FileId, Severity, Span, Texts};
use crate::flavor::Flavor;
use crate::requirement::{ModulePath, Requirements};
use crate::version::CoreConstraints;
use crate::world::Files;

pub use decode::contents::Place;
pub use merge::overridden::OverriddenPlaces;
pub use merge::{
    MergedAttribute, MergedBlock, MergedBody, MergedModule, MergedSettings, ModuleFile,
};
pub use tree::branches::{BelowGroup, Branch, BranchGroup, BranchKind, Branches, Repeats};
pub use tree::glance::{Glance, glance};

/// The largest configuration file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 << 20;
/// The most bytes that the files of one root and its modules may hold together.
pub const MAX_TOTAL_BYTES: u64 = 256 << 20;
/// The most configuration files that one root and its modules may have together.
pub const MAX_FILES: usize = 20_000;
/// The most requirements and module calls in a tree, counted once for each way that leads there.
///
/// A very large root has some 1000 calls of modules that require 5 to 10 providers each: less than
/// a quarter of this.
pub const MAX_STEPS: usize = 50_000;
/// The most calls between the root and a module.
pub const MAX_DEPTH: usize = 64;
/// The most bytes that the names of the calls between the root and a module may have together; the
/// programs fail at some 255, dots included (rules 5.9).
pub const MAX_PATH_BYTES: usize = 512;

/// How a configuration is read, besides what its files say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whose rules apply.
    pub flavor: Flavor,
    /// The directory that holds test files beside those of the root, from the root on, if it is not
    /// `tests` (rules 6.1).
    pub test_directory: Option<PathBuf>,
    /// The directory of the program's own records, from the root on: `.terraform`, or what
    /// `TF_DATA_DIR` says.
    pub data_dir: PathBuf,
    /// The workspace that `TF_WORKSPACE` names, if it does.
    pub workspace: Option<String>,
    /// Whether the state is read for providers that only it needs.
    pub reads_state: bool,
    /// Whether addresses of Terraform's registry in the state mean OpenTofu's (rules 7.5); says
    /// nothing to the other program.
    pub moves_state_hosts: bool,
}

impl Settings {
    /// Reads by the rules of a flavor, everything else as the programs do by themselves.
    #[must_use]
    pub fn new(flavor: Flavor) -> Self {
        Self {
            flavor,
            test_directory: None,
            data_dir: PathBuf::from(".terraform"),
            workspace: None,
            reads_state: true,
            moves_state_hosts: true,
        }
    }
}

/// One module of the tree, once for each way that leads there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleNode {
    /// How it is reached; empty for the root.
    pub path: ModulePath,
    /// Where the module that calls it stands in the list; `None` for the root.
    pub caller: Option<usize>,
    /// Its source as written, or a remark on why there is none; `None` for the root.
    pub source: Option<String>,
    /// Its directory from the root on; `None` if the module cannot be seen.
    pub dir: Option<PathBuf>,
    /// Why it cannot be seen, in the title that this is told under; `None` if it can.
    pub unseen: Option<&'static str>,
    /// Its files in the order in which they count: those that declare, then those that override.
    pub files: Arc<[ModuleFile]>,
}

/// The configuration of one root.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What it requires; with any error among the diagnostics, requirements may be missing or
    /// wrong, and [`Requirements::faulty`] is set.
    pub requirements: Requirements,
    /// The root and every module that is called from there, each before those that it calls.
    pub modules: Vec<ModuleNode>,
    /// Everything to say about it, by file in the order they were read, then by place; behind
    /// [`MAX_PROBLEMS`](crate::diag::MAX_PROBLEMS) errors or notes only that there are more.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the root holds any configuration file at all.
    pub found: bool,
    /// What its modules ask of the program itself.
    pub core_versions: Vec<CoreVersion>,
}

/// A `required_version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreVersion {
    /// The versions of the program that will do.
    pub constraints: CoreConstraints,
    /// The file.
    pub file: FileId,
    /// The constraint.
    pub span: Span,
}

impl Loaded {
    /// Makes errors of the notes on modules that cannot be seen.
    pub fn require_modules(&mut self) {
        for diagnostic in &mut self.diagnostics {
            if diagnostic.code == "module-not-visible" {
                diagnostic.severity = Severity::Error;
                self.requirements.faulty = true;
            }
        }
    }
}

/// Reads the configuration of a root and of all modules that can be followed from there.
///
/// Every file is added to `texts`, under its path as `root` is written. A module that two calls
/// share is read once, but requires what it requires once for each call. Nothing fails: what is
/// wrong is a diagnostic, and the rest is read on.
pub fn load(files: &dyn Files, texts: &mut Texts, root: &Path, settings: &Settings) -> Loaded {
    tree::walk::load(files, texts, root, settings)
}

#[cfg(test)]
mod tests;
