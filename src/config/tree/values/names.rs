//! What an expression may name, and the value of each name (rules 9.2, 9.3).

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::config::tree::reader::Reader;
use crate::config::tree::values::{Outcome, Role, Stop, Values, refuse, uncertain};
use crate::expr::{NameValue, Type, Typed};
use crate::hcl::tree::{Expr, ExprKind, Step};
use crate::module_config::decode::variables::Given;
use crate::module_config::file::SourcePlace;
use crate::module_config::syntax::references::{Reference, ReferenceSubject};

impl Values {
    /// Finds the value of one name that an expression uses.
    pub(super) fn name(
        &mut self,
        node: usize,
        used: Reference<'_>,
        place: SourcePlace,
        role: Role,
        names: &mut Names,
        reader: &mut Reader<'_>,
    ) -> Outcome<()> {
        let subject = ReferenceSubject::of(used, self.flavor);
        let attribute = match used.steps.first() {
            Some(Step::Attr(word)) => word.text.as_str(),
            _ => "",
        };
        let root = match used.root {
            "tofu" if self.flavor.is_opentofu() => "terraform",
            root => root,
        };
        let known = match (subject, root) {
            (Err(title), _) => {
                refuse(title, place, "", reader);
                return Err(Stop::Refused);
            }
            (_, "var") => self.used_variable(node, attribute, place, reader)?,
            (_, "local") => self.used_local(node, attribute, place, reader)?,
            (_, "path") if role == Role::Version && !self.flavor.is_opentofu() => None,
            (_, "path") => Some(self.path(node, attribute, place, reader)?),
            (_, "terraform") => self.terraform(attribute, place, reader)?,
            _ => None,
        };
        match known {
            Some(value) => names.add(used.root, attribute, value),
            None if self.flavor.is_opentofu() => {
                let (title, remark) = match subject {
                    Ok(ReferenceSubject::Module) => (
                        "Module output not supported in static context",
                        "outputs are known after the plan only",
                    ),
                    _ => (
                        "Dynamic value in static context",
                        "this is known after the plan only",
                    ),
                };
                refuse(title, place, remark, reader);
                return Err(Stop::Refused);
            }
            None => match role {
                Role::Below => names.unknown(used.root),
                Role::Source | Role::Version => {
                    let (title, remark) = match role {
                        Role::Version => (
                            "Invalid module version",
                            "a version is made of variables and local values only",
                        ),
                        _ => (
                            "Invalid module source",
                            "a source is made of variables, local values and paths only",
                        ),
                    };
                    refuse(title, place, remark, reader);
                    return Err(Stop::Refused);
                }
            },
        }
        Ok(())
    }

    /// Returns the value of a variable that an expression names.
    fn used_variable(
        &mut self,
        node: usize,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome<Option<Arc<Typed>>> {
        let module = self.instances.get(&node).map(|one| Rc::clone(&one.module));
        let variables = module.iter().flat_map(|module| &module.contents.variables);
        let Some(variable) = variables.into_iter().find(|one| one.name == name) else {
            let title = match self.flavor.is_opentofu() {
                true => "Undefined variable",
                false => "Reference to undeclared input variable",
            };
            let remark = format!("this module has no variable {name:?}");
            refuse(title, place, &remark, reader);
            return Err(Stop::Refused);
        };
        let constant = variable.constant.as_ref();
        if !self.flavor.is_opentofu() && !Given::says(constant, true) {
            return Ok(Some(Arc::new(Typed::unknown(variable.value_type()))));
        }
        if self.flavor.is_opentofu() && Given::says(constant, false) {
            let title = "Unable to use variable in static context";
            refuse(title, place, "the variable is not const", reader);
            return Err(Stop::Refused);
        }
        let value = self.variable(node, variable, reader);
        self.below(value, place, reader).map(Some)
    }

    /// Returns the local value that an expression names.
    fn used_local(
        &mut self,
        node: usize,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome<Option<Arc<Typed>>> {
        let module = self.instances.get(&node).map(|one| Rc::clone(&one.module));
        let locals = module.iter().flat_map(|module| &module.contents.locals);
        let Some(local) = locals.into_iter().find(|one| one.name == name) else {
            let title = match self.flavor.is_opentofu() {
                true => "Undefined local",
                false => "Reference to undeclared local value",
            };
            let remark = format!("this module has no local value {name:?}");
            refuse(title, place, &remark, reader);
            return Err(Stop::Refused);
        };
        let value = self.local(node, local, reader);
        self.below(value, place, reader).map(Some)
    }

    /// Returns `path.NAME`.
    fn path(
        &self,
        node: usize,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let text = |text: String| Arc::new(Typed::string(text));
        let dir = |dir: &Path| match dir.as_os_str().is_empty() {
            true => text(".".to_owned()),
            false => text(dir.display().to_string()),
        };
        match (name, self.instances.get(&node)) {
            ("module", Some(instance)) => Ok(dir(&instance.dir)),
            ("root", _) => Ok(text(".".to_owned())),
            ("cwd", _) => match &self.absolute_root {
                Some(root) => Ok(dir(root)),
                None => Err(uncertain(place, "the working directory is not known")),
            },
            _ => {
                refuse(
                    "Invalid \"path\" attribute",
                    place,
                    "there is no such path",
                    reader,
                );
                Err(Stop::Refused)
            }
        }
    }

    /// Returns `terraform.NAME`; nothing where it is not known early.
    fn terraform(
        &self,
        name: &str,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome<Option<Arc<Typed>>> {
        let title = match (self.flavor.is_opentofu(), name) {
            (true, "workspace") => return Ok(Some(Arc::new(Typed::string(&*self.workspace)))),
            (true, "applying") => "Invalid attribute in static context",
            (true, _) => "Invalid \"terraform\" attribute",
            (false, _) => return Ok(None),
        };
        refuse(title, place, "only the workspace is known early", reader);
        Err(Stop::Refused)
    }
}

/// The names that an expression uses, with their values.
#[derive(Default)]
pub(super) struct Names {
    parts: BTreeMap<String, BTreeMap<String, Arc<Typed>>>,
    unknown: Vec<String>,
}

impl Names {
    fn add(&mut self, root: &str, attribute: &str, value: Arc<Typed>) {
        let parts = self.parts.entry(root.to_owned()).or_default();
        parts.insert(attribute.to_owned(), value);
    }

    fn unknown(&mut self, root: &str) {
        self.unknown.push(root.to_owned());
    }

    /// Returns the value of an expression that is nothing but a name.
    pub(super) fn alone(&self, expr: &Expr) -> Option<Arc<Typed>> {
        let ExprKind::Traversal(base, steps) = &expr.kind else {
            return None;
        };
        match (&base.kind, &**steps) {
            (ExprKind::Variable(root), [Step::Attr(attribute)]) => {
                self.parts.get(root)?.get(&attribute.text).cloned()
            }
            _ => None,
        }
    }

    pub(super) fn values(self) -> BTreeMap<String, NameValue> {
        let parts = self.parts.into_iter();
        let mut values: BTreeMap<String, NameValue> = parts
            .map(|(root, parts)| (root, NameValue::Attributes(parts)))
            .collect();
        let unknown = self.unknown.into_iter();
        values.extend(unknown.map(|root| (root, Typed::unknown(Type::Any).into())));
        values
    }
}
