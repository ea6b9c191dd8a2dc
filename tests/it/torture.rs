//! `lock`, `update`, `cache` and `merge`, disturbed at random: faults of the network, signals, a full disk.
//!
//! After each disturbed run every file is as before or as it should become, and nothing else; nothing temporary
//! stays, unless the run was killed; the store holds what is true. The same command once more, undisturbed, ends
//! as if there had been no disturbance.
//!
//! | Variable | For |
//! |---|---|
//! | `LOCKCTL_TORTURE` | number of disturbed runs |
//! | `LOCKCTL_TORTURE_SEED` | seed of the first one; each has its own |
//! | `LOCKCTL_TORTURE_PROGRAM` | another build of the program |
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::os::{RealClock, RealDisk};
use lockctl::store::Store;
use lockctl::world::Disk as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::lab::zip_of;
use crate::registry::{Origin, Registry};
use crate::seed::{Seed, number_from};

const TYPES: [&str; 2] = ["one", "two"];
const VERSIONS: [&str; 2] = ["1.0.0", "1.1.0"];
const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];
const LOCK: &str = ".terraform.lock.hcl";
const BOTH: &str = "linux_amd64,darwin_arm64";

/// Number of disturbed runs, unless `LOCKCTL_TORTURE` says so.
const RUNS: u64 = 60;

/// Time limit of any run; the longest pause of the registry is a fraction of a second.
const MAX_TIME: Duration = Duration::from_secs(60);

const SIGNALS: [Signal; 6] = [
    Signal::KILL,
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
];

/// A command with what it starts from.
struct Scenario {
    args: &'static [&'static str],
    /// The file that it writes.
    file: Option<&'static str>,
    before: Option<String>,
    after: Option<String>,
}

/// A registry, a root, a store.
struct Site {
    registry: Registry,
    dir: tempfile::TempDir,
    /// The proven hashes of all packages.
    facts: BTreeMap<String, String>,
}

/// Numbers of runs by what became of them.
#[derive(Default)]
struct Tally {
    kinds: BTreeMap<String, usize>,
    faults: Vec<String>,
}

fn package(type_name: &str, version: &str, platform: &str) -> Vec<u8> {
    let name = format!("terraform-provider-{type_name}_v{version}");
    let content = format!("{type_name} {version} for {platform}\n").repeat(500);
    zip_of(&[(&name, &content), ("LICENSE", "free")])
}

impl Site {
    fn new() -> Self {
        let site = Self {
            registry: Registry::start(),
            dir: crate::temp::dir(),
            facts: BTreeMap::new(),
        };
        for below in ["root", "tmp", "home"] {
            fs::create_dir(site.path(below)).unwrap();
        }
        let host = format!("localhost:{}", site.registry.port(Origin::Lab));
        let providers =
            TYPES.map(|name| format!("{name} = {{ source = \"{host}/acme/{name}\" }}\n"));
        let config = format!(
            "terraform {{\nrequired_providers {{\n{}}}\n}}\n",
            providers.concat()
        );
        fs::write(site.path("root/main.tf"), config).unwrap();
        site
    }

    fn publish(&mut self, version: &str) {
        for type_name in TYPES {
            for platform in PLATFORMS {
                let zip = package(type_name, version, platform);
                let source = format!("acme/{type_name}");
                self.registry.add_zip(&source, version, platform, &zip);
                let hashes = hash_zip(std::io::Cursor::new(zip), &Limits::PACKAGE).unwrap();
                self.facts
                    .insert(hashes.zh.to_string(), hashes.h1.to_string());
            }
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// The program, or a shell that starts it with a limit for files.
    fn command(&self, blocks: Option<(u32, bool)>, args: &[&str]) -> Command {
        let program = std::env::var_os("LOCKCTL_TORTURE_PROGRAM")
            .unwrap_or_else(|| env!("CARGO_BIN_EXE_lockctl").into());
        let mut command = match blocks {
            None => Command::new(program),
            Some((blocks, is_survived)) => {
                let trap = if is_survived { "trap '' XFSZ; " } else { "" };
                let mut shell = Command::new("/bin/sh");
                let script = format!("{trap}ulimit -f {blocks}; exec \"$0\" \"$@\"");
                shell.args(["-c", &script]).arg(program);
                shell
            }
        };
        command
            .args(args)
            .current_dir(self.path("root"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("LOCKCTL_CACHE_DIR", self.path("store"))
            .env("SSL_CERT_FILE", self.registry.ca_file())
            // The wait between two attempts takes a second and more.
            .env("TF_REGISTRY_DISCOVERY_RETRY", "0")
            .env("TF_PROVIDER_DOWNLOAD_RETRY", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command that is not disturbed.
    #[track_caller]
    fn undisturbed(&self, args: &[&str]) -> String {
        self.registry.reset(&json!({}));
        let output = self.command(None, args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path("root").join(file)).ok()
    }

    /// Makes a file of the root as it was, or removes it.
    fn put(&self, file: &str, content: Option<&str>) {
        let path = self.path("root").join(file);
        match content {
            Some(content) => fs::write(path, content).unwrap(),
            None => match fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
                _ => {}
            },
        }
    }

    /// What all scenarios start from, and what they end with when nothing disturbs them.
    fn scenarios(&mut self) -> Vec<Scenario> {
        let lock = |site: &Self, args: &[&str]| {
            site.undisturbed(args);
            site.read(LOCK).unwrap()
        };
        self.publish(VERSIONS[0]);
        let partial = lock(self, &["lock", "--platform", PLATFORMS[0]]);
        let full = lock(self, &["lock", "--platform", BOTH]);
        self.publish(VERSIONS[1]);
        self.put(LOCK, None);
        let newest = lock(self, &["lock", "--platform", BOTH]);
        for (file, content) in [("base.hcl", &partial), ("theirs.hcl", &newest)] {
            self.put(file, Some(content));
        }
        self.undisturbed(&["cache", "export", "facts.txt"]);
        fs::remove_dir_all(self.path("store")).unwrap();
        self.undisturbed(&["cache", "import", "facts.txt"]);
        self.undisturbed(&["cache", "export", "--imported", "export.txt"]);
        let exported = self.read("export.txt").unwrap();
        let scenario = |args, file, before: Option<&str>, after: Option<&str>| Scenario {
            args,
            file,
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let lock_file = Some(LOCK);
        vec![
            scenario(
                &["lock", "--platform", BOTH],
                lock_file,
                None,
                Some(&newest),
            ),
            scenario(
                &["lock", "--platform", BOTH],
                lock_file,
                Some(&partial),
                Some(&full),
            ),
            scenario(
                &["lock", "--platform", BOTH, "--confine", "."],
                lock_file,
                Some(&partial),
                Some(&full),
            ),
            scenario(
                &["update", "--platform", BOTH],
                lock_file,
                Some(&full),
                Some(&newest),
            ),
            scenario(
                &["update", "--platform", BOTH],
                lock_file,
                Some(&partial),
                Some(&newest),
            ),
            scenario(
                &["merge", "base.hcl", LOCK, "theirs.hcl"],
                lock_file,
                Some(&partial),
                Some(&newest),
            ),
            scenario(&["cache", "import", "facts.txt"], None, None, None),
            scenario(&["cache", "clean", "--all"], None, None, None),
            scenario(
                &["cache", "export", "--imported", "export.txt"],
                Some("export.txt"),
                Some(exported.lines().next().unwrap()),
                Some(&exported),
            ),
        ]
    }

    /// Every temporary file below the directory.
    fn temporary(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path("root"), self.path("tmp"), self.path("store")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if path.is_dir() {
                    open.push(path.clone());
                }
                if path.starts_with(self.path("tmp")) || name.starts_with(".lockctl-") {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Says what is wrong with the store.
    fn store_fault(&self) -> Option<String> {
        let store = Store::new(RealDisk.objects(&self.path("store")), &RealClock);
        let inventory = match store.inventory() {
            Ok(inventory) => inventory,
            Err(error) => return Some(format!("the store cannot be read: {error}")),
        };
        let notes = store.notes();
        if !notes.is_empty() {
            return Some(format!("the store is not sound: {notes:?}"));
        }
        if !inventory.broken.is_empty() {
            return Some(format!(
                "objects of the store are torn: {:?}",
                inventory.broken
            ));
        }
        let facts = inventory.facts.into_iter();
        let mut facts = facts.map(|one| (one.fact.zh.to_string(), one.fact.h1.to_string()));
        facts
            .find(|(zh, h1)| self.facts.get(zh) != Some(h1))
            .map(|fact| format!("a false fact: {fact:?}"))
    }
}

/// A rule of the registry for some of the answers.
fn rule(seed: &mut Seed) -> Value {
    let actions = [
        "reset",
        "close",
        "reset_mid",
        "truncate",
        "flip",
        "slow",
        "stall",
        "html",
        "bad_json",
        "503",
        "404",
        "429",
        "wrong_checksum",
        "bad_signature",
        "other_key",
        "garbage_signature",
    ];
    let kinds = [
        "discovery",
        "versions",
        "download",
        "package",
        "shasums",
        "signature",
        "*",
    ];
    json!({"rules": [{
        "kind": seed.pick(&kinds),
        "action": seed.pick(&actions),
        "skip": seed.below(3),
        "times": seed.pick(&[1, 2, -1]),
        // A package of some hundred bytes takes a fraction of a second.
        "rate": 20_000,
        "seconds": 0.05,
    }]})
}

/// Runs a command, and sends it a signal in the middle of its work.
fn disturbed(mut command: Command, signal: Option<(Signal, Duration)>) -> (Output, bool) {
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut is_sent = false;
    if let Some((signal, wait)) = signal {
        thread::sleep(wait);
        // The process is not waited for yet, so that no other one has its number.
        is_sent = child.try_wait().unwrap().is_none()
            && kill_process(Pid::from_child(&child), signal).is_ok();
    }
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < MAX_TIME, "{:?}", start.elapsed());
    (output, is_sent)
}

impl Tally {
    /// Disturbs one run and looks at what it leaves behind.
    fn run(&mut self, number: u64, site: &Site, scenarios: &[Scenario]) {
        let mut seed = Seed::new(number);
        let scenario = seed.pick(scenarios);
        site.registry.reset(&json!({}));
        // What is in the store is not downloaded.
        let is_export = scenario.args[1] == "export";
        if seed.below(3) > 0 || is_export {
            fs::remove_dir_all(site.path("store")).ok();
        }
        if is_export {
            site.undisturbed(&["cache", "import", "facts.txt"]);
        }
        if let Some(file) = scenario.file {
            site.put(file, scenario.before.as_deref());
        }
        let (mut kinds, mut signal, mut blocks) = (vec![scenario.args[0]], None, None);
        let how = seed.below(8);
        if how < 3 || how == 7 {
            site.registry.reset(&rule(&mut seed));
            kinds.push("fault");
        }
        if (3..6).contains(&how) || how == 7 {
            let longest = 10_u64 << seed.below(5);
            let wait = Duration::from_micros(seed.next() % (longest * 1000));
            signal = Some((*seed.pick(&SIGNALS), wait));
            kinds.push("signal");
        }
        if how == 6 {
            blocks = Some((seed.below(5) as u32, seed.below(2) == 0));
            kinds.push("full disk");
        }
        let (output, is_sent) = disturbed(site.command(blocks, scenario.args), signal);
        *self.kinds.entry(kinds.join(", ")).or_default() += 1;
        if is_sent {
            *self.kinds.entry("signals in time".to_owned()).or_default() += 1;
        }
        let mut faults = BTreeSet::new();
        self.check(site, scenario, &output, signal, blocks, &mut faults);
        // Once more, undisturbed.
        site.registry.reset(&json!({}));
        let again = site.command(None, scenario.args).output().unwrap();
        if again.status.code() != Some(0) {
            let said = String::from_utf8_lossy(&again.stderr).into_owned();
            faults.insert(format!("lost: the run after it fails: {said}"));
        }
        if let Some(file) = scenario.file
            && site.read(file) != scenario.after
        {
            let now = site.read(file);
            faults.insert(format!("wrong: the run after it writes {now:?}"));
        }
        // Those of a process that was killed are removed by the next one that writes there.
        let left = site.temporary();
        if !left.is_empty() {
            faults.insert(format!("temporary: the run after it leaves {left:?}"));
        }
        for path in left {
            fs::remove_file(&path)
                .or_else(|_| fs::remove_dir_all(&path))
                .unwrap();
        }
        faults.extend(site.store_fault());
        for fault in faults {
            let said = String::from_utf8_lossy(&output.stderr);
            self.faults.push(format!(
                "seed {number}: {:?}, {kinds:?}, {signal:?}, {blocks:?}: {fault}\n{}: {said}",
                scenario.args, output.status
            ));
        }
    }

    fn check(
        &self,
        site: &Site,
        scenario: &Scenario,
        output: &Output,
        signal: Option<(Signal, Duration)>,
        blocks: Option<(u32, bool)>,
        faults: &mut BTreeSet<String>,
    ) {
        let said = String::from_utf8_lossy(&output.stderr);
        let ended_by = output.status.signal();
        let is_expected = match (output.status.code(), ended_by) {
            // git wants more than 128 of a merge driver that fails (gitattributes(5)).
            (Some(129), _) => scenario.args[0] == "merge",
            (Some(code), _) => code <= 2,
            (None, by) => {
                by == signal.map(|(signal, _)| signal.as_raw())
                    || matches!(blocks, Some((_, false))) && by == Some(Signal::XFSZ.as_raw())
            }
        };
        if !is_expected || said.contains("panicked") || said.contains("this is a bug") {
            faults.insert(format!("wrong: it ends with {}", output.status));
        }
        if let Some(file) = scenario.file {
            let now = site.read(file);
            if now != scenario.before && now != scenario.after {
                faults.insert(format!("torn: {file} is {now:?}"));
            }
            if output.status.code() == Some(0) && now != scenario.after {
                faults.insert(format!("lost: {file} is {now:?}, and the exit code is 0"));
            }
            if matches!(output.status.code(), Some(2 | 129)) && now != scenario.before {
                faults.insert(format!("wrong: {file} is {now:?}, and it fails"));
            }
            if said.contains("nothing was written") && now != scenario.before {
                faults.insert("wrong: it says that nothing was written".to_owned());
            }
            if said.contains("was written completely") && now != scenario.after {
                faults.insert("wrong: it says that the file was written".to_owned());
            }
        }
        let left = site.temporary();
        if !left.is_empty() && ended_by != Some(Signal::KILL.as_raw()) {
            faults.insert(format!("temporary: {left:?}"));
        }
        faults.extend(site.store_fault());
    }
}

#[test]
fn disturbed_runs_leave_nothing_torn_and_lose_nothing() {
    let runs = number_from("LOCKCTL_TORTURE", RUNS);
    let first = number_from("LOCKCTL_TORTURE_SEED", 1);
    let mut site = Site::new();
    let scenarios = site.scenarios();
    let mut tally = Tally::default();
    let start = Instant::now();
    for number in first..first + runs {
        tally.run(number, &site, &scenarios);
        if number % 1000 == 0 {
            println!("{number}: {} faults", tally.faults.len());
        }
    }
    println!(
        "{runs} disturbed runs from seed {first}, {} s: {} faults; {:?}",
        start.elapsed().as_secs(),
        tally.faults.len(),
        tally.kinds
    );
    assert!(tally.faults.is_empty(), "{}", tally.faults.join("\n\n"));
}
