//! Values of variables: what is given, converted as the variable says (rules 9.4 to 9.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::Module;
use crate::config::tree::root_values::RootValue;
use crate::config::tree::values::missing::UnsetVariable;
use crate::config::tree::values::{
    Entry, ExprRole, NO_VALUE, Outcome, REFUSED, RefusedValue, Stop, ValueKey, Values, refuse,
    stopped, uncertain,
};
use crate::diag::{Diagnostic, Severity, Span, rules};
use crate::expr::{self, Demand, Marks, Misfit, Typed};
use crate::hcl;
use crate::module_config::decode::late::Late;
use crate::module_config::decode::variables::{Given, Variable};
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;

impl Values {
    /// Reports values of the command line for variables that the root does not have, as Terraform does.
    pub(super) fn undeclared(&self, root: &Module, reader: &mut Reader<'_>) {
        // OpenTofu ignores values of undeclared variables (rules 9.10).
        if self.flavor.is_opentofu() {
            return;
        }
        for (name, _) in &self.arguments {
            let variables = &root.contents.variables;
            if variables.iter().any(|variable| variable.name == *name) {
                continue;
            }
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
        if !self.flavor.is_opentofu() && self.is_in_run(node) {
            return;
        }
        let value = self.variable(node, variable, reader);
        // No source may need the variable: then an uncertain value is no error.
        if let Err(Stop::Uncertain(reason)) = &value
            && ![rules::VARIABLE_NOT_SET, rules::VALUES_UNREADABLE].contains(&reason.code)
        {
            let mut note = Diagnostic::clone(reason);
            note.severity = Severity::Note;
            flood::push(&mut reader.found, note);
        }
        if self.flavor.is_opentofu() {
            let place = self.caller(node).map_or(variable.place, |call| call.header);
            self.report_use(&value, place, reader);
            return;
        }
        let Ok(value) = value else { return };
        if !value.value.is_wholly_known() {
            let argument = self.argument(node, &variable.name);
            let place = argument.map_or(variable.place, |late| late.place());
            let title = "Const variables must be known";
            let remark = format!("{} is not known before the plan", variable.name);
            refuse(title, place, &remark, reader);
        }
    }

    pub(super) fn variable(
        &mut self,
        node: usize,
        variable: &Variable,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let key = ValueKey::Variable(variable.name.clone());
        // No cycle is possible: a variable needs values of the caller only.
        if let Demand::Computed(outcome) = self.begin(node, &key) {
            return outcome;
        }
        let outcome = self.deeper(variable.place, |values| {
            match values.given_value(node, variable, reader)? {
                Some((value, place)) => values.accept(node, variable, value, place, reader),
                None => match &variable.default {
                    Some(Given {
                        value: Some(default),
                        ..
                    }) => Ok(Arc::new(default.clone().marked(marks_of(variable)))),
                    Some(default) => Err(uncertain(default.place, "this default")),
                    None => Err(values.missing(node, variable, reader)),
                },
            }
        });
        self.finish(node, key, outcome, variable.place)
    }

    /// Returns the value that a call, a run or the user gives to a variable, with its place.
    fn given_value(
        &mut self,
        node: usize,
        variable: &Variable,
        reader: &mut Reader<'_>,
    ) -> Outcome<Option<(Arc<Typed>, SourcePlace)>> {
        let caller = match self.modules.get(&node).map(|module| &module.entry) {
            Some(Entry::Call { caller, .. }) => Some(*caller),
            Some(Entry::Run(_)) => None,
            Some(Entry::Root) | None => {
                let given = self.root_value(variable, reader)?;
                return Ok(given.map(|(value, place)| (Arc::new(value), place)));
            }
        };
        let Some(late) = self.argument(node, &variable.name) else {
            return Ok(None);
        };
        let value = match caller {
            Some(caller) => self.evaluate(caller, &late, ExprRole::Value, reader)?,
            // The arguments of a run are constants.
            None => self.with_names(BTreeMap::new(), &late, reader)?,
        };
        Ok(Some((value, late.place())))
    }

    /// Converts a value to the type of its variable; null becomes the default, if the variable is not nullable.
    fn accept(
        &mut self,
        node: usize,
        variable: &Variable,
        value: Arc<Typed>,
        place: SourcePlace,
        reader: &mut Reader<'_>,
    ) -> Outcome {
        let converted = if variable.takes_as_it_is(&value) {
            Ok(value)
        } else {
            variable.take(Arc::unwrap_or_clone(value)).map(Arc::new)
        };
        let mut value = match converted {
            Ok(value) => value,
            Err(Misfit::Refused(reason)) => {
                refuse("Invalid value for input variable", place, &reason, reader);
                return Err(Stop::Refused(RefusedValue::Unfit));
            }
            Err(Misfit::Uncertain(reason)) => return Err(uncertain(place, reason)),
        };
        // Only `nullable = false` makes the default of null (rules 9.6).
        if value.is_null() && Given::says(variable.nullable.as_ref(), false) {
            let Some(default) = &variable.default else {
                let remark = format!("{} must not be null", variable.name);
                refuse("Required variable not set", variable.place, &remark, reader);
                return Err(REFUSED);
            };
            let Some(default_value) = &default.value else {
                return Err(uncertain(default.place, "this default"));
            };
            value = Arc::new(default_value.clone());
            if let Some(module) = self.modules.get_mut(&node) {
                module.defaulted.insert(variable.name.clone());
            }
        }
        let marks = marks_of(variable);
        if marks.is_none() {
            // Unmarked, it stays shared with the caller, and costs nothing.
            return Ok(value);
        }
        Ok(Arc::new(Arc::unwrap_or_clone(value).marked(marks)))
    }

    /// Reports a variable without any value.
    fn missing(&mut self, node: usize, variable: &Variable, reader: &mut Reader<'_>) -> Stop {
        let name = &variable.name;
        if let Some(call) = self.caller(node) {
            let title = if self.flavor.is_opentofu() {
                "Missing required variable in module call"
            } else {
                "Missing required argument"
            };
            refuse(title, call.header, &format!("{name} is missing"), reader);
            return REFUSED;
        }
        let title = if self.flavor.is_opentofu() {
            format!("Failed to request input from user for variable var.{name}")
        } else {
            "No value for required variable".to_owned()
        };
        let SourcePlace { file, span } = variable.place;
        let error = Diagnostic::error(rules::CONFIGURATION_INVALID, title);
        let error = error.at(file, span, "it has no value");
        let is_of_root = self
            .modules
            .get(&node)
            .is_none_or(|module| matches!(module.entry, Entry::Root));
        if !is_of_root {
            flood::push(&mut reader.found, error);
            return REFUSED;
        }
        // A variable of the root stops `init`, but not the lock: `providers lock` computes neither backend nor
        // encryption, and no provider depends on any other value (rules 9.12).
        self.predict(error, reader);
        let remark = format!(
            "`{} init` needs it, no provider does",
            self.flavor.command()
        );
        let note = Diagnostic::note(rules::VARIABLE_NOT_SET, NO_VALUE)
            .at(file, span, remark)
            .help(format!(
                "give it with --var {name}=VALUE or --var-file FILE"
            ));
        let reason = note
            .clone()
            .at(file, span, format!("var.{name} has no value"));
        let unset = UnsetVariable {
            name: name.clone(),
            note,
            decides_module: false,
        };
        self.unset.insert(variable.place, unset);
        Stop::Uncertain(Arc::new(reason))
    }

    /// Returns the argument of a call or a run for a variable.
    pub(super) fn argument(&self, node: usize, name: &str) -> Option<Late> {
        let arguments = match &self.modules.get(&node)?.entry {
            Entry::Root => return None,
            Entry::Run(arguments) => arguments,
            Entry::Call { .. } => &self.caller(node)?.arguments,
        };
        let argument = arguments.iter().find(|argument| argument.name == name)?;
        argument.value.clone()
    }

    /// Returns the value that the user gives to a variable of the root, with its place.
    fn root_value(
        &mut self,
        variable: &Variable,
        reader: &mut Reader<'_>,
    ) -> Outcome<Option<(Typed, SourcePlace)>> {
        let text = match self.given.get(&variable.name) {
            None => {
                let Some(unread) = self.given.unread.last() else {
                    return Ok(None);
                };
                let reason = unread.note().at(
                    unread.file,
                    Span::default(),
                    format!("var.{} may have its value here", variable.name),
                );
                return Err(Stop::Uncertain(Arc::new(reason)));
            }
            Some(RootValue::Hidden) => {
                return Err(uncertain(
                    variable.place,
                    "values of the environment are not used here",
                ));
            }
            Some(RootValue::Written(late)) => {
                let value = expr::constant(late.file, &late.expr)
                    .map_err(|problems| stopped(problems, reader))?;
                return Ok(Some((Typed::of(value), late.place())));
            }
            Some(RootValue::Text(text)) => text.clone(),
        };
        // The text of a secret must not appear in a snippet.
        let is_secret = Given::says(variable.sensitive.as_ref(), true);
        let shown = if is_secret { "" } else { text.as_str() };
        let file = reader.add_text(&shown_value(&variable.name), shown);
        let place = SourcePlace {
            file,
            span: Span::new(0, shown.len()),
        };
        match variable.ty.as_ref().map(|ty| &ty.value) {
            Some(None) => return Err(uncertain(variable.place, "this type")),
            // Texts of the command line are expressions for structures only (rules 9.4).
            Some(Some(ty)) if !ty.is_primitive() => {}
            _ => return Ok(Some((Typed::string(text), place))),
        }
        let value = match hcl::expression(file, &text, place.span) {
            Ok(value) => value,
            Err(fault) => {
                refuse(&fault.title, place, "this is no expression", reader);
                return Err(REFUSED);
            }
        };
        let value = expr::constant(file, &value).map_err(|problems| stopped(problems, reader))?;
        Ok(Some((Typed::of(value), place)))
    }
}

/// Returns the name of a file for a value that is in no file, as the programs show it.
fn shown_value(name: &str) -> String {
    format!("<value for var.{name}>")
}

fn marks_of(variable: &Variable) -> Marks {
    Marks {
        sensitive: Given::says(variable.sensitive.as_ref(), true),
        ephemeral: Given::says(variable.ephemeral.as_ref(), true),
    }
}
