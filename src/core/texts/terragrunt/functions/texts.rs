//! Functions of texts and values.

use super::read::language_call;
use super::{Answer, expected, uncertain};
use crate::expr::{ExtraCall, Typed};
use crate::terragrunt::evaluation::Evaluation;
use crate::version::{CoreConstraints, Version};

/// Calls a function that later versions of the language have, too: `startswith`, `timecmp` and others.
pub(super) fn of_language(
    evaluation: &Evaluation<'_>,
    call: &ExtraCall<'_>,
    args: &[&str],
) -> Answer {
    if args.len() != 2 {
        return Err(expected(call, 2));
    }
    let args = args.iter().map(|text| Typed::string(*text)).collect();
    language_call(evaluation.files, call.name, args)
}

/// Computes if a version meets a constraint.
pub(super) fn constraint_check(call: &ExtraCall<'_>, args: &[&str]) -> Answer {
    let [version, constraint] = args else {
        return Err(expected(call, 2));
    };
    let parsed = (
        version.parse::<Version>(),
        CoreConstraints::parse(constraint),
    );
    match parsed {
        (Ok(version), Ok(constraint)) => Ok(Typed::bool(constraint.allows(&version))),
        _ => uncertain("this version is not compared"),
    }
}
