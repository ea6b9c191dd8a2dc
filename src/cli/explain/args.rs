//! What is typed for `lockctl explain`.

use clap::Args;

/// Explain findings by rule, and topics such as exit codes
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Explain {
    /// Rules, as named in brackets in findings, or topics [default: list all of them]
    #[arg(value_name = "NAME")]
    pub(in crate::cli) names: Vec<String>,
}
