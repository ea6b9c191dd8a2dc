//! Functions that read other files: configurations, variables, lists of names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{Answer, refused, uncertain};
use crate::diag::{FileId, Span};
use crate::expr::{
    self, Budget, Demand, EvalScope, ExtraCall, ExtraFault, FunctionSet, Surroundings, Type, Typed,
    Value,
};
use crate::hcl::tree::{Call, Expr, ExprKind, Word};
use crate::terragrunt::evaluation::{Evaluation, FileRole, ReadFailure, Sharing};
use crate::terragrunt::file_names::{STACK_FILE, VALUES_FILE};
use crate::terragrunt::outcome::{FilePlace, Outcome, Stop, Traced};
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
            return refused("read_terragrunt_config takes one or two arguments");
        }
    };
    let given = match &given.value {
        Value::Unknown => return Ok(Typed::unknown(Type::Any)),
        value => value
            .to_text()
            .ok_or_else(|| ExtraFault::Argument(0, "a path is required".to_owned()))?,
    };
    let path = clean(&evaluation.instances[at].unit_dir.join(&given));
    // A directory means its unit file (rules 5.8).
    let path = match evaluation.files.kind(&path) {
        Ok(FileKind::Directory) => evaluation.unit_file(&path),
        _ => path,
    };
    match evaluation.reads.begin(path.clone()) {
        Demand::Computed(traced) => {
            evaluation.record_all(&traced.1);
            return answer(&traced, call);
        }
        // A file that reads itself has no result (rules 5.13).
        Demand::Cycle => {
            return uncertain(format!("{} reads itself", path.display()));
        }
        Demand::Begun => {}
    }
    let (document, file) = match evaluation.document(&path, Sharing::Shared) {
        Ok(document) => document,
        Err(failure) => {
            // Not kept: another call may have a default.
            evaluation.reads.forget(&path);
            return match (&failure, default) {
                (ReadFailure::Missing, Some(default)) => Ok(default.clone()),
                _ => Err(unread(&failure, &path)),
            };
        }
    };
    let traced = evaluation.traced(|evaluation| {
        let inner = evaluation.add(document, file, FileRole::Unit);
        let place = evaluation.place(inner, Span::default());
        let value = evaluation
            .deeper(call.depth, |evaluation| whole(evaluation, inner, &path))
            .unwrap_or_else(|| Err(Stop::uncertain(place, "files read each other too deep")));
        value.map(Arc::new)
    });
    let answer = answer(&traced, call);
    evaluation.reads.finish(path, traced);
    answer
}

fn unread(failure: &ReadFailure, path: &Path) -> ExtraFault {
    let path = path.display();
    match failure {
        ReadFailure::Missing => ExtraFault::Call(format!("{path} does not exist")),
        ReadFailure::Failed(reason) => ExtraFault::Call(format!("{path}: {reason}")),
        ReadFailure::TooMuch | ReadFailure::Outside => {
            ExtraFault::Uncertain(format!("{path} is not read"))
        }
    }
}

fn answer((outcome, causes): &Traced, call: &ExtraCall<'_>) -> Answer {
    let stop = match outcome {
        // What is not known may be what Terragrunt fails at, and then the failure is caught.
        Ok(_) if call.is_guarded && !causes.is_empty() => return Ok(Typed::unknown(Type::Any)),
        Ok(value) => return Ok(Typed::clone(value)),
        Err(stop) => stop,
    };
    let reason = stop.unknown(FilePlace::NOWHERE).reason;
    Err(match stop {
        Stop::Refused(_) => ExtraFault::Call(reason),
        Stop::Uncertain(_) => ExtraFault::Uncertain(reason),
    })
}

/// Evaluates a whole file by its kind.
fn whole(evaluation: &mut Evaluation<'_>, at: usize, path: &Path) -> Outcome<Typed> {
    let name = path.file_name().unwrap_or_default();
    evaluation.check_syntax(at)?;
    // A file of values has no blocks (rules 5.8).
    if name == VALUES_FILE {
        return evaluation.values_of(at);
    }
    if name == STACK_FILE {
        let place = evaluation.place(at, Span::default());
        return Err(Stop::uncertain(place, "a stack file is not read"));
    }
    evaluation.section_of_configuration(at, None)
}

/// Reads a file of variables as a JSON text (rules 5.9).
pub(super) fn variables(evaluation: &mut Evaluation<'_>, at: usize, args: &[&str]) -> Answer {
    let [given] = args else {
        return refused("read_tfvars_file takes one argument");
    };
    let path = clean(&evaluation.instances[at].unit_dir.join(given));
    let (document, file) = match evaluation.document(&path, Sharing::Own) {
        Ok(document) => document,
        Err(failure) => return Err(unread(&failure, &path)),
    };
    if !document.faults.is_empty() {
        return refused(format!("{} has a fault", path.display()));
    }
    let mut items = BTreeMap::new();
    for attribute in document.body.attributes() {
        // Files of variables hold constants only.
        let value = expr::constant(file, &attribute.value).map_err(|_| {
            let reason = format!("{} has a value that is no constant", path.display());
            ExtraFault::Call(reason)
        })?;
        items.insert(attribute.name.text.clone(), Typed::of(value));
    }
    language_call(evaluation.files, "jsonencode", vec![Typed::object(items)])
}

/// Calls a function of the language in its current version, for functions that Terragrunt has implemented alike.
pub(super) fn language_call(files: &dyn Files, name: &str, args: Vec<Typed>) -> Answer {
    let surroundings = Surroundings {
        files,
        dir: Path::new(""),
        absolute_dir: None,
        // Time and random values differ between two runs, so that no prediction may depend on them.
        has_volatile: false,
        functions: FunctionSet::Current,
        extra: None,
    };
    let expr = |kind| Expr {
        kind,
        span: Span::default(),
    };
    // The arguments are variables of the call, as they have no text.
    let mut names = BTreeMap::new();
    let mut variables = Vec::new();
    for (at, arg) in args.into_iter().enumerate() {
        let variable = format!("a{at}");
        variables.push(expr(ExprKind::Variable(variable.clone())));
        names.insert(variable, arg.into());
    }
    let call = expr(ExprKind::Call(Box::new(Call {
        name: Word {
            text: name.to_owned(),
            span: Span::default(),
        },
        args: variables,
        expand_final: false,
    })));
    let scope = EvalScope {
        names,
        functions: Some(&surroundings),
    };
    let result = expr::evaluate(FileId::ALONE, &call, &scope, &mut Budget::default());
    result.map_err(|problems| match problems.refused.into_iter().next() {
        Some(refused) => {
            ExtraFault::Call(refused.primary.map_or_else(String::new, |label| label.note))
        }
        None => ExtraFault::Uncertain(format!("{name} could not be computed")),
    })
}
