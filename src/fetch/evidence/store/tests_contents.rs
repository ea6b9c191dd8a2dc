//! Contents in the store.

use std::path::Path;

use super::tests::{NOW, clock, fact, imported, store};
use super::*;
use crate::contents::BuildInfo;
use crate::hash;
use crate::world::Files as _;
use crate::world::mem::MemFiles;

fn build(number: u8) -> ProgramContents {
    let text = format!(
        "path\tx.example/p\nmod\tx.example/p\tv1.0.{number}\t\ndep\ta.example/a\tv1.2.3\t\n=>\t../a\t(devel)\t\n\n\
        build\t-ldflags=\"-s -w\"\n"
    );
    ProgramContents::Go(Box::new(
        BuildInfo::parse("go1.22.3", &text).expect("sound"),
    ))
}

fn path_of(number: u8) -> String {
    let key = key_in(contents::CONTENTS, &fact(number).zh).expect("a key");
    format!("/store/{key}")
}

#[test]
fn kept_contents_are_found_again() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let first = store(&files, &clock);
    assert_eq!(first.contents(&fact(1).zh), None);
    first.keep_contents(&fact(1).zh, &build(1));
    first.keep_contents(&fact(2).zh, &ProgramContents::Unknown);
    for store in [first, store(&files, &clock)] {
        let found = store.contents(&fact(1).zh).expect("kept");
        let expected = StoredContents {
            zh: fact(1).zh,
            contents: build(1),
            origin: FactOrigin::Computed,
            since: NOW,
        };
        assert_eq!(found, expected);
        let found = store.contents(&fact(2).zh).expect("kept");
        assert_eq!(found.contents, ProgramContents::Unknown);
        assert_eq!(store.contents(&fact(3).zh), None);
        assert_eq!(store.contents(&fact(1).h1), None, "not a zh: hash");
        assert_eq!(store.find(&fact(1).zh), None, "a fact is another object");
        assert_eq!(KeepOnly(&store).contents(&fact(1).zh), None);
        assert_eq!(store.notes(), [""; 0]);
    }
    let bytes = files.read(Path::new(&path_of(1)), 10_000).expect("there");
    let text = String::from_utf8(bytes).expect("text").replace('\t', "→");
    snapbox::assert_data_eq!(
        text,
        snapbox::str![[r#"
lockctl contents 1
zh:0101010101010101010101010101010101010101010101010101010101010101
computed 1700000000
go1.22.3
→path→x.example/p
→mod→x.example/p→v1.0.1→
→dep→a.example/a→v1.2.3
→=>→../a→(devel)→
→
→build→-ldflags="-s -w"
sha256:[..]

"#]]
    );
}

#[test]
fn contents_that_are_damaged_are_ignored_with_a_note() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let first = store(&files, &clock);
    first.keep_contents(&fact(1).zh, &build(1));
    let good = files.read(Path::new(&path_of(1)), 10_000).expect("there");
    for length in 0..good.len() {
        assert!(contents::parse_object(&good[..length]).is_err(), "{length}");
    }
    let text = String::from_utf8(good).expect("text");
    let files = MemFiles::with(&[(&path_of(2), &text)]);
    let later = store(&files, &clock);
    assert_eq!(later.contents(&fact(2).zh), None);
    let key = key_in(contents::CONTENTS, &fact(2).zh).expect("a key");
    assert_eq!(
        later.notes(),
        [format!(
            "{key} was ignored: it is about another package or release"
        )]
    );
    for damage in ["computed 1\nunknown\n\tpath\tx\x1b\n", "guessed\nunknown\n"] {
        let lines = format!("lockctl contents 1\n{}\n{damage}", fact(1).zh);
        let object = format!("{lines}{}\n", text::check(&lines));
        let error = contents::parse_object(object.as_bytes()).expect_err("no contents");
        assert_eq!(error, FactError::Form);
    }
}

#[test]
fn imported_contents_give_way_to_computed_ones() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let store = store(&files, &clock);
    let zh = fact(1).zh;
    store
        .put_contents(&zh, &build(1), imported("x"))
        .expect("written");
    assert_eq!(store.contents(&zh).expect("kept").origin, imported("x"));
    store.keep_contents(&zh, &build(2));
    store
        .put_contents(&zh, &build(1), imported("x"))
        .expect("not written");
    let found = store.contents(&zh).expect("kept");
    assert_eq!(
        (found.contents, found.origin),
        (build(2), FactOrigin::Computed)
    );
}

#[test]
fn contents_are_bounded_and_become_old() {
    let (files, early) = (MemFiles::default(), clock(NOW));
    let first = store(&files, &early);
    for number in 0..40_u8 {
        let mut digest = [7; 32];
        digest[31] = number;
        first.keep_contents(&hash::zh_of_digest(&digest), &build(1));
    }
    let inventory = first.inventory().expect("listed");
    assert!(
        (20..=MAX_CONTENTS_PER_GROUP).contains(&inventory.contents),
        "{inventory:?}"
    );
    assert!(inventory.bytes > 0);
    let long = format!("dep\t{}\tv1.0.0\th1:\n", "x".repeat(1000)).repeat(1100);
    let long = BuildInfo::parse("go1.22.3", &long).expect("sound");
    first.keep_contents(&fact(1).zh, &ProgramContents::Go(Box::new(long)));
    assert_eq!(first.contents(&fact(1).zh), None);

    first.keep_contents(&fact(1).zh, &build(1));
    let late = clock(NOW + MAX_AGE.as_secs() + 1);
    let later = store(&files, &late);
    assert_eq!(later.contents(&fact(1).zh), None);
    let removed = later.clean(Removal::Useless, false).expect("removed");
    assert_eq!(removed, RemovalCounts::default());
    assert_eq!(later.inventory().expect("listed"), Inventory::default());
}

#[test]
fn an_export_has_the_contents_of_its_facts() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let store = self::store(&files, &clock);
    let facts = [fact(1), fact(2), fact(3)];
    for number in [1, 2] {
        store.keep_contents(&fact(number).zh, &build(7));
    }
    store.keep_contents(&fact(3).zh, &ProgramContents::Unknown);
    let contents = store.build_infos(facts.iter().map(|fact| &fact.zh), false);
    let text = export(&facts, [], &contents);
    let tail: String = text.split_inclusive('\n').skip(4).collect();
    snapbox::assert_data_eq!(
        tail.replace('\t', "→"),
        snapbox::str![[r#"
modules 1
→path→x.example/p
→mod→x.example/p→v1.0.7→
→dep→a.example/a→v1.2.3
→=>→../a→(devel)→
→
contents zh:0101010101010101010101010101010101010101010101010101010101010101 1 go1.22.3
→build→-ldflags="-s -w"
contents zh:0202020202020202020202020202020202020202020202020202020202020202 1 go1.22.3
→build→-ldflags="-s -w"

"#]]
    );
    let export = import(&text).expect("an export");
    assert_eq!(export.contents, contents);
    assert_eq!(import(&text.replace('\n', "\r\n")).as_ref(), Ok(&export));

    let files = MemFiles::default();
    let other = self::store(&files, &clock);
    other.import(&export, &imported("x")).expect("kept");
    let kept = other.contents(&fact(1).zh).expect("imported");
    assert_eq!(kept.contents, build(7));
    assert_eq!(kept.origin, imported("x"));
    let zhs = || facts.iter().map(|fact| &fact.zh);
    assert_eq!(other.build_infos(zhs(), false), BTreeMap::new());
    assert_eq!(other.build_infos(zhs(), true), contents);
}

#[test]
fn contents_in_an_export_that_lie_are_refused() {
    #[track_caller]
    fn check(lines: &str, line: usize) {
        let text = format!("# lockctl facts 1\n{lines}");
        assert_eq!(import(&text), Err(FactError::Line { line }), "{lines}");
    }
    let zh = fact(1).zh;
    check("\tpath\tx\n", 2);
    check("modules x\n", 2);
    check(&format!("contents {zh} 1 go1\n"), 2);
    check(&format!("modules 1\ncontents {zh} 1\n"), 3);
    let text = format!("# lockctl facts 1\nmodules 1\n\tdep\tx\ncontents {zh} 1 go1\n");
    assert_eq!(import(&text), Err(FactError::Contents));
    // Many packages that share long lines would take more memory than the file.
    let modules = format!("\tdep\t{}\tv1\n", "x".repeat(1000)).repeat(1000);
    let mut text = format!("# lockctl facts 1\nmodules 1\n{modules}");
    for number in 0..100 {
        text += &format!("contents {} 1 go1\n", hash::zh_of_digest(&[number; 32]));
    }
    assert_eq!(import(&text), Err(FactError::Contents));
    let text = format!("# lockctl facts 1\nmodules 1\ncontents {zh} 1 go1\n");
    assert_eq!(import(&text), Ok(Export::default()), "no fact");
}
