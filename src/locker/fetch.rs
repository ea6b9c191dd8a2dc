//! Packages to hashes, side by side.

use std::num::NonZeroUsize;

use super::query::{Found, keep_good};
use super::{LockError, Request};
use crate::archive::zip::Oddity;
use crate::archive::{Limits, dir, has_executable, zip};
use crate::hash::{Hash, Package};
use crate::package::{Local, Location, PackageMeta};
use crate::parallel;
use crate::world::Files;

/// A selected provider with its packages hashed.
pub(super) struct Hashed {
    pub(super) found: Found,
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
    /// Returns what a lock entry is compared with when the package is installed.
    pub(super) fn as_installed_from(&self) -> Package<'_> {
        match &self.form {
            Form::Zip { zh, member_h1 } => Package::Zip { zh, member_h1 },
            Form::Directory => Package::Unpacked { h1: &self.h1 },
        }
    }
}

/// Hashes every package, in the order given.
pub(super) fn hash(
    files: &dyn Files,
    request: &Request<'_>,
    found: Vec<Found>,
    errors: &mut Vec<LockError>,
) -> Vec<Hashed> {
    let metas: Vec<&PackageMeta> = found.iter().flat_map(|one| &one.metas).collect();
    let jobs = parallel::within(request.jobs, metas.len());
    let results = parallel::map(request.jobs, &metas, |meta| hash_one(files, meta, jobs));
    let mut results = results.into_iter();
    let mut hashed = Vec::new();
    for one in found {
        let own = results.by_ref().take(one.metas.len()).collect();
        hashed.push(Hashed {
            packages: keep_good(own, errors),
            found: one,
        });
    }
    hashed
}

fn hash_one(
    files: &dyn Files,
    meta: &PackageMeta,
    jobs: NonZeroUsize,
) -> Result<HashedPackage, LockError> {
    let place = || meta.location.to_string();
    let failed = |cause| LockError::Package {
        id: Box::new(meta.id.clone()),
        place: place(),
        cause,
    };
    let (h1, form, contents, oddities) = match &meta.location {
        Location::Local(Local::Archive(path)) => {
            let reader = files.open(path).map_err(|cause| failed(cause.into()))?;
            let zip = zip::hash_zip(reader, &Limits::PACKAGE).map_err(failed)?;
            let form = Form::Zip {
                zh: zip.zh,
                member_h1: zip.member_h1,
            };
            (zip.h1, form, zip.files, zip.oddities)
        }
        Location::Remote(url) => return Err(failed(std::io::Error::other(url.to_string()).into())),
        Location::Local(Local::Directory(path)) => {
            let dir = dir::hash_directory(files, path, &Limits::PACKAGE, jobs).map_err(failed)?;
            (dir.h1, Form::Directory, dir.files, Vec::new())
        }
    };
    let names = contents.iter().map(|file| &*file.name);
    if !has_executable(names, meta.id.provider.type_name()) {
        return Err(LockError::NoExecutable {
            id: Box::new(meta.id.clone()),
            place: place(),
        });
    }
    Ok(HashedPackage {
        meta: meta.clone(),
        h1,
        form,
        oddities,
    })
}
