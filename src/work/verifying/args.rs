//! The arguments of `lockctl verify`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::addr::StoreUrl;
use crate::driver::ChangedArgs;
use crate::run::options::{Configuration, Platforms, RootArgs, examples, jobs, one_of};
use crate::verify::fix::Extent;
use crate::verify::{CheckGroup, Groups};

/// Check the lock file against configuration, platforms and packages
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = examples(&[
    ("lockctl verify", "the root in this directory"),
    ("lockctl verify -r --format github", "all roots below, as annotations of GitHub Actions"),
    ("lockctl verify -r --since main", "only roots of which a file changed since main"),
    ("lockctl verify --matrix", "predict what init and plan will do"),
    ("lockctl verify --fix", "apply safe fixes first"),
]))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    #[command(flatten)]
    pub(crate) changed: ChangedArgs,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
    #[command(flatten)]
    pub(crate) platforms: Platforms,
    /// Also check the packages in this filesystem mirror (may be repeated)
    #[arg(long = "fs-mirror", value_name = "DIR")]
    pub(crate) fs_mirrors: Vec<PathBuf>,
    /// Also check this package: a zip or an unpacked directory (may be repeated)
    ///
    /// It may also be a directory of packages.
    #[arg(long = "package", value_name = "PATH")]
    pub(crate) packages: Vec<PathBuf>,
    /// Also predict what init and plan will do
    ///
    /// There is a line for each provider and wanted platform; see `lockctl explain matrix`.
    #[arg(long)]
    pub(crate) matrix: bool,
    /// Also compare hashes and keys with those of the registries
    ///
    /// Fetches the signed list of each locked release, and no package. It finds unknown and missing
    /// hashes, withdrawn versions, other keys than those that the project file pins, and newer patches.
    #[arg(long)]
    pub(crate) upstream: bool,
    /// Also ask GitHub for attestations of the locked packages
    ///
    /// They show in which repository and workflow packages were built. GITHUB_TOKEN lifts GitHub's limit on requests;
    /// see `lockctl explain provenance`.
    #[arg(long, requires = "upstream")]
    pub(crate) provenance: bool,
    /// Also read the signed facts of the locked releases from this store [default: that of the project file]
    ///
    /// Facts count under the keys in `trust { fact_keys }`; see `lockctl explain shared-store`. One request for each
    /// locked release; --offline makes none.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// Also apply the policy of a file, or of URL@sha256:DIGEST
    ///
    /// Its policy and rule blocks count beside those of the project file, which cannot weaken them.
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// Apply safe fixes, then check the result
    ///
    /// Fixes form, order, repeated blocks, stale constraints and entries that nothing requires. A file
    /// with comments is not changed, unless HOW is all. Where a release has no package for a wanted platform, the
    /// project file states those that it has.
    #[arg(
        long,
        value_parser = one_of([("safe", Extent::Safe), ("all", Extent::All)]),
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "safe"
    )]
    pub(crate) fix: Option<Extent>,
    /// Run only these groups of checks, separated by commas
    #[arg(long, value_parser = one_of(CheckGroup::ALL.map(|group| (group.name(), group))), value_delimiter = ',', value_name = "GROUP")]
    pub(crate) only: Vec<CheckGroup>,
    /// Skip these groups of checks, separated by commas
    #[arg(
        long,
        value_parser = one_of(CheckGroup::ALL.map(|group| (group.name(), group))),
        value_delimiter = ',',
        value_name = "GROUP",
        conflicts_with = "only"
    )]
    pub(crate) skip: Vec<CheckGroup>,
    /// How many packages are hashed at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl VerifyArgs {
    /// Returns the groups of checks to run. Without `--upstream` none of them uses the network.
    pub(crate) fn groups(&self) -> Groups {
        let groups = if self.only.is_empty() {
            Groups::offline()
        } else {
            Groups::only(self.only.iter().copied())
        };
        let groups = if self.upstream {
            groups.with(CheckGroup::Upstream)
        } else {
            groups
        };
        // Last, so that `--skip upstream` wins over `--upstream`.
        groups.without(self.skip.iter().copied())
    }
}
