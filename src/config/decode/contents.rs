//! What one file declares, as far as requirements depend on it.
//!
//! Files are decoded one by one and put together afterwards, so that override files can be
//! decoded by the same code and then change what the primary files declare.

use std::collections::BTreeMap;
use std::mem;

use crate::addr::ProviderAddr;
use crate::config::decode::handover::Handover;
use crate::config::decode::variables::Variable;
use crate::config::merge::ModuleFile;
use crate::config::tree::files::Syntax;
use crate::config::tree::state::Local;
use crate::config::validate::mocks::ProviderKey;
use crate::config::validate::run_types::Run;
use crate::config::{CoreVersion, flood};
use crate::diag::{Diagnostic, FileId, Severity, Span, nearest};
use crate::flavor::{Flavor, Program};
use crate::hcl::tree::{Body, Expr, Word};
use crate::version::{Constraints, CoreConstraints};

/// Everything that one file, or all files of a module, declare.
#[derive(Debug, Default)]
pub(in crate::config) struct Contents {
    /// What was read, in the order in which it counts.
    pub files: Vec<ModuleFile>,
    pub required: Vec<RequiredProvider>,
    pub provider_blocks: Vec<ProviderBlock>,
    /// Resources, data sources, ephemeral resources and actions.
    pub resources: Vec<Resource>,
    pub imports: Vec<Import>,
    pub calls: Vec<Call>,
    pub variables: Vec<Variable>,
    pub core_versions: Vec<CoreVersion>,
    /// A `required_version` stands there, which says nothing if it is null.
    pub sets_core_version: bool,
    /// Where the state is kept, if a `backend` or `cloud` block says so.
    pub backend: Option<Backend>,
    /// What is wrong about that block, which matters in the root only.
    pub backend_faults: Vec<Diagnostic>,
    /// The headers of everything that may stand only once.
    pub declared: Vec<Declaration>,
    /// Of a test file: its runs, in order.
    pub runs: Vec<Run>,
    /// Of a test file: its `provider` and `mock_provider` blocks, by local name and alias.
    pub test_providers: BTreeMap<ProviderKey, Place>,
}

impl Contents {
    /// Adds what another file of the same module declares.
    pub(in crate::config) fn append(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
        self.required.append(&mut other.required);
        self.provider_blocks.append(&mut other.provider_blocks);
        self.resources.append(&mut other.resources);
        self.imports.append(&mut other.imports);
        self.calls.append(&mut other.calls);
        self.variables.append(&mut other.variables);
        self.core_versions.append(&mut other.core_versions);
        self.set_backend(other.backend, other.backend_faults);
        self.declared.append(&mut other.declared);
    }

    /// Replaces where the state is kept, if there is something to replace it with.
    pub(in crate::config) fn set_backend(
        &mut self,
        backend: Option<Backend>,
        faults: Vec<Diagnostic>,
    ) {
        if backend.is_some() {
            self.backend = backend;
            self.backend_faults = faults;
        }
    }
}

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub span: Span,
}

/// Where the state is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::config) enum Backend {
    /// In a file.
    Local(Local),
    /// Where only the program can look.
    Elsewhere {
        /// What keeps it, in words.
        kind: String,
        /// What says so.
        place: Place,
    },
}

/// One entry of `required_providers`.
#[derive(Debug)]
pub(in crate::config) struct RequiredProvider {
    pub local_name: String,
    pub addr: ProviderAddr,
    /// What states the address; `None` where the name implies it.
    pub source: Option<Written>,
    pub stated: Stated,
    /// The further configurations that a caller must pass.
    pub aliases: Vec<String>,
}

/// A text as it is written.
#[derive(Clone, Debug)]
pub(in crate::config) struct Written {
    pub text: String,
    pub place: Place,
}

/// Conditions, and the place to show for them.
#[derive(Clone, Debug)]
pub(in crate::config) struct Stated {
    pub constraints: Constraints,
    pub place: Place,
}

/// A `provider` block.
#[derive(Debug)]
pub(in crate::config) struct ProviderBlock {
    pub local_name: String,
    pub alias: Option<String>,
    pub version: Option<Stated>,
    /// It says nothing to the provider.
    pub is_empty: bool,
    /// It stands for several configurations, each with a key (rules 10.2).
    pub has_keys: bool,
    pub place: Place,
}

impl ProviderBlock {
    /// Returns what makes it one of a kind.
    pub(in crate::config) fn key(&self) -> ProviderKey {
        (self.local_name.clone(), self.alias.clone())
    }
}

/// A block that some provider manages.
#[derive(Debug)]
pub(in crate::config) struct Resource {
    /// `resource`, `data`, `ephemeral` or `action`.
    pub kind: &'static str,
    pub type_name: String,
    pub name: String,
    pub provider: Option<Reference>,
    pub place: Place,
}

impl Resource {
    /// Returns what makes it one of a kind.
    pub(in crate::config) fn key(&self) -> (&'static str, String, String) {
        (self.kind, self.type_name.clone(), self.name.clone())
    }
}

/// A reference to a provider configuration: `NAME` or `NAME.ALIAS`.
#[derive(Clone, Debug)]
pub(in crate::config) struct Reference {
    pub local_name: String,
    pub alias: Option<String>,
    /// It names one of several configurations by a key.
    pub has_key: bool,
    pub place: Place,
}

/// An `import` block.
#[derive(Debug)]
pub(in crate::config) struct Import {
    pub target: Target,
    pub provider: Option<Reference>,
    /// The target.
    pub place: Place,
    /// The header of the block.
    pub block: Place,
}

/// What an `import` block points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::config) struct Target {
    /// It lies in a module below this one.
    pub in_module: bool,
    /// `resource`, or with OpenTofu also `data` and `ephemeral`.
    pub kind: &'static str,
    pub type_name: String,
    pub name: String,
}

impl Target {
    /// Returns the key of the resource that it means.
    pub(in crate::config) fn key(&self) -> (&'static str, String, String) {
        (self.kind, self.type_name.clone(), self.name.clone())
    }
}

/// A `module` block.
#[derive(Clone, Debug)]
pub(in crate::config) struct Call {
    pub name: String,
    /// Only an override may leave it out.
    pub source: Option<Source>,
    pub version: CallVersion,
    /// The source argument, or the header where there is none.
    pub place: Place,
    pub header: Place,
    pub handover: Handover,
}

/// What a call says about the version of its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::config) enum CallVersion {
    Absent,
    /// The argument is there, but it is null.
    Null,
    Stated(CoreConstraints),
    /// It depends on values that are not known here.
    Computed,
}

/// Where the module of a call lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::config) enum Source {
    /// A path that starts with `./` or `../`.
    Local(String),
    /// An address that only installing can resolve.
    Remote(String),
    /// It depends on values that are not known here; the remark says of what.
    Computed(String),
}

/// The header of something that may stand only once.
#[derive(Debug)]
pub(in crate::config) struct Declaration {
    pub kind: &'static str,
    pub labels: Vec<String>,
    pub place: Place,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::config) enum Role {
    Primary,
    Override,
    Test,
}

/// The file at hand with what was found to be wrong about it.
#[derive(Debug)]
pub(in crate::config) struct Faults {
    pub file: FileId,
    pub role: Role,
    pub syntax: Syntax,
    /// The only program that reads the file, if not both do.
    pub only: Option<Program>,
    pub flavor: Flavor,
    /// Where something could not be read, so that whatever is missing there may yet be written; in
    /// order.
    broken: Vec<Span>,
    /// Keys of objects that stand there once more, and are not in the tree; in order.
    overruled: Vec<Span>,
    /// How many errors were added.
    errors: usize,
    found: Vec<Diagnostic>,
}

impl Faults {
    /// Nothing is wrong yet about a file.
    pub(in crate::config) fn new(file: ModuleFile, flavor: Flavor) -> Self {
        Self {
            file: file.id,
            role: file.role,
            syntax: file.syntax,
            only: file.only,
            flavor,
            broken: Vec::new(),
            overruled: Vec::new(),
            errors: 0,
            found: Vec::new(),
        }
    }

    /// Takes what was found while the text was parsed.
    pub(in crate::config) fn parsed(&mut self, found: Vec<Diagnostic>) {
        let spans = |wanted: fn(&Diagnostic) -> bool| {
            let told = found.iter().filter(|one| wanted(one));
            let mut spans: Vec<Span> = told
                .filter_map(|one| one.primary.as_ref().map(|label| label.span))
                .collect();
            spans.sort();
            spans
        };
        self.broken = spans(|one| one.severity == Severity::Error);
        self.overruled = spans(|one| one.code == "duplicate-key");
        self.add(found);
    }

    /// Adds an error; the remark may be empty.
    pub(in crate::config) fn error(
        &mut self,
        code: &'static str,
        title: impl Into<String>,
        at: Span,
        remark: &str,
    ) {
        self.push(Diagnostic::error(code, title).at(self.file, at, remark));
    }

    /// Adds an error about a name that may not stand where it does, and asks whether a known one is meant.
    pub(in crate::config) fn unknown<'k>(
        &mut self,
        title: &str,
        name: &Word,
        remark: &str,
        known: impl Iterator<Item = &'k str>,
    ) {
        let error = Diagnostic::error("unsupported-item", title).at(self.file, name.span, remark);
        self.push(match nearest(&name.text, known) {
            Some(meant) => error.help(format!("did you mean {meant}?")),
            None => error,
        });
    }

    /// Adds an error that belongs to no narrower rule.
    pub(in crate::config) fn invalid(&mut self, title: impl Into<String>, at: Span, remark: &str) {
        self.error("configuration-invalid", title, at, remark);
    }

    /// Adds a note on something that works but surprises.
    pub(in crate::config) fn odd(&mut self, title: &str, at: Span, remark: &str) {
        self.push(Diagnostic::note("configuration-odd", title).at(self.file, at, remark));
    }

    pub(in crate::config) fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        flood::push(&mut self.found, diagnostic);
    }

    /// Adds what others found.
    pub(in crate::config) fn add(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in found {
            self.push(diagnostic);
        }
    }

    /// Returns how many errors there were so far. Only this tells whether a step adds one: a flood of
    /// them is cut back now and then.
    pub(in crate::config) fn errors(&self) -> usize {
        self.errors
    }

    /// Returns what a step finds, which nobody is told yet.
    pub(in crate::config) fn apart(&mut self, step: impl FnOnce(&mut Self)) -> Vec<Diagnostic> {
        let others = mem::take(&mut self.found);
        let errors = self.errors;
        step(self);
        self.errors = errors;
        mem::replace(&mut self.found, others)
    }

    /// Returns everything that was found.
    pub(in crate::config) fn into_found(self) -> Vec<Diagnostic> {
        self.found
    }

    /// Returns where an argument is missing: the brace that opens the body or, in JSON, closes it.
    pub(in crate::config) fn gap(&self, body: &Body) -> Span {
        let Span { start, end } = body.span;
        match self.syntax {
            Syntax::Native => Span::new(start.saturating_sub(1), start),
            Syntax::Json => Span::new(end, end + 1),
        }
    }

    /// Tells whether something in a range of bytes could not be read.
    pub(in crate::config) fn may_hide(&self, within: Span) -> bool {
        let behind = Span::new(within.start, within.end + 1);
        !starting_in(&self.broken, behind).is_empty()
    }

    /// Returns the keys that stand there once more in an object, or in those inside it.
    pub(in crate::config) fn overruled(&self, object: Span) -> Vec<Span> {
        starting_in(&self.overruled, object).to_owned()
    }

    pub(in crate::config) fn place(&self, span: Span) -> Place {
        Place {
            file: self.file,
            span,
        }
    }

    pub(in crate::config) fn place_of(&self, expr: &Expr) -> Place {
        self.place(expr.span)
    }
}

/// Returns those that start in a range of bytes, out of some that are in order.
fn starting_in(spans: &[Span], range: Span) -> &[Span] {
    let first = spans.partition_point(|span| span.start < range.start);
    let end = spans.partition_point(|span| span.start < range.end);
    spans.get(first..end).unwrap_or_default()
}
