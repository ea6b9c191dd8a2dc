//! Values as a plan knows them: what state, resources and data give is unknown, everything else is computed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::config::loaded::{ModuleNode, Settings};
use crate::config::tree::packages::Packages;
use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::Module;
use crate::config::tree::root_values;
use crate::config::tree::state;
use crate::config::tree::values::{
    Entry, ExprRole, Outcome, Stage, Stop, ValueKey, Values, at, trace::looked_up,
};
use crate::diag::{FileId, Texts};
use crate::expr::{Typed, UsedNames};
use crate::flavor::Flavor;
use crate::hcl::references::Reference;
use crate::hcl::tree::{Expr, Step};
use crate::module_config::decode::blocks;
use crate::module_config::decode::contents::Contents;
use crate::module_config::decode::late::Late;
use crate::module_config::file::{ModuleFile, Syntax};
use crate::module_config::merge::{module::ModuleMerge, overrides};
use crate::module_config::syntax::{self, references};
use crate::requirement::PathStep;
use crate::world::Files;

/// The reason why an expression has no value that is known before a plan, in words.
pub type UnknownReason = String;

/// The values of named objects that an expression sees beside those of its module; `None` for an unknown one.
pub type ExtraNames = BTreeMap<String, Option<Arc<Typed>>>;

/// The values of the modules of a root as a plan knows them.
pub struct PlannedValues<'a> {
    values: Values,
    reader: Reader<'a>,
    nodes: &'a [ModuleNode],
    /// The nodes from the root to the one whose values are computed.
    entered: Vec<usize>,
    /// The declarations of modules, by the first file of each: calls may share a module.
    decoded: BTreeMap<FileId, Arc<Module>>,
}

/// Computes values in the modules of a root that was loaded.
///
/// `nodes` are its modules, whose files are in `texts`. Faults that keep a value from being computed are reasons,
/// and nothing else is reported.
pub fn with_planned<T>(
    files: &dyn Files,
    texts: &mut Texts,
    root: &Path,
    settings: &Settings,
    nodes: &[ModuleNode],
    work: impl FnOnce(&mut PlannedValues<'_>) -> T,
) -> T {
    let files = Packages::new(files);
    let mut reader = Reader::new(&files, texts, root, settings.flavor);
    let given = root_values::read(&mut reader, &settings.values);
    let workspace = state::workspace(&reader, settings);
    let values = Values {
        stage: Stage::Plan,
        ..Values::new(workspace, settings, given)
    };
    let mut planned = PlannedValues {
        values,
        reader,
        nodes,
        entered: Vec::new(),
        decoded: BTreeMap::new(),
    };
    work(&mut planned)
}

impl PlannedValues<'_> {
    /// Makes the values of a module of the tree those that expressions see.
    pub fn enter(&mut self, node: usize) {
        let mut way = vec![node];
        while let Some(caller) = way.last().and_then(|node| self.nodes.get(*node)?.caller) {
            way.push(caller);
        }
        way.reverse();
        let shared = way
            .iter()
            .zip(&self.entered)
            .take_while(|(node, entered)| node == entered)
            .count();
        for node in self.entered.drain(shared..) {
            self.values.leave(node);
        }
        for node in way.into_iter().skip(shared) {
            self.enter_below(node);
            self.entered.push(node);
        }
    }

    fn enter_below(&mut self, node: usize) {
        let nodes = self.nodes;
        let Some(module) = nodes.get(node) else {
            return;
        };
        let entry = match (module.caller, module.path.steps().last()) {
            (Some(caller), Some(PathStep::Call(name))) => {
                let calls = self.values.modules.get(&caller);
                let at = calls.and_then(|caller| {
                    let calls = &caller.module.contents.calls;
                    calls.iter().position(|call| call.name == **name)
                });
                match at {
                    Some(at) => Entry::Call { caller, at },
                    // Without its call the module has no arguments, as one that a test runs.
                    None => Entry::Run(Vec::new()),
                }
            }
            (Some(_), _) => Entry::Run(Vec::new()),
            (None, _) => Entry::Root,
        };
        let decoded = self.decode(&module.files);
        let dir = module.dir.as_deref().unwrap_or(Path::new(""));
        self.values
            .enter(node, &decoded, entry, dir, &mut self.reader);
    }

    /// Returns what files declare that were read before.
    fn decode(&mut self, files: &Arc<[ModuleFile]>) -> Arc<Module> {
        let first = files.first().map(|file| file.id);
        if let Some(known) = first.and_then(|first| self.decoded.get(&first)) {
            return Arc::clone(known);
        }
        let contents = contents(files, self.reader.texts(), self.values.flavor);
        let module = Arc::new(Module {
            needs: Vec::new(),
            files: Arc::clone(files),
            contents: Arc::new(contents),
            found: Vec::new(),
        });
        self.decoded
            .extend(first.map(|first| (first, Arc::clone(&module))));
        module
    }

    /// Computes an expression in the module that was entered.
    ///
    /// # Errors
    /// The reason why it is not known as a whole before a plan.
    pub fn evaluate(
        &mut self,
        file: FileId,
        expr: &Expr,
        extra: &ExtraNames,
    ) -> Result<Typed, UnknownReason> {
        let late = Late {
            file,
            expr: Arc::new(expr.clone()),
            syntax: Syntax::Native,
        };
        let node = self.entered.last().copied().unwrap_or_default();
        let before = self.reader.found.len();
        let value = self
            .values
            .evaluate_with(node, &late, extra, &mut self.reader);
        // The fault becomes the reason for an unknown value, and must not be reported as one of the configuration,
        // too.
        let refused = self.reader.found.split_off(before);
        match value {
            Ok(value) if value.value.is_wholly_known() => Ok(Arc::unwrap_or_clone(value)),
            Ok(_) => Err(self.unknown_name(node, expr, extra)),
            Err(Stop::Uncertain(reason)) => Err(match &reason.primary {
                Some(label) if !label.note.is_empty() => label.note.clone(),
                _ => reason.title.clone(),
            }),
            Err(Stop::Refused(_)) => Err(match refused.last() {
                Some(error) => match &error.primary {
                    Some(label) if !label.note.is_empty() => {
                        format!("{}: {}", error.title, label.note)
                    }
                    _ => error.title.clone(),
                },
                None => "a value that it needs is refused".to_owned(),
            }),
        }
    }

    /// Finds the first name that makes an expression unknown, through local values and arguments of calls.
    fn unknown_name(&self, node: usize, expr: &Expr, extra: &ExtraNames) -> UnknownReason {
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<(usize, Arc<Expr>)> = vec![(node, Arc::new(expr.clone()))];
        while let Some((node, expr)) = waiting.pop() {
            let Some(module) = self.values.modules.get(&node) else {
                continue;
            };
            for used in references::inside(&expr) {
                let name = match used.steps.first() {
                    Some(Step::Attr(word)) => word.text.as_str(),
                    _ => "",
                };
                let is_extra = extra.get(used.root);
                let key = match used.root {
                    _ if is_extra.is_some() => {
                        if let Some(None) = is_extra {
                            return format!("{} is not known", shown(used));
                        }
                        continue;
                    }
                    "path" | "terraform" | "tofu" => continue,
                    "var" => ValueKey::Variable(name.to_owned()),
                    "local" => ValueKey::Local(name.to_owned()),
                    "each" | "count" => {
                        return format!("{} differs between instances", shown(used));
                    }
                    _ => return format!("{} is known to a plan only", shown(used)),
                };
                let is_known = looked_up(module, &key).is_ok_and(|value| value.is_wholly_known());
                // Local values may depend on each other in a circle, which is an error elsewhere.
                if is_known || !seen.insert((node, key.clone())) {
                    continue;
                }
                match (&key, &module.entry) {
                    (ValueKey::Local(name), _) => {
                        let locals = &module.module.contents.locals;
                        if let Some(local) = locals.iter().find(|local| local.name == *name) {
                            waiting.push((node, Arc::clone(&local.value.expr)));
                        }
                    }
                    (ValueKey::Variable(name), Entry::Call { caller, .. }) => {
                        let argument = self.values.argument(node, name);
                        waiting.extend(argument.map(|late| (*caller, late.expr)));
                    }
                    _ => {}
                }
            }
        }
        "its value is known to a plan only".to_owned()
    }
}

impl Values {
    /// Evaluates an expression of the module of a node, with names beside those of the module.
    fn evaluate_with(
        &mut self,
        node: usize,
        late: &Late,
        extra: &ExtraNames,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let mut names = UsedNames::default();
        for used in references::inside(&late.expr) {
            match extra.get(used.root) {
                Some(Some(value)) => names.add_value(used.root, Arc::clone(value)),
                Some(None) => names.add_unknown(used.root),
                None => {
                    let place = at(late, used.span);
                    self.name(node, used, place, ExprRole::Value, &mut names, reader)?;
                }
            }
        }
        self.with_names(names.into_names(), late, reader)
    }
}

/// Returns a name with its attributes as it is written.
fn shown(used: Reference<'_>) -> String {
    let mut text = used.root.to_owned();
    for step in used.steps {
        let Step::Attr(word) = step else { break };
        text.push('.');
        text.push_str(&word.text);
    }
    text
}

/// Decodes files that were read before.
fn contents(files: &[ModuleFile], texts: &Texts, flavor: Flavor) -> Contents {
    // Rules that compute nothing early keep no expressions of values.
    let flavor = if flavor.computes_sources() {
        flavor
    } else {
        Flavor::Terraform1_16
    };
    let mut all = Contents::default();
    let (mut bodies, mut overriding) = (Vec::new(), Vec::new());
    for file in files {
        let (body, mut faults) = syntax::parse(*file, texts.bytes(file.id), flavor);
        let contents = blocks::decode(&body, &mut faults);
        bodies.push((*file, body));
        if file.is_override() {
            overriding.push(contents);
        } else {
            all.append(contents);
        }
    }
    let standing = ModuleMerge::of(bodies, flavor).standing();
    overrides::apply(&mut all, overriding, &standing, flavor, &mut Vec::new());
    all
}
