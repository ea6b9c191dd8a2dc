use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::hash::{h1_of_digests, zh_of_digest};
use crate::package::{PackageId, PackedFile};
use crate::world::mem::{MemClock, MemFiles};
use crate::world::{Disk as _, Files as _};

pub(super) const NOW: u64 = 1_700_000_000;

/// The fact of a package that has one file, by a number.
pub(super) fn fact(number: u8) -> Fact {
    let file = PackedFile {
        name: format!("terraform-provider-demo_v1.0.{number}"),
        digest: [number; 32],
    };
    Fact {
        zh: zh_of_digest(&[number; 32]),
        h1: h1_of_digests([(file.name.as_bytes(), file.digest)]).expect("no line feed"),
        size: u64::from(number) + 1,
        id: PackageId {
            provider: ProviderAddr::parse("acme/demo", Flavor::Terraform1_11).expect("an address"),
            version: format!("1.0.{number}").parse().expect("a version"),
            platform: "linux_amd64".parse().expect("a platform"),
        },
        offered: ["darwin_arm64", "linux_amd64"]
            .map(|one| one.parse().expect("a platform"))
            .to_vec(),
        files: vec![file],
    }
}

/// A fact of one group, by a number.
fn of_group(number: usize) -> Fact {
    let mut digest = [7; 32];
    digest[30..].copy_from_slice(&(number as u16).to_be_bytes());
    Fact {
        zh: zh_of_digest(&digest),
        ..fact(1)
    }
}

fn of_facts(facts: impl IntoIterator<Item = Fact>) -> Export {
    Export {
        facts: facts.into_iter().collect(),
        releases: Vec::new(),
        contents: BTreeMap::new(),
    }
}

/// The origin of an import.
pub(super) fn imported(from: &str) -> FactOrigin {
    FactOrigin::Imported(from.to_owned())
}

pub(super) fn clock(seconds: u64) -> MemClock {
    MemClock::at(UNIX_EPOCH + Duration::from_secs(seconds))
}

pub(super) fn store<'a>(files: &'a MemFiles, clock: &'a MemClock) -> Store<'a> {
    Store::new(files.objects(Path::new("/store")), clock)
}

fn stored(number: u8, origin: FactOrigin) -> StoredFact {
    StoredFact {
        fact: fact(number),
        origin,
        since: NOW,
    }
}

fn path_of(number: u8) -> String {
    format!("/store/{}", key(&fact(number).zh).expect("a key"))
}

#[test]
fn a_kept_fact_is_found_again() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let first = store(&files, &clock);
    assert_eq!(first.find(&fact(1).zh), None);
    first.keep(&fact(1));
    for store in [first, store(&files, &clock)] {
        let found = store.find(&fact(1).zh).expect("kept");
        assert_eq!(*found, stored(1, FactOrigin::Computed));
        assert_eq!(store.find(&fact(2).zh), None);
        assert_eq!(store.find(&fact(1).h1), None, "not a zh: hash");
        assert_eq!(store.notes(), [""; 0]);
    }
    let bytes = files.read(Path::new(&path_of(1)), 10_000).expect("there");
    snapbox::assert_data_eq!(
        String::from_utf8(bytes).expect("text"),
        snapbox::str![[r#"
lockctl fact 1
zh:0101010101010101010101010101010101010101010101010101010101010101 h1:LacCdxxF23VdV0aMzffNNpAC15SxEjV3IxOcsSfRVk8= 2 registry.terraform.io/acme/demo 1.0.1 linux_amd64
computed 1700000000
offered darwin_arm64 linux_amd64
file 0101010101010101010101010101010101010101010101010101010101010101 terraform-provider-demo_v1.0.1
sha256:270be77be635c0806e4b7bd149dc8a06a3102ac235405ee352f83a69fbebb9c2

"#]]
    );
}

#[test]
fn what_is_no_fact_is_ignored_with_a_note() {
    let good = text::object(&stored(1, FactOrigin::Computed));
    let resealed = |text: &str| {
        let covered = text.trim_end().rfind('\n').expect("two lines") + 1;
        format!("{}{}\n", &text[..covered], text::check(&text[..covered]))
    };
    for (object, why) in [
        (
            good[1..].to_owned(),
            "it does not begin with \"lockctl fact 1\"",
        ),
        (String::new(), "it does not begin with \"lockctl fact 1\""),
        (
            good[..good.len() - 1].to_owned(),
            "it is damaged: its check does not match",
        ),
        (
            good[..40].to_owned(),
            "it is damaged: its check does not match",
        ),
        (
            good.replace(" 2 registry", " 3 registry"),
            "it is damaged: its check does not match",
        ),
        (
            resealed(&good.replace("computed", "guessed")),
            "its lines are not those of its kind",
        ),
        (
            resealed(&good.replace("acme/demo", "acme")),
            "its lines are not those of its kind",
        ),
        (
            resealed(&good.replace("registry.terraform.io/", "")),
            "its lines are not those of its kind",
        ),
        (
            resealed(&good.replace("_v1.0.1", "_v1.0.2")),
            "its lines are not those of its kind",
        ),
        (
            resealed(&good.replace("file ", "link ")),
            "its lines are not those of its kind",
        ),
        (
            resealed(&good.replace("offered darwin_arm64", "offered darwin")),
            "its lines are not those of its kind",
        ),
        (
            text::object(&stored(2, FactOrigin::Computed)),
            "it is about another package or release",
        ),
        ("x".repeat(MAX_OBJECT_BYTES as usize + 1), "file too large"),
    ] {
        let (files, clock) = (MemFiles::with(&[(&path_of(1), &object)]), clock(NOW));
        let store = store(&files, &clock);
        assert_eq!(store.find(&fact(1).zh), None, "{object}");
        let key = key(&fact(1).zh).expect("a key");
        assert_eq!(
            store.notes(),
            [format!("{key} was ignored: {why}")],
            "{object}"
        );
        // The next computation repairs it.
        store.keep(&fact(1));
        assert!(store.find(&fact(1).zh).is_some());
    }
}

#[test]
fn an_imported_fact_never_replaces_one_that_was_computed_here() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let store = store(&files, &clock);
    let import = imported("a\nb");
    let origin = || store.find(&fact(1).zh).expect("kept").origin.clone();
    store.put(&fact(1), import.clone()).expect("put");
    assert_eq!(origin(), imported("a b"), "its name is one line");
    store.keep(&fact(1));
    assert_eq!(origin(), FactOrigin::Computed);
    store.put(&fact(1), import).expect("nothing to do");
    assert_eq!(origin(), FactOrigin::Computed);
    assert_eq!(store.notes(), [""; 0]);
    // What the store held was false: the package has been seen now.
    let truth = Fact {
        h1: fact(2).h1,
        files: Vec::new(),
        ..fact(1)
    };
    store.keep(&truth);
    assert_eq!(store.find(&truth.zh).expect("kept").fact, truth);
    let key = key(&truth.zh).expect("a key");
    assert_eq!(
        store.notes(),
        [format!(
            "{key} was replaced: its h1: is not that of the package"
        )]
    );
}

#[test]
fn facts_that_are_old_or_of_the_future_are_unknown() {
    let files = MemFiles::default();
    store(&files, &clock(NOW)).keep(&fact(1));
    for (now, is_known) in [
        (NOW, true),
        (NOW + MAX_AGE.as_secs(), true),
        (NOW + MAX_AGE.as_secs() + 1, false),
        (NOW - MAX_CLOCK_SKEW, true),
        (NOW - MAX_CLOCK_SKEW - 1, false),
    ] {
        let clock = clock(now);
        let store = store(&files, &clock);
        assert_eq!(store.find(&fact(1).zh).is_some(), is_known, "at {now}");
    }
    let clock = clock(NOW + MAX_AGE.as_secs() + 1);
    let later = store(&files, &clock);
    assert_eq!(later.inventory().expect("listed").old.len(), 1);
    let removed = later.clean(Removal::Useless, false).expect("removed");
    let others = (removed.broken, removed.imported, removed.computed);
    assert_eq!((removed.old, others), (1, (0, 0, 0)));
    assert_eq!(later.inventory().expect("listed"), Inventory::default());
}

#[test]
fn a_full_group_loses_its_older_half() {
    let files = MemFiles::default();
    for number in 0..MAX_PER_GROUP + 10 {
        store(&files, &clock(NOW + number as u64)).keep(&of_group(number));
    }
    let clock = clock(NOW + 1000);
    let store = store(&files, &clock);
    let kept: Vec<Hash> = store
        .inventory()
        .expect("listed")
        .facts
        .into_iter()
        .map(|one| one.fact.zh)
        .collect();
    let newest = MAX_PER_GROUP / 2..MAX_PER_GROUP + 10;
    assert_eq!(
        kept,
        newest.map(|number| of_group(number).zh).collect::<Vec<_>>()
    );
}

#[test]
fn many_files_or_odd_names_are_not_stated() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let store = store(&files, &clock);
    let file = |name: String| PackedFile {
        name,
        digest: [3; 32],
    };
    let many: Vec<PackedFile> = (0..33).map(|number| file(number.to_string())).collect();
    for (number, stated) in [(1, many), (2, vec![file("a\rb".to_owned())])] {
        store.keep(&Fact {
            files: stated,
            ..fact(number)
        });
        let found = store.find(&fact(number).zh).expect("kept");
        assert_eq!(
            found.fact,
            Fact {
                files: Vec::new(),
                ..fact(number)
            }
        );
    }
}

#[test]
fn an_export_is_sorted_and_reads_back() {
    let facts = [fact(3), fact(1), fact(2)];
    let text = export(&facts, [], []);
    snapbox::assert_data_eq!(
        &text,
        snapbox::str![[r#"
# lockctl facts 1
zh:0101010101010101010101010101010101010101010101010101010101010101 h1:LacCdxxF23VdV0aMzffNNpAC15SxEjV3IxOcsSfRVk8= 2 registry.terraform.io/acme/demo 1.0.1 linux_amd64
zh:0202020202020202020202020202020202020202020202020202020202020202 h1:A54mNPuBvyMkqqwUk5VdXrrgfk2q42guyg7wiyL4Lyg= 3 registry.terraform.io/acme/demo 1.0.2 linux_amd64
zh:0303030303030303030303030303030303030303030303030303030303030303 h1:ctJOWdYjaZAbO/wZ6MH0zA9j0ICGKOCE7WoVJ0ZdV/w= 4 registry.terraform.io/acme/demo 1.0.3 linux_amd64

"#]]
    );
    let bare = |number| Fact {
        offered: Vec::new(),
        files: Vec::new(),
        ..fact(number)
    };
    assert_eq!(import(&text), Ok(of_facts([1, 2, 3].map(bare))));
    let damaged = text.replace("1.0.2", "1.0");
    let error = import(&damaged).expect_err("a version that is not in full");
    assert_eq!(error.to_string(), "line 3 is not a fact");
    let error = import("zh:00").expect_err("no header");
    assert_eq!(
        error.to_string(),
        "it does not begin with \"# lockctl facts 1\""
    );
}

proptest! {
    #[test]
    fn any_bytes_are_a_fact_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(text::parse_object(&bytes).is_err());
    }

    #[test]
    fn a_changed_byte_is_noticed(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = text::object(&stored(1, FactOrigin::Computed)).into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        prop_assert!(text::parse_object(&bytes).is_err());
    }
}

/// A fact that says something else about the zip of another one.
fn false_fact(number: u8) -> Fact {
    Fact {
        h1: fact(number + 1).h1,
        offered: Vec::new(),
        files: Vec::new(),
        ..fact(number)
    }
}

#[test]
fn imported_facts_are_new_or_known() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let store = store(&files, &clock);
    store.keep(&fact(1));
    let one_of_each = ImportCounts {
        new: 1,
        known: 1,
        ..ImportCounts::default()
    };
    for (facts, from) in [([fact(1), fact(2)], "a"), ([fact(2), fact(3)], "b")] {
        let result = store.import(&of_facts(facts), &imported(from));
        assert_eq!(result.expect("imported"), one_of_each);
    }
    let inventory = store.inventory().expect("listed");
    let origins = inventory.facts.into_iter().map(|stored| stored.origin);
    assert_eq!(
        origins.collect::<Vec<_>>(),
        [FactOrigin::Computed, imported("a"), imported("b")]
    );
}

#[test]
fn one_contradiction_makes_an_import_worthless() {
    for first in ["computed", "imported"] {
        let (files, clock) = (MemFiles::default(), clock(NOW));
        let store = store(&files, &clock);
        if first == "computed" {
            store.keep(&fact(1));
        } else {
            store
                .import(&of_facts([fact(1)]), &imported("a"))
                .expect("imported");
        }
        let before = store.inventory().expect("listed");
        let result = store.import(&of_facts([false_fact(1), fact(2)]), &imported("b"));
        let result = result.expect("read");
        let [contradiction] = &result.contradictions[..] else {
            panic!("{result:?}")
        };
        assert_eq!(contradiction.kept, before.facts[0], "{first}");
        assert_eq!((result.new, result.known), (0, 0), "{first}");
        assert_eq!(store.inventory().expect("listed"), before, "{first}");
    }
}

#[test]
fn an_import_removes_nothing_to_make_room() {
    let files = MemFiles::default();
    let clock = clock(NOW);
    let store = store(&files, &clock);
    for number in 0..100 {
        store.keep(&of_group(number));
    }
    let many: Vec<Fact> = (50..300).map(of_group).collect();
    let result = store
        .import(&of_facts(many.clone()), &imported("flood"))
        .expect("imported");
    let expected = ImportCounts {
        new: MAX_PER_GROUP - 100,
        known: 50,
        left_out: 300 - MAX_PER_GROUP,
        contradictions: Vec::new(),
    };
    assert_eq!(result, expected);
    let kept = store.inventory().expect("listed").facts;
    let computed = kept.iter().filter(|one| one.origin == FactOrigin::Computed);
    assert_eq!((kept.len(), computed.count()), (MAX_PER_GROUP, 100));
}

#[test]
fn what_is_removed_is_what_was_asked_for() {
    for (removal, removed, left) in [
        (Removal::Useless, [1, 1, 0, 0], 2),
        (Removal::UselessAndImported, [1, 1, 1, 0], 1),
        (Removal::Everything, [1, 1, 1, 1], 0),
    ] {
        let files = MemFiles::with(&[(&path_of(4), "broken")]);
        store(&files, &clock(NOW - MAX_AGE.as_secs() - 1)).keep(&fact(3));
        let clock = clock(NOW);
        let store = store(&files, &clock);
        store.keep(&fact(1));
        store
            .import(&of_facts([fact(2)]), &imported("a"))
            .expect("imported");
        let before = store.inventory().expect("listed");
        assert_eq!((before.facts.len(), before.old.len()), (2, 1));
        let reason = "it does not begin with \"lockctl fact 1\"".to_owned();
        assert_eq!(before.broken, BTreeMap::from([(reason, 1)]));
        let [old, broken, imported, computed] = removed;
        let expected = RemovalCounts {
            old,
            broken,
            imported,
            computed,
            kept: left,
        };
        assert_eq!(store.clean(removal, true).expect("counted"), expected);
        assert_eq!(store.inventory().expect("listed"), before, "it was counted");
        assert_eq!(store.clean(removal, false).expect("removed"), expected);
        let after = store.inventory().expect("listed");
        assert_eq!((after.facts.len(), after.old.len()), (left, 0));
        assert_eq!(after.broken, BTreeMap::new());
    }
}

#[test]
fn an_export_is_read_however_its_lines_end_and_repeat() {
    let text = export(&[fact(1), fact(2)], [], []);
    let facts = import(&text).expect("sound");
    let last = text.lines().last().expect("a line");
    for same in [
        text.replace('\n', "\r\n"),
        format!("{text}\n# a comment\n{last}\n"),
    ] {
        assert_eq!(import(&same).as_ref(), Ok(&facts), "{same}");
    }
    let other_name = last.replace("registry.terraform.io", "registry.opentofu.org");
    assert!(import(&format!("{text}{other_name}\n")).is_ok());
    let other_size = last.replace(" 3 ", " 4 ");
    let error = import(&format!("{text}{other_size}\n")).expect_err("a contradiction");
    assert_eq!(error.to_string(), "line 4 contradicts an earlier line");
    for hostile in [
        format!("\u{feff}{text}"),
        format!("{text}<<<<<<< ours\n"),
        text.replace(" 1.0.1 ", " 1.0.1 \u{1b}[31m"),
        text.replace("acme/demo", "acme/de\tmo"),
        text.replace("acme", &"a".repeat(2000)),
    ] {
        assert!(import(&hostile).is_err(), "{hostile:?}");
    }
}
