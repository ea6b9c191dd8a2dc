//! Declarations of one file, as far as requirements depend on them.
//!
//! Files are decoded one by one, so that the faults of each are found, and put together afterwards:
//! `merge` decides which values of override files count.

use std::path::PathBuf;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::addr::module::{LocalModule, ModuleSource};
use crate::hcl::tree::{Attribute, Block};
use crate::module_config::decode::late::Late;
use crate::module_config::decode::variables::Variable;
use crate::module_config::faults::Faults;
use crate::module_config::file::{ModuleFile, SourcePlace};
use crate::module_config::merge::merged::MergedModule;
use crate::module_config::syntax::names::ProviderReference;
use crate::requirement::CoreVersion;
use crate::version::{Constraints, CoreConstraints};

/// Everything that one file, or all files of a module, declare.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The files that were read, in the order in which they count.
    pub files: Vec<ModuleFile>,
    pub required: Vec<RequiredProvider>,
    pub provider_blocks: Vec<ProviderBlock>,
    /// Resources, data sources, ephemeral resources and actions.
    pub resources: Vec<Resource>,
    pub imports: Vec<ImportBlock>,
    pub calls: Vec<Call>,
    pub variables: Vec<Variable>,
    /// Local values, where sources are computed from them.
    pub locals: Vec<Local>,
    pub core_versions: Vec<CoreVersion>,
    /// The location of the state, if a `backend` or `cloud` block states it.
    pub backend: Option<Backend>,
    /// The arguments in `encryption` blocks, where they are computed.
    pub encryption: Vec<Late>,
    /// The headers of everything that may stand only once.
    pub declared: Vec<Declaration>,
    /// All files of the module merged, if that is kept.
    pub merged: Option<Arc<MergedModule>>,
}

impl Contents {
    /// Adds what another file of the same module declares.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
        self.required.append(&mut other.required);
        self.provider_blocks.append(&mut other.provider_blocks);
        self.resources.append(&mut other.resources);
        self.imports.append(&mut other.imports);
        self.calls.append(&mut other.calls);
        self.variables.append(&mut other.variables);
        self.locals.append(&mut other.locals);
        self.encryption.append(&mut other.encryption);
        self.core_versions.append(&mut other.core_versions);
        // Two files with a backend are reported as duplicates (config rules 3.6); which one is kept
        // does not matter then.
        self.set_backend(other.backend);
        self.declared.append(&mut other.declared);
    }

    /// Notes that a block stands here which may stand only once with these labels.
    pub(crate) fn declare(&mut self, kind: &'static str, block: &Block, faults: &Faults) {
        self.declared.push(Declaration {
            kind,
            labels: block
                .labels
                .iter()
                .map(|label| label.text.clone())
                .collect(),
            place: faults.place(block.header),
        });
    }

    /// Replaces where the state is kept, if there is something to replace it with.
    pub(crate) fn set_backend(&mut self, backend: Option<Backend>) {
        if backend.is_some() {
            self.backend = backend;
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub name: String,
    pub place: SourcePlace,
    pub value: Late,
}

/// The location of the state by the backend `local`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LocalBackend {
    /// The file of the default workspace.
    pub path: Option<PathBuf>,
    /// The directory of all other workspaces.
    pub workspace_dir: Option<PathBuf>,
}

/// The location of the state.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Local(LocalBackend),
    /// The values of variables decide, once they are known (config rules 10.3).
    Computed(ComputedBackend),
    /// Only the program can look there.
    Elsewhere {
        /// The service, in words.
        kind: String,
        place: SourcePlace,
    },
}

/// A backend whose arguments are computed.
#[derive(Clone, Debug)]
pub(crate) struct ComputedBackend {
    /// The backend it is, if the state stays where it is.
    pub is_local: bool,
    /// The service, in words.
    pub kind: String,
    /// The header of the block.
    pub place: SourcePlace,
    /// All arguments, also those of nested blocks.
    pub arguments: Vec<(String, Late)>,
}

/// One entry of `required_providers`.
#[derive(Debug)]
pub(crate) struct RequiredProvider {
    pub local_name: String,
    pub addr: ProviderAddr,
    /// The attribute that states the address; `None` if the name implies it.
    pub source: Option<Written>,
    pub stated: Stated,
}

/// A text as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub text: String,
    pub place: SourcePlace,
}

/// Conditions, and the place to show for them.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub constraints: Constraints,
    pub place: SourcePlace,
}

#[derive(Debug)]
pub(crate) struct ProviderBlock {
    pub local_name: String,
    pub alias: Option<String>,
    pub version: Option<Stated>,
    pub place: SourcePlace,
}

impl ProviderBlock {
    /// The local name and the alias.
    pub(crate) fn key(&self) -> (String, Option<String>) {
        (self.local_name.clone(), self.alias.clone())
    }
}

/// A block that some provider manages.
#[derive(Debug)]
pub(crate) struct Resource {
    /// `resource`, `data`, `ephemeral` or `action`.
    pub kind: &'static str,
    pub type_name: String,
    pub name: String,
    pub provider: Option<ProviderReference>,
    pub place: SourcePlace,
}

impl Resource {
    pub(crate) fn key(&self) -> (&'static str, String, String) {
        (self.kind, self.type_name.clone(), self.name.clone())
    }
}

#[derive(Debug)]
pub(crate) struct ImportBlock {
    pub target: ImportTarget,
    pub provider: Option<ProviderReference>,
    pub place: SourcePlace,
}

/// The target of an `import` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportTarget {
    /// The target is in a module below this one.
    pub in_module: bool,
    /// `resource`, or with OpenTofu also `data` and `ephemeral`.
    pub kind: &'static str,
    pub type_name: String,
    pub name: String,
}

impl ImportTarget {
    pub(crate) fn key(&self) -> (&'static str, String, String) {
        (self.kind, self.type_name.clone(), self.name.clone())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub name: String,
    /// Only an override may leave it out.
    pub source: Option<Source>,
    pub version: CallVersion,
    /// The version, if the argument is there.
    pub version_place: Option<SourcePlace>,
    /// The source argument, or the header where there is none.
    pub place: SourcePlace,
    pub header: SourcePlace,
    /// The values for variables of the module.
    pub arguments: Vec<PassedArgument>,
    /// The source and the version, where they are computed.
    pub source_late: Option<Late>,
    pub version_late: Option<Late>,
}

/// A value for a variable of a called module.
#[derive(Clone, Debug)]
pub(crate) struct PassedArgument {
    pub name: String,
    pub place: SourcePlace,
    /// The value, where sources are computed from it.
    pub value: Option<Late>,
}

impl PassedArgument {
    pub(crate) fn new(argument: &Attribute, faults: &Faults) -> Self {
        Self {
            name: argument.name.text.clone(),
            place: faults.place(argument.name.span),
            value: Late::keep(&argument.value, faults),
        }
    }
}

/// The `version` of a module call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallVersion {
    Absent,
    /// The argument is there, but it is null.
    Null,
    Stated(CoreConstraints),
    /// The version depends on values that are not known here.
    Computed,
}

/// The `source` of a module call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A directory, with the path as it is written.
    Local {
        written: String,
        module: LocalModule,
    },
    /// A source that must be installed or fetched, with the address as it is written.
    Remote {
        written: String,
        module: ModuleSource,
    },
    /// An address of no kind beside a computed version, which decides what is wrong with it.
    Unfit(String),
    /// The source depends on values that are not known here. Holds the place of the argument.
    Computed(SourcePlace),
}

impl Source {
    /// Keeps a source with its text.
    pub(crate) fn new(written: String, module: ModuleSource) -> Self {
        match module {
            ModuleSource::Local(module) => Self::Local { written, module },
            module => Self::Remote { written, module },
        }
    }

    /// Returns the source as it is written, if it is no computed one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Local { written, .. } | Self::Remote { written, .. } | Self::Unfit(written) => {
                Some(written)
            }
            Self::Computed(_) => None,
        }
    }

    /// Returns the source in normal form, as the manifest records it.
    pub(crate) fn normal(&self) -> Option<ModuleSource> {
        match self {
            Self::Local { module, .. } => Some(ModuleSource::Local(module.clone())),
            Self::Remote { module, .. } => Some(module.clone()),
            Self::Unfit(_) | Self::Computed(_) => None,
        }
    }
}

impl Call {
    /// Names the host and the repository of the module, unless it is local or its source is computed.
    pub(crate) fn repository(&self) -> Option<Box<str>> {
        match &self.source {
            Some(Source::Remote { module, .. }) => module.repository().map(Into::into),
            _ => None,
        }
    }

    /// Returns the place of what is computed: the source or else the version.
    pub(crate) fn computed(&self) -> Option<SourcePlace> {
        match (&self.source, &self.version) {
            (Some(Source::Computed(place)), _) => Some(*place),
            (_, CallVersion::Computed) => self.version_place.or(Some(self.place)),
            _ => None,
        }
    }
}

/// The header of something that may stand only once.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub kind: &'static str,
    pub labels: Vec<String>,
    pub place: SourcePlace,
}
