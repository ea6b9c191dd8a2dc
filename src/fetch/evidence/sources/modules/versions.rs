//! The versions of a module, and which of them is selected (rules 12).

use crate::flavor::Flavor;
use crate::sources::cut;
use crate::version::{CoreConstraints, Version};

/// Maximum number of versions of a module; those with the most have some hundreds.
const MAX_VERSIONS: usize = 10_000;

/// The versions that a registry lists of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleVersions {
    /// The versions in the order of the registry.
    pub versions: Vec<Version>,
    /// The listed texts that are no versions.
    pub unreadable: Vec<String>,
}

/// The reason why no version meets a requirement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSelection {
    #[error("the registry lists no release of it")]
    NoVersions,
    #[error("no version meets the constraint; the newest is {newest}")]
    Unmet { newest: Version },
}

impl ModuleVersions {
    /// Reads what a registry lists.
    #[must_use]
    pub fn read<'a>(listed: impl IntoIterator<Item = &'a str>) -> Self {
        let mut list = Self::default();
        for text in listed.into_iter().take(MAX_VERSIONS) {
            match Version::parse_listed(text) {
                Ok(version) => list.versions.push(version),
                Err(_) => list.unreadable.push(cut(text)),
            }
        }
        list
    }

    /// Selects the newest version that the constraints allow; of equal ones the first.
    ///
    /// A pre-release counts only if the constraints name it alone (`version` rules 6.4).
    ///
    /// # Errors
    /// If there is none.
    pub fn select(
        &self,
        wanted: Option<&CoreConstraints>,
        flavor: Flavor,
    ) -> Result<&Version, NoSelection> {
        let named =
            wanted
                .and_then(CoreConstraints::exact)
                .map(|text| match text.strip_prefix('v') {
                    Some(version) if flavor.is_opentofu() => version,
                    _ => text,
                });
        let may_be_selected = |version: &&Version| {
            // A pre-release is selected only if the constraint names it alone (`version` rules 6.4).
            !version.is_prerelease() || named.is_some_and(|named| version.to_string() == named)
        };
        let candidates = || self.versions.iter().filter(may_be_selected);
        let newest = newest(candidates()).ok_or(NoSelection::NoVersions)?;
        let allowed = candidates().filter(|version| wanted.is_none_or(|all| all.allows(version)));
        self::newest(allowed).ok_or_else(|| NoSelection::Unmet {
            newest: newest.clone(),
        })
    }

    /// Returns whether the list holds the one release that constraints name: a list that is known from
    /// before then answers as well as a new one.
    #[must_use]
    pub fn settles(&self, wanted: Option<&CoreConstraints>) -> bool {
        let Some(wanted) = wanted else { return false };
        if let Some(release) = wanted.only_release() {
            return self
                .versions
                .iter()
                .any(|version| !version.is_prerelease() && version.without_suffixes() == release);
        }
        wanted.exact().is_some_and(|text| {
            let exact = text.trim_start_matches('v');
            self.versions
                .iter()
                .any(|version| version.to_string() == exact)
        })
    }
}

/// Returns the first of the newest versions.
fn newest<'a>(versions: impl Iterator<Item = &'a Version>) -> Option<&'a Version> {
    versions.reduce(|best, next| match next.precedence(best) {
        // Of equal versions the first in the order of the registry stays (rules 12.1).
        std::cmp::Ordering::Greater => next,
        _ => best,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listed: &[&str], wanted: &str, settled: bool) {
        let versions = ModuleVersions::read(listed.iter().copied());
        let wanted = CoreConstraints::parse(wanted).expect("valid");
        assert_eq!(
            versions.settles(Some(&wanted)),
            settled,
            "{wanted} of {listed:?}"
        );
    }

    #[test]
    fn an_old_list_settles_exact_versions_that_it_holds() {
        check(&["1.0.0", "1.1.0"], "1.1", true);
        check(&["1.0.0", "1.1.0+b"], "= 1.1.0", true);
        check(&["1.0.0", "1.1.0"], "v1.0.0", true);
        check(&["1.0.0-rc1"], "1.0.0-rc1", true);
        check(&["1.0.0-rc1"], "1.0.0", false);
        check(&["1.0.0"], "1.2.0", false);
        check(&["1.0.0"], ">= 1.0.0", false);
        check(&["1.0.0"], "= 1.0.0, != 2.0.0", false);
        assert!(!ModuleVersions::read(["1.0.0"]).settles(None));
    }

    #[test]
    fn long_lists_end_somewhere() {
        let versions = ModuleVersions::read(std::iter::repeat_n("1.0.0", MAX_VERSIONS + 1));
        assert_eq!(versions.versions.len(), MAX_VERSIONS);
    }
}
