//! What is typed for `lockctl verify`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{Configuration, Platforms, Roots, jobs, one_of};
use crate::verify::fix::Extent;
use crate::verify::{Group, Groups};

/// Check the lock file against configuration, platforms and installed packages
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Verify {
    #[command(flatten)]
    pub(in crate::cli) roots: Roots,
    #[command(flatten)]
    pub(in crate::cli) configuration: Configuration,
    #[command(flatten)]
    pub(in crate::cli) platforms: Platforms,
    /// Check packages in this directory too, laid out as a filesystem mirror (repeat for several)
    #[arg(long = "fs-mirror", value_name = "DIR")]
    pub(in crate::cli) fs_mirrors: Vec<PathBuf>,
    /// Check this package too: a zip, an unpacked directory, or a directory full of packages
    /// (repeat for several)
    #[arg(long = "package", value_name = "PATH")]
    pub(in crate::cli) packages: Vec<PathBuf>,
    /// Also foretell, for each provider and wanted platform, what init, plan and validate will do
    #[arg(long)]
    pub(in crate::cli) matrix: bool,
    /// Also ask the registry of each provider: compare the recorded hashes with the signed list of the
    /// release and its key with the pinned one, and look for newer patches
    #[arg(long)]
    pub(in crate::cli) upstream: bool,
    /// Mend what needs no judgement, then check what is left: form, order, blocks that stand there
    /// twice, stale constraints, entries that nothing requires. A file with comments is left alone,
    /// unless HOW is all
    #[arg(
        long,
        value_parser = one_of([("safe", Extent::Safe), ("all", Extent::All)]),
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "safe"
    )]
    pub(in crate::cli) fix: Option<Extent>,
    /// Run these groups of checks only (repeat, or separate by commas)
    #[arg(long, value_parser = one_of(Group::ALL.map(|group| (group.name(), group))), value_delimiter = ',', value_name = "GROUP")]
    pub(in crate::cli) only: Vec<Group>,
    /// Leave these groups of checks out (repeat, or separate by commas)
    #[arg(
        long,
        value_parser = one_of(Group::ALL.map(|group| (group.name(), group))),
        value_delimiter = ',',
        value_name = "GROUP",
        conflicts_with = "only"
    )]
    pub(in crate::cli) skip: Vec<Group>,
    /// How many packages are hashed at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(in crate::cli) jobs: Option<NonZeroUsize>,
}

impl Verify {
    /// Returns the groups of checks that shall run. Registries are asked only if that is asked for.
    pub(in crate::cli) fn groups(&self) -> Groups {
        let groups = if self.only.is_empty() {
            Groups::offline()
        } else {
            Groups::only(self.only.iter().copied())
        };
        let groups = if self.upstream {
            groups.with(Group::Upstream)
        } else {
            groups
        };
        groups.without(self.skip.iter().copied())
    }
}
