//! What the names in an expression mean (rules 2.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::discovery::UNIT_FILE;
use super::evaluation::{Evaluation, Role, Stage, block, directory};
use super::evaluation::{Sharing, Unread};
use super::outcome::{Outcome, Place, Reason, Stop};
use crate::diag::rules;
use crate::expr::{NameValue, Type, Typed, Value, convert};
use crate::hcl::references::{self, Reference};
use crate::hcl::tree::{Expr, ExprKind, Step};

/// The attributes of a name.
type Attributes = BTreeMap<String, Arc<Typed>>;

impl Evaluation<'_> {
    /// Finds the values of all names that an expression uses.
    pub(super) fn names(
        &mut self,
        at: usize,
        expr: &Expr,
        stage: Stage,
    ) -> Outcome<BTreeMap<String, NameValue>> {
        let mut names = Names::default();
        for used in references::inside(expr) {
            let place = self.place(at, used.span);
            self.name(at, used, stage, place, &mut names)?;
        }
        let attributes = names.attributes.into_iter();
        let attributes = attributes.map(|(name, all)| (name, NameValue::Attributes(all)));
        Ok(attributes.chain(names.values).collect())
    }

    fn name(
        &mut self,
        at: usize,
        used: Reference<'_>,
        stage: Stage,
        place: Place,
        names: &mut Names,
    ) -> Outcome<()> {
        let first = match used.steps.first() {
            Some(Step::Attr(word)) => Some(word.text.as_str()),
            Some(Step::Index(key)) => match &key.kind {
                ExprKind::String(text) => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        };
        let is_late = matches!(stage, Stage::Locals | Stage::Source | Stage::Rest);
        match used.root {
            "values" => {
                if let Some(values) = self.values(at)? {
                    names.value(used.root, values);
                }
                Ok(())
            }
            "feature" if is_late => self.used_feature(at, first, names),
            "include" if is_late => self.used_include(at, used, names),
            "local" if stage == Stage::Locals => match used.steps.first() {
                Some(Step::Attr(word)) => self.used_local(at, &word.text, place, names),
                _ => Err(Stop::refused(
                    rules::CONFIGURATION_INVALID,
                    "Can't evaluate expression",
                    place,
                    "inside of locals, a local is named as local.NAME only",
                )),
            },
            "local" if is_late => self.late_local(at, first, names),
            "unit" | "stack" if stage == Stage::Rest && self.is_stack(at) => {
                names.object(used.root);
                for (name, value) in self.generated_dirs(at, used.root)? {
                    names.attribute(used.root, &name, Arc::new(value));
                }
                Ok(())
            }
            "dependency" if stage == Stage::Source => Err(Stop::refused(
                rules::CONFIGURATION_INVALID,
                "A source cannot reference dependency outputs",
                place,
                "the source must be known before dependencies are",
            )),
            "dependency" if stage == Stage::Rest => self.dependency(at, used, place, names),
            root if stage == Stage::Locals => Err(Stop::refused(
                rules::CONFIGURATION_INVALID,
                "Can't evaluate expression",
                place,
                &format!("{root:?} is not defined in locals"),
            )),
            _ => Ok(()),
        }
    }

    /// Inside of locals an undefined one is an error that `try` does not catch (rules 4.2).
    fn used_local(
        &mut self,
        at: usize,
        name: &str,
        place: Place,
        names: &mut Names,
    ) -> Outcome<()> {
        let value = self.local(at, name).unwrap_or_else(|| {
            let title = "Could not evaluate all locals in block";
            let note = format!("there is no local {name:?}");
            Err(Stop::refused(
                rules::CONFIGURATION_INVALID,
                title,
                place,
                &note,
            ))
        })?;
        names.attribute("local", name, value);
        Ok(())
    }

    /// Outside of locals a missing one is a missing attribute.
    fn late_local(&mut self, at: usize, first: Option<&str>, names: &mut Names) -> Outcome<()> {
        names.object("local");
        let wanted = match first {
            Some(name) => vec![name.to_owned()],
            None => self.local_names(at),
        };
        for name in wanted {
            if let Some(value) = self.local(at, &name) {
                names.attribute("local", &name, value?);
            }
        }
        Ok(())
    }

    pub(super) fn local_names(&self, at: usize) -> Vec<String> {
        let document = &self.instances[at].document;
        let locals = block(document, "locals");
        let attributes = locals.into_iter().flat_map(|block| block.body.attributes());
        attributes.map(|one| one.name.text.clone()).collect()
    }

    /// Outputs of other units are known in a run only (rules 2.7).
    fn dependency(
        &mut self,
        at: usize,
        used: Reference<'_>,
        place: Place,
        names: &mut Names,
    ) -> Outcome<()> {
        if let [_, Step::Attr(word), ..] = used.steps
            && word.text == "inputs"
        {
            return Err(Stop::refused(
                rules::CONFIGURATION_INVALID,
                "Inputs of dependencies cannot be read",
                place,
                "use outputs of the dependency",
            ));
        }
        let known = self.dependency_names(at)?;
        if known.is_empty() {
            return Ok(());
        }
        names.object("dependency");
        for name in known {
            let open = Arc::new(Typed::unknown(Type::Any));
            names.attribute("dependency", &name, open);
        }
        self.because(Reason {
            text: "outputs of a dependency are known in a run only".to_owned(),
            place,
        });
        Ok(())
    }

    fn dependency_names(&mut self, at: usize) -> Outcome<Vec<String>> {
        let mut names = Vec::new();
        let parents = match self.instances[at].role {
            Role::Unit => self.parents(at)?,
            Role::Parent(_) | Role::Autoinclude => Vec::new(),
        };
        for file in [at].into_iter().chain(parents) {
            let document = &self.instances[file].document;
            let blocks = document.body.blocks();
            let blocks = blocks.filter(|block| block.kind.text == "dependency");
            names.extend(blocks.filter_map(|block| Some(block.labels.first()?.text.clone())));
        }
        Ok(names)
    }

    /// Adds features: the command line's value, else the default of the file, else a parent's (rules 2.9).
    fn used_feature(&mut self, at: usize, first: Option<&str>, names: &mut Names) -> Outcome<()> {
        let mut found: BTreeMap<String, Arc<Typed>> = BTreeMap::new();
        let parents = match self.instances[at].role {
            Role::Unit => self.parents(at)?,
            Role::Parent(_) | Role::Autoinclude => Vec::new(),
        };
        for file in [at].into_iter().chain(parents.into_iter().rev()) {
            let document = Arc::clone(&self.instances[file].document);
            let blocks = document.body.blocks();
            for block in blocks.filter(|block| block.kind.text == "feature") {
                let Some(label) = block.labels.first() else {
                    continue;
                };
                let is_wanted = first.is_none_or(|name| name == label.text);
                if !is_wanted || found.contains_key(&label.text) {
                    continue;
                }
                let Some(default) = block.body.attribute("default") else {
                    let place = self.place(file, block.header);
                    let title = "Feature has no default";
                    return Err(Stop::refused(
                        rules::CONFIGURATION_INVALID,
                        title,
                        place,
                        "",
                    ));
                };
                let default = self.slot(file, default, Stage::Base);
                let value = self.feature_value(&label.text, &*default.outcome?, default.place)?;
                found.insert(label.text.clone(), feature(value));
            }
        }
        for (name, text) in &self.around.features {
            let value = || feature(Typed::string(text.as_str()));
            found.entry(name.clone()).or_insert_with(value);
        }
        if found.is_empty() && first.is_none() {
            return Ok(());
        }
        names.object("feature");
        for (name, value) in found {
            names.attribute("feature", &name, value);
        }
        Ok(())
    }

    fn feature_value(&self, name: &str, default: &Typed, place: Place) -> Outcome<Typed> {
        let Some(text) = self.around.features.get(name) else {
            return Ok(default.clone());
        };
        convert(Typed::string(text.as_str()), &default.ty).map_err(|_| {
            let title = "Feature has a value of another type";
            Stop::refused(rules::WRONG_TYPE, title, place, "")
        })
    }

    /// Returns what the file of values beside a file holds; `None` if there is none (rules 2.8).
    pub(super) fn values(&mut self, at: usize) -> Outcome<Option<Arc<Typed>>> {
        if let Some(known) = &self.instances[at].values {
            return known.clone();
        }
        // Functions in it that need values again find none.
        self.instances[at].values = Some(Ok(None));
        let found = self.read_values(at);
        self.instances[at].values = Some(found.clone());
        found
    }

    fn read_values(&mut self, at: usize) -> Outcome<Option<Arc<Typed>>> {
        let own = &self.instances[at].document.path;
        let path = directory(own).join(super::VALUES_FILE);
        let place = self.place(at, Default::default());
        let (document, file) = match self.document(&path, Sharing::Own) {
            Ok(found) => found,
            Err(Unread::Missing) => return Ok(None),
            Err(unread) => return Err(unread.stop("Values cannot be read", &path, place)),
        };
        let values = self.add(Arc::clone(&document), file, Role::Unit);
        // A file of values has none beside itself.
        self.instances[values].values = Some(Ok(None));
        self.values_of(values).map(|value| Some(Arc::new(value)))
    }

    /// Evaluates all attributes of a file of values.
    pub(super) fn values_of(&mut self, at: usize) -> Outcome<Typed> {
        if let Some(fault) = self.faults(at).into_iter().next() {
            return Err(Stop::of_fault(fault));
        }
        let document = Arc::clone(&self.instances[at].document);
        let mut items = BTreeMap::new();
        for attribute in document.body.attributes() {
            let value = self.slot(at, attribute, Stage::Base).outcome?;
            items.insert(attribute.name.text.clone(), Typed::clone(&value));
        }
        Ok(Typed::object(items))
    }

    /// Returns the path of the unit file of a directory: JSON wins (rules 1.2).
    pub(super) fn unit_file(&self, dir: &std::path::Path) -> std::path::PathBuf {
        if let Some(name) = &self.around.unit_file {
            let named = crate::world::clean(&dir.join(name));
            if self.files.kind(&named).is_ok() {
                return named;
            }
        }
        let json = dir.join(super::discovery::UNIT_FILE_JSON);
        match self.files.kind(&json) {
            Ok(crate::world::FileKind::File) => json,
            _ => dir.join(UNIT_FILE),
        }
    }
}

fn feature(value: Typed) -> Arc<Typed> {
    let items = BTreeMap::from([("value".to_owned(), value)]);
    Arc::new(Typed::object(items))
}

/// The values of names, as far as they are found.
#[derive(Default)]
pub(super) struct Names {
    attributes: BTreeMap<String, Attributes>,
    values: BTreeMap<String, NameValue>,
}

impl Names {
    /// Adds a name that is an object, which may lack what is asked of it.
    pub(super) fn object(&mut self, name: &str) {
        self.attributes.entry(name.to_owned()).or_default();
    }

    pub(super) fn attribute(&mut self, name: &str, attribute: &str, value: Arc<Typed>) {
        let attributes = self.attributes.entry(name.to_owned()).or_default();
        match attributes.get_mut(attribute) {
            // Two references may have needed different parts.
            Some(known) => *known = Arc::new(joined(known, &value)),
            None => drop(attributes.insert(attribute.to_owned(), value)),
        }
    }

    pub(super) fn value(&mut self, name: &str, value: Arc<Typed>) {
        self.values.insert(name.to_owned(), NameValue::Value(value));
    }
}

/// Puts two parts of one object together.
fn joined(a: &Typed, b: &Typed) -> Typed {
    match (&a.value, &b.value) {
        (Value::Object(_), Value::Object(_)) if a != b => {
            let mut items = super::object::items(a);
            for (name, item) in super::object::items(b) {
                let item = match items.get(&name) {
                    Some(known) => joined(known, &item),
                    None => item,
                };
                items.insert(name, item);
            }
            Typed::object(items)
        }
        _ => b.clone(),
    }
}
