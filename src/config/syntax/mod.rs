//! JSON syntax: bytes to the same tree as native syntax (rules 2).
//!
//! In JSON nothing says whether a member is an argument or a block, so the table of the language
//! drives the conversion (`convert`). What the programs refuse while they read
//! by their table is reported here, under their titles; the decoders then see only what fits.
//! The grammar is that of
//! room `json`. Strings stay literal text; where a place takes a reference or a
//! template, `text` makes one of it.

pub(super) mod addresses;
mod convert;
pub(super) mod names;
pub(super) mod references;
#[cfg(test)]
mod tests;
mod text;

use crate::config::decode::contents::{Faults, Role};
use crate::config::language;
use crate::diag::{Diagnostic, Span};
use crate::hcl::tree::Body;
use crate::json;
use convert::Convert;
pub(in crate::config) use text::{as_expression, as_reference, as_template};

/// Reads a file; what is wrong with it is reported, and the rest is in the tree.
///
/// A fault of syntax leaves nothing of the file.
pub(in crate::config) fn parse(bytes: &[u8], faults: &mut Faults) -> Body {
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(found) => {
            for fault in &found {
                report(fault, faults);
            }
            return Body {
                items: Vec::new(),
                span: Span::new(0, bytes.len()),
            };
        }
    };
    let schema = match faults.role {
        Role::Primary | Role::Override => &language::MODULE,
        Role::Test => &language::TEST_FILE,
    };
    Convert::new(bytes, faults).body(&value, schema)
}

fn report(fault: &json::Fault, faults: &mut Faults) {
    if fault.title == json::TOO_DEEP {
        let levels = json::MAX_NESTING;
        let help = format!("move the inner parts out: lockctl follows {levels} levels");
        let error = Diagnostic::error("nested-too-deep", json::TOO_DEEP);
        faults.push(error.at(faults.file, fault.span, "").help(help));
    } else {
        faults.error("syntax-error", fault.title, fault.span, fault.remark);
    }
}
