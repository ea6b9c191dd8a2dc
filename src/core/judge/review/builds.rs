//! Changes of builds, if contents of both sides are known.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::causes::Risk;
use super::diff::{ProviderChange, ProviderSide, Sides};
use super::file::FileReview;
use crate::contents::{BuildInfo, ReleaseBuilds, without_major};
use crate::platform::{self, Platform};
use crate::version::VersionStep;

/// Number of digits of a commit that are shown, as git shows them.
const COMMIT_DIGITS: usize = 12;

/// A change of the builds of a provider.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildChange {
    /// The kind of the change: other-module, older-commit, older-go, several-commits or became-dirty.
    pub kind: &'static str,
    /// The risk of the change.
    pub risk: Risk,
    /// The change in words.
    pub text: String,
}

impl BuildChange {
    fn warning(kind: &'static str, text: String) -> Self {
        Self {
            kind,
            risk: Risk::Warning,
            text,
        }
    }
}

impl FileReview {
    /// Adds the changes of builds; `builds` returns the known builds of an entry.
    pub fn add_builds(&mut self, builds: impl Fn(&ProviderSide) -> ReleaseBuilds) {
        for explained in &mut self.providers {
            let known = |side: Option<&ProviderSide>| side.map(&builds).unwrap_or_default();
            let change = &explained.change;
            let (before, now) = (known(change.before()), known(change.now()));
            explained.builds = changes(change, &before, &now);
            let risk = explained.builds.iter().map(|change| change.risk).max();
            let explained = &mut explained.explained;
            explained.risk = explained.risk.max(risk.unwrap_or_default());
        }
        // The sort is stable, so entries of equal risk stay in the order of addresses.
        self.providers
            .sort_by_key(|explained| Reverse(explained.explained.risk));
    }
}

/// Compares the builds of both sides; reports nothing if one side is unknown.
fn changes(
    change: &ProviderChange,
    before: &ReleaseBuilds,
    now: &ReleaseBuilds,
) -> Vec<BuildChange> {
    let mut changes = Vec::new();
    let Sides::Both { old, new } = &change.sides else {
        return changes;
    };
    if before.known().next().is_none() || now.known().next().is_none() {
        return changes;
    }
    let (from, to) = (modules(before), modules(now));
    // GitHub ignores the case of repository names, and publishers change the case of theirs.
    let paths = |modules: &BTreeSet<&str>| -> BTreeSet<String> {
        modules
            .iter()
            .map(|path| without_major(path).to_ascii_lowercase())
            .collect()
    };
    let is_other = !from.is_empty() && !to.is_empty() && paths(&from).is_disjoint(&paths(&to));
    if is_other {
        let (from, to) = (joined(&from), joined(&to));
        changes.push(BuildChange::warning(
            "other-module",
            format!("the program is built from another module: {from} → {to}"),
        ));
    }
    // An older version usually has an older commit and Go, and times of different modules are not comparable.
    if change.step() != Some(VersionStep::Down) && !is_other {
        changes.extend(went_back(before, now));
    }
    // A release that was locked with several commits before was reported when they were first locked.
    let is_new_release = old.addr != new.addr || old.lock.version != new.lock.version;
    if is_new_release || before.commits().len() <= 1 {
        changes.extend(several_commits(now));
    }
    // If the state before is unknown, the source may have been dirty already.
    let was_clean = before.platforms_by(BuildInfo::is_dirty).keys().eq([&false]);
    if let Some(dirty) = now.platforms_by(BuildInfo::is_dirty).remove(&true)
        && was_clean
    {
        let dirty: Vec<Platform> = dirty.into_iter().collect();
        changes.push(BuildChange {
            kind: "became-dirty",
            // Many publishers build with generated files that are not committed.
            risk: Risk::Notice,
            text: format!(
                "the source of the program differs from its commit, which it did not before ({})",
                platform::join(&dirty, ", ")
            ),
        });
    }
    changes
}

/// Reports packages of a release that were built from different commits.
fn several_commits(now: &ReleaseBuilds) -> Option<BuildChange> {
    let commits = now.commits();
    if commits.len() <= 1 {
        return None;
    }
    let commits: Vec<&str> = commits
        .keys()
        // A build may state any text: it may be shorter, or have a character across this boundary.
        .map(|commit| commit.get(..COMMIT_DIGITS).unwrap_or(commit))
        .collect();
    let text = format!(
        "the platforms are built from different commits: {}",
        commits.join(", ")
    );
    Some(BuildChange::warning("several-commits", text))
}

/// Compares the newest commits and the newest versions of Go of both sides.
fn went_back(before: &ReleaseBuilds, now: &ReleaseBuilds) -> Vec<BuildChange> {
    let mut changes = Vec::new();
    if let (Some(from), Some(to)) = (newest_commit(before), newest_commit(now))
        && to < from
    {
        changes.push(BuildChange::warning(
            "older-commit",
            format!("the program is built from an older commit: {from} → {to}"),
        ));
    }
    if let (Some(from), Some(to)) = (newest_go(before), newest_go(now))
        && to.0 < from.0
    {
        changes.push(BuildChange::warning(
            "older-go",
            format!(
                "the program is built with an older Go: {} → {}",
                from.1, to.1
            ),
        ));
    }
    changes
}

fn modules(builds: &ReleaseBuilds) -> BTreeSet<&str> {
    builds
        .known()
        .filter_map(|(_, info)| Some(&*info.main.as_ref()?.path))
        .collect()
}

fn joined(modules: &BTreeSet<&str>) -> String {
    modules.iter().copied().collect::<Vec<_>>().join(", ")
}

/// Returns the time of the newest commit, in the only form that Go writes, which sorts as text.
fn newest_commit(builds: &ReleaseBuilds) -> Option<&str> {
    builds
        .known()
        .filter_map(|(_, info)| info.time())
        .filter(|time| time.len() == "2006-01-02T15:04:05Z".len() && time.ends_with('Z'))
        .max()
}

/// Returns the newest version of Go, as numbers and as text; development versions are skipped.
fn newest_go(builds: &ReleaseBuilds) -> Option<(Vec<u32>, &str)> {
    builds
        .known()
        .filter_map(|(_, info)| {
            // `go1.22.3 X:boringcrypto` and `go1.22.3-fips` are as old as `go1.22.3`.
            let text = info.go_version.strip_prefix("go")?;
            // The numbers end at the first other character, so that `rc1` is left out.
            let end = text.find(|c: char| c != '.' && !c.is_ascii_digit());
            let numbers: Option<Vec<u32>> = text[..end.unwrap_or(text.len())]
                .split('.')
                .map(|number| number.parse().ok())
                .collect();
            Some((numbers?, &*info.go_version))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::contents::{PackageBuild, ProgramContents};
    use crate::diag::FileId;
    use crate::flavor::Flavor;
    use crate::review::{FileComparison, LockSide};

    /// Builds written as `PLATFORM GO MODULE COMMIT TIME STATE`.
    fn builds(rows: &[&str]) -> ReleaseBuilds {
        let packages = rows.iter().map(|row| {
            let words: Vec<&str> = row.split(' ').collect();
            let [platform, go, module, commit, time, state] = words[..] else {
                panic!("{row}")
            };
            let text = format!(
                "path\t{module}\nmod\t{module}\t(devel)\t\nbuild\tvcs.revision={commit}\n\
                 build\tvcs.time={time}\nbuild\tvcs.modified={}\n",
                state == "dirty"
            );
            let info = BuildInfo::parse(go, &text).expect("sound");
            PackageBuild {
                platform: platform.parse().expect("valid"),
                zh: None,
                h1: None,
                contents: Some(Arc::new(ProgramContents::Go(Box::new(info)))),
            }
        });
        ReleaseBuilds {
            packages: packages.collect(),
        }
    }

    #[track_caller]
    fn check(versions: [&str; 2], old: &[&str], new: &[&str], wanted: &[&str]) {
        let side = |version: &str| {
            let text = format!("provider \"x.io/a/b\" {{\n  version = \"{version}\"\n}}\n");
            LockSide::read(FileId::ALONE, text.into_bytes(), Flavor::Terraform1_16)
        };
        let [before, now] = versions.map(side);
        let mut compared = FileComparison::of("x".to_owned(), Some(before), Some(now));
        compared.review.add_builds(|side| {
            let is_old = side.lock.version.to_string() == versions[0];
            builds(if is_old { old } else { new })
        });
        let change = &compared.review.providers[0];
        let said: Vec<String> = change
            .builds
            .iter()
            .map(|change| format!("{}: {}", change.risk.name(), change.text))
            .collect();
        assert_eq!(said, wanted);
        let highest = change.builds.iter().map(|change| change.risk).max();
        assert!(change.explained.risk >= highest.unwrap_or_default());
    }

    const OLD: &str =
        "linux_amd64 go1.22.3 github.com/a/b/v2 aaaaaaaaaaaaaaaa 2024-05-06T07:08:09Z clean";
    const NEW: &str =
        "linux_amd64 go1.22.10 github.com/A/b/v3 bbbbbbbbbbbbbbbb 2024-06-06T07:08:09Z clean";

    #[test]
    fn usual_builds_say_nothing() {
        check(["1.0.0", "2.0.0"], &[OLD], &[NEW], &[]);
        check(["1.0.0", "2.0.0"], &[], &[NEW], &[]);
        check(["1.0.0", "2.0.0"], &[OLD], &[], &[]);
        // An older version has an older commit and an older Go.
        check(["2.0.0", "1.0.0"], &[NEW], &[OLD], &[]);
        let devel = "linux_amd64 devel github.com/a/b c soon clean";
        check(["1.0.0", "2.0.0"], &[OLD], &[devel], &[]);
    }

    #[test]
    fn unusual_builds_are_named() {
        check(
            ["1.0.0", "2.0.0"],
            &[NEW],
            &[OLD],
            &[
                "warning: the program is built from an older commit: 2024-06-06T07:08:09Z → 2024-05-06T07:08:09Z",
                "warning: the program is built with an older Go: go1.22.10 → go1.22.3",
            ],
        );
        check(
            ["1.0.0", "2.0.0"],
            &[OLD],
            &["linux_amd64 go1.9 github.com/evil/b cccc 2020-05-06T07:08:09Z dirty"],
            &[
                "warning: the program is built from another module: github.com/a/b/v2 → github.com/evil/b",
                "notice: the source of the program differs from its commit, which it did not before (linux_amd64)",
            ],
        );
        let other =
            "darwin_arm64 go1.22.10 github.com/A/b/v3 cccccccccccccccc 2024-06-06T07:08:09Z clean";
        check(
            ["1.0.0", "2.0.0"],
            &[OLD],
            &[other, NEW],
            &[
                "warning: the platforms are built from different commits: bbbbbbbbbbbb, cccccccccccc",
            ],
        );
    }
}
