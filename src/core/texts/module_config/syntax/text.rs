//! Strings that stand for something else: references and templates in JSON syntax.

use std::borrow::Cow;

use crate::hcl;
use crate::hcl::tree::{Expr, ExprKind};
use crate::json;
use crate::module_config::faults::Faults;
use crate::module_config::file::Syntax;

/// Reads the reference that a string of a JSON file is; everything else stays what it is.
///
/// A string that is no expression stays a string, for the caller to refuse: in JSON no reference
/// is one, however it is quoted.
pub(crate) fn as_reference<'e>(expr: &'e Expr, faults: &Faults) -> Cow<'e, Expr> {
    match &expr.kind {
        ExprKind::String(text) if faults.syntax == Syntax::Json => {
            hcl::expression(faults.file, text, expr.span).map_or(Cow::Borrowed(expr), Cow::Owned)
        }
        _ => Cow::Borrowed(expr),
    }
}

/// Reads all strings of a JSON value as the templates that they are where the programs evaluate;
/// an expression of native syntax stays what it is.
///
/// A template with a fault stays a string.
pub(crate) fn as_template<'e>(expr: &'e Expr, faults: &Faults) -> Cow<'e, Expr> {
    match faults.syntax {
        Syntax::Native => Cow::Borrowed(expr),
        Syntax::Json => Cow::Owned(json::templates(faults.file, expr)),
    }
}
