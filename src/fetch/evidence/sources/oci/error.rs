//! Manifests that are not those of a provider.

use crate::platform::Platform;

/// A difference between a manifest and that of a provider (rules 14.5 to 14.7).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactFault {
    /// Its manifest is of something else, which these words say.
    #[error("{0}")]
    NoProvider(String),
    #[error("it lists {count} packages for {platform}")]
    Ambiguous { count: usize, platform: Platform },
    #[error("it has {count} layers of the type archive/zip, not one")]
    SeveralZips { count: usize },
    #[error("its zip is for {found}, not for {wanted}")]
    OtherPlatform { found: String, wanted: Platform },
    #[error("it names something by {digest:?}, which is no SHA-256 digest")]
    DigestAlgorithm { digest: String },
    #[error("its content does not have the digest {stated}")]
    OtherContent { stated: String },
    #[error("it has {found} bytes, not {stated}")]
    OtherLength {
        /// The length that the descriptor states, in bytes.
        stated: u64,
        /// The length of the answer, in bytes.
        found: u64,
    },
}

/// Makes the fault of a field that has another value than that of a provider.
pub(super) fn no_provider(what: &str, found: &str, expected: &str) -> ArtifactFault {
    let found = crate::sources::cut(found);
    ArtifactFault::NoProvider(format!("{what} {found:?}, not {expected}"))
}
