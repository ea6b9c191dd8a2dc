//! JSON syntax: bytes to the same tree as native syntax (`config.md` 1.6).
//!
//! In JSON nothing says whether a member is an argument or a block, so a table of what may stand
//! where (`schema`) drives the conversion (`convert`). What the programs refuse while they read
//! by their table is reported here, under their titles; the decoders then see only what fits.
//! `check` knows the grammar. Strings stay literal text; where a place takes a reference or a
//! template, `text` makes one of it.

mod check;
mod convert;
mod schema;
#[cfg(test)]
mod tests;
mod text;

use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions};

use crate::diag::{Diagnostic, Span};
use crate::hcl::tree::Body;

use super::contents::{Faults, Role};
use convert::Convert;
pub(super) use text::{as_expression, as_reference, as_template};

/// What is said of a text that is nested deeper than we follow.
const TOO_DEEP: &str = "Nested too deep";

/// Nothing but JSON; the crate would allow more.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads a file; what is wrong with it is reported, and the rest is in the tree.
///
/// A fault of syntax leaves nothing of the file.
pub(super) fn parse(bytes: &[u8], faults: &mut Faults) -> Body {
    let nothing = Body {
        items: Vec::new(),
        span: Span::new(0, bytes.len()),
    };
    let text = match check::check(bytes) {
        Ok(text) => text,
        Err(found) => {
            for fault in &found {
                report(fault, faults);
            }
            return nothing;
        }
    };
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    let schema = match faults.role {
        Role::Primary | Role::Override => &schema::MODULE,
        Role::Test => &schema::TEST,
    };
    match jsonc_parser::parse_to_ast(&text, &collect, &STRICT) {
        Ok(parsed) => match parsed.value {
            Some(value) => Convert::new(&text, faults).body(&value, schema),
            None => nothing,
        },
        // Nothing that passes the check above is known to come here.
        Err(error) => {
            let at = Span::new(error.range().start, error.range().end);
            let remark = error.kind().to_string();
            faults.error("syntax-error", "Invalid JSON", at, &remark);
            nothing
        }
    }
}

fn report(fault: &check::Fault, faults: &mut Faults) {
    if fault.title == TOO_DEEP {
        let levels = check::MAX_NESTING;
        let help = format!("move the inner parts out: lockctl follows {levels} levels");
        let error = Diagnostic::error("nested-too-deep", TOO_DEEP);
        faults.push(error.at(faults.file, fault.span, "").help(help));
    } else {
        faults.error("syntax-error", fault.title, fault.span, fault.remark);
    }
}
