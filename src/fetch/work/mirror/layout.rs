//! The layouts of a mirror, packed and unpacked, in one tree:
//! `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip` and `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/`.
//!
//! Zips serve as filesystem mirror and, behind a server, as network mirror (`sources` rules 7 and 8); directories as
//! filesystem mirror only, where `init` makes links to them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::locker::Release;
use crate::platform::Platform;
use crate::sources::filesystem_mirror::packed_name;
use crate::version::Version;
use crate::world::{Disk, FileKind};

/// The name of the document that lists the versions of a provider.
pub(super) const INDEX: &str = "index.json";

/// Returns the directory of a provider.
pub(super) fn provider_dir(dir: &Path, provider: &ProviderAddr) -> PathBuf {
    dir.join(provider.hostname().unicode())
        .join(provider.namespace())
        .join(provider.type_name())
}

/// The directories with the packages of a release.
pub(super) struct ReleaseDirs {
    /// The directory of its provider, with the zips.
    pub(super) provider: PathBuf,
    /// The directory of its version, with the unpacked packages.
    pub(super) version: PathBuf,
}

impl ReleaseDirs {
    pub(super) fn of(dir: &Path, release: &Release) -> Self {
        let provider = provider_dir(dir, &release.provider);
        Self {
            version: version_dir(&provider, &release.version),
            provider,
        }
    }
}

/// Returns the name of a zip.
pub(super) fn zip_name(provider: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    let type_name = provider.type_name();
    format!("terraform-provider-{type_name}_{version}_{platform}.zip")
}

/// Returns the directory of the unpacked packages of a version.
pub(super) fn version_dir(provider_dir: &Path, version: &Version) -> PathBuf {
    provider_dir.join(version.to_string())
}

/// Returns the name of the document that lists the packages of a version.
pub(super) fn version_document(version: &Version) -> String {
    format!("{version}.json")
}

/// The zips of a provider by version and platform, each with its name.
pub(super) type ZipNames = BTreeMap<Version, BTreeMap<Platform, String>>;

/// Lists the zips of a provider; of several names for one package the canonical one counts.
///
/// # Errors
/// If the directory cannot be listed; a missing one has no zips.
pub(super) fn zips(disk: &dyn Disk, dir: &Path, provider: &ProviderAddr) -> io::Result<ZipNames> {
    let entries = match disk.list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ZipNames::new()),
        listed => listed?,
    };
    let mut zips = ZipNames::new();
    for entry in entries {
        // A link is no zip here: its target may change after the documents are written.
        let Some(name) = entry.name.to_str().filter(|_| entry.kind == FileKind::File) else {
            continue;
        };
        let Some((version, platform)) = packed_name(name, provider.type_name()) else {
            continue;
        };
        let canonical = zip_name(provider, &version, &platform);
        let of_version = zips.entry(version).or_default();
        if name == canonical || !of_version.contains_key(&platform) {
            of_version.insert(platform, name.to_owned());
        }
    }
    Ok(zips)
}
