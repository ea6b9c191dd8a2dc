//! Values of variables: what is given, converted as the variable says (rules 9.4 to 9.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::Module;
use crate::config::tree::root_values::RootValue;
use crate::config::tree::values::{
    Entry, Kind, Memo, Outcome, Role, Stop, Values, incomputable, refuse, stopped, uncertain,
};
use crate::diag::{Diagnostic, Severity, Span, rules};
use crate::expr::{self, Marks, Misfit, NameValue, Typed, Value};
use crate::hcl;
use crate::hcl::tree::Item;
use crate::module_config::decode::contents::Late;
use crate::module_config::decode::variables::{Given, Variable};
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;

impl Values {
    /// Reports values of the command line for variables that the root does not have, as Terraform does.
    pub(super) fn undeclared(&self, root: &Module, reader: &mut Reader<'_>) {
        if self.flavor.is_opentofu() {
            return;
        }
        let is_declared = |name: &str| {
            let mut variables = root.contents.variables.iter();
            variables.any(|variable| variable.name == name)
        };
        for name in self.arguments.iter().filter(|name| !is_declared(name)) {
            let file = reader.add_text(&shown_value(name), "");
            let place = SourcePlace {
                file,
                span: Span::default(),
            };
            let remark = format!("the root has no variable {name:?}");
            refuse("Value for undeclared variable", place, &remark, reader);
        }
    }

    /// Checks a variable that must be known early.
    pub(super) fn constant(&mut self, node: usize, variable: &Variable, reader: &mut Reader<'_>) {
        if self.is_terraform_run(node) {
            return;
        }
        let value = self.variable(node, variable, reader);
        if let Err(Stop::Uncertain(reason)) = &value {
            let mut note = Diagnostic::clone(reason);
            note.severity = Severity::Note;
            flood::push(&mut reader.found, note);
        }
        if self.flavor.is_opentofu() {
            if let Err(Stop::Refused) = value {
                let place = self.caller(node).map_or(variable.place, |call| call.header);
                incomputable(place, reader);
            }
            return;
        }
        let Ok(value) = value else { return };
        if !value.value.is_wholly_known() {
            let argument = self.argument(node, &variable.name);
            let place = argument.map_or(variable.place, |late| late.place());
            let title = "Const variables must be known";
            let remark = format!("{} is not known before the plan", variable.name);
            refuse(title, place, &remark, reader);
            return;
        }
        for condition in &variable.validations {
            let own = BTreeMap::from([(variable.name.clone(), Arc::clone(&value))]);
            let names = BTreeMap::from([("var".to_owned(), NameValue::Attributes(own))]);
            let outcome = self.with_scope(names, condition, reader);
            if outcome.is_ok_and(|outcome| is_false(&outcome.value)) {
                let title = "Invalid value for variable";
                refuse(title, variable.place, "a validation fails", reader);
            }
        }
    }

    /// Computes a variable.
    pub(super) fn variable(
        &mut self,
        node: usize,
        variable: &Variable,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        if let Some(Memo::Done(outcome)) = self.known(node, Kind::Variable, &variable.name) {
            return outcome.clone();
        }
        let outcome = self.deeper(variable.place, |values| {
            values.compute_variable(node, variable, reader)
        });
        self.kept(
            node,
            Kind::Variable,
            &variable.name,
            outcome,
            variable.place,
        )
    }

    fn compute_variable(
        &mut self,
        node: usize,
        variable: &Variable,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let entry = self.instances.get(&node).map(|instance| &instance.entry);
        let given = match entry {
            Some(Entry::Call { caller, .. }) => {
                let caller = *caller;
                match self.argument(node, &variable.name) {
                    Some(late) => {
                        let value = self.evaluate(caller, &late, Role::Below, reader)?;
                        Some((value, late.place()))
                    }
                    None => None,
                }
            }
            Some(Entry::Run(_)) => match self.argument(node, &variable.name) {
                Some(late) => {
                    let value = self.with_scope(BTreeMap::new(), &late, reader)?;
                    Some((value, late.place()))
                }
                None => None,
            },
            _ => {
                let given = self.root_value(variable, reader)?;
                given.map(|(value, place)| (Arc::new(value), place))
            }
        };
        let Some((value, place)) = given else {
            return match &variable.default {
                Some(default) => match &default.value {
                    Some(default) => Ok(Arc::new(default.clone().marked(marks_of(variable)))),
                    None => Err(uncertain(default.place, "this default")),
                },
                None => Err(self.missing(node, variable, reader)),
            };
        };
        let taken = match variable.takes_as_it_is(&value) {
            true => Ok(value),
            false => variable.take(Arc::unwrap_or_clone(value)).map(Arc::new),
        };
        let value = match taken {
            Ok(value) => value,
            Err(Misfit::Refused(reason)) => {
                refuse("Invalid value for input variable", place, &reason, reader);
                return Err(Stop::Unfit);
            }
            Err(Misfit::Uncertain(reason)) => return Err(uncertain(place, reason)),
        };
        let is_missing = value.is_null() && Given::says(variable.nullable.as_ref(), false);
        let value = match (is_missing, &variable.default) {
            (false, _) => value,
            (
                true,
                Some(Given {
                    value: Some(default),
                    ..
                }),
            ) => {
                if let Some(instance) = self.instances.get_mut(&node) {
                    instance.defaulted.insert(variable.name.clone());
                }
                Arc::new(default.clone())
            }
            (true, Some(default)) => return Err(uncertain(default.place, "this default")),
            (true, None) => {
                let remark = format!("{} must not be null", variable.name);
                refuse("Required variable not set", variable.place, &remark, reader);
                return Err(Stop::Refused);
            }
        };
        let marks = marks_of(variable);
        Ok(match marks.is_none() {
            true => value,
            false => Arc::new(Arc::unwrap_or_clone(value).marked(marks)),
        })
    }

    /// Reports a variable without any value.
    fn missing(&self, node: usize, variable: &Variable, reader: &mut Reader<'_>) -> Stop {
        let name = &variable.name;
        match (self.caller(node), self.flavor.is_opentofu()) {
            (Some(call), true) => {
                let title = "Missing required variable in module call";
                let remark = format!("{name} is missing");
                refuse(title, call.header, &remark, reader);
            }
            // The check of arguments reports it.
            (Some(_), false) => {}
            (None, _) => {
                let title = match self.flavor.is_opentofu() {
                    true => format!("Failed to request input from user for variable var.{name}"),
                    false => "No value for required variable".to_owned(),
                };
                let SourcePlace { file, span } = variable.place;
                let error = Diagnostic::error(rules::CONFIGURATION_INVALID, title)
                    .at(file, span, "modules depend on its value")
                    .help(format!(
                        "give it with --var {name}=VALUE or --var-file FILE"
                    ));
                flood::push(&mut reader.found, error);
            }
        }
        Stop::Refused
    }

    /// Returns what a call or a run gives to a variable.
    pub(super) fn argument(&self, node: usize, name: &str) -> Option<Late> {
        let arguments = match &self.instances.get(&node)?.entry {
            Entry::Root => return None,
            Entry::Run(arguments) => arguments,
            Entry::Call { .. } => &self.caller(node)?.handover.arguments,
        };
        let mut arguments = arguments.iter().filter(|one| !one.is_block);
        arguments.find(|one| one.name == name)?.value.clone()
    }

    /// Returns the value that a root variable is given, with its place.
    fn root_value(
        &mut self,
        variable: &Variable,
        reader: &mut Reader<'_>,
    ) -> Outcome<Option<(Typed, SourcePlace)>> {
        let text = match self.given.get(&variable.name) {
            None => return Ok(None),
            Some(RootValue::Written(late)) => {
                let value = expr::constant(late.file, &late.expr);
                let value = value.map_err(|error| stopped(error, reader))?;
                return Ok(Some((Typed::of(value), late.place())));
            }
            Some(RootValue::Text(text)) => text.clone(),
        };
        // A secret is shown nowhere.
        let is_secret = Given::says(variable.sensitive.as_ref(), true);
        let shown = if is_secret { "" } else { text.as_str() };
        let file = reader.add_text(&shown_value(&variable.name), shown);
        let place = SourcePlace {
            file,
            span: Span::new(0, shown.len()),
        };
        match variable.ty.as_ref().map(|ty| &ty.value) {
            Some(None) => return Err(uncertain(variable.place, "this type")),
            Some(Some(ty)) if !ty.is_primitive() => {}
            _ => return Ok(Some((Typed::string(text), place))),
        }
        let (body, found) = hcl::parse(file, format!("_ = {text}\n").as_bytes());
        let Some(Item::Attribute(only)) =
            body.items.into_iter().next().filter(|_| found.is_empty())
        else {
            let title = match text.trim_end().ends_with('=') {
                true => "Missing expression",
                false => found.first().map_or("Invalid expression", |one| &one.title),
            };
            refuse(title, place, "this is no expression", reader);
            return Err(Stop::Refused);
        };
        let value = expr::constant(file, &only.value).map_err(|mut error| {
            let found = error.refused.iter_mut().chain(&mut error.uncertain);
            for label in found.filter_map(|one| one.primary.as_mut()) {
                label.span = place.span;
            }
            stopped(error, reader)
        })?;
        Ok(Some((Typed::of(value), place)))
    }
}

/// Names a value that is in no file, as the programs do.
fn shown_value(name: &str) -> String {
    format!("<value for var.{name}>")
}

fn is_false(value: &Value) -> bool {
    match value {
        Value::Marked(_, value) => is_false(value),
        value => *value == Value::Bool(false),
    }
}

fn marks_of(variable: &Variable) -> Marks {
    Marks {
        sensitive: Given::says(variable.sensitive.as_ref(), true),
        ephemeral: Given::says(variable.ephemeral.as_ref(), true),
    }
}
