//! The differences between the contents of two releases of a provider.

use std::collections::BTreeSet;

use serde::Serialize;

use super::release_contents::{ContentKind, NotesBetween, ReleaseContents};
use crate::addr::ProviderAddr;
use crate::version::Version;

/// The differences between two releases of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReleaseChanges {
    /// The provider, with its registry.
    pub provider: String,
    /// The version that was there before.
    pub old: String,
    /// The version that is compared with it.
    pub new: String,
    /// Resources, data sources and functions that differ; null if no document lists them.
    pub names: Option<Vec<NameChanges>>,
    /// The licences before and now, by their SPDX identifiers; null if they are equal or unknown.
    pub licence: Option<[String; 2]>,
    /// The plugin protocols before and now; null if they are equal or unknown.
    pub protocols: Option<[Vec<String>; 2]>,
    /// Platforms that only the new version has.
    pub added_platforms: Vec<String>,
    /// Platforms that only the old version has.
    pub removed_platforms: Vec<String>,
    /// The page that compares both versions in the repository; null if that is unknown.
    pub compare: Option<String>,
    /// The notes of the new release, in Markdown; null if there are none.
    pub notes: Option<String>,
    /// The notes of the releases between both versions.
    #[serde(flatten)]
    pub between: NotesBetween,
    /// The documents that could not be read, with the reason.
    pub unread: Vec<String>,
}

/// The names of one kind that differ between two releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameChanges {
    /// The kind of these names.
    pub kind: ContentKind,
    /// Names that only the new version documents.
    pub added: Vec<String>,
    /// Names that only the old version documents.
    pub removed: Vec<String>,
    /// Names whose page calls them deprecated now, and did not before.
    pub deprecated: Vec<String>,
}

impl ReleaseChanges {
    /// Compares the contents of two versions of a provider.
    #[must_use]
    pub fn between(
        provider: &ProviderAddr,
        (old_version, old): (&Version, &ReleaseContents),
        (new_version, new): (&Version, &ReleaseContents),
    ) -> Self {
        let names = old
            .names
            .as_ref()
            .zip(new.names.as_ref())
            .map(|(before, now)| {
                let none = BTreeSet::new();
                let of = |kind: ContentKind| NameChanges {
                    kind,
                    added: only_in(now.get(&kind), before.get(&kind).unwrap_or(&none)),
                    removed: only_in(before.get(&kind), now.get(&kind).unwrap_or(&none)),
                    deprecated: new
                        .deprecated
                        .difference(&old.deprecated)
                        .filter(|(other, _)| *other == kind)
                        .map(|(_, name)| name.clone())
                        .collect(),
                };
                let is_change = |changes: &NameChanges| {
                    let lists = [&changes.added, &changes.removed, &changes.deprecated];
                    lists.iter().any(|list| !list.is_empty())
                };
                ContentKind::ALL
                    .map(of)
                    .into_iter()
                    .filter(is_change)
                    .collect()
            });
        let licence = old.licence.clone().zip(new.licence.clone());
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
        let has_lists = |of: fn(&ReleaseContents) -> &BTreeSet<String>| {
            // A registry that states none of a version says nothing about it.
            !of(old).is_empty() && !of(new).is_empty() && of(old) != of(new)
        };
        let moved_platforms = has_lists(|contents| &contents.platforms);
        let only = |set: &BTreeSet<String>, other: &BTreeSet<String>| {
            only_in(Some(set).filter(|_| moved_platforms), other)
        };
        let mut unread: Vec<String> = BTreeSet::from_iter(old.unread.iter().chain(&new.unread))
            .into_iter()
            .cloned()
            .collect();
        // The registry of OpenTofu shows no page of a release whose licence it does not accept: nothing is gone.
        for (version, contents) in [(old_version, old), (new_version, new)] {
            if contents.names.is_none() && contents.unread.is_empty() {
                unread.push(format!("the registry shows no page of {version}"));
            }
        }
        Self {
            provider: provider.to_string(),
            old: old_version.to_string(),
            new: new_version.to_string(),
            names,
            licence: licence.filter(|(old, new)| old != new).map(Into::into),
            protocols: has_lists(|contents| &contents.protocols)
                .then(|| [list(&old.protocols), list(&new.protocols)]),
            added_platforms: only(&new.platforms, &old.platforms),
            removed_platforms: only(&old.platforms, &new.platforms),
            compare: new.repository.as_ref().map(|repository| {
                format!("https://github.com/{repository}/compare/v{old_version}...v{new_version}")
            }),
            notes: new.notes.clone().filter(|notes| !notes.trim().is_empty()),
            between: NotesBetween::default(),
            unread,
        }
    }
}

fn only_in(set: Option<&BTreeSet<String>>, other: &BTreeSet<String>) -> Vec<String> {
    set.into_iter()
        .flat_map(|set| set.difference(other))
        .cloned()
        .collect()
}
