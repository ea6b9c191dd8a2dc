//! Packages as a source offers them: identity, location, and the evidence for their hashes.

mod age;
mod attested_build;
pub mod calendar;
mod checksums;
mod claims;
mod fact;
mod fact_key;
mod release_fact;

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
pub use attested_build::AttestedBuild;
pub use checksums::{ChecksumList, ChecksumListFault};
pub use claims::{ClaimPolicy, ClaimedPackage, Claims, H1Trust};
pub use fact::{Fact, PackedFile};
pub use fact_key::{FactKey, FactKeyError};
pub use release_fact::{AttestedBuilds, ReleaseFact, ReleasePackage, SignerKey};

/// The identity of a package: one zip or directory for a provider, version and platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageId {
    pub provider: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
}

impl PackageId {
    /// Returns true if both packages are of the same version of the same provider.
    #[must_use]
    pub fn is_of_same_release(&self, other: &Self) -> bool {
        self.provider == other.provider && self.version == other.version
    }
}

/// A path of a package on this machine, with its form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Local {
    Archive(PathBuf),
    Directory(PathBuf),
}

/// A package on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPackage {
    pub id: PackageId,
    pub place: Local,
}

/// The place of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    Local(Local),
    /// In a zip that must be downloaded.
    Remote(Url),
    /// In a zip of a registry of OCI artifacts, which its digest names.
    Blob(Blob),
}

/// A zip in a registry of OCI artifacts (`sources` rules 14).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub url: Url,
    /// The SHA-256 of its bytes, as the registry states it.
    pub digest: Digest,
    /// The length in bytes, as the registry states it.
    pub bytes: u64,
}

/// A package that a source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageMeta {
    pub id: PackageId,
    /// The place of the package.
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

/// The evidence of a registry that a package is genuine (`sources` rules 3). Nothing of it has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The file name of the zip in the checksum document.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// A list of checksums with a good signature has it.
    Signed,
    /// This run computed it over bytes that match a signed hash.
    Proven,
    /// A key that the project file names signed the fact; the zip is in a list with a good signature.
    Attested,
    /// This run computed it over bytes that no signature covers.
    Computed,
    /// A source states it, and nothing that was seen in this run shows it.
    Claimed,
    /// The lock file had it, and this run did not see it.
    Kept,
}

impl Provenance {
    /// Returns the word for it in every output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Proven => "proven",
            Self::Attested => "attested",
            Self::Computed => "computed",
            Self::Claimed => "claimed",
            Self::Kept => "kept",
        }
    }
}

impl PackageMeta {
    /// Describes a package of which its source states nothing but the place.
    #[must_use]
    pub fn at(id: &PackageId, location: Location) -> Self {
        Self {
            id: id.clone(),
            location,
            evidence: None,
            stated: Hashes::default(),
            claims: None,
            download_retries: None,
        }
    }

    /// Returns the length of the zip in bytes, if the source states it.
    #[must_use]
    pub fn stated_size(&self) -> Option<u64> {
        let claims = self.claims.as_ref()?;
        claims.packages.get(&self.id.platform)?.size
    }
}

impl KeyId {
    /// Parses hexadecimal digits; spaces between them do not count.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // `gpg --fingerprint` prints the digits in groups of four.
        let digits = text.replace(' ', "").to_ascii_uppercase();
        let is_valid =
            [16, 40].contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit());
        is_valid.then_some(Self { text: digits })
    }

    /// Returns true if this names the key of a fingerprint, 40 upper-case hexadecimal digits: the ID of a key is
    /// the end of its fingerprint.
    #[must_use]
    pub fn names(&self, fingerprint: &str) -> bool {
        // That holds for keys of version 4 (RFC 4880, 12.2), the only ones that count (`authenticate` rules 5.1).
        fingerprint.ends_with(&self.text)
    }

    /// Returns true if these are all digits of a fingerprint.
    #[must_use]
    pub fn is_fingerprint(&self) -> bool {
        self.text.len() == 40
    }

    /// Returns the 16 or 40 digits, in upper case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Local {
    /// Returns the path of either form.
    #[must_use]
    pub fn path(&self) -> &std::path::Path {
        match self {
            Self::Archive(path) | Self::Directory(path) => path,
        }
    }
}

impl Location {
    /// Returns the URL of the download; `None` if the package is on this machine.
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

/// Platforms whose hashes are wanted: all of these together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedSet {
    /// Platforms that must exist in the release.
    pub named: Vec<Platform>,
    /// Each that a release offers.
    pub preset: Vec<Platform>,
    /// Every platform that a release offers.
    pub all: bool,
}

/// Platforms whose hashes are wanted, for each provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedPlatforms {
    /// Of every provider that has none of its own.
    pub every: WantedSet,
    /// Sets of single providers, which replace `every`.
    pub own: BTreeMap<ProviderAddr, WantedSet>,
    /// `lock` uses the same platforms unless others are typed.
    pub are_usual: bool,
    /// The place that states `every`.
    pub origin: PlatformsOrigin,
}

/// The place that states a list of wanted platforms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlatformsOrigin {
    /// Nothing states any, so the common ones are taken.
    #[default]
    Default,
    /// The project file of the root.
    ProjectFile,
    /// `--platform`, or the program that calls the library.
    Typed,
}

impl WantedPlatforms {
    /// Wants the same platforms for every provider; each of them must exist.
    #[must_use]
    pub fn every(platforms: Vec<Platform>) -> Self {
        Self {
            every: WantedSet {
                named: platforms,
                ..WantedSet::default()
            },
            origin: PlatformsOrigin::Typed,
            ..Self::default()
        }
    }

    /// Adds platforms that a policy requires; where nothing else states any, these alone are wanted.
    pub fn require(&mut self, required: WantedSet) {
        if self.origin == PlatformsOrigin::Default {
            self.every = required;
            self.origin = PlatformsOrigin::ProjectFile;
        } else {
            self.every.named.extend(required.named);
            self.every.preset.extend(required.preset);
        }
    }

    /// Returns true if both name the same platforms; `all` is not compared.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let known = |wanted: &Self| -> BTreeMap<ProviderAddr, Vec<Platform>> {
            wanted
                .own
                .iter()
                .map(|(provider, set)| (provider.clone(), set.known()))
                .collect()
        };
        self.every.known() == other.every.known() && known(self) == known(other)
    }

    /// Returns the platforms that are wanted for a provider by name, sorted; they do not depend on its release.
    #[must_use]
    pub fn known(&self, provider: &ProviderAddr) -> Vec<Platform> {
        self.of(provider).known()
    }

    /// Returns the place that states the platforms of a provider.
    #[must_use]
    pub fn origin_of(&self, provider: &ProviderAddr) -> PlatformsOrigin {
        match self.origin {
            PlatformsOrigin::Default if self.own.contains_key(provider) => {
                PlatformsOrigin::ProjectFile
            }
            origin => origin,
        }
    }

    /// Returns the platforms that are wanted for a provider.
    #[must_use]
    pub fn of(&self, provider: &ProviderAddr) -> &WantedSet {
        self.own.get(provider).unwrap_or(&self.every)
    }
}

impl WantedSet {
    /// Returns true if a platform is wanted by name or as part of a preset.
    #[must_use]
    pub fn has(&self, platform: &Platform) -> bool {
        self.named.contains(platform) || self.preset.contains(platform)
    }

    /// Returns all platforms but those that only a release states, sorted.
    #[must_use]
    pub fn known(&self) -> Vec<Platform> {
        let mut platforms = [&*self.named, &*self.preset].concat();
        // A platform may be named and be part of a preset as well.
        platforms.sort();
        platforms.dedup();
        platforms
    }
}
