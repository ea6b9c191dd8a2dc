//! Builds of packages, as attestations of their publishers state them.

use crate::version::Version;

/// The build of a package, as an attestation with a good signature states it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttestedBuild {
    /// The repository with its host, as in `github.com/acme/terraform-provider-box`.
    pub repository: String,
    /// The commit of the source.
    pub commit: String,
    /// The ref that the workflow ran for, as in `refs/tags/v1.2.3`.
    pub git_ref: String,
    /// The file of the workflow in the repository, as in `.github/workflows/release.yml`.
    pub workflow: String,
}

/// Maximum length of each text, in bytes.
const MAX_TEXT_BYTES: usize = 200;

impl AttestedBuild {
    /// Returns the tag that the workflow ran for, if it was one.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.git_ref.strip_prefix("refs/tags/")
    }

    /// Returns the version that the tag names, if it is one.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        let tag = self.tag()?;
        tag.strip_prefix('v').unwrap_or(tag).parse().ok()
    }

    /// Returns true if each text can be a word of a line: publishers decide what they are.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        [
            &self.repository,
            &self.commit,
            &self.git_ref,
            &self.workflow,
        ]
        .into_iter()
        .all(|text| {
            (1..=MAX_TEXT_BYTES).contains(&text.len())
                && !text.contains(|c: char| c.is_control() || c.is_whitespace())
        })
    }
}
