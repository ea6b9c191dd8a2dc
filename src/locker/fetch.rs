//! Packages to hashes, side by side.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::prove::Proven;
use super::work::{RootWork, answers, distinct};
use super::{FlavorSource, LockError, Settings};
use crate::addr::Url;
use crate::archive::zip::{self, Oddity, ZipHashes};
use crate::archive::{ArchiveError, Limits, dir, has_executable};
use crate::authenticate;
use crate::hash::{self, Digest, Hash, Hashes, Package};
use crate::package::{Local, Location, PackageMeta};
use crate::parallel::{self, Gate};
use crate::sources::FetchError;
use crate::sources::download::{Check, download};
use crate::sources::net::Net;
use crate::world::Disk;

/// How many packages are downloaded at once, whatever the number of cores: enough to fill a line,
/// and few enough that none of them starves.
pub const DOWNLOADS: NonZeroUsize = NonZeroUsize::new(8).expect("positive");

/// A provider with its packages hashed.
pub(super) struct Hashed {
    pub(super) proven: Proven,
    pub(super) packages: Vec<HashedPackage>,
}

/// One package with its hashes.
pub(super) struct HashedPackage {
    pub(super) meta: Arc<PackageMeta>,
    pub(super) content: Arc<Content>,
    /// Those of its hashes that a mirror states as well.
    pub(super) confirmed: Hashes,
}

/// What a package holds, whichever root needs it.
pub(super) struct Content {
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

impl Content {
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

/// Where a package is and what it must be. Packages that are equal in this are hashed once,
/// whatever their providers, platforms and roots.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct WantedPackage {
    place: Place,
    /// The type of the provider: a package must hold a program of that name.
    type_name: String,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Local(Local),
    /// Flavors differ in the credentials that they send and in how often they ask again, so what one
    /// of them downloads says nothing about another one.
    Remote {
        source: usize,
        url: Url,
        check: Check,
        retries: Option<usize>,
    },
}

impl WantedPackage {
    fn new(source: usize, meta: &PackageMeta) -> Self {
        Self {
            place: match &meta.location {
                Location::Local(local) => Place::Local(local.clone()),
                Location::Remote(url) => Place::Remote {
                    source,
                    url: url.clone(),
                    check: match &meta.evidence {
                        Some(evidence) => Check::Digest(evidence.shasum),
                        None if meta.stated.is_empty() => Check::Server,
                        None => Check::Stated,
                    },
                    retries: meta.download_retries,
                },
            },
            type_name: meta.id.provider.type_name().to_owned(),
        }
    }
}

/// Why the hashes of a package are not known, whichever root needs them.
enum ContentError {
    Download(FetchError),
    /// Its bytes are others than its registry states.
    Checksum {
        expected: Digest,
        found: Hash,
    },
    Archive(Arc<ArchiveError>),
    NoExecutable,
}

impl ContentError {
    /// Says it of a package.
    fn of(&self, meta: &PackageMeta) -> LockError {
        let (id, place) = (Box::new(meta.id.clone()), meta.location.to_string());
        match self {
            Self::Download(cause) => LockError::Download {
                id,
                cause: cause.clone(),
            },
            Self::Checksum { expected, found } => LockError::Checksum {
                id,
                place,
                expected: hash::zh_of_digest(expected),
                found: found.clone(),
            },
            Self::Archive(cause) => LockError::Package {
                id,
                place,
                cause: Arc::clone(cause),
            },
            Self::NoExecutable => LockError::NoExecutable { id, place },
        }
    }
}

impl<E: Into<ArchiveError>> From<E> for ContentError {
    fn from(cause: E) -> Self {
        Self::Archive(Arc::new(cause.into()))
    }
}

/// Downloads and hashes every package that some root needs.
///
/// A package that must come over the network is on disk only as long as it is hashed, in a file
/// without a name.
pub(super) fn hash<'a>(
    disk: &dyn Disk,
    sources: &[&FlavorSource<'_>],
    settings: &Settings,
    roots: Vec<RootWork<'a, Proven>>,
) -> Vec<RootWork<'a, Hashed>> {
    let wanted = roots.iter().flat_map(|root| {
        let metas = root.providers.iter().flat_map(|one| &one.offered.metas);
        metas.map(|meta| WantedPackage::new(root.source, meta))
    });
    let wanted = distinct(wanted);
    let hasher = Hasher {
        disk,
        sources,
        within: parallel::within(settings.jobs, wanted.len()),
        gate: Gate::new(settings.jobs),
    };
    // A download mostly waits for the network, hashing for a core: the gate keeps those apart.
    let is_remote = |one: &WantedPackage| matches!(one.place, Place::Remote { .. });
    let at_once = if wanted.iter().any(is_remote) {
        settings.downloads
    } else {
        settings.jobs
    };
    let contents: BTreeMap<WantedPackage, Result<Arc<Content>, ContentError>> =
        answers(at_once, wanted, |one| hasher.hash(one).map(Arc::new));
    let hashed = |root: RootWork<'a, Proven>| {
        let source = root.source;
        root.advance(|proven, errors| {
            let mut packages = Vec::new();
            for meta in &proven.offered.metas {
                let content = match &contents[&WantedPackage::new(source, meta)] {
                    Ok(content) => content,
                    Err(error) => {
                        errors.push(error.of(meta));
                        continue;
                    }
                };
                match authenticate::confirmed(&meta.stated, &content.as_installed_from()) {
                    Ok(confirmed) => packages.push(HashedPackage {
                        meta: Arc::clone(meta),
                        content: Arc::clone(content),
                        confirmed,
                    }),
                    Err(cause) => errors.push(LockError::unproven(meta, cause)),
                }
            }
            Some(Hashed { proven, packages })
        })
    };
    roots.into_iter().map(hashed).collect()
}

/// What hashing needs, beside the package.
struct Hasher<'a> {
    disk: &'a dyn Disk,
    sources: &'a [&'a FlavorSource<'a>],
    /// How many jobs one directory may use.
    within: NonZeroUsize,
    /// Lets as many packages through as there are jobs, however many are being downloaded.
    gate: Gate,
}

impl Hasher<'_> {
    fn hash(&self, wanted: &WantedPackage) -> Result<Content, ContentError> {
        match &wanted.place {
            Place::Remote {
                source,
                url,
                check,
                retries,
            } => {
                let mut net = self.sources[*source].net.clone();
                net.policy.package_retries = retries.unwrap_or(net.policy.package_retries);
                let (zh, file) = self.download(&net, url, *check)?;
                let _turn = self.gate.enter();
                of_zip(wanted, zip::hash_members(zh, file, &Limits::PACKAGE)?)
            }
            Place::Local(Local::Archive(path)) => {
                let _turn = self.gate.enter();
                let reader = self.disk.open(path)?;
                of_zip(wanted, zip::hash_zip(reader, &Limits::PACKAGE)?)
            }
            Place::Local(Local::Directory(path)) => {
                let _turn = self.gate.enter();
                let dir = dir::hash_directory(self.disk, path, &Limits::PACKAGE, self.within)?;
                check_executable(wanted, dir.files.iter().map(|file| &*file.name))?;
                Ok(Content {
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
        net: &Net<'_>,
        url: &Url,
        check: Check,
    ) -> Result<(Hash, impl Read + Seek + use<>), ContentError> {
        let downloaded = download(net, self.disk, url, check).map_err(ContentError::Download)?;
        let found = hash::zh_of_digest(&downloaded.digest);
        match check {
            Check::Digest(expected) if expected != downloaded.digest => {
                Err(ContentError::Checksum { expected, found })
            }
            Check::Digest(_) | Check::Stated | Check::Server => Ok((found, downloaded.file)),
        }
    }
}

fn of_zip(wanted: &WantedPackage, zip: ZipHashes) -> Result<Content, ContentError> {
    check_executable(wanted, zip.files.iter().map(|file| &*file.name))?;
    Ok(Content {
        h1: zip.h1,
        form: Form::Zip {
            zh: zip.zh,
            member_h1: zip.member_h1,
        },
        oddities: zip.oddities,
    })
}

fn check_executable<'a>(
    wanted: &WantedPackage,
    names: impl Iterator<Item = &'a [u8]>,
) -> Result<(), ContentError> {
    if has_executable(names, &wanted.type_name) {
        Ok(())
    } else {
        Err(ContentError::NoExecutable)
    }
}
