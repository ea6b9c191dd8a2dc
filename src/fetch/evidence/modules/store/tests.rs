//! Tests of the store without a network: what is on the disk, and what is refused.

use std::io;
#[cfg(not(windows))]
use std::path::Path;
use std::sync::Condvar;
use std::time::Duration;

use super::*;
use crate::remote_module::ModuleFailureKind as Kind;
use crate::remote_module::PinRequest;
use crate::world::mem::{MemEnv, MemFiles, MemRun};
use crate::world::{Ended, Invocation, Run};

const FLAVOR: Flavor = Flavor::Terraform1_11;

/// Finds the module of a source on a disk.
fn find(disk: &MemFiles, source: &str) -> Result<FoundModule, ModuleFailure> {
    let (run, env) = (MemRun::nothing(), MemEnv::default());
    let world = GitWorld {
        run: &run,
        disk,
        env: &env,
    };
    let store = ModuleStore::new(ModuleAccess::Fetched, world, Box::new(|_| None), None);
    let module = RemoteModule::parse(source).expect("valid");
    store.find(&ModuleRequest {
        source: RequestedSource::Remote(&module),
        flavor: FLAVOR,
        pin: PinRequest::Unused,
    })
}

#[track_caller]
fn check_kind(source: &str, kind: Kind, title: &str) {
    let failure = find(&MemFiles::default(), source)
        .map(drop)
        .expect_err("there is none");
    assert_eq!(
        (failure.kind, failure.title),
        (kind, title),
        "{source}: {failure}"
    );
}

// On Windows a path without a drive is not absolute.
#[cfg(not(windows))]
#[test]
fn a_directory_of_this_machine_is_a_package() {
    let disk = MemFiles::with(&[
        ("/abs/m/main.tf", "a"),
        ("/abs/m/x/y.tf", "b"),
        ("/abs/m/.git/config", "c"),
        ("/abs/m/.terraform/modules/modules.json", "d"),
    ]);
    for source in ["/abs/m", "file:///abs/m", "file://./abs/m", "/abs/m//x/.."] {
        let module = find(&disk, source).expect("found");
        let read = module.files.read(&module.dir.join("main.tf"), 9);
        assert_eq!(read.expect("read"), b"a", "{source}");
        for left_out in [".git/config", ".terraform/modules"] {
            assert!(
                module.files.kind(Path::new(left_out)).is_err(),
                "{left_out}"
            );
        }
    }
    let module = find(&disk, "/abs/m//x").expect("found");
    assert_eq!(module.dir, Path::new("x"));
}

#[test]
fn what_cannot_be_fetched_says_so() {
    for (source, kind) in [
        ("/abs/none", Kind::Missing),
        ("file:./m", Kind::Missing),
        ("ftp://h.test/m.zip", Kind::Missing),
        ("C:\\m", Kind::Missing),
        ("https://h.test/m.gz", Kind::Missing),
        ("https://h.test/m?checksum=md5:00", Kind::Missing),
        ("https://h.test/m.zip?checksum=blake2:00", Kind::Missing),
        ("s3::https://s3.amazonaws.com/b/k.zip", Kind::Unsupported),
        (
            "gcs::https://www.googleapis.com/storage/v1/b/k",
            Kind::Unsupported,
        ),
        ("oci://h.test/r", Kind::Missing),
        ("hg::https://h.test/r", Kind::Unsupported),
        ("https://h.test/m.zip", Kind::Unreachable),
        ("git::ext::sh -c id", Kind::Refused("module-unsafe")),
        ("git::https://h.test/r.git?archive=zip", Kind::Missing),
        ("git::https://h.test/r.git?checksum=md5:00", Kind::Missing),
        (
            "git::https://h.test/r.git?ref=-x",
            Kind::Refused("module-unsafe"),
        ),
        ("git::https://h.test/r.git", Kind::Unreachable),
    ] {
        let title = match kind {
            Kind::Unsupported => "Unsupported kind of module source",
            _ => "Failed to download module",
        };
        check_kind(source, kind, title);
    }
}

#[test]
fn servers_do_not_choose_everything() {
    let permitted = |text: &str, origin| {
        let module = RemoteModule::parse(text).expect("valid");
        permit(&module, origin).is_ok()
    };
    for text in ["file:///etc", "file::/etc", "git::file:///r", "FILE:///etc"] {
        assert!(permitted(text, AddressOrigin::User), "{text}");
        assert!(!permitted(text, AddressOrigin::Server), "{text}");
        assert!(!permitted(text, AddressOrigin::PlainServer), "{text}");
    }
    for text in ["http://h.test/x.zip", "git::http://h.test/r"] {
        assert!(!permitted(text, AddressOrigin::Server), "{text}");
        assert!(permitted(text, AddressOrigin::PlainServer), "{text}");
    }
    for text in [
        "https://h.test/x//..",
        "git::ext::sh",
        "git::https://h.test/r?ref=-x",
    ] {
        assert!(!permitted(text, AddressOrigin::User), "{text}");
    }
}

/// A git that does nothing before it has been started twice.
#[derive(Default)]
struct Meeting {
    started: Mutex<usize>,
    both: Condvar,
}

impl Run for Meeting {
    fn run(&self, _: &Invocation<'_>) -> io::Result<Ended> {
        let mut started = self.started.lock().expect("no thread panics");
        *started += 1;
        self.both.notify_all();
        let long = Duration::from_secs(20);
        let waited = self.both.wait_timeout_while(started, long, |n| *n < 2);
        let (_started, waited) = waited.expect("no thread panics");
        assert!(!waited.timed_out(), "the other one waits for this one");
        Err(io::ErrorKind::NotFound.into())
    }
}

#[test]
fn what_is_announced_is_found_side_by_side_and_once() {
    let (run, disk, env) = (Meeting::default(), MemFiles::default(), MemEnv::default());
    let world = GitWorld {
        run: &run,
        disk: &disk,
        env: &env,
    };
    let modules = ["git::https://h.test/a", "git::https://h.test/b"];
    let modules = modules.map(|text| RemoteModule::parse(text).expect("valid"));
    let requests = modules.each_ref().map(|module| ModuleRequest {
        source: RequestedSource::Remote(module),
        flavor: FLAVOR,
        pin: PinRequest::Unused,
    });
    let store = ModuleStore::new(ModuleAccess::Cached, world, Box::new(|_| None), None);
    store.prepare(&requests);
    assert_eq!(*run.started.lock().expect("no thread panics"), 0);
    let store = ModuleStore::new(ModuleAccess::Fetched, world, Box::new(|_| None), None);
    store.prepare(&requests);
    assert_eq!(*run.started.lock().expect("no thread panics"), 2);
    for request in &requests {
        let failure = store.find(request).map(drop).expect_err("there is no git");
        assert_eq!(failure.title, "Failed to download module");
    }
    assert_eq!(*run.started.lock().expect("no thread panics"), 2);
}
