//! Notes on errors that stop Terragrunt; they change no requirement (rules 2.4).

use std::io::ErrorKind;
use std::path::Path;

use super::evaluation::Evaluation;
use super::file_config::{Arguments, FileConfig, Wanted};
use super::limits::MAX_NOTES;
use super::outcome::{FilePlace, Stop, UnitUnknown};
use super::unit::{EvaluatedUnit, UnitPart, UnknownPart};
use crate::diag::{Diagnostic, Label, Severity, rules};
use crate::expr::Value;
use crate::world::clean;

/// Adds a note for each error of a unit, and its hooks to the unknown parts.
pub(super) fn notes(
    evaluation: &mut Evaluation<'_>,
    unit: &mut EvaluatedUnit,
    notes: &mut Vec<Diagnostic>,
) {
    let mut stops: Vec<Diagnostic> = Vec::new();
    let mut files = vec![0];
    files.extend(evaluation.parents(0).unwrap_or_default());
    // Terragrunt checks the structure of the parents as well (rules 2.2).
    for at in files {
        stops.extend(evaluation.misfits(at));
    }
    stops.extend(evaluation.missing_parents());
    match evaluation.merged(0, Wanted::Everything) {
        Ok(config) => {
            hooks(&config, unit);
            refusals(&config, &mut stops);
            stops.extend(beyond_values(evaluation, &config));
        }
        Err(stop) => stops.push(stop.diagnostic().clone()),
    }
    let unknown_parts = unit
        .unknown
        .iter()
        .map(|part| &part.unknown)
        .chain(unit.source.as_ref().err());
    for unknown in unknown_parts {
        let Label { file, span, .. } = unknown.place;
        let is_reported = stops.iter().any(|stop| {
            let label = stop.primary.as_ref();
            label.is_some_and(|label| (label.file, label.span) == (file, span))
        });
        if unknown.is_refused && !is_reported {
            let error = Diagnostic::error(rules::CONFIGURATION_INVALID, unknown.reason.as_str());
            stops.push(error.at(file, span, ""));
        }
    }
    for stop in stops {
        let note = note(&stop);
        // A fault in a parent may appear in several merged arguments.
        if notes.len() < MAX_NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// Collects the errors of a configuration and of its arguments.
fn refusals(config: &FileConfig, stops: &mut Vec<Diagnostic>) {
    let mut add = |stop: &Stop| {
        if let Stop::Refused(diagnostic) = stop {
            stops.push(Diagnostic::clone(diagnostic));
        }
    };
    config.refused.iter().for_each(&mut add);
    let backend = config.remote_state.as_ref().map(|state| &state.arguments);
    let slots = config
        .terraform
        .iter()
        .chain(config.commands.values())
        .chain(config.generate.values().map(|block| &block.arguments))
        .chain(config.dependency.values())
        .chain(config.feature.values())
        .chain([&config.attributes, &config.locals])
        .chain(config.others.values())
        .flat_map(Arguments::values)
        .chain(&config.dependencies)
        .chain(backend.into_iter().flatten().flat_map(Arguments::values));
    slots
        .filter_map(|slot| slot.outcome.as_ref().err())
        .for_each(&mut add);
    if let Some(Err(stop)) = backend {
        add(stop);
    }
}

/// Collects the errors that remain if every argument has a value: inputs of another type, missing directories.
pub(super) fn beyond_values(evaluation: &Evaluation<'_>, config: &FileConfig) -> Vec<Diagnostic> {
    let mut stops = Vec::new();
    let mut add = |title: &str, place: FilePlace, note: &str| {
        let stop = Stop::invalid(title, place, note);
        stops.push(stop.diagnostic().clone());
    };
    if let Some(slot) = config.attributes.get("inputs")
        && let Ok(value) = &slot.outcome
        && !matches!(value.value, Value::Object(_) | Value::Null | Value::Unknown)
    {
        add("inputs must be an object", slot.place, "");
    }
    if let Some(slot) = config.attributes.get("download_dir")
        && let Ok(value) = &slot.outcome
        && let Some(text) = value.value.to_text()
        && !text.is_empty()
        && Path::new(&text).is_relative()
    {
        add("download_dir must be an absolute path", slot.place, "");
    }
    let unit_dir = &evaluation.instances[0].unit_dir;
    // A dependency is read before the unit runs, so that a missing one stops every command.
    let paths = config
        .dependency
        .values()
        .filter_map(|arguments| arguments.get("config_path"));
    for slot in config.dependencies.iter().chain(paths) {
        let Ok(value) = &slot.outcome else { continue };
        let texts: Vec<String> = match &value.value {
            Value::Tuple(items) => items.iter().filter_map(Value::to_text).collect(),
            value => value.to_text().into_iter().collect(),
        };
        for text in texts {
            let path = clean(&unit_dir.join(&text));
            let kind = evaluation.files.kind(&path);
            if kind.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                add("A dependency does not exist", slot.place, &text);
            }
        }
    }
    stops
}

/// Adds hooks that run before `init`.
fn hooks(config: &FileConfig, unit: &mut EvaluatedUnit) {
    for ((kind, label), arguments) in &config.commands {
        let command = match kind.as_str() {
            "before_hook" => "init",
            // This pseudo command runs after the package is copied and before `init` (rules 8.9).
            "after_hook" => "init-from-module",
            _ => continue,
        };
        let Some(slot) = arguments.get("commands") else {
            continue;
        };
        let Ok(value) = &slot.outcome else {
            continue;
        };
        let runs = match &value.value {
            Value::Tuple(items) => items.contains(&Value::string(command)),
            // An unknown list of commands may hold the command.
            Value::Unknown => true,
            _ => false,
        };
        // The hook may write files that Terraform reads (rules 8.9).
        if runs {
            let reason = format!("the hook {label:?} runs a program before init");
            let unknown = UnitUnknown::in_run(slot.place, reason);
            unit.unknown.push(UnknownPart {
                part: UnitPart::Hook(label.clone()),
                unknown,
            });
        }
    }
}

/// Makes a note of an error of Terragrunt.
pub(super) fn note(stop: &Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: Severity::Note,
        title: format!("Terragrunt stops at this unit: {}", stop.title),
        ..stop.clone()
    }
}
