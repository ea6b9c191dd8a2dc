//! Many processes at once over one store of facts and some roots; some are killed, some find no space left.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::os::{RealClock, RealDisk};
use lockctl::store::Store;
use lockctl::world::Disk as _;

use crate::lab::zip_of;
use crate::registry::{Origin, Registry};

const ROOTS: usize = 20;
const TYPES: [&str; 3] = ["one", "two", "three"];
const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];
const LOCK: &str = ".terraform.lock.hcl";

/// How many processes there are, unless `LOCKCTL_STRESS` says so.
const PROCESSES: usize = 60;

/// What becomes of a process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It may end by itself.
    Ends,
    /// It is killed, while it runs.
    Killed,
    /// It can write no file of more than a kilobyte, as on a full disk: no lock file, but some facts.
    WithoutSpace,
}

/// Roots, a registry and a store.
struct Site {
    registry: Registry,
    dir: tempfile::TempDir,
}

impl Site {
    fn new() -> Self {
        let registry = Registry::start();
        for type_name in TYPES {
            for platform in PLATFORMS {
                let name = format!("terraform-provider-{type_name}_v1.0.0");
                let content = format!("{type_name} for {platform}").repeat(1000);
                let zip = zip_of(&[(&name, &content), ("LICENSE", "free")]);
                registry.add_zip(&format!("acme/{type_name}"), "1.0.0", platform, &zip);
            }
        }
        let dir = crate::temp::dir();
        let site = Self { registry, dir };
        let host = format!("localhost:{}", site.registry.port(Origin::Lab));
        let providers =
            TYPES.map(|name| format!("{name} = {{ source = \"{host}/acme/{name}\" }}\n"));
        let config = format!(
            "terraform {{\nrequired_providers {{\n{}}}\n}}\n",
            providers.concat()
        );
        for root in 0..=ROOTS {
            std::fs::create_dir_all(site.root(root)).unwrap();
            std::fs::write(site.root(root).join("main.tf"), &config).unwrap();
        }
        site
    }

    /// A root; the last one is outside of the directory of the others.
    fn root(&self, number: usize) -> PathBuf {
        match number {
            ROOTS => self.dir.path().join("reference"),
            number => self.dir.path().join(format!("roots/{number:02}")),
        }
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.dir.path())
            .env_clear()
            .env("LOCKCTL_CACHE_DIR", self.store())
            .env("SSL_CERT_FILE", self.registry.ca_file())
            .env("TMPDIR", self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    fn lockctl(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_lockctl"))
    }

    /// Locks one root for some platforms and returns the text of its lock file.
    fn locked(&self, platforms: &[&str]) -> String {
        let mut command = self.lockctl();
        command.args([
            "lock",
            "reference",
            "--no-cache",
            "--platform",
            &platforms.join(","),
        ]);
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let path = self.root(ROOTS).join(LOCK);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        text
    }

    fn start(&self, number: usize, fate: Fate) -> Child {
        let mut command = match fate {
            Fate::WithoutSpace => {
                let mut shell = self.command("/bin/sh");
                shell.env("PATH", "/usr/bin:/bin").args([
                    "-c",
                    "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"",
                    env!("CARGO_BIN_EXE_lockctl"),
                ]);
                shell
            }
            Fate::Ends | Fate::Killed => self.lockctl(),
        };
        let root = self.root(number % ROOTS);
        let mut args = vec!["lock", root.to_str().unwrap()];
        // Some compute every fact anew, so that writers of one fact meet.
        args.extend(number.is_multiple_of(5).then_some("--prove"));
        let platforms = PLATFORMS.join(",");
        args.extend(["--platform", &platforms]);
        command.args(args).spawn().unwrap()
    }
}

fn fate(number: usize) -> Fate {
    match number % 8 {
        1 | 5 => Fate::Killed,
        3 => Fate::WithoutSpace,
        _ => Fate::Ends,
    }
}

/// Every file below a directory whose name begins like those of temporary files.
fn temporary(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if name.starts_with(".lockctl-") || name.starts_with(".tmp") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn many_processes_share_a_store_whatever_becomes_of_them() {
    let site = Site::new();
    let (old, new) = (site.locked(&PLATFORMS[..1]), site.locked(&PLATFORMS));
    for number in (0..ROOTS).step_by(2) {
        std::fs::write(site.root(number).join(LOCK), &old).unwrap();
    }
    let count = std::env::var("LOCKCTL_STRESS").ok();
    let count = count.map_or(PROCESSES, |count| count.parse().unwrap());
    let mut running: Vec<(usize, Fate, Child)> = Vec::new();
    let mut killed = 0;
    for number in 0..count {
        running.push((number, fate(number), site.start(number, fate(number))));
        // A victim has none to three later processes beside it when it is killed, so the moments are
        // spread over its work, and some victims are alive however fast the machine is.
        for (victim, fate, child) in &mut running {
            if *fate == Fate::Killed && *victim + (*victim / 4) % 4 == number {
                killed += usize::from(child.try_wait().unwrap().is_none());
                child.kill().unwrap();
            }
        }
    }
    let mut refused = 0;
    for (number, fate, child) in running {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        match fate {
            Fate::Ends => assert_eq!(output.status.code(), Some(0), "{number}: {said}"),
            // That it has no space left to write to is the only thing that went wrong.
            Fate::WithoutSpace if output.status.success() => {}
            Fate::WithoutSpace => {
                assert_eq!(output.status.code(), Some(2), "{number}: {said}");
                refused += 1;
            }
            Fate::Killed => {}
        }
    }
    println!("{count} processes: {killed} killed at work, {refused} without space");
    assert!(killed > 0 && refused > 0, "some met their fate");

    for number in 0..ROOTS {
        match std::fs::read_to_string(site.root(number).join(LOCK)) {
            Ok(text) => assert!(text == old || text == new, "root {number}: {text}"),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        }
    }
    // The next run finds everything known, and leaves nothing temporary behind.
    let before = site.registry.entries().len();
    let mut command = site.lockctl();
    command.args(["lock", "--platform", &PLATFORMS.join(",")]);
    command.args((0..ROOTS).map(|number| site.root(number)));
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let asked = &site.registry.entries()[before..];
    assert!(
        !asked.iter().any(|one| one.target.ends_with(".zip")),
        "{asked:?}"
    );
    for number in 0..ROOTS {
        let text = std::fs::read_to_string(site.root(number).join(LOCK)).unwrap();
        assert_eq!(text, new, "root {number}");
    }
    assert_eq!(temporary(site.dir.path()), Vec::<PathBuf>::new());
    check_facts(&site);
}

/// Makes sure that the store holds what the packages of the registry have, and nothing else.
fn check_facts(site: &Site) {
    let mut expected = BTreeMap::new();
    for type_name in TYPES {
        for platform in PLATFORMS {
            let name = format!("terraform-provider-{type_name}_v1.0.0");
            let content = format!("{type_name} for {platform}").repeat(1000);
            let zip = zip_of(&[(&name, &content), ("LICENSE", "free")]);
            let hashes = hash_zip(std::io::Cursor::new(zip), &Limits::PACKAGE).unwrap();
            expected.insert(hashes.zh, hashes.h1);
        }
    }
    let store = Store::new(RealDisk.objects(&site.store()), &RealClock);
    let inventory = store.inventory().unwrap();
    // Whoever writes last has read what the others wrote, or knows as much.
    assert_eq!(inventory.releases.len(), TYPES.len());
    for stored in &inventory.releases {
        assert_eq!(stored.release.packages.len(), PLATFORMS.len());
        assert_eq!(stored.release.unseen(), 0, "{}", stored.release.provider);
    }
    let facts = inventory.facts.into_iter().map(|one| one.fact);
    let facts: BTreeMap<_, _> = facts.map(|fact| (fact.zh, fact.h1)).collect();
    assert_eq!(facts, expected);
    assert_eq!(store.notes(), [""; 0]);
}
