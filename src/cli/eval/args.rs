//! The arguments of `lockctl eval`.

use clap::Args;

use crate::cli::args::{RootArgs, examples};
use crate::cli::values::VariableValues;

/// Evaluate one expression as if it were in a root
///
/// The expression may name what a module source may: variables, local values, paths, and with OpenTofu
/// the workspace. They have the values that `init` would use. What the program does not know before the
/// plan prints `(known after apply)`: with Terraform these are resources, the workspace, and variables that are
/// not `const`; OpenTofu refuses them. Terraform before 1.15 computes no source from names: there an
/// expression is made of constants and functions alone.
#[derive(Clone, Debug, Args)]
#[command(hide = true, before_help = examples(&[
    ("lockctl eval var.env", "the value of a variable of this root"),
    ("lockctl eval local.dirs live/prod", "of a local value of another one"),
    ("lockctl eval - < expression.txt", "an expression from standard input"),
]))]
pub(in crate::cli) struct EvalArgs {
    /// The expression, or - to read it from standard input
    #[arg(value_name = "EXPR", allow_negative_numbers = true)]
    pub(in crate::cli) expression: String,
    #[command(flatten)]
    pub(in crate::cli) roots: RootArgs,
    #[command(flatten)]
    pub(in crate::cli) values: VariableValues,
}
