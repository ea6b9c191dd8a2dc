//! The arguments of `lockctl why`.

use clap::Args;

use crate::cli::args::{Configuration, RootArgs, examples};
use crate::run::typed_addr::TypedAddr;

/// Show every place that requires a provider
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl why hashicorp/aws", "which modules require it, with their constraints"),
    ("lockctl why aws live/prod", "a type is enough if only one provider has it"),
]))]
pub(in crate::front::cli) struct WhyArgs {
    /// The provider, as in hashicorp/aws, or its type if only one provider has it
    #[arg(value_name = "ADDR")]
    pub(in crate::front::cli) provider: TypedAddr,
    #[command(flatten)]
    pub(in crate::front::cli) roots: RootArgs,
    #[command(flatten)]
    pub(in crate::front::cli) configuration: Configuration,
}
