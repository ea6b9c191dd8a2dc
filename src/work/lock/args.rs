//! The arguments of `lockctl lock`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::driver::ChangedArgs;
use crate::platform::Platform;
use crate::run::options::{
    Configuration, Platforms, RootArgs, SourceArgs, byte_count, examples, jobs,
};
use crate::run::typed_addr::TypedAddr;

/// Create or complete the lock file for all wanted platforms
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl lock", "for the common platforms"),
    ("lockctl lock --platform linux_amd64,darwin_arm64", "for these platforms only"),
    ("lockctl lock -r --check", "check all roots below"),
]))]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(super) roots: RootArgs,
    #[command(flatten)]
    pub(super) changed: ChangedArgs,
    /// Lock only this provider, as in hashicorp/aws; entries of others stay as they are [can be repeated]
    ///
    /// A type alone is enough if only one required provider has it. No entry is removed. With -r, roots that
    /// require none of the named providers are left alone.
    #[arg(long = "provider", value_name = "ADDR")]
    pub(super) providers: Vec<TypedAddr>,
    #[command(flatten)]
    pub(crate) options: LockOptions,
}

/// Options of all commands that make lock files.
#[derive(Clone, Debug, Args)]
pub(crate) struct LockOptions {
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) platforms: Platforms,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Write nothing; exit with code 1 if the lock file would change
    #[arg(long)]
    pub(crate) check: bool,
    /// Write nothing; show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace recorded hashes that the signed list contradicts
    ///
    /// Find out first how they came into the lock file: without this option they are an alarm. Each
    /// replaced hash is shown with its evidence. A hash that nothing contradicts stays.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Remove the h1: hashes of these platforms, separated by commas
    ///
    /// Removed is what is known to belong to no other platform, from packages that an earlier run looked at. The
    /// signed zh: hashes stay, for all platforms: init would add them again.
    #[arg(long = "drop-platform", value_delimiter = ',', value_name = "PLATFORM")]
    pub(crate) drop_platforms: Vec<Platform>,
    /// Download and check every package, even if an earlier run kept what it holds
    #[arg(long)]
    pub(crate) prove: bool,
    /// Also ask GitHub for attestations of packages, and keep them
    ///
    /// They show in which repository and workflow packages were built. GITHUB_TOKEN lifts GitHub's limit on requests;
    /// see `lockctl explain provenance`.
    #[arg(long)]
    pub(crate) provenance: bool,
    /// How many packages are downloaded or hashed at once [default: 8 downloads, a
    /// hash per core]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Download no more than this in the run, as in 500MB: bytes, kB, MB, GB, KiB, MiB or GiB
    ///
    /// All packages count together. Nothing is written for a root whose packages would exceed it.
    #[arg(long, value_name = "SIZE", value_parser = byte_count)]
    pub(crate) max_download: Option<u64>,
}

impl LockOptions {
    /// Returns true if lock files are written where they change.
    pub(crate) fn writes(&self) -> bool {
        !self.check && !self.dry_run
    }

    /// Returns the paths of packages that options name.
    pub(crate) fn packages(&self) -> Vec<PathBuf> {
        self.source.fs_mirror.iter().cloned().collect()
    }
}
