//! What is read, and what it comes to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::computed::ComputedCall;
use crate::config::given::GivenValues;
use crate::diag::{Diagnostic, FileId, Severity, Span, Texts, rules};
use crate::expr::Typed;
use crate::flavor::Flavor;
use crate::module_config::file::ModuleFile;
use crate::module_config::merge::{self, merged::MergedModule};
use crate::requirement::{CoreVersion, ModulePath, Requirements, StateSeen, UnseenCall};
use crate::version::Version;
use crate::world::clean;

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
    /// Whether what is wrong about the backend stops the reader.
    pub backend: BackendUse,
    /// What a call of a local module may lead to without finding anything.
    pub submodules: Submodules,
    /// Values for the variables of the root.
    pub values: GivenValues,
    /// The absolute path of the root, if it is known: functions may ask for it.
    pub absolute_root: Option<PathBuf>,
    /// Whether to say how sources and versions got their values.
    pub traces_values: bool,
    /// What a remote module is that could not be fetched.
    pub unreached: Unreached,
}

/// What a remote module is that could not be fetched: its place does not answer, refuses access, or has no
/// such module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreached {
    /// A module that cannot be seen.
    #[default]
    Unseen,
    /// An error: the user asked for it to be fetched.
    Error,
}

/// What the backend of a root is to the reader of its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendUse {
    /// It is set up, as `init` does it: what is wrong about it is an error.
    SetUp,
    /// It is left alone, as `providers lock` does it: what is wrong about it is a warning.
    LeftAlone,
}

/// The git submodules that are not checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submodules {
    /// The absolute path of the root.
    pub root: PathBuf,
    /// The absolute paths of the submodules.
    pub missing: BTreeSet<PathBuf>,
}

impl Submodules {
    /// Returns whether a directory, given from the root on, is one of them or is in one.
    #[must_use]
    pub fn hold(&self, dir: &Path) -> bool {
        if self.missing.is_empty() {
            return false;
        }
        let dir = clean(&self.root.join(dir));
        dir.ancestors().any(|dir| self.missing.contains(dir))
    }
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
            backend: BackendUse::SetUp,
            submodules: Submodules::default(),
            values: GivenValues::default(),
            absolute_root: None,
            traces_values: false,
            unreached: Unreached::Unseen,
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
    /// How its source and version got their values; `None` if they are not computed, or that was not asked.
    pub computed: Option<Arc<ComputedCall>>,
    /// What was fetched for it; `None` if it is on the disk, or cannot be seen.
    pub fetched: Option<FetchedModule>,
    /// Its directory from the root on, for a fetched one where installing would put it; `None` if the module
    /// cannot be seen.
    pub dir: Option<PathBuf>,
    /// Why it cannot be seen, in the title of the note about that; `None` if it can.
    pub unseen: Option<&'static str>,
    /// Its files in the order in which they count: those that declare, then those that override.
    pub files: Arc<[ModuleFile]>,
}

/// What was fetched for a call, though nothing is installed for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FetchedModule {
    /// The package, as it is called in messages.
    pub package: Arc<str>,
    /// The version that was selected, for a module of a registry.
    pub version: Option<Version>,
    /// The id of the commit, for a module of a repository.
    pub commit: Option<Arc<str>>,
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
    /// Whether the root holds any configuration file at all, or one that counts as not seen.
    pub found: bool,
    /// What its modules ask of the program itself.
    pub core_versions: Vec<CoreVersion>,
}

/// What an expression came to.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The value; `None` with any error among the diagnostics.
    pub value: Option<Typed>,
    /// Everything to say about the expression, the files of the root, and the values that it is given.
    pub diagnostics: Vec<Diagnostic>,
}

impl ModuleNode {
    /// Merges the files of the module, by the rules of the flavor that they were loaded with.
    ///
    /// `texts` must be those that they were loaded into. A module that could not be seen is empty.
    #[must_use]
    pub fn merged(&self, texts: &Texts, flavor: Flavor) -> MergedModule {
        merge::merge(&self.files, texts, flavor)
    }
}

impl Loaded {
    /// Makes the configuration of a root that counts as not seen: nothing is known to be required, and
    /// anything may be.
    ///
    /// `file` shows why, and `title` says it.
    #[must_use]
    pub fn unseen(file: FileId, source: &str, title: &'static str) -> Self {
        Self::unseen_at(file, Span::default(), source, title)
    }

    /// Makes the same with the place that shows why.
    #[must_use]
    pub fn unseen_at(file: FileId, span: Span, source: &str, title: &'static str) -> Self {
        let path = ModulePath::default();
        let note = Diagnostic::note(rules::MODULE_NOT_VISIBLE, title)
            .at(file, span, "what this root requires is unknown")
            .help("no entry of the lock file counts as left over, and none is removed");
        Self {
            requirements: Requirements {
                unseen_calls: vec![UnseenCall {
                    module: path.clone(),
                    ways: 1,
                    source: source.to_owned(),
                    file,
                    span,
                }],
                state: StateSeen::LeftOut,
                ..Requirements::default()
            },
            modules: vec![ModuleNode {
                path,
                caller: None,
                source: None,
                computed: None,
                fetched: None,
                dir: Some(PathBuf::new()),
                unseen: Some(title),
                files: Arc::default(),
            }],
            diagnostics: vec![note],
            found: true,
            core_versions: Vec::new(),
        }
    }

    /// Makes errors of the notes on modules that cannot be seen.
    pub fn require_modules(&mut self) {
        for diagnostic in &mut self.diagnostics {
            if diagnostic.code == rules::MODULE_NOT_VISIBLE {
                diagnostic.severity = Severity::Error;
                self.requirements.faulty = true;
            }
        }
    }
}
