//! Filesystem mirrors, packed and unpacked (rules 7).
//!
//! `.terraform/providers` and the plugin cache have the unpacked layout of the same tree, so
//! they are scanned here as well.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{About, Offer, Shared, Source, SourceError, SourceFault, SourceLocation};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::package::{Local, LocalPackage, Location, PackageId, PackageMeta};
use crate::platform::Platform;
use crate::version::Version;
use crate::world::{DirEntry, FileKind, Files};

/// Maximum number of directory entries in a scan; the largest real mirrors have some ten thousand.
const MAX_ENTRIES: usize = 1_000_000;

/// A directory that holds packages in the layout of a filesystem mirror.
#[derive(Clone, Debug)]
pub struct FilesystemMirror {
    dir: PathBuf,
    packages: Packages,
    unreachable: Vec<LocalPackage>,
}

/// The places of every package: first the one that counts.
type Packages = BTreeMap<ProviderAddr, BTreeMap<Version, BTreeMap<Platform, Vec<Local>>>>;

impl FilesystemMirror {
    /// Scans a mirror once.
    ///
    /// Names that are no package are passed over, as both programs do: versions and platforms
    /// that do not parse, links in the place of a host, namespace, type or version. Where one
    /// package is there both ways the unpacked one counts; of two zips for one package the one
    /// whose name sorts first.
    ///
    /// # Errors
    /// If the directory, or one below it, cannot be read.
    pub fn scan(files: &dyn Files, dir: &Path, flavor: Flavor) -> Result<Self, SourceError> {
        let mut scan = Scan {
            files,
            flavor,
            entries_left: MAX_ENTRIES,
            mirror: Self {
                dir: dir.to_owned(),
                packages: BTreeMap::new(),
                unreachable: Vec::new(),
            },
        };
        match scan.hosts(dir) {
            Ok(()) => Ok(scan.mirror),
            Err(fault) => Err(scan.mirror.error(About::Source, fault)),
        }
    }

    fn error(&self, about: About, fault: impl Into<Arc<SourceFault>>) -> SourceError {
        SourceError::new(SourceLocation::Directory(self.dir.clone()), about, fault)
    }

    /// Returns the places of the packages of one version.
    fn places(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Option<&BTreeMap<Platform, Vec<Local>>> {
        self.packages.get(provider)?.get(version)
    }

    /// Returns an iterator over the versions of a provider, in ascending order.
    pub fn versions(&self, provider: &ProviderAddr) -> impl Iterator<Item = &Version> {
        self.packages
            .get(provider)
            .into_iter()
            .flat_map(BTreeMap::keys)
    }

    /// Returns an iterator over the packages of one version, sorted: for each the place that counts, then
    /// those that it hides.
    pub fn of(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> impl Iterator<Item = (PackageId, &[Local])> {
        self.places(provider, version)
            .into_iter()
            .flatten()
            .map(move |(platform, places)| {
                let id = PackageId {
                    provider: provider.clone(),
                    version: version.clone(),
                    platform: platform.clone(),
                };
                (id, &**places)
            })
    }

    /// Returns an iterator over the providers that have some package, sorted.
    pub fn providers(&self) -> impl Iterator<Item = &ProviderAddr> {
        self.packages.keys()
    }

    /// Returns the files in the places of unpacked packages, sorted, and the links there that lead to a file
    /// or nowhere. The programs skip them.
    #[must_use]
    pub fn unreachable(&self) -> &[LocalPackage] {
        &self.unreachable
    }
}

impl Source for FilesystemMirror {
    fn versions(&self, provider: &ProviderAddr) -> Result<Offer, SourceError> {
        match self.packages.get(provider) {
            Some(versions) => Ok(Offer {
                versions: versions.keys().cloned().collect(),
                warnings: Vec::new(),
            }),
            None => {
                let fault = SourceFault::unknown_provider();
                Err(self.error(About::versions(provider), fault))
            }
        }
    }

    fn platforms(&self, provider: &ProviderAddr, version: &Version) -> Vec<Platform> {
        self.places(provider, version)
            .map(|platforms| platforms.keys().cloned().collect())
            .unwrap_or_default()
    }

    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError> {
        let place = self
            .places(&id.provider, &id.version)
            .and_then(|platforms| platforms.get(&id.platform)?.first());
        match place {
            // A mirror of files states nothing: what is recorded is computed (rules 7.7).
            Some(place) => Ok(PackageMeta::at(id, Location::Local(place.clone()))),
            None => {
                let offered = self.platforms(&id.provider, &id.version);
                Err(self.error(About::package(id), SourceFault::NoPackage { offered }))
            }
        }
    }
}

/// One scan in progress.
struct Scan<'a> {
    files: &'a dyn Files,
    flavor: Flavor,
    entries_left: usize,
    /// The packages that were found so far.
    mirror: FilesystemMirror,
}

impl Scan<'_> {
    /// Walks host, namespace and type; these levels may not be links, the top may.
    fn hosts(&mut self, dir: &Path) -> Shared<()> {
        for host in self.directories(dir)? {
            let host_dir = dir.join(&host);
            for namespace in self.directories(&host_dir)? {
                let namespace_dir = host_dir.join(&namespace);
                for type_name in self.directories(&namespace_dir)? {
                    let text = format!("{host}/{namespace}/{type_name}");
                    // Directory names may be in any case, and an address is in normal form, so two
                    // directories may mean one provider; their packages are united.
                    if let Ok(provider) = ProviderAddr::parse(&text, self.flavor) {
                        self.provider(&provider, &namespace_dir.join(&type_name))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Walks the zips and version directories of one provider.
    fn provider(&mut self, provider: &ProviderAddr, dir: &Path) -> Shared<()> {
        for entry in self.list(dir)? {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            let path = dir.join(name);
            if let Some((version, platform)) = packed_name(name, provider.type_name()) {
                let is_file = entry.kind == FileKind::File
                    || entry.kind == FileKind::Symlink
                        && self
                            .files
                            .kind(&path)
                            .is_ok_and(|kind| kind == FileKind::File);
                if is_file {
                    self.add(provider, version, platform, Local::Archive(path));
                }
            } else if entry.kind == FileKind::Directory
                // `1.0` means 1.0.0 here, too; a name that is no version means nothing (rules 7.3).
                && let Ok(version) = name.parse::<Version>()
            {
                self.version(provider, &version, &path)?;
            }
        }
        Ok(())
    }

    /// Walks the platform directories of one version; these may be links.
    fn version(&mut self, provider: &ProviderAddr, version: &Version, dir: &Path) -> Shared<()> {
        for entry in self.list(dir)? {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            // The lock of OpenTofu's installer would be a package for `linux` on `amd64.lock` (rules 7.8).
            if entry.kind == FileKind::File && name.ends_with(".lock") {
                continue;
            }
            let Ok(platform) = name.parse::<Platform>() else {
                continue;
            };
            let path = dir.join(name);
            // A link that leads nowhere is what is left when the directory behind it was deleted or
            // moved. The programs skip it, and a file as well; both are kept apart, so that `verify` can
            // report why the package is missing.
            let target = match entry.kind {
                // A platform directory may be a link; the levels above may not (rules 7.4).
                FileKind::Symlink => self.files.kind(&path).ok(),
                kind => Some(kind),
            };
            match target {
                Some(FileKind::Directory) => {
                    self.add(provider, version.clone(), platform, Local::Directory(path));
                }
                Some(FileKind::File) | None => self.mirror.unreachable.push(LocalPackage {
                    id: PackageId {
                        provider: provider.clone(),
                        version: version.clone(),
                        platform,
                    },
                    place: Local::Directory(path),
                }),
                Some(FileKind::Symlink | FileKind::Other) => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, provider: &ProviderAddr, version: Version, platform: Platform, place: Local) {
        let versions = self.mirror.packages.entry(provider.clone()).or_default();
        let platforms = versions.entry(version).or_default();
        let places = platforms.entry(platform).or_default();
        let is_directory = |place: &Local| matches!(place, Local::Directory(_));
        // Directories come first (rules 7.5), else it is the order of the names.
        let index = if is_directory(&place) {
            places.partition_point(is_directory)
        } else {
            places.len()
        };
        places.insert(index, place);
    }

    fn directories(&mut self, dir: &Path) -> Shared<Vec<String>> {
        Ok(self
            .list(dir)?
            .into_iter()
            .filter(|entry| entry.kind == FileKind::Directory)
            .filter_map(|entry| entry.name.into_string().ok())
            .collect())
    }

    fn list(&mut self, dir: &Path) -> Shared<Vec<DirEntry>> {
        let entries = self
            .files
            .list(dir)
            .and_then(|entries| {
                // A mirror that is configured as `/` would otherwise list the whole machine.
                let left = self.entries_left.checked_sub(entries.len());
                self.entries_left = left.ok_or_else(|| {
                    let limit = format!("the mirror has more than {MAX_ENTRIES} entries");
                    io::Error::other(limit)
                })?;
                Ok(entries)
            })
            .map_err(|cause| SourceFault::Unreadable {
                path: dir.to_owned(),
                cause,
            })?;
        Ok(entries)
    }
}

/// Reads the name of a zip, `terraform-provider-TYPE_VERSION_OS_ARCH.zip`, in any case; further parts
/// are ignored (rules 7.2).
pub fn packed_name(name: &str, type_name: &str) -> Option<(Version, Platform)> {
    // The whole name is folded, as in the programs, version and platform included: `LINUX_amd64` in the
    // name of a zip is `linux_amd64`, whereas in the name of a directory case is kept.
    let lower = name.to_lowercase();
    let rest = lower
        .strip_suffix(".zip")?
        .strip_prefix("terraform-provider-")?;
    let mut parts = rest.strip_prefix(type_name)?.strip_prefix('_')?.split('_');
    let version = parts.next()?.parse().ok()?;
    let platform = format!("{}_{}", parts.next()?, parts.next()?)
        .parse()
        .ok()?;
    Some((version, platform))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemFiles, slashed};

    #[test]
    fn what_the_first_package_hides_is_known() {
        let dir = "example.com/t/x/1.0.0/linux_amd64/terraform-provider-x";
        let zip = "example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip";
        let other = "example.com/t/x/terraform-provider-x_1.0.0_linux_amd64_b.zip";
        let files = [dir, zip, other].map(|path| format!("/m/{path}"));
        let files: Vec<(&str, &str)> = files.iter().map(|path| (&**path, "x")).collect();
        let flavor = Flavor::Terraform1_11;
        let mirror = FilesystemMirror::scan(&MemFiles::with(&files), Path::new("/m"), flavor)
            .expect("readable");
        let provider = ProviderAddr::parse("example.com/t/x", flavor).expect("an address");
        let version: Version = "1.0.0".parse().expect("a version");
        let found: Vec<_> = mirror.of(&provider, &version).collect();
        let [(_, places)] = found.as_slice() else {
            panic!("one package: {found:?}")
        };
        let paths: Vec<String> = places.iter().map(|place| slashed(place.path())).collect();
        assert_eq!(
            paths,
            [
                "/m/example.com/t/x/1.0.0/linux_amd64".to_owned(),
                format!("/m/{zip}"),
                format!("/m/{other}"),
            ]
        );
        let newer: Version = "2.0.0".parse().expect("a version");
        assert_eq!(mirror.of(&provider, &newer).count(), 0);
    }

    #[test]
    fn what_is_no_package_is_passed_over() {
        for path in [
            "README",
            "example.com/index.json",
            "example.com/t/x/index.json",
            "example.com/t/x/v1.0.0/linux_amd64/terraform-provider-x",
            "example.com/t/x/99999999999999999999.0.0/linux_amd64/terraform-provider-x",
            "example.com/t/x/1.0.0/linux/terraform-provider-x",
            "example.com/t/x/1.0.0/terraform-provider-x",
            "example.com/t/x/terraform-provider-y_1.0.0_linux_amd64.zip",
            "example.com/t/x/terraform-provider-x_v1.0.0_linux_amd64.zip",
            "example.com/t/x/terraform-provider-x_1.0.0_linux.zip",
            "example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip/file",
            "exa_mple.com/t/x/1.0.0/linux_amd64/terraform-provider-x",
        ] {
            let path = format!("/m/{path}");
            let files = MemFiles::with(&[(&*path, "x")]);
            let mirror = FilesystemMirror::scan(&files, Path::new("/m"), Flavor::Terraform1_11);
            let mirror = mirror.expect("readable");
            assert_eq!(mirror.providers().next(), None, "{path}");
        }
    }
}
