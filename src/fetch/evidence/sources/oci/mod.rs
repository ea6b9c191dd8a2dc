//! Mirrors of OCI artifacts (rules 14).
//!
//! A template names the repository of each provider. Its tags are versions; a tag leads to an index, that
//! to a manifest for each platform, and that to a zip. Each of them is named by its digest, which is
//! checked; nothing is signed.

mod artifact;
mod headers;
pub(crate) mod media;
mod session;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;

use self::artifact::OciManifest;
use self::media::MAX_MANIFEST_BYTES;
use self::session::DocumentRequest;
use super::net::Answer;
use super::{About, Offer, Shared, Source, SourceError, SourceFault, SourceLocation, read};
use crate::addr::{ProviderAddr, RepositoryAddr, Url};
use crate::hash::{Hashes, zh_of_digest};
use crate::package::{Blob, Location, PackageId, PackageMeta};
use crate::parallel::Memo;
use crate::platform::Platform;
use crate::version::Version;

pub use self::session::{OciRegistries, RepositoryCredentials};

/// Maximum size of a page of tags, in bytes.
const MAX_TAGS_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum number of pages in a list of tags; the longest real ones have some hundred.
const MAX_PAGES: usize = 1000;

/// Maximum size of all pages of a list of tags, in bytes: 1,000 full pages would fill the memory. A tag has
/// at most 128 bytes, so these are more than 100,000.
const MAX_ALL_TAGS_BYTES: usize = 16 * 1024 * 1024;

/// Maximum length of the address of a page of tags, in bytes. A relative link may make each address longer
/// than the one before it.
const MAX_PAGE_URL_BYTES: usize = 8 * 1024;

/// Maximum number of platforms that are reported for a version; the most that any release has are some
/// thirty.
const MAX_PLATFORMS: usize = 200;

/// The media types that a tag may lead to: also those that are refused, so that it can be said why.
const ANY_MANIFEST: &str = "application/vnd.oci.image.index.v1+json, \
                            application/vnd.oci.image.manifest.v1+json, \
                            application/vnd.docker.distribution.manifest.list.v2+json, \
                            application/vnd.docker.distribution.manifest.v2+json";

/// Returns the repository of a provider, or in words why it has none.
pub type RepositoryOf<'a> =
    dyn Fn(&ProviderAddr) -> Result<RepositoryAddr, String> + Send + Sync + 'a;

/// Repositories of OCI artifacts with packages of providers.
pub struct OciMirror<'a> {
    registries: Arc<OciRegistries<'a>>,
    repository: Box<RepositoryOf<'a>>,
    versions: Memo<ProviderAddr, Shared<Arc<BTreeSet<Version>>>>,
    indexes: Memo<(ProviderAddr, Version), Shared<Arc<VersionIndex>>>,
}

/// The packages of a version.
struct VersionIndex {
    repository: RepositoryAddr,
    url: Url,
    manifest: OciManifest,
}

/// A page of tags.
#[derive(Deserialize)]
struct TagPage {
    tags: Option<Vec<String>>,
}

impl<'a> OciMirror<'a> {
    /// Makes a mirror; makes no request yet.
    #[must_use]
    pub fn new(registries: Arc<OciRegistries<'a>>, repository: Box<RepositoryOf<'a>>) -> Self {
        Self {
            registries,
            repository,
            versions: Memo::default(),
            indexes: Memo::default(),
        }
    }

    fn repository(&self, provider: &ProviderAddr) -> Shared<RepositoryAddr> {
        (self.repository)(provider).map_err(|reason| Arc::new(SourceFault::NoRepository { reason }))
    }

    fn error(&self, about: About, fault: Arc<SourceFault>) -> SourceError {
        let repository = about
            .provider()
            .and_then(|provider| (self.repository)(provider).ok());
        let place = match repository {
            Some(repository) => SourceLocation::Repository(repository),
            None => SourceLocation::Named("the mirror".to_owned()),
        };
        SourceError::new(place, about, fault)
    }

    /// Lists all tags; `None` if there is no such repository.
    fn tags(&self, repository: &RepositoryAddr) -> Shared<Option<Vec<String>>> {
        let first = below(repository, &["tags", "list"]);
        let mut url = first.clone();
        let mut tags = Vec::new();
        let mut bytes = 0;
        for _ in 0..MAX_PAGES {
            let answer = self.registries.document(DocumentRequest {
                repository,
                url: &url,
                accept: "application/json",
                limit: MAX_TAGS_BYTES,
            })?;
            if answer.status != 200 && session::is_unknown_name(&answer) {
                return Ok(None);
            }
            let answer = success(answer)?;
            bytes += answer.body.len();
            if bytes > MAX_ALL_TAGS_BYTES {
                let fault = format!("lists tags of more than {} MiB", MAX_ALL_TAGS_BYTES >> 20);
                return Err(SourceFault::bad_answer(&first, fault));
            }
            let page: TagPage = read(&answer)?;
            tags.extend(page.tags.unwrap_or_default());
            match next(&answer, repository)? {
                // A page that links to itself would be read a thousand times.
                Some(next) if next == url => {
                    return Err(bad_link(&answer, "it leads to the same page"));
                }
                Some(next) => url = next,
                None => return Ok(Some(tags)),
            }
        }
        let fault = format!("lists tags on more than {MAX_PAGES} pages");
        Err(SourceFault::bad_answer(&first, fault))
    }

    fn index(&self, provider: &ProviderAddr, version: &Version) -> Shared<Arc<VersionIndex>> {
        let question = (provider.clone(), version.clone());
        self.indexes.get(&question, || {
            let repository = self.repository(provider)?;
            let tag = media::tag(version);
            let url = below(&repository, &["manifests", &tag]);
            let answer = self.manifest(&repository, &url).map_err(|error| {
                if !is_absent(&error, &repository) {
                    return error;
                }
                SourceFault::unknown_provider().into()
            })?;
            if answer.status == 404 {
                return Err(Arc::new(SourceFault::UnknownVersion { tag: Some(tag) }));
            }
            let answer = success(answer)?;
            let url = answer.url.clone();
            let fault = |reason| of_manifest(&url, reason);
            artifact::check("its content type is", answer.media_type(), media::INDEX)
                .map_err(fault)?;
            let stated = answer.header("docker-content-digest").next();
            // Registries may state digests of other kinds here, which say nothing that could be compared.
            if let Some(stated) = stated.filter(|stated| artifact::digest(stated).is_ok()) {
                artifact::check_content(&answer.body, stated).map_err(fault)?;
            }
            let manifest: OciManifest = read(&answer)?;
            manifest
                .check(media::INDEX, media::PROVIDER)
                .map_err(fault)?;
            Ok(Arc::new(VersionIndex {
                repository,
                url,
                manifest,
            }))
        })
    }

    fn manifest(&self, repository: &RepositoryAddr, url: &Url) -> Shared<Answer> {
        self.registries.document(DocumentRequest {
            repository,
            url,
            accept: ANY_MANIFEST,
            limit: MAX_MANIFEST_BYTES,
        })
    }

    fn find(&self, id: &PackageId) -> Shared<PackageMeta> {
        let index = self.index(&id.provider, &id.version)?;
        let in_index = |reason| of_manifest(&index.url, reason);
        let Some(entry) = index.manifest.entry(&id.platform).map_err(in_index)? else {
            return Err(Arc::new(SourceFault::NoPackage {
                offered: index.manifest.platforms(MAX_PLATFORMS),
            }));
        };
        let stated = entry.digest.as_deref().unwrap_or_default();
        // The digest becomes a part of a URL: a text such as `../x` would name another document.
        artifact::digest(stated).map_err(in_index)?;
        let url = below(&index.repository, &["manifests", stated]);
        let answer = success(self.manifest(&index.repository, &url)?)?;
        let in_manifest = |reason| of_manifest(&answer.url, reason);
        artifact::check("its content type is", answer.media_type(), media::MANIFEST)
            .map_err(in_manifest)?;
        artifact::check_content(&answer.body, stated).map_err(in_manifest)?;
        let length = answer.body.len() as u64;
        if let Some(stated) = entry.size.filter(|stated| *stated != length) {
            return Err(in_manifest(format!("it has {length} bytes, not {stated}")));
        }
        let manifest: OciManifest = read(&answer)?;
        manifest
            .check(media::MANIFEST, media::TARGET)
            .map_err(in_manifest)?;
        let zip = manifest.zip(&id.platform).map_err(in_manifest)?;
        let stated = zip.digest.as_deref().unwrap_or_default();
        let digest = artifact::digest(stated).map_err(in_manifest)?;
        let blob = Blob {
            url: below(&index.repository, &["blobs", stated]),
            digest,
            // Without a stated size only an empty zip would do: the length must be the stated one
            // (rules 14.8).
            bytes: zip.size.unwrap_or_default(),
        };
        Ok(PackageMeta {
            stated: Hashes::from_iter([zh_of_digest(&digest)]),
            ..PackageMeta::at(id, Location::Blob(blob))
        })
    }
}

impl Source for OciMirror<'_> {
    fn versions(&self, provider: &ProviderAddr) -> Result<Offer, SourceError> {
        let versions = self.versions.get(provider, || {
            let repository = self.repository(provider)?;
            let tags = match self.tags(&repository) {
                Ok(Some(tags)) => tags,
                // Registries answer for a repository that does not exist in one of two ways: at `/v2/`, or
                // at the tags (rules 14.4).
                Ok(None) => return Err(SourceFault::unknown_provider().into()),
                Err(error) if is_absent(&error, &repository) => {
                    return Err(SourceFault::unknown_provider().into());
                }
                Err(error) => return Err(error),
            };
            // A tag has no `+`, and a tag that is no version hides nothing else (rules 14.3).
            let versions: BTreeSet<Version> =
                tags.iter().filter_map(|tag| media::version(tag)).collect();
            if versions.is_empty() {
                return Err(Arc::new(SourceFault::NoVersions));
            }
            Ok(Arc::new(versions))
        });
        versions
            .map(|versions| Offer::from(&*versions))
            .map_err(|fault| self.error(About::versions(provider), fault))
    }

    /// Returns what the index of the version lists; nothing where it could not be fetched.
    fn platforms(&self, provider: &ProviderAddr, version: &Version) -> Vec<Platform> {
        self.index(provider, version)
            .map(|index| index.manifest.platforms(MAX_PLATFORMS))
            .unwrap_or_default()
    }

    fn package(&self, id: &PackageId) -> Result<PackageMeta, SourceError> {
        self.find(id)
            .map_err(|fault| self.error(About::package(id), fault))
    }
}

/// Returns the URL of something in a repository.
fn below(repository: &RepositoryAddr, parts: &[&str]) -> Url {
    let path = repository.name().split('/').chain(parts.iter().copied());
    repository.registry().below(path)
}

/// Returns whether a fault says that there is no registry of OCI artifacts (rules 14.4).
fn is_absent(fault: &SourceFault, repository: &RepositoryAddr) -> bool {
    match fault {
        SourceFault::Fetch(error) => {
            error.status() == Some(404) && error.url == repository.registry()
        }
        _ => false,
    }
}

/// Finds the URL of the next page, which must be of the same registry.
fn next(answer: &Answer, repository: &RepositoryAddr) -> Shared<Option<Url>> {
    let Some(link) = headers::next_page(answer.header("link")) else {
        return Ok(None);
    };
    let url = answer
        .url
        .join(link)
        .map_err(|error| bad_link(answer, &error.to_string()))?;
    if url.secret_text().len() > MAX_PAGE_URL_BYTES {
        let limit = MAX_PAGE_URL_BYTES >> 10;
        return Err(bad_link(
            answer,
            &format!("the address has more than {limit} KiB"),
        ));
    }
    // The request for the next page carries the token of this registry.
    if url.origin() != repository.registry().origin() {
        return Err(bad_link(answer, "it leads to another server"));
    }
    Ok(Some(url))
}

fn bad_link(answer: &Answer, reason: &str) -> Arc<SourceFault> {
    let fault = format!("continues its list of tags elsewhere: {reason}");
    SourceFault::bad_answer(&answer.url, fault)
}

fn of_manifest(url: &Url, reason: String) -> Arc<SourceFault> {
    let url = url.clone();
    Arc::new(SourceFault::Artifact { url, reason })
}

fn success(answer: Answer) -> Shared<Answer> {
    match answer.status {
        200 => Ok(answer),
        _ => Err(Arc::new(answer.refusal().into())),
    }
}
