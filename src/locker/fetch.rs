//! Packages to hashes, side by side.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::prove::Proven;
use super::query::listed_platforms;
use super::work::{RootWork, answers};
use super::{FlavorSource, LockError, Settings, TrustedFacts};
use crate::addr::Url;
use crate::archive::zip::{self, Oddity, ZipHashes};
use crate::archive::{ArchiveError, Limits, dir, has_executable};
use crate::authenticate;
use crate::hash::{self, Digest, Hash, Hashes, Package};
use crate::package::{Blob, Fact, Local, Location, PackageId, PackageMeta, PackedFile};
use crate::parallel::{self, Gate};
use crate::platform::Platform;
use crate::sources::FetchError;
use crate::sources::download::{Check, Downloaded, PackageRequest, download_as};
use crate::store::{Facts, StoredFact};
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
    pub(super) platform: Platform,
    /// What its source says about it; `None` if no source was asked.
    pub(super) meta: Option<Arc<PackageMeta>>,
    pub(super) content: Arc<Content>,
    /// Those of its hashes that a mirror states as well.
    pub(super) confirmed: Hashes,
}

impl Hashed {
    /// Returns which package one of these is.
    pub(super) fn id(&self, package: &HashedPackage) -> PackageId {
        let selected = &self.proven.offered.selected;
        PackageId {
            provider: selected.provider.clone(),
            version: selected.version.clone(),
            platform: package.platform.clone(),
        }
    }
}

impl HashedPackage {
    /// Returns where the package is: a URL or a path; `None` if no source was asked.
    pub(super) fn place(&self) -> Option<String> {
        self.meta.as_ref().map(|meta| meta.location.to_string())
    }
}

/// What a package holds, whichever root needs it.
pub(super) struct Content {
    /// The hash of the unpacked directory: what is recorded.
    pub(super) h1: Hash,
    pub(super) form: Form,
    pub(super) oddities: Vec<Oddity>,
    /// The fact that says so, if the package was not looked at.
    pub(super) fact: Option<Arc<StoredFact>>,
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
    /// Returns what a fact says.
    pub(super) fn known(fact: Arc<StoredFact>) -> Self {
        Self {
            h1: fact.fact.h1.clone(),
            form: Form::Zip {
                zh: fact.fact.zh.clone(),
                // Facts are kept of packages only where both are equal.
                member_h1: fact.fact.h1.clone(),
            },
            oddities: Vec::new(),
            fact: Some(fact),
        }
    }

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
    /// The facts that say what it holds; `None` unless a signature covers it.
    trusted: Option<TrustedFacts>,
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
        /// How long it is stated to be, in bytes, which is looked at when it is there.
        size: Option<u64>,
        /// How long it must be, else it is not downloaded.
        bytes: Option<u64>,
        retries: Option<usize>,
    },
}

impl WantedPackage {
    fn new(source: usize, trusted: TrustedFacts, proven: &Proven, meta: &PackageMeta) -> Self {
        let zh = meta.evidence.as_ref();
        let zh = zh.map(|evidence| hash::zh_of_digest(&evidence.shasum));
        let proof = proven.lists.proof.as_ref();
        let is_signed = proof
            .zip(zh)
            .is_some_and(|(proof, zh)| proof.zips.contains(&zh));
        Self {
            trusted: is_signed.then_some(trusted),
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
                    size: meta.stated_size(),
                    bytes: None,
                    retries: meta.download_retries,
                },
                Location::Blob(Blob { url, digest, bytes }) => Place::Remote {
                    source,
                    url: url.clone(),
                    check: Check::Digest(*digest),
                    size: None,
                    bytes: Some(*bytes),
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
    /// It has another length than its registry states.
    Size {
        stated: u64,
        found: u64,
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
            Self::Size { stated, found } => LockError::StatedSize {
                id,
                place,
                stated: *stated,
                found: *found,
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
    facts: &dyn Facts,
    sources: &[&FlavorSource<'_>],
    settings: &Settings,
    roots: Vec<RootWork<'a, Proven>>,
) -> Vec<RootWork<'a, Hashed>> {
    let mut metas: BTreeMap<WantedPackage, Arc<PackageMeta>> = BTreeMap::new();
    let mut wanted = Vec::new();
    for root in &roots {
        for one in &root.providers {
            for meta in one.looked_at() {
                let package = WantedPackage::new(root.source, root.request.trusted, one, meta);
                if let Entry::Vacant(new) = metas.entry(package) {
                    wanted.push(new.key().clone());
                    new.insert(Arc::clone(meta));
                }
            }
        }
    }
    let hasher = Hasher {
        disk,
        facts,
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
        answers(at_once, wanted, |one| {
            hasher.hash(one, &metas[one]).map(Arc::new)
        });
    let hashed = |root: RootWork<'a, Proven>| {
        let (source, trusted) = (root.source, root.request.trusted);
        root.advance(|proven, errors| {
            let mut packages = listed_packages(&proven);
            for meta in proven.looked_at() {
                let content = match &contents[&WantedPackage::new(source, trusted, &proven, meta)] {
                    Ok(content) => content,
                    Err(error) => {
                        errors.push(error.of(meta));
                        continue;
                    }
                };
                match authenticate::confirmed(&meta.stated, &content.as_installed_from()) {
                    Ok(confirmed) => packages.push(HashedPackage {
                        platform: meta.id.platform.clone(),
                        meta: Some(Arc::clone(meta)),
                        content: Arc::clone(content),
                        confirmed,
                    }),
                    Err(cause) => errors.push(LockError::unproven(meta, cause)),
                }
            }
            packages.sort_by(|a, b| a.platform.cmp(&b.platform));
            Some(Hashed { proven, packages })
        })
    };
    roots.into_iter().map(hashed).collect()
}

impl Proven {
    /// Returns the packages whose content counts: those of which nothing else is known.
    fn looked_at(&self) -> impl Iterator<Item = &Arc<PackageMeta>> {
        let metas = self.offered.metas.iter();
        metas.filter(|meta| !self.offered.stated.contains_key(&meta.id.platform))
    }
}

/// Returns the packages that are known and in the signed list; without one there are errors already.
fn listed_packages(proven: &Proven) -> Vec<HashedPackage> {
    let proof = proven.lists.proof.as_ref();
    let is_signed = |zh: &Hash| proof.is_some_and(|proof| proof.zips.contains(zh));
    let known = proven.offered.known.iter();
    let signed = known.filter(|(_, one)| is_signed(&one.fact.zh));
    let packages = signed.map(|(platform, one)| HashedPackage {
        platform: platform.clone(),
        meta: None,
        content: Arc::new(Content::known(Arc::clone(one))),
        confirmed: Hashes::default(),
    });
    packages.collect()
}

/// What hashing needs, beside the package.
struct Hasher<'a> {
    disk: &'a dyn Disk,
    facts: &'a dyn Facts,
    sources: &'a [&'a FlavorSource<'a>],
    /// How many jobs one directory may use.
    within: NonZeroUsize,
    /// Lets as many packages through as there are jobs, however many are being downloaded.
    gate: Gate,
}

impl Hasher<'_> {
    /// Hashes a package, of which this is known where it is wanted first.
    fn hash(&self, wanted: &WantedPackage, meta: &PackageMeta) -> Result<Content, ContentError> {
        match &wanted.place {
            Place::Remote {
                source,
                url,
                check,
                size,
                bytes,
                retries,
            } => {
                if let Some(fact) = self.known(wanted, *check) {
                    return Ok(Content::known(fact));
                }
                let mut net = self.sources[*source].net.clone();
                net.policy.package_retries = retries.unwrap_or(net.policy.package_retries);
                let request = PackageRequest {
                    bytes: *bytes,
                    ..PackageRequest::of_provider(url, *check)
                };
                let package = download_as(&net, self.disk, request);
                let package = package.map_err(ContentError::Download)?;
                let zh = found(&package, *check, *size)?;
                let _turn = self.gate.enter();
                let zip = zip::hash_members(zh, package.file, &Limits::PACKAGE)?;
                check_executable(wanted, zip.files.iter().map(|file| &*file.name))?;
                if wanted.trusted.is_some() {
                    self.keep(&zip, package.bytes, meta);
                }
                Ok(of_zip(zip))
            }
            Place::Local(Local::Archive(path)) => {
                let _turn = self.gate.enter();
                let reader = self.disk.open(path)?;
                let zip = zip::hash_zip(reader, &Limits::PACKAGE)?;
                check_executable(wanted, zip.files.iter().map(|file| &*file.name))?;
                Ok(of_zip(zip))
            }
            Place::Local(Local::Directory(path)) => {
                let _turn = self.gate.enter();
                let dir = dir::hash_directory(self.disk, path, &Limits::PACKAGE, self.within)?;
                check_executable(wanted, dir.files.iter().map(|file| &*file.name))?;
                Ok(Content {
                    h1: dir.h1,
                    form: Form::Directory,
                    oddities: Vec::new(),
                    fact: None,
                })
            }
        }
    }

    /// Returns the fact that says what a package holds, if one counts (`store` rules 1.2).
    fn known(&self, wanted: &WantedPackage, check: Check) -> Option<Arc<StoredFact>> {
        let (Some(trusted), Check::Digest(digest)) = (wanted.trusted, check) else {
            return None;
        };
        let fact = trusted.find(self.facts, &hash::zh_of_digest(&digest))?;
        let is_same_type = fact.fact.id.provider.type_name() == wanted.type_name;
        is_same_type.then_some(fact)
    }

    /// Keeps what was computed, if it can stand for the package (`store` rules 1.1).
    fn keep(&self, zip: &ZipHashes, size: u64, meta: &PackageMeta) {
        if zip.h1 != zip.member_h1 || !zip.oddities.is_empty() {
            return;
        }
        let id = &meta.id;
        let sums = meta.evidence.iter().map(|evidence| &*evidence.sums);
        let offered = sums.flat_map(|sums| listed_platforms(sums, &id.provider, &id.version));
        let offered: BTreeSet<Platform> = offered.collect();
        let files = zip.files.iter().map(|file| {
            Some(PackedFile {
                name: String::from_utf8(file.name.to_vec()).ok()?,
                digest: file.digest,
            })
        });
        self.facts.keep(&Fact {
            zh: zip.zh.clone(),
            h1: zip.h1.clone(),
            size,
            id: id.clone(),
            // Some registries have a checksum list for each platform, which names no other.
            offered: match offered.len() {
                0 | 1 => Vec::new(),
                _ => offered.into_iter().collect(),
            },
            files: files
                .collect::<Option<Vec<PackedFile>>>()
                .unwrap_or_default(),
        });
    }
}

/// Returns the hash of a downloaded package, after making sure that it is the one that the registry means.
fn found(package: &Downloaded, check: Check, size: Option<u64>) -> Result<Hash, ContentError> {
    if let Some(stated) = size.filter(|stated| *stated != package.bytes) {
        let found = package.bytes;
        return Err(ContentError::Size { stated, found });
    }
    let found = hash::zh_of_digest(&package.digest);
    match check {
        Check::Digest(expected) if expected != package.digest => {
            Err(ContentError::Checksum { expected, found })
        }
        Check::Digest(_) | Check::Stated | Check::Server | Check::Address => Ok(found),
    }
}

fn of_zip(zip: ZipHashes) -> Content {
    Content {
        h1: zip.h1,
        form: Form::Zip {
            zh: zip.zh,
            member_h1: zip.member_h1,
        },
        oddities: zip.oddities,
        fact: None,
    }
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
