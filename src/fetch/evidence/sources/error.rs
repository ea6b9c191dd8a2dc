//! Sources that gave no answer: where that was, what was asked for, and what was wrong.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::discovery::{DiscoveryError, FoundBy};
use super::{FetchError, FetchFault, Sent, Unauthorized};
use crate::addr::{
    Hostname, MirrorUrl, MirrorUrlError, ProviderAddr, RepositoryAddr, Url, UrlError,
};
use crate::package::PackageId;
use crate::platform::Platform;
use crate::version::Version;

/// A source that gave no answer. Every caller that asks the same gets a copy, so the fault is shared.
#[derive(Clone, Debug)]
pub struct SourceError {
    pub place: SourceLocation,
    pub about: About,
    pub fault: Arc<SourceFault>,
}

/// A place that has packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceLocation {
    /// The provider registry of a host.
    Registry(Hostname),
    /// The module registry of a host.
    Modules(Hostname),
    NetworkMirror(Box<MirrorUrl>),
    /// A repository of OCI artifacts.
    Repository(RepositoryAddr),
    /// A mirror in a directory.
    Directory(PathBuf),
    /// All sources of a run.
    Several,
    /// A place that could not be asked, in words.
    Named(String),
}

/// The subject of a question to a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The source itself, before any question.
    Source,
    /// The versions of a provider.
    Versions(Box<ProviderAddr>),
    Package(Box<PackageId>),
}

/// The reason why a source gave no answer.
#[derive(Debug)]
pub enum SourceFault {
    /// The source has no version of the provider.
    UnknownProvider {
        /// The URL of the registry, if it does not end in a slash: then its last part is lost.
        cut_off: Option<Url>,
        successor: Option<ProviderAddr>,
    },
    /// The source has the provider, but no version of it.
    NoVersions,
    /// The mirror does not have the version.
    UnknownVersion {
        /// The missing tag, if the mirror is a repository of OCI artifacts.
        tag: Option<String>,
    },
    /// The source has the version, but not for the platform.
    NoPackage {
        /// The platforms that the version has.
        offered: Vec<Platform>,
    },
    /// No source has the provider.
    Nowhere {
        /// The answers of the sources that are for it.
        answers: Vec<SourceError>,
    },
    /// The template of the mirror gives no repository for the provider.
    NoRepository {
        reason: String,
    },
    /// No program supports the plugin protocols of the package.
    Protocol {
        /// The protocols that it supports, as the registry spells them.
        spoken: Vec<String>,
        newest: Option<Version>,
    },
    Discovery {
        host: Hostname,
        by: FoundBy,
        cause: DiscoveryError,
    },
    Unauthorized(Unauthorized),
    Fetch(FetchError),
    BadDocument {
        url: Url,
        reason: String,
    },
    /// The answer is one that no program could use.
    BadAnswer {
        url: Url,
        /// The fault as a predicate, as in `lists tags on more than 1000 pages`.
        fault: String,
    },
    /// A manifest is not that of a provider (rules 14.5 to 14.8).
    Artifact {
        url: Url,
        reason: String,
    },
    /// The source needs the network, which must not be used.
    Offline,
    MirrorUrl(MirrorUrlError),
    /// A mirror directory, or one below it, cannot be read.
    Unreadable {
        path: PathBuf,
        cause: io::Error,
    },
}

impl SourceFault {
    /// Makes the fault of a source that does not have a provider.
    #[must_use]
    pub fn unknown_provider() -> Self {
        Self::UnknownProvider {
            cut_off: None,
            successor: None,
        }
    }

    /// Makes the fault of a refusal by a host: one for its credentials is special.
    pub(super) fn refused(
        error: FetchError,
        host: String,
        sent: Sent,
        why_none: Option<String>,
    ) -> Self {
        match error.fault {
            FetchFault::Status {
                status: status @ (401 | 403),
                stated,
                ..
            } => Self::Unauthorized(Unauthorized {
                host,
                url: error.url,
                status,
                sent,
                stated,
                why_none,
            }),
            _ => Self::Fetch(error),
        }
    }

    pub(super) fn bad_answer(url: &Url, fault: String) -> Arc<Self> {
        let url = url.clone();
        Arc::new(Self::BadAnswer { url, fault })
    }

    /// Makes the fault of a URL that a document names in a field.
    pub(super) fn bad_url(document: &Url, field: &str, cause: &UrlError) -> Arc<Self> {
        let fault = format!("names a URL that cannot be used, as {field}: {cause}");
        Self::bad_answer(document, fault)
    }

    /// Makes the fault of a document that is not what a source answers.
    pub(super) fn bad_document(url: &Url, reason: String) -> Arc<Self> {
        let url = url.clone();
        Arc::new(Self::BadDocument { url, reason })
    }
}

impl From<FetchError> for SourceFault {
    fn from(error: FetchError) -> Self {
        Self::Fetch(error)
    }
}

impl About {
    /// Asks for the versions of a provider.
    #[must_use]
    pub fn versions(provider: &ProviderAddr) -> Self {
        Self::Versions(Box::new(provider.clone()))
    }

    /// Asks for a package.
    #[must_use]
    pub fn package(id: &PackageId) -> Self {
        Self::Package(Box::new(id.clone()))
    }

    /// Returns the provider, if the question is about one.
    #[must_use]
    pub fn provider(&self) -> Option<&ProviderAddr> {
        match self {
            Self::Source => None,
            Self::Versions(provider) => Some(provider),
            Self::Package(id) => Some(&id.provider),
        }
    }

    /// Returns the package, if the question is about one.
    #[must_use]
    pub fn id(&self) -> Option<&PackageId> {
        match self {
            Self::Package(id) => Some(id),
            _ => None,
        }
    }

    fn provider_text(&self) -> String {
        self.provider().map(ToString::to_string).unwrap_or_default()
    }

    fn release_text(&self) -> String {
        match self.id() {
            Some(id) => format!("{} {}", id.provider, id.version),
            None => self.provider_text(),
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source => Ok(()),
            Self::Versions(provider) => provider.fmt(f),
            Self::Package(id) => id.fmt(f),
        }
    }
}

impl SourceError {
    #[must_use]
    pub fn new(place: SourceLocation, about: About, fault: impl Into<Arc<SourceFault>>) -> Self {
        Self {
            place,
            about,
            fault: fault.into(),
        }
    }

    /// Returns whether the message says what was asked about; others fail all questions alike.
    #[must_use]
    pub fn names_subject(&self) -> bool {
        matches!(
            *self.fault,
            SourceFault::UnknownProvider { .. }
                | SourceFault::NoVersions
                | SourceFault::UnknownVersion { .. }
                | SourceFault::NoPackage { .. }
                | SourceFault::Nowhere { .. }
                | SourceFault::NoRepository { .. }
                | SourceFault::Protocol { .. }
        )
    }

    /// Returns true if the source has no version of the provider, so that another one may have some.
    #[must_use]
    pub fn is_unknown_provider(&self) -> bool {
        self.unknown_provider().is_some()
    }

    /// Returns the provider without any version in the source, if that is the error.
    #[must_use]
    pub fn unknown_provider(&self) -> Option<&ProviderAddr> {
        match *self.fault {
            SourceFault::UnknownProvider { .. }
            | SourceFault::NoVersions
            | SourceFault::Nowhere { .. } => self.about.provider(),
            _ => None,
        }
    }

    /// Returns true if both errors are of one kind of source and have one cause; their requests may differ.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        if std::mem::discriminant(&self.place) != std::mem::discriminant(&other.place) {
            return false;
        }
        // Within a release one document is wrong for all platforms; another release has another document.
        let is_same_release = || match (self.about.id(), other.about.id()) {
            (Some(id), Some(other)) => id.is_of_same_release(other),
            _ => false,
        };
        match (&*self.fault, &*other.fault) {
            (SourceFault::Fetch(error), SourceFault::Fetch(other)) => error.is_like(other),
            (SourceFault::Unauthorized(refused), SourceFault::Unauthorized(other)) => {
                refused.host == other.host && refused.status == other.status
            }
            (
                SourceFault::BadDocument { url, reason },
                SourceFault::BadDocument {
                    url: other,
                    reason: other_reason,
                },
            ) => url.origin() == other.origin() && reason == other_reason,
            (
                SourceFault::BadAnswer { url, fault },
                SourceFault::BadAnswer {
                    url: other,
                    fault: other_fault,
                },
            ) => url.origin() == other.origin() && (fault == other_fault || is_same_release()),
            (SourceFault::Protocol { spoken, .. }, SourceFault::Protocol { spoken: other, .. }) => {
                is_same_release() && spoken == other
            }
            (SourceFault::NoPackage { .. }, SourceFault::NoPackage { .. }) => {
                self.is_of_registry()
                    && is_same_release()
                    && self.is_announced() == other.is_announced()
            }
            _ => false,
        }
    }

    /// Returns true if the source lists the platform of the package that it does not have.
    #[must_use]
    pub fn is_announced(&self) -> bool {
        match (&*self.fault, self.about.id()) {
            (SourceFault::NoPackage { offered }, Some(id)) => offered.contains(&id.platform),
            _ => false,
        }
    }

    /// Returns true if a registry gave the answer: a mirror says nothing of a release, since it may have a part of
    /// it only.
    #[must_use]
    pub fn is_of_registry(&self) -> bool {
        matches!(self.place, SourceLocation::Registry(_))
    }

    /// Returns the package of a release that a registry does not have, or that lockctl cannot use for its plugin
    /// protocol.
    #[must_use]
    pub fn unusable_package(&self) -> Option<&PackageId> {
        match *self.fault {
            SourceFault::Protocol { .. } => self.about.id(),
            SourceFault::NoPackage { .. } if self.is_of_registry() => self.about.id(),
            _ => None,
        }
    }

    /// Returns true if the host of the registry names no registry, so that its address may be mistyped.
    #[must_use]
    pub fn is_discovery(&self) -> bool {
        matches!(*self.fault, SourceFault::Discovery { .. })
    }

    /// Makes the error for a provider that none of several sources has; a single source keeps its own error.
    pub(super) fn nowhere(provider: &ProviderAddr, answers: Vec<Self>) -> Self {
        match <[Self; 1]>::try_from(answers) {
            Ok([only]) => only,
            Err(answers) => Self::new(
                SourceLocation::Several,
                About::versions(provider),
                SourceFault::Nowhere { answers },
            ),
        }
    }

    /// Returns whether the version exists and only lacks the platform.
    #[must_use]
    pub fn lacks_platform(&self) -> bool {
        matches!(*self.fault, SourceFault::NoPackage { .. })
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(host) | Self::Modules(host) => write!(f, "the registry of {host}"),
            Self::NetworkMirror(url) => write!(f, "the mirror {url}"),
            Self::Repository(repository) => write!(f, "the repository {repository}"),
            Self::Directory(dir) => write!(f, "the mirror in {}", dir.display()),
            Self::Several => f.write_str("all sources"),
            Self::Named(words) => f.write_str(words),
        }
    }
}

impl SourceLocation {
    /// Names the kind of server that should have answered.
    fn kind(&self) -> &'static str {
        match self {
            Self::NetworkMirror(_) => "a network mirror",
            Self::Repository(_) => "a registry of OCI artifacts",
            _ => "a registry",
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, about, .. } = self;
        match &*self.fault {
            SourceFault::UnknownProvider { .. } if self.is_of_registry() => {
                write!(f, "{place} has no provider {}", about.provider_text())
            }
            SourceFault::UnknownProvider { .. } => {
                write!(f, "{place} has no package of {}", about.provider_text())
            }
            SourceFault::NoVersions if self.is_of_registry() => {
                write!(f, "{place} has no version of {}", about.provider_text())
            }
            SourceFault::NoVersions => write!(
                f,
                "{place} has no package of {}: none of its tags is a version",
                about.provider_text()
            ),
            SourceFault::UnknownVersion { tag: Some(tag) } => {
                write!(f, "{place} has no tag {tag} for {}", about.release_text())
            }
            SourceFault::UnknownVersion { tag: None } => write!(
                f,
                "{place} has no list of the packages of {}",
                about.release_text()
            ),
            // "All sources have no" could be read as "not all of them have".
            SourceFault::NoPackage { .. } if *place == SourceLocation::Several => {
                write!(f, "no source has a package of {about}")
            }
            SourceFault::NoPackage { .. } => write!(f, "{place} has no package of {about}"),
            SourceFault::Nowhere { answers } if answers.is_empty() => {
                write!(f, "no source of packages is for {about}")
            }
            SourceFault::Nowhere { answers } => {
                let messages = answers
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join("; ");
                write!(f, "no source of packages has {about}: {messages}")
            }
            SourceFault::NoRepository { reason } => write!(
                f,
                "{place} has no repository for {}: {reason}",
                about.provider_text()
            ),
            SourceFault::Protocol { spoken, .. } => write!(
                f,
                "{about} supports plugin protocol {} only; the programs support 5 and 6",
                spoken.join(", ")
            ),
            SourceFault::Discovery { host, .. } => {
                let kind = match place {
                    SourceLocation::Modules(_) => "module",
                    _ => "provider",
                };
                write!(f, "the {kind} registry of {host} cannot be found")
            }
            SourceFault::Unauthorized(refused) => refused.fmt(f),
            SourceFault::Fetch(error) => error.fmt(f),
            SourceFault::BadDocument { url, reason } => {
                write!(f, "{url} is not what {} answers: {reason}", place.kind())
            }
            SourceFault::BadAnswer { url, fault } => write!(f, "{url} {fault}"),
            SourceFault::Artifact { url, reason } => {
                write!(f, "{url} is no manifest of a provider: {reason}")
            }
            SourceFault::Offline => write!(
                f,
                "{place} is not asked, since network requests are forbidden"
            ),
            SourceFault::MirrorUrl(error) => error.fmt(f),
            SourceFault::Unreadable { path, .. } => {
                write!(f, "the mirror in {} cannot be read", path.display())
            }
        }
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &*self.fault {
            SourceFault::Discovery { cause, .. } => Some(cause),
            SourceFault::Unreadable { cause, .. } => Some(cause),
            SourceFault::Fetch(error) => error.source(),
            SourceFault::MirrorUrl(error) => error.source(),
            _ => None,
        }
    }
}
