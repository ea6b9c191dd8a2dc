//! Packages to hashes, side by side.

use std::io::{Read, Seek};
use std::num::NonZeroUsize;

use super::prove::Proof;
use super::query::{Found, keep_good};
use super::{LockError, Outside, Request};
use crate::addr::Url;
use crate::archive::zip::{self, Oddity, ZipHashes};
use crate::archive::{Limits, dir, has_executable};
use crate::hash::{self, Hash, Package};
use crate::package::{Local, Location, PackageMeta};
use crate::parallel::{self, Gate};
use crate::sources::download::download;

/// How many packages are downloaded at once, whatever the number of cores: enough to fill a line,
/// and few enough that none of them starves.
pub const DOWNLOADS: NonZeroUsize = NonZeroUsize::new(8).expect("positive");

/// A selected provider with its packages hashed.
pub(super) struct Hashed {
    pub(super) found: Found,
    pub(super) proof: Option<Proof>,
    pub(super) packages: Vec<HashedPackage>,
}

/// One package with its hashes.
pub(super) struct HashedPackage {
    pub(super) meta: PackageMeta,
    /// The hash of the unpacked directory: what is recorded.
    pub(super) h1: Hash,
    pub(super) form: Form,
    pub(super) oddities: Vec<Oddity>,
}

/// What the form of a package adds to its `h1:`.
pub(super) enum Form {
    /// A zip has the hash of its bytes and the one of its members.
    Zip {
        zh: Hash,
        member_h1: Hash,
    },
    Directory,
}

impl HashedPackage {
    /// Returns the hash of the members of a zip.
    pub(super) fn member_h1(&self) -> Option<&Hash> {
        match &self.form {
            Form::Zip { member_h1, .. } => Some(member_h1),
            Form::Directory => None,
        }
    }

    /// Returns the hash of the bytes of a zip.
    pub(super) fn zh(&self) -> Option<Hash> {
        match &self.form {
            Form::Zip { zh, .. } => Some(zh.clone()),
            Form::Directory => None,
        }
    }

    /// Returns what a lock entry is compared with when the package is installed.
    pub(super) fn as_installed_from(&self) -> Package<'_> {
        match &self.form {
            Form::Zip { zh, member_h1 } => Package::Zip { zh, member_h1 },
            Form::Directory => Package::Unpacked { h1: &self.h1 },
        }
    }
}

/// Downloads and hashes every package, in the order given.
///
/// A package that must come over the network is on disk only as long as it is hashed, in a file
/// that nobody can see.
pub(super) fn hash(
    outside: &Outside<'_>,
    request: &Request<'_>,
    found: Vec<(Found, Option<Proof>)>,
    errors: &mut Vec<LockError>,
) -> Vec<Hashed> {
    let metas: Vec<&PackageMeta> = found.iter().flat_map(|(one, _)| &one.metas).collect();
    let work = Work {
        outside,
        within: parallel::within(request.jobs, metas.len()),
        gate: Gate::new(request.jobs),
    };
    let is_remote = |meta: &&PackageMeta| matches!(meta.location, Location::Remote(_));
    let side_by_side = if metas.iter().any(is_remote) {
        request.downloads
    } else {
        request.jobs
    };
    let results = parallel::map(side_by_side, &metas, |meta| work.hash(meta));
    let mut results = results.into_iter();
    let mut hashed = Vec::new();
    for (one, proof) in found {
        let own = results.by_ref().take(one.metas.len()).collect();
        hashed.push(Hashed {
            packages: keep_good(own, errors),
            found: one,
            proof,
        });
    }
    hashed
}

/// What hashing needs, beside the package.
struct Work<'a> {
    outside: &'a Outside<'a>,
    /// How many jobs one directory may use.
    within: NonZeroUsize,
    /// Lets as many packages through as there are jobs, however many are being downloaded.
    gate: Gate,
}

impl Work<'_> {
    fn hash(&self, meta: &PackageMeta) -> Result<HashedPackage, LockError> {
        let failed = |cause| LockError::Package {
            id: Box::new(meta.id.clone()),
            place: meta.location.to_string(),
            cause,
        };
        match &meta.location {
            Location::Remote(url) => {
                let (zh, file) = self.download(meta, url)?;
                let _turn = self.gate.enter();
                let hashed = zip::hash_members(zh, file, &Limits::PACKAGE);
                of_zip(meta, hashed.map_err(failed)?)
            }
            Location::Local(Local::Archive(path)) => {
                let _turn = self.gate.enter();
                let reader = self.outside.disk.open(path);
                let reader = reader.map_err(|cause| failed(cause.into()))?;
                of_zip(
                    meta,
                    zip::hash_zip(reader, &Limits::PACKAGE).map_err(failed)?,
                )
            }
            Location::Local(Local::Directory(path)) => {
                let _turn = self.gate.enter();
                let disk = self.outside.disk;
                let dir = dir::hash_directory(disk, path, &Limits::PACKAGE, self.within);
                let dir = dir.map_err(failed)?;
                let names = dir.files.iter().map(|file| &*file.name);
                check_executable(meta, names)?;
                Ok(HashedPackage {
                    meta: meta.clone(),
                    h1: dir.h1,
                    form: Form::Directory,
                    oddities: Vec::new(),
                })
            }
        }
    }

    /// Downloads a package and makes sure that it is the one that the registry means.
    fn download(
        &self,
        meta: &PackageMeta,
        url: &Url,
    ) -> Result<(Hash, impl Read + Seek + use<>), LockError> {
        let expected = meta.evidence.as_ref().map(|evidence| &evidence.shasum);
        let Outside { disk, net } = *self.outside;
        let downloaded = download(net, disk, url, expected).map_err(|cause| {
            let id = Box::new(meta.id.clone());
            LockError::Download { id, cause }
        })?;
        let zh = hash::zh_of_digest(&downloaded.digest);
        match expected {
            Some(expected) if *expected != downloaded.digest => Err(LockError::Checksum {
                id: Box::new(meta.id.clone()),
                place: url.to_string(),
                expected: hash::zh_of_digest(expected),
                found: zh,
            }),
            _ => Ok((zh, downloaded.file)),
        }
    }
}

fn of_zip(meta: &PackageMeta, zip: ZipHashes) -> Result<HashedPackage, LockError> {
    check_executable(meta, zip.files.iter().map(|file| &*file.name))?;
    Ok(HashedPackage {
        meta: meta.clone(),
        h1: zip.h1,
        form: Form::Zip {
            zh: zip.zh,
            member_h1: zip.member_h1,
        },
        oddities: zip.oddities,
    })
}

fn check_executable<'a>(
    meta: &PackageMeta,
    names: impl Iterator<Item = &'a [u8]>,
) -> Result<(), LockError> {
    if has_executable(names, meta.id.provider.type_name()) {
        return Ok(());
    }
    Err(LockError::NoExecutable {
        id: Box::new(meta.id.clone()),
        place: meta.location.to_string(),
    })
}
