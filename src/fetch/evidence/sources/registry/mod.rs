//! Provider registries (rules 1 to 4).
//!
//! A [`Registry`] finds the registry of each provider's host and reads its documents. It hands over
//! what shall prove a package, and checks none of it.

mod claims;
mod documents;
mod listing;
mod published;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use self::documents::{PackageDocument, VersionList};
pub use self::listing::VersionListing;
use self::listing::{ProviderListing, listing, supported};
use self::published::PublishedDates;
use super::discovery::{Discovery, Service};
use super::net::{Answer, Ask, HOPS, Net, Redirects};
use super::{
    About, Offer, Shared, Source, SourceError, SourceFault, SourceLocation, cut, read, read_json,
};
use crate::addr::{Hostname, ProviderAddr, Url};
use crate::flavor::Flavor;
use crate::hash;
use crate::package::{
    ChecksumList, Claims, Evidence, Location, PackageId, PackageMeta, SigningKey,
};
use crate::parallel::Memo;
use crate::platform::Platform;
use crate::version::Version;

pub use super::discovery::{FoundBy, HostCredentials, Hosts};

/// Maximum size of a list of versions, in bytes: the longest real ones have about one million.
const MAX_VERSIONS_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum size of the document of a package, in bytes; keys make up most of it.
const MAX_PACKAGE_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum size of a checksum document, in bytes: that of a release has some twenty lines.
const MAX_SUMS_BYTES: u64 = 1024 * 1024;

/// Maximum size of a signature, in bytes; real ones have some hundreds.
const MAX_SIGNATURE_BYTES: u64 = 64 * 1024;

/// Maximum length of the name of a zip, in bytes: no file system takes a longer one.
const MAX_FILENAME_BYTES: usize = 255;

/// Maximum number of the protocols of a package in a message.
const MAX_PROTOCOLS: usize = 5;

/// A checksum document, with the time of its last change as its server states it.
type DatedList = (Arc<ChecksumList>, Option<SystemTime>);

/// The registries of all hosts.
pub struct Registry<'a> {
    net: Net<'a>,
    flavor: Flavor,
    discovery: Arc<Discovery<'a>>,
    versions: Memo<ProviderAddr, Shared<Arc<ProviderListing>>>,
    checksum_lists: Memo<Url, Shared<DatedList>>,
    signatures: Memo<Url, Shared<Arc<[u8]>>>,
    published: PublishedDates<'a>,
}

impl<'a> Registry<'a> {
    /// Makes the registries of all hosts; makes no request yet.
    #[must_use]
    pub fn new(net: Net<'a>, flavor: Flavor, discovery: Arc<Discovery<'a>>) -> Self {
        Self {
            published: PublishedDates::new(&net),
            net,
            flavor,
            discovery,
            versions: Memo::default(),
            checksum_lists: Memo::default(),
            signatures: Memo::default(),
        }
    }

    /// Returns the URL below which a host's provider registry answers.
    fn service(&self, host: &Hostname) -> Shared<Url> {
        self.discovery.service(host, Service::Providers)
    }

    /// Requests a document from the registry of a host; the status of the answer is 200 or 404.
    fn ask(&self, net: &Net<'_>, host: &Hostname, path: &[&str], limit: u64) -> Shared<Answer> {
        let base = self.service(host)?;
        let url = base.below(path.iter().copied());
        let credentials = self.discovery.credentials(host, &base);
        let ask = Ask {
            url: &url,
            // Both programs send their version (rules 2.1).
            headers: &[("x-terraform-version", self.flavor.observed_version())],
            // The host's own documents are all that its token is for (rules 5.1, 5.3).
            credentials: credentials.as_ref(),
            hops: HOPS,
            limit,
            timeout: net.policy.document_timeout,
            // The documents need no protection of their own: the signature proves the package.
            redirects: Redirects::Any,
        };
        let answer = net
            .document(&ask, net.policy.documents())
            .map_err(SourceFault::from)?;
        match answer.status {
            200 | 404 => Ok(answer),
            _ => Err(self.discovery.refusal(host, answer, &base)),
        }
    }

    /// Returns every version of a provider with what the list of its registry states about it.
    ///
    /// # Errors
    /// As [`Source::versions`].
    pub fn listings(
        &self,
        provider: &ProviderAddr,
    ) -> Result<BTreeMap<Version, VersionListing>, SourceError> {
        self.listing(provider)
            .map(|listing| listing.versions.clone())
            .map_err(|fault| error(About::versions(provider), provider, fault))
    }

    fn listing(&self, provider: &ProviderAddr) -> Shared<Arc<ProviderListing>> {
        self.versions.get(provider, || {
            let path = [provider.namespace(), provider.type_name(), "versions"];
            let answer = self.ask(&self.net, provider.hostname(), &path, MAX_VERSIONS_BYTES)?;
            if answer.status == 404 {
                // A service URL without its last slash leads to such an answer, too (rules 1.8); then the
                // message says so rather than that there is no such provider.
                let base = self.service(provider.hostname())?;
                return Err(Arc::new(SourceFault::UnknownProvider {
                    cut_off: Some(base).filter(|base| !base.is_directory()),
                    successor: self.successor(provider),
                }));
            }
            let list: VersionList = read(&answer)?;
            let listing = listing(list, self.flavor)
                .map_err(|reason| SourceFault::bad_document(&answer.url, reason))?;
            // An empty list means that the registry does not have the provider (rules 2.5).
            if listing.versions.is_empty() {
                return Err(Arc::new(SourceFault::NoVersions));
            }
            Ok(Arc::new(listing))
        })
    }

    /// Requests the present address of a former provider of HashiCorp, for a hint: a source address without a
    /// namespace means HashiCorp's (rules 2.7).
    ///
    /// The fields of the answer were read in the source of Terraform, not observed.
    fn successor(&self, provider: &ProviderAddr) -> Option<ProviderAddr> {
        if !provider.is_default(self.flavor) {
            return None;
        }
        // A failure from here on only costs the hint: the message that it would be part of is
        // an error already.
        let path = ["-", provider.type_name(), "versions"];
        let answer = self
            .ask(&self.net, provider.hostname(), &path, MAX_VERSIONS_BYTES)
            .ok()
            .filter(|answer| answer.status == 200)?;
        let legacy: Value = read_json(&answer.body).ok()?;
        let moved_to = legacy["moved_to"].as_str().filter(|text| !text.is_empty());
        let successor = moved_to.or(legacy["id"].as_str())?;
        let successor = ProviderAddr::parse(successor, self.flavor).ok()?;
        (successor != *provider && !successor.is_legacy()).then_some(successor)
    }

    /// Fetches the document of a package, which must be about its platform; returns it with its URL. A package that no
    /// current program supports is refused.
    fn document(&self, id: &PackageId) -> Shared<(Url, PackageDocument)> {
        let (os, arch) = (id.platform.os(), id.platform.arch());
        let (provider, version) = (&id.provider, id.version.to_string());
        let (namespace, type_name) = (provider.namespace(), provider.type_name());
        let path = [namespace, type_name, &version, "download", os, arch];
        let host = provider.hostname();
        let answer = self.ask(&self.net, host, &path, MAX_PACKAGE_DOCUMENT_BYTES)?;
        // The version is there and lacks the platform: no other version is tried (rules 3.1, `resolve` rules
        // 2.3).
        if answer.status == 404 {
            return Err(Arc::new(SourceFault::NoPackage {
                offered: self.platforms(&id.provider, &id.version),
            }));
        }
        // The checks have the order of the programs, so that of several faults the same one is reported
        // (rules 3.2 to 3.5).
        let document: PackageDocument = read(&answer)?;
        let spoken = document.protocols.clone().unwrap_or_default();
        let is_supported = supported(&spoken).map_err(|text| {
            let reason = format!("protocols holds {:?}, which is no version", cut(text));
            SourceFault::bad_document(&answer.url, reason)
        })?;
        // Both programs accept a package that states no protocol.
        if !spoken.is_empty() && !is_supported {
            // The programs ask for the list again to name a version that would do; here the answer is kept.
            let listing = self.listing(provider)?;
            let newest = listing
                .versions
                .iter()
                .rev()
                .filter(|(version, _)| **version != id.version)
                .find(|(_, listed)| supported(&listed.protocols).unwrap_or(false));
            return Err(Arc::new(SourceFault::Protocol {
                newest: newest.map(|(version, _)| version.clone()),
                spoken: spoken
                    .iter()
                    .take(MAX_PROTOCOLS)
                    .map(|text| cut(text))
                    .collect(),
            }));
        }
        if document.os.as_deref() != Some(os) || document.arch.as_deref() != Some(arch) {
            let stated = format!("{}_{}", text(&document.os), text(&document.arch));
            let fault = format!("answers for {}, not for {}", cut(&stated), id.platform);
            return Err(SourceFault::bad_answer(&answer.url, fault));
        }
        Ok((answer.url, document))
    }

    fn find(&self, id: &PackageId) -> Shared<PackageMeta> {
        let (url, mut document) = self.document(id)?;
        let claims = self.claims(id, document.packages.take(), &url)?;
        if text(&document.filename).len() > MAX_FILENAME_BYTES {
            let reason = format!("filename has more than {MAX_FILENAME_BYTES} bytes");
            return Err(SourceFault::bad_document(&url, reason));
        }
        // Relative to where the document came from in the end, behind all redirects (rules 3.4).
        let zip = link(&url, "download_url", &document.download_url)?;
        // The spelling is kept: OpenTofu compares it with stated hashes as text (`authenticate` rules 4.4).
        let shasum_text = text(&document.shasum);
        let shasum = hash::digest_of_hex(shasum_text).ok_or_else(|| {
            let reason = format!("shasum is {:?}, which is no SHA-256", cut(shasum_text));
            SourceFault::bad_document(&url, reason)
        })?;
        let (sums, signature) = (&document.shasums_url, &document.shasums_signature_url);
        let sums = link(&url, "shasums_url", sums)?;
        let signature = link(&url, "shasums_signature_url", signature)?;
        let ((sums, sums_changed), signature) = self.evidence(&sums, &signature)?;
        // No keys is no error here: OpenTofu's registry signs some releases only (`authenticate` rules
        // 4.1).
        let keys = document
            .signing_keys
            .and_then(|keys| keys.gpg_public_keys)
            .unwrap_or_default();
        Ok(PackageMeta {
            evidence: Some(Evidence {
                filename: document.filename.unwrap_or_default(),
                shasum,
                shasum_text: shasum_text.to_owned(),
                sums,
                sums_changed,
                signature,
                keys: keys
                    .into_iter()
                    .map(|key| SigningKey {
                        ascii_armor: key.ascii_armor.unwrap_or_default(),
                        // All else that is stated of a key counts for nothing (rules 3.6).
                        trust_signature: key.trust_signature.unwrap_or_default(),
                    })
                    .collect(),
            }),
            claims,
            ..PackageMeta::at(id, Location::Remote(zip))
        })
    }

    /// Reads the hashes that a document states beside the signed list (rules 3.8).
    fn claims(
        &self,
        id: &PackageId,
        field: Option<Value>,
        url: &Url,
    ) -> Shared<Option<Arc<Claims>>> {
        let host = id.provider.hostname().to_string();
        let claims = match claims::claims(field, &host) {
            Ok(claims) => claims,
            Err(reason) if self.flavor.reads_stated_hashes() => {
                return Err(SourceFault::bad_document(url, reason));
            }
            // Terraform does not read the hashes, so those that cannot be read count as absent.
            Err(_) => None,
        };
        let Some(mut claims) = claims else {
            return Ok(None);
        };
        if !self.flavor.reads_stated_hashes() {
            for package in claims.packages.values_mut() {
                // Terraform does not read the size either, and refuses no package for it.
                package.size = None;
            }
        }
        Ok(Some(Arc::new(claims)))
    }

    /// Fetches the checksum document and its signature side by side, without credentials.
    fn evidence(&self, sums: &Url, signature: &Url) -> Shared<(DatedList, Arc<[u8]>)> {
        // Two requests to one server as a rule, each with its own round trip.
        std::thread::scope(|scope| {
            let signature = scope.spawn(|| {
                self.signatures.get(signature, || {
                    let answer = self.file(signature, MAX_SIGNATURE_BYTES)?;
                    Ok(answer.body.into())
                })
            });
            let sums = self.checksum_lists.get(sums, || {
                let answer = self.file(sums, MAX_SUMS_BYTES)?;
                let list = ChecksumList::parse(&answer.body);
                Ok((Arc::new(list), answer.changed))
            });
            let signature = match signature.join() {
                Ok(signature) => signature,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Ok((sums?, signature?))
        })
    }

    fn file(&self, url: &Url, limit: u64) -> Shared<Answer> {
        let ask = Ask {
            url,
            headers: &[],
            // Not even on the registry's own host (rules 5.3): these URLs are the registry's choice.
            credentials: None,
            hops: HOPS,
            limit,
            timeout: self.net.policy.document_timeout,
            redirects: Redirects::Any,
        };
        let answer = self
            .net
            .document(&ask, self.net.policy.documents())
            .map_err(SourceFault::from)?;
        if answer.status != 200 {
            return Err(Arc::new(answer.refusal().into()));
        }
        // Some hosts answer every unknown path with a page and status 200. Read as checksums it would
        // be a bad line, which hides what is wrong.
        if answer.body.trim_ascii_start().starts_with(b"<") {
            return Err(SourceFault::bad_document(
                &answer.url,
                "it is a web page".to_owned(),
            ));
        }
        Ok(answer)
    }
}

impl Source for Registry<'_> {
    fn versions(&self, provider: &ProviderAddr) -> Result<Offer, SourceError> {
        let listing = self
            .listing(provider)
            .map_err(|fault| error(About::versions(provider), provider, fault))?;
        Ok(Offer {
            versions: listing.versions.keys().cloned().collect(),
            warnings: listing.warnings.clone(),
        })
    }

    /// Returns what the list of versions states; nothing where the list could not be fetched.
    fn platforms(&self, provider: &ProviderAddr, version: &Version) -> Vec<Platform> {
        self.listing(provider)
            .ok()
            .and_then(|listing| Some(listing.versions.get(version)?.platforms.clone()))
            .unwrap_or_default()
    }

    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError> {
        self.find(id)
            .map_err(|fault| error(About::package(id), &id.provider, fault))
    }

    fn published(&self, provider: &ProviderAddr, version: &Version) -> Option<SystemTime> {
        self.published_at(provider, version)
    }
}

/// Resolves a URL that a document names.
fn link(document: &Url, field: &'static str, value: &Option<String>) -> Shared<Url> {
    let value = text(value);
    if value.is_empty() {
        return Err(SourceFault::bad_document(
            document,
            format!("it states no {field}"),
        ));
    }
    document
        .join(value)
        .map_err(|cause| SourceFault::bad_url(document, field, &cause))
}

fn text(field: &Option<String>) -> &str {
    field.as_deref().unwrap_or_default()
}

fn error(about: About, provider: &ProviderAddr, fault: Arc<SourceFault>) -> SourceError {
    let place = SourceLocation::Registry(provider.hostname().clone());
    SourceError::new(place, about, fault)
}

#[cfg(test)]
mod tests;
