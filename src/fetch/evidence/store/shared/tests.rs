//! Facts that machines share, in a store without a network.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use super::*;
use crate::package::ReleasePackage;
use crate::store::tests::{NOW, clock, fact as any_fact, store};
use crate::store::{KeepOnly, export, import};
use crate::world::mem::{MemClock, MemFiles};

/// A store of objects with versions; it may fail, and others may write at the same moment.
#[derive(Default)]
struct MemShared {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    reads: AtomicUsize,
    writes: AtomicUsize,
    /// Attempts to write that others are ahead of.
    outrun: AtomicUsize,
    fails: bool,
}

impl SharedObjects for &MemShared {
    fn get(&self, key: &str, limit: u64) -> io::Result<Option<VersionedObject>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let Some(bytes) = lock(&self.objects).get(key).cloned() else {
            return Ok(None);
        };
        if bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let tag = String::new();
        Ok(Some(VersionedObject { bytes, tag }))
    }

    fn put(&self, key: &str, bytes: &[u8], over: Option<&VersionedObject>) -> io::Result<bool> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let mut objects = lock(&self.objects);
        let ahead = |left: usize| left.checked_sub(1);
        let is_outrun = self
            .outrun
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, ahead)
            .is_ok();
        if is_outrun || objects.get(key) != over.map(|object| &object.bytes) {
            return Ok(false);
        }
        objects.insert(key.to_owned(), bytes.to_vec());
        Ok(true)
    }

    fn list(&self, above: &str) -> io::Result<Vec<String>> {
        let keys = lock(&self.objects).keys().cloned().collect::<Vec<_>>();
        Ok(keys
            .into_iter()
            .filter(|key| key.starts_with(above))
            .collect())
    }

    fn remove(&self, key: &str, read: Option<&VersionedObject>) -> io::Result<bool> {
        let is_changed = |bytes: &Vec<u8>| read.is_some_and(|read| read.bytes != *bytes);
        let mut objects = lock(&self.objects);
        let is_kept = objects.get(key).is_some_and(is_changed);
        objects.retain(|other, _| other != key || is_kept);
        Ok(!is_kept)
    }
}

/// A machine with an empty store of its own.
struct Machine {
    files: MemFiles,
    clock: MemClock,
}

fn machine() -> Machine {
    Machine {
        files: MemFiles::default(),
        clock: clock(NOW),
    }
}

/// A private key, by its name.
fn private(name: &str) -> String {
    let (private, _) = FactSigner::generate(name).expect("made");
    private.reveal().to_owned()
}

fn signer(private: &str) -> FactSigner {
    FactSigner::parse(private).expect("valid")
}

impl Machine {
    /// Opens the store with the keys that count, and the one that signs.
    fn facts<'a>(
        &'a self,
        shared: &'a MemShared,
        keys: &[&str],
        private: Option<&str>,
    ) -> SharedFacts<'a> {
        let store = SharedStore {
            objects: Some(Box::new(shared)),
            clock: &self.clock,
            keys: keys.iter().map(|key| signer(key).key().clone()).collect(),
            signer: private.map(signer),
        };
        SharedFacts::new(Arc::new(store_of(self)), store)
    }
}

fn store_of(machine: &Machine) -> crate::store::Store<'_> {
    store(&machine.files, &machine.clock)
}

/// A package of one release, by a number.
fn fact(number: u8) -> Fact {
    let mut fact = any_fact(number);
    fact.id = any_fact(1).id;
    fact.id.platform = format!("linux_a{number}").parse().expect("a platform");
    fact
}

/// The release that all facts of these tests are about.
fn release() -> (ProviderAddr, Version) {
    let id = fact(1).id;
    (id.provider, id.version)
}

/// Adds facts as a run does.
fn add(shared: &MemShared, private: &str, facts: &[Fact]) {
    let machine = machine();
    let writer = machine.facts(shared, &[private], Some(private));
    writer.read_ahead(&[release()]);
    for fact in facts {
        writer.keep(fact);
    }
    writer.share();
    assert!(!writer.notes().concat().contains("not added"));
}

/// Reads facts on a new machine; returns those that count, with its notes.
fn read(shared: &MemShared, keys: &[&str]) -> (Vec<u8>, Vec<String>) {
    let machine = machine();
    let reader = machine.facts(shared, keys, None);
    reader.read_ahead(&[release()]);
    let known = (1..=30).filter(|number| reader.find(&fact(*number).zh).is_some());
    (known.collect(), reader.notes())
}

#[test]
fn facts_of_other_machines_count_under_their_key() {
    let (shared, ci, other) = (MemShared::default(), private("ci"), private("other"));
    add(&shared, &ci, &[fact(1), fact(2)]);
    add(&shared, &other, &[fact(3)]);
    add(&shared, &ci, &[fact(4)]);
    assert_eq!(lock(&shared.objects).len(), 1, "one object for the release");
    assert_eq!(read(&shared, &[&ci, &other]).0, [1, 2, 3, 4]);
    let note = |count| format!("{count} ignored: no key of trust.fact_keys signed");
    let (known, notes) = read(&shared, &[&ci]);
    assert_eq!(
        (known, notes),
        (vec![1, 2, 4], vec![note("1 fact was") + " it"])
    );
    let (known, notes) = read(&shared, &[&private("ci")]);
    assert_eq!(
        (known, notes),
        (vec![], vec![note("4 facts were") + " them"])
    );
}

#[test]
fn a_run_makes_one_read_and_one_write() {
    let (shared, ci) = (MemShared::default(), private("ci"));
    let requests = || {
        (
            shared.reads.load(Ordering::Relaxed),
            shared.writes.load(Ordering::Relaxed),
        )
    };
    add(&shared, &ci, &[fact(1), fact(2)]);
    assert_eq!(requests(), (1, 1));
    add(&shared, &ci, &[fact(2)]);
    assert_eq!(requests(), (2, 1), "nothing was new");
    let machine = machine();
    let facts = machine.facts(&shared, &[&ci], Some(&ci));
    facts.read_ahead(&[release()]);
    facts.read_ahead(&[release()]);
    facts.share();
    assert_eq!(requests(), (3, 1));
}

#[test]
fn a_release_that_was_computed_here_is_not_read() {
    let (shared, ci, machine) = (MemShared::default(), private("ci"), machine());
    let (provider, version) = release();
    let package = ReleasePackage {
        platform: fact(1).id.platform,
        h1: Some(fact(1).h1),
    };
    store_of(&machine).keep_release(&ReleaseFact {
        provider,
        version,
        lists_release: true,
        signers: [].into(),
        key_ends: Default::default(),
        dates: [].into_iter().collect(),
        packages: [(fact(1).zh, package)].into(),
        others: [].into(),
        attested: [].into(),
    });
    machine
        .facts(&shared, &[&ci], None)
        .read_ahead(&[release()]);
    assert_eq!(shared.reads.load(Ordering::Relaxed), 0);
}

#[test]
fn objects_that_change_meanwhile_are_read_again() {
    let (shared, ci) = (MemShared::default(), private("ci"));
    shared.outrun.store(5, Ordering::Relaxed);
    add(&shared, &ci, &[fact(1)]);
    assert_eq!(shared.writes.load(Ordering::Relaxed), 6);
    shared.outrun.store(1000, Ordering::Relaxed);
    let machine = machine();
    let writer = machine.facts(&shared, &[&ci], Some(&ci));
    writer.keep(&fact(2));
    writer.share();
    let [note] = &writer.notes()[..] else {
        panic!()
    };
    assert!(
        note.contains("other machines changed it all the time"),
        "{note}"
    );
    assert_eq!(shared.writes.load(Ordering::Relaxed), 6 + ATTEMPTS as usize);
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let (shared, ci) = (MemShared::default(), private("ci"));
    std::thread::scope(|scope| {
        for writer in 0..60_u8 {
            let (shared, ci) = (&shared, &ci);
            scope.spawn(move || add(shared, ci, &[fact(1 + writer % 10), fact(1 + writer % 7)]));
        }
    });
    assert_eq!(read(&shared, &[&ci]), ((1..=10).collect(), vec![]));
}

#[test]
fn a_store_that_fails_is_asked_once() {
    let (ci, machine) = (private("ci"), machine());
    let shared = MemShared {
        fails: true,
        ..MemShared::default()
    };
    let facts = machine.facts(&shared, &[&ci], Some(&ci));
    facts.read_ahead(&[release()]);
    facts.read_ahead(&[release()]);
    facts.keep(&fact(1));
    facts.share();
    assert_eq!(shared.reads.load(Ordering::Relaxed), 1);
    assert_eq!(facts.notes(), ["the run went on without it: timed out"]);
    assert!(store_of(&machine).find(&fact(1).zh).is_some());
}

fn altered(number: u8) -> Fact {
    Fact {
        h1: fact(99).h1,
        files: Vec::new(),
        ..fact(number)
    }
}

#[track_caller]
fn check_conflict(facts: &dyn Facts, sides: &[&str]) {
    let (provider, version) = release();
    let conflicts = facts.conflicts(&provider, &version);
    assert_eq!(conflicts.len(), 1);
    let text = conflicts[0].to_string();
    assert!(sides.iter().all(|side| text.contains(side)), "{text}");
}

#[test]
fn contradictions_are_alarms_and_neither_side_counts() {
    let (ci, other) = (private("ci"), private("other"));
    let shared = MemShared::default();
    add(&shared, &ci, &[fact(1), altered(2)]);
    let (mine, keys) = (machine(), [&*ci, &*other]);
    // Computed before the object was read, and after.
    store_of(&mine).keep(&fact(2));
    let facts = mine.facts(&shared, &keys, None);
    facts.read_ahead(&[release()]);
    check_conflict(&facts, &["this machine computed", "key ci+"]);
    let own = facts.find(&fact(2).zh).map(|found| found.origin.clone());
    assert_eq!(own, Some(FactOrigin::Computed));
    let mine = machine();
    let facts = mine.facts(&shared, &keys, None);
    let proving = KeepOnly(&facts);
    proving.read_ahead(&[release()]);
    assert!(
        proving.find(&fact(1).zh).is_none(),
        "nothing signed is used"
    );
    proving.keep(&fact(2));
    check_conflict(&proving, &["this machine computed", "key ci+"]);
    // Two keys.
    let blind = machine();
    let writer = blind.facts(&shared, &[&other], Some(&other));
    writer.keep(&fact(2));
    writer.share();
    let mine = machine();
    let facts = mine.facts(&shared, &keys, None);
    facts.read_ahead(&[release()]);
    check_conflict(&facts, &["key other+", "key ci+"]);
    assert!(facts.find(&fact(2).zh).is_none() && facts.find(&fact(1).zh).is_some());
    // Imported with a signature; that of a key which the project file does not name is no witness.
    for (keys, conflicts) in [(&[&*ci, &*other][..], 1), (&[&*ci], 0)] {
        let (shared, mine) = (MemShared::default(), machine());
        add(&shared, &ci, &[altered(2)]);
        let export = import(&export([&fact(2)], [], [])).expect("an export");
        let origin = FactOrigin::Signed(signer(&other).key().shown());
        store_of(&mine).import(&export, &origin).expect("written");
        let facts = mine.facts(&shared, keys, None);
        facts.read_ahead(&[release()]);
        assert_eq!(facts.conflicts(&release().0, &release().1).len(), conflicts);
    }
}

#[test]
fn objects_of_others_are_no_facts_about_a_release() {
    let (shared, ci) = (MemShared::default(), private("ci"));
    let (provider, version) = release();
    let key = key(&provider, &version);
    let mut foreign = fact(1);
    foreign.id.version = "9.9.9".parse().expect("a version");
    let text = note(&export([&foreign], [], []), &signer(&ci), UNIX_EPOCH);
    let put = |bytes: &[u8]| lock(&shared.objects).insert(key.clone(), bytes.to_vec());
    put(text.as_bytes());
    let ignored = "1 fact was ignored: the object is that of another release";
    assert_eq!(read(&shared, &[&ci]), (vec![], vec![ignored.to_owned()]));
    for (bytes, noted) in [
        (&b"\xff\xfe"[..], "1 fact was ignored: no key"),
        (b"", ""),
        (b"zh:00\nzh:11\n", "2 facts were ignored: no key"),
        (&vec![b'x'; 1 << 19], "has more than 262144 bytes"),
    ] {
        put(bytes);
        let (known, notes) = read(&shared, &[&ci]);
        assert_eq!(known, [0; 0]);
        assert!(notes.concat().contains(noted), "{notes:?}");
    }
    let (machine, writes) = (machine(), shared.writes.load(Ordering::Relaxed));
    let writer = machine.facts(&shared, &[&ci], Some(&ci));
    writer.keep(&fact(1));
    writer.share();
    assert!(writer.notes().concat().contains("were not added"));
    assert_eq!(shared.writes.load(Ordering::Relaxed), writes);
}

#[test]
fn facts_count_whatever_else_the_object_holds() {
    let (ci, other) = (private("ci"), private("other"));
    let (provider, version) = release();
    let key = key(&provider, &version);
    let signed = note(
        &crate::store::export([&fact(2)], [], []),
        &signer(&other),
        UNIX_EPOCH,
    );
    for (before, known) in [
        ("zh:00\nzh:11\n", vec![1]),
        ("no note", vec![1]),
        ("no note\n\n", vec![1]),
        ("\n", vec![1]),
        ("\n\n— ", vec![1]),
        ("— ci AAAA\n", vec![1]),
        (&signed, vec![1, 2]),
        (signed.trim_end(), vec![1, 2]),
        (&format!("{signed}no note"), vec![1, 2]),
        (&format!("{signed}\n{signed}"), vec![1, 2]),
    ] {
        let shared = MemShared::default();
        lock(&shared.objects).insert(key.clone(), before.as_bytes().to_vec());
        add(&shared, &ci, &[fact(1)]);
        assert_eq!(read(&shared, &[&ci, &other]).0, known, "after {before:?}");
        // A second run finds nothing to add.
        let object = lock(&shared.objects)[&key].clone();
        add(&shared, &ci, &[fact(1)]);
        assert_eq!(lock(&shared.objects)[&key], object, "after {before:?}");
    }
}

#[test]
fn what_nobody_adds_to_is_collected() {
    let (shared, ci) = (MemShared::default(), private("ci"));
    add(&shared, &ci, &[fact(1)]);
    let collect = |now, is_dry| {
        let age = Duration::from_secs(1000);
        let counts = collect(&&shared, &clock(now), age, is_dry).expect("listed");
        (counts.removed, counts.kept)
    };
    assert_eq!(collect(NOW + 1000, false), (0, 1));
    assert_eq!(collect(NOW + 1001, true), (1, 0));
    assert_eq!(collect(NOW + 1001, false), (1, 0));
    assert_eq!(collect(NOW + 1001, false), (0, 0));
}
