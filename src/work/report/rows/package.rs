//! Packages at hand, for `hash`.

use serde::Serialize;

use crate::hash::Hash;
use crate::report::Failure;

/// A package that was to be hashed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
#[cfg_attr(test, schemars(rename = "Package"))]
pub enum PackageRow {
    /// A package with its hashes.
    Hashed(HashedPackageRow),
    /// A package that could not be hashed.
    Failed(FailedPackage),
}

/// A package with its hashes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "HashedPackage"))]
pub struct HashedPackageRow {
    /// The zip or the unpacked directory, as typed.
    pub path: String,
    /// The hash of its files, as a lock file records it: a list of one, since `h1` is a list everywhere.
    pub h1: Vec<Hash>,
    /// The hash of the zip, as a lock file records it, also as a list; absent for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zh: Option<Vec<Hash>>,
    /// The hash of the members of the zip, which differs from `h1` where unpacking changes what is
    /// there: checked by the programs, never recorded; absent for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_h1: Option<Hash>,
    /// The oddities of the zip; absent for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oddities: Option<Vec<String>>,
    /// Its files, in the order of hashing; only with `--files`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<PackageFile>>,
}

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PackageFile {
    /// Its path in the package, separated by `/`.
    pub name: String,
    /// Its size, in bytes.
    pub size: u64,
    /// The SHA-256 of its content, in lower-case hexadecimal digits.
    pub sha256: String,
}

/// A package that could not be hashed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedPackage {
    /// The zip or the unpacked directory, as typed.
    pub path: String,
    /// The first of `failures`.
    pub failure: Failure,
    /// The operations that failed, in the order of their failures.
    pub failures: Vec<Failure>,
}

impl FailedPackage {
    /// Makes the row for a failure.
    #[must_use]
    pub fn new(path: String, failure: Failure) -> Self {
        Self {
            path,
            failures: vec![failure.clone()],
            failure,
        }
    }
}
