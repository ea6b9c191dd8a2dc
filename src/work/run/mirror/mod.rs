//! A mirror for the lock files of many roots: the job, and what it reports.

mod bundle;
mod job;
mod report;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use crate::mirror::{ExistingCheck, MirrorExtent, MirrorLayout};
use crate::report::{CommandResult, Failure};
use crate::run::options::{PackageChoice, RootChoice, RunOptions};
use crate::run::platforms::PlatformArg;
use crate::run::typed_addr::TypedAddr;
use crate::run::user::config::{NetworkObserver, UserConfigs};
use crate::run::{RunInputs, World, over_roots};
use crate::sources::network_mirror::MirrorUrl;
use job::MirrorJob;

/// The options of a mirror.
#[derive(Clone, Debug)]
pub(crate) struct MirrorOptions {
    /// The directory of the mirror.
    pub(crate) dir: PathBuf,
    /// The providers that are mirrored; all of them if none is named.
    pub(crate) providers: Vec<TypedAddr>,
    /// Wanted platforms as typed.
    pub(crate) platforms: Vec<PlatformArg>,
    pub(crate) extent: MirrorExtent,
    pub(crate) existing: ExistingCheck,
    pub(crate) layout: MirrorLayout,
    /// The directory of OCI image layouts with the same zips, if such are wanted.
    pub(crate) oci_layout: Option<PathBuf>,
    /// Packages that no lock file needs are removed.
    pub(crate) prunes: bool,
    /// Directories and bundles that packages may be copied from.
    pub(crate) from: Vec<PathBuf>,
    /// The bundle that the packages are put into, if one is wanted.
    pub(crate) bundle: Option<BundleFile>,
    /// Sources that packages may come from, in query order.
    pub(crate) sources: Vec<PackageChoice>,
    /// The CLI configuration that makes `init` use the mirror, if one is to be written.
    pub(crate) cli_config: Option<CliConfigFile>,
    /// Maximum number of packages that are downloaded or hashed at once.
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// A bundle to write.
#[derive(Clone, Debug)]
pub(crate) struct BundleFile {
    /// The path of the file; its directory must be there.
    pub(crate) path: PathBuf,
    /// The bundle that it builds on.
    pub(crate) since: Option<PathBuf>,
}

/// A CLI configuration to write.
#[derive(Clone, Debug)]
pub(crate) struct CliConfigFile {
    /// The path of the file; its directory must be there.
    pub(crate) path: PathBuf,
    /// The URL that the mirror is served at; `None` if it is used as a directory.
    pub(crate) url: Option<MirrorUrl>,
    /// Registries are asked for what the mirror lacks.
    pub(crate) falls_back: bool,
}

/// Mirrors the packages of all roots.
pub(crate) fn mirror(
    options: &RunOptions,
    mirror: &MirrorOptions,
    choice: &RootChoice,
    world: World<'_>,
    observer: NetworkObserver<'_>,
) -> CommandResult {
    // Servers in front of a mirror need its documents, which list zips.
    let url = mirror
        .cli_config
        .as_ref()
        .and_then(|file| file.url.as_ref());
    let served = if url.is_some() {
        Some("a network mirror serves zips")
    } else if mirror.oci_layout.is_some() {
        Some("an OCI layout holds zips")
    } else {
        None
    };
    if let Some(served) = served.filter(|_| !mirror.layout.has_zips()) {
        let failure = Failure {
            title: format!("{served}, and --unpacked alone places none"),
            causes: Vec::new(),
            help: Some("--unpacked=also makes both".to_owned()),
        };
        return CommandResult::failed("mirror", [failure]);
    }
    let bundle = match bundle::plan(mirror, world) {
        Ok(bundle) => bundle,
        Err(failure) => return CommandResult::failed("mirror", [failure]),
    };
    let user = Arc::new(UserConfigs::new(options, world, observer));
    let mut job = MirrorJob::new(user, mirror, choice, bundle);
    let inputs = RunInputs::of_locks(choice, options, world);
    let all = over_roots(&mut job, inputs);
    let mut result = all.into_result("mirror");
    job.finish_mirror(&mut result);
    result
}
