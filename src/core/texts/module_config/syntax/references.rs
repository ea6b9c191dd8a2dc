//! References that are anywhere inside of an expression.

use crate::flavor::Flavor;
pub(crate) use crate::hcl::references::{Reference, functions, inside};
use crate::hcl::tree::{Expr, Step};

/// Returns the title under which a program refuses a reference that can mean nothing.
pub(crate) fn fault(used: Reference<'_>, flavor: Flavor) -> Option<&'static str> {
    let is_new = flavor.has_actions();
    let needed = match used.root {
        "self" => 0,
        "caller" if is_new => 0,
        "template" | "lazy" | "arg" => return Some("Reserved symbol name"),
        "string" | "number" | "bool" | "any" if is_new && used.steps.is_empty() => 0,
        "action" if is_new => 2,
        "resource" | "data" | "ephemeral" => 2,
        _ => 1,
    };
    let names = used
        .steps
        .iter()
        .take_while(|step| matches!(step, Step::Attr(_)));
    (names.take(needed).count() < needed).then_some("Invalid reference")
}

/// Returns whether an expression depends on anything but itself.
pub(crate) fn refers(value: &Expr) -> bool {
    !inside(value).is_empty()
}
