//! The reasons why a file is no bundle, or none can be made.

use std::io;

use super::{MANIFEST_NAME, MAX_MANIFEST_BYTES, MAX_MEMBER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES};

/// A fault of a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no header of a tar where one should be.
    #[error("it is no tar archive: there is no sound header at byte {at}")]
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
    /// There is something behind the end of the archive.
    #[error("it has bytes behind the end of the archive")]
    TrailingBytes,
    /// The archive has no manifest in front.
    #[error(
        "its first member is {}, and not {MANIFEST_NAME}",
        found.as_ref().map_or_else(|| "missing".to_owned(), |name| format!("{name:?}"))
    )]
    ManifestNotFirst { found: Option<String> },
    /// The manifest is too large.
    #[error("its manifest has {bytes} bytes, more than {MAX_MANIFEST_BYTES}")]
    ManifestTooLarge { bytes: u64 },
    /// The manifest names too much.
    #[error("its manifest names more than {MAX_MEMBERS} {named}")]
    TooMany {
        /// `packages` or `lock files`.
        named: &'static str,
    },
    /// The manifest is of another format.
    #[error("its manifest cannot be read")]
    Manifest(#[source] serde_json::Error),
    /// The manifest is of a later version of the format.
    #[error(
        "its manifest has format version {found:?}, which this version of lockctl does not read"
    )]
    FormatVersion { found: String },
    /// A value in the manifest has no meaning.
    #[error("its manifest has {value:?} where {wanted} should be")]
    Value {
        value: String,
        /// The kind of value, with its article.
        wanted: &'static str,
    },
    /// The packages in the manifest are not in order, or some are there twice.
    #[error("its manifest has {name:?} twice, or not in its place")]
    Order { name: String },
    /// A member is something else than a file.
    #[error("its member {name:?} is {kind}, and a bundle has files only")]
    Kind {
        name: String,
        /// The kind of member, with its article.
        kind: &'static str,
    },
    /// A header describes the next member by more than its name.
    #[error("it has an extended header that a bundle does not have: {reason}")]
    ExtendedHeader { reason: String },
    /// The name of a member is too long.
    #[error("it has a member whose name takes more than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    /// The name of a member leads elsewhere.
    #[error("its member {name:?} has a name that leads out of the archive")]
    NameOutside { name: String },
    /// The manifest does not name a member.
    #[error("its member {name:?} is not in its manifest")]
    NotNamed { name: String },
    /// A member is there twice.
    #[error("it has the member {name:?} twice")]
    Twice { name: String },
    /// A member that the manifest names is missing.
    #[error("it has no member {name:?}, which its manifest names")]
    Missing { name: String },
    /// A member is of another size than the manifest states.
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
