//! The removal of packages that no lock file needs.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use super::MirroringError;
use super::directory::MirrorDirectory;
use super::layout::{INDEX, provider_dir, version_document, zips};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::locker::Release;
use crate::package::{Local, WantedSet};
use crate::sources::SourceFault;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::version::Version;

impl MirrorDirectory<'_> {
    /// Removes packages that are not wanted, the documents of versions without a package, and directories that
    /// are empty then; returns what was, or would be, removed, and the providers of it. Other files stay.
    ///
    /// # Errors
    /// The first path that cannot be read or removed.
    pub(super) fn prune(
        &self,
        wanted: &BTreeMap<Release, WantedSet>,
    ) -> Result<(Vec<PathBuf>, Vec<ProviderAddr>), MirroringError> {
        // Addresses of other hosts are the same in every flavor, and these directories name theirs.
        let mirror = match FilesystemMirror::scan(self.disk, &self.path, Flavor::Terraform1_16) {
            Ok(mirror) => mirror,
            Err(error) => match &*error.fault {
                SourceFault::Unreadable { cause, .. }
                    if cause.kind() == io::ErrorKind::NotFound =>
                {
                    return Ok(Default::default());
                }
                _ => {
                    let cause = io::Error::other(error.to_string());
                    return Err(self.failure(&self.path, "read", cause));
                }
            },
        };
        let layout = self.settings.layout;
        let (mut removed, mut providers) = (Vec::new(), Vec::new());
        for provider in mirror.providers() {
            let before = removed.len();
            for version in mirror.versions(provider) {
                let wanted = wanted.get(&Release {
                    provider: provider.clone(),
                    version: version.clone(),
                });
                for (id, places) in mirror.of(provider, version) {
                    let is_wanted =
                        wanted.is_some_and(|wanted| wanted.all || wanted.has(&id.platform));
                    for place in places {
                        // A run does not check packages of the other layout, but `init` would install an unpacked
                        // one instead of a zip.
                        let is_of_layout = match place {
                            Local::Archive(_) => layout.has_zips(),
                            Local::Directory(_) => layout.has_directories(),
                        };
                        if !is_wanted || !is_of_layout {
                            removed.push(self.delete(place.path().to_owned())?);
                        }
                    }
                }
            }
            // Only there: documents of other providers may be those of another tool.
            if removed.len() > before {
                self.prune_documents(provider, &mut removed)?;
                providers.push(provider.clone());
            }
        }
        Ok((removed, providers))
    }

    /// Removes the documents of versions that have no zip any more, and what is empty.
    fn prune_documents(
        &self,
        provider: &ProviderAddr,
        removed: &mut Vec<PathBuf>,
    ) -> Result<(), MirroringError> {
        if !self.writes() {
            return Ok(());
        }
        let dir = provider_dir(&self.path, provider);
        self.disk.sweep(&dir.join(INDEX));
        let unreadable = |cause| self.failure(&dir, "read", cause);
        let left = zips(self.disk, &dir, provider).map_err(unreadable)?;
        for entry in self.disk.list(&dir).map_err(unreadable)? {
            let name = entry.name.to_string_lossy();
            // Other names are not ours: a mirror on a web server may have a page or a licence beside its packages.
            let is_stale = name
                .strip_suffix(".json")
                .and_then(|version| version.parse::<Version>().ok())
                .is_some_and(|version| {
                    version_document(&version) == name && !left.contains_key(&version)
                });
            if is_stale || name == INDEX && left.is_empty() {
                removed.push(self.delete(dir.join(&entry.name))?);
            }
        }
        let below: Vec<PathBuf> = self
            .disk
            .list(&dir)
            .map_err(unreadable)?
            .iter()
            .map(|entry| dir.join(&entry.name))
            .collect();
        let above = dir.ancestors().take_while(|path| *path != self.path);
        // From below, so that a directory is empty once those in it are gone.
        for path in below.iter().map(PathBuf::as_path).chain(above) {
            // One that another run writes to stays.
            let _ = self.disk.remove_empty(path);
        }
        Ok(())
    }
}
