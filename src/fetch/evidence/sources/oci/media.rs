//! The media types and tags of OCI artifacts with provider packages, for reading and writing (rules 14.3 to 14.7).

use crate::version::Version;

/// The media type of a list of manifests.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The media type of the manifest of one package.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The artifact type of the packages of a version.
pub(crate) const PROVIDER: &str = "application/vnd.opentofu.provider";

/// The artifact type of one package.
pub(crate) const TARGET: &str = "application/vnd.opentofu.provider-target";

/// The media type of a zip.
pub(crate) const ZIP: &str = "archive/zip";

/// Prefix of the digests that can be compared with a `zh:`.
pub(crate) const SHA256: &str = "sha256:";

/// Maximum size of a manifest, in bytes. OpenTofu refuses 5 MiB and more.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 5 * 1024 * 1024 - 1;

/// Returns the tag of a version: a tag has no `+`.
pub(crate) fn tag(version: &Version) -> String {
    version.to_string().replace('+', "_")
}

/// Returns the version that a tag names; `None` for other tags, such as `latest`.
pub(crate) fn version(tag: &str) -> Option<Version> {
    tag.replace('_', "+").parse().ok()
}
