//! What is typed for `lockctl why`.

use clap::Args;

use crate::cli::args::{Configuration, Roots};

/// Show every place that requires a provider, and whether any version can satisfy them all
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Why {
    /// The provider, as in hashicorp/aws; a type alone will do if only one provider has it
    #[arg(value_name = "ADDR")]
    pub(in crate::cli) provider: String,
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) configuration: Configuration,
}
