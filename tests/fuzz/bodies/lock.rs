//! `lock` with a mirror in memory: with and without facts it writes the same, and what it wrote is complete.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use arbitrary::{Result, Unstructured};
use lockctl::diag::{FileId, has_errors};
use lockctl::flavor::Flavor;
use lockctl::lockfile::{parse, write};
use lockctl::world::Disk;
use lockctl::world::mem::MemFiles;
use serde_json::Value;

use super::program::{Run, lock_file, run as call};
use super::{Budget, locks};
use crate::zips::{Entry, Zip};

const BUDGET: Budget = Budget {
    base_bytes: 64 << 20,
    bytes: 4_000,
    base_allocations: 1_000_000,
    allocations: 4_000,
};

/// The directories of providers in a mirror.
const PROVIDERS: &[&str] = &[
    "registry.terraform.io/hashicorp/aws",
    "registry.terraform.io/hashicorp/null",
    "registry.opentofu.org/hashicorp/aws",
    "registry.opentofu.org/hashicorp/null",
    "example.com/acme/tool",
];

const SOURCES: &[(&str, &str)] = &[
    ("aws", "hashicorp/aws"),
    ("null", "null"),
    ("tool", "example.com/acme/tool"),
];

const VERSIONS: &[&str] = &["1.0.0", "1.0.1", "1.2.0", "2.0.0", "2.0.0-beta1"];

const CONSTRAINTS: &[&str] = &[
    "",
    "1.0.0",
    ">= 1.0",
    "~> 1.0",
    "~> 1.0.0",
    "< 2.0, >= 1.0",
    "!= 1.0.1",
    "2.0.0-beta1",
    "> 2.0",
];

const PLATFORMS: &[&str] = &["linux_amd64", "darwin_arm64", "windows_386"];

/// A root, a mirror, and how the program is asked.
struct Scene {
    files: Vec<(String, Vec<u8>)>,
    flavor: &'static str,
    rules: Flavor,
    offline: bool,
}

pub fn run(data: &[u8]) {
    let Ok(scene) = scene(&mut Unstructured::new(data)) else {
        return;
    };
    let without = scene.files();
    let cold = scene.files();
    let first = BUDGET.spend(data, || scene.call(&without, Facts::Off, &["lock"]));
    let second = scene.call(&cold, Facts::On, &["lock"]);
    assert!(first.code <= 2, "{first:?}");
    let locked = lock_file(&without);
    scene.same(&first, &second, locked.as_deref(), &cold);
    if first.code == 2 {
        assert_eq!(locked, scene.old_lock(), "a failure writes nothing");
    }

    // The same again from the beginning, with the facts of the run before.
    let warm = scene.files();
    let objects = warm.objects(Path::new(CACHE));
    let kept = cold.objects(Path::new(CACHE));
    for object in kept.measure("").expect("memory") {
        let bytes = kept.get(&object.key, u64::MAX).expect("memory");
        objects
            .put(&object.key, &bytes.expect("it is there"))
            .expect("memory");
    }
    drop((objects, kept));
    let third = scene.call(&warm, Facts::On, &["lock"]);
    scene.same(&first, &third, locked.as_deref(), &warm);

    // The program is started four times for this, which is a third of all the time: once is enough.
    if first.code == 0 && data.len().is_multiple_of(2) {
        scene.check_complete(&first, &without, Facts::Off);
    } else if first.code == 0 {
        scene.check_complete(&second, &cold, Facts::On);
    }
    scene.check_findings(&without, &cold);
}

/// The store of facts.
const CACHE: &str = "/top/cache";

#[derive(Clone, Copy, Debug)]
enum Facts {
    On,
    Off,
}

impl Scene {
    fn files(&self) -> MemFiles {
        let files = MemFiles::default();
        let objects = files.objects(Path::new("/top"));
        for (name, bytes) in &self.files {
            objects.put(name, bytes).expect("memory");
        }
        drop(objects);
        files
    }

    fn old_lock(&self) -> Option<Vec<u8>> {
        lock_file(&self.files())
    }

    fn call(&self, files: &MemFiles, facts: Facts, command: &[&str]) -> Run {
        let mut line = command.to_vec();
        line.extend(["--flavor", self.flavor]);
        if matches!(command[0], "lock") {
            if self.offline {
                line.push("--offline");
            } else {
                line.extend(["--fs-mirror", "../mirror"]);
            }
        }
        match facts {
            Facts::On => call(files, &[("LOCKCTL_CACHE_DIR", CACHE)], &line),
            Facts::Off => {
                line.push("--no-cache");
                call(files, &[], &line)
            }
        }
    }

    /// Checks that a run with facts ended as the one without.
    #[track_caller]
    fn same(&self, expected: &Run, run: &Run, locked: Option<&[u8]>, files: &MemFiles) {
        let found = lock_file(files);
        assert!(
            (run.code, found.as_deref()) == (expected.code, locked),
            "without facts: {expected:?}\n{:?}\nwith: {run:?}\n{:?}",
            locked.map(String::from_utf8_lossy),
            found.as_deref().map(String::from_utf8_lossy),
        );
    }

    /// Checks that nothing is left to be done behind `lock`.
    #[track_caller]
    fn check_complete(&self, locking: &Run, files: &MemFiles, facts: Facts) {
        let Some(locked) = lock_file(files) else {
            return;
        };
        let (document, problems) = parse(FileId::ALONE, &locked, self.rules);
        assert!(!has_errors(&problems), "{problems:?}");
        assert_eq!(
            write(&document.lock, self.rules).as_bytes(),
            locked,
            "canonical"
        );
        let commands: [&[&str]; 3] = [&["lock", "--check"], &["lock"], &["fmt", "--check"]];
        for command in commands {
            let run = self.call(files, facts, command);
            assert_eq!(
                run.code,
                0,
                "{command:?} {}{}{}",
                String::from_utf8_lossy(&run.stdout),
                String::from_utf8_lossy(&run.stderr),
                String::from_utf8_lossy(&locked)
            );
            assert_eq!(lock_file(files).as_deref(), Some(&*locked), "{command:?}");
        }
        let verified = self.call(files, facts, &["verify", "--format", "json"]);
        let says =
            String::from_utf8_lossy(&locking.stdout) + String::from_utf8_lossy(&locking.stderr);
        for (rule, provider) in findings(&verified) {
            // A release without a wanted platform, or with one package for two of them: `lock` says so.
            let is_said = rule == "platforms-incomplete" && says.contains("platforms = [");
            // Like the programs, `lock` keeps every recorded hash of a version that it keeps.
            let is_kept = rule == "hash-not-well-formed" && self.old_lock().is_some();
            // More `h1:` than packages: `lock` warns, and keeps them as the programs do.
            let is_warned =
                rule == "hashes-unexplained" && says.contains("belong to no package of the mirror");
            assert!(
                is_said || is_kept || is_warned,
                "{rule} {provider} {says}\n{}",
                String::from_utf8_lossy(&locked)
            );
        }
    }

    /// Checks that facts hide nothing that `verify` finds without them.
    fn check_findings(&self, without: &MemFiles, with: &MemFiles) {
        let verify = ["verify", "--format", "json"];
        let plain = findings(&self.call(without, Facts::Off, &verify));
        let informed = findings(&self.call(with, Facts::On, &verify));
        let hidden: Vec<_> = plain.difference(&informed).collect();
        assert!(hidden.is_empty(), "{hidden:#?} are not in {informed:#?}");
    }
}

/// The rule and the provider of each error and warning.
fn findings(run: &Run) -> BTreeSet<(String, String)> {
    let value: Value = serde_json::from_slice(&run.stdout).expect("one object");
    let roots = value["roots"].as_array().expect("a list of roots");
    roots
        .iter()
        .filter_map(|root| root["findings"].as_array())
        .flatten()
        .filter(|finding| finding["severity"] != "note")
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            (text("rule"), text("provider"))
        })
        .collect()
}

fn scene(input: &mut Unstructured<'_>) -> Result<Scene> {
    let (flavor, rules) = *input.choose(&[
        ("terraform@1.16", Flavor::Terraform1_16),
        ("opentofu@1.12", Flavor::OpenTofu1_12),
        ("terraform@1.11", Flavor::Terraform1_11),
    ])?;
    let mut files = vec![("root/main.tf".to_owned(), configuration(input)?.into())];
    let platforms = &PLATFORMS[..input.int_in_range(1..=PLATFORMS.len())?];
    files.push((
        "root/.lockctl.hcl".to_owned(),
        format!("platforms = {platforms:?}\n").into(),
    ));
    for provider in PROVIDERS {
        for _ in 0..input.int_in_range(0..=2)? {
            package(input, provider, platforms, &mut files)?;
        }
    }
    if input.ratio(1, 3)? {
        let lock = locks::lock_file(input)?;
        files.push((
            "root/.terraform.lock.hcl".to_owned(),
            write(&lock, rules).into(),
        ));
    }
    let offline = input.ratio(1, 16)?;
    Ok(Scene {
        files,
        flavor,
        rules,
        offline,
    })
}

fn configuration(input: &mut Unstructured<'_>) -> Result<String> {
    let mut text = "terraform {\n  required_providers {\n".to_owned();
    for (name, source) in SOURCES {
        if input.ratio(2, 3)? {
            let constraint = input.choose(CONSTRAINTS)?;
            let version = if constraint.is_empty() {
                String::new()
            } else {
                format!(", version = {constraint:?}")
            };
            writeln!(text, "    {name} = {{ source = {source:?}{version} }}").expect("memory");
        }
    }
    text.push_str("  }\n}\n");
    if input.ratio(1, 4)? {
        text.push_str("resource \"null_resource\" \"x\" {}\n");
    }
    if input.ratio(1, 8)? {
        text.push_str("provider \"aws\" { version = \"~> 1.0\" }\n");
    }
    Ok(text)
}

/// A release in the mirror, for most of the platforms, packed or not.
fn package(
    input: &mut Unstructured<'_>,
    provider: &str,
    platforms: &[&str],
    files: &mut Vec<(String, Vec<u8>)>,
) -> Result<()> {
    let name = provider.rsplit('/').next().unwrap_or_default();
    let version = input.choose(VERSIONS)?;
    let is_packed = input.ratio(2, 3)?;
    for platform in platforms {
        if input.ratio(1, 12)? {
            continue;
        }
        let content = [input.int_in_range(b'a'..=b'd')?; 8];
        let program = format!("terraform-provider-{name}_v{version}");
        if is_packed {
            let mut zip = Zip::of([Entry::file(&program, content)]);
            if input.ratio(1, 8)? {
                zip.comment = input.arbitrary()?;
            }
            let mut bytes = zip.bytes();
            if input.ratio(1, 8)? {
                let at = input.choose_index(bytes.len())?;
                bytes[at] = input.arbitrary()?;
            }
            let path =
                format!("mirror/{provider}/terraform-provider-{name}_{version}_{platform}.zip");
            files.push((path, bytes));
        } else {
            let path = format!("mirror/{provider}/{version}/{platform}/{program}");
            files.push((path, content.to_vec()));
        }
    }
    Ok(())
}
