//! Errors of reading and writing bundles.

use std::io;

/// A fault of a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is no tar, or one with something that a bundle does not have.
    #[error("it is not a tar archive as lockctl writes it: {0}")]
    NotTar(&'static str),
    /// A member is not as the manifest states it.
    #[error("its member {name:?} {fault}")]
    Member { name: String, fault: &'static str },
    /// A limit of readers is exceeded.
    #[error("it has more than {limit} {what}")]
    TooMuch { what: &'static str, limit: u64 },
    /// The manifest is not JSON of the expected form.
    #[error("its manifest cannot be read: {0}")]
    Manifest(serde_json::Error),
    /// The manifest has another text in the place of a SHA-256; its first 64 characters.
    #[error("its manifest has {text:?} where a SHA-256 should be")]
    NotSha256 { text: String },
    /// The manifest has another major version of the format.
    #[error(
        "its manifest has format version {found:?}, which this version of lockctl does not read"
    )]
    FormatVersion { found: String },
}
