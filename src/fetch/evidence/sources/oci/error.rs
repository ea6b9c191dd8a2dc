//! Answers of a registry of OCI artifacts that cannot be used.

use crate::addr::{ProviderAddr, RepositoryAddr, Url};
use crate::package::PackageId;
use crate::platform::Platform;
use crate::sources::{FetchError, Sent};
use crate::version::Version;

/// A mirror of OCI artifacts that gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum OciError {
    #[error("the mirror has no repository for {provider}: {reason}")]
    Address {
        provider: ProviderAddr,
        reason: String,
    },
    #[error("the repository {repository} has no package of {provider}{}", if *.is_there { ": none of its tags is a version" } else { "" })]
    UnknownProvider {
        repository: RepositoryAddr,
        provider: ProviderAddr,
        /// The repository exists, and has no tag that is a version.
        is_there: bool,
    },
    #[error("the repository {repository} has no tag {tag} for {provider} {version}")]
    UnknownVersion {
        repository: RepositoryAddr,
        provider: ProviderAddr,
        version: Version,
        tag: String,
    },
    #[error("the repository {repository} has no package of {id}")]
    NoSuchPackage {
        repository: RepositoryAddr,
        id: PackageId,
        offered: Vec<Platform>,
    },
    #[error("{} {sent}: {url} answered {status}", repository.domain())]
    Unauthorized {
        repository: RepositoryAddr,
        url: Url,
        status: u16,
        sent: Sent,
        /// The fault of the place where credentials are kept, if that is why there are none.
        reason: Option<String>,
    },
    #[error("{url} asks for credentials in a way that cannot be used: {reason}")]
    Challenge { url: Url, reason: String },
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("{url} is not what a registry of OCI artifacts answers: {reason}")]
    BadDocument { url: Url, reason: String },
    #[error("{url} lists tags on more than {limit} pages")]
    TooManyPages { url: Url, limit: usize },
    #[error("{url} lists tags of more than {limit} MiB")]
    TooManyTags { url: Url, limit: usize },
    #[error("{url} continues its list of tags elsewhere: {reason}")]
    BadLink { url: Url, reason: String },
    #[error("{url} is no manifest of a provider: {fault}")]
    Artifact { url: Url, fault: ArtifactFault },
}

/// A difference between a manifest and that of a provider (rules 14.5 to 14.7).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactFault {
    #[error("the tag names an image manifest, not an index of the packages of all platforms")]
    ImageManifest,
    #[error("its content type is {found:?}, not {expected}")]
    ContentType {
        found: String,
        expected: &'static str,
    },
    #[error("its mediaType is {found:?}, not {expected}")]
    MediaType {
        found: String,
        expected: &'static str,
    },
    #[error("its artifactType is {found:?}, not {expected}")]
    ArtifactType {
        found: String,
        expected: &'static str,
    },
    #[error("it lists a package with the mediaType {found:?}, not {expected}")]
    EntryMediaType {
        found: String,
        expected: &'static str,
    },
    #[error("it lists a package without its platform")]
    NoPlatform,
    #[error("it lists no package of a provider{}", instead(found.as_deref()))]
    NoPackages { found: Option<String> },
    #[error("it lists {count} packages for {platform}")]
    Ambiguous { count: usize, platform: Platform },
    #[error("it has no layer of the type archive/zip{}", if *.has_others { ", but others" } else { "" })]
    NoZip { has_others: bool },
    #[error("it has {count} layers of the type archive/zip, not one")]
    SeveralZips { count: usize },
    #[error("its zip is for {found}, not for {wanted}")]
    OtherPlatform { found: String, wanted: Platform },
    #[error("it names something by {digest:?}, which is no SHA-256 digest")]
    DigestAlgorithm { digest: String },
    #[error("its content does not have the digest {stated}")]
    OtherContent { stated: String },
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
    pub(in crate::evidence::sources) fn names_subject(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::UnknownProvider { .. }
                | Self::UnknownVersion { .. }
                | Self::NoSuchPackage { .. }
        )
    }
}

fn instead(found: Option<&str>) -> String {
    match found {
        Some(found) => format!(", but one of the artifactType {found:?}"),
        None => "; it may be a container image".to_owned(),
    }
}
