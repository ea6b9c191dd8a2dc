//! The roots and providers of a page: how far each locked version is from the newest, and what is remarkable.

use std::collections::{BTreeMap, BTreeSet};

use super::{ReportPage, ReportedRoot};
use crate::addr::ProviderAddr;
use crate::diag::rules;
use crate::report::json::{ComparedProvider, Provider, ShownProvider};
use crate::report::{CommandResult, RootResult};
use crate::version::{Upgrade, Version, VersionStep, step};

/// The distance of a locked version to the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    Newest,
    Patch,
    Minor,
    Major,
    /// Two major versions or more.
    Far,
}

/// Something remarkable about an entry of a lock file.
pub(super) struct Mark {
    /// The character in a cell.
    pub(super) glyph: &'static str,
    pub(super) words: &'static str,
    /// The rules whose findings set it.
    rules: &'static [&'static str],
}

/// All marks, in the order of cells.
pub(super) const MARKS: [Mark; 7] = [
    Mark {
        glyph: "▲",
        words: "an advisory concerns it",
        rules: &[rules::KNOWN_VULNERABILITY],
    },
    Mark {
        glyph: "✖",
        words: "a recorded hash is contradicted",
        rules: &[
            rules::FACTS_CONTRADICT,
            rules::HASHES_CONTRADICTED,
            rules::HASH_NOT_OF_RELEASE,
            rules::HASH_UNKNOWN_UPSTREAM,
            rules::HASHES_OF_OTHER_VERSION,
            rules::PACKAGE_MISMATCH,
            rules::STATED_HASH_FALSE,
        ],
    },
    Mark {
        glyph: "⇩",
        words: "a step down in trust: unsigned, claimed, or another key",
        rules: &[
            rules::HASHES_CLAIMED,
            rules::KEY_CHANGED,
            rules::KEY_NOT_ALLOWED,
            rules::ORIGIN_CHANGED,
            rules::PROVENANCE_LOST,
            rules::RELEASE_UNSIGNED,
            rules::SIGNATURE_LOST,
            rules::SIGNATURE_ODD,
            rules::ZH_LOST,
        ],
    },
    Mark {
        glyph: "◷",
        words: "too young",
        rules: &[rules::RELEASE_TOO_YOUNG],
    },
    Mark {
        glyph: "◐",
        words: "hashes of wanted platforms are missing",
        rules: &[rules::PLATFORMS_INCOMPLETE],
    },
    Mark {
        glyph: "?",
        words: "unproven: no signed list and no package is known here",
        rules: &[],
    },
    Mark {
        glyph: "◈",
        words: "attested: a key of the project file signed the h1:, which nothing here has computed",
        rules: &[],
    },
];

const ADVISORY: MarkSet = MarkSet(1);
const UNPROVEN: MarkSet = MarkSet(1 << 5);
const ATTESTED: MarkSet = MarkSet(1 << 6);

/// A set of [`MARKS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MarkSet(u8);

/// The state of a provider in a root; roots with equal cells share a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LockCell<'a> {
    pub(super) version: &'a Version,
    pub(super) distance: Distance,
    pub(super) marks: MarkSet,
}

/// The providers of all roots, and the cell of each in each root.
pub(super) struct Overview<'a> {
    pub(super) page: &'a ReportPage<'a>,
    /// The providers, those of most roots first.
    pub(super) providers: Vec<&'a ProviderAddr>,
    /// The newest version of each provider that is offered, else the newest that is locked.
    pub(super) newest: BTreeMap<&'a ProviderAddr, &'a Version>,
    /// The roots, in the order of the run.
    pub(super) roots: Vec<OverviewRoot<'a>>,
}

/// A root with the cell of each provider.
pub(super) struct OverviewRoot<'a> {
    pub(super) root: &'a ReportedRoot,
    /// The result of `verify`.
    pub(super) result: Option<&'a RootResult>,
    /// The path from the top of the repository.
    pub(super) name: String,
    /// The cells, by the index of the provider.
    pub(super) cells: Vec<Option<LockCell<'a>>>,
}

impl Distance {
    pub(super) const ALL: [Self; 5] = [
        Self::Newest,
        Self::Patch,
        Self::Minor,
        Self::Major,
        Self::Far,
    ];

    fn between(locked: &Version, newest: &Version) -> Self {
        match step(locked, newest) {
            VersionStep::Up(Upgrade::Major) if newest.major.abs_diff(locked.major) > 1 => Self::Far,
            VersionStep::Up(Upgrade::Major) => Self::Major,
            VersionStep::Up(Upgrade::Minor) => Self::Minor,
            VersionStep::Up(_) => Self::Patch,
            VersionStep::Same | VersionStep::Down => Self::Newest,
        }
    }

    /// Returns the class of its shade.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Newest => "d0",
            Self::Patch => "d1",
            Self::Minor => "d2",
            Self::Major => "d3",
            Self::Far => "d4",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Patch => "patch behind",
            Self::Minor => "minor behind",
            Self::Major => "major behind",
            Self::Far => "2 or more majors behind",
        }
    }
}

impl MarkSet {
    /// Returns the marks that facts set; where nothing is proven, a mark in each cell would say nothing.
    fn of_release(page: &ReportPage<'_>, entry: &ShownProvider, is_any_proven: bool) -> Self {
        let mut marks = Self::default();
        if page
            .release(entry)
            .is_some_and(|known| !known.advisories.is_empty())
        {
            marks.add(ADVISORY);
        }
        if is_any_proven && !page.is_proven(entry) {
            marks.add(UNPROVEN);
        }
        if page.is_attested(entry) {
            marks.add(ATTESTED);
        }
        marks
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn iter(self) -> impl Iterator<Item = &'static Mark> {
        let is_set = move |(at, _): &(usize, &Mark)| self.0 & (1 << at) != 0;
        MARKS
            .iter()
            .enumerate()
            .filter(is_set)
            .map(|(_, mark)| mark)
    }

    pub(super) fn has_advisory(self) -> bool {
        self.0 & ADVISORY.0 != 0
    }
}

impl<'a> Overview<'a> {
    pub(super) fn of(page: &'a ReportPage<'a>) -> Self {
        let mut roots_of: BTreeMap<&ProviderAddr, usize> = BTreeMap::new();
        let mut newest: BTreeMap<&ProviderAddr, &Version> = BTreeMap::new();
        for entry in page.roots.iter().flat_map(|root| &root.locked) {
            *roots_of.entry(&entry.provider).or_default() += 1;
            // Without `outdated` the newest version of any root is the best that is known.
            raise(&mut newest, &entry.provider, &entry.version);
        }
        let compared = page.compared.map(compared).unwrap_or_default();
        for row in compared.values() {
            if let Some(offered) = row.newest.as_ref().filter(|_| row.locked.is_some()) {
                raise(&mut newest, &row.provider, offered);
            }
        }
        let mut providers: Vec<&ProviderAddr> = roots_of.keys().copied().collect();
        // The providers of most roots come first: they are what an overview is read for.
        providers.sort_by_key(|provider| (std::cmp::Reverse(roots_of[provider]), *provider));
        let columns: BTreeMap<&ProviderAddr, usize> = providers.iter().copied().zip(0..).collect();
        let results: BTreeMap<&str, &RootResult> = page
            .checked
            .roots()
            .iter()
            .map(|root| (&*root.path, root))
            .collect();
        let is_any_proven = page
            .roots
            .iter()
            .flat_map(|root| &root.locked)
            .any(|entry| page.is_proven(entry));
        let mut roots = Vec::new();
        for root in page.roots {
            let result = results.get(&*root.path).copied();
            let marks = result.map(marks).unwrap_or_default();
            let mut cells = vec![None; providers.len()];
            for entry in &root.locked {
                let mut marks = marks.get(&entry.provider).copied().unwrap_or_default();
                marks.add(MarkSet::of_release(page, entry, is_any_proven));
                // What the root may move to, not what its constraints exclude: the distance is a thing to do.
                let offered = compared
                    .get(&(&*root.path, &entry.provider))
                    .map(|row| row.newest_allowed.as_ref().unwrap_or(&entry.version));
                let to = offered.unwrap_or(newest[&entry.provider]);
                cells[columns[&entry.provider]] = Some(LockCell {
                    version: &entry.version,
                    distance: Distance::between(&entry.version, to),
                    marks,
                });
            }
            roots.push(OverviewRoot {
                root,
                result,
                name: match result {
                    Some(result) => (page.place)(result, &root.path),
                    None => root.path.clone(),
                },
                cells,
            });
        }
        Self {
            page,
            providers,
            newest,
            roots,
        }
    }

    /// Returns the entries of a provider, each with the name of the root and its cell, in the order of the run.
    pub(super) fn entries(
        &self,
        column: usize,
    ) -> impl Iterator<Item = (&str, &'a ShownProvider, LockCell<'a>)> {
        let provider = self.providers[column];
        self.roots.iter().filter_map(move |row| {
            let entry = row
                .root
                .locked
                .iter()
                .find(|entry| entry.provider == *provider)?;
            Some((&*row.name, entry, row.cells[column]?))
        })
    }

    /// Returns all cells that have a version.
    pub(super) fn cells(&self) -> impl Iterator<Item = &LockCell<'a>> {
        self.roots.iter().flat_map(|row| &row.cells).flatten()
    }

    /// Returns all marks that some cell has.
    pub(super) fn marks(&self) -> BTreeSet<&'static str> {
        self.cells()
            .flat_map(|cell| cell.marks.iter())
            .map(|mark| mark.glyph)
            .collect()
    }

    /// Names a provider as short as the roots allow.
    pub(super) fn name(&self, provider: &ProviderAddr) -> String {
        (self.page.name)(provider)
    }
}

/// Keeps the greater version of a provider.
fn raise<'a>(
    newest: &mut BTreeMap<&'a ProviderAddr, &'a Version>,
    provider: &'a ProviderAddr,
    version: &'a Version,
) {
    let newest = newest.entry(provider).or_insert(version);
    *newest = version.max(newest);
}

/// Returns the marks that findings about a root set, by provider.
fn marks(root: &RootResult) -> BTreeMap<&ProviderAddr, MarkSet> {
    let mut marks: BTreeMap<&ProviderAddr, MarkSet> = BTreeMap::new();
    for finding in root.findings() {
        if let Some(provider) = &finding.provider {
            let rule = finding.diagnostic.code;
            let mark = MARKS
                .iter()
                .position(|mark| mark.rules.contains(&rule))
                .map_or(0, |at| 1 << at);
            marks.entry(provider).or_default().add(MarkSet(mark));
        }
    }
    marks
}

/// Returns the rows of `outdated`, by root and provider.
pub(super) fn compared(
    result: &CommandResult,
) -> BTreeMap<(&str, &ProviderAddr), &ComparedProvider> {
    let mut rows = BTreeMap::new();
    for root in result.roots() {
        for row in &root.providers {
            if let Provider::Compared(row) = row {
                rows.insert((&*root.path, &row.provider), &**row);
            }
        }
    }
    rows
}
