//! Errors that are reported together, because one cause explains them.

use std::mem::discriminant;

use super::LockError;
use crate::addr::ProviderAddr;
use crate::diag;
use crate::package::PackageId;
use crate::platform;

impl LockError {
    /// Returns true if one cause explains both errors: they are about one release, or have nothing to do
    /// with what was asked for.
    #[must_use]
    pub fn shares_cause(&self, other: &Self) -> bool {
        let equal_causes = || diag::causes(self) == diag::causes(other);
        match (self, other) {
            (Self::Asking { cause }, Self::Asking { cause: other }) => {
                equal_causes() || cause.is_like(other)
            }
            (Self::Source(cause), Self::Source(other)) => cause.is_like(other),
            (Self::Download { cause, .. }, Self::Download { cause: other, .. }) => {
                cause.is_like(other)
            }
            (
                Self::VersionsNotAsked { is_locked, .. },
                Self::VersionsNotAsked {
                    is_locked: other, ..
                },
            ) => is_locked == other,
            (
                Self::PackagesNotAsked { unexplained, .. },
                Self::PackagesNotAsked {
                    unexplained: other, ..
                },
            ) => unexplained == other,
            // The causes would be equal, but each error shows the hashes of its own package.
            (Self::Checksum { .. }, _) => false,
            _ if discriminant(self) != discriminant(other) => false,
            _ => match (self.package(), other.package()) {
                (Some(id), Some(other)) => equal_causes() && id.is_of_same_release(other),
                _ => false,
            },
        }
    }

    /// Names the subject of an error that shares the cause of `self`: the platform alone if the release
    /// is the same.
    #[must_use]
    pub fn name_beside(&self, error: &Self) -> String {
        match (self.package(), error.package()) {
            (Some(first), Some(id)) if first.is_of_same_release(id) => id.platform.to_string(),
            (_, Some(id)) => id.to_string(),
            (_, None) => match error {
                Self::Asking { cause } => cause.about.to_string(),
                Self::VersionsNotAsked { provider, .. } => provider.to_string(),
                Self::PackagesNotAsked {
                    provider,
                    version,
                    platforms,
                    ..
                // The title has the platforms already, where both errors have the same.
                } if matches!(self, Self::PackagesNotAsked { platforms: same, .. } if same == platforms) =>
                {
                    format!("{provider} {version}")
                }
                Self::PackagesNotAsked {
                    provider,
                    version,
                    platforms,
                    ..
                } => format!(
                    "{provider} {version} for {}",
                    platform::join(platforms, ", ")
                ),
                other => other.to_string(),
            },
        }
    }

    /// Returns the provider of an error that a change of what is required may remove.
    #[must_use]
    pub fn required_provider(&self) -> Option<&ProviderAddr> {
        match self {
            Self::TooYoung { provider, .. } | Self::NotAdmitted { provider, .. } => Some(provider),
            Self::Source(cause) => cause.unknown_provider(),
            Self::Asking { cause } if cause.is_discovery() && cause.about.id().is_none() => {
                cause.about.provider()
            }
            _ => None,
        }
    }

    fn package(&self) -> Option<&PackageId> {
        match self {
            Self::Package { id, .. }
            | Self::NoExecutable { id, .. }
            | Self::Unproven { id, .. }
            | Self::Download { id, .. }
            | Self::Checksum { id, .. }
            | Self::Unsigned { id, .. }
            | Self::StatedSize { id, .. }
            | Self::Contradiction { id, .. }
            | Self::Unlisted { id, .. } => Some(id),
            Self::Asking { cause } => cause.about.id(),
            Self::Source(cause) => cause.unusable_package(),
            _ => None,
        }
    }
}
