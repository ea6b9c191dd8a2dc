//! What holds for all lock files, and for all merges of them.

use proptest::prelude::*;

use super::*;
use crate::addr::ProviderAddr;
use crate::diag::{FileId, Texts, has_errors};
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes};
use crate::lockfile::{self, LockFile, ProviderLock};
use crate::version::{Constraints, Upgrade};

const FLAVOR: Flavor = Flavor::Terraform1_11;

/// A digest that is well-formed, by a letter.
fn hash(text: &str) -> Hash {
    let (scheme, letter) = text.split_once(':').unwrap();
    let value = match scheme {
        "h1" => format!("h1:{}=", letter.repeat(43)),
        "zh" => format!("zh:{}", letter.repeat(64)),
        _ => text.to_owned(),
    };
    value.parse().unwrap()
}

/// An entry from `VERSION [CONSTRAINTS] | HASH …`.
fn lock(text: &str) -> ProviderLock {
    let (head, hashes) = text.split_once('|').unwrap_or((text, ""));
    let (version, constraints) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
    ProviderLock {
        version: version.parse().unwrap(),
        constraints: Constraints::parse_lock(constraints).unwrap(),
        hashes: hashes.split_whitespace().map(hash).collect::<Hashes>(),
    }
}

/// A lock file from lines `ADDRESS = ENTRY`.
fn file(text: &str) -> LockFile {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let providers = lines.map(|line| {
        let (addr, entry) = line.split_once('=').unwrap();
        (
            ProviderAddr::parse(addr.trim(), FLAVOR).unwrap(),
            lock(entry),
        )
    });
    LockFile {
        providers: providers.collect(),
    }
}

#[track_caller]
fn check_merge(prefer: MergePreference, [base, ours, theirs]: [&str; 3], wanted: &str) {
    let base_file = match base {
        "?" => MergeBase::unknown(),
        _ => file(base).into(),
    };
    let merged = merge(&base_file, &file(ours), &file(theirs), prefer);
    let mut rest: Vec<String> = Vec::new();
    let wanted_file = file(wanted.split("!!").next().unwrap());
    assert_eq!(merged.lock, wanted_file, "{base} / {ours} / {theirs}");
    rest.extend(
        merged
            .conflicts
            .keys()
            .map(|addr| format!("conflict {}", addr.type_name())),
    );
    let reasons = merged.unfinished.keys();
    rest.extend(reasons.map(|reason| format!("{reason:?}")));
    let wanted = wanted.split_once("!!").map_or("", |(_, rest)| rest);
    assert_eq!(rest.join(" "), wanted.trim(), "{base} / {ours} / {theirs}");
}

#[test]
fn entries_merge_one_by_one() {
    let newest = |sides, wanted| check_merge(MergePreference::Newest, sides, wanted);
    newest(
        ["", "a/x = 1.0.0", "a/y = 1.0.0"],
        "a/x = 1.0.0\na/y = 1.0.0",
    );
    newest(["a/x = 1.0.0", "", "a/x = 1.0.0"], "");
    newest(
        [
            "a/x = 1.0.0 | h1:a h1:b",
            "a/x = 1.0.0 | h1:a h1:c",
            "a/x = 1.0.0 | h1:a h1:b h1:d",
        ],
        "a/x = 1.0.0 | h1:a h1:c h1:d",
    );
    newest(
        [
            "a/x = 1.0.0 | h1:a",
            "a/x = 1.1.0 | h1:b",
            "a/x = 1.1.0 | h1:c",
        ],
        "a/x = 1.1.0 | h1:b h1:c",
    );
    newest(
        [
            "a/x = 1.0.0 ~> 1.0 | h1:a",
            "a/x = 1.0.0 ~> 1.0 | h1:a h1:b",
            "a/x = 1.1.0 ~> 1.1 | h1:c",
        ],
        "a/x = 1.1.0 ~> 1.1 | h1:c !! HashesLeftBehind",
    );
    newest(
        [
            "a/x = 1.0.0 ~> 1.0 | h1:a",
            "a/x = 1.0.0 >= 1.0.0 | h1:a",
            "a/x = 1.1.0 ~> 1.0 | h1:c",
        ],
        "a/x = 1.1.0 >= 1.0.0 | h1:c",
    );
    newest(
        [
            "a/x = 1.0.0 >= 1.0.0",
            "a/x = 1.0.0 >= 1.0.0, != 1.1.0",
            "a/x = 1.0.0 >= 1.0.0, < 2.0.0",
        ],
        "a/x = 1.0.0 >= 1.0.0, != 1.1.0, < 2.0.0 !! ConstraintsJoined",
    );
    newest(
        [
            "a/x = 1.0.0 | h1:a",
            "a/x = 1.1.0 1.1.0 | h1:b",
            "a/x = 1.2.0 1.2.0 | h1:c",
        ],
        "a/x = 1.2.0 1.2.0 | h1:c !! VersionExcluded",
    );
}

#[test]
fn what_cannot_be_both_needs_a_decision() {
    let down = ["a/x = 1.5.0", "a/x = 1.6.0", "a/x = 1.4.0"];
    check_merge(MergePreference::Newest, down, "!! conflict x");
    check_merge(
        MergePreference::Ours,
        down,
        "a/x = 1.6.0 !! VersionsDiffered",
    );
    check_merge(
        MergePreference::Theirs,
        down,
        "a/x = 1.4.0 !! VersionsDiffered",
    );
    let up = ["a/x = 1.5.0", "a/x = 1.6.0", "a/x = 1.7.0"];
    check_merge(MergePreference::Fail, up, "!! conflict x");
    let removed = ["a/x = 1.5.0", "", "a/x = 1.7.0"];
    check_merge(MergePreference::Newest, removed, "!! conflict x");
    check_merge(MergePreference::Ours, removed, "");
    check_merge(MergePreference::Theirs, removed, "a/x = 1.7.0");
    check_merge(
        MergePreference::Newest,
        ["", "a/x = 1.0.0+a", "a/x = 1.0.0+b"],
        "!! conflict x",
    );
}

#[test]
fn an_unknown_base_is_not_an_absent_one() {
    let removed = ["?", "", "a/x = 1.7.0"];
    check_merge(MergePreference::Newest, removed, "a/x = 1.7.0");
    check_merge(MergePreference::Ours, removed, "");
    check_merge(MergePreference::Theirs, removed, "a/x = 1.7.0");
    check_merge(MergePreference::Fail, removed, "!! conflict x");
    let both = ["?", "a/x = 1.6.0", "a/x = 1.7.0"];
    check_merge(
        MergePreference::Newest,
        both,
        "a/x = 1.7.0 !! VersionsDiffered",
    );
    check_merge(MergePreference::Fail, both, "!! conflict x");
}

#[test]
fn a_version_is_taken_only_with_constraints_that_allow_it() {
    let all = |sides: [&str; 3], wanted: &str| {
        let [base, ours, theirs] = sides;
        for prefer in [MergePreference::Newest, MergePreference::Fail] {
            check_merge(prefer, sides, wanted);
            check_merge(prefer, [base, theirs, ours], wanted);
        }
    };
    let pinned = [
        "a/x = 2.0.0 <= 3.0.0 | h1:a",
        "a/x = 2.0.0 2.0.0 | h1:a h1:b",
        "a/x = 3.0.0 <= 3.0.0 | h1:c",
    ];
    all(pinned, "!! conflict x");
    check_merge(
        MergePreference::Ours,
        pinned,
        &format!("{} !! VersionsDiffered", pinned[1]),
    );
    check_merge(
        MergePreference::Theirs,
        pinned,
        &format!("{} !! VersionExcluded", pinned[2]),
    );
    // The terms of both together exclude it.
    all(
        [
            "a/x = 1.5.0 ~> 1.0",
            "a/x = 1.5.0 ~> 1.0, >= 1.5.0",
            "a/x = 1.4.0 ~> 1.4",
        ],
        "!! conflict x",
    );
    // A tool that leaves constraints as they are: that was so before.
    all(
        [
            "a/x = 1.0.0 ~> 1.0.0 | h1:a",
            "a/x = 1.0.0 ~> 1.0.0 | h1:a h1:b",
            "a/x = 2.0.0 ~> 1.0.0 | h1:c",
        ],
        "a/x = 2.0.0 ~> 1.0.0 | h1:c !! HashesLeftBehind VersionExcluded",
    );
}

#[test]
fn a_conflict_says_what_each_side_changed() {
    let check = |[base, ours, theirs]: [&str; 3], wanted: &str| {
        let merged = merge(
            &file(base).into(),
            &file(ours),
            &file(theirs),
            MergePreference::Newest,
        );
        let conflict = merged.conflicts.values().next().map(ToString::to_string);
        assert_eq!(conflict.as_deref(), Some(wanted));
    };
    check(
        ["a/x = 2.4.0 | h1:a", "a/x = 2.4.0 | h1:a h1:b", ""],
        "we have 2.4.0 with other hashes, they have nothing, before 2.4.0",
    );
    check(
        ["a/x = 2.4.0", "", "a/x = 2.4.0 ~> 2.4 | h1:b"],
        "we have nothing, they have 2.4.0 with other hashes and the constraints \"~> 2.4\", before 2.4.0",
    );
    check(
        ["a/x = 2.4.0 ~> 2.4", "a/x = 2.4.0", ""],
        "we have 2.4.0 with no constraints, they have nothing, before 2.4.0",
    );
    check(
        [
            "a/x = 2.0.0 <= 3.0.0",
            "a/x = 2.0.0 2.0.0",
            "a/x = 3.0.0 <= 3.0.0",
        ],
        "we have 2.0.0 with the constraints \"2.0.0\", they have 3.0.0, before 2.0.0",
    );
}

/// The base of a criss-cross merge: git merges the last common commits, and may leave markers.
#[test]
fn two_downgrades_from_several_bases_are_a_conflict() {
    let base = |one: &str, other: &str| MergeBase {
        lock: LockFile::default(),
        unknown: UnknownEntries::Unread(std::collections::BTreeMap::from([(
            ProviderAddr::parse("a/x", FLAVOR).unwrap(),
            vec![lock(one), lock(other)],
        )])),
    };
    let check = |base: MergeBase, ours: &str, theirs: &str, wanted: Option<&str>| {
        let merged = merge(&base, &file(ours), &file(theirs), MergePreference::Newest);
        let version = merged.lock.providers.values().next();
        let version = version.map(|entry| entry.version.to_string());
        assert_eq!(version.as_deref(), wanted, "{ours} {theirs}");
        assert_eq!(merged.conflicts.len(), usize::from(wanted.is_none()));
    };
    check(base("1.5.0", "1.6.0"), "a/x = 1.4.0", "a/x = 1.3.0", None);
    check(base("1.5.0", "1.6.0"), "a/x = 1.7.0", "a/x = 1.5.5", None);
    check(
        base("1.5.0", "1.6.0"),
        "a/x = 1.7.0",
        "a/x = 1.8.0",
        Some("1.8.0"),
    );
    check(base("1.5.0", "1.6.0"), "", "a/x = 1.7.0", None);
    let unread = MergeBase {
        lock: LockFile::default(),
        unknown: UnknownEntries::Unread(std::collections::BTreeMap::new()),
    };
    check(unread, "a/x = 1.4.0", "a/x = 1.3.0", None);
}

/// Few addresses, versions and hashes, so that they meet.
fn any_file() -> impl Strategy<Value = LockFile> {
    let addr = prop::sample::select(vec!["a/x", "a/y", "b/x", "example.com/a/x"]);
    let version = prop::sample::select(vec!["1.0.0", "1.1.0", "2.0.0-beta", "2.0.0", "2.0.0+m"]);
    let constraints = prop::sample::select(vec![
        "",
        "~> 1.0",
        ">= 1.0.0",
        ">= 1.0.0, ~> 1.0",
        "1.0.0",
        "1.1.0",
        "<= 2.0.0",
        "2.0.0-beta",
    ]);
    let hash = prop::sample::select(vec!["h1:a", "h1:b", "h1:c", "zh:a", "zh:b", "h9:x"]);
    let entry = (
        version,
        constraints,
        prop::collection::btree_set(hash, 0..4),
    );
    let entry = entry.prop_map(|(version, constraints, hashes)| {
        let hashes: Vec<&str> = hashes.into_iter().collect();
        lock(&format!("{version} {constraints} | {}", hashes.join(" ")))
    });
    let all = prop::collection::btree_map(addr, entry, 0..4);
    all.prop_map(|all| LockFile {
        providers: all
            .into_iter()
            .map(|(addr, entry)| (ProviderAddr::parse(addr, FLAVOR).unwrap(), entry))
            .collect(),
    })
}

fn any_policy() -> impl Strategy<Value = MergePreference> {
    prop::sample::select(vec![
        MergePreference::Newest,
        MergePreference::Ours,
        MergePreference::Theirs,
        MergePreference::Fail,
    ])
}

proptest! {
    #[test]
    fn nothing_differs_from_itself(file in any_file()) {
        let found = diff(&file, &file);
        prop_assert!(found.providers.is_empty());
        prop_assert_eq!(found.unchanged, file.providers.len());
    }

    #[test]
    fn every_change_is_found_and_explained(old in any_file(), new in any_file()) {
        let found = diff(&old, &new);
        let sides = |side: fn(&ProviderChange) -> Option<&ProviderSide>| -> usize {
            found.providers.iter().filter_map(side).count()
        };
        prop_assert_eq!(sides(ProviderChange::before) + found.unchanged, old.providers.len());
        prop_assert_eq!(sides(ProviderChange::now) + found.unchanged, new.providers.len());
        for change in &found.providers {
            prop_assert!(!change.kinds.is_empty());
            let explained = explain(change);
            prop_assert!(!explained.causes.is_empty(), "{:?}", change);
            prop_assert!(!explained.sentence().contains("; ;"));
            prop_assert!(explained.causes.iter().all(|cause| !cause.text.is_empty()));
        }
    }

    #[test]
    fn what_only_one_side_changed_wins(base in any_file(), side in any_file(), prefer in any_policy()) {
        let known = MergeBase::from(base.clone());
        for merged in [merge(&known, &side, &base, prefer), merge(&known, &base, &side, prefer)] {
            prop_assert_eq!(&merged.lock, &side);
            prop_assert!(merged.conflicts.is_empty());
            prop_assert!(merged.unfinished.is_empty());
        }
    }

    #[test]
    fn sides_are_equal(base in any_file(), ours in any_file(), theirs in any_file(), fail in any::<bool>()) {
        let prefer = if fail { MergePreference::Fail } else { MergePreference::Newest };
        let base = MergeBase::from(base);
        let there = merge(&base, &ours, &theirs, prefer);
        let back = merge(&base, &theirs, &ours, prefer);
        prop_assert_eq!(&there.lock, &back.lock);
        prop_assert_eq!(there.unfinished, back.unfinished);
        prop_assert!(there.conflicts.keys().eq(back.conflicts.keys()));
    }

    #[test]
    fn no_hash_gets_to_another_version(
        base in any_file(), ours in any_file(), theirs in any_file(), prefer in any_policy()
    ) {
        let merged = merge(&base.into(), &ours, &theirs, prefer);
        for (addr, entry) in &merged.lock.providers {
            for hash in entry.hashes.iter() {
                let knows = |side: &LockFile| side.providers.get(addr).is_some_and(|one| {
                    one.version == entry.version && one.hashes.contains(hash)
                });
                prop_assert!(knows(&ours) || knows(&theirs), "{} {}", addr, hash.as_str());
            }
        }
    }

    #[test]
    fn no_merge_makes_constraints_exclude_the_version(
        base in any_file(), ours in any_file(), theirs in any_file(), prefer in any_policy()
    ) {
        let allowed = |entry: &ProviderLock| entry.constraints.allows(&entry.version);
        let merged = merge(&base.into(), &ours, &theirs, prefer);
        for (addr, entry) in &merged.lock.providers {
            let mut sides = [&ours, &theirs].into_iter().filter_map(|side| side.providers.get(addr));
            let was_so = sides.any(|side| side.version == entry.version && !allowed(side));
            prop_assert!(allowed(entry) || was_so, "{} {}", addr, entry.constraints);
        }
    }

    #[test]
    fn what_is_merged_can_be_read_again(base in any_file(), ours in any_file(), theirs in any_file()) {
        let merged = merge(&base.into(), &ours, &theirs, MergePreference::Newest).lock;
        let text = lockfile::write(&merged, FLAVOR);
        let mut texts = Texts::default();
        let id = texts.add("lock".to_owned(), text.clone().into_bytes());
        let (document, diagnostics) = lockfile::parse(id, text.as_bytes(), FLAVOR);
        prop_assert!(!has_errors(&diagnostics), "{}", text);
        prop_assert_eq!(document.lock, merged);
    }
}

fn any_markers() -> impl Strategy<Value = Markers> {
    (7..12_usize, any::<bool>()).prop_map(|(size, shows_base)| Markers {
        size,
        ours: "HEAD".to_owned(),
        base: shows_base.then(|| "the base".to_owned()),
        theirs: String::new(),
    })
}

/// Reads a side without any fault.
fn read(bytes: &[u8]) -> LockFile {
    let file = Texts::default().add("side", Vec::new());
    let (document, diagnostics) = lockfile::parse(file, bytes, FLAVOR);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    document.lock
}

proptest! {
    #[test]
    fn an_unfinished_merge_gives_back_its_sides(
        base in any_file(), ours in any_file(), theirs in any_file(), markers in any_markers(),
        prefer in any_policy(), windows in any::<bool>()
    ) {
        let merged = merge(&base.into(), &ours, &theirs, prefer);
        let mut text = write_merged(&merged, FLAVOR, &markers);
        if merged.conflicts.is_empty() {
            prop_assert_eq!(&text, &lockfile::write(&merged.lock, FLAVOR));
        }
        if windows {
            text = text.replace('\n', "\r\n");
        }
        let parted = part(text.as_bytes()).expect("the markers fit");
        prop_assert_eq!(parted.as_ref().map_or(0, |parted| parted.conflicts), merged.conflicts.len());
        let Some(parted) = parted else { return Ok(()) };
        prop_assert_eq!(&parted.markers, &markers);
        let side = |own: fn(&MergeConflict) -> &Option<ProviderLock>| {
            let mut all = merged.lock.clone();
            for (addr, conflict) in &merged.conflicts {
                all.providers.extend(own(conflict).clone().map(|entry| (addr.clone(), entry)));
            }
            all
        };
        prop_assert_eq!(read(&parted.ours), side(|conflict| &conflict.ours));
        prop_assert_eq!(read(&parted.theirs), side(|conflict| &conflict.theirs));
        if let Some(bytes) = &parted.base {
            prop_assert_eq!(read(bytes), side(|conflict| &conflict.base));
            // What was a conflict is one again, and nothing else is.
            let again = merge(&read(bytes).into(), &read(&parted.ours), &read(&parted.theirs), MergePreference::Fail);
            prop_assert!(again.conflicts.keys().all(|addr| merged.conflicts.contains_key(addr)));
        }
    }

    #[test]
    fn no_bytes_make_the_reader_of_markers_panic(text in "(<{6,8}|>{6,8}|={6,8}|[|]{6,8}|[ax \r\n])*") {
        if let Ok(Some(parted)) = part(text.as_bytes()) {
            prop_assert_eq!(parted.ours.len(), text.len());
            prop_assert_eq!(parted.theirs.len(), text.len());
        }
    }
}

/// People and programs read the same words.
#[test]
fn names_are_the_words_of_the_json_output() {
    #[track_caller]
    fn check(word: impl serde::Serialize, name: &str) {
        let word = serde_json::to_string(&word).unwrap();
        assert_eq!(word, format!("{name:?}"));
    }
    for risk in [Risk::Routine, Risk::Notice, Risk::Warning, Risk::Danger] {
        check(risk, risk.name());
    }
    for kind in [
        ChangeKind::Added,
        ChangeKind::Removed,
        ChangeKind::HostSwitched,
        ChangeKind::NamespaceSwitched,
        ChangeKind::Upgraded,
        ChangeKind::Downgraded,
        ChangeKind::ConstraintsChanged,
        ChangeKind::HashesAdded,
        ChangeKind::HashesRemoved,
        ChangeKind::HashesReplaced,
    ] {
        check(kind, kind.name());
    }
    for upgrade in [
        Upgrade::Metadata,
        Upgrade::Prerelease,
        Upgrade::Patch,
        Upgrade::Minor,
        Upgrade::Major,
    ] {
        check(upgrade, upgrade.name());
    }
}

#[test]
fn a_file_with_faulty_blocks_of_one_address_equals_itself() {
    let block = |version: &str, more: &str| {
        format!(
            "provider \"example.com/t/a\" {{\n  version = \"{version}\"\n  {more}\n  hashes = 5\n}}\n"
        )
    };
    let text = [
        block("1.1.0", ""),
        block("1.1.0", "constraints = \"~> 0.1\""),
        block("2.1.0", ""),
    ];
    let side = LockSide::read(FileId::ALONE, text.concat().into_bytes(), FLAVOR);
    assert!(has_errors(&side.diagnostics));
    assert!(review(Some(&side), Some(&side)).is_empty());
    let fewer = LockSide::read(FileId::ALONE, text[..2].concat().into_bytes(), FLAVOR);
    assert!(!review(Some(&side), Some(&fewer)).is_empty());
}
