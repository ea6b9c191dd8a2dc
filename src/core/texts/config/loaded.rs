//! Settings of the reader, and the configuration that it returns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::addr::module::ModuleSource;
use crate::config::computed::ComputedCall;
use crate::config::given::GivenValues;
use crate::diag::{Diagnostic, FileId, Label, Severity, Span, Texts, rules};
use crate::flavor::Flavor;
use crate::module_config::file::ModuleFile;
use crate::module_config::merge::{self, merged::MergedModule};
use crate::remote_module::ModulePin;
use crate::requirement::{
    CoreVersion, MissingValues, ModulePath, Requirements, StateSeen, UnseenCall, UnseenReason,
    ValueErrors,
};
use crate::version::{CoreConstraints, Version};
use crate::world::clean;

/// The directory of the program's own records, unless `TF_DATA_DIR` names another one.
pub const DEFAULT_DATA_DIR: &str = ".terraform";

/// The help of a note on something that may require providers and is not visible.
const NOTHING_LEFT_OVER: &str =
    "no entry of the lock file counts as left over, and none is removed";

/// Settings for reading a configuration, besides its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The rules for reading files.
    pub flavor: Flavor,
    /// The directory that holds test files beside those of the root, from the root on, if it is not
    /// `tests` (rules 6.1).
    pub test_directory: Option<PathBuf>,
    /// The directory of the program's own records, from the root on: `.terraform`, or what
    /// `TF_DATA_DIR` says.
    pub data_dir: PathBuf,
    /// The workspace that `TF_WORKSPACE` names, if it does.
    pub workspace: Option<String>,
    /// The state is read for providers that only it needs.
    pub reads_state: bool,
    /// Addresses of Terraform 0.12 in configuration and state count as any other; else they are an error.
    pub keeps_legacy: bool,
    /// Addresses of Terraform's registry in the state mean those of OpenTofu's (rules 7.5); ignored by
    /// Terraform's flavors.
    pub moves_state_hosts: bool,
    /// The git submodules that are not checked out: calls may lead into them.
    pub submodules: Submodules,
    /// Values for the variables of the root.
    pub values: GivenValues,
    /// The absolute path of the root, if it is known: functions may ask for it.
    pub absolute_root: Option<PathBuf>,
    /// The top of the repository that the root is in, as files are read there: functions look at no file
    /// outside of it, and without one at none outside of the root.
    pub repository: Option<PathBuf>,
    /// Traces are kept of computed sources and versions.
    pub traces_values: bool,
    /// Each module is kept as its override files leave it.
    pub keeps_merged: bool,
    /// The treatment of remote modules that could not be fetched.
    pub unreached: Unreached,
    /// The pins of remote calls, if calls are pinned.
    pub pins: Option<PinSettings>,
}

/// Settings for reading a configuration whose remote calls are pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinSettings {
    /// The pins that are kept, by the keys of their calls.
    pub kept: Arc<BTreeMap<String, ModulePin>>,
    /// Installed modules count; else every module is the one that its pin names, and new pins are made.
    pub reads_installed: bool,
}

/// The treatment of a remote module that could not be fetched: its host does not answer, refuses access, or
/// has no such module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreached {
    /// A module that cannot be seen.
    #[default]
    Unseen,
    /// An error: the user asked for it to be fetched.
    Error,
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
            data_dir: PathBuf::from(DEFAULT_DATA_DIR),
            workspace: None,
            reads_state: true,
            keeps_legacy: false,
            moves_state_hosts: true,
            submodules: Submodules::default(),
            values: GivenValues::default(),
            absolute_root: None,
            repository: None,
            traces_values: false,
            keeps_merged: false,
            unreached: Unreached::Unseen,
            pins: None,
        }
    }
}

/// One module of the tree, once for each way that leads there.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleNode {
    /// The path of calls from the root; empty for the root.
    pub path: ModulePath,
    /// The index of the calling module in the list; `None` for the root.
    pub caller: Option<usize>,
    /// Its source as written, or a remark on why there is none; `None` for the root.
    pub source: Option<String>,
    /// The trace of a computed source and version; `None` if they are not computed, or no trace was asked for.
    pub computed: Option<Arc<ComputedCall>>,
    /// The fetched package; `None` if the module is on the disk, or not visible.
    pub fetched: Option<FetchedModule>,
    /// Its directory from the root on, for a fetched one where installing would put it; `None` if the module
    /// cannot be seen.
    pub dir: Option<PathBuf>,
    /// The title of the note about a module that is not visible; `None` if it is visible.
    pub unseen: Option<&'static str>,
    /// Its files in order of precedence: those that declare, then those that override.
    pub files: Arc<[ModuleFile]>,
    /// The module as its override files leave it, if the settings ask for it.
    pub merged: Option<Arc<MergedModule>>,
}

/// A package that was fetched for a call, though nothing is installed for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FetchedModule {
    /// The package, as it is called in messages.
    pub package: Arc<str>,
    /// The version that was selected, for a module of a registry.
    pub version: Option<Version>,
    /// The id of the commit, for a module of a repository.
    pub commit: Option<Arc<str>>,
}

/// A call of a remote module.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteCall {
    /// The names of the calls that lead to it, as `modules.json` joins them.
    pub key: String,
    /// Its source in normal form, as far as that is known without secrets.
    pub source: ModuleSource,
    /// The versions that it allows; `None` if it states none.
    pub version: Option<CoreConstraints>,
    /// The place of the call.
    pub file: FileId,
    /// The call in its file.
    pub span: Span,
    /// The directory that `modules.json` records for it, if that counts.
    pub installed: Option<PathBuf>,
    /// The pin of the module that was found, if calls are pinned.
    pub pin: Option<ModulePin>,
}

impl RemoteCall {
    /// Returns true if a pin is one of what the call asks for.
    #[must_use]
    pub fn fits(&self, pin: &ModulePin) -> bool {
        fits(&self.source, self.version.as_ref(), pin)
    }
}

/// Returns true if a pin is one of a source, and of an allowed version.
pub(super) fn fits(
    source: &ModuleSource,
    allowed: Option<&CoreConstraints>,
    pin: &ModulePin,
) -> bool {
    let version = pin.version.as_ref();
    pin.source == source.shown()
        && matches!(source, ModuleSource::Registry(_)) == version.is_some()
        && allowed.is_none_or(|allowed| version.is_some_and(|version| allowed.allows(version)))
}

/// The configuration of one root.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The requirements of all modules; with any error among the diagnostics, some may be missing or wrong,
    /// and [`Requirements::faulty`] is set.
    pub requirements: Requirements,
    /// The root and every module that is called from there, each before those that it calls.
    pub modules: Vec<ModuleNode>,
    /// The calls of remote modules, in the order of the walk.
    pub remote_calls: Vec<RemoteCall>,
    /// Everything to say about it, by file in the order they were read, then by place; behind
    /// [`MAX_PROBLEMS`](crate::diag::MAX_PROBLEMS) errors or notes only that there are more.
    pub diagnostics: Vec<Diagnostic>,
    /// The values that `init` needs and that are not known; no requirement depends on them, as a note on each says.
    pub missing_values: MissingValues,
    /// The errors of the programs that keep no provider from being locked.
    pub value_errors: ValueErrors,
    /// The root holds a configuration file, or one that is not visible.
    pub found: bool,
    /// The constraints of its modules on the version of the program.
    pub core_versions: Vec<CoreVersion>,
}

impl ModuleNode {
    /// Merges the files of the module, by the rules of the flavor that they were loaded with, unless loading did.
    ///
    /// `texts` must be those that they were loaded into. A module that could not be seen is empty.
    #[must_use]
    pub fn merged(&self, texts: &Texts, flavor: Flavor) -> Arc<MergedModule> {
        let kept = self.merged.clone();
        kept.unwrap_or_else(|| Arc::new(merge::merge(&self.files, texts, flavor)))
    }
}

impl Loaded {
    /// Makes the configuration of a root that counts as not seen: nothing is known to be required, and
    /// anything may be.
    ///
    /// `file` shows why, and `title` says it.
    #[must_use]
    pub fn unseen(file: FileId, source: &str, title: &'static str) -> Self {
        Self::unseen_at(
            file,
            Span::default(),
            source,
            title,
            UnseenReason::NotComputed,
        )
    }

    /// Makes the same with the place that shows why.
    #[must_use]
    pub fn unseen_at(
        file: FileId,
        span: Span,
        source: &str,
        title: &'static str,
        reason: UnseenReason,
    ) -> Self {
        let path = ModulePath::default();
        let note = Diagnostic::note(rules::MODULE_NOT_VISIBLE, title)
            .at(file, span, "what this root requires is unknown")
            .help(NOTHING_LEFT_OVER);
        Self {
            requirements: Requirements {
                unseen_calls: vec![UnseenCall {
                    module: path.clone(),
                    ways: 1,
                    source: source.to_owned(),
                    reason,
                    file,
                    span,
                }],
                // Nothing may count as left over while the configuration is unknown, so the state is not compared
                // either.
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
                merged: None,
            }],
            remote_calls: Vec::new(),
            diagnostics: vec![note],
            missing_values: MissingValues::default(),
            value_errors: ValueErrors::default(),
            found: true,
            core_versions: Vec::new(),
        }
    }

    /// Adds a file that Terragrunt generates and whose contents only a run knows, for the reason in `place`.
    pub fn add_generated(&mut self, path: &Path, place: &Label) {
        const TITLE: &str = "Generated file is not visible";
        let source = path.display().to_string();
        let remark = format!("what {source} requires is unknown");
        let mut note = Diagnostic::note(rules::MODULE_NOT_VISIBLE, TITLE)
            .at(place.file, place.span, remark)
            .help(NOTHING_LEFT_OVER);
        note.package = Some(source.as_str().into());
        note.related.push(place.clone());
        self.diagnostics.push(note);
        self.requirements.unseen_calls.push(UnseenCall {
            module: ModulePath::default(),
            ways: 1,
            source,
            reason: UnseenReason::Generated,
            file: place.file,
            span: place.span,
        });
    }

    /// Lists the directories of the local modules that are called, from the root on, each once; calls of tests do not
    /// count.
    #[must_use]
    pub fn local_modules(&self) -> BTreeSet<&Path> {
        self.modules
            .iter()
            .filter(|node| !node.path.is_root() && !node.path.is_in_test())
            .filter(|node| node.fetched.is_none() && node.unseen.is_none())
            .filter_map(|node| node.dir.as_deref())
            .collect()
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
