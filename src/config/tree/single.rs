//! One expression, evaluated as if it were in the root.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::config::loaded::{Evaluated, Settings};
use crate::config::tree::packages::Packages;
use crate::config::tree::reader::Reader;
use crate::config::tree::resolve::Module;
use crate::config::tree::values::{Entry, Values};
use crate::diag::{self, Diagnostic, FileId, Span, Texts, rules};
use crate::hcl;
use crate::hcl::tree::{Expr, ExprKind, Item};
use crate::module_config::decode::late::Late;
use crate::module_config::file::Syntax;
use crate::module_config::flood;
use crate::world::Files;

/// The text before the expression: in parentheses a line may end anywhere, as the programs have it
/// for an expression of its own.
const BEFORE: &str = "_ = (\n";
const BEHIND: &str = "\n)\n";

/// The name of the expression where its text is shown.
const NAME: &str = "<expression>";

pub(in crate::config) fn evaluate(
    files: &dyn Files,
    texts: &mut Texts,
    root: &Path,
    settings: &Settings,
    expression: &[u8],
) -> Evaluated {
    let file = texts.add(NAME, expression);
    let (expr, faults) = parse(file, expression);
    let files = Packages::new(files);
    let mut reader = Reader::new(&files, texts, root, settings.flavor);
    reader.found.extend(faults);
    let module = root_module(&mut reader);
    let value = match (expr, module) {
        (Some(expr), Some(module)) => {
            let late = Late {
                file,
                expr: Arc::new(expr),
                syntax: Syntax::Native,
            };
            let mut values = Values::of_root(settings, &mut reader);
            values.enter(0, &module, Entry::Root, Path::new(""), &mut reader);
            values.alone(&late, &mut reader)
        }
        _ => None,
    };
    let mut diagnostics = reader.found;
    for diagnostic in &mut diagnostics {
        // Spans count in the wrapped text; the user sees the expression alone.
        for label in diagnostic.primary.iter_mut().chain(&mut diagnostic.related) {
            if label.file == file {
                label.span = inner(label.span, expression.len());
            }
        }
    }
    flood::in_order(&mut diagnostics);
    Evaluated {
        value: value.filter(|_| !diag::has_errors(&diagnostics)),
        diagnostics,
    }
}

/// Parses the expression; spans count from the beginning of what is around it.
fn parse(file: FileId, expression: &[u8]) -> (Option<Expr>, Vec<Diagnostic>) {
    let text = [BEFORE.as_bytes(), expression, BEHIND.as_bytes()].concat();
    let (body, mut faults) = hcl::parse(file, &text);
    let mut items = body.items.into_iter();
    let expr = match (items.next(), items.next()) {
        (Some(Item::Attribute(only)), None) => match only.value.kind {
            ExprKind::Paren(inner) => Some(*inner),
            _ => None,
        },
        _ => None,
    };
    // What closes the parenthesis early is no part of an expression.
    if expr.is_none() && faults.is_empty() {
        let error = Diagnostic::error(rules::SYNTAX_ERROR, "Extra characters after expression");
        let whole = Span::new(BEFORE.len(), BEFORE.len() + expression.len());
        faults.push(error.at(file, whole, "one expression is needed here"));
    }
    (expr.filter(|_| !diag::has_errors(&faults)), faults)
}

/// Brings a span in what was parsed to the expression alone.
fn inner(span: Span, length: usize) -> Span {
    let inside = |at: usize| at.saturating_sub(BEFORE.len()).min(length);
    Span::new(inside(span.start), inside(span.end))
}

/// Reads the files of the root; nothing of what they require matters here.
fn root_module(reader: &mut Reader<'_>) -> Option<Rc<Module>> {
    let dir = Path::new("");
    let chosen = match reader.choose(dir) {
        Ok(chosen) => chosen,
        Err(error) => {
            reader.unreadable_directory(dir, &error);
            return None;
        }
    };
    let mut contents = reader.module(dir, &chosen);
    Some(Rc::new(Module {
        needs: Vec::new(),
        files: std::mem::take(&mut contents.files).into(),
        contents,
    }))
}
