//! The bytes of a package, from the first place that has them.
//!
//! A zip is named by its `zh:`, so that a place needs no trust: what it hands out is hashed, and a place that
//! fails or hands out other bytes is left for the next one.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use super::copy::{self, DraftZip, FileCopyError};
use super::error::{LeftPlace, ONLY_UNPACKED};
use super::layout::ReleaseDirs;
use super::missing::{ReadyForms, Target};
use super::present::MirroredHashes;
use super::release::ReleaseRun;
use super::unpacked::{self, UnpackedPackage};
use super::{MirroredRoot, MirroringError, Place};
use crate::acquire::Hasher;
use crate::archive::UnpackError;
use crate::diag::causes;
use crate::flavor::Flavor;
use crate::hash::{self, Hash, Scheme};
use crate::locker::FlavorSource;
use crate::package::{Blob, Local, Location, PackageId, PackageMeta};
use crate::platform::Platform;
use crate::sources::FetchFault;
use crate::sources::download::{Check, PackageRequest, download};

/// A package whose bytes are wanted.
pub(super) struct SoughtPackage<'a> {
    pub(super) id: PackageId,
    /// The root by whose rules the release is judged.
    pub(super) root: &'a MirroredRoot<'a>,
    /// The hashes that it may have.
    pub(super) target: &'a Target,
    /// The platforms of the signed list that names it; none if no such list counts.
    pub(super) offered: &'a BTreeSet<Platform>,
    /// The zip is wanted; otherwise an unpacked package is enough.
    pub(super) needs_zip: bool,
}

impl Place<'_> {
    /// Returns true if the place has a package of that name, or may have it.
    pub(super) fn may_have(&self, id: &PackageId, target: &Target) -> bool {
        match self {
            Self::Directory(_, mirror) => mirror
                .of(&id.provider, &id.version)
                .any(|(other, _)| other.platform == id.platform),
            Self::Bundle(bundle) => !bundle.candidates(id, &target.zips, &target.h1s).is_empty(),
            Self::Source(..) => true,
        }
    }
}

/// The reason why a place was left, or why all of them are.
enum PlaceFailure {
    /// The place does not have the package.
    Lacks(String),
    /// The place may have it, and failed.
    Failed(String),
    /// The file could not be written: no other place would help.
    Write(io::Error),
}

/// Bytes that have arrived.
enum Arrived<'d> {
    Zip(DraftZip<'d>),
    Directory(UnpackedPackage<'d>),
}

impl<'a> ReleaseRun<'a> {
    /// Fetches a package into a file in the directory of its provider, or into a directory in the one of its version.
    ///
    /// # Errors
    /// If no place has a package that must exist, a place failed, or the file cannot be written.
    pub(super) fn fetch(
        &self,
        dirs: &ReleaseDirs,
        wanted: &SoughtPackage<'_>,
    ) -> Result<ReadyForms<'a>, MirroringError> {
        // A turn for all places together: a slow place must not let more packages through than are allowed.
        let _turn = self.downloads.enter();
        let mut left = Vec::new();
        let mut failed = false;
        for place in wanted.root.places {
            for (name, arrived) in self.offers(place, dirs, wanted) {
                let checked = arrived.and_then(|arrived| self.checked(wanted, arrived));
                match checked {
                    Ok(forms) => {
                        return Ok(ReadyForms {
                            from: Some(name),
                            ..forms
                        });
                    }
                    // The disk is full, or not writable: the next place would download it for nothing.
                    Err(PlaceFailure::Write(cause)) => {
                        return Err(self.mirror.failure(&dirs.provider, "written", cause));
                    }
                    Err(PlaceFailure::Lacks(reason)) => left.push(LeftPlace {
                        place: name,
                        reason,
                    }),
                    Err(PlaceFailure::Failed(reason)) => {
                        failed = true;
                        left.push(LeftPlace {
                            place: name,
                            reason,
                        });
                    }
                }
            }
        }
        Err(MirroringError::NoPlace {
            id: Box::new(wanted.id.clone()),
            places: left,
            // A place that failed may have had it, so it is not known that there is none.
            may_lack: wanted.target.may_lack && !failed,
        })
    }

    /// Returns the attempts at a place, each with the name that a user knows: a directory may have several zips.
    fn offers<'w>(
        &'w self,
        place: &'w Place<'w>,
        dirs: &'w ReleaseDirs,
        wanted: &'w SoughtPackage<'_>,
    ) -> Box<dyn Iterator<Item = (String, Result<Arrived<'a>, PlaceFailure>)> + 'w> {
        match place {
            Place::Directory(path, mirror) => {
                let id = &wanted.id;
                let mut locals: Vec<Local> = mirror
                    .of(&id.provider, &id.version)
                    .filter(|(other, _)| other.platform == id.platform)
                    .flat_map(|(_, places)| places.to_vec())
                    .collect();
                // A plugin cache has directories only, a mirror may have both.
                // The zips first, since more is known about them: their `zh:`.
                locals.sort_by_key(|local| matches!(local, Local::Directory(_)));
                let name = path.display().to_string();
                if locals.is_empty() {
                    let lacks = PlaceFailure::Lacks("it has no zip of the package".to_owned());
                    return Box::new(std::iter::once((name, Err(lacks))));
                }
                Box::new(
                    locals
                        .into_iter()
                        .map(move |local| (name.clone(), self.local(&local, dirs, wanted))),
                )
            }
            Place::Bundle(bundle) => {
                let name = bundle.path().display().to_string();
                let candidates =
                    bundle.candidates(&wanted.id, &wanted.target.zips, &wanted.target.h1s);
                if candidates.is_empty() {
                    let lacks = PlaceFailure::Lacks(bundle.lacks(&wanted.id));
                    return Box::new(std::iter::once((name, Err(lacks))));
                }
                Box::new(candidates.into_iter().map(move |bytes| {
                    let content = bundle.content(self.files, bytes);
                    (name.clone(), self.copied(content, &dirs.provider))
                }))
            }
            Place::Source(name, source) => {
                let name = name
                    .clone()
                    .unwrap_or_else(|| wanted.id.provider.hostname().unicode().to_owned());
                let own = std::iter::once_with(move || {
                    (name, self.offered_by(source, &wanted.id, dirs, wanted))
                });
                let is_registry = matches!(place, Place::Source(None, _));
                let elsewhere = other_registries(&wanted.id)
                    .filter(move |_| is_registry && !wanted.target.zips.is_empty())
                    .map(move |id| {
                        let name = id.provider.hostname().unicode().to_owned();
                        (name, self.offered_by(source, &id, dirs, wanted))
                    });
                Box::new(own.chain(elsewhere))
            }
        }
    }

    fn offered_by(
        &self,
        source: &FlavorSource<'_>,
        id: &PackageId,
        dirs: &ReleaseDirs,
        wanted: &SoughtPackage<'_>,
    ) -> Result<Arrived<'a>, PlaceFailure> {
        let meta = source.source.package(id).map_err(|error| {
            let text = in_words(&error);
            if error.lacks_platform() || error.is_unknown_provider() {
                PlaceFailure::Lacks(text)
            } else {
                PlaceFailure::Failed(text)
            }
        })?;
        let (url, check, bytes) = match &meta.location {
            Location::Local(local) => return self.local(local, dirs, wanted),
            Location::Remote(url) => (url, named_zip(&meta, wanted)?, None),
            Location::Blob(Blob { url, digest, bytes }) => {
                // The digest is the `zh:`, so a wrong package is refused before its download.
                named(&hash::zh_of_digest(digest), wanted)?;
                (url, Check::Digest(*digest), Some(*bytes))
            }
        };
        let request = PackageRequest {
            bytes,
            retries: meta.download_retries,
            ..PackageRequest::of_provider(url, check)
        };
        // In the directory of its place, so that giving it its name is one step of the file system.
        let make = || self.mirror.disk.draft(&dirs.provider);
        download(source.net, &make, request)
            .map(Arrived::Zip)
            .map_err(|error| match error.fault {
                // The error of the system is reduced to its kind and reason.
                FetchFault::Scratch { kind, reason } => {
                    PlaceFailure::Write(io::Error::new(kind, reason))
                }
                _ => PlaceFailure::Failed(in_words(&error)),
            })
    }

    /// Copies a package of this machine.
    fn local(
        &self,
        local: &Local,
        dirs: &ReleaseDirs,
        wanted: &SoughtPackage<'_>,
    ) -> Result<Arrived<'a>, PlaceFailure> {
        match local {
            Local::Archive(path) => self.copied(self.files.open(path), &dirs.provider),
            // The zip, whose bytes `zh:` is the hash of, cannot be made again from its files.
            Local::Directory(_) if wanted.needs_zip => {
                Err(PlaceFailure::Lacks(ONLY_UNPACKED.to_owned()))
            }
            Local::Directory(path) => {
                let _turn = self.jobs.enter();
                let copied = unpacked::copy(self.files, self.mirror.disk, path, &dirs.version);
                match copied {
                    Ok(directory) => Ok(Arrived::Directory(directory)),
                    Err(UnpackError::Write(cause)) => Err(PlaceFailure::Write(cause)),
                    Err(UnpackError::Archive(error)) => Err(PlaceFailure::Failed(in_words(&error))),
                }
            }
        }
    }

    fn copied(
        &self,
        opened: io::Result<impl Read>,
        dir: &Path,
    ) -> Result<Arrived<'a>, PlaceFailure> {
        let copied = copy::copy(opened, self.mirror.disk, dir).map_err(|error| match error {
            FileCopyError::Read(error) => PlaceFailure::Failed(error.to_string()),
            FileCopyError::Write(error) => PlaceFailure::Write(error),
        })?;
        Ok(Arrived::Zip(copied))
    }

    /// Hashes what has arrived, and compares it with what vouches for it.
    fn checked(
        &self,
        wanted: &SoughtPackage<'_>,
        arrived: Arrived<'a>,
    ) -> Result<ReadyForms<'a>, PlaceFailure> {
        let (mut draft, digest, bytes) = match arrived {
            Arrived::Zip(zip) => (zip.file, zip.digest, zip.bytes),
            Arrived::Directory(directory) if wanted.target.accepts(&directory.hashes) => {
                return Ok(ReadyForms {
                    hashes: directory.hashes.clone(),
                    zip: None,
                    directory: Some(directory),
                    from: None,
                });
            }
            Arrived::Directory(directory) => {
                return Err(PlaceFailure::Failed(format!(
                    "its unpacked package has {}, which is not that of the release",
                    directory.hashes.h1
                )));
            }
        };
        let zh = hash::zh_of_digest(&digest);
        // Where the list is known nothing else counts, so other bytes need no look at their content.
        if !wanted.target.zips.contains(&zh) && wanted.target.h1s.is_empty() {
            return Err(PlaceFailure::Failed(format!(
                "its package has {zh}, which is not that of the release"
            )));
        }
        // A fact about the same bytes saves unpacking them, which costs more than the download from nearby.
        let hasher = Hasher {
            facts: self.facts,
            turns: self.jobs,
        };
        let type_name = wanted.id.provider.type_name();
        let h1 = match hasher.known(wanted.root.trusted, &zh, type_name) {
            Some(stored) => stored.fact.h1.clone(),
            None => {
                let zip = hasher
                    .zip(zh.clone(), &mut draft, type_name)
                    .map_err(|fault| PlaceFailure::Failed(in_words(&fault)))?;
                let h1 = &zip.hashes.h1;
                if !wanted.target.zips.contains(&zh) && !wanted.target.h1s.contains(h1) {
                    return Err(PlaceFailure::Failed(format!(
                        "its package has {zh} and {h1}, of which the lock file has neither"
                    )));
                }
                // The platforms of the release are part of a fact, and only a signed list names all of them.
                if !wanted.offered.is_empty() {
                    zip.keep(self.facts, bytes, &wanted.id, wanted.offered.clone());
                }
                zip.hashes.h1
            }
        };
        let zh = Some(zh);
        Ok(ReadyForms {
            hashes: MirroredHashes { zh, h1, bytes },
            zip: Some(draft),
            directory: None,
            from: None,
        })
    }
}

/// Returns how a download is checked, by the `zh:` that its source states; one that is not wanted is not
/// downloaded.
fn named_zip(meta: &PackageMeta, wanted: &SoughtPackage<'_>) -> Result<Check, PlaceFailure> {
    // The registry says which zip it would send: one that is not wanted is refused before it costs a byte.
    if let Some(evidence) = &meta.evidence {
        named(&hash::zh_of_digest(&evidence.shasum), wanted)?;
        return Ok(Check::Digest(evidence.shasum));
    }
    // The only `zh:` that counts is the one that the package must have; statements of a mirror do not.
    let mut zips = wanted.target.zips.iter();
    if let (Some(only), None) = (zips.next(), zips.next())
        && wanted.target.h1s.is_empty()
        && let Some(digest) = hash::digest_of_hex(only.value())
    {
        return Ok(Check::Digest(digest));
    }
    // A mirror may state the `zh:` of several packages; one of them is wanted.
    let stated: Vec<&Hash> = meta.stated.of(Scheme::Zh).collect();
    if let Some(zh) = stated.iter().find(|zh| wanted.target.zips.contains(zh))
        && let Some(digest) = hash::digest_of_hex(zh.value())
    {
        return Ok(Check::Digest(digest));
    }
    // The received package is compared with the lock file.
    Ok(Check::Stated)
}

fn named(zh: &Hash, wanted: &SoughtPackage<'_>) -> Result<(), PlaceFailure> {
    if wanted.target.zips.contains(zh) || !wanted.target.h1s.is_empty() {
        return Ok(());
    }
    Err(PlaceFailure::Failed(format!(
        "it offers {zh}, which is not that of the release"
    )))
}

fn in_words(error: &dyn std::error::Error) -> String {
    std::iter::once(error.to_string())
        .chain(causes(error))
        .collect::<Vec<_>>()
        .join(": ")
}

/// Returns the same package on the other public registries, for use after its own place has failed.
///
/// Both registries serve the same zips for most providers; the `zh:` shows if they do.
fn other_registries(id: &PackageId) -> impl Iterator<Item = PackageId> {
    let providers: BTreeSet<_> = Flavor::ALL
        .iter()
        .filter_map(|flavor| id.provider.on_registry_of(*flavor))
        .filter(|provider| *provider != id.provider)
        .collect();
    let id = id.clone();
    providers.into_iter().map(move |provider| PackageId {
        provider,
        ..id.clone()
    })
}
