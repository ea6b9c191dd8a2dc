//! Expressions that are kept until values of variables are known.

use std::sync::Arc;

use crate::diag::FileId;
use crate::hcl::tree::Expr;
use crate::module_config::faults::Faults;
use crate::module_config::file::{SourcePlace, Syntax};
use crate::module_config::syntax;

/// An expression that is evaluated once values of variables are known.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    pub file: FileId,
    /// With templates where a string of JSON syntax is one.
    pub expr: Arc<Expr>,
    pub syntax: Syntax,
}

impl Late {
    /// Keeps an expression, if the flavor evaluates any.
    pub(crate) fn keep(expr: &Expr, faults: &Faults) -> Option<Self> {
        // Terraform 1.11 computes nothing (config rules 9.1).
        faults.flavor.computes_sources().then(|| Self {
            file: faults.file,
            expr: Arc::new(syntax::as_template(expr, faults).into_owned()),
            syntax: faults.syntax,
        })
    }

    pub(crate) fn place(&self) -> SourcePlace {
        SourcePlace {
            file: self.file,
            span: self.expr.span,
        }
    }
}
