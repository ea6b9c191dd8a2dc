//! A mirror for the lock files of many roots: the options, the job, and what it reports.

mod bundle;
mod job;
mod report;
mod text;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::rc::Rc;

use clap::{Args, ValueEnum};
use job::MirrorJob;

use crate::cliconfig::RepositoryTemplate;
use crate::driver::{RunInputs, over_roots};
use crate::mirror::{MirrorExtent, MirrorLayout};
use crate::project::PackageSource;
use crate::report::reading::Total;
use crate::report::{CommandResult, Failure, Look, TextBlock};
use crate::run::command::Command;
use crate::run::options::{Options, Platforms, RootArgs, examples, installations, jobs};
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;
use crate::sources::network_mirror::MirrorUrl;

/// Place the packages that lock files need into a mirror
///
/// DIR becomes a packed mirror: `init` uses it as a filesystem mirror, and a static https server
/// makes it a network mirror. Only lock files are read. A package is placed if the signed list of
/// its registry has its zh:, and if its h1: is the locked one; its bytes may come from anywhere.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl mirror /srv/providers -r", "what all roots below need"),
    ("lockctl mirror m --platform linux_amd64", "for one platform"),
    ("lockctl mirror m --from ~/.terraform.d/plugin-cache", "copy what is at hand"),
    ("lockctl mirror m -r --oci-layout oci", "and what `oras cp` pushes"),
    ("lockctl mirror m -r --check", "is it complete? makes no request"),
    ("lockctl mirror m -r --bundle b.tar", "one file for an air gap"),
    ("lockctl mirror m -r --from b.tar --offline", "on the far side"),
]))]
pub(crate) struct MirrorArgs {
    /// The directory of the mirror; it is made if it is missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Mirror only this provider, as in hashicorp/aws [can be repeated]
    ///
    /// A type alone is enough if a lock file has only one provider of it.
    #[arg(long = "provider", value_name = "ADDR", conflicts_with = "prune")]
    providers: Vec<TypedAddr>,
    #[command(flatten)]
    platforms: Platforms,
    /// Copy packages from this directory or bundle, if it has them [can be repeated]
    ///
    /// A directory has the layout of a filesystem mirror; a bundle is a file that --bundle wrote. Only
    /// packages with the right hash are copied; unpacked ones serve only for --unpacked.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) from: Vec<PathBuf>,
    /// Then write the packages that the lock files need into this file, for an air gap
    ///
    /// The file is a tar with a manifest; the same packages and lock files give the same bytes. DIR is filled
    /// first, so that the next bundle needs fewer downloads. Nothing is written if a package is missing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "dry_run"])]
    bundle: Option<PathBuf>,
    /// With --bundle, leave out packages that this earlier bundle has, or builds on
    ///
    /// On the far side the earlier bundle must have been mirrored before, or be named with --from as well.
    #[arg(long, value_name = "OLD", requires = "bundle")]
    since: Option<PathBuf>,
    /// Take packages from this network mirror before registries
    #[arg(long, value_name = "URL")]
    net_mirror: Option<MirrorUrl>,
    /// Take packages from repositories of OCI artifacts before registries
    #[arg(long, value_name = "TEMPLATE")]
    oci_mirror: Option<RepositoryTemplate>,
    /// Take packages from registries only, or first as `init` does
    #[arg(long, value_parser = installations(), value_name = "FROM")]
    installation: Option<PackageSource>,
    /// Place packages unpacked, for `init` to link to, instead of zips; `also` is both
    ///
    /// Packages in the other layout stay, unless --prune is given.
    #[arg(
        long,
        value_enum,
        value_name = "BESIDE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "only"
    )]
    unpacked: Option<UnpackedArg>,
    /// Also place the packages into an OCI image layout for each provider, below this directory
    ///
    /// OUT/HOST/NAMESPACE/TYPE has a tag for each version, as `oci_mirror` of OpenTofu reads it from a
    /// registry; `oras cp --from-oci-layout` pushes it. Versions of earlier runs stay, unless --prune is
    /// given.
    #[arg(long, value_name = "OUT")]
    oci_layout: Option<PathBuf>,
    /// Write nothing and make no request; exit with code 1 if a package is missing or wrong
    ///
    /// With --prune also if a package is there that no lock file needs.
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Write nothing; show what would be placed and removed
    #[arg(long)]
    dry_run: bool,
    /// Remove packages that no lock file needs
    ///
    /// Nothing is removed if a lock file could not be read.
    #[arg(long)]
    prune: bool,
    /// Compare only the size of existing packages, if it is known
    ///
    /// An unpacked package only has to have its program.
    #[arg(long)]
    trust_existing: bool,
    /// Write the CLI configuration that makes `init` use the mirror
    ///
    /// The mirrored providers come from DIR, all others from their registries.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "dry_run"])]
    write_cli_config: Option<PathBuf>,
    /// With --write-cli-config, use the mirror under this URL
    #[arg(long, value_name = "URL", requires = "write_cli_config")]
    url: Option<MirrorUrl>,
    /// With --write-cli-config, ask registries for versions that the mirror lacks
    #[arg(long, requires = "write_cli_config")]
    fallback: bool,
    /// Maximum number of packages that are downloaded or hashed at once
    /// [default: 8 downloads, a hash per core]
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<NonZeroUsize>,
}

/// The value of `--unpacked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UnpackedArg {
    /// No zips are placed
    Only,
    /// Zips are placed as well
    Also,
}

impl Command for MirrorArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let args = &self.below(session.options);
        // Servers in front of a mirror need its documents, which list zips.
        let served = if args.url.is_some() {
            Some("a network mirror serves zips")
        } else if args.oci_layout.is_some() {
            Some("an OCI layout holds zips")
        } else {
            None
        };
        if let Some(served) = served.filter(|_| !args.layout().has_zips()) {
            let failure = Failure::new(format!("{served}, and --unpacked alone places none"))
                .help("--unpacked=also makes both");
            return CommandResult::failed("mirror", [failure]);
        }
        let bundle = match bundle::plan(args, session.world) {
            Ok(bundle) => bundle,
            Err(failure) => return CommandResult::failed("mirror", [failure]),
        };
        let mut job = MirrorJob::new(Rc::clone(session), args, bundle);
        let all = over_roots(&mut job, RunInputs::of_locks(session, &args.roots));
        let mut result = all.into_result("mirror");
        job.finish_mirror(&mut result);
        result
    }

    fn check(&self, _: &Options) -> Result<(), String> {
        let is_root_of_that_name = self.roots.roots.iter().any(|typed| typed == "also");
        if self.unpacked == Some(UnpackedArg::Only) && is_root_of_that_name {
            return Err(
                "the value of '--unpacked' needs '=': write '--unpacked=also', or './also' for a root of that \
                 name"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, self.extent(), look)
    }

    fn total(&self) -> Total {
        Total::Result
    }
}

impl MirrorArgs {
    /// Returns the same with paths as seen from the directory of the run.
    fn below(&self, options: &Options) -> Self {
        let below = |path: &Option<PathBuf>| path.as_ref().map(|path| options.below(path));
        Self {
            dir: options.below(&self.dir),
            oci_layout: below(&self.oci_layout),
            bundle: below(&self.bundle),
            since: below(&self.since),
            from: self.from.iter().map(|dir| options.below(dir)).collect(),
            write_cli_config: below(&self.write_cli_config),
            ..self.clone()
        }
    }

    fn layout(&self) -> MirrorLayout {
        match self.unpacked {
            None => MirrorLayout::Packed,
            Some(UnpackedArg::Only) => MirrorLayout::Unpacked,
            Some(UnpackedArg::Also) => MirrorLayout::Both,
        }
    }

    pub(crate) fn extent(&self) -> MirrorExtent {
        if self.check {
            MirrorExtent::Check
        } else if self.dry_run {
            MirrorExtent::DryRun
        } else {
            MirrorExtent::Place
        }
    }
}
