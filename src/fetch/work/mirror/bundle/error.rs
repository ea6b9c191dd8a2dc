//! Errors of reading and writing bundles.

use std::io;

use super::{MANIFEST_NAME, MAX_MANIFEST_BYTES, MAX_MEMBER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES};

/// A fault of a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A tar header is missing or invalid.
    #[error("it is not a tar archive: there is no valid header at byte {at}")]
    NotTar { at: u64 },
    /// The file ends too early.
    #[error("it is cut off: {}", member.as_ref().map_or_else(
        || "it has no end of an archive".to_owned(),
        |name| format!("its member {name:?} goes beyond the end of the file")
    ))]
    Truncated {
        /// The member that is cut off; `None` if a header or the end of the archive is missing.
        member: Option<String>,
    },
    /// The file has bytes after the end of the archive.
    #[error("it has bytes behind the end of the archive")]
    TrailingBytes,
    /// The first member is not the manifest.
    #[error(
        "its first member is {}, and not {MANIFEST_NAME}",
        found.as_ref().map_or_else(|| "missing".to_owned(), |name| format!("{name:?}"))
    )]
    ManifestNotFirst { found: Option<String> },
    /// The manifest is too large.
    #[error("its manifest has {bytes} bytes, more than {MAX_MANIFEST_BYTES}")]
    ManifestTooLarge { bytes: u64 },
    /// The manifest names too many packages or lock files.
    #[error("its manifest names more than {MAX_MEMBERS} {named}")]
    TooMany {
        /// `packages` or `lock files`.
        named: &'static str,
    },
    /// The manifest is not JSON of the expected form.
    #[error("its manifest cannot be read")]
    Manifest(#[source] serde_json::Error),
    /// The manifest has another major version of the format.
    #[error(
        "its manifest has format version {found:?}, which this version of lockctl does not read"
    )]
    FormatVersion { found: String },
    /// A value in the manifest is invalid.
    #[error("its manifest has {value:?} where {wanted} should be")]
    Value {
        value: String,
        /// The kind of value, with its article.
        wanted: &'static str,
    },
    /// The packages in the manifest are not in order, or some occur twice.
    #[error("its manifest has {name:?} twice, or not in its place")]
    Order { name: String },
    /// A member is not a regular file.
    #[error("its member {name:?} is {kind}, and a bundle has files only")]
    Kind {
        name: String,
        /// The kind of member, with its article.
        kind: &'static str,
    },
    /// An extended header states something other than the name of the next member.
    #[error("it has an extended header that a bundle does not have: {reason}")]
    ExtendedHeader { reason: String },
    /// The name of a member is too long.
    #[error("it has a member whose name takes more than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    /// The name of a member leads out of the directory of the archive.
    #[error("its member {name:?} has a name that leads out of the archive")]
    NameOutside { name: String },
    /// The manifest does not name a member.
    #[error("its member {name:?} is not in its manifest")]
    NotNamed { name: String },
    /// A member occurs twice.
    #[error("it has the member {name:?} twice")]
    Twice { name: String },
    /// A member that the manifest names is missing.
    #[error("it has no member {name:?}, which its manifest names")]
    Missing { name: String },
    /// The size of a member differs from the one in the manifest.
    #[error("its member {name:?} has {found} bytes, and {stated} by its manifest")]
    SizeDiffers {
        name: String,
        found: u64,
        stated: u64,
    },
    /// A member is too large.
    #[error("its member {name:?} has {bytes} bytes, more than {MAX_MEMBER_BYTES}")]
    MemberTooLarge { name: String, bytes: u64 },
}
