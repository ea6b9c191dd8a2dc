//! What variables and local values are in each module of the tree, as far as sources and versions
//! of modules need it (rules 9).
//!
//! Values belong to the way to a module, not to its directory: two calls of one directory may give it
//! two values. Each is computed when it is needed first, and kept for its node. Two programs, two
//! rules on what an expression may name: OpenTofu refuses whatever is not known early, wherever it
//! stands; Terraform looks only at the source itself, and takes the rest for unknown.

mod names;
mod settings;
pub(in crate::config) mod trace;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::config::given::ValueArgument;
use crate::config::loaded::Settings;
use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::Module;
use crate::config::tree::root_values::RootValue;
use crate::config::tree::values::names::Names;
use crate::diag::{Diagnostic, Severity, Span, rules};
use crate::expr::{self, Budget, EvalScope, FunctionSet, NameValue, Surroundings, Typed};
use crate::flavor::Flavor;
use crate::module_config::decode::calls;
use crate::module_config::decode::contents::{Call, CallVersion, Late, Local, Source};
use crate::module_config::decode::handover::PassedArgument;
use crate::module_config::decode::variables::Given;
use crate::module_config::file::{SourcePlace, Syntax};
use crate::module_config::flood;
use crate::module_config::syntax::references;

/// How many variables and local values may need each other in a row.
const MAX_CHAIN: usize = 200;

/// The node of the root.
const ROOT: usize = 0;

/// Why there is no value.
#[derive(Clone, Debug)]
pub(in crate::config) enum Stop {
    /// The program refuses it; that is reported.
    Refused,
    /// The same of a value that does not fit its variable: OpenTofu says nothing of what depends on it.
    Unfit,
    /// The program may have one: what stands in the way.
    Uncertain(Arc<Diagnostic>),
}

type Outcome<T = Arc<Typed>> = Result<T, Stop>;

/// How a module is reached.
pub(in crate::config) enum Entry {
    Root,
    /// By a call of the module of a node, the one at this place of its calls.
    Call {
        caller: usize,
        at: usize,
    },
    /// By a run of a test, which gives these values.
    Run(Vec<PassedArgument>),
}

struct Instance {
    module: Rc<Module>,
    entry: Entry,
    /// From the root on.
    dir: PathBuf,
    /// Whether a run leads there, with whatever calls are between.
    is_in_run: bool,
    /// What was computed for it so far.
    memo: BTreeMap<(Kind, String), Memo>,
    /// What of its values is kept, in the unit of the budget.
    kept: usize,
    /// The variables that have their default because they are given null.
    defaulted: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Variable,
    Local,
}

enum Memo {
    /// It is being computed: who needs it now needs itself.
    Begun,
    Done(Outcome),
}

/// What an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Source,
    Version,
    /// The value of a variable or a local.
    Below,
}

/// The values of all modules of a tree.
pub(in crate::config) struct Values {
    flavor: Flavor,
    workspace: String,
    absolute_root: Option<PathBuf>,
    given: BTreeMap<String, RootValue>,
    /// The names of the values of the command line.
    arguments: Vec<String>,
    /// The modules from the root to the one that is being read, by their nodes.
    instances: BTreeMap<usize, Instance>,
    budget: Budget,
    chain: usize,
}

impl Values {
    pub(in crate::config) fn new(
        workspace: String,
        settings: &Settings,
        given: BTreeMap<String, RootValue>,
    ) -> Self {
        let arguments = settings.values.arguments.iter();
        let arguments = arguments.filter_map(|argument| match argument {
            ValueArgument::Value { name, .. } => Some(name.clone()),
            ValueArgument::File(_) => None,
        });
        Self {
            flavor: settings.flavor,
            workspace,
            absolute_root: settings.absolute_root.clone(),
            given,
            arguments: arguments.collect(),
            instances: BTreeMap::new(),
            budget: Budget::default(),
            chain: 0,
        }
    }

    /// Makes values of which there are none yet.
    pub(in crate::config) fn none(settings: &Settings) -> Self {
        Self::new(String::new(), settings, BTreeMap::new())
    }

    /// Enters the module of a node, and checks what it must know early whether anything needs it or not.
    pub(in crate::config) fn enter(
        &mut self,
        node: usize,
        module: &Rc<Module>,
        entry: Entry,
        dir: &Path,
        reader: &mut Reader<'_>,
    ) {
        if !self.flavor.computes_sources() {
            return;
        }
        let is_in_run = match &entry {
            Entry::Root => false,
            Entry::Run(_) => true,
            Entry::Call { caller, .. } => {
                let caller = self.instances.get(caller);
                caller.is_some_and(|caller| caller.is_in_run)
            }
        };
        let instance = Instance {
            module: Rc::clone(module),
            entry,
            dir: dir.to_owned(),
            is_in_run,
            memo: BTreeMap::new(),
            kept: 0,
            defaulted: BTreeSet::new(),
        };
        if let Entry::Root = instance.entry {
            self.undeclared(module, reader);
        }
        self.instances.insert(node, instance);
        for variable in &module.contents.variables {
            if Given::says(variable.constant.as_ref(), true) {
                self.constant(node, variable, reader);
            }
        }
        let blocks = module.contents.provider_blocks.iter();
        for late in blocks.filter_map(|block| block.for_each.as_ref()) {
            self.for_each(node, late, reader);
        }
    }

    /// Drops what was computed for the module of a node; all calls below were followed.
    pub(in crate::config) fn leave(&mut self, node: usize) {
        if let Some(instance) = self.instances.remove(&node) {
            self.budget.release(instance.kept);
        }
    }

    /// Computes the source and the version of a call in the module of a node.
    ///
    /// # Errors
    /// Why they cannot be computed.
    pub(in crate::config) fn resolve(
        &mut self,
        node: usize,
        call: &Call,
        reader: &mut Reader<'_>,
    ) -> Outcome<(Source, CallVersion)> {
        if self.is_terraform_run(node) {
            return Err(constants_only(call, reader));
        }
        let version = match (&call.version, &call.version_late) {
            (CallVersion::Computed, Some(late)) => self.version(node, late, reader),
            (version, _) => Ok(version.clone()),
        };
        let source = match (&call.source, &call.source_late) {
            (Some(Source::Computed(_)) | None, Some(late)) => self.source(node, late, reader),
            (Some(source), _) => source.text().map(str::to_owned).ok_or(Stop::Refused),
            (None, None) => Err(Stop::Refused),
        };
        let (source, version) = match (source, version) {
            (Ok(source), Ok(version)) => (source, version),
            (Err(stop @ Stop::Uncertain(_)), Ok(_)) | (Ok(_), Err(stop)) => return Err(stop),
            (Err(Stop::Uncertain(_)), Err(stop)) | (Err(stop), _) => return Err(stop),
        };
        match calls::fitting(&source, &version, self.flavor) {
            Ok(source) => Ok((source, version)),
            Err(error) => {
                refuse(error.title(), call.place, error.help(), reader);
                Err(Stop::Refused)
            }
        }
    }

    /// Evaluates an expression that is not of a file, in the root; what keeps it from having a value is
    /// reported.
    pub(in crate::config) fn alone(
        &mut self,
        late: &Late,
        reader: &mut Reader<'_>,
    ) -> Option<Typed> {
        let value = match self.flavor.computes_sources() {
            true => self.evaluate(ROOT, late, Role::Below, reader),
            false => self.with_scope(BTreeMap::new(), late, reader),
        };
        if let Err(Stop::Uncertain(reason)) = &value {
            let mut error = Diagnostic::clone(reason);
            error.severity = Severity::Error;
            flood::push(&mut reader.found, error);
        }
        value.ok().map(Arc::unwrap_or_clone)
    }

    fn source(&mut self, node: usize, late: &Late, reader: &mut Reader<'_>) -> Outcome<String> {
        let value = self.evaluate(node, late, Role::Source, reader)?;
        let (value, marks) = Arc::unwrap_or_clone(value).bare();
        let is_unknown = !value.value.is_wholly_known();
        let title = match (self.flavor.is_opentofu(), value.value.to_text()) {
            (true, _) if marks.sensitive => "Sensitive value not allowed",
            (true, _) if marks.ephemeral => "Ephemeral value not allowed",
            (false, _) if is_unknown || !marks.is_none() => "Unknown module source",
            (_, Some(text)) => return Ok(text),
            _ => calls::no_text_title(&value.value, self.flavor),
        };
        refuse(title, late.place(), "the source must be known text", reader);
        Err(Stop::Refused)
    }

    fn version(
        &mut self,
        node: usize,
        late: &Late,
        reader: &mut Reader<'_>,
    ) -> Outcome<CallVersion> {
        let value = self.evaluate(node, late, Role::Version, reader)?;
        let (value, marks) = Arc::unwrap_or_clone(value).bare();
        let is_unknown = !value.value.is_wholly_known();
        let title = match self.flavor.is_opentofu() {
            false if is_unknown || !marks.is_none() => "Unknown module version",
            true if is_unknown => "Unsuitable value type",
            _ => "Invalid version constraint",
        };
        let read = calls::stated_version(&value.value);
        if let Some(version) = read.filter(|_| !is_unknown && marks.is_none()) {
            return Ok(version);
        }
        let remark = "the version must be a known constraint";
        refuse(title, late.place(), remark, reader);
        Err(Stop::Refused)
    }

    /// Returns whether Terraform computes nothing in the module of a node.
    fn is_terraform_run(&self, node: usize) -> bool {
        let instance = self.instances.get(&node);
        !self.flavor.is_opentofu() && instance.is_some_and(|instance| instance.is_in_run)
    }

    /// Evaluates an expression of the module of a node.
    fn evaluate(
        &mut self,
        node: usize,
        late: &Late,
        role: Role,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let mut names = Names::default();
        let mut stop = None;
        if self.flavor.is_opentofu() {
            for name in references::functions(&late.expr) {
                if name.text.contains("::") && !name.text.starts_with("core::") {
                    let place = at(late, name.span);
                    let title = "Provider function in static context";
                    refuse(title, place, "providers run later", reader);
                    stop = Some(Stop::Refused);
                }
            }
        }
        for used in references::inside(&late.expr) {
            let place = at(late, used.span);
            if let Err(found) = self.name(node, used, place, role, &mut names, reader) {
                // What the program refuses counts more than what only we cannot compute.
                if matches!(stop, None | Some(Stop::Uncertain(_))) {
                    stop = Some(found);
                }
            }
        }
        match stop {
            Some(stop) => Err(stop),
            // What is only handed on needs no copy.
            None => match names.alone(&late.expr) {
                Some(value) => Ok(value),
                None => self.with_scope(names.values(), late, reader),
            },
        }
    }

    /// Evaluates an expression with these names.
    fn with_scope(
        &mut self,
        names: BTreeMap<String, NameValue>,
        late: &Late,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let (files, dir) = reader.around();
        let around = Surroundings {
            files,
            dir: &dir,
            absolute_dir: self.absolute_root.as_ref(),
            has_volatile: self.flavor.is_opentofu(),
            functions: FunctionSet::Current,
            extra: None,
        };
        let scope = EvalScope {
            names,
            functions: Some(&around),
        };
        let found = expr::evaluate(late.file, &late.expr, &scope, &mut self.budget);
        found.map(Arc::new).map_err(|error| stopped(error, reader))
    }

    /// Adds that an expression has no value because of what it names.
    fn below(&self, value: Outcome, place: SourcePlace, reader: &mut Reader<'_>) -> Outcome {
        if let (Err(Stop::Refused), true) = (&value, self.flavor.is_opentofu()) {
            incomputable(place, reader);
        }
        value
    }

    /// Computes a local value.
    fn local(&mut self, node: usize, local: &Local, reader: &mut Reader<'_>) -> Outcome {
        match self.known(node, Kind::Local, &local.name) {
            Some(Memo::Done(outcome)) => return outcome.clone(),
            Some(Memo::Begun) => {
                let title = match self.flavor.is_opentofu() {
                    true => "Circular reference",
                    false => "Cycle",
                };
                let remark = format!("local.{} needs itself", local.name);
                refuse(title, local.place, &remark, reader);
                return Err(Stop::Refused);
            }
            None => {}
        }
        self.remember(node, Kind::Local, &local.name, Memo::Begun);
        let outcome = self.deeper(local.place, |values| {
            values.evaluate(node, &local.value, Role::Below, reader)
        });
        self.kept(node, Kind::Local, &local.name, outcome, local.place)
    }

    /// Returns what was computed before.
    fn known(&self, node: usize, kind: Kind, name: &str) -> Option<&Memo> {
        let instance = self.instances.get(&node)?;
        instance.memo.get(&(kind, name.to_owned()))
    }

    fn remember(&mut self, node: usize, kind: Kind, name: &str, memo: Memo) {
        if let Some(instance) = self.instances.get_mut(&node) {
            instance.memo.insert((kind, name.to_owned()), memo);
        }
    }

    /// Keeps what was computed for as long as its module is read, if that is not too much.
    fn kept(
        &mut self,
        node: usize,
        kind: Kind,
        name: &str,
        outcome: Outcome,
        place: SourcePlace,
    ) -> Outcome {
        let outcome = match outcome {
            // Who else holds it has paid for it.
            Ok(value) if Arc::strong_count(&value) > 1 => Ok(value),
            Ok(value) => match (self.budget.keep(&value), self.instances.get_mut(&node)) {
                (Some(weight), Some(instance)) => {
                    instance.kept += weight;
                    Ok(value)
                }
                _ => Err(uncertain(place, "this computes too much")),
            },
            Err(stop) => Err(stop),
        };
        self.remember(node, kind, name, Memo::Done(outcome.clone()));
        outcome
    }

    /// Computes one value below another one.
    fn deeper(
        &mut self,
        place: SourcePlace,
        compute: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        if self.chain >= MAX_CHAIN {
            return Err(uncertain(place, "too many values need each other"));
        }
        self.chain += 1;
        let outcome = compute(self);
        self.chain -= 1;
        outcome
    }

    /// Returns the call that leads to a node, if one does.
    fn caller(&self, node: usize) -> Option<&Call> {
        match &self.instances.get(&node)?.entry {
            Entry::Call { caller, at } => {
                let caller = self.instances.get(caller)?;
                caller.module.contents.calls.get(*at)
            }
            Entry::Root | Entry::Run(_) => None,
        }
    }
}

/// Reports what only a constant may say where Terraform computes nothing.
fn constants_only(call: &Call, reader: &mut Reader<'_>) -> Stop {
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
    Stop::Refused
}

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

/// Reports that something has no value because of what it needs.
fn incomputable(place: SourcePlace, reader: &mut Reader<'_>) {
    let title = "Unable to compute static value";
    refuse(title, place, "something that it needs has no value", reader);
}

fn uncertain(place: SourcePlace, reason: &str) -> Stop {
    let diagnostic = Diagnostic::note(
        rules::CONFIGURATION_ODD,
        "Expression cannot be evaluated here",
    );
    Stop::Uncertain(Arc::new(diagnostic.at(place.file, place.span, reason)))
}

/// Reports what the program refuses of an expression, if it does.
fn stopped(error: expr::NotConstant, reader: &mut Reader<'_>) -> Stop {
    if error.refused.is_empty() {
        let first = error.uncertain.into_iter().next();
        return first.map_or(Stop::Refused, |first| Stop::Uncertain(Arc::new(first)));
    }
    for diagnostic in error.refused {
        flood::push(&mut reader.found, diagnostic);
    }
    Stop::Refused
}
