//! Calls of functions that a scope hands in.

use super::{Fault, Outcome};
use super::{arguments, failed};
use crate::diag::Span;
use crate::expr::eval::Eval;
use crate::expr::scope::{ExtraCall, ExtraFault, ExtraFunctions};
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Marks;
use crate::hcl::tree::Call;

/// Calls one of these functions.
pub(super) fn call<'e>(
    eval: &mut Eval<'e>,
    extra: &dyn ExtraFunctions,
    call: &'e Call,
    span: Span,
) -> Outcome {
    let (args, spans) = arguments(eval, call)?;
    let args = match args {
        Ok(args) => args,
        Err(marks) => return Ok(Typed::unknown(Type::Any).marked(marks)),
    };
    let mut marks = Marks::default();
    let bare = |arg: Typed| {
        let (arg, own) = arg.bare();
        marks = marks.and(own);
        arg
    };
    let args = args.into_iter().map(bare).collect();
    let result = extra.call(ExtraCall {
        name: &call.name.text,
        args,
        span,
        depth: eval.depth,
        is_guarded: eval.guards > 0,
        work: eval.work,
    });
    let value = match result {
        Ok(value) => value,
        Err(ExtraFault::Argument(at, reason)) => {
            return failed(eval, Fault::Argument(at, reason), &spans, span);
        }
        Err(ExtraFault::Call(reason)) => return failed(eval, Fault::Call(reason), &spans, span),
        Err(ExtraFault::Uncertain(reason)) => return eval.uncertain(span, &reason),
    };
    eval.charge(span, value.weight())?;
    Ok(value.marked(marks))
}
