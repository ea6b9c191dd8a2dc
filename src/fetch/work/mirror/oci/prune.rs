//! The removal of versions, platforms and blobs that no lock file needs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::documents::{self, BlobName, Descriptors, blob, references, version_index};
use super::{MARKER_NAME, OciLayouts, blobs_dir};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::hash::{digest_of_hex, zh_of_digest};
use crate::locker::Release;
use crate::mirror::MirroringError;
use crate::mirror::layout::{INDEX, provider_dir};
use crate::package::WantedSet;
use crate::version::Version;
use crate::world::FileKind;

/// Maximum number of directories that are searched for layouts.
const MAX_DIRECTORIES: usize = 100_000;

impl OciLayouts<'_> {
    /// Removes unwanted versions, platforms and blobs from every layout, and layouts without a tag; returns the paths
    /// that were, or would be, removed. Other files, and tags that are not versions, stay.
    ///
    /// # Errors
    /// The first path that cannot be read or removed.
    pub(in crate::work::mirror) fn prune(
        &self,
        wanted: &BTreeMap<Release, WantedSet>,
    ) -> Result<Vec<PathBuf>, MirroringError> {
        let mut removed = Vec::new();
        for provider in self.providers()? {
            let dir = provider_dir(&self.out.path, &provider);
            let of_provider = wanted
                .iter()
                .filter(|(release, _)| release.provider == provider)
                .map(|(release, wanted)| (&release.version, wanted))
                .collect();
            removed.extend(self.prune_layout(&dir, &of_provider)?);
        }
        Ok(removed)
    }

    /// Lists the providers that have a layout.
    fn providers(&self) -> Result<Vec<ProviderAddr>, MirroringError> {
        let mut names = vec![String::new()];
        for _ in ["host", "namespace", "type"] {
            let mut below = Vec::new();
            for name in names {
                let dir = self.out.path.join(&name);
                let entries = match self.out.disk.list(&dir) {
                    Ok(entries) => entries,
                    // There may be no layout yet, and another run may remove one after its parent was listed.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                    Err(cause) => return Err(self.out.failure(&dir, "read", cause)),
                };
                let directories = entries
                    .iter()
                    .filter(|entry| entry.kind == FileKind::Directory)
                    .filter_map(|entry| entry.name.to_str())
                    .map(|part| format!("{name}/{part}").trim_start_matches('/').to_owned());
                below.extend(directories.take(MAX_DIRECTORIES.saturating_sub(below.len())));
            }
            names = below;
        }
        // Addresses with a host are the same in every flavor.
        let providers = names
            .iter()
            .filter_map(|name| ProviderAddr::parse(name, Flavor::Terraform1_16).ok());
        Ok(providers
            .filter(|provider| {
                let marker = provider_dir(&self.out.path, provider).join(MARKER_NAME);
                matches!(self.out.disk.kind(&marker), Ok(FileKind::File))
            })
            .collect())
    }

    fn prune_layout(
        &self,
        dir: &Path,
        wanted: &BTreeMap<&Version, &WantedSet>,
    ) -> Result<Vec<PathBuf>, MirroringError> {
        let blobs = blobs_dir(dir);
        let held = self.out.held(dir)?;
        let mut tags = documents::tags(&self.out.read(&dir.join(INDEX))?.unwrap_or_default());
        let before = tags.text();
        let kept = self.retain_wanted(&blobs, wanted, &mut tags)?;
        // The right to write is released first, since it belongs to the directory, which is removed.
        if tags.all().is_empty() {
            drop(held);
            let mut removed = Vec::new();
            // The index is removed first, so it never names a missing blob.
            for name in [INDEX, "blobs", MARKER_NAME] {
                let path = dir.join(name);
                if self.out.disk.kind(&path).is_ok() {
                    removed.push(self.out.delete(path)?);
                }
            }
            // The directory of all layouts was named by the user, and stays even if it is empty.
            for path in dir.ancestors().take_while(|path| *path != self.out.path) {
                let entries = self.out.disk.list(path);
                if entries.is_ok_and(|entries| entries.is_empty()) {
                    self.out.delete(path.to_owned())?;
                }
            }
            return Ok(removed);
        }
        if before != tags.text() {
            let index = dir.join(INDEX);
            // Written before the blobs that the old index names are removed.
            self.out.replace(held.as_ref(), index, &tags.text())?;
        }
        let names: BTreeSet<&str> = kept.iter().map(|blob| blob.name.value()).collect();
        let mut removed = Vec::new();
        let unreadable = |cause| self.out.failure(&blobs, "read", cause);
        for entry in self.out.disk.list(&blobs).map_err(unreadable)? {
            // Files with other names are not blobs, and stay.
            let name = entry.name.to_str().filter(|name| {
                digest_of_hex(name).is_some_and(|digest| zh_of_digest(&digest).value() == *name)
            });
            if let Some(name) = name.filter(|name| !names.contains(name)) {
                removed.push(self.out.delete(blobs.join(name))?);
            }
        }
        Ok(removed)
    }

    /// Takes unwanted versions out of the tags and unwanted platforms out of their indexes; returns the blobs that the
    /// tags lead to then.
    fn retain_wanted(
        &self,
        blobs: &Path,
        wanted: &BTreeMap<&Version, &WantedSet>,
        tags: &mut Descriptors<Version>,
    ) -> Result<BTreeSet<BlobName>, MirroringError> {
        let mut kept = BTreeSet::new();
        for (version, tag) in std::mem::take(&mut tags.keyed) {
            let Some(wanted) = wanted.get(&version) else {
                continue;
            };
            let index = blob(&tag).and_then(|name| self.document(blobs, &name));
            let mut entries = documents::packages(&index.unwrap_or_default());
            let all = entries.keyed.len();
            entries
                .keyed
                .retain(|platform, _| wanted.all || wanted.has(platform));
            if entries.keyed.len() == all {
                tags.keyed.insert(version, tag);
                continue;
            }
            let index = version_index(&entries.all());
            self.place_document(blobs, &index)?;
            // In a run that writes nothing, the new index does not exist as a blob, so it cannot be followed.
            kept.insert(index.blob());
            for entry in entries.all() {
                self.follow(blobs, &entry, &mut kept);
            }
            tags.set(&version, &index);
        }
        for descriptor in tags.all() {
            self.follow(blobs, &descriptor, &mut kept);
        }
        Ok(kept)
    }

    /// Adds the blob that a descriptor refers to, and all that its document refers to.
    fn follow(&self, blobs: &Path, descriptor: &Value, kept: &mut BTreeSet<BlobName>) {
        let mut left = references(descriptor);
        while let Some(name) = left.pop() {
            // A zip is not read as a document: most exceed the limit, and none is JSON.
            let document = self
                .document(blobs, &name)
                .and_then(|text| serde_json::from_slice::<Value>(&text).ok());
            if kept.insert(name)
                && let Some(document) = document
            {
                left.extend(references(&document));
            }
        }
    }
}
