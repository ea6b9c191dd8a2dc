//! What is typed for `lockctl lock`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::{Configuration, Platforms, Roots, examples, jobs};
use crate::sources::network_mirror::MirrorUrl;

/// Create or complete the lock file for all wanted platforms
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl lock", "for the common platforms"),
    ("lockctl lock --platform linux_amd64,darwin_arm64", "for these platforms only"),
    ("lockctl lock -r --check", "check all roots below"),
]))]
pub(in crate::cli) struct Lock {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) configuration: Configuration,
    #[command(flatten)]
    pub(in crate::cli) platforms: Platforms,
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
    /// Write nothing; exit with code 1 if the lock file would change
    #[arg(long)]
    pub(in crate::cli) check: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// How many packages are downloaded or hashed at once [default: 8 downloads, a
    /// hash per core]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(in crate::cli) jobs: Option<NonZeroUsize>,
}

/// Which sources are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Installation {
    Registry,
    Cli,
}
