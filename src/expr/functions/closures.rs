//! Functions that decide themselves whether and how their arguments are evaluated.

use super::{BAD_ARGUMENT, failed, files};
use crate::diag::{Span, rules};
use crate::expr::convert::convert;
use crate::expr::eval::{Eval, MAX_DEPTH, NotConstant, Outcome, evaluate_at};
use crate::expr::scope::{Budget, Named, Scope, Surroundings};
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::{Marks, Value};
use crate::hcl;
use crate::hcl::references::{self, is_identifier};
use crate::hcl::tree::Call;

/// How many templates may call further ones.
const MAX_TEMPLATE_DEPTH: usize = 16;

/// Calls one of these functions; `None` if the name is not theirs.
pub(super) fn call<'e>(
    eval: &mut Eval<'e>,
    name: &str,
    call: &'e Call,
    span: Span,
) -> Option<Outcome> {
    let volatile = eval
        .scope
        .functions
        .is_some_and(|around| around.has_volatile);
    Some(match name {
        "try" => attempt(eval, call, span),
        "can" => can(eval, call, span),
        "sensitive" => one(eval, call, span).map(|value| {
            let marks = Marks {
                sensitive: true,
                ..Marks::default()
            };
            value.marked(marks)
        }),
        "nonsensitive" => one(eval, call, span).map(|value| {
            let (value, marks) = value.unmarked();
            value.marked(Marks {
                sensitive: false,
                ..marks
            })
        }),
        "issensitive" => one(eval, call, span).map(|value| {
            let (_, marks) = value.unmarked();
            Typed::bool(marks.sensitive)
        }),
        "ephemeralasnull" => one(eval, call, span).map(|value| Typed {
            ty: value.ty,
            value: without_ephemeral(value.value),
        }),
        "tostring" => to(eval, call, span, &Type::String),
        "tonumber" => to(eval, call, span, &Type::Number),
        "tobool" => to(eval, call, span, &Type::Bool),
        "tolist" => to(eval, call, span, &Type::List(Box::new(Type::Any))),
        "toset" => to(eval, call, span, &Type::Set(Box::new(Type::Any))),
        "tomap" => to(eval, call, span, &Type::Map(Box::new(Type::Any))),
        "templatefile" => template_file(eval, call, span),
        "plantimestamp" => Ok(Typed::unknown(Type::String)),
        "timestamp" | "uuid" if !volatile => Ok(Typed::unknown(Type::String)),
        "timestamp" | "uuid" => {
            let reason = format!("{name}() gives something else in each run");
            eval.uncertain(span, &reason)
        }
        _ => return None,
    })
}

/// Evaluates the only argument of a call.
fn one<'e>(eval: &mut Eval<'e>, call: &'e Call, span: Span) -> Outcome {
    match &*call.args {
        [arg] if !call.expand_final => eval.expr(arg),
        [] => eval.refuse(rules::WRONG_TYPE, "Not enough function arguments", span, ""),
        [_, second, ..] => eval.refuse(
            rules::WRONG_TYPE,
            "Too many function arguments",
            second.span,
            "",
        ),
        [_] => eval.uncertain(span, "an expanded argument"),
    }
}

/// Evaluates one argument after the other until one has a value.
fn attempt<'e>(eval: &mut Eval<'e>, call: &'e Call, span: Span) -> Outcome {
    if call.args.is_empty() {
        let note = "at least one argument is required";
        return eval.refuse(rules::WRONG_TYPE, "Error in function call", span, note);
    }
    for arg in &call.args {
        eval.guards += 1;
        let value = eval.expr(arg);
        eval.guards -= 1;
        match value {
            // What is not known may yet fail when it is.
            Ok(value) if !value.value.is_wholly_known() => {
                let (_, marks) = value.bare();
                return Ok(Typed::unknown(Type::Any).marked(marks));
            }
            Ok(value) => return Ok(value),
            Err(NotConstant { uncertain, refused }) if !uncertain.is_empty() => {
                return Err(NotConstant { refused, uncertain });
            }
            Err(_) => {}
        }
    }
    let note = "no expression succeeded";
    eval.refuse(rules::WRONG_TYPE, "Error in function call", span, note)
}

fn can<'e>(eval: &mut Eval<'e>, call: &'e Call, span: Span) -> Outcome {
    eval.guards += 1;
    let value = one(eval, call, span);
    eval.guards -= 1;
    match value {
        Ok(value) if !value.value.is_wholly_known() => Ok(Typed::unknown(Type::Bool)),
        Ok(_) => Ok(Typed::bool(true)),
        Err(problems) if !problems.uncertain.is_empty() || call.args.len() != 1 => Err(problems),
        Err(_) => Ok(Typed::bool(false)),
    }
}

/// Makes null of each part that is for this run only.
fn without_ephemeral(value: Value) -> Value {
    match value {
        Value::Marked(marks, value) => {
            let kept = Marks {
                ephemeral: false,
                ..marks
            };
            let value = match *value {
                Value::Unknown => Value::Unknown,
                _ if marks.ephemeral => Value::Null,
                value => without_ephemeral(value),
            };
            value.marked(kept)
        }
        Value::Tuple(items) => Value::Tuple(items.into_iter().map(without_ephemeral).collect()),
        Value::Object(items) => {
            let items = items.into_iter();
            let items = items.map(|(name, item)| (name, without_ephemeral(item)));
            Value::Object(items.collect())
        }
        plain => plain,
    }
}

/// Converts to a type; null stays null.
fn to<'e>(eval: &mut Eval<'e>, call: &'e Call, span: Span, ty: &Type) -> Outcome {
    let value = one(eval, call, span)?;
    let place = call.args.first().map_or(span, |arg| arg.span);
    match convert(value, ty) {
        Ok(value) => Ok(value),
        Err(super::Misfit::Refused(reason)) => {
            eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, place, &reason)
        }
        Err(super::Misfit::Uncertain(reason)) => eval.uncertain(place, reason),
    }
}

/// Reads a template from a file and fills it with values.
fn template_file<'e>(eval: &mut Eval<'e>, call: &'e Call, span: Span) -> Outcome {
    let [path, vars] = &*call.args else {
        let title = match call.args.len() {
            0 | 1 => "Not enough function arguments",
            _ => "Too many function arguments",
        };
        return eval.refuse(rules::WRONG_TYPE, title, span, "");
    };
    let (file, values) = (eval.expr(path)?, eval.expr(vars)?);
    let ((file, own), (values, others)) = (file.bare(), values.unmarked());
    let marks = own.and(others);
    if file.is_unknown() || values.is_unknown() {
        return Ok(Typed::unknown(Type::Any).marked(marks));
    }
    let (Value::String(file), Some(around)) = (&file.value, eval.scope.functions) else {
        return eval.refuse(
            rules::WRONG_TYPE,
            BAD_ARGUMENT,
            path.span,
            "a path is needed here",
        );
    };
    let template = match files::read_text(around, file, eval.work) {
        Ok(template) => template,
        Err(fault) => return failed(eval, fault, &[path.span], span),
    };
    eval.charge(span, template.len())?;
    let Value::Object(_) = values.value else {
        return eval.refuse(
            rules::WRONG_TYPE,
            BAD_ARGUMENT,
            vars.span,
            "a map is needed here",
        );
    };
    let Ok(parsed) = hcl::template(eval.file, &template) else {
        return eval.uncertain(span, "this template has a fault");
    };
    // A template may call the function again, and then itself.
    let depth = eval.depth + MAX_DEPTH / MAX_TEMPLATE_DEPTH;
    if depth >= MAX_DEPTH {
        return eval.uncertain(span, "templates call each other too deep");
    }
    let names = values.into_attributes().unwrap_or_default();
    // The program looks at all names before it computes anything.
    let mut used = references::inside(&parsed).into_iter();
    if let Some(missing) = used.find(|used| !names.contains_key(used.root)) {
        let note = format!("the template needs {:?} as well", missing.root);
        return eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, vars.span, &note);
    }
    if let Some(name) = names.keys().find(|name| !is_identifier(name)) {
        let note = format!("{name:?} cannot be the name of a variable");
        return eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, vars.span, &note);
    }
    let names = names.into_iter();
    let names = names
        .map(|(name, value)| (name, Named::from(value)))
        .collect();
    let inside = Surroundings {
        extra: None,
        ..*around
    };
    let scope = Scope {
        names,
        functions: Some(&inside),
    };
    let mut budget = Budget::of_work(eval.work);
    let result = evaluate_at(depth, eval.file, &parsed, &scope, &mut budget);
    eval.work = budget.work;
    match result {
        Ok(value) => Ok(value.marked(marks)),
        // Places inside the template mean nothing in the file of the call.
        Err(found) if found.uncertain.is_empty() => {
            let title = found.refused.first().map(|one| one.title.clone());
            let note = format!("in the template: {}", title.unwrap_or_default());
            eval.refuse(rules::WRONG_TYPE, "Error in function call", span, &note)
        }
        Err(_) => eval.uncertain(span, "the template cannot be computed"),
    }
}
