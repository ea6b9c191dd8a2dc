//! Answers of a registry of OCI artifacts that cannot be used.

use crate::addr::{ProviderAddr, RepositoryAddr, Url};
use crate::package::PackageId;
use crate::platform::Platform;
use crate::sources::{FetchError, Sent};
use crate::version::Version;

/// A mirror of OCI artifacts that gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OciError {
    /// There is no repository for the provider.
    #[error("the mirror has no repository for {provider}: {reason}")]
    Address {
        /// The provider that was wanted.
        provider: ProviderAddr,
        /// The fault of the address that its template makes.
        reason: String,
    },
    /// The repository has no version of the provider.
    #[error("the repository {repository} has no package of {provider}{}", untagged(*.is_there))]
    UnknownProvider {
        /// The repository that was asked.
        repository: RepositoryAddr,
        /// The provider that was wanted.
        provider: ProviderAddr,
        /// The repository exists, and has no tag that is a version.
        is_there: bool,
    },
    /// The repository has no tag of a version.
    #[error("the repository {repository} has no tag {tag} for {provider} {version}")]
    UnknownVersion {
        /// The repository that was asked.
        repository: RepositoryAddr,
        /// The provider that was wanted.
        provider: ProviderAddr,
        /// The version that was wanted.
        version: Version,
        /// The tag of the version.
        tag: String,
    },
    /// The repository has the version, but not for the platform.
    #[error("the repository {repository} has no package of {id}")]
    NoSuchPackage {
        /// The repository that was asked.
        repository: RepositoryAddr,
        /// The package that was wanted.
        id: PackageId,
        /// The platforms that the version has.
        offered: Vec<Platform>,
    },
    /// The registry requires credentials, or rejects those that were sent.
    #[error("{} {sent}: {url} answered {status}", repository.domain())]
    Unauthorized {
        /// The repository that was asked.
        repository: RepositoryAddr,
        /// The URL that answered.
        url: Url,
        /// The status of the answer.
        status: u16,
        /// The use that was made of credentials.
        sent: Sent,
        /// The fault of the place where credentials are kept, if that is why there are none.
        reason: Option<String>,
    },
    /// The registry asks for credentials in a way that cannot be used.
    #[error("{url} asks for credentials in a way that cannot be used: {reason}")]
    Challenge {
        /// The URL that answered.
        url: Url,
        /// The fault of the answer.
        reason: String,
    },
    /// Something could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A document is not what it should be.
    #[error("{url} is not what a registry of OCI artifacts answers: {reason}")]
    BadDocument {
        /// The URL that was requested.
        url: Url,
        /// The fault of the document.
        reason: String,
    },
    /// The list of tags does not end.
    #[error("{url} lists tags on more than {limit} pages")]
    TooManyPages {
        /// The URL of the first page.
        url: Url,
        /// The limit on pages.
        limit: usize,
    },
    /// The list of tags goes on at another place than its registry.
    #[error("{url} continues its list of tags elsewhere: {reason}")]
    BadLink {
        /// The URL of the page.
        url: Url,
        /// The fault of the link.
        reason: String,
    },
    /// A manifest is not that of a provider.
    #[error("{url} is no manifest of a provider: {fault}")]
    Artifact {
        /// The URL of the manifest.
        url: Url,
        /// The fault of the manifest.
        fault: ArtifactFault,
    },
}

/// A difference between a manifest and that of a provider (rules 14.5 to 14.7).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactFault {
    /// The tag names the manifest of one package.
    #[error("the tag names an image manifest, not an index of the packages of all platforms")]
    ImageManifest,
    /// A manifest comes as something else.
    #[error("its content type is {found:?}, not {expected}")]
    ContentType {
        /// The content type of the answer.
        found: String,
        /// The content type of such a document.
        expected: &'static str,
    },
    /// A manifest says that it is something else.
    #[error("its mediaType is {found:?}, not {expected}")]
    MediaType {
        /// The stated media type.
        found: String,
        /// The expected media type.
        expected: &'static str,
    },
    /// A manifest is about something else.
    #[error("its artifactType is {found:?}, not {expected}")]
    ArtifactType {
        /// The stated artifact type.
        found: String,
        /// The expected artifact type.
        expected: &'static str,
    },
    /// An entry of the index is no image manifest.
    #[error("it lists a package with the mediaType {found:?}, not {expected}")]
    EntryMediaType {
        /// The media type in the entry.
        found: String,
        /// The expected media type.
        expected: &'static str,
    },
    /// An entry of the index has no platform.
    #[error("it lists a package without its platform")]
    NoPlatform,
    /// No entry of the index is a package.
    #[error("it lists no package of a provider{}", instead(found.as_deref()))]
    NoPackages {
        /// The artifact type of another entry.
        found: Option<String>,
    },
    /// Several entries are for one platform.
    #[error("it lists {count} packages for {platform}")]
    Ambiguous {
        /// The number of such manifests.
        count: usize,
        /// The platform that was wanted.
        platform: Platform,
    },
    /// The image manifest has no zip.
    #[error("it has no layer of the type archive/zip{}", if *.has_others { ", but others" } else { "" })]
    NoZip {
        /// The manifest has layers of other types.
        has_others: bool,
    },
    /// The image manifest has more than one zip.
    #[error("it has {count} layers of the type archive/zip, not one")]
    SeveralZips {
        /// The number of such layers.
        count: usize,
    },
    /// The zip is for another platform.
    #[error("its zip is for {found}, not for {wanted}")]
    OtherPlatform {
        /// The platform that the manifest states.
        found: String,
        /// The platform that was wanted.
        wanted: Platform,
    },
    /// A digest is none of SHA-256.
    #[error("it names something by {digest:?}, which is no SHA-256 digest")]
    DigestAlgorithm {
        /// The digest as the manifest spells it.
        digest: String,
    },
    /// The content of an answer does not match its digest.
    #[error("its content does not have the digest {stated}")]
    OtherContent {
        /// The digest by which it was requested.
        stated: String,
    },
    /// An answer has another length than its descriptor states.
    #[error("it has {found} bytes, not {stated}")]
    OtherLength {
        /// The length that the descriptor states, in bytes.
        stated: u64,
        /// The length of the answer, in bytes.
        found: u64,
    },
}

impl OciError {
    /// Returns whether another error is the same but for the path or the platform that was asked for.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fetch(error), Self::Fetch(other)) => error.is_like(other),
            (
                Self::Unauthorized {
                    repository, status, ..
                },
                Self::Unauthorized {
                    repository: other,
                    status: other_status,
                    ..
                },
            ) => repository.domain() == other.domain() && status == other_status,
            (
                Self::BadDocument { url, reason },
                Self::BadDocument {
                    url: other_url,
                    reason: other_reason,
                },
            )
            | (
                Self::Challenge { url, reason },
                Self::Challenge {
                    url: other_url,
                    reason: other_reason,
                },
            ) => url.origin() == other_url.origin() && reason == other_reason,
            _ => false,
        }
    }

    /// Returns whether the message states what was asked about; others fail all questions alike.
    pub(in crate::sources) fn names_subject(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::UnknownProvider { .. }
                | Self::UnknownVersion { .. }
                | Self::NoSuchPackage { .. }
        )
    }
}

fn untagged(is_there: bool) -> &'static str {
    match is_there {
        true => ": none of its tags is a version",
        false => "",
    }
}

fn instead(found: Option<&str>) -> String {
    match found {
        Some(found) => format!(", but one of the artifactType {found:?}"),
        None => "; it may be a container image".to_owned(),
    }
}
