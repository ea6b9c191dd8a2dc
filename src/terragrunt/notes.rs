//! What Terragrunt stops at: reported, without changing anything (rules 2.4).

use std::io::ErrorKind;
use std::path::Path;

use super::evaluation::Evaluation;
use super::file_config::{Arguments, FileConfig, Wanted};
use super::limits::MAX_NOTES;
use super::outcome::{Known, Place, Stop, Unknown};
use super::unit::{Unit, UnitPart, UnknownPart};
use crate::diag::{Diagnostic, Label, rules};
use crate::expr::Value;
use crate::world::clean;

/// Reports what Terragrunt stops at, and changes nothing because of it.
pub(super) fn notes(evaluation: &mut Evaluation<'_>, unit: &mut Unit, found: &mut Vec<Diagnostic>) {
    let mut stops: Vec<Diagnostic> = Vec::new();
    let mut files = vec![0];
    files.extend(evaluation.parents(0).unwrap_or_default());
    for at in files {
        stops.extend(evaluation.misfits(at));
    }
    match evaluation.merged(0, Wanted::Everything) {
        Ok(config) => {
            hooks(&config, unit);
            refusals(&config, &mut stops);
            stops.extend(beyond_values(evaluation, &config));
        }
        Err(stop) => stops.push(stop.diagnostic().clone()),
    }
    let mut known: Vec<&Unknown> = unit.unknown.iter().map(|part| &part.unknown).collect();
    if let Known::Unknown(unknown) = &unit.source {
        known.push(unknown);
    }
    for unknown in known.into_iter().filter(|unknown| unknown.is_refused) {
        let diagnostic = Diagnostic::error(rules::CONFIGURATION_INVALID, unknown.reason.as_str());
        let Label { file, span, .. } = unknown.place;
        let is_reported = stops.iter().any(|stop| {
            let label = stop.primary.as_ref();
            label.is_some_and(|label| (label.file, label.span) == (file, span))
        });
        if !is_reported {
            stops.push(diagnostic.at(file, span, ""));
        }
    }
    for stop in stops {
        let stop = note(&stop);
        if found.len() < MAX_NOTES && !found.contains(&stop) {
            found.push(stop);
        }
    }
}

/// Collects everything that Terragrunt refuses in a configuration.
fn refusals(config: &FileConfig, stops: &mut Vec<Diagnostic>) {
    let mut add = |stop: &Stop| {
        if let Stop::Refused(diagnostic) = stop {
            stops.push(Diagnostic::clone(diagnostic));
        }
    };
    config.refused.iter().for_each(&mut add);
    let groups = config.terraform.iter().chain(config.commands.values());
    let groups = groups.chain(config.generate.values().map(|one| &one.arguments));
    let groups = groups.chain(config.dependency.values());
    let groups = groups.chain(config.feature.values());
    let groups = groups.chain([&config.attributes, &config.locals]);
    let groups = groups.chain(config.others.values());
    let slots = groups.flat_map(Arguments::values);
    for slot in slots.chain(&config.dependencies) {
        if let Err(stop) = &slot.outcome {
            add(stop);
        }
    }
    match config.remote_state.as_ref().map(|group| &group.arguments) {
        Some(Ok(arguments)) => {
            let failed = arguments
                .values()
                .filter_map(|slot| slot.outcome.as_ref().err());
            failed.for_each(&mut add);
        }
        Some(Err(stop)) => add(stop),
        None => {}
    }
}

/// Finds what Terragrunt refuses although every value is fine: inputs of another type, directories that are not
/// there.
pub(super) fn beyond_values(evaluation: &Evaluation<'_>, config: &FileConfig) -> Vec<Diagnostic> {
    let mut stops = Vec::new();
    let mut add = |title: &str, place: Place, note: &str| {
        let stop = super::include::refused(title, place, note);
        stops.push(stop.diagnostic().clone());
    };
    if let Some(slot) = config.attributes.get("inputs")
        && let Ok(value) = &slot.outcome
        && !matches!(value.value, Value::Object(_) | Value::Null | Value::Unknown)
    {
        add("inputs must be an object", slot.place, "");
    }
    if let Some(slot) = config.attributes.get("download_dir")
        && let Some(text) = slot
            .outcome
            .as_ref()
            .ok()
            .and_then(|value| value.value.to_text())
        && !text.is_empty()
        && Path::new(&text).is_relative()
    {
        add("download_dir must be an absolute path", slot.place, "");
    }
    let unit_dir = &evaluation.instances[0].unit_dir;
    let lists = config.dependencies.iter();
    let single = config.dependency.values();
    let slots = lists.chain(single.filter_map(|arguments| arguments.get("config_path")));
    for slot in slots {
        let Ok(value) = &slot.outcome else { continue };
        let texts: Vec<String> = match &value.value {
            Value::Tuple(items) => items.iter().filter_map(Value::to_text).collect(),
            value => value.to_text().into_iter().collect(),
        };
        for text in texts {
            let path = clean(&unit_dir.join(&text));
            if evaluation
                .files
                .kind(&path)
                .is_err_and(|error| error.kind() == ErrorKind::NotFound)
            {
                add("A dependency does not exist", slot.place, &text);
            }
        }
    }
    stops
}

/// Hooks that run before `init` may write what Terraform reads (rules 8.9).
fn hooks(config: &FileConfig, unit: &mut Unit) {
    for ((kind, label), arguments) in &config.commands {
        let command = match kind.as_str() {
            "before_hook" => "init",
            "after_hook" => "init-from-module",
            _ => continue,
        };
        let Some(slot) = arguments.get("commands") else {
            continue;
        };
        let Ok(value) = &slot.outcome else { continue };
        let runs = match &value.value {
            Value::Tuple(items) => items.contains(&Value::string(command)),
            Value::Unknown => true,
            _ => false,
        };
        if runs {
            let unknown = Unknown {
                reason: format!("the hook {label:?} runs a program before init"),
                place: Label::new(slot.place.file, slot.place.span, ""),
                is_refused: false,
            };
            unit.unknown.push(UnknownPart {
                part: UnitPart::Hook(label.clone()),
                unknown,
            });
        }
    }
}

/// Makes a note of what Terragrunt stops at.
pub(super) fn note(stop: &Diagnostic) -> Diagnostic {
    let title = format!("Terragrunt stops at this unit: {}", stop.title);
    Diagnostic {
        severity: crate::diag::Severity::Note,
        title,
        ..stop.clone()
    }
}
