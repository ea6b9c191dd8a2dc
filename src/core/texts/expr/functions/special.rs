//! Functions that decide themselves which of their arguments are evaluated, and with what failures.

use std::collections::BTreeMap;

use super::{BAD_ARGUMENT, CALL_ERROR, NOT_ENOUGH, TOO_MANY, converted, files, report};
use crate::diag::{Span, rules};
use crate::expr::eval::{Evaluator, MAX_DEPTH, evaluate_at};
use crate::expr::failure::Outcome;
use crate::expr::scope::{Budget, EvalScope, NameValue, Surroundings};
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::{Marks, Value};
use crate::hcl;
use crate::hcl::references::{self, is_identifier};
use crate::hcl::tree::{Call, Expr};

/// Maximum number of templates that call each other in a row. A template may call itself, and each level takes
/// stack.
const MAX_TEMPLATE_DEPTH: usize = 16;

/// Evaluates the only argument of a call.
fn only_argument<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    match &*call.args {
        [arg] if !call.expand_final => eval.expr(arg),
        [] => eval.refuse(rules::WRONG_TYPE, NOT_ENOUGH, span, ""),
        [_, second, ..] => eval.refuse(rules::WRONG_TYPE, TOO_MANY, second.span, ""),
        [_] => eval.uncertain(span, "an expanded argument"),
    }
}

pub(super) fn sensitive<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    let value = only_argument(eval, call, span)?;
    Ok(value.marked(Marks {
        sensitive: true,
        ephemeral: false,
    }))
}

pub(super) fn nonsensitive<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    let (value, marks) = only_argument(eval, call, span)?.unmarked();
    Ok(value.marked(Marks {
        sensitive: false,
        ..marks
    }))
}

pub(super) fn issensitive<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    let (_, marks) = only_argument(eval, call, span)?.unmarked();
    Ok(Typed::bool(marks.sensitive))
}

pub(super) fn plantimestamp<'e>(_: &mut Evaluator<'e>, _: &'e Call, _: Span) -> Outcome {
    Ok(Typed::unknown(Type::String))
}

/// Evaluates a function whose result differs from run to run: unknown before the plan with Terraform, known early
/// with OpenTofu.
pub(super) fn volatile(eval: &Evaluator<'_>, name: &str, span: Span) -> Outcome {
    if eval
        .scope
        .functions
        .is_some_and(|around| around.has_volatile)
    {
        // OpenTofu has a value here, and another one in its own run (rules 6.4).
        return eval.uncertain(span, &format!("{name}() gives something else in each run"));
    }
    Ok(Typed::unknown(Type::String))
}

/// Evaluates one argument of `try` after the other until one has a value.
pub(super) fn try_each<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    if call.args.is_empty() {
        let note = "at least one argument is required";
        return eval.refuse(rules::WRONG_TYPE, CALL_ERROR, span, note);
    }
    for arg in &call.args {
        eval.guards += 1;
        let value = eval.expr(arg);
        eval.guards -= 1;
        match value {
            // An unknown value may fail once it is known, and then the next argument counts.
            Ok(value) if !value.value.is_wholly_known() => {
                let (_, marks) = value.bare();
                return Ok(Typed::unknown(Type::Any).marked(marks));
            }
            Ok(value) => return Ok(value),
            // The program may have a value for this argument, and then the next one does not count.
            Err(problems) if !problems.uncertain.is_empty() => return Err(problems),
            Err(_) => {}
        }
    }
    eval.refuse(
        rules::WRONG_TYPE,
        CALL_ERROR,
        span,
        "no expression succeeded",
    )
}

pub(super) fn can<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    eval.guards += 1;
    let value = only_argument(eval, call, span);
    eval.guards -= 1;
    match value {
        // An unknown value may turn out to fail (rules 5.1).
        Ok(value) if !value.value.is_wholly_known() => Ok(Typed::unknown(Type::Bool)),
        Ok(_) => Ok(Typed::bool(true)),
        Err(problems) if !problems.uncertain.is_empty() || call.args.len() != 1 => Err(problems),
        Err(_) => Ok(Typed::bool(false)),
    }
}

/// Converts the only argument to a type; null stays null.
pub(super) fn to<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span, ty: &Type) -> Outcome {
    let value = only_argument(eval, call, span)?;
    let place = call.args.first().map_or(span, |arg| arg.span);
    converted(eval, value, ty, place)
}

/// Reads a template from a file and renders it with values.
pub(super) fn templatefile<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    let [path, vars] = &*call.args else {
        let title = if call.args.len() < 2 {
            NOT_ENOUGH
        } else {
            TOO_MANY
        };
        return eval.refuse(rules::WRONG_TYPE, title, span, "");
    };
    // Problems of the path are reported alone.
    let (file, values) = (eval.expr(path)?, eval.expr(vars)?);
    let ((file, file_marks), (values, value_marks)) = (file.bare(), values.unmarked());
    let marks = file_marks.and(value_marks);
    if file.is_unknown() || values.is_unknown() {
        return Ok(Typed::unknown(Type::Any).marked(marks));
    }
    let (Value::String(file), Some(around)) = (&file.value, eval.scope.functions) else {
        let note = "a path is needed here";
        return eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, path.span, note);
    };
    let template = match files::read_text(around, file, eval.work) {
        Ok(template) => template,
        Err(fault) => return report(eval, fault, &[path.span], span),
    };
    eval.charge(span, template.len())?;
    let Value::Object(_) = values.value else {
        let note = "a map is needed here";
        return eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, vars.span, note);
    };
    // The fault is in another file, which this reader of one expression has no place for.
    let Ok(parsed) = hcl::template(eval.file, &template, span) else {
        return eval.uncertain(span, "this template has a fault");
    };
    let values = values.into_attributes().unwrap_or_default();
    let rendered = render(eval, around, &parsed, values, vars.span, span)?;
    Ok(rendered.marked(marks))
}

/// Evaluates a template with values, which were given and are called at these places.
fn render(
    eval: &mut Evaluator<'_>,
    around: &Surroundings<'_>,
    template: &Expr,
    values: BTreeMap<String, Typed>,
    given_at: Span,
    called_at: Span,
) -> Outcome {
    let depth = eval.depth + MAX_DEPTH / MAX_TEMPLATE_DEPTH;
    if depth >= MAX_DEPTH {
        return eval.uncertain(called_at, "templates call each other too deep");
    }
    // The program checks all names before it computes anything.
    let used = references::inside(template);
    if let Some(missing) = used.iter().find(|used| !values.contains_key(used.root)) {
        let note = format!("the template needs {:?} as well", missing.root);
        return eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, given_at, &note);
    }
    if let Some(name) = values.keys().find(|name| !is_identifier(name)) {
        let note = format!("{name:?} cannot be the name of a variable");
        return eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, given_at, &note);
    }
    // Templates do not know the functions of the embedding program.
    let inside = Surroundings {
        extra: None,
        ..*around
    };
    let scope = EvalScope {
        names: values
            .into_iter()
            .map(|(name, value)| (name, NameValue::from(value)))
            .collect(),
        functions: Some(&inside),
    };
    let mut budget = Budget::of_work(eval.work);
    let result = evaluate_at(depth, eval.file, template, &scope, &mut budget);
    eval.work = budget.work;
    result.or_else(|problems| {
        if !problems.uncertain.is_empty() {
            return eval.uncertain(called_at, "the template cannot be computed");
        }
        // Places inside the template mean nothing in the file of the call.
        let title = problems.refused.first().map(|fault| fault.title.clone());
        let note = format!("in the template: {}", title.unwrap_or_default());
        eval.refuse(rules::WRONG_TYPE, CALL_ERROR, called_at, &note)
    })
}
