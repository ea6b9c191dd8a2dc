//! Packages to hashes, side by side.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::listed::listed_platforms;
use super::stages::{HashedPackage, PackageContent, ReleaseWork};
use super::work::{RootWork, answers};
use super::{FlavorSource, LockError, LockSettings};
use crate::acquire::{Hasher, PackageFault, TrustedFacts};
use crate::addr::Url;
use crate::authenticate;
use crate::hash::{self, Digest, Hash};
use crate::package::{Blob, Local, Location, PackageMeta};
use crate::parallel::{self, Gate};
use crate::sources::FetchError;
use crate::sources::download::{Check, DownloadAllowance, PackageRequest, download};
use crate::store::Facts;
use crate::world::Disk;

/// Maximum number of parallel downloads, on machines with any number of cores: enough to fill a line, and few
/// enough that none of them starves.
pub const DOWNLOADS: NonZeroUsize = NonZeroUsize::new(8).expect("positive");

/// The location of a package and its expected content. Packages that are equal in this are hashed once, for all
/// providers, platforms and roots.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct WantedPackage {
    location: WantedLocation,
    /// The type of the provider: a package must hold a program of that name.
    type_name: String,
    /// The facts that say what it holds; `None` unless a signature covers it.
    trusted: Option<TrustedFacts>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum WantedLocation {
    Local(Local),
    /// Flavors differ in the credentials that they send and in how often they ask again, so a download of
    /// one of them says nothing about another one.
    Remote(RemotePackage),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RemotePackage {
    source: usize,
    url: Url,
    check: Check,
    /// The length that its registry states, in bytes, which is compared after the download.
    size: Option<u64>,
    /// The length that it must have, in bytes; another one ends the download.
    bytes: Option<u64>,
    retries: Option<usize>,
}

impl WantedPackage {
    fn new(
        source: usize,
        trusted: TrustedFacts,
        offered: &ReleaseWork,
        meta: &PackageMeta,
    ) -> Self {
        let is_signed = meta.evidence.as_ref().is_some_and(|evidence| {
            let zh = hash::zh_of_digest(&evidence.shasum);
            offered.lists.is_signed_zip(&zh)
        });
        let location = match &meta.location {
            Location::Local(local) => WantedLocation::Local(local.clone()),
            Location::Remote(url) => WantedLocation::Remote(RemotePackage {
                source,
                url: url.clone(),
                check: match &meta.evidence {
                    Some(evidence) => Check::Digest(evidence.shasum),
                    // A mirror that states no hash is believed (`sources` rules 8.4), but not over plain http
                    // (`sources` rules 8.3).
                    None if meta.stated.is_empty() => Check::Server,
                    None => Check::Stated,
                },
                size: meta.stated_size(),
                bytes: None,
                retries: meta.download_retries,
            }),
            Location::Blob(Blob { url, digest, bytes }) => WantedLocation::Remote(RemotePackage {
                source,
                url: url.clone(),
                check: Check::Digest(*digest),
                size: None,
                bytes: Some(*bytes),
                retries: meta.download_retries,
            }),
        };
        Self {
            location,
            type_name: meta.id.provider.type_name().to_owned(),
            // A fact replaces a download only where the signed list names the `zh:` (`store` rules 1.2).
            trusted: is_signed.then_some(trusted),
        }
    }
}

/// The reason why the hashes of a package are not known, for all roots that need them.
enum ContentError {
    Download(FetchError),
    /// The hash of its bytes is not the one that its registry states.
    Checksum {
        expected: Digest,
        found: Hash,
    },
    /// Its length is not the one that its registry states.
    Size {
        stated: u64,
        found: u64,
    },
    Package(Arc<PackageFault>),
}

impl ContentError {
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
            Self::Package(fault) => match &**fault {
                PackageFault::Archive(_) => LockError::Package {
                    id,
                    place,
                    cause: Arc::clone(fault),
                },
                PackageFault::NoExecutable => LockError::NoExecutable { id, place },
            },
        }
    }
}

impl From<PackageFault> for ContentError {
    fn from(fault: PackageFault) -> Self {
        Self::Package(Arc::new(fault))
    }
}

type PackageContents = BTreeMap<WantedPackage, Result<Arc<PackageContent>, ContentError>>;

/// Downloads and hashes every package that some root needs.
///
/// A package that must come over the network is on disk only as long as it is hashed, in a file
/// without a name.
pub(super) fn hash<'a>(
    disk: &dyn Disk,
    facts: &dyn Facts,
    sources: &[&FlavorSource<'_>],
    settings: &LockSettings,
    mut roots: Vec<RootWork<'a, ReleaseWork>>,
) -> Vec<RootWork<'a, ReleaseWork>> {
    for root in &mut roots {
        let needs_download = root
            .providers
            .iter()
            .flat_map(|offered| &offered.metas)
            .any(|meta| meta.location.url().is_some());
        // A root that failed gets no lock file, so nothing is downloaded for it. Local packages are hashed all
        // the same, since this costs little and may show more that is wrong.
        if !root.errors.is_empty() && needs_download {
            root.providers.clear();
        }
    }
    let contents = contents(disk, facts, sources, settings, &roots);
    roots
        .into_iter()
        .map(|root| {
            let (source, trusted) = (root.source, root.request.trusted);
            root.advance(|offered, errors| {
                Some(hashed_provider(source, trusted, offered, &contents, errors))
            })
        })
        .collect()
}

fn contents(
    disk: &dyn Disk,
    facts: &dyn Facts,
    sources: &[&FlavorSource<'_>],
    settings: &LockSettings,
    roots: &[RootWork<'_, ReleaseWork>],
) -> PackageContents {
    // The first package in the order of the roots gives its fact the provider's address.
    let mut metas: BTreeMap<WantedPackage, &PackageMeta> = BTreeMap::new();
    let mut wanted = Vec::new();
    for root in roots {
        for offered in &root.providers {
            for meta in offered.to_hash() {
                let package = WantedPackage::new(root.source, root.request.trusted, offered, meta);
                metas.entry(package.clone()).or_insert(meta);
                wanted.push(package);
            }
        }
    }
    let fetcher = Fetcher {
        disk,
        hasher: Hasher {
            facts,
            turns: &Gate::new(settings.jobs),
        },
        sources,
        allowance: settings.max_download.map(DownloadAllowance::new),
        jobs_per_directory: parallel::within(settings.jobs, metas.len()),
    };
    // A download mostly waits for the network, hashing for a core: the gate keeps those apart.
    let is_remote = |package: &WantedPackage| matches!(package.location, WantedLocation::Remote(_));
    let at_once = if metas.keys().any(is_remote) {
        settings.downloads
    } else {
        settings.jobs
    };
    answers(at_once, wanted, |package| {
        fetcher.hash(package, metas[package]).map(Arc::new)
    })
}

fn hashed_provider(
    source: usize,
    trusted: TrustedFacts,
    offered: ReleaseWork,
    contents: &PackageContents,
    errors: &mut Vec<LockError>,
) -> ReleaseWork {
    // Without a signed list that has the zip there are errors already.
    let mut packages: Vec<HashedPackage> = offered
        .known
        .iter()
        .filter(|(_, stored)| offered.lists.is_signed_zip(&stored.fact.zh))
        .map(|(platform, stored)| HashedPackage::by_fact(platform.clone(), Arc::clone(stored)))
        .collect();
    for meta in offered.to_hash() {
        let content = match &contents[&WantedPackage::new(source, trusted, &offered, meta)] {
            Ok(content) => content,
            Err(error) => {
                errors.push(error.of(meta));
                continue;
            }
        };
        match authenticate::confirmed(&meta.stated, &content.hashes.to_install()) {
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
    ReleaseWork {
        packages,
        ..offered
    }
}

impl ReleaseWork {
    /// Returns the packages without a claim that replaces their download.
    fn to_hash(&self) -> impl Iterator<Item = &Arc<PackageMeta>> {
        self.metas
            .iter()
            .filter(|meta| !self.claimed.contains_key(&meta.id.platform))
    }
}

/// The context of fetching, beside the package.
struct Fetcher<'a> {
    disk: &'a dyn Disk,
    hasher: Hasher<'a>,
    sources: &'a [&'a FlavorSource<'a>],
    allowance: Option<DownloadAllowance>,
    jobs_per_directory: NonZeroUsize,
}

impl Fetcher<'_> {
    fn hash(
        &self,
        wanted: &WantedPackage,
        meta: &PackageMeta,
    ) -> Result<PackageContent, ContentError> {
        let remote = match &wanted.location {
            WantedLocation::Remote(remote) => remote,
            WantedLocation::Local(place) => {
                let (disk, jobs) = (self.disk, self.jobs_per_directory);
                let hashes = self.hasher.local(disk, place, jobs, &wanted.type_name)?;
                return Ok(PackageContent::hashed(hashes));
            }
        };
        // A fact stands for the download where a signed list names the `zh:` (`store` rules 1.2).
        if let (Some(trusted), Check::Digest(digest)) = (wanted.trusted, remote.check) {
            let zh = hash::zh_of_digest(&digest);
            if let Some(fact) = self.hasher.known(trusted, &zh, &wanted.type_name) {
                return Ok(PackageContent::by_fact(fact));
            }
        }
        let source = self.sources[remote.source];
        let request = PackageRequest {
            bytes: remote.bytes,
            retries: remote.retries,
            allowance: self.allowance.as_ref(),
            ..PackageRequest::of_provider(&remote.url, remote.check)
        };
        let package = download(source.net, &|| self.disk.scratch(), request)
            .map_err(ContentError::Download)?;
        // In the order of OpenTofu, which compares the size before anything else (`authenticate` rules 4.4).
        if let Some(stated) = remote.size.filter(|stated| *stated != package.bytes) {
            let found = package.bytes;
            return Err(ContentError::Size { stated, found });
        }
        let zh = hash::zh_of_digest(&package.digest);
        match remote.check {
            Check::Digest(expected) if expected != package.digest => {
                return Err(ContentError::Checksum {
                    expected,
                    found: zh,
                });
            }
            Check::Digest(_) | Check::Stated | Check::Server | Check::Address => {}
        }
        let zip = self.hasher.zip(zh, package.file, &wanted.type_name)?;
        // Only a signature ties the zip to the provider and version that a fact names.
        if wanted.trusted.is_some() {
            let id = &meta.id;
            let offered = meta
                .evidence
                .iter()
                .flat_map(|evidence| listed_platforms(&evidence.sums, &id.provider, &id.version))
                .collect();
            zip.keep(self.hasher.facts, package.bytes, id, offered);
        }
        Ok(PackageContent::hashed(zip.hashes.into()))
    }
}
