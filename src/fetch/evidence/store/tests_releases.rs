//! Releases in the store.

use std::path::Path;

use super::tests::{NOW, clock, fact, imported, store};
use super::*;
use crate::package::{AttestedBuild, DateSource, ReleaseDate, ReleasePackage, SignerKey};
use crate::world::Disk as _;
use crate::world::mem::MemFiles;

/// A release with two packages and another file, of which one `h1:` is known.
fn release(version: &str) -> ReleaseFact {
    let package = |name: &str, h1| ReleasePackage {
        platform: name.parse().expect("a platform"),
        h1,
    };
    let seconds = Duration::from_secs(1_600_000_000);
    ReleaseFact {
        provider: fact(1).id.provider,
        version: version.parse().expect("a version"),
        lists_release: true,
        signers: [SignerKey {
            fingerprint: "C874011F0AB405110D02105534365D9472D7468F".to_owned(),
            subkey: None,
        }]
        .into(),
        key_ends: [(
            "C874011F0AB405110D02105534365D9472D7468F".to_owned(),
            UNIX_EPOCH + seconds * 2,
        )]
        .into(),
        dates: [ReleaseDate {
            time: UNIX_EPOCH + seconds,
            source: DateSource::Signature,
        }]
        .into_iter()
        .collect(),
        packages: [
            (fact(1).zh, package("linux_amd64", Some(fact(1).h1))),
            (fact(2).zh, package("darwin_arm64", None)),
        ]
        .into(),
        others: [fact(3).zh].into(),
        attested: [
            (fact(1).zh, Some(build("github.com/acme/demo"))),
            (fact(2).zh, None),
        ]
        .into(),
    }
}

fn build(repository: &str) -> AttestedBuild {
    AttestedBuild {
        repository: repository.to_owned(),
        commit: "0123456".to_owned(),
        git_ref: "refs/tags/v1.0.0".to_owned(),
        workflow: ".github/workflows/release.yml".to_owned(),
    }
}

/// Objects that count what is asked of them.
struct Counted<'a> {
    objects: Box<dyn Objects + 'a>,
    reads: &'a Mutex<Vec<String>>,
}

impl Objects for Counted<'_> {
    fn check(&self) -> io::Result<()> {
        self.objects.check()
    }

    fn get(&self, key: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        lock(self.reads).push(key.to_owned());
        self.objects.get(key, limit)
    }

    fn put(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.objects.put(key, bytes)
    }

    fn measure(&self, above: &str) -> io::Result<Vec<crate::world::ObjectSize>> {
        lock(self.reads).push(format!("list {above}"));
        self.objects.measure(above)
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        self.objects.remove(key)
    }
}

#[test]
fn a_release_is_found_with_one_read() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let first = store(&files, &clock);
    for number in 0..30 {
        first.keep_release(&release(&format!("1.0.{number}")));
    }
    let reads = Mutex::default();
    let objects = Counted {
        objects: files.objects(Path::new("/store")),
        reads: &reads,
    };
    let second = Store::new(Box::new(objects), &clock);
    for _ in 0..2 {
        let wanted = release("1.0.7");
        let found = second.release(&wanted.provider, &wanted.version);
        assert_eq!(*found.expect("kept").release, wanted);
    }
    let wanted = release("2.0.0");
    assert_eq!(second.release(&wanted.provider, &wanted.version), None);
    assert_eq!(lock(&reads).len(), 2, "{reads:?}");
}

#[test]
fn a_key_costs_no_read_buffer() {
    let ReleaseFact {
        provider, version, ..
    } = release("1.0.0");
    let used = allocation_counter::measure(|| {
        super::releases::key(&provider, &version);
    });
    assert!(used.bytes_max < 2048, "{used:?}");
}

#[test]
fn later_runs_add_to_a_release_and_imports_do_not() {
    let (files, clock) = (MemFiles::default(), clock(NOW));
    let found = |wanted: &ReleaseFact| {
        let found = store(&files, &clock).release(&wanted.provider, &wanted.version);
        (*found.expect("kept")).clone()
    };
    let mut first = release("1.0.0");
    let export = Export {
        facts: Vec::new(),
        releases: vec![first.clone()],
        contents: BTreeMap::new(),
    };
    store(&files, &clock)
        .import(&export, &imported("a"))
        .expect("kept");
    assert_eq!(found(&first).origin, imported("a"));
    // What is computed here stands alone.
    first.others.clear();
    store(&files, &clock).keep_release(&first);
    assert_eq!(*found(&first).release, first);
    assert_eq!(found(&first).origin, FactOrigin::Computed);
    store(&files, &clock)
        .import(&export, &imported("a"))
        .expect("known");
    assert_eq!(*found(&first).release, first);
    // Another run knows the other package, and not the first.
    let mut second = first.clone();
    for (zh, package) in &mut second.packages {
        package.h1 = (*zh == fact(2).zh).then(|| fact(2).h1);
    }
    store(&files, &clock).keep_release(&second);
    let both = found(&first).release;
    assert_eq!(both.unseen(), 0);
    assert!([fact(1).h1, fact(2).h1].iter().all(|h1| both.has(h1)));
}

#[test]
fn a_release_that_is_damaged_old_or_misplaced_is_unknown() {
    let stored = |since| StoredRelease {
        release: Arc::new(release("1.0.0")),
        origin: FactOrigin::Computed,
        since,
    };
    let good = release_text::object(&stored(NOW));
    let resealed = |text: &str| {
        let covered = text.trim_end().rfind('\n').expect("two lines") + 1;
        format!("{}{}\n", &text[..covered], text::check(&text[..covered]))
    };
    let old = NOW - MAX_AGE.as_secs() - 1;
    for (object, why) in [
        (good.clone(), None),
        (release_text::object(&stored(old)), Some("")),
        (
            good.replace("linux_amd64", "linux_arm64"),
            Some("it is damaged: its check does not match"),
        ),
        (
            good[..60].to_owned(),
            Some("it is damaged: its check does not match"),
        ),
        (
            resealed(&good.replace("demo 1.0.0", "demo 1.0.1")),
            Some("it is about another package or release"),
        ),
        (
            resealed(&good.replace("dated signature", "dated never")),
            Some("its lines are not those of its kind"),
        ),
        (
            resealed(&good.replace("whole\n", "whole\nmore\n")),
            Some("its lines are not those of its kind"),
        ),
    ] {
        let (files, clock) = (MemFiles::default(), clock(NOW));
        let wanted = release("1.0.0");
        let key = releases::key(&wanted.provider, &wanted.version);
        let objects = files.objects(Path::new("/store"));
        objects.put(&key, object.as_bytes()).expect("written");
        let store = store(&files, &clock);
        let found = store.release(&wanted.provider, &wanted.version);
        assert_eq!(found.is_some(), why.is_none(), "{object}");
        let notes: Vec<String> = why
            .filter(|why| !why.is_empty())
            .map(|why| format!("{key} was ignored: {why}"))
            .into_iter()
            .collect();
        assert_eq!(store.notes(), notes);
        // The next run writes it again.
        store.keep_release(&wanted);
        assert!(store.release(&wanted.provider, &wanted.version).is_some());
    }
}

#[test]
fn an_export_has_a_line_for_each_statement() {
    let text = export([&fact(1)], [&release("1.0.0")], []);
    snapbox::assert_data_eq!(
        &text,
        snapbox::str![[r#"
# lockctl facts 1
zh:0101010101010101010101010101010101010101010101010101010101010101 h1:LacCdxxF23VdV0aMzffNNpAC15SxEjV3IxOcsSfRVk8= 2 registry.terraform.io/acme/demo 1.0.1 linux_amd64
release registry.terraform.io/acme/demo 1.0.0 whole
release registry.terraform.io/acme/demo 1.0.0 signed C874011F0AB405110D02105534365D9472D7468F
release registry.terraform.io/acme/demo 1.0.0 expires C874011F0AB405110D02105534365D9472D7468F 3200000000
release registry.terraform.io/acme/demo 1.0.0 dated signature 1600000000
release registry.terraform.io/acme/demo 1.0.0 package zh:0101010101010101010101010101010101010101010101010101010101010101 linux_amd64
release registry.terraform.io/acme/demo 1.0.0 package zh:0202020202020202020202020202020202020202020202020202020202020202 darwin_arm64
release registry.terraform.io/acme/demo 1.0.0 other zh:0303030303030303030303030303030303030303030303030303030303030303
release registry.terraform.io/acme/demo 1.0.0 attested zh:0101010101010101010101010101010101010101010101010101010101010101 github.com/acme/demo 0123456 refs/tags/v1.0.0 .github/workflows/release.yml
release registry.terraform.io/acme/demo 1.0.0 unattested zh:0202020202020202020202020202020202020202020202020202020202020202

"#]]
    );
    assert_eq!(
        import(&text).expect("valid").releases,
        [release("1.0.0")],
        "the h1: is that of the fact"
    );
    let error = import(&text.replace("demo 1.0.0 whole", "demo")).expect_err("no release");
    assert_eq!(error.to_string(), "line 3 is not a fact");
}
