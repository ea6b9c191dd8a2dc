//! Trees of remote modules that are made up: what `lock` writes from nothing against `init` and
//! `providers lock`, and the directories of all modules.
//!
//! `LOCKCTL_PARITY_CASES` says how many are tried, `LOCKCTL_PARITY_SEED` which is the first; each number is
//! the seed of its tree.

mod content;
mod counts;
mod package;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};
use std::time::Instant;

use lockctl::parallel;
use serde_json::{Value, json};

use self::content::{Call, PROVIDERS, Providers, VERSIONS, module_text};
use self::counts::{Counts, KINDS};
use self::package::{Package, Site};
use crate::LOCK;
use crate::dice::Dice;
use crate::lab::Lab;
use crate::module_lab::ModuleLab;
use crate::seed::number_from;
use crate::terraform::Terraform;

/// How many trees are tried, unless `LOCKCTL_PARITY_CASES` states another number.
const CASES: u64 = 12;

/// The first of them, unless `LOCKCTL_PARITY_SEED` states another one.
const SEED: u64 = 1;

const AT_ONCE: NonZeroUsize = NonZeroUsize::new(2).expect("positive");

const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// Modules by their keys: directory and version.
type Modules = BTreeMap<String, (String, Option<String>)>;

/// A root that was made up.
struct Tree {
    seed: u64,
    files: BTreeMap<String, String>,
}

impl Tree {
    fn make_up(seed: u64, site: &mut Site<'_>) -> Self {
        let mut dice = Dice::new(seed);
        let providers = Providers::make_up(&mut dice);
        let mut packages: Vec<Package> = Vec::new();
        for at in 0..2 + dice.below(4) {
            let name = format!("t{seed}p{at}");
            let package = Package::make_up(&mut dice, name, &packages, &providers, site);
            packages.push(package);
        }
        let mut calls = vec![Call::local("", "local/a")];
        for _ in 0..3 + dice.below(5) {
            calls.push(packages[dice.below(packages.len())].call(&mut dice, site));
        }
        let inner = packages[dice.below(packages.len())].call(&mut dice, site);
        let files = [
            ("main.tf", module_text(&mut dice, &providers, &calls)),
            (
                "local/a/main.tf",
                module_text(&mut dice, &providers, &[inner]),
            ),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text));
        Self {
            seed,
            files: files.into(),
        }
    }

    /// Returns the files of one side, for a report.
    fn text(&self) -> String {
        let files = self.files.iter();
        files
            .map(|(path, text)| format!("-- {path} --\n{text}"))
            .collect()
    }
}

/// Both programs, with everything they need.
struct Setting {
    terraform: Terraform,
    servers: ModuleLab,
    lab: Lab,
}

impl Setting {
    fn new(terraform: Terraform) -> Self {
        let (servers, mut lab) = (ModuleLab::start(), Lab::new());
        for (_, provider) in PROVIDERS {
            for version in VERSIONS {
                for platform in PLATFORMS {
                    let package = format!("{provider}/{version}/{platform}");
                    lab.packed("mirror", &package, &package);
                }
            }
        }
        terraform.use_mirror(&lab);
        let ca = servers.ca_file();
        lab.write(
            ".gitconfig",
            format!("[http]\n\tsslCAInfo = {}\n", ca.display()),
        );
        let vars: [(&str, OsString); 5] = [
            ("SSL_CERT_FILE", ca.into()),
            ("SSL_CERT_DIR", "/nonexistent".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("TF_CLI_CONFIG_FILE", lab.path("cli.tfrc").into()),
            ("HOME", lab.path(".").into()),
        ];
        for (name, value) in vars {
            lab.env.vars.insert(name.to_owned(), value);
        }
        Self {
            terraform,
            servers,
            lab,
        }
    }

    /// Makes up trees and serves what they call.
    fn trees(&self, seeds: std::ops::Range<u64>) -> Vec<Tree> {
        let repos = self.lab.path("repos");
        std::fs::create_dir_all(&repos).unwrap();
        let symbols = self.servers.symbols();
        let (_, host) = symbols.iter().find(|(name, _)| *name == "<LAB>").unwrap();
        let discovery = json!({"json": {"modules.v1": "/mods/"}});
        let mut site = Site {
            host,
            repos: &repos,
            routes: BTreeMap::from([("/.well-known/terraform.json".to_owned(), discovery)]),
            archives: BTreeMap::new(),
        };
        let trees = seeds.map(|seed| Tree::make_up(seed, &mut site)).collect();
        let served = json!({"routes": site.routes, "archives": site.archives});
        self.servers.serve(&served, &repos);
        trees
    }

    /// Runs `init` and `providers lock` in a directory; returns the records of the modules.
    fn theirs(&self, dir: &str) -> Result<Vec<Value>, String> {
        let run = |args: &[&str]| match self.terraform.run(&self.lab, dir, args) {
            (true, _) => Ok(()),
            (false, said) => Err(said),
        };
        run(&["init", "-no-color", "-backend=false"])?;
        let platforms = PLATFORMS.map(|platform| format!("-platform={platform}"));
        let mirror = format!("-fs-mirror={}", self.lab.path("mirror").display());
        let mut args = vec!["providers", "lock", "-no-color", &mirror];
        args.extend(platforms.iter().map(String::as_str));
        run(&args)?;
        let manifest = self
            .lab
            .read(&format!("{dir}/.terraform/modules/modules.json"));
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        let mut records = manifest["Modules"].as_array().unwrap().clone();
        records.retain(|record| record["Key"] != "");
        Ok(records)
    }

    /// Runs lockctl as a program, because git takes its settings from the environment; returns what it printed.
    fn lockctl(&self, dir: &str, cache: &str, args: &[&str]) -> Result<String, String> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_lockctl"));
        program
            .args(args)
            .args(["--flavor", &self.terraform.flavor])
            .current_dir(self.lab.path(dir))
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LOCKCTL_CACHE_DIR", self.lab.path(cache))
            .envs(&self.lab.env.vars);
        let ended = program.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match ended.status.success() {
            true => Ok(text(&ended.stdout)),
            false => Err(text(&ended.stdout) + &text(&ended.stderr)),
        }
    }

    /// Returns the modules that lockctl reads.
    fn read(&self, dir: &str, cache: &str) -> Result<Modules, String> {
        let args = ["tree", "--format", "json", "--modules", "fetch"];
        let document = self.lockctl(dir, cache, &args)?;
        let document: Value = serde_json::from_str(&document).unwrap();
        let modules = document["roots"][0]["modules"].as_array().unwrap().iter();
        let modules = modules.filter(|module| module["kind"] == "call");
        let modules = modules.map(|module| {
            let key = module["path"].as_str().unwrap().replace("module.", "");
            let dir = module["dir"].as_str().unwrap_or("not visible").to_owned();
            let version = module["fetched"]["version"].as_str().map(str::to_owned);
            (key, (dir, version))
        });
        Ok(modules.collect())
    }

    /// Locks a tree with both programs; fails with how they differ.
    fn compare(&self, tree: &Tree) -> Result<Counts, String> {
        let [theirs, ours, cache] =
            ["theirs", "ours", "cache"].map(|side| format!("t{}/{side}", tree.seed));
        for side in [&theirs, &ours] {
            for (path, text) in &tree.files {
                self.lab.write(&format!("{side}/{path}"), text);
            }
        }
        let start = Instant::now();
        let records = self.theirs(&theirs)?;
        let their_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mirror = self.lab.path("mirror").display().to_string();
        let platforms = PLATFORMS.join(",");
        let lock = ["lock", "--fs-mirror", &mirror, "--platform", &platforms];
        self.lockctl(&ours, &cache, &lock)?;
        let our_seconds = start.elapsed().as_secs_f64();
        let read = self.read(&ours, &cache)?;
        let installed = modules_of(&records);
        if read != installed {
            return Err(format!("modules {read:#?}\n`init` installs {installed:#?}"));
        }
        let [wanted, written] = [theirs, ours].map(|side| self.lab.path(&format!("{side}/{LOCK}")));
        // A tree that requires no provider gives none.
        let [wanted, written] =
            [wanted, written].map(|path| std::fs::read_to_string(path).unwrap_or_default());
        if written != wanted {
            return Err(format!("written:\n{written}\nwanted:\n{wanted}"));
        }
        let mut counts = Counts::of(&records);
        counts.providers = wanted.matches("provider \"").count();
        counts.seconds = [their_seconds, our_seconds];
        Ok(counts)
    }
}

/// Returns the modules of records.
fn modules_of(records: &[Value]) -> Modules {
    let text = |record: &Value, name: &str| record[name].as_str().map(str::to_owned);
    let modules = records.iter().map(|record| {
        let dir = text(record, "Dir").unwrap();
        (text(record, "Key").unwrap(), (dir, text(record, "Version")))
    });
    modules.collect()
}

#[test]
fn trees_of_remote_modules_are_locked_as_terraform_does() {
    let Some(terraform) = Terraform::find_trusting() else {
        return;
    };
    let setting = Setting::new(terraform);
    let count = number_from("LOCKCTL_PARITY_CASES", CASES);
    let first = number_from("LOCKCTL_PARITY_SEED", SEED);
    let trees = setting.trees(first..first + count);
    let results = parallel::map(AT_ONCE, &trees, |tree| setting.compare(tree));
    let mut total = Counts::default();
    let mut faults = Vec::new();
    for (tree, result) in trees.iter().zip(results) {
        match result {
            Ok(counts) => total.add(counts),
            Err(fault) => faults.push(format!("tree {}: {fault}\n{}", tree.seed, tree.text())),
        }
    }
    println!("parity: {count} trees of remote modules\n{total}");
    let differing = faults.len();
    assert!(
        faults.is_empty(),
        "{differing} of {count} trees differ\n{}",
        faults.join("\n")
    );
    if count >= CASES {
        let missing = KINDS
            .iter()
            .filter(|kind| !total.calls.contains_key(**kind));
        assert_eq!(
            missing.collect::<Vec<_>>(),
            [&""; 0],
            "no call of these kinds"
        );
    }
}
