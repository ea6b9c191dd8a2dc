//! Network mirrors (rules 8).
//!
//! A mirror states which versions and packages there are, and may state hashes of packages. It signs
//! nothing: what it states is handed over as it is, and compared where the package is hashed.

mod documents;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::documents::{Archive, Archives, Index};
use super::discovery::HostCredentials;
use super::net::{Answer, Ask, Net, Redirects};
use super::{
    About, Offer, Sent, Shared, Source, SourceError, SourceFault, SourceLocation, cut, read,
    read_json,
};
use crate::addr::{ProviderAddr, Url};
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes};
use crate::package::{ClaimedPackage, Claims, Location, PackageId, PackageMeta};
use crate::parallel::Memo;
use crate::platform::Platform;
use crate::version::Version;

pub use crate::addr::{MirrorUrl, MirrorUrlError};

/// Maximum size of the list of versions, in bytes.
const MAX_INDEX_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum size of the list of a version's packages, in bytes.
const MAX_ARCHIVES_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum number of platforms that are reported for a version; the most that any release has are some
/// thirty.
const MAX_PLATFORMS: usize = 200;

/// Maximum number of hashes of one package; a sound mirror states one or two.
const MAX_HASHES: usize = 100;

/// Maximum number of redirects of a document (rules 8.7).
const DOCUMENT_HOPS: usize = 5;

/// A mirror, and the credentials for it.
pub struct MirrorAccess<'a> {
    /// Below which URL it answers.
    pub url: MirrorUrl,
    /// The credentials for a host: only that of the mirror is asked about.
    pub credentials: Box<HostCredentials<'a>>,
    /// Hashes that it states for all platforms count as its claims (rules 8.5).
    pub trusts_all_hashes: bool,
}

/// A server with the network mirror protocol.
pub struct NetworkMirror<'a> {
    net: Net<'a>,
    flavor: Flavor,
    access: MirrorAccess<'a>,
    versions: Memo<ProviderAddr, Shared<Arc<BTreeSet<Version>>>>,
    archives: Memo<(ProviderAddr, Version), Shared<Arc<ArchiveListing>>>,
}

/// The packages of a version, and the URL of the document that lists them.
struct ArchiveListing {
    document: Url,
    archives: Archives,
    claims: Option<Arc<Claims>>,
}

impl<'a> NetworkMirror<'a> {
    /// Makes a mirror; makes no request yet.
    #[must_use]
    pub fn new(net: Net<'a>, flavor: Flavor, access: MirrorAccess<'a>) -> Self {
        Self {
            net,
            flavor,
            access,
            versions: Memo::default(),
            archives: Memo::default(),
        }
    }

    /// Asks for a document of a provider; the status of the answer is 200 or 404.
    fn ask(&self, provider: &ProviderAddr, name: &str, limit: u64) -> Shared<Answer> {
        let hostname = provider.hostname().ascii();
        let (namespace, type_name) = (provider.namespace(), provider.type_name());
        let mirror = &self.access.url;
        let url = mirror.url().below([hostname, namespace, type_name, name]);
        // The token of the mirror's own host, never that of the provider's (rules 8.6).
        let credentials = (self.access.credentials)(mirror.host());
        let ask = Ask {
            url: &url,
            headers: &[("x-terraform-version", self.flavor.observed_version())],
            credentials: credentials.as_ref().ok().and_then(Option::as_ref),
            hops: DOCUMENT_HOPS,
            limit,
            timeout: self.net.policy.document_timeout,
            // Nothing signs what a mirror states, so it must not be changed on the way.
            redirects: Redirects::Encrypted,
        };
        let answer = self
            .net
            .document(&ask, self.net.policy.documents())
            .map_err(SourceFault::from)?;
        match answer.status {
            // The content type of a missing document does not matter (rules 8.2).
            404 => Ok(answer),
            200 => match answer.media_type_fault() {
                None => Ok(answer),
                Some(reason) => Err(SourceFault::bad_document(&answer.url, reason)),
            },
            _ => {
                let host = mirror.host();
                let has_credentials = matches!(credentials, Ok(Some(_)));
                let sent = Sent::to(&answer.url, Some(&url.origin()), has_credentials);
                let (refusal, why_none) = (answer.refusal(), credentials.err());
                let fault = SourceFault::refused(refusal, host.to_string(), sent, why_none);
                Err(Arc::new(fault))
            }
        }
    }

    fn listing(&self, provider: &ProviderAddr, version: &Version) -> Shared<Arc<ArchiveListing>> {
        let question = (provider.clone(), version.clone());
        self.archives.get(&question, || {
            let answer = self.ask(provider, &format!("{version}.json"), MAX_ARCHIVES_BYTES)?;
            if answer.status == 404 {
                return Err(Arc::new(SourceFault::UnknownVersion { tag: None }));
            }
            let archives: Archives = read(&answer)?;
            Ok(Arc::new(ArchiveListing {
                claims: self.claims(&archives),
                document: answer.url,
                archives,
            }))
        })
    }

    /// Returns what the mirror states of the packages of all platforms, if that counts.
    fn claims(&self, archives: &Archives) -> Option<Arc<Claims>> {
        // Without the setting only hashes of the package at hand count (rules 8.5).
        if !self.access.trusts_all_hashes {
            return None;
        }
        let mut packages = BTreeMap::new();
        for (platform, archive) in archives.iter().take(MAX_PLATFORMS) {
            let hashes = readable(archive).known().cloned().collect();
            packages.insert(platform, ClaimedPackage { hashes, size: None });
        }
        let by = self.access.url.to_string();
        (!packages.is_empty()).then(|| Arc::new(Claims { by, packages }))
    }

    fn error(&self, about: About, fault: Arc<SourceFault>) -> SourceError {
        let place = SourceLocation::NetworkMirror(Box::new(self.access.url.clone()));
        SourceError::new(place, about, fault)
    }

    fn find(&self, id: &PackageId) -> Shared<PackageMeta> {
        let listing = self.listing(&id.provider, &id.version)?;
        let Some(archive) = listing.archives.of(&id.platform) else {
            return Err(Arc::new(SourceFault::NoPackage {
                offered: listing.archives.platforms(MAX_PLATFORMS),
            }));
        };
        let url = &listing.document;
        // Checked before the place: a hash that cannot be read must not count as none.
        let stated = stated(url, archive)?;
        let place = archive.url.as_deref().unwrap_or_default();
        // The programs would download the document itself as the package (rules 8.3).
        if place.is_empty() {
            let reason = format!("it states no url for {}", id.platform);
            return Err(SourceFault::bad_document(url, reason));
        }
        let place = url
            .join(place)
            .map_err(|cause| SourceFault::bad_url(url, "url", &cause))?;
        // Without a hash only the connection protects the package; the programs fetch it over plain http
        // (rules 8.3).
        if stated.is_empty() && !place.origin().encrypted {
            let fault = format!("states no hash of {place}, which does not use https");
            return Err(SourceFault::bad_answer(url, fault));
        }
        Ok(PackageMeta {
            stated,
            claims: listing.claims.clone(),
            ..PackageMeta::at(id, Location::Remote(place))
        })
    }
}

impl Source for NetworkMirror<'_> {
    fn versions(&self, provider: &ProviderAddr) -> Result<Offer, SourceError> {
        let versions = self.versions.get(provider, || {
            let answer = self.ask(provider, "index.json", MAX_INDEX_BYTES)?;
            let unknown = || SourceFault::UnknownProvider {
                cut_off: Some(self.access.url.url().clone()).filter(|url| !url.is_directory()),
                successor: None,
            };
            if answer.status == 404 {
                return Err(Arc::new(unknown()));
            }
            let index: Index = read(&answer)?;
            // Unlike those of a registry, names that are no version hide nothing else (rules 8.2).
            let versions: BTreeSet<Version> = index
                .versions
                .iter()
                .flatten()
                .filter_map(|(name, _)| name.parse().ok())
                .collect();
            if versions.is_empty() {
                return Err(Arc::new(unknown()));
            }
            Ok(Arc::new(versions))
        });
        versions
            .map(|versions| Offer::from(&*versions))
            .map_err(|fault| self.error(About::versions(provider), fault))
    }

    /// Returns what the document of the version lists; nothing where it could not be fetched.
    fn platforms(&self, provider: &ProviderAddr, version: &Version) -> Vec<Platform> {
        self.listing(provider, version)
            .map(|listing| listing.archives.platforms(MAX_PLATFORMS))
            .unwrap_or_default()
    }

    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError> {
        self.find(id)
            .map_err(|fault| self.error(About::package(id), fault))
    }
}

/// Reads the hashes that are stated for a package; those of other platforms are not looked at
/// (rules 8.4).
fn stated(document: &Url, archive: &Archive) -> Shared<Hashes> {
    let texts = archive.hashes.as_deref().unwrap_or_default();
    // With `trust_all_hashes` each of them becomes a line of the lock file (rules 8.5).
    if texts.len() > MAX_HASHES {
        let reason = format!("it states more than {MAX_HASHES} hashes of a package");
        return Err(SourceFault::bad_document(document, reason));
    }
    texts
        .iter()
        .map(|text| {
            text.parse::<Hash>().map_err(|_| {
                let reason = format!("it states {:?}, which is no hash", cut(text));
                SourceFault::bad_document(document, reason)
            })
        })
        .collect()
}

/// Returns the hashes that a `VERSION.json` states for each platform; what is no such document states none.
#[must_use]
pub fn stated_hashes(document: &[u8]) -> BTreeMap<Platform, Hashes> {
    let archives: Archives = read_json(document).unwrap_or_default();
    archives
        .iter()
        .map(|(platform, archive)| (platform, readable(archive)))
        .collect()
}

/// Returns the hashes that are stated for a package; a text that is no hash is a fault of the package at hand only.
fn readable(archive: &Archive) -> Hashes {
    archive
        .hashes
        .iter()
        .flatten()
        .take(MAX_HASHES)
        .filter_map(|text| text.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests;
