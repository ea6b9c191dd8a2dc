//! What is typed about where packages come from.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::sources::network_mirror::MirrorUrl;

/// Where packages come from.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct SourceArgs {
    /// Take packages from this filesystem mirror [default: registries]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror
    ///
    /// The URL uses https and ends with a slash.
    #[arg(long, value_name = "URL", conflicts_with = "fs_mirror")]
    pub(in crate::cli) net_mirror: Option<MirrorUrl>,
    /// Take packages from registries, or as `init` does
    ///
    /// With `registry` packages come from the registry of each provider, as in `providers lock`; with
    /// `cli` from the sources that the CLI configuration states, as in `init`.
    #[arg(
        long,
        value_enum,
        default_value_t = Installation::Registry,
        conflicts_with_all = ["fs_mirror", "net_mirror"]
    )]
    pub(in crate::cli) installation: Installation,
}

/// Which sources are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Installation {
    Registry,
    Cli,
}
