//! Either syntax to one tree, and what expressions in it name (config rules 2).
//!
//! `hcl` reads native syntax. In JSON nothing says whether a member is an argument or a block, so the
//! table of the language drives the conversion (`convert`). What the programs refuse while they read
//! by their table is reported here, under their titles; the decoders then see only what fits. The
//! grammar is that of room `json`. Strings stay literal text; where a place takes a reference or a
//! template, `text` makes one of it.
//!
//! `references`, `names` and `words` read what an expression names.

mod convert;
pub(crate) mod names;
pub(crate) mod references;
mod text;
pub(crate) mod words;

use crate::module_config::faults::Faults;
use crate::module_config::file::{ModuleFile, ModuleFileRole, Syntax};
use crate::module_config::language;

use crate::diag::{Diagnostic, FileId, Span, rules};
use crate::flavor::Flavor;
use crate::hcl;
use crate::hcl::tree::Body;
use crate::json;
use convert::JsonConverter;
pub(crate) use text::{as_reference, as_template};

/// Reads the text of a file; what is wrong with it is among the faults.
pub(crate) fn parse(file: ModuleFile, bytes: &[u8], flavor: Flavor) -> (Body, Faults) {
    let mut faults = Faults::new(file, flavor);
    let body = match file.syntax {
        Syntax::Native => {
            let (body, found) = hcl::parse(file.id, bytes);
            faults.parsed(found);
            body
        }
        Syntax::Json => parse_json(bytes, &mut faults),
    };
    (body, faults)
}

/// Reads a file of values for variables: arguments without a table that says which.
pub(crate) fn values(file: FileId, bytes: &[u8], syntax: Syntax) -> (Body, Vec<Diagnostic>) {
    if syntax == Syntax::Native {
        return hcl::parse(file, bytes);
    }
    let span = Span::new(0, bytes.len());
    let (items, found) = match json::parse(bytes) {
        Ok(value) => (convert::arguments(&value), Vec::new()),
        Err(faults) => (
            Vec::new(),
            faults.iter().map(|fault| fault.diagnostic(file)).collect(),
        ),
    };
    (Body { items, span }, found)
}

/// Reads a file; what is wrong with it is reported, and the rest is in the tree.
///
/// A fault of syntax leaves nothing of the file.
fn parse_json(bytes: &[u8], faults: &mut Faults) -> Body {
    let value = match json::parse(bytes) {
        Ok(value) => value,
        Err(found) => {
            for fault in &found {
                // The two limits are those of this program: the texts must not sound as if Terraform refused the
                // file.
                if fault.title == json::TOO_DEEP {
                    let levels = json::MAX_NESTING;
                    let help = format!("move the inner parts out: lockctl follows {levels} levels");
                    let error = Diagnostic::error(rules::NESTED_TOO_DEEP, json::TOO_DEEP);
                    faults.push(error.at(faults.file, fault.span, "").help(help));
                } else if fault.title == json::TOO_MANY {
                    let help = format!(
                        "split the file: lockctl reads {} values of one",
                        json::MAX_VALUES
                    );
                    let error = Diagnostic::error(rules::OBJECT_TOO_LARGE, json::TOO_MANY);
                    faults.push(error.at(faults.file, fault.span, "").help(help));
                } else {
                    faults.error(rules::SYNTAX_ERROR, fault.title, fault.span, fault.remark);
                }
            }
            return Body {
                items: Vec::new(),
                span: Span::new(0, bytes.len()),
            };
        }
    };
    let schema = match faults.role {
        ModuleFileRole::Primary | ModuleFileRole::Override => &language::MODULE,
        ModuleFileRole::Test => &language::TEST_FILE,
    };
    JsonConverter::new(bytes, faults).body(&value, schema)
}
