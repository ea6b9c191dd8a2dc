//! Random settings: what `lock` writes against `init` and `providers lock` after it.
//!
//! Both programs have to leave the same bytes, or to fail for the same reason. A seed that once failed
//! is in `fixtures/parity/seeds.txt` and is always tried.

mod catalog;
mod reasons;
mod setting;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use lockctl::parallel;
use serde_json::Value;

use self::catalog::{Catalog, PLATFORMS};
use self::setting::{Far, MIRROR, Root, Setting, Source, Wanted};
use crate::copy::copy_dir;
use crate::dice::Dice;
use crate::lab::{Lab, Outcome};
use crate::registry::{Origin, Registry};
use crate::seed::number_from;
use crate::terraform::Terraform;
use crate::{LOCK, lockctl};

/// How many settings are made up, unless `LOCKCTL_PARITY_CASES` states another number.
const CASES: u64 = 60;

/// The first of them, unless `LOCKCTL_PARITY_SEED` states another one; each setting is its own seed.
const SEED: u64 = 1;

/// How many settings are tried at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(4).expect("positive");

/// Seeds that once failed, one on a line, each with what was wrong.
const SEEDS: &str = include_str!("../../../fixtures/parity/seeds.txt");

/// What became of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Locked,
    Refused,
}

/// The programs in one setting.
struct Bench<'a> {
    terraform: &'a Terraform,
    catalog: &'a Catalog,
    registry: &'a Registry,
    lab: Lab,
    setting: Setting,
}

impl Bench<'_> {
    fn lock_file(&self, side: &str, root: &Root) -> Option<String> {
        let path = format!("{side}/{}/{LOCK}", root.name);
        std::fs::read_to_string(self.lab.path(&path)).ok()
    }

    /// How the mirror of the setting is given to `providers lock` and to `lock`, if there is one.
    fn mirror(&self, option: &str) -> Option<String> {
        let value = match self.setting.source {
            Source::Registry | Source::Methods => return None,
            Source::FilesystemMirror => self.lab.path(MIRROR).display().to_string(),
            Source::NetworkMirror => format!("{}/mirror/", self.registry.url(Origin::Lab)),
        };
        let kind = match self.setting.source {
            Source::FilesystemMirror => "fs",
            _ => "net",
        };
        Some(format!("{option}{kind}-mirror={value}"))
    }

    /// Runs `init` in a root, and `providers lock` after it; fails with what the program said.
    fn theirs(&self, root: &Root) -> Result<(), String> {
        let dir = format!("theirs/{}", root.name);
        let run = |args: &[&str]| match self.terraform.run(&self.lab, &dir, args) {
            (true, _) => Ok(()),
            (false, said) => Err(said),
        };
        let init = run(&["init", "-no-color", "-backend=false"]);
        self.hand_over(root);
        init?;
        for (providers, platforms) in self.platforms(root) {
            let platforms: Vec<String> = platforms
                .iter()
                .map(|platform| format!("-platform={platform}"))
                .collect();
            let mirror = self.mirror("-");
            let mut args = vec!["providers", "lock", "-no-color"];
            args.extend(platforms.iter().chain(&mirror).map(String::as_str));
            args.extend(providers.iter().map(String::as_str));
            run(&args)?;
        }
        Ok(())
    }

    /// Gives lockctl what it is to know of a module that only `init` fetches.
    fn hand_over(&self, root: &Root) {
        let [theirs, ours] = ["theirs", "ours"].map(|side| format!("{side}/{}", root.name));
        match root.far {
            Some(Far::Installed) => {
                let [from, to] =
                    [theirs, ours].map(|dir| self.lab.path(&format!("{dir}/.terraform/modules")));
                copy_dir(&from, &to);
            }
            Some(Far::Absent) => {
                if let Some(lock) = self.lock_file("theirs", root) {
                    self.lab.write(&format!("{ours}/{LOCK}"), lock);
                }
            }
            None => {}
        }
    }

    /// Which platforms are locked for which providers; for all if none are named.
    ///
    /// `providers lock` has no presets: it is run for each provider, with what its release offers.
    fn platforms(&self, root: &Root) -> Vec<(Vec<String>, Vec<&str>)> {
        let named = match &self.setting.wanted {
            Wanted::Named(platforms) => platforms,
            Wanted::Common => return self.common(root),
        };
        let here = PLATFORMS[0];
        vec![(Vec::new(), [here].iter().chain(named).copied().collect())]
    }

    fn common(&self, root: &Root) -> Vec<(Vec<String>, Vec<&str>)> {
        let lock = self.lock_file("theirs", root).unwrap_or_default();
        let mut runs = Vec::new();
        let start = format!("provider \"{}/", self.catalog.host);
        for block in lock.split(&start).skip(1) {
            let texts: Vec<&str> = block.split('"').collect();
            let (provider, version) = (texts[0], texts[2]);
            let offered = PLATFORMS[..5].iter().copied();
            let offered = offered.filter(|platform| self.offers(provider, version, platform));
            runs.push((vec![provider.to_owned()], offered.collect()));
        }
        runs
    }

    /// Returns whether the source of `providers lock` has a package.
    fn offers(&self, provider: &str, version: &str, platform: &str) -> bool {
        if self.setting.source == Source::FilesystemMirror {
            let dir = format!("{MIRROR}/{}/{provider}", self.catalog.host);
            let (_, type_name) = provider.split_once('/').unwrap();
            let zip = format!("{dir}/terraform-provider-{type_name}_{version}_{platform}.zip");
            let unpacked = format!("{dir}/{version}/{platform}");
            return [zip, unpacked]
                .iter()
                .any(|one| self.lab.path(one).exists());
        }
        let releases = self.catalog.of(provider);
        let mut releases = releases.iter().filter(|one| one.version == version);
        releases.any(|one| one.packages.contains_key(platform))
    }

    /// Locks all roots at once.
    fn ours(&self) -> Vec<Outcome> {
        let here = PLATFORMS[0];
        let platforms = match &self.setting.wanted {
            Wanted::Named(platforms) => format!("{here},{}", platforms.join(",")),
            Wanted::Common => format!("{here},common"),
        };
        let roots: Vec<String> = self
            .setting
            .roots
            .iter()
            .map(|root| format!("ours/{}", root.name))
            .collect();
        let lock = |options: &[&str]| {
            let mut args = vec!["lock", "--format", "json"];
            args.extend(roots.iter().map(String::as_str));
            args.extend(options);
            lockctl(&self.lab, self.terraform, &args)
        };
        let mut outcomes = Vec::new();
        if self.setting.source == Source::Methods {
            outcomes.push(lock(&["--installation", "cli", "--platform", here]));
        }
        let mirror = self.mirror("--");
        let options: Vec<&str> = mirror.iter().map(String::as_str).collect();
        outcomes.push(lock(&[&["--platform", &platforms], &*options].concat()));
        outcomes
    }
}

/// Runs both programs in the setting of a seed; returns what became of the roots, or how they differ.
fn compare(
    terraform: &Terraform,
    catalog: &Catalog,
    registry: &Registry,
    seed: u64,
) -> Result<Vec<(Source, End)>, String> {
    let mut lab = Lab::new();
    terraform.use_registry(&mut lab, registry, &[]);
    let home = lab.path("home").into();
    lab.env.vars.insert("HOME".to_owned(), home);
    let mut dice = Dice::new(seed);
    let setting = Setting::make_up(&mut dice, catalog, &lab, registry);
    let bench = Bench {
        terraform,
        catalog,
        registry,
        lab,
        setting,
    };
    let roots = &bench.setting.roots;
    let before: Vec<_> = roots
        .iter()
        .map(|root| bench.lock_file("ours", root))
        .collect();
    let theirs: Vec<_> = roots.iter().map(|root| bench.theirs(root)).collect();
    let ours = bench.ours();
    let ends = roots
        .iter()
        .zip(&theirs)
        .zip(&before)
        .map(|((root, theirs), before)| {
            let end = end(&bench, root, theirs, before.as_ref(), &ours);
            let end = end.map(|end| (bench.setting.source, end));
            end.map_err(|fault| {
                let main = bench.lab.read(&format!("ours/{}/main.tf", root.name));
                let rc = bench.lab.read("cli.tfrc");
                format!(
                    "seed {seed}, {}: {fault}\n{:?}\n{rc}\n{main}\nbefore: {before:?}\n",
                    root.name, bench.setting
                )
            })
        });
    ends.collect()
}

/// Compares what became of a root.
fn end(
    bench: &Bench<'_>,
    root: &Root,
    theirs: &Result<(), String>,
    before: Option<&String>,
    ours: &[Outcome],
) -> Result<End, String> {
    let (left, right) = (
        bench.lock_file("theirs", root),
        bench.lock_file("ours", root),
    );
    let path = format!("ours/{}", root.name);
    let said: Vec<Value> = ours.iter().map(|outcome| of_root(outcome, &path)).collect();
    let failed = said.iter().any(|one| one["status"] != "clean");
    match theirs {
        Ok(()) if failed || left != right => {
            Err(format!("theirs {left:?}\nours {right:?}\n{said:#?}"))
        }
        Ok(()) => Ok(End::Locked),
        // What the module requires that lockctl does not see may be what is refused.
        Err(_) if root.far == Some(Far::Absent) => Ok(End::Refused),
        Err(text) if !failed => Err(format!("only Terraform fails: {text}\n{said:#?}")),
        Err(text) => {
            let why = reasons::theirs(text);
            let ours: BTreeSet<_> = said.iter().flat_map(reasons::ours).collect();
            if why.is_empty() || !reasons::cover(&ours, &why) {
                return Err(format!(
                    "other reasons, {why:?} and {ours:?}: {text}\n{said:#?}"
                ));
            }
            if bench.setting.source != Source::Methods && right.as_ref() != before {
                return Err(format!("something was written: {right:?}"));
            }
            Ok(End::Refused)
        }
    }
}

/// What was said of a root.
fn of_root(outcome: &Outcome, path: &str) -> Value {
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let mut roots = json["roots"].as_array().unwrap().iter();
    let root = roots.find(|root| root["path"] == *path);
    root.unwrap_or_else(|| panic!("{path} is missing: {outcome:#?}"))
        .clone()
}

#[test]
fn random_settings_give_the_locks_of_terraform() {
    if let Some(terraform) = Terraform::find_trusting() {
        compare_many(&terraform);
    }
}

#[test]
fn random_settings_give_the_locks_of_opentofu() {
    if let Some(tofu) = Terraform::find_tofu() {
        compare_many(&tofu);
    }
}

fn compare_many(terraform: &Terraform) {
    let registry = Registry::start();
    let catalog = Catalog::new(terraform.rules.default_host());
    catalog.publish(&registry);
    let first = number_from("LOCKCTL_PARITY_SEED", SEED);
    let cases = number_from("LOCKCTL_PARITY_CASES", CASES);
    let kept = SEEDS.lines().filter(|line| !line.starts_with('#'));
    let kept = kept.map(|line| line.split(' ').next().unwrap().parse().unwrap());
    let seeds: Vec<u64> = kept.chain(first..first + cases).collect();
    let compared = parallel::map(AT_ONCE, &seeds, |seed| {
        compare(terraform, &catalog, &registry, *seed)
    });
    let faults: Vec<&String> = compared
        .iter()
        .filter_map(|one| one.as_ref().err())
        .collect();
    if std::env::var_os("LOCKCTL_PARITY_ALL").is_some() {
        faults.iter().for_each(|fault| println!("{fault}\n"));
    }
    assert!(faults.is_empty(), "{} differ: {}", faults.len(), faults[0]);
    let ends: Vec<(Source, End)> = compared.into_iter().flatten().flatten().collect();
    let mut locked = BTreeMap::new();
    for (source, _) in ends.iter().filter(|(_, end)| *end == End::Locked) {
        *locked.entry(source).or_insert(0) += 1;
    }
    let enough = locked.len() == 4 && locked.values().all(|count| *count > 6);
    assert!(
        cases < CASES || enough,
        "too few roots are locked: {locked:?}"
    );
    println!(
        "parity: {} random settings from seed {first} by {}, {} roots, locked: {locked:?}",
        seeds.len(),
        terraform.flavor,
        ends.len()
    );
}
