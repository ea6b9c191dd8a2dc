//! The two evaluations of a unit: of the part that decides the files that Terraform sees, and of all of it for a
//! comparison with Terragrunt.

use std::path::Path;

use super::evaluation::{Evaluation, FileRole, ReadFailure, Sharing};
use super::file_config::Wanted;
use super::object;
use super::outcome::{FilePlace, Outcome, Stop};
use super::surroundings::UnitSurroundings;
use super::unit::{EvaluatedUnit, all_unknown, of_config};
use crate::diag::{Diagnostic, Severity, Span, Texts, rules};
use crate::expr::Typed;
use crate::world::Files;

/// The whole configuration of a unit.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The object; parts that only a run knows are unknown.
    pub value: Typed,
    /// The reasons for unknown parts.
    pub reasons: Vec<String>,
}

/// Evaluates the unit of a directory, which is absolute: functions answer with absolute paths.
///
/// Every file that is read is added to `texts`. Nothing fails: each unknown part has its reason. Errors in other parts,
/// at which Terragrunt would stop as well, are not looked for.
///
/// ```
/// use std::path::Path;
/// use lockctl_core::diag::Texts;
/// use lockctl_core::terragrunt::{Documents, UnitPackage, UnitSurroundings, evaluate};
/// use lockctl_core::world::mem::MemFiles;
///
/// let files = MemFiles::with(&[
///     ("/r/root.hcl", "locals {\n  v = \"1.0\"\n}\n"),
///     ("/r/app/terragrunt.hcl", "include \"root\" {\n  path   = find_in_parent_folders(\"root.hcl\")\n  \
///      expose = true\n}\nterraform {\n  source = \"../m?v=${include.root.locals.v}\"\n}\n"),
/// ]);
/// let documents = Documents::default();
/// let around = UnitSurroundings::new(&documents);
/// let mut texts = Texts::default();
/// let (unit, notes) = evaluate(&files, &mut texts, Path::new("/r/app"), &around);
/// assert!(notes.is_empty(), "{notes:?}");
/// assert_eq!(unit.source.unwrap().package, UnitPackage::Local("/r/m".into()));
/// ```
#[must_use]
pub fn evaluate(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> (EvaluatedUnit, Vec<Diagnostic>) {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = evaluation.unit_file(unit_dir);
    let mut diagnostics = Vec::new();
    let config = begin(&mut evaluation, &path, &mut diagnostics)
        .and_then(|()| evaluation.merged(0, Wanted::Unit));
    let unit = match config {
        Ok(config) => of_config(&mut evaluation, unit_dir, &path, &config),
        Err(stop) => {
            // Syntax errors are reported as they are; any other stop becomes a note.
            if diagnostics.is_empty() {
                diagnostics.push(note(stop.diagnostic()));
            }
            let unknown = stop.unknown(FilePlace::NOWHERE);
            return (all_unknown(unit_dir, &path, &unknown), diagnostics);
        }
    };
    diagnostics.extend(evaluation.missing_parents().iter().map(note));
    (unit, diagnostics)
}

/// Makes a note of an error of Terragrunt.
fn note(stop: &Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: Severity::Note,
        title: format!("Terragrunt stops at this unit: {}", stop.title),
        ..stop.clone()
    }
}

/// Reads the unit file. If it has syntax errors or cannot be read, that goes to `diagnostics`.
pub(super) fn begin(
    evaluation: &mut Evaluation<'_>,
    path: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Outcome<()> {
    let (document, file) = match evaluation.document(path, Sharing::Own) {
        Ok(read) => read,
        Err(failure) => {
            let file = evaluation
                .texts
                .add(evaluation.files.shown(path), Vec::new());
            let span = Span::default();
            let title = match &failure {
                ReadFailure::Missing => "There is no unit file",
                _ => "The unit file cannot be read",
            };
            // An error, as for a file of the configuration: nothing is known of what the unit requires, and a lock
            // file without entries would pass for one that fits.
            if let ReadFailure::Failed(reason) = &failure {
                let fault = Diagnostic::error(rules::FILE_UNREADABLE, title);
                diagnostics.push(fault.at(file, span, reason.as_str()));
            }
            return Err(failure.stop(title, path, FilePlace { file, span }));
        }
    };
    let at = evaluation.add(document, file, FileRole::Unit);
    let faults = evaluation.faults(at);
    match faults.first() {
        // Warnings do not stop Terragrunt.
        Some(first) if first.severity == Severity::Error => {
            let stop = Stop::of_fault(first.clone());
            diagnostics.extend(faults);
            Err(stop)
        }
        _ => Ok(()),
    }
}

/// Evaluates all of a unit, used or not, as `terragrunt render --json` shows it: recorded cases are compared with it.
///
/// # Errors
/// The first thing that Terragrunt refuses, or that is not computed.
#[doc(hidden)]
pub fn render(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> Result<Rendered, Box<Diagnostic>> {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = evaluation.unit_file(unit_dir);
    let diagnostic = |stop: Stop| Box::new(stop.diagnostic().clone());
    begin(&mut evaluation, &path, &mut Vec::new()).map_err(diagnostic)?;
    let (config, causes) = evaluation.traced(|this| this.merged(0, Wanted::Everything));
    if let Some(missing) = evaluation.missing_parents().into_iter().next() {
        return Err(Box::new(missing));
    }
    let object = config
        .and_then(|config| object::object(&config))
        .map_err(diagnostic)?;
    Ok(Rendered {
        value: Typed::object(object),
        reasons: causes.into_iter().map(|cause| cause.text).collect(),
    })
}
