//! Random installation methods: what `lock --installation cli` writes against `init`.

use std::num::NonZeroUsize;

use lockctl::parallel;

use crate::dice::Dice;
use crate::lab::{Lab, zip_of};
use crate::lockctl;
use crate::registry::{Origin, Registry};
use crate::terraform::Terraform;

const LOCK: &str = ".terraform.lock.hcl";

/// How many settings are made up, unless `LOCKCTL_PARITY_CASES` states another number.
const CASES: u64 = 100;

/// The first of them, unless `LOCKCTL_PARITY_SEED` states another one; each setting is its own seed.
const SEED: u64 = 1;

/// How many settings are tried at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(4).expect("positive");

const PROVIDERS: [&str; 3] = ["acme/one", "acme/two", "other/three"];

const VERSIONS: [&str; 5] = ["0.9.0", "1.0.0", "1.1.0", "1.10.0", "2.0.0-rc1"];

const PATTERNS: [&str; 7] = [
    "acme/*",
    "acme/one",
    "other/three",
    "*/*",
    "*/*/*",
    "registry.terraform.io/acme/two",
    "example.com/*/*",
];

const CONSTRAINTS: [&str; 7] = [
    "",
    "1.0.0",
    "~> 1.0",
    ">= 1.1.0",
    "< 1.10.0",
    "2.0.0-rc1",
    "~> 3.0",
];

fn content(provider: &str, version: &str, platform: &str) -> String {
    format!("{provider} {version} {platform}")
}

fn program(provider: &str, version: &str) -> String {
    let (_, type_name) = provider.split_once('/').unwrap();
    format!("terraform-provider-{type_name}_v{version}")
}

/// Publishes every package, at the registry and at its network mirror.
fn publish(registry: &Registry) {
    for provider in PROVIDERS {
        for version in VERSIONS {
            for platform in ["linux_amd64", "darwin_arm64"] {
                let text = content(provider, version, platform);
                let zip = zip_of(&[(&program(provider, version), &text)]);
                registry.add_zip(provider, version, platform, &zip);
            }
        }
    }
}

/// Fills a mirror directory with some of the packages, packed or not.
fn fill(dice: &mut Dice, lab: &Lab, dir: &str) {
    std::fs::create_dir_all(lab.path(dir)).unwrap();
    for provider in PROVIDERS {
        for version in VERSIONS {
            for platform in ["linux_amd64", "darwin_arm64"] {
                if !dice.chance(30) {
                    continue;
                }
                let package = format!("registry.terraform.io/{provider}/{version}/{platform}");
                let text = content(provider, version, platform);
                if dice.chance(50) {
                    lab.packed(dir, &package, &text);
                } else {
                    lab.unpacked(dir, &package, &text);
                }
            }
        }
    }
}

/// Makes up one installation method; `number` names its directory, if it has one.
fn method(dice: &mut Dice, lab: &Lab, registry: &Registry, number: usize) -> String {
    let mut filter = String::new();
    for name in ["include", "exclude"] {
        if dice.chance(35) {
            let patterns = [dice.one_of(&PATTERNS), dice.one_of(&PATTERNS)];
            filter += &format!("    {name} = {patterns:?}\n");
        }
    }
    match dice.below(4) {
        0 => format!("  direct {{\n{filter}  }}\n"),
        1 => {
            let url = format!("{}/mirror/", registry.url(Origin::Lab));
            format!("  network_mirror {{\n    url = {url:?}\n{filter}  }}\n")
        }
        _ => {
            let dir = format!("mirror{number}");
            if dice.chance(95) {
                fill(dice, lab, &dir);
            }
            // Seen from the root.
            let path = if dice.chance(50) {
                format!("../{dir}")
            } else {
                lab.path(&dir).display().to_string()
            };
            format!("  filesystem_mirror {{\n    path = {path:?}\n{filter}  }}\n")
        }
    }
}

/// Makes up a setting: the CLI configuration, directories and a root, once for each program.
fn make_up(dice: &mut Dice, lab: &Lab, registry: &Registry) {
    if dice.chance(80) {
        let count = dice.below(4);
        let methods: String = (0..count).map(|n| method(dice, lab, registry, n)).collect();
        let hosts = lab.read("cli.tfrc");
        lab.write(
            "cli.tfrc",
            format!("{hosts}provider_installation {{\n{methods}}}\n"),
        );
    } else {
        fill(dice, lab, "home/.terraform.d/plugins");
    }
    let mut providers = String::new();
    for provider in PROVIDERS {
        if dice.chance(60) {
            let (_, name) = provider.split_once('/').unwrap();
            let constraint = match dice.one_of(&CONSTRAINTS) {
                "" => String::new(),
                some => format!(", version = {some:?}"),
            };
            providers += &format!("    {name} = {{ source = {provider:?}{constraint} }}\n");
        }
    }
    let main = format!("terraform {{\n  required_providers {{\n{providers}  }}\n}}\n");
    lab.write("theirs/main.tf", &main)
        .write("ours/main.tf", &main);
}

/// Gives both roots the lock file of `providers lock`, which asks the registry whatever the methods.
fn lock_before(terraform: &Terraform, lab: &Lab) {
    lab.write("before/main.tf", lab.read("ours/main.tf"));
    let platforms = ["-platform=linux_amd64", "-platform=darwin_arm64"];
    let args = [&["providers", "lock", "-no-color"], &platforms[..]].concat();
    if terraform.run(lab, "before", &args).0
        && let Ok(lock) = std::fs::read(lab.path(&format!("before/{LOCK}")))
    {
        lab.write(&format!("theirs/{LOCK}"), &lock);
        lab.write(&format!("ours/{LOCK}"), &lock);
    }
}

/// Runs both programs in the setting of a seed; returns whether both succeeded, or how they differ.
fn compare(terraform: &Terraform, registry: &Registry, seed: u64) -> Result<bool, String> {
    let mut lab = Lab::new();
    terraform.use_registry(&mut lab, registry, &[]);
    lab.env
        .vars
        .insert("HOME".to_owned(), lab.path("home").into());
    let mut dice = Dice::new(seed);
    make_up(&mut dice, &lab, registry);
    if dice.chance(40) {
        lock_before(terraform, &lab);
    }
    let (succeeded, said) = terraform.run(&lab, "theirs", &["init", "-no-color", "-backend=false"]);
    let args = [
        "lock",
        "ours",
        "--installation",
        "cli",
        "--platform",
        "linux_amd64",
    ];
    let outcome = lockctl(&lab, terraform, &args);
    let read = |root: &str| std::fs::read_to_string(lab.path(&format!("{root}/{LOCK}"))).ok();
    let (theirs, ours) = (read("theirs"), read("ours"));
    if succeeded == (outcome.code == 0) && theirs == ours {
        return Ok(succeeded);
    }
    let rc = lab.read("cli.tfrc");
    let main = lab.read("ours/main.tf");
    Err(format!(
        "seed {seed}:\n{rc}\n{main}\n{said}\n{theirs:?}\n{outcome:#?}\n{ours:?}"
    ))
}

pub(crate) fn number(variable: &str, usual: u64) -> u64 {
    let stated = std::env::var(variable).ok();
    stated.map_or(usual, |text| text.parse().unwrap())
}

#[test]
fn random_installation_methods_give_the_locks_of_init() {
    let Some(terraform) = Terraform::find_trusting() else {
        return;
    };
    let registry = Registry::start();
    publish(&registry);
    let first = number("LOCKCTL_PARITY_SEED", SEED);
    let cases = number("LOCKCTL_PARITY_CASES", CASES);
    let seeds: Vec<u64> = (first..first + cases).collect();
    let compared = parallel::map(AT_ONCE, &seeds, |seed| {
        compare(&terraform, &registry, *seed)
    });
    let locked = compared.iter().filter(|one| **one == Ok(true)).count();
    let faults: Vec<&String> = compared
        .iter()
        .filter_map(|one| one.as_ref().err())
        .collect();
    assert!(faults.is_empty(), "{} differ: {}", faults.len(), faults[0]);
    assert!(cases < CASES || locked > 10, "too few settings succeed");
    println!(
        "parity: {} random installation methods from seed {first}, {locked} lock",
        seeds.len()
    );
}
