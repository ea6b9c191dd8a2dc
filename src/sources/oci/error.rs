//! Why a mirror of OCI artifacts gave no answer that can be used.

use crate::addr::{ProviderAddr, RepositoryAddr, Url};
use crate::package::PackageId;
use crate::platform::Platform;
use crate::sources::{FetchError, Sent};
use crate::version::Version;

/// Why a mirror of OCI artifacts gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OciError {
    /// There is no repository for the provider.
    #[error("the mirror has no repository for {provider}: {reason}")]
    Address {
        /// Which provider.
        provider: ProviderAddr,
        /// What is wrong with the address that its template makes.
        reason: String,
    },
    /// The repository has no version of the provider.
    #[error("the repository {repository} has no package of {provider}{}", untagged(*.is_there))]
    UnknownProvider {
        /// The repository.
        repository: RepositoryAddr,
        /// Which provider.
        provider: ProviderAddr,
        /// Whether the repository is there, and has no tag that is a version.
        is_there: bool,
    },
    /// The repository has no tag of a version.
    #[error("the repository {repository} has no tag {tag} for {provider} {version}")]
    UnknownVersion {
        /// The repository.
        repository: RepositoryAddr,
        /// Which provider.
        provider: ProviderAddr,
        /// Which version.
        version: Version,
        /// How it is tagged.
        tag: String,
    },
    /// The repository has the version, but not for the platform.
    #[error("the repository {repository} has no package of {id}")]
    NoSuchPackage {
        /// The repository.
        repository: RepositoryAddr,
        /// Which package.
        id: PackageId,
        /// The platforms that the version has.
        offered: Vec<Platform>,
    },
    /// The registry requires credentials, or rejects those that were sent.
    #[error("{} {sent}: {url} answered {status}", repository.domain())]
    Unauthorized {
        /// The repository.
        repository: RepositoryAddr,
        /// The URL that answered.
        url: Url,
        /// With which status.
        status: u16,
        /// Whether credentials were sent.
        sent: Sent,
        /// Why there are no credentials, if something is wrong with where they are kept.
        reason: Option<String>,
    },
    /// The registry asks for credentials in a way that cannot be used.
    #[error("{url} asks for credentials in a way that cannot be used: {reason}")]
    Challenge {
        /// The URL that answered.
        url: Url,
        /// What is wrong with it.
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
        /// What is wrong with it.
        reason: String,
    },
    /// The list of tags does not end.
    #[error("{url} lists tags on more than {limit} pages")]
    TooManyPages {
        /// The URL of the first page.
        url: Url,
        /// The limit.
        limit: usize,
    },
    /// The list of tags goes on at another place than its registry.
    #[error("{url} continues its list of tags elsewhere: {reason}")]
    BadLink {
        /// The URL of the page.
        url: Url,
        /// What is wrong with the link.
        reason: String,
    },
    /// A manifest is not that of a provider.
    #[error("{url} is no manifest of a provider: {fault}")]
    Artifact {
        /// The URL of the manifest.
        url: Url,
        /// What is wrong with it.
        fault: ArtifactFault,
    },
}

/// What keeps a manifest from being that of a provider (rules 14.5 to 14.7).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactFault {
    /// The tag names the manifest of one package.
    #[error("the tag names an image manifest, not an index of the packages of all platforms")]
    ImageManifest,
    /// A manifest comes as something else.
    #[error("its content type is {found:?}, not {expected}")]
    ContentType {
        /// What it comes as.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A manifest says that it is something else.
    #[error("its mediaType is {found:?}, not {expected}")]
    MediaType {
        /// What it says.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A manifest is about something else.
    #[error("its artifactType is {found:?}, not {expected}")]
    ArtifactType {
        /// What it says.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// An entry of the index is no image manifest.
    #[error("it lists a package with the mediaType {found:?}, not {expected}")]
    EntryMediaType {
        /// What the entry says.
        found: String,
        /// What it should be.
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
        /// How many.
        count: usize,
        /// For which platform.
        platform: Platform,
    },
    /// The image manifest has no zip.
    #[error("it has no layer of the type archive/zip{}", if *.has_others { ", but others" } else { "" })]
    NoZip {
        /// Whether it has other layers.
        has_others: bool,
    },
    /// The image manifest has more than one zip.
    #[error("it has {count} layers of the type archive/zip, not one")]
    SeveralZips {
        /// How many.
        count: usize,
    },
    /// The zip is for another platform.
    #[error("its zip is for {found}, not for {wanted}")]
    OtherPlatform {
        /// What the layer says.
        found: String,
        /// What was asked for.
        wanted: Platform,
    },
    /// A digest is none of SHA-256.
    #[error("it names something by {digest:?}, which is no SHA-256 digest")]
    DigestAlgorithm {
        /// What stands there.
        digest: String,
    },
    /// What was sent is not what its digest names.
    #[error("its content does not have the digest {stated}")]
    OtherContent {
        /// The digest.
        stated: String,
    },
    /// What was sent is not as long as it should be.
    #[error("it has {found} bytes, not {stated}")]
    OtherLength {
        /// How long it should be.
        stated: u64,
        /// How long it is.
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
