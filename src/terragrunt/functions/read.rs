//! Functions that read other files: configurations, variables, lists of names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Answer, list};
use crate::diag::Span;
use crate::expr::{self, Budget, EvalScope, ExtraCall, ExtraFault, FunctionSet, Surroundings};
use crate::expr::{Type, Typed, Value};
use crate::hcl::tree::{Call, Expr, ExprKind, Word};
use crate::terragrunt::discovery::STACK_FILE;
use crate::terragrunt::evaluation::{Evaluation, Read, Role, Sharing, Unread};
use crate::terragrunt::outcome::{Outcome, Reason, Stop};
use crate::terragrunt::{VALUES_FILE, globs, stack};
use crate::world::{FileKind, Files, clean};

/// Reads a file as a unit of its own (rules 5.8).
pub(super) fn configuration(
    evaluation: &mut Evaluation<'_>,
    at: usize,
    call: &ExtraCall<'_>,
) -> Answer {
    let (given, default) = match &call.args[..] {
        [given] => (given, None),
        [given, default] => (given, Some(default)),
        _ => {
            let reason = "read_terragrunt_config takes one or two arguments".to_owned();
            return Err(ExtraFault::Call(reason));
        }
    };
    let given = match &given.value {
        Value::Unknown => return Ok(Typed::unknown(Type::Any)),
        value => value
            .to_text()
            .ok_or_else(|| ExtraFault::Argument(0, "a path is required".to_owned()))?,
    };
    let path = clean(&evaluation.instances[at].unit_dir.join(&given));
    let path = match evaluation.files.kind(&path) {
        Ok(FileKind::Directory) => evaluation.unit_file(&path),
        _ => path,
    };
    match evaluation.reads.get(&path) {
        Some(Read::Done(outcome, reasons)) => {
            let (outcome, reasons) = (outcome.clone(), reasons.clone());
            evaluation.because_of(&reasons);
            return answer(outcome, &reasons, call);
        }
        Some(Read::Begun) => {
            let reason = format!("{} reads itself", path.display());
            return Err(ExtraFault::Uncertain(reason));
        }
        None => {}
    }
    let found = match evaluation.document(&path, Sharing::Shared) {
        Ok(found) => found,
        Err(Unread::Missing) => {
            return match default {
                Some(default) => Ok(default.clone()),
                None => Err(ExtraFault::Call(format!(
                    "{} does not exist",
                    path.display()
                ))),
            };
        }
        Err(Unread::Failed(reason)) => {
            return Err(ExtraFault::Call(format!("{}: {reason}", path.display())));
        }
        Err(Unread::TooMuch | Unread::Outside) => {
            let reason = format!("{} is not read", path.display());
            return Err(ExtraFault::Uncertain(reason));
        }
    };
    evaluation.reads.insert(path.clone(), Read::Begun);
    let (outcome, reasons) = evaluation.traced(|evaluation| {
        let (document, file) = found;
        let inner = evaluation.add(document, file, Role::Unit);
        let place = evaluation.place(inner, Span::default());
        let read = evaluation.deeper(call.depth, |evaluation| whole(evaluation, inner, &path));
        let outcome =
            read.unwrap_or_else(|| Err(Stop::uncertain(place, "files read each other too deep")));
        outcome.map(Arc::new)
    });
    let answer = answer(outcome.clone(), &reasons, call);
    evaluation.reads.insert(path, Read::Done(outcome, reasons));
    answer
}

fn answer(outcome: Outcome, reasons: &[Reason], call: &ExtraCall<'_>) -> Answer {
    match outcome {
        // What is not known may be what Terragrunt fails at, and then the failure is caught.
        Ok(_) if call.is_guarded && !reasons.is_empty() => Ok(Typed::unknown(Type::Any)),
        Ok(value) => Ok(Typed::clone(&value)),
        Err(stop) => {
            let diagnostic = stop.diagnostic();
            let note = diagnostic.primary.as_ref().map(|label| label.note.as_str());
            let reason = match note {
                Some(note) if !note.is_empty() => format!("{}: {note}", diagnostic.title),
                _ => diagnostic.title.clone(),
            };
            Err(match stop {
                Stop::Refused(_) => ExtraFault::Call(reason),
                Stop::Uncertain(_) => ExtraFault::Uncertain(reason),
            })
        }
    }
}

/// Evaluates all of a file.
fn whole(evaluation: &mut Evaluation<'_>, at: usize, path: &Path) -> Outcome<Typed> {
    let name = path.file_name().unwrap_or_default();
    if let Some(fault) = evaluation.faults(at).into_iter().next() {
        return Err(Stop::of_fault(fault));
    }
    if name == VALUES_FILE {
        return evaluation.values_of(at);
    }
    if name == STACK_FILE {
        return stack::read(evaluation, at);
    }
    if let Some(misfit) = evaluation.misfits(at).into_iter().next() {
        return Err(Stop::Refused(Arc::new(misfit)));
    }
    evaluation.part_of_configuration(at, None)
}

/// Reads a file of variables as a JSON text (rules 5.9).
pub(super) fn variables(evaluation: &mut Evaluation<'_>, at: usize, args: &[&str]) -> Answer {
    let [given] = args else {
        let reason = "read_tfvars_file takes one argument".to_owned();
        return Err(ExtraFault::Call(reason));
    };
    let path = clean(&evaluation.instances[at].unit_dir.join(given));
    let (document, file) = match evaluation.document(&path, Sharing::Own) {
        Ok(found) => found,
        Err(Unread::Missing) => {
            let reason = format!("{} does not exist", path.display());
            return Err(ExtraFault::Call(reason));
        }
        Err(_) => {
            let reason = format!("{} is not read", path.display());
            return Err(ExtraFault::Uncertain(reason));
        }
    };
    if !document.faults.is_empty() {
        return Err(ExtraFault::Call(format!("{} has a fault", path.display())));
    }
    let mut items = BTreeMap::new();
    for attribute in document.body.attributes() {
        let value = expr::constant(file, &attribute.value);
        let value = value.map_err(|_| {
            ExtraFault::Call(format!(
                "{} has a value that is no constant",
                path.display()
            ))
        })?;
        items.insert(attribute.name.text.clone(), Typed::of(value));
    }
    language_call(evaluation.files, "jsonencode", vec![Typed::object(items)])
}

/// Calls a function of the language, in its present form.
pub(super) fn language_call(files: &dyn Files, name: &str, args: Vec<Typed>) -> Answer {
    let surroundings = Surroundings {
        files,
        dir: Path::new(""),
        absolute_dir: None,
        has_volatile: false,
        functions: FunctionSet::Current,
        extra: None,
    };
    let word = |text: String| Word {
        text,
        span: Span::default(),
    };
    let expr = |kind| Expr {
        kind,
        span: Span::default(),
    };
    let names: Vec<String> = (0..args.len()).map(|at| format!("a{at}")).collect();
    let variables = names.iter().cloned();
    let call = expr(ExprKind::Call(Box::new(Call {
        name: word(name.to_owned()),
        args: variables
            .map(|name| expr(ExprKind::Variable(name)))
            .collect(),
        expand_final: false,
    })));
    let scope = EvalScope {
        names: names
            .into_iter()
            .zip(args.into_iter().map(Into::into))
            .collect(),
        functions: Some(&surroundings),
    };
    let file = crate::diag::FileId::ALONE;
    let found = expr::evaluate(file, &call, &scope, &mut Budget::default());
    found.map_err(|problems| {
        let first = problems.refused.first();
        match first {
            Some(refused) => {
                let note = refused.primary.as_ref().map(|label| label.note.clone());
                ExtraFault::Call(note.unwrap_or_default())
            }
            None => ExtraFault::Uncertain(format!("{name} could not be computed")),
        }
    })
}

/// Lists the files that a pattern means (rules 5.14).
pub(super) fn glob(evaluation: &mut Evaluation<'_>, at: usize, args: &[&str]) -> Answer {
    let [pattern] = args else {
        let reason = "mark_glob_as_read takes one argument".to_owned();
        return Err(ExtraFault::Call(reason));
    };
    let dir = evaluation.instances[at].unit_dir.clone();
    let found =
        globs::Glob::parse(pattern).and_then(|glob| globs::files(evaluation.files, &dir, &glob));
    let Some(found) = found else {
        let reason = "this pattern is not followed".to_owned();
        return Err(ExtraFault::Uncertain(reason));
    };
    let paths: Vec<PathBuf> = found.into_iter().map(|file| dir.join(file)).collect();
    let texts: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Ok(list(texts.iter().map(String::as_str)))
}
