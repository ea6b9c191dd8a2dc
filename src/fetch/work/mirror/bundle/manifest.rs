//! The manifest of a bundle: its packages, the lock files that it was made for, and the bundle that it builds on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BundleError, MAX_MANIFEST_BYTES, MAX_MEMBER_BYTES, MAX_MEMBERS};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::hash::{Hash, Scheme, digest_of_hex};
use crate::mirror::layout::zip_name;
use crate::package::PackageId;

/// The version of the format.
const FORMAT_VERSION: &str = "1.0";

/// Prefix of the versions that can be read: the major number and its dot.
const MAJOR: &str = "1.";

/// A package of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "PackageText", try_from = "PackageText")]
pub struct BundledPackage {
    pub id: PackageId,
    /// The hash of the zip.
    pub zh: Hash,
    /// The hash of its files.
    pub h1: Hash,
    /// The length of the zip.
    pub bytes: u64,
}

/// A lock file that a bundle was made for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BundledLock {
    /// The path as shown to the user, with `/` between its parts.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// The content of a manifest.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format_version: String,
    /// The SHA-256 of the manifest of the bundle that this one builds on, in hexadecimal digits.
    pub(super) base: Option<String>,
    /// The lock files, sorted.
    pub(super) lock_files: Vec<BundledLock>,
    /// The packages, sorted by id.
    pub(super) packages: Vec<BundledPackage>,
    /// The packages that earlier bundles have, sorted by id.
    pub(super) left_out: Vec<BundledPackage>,
}

/// A package in its written form.
#[derive(Serialize, Deserialize)]
struct PackageText {
    provider: String,
    version: String,
    platform: String,
    name: String,
    bytes: u64,
    zh: String,
    h1: String,
}

/// The only field that every version of the format has.
#[derive(Deserialize)]
struct VersionOnly {
    format_version: String,
}

impl BundledPackage {
    /// Returns the name of the member: the path of the package in a packed mirror.
    #[must_use]
    pub fn name(&self) -> String {
        let PackageId {
            provider,
            version,
            platform,
        } = &self.id;
        format!("{provider}/{}", zip_name(provider, version, platform))
    }
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            format_version: FORMAT_VERSION.to_owned(),
            base: None,
            lock_files: Vec::new(),
            packages: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl Manifest {
    /// Returns the manifest as JSON text.
    ///
    /// # Errors
    /// If the manifest or a package exceeds the limits of readers.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        // A bundle that readers refuse would be noticed only on the far side of the air gap.
        self.check_limits()?;
        let bytes = self.to_bytes_unchecked();
        if bytes.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(BundleError::TooMuch {
                what: "bytes of its manifest",
                limit: MAX_MANIFEST_BYTES,
            });
        }
        Ok(bytes)
    }

    pub(super) fn to_bytes_unchecked(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("text and numbers");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a manifest; ignores fields of later versions.
    ///
    /// # Errors
    /// The first fault.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, BundleError> {
        // A later format may have other fields, so the version is checked first.
        let version: VersionOnly = serde_json::from_slice(bytes).map_err(BundleError::Manifest)?;
        if !version.format_version.starts_with(MAJOR) {
            return Err(BundleError::FormatVersion {
                found: version.format_version,
            });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(BundleError::Manifest)?;
        manifest.check_limits()?;
        // Messages show them, and another text could steer a terminal.
        let locks = manifest.lock_files.iter().map(|lock| &lock.sha256);
        if let Some(text) = locks
            .chain(&manifest.base)
            .find(|text| digest_of_hex(text).is_none())
        {
            let text = text.chars().take(64).collect();
            return Err(BundleError::NotSha256 { text });
        }
        // A strict order excludes duplicates.
        for packages in [&manifest.packages, &manifest.left_out] {
            if let Some(pair) = packages.windows(2).find(|pair| pair[0].id >= pair[1].id) {
                return Err(BundleError::Member {
                    name: pair[1].name(),
                    fault: "is in its manifest twice, or not in its place",
                });
            }
        }
        Ok(manifest)
    }

    fn check_limits(&self) -> Result<(), BundleError> {
        let packages = self.packages.len() + self.left_out.len();
        for (count, what) in [
            (packages, "packages in its manifest"),
            (self.lock_files.len(), "lock files in its manifest"),
        ] {
            if count > MAX_MEMBERS {
                let limit = MAX_MEMBERS as u64;
                return Err(BundleError::TooMuch { what, limit });
            }
        }
        let is_too_large = |package: &BundledPackage| package.bytes > MAX_MEMBER_BYTES;
        if self.packages.iter().any(is_too_large) {
            return Err(BundleError::TooMuch {
                what: "bytes of a package",
                limit: MAX_MEMBER_BYTES,
            });
        }
        Ok(())
    }

    /// Splits packages into those that a bundle must have and those that earlier bundles have.
    pub(super) fn split(
        packages: Vec<BundledPackage>,
        base: Option<&Self>,
    ) -> [Vec<BundledPackage>; 2] {
        // The packages that the base leaves out are in earlier bundles, which the far side needs as well. So each
        // bundle of a chain stays small.
        let earlier: BTreeMap<&Hash, u64> = base
            .iter()
            .flat_map(|base| base.packages.iter().chain(&base.left_out))
            .map(|package| (&package.zh, package.bytes))
            .collect();
        let (left_out, new) = packages
            .into_iter()
            // A manifest is not evidence: if it states another size for a zip, the zip is packed again.
            .partition(|package| earlier.get(&package.zh) == Some(&package.bytes));
        [new, left_out]
    }
}

impl From<BundledPackage> for PackageText {
    fn from(package: BundledPackage) -> Self {
        Self {
            provider: package.id.provider.to_string(),
            version: package.id.version.to_string(),
            platform: package.id.platform.to_string(),
            name: package.name(),
            bytes: package.bytes,
            zh: package.zh.to_string(),
            h1: package.h1.to_string(),
        }
    }
}

impl TryFrom<PackageText> for BundledPackage {
    type Error = String;

    fn try_from(row: PackageText) -> Result<Self, String> {
        let wrong = |value: &str, wanted| format!("it has {value:?} where {wanted} should be");
        let hash = |text: &str, scheme, wanted| {
            text.parse::<Hash>()
                .ok()
                .filter(|hash| hash.scheme() == scheme && hash.is_well_formed())
                .ok_or_else(|| wrong(text, wanted))
        };
        // The programs differ in the names that they allow, and a bundle may serve both.
        let provider = Flavor::ALL
            .iter()
            .filter_map(|flavor| ProviderAddr::parse(&row.provider, *flavor).ok())
            // The short form `acme/demo` has another default host in each program.
            .find(|provider| provider.to_string() == row.provider)
            .ok_or_else(|| wrong(&row.provider, "the full address of a provider"))?;
        let version = row
            .version
            .parse()
            .map_err(|_| wrong(&row.version, "a version"))?;
        let platform = row
            .platform
            .parse()
            .map_err(|_| wrong(&row.platform, "a platform"))?;
        let package = Self {
            id: PackageId {
                provider,
                version,
                platform,
            },
            zh: hash(&row.zh, Scheme::Zh, "a zh: hash")?,
            h1: hash(&row.h1, Scheme::H1, "an h1: hash")?,
            bytes: row.bytes,
        };
        // A name that differs from the name of the package could be a path to anywhere.
        if package.name() != row.name {
            return Err(wrong(&row.name, "the name of its package"));
        }
        Ok(package)
    }
}
