//! What is read, and what it comes to.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::file::{ModuleFile, SourcePlace};
use crate::diag::{Diagnostic, Severity};
use crate::flavor::Flavor;
use crate::requirement::{CoreVersion, ModulePath, Requirements};

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

impl CoreVersion {
    /// Returns the place of the constraint.
    pub(in crate::config) fn place(&self) -> SourcePlace {
        SourcePlace {
            file: self.file,
            span: self.span,
        }
    }
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
