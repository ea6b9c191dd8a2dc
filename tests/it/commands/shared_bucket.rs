//! Facts that machines share in a bucket of S3, and over the web, with faults of the server.

use std::time::Instant;

use lockctl::net::RealHttp;
use lockctl::world::{Http as _, SHARED_TIME_LIMIT, SharedObjects};

use super::facts::{downloads, lock};
use super::registry::{DEMO, point_at, with_registry};
use super::shared_store::{key, move_to, project_at};
use super::*;
use crate::bucket::{Bucket, Manner};
use crate::registry::Registry;
use crate::scenarios::Packages;

const URL: &str = "s3://box/lockctl";

/// Two roots with a release each.
const ROOTS: &[&str] = &[".", "b", "--platform", "linux_amd64,darwin_arm64"];

/// Their lock files.
const FILES: [&str; 2] = [LOCK, "b/.terraform.lock.hcl"];

/// Two roots that were locked, and a bucket with the facts about their releases.
struct Shared {
    bucket: Bucket,
    registry: Registry,
    lab: Lab,
    private: String,
    /// The lock files, which each machine has to write again.
    locked: [String; 2],
}

fn shared() -> Shared {
    let (registry, mut lab) = with_registry(DEMO);
    lab.write("b/main.tf", DEMO.replace("1.0.0", "1.1.0"));
    let bucket = Bucket::start();
    bucket.let_in(&mut lab);
    move_to(&mut lab, "first");
    let (private, public) = key(&lab, "ci.example");
    project_at(&lab, URL, &[&public]);
    lab.set("LOCKCTL_FACT_KEY", private.clone());
    let outcome = lock(&lab, ROOTS).exits(0);
    assert!(!outcome.stderr.contains("s3://"), "{}", outcome.stderr);
    let mut log = bucket.take_log();
    log.sort();
    assert_eq!(log, ["GET 404", "GET 404", "PUT 200", "PUT 200"]);
    let locked = FILES.map(|file| lab.read(file));
    let mut shared = Shared {
        bucket,
        registry,
        lab,
        private,
        locked,
    };
    shared.next_machine("second");
    shared
}

impl Shared {
    /// Goes to a machine without facts, without a private key and without lock files.
    fn next_machine(&mut self, dir: &str) {
        move_to(&mut self.lab, dir);
        for file in FILES {
            let _ = std::fs::remove_file(self.lab.path(file));
        }
    }

    /// Locks; returns the number of downloads, and what was reported.
    #[track_caller]
    fn lock(&self, more: &[&str]) -> (usize, String) {
        let before = downloads(&self.registry);
        let outcome = lock(&self.lab, &[ROOTS, more].concat()).exits(0);
        assert_eq!(
            FILES.map(|file| self.lab.read(file)),
            self.locked,
            "no byte depends on the store"
        );
        (downloads(&self.registry) - before, outcome.stderr)
    }
}

#[test]
fn a_bucket_serves_as_a_store() {
    let mut shared = shared();
    let (downloaded, said) = shared.lock(&[]);
    assert_eq!(downloaded, 0);
    assert!(said.contains("2 h1: are attested by ci.example+"), "{said}");
    assert_eq!(shared.bucket.take_log(), ["GET 200", "GET 200"]);
    let outcome = shared
        .lab
        .run(&[&["verify", "b"], &ROOTS[2..]].concat())
        .exits(0);
    assert!(outcome.stdout.contains(": ok; "), "{}", outcome.stdout);

    // A public bucket is a store on the web.
    shared.next_machine("third");
    shared.lab.set("LOCKCTL_STORE", shared.bucket.web_url());
    assert_eq!(shared.lock(&[]).0, 0);
    shared.lab.env.vars.remove("LOCKCTL_STORE");

    // What another platform needs is added, although others write at the same moment.
    shared.next_machine("fourth");
    shared.lab.set("LOCKCTL_FACT_KEY", shared.private.clone());
    shared.bucket.take_log();
    shared.bucket.set_collisions(2);
    let outcome = lock(&shared.lab, &[".", "b", "--platform", "linux_arm64"]).exits(0);
    assert!(!outcome.stderr.contains("s3://"), "{}", outcome.stderr);
    let refused = shared.bucket.take_log().concat().matches("PUT 409").count();
    assert_eq!(refused, 2);
    assert_eq!(
        shared.bucket.versions().into_values().collect::<Vec<_>>(),
        [2, 2]
    );

    shared.next_machine("fifth");
    assert_eq!(shared.lock(&[]).0, 0, "objects only grow");

    shared.next_machine("sixth");
    shared.lab.set("AWS_SECRET_ACCESS_KEY", "another");
    let (downloaded, said) = shared.lock(&[]);
    assert_eq!(downloaded, 4);
    assert_eq!(
        said.matches("the run went on without it").count(),
        1,
        "{said}"
    );
}

/// Opens the objects of a bucket.
fn with_objects<T>(bucket: &Bucket, url: &str, work: impl FnOnce(&dyn SharedObjects) -> T) -> T {
    let mut lab = Lab::new();
    bucket.let_in(&mut lab);
    let http = RealHttp::new(&lab.env);
    let objects = http.bucket(&url.parse().unwrap()).unwrap();
    work(&*objects)
}

#[test]
fn objects_are_listed_in_parts_and_removed() {
    for url in [URL, "s3://box"] {
        let bucket = Bucket::start();
        with_objects(&bucket, url, |objects| {
            let keys = ["a/1", "a/2", "a/3", "a/b/4", "a/b/5"];
            for key in keys.iter().chain(&["ab/6"]) {
                assert!(objects.put(key, b"x", None).unwrap());
            }
            assert_eq!(objects.list("a").unwrap(), keys, "{url}");
            let object = objects.get("a/1", 1).unwrap().unwrap();
            for _ in 0..2 {
                assert!(objects.remove("a/1", Some(&object)).unwrap());
            }
            assert_eq!(objects.get("a/1", 1).unwrap(), None);
            assert_eq!(objects.list("a").unwrap(), keys[1..]);
            let too_large = objects.get("a/2", 0).unwrap_err();
            assert_eq!(too_large.kind(), std::io::ErrorKind::FileTooLarge);
        });
        let gc = ["cache", "gc", "--store", url, "--older-than", "1y"];
        let mut lab = Lab::new();
        bucket.let_in(&mut lab);
        let stdout = lab.run(&gc).exits(0).stdout;
        assert!(
            stdout.ends_with("removed 0 objects; 0 are left\n"),
            "{stdout}"
        );
    }
}

#[test]
fn an_object_is_replaced_only_as_it_was_read() {
    let bucket = Bucket::start();
    with_objects(&bucket, URL, |objects| {
        let put = |bytes: &[u8], over: Option<_>| objects.put("a/b", bytes, over).unwrap();
        let get = || objects.get("a/b", 10).unwrap();
        assert!(put(b"1", None) && !put(b"2", None));
        let first = get();
        assert!(put(b"12", first.as_ref()) && !put(b"13", first.as_ref()));
        assert_eq!(get().unwrap().bytes, b"12");
        // A service without conditions loses what the first of two writers has added.
        bucket.set_manner(Manner::IgnoresConditions);
        assert!(put(b"13", first.as_ref()));
        assert_eq!(get().unwrap().bytes, b"13");
    });
}

#[test]
fn writers_at_the_same_moment_lose_nothing() {
    const WRITERS: usize = 24;
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    let bucket = Bucket::start();
    let (private, public) = key(&Lab::new(), "ci.example");
    let platforms = [
        "linux_amd64",
        "linux_arm64",
        "darwin_arm64",
        "windows_amd64",
    ];
    let machine = || {
        let mut lab = Lab::new();
        point_at(&mut lab, &registry);
        bucket.let_in(&mut lab);
        project_at(&lab, URL, &[&public]);
        lab.write("main.tf", DEMO);
        lab
    };
    std::thread::scope(|scope| {
        for number in 0..WRITERS {
            let mut lab = machine();
            lab.set("LOCKCTL_FACT_KEY", private.clone());
            scope.spawn(move || {
                let outcome = lock(&lab, &["--platform", platforms[number % 4]]).exits(0);
                assert!(!outcome.stderr.contains("s3://"), "{}", outcome.stderr);
            });
        }
    });
    let puts = bucket
        .take_log()
        .into_iter()
        .filter(|entry| entry.starts_with("PUT"));
    // Each of four platforms is added once; the others of a round meet it at most once each time.
    assert!(puts.count() <= WRITERS * 4);
    let before = downloads(&registry);
    let outcome = lock(&machine(), &["--platform", &platforms.join(",")]).exits(0);
    assert_eq!(downloads(&registry), before, "{}", outcome.stderr);
}

#[test]
fn facts_that_a_bucket_lost_are_computed_again() {
    let mut shared = shared();
    shared.lab.set("LOCKCTL_FACT_KEY", shared.private.clone());
    let third = &["--platform", "linux_arm64"];
    assert_exit(&lock(&shared.lab, &[ROOTS, third].concat()), 0);
    shared.locked = FILES.map(|file| shared.lab.read(file));
    shared.bucket.roll_back();
    for (machine, manner, downloaded, writes) in [
        ("third", Manner::FirstVersions, 2, 24),
        ("fourth", Manner::Sound, 2, 2),
        ("fifth", Manner::Sound, 0, 0),
    ] {
        shared.next_machine(machine);
        shared.lab.set("LOCKCTL_FACT_KEY", shared.private.clone());
        shared.bucket.set_manner(manner);
        shared.bucket.take_log();
        let (found, said) = shared.lock(third);
        assert_eq!(found, downloaded, "{machine}");
        let puts = shared.bucket.take_log().concat().matches("PUT").count();
        assert_eq!(puts, writes, "{machine}");
        let outrun = said
            .matches("other machines changed it all the time")
            .count();
        assert_eq!(outrun, if writes > 2 { 2 } else { 0 }, "{said}");
    }
}

/// Locks and verifies with a server that does wrong: both end well in time, and say so once.
#[track_caller]
fn check(shared: &mut Shared, machine: &str, said: &str, times: usize) {
    shared.next_machine(machine);
    shared.bucket.take_log();
    let start = Instant::now();
    let (downloaded, stderr) = shared.lock(&[]);
    let took = start.elapsed();
    assert_eq!(downloaded, 4, "{stderr}");
    assert_eq!(stderr.matches(said).count(), times, "{said:?} in {stderr}");
    let requests = shared.bucket.take_log().len();
    assert!(requests <= 2, "{requests} requests");
    let limit = 2 * SHARED_TIME_LIMIT;
    assert!(took < limit, "{took:?}");
    // On an empty machine the lock file alone has to do.
    move_to(&mut shared.lab, &format!("{machine}-verify"));
    let start = Instant::now();
    let outcome = shared.lab.run(&["verify", ".", "b"]).exits(0);
    assert!(start.elapsed() < limit, "{:?}", start.elapsed());
    assert_eq!(
        outcome.stderr.matches(said).count(),
        times,
        "{}",
        outcome.stderr
    );
}

/// Faults of a server with what a run reports about each, and how often.
const FAULTS: [(Manner, &str, usize); 5] = [
    (
        Manner::NeverAnswers,
        "the run went on without it: no answer within",
        1,
    ),
    (
        Manner::Drips,
        "the run went on without it: no answer within",
        1,
    ),
    (
        Manner::Floods,
        "was ignored: it has more than 262144 bytes",
        2,
    ),
    (Manner::Redirects, "302", 1),
    (
        Manner::OtherObjects,
        "4 facts were ignored: the object is that of another release",
        1,
    ),
];

#[test]
fn a_bucket_that_does_wrong_costs_one_time_out() {
    let mut shared = shared();
    for (manner, said, times) in FAULTS {
        shared.bucket.set_manner(manner);
        check(&mut shared, &format!("{manner:?}"), said, times);
    }
}

#[test]
fn a_web_server_that_does_wrong_costs_one_time_out() {
    let mut shared = shared();
    let url = shared.bucket.web_url();
    shared.lab.set("LOCKCTL_STORE", url);
    shared.lab.hurry = 4;
    for (manner, said, times) in FAULTS {
        shared.bucket.set_manner(manner);
        check(&mut shared, &format!("{manner:?}"), said, times);
    }
}
