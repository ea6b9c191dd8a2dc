//! The two ways through a unit: what decides the files that Terraform sees, and all of it.

use std::path::Path;

use super::evaluation::{Evaluation, Role, Sharing, Unread};
use super::file_config::Wanted;
use super::notes::{beyond_values, note, notes};
use super::object;
use super::outcome::{Place, Stop};
use super::surroundings::UnitSurroundings;
use super::unit::{Unit, all_unknown, decided};
use crate::diag::{Diagnostic, Span, Texts};
use crate::expr::Typed;
use crate::world::Files;

/// The whole configuration of a unit.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The object, with unknown parts where only a run knows.
    pub value: Typed,
    /// What made parts unknown.
    pub reasons: Vec<String>,
}

/// Evaluates a unit.
pub(super) fn evaluate(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> (Unit, Vec<Diagnostic>) {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = evaluation.unit_file(unit_dir);
    let mut found = Vec::new();
    let begun = begin(&mut evaluation, &path, &mut found);
    let mut unit = match begun.and_then(|()| evaluation.merged(0, Wanted::Unit)) {
        Ok(config) => decided(&mut evaluation, unit_dir, &path, &config),
        Err(stop) => {
            if found.is_empty() {
                found.push(note(stop.diagnostic()));
            }
            let fallback = Place {
                file: crate::diag::FileId::ALONE,
                span: Span::default(),
            };
            return (all_unknown(unit_dir, &path, &stop.unknown(fallback)), found);
        }
    };
    notes(&mut evaluation, &mut unit, &mut found);
    (unit, found)
}

/// Reads the unit file.
pub(super) fn begin(
    evaluation: &mut Evaluation<'_>,
    path: &Path,
    found: &mut Vec<Diagnostic>,
) -> Result<(), Stop> {
    let (document, file) = match evaluation.document(path, Sharing::Own) {
        Ok(read) => read,
        Err(unread) => {
            let file = evaluation
                .texts
                .add(evaluation.files.shown(path), Vec::new());
            let span = Span::default();
            let title = match unread {
                Unread::Missing => "There is no unit file",
                _ => "The unit file cannot be read",
            };
            return Err(unread.stop(title, path, Place { file, span }));
        }
    };
    let at = evaluation.add(document, file, Role::Unit);
    let faults = evaluation.faults(at);
    match faults.first() {
        Some(first) if first.severity == crate::diag::Severity::Error => {
            let stop = Stop::of_fault(first.clone());
            found.extend(faults);
            Err(stop)
        }
        _ => Ok(()),
    }
}

/// Evaluates all of a unit, as `terragrunt render --json` shows it.
pub(super) fn render(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> Result<Rendered, Box<Diagnostic>> {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = evaluation.unit_file(unit_dir);
    let diagnostic = |stop: Stop| Box::new(stop.diagnostic().clone());
    begin(&mut evaluation, &path, &mut Vec::new()).map_err(diagnostic)?;
    if let Some(misfit) = evaluation.misfits(0).into_iter().next() {
        return Err(Box::new(misfit));
    }
    let (config, reasons) = evaluation.traced(|this| this.merged(0, Wanted::Everything));
    if let Ok(config) = &config
        && let Some(refused) = beyond_values(&evaluation, config).into_iter().next()
    {
        return Err(Box::new(refused));
    }
    let object = config
        .and_then(|config| object::object(&config))
        .map_err(diagnostic)?;
    Ok(Rendered {
        value: Typed::object(object),
        reasons: reasons.into_iter().map(|reason| reason.text).collect(),
    })
}
