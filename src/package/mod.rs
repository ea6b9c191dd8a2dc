//! Packages as a source offers them: identity, location, and the evidence for their hashes.

mod age;
pub mod calendar;
mod checksums;
mod claims;
mod fact;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::{ProviderAddr, Url};
use crate::hash::{Digest, Hashes};
use crate::platform::Platform;
use crate::version::Version;

pub use age::{
    AgePolicy, DateSource, MinAge, MinAgeError, ReleaseDate, ReleaseDates, Undated, Youth,
};
pub use checksums::{ChecksumList, LineFault, ListFault};
pub use claims::{ClaimPolicy, ClaimedPackage, Claims, H1Trust};
pub use fact::{Fact, PackedFile};

/// The identity of a package: one zip or directory for a provider, version and platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageId {
    /// The address of the provider.
    pub provider: ProviderAddr,
    /// The version of the provider.
    pub version: Version,
    /// The operating system and architecture that it runs on.
    pub platform: Platform,
}

/// A path of a package on this machine, with its form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Local {
    /// The path of a zip file.
    Archive(PathBuf),
    /// The path of an unpacked directory.
    Directory(PathBuf),
}

/// A package on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPackage {
    /// The identity of the package.
    pub id: PackageId,
    /// The path and form of the package.
    pub place: Local,
}

/// A place from which a package can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A path on this machine.
    Local(Local),
    /// In a zip that must be downloaded.
    Remote(Url),
    /// In a zip of a registry of OCI artifacts, which its digest names.
    Blob(Blob),
}

/// A zip in a registry of OCI artifacts (`sources` rules 14).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The URL of the blob.
    pub url: Url,
    /// The SHA-256 of its bytes, as the registry states it.
    pub digest: Digest,
    /// The length in bytes, as the registry states it.
    pub bytes: u64,
}

/// A package that a source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageMeta {
    /// The identity of the package.
    pub id: PackageId,
    /// The place from which it can be read.
    pub location: Location,
    /// The evidence that the source hands over to prove that it is genuine; mirrors hand over none.
    pub evidence: Option<Evidence>,
    /// Hashes of the package that a mirror states; nothing signs them (`sources` rules 8.4, 14.8).
    pub stated: Hashes,
    /// Hashes that the source states of the packages of all platforms, if it does and they may be
    /// recorded; nothing signs them.
    pub claims: Option<Arc<Claims>>,
    /// The number of times to repeat its download, if that is configured for its source.
    pub download_retries: Option<usize>,
}

/// The evidence with which a registry proves that a package is genuine (`sources` rules 3). Nothing of it
/// has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The name by which the checksum document lists the zip.
    pub filename: String,
    /// The SHA-256 of the zip, as the registry states it.
    pub shasum: Digest,
    /// The same as the registry spells it: 64 hexadecimal digits, in upper or lower case.
    pub shasum_text: String,
    /// The checksum document of the release, `SHA256SUMS`. Packages of a release share it.
    pub sums: Arc<ChecksumList>,
    /// When its server says that it was changed last, if it does.
    pub sums_changed: Option<SystemTime>,
    /// The detached signature of that document.
    pub signature: Arc<[u8]>,
    /// The keys that may have signed it, in the registry's order.
    pub keys: Vec<SigningKey>,
}

/// A key that a registry vouches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// The public key, with ASCII armor.
    pub ascii_armor: String,
    /// HashiCorp's signature over the key, with ASCII armor; empty if there is none.
    pub trust_signature: String,
}

/// The ID or fingerprint of a signing key: 16 or 40 upper-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyId {
    text: String, // Invariant: as the type says.
}

/// The proof of a hash, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Provenance {
    /// A list of checksums with a good signature has it.
    Signed,
    /// This run computed it over bytes that match a signed hash.
    Proven,
    /// This run computed it over bytes that no signature covers.
    Computed,
    /// A source states it, and nothing that was seen in this run shows it.
    Claimed,
    /// The lock file had it, and this run did not see it.
    Kept,
}

impl PackageMeta {
    /// Returns how long the source states the zip to be, in bytes, if it does.
    #[must_use]
    pub fn stated_size(&self) -> Option<u64> {
        let claims = self.claims.as_ref()?;
        claims.packages.get(&self.id.platform)?.size
    }
}

impl KeyId {
    /// Takes hexadecimal digits, in pairs or groups if one likes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.split(' ').collect();
        let good =
            [16, 40].contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit());
        good.then(|| Self {
            text: digits.to_ascii_uppercase(),
        })
    }

    /// Returns whether a key of this fingerprint is meant, 40 upper-case hexadecimal digits: the ID of
    /// a key is the end of its fingerprint.
    #[must_use]
    pub fn names(&self, fingerprint: &str) -> bool {
        fingerprint.ends_with(&self.text)
    }

    /// Returns the 16 or 40 digits, in upper case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Local {
    /// Returns the path, whatever the form.
    #[must_use]
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::Archive(path) | Self::Directory(path) => path,
        }
    }
}

impl Location {
    /// Returns where the package must be downloaded from; `None` if it is on this machine.
    #[must_use]
    pub fn url(&self) -> Option<&Url> {
        match self {
            Self::Local(_) => None,
            Self::Remote(url) | Self::Blob(Blob { url, .. }) => Some(url),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(local) => write!(f, "{}", local.path().display()),
            Self::Remote(url) | Self::Blob(Blob { url, .. }) => write!(f, "{url}"),
        }
    }
}

impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} for {}",
            self.provider, self.version, self.platform
        )
    }
}

/// For which platforms hashes are wanted: all of these together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedSet {
    /// Platforms that must exist in the release.
    pub named: Vec<Platform>,
    /// Each that a release offers.
    pub preset: Vec<Platform>,
    /// Whatever a release offers.
    pub all: bool,
}

/// For which platforms the hashes of each provider are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedPlatforms {
    /// Of every provider that has none of its own.
    pub every: WantedSet,
    /// Sets of single providers, which replace `every`.
    pub own: BTreeMap<ProviderAddr, WantedSet>,
    /// `lock` uses the same platforms unless others are typed.
    pub are_usual: bool,
}

impl WantedPlatforms {
    /// Wants the same platforms for every provider, each of which must exist.
    #[must_use]
    pub fn every(platforms: Vec<Platform>) -> Self {
        Self {
            every: WantedSet {
                named: platforms,
                ..WantedSet::default()
            },
            ..Self::default()
        }
    }

    /// Returns whether the same platforms are wanted whatever a release offers.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let known = |wanted: &Self| -> BTreeMap<ProviderAddr, Vec<Platform>> {
            let own = wanted.own.iter();
            own.map(|(provider, set)| (provider.clone(), set.known()))
                .collect()
        };
        self.every.known() == other.every.known() && known(self) == known(other)
    }

    /// Returns the platforms that are wanted for a provider whatever its release offers, sorted.
    #[must_use]
    pub fn known(&self, provider: &ProviderAddr) -> Vec<Platform> {
        self.of(provider).known()
    }

    /// Returns the platforms that are wanted for a provider.
    #[must_use]
    pub fn of(&self, provider: &ProviderAddr) -> &WantedSet {
        self.own.get(provider).unwrap_or(&self.every)
    }
}

impl WantedSet {
    /// Returns whether a platform is wanted by name or as part of a preset.
    #[must_use]
    pub fn has(&self, platform: &Platform) -> bool {
        self.named.contains(platform) || self.preset.contains(platform)
    }

    /// Returns all platforms but those that only a release states, sorted.
    #[must_use]
    pub fn known(&self) -> Vec<Platform> {
        let mut platforms = [&*self.named, &*self.preset].concat();
        platforms.sort();
        platforms.dedup();
        platforms
    }
}
