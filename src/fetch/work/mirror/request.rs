//! The inputs of a run: lock files, the places of bytes, and what to do.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::bundle::Bundle;
use crate::authenticate::Enforcement;
use crate::flavor::Flavor;
use crate::locker::{FlavorSource, SignatureDemands, TrustedFacts};
use crate::lockfile::LockFile;
use crate::package::WantedPlatforms;
use crate::sources::filesystem_mirror::FilesystemMirror;

/// A lock file whose packages are wanted.
#[derive(Clone, Copy)]
pub struct MirroredRoot<'a> {
    /// The program whose rules apply.
    pub flavor: Flavor,
    /// The lock file, which is not changed.
    pub lock: &'a LockFile,
    /// The platforms whose packages are wanted.
    pub platforms: &'a WantedPlatforms,
    /// The facts of the store that count.
    pub trusted: TrustedFacts,
    /// The signatures that packages must have.
    pub demands: &'a SignatureDemands,
    /// The registries, whose signed lists count; `None` if no request may be made.
    pub registry: Option<&'a FlavorSource<'a>>,
    /// The places that bytes may come from, the first one first.
    pub places: &'a [Place<'a>],
}

/// A place that the bytes of packages may come from. It is not trusted: hashes decide.
#[derive(Clone)]
pub enum Place<'a> {
    /// A directory of packages in the layout of a filesystem mirror, or a plugin cache.
    Directory(PathBuf, &'a FilesystemMirror),
    /// A bundle that another run wrote.
    Bundle(&'a Bundle),
    /// A source, with its name; a registry goes by the hostname of the provider.
    Source(Option<String>, &'a FlavorSource<'a>),
}

/// The settings of a run that are the same for all roots.
#[derive(Clone, Copy, Debug)]
pub struct MirrorSettings<'a> {
    /// The directory of the mirror.
    pub dir: &'a Path,
    /// Maximum number of packages that are hashed at once.
    pub jobs: NonZeroUsize,
    /// Maximum number of packages that are copied or downloaded at once.
    pub downloads: NonZeroUsize,
    /// The checks of signatures that the environment makes OpenTofu enforce.
    pub enforced: Enforcement,
    /// The extent of what is done.
    pub extent: MirrorExtent,
    /// The check of packages that are there already.
    pub existing: ExistingCheck,
    /// The forms of placed packages.
    pub layout: MirrorLayout,
    /// The directory of OCI image layouts with the same zips, if such are wanted.
    pub oci_layout: Option<&'a Path>,
}

/// The forms of placed packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorLayout {
    /// As zips, with the documents that list them.
    Packed,
    /// As directories with the files of the packages.
    Unpacked,
    /// As zips, and as directories beside them.
    Both,
}

impl MirrorLayout {
    /// Returns true if zips are placed.
    #[must_use]
    pub fn has_zips(self) -> bool {
        self != Self::Unpacked
    }

    /// Returns true if directories are placed.
    #[must_use]
    pub fn has_directories(self) -> bool {
        self != Self::Packed
    }
}

/// The extent of what a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorExtent {
    /// Packages are placed and documents written.
    Place,
    /// Lists of registries are asked for; nothing is written.
    DryRun,
    /// Files that are there are compared with the lock files; nothing is asked or written.
    Check,
}

/// The check of packages that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingCheck {
    /// Their bytes are hashed.
    Hashes,
    /// The size of a zip is compared, if a fact states the size of the zip that `VERSION.json` names; other zips are
    /// hashed. A directory is accepted if it has the program of the provider.
    Sizes,
}
