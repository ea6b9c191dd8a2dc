//! Values of variables and local values in each module of the tree, as far as sources and versions of modules
//! need them (rules 9).
//!
//! A value belongs to a node, not to a directory: two calls of one directory may give it two values. Each is
//! computed when it is needed first, and kept for its node. The programs differ in the names that an expression
//! may use: OpenTofu refuses every name that is not known early; Terraform looks only at the source itself, and
//! takes the rest for unknown.

mod missing;
mod names;
pub(in crate::texts::config) mod planned;
mod settings;
pub(in crate::texts::config) mod trace;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::given::ValueArgument;
use crate::config::loaded::Settings;
use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::Module;
use crate::config::tree::root_values::{self, RootValues};
use crate::config::tree::state;
use crate::config::tree::values::missing::UnsetVariable;
use crate::diag::{Diagnostic, Span, rules};
use crate::expr::{
    self, Budget, Demand, DemandChain, EvalScope, FunctionSet, NameValue, NoValue, OnDemand,
    Surroundings, Typed, UsedNames,
};
use crate::flavor::Flavor;
use crate::module_config::decode::calls;
use crate::module_config::decode::contents::{Call, CallVersion, Local, PassedArgument, Source};
use crate::module_config::decode::late::Late;
use crate::module_config::decode::variables::Given;
use crate::module_config::file::{SourcePlace, Syntax};
use crate::module_config::flood;
use crate::module_config::syntax::references;
use crate::requirement::ValueErrors;
use crate::world::Within;

/// The node of the root.
const ROOT: usize = 0;

/// A value that the program refuses, or that is not certain here.
pub(in crate::texts::config) type Stop = NoValue<RefusedValue>;

/// A refused value; the error is reported already.
#[derive(Clone, Copy, Debug)]
pub(in crate::texts::config) enum RefusedValue {
    Reported,
    /// The value does not fit its variable: OpenTofu then reports nothing about values that depend on it.
    Unfit,
}

const REFUSED: Stop = NoValue::Refused(RefusedValue::Reported);

type Outcome<T = Arc<Typed>> = Result<T, Stop>;

/// The title of the note about a variable of the root without a value.
const NO_VALUE: &str = "Variable has no value";

/// The entry to a module.
pub(in crate::texts::config) enum Entry {
    Root,
    /// By a call of the module of a node, the one at this place of its calls.
    Call {
        caller: usize,
        at: usize,
    },
    /// By a run of a test, which gives these values.
    Run(Vec<PassedArgument>),
}

/// A module that is being read, with its values.
struct ModuleValues {
    module: Arc<Module>,
    entry: Entry,
    /// The directory relative to the root.
    dir: PathBuf,
    /// A run of a test leads to the module, directly or through calls.
    is_in_run: bool,
    computed: OnDemand<ValueKey, Outcome>,
    /// The cost of the values that are kept for the module, in bytes of the budget.
    kept: usize,
    /// The variables that have their default because they are given null.
    defaulted: BTreeSet<String>,
}

/// A named value of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ValueKey {
    Variable(String),
    Local(String),
}

/// The purpose of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExprRole {
    Source,
    Version,
    /// The value of a variable or a local, which a source or a version may need.
    Value,
}

/// The time at which values are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before modules are installed: only some values are known, and the programs refuse others.
    Early,
    /// During a plan: every variable is known, and what only the plan knows is unknown.
    Plan,
}

/// The values of all modules of a tree.
pub(in crate::texts::config) struct Values {
    flavor: Flavor,
    stage: Stage,
    workspace: String,
    absolute_root: Option<PathBuf>,
    repository: Option<PathBuf>,
    given: RootValues,
    /// The values of the command line by the names of their variables.
    arguments: Vec<(String, String)>,
    /// The modules from the root to the one that is being read, by their nodes.
    modules: BTreeMap<usize, ModuleValues>,
    budget: Budget,
    chain: DemandChain,
    /// The variables of the root without a value that something asks for.
    unset: BTreeMap<SourcePlace, UnsetVariable>,
}

impl Values {
    fn new(workspace: String, settings: &Settings, given: RootValues) -> Self {
        let arguments = settings
            .values
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                ValueArgument::Value { name, text } => Some((name.clone(), text.clone())),
                ValueArgument::File(_) => None,
            })
            .collect();
        Self {
            flavor: settings.flavor,
            stage: Stage::Early,
            workspace,
            absolute_root: settings.absolute_root.clone(),
            repository: settings.repository.clone(),
            given,
            arguments,
            modules: BTreeMap::new(),
            budget: Budget::default(),
            chain: DemandChain::default(),
            unset: BTreeMap::new(),
        }
    }

    /// Makes the values of a tree with what the files of the root, the environment and the user give.
    pub(in crate::texts::config) fn of_root(settings: &Settings, reader: &mut Reader<'_>) -> Self {
        if !settings.flavor.computes_sources() {
            return Self::none(settings);
        }
        let given = root_values::read(reader, &settings.values);
        let workspace = state::workspace(reader, settings);
        Self::new(workspace, settings, given)
    }

    /// Makes the values of a tree without any given variable.
    pub(in crate::texts::config) fn none(settings: &Settings) -> Self {
        Self::new(String::new(), settings, RootValues::default())
    }

    /// Enters the module of a node. Constants are checked here: they must be known early even if no source
    /// needs them.
    pub(in crate::texts::config) fn enter(
        &mut self,
        node: usize,
        module: &Arc<Module>,
        entry: Entry,
        dir: &Path,
        reader: &mut Reader<'_>,
    ) {
        if !self.flavor.computes_sources() && self.stage == Stage::Early {
            return;
        }
        let is_in_run = match &entry {
            Entry::Root => false,
            Entry::Run(_) => true,
            Entry::Call { caller, .. } => self.is_in_run(*caller),
        };
        if let Entry::Root = entry
            && self.stage == Stage::Early
        {
            self.undeclared(module, reader);
        }
        let values = ModuleValues {
            module: Arc::clone(module),
            entry,
            dir: dir.to_owned(),
            is_in_run,
            computed: OnDemand::default(),
            kept: 0,
            defaulted: BTreeSet::new(),
        };
        self.modules.insert(node, values);
        if self.stage == Stage::Plan {
            return;
        }
        // The programs check constants even if nothing uses them.
        for variable in &module.contents.variables {
            if Given::says(variable.constant.as_ref(), true) {
                self.constant(node, variable, reader);
            }
        }
    }

    /// Drops the values of the module of a node, once all calls below were followed.
    pub(in crate::texts::config) fn leave(&mut self, node: usize) {
        if let Some(module) = self.modules.remove(&node) {
            // A tree may have thousands of modules: only those on the way to the current one keep values.
            self.budget.release(module.kept);
        }
    }

    /// Computes the source and the version of a call in the module of a node.
    ///
    /// # Errors
    /// The reason why one of them has no value. A refused one is reported.
    pub(in crate::texts::config) fn resolve(
        &mut self,
        node: usize,
        call: &Call,
        reader: &mut Reader<'_>,
    ) -> Outcome<(Source, CallVersion)> {
        // Terraform computes nothing in a module that a run calls (rules 9.11).
        if !self.flavor.is_opentofu() && self.is_in_run(node) {
            require_constants(call, reader);
            return Err(REFUSED);
        }
        let version = match (&call.version, &call.version_late) {
            (CallVersion::Computed, Some(late)) => self.version(node, late, reader),
            (version, _) => Ok(version.clone()),
        };
        // Both are computed before one fails, so that both faults are reported.
        let source = match (&call.source, &call.source_late) {
            (Some(Source::Computed(_)) | None, Some(late)) => self.source(node, late, reader),
            (Some(source), _) => source.text().map(str::to_owned).ok_or(REFUSED),
            (None, None) => Err(REFUSED),
        };
        let (source, version) = match (source, version) {
            (Ok(source), Ok(version)) => (source, version),
            (Err(stop), Ok(_)) | (Ok(_), Err(stop)) => {
                self.note_deciding(&stop);
                return Err(stop);
            }
            (Err(source), Err(version)) => {
                let stop = joined(source, version);
                self.note_deciding(&stop);
                return Err(stop);
            }
        };
        match calls::fitting(&source, &version, self.flavor) {
            Ok(source) => Ok((source, version)),
            Err(error) => {
                refuse(error.title(), call.place, error.help(), reader);
                Err(REFUSED)
            }
        }
    }

    fn source(&mut self, node: usize, late: &Late, reader: &mut Reader<'_>) -> Outcome<String> {
        let value = self.evaluate(node, late, ExprRole::Source, reader)?;
        let (value, marks) = Arc::unwrap_or_clone(value).bare();
        let is_unknown = !value.value.is_wholly_known();
        let title = match (self.flavor.is_opentofu(), value.value.to_text()) {
            // OpenTofu refuses marked sources; Terraform takes them for unknown.
            (true, _) if marks.sensitive => "Sensitive value not allowed",
            (true, _) if marks.ephemeral => "Ephemeral value not allowed",
            (false, _) if is_unknown || !marks.is_none() => "Unknown module source",
            (_, Some(text)) => return Ok(text),
            _ => calls::no_text_title(&value.value, self.flavor),
        };
        refuse(title, late.place(), "the source must be known text", reader);
        Err(REFUSED)
    }

    fn version(
        &mut self,
        node: usize,
        late: &Late,
        reader: &mut Reader<'_>,
    ) -> Outcome<CallVersion> {
        let value = self.evaluate(node, late, ExprRole::Version, reader)?;
        let (value, marks) = Arc::unwrap_or_clone(value).bare();
        let is_unknown = !value.value.is_wholly_known();
        let title = match self.flavor.is_opentofu() {
            false if is_unknown || !marks.is_none() => "Unknown module version",
            true if is_unknown => "Unsuitable value type",
            _ => "Invalid version constraint",
        };
        if let Some(version) = calls::stated_version(&value.value)
            && !is_unknown
            && marks.is_none()
        {
            return Ok(version);
        }
        let remark = "the version must be a known constraint";
        refuse(title, late.place(), remark, reader);
        Err(REFUSED)
    }

    /// Returns true if every name that is not known now is refused, wherever it is used: OpenTofu does that early.
    fn is_strict(&self) -> bool {
        self.flavor.is_opentofu() && self.stage == Stage::Early
    }

    /// Returns true if a run of a test leads to the module of a node; Terraform computes nothing there.
    fn is_in_run(&self, node: usize) -> bool {
        let module = self.modules.get(&node);
        module.is_some_and(|module| module.is_in_run)
    }

    /// Evaluates an expression of the module of a node.
    fn evaluate(
        &mut self,
        node: usize,
        late: &Late,
        role: ExprRole,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let mut names = UsedNames::default();
        let mut stop = None;
        if self.is_strict() {
            for name in references::functions(&late.expr) {
                // Functions of providers need a running provider, which an early value has not.
                if name.text.contains("::") && !name.text.starts_with("core::") {
                    let place = at(late, name.span);
                    let title = "Provider function in static context";
                    refuse(title, place, "providers run later", reader);
                    stop = Some(REFUSED);
                }
            }
        }
        for used in references::inside(&late.expr) {
            let place = at(late, used.span);
            if let Err(name_stop) = self.name(node, used, place, role, &mut names, reader) {
                stop = Some(match stop {
                    Some(stop) => joined(stop, name_stop),
                    None => name_stop,
                });
            }
        }
        if let Some(stop) = stop {
            return Err(stop);
        }
        // A value that is only handed on needs no copy.
        match names.only_attribute(&late.expr) {
            Some(value) => Ok(value),
            None => self.with_names(names.into_names(), late, reader),
        }
    }

    /// Evaluates an expression with these values of names.
    fn with_names(
        &mut self,
        names: BTreeMap<String, NameValue>,
        late: &Late,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let (files, dir) = reader.around();
        // A path in the value of a `--var` may be read: the user typed it.
        let is_exempt = |path: &Path| {
            files.is_contained(path)
                || self
                    .arguments
                    .iter()
                    .any(|(_, text)| dir.join(text) == path)
        };
        let within = Within::new(
            files,
            self.repository.as_deref().unwrap_or(&dir),
            &is_exempt,
        );
        let around = Surroundings {
            files: &within,
            dir: &dir,
            absolute_dir: self.absolute_root.as_ref(),
            has_volatile: self.is_strict(),
            functions: FunctionSet::Current,
            extra: None,
        };
        let scope = EvalScope {
            names,
            functions: Some(&around),
        };
        expr::evaluate(late.file, &late.expr, &scope, &mut self.budget)
            .map(Arc::new)
            .map_err(|problems| stopped(problems, reader))
    }

    /// Reports a name whose value is refused, as OpenTofu does for each expression that uses it.
    fn report_use(&self, value: &Outcome, place: SourcePlace, reader: &mut Reader<'_>) {
        if !self.is_strict() {
            return;
        }
        let error = Diagnostic::error(rules::CONFIGURATION_INVALID, ValueErrors::NOT_COMPUTED);
        let remark = "something that it needs has no value";
        let error = error.at(place.file, place.span, remark);
        match value {
            Err(Stop::Refused(RefusedValue::Reported)) => flood::push(&mut reader.found, error),
            Err(Stop::Uncertain(reason)) if reason.code == rules::VARIABLE_NOT_SET => {
                self.predict(error, reader);
            }
            _ => {}
        }
    }

    fn local(&mut self, node: usize, local: &Local, reader: &mut Reader<'_>) -> Outcome {
        let key = ValueKey::Local(local.name.clone());
        match self.begin(node, &key) {
            Demand::Computed(outcome) => return outcome,
            Demand::Cycle => {
                let title = if self.flavor.is_opentofu() {
                    "Circular reference"
                } else {
                    "Cycle"
                };
                let remark = format!("local.{} needs itself", local.name);
                refuse(title, local.place, &remark, reader);
                return Err(REFUSED);
            }
            Demand::Begun => {}
        }
        let outcome = self.deeper(local.place, |values| {
            values.evaluate(node, &local.value, ExprRole::Value, reader)
        });
        self.finish(node, key, outcome, local.place)
    }

    fn begin(&mut self, node: usize, key: &ValueKey) -> Demand<Outcome> {
        match self.modules.get_mut(&node) {
            Some(module) => module.computed.begin(key.clone()),
            None => Demand::Begun,
        }
    }

    /// Keeps a computed value until its module is left, unless too much is kept already.
    fn finish(
        &mut self,
        node: usize,
        key: ValueKey,
        outcome: Outcome,
        place: SourcePlace,
    ) -> Outcome {
        let Some(module) = self.modules.get_mut(&node) else {
            return Err(uncertain(place, "this computes too much"));
        };
        let outcome = match outcome {
            // Another holder has paid for a shared value.
            Ok(value) if Arc::strong_count(&value) == 1 => match self.budget.keep(&value) {
                Some(weight) => {
                    module.kept += weight;
                    Ok(value)
                }
                None => Err(uncertain(place, "this computes too much")),
            },
            outcome => outcome,
        };
        module.computed.finish(key, outcome.clone());
        outcome
    }

    /// Computes a value that another one needs.
    fn deeper(
        &mut self,
        place: SourcePlace,
        compute: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        let chain = self.chain;
        self.chain = chain
            .longer()
            .ok_or_else(|| uncertain(place, "too many values need each other"))?;
        let outcome = compute(self);
        self.chain = chain;
        outcome
    }

    /// Returns the call that leads to a node, if one does.
    fn caller(&self, node: usize) -> Option<&Call> {
        match &self.modules.get(&node)?.entry {
            Entry::Call { caller, at } => {
                let caller = self.modules.get(caller)?;
                caller.module.contents.calls.get(*at)
            }
            Entry::Root | Entry::Run(_) => None,
        }
    }
}

/// Reports a source and a version that are no constants, in a module where Terraform computes nothing.
fn require_constants(call: &Call, reader: &mut Reader<'_>) {
    for late in [&call.source_late, &call.version_late]
        .into_iter()
        .flatten()
    {
        if late.syntax == Syntax::Json {
            let remark = "in a module that a run calls this is no template";
            refuse(
                "Invalid module source address",
                late.place(),
                remark,
                reader,
            );
            continue;
        }
        if let Err(error) = expr::constant(late.file, &late.expr) {
            stopped(error, reader);
            let remark = "in a module that a run calls nothing is computed";
            refuse("Unsuitable value type", late.place(), remark, reader);
        }
    }
}

/// Returns a place in the file of an expression.
fn at(late: &Late, span: Span) -> SourcePlace {
    SourcePlace {
        file: late.file,
        span,
    }
}

fn refuse(title: &str, place: SourcePlace, remark: &str, reader: &mut Reader<'_>) {
    let error = Diagnostic::error(rules::CONFIGURATION_INVALID, title);
    flood::push(&mut reader.found, error.at(place.file, place.span, remark));
}

/// Joins the reasons of two parts of an expression.
fn joined(first: Stop, second: Stop) -> Stop {
    match (first, second) {
        (Stop::Uncertain(first), Stop::Uncertain(second)) => {
            // Each variable without a value is a reason of its own.
            let mut first = Arc::unwrap_or_clone(first);
            for label in second.primary.iter().chain(&second.related) {
                if first.primary.as_ref() != Some(label) && !first.related.contains(label) {
                    first.related.push(label.clone());
                    first.help =
                        Some("give values with --var NAME=VALUE or --var-file FILE".into());
                }
            }
            Stop::Uncertain(Arc::new(first))
        }
        // A refusal is an error in the program, so it counts more than a value that only lockctl cannot
        // compute.
        (Stop::Uncertain(_), refused) | (refused, _) => refused,
    }
}

fn uncertain(place: SourcePlace, reason: &str) -> Stop {
    let diagnostic = Diagnostic::note(
        rules::CONFIGURATION_ODD,
        "Expression cannot be evaluated here",
    );
    Stop::Uncertain(Arc::new(diagnostic.at(place.file, place.span, reason)))
}

/// Reports the errors of an expression. If only lockctl has problems with it, its value is uncertain.
fn stopped(problems: expr::NotConstant, reader: &mut Reader<'_>) -> Stop {
    if problems.refused.is_empty()
        && let Some(first) = problems.uncertain.into_iter().next()
    {
        return Stop::Uncertain(Arc::new(first));
    }
    for diagnostic in problems.refused {
        flood::push(&mut reader.found, diagnostic);
    }
    REFUSED
}
