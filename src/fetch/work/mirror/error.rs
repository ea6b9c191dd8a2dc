//! The failures of a run, each about one release or one path.

use std::io;
use std::path::{Path, PathBuf};

use super::bundle::{BundleError, LEFT_OUT};
use crate::archive::ArchiveError;
use crate::diag::{causes, counted_as};
use crate::hash::Hash;
use crate::locker::{LockError, Release};
use crate::package::{KeyId, PackageId};
use crate::platform::{self, Platform};
use crate::world::Disk;

/// The reason for skipping a place with an unpacked package if a zip is wanted.
pub(super) const ONLY_UNPACKED: &str =
    "it has the package unpacked only, and the zip cannot be made from its files";

/// A failure about a release, or about the directory of the mirror.
#[derive(Debug, thiserror::Error)]
pub enum MirroringError {
    /// The evidence of the registry is missing or wrong.
    #[error(transparent)]
    Evidence(#[from] Box<LockError>),
    /// The release has no package for a platform that was named.
    #[error("{id} does not exist: the signed list of the release has no package for that platform")]
    NotOffered {
        id: Box<PackageId>,
        /// The platforms of the release.
        offered: Vec<Platform>,
    },
    /// No place has the bytes of a package.
    #[error("the package of {id} could not be fetched")]
    NoPlace {
        id: Box<PackageId>,
        /// The places that were tried, each with the reason why it was left.
        places: Vec<LeftPlace>,
        /// The package need not exist, and no place failed: this is an error only of a release of which no place has
        /// any package.
        may_lack: bool,
    },
    /// The package of a platform does not have an `h1:` that the lock file records.
    #[error(
        "the package of {id} has {found}, and none of the {} in the lock file is that",
        counted_as(*.recorded, "h1: hash", "h1: hashes")
    )]
    H1Differs {
        id: Box<PackageId>,
        found: Hash,
        /// Number of `h1:` in the lock file that are not known to be of another platform.
        recorded: usize,
        /// The roots with such a lock file.
        roots: Vec<usize>,
    },
    /// A lock file records more `h1:` than there are packages that could have them.
    #[error(
        "the lock file has {} for {} {} of no package seen here, and the release has {}",
        counted_as(*.count, "h1: hash", "h1: hashes"),
        release.provider,
        release.version,
        match unseen {
            0 => "no other packages".to_owned(),
            unseen => format!("only {}", counted_as(*unseen, "other package", "other packages")),
        }
    )]
    H1OfNoPackage {
        release: Box<Release>,
        /// Number of `h1:` of no known package.
        count: usize,
        /// Number of packages that were not seen.
        unseen: usize,
        /// The roots with such a lock file.
        roots: Vec<usize>,
    },
    /// The package is not among those whose `zh:` the lock file records.
    #[error(
        "the package of {id} has {found}, which the lock file does not have among the hashes of the release"
    )]
    ZipNotLocked {
        id: Box<PackageId>,
        found: Hash,
        /// The roots with such a lock file.
        roots: Vec<usize>,
    },
    /// The files of an unpacked package differ from those of its zip.
    #[error("the package of {id} has {found} once it is unpacked, and not {expected}")]
    UnpackedDiffers {
        id: Box<PackageId>,
        found: Hash,
        expected: Hash,
    },
    /// The content of a package cannot be read.
    #[error("the package of {id} cannot be read")]
    Archive {
        id: Box<PackageId>,
        #[source]
        cause: ArchiveError,
    },
    /// The project file demands a signature, or that of another key.
    #[error(
        "{} {} is not signed{}, as the project file demands",
        release.provider,
        release.version,
        key.as_ref().map(|key| format!(" by {}", key.as_str())).unwrap_or_default()
    )]
    Unsigned {
        release: Box<Release>,
        /// The key that must have signed it, if one is stated.
        key: Option<KeyId>,
    },
    /// The project file demands a signature, and it is unknown if there is one.
    #[error("it is not known who signed {} {}: {reason}", release.provider, release.version)]
    SignatureUnknown {
        release: Box<Release>,
        /// The reason why the signed list was not fetched.
        reason: String,
    },
    /// A zip of the mirror changed since it was hashed.
    #[error("{} changed while it was copied", path.display())]
    Changed { path: PathBuf },
    /// The directory of an OCI image layout is used for something else.
    #[error("{} has an index.json and no oci-layout, so it is not an OCI image layout", path.display())]
    NoLayout { path: PathBuf },
    /// One of the two directories contains the other.
    #[error("the OCI layout {} and the mirror {} are not apart", layout.display(), mirror.display())]
    LayoutInMirror { layout: PathBuf, mirror: PathBuf },
    /// A bundle would be too large for its readers.
    #[error("{} cannot be made", path.display())]
    Bundle {
        path: PathBuf,
        #[source]
        cause: BundleError,
    },
    /// A link is in the way.
    #[error("{} is a symbolic link, and a mirror is written without following any", path.display())]
    Link { path: PathBuf },
    /// A path cannot be read or written.
    #[error("{} cannot be {action}", path.display())]
    Io {
        path: PathBuf,
        /// `read`, `written` or `removed`.
        action: &'static str,
        #[source]
        cause: io::Error,
    },
}

/// A place that was left for the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftPlace {
    /// Its name, as a user knows it.
    pub place: String,
    /// The reason, in words.
    pub reason: String,
}

impl LeftPlace {
    /// Returns true for a place that has the package, but not its zip.
    pub(super) fn is_unpacked(&self) -> bool {
        self.reason == ONLY_UNPACKED
    }
}

impl MirroringError {
    /// Returns true for an alarm: evidence against the lock file, the package or a demand. Every other error is a
    /// job that could not be done.
    #[must_use]
    pub fn is_alarm(&self) -> bool {
        match self {
            Self::Evidence(error) => error.alarm().is_some(),
            Self::H1Differs { .. }
            | Self::H1OfNoPackage { .. }
            | Self::ZipNotLocked { .. }
            | Self::Unsigned { .. } => true,
            _ => false,
        }
    }

    /// Returns the package that is nowhere, if that is the error.
    #[must_use]
    pub fn missing_package(&self) -> Option<&PackageId> {
        match self {
            Self::NotOffered { id, .. } | Self::NoPlace { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Returns the causes in words, the outermost first.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        match self {
            Self::NoPlace { places, .. } => places
                .iter()
                .map(|left| format!("{}: {}", left.place, left.reason))
                .collect(),
            error => causes(error),
        }
    }

    /// Returns the next step for the user, if there is one.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NotOffered { offered, .. } => Some(format!(
                "the release has packages for {}",
                platform::join(offered, ", ")
            )),
            Self::NoPlace { places, .. } if places.iter().any(LeftPlace::is_unpacked) => Some(
                "--unpacked makes a mirror of unpacked packages, which `init` installs from as well".to_owned(),
            ),
            Self::NoPlace { places, .. } if places.iter().any(|place| place.reason.starts_with(LEFT_OUT)) => Some(
                "mirror the earlier bundle into the same directory first, or name it with --from as well".to_owned(),
            ),
            Self::NoPlace { places, .. } if places.is_empty() => Some(
                "without --offline its registry is asked; --from DIR names a directory that has the package".to_owned(),
            ),
            Self::NoPlace { .. } => Some(
                "run the same command again to go on; --from DIR names a directory that has the package".to_owned(),
            ),
            Self::H1Differs { id, .. } => Some(format!(
                "nothing of the release was placed; either the lock file is not for {0}, which `lockctl lock --platform \
                 {0}` adds, or it was falsified: find out who wrote it",
                id.platform
            )),
            Self::H1OfNoPackage { .. } => Some(
                "nothing of the release was placed; find out who wrote them: `lockctl verify` names them, and `lockctl \
                 lock --repair` replaces them"
                    .to_owned(),
            ),
            Self::ZipNotLocked { .. } => Some(
                "nothing of the release was placed; `lockctl verify --upstream` compares the lock file with the signed \
                 list"
                    .to_owned(),
            ),
            Self::UnpackedDiffers { .. } => Some(
                "nothing of the package was placed; the file system may not keep the names of files as they are"
                    .to_owned(),
            ),
            Self::SignatureUnknown { .. } => Some(
                "the project file demands a signature; run `lockctl lock` where the registry can be reached, which keeps \
                 what it finds out about signatures"
                    .to_owned(),
            ),
            Self::Changed { .. } => Some("run the same command again once nothing else writes to the mirror".to_owned()),
            Self::NoLayout { .. } | Self::LayoutInMirror { .. } => {
                Some("name another directory with --oci-layout".to_owned())
            }
            Self::Link { .. } => Some("remove the link, or name another directory".to_owned()),
            // Reading fails for reasons that the error of the system says best.
            Self::Io { action, cause, .. } if *action != "read" => match cause.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Some("make room on the disk, and run the same command again to go on".to_owned())
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Some(
                    "run the command as the user who owns the directory, or name another one".to_owned(),
                ),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => Some(
                    "a file is in the place of a directory: remove it, or name another directory"
                        .to_owned(),
                ),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if some place has the package unpacked only.
    pub(super) fn is_about_unpacked(&self) -> bool {
        matches!(self, Self::NoPlace { places, .. } if places.iter().any(LeftPlace::is_unpacked))
    }

    /// Makes the error of a path in the mirror, by what the system says and what is there.
    pub(super) fn io(disk: &dyn Disk, path: &Path, action: &'static str, cause: io::Error) -> Self {
        let link = path
            .ancestors()
            .find(|path| matches!(disk.link(path), Ok(Some(_))));
        match link {
            Some(path) => Self::Link {
                path: path.to_owned(),
            },
            None => Self::Io {
                path: path.to_owned(),
                action,
                cause,
            },
        }
    }
}
