//! Values of the names in an expression (rules 2.5).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::evaluation::{
    Evaluation, ExprContext, FileRole, ReadFailure, Sharing, blocks, directory,
};
use super::file_names::{UNIT_FILE, UNIT_FILE_JSON, VALUES_FILE};
use super::outcome::{FilePlace, Outcome, Stop, UnknownCause};
use crate::expr::{Demand, NameValue, Type, Typed, UsedNames};
use crate::hcl::references::{self, Reference};
use crate::hcl::tree::{Expr, ExprKind, Step};
use crate::world::FileKind;

const CANNOT_EVALUATE: &str = "Can't evaluate expression";

/// The work that counts for a value of the object of all locals, in bytes beside those of its name. The value is
/// copied several times, with its type.
const LOCAL_BYTES: usize = 1024;

impl Evaluation<'_> {
    /// Finds the values of all names that an expression uses.
    pub(super) fn names(
        &mut self,
        at: usize,
        expr: &Expr,
        context: ExprContext,
    ) -> Outcome<BTreeMap<String, NameValue>> {
        let mut names = UsedNames::default();
        for used in references::inside(expr) {
            let place = self.place(at, used.span);
            self.name(at, used, context, place, &mut names)?;
        }
        Ok(names.into_names())
    }

    fn name(
        &mut self,
        at: usize,
        used: Reference<'_>,
        context: ExprContext,
        place: FilePlace,
        names: &mut UsedNames,
    ) -> Outcome<()> {
        let first = first_attribute(used.steps);
        let is_late = matches!(
            context,
            ExprContext::Locals | ExprContext::Source | ExprContext::Rest
        );
        match used.root {
            // Everywhere but in a file of values, which has none beside itself (rules 2.8).
            "values" => {
                if let Some(values) = self.values(at)? {
                    names.add_value(used.root, values);
                }
                Ok(())
            }
            // Include blocks and features are read before these names have values (rules 2.5).
            "feature" if is_late => self.used_feature(at, first, names),
            "include" if is_late => self.used_include(at, used, names),
            "local" if context == ExprContext::Locals => self.used_local(at, used, place, names),
            "local" if is_late => {
                names.add_object("local");
                let used_locals = match first {
                    Some(name) => vec![name.to_owned()],
                    None => self.all_locals(at, place)?,
                };
                // Outside of locals an undefined local is only a missing attribute.
                for name in used_locals {
                    if let Some(value) = self.local(at, &name) {
                        names.add_attribute("local", &name, value?);
                    }
                }
                Ok(())
            }
            "dependency" if context == ExprContext::Source => Err(Stop::invalid(
                "A source cannot reference dependency outputs",
                place,
                "the source must be known before dependencies are",
            )),
            "dependency" if context == ExprContext::Rest => {
                self.used_dependency(at, used, place, names)
            }
            // Inside of locals Terragrunt checks all names before it evaluates one (rules 4.2).
            root if context == ExprContext::Locals => {
                let note = format!("{root:?} is not defined in locals");
                Err(Stop::invalid(CANNOT_EVALUATE, place, &note))
            }
            _ => Ok(()),
        }
    }

    /// Adds a local that another one uses.
    fn used_local(
        &mut self,
        at: usize,
        used: Reference<'_>,
        place: FilePlace,
        names: &mut UsedNames,
    ) -> Outcome<()> {
        let Some(Step::Attr(word)) = used.steps.first() else {
            let note = "inside of locals, a local is named as local.NAME only";
            return Err(Stop::invalid(CANNOT_EVALUATE, place, note));
        };
        // An undefined local is an error here that `try` does not catch (rules 4.2).
        let value = self.local(at, &word.text).unwrap_or_else(|| {
            let title = "Could not evaluate all locals in block";
            let note = format!("there is no local {:?}", word.text);
            Err(Stop::invalid(title, place, &note))
        })?;
        names.add_attribute("local", &word.text, value);
        Ok(())
    }

    /// Returns the names of all locals, for an expression that uses the object of them. It is made again for each
    /// such expression, so it counts: 64 KB of them took minutes.
    fn all_locals(&mut self, at: usize, place: FilePlace) -> Outcome<Vec<String>> {
        if self.budget.work_left() == 0 {
            return Err(Stop::uncertain(place, "this computes too much"));
        }
        let names = self.local_names(at);
        self.budget
            .spend(names.iter().map(|name| LOCAL_BYTES + name.len()).sum());
        Ok(names)
    }

    /// Adds dependencies, whose outputs are known in a run only (rules 2.7).
    fn used_dependency(
        &mut self,
        at: usize,
        used: Reference<'_>,
        place: FilePlace,
        names: &mut UsedNames,
    ) -> Outcome<()> {
        // Terragrunt refuses `dependency.NAME.inputs` (rules 2.7).
        if let [_, Step::Attr(word), ..] = used.steps
            && word.text == "inputs"
        {
            return Err(Stop::invalid(
                "Inputs of dependencies cannot be read",
                place,
                "use outputs of the dependency",
            ));
        }
        let mut has_dependency = false;
        for file in self.with_parents(at)? {
            for block in blocks(&self.instances[file].document, "dependency") {
                if let Some(label) = block.labels.first() {
                    has_dependency = true;
                    // Mocks are for some commands only, so that they do not count, either (rules 2.7).
                    let outputs = Arc::new(Typed::unknown(Type::Any));
                    names.add_attribute("dependency", &label.text, outputs);
                }
            }
        }
        if has_dependency {
            self.record(UnknownCause {
                text: "outputs of a dependency are known in a run only".to_owned(),
                place,
            });
        }
        Ok(())
    }

    /// Returns a file and, if it is a unit, its parents in the order of their blocks.
    fn with_parents(&mut self, at: usize) -> Outcome<Vec<usize>> {
        let mut files = vec![at];
        if self.instances[at].role == FileRole::Unit {
            files.extend(self.parents(at)?);
        }
        Ok(files)
    }

    /// Adds features: the default of the file, else that of the last parent that has one (rules 2.9).
    fn used_feature(
        &mut self,
        at: usize,
        first: Option<&str>,
        names: &mut UsedNames,
    ) -> Outcome<()> {
        let mut features: BTreeMap<String, Arc<Typed>> = BTreeMap::new();
        let mut files = self.with_parents(at)?;
        // The parents were listed in their order, and the last one has priority.
        files[1..].reverse();
        for file in files {
            let document = Arc::clone(&self.instances[file].document);
            for block in blocks(&document, "feature") {
                let Some(label) = block.labels.first() else {
                    continue;
                };
                let is_used = first.is_none_or(|name| name == label.text);
                if !is_used || features.contains_key(&label.text) {
                    continue;
                }
                // A feature without default is an error (rules 2.9).
                let Some(default) = block.body.attribute("default") else {
                    let place = self.place(file, block.header);
                    return Err(Stop::invalid("Feature has no default", place, ""));
                };
                let slot = self.slot(file, default, ExprContext::Base);
                let value = ("value".to_owned(), Typed::clone(&*slot.outcome?));
                let feature = Typed::object(BTreeMap::from([value]));
                features.insert(label.text.clone(), Arc::new(feature));
            }
        }
        if features.is_empty() && first.is_none() {
            return Ok(());
        }
        names.add_object("feature");
        for (name, value) in features {
            names.add_attribute("feature", &name, value);
        }
        Ok(())
    }

    /// Returns the values of the file of values beside a file; `None` if there is none (rules 2.8).
    pub(super) fn values(&mut self, at: usize) -> Outcome<Option<Arc<Typed>>> {
        match self.values.begin(at) {
            Demand::Computed(values) => return values,
            // Functions in a file of values that need values again find none.
            Demand::Cycle => return Ok(None),
            Demand::Begun => {}
        }
        let path = directory(&self.instances[at].document.path).join(VALUES_FILE);
        let values = match self.document(&path, Sharing::Own) {
            Ok((document, file)) => {
                let inner = self.add(document, file, FileRole::Unit);
                // A file of values has none beside itself.
                self.values.finish(inner, Ok(None));
                self.values_of(inner).map(|value| Some(Arc::new(value)))
            }
            Err(ReadFailure::Missing) => Ok(None),
            Err(failure) => {
                let place = self.place(at, Default::default());
                Err(failure.stop("Values cannot be read", &path, place))
            }
        };
        self.values.finish(at, values.clone());
        values
    }

    /// Evaluates all attributes of a file of values.
    pub(super) fn values_of(&mut self, at: usize) -> Outcome<Typed> {
        self.check_syntax(at)?;
        let document = Arc::clone(&self.instances[at].document);
        let mut items = BTreeMap::new();
        for attribute in document.body.attributes() {
            let value = self.slot(at, attribute, ExprContext::Base).outcome?;
            items.insert(attribute.name.text.clone(), Typed::clone(&value));
        }
        Ok(Typed::object(items))
    }

    /// Returns the path of the unit file of a directory: JSON wins (rules 1.2).
    pub(super) fn unit_file(&self, dir: &Path) -> PathBuf {
        let json = dir.join(UNIT_FILE_JSON);
        // A FIFO is there, though it cannot be read.
        match self.files.kind(&json) {
            Ok(FileKind::Directory) | Err(_) => dir.join(UNIT_FILE),
            Ok(_) => json,
        }
    }

    /// Adds the parents of a unit, as far as it sees them.
    fn used_include(
        &mut self,
        at: usize,
        used: Reference<'_>,
        names: &mut UsedNames,
    ) -> Outcome<()> {
        let includes = self.includes(at)?;
        if includes.is_empty() {
            return Ok(());
        }
        names.add_object("include");
        let steps = used.steps;
        if let [only] = &includes[..]
            && only.is_bare
        {
            // A lone block without label gives the name to the parent itself.
            if only.is_exposed {
                let value = self.seen(only.parent.clone()?, steps)?;
                for (name, item) in value.attributes() {
                    names.add_attribute("include", &name, Arc::new(item));
                }
            }
            return Ok(());
        }
        let label = first_attribute(steps);
        for (position, include) in includes.iter().enumerate() {
            let is_used = label.is_none_or(|label| label == include.label);
            // Of two blocks with one label the later counts.
            let is_last = includes[position + 1..]
                .iter()
                .all(|later| later.label != include.label);
            if is_used && is_last && include.is_exposed {
                let steps = match label {
                    Some(_) => steps.get(1..).unwrap_or_default(),
                    None => &[],
                };
                let value = self.seen(include.parent.clone()?, steps)?;
                names.add_attribute("include", &include.label, Arc::new(value));
            }
        }
        Ok(())
    }

    /// Returns the part of a parent's configuration that steps lead to, or all of it.
    fn seen(&mut self, parent: usize, steps: &[Step]) -> Outcome<Typed> {
        match steps {
            // One local is evaluated alone: another one may need what only a run knows.
            [Step::Attr(section), Step::Attr(name), ..] if section.text == "locals" => {
                let value = self.local(parent, &name.text).transpose()?;
                let items = value.map(|value| (name.text.clone(), Typed::clone(&value)));
                let locals = Typed::object(items.into_iter().collect());
                Ok(Typed::object([("locals".to_owned(), locals)].into()))
            }
            [Step::Attr(section), ..] => self.seen_section(parent, Some(&section.text)),
            _ => self.seen_section(parent, None),
        }
    }

    /// Evaluates a section of a parent once for all expressions that look at it.
    fn seen_section(&mut self, parent: usize, section: Option<&str>) -> Outcome<Typed> {
        let key = (parent, section.map(str::to_owned));
        if let Some(Some(traced)) = self.sections.get(&key) {
            let traced = traced.clone();
            return self.recalled(traced).map(Arc::unwrap_or_clone);
        }
        let (outcome, causes) = self.traced(|this| this.section_of_configuration(parent, section));
        let outcome = outcome.map(Arc::new);
        self.sections.finish(key, (outcome.clone(), causes));
        outcome.map(Arc::unwrap_or_clone)
    }
}

/// Returns the name behind the root of a reference: `NAME.this` or `NAME["this"]`.
fn first_attribute(steps: &[Step]) -> Option<&str> {
    match steps.first()? {
        Step::Attr(word) => Some(&word.text),
        Step::Index(key) => match &key.kind {
            ExprKind::String(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
