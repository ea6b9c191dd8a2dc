//! Functions of the language: one table of signatures, and the call of one function (rules 6).
//!
//! Common to all of them, as in the programs: arguments are converted to the types of the parameters, a null
//! is refused where the parameter takes none, marks go from the arguments to the result, and nothing is
//! computed from unknown arguments. A function that lockctl does not compute is no error of the program: its
//! result is uncertain.

mod arguments;
mod collections;
mod dialect;
mod encoding;
mod files;
mod format;
mod hashes;
mod numbers;
mod patterns;
mod products;
mod sequences;
mod special;
mod strings;
mod table;
#[cfg(test)]
mod tests;
mod yaml;

use std::cell::Cell;

use super::convert::convert;
use super::eval::Evaluator;
use super::failure::{Misfit, NotConstant, Outcome};
use super::scope::{ExtraCall, ExtraFault, ExtraFunctions, FunctionSet};
use super::typed::Typed;
use super::types::Type;
use super::value::{Marks, Value};
use crate::diag::{Span, rules};
use crate::hcl::tree::Call;
use arguments::{CallArguments, CallFault, CallResult};
use table::FUNCTIONS;

const BAD_ARGUMENT: &str = "Invalid function argument";
const CALL_ERROR: &str = "Error in function call";
const NOT_ENOUGH: &str = "Not enough function arguments";
const TOO_MANY: &str = "Too many function arguments";

/// A function of the language.
struct Function {
    name: &'static str,
    parameters: &'static [SignatureType],
    /// The type of further arguments, if there may be any.
    variadic: Option<SignatureType>,
    /// The type of the result where the arguments are not known.
    result: SignatureType,
    needs: NeededKnowledge,
    dialect: FunctionDialect,
    body: FunctionBody,
}

/// The implementation of a function.
enum FunctionBody {
    /// Computes the result from evaluated and converted arguments.
    Plain(fn(&CallArguments<'_>) -> CallResult),
    /// Decides itself which arguments are evaluated.
    Special(for<'e> fn(&mut Evaluator<'e>, &'e Call, Span) -> Outcome),
    /// The programs have the function; lockctl does not compute it.
    NotComputed,
    /// The program has the function only to report that it was removed.
    Removed,
}

/// A type in the signature of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignatureType {
    /// Any value; as a parameter anything but null.
    Any,
    /// Any value, null included.
    Nullable,
    Bool,
    Number,
    Text,
    /// A list of bools.
    Bools,
    /// A list of strings.
    Texts,
    /// A list of the type that its items have in common.
    List,
    /// A set of the type that its items have in common.
    Set,
}

impl SignatureType {
    fn ty(self) -> Type {
        match self {
            Self::Any | Self::Nullable => Type::Any,
            Self::Bool => Type::Bool,
            Self::Number => Type::Number,
            Self::Text => Type::String,
            Self::Bools => Type::List(Box::new(Type::Bool)),
            Self::Texts => Type::List(Box::new(Type::String)),
            Self::List => Type::List(Box::new(Type::Any)),
            Self::Set => Type::Set(Box::new(Type::Any)),
        }
    }
}

/// The part of the arguments that must be known before a function is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NeededKnowledge {
    /// Nothing: the function looks at what it needs.
    Nothing,
    /// The arguments themselves, but not all of their parts.
    Arguments,
    /// The arguments with all of their parts.
    AllParts,
}

/// The programs that have a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FunctionDialect {
    All,
    /// All but Terraform 0.15.3, which Terragrunt has built in.
    AfterTerraform0_15,
    OnlyOpenTofu,
    OnlyTerraform,
    OnlyTerraform0_15,
}

/// Calls the function that an expression names.
pub(super) fn call<'e>(eval: &mut Evaluator<'e>, call: &'e Call, span: Span) -> Outcome {
    let name = call.name.text.as_str();
    let Some(around) = eval.scope.functions else {
        let title = "Function calls not allowed";
        return eval.refuse(rules::NOT_CONSTANT, title, call.name.span, "");
    };
    // Functions of the embedding program hide those of the language.
    if let Some(extra) = around.extra.filter(|extra| extra.knows(name)) {
        return call_extra(eval, extra, call, span);
    }
    let is_current = around.functions == FunctionSet::Current;
    let name = match name.strip_prefix("core::") {
        // `core::NAME` is the same as `NAME` (rules 6.2).
        Some(name) if is_current => name,
        _ => name,
    };
    if name.contains("::") && is_current {
        // Only a running provider knows the results of its functions.
        return Ok(Typed::unknown(Type::Any));
    }
    let is_old = around.functions == FunctionSet::Terraform0_15;
    let function = FUNCTIONS
        .binary_search_by(|function| function.name.cmp(name))
        .ok()
        .map(|at| &FUNCTIONS[at])
        .filter(|function| match function.dialect {
            FunctionDialect::All => true,
            FunctionDialect::AfterTerraform0_15 => !is_old,
            // Values that differ from run to run are known early with OpenTofu only.
            FunctionDialect::OnlyOpenTofu => !is_old && around.has_volatile,
            FunctionDialect::OnlyTerraform => !is_old && !around.has_volatile,
            FunctionDialect::OnlyTerraform0_15 => is_old,
        });
    let Some(function) = function else {
        let title = "Call to unknown function";
        let note = format!("there is no function {name:?}");
        return eval.refuse(rules::NOT_CONSTANT, title, call.name.span, &note);
    };
    match function.body {
        FunctionBody::Plain(body) => call_plain(eval, function, body, call, span),
        FunctionBody::Special(body) => body(eval, call, span),
        FunctionBody::NotComputed => {
            let reason = format!("lockctl does not compute the function {name}");
            eval.uncertain(call.name.span, &reason)
        }
        FunctionBody::Removed => {
            let note = format!("the function {name} was removed");
            eval.refuse(rules::WRONG_TYPE, CALL_ERROR, span, &note)
        }
    }
}

fn call_plain<'e>(
    eval: &mut Evaluator<'e>,
    function: &Function,
    body: fn(&CallArguments<'_>) -> CallResult,
    call: &'e Call,
    span: Span,
) -> Outcome {
    // The programs count the arguments before they evaluate one, unless the last one is expanded.
    if !call.expand_final {
        let spans: Vec<Span> = call.args.iter().map(|arg| arg.span).collect();
        check_count(eval, function, &spans, span)?;
    }
    let (args, spans) = match evaluated_arguments(eval, call)? {
        EvaluatedArguments::Known(args, spans) => (args, spans),
        EvaluatedArguments::UnknownCount(marks) => {
            return Ok(Typed::unknown(function.result.ty()).marked(marks));
        }
    };
    if call.expand_final {
        check_count(eval, function, &spans, span)?;
    }
    let (values, marks) = converted_arguments(eval, function, args, &spans)?;
    let is_known = |value: &Typed| match function.needs {
        NeededKnowledge::Nothing => true,
        NeededKnowledge::Arguments => !value.is_unknown(),
        NeededKnowledge::AllParts => value.value.is_wholly_known(),
    };
    let unknown = Typed::unknown(function.result.ty());
    let Some(around) = eval.scope.functions else {
        return Ok(unknown.marked(marks));
    };
    if !values.iter().all(is_known) {
        return Ok(unknown.marked(marks));
    }
    let arguments = CallArguments {
        values: &values,
        around,
        work: eval.work,
        compared: Cell::new(0),
    };
    let result = body(&arguments);
    // A result of no size may have cost a great many comparisons, again and again in a `for`.
    eval.charge(span, arguments.compared.get().min(eval.work))?;
    match result {
        Ok(result) => {
            eval.charge(span, result.weight())?;
            Ok(result.marked(marks))
        }
        Err(fault) => report(eval, fault, &spans, span),
    }
}

/// Converts all arguments to the types of their parameters, and takes the marks off.
fn converted_arguments(
    eval: &Evaluator<'_>,
    function: &Function,
    args: Vec<Typed>,
    spans: &[Span],
) -> Outcome<(Vec<Typed>, Marks)> {
    let mut marks = Marks::default();
    let mut problems = NotConstant::default();
    let mut values = Vec::new();
    for (at, (arg, place)) in args.into_iter().zip(spans).enumerate() {
        // Parts keep their marks where they go into the result as they are.
        let (arg, arg_marks) = match function.needs {
            NeededKnowledge::AllParts => arg.bare(),
            NeededKnowledge::Nothing | NeededKnowledge::Arguments => arg.unmarked(),
        };
        marks = marks.and(arg_marks);
        let parameter = function.parameters.get(at).copied().or(function.variadic);
        let parameter = parameter.unwrap_or(SignatureType::Any);
        let value = if arg.value == Value::Null && parameter != SignatureType::Nullable {
            let note = "this must not be null";
            eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, *place, note)
        } else {
            converted(eval, arg, &parameter.ty(), *place)
        };
        match value {
            Ok(value) => values.push(value),
            Err(found) => problems.add(found),
        }
    }
    problems.or_value((values, marks))
}

/// Calls a function that another program adds to the language.
fn call_extra<'e>(
    eval: &mut Evaluator<'e>,
    extra: &dyn ExtraFunctions,
    call: &'e Call,
    span: Span,
) -> Outcome {
    let (args, spans) = match evaluated_arguments(eval, call)? {
        EvaluatedArguments::Known(args, spans) => (args, spans),
        EvaluatedArguments::UnknownCount(marks) => {
            return Ok(Typed::unknown(Type::Any).marked(marks));
        }
    };
    // The other program knows no marks; its result is as secret as all arguments together.
    let mut marks = Marks::default();
    let mut bare_args = Vec::new();
    for arg in args {
        let (arg, arg_marks) = arg.bare();
        marks = marks.and(arg_marks);
        bare_args.push(arg);
    }
    let result = extra.call(ExtraCall {
        name: &call.name.text,
        args: bare_args,
        span,
        depth: eval.depth,
        is_guarded: eval.guards > 0,
    });
    let fault = match result {
        Ok(value) => {
            eval.charge(span, value.weight())?;
            return Ok(value.marked(marks));
        }
        Err(ExtraFault::Argument(at, reason)) => CallFault::Argument(at, reason),
        Err(ExtraFault::Call(reason)) => CallFault::Call(reason),
        Err(ExtraFault::Uncertain(reason)) => return eval.uncertain(span, &reason),
    };
    report(eval, fault, &spans, span)
}

fn report(eval: &Evaluator<'_>, fault: CallFault, spans: &[Span], call: Span) -> Outcome {
    match fault {
        CallFault::Argument(at, reason) => {
            // Refused arguments are reported at the argument, everything else at the call (rules 6.1).
            let place = spans.get(at).copied().unwrap_or(call);
            eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, place, &reason)
        }
        CallFault::Call(reason) => eval.refuse(rules::WRONG_TYPE, CALL_ERROR, call, &reason),
        CallFault::Uncertain(reason) => eval.uncertain(call, reason),
    }
}

/// The arguments of a call after evaluation.
enum EvaluatedArguments {
    /// The values, each with its place.
    Known(Vec<Typed>, Vec<Span>),
    /// The expanded last argument is unknown, and with it the number of arguments; holds its marks.
    UnknownCount(Marks),
}

fn evaluated_arguments<'e>(
    eval: &mut Evaluator<'e>,
    call: &'e Call,
) -> Outcome<EvaluatedArguments> {
    let mut args = eval.all(&call.args, false)?;
    let mut spans: Vec<Span> = call.args.iter().map(|arg| arg.span).collect();
    if !call.expand_final {
        return Ok(EvaluatedArguments::Known(args, spans));
    }
    let (Some(last), Some(place)) = (args.pop(), spans.pop()) else {
        return Ok(EvaluatedArguments::Known(args, spans));
    };
    let (last, marks) = last.unmarked();
    match last.value {
        Value::Unknown => return Ok(EvaluatedArguments::UnknownCount(marks)),
        Value::Tuple(_) => {}
        _ => {
            let title = "Invalid expanding argument value";
            return eval.refuse(rules::WRONG_TYPE, title, place, "a list is needed here");
        }
    }
    // The marks of the list go to each argument; the place is that of the list.
    for item in last.into_items().unwrap_or_default() {
        args.push(item.marked(marks));
        spans.push(place);
    }
    Ok(EvaluatedArguments::Known(args, spans))
}

fn check_count(
    eval: &Evaluator<'_>,
    function: &Function,
    spans: &[Span],
    call: Span,
) -> Outcome<()> {
    let (name, wanted) = (function.name, function.parameters.len());
    if spans.len() < wanted {
        let note = format!("{name} takes {wanted} arguments or more");
        return eval.refuse(rules::WRONG_TYPE, NOT_ENOUGH, call, &note);
    }
    match spans.get(wanted) {
        Some(first) if function.variadic.is_none() => {
            let note = format!("{name} takes only {wanted}");
            eval.refuse(rules::WRONG_TYPE, TOO_MANY, *first, &note)
        }
        _ => Ok(()),
    }
}

/// Converts an argument to a type.
pub(super) fn converted(eval: &Evaluator<'_>, arg: Typed, ty: &Type, place: Span) -> Outcome {
    convert(arg, ty).or_else(|misfit| match misfit {
        Misfit::Refused(reason) => eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, place, &reason),
        Misfit::Uncertain(reason) => eval.uncertain(place, reason),
    })
}
