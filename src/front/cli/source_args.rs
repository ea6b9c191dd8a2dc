//! Options on the source of packages.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cliconfig::RepositoryTemplate;
use crate::run::options::{PackageChoice, RunOptions};
use crate::sources::network_mirror::MirrorUrl;

/// Options on the source of packages.
#[derive(Clone, Debug, Args)]
pub(in crate::front::cli) struct SourceArgs {
    /// Take packages from this filesystem mirror [default: project file, else registries]
    #[arg(long, value_name = "DIR")]
    pub(in crate::front::cli) fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror
    ///
    /// The URL uses https and ends with a slash.
    #[arg(long, value_name = "URL", conflicts_with = "fs_mirror")]
    pub(in crate::front::cli) net_mirror: Option<MirrorUrl>,
    /// Take packages from repositories of OCI artifacts
    ///
    /// The template makes the address of a repository from hostname, namespace and type of a provider, as
    /// in `oci_mirror` of OpenTofu: `ghcr.io/acme/${namespace}/${type}`. `{namespace}` means the same as
    /// `${namespace}`.
    #[arg(
        long,
        value_name = "TEMPLATE",
        conflicts_with_all = ["fs_mirror", "net_mirror"]
    )]
    pub(in crate::front::cli) oci_mirror: Option<RepositoryTemplate>,
    /// Take packages from registries, or as `init` does
    ///
    /// With `registry` packages come from the registry of each provider, as in `providers lock`; with
    /// `cli` from the sources that the CLI configuration states, as in `init`.
    #[arg(
        long,
        value_enum,
        value_name = "FROM",
        conflicts_with_all = ["fs_mirror", "net_mirror", "oci_mirror"]
    )]
    pub(in crate::front::cli) installation: Option<InstallationArg>,
}

impl SourceArgs {
    /// Returns the place that packages come from, if any was typed; at most one was.
    pub(in crate::front::cli) fn choice(&self, options: &RunOptions) -> Option<PackageChoice> {
        if let Some(dir) = &self.fs_mirror {
            Some(PackageChoice::FilesystemMirror(options.below(dir)))
        } else if let Some(url) = &self.net_mirror {
            Some(PackageChoice::NetworkMirror(url.clone()))
        } else if let Some(template) = &self.oci_mirror {
            Some(PackageChoice::OciMirror(template.clone()))
        } else {
            self.installation.map(|installation| match installation {
                InstallationArg::Registry => PackageChoice::Registry,
                InstallationArg::Cli => PackageChoice::CliConfiguration,
            })
        }
    }
}

/// The sources that are asked where no mirror is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::front::cli) enum InstallationArg {
    Registry,
    Cli,
}
