//! The manifest of a bundle: its packages, the lock files that it was made for, and the bundle that it builds on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BundleError, MAX_MANIFEST_BYTES, MAX_MEMBER_BYTES, MAX_MEMBERS};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::hash::{Digest, Hash, Scheme, digest_of_hex, hex_of_digest};
use crate::mirror::layout::zip_name;
use crate::package::PackageId;

/// The version of the format.
const FORMAT_VERSION: &str = "1.0";

/// Prefix of the versions that can be read: the major number and its dot.
const MAJOR: &str = "1.";

/// A package of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BundledLock {
    /// The path as shown to the user, with `/` between its parts.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub digest: Digest,
}

/// The content of a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The SHA-256 of the manifest of the bundle that this one builds on.
    pub(super) base: Option<Digest>,
    /// The lock files, sorted.
    pub(super) locks: Vec<BundledLock>,
    /// The packages, sorted by id.
    pub(super) packages: Vec<BundledPackage>,
    /// The packages that earlier bundles have, sorted by id.
    pub(super) left_out: Vec<BundledPackage>,
}

/// A manifest in its written form.
#[derive(Serialize, Deserialize)]
struct ManifestText {
    format_version: String,
    base: Option<String>,
    lock_files: Vec<LockRow>,
    packages: Vec<PackageText>,
    left_out: Vec<PackageText>,
}

#[derive(Serialize, Deserialize)]
struct LockRow {
    path: String,
    sha256: String,
}

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

impl Manifest {
    /// Returns the manifest as JSON text.
    ///
    /// # Errors
    /// If the manifest or a package exceeds the limits of readers.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        // A bundle that readers refuse would be noticed only on the far side of the air gap.
        let packages = self.packages.len() + self.left_out.len();
        check_counts(packages, self.locks.len())?;
        let too_large = |package: &&BundledPackage| package.bytes > MAX_MEMBER_BYTES;
        if let Some(package) = self.packages.iter().find(too_large) {
            return Err(BundleError::MemberTooLarge {
                name: package.name(),
                bytes: package.bytes,
            });
        }
        let bytes = self.to_bytes_unchecked();
        let size = bytes.len() as u64;
        if size > MAX_MANIFEST_BYTES {
            return Err(BundleError::ManifestTooLarge { bytes: size });
        }
        Ok(bytes)
    }

    pub(super) fn to_bytes_unchecked(&self) -> Vec<u8> {
        let packages = |packages: &[BundledPackage]| packages.iter().map(PackageText::of).collect();
        let text = ManifestText {
            format_version: FORMAT_VERSION.to_owned(),
            base: self.base.as_ref().map(hex_of_digest),
            lock_files: self
                .locks
                .iter()
                .map(|lock| LockRow {
                    path: lock.path.clone(),
                    sha256: hex_of_digest(&lock.digest),
                })
                .collect(),
            packages: packages(&self.packages),
            left_out: packages(&self.left_out),
        };
        let mut bytes = serde_json::to_vec_pretty(&text).expect("text and numbers");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a manifest; ignores fields of later versions.
    ///
    /// # Errors
    /// The first invalid value.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, BundleError> {
        // A later format may have other fields, so the version is checked first.
        let version: VersionOnly = serde_json::from_slice(bytes).map_err(BundleError::Manifest)?;
        if !version.format_version.starts_with(MAJOR) {
            return Err(BundleError::FormatVersion {
                found: version.format_version,
            });
        }
        let text: ManifestText = serde_json::from_slice(bytes).map_err(BundleError::Manifest)?;
        let packages = text.packages.len() + text.left_out.len();
        check_counts(packages, text.lock_files.len())?;
        let locks: Result<Vec<_>, BundleError> = text
            .lock_files
            .into_iter()
            .map(|row| {
                Ok(BundledLock {
                    digest: digest_of(row.sha256)?,
                    path: row.path,
                })
            })
            .collect();
        Ok(Self {
            base: text.base.map(digest_of).transpose()?,
            locks: locks?,
            packages: packages_of(text.packages)?,
            left_out: packages_of(text.left_out)?,
        })
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

/// The only field that every version of the format has.
#[derive(Deserialize)]
struct VersionOnly {
    format_version: String,
}

impl PackageText {
    fn of(package: &BundledPackage) -> Self {
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

fn check_counts(packages: usize, locks: usize) -> Result<(), BundleError> {
    for (count, named) in [(packages, "packages"), (locks, "lock files")] {
        if count > MAX_MEMBERS {
            return Err(BundleError::TooMany { named });
        }
    }
    Ok(())
}

fn digest_of(text: String) -> Result<Digest, BundleError> {
    digest_of_hex(&text).ok_or_else(|| wrong(&text, "a SHA-256"))
}

/// Reads packages; their strict order excludes duplicates.
fn packages_of(rows: Vec<PackageText>) -> Result<Vec<BundledPackage>, BundleError> {
    let mut packages: Vec<BundledPackage> = Vec::new();
    for row in rows {
        let package = package_of(&row)?;
        // A name that differs from the name of the package could be a path to anywhere.
        if package.name() != row.name {
            return Err(wrong(&row.name, "the name of its package"));
        }
        if packages.last().is_some_and(|last| last.id >= package.id) {
            return Err(BundleError::Order { name: row.name });
        }
        packages.push(package);
    }
    Ok(packages)
}

fn package_of(row: &PackageText) -> Result<BundledPackage, BundleError> {
    let hash = |text: &String, scheme, wanted| {
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
    let id = PackageId {
        provider,
        version: row
            .version
            .parse()
            .map_err(|_| wrong(&row.version, "a version"))?,
        platform: row
            .platform
            .parse()
            .map_err(|_| wrong(&row.platform, "a platform"))?,
    };
    Ok(BundledPackage {
        id,
        zh: hash(&row.zh, Scheme::Zh, "a zh: hash")?,
        h1: hash(&row.h1, Scheme::H1, "an h1: hash")?,
        bytes: row.bytes,
    })
}

fn wrong(value: &str, wanted: &'static str) -> BundleError {
    BundleError::Value {
        value: value.to_owned(),
        wanted,
    }
}
