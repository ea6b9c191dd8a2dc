//! Bundles: one tar with the packages that lock files need, for machines without a network.
//!
//! A bundle is a tar in the format of POSIX (ustar; a name that does not fit is in a pax record), whose bytes depend
//! only on the packages, the lock files and the bundle that it builds on: members are sorted by package, all times,
//! owners and groups are zero, modes are 0644. The members are named as in a packed mirror, so `tar -xf` makes such a
//! mirror.
//!
//! The first member is the manifest, `lockctl-bundle.json`:
//!
//! ```json
//! {
//!   "format_version": "1.0",
//!   "base": "SHA-256 of the manifest of the bundle that this one builds on; null for a whole one",
//!   "lock_files": [{ "path": "live/a/.terraform.lock.hcl", "sha256": "..." }],
//!   "packages": [{
//!     "provider": "registry.terraform.io/acme/demo",
//!     "version": "1.0.0",
//!     "platform": "linux_amd64",
//!     "name": "registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
//!     "bytes": 306,
//!     "zh": "zh:...",
//!     "h1": "h1:..."
//!   }],
//!   "left_out": ["packages in the same form, which the bundles that this one builds on have"]
//! }
//! ```
//!
//! Lock files are sorted by path, packages by provider, version and platform. Fields may be added; the major number
//! of the version changes if current readers would misread the format.
//!
//! Invariant: the manifest is an index, and never evidence. Members are read as byte ranges, hashed, and compared with
//! the lock files of the machine that reads them; no name in the manifest becomes a path.

mod error;
mod manifest;
mod member;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use error::BundleError;
pub use manifest::{BundledLock, BundledPackage};
pub use read::Bundle;
pub use write::{BundleRequest, WrittenBundle, write_bundle};

pub(super) use read::LEFT_OUT;

/// The name of the first member.
const MANIFEST_NAME: &str = "lockctl-bundle.json";

/// Maximum size of a manifest, in bytes: a package takes some 450.
const MAX_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum number of packages in a manifest, including those left out; also the maximum number of its lock files.
const MAX_MEMBERS: usize = 30_000;

/// Maximum size of the pax record with the name of a member, in bytes.
const MAX_NAME_BYTES: u64 = 4096;

/// Maximum size of a package in a bundle, in bytes: larger ones are not downloaded either.
const MAX_MEMBER_BYTES: u64 = 4 * 1024 * 1024 * 1024;
