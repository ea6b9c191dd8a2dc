//! What is typed for `lockctl explain`.

use clap::Args;

/// Explain rules: what a finding means, what follows, how to fix it
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Explain {
    /// Names of rules, as they stand in brackets in findings [default: a list of all]
    #[arg(value_name = "RULE")]
    pub(in crate::cli) rules: Vec<String>,
}
