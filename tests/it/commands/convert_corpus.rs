//! `convert` there and back, over lock files as they are found in public repositories.
//!
//! The registry that stands for both public ones has made-up packages for every entry, the same on both.

use std::collections::{BTreeMap, BTreeSet};

use lockctl::addr::ProviderAddr;
use lockctl::flavor::Flavor;
use lockctl::hash::{Hashes, Scheme};
use lockctl::lockfile::{LockFile, ProviderLock};

use super::registry::point_at;
use super::{LOCK, assert_exit};
use crate::corpus;
use crate::lab::{Lab, zip_of};
use crate::registry::{Registry, sha256_hex};

const TERRAFORM: Flavor = Flavor::Terraform1_16;
const TOFU: Flavor = Flavor::OpenTofu1_12;

/// Maximum number of lock files that are converted, and how many of these are OpenTofu's.
const FILES: usize = 50;
const OF_TOFU: usize = 8;

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_amd64"];

#[test]
fn lock_files_of_the_wild_are_converted_and_back() {
    let (registry, mut lab) = (Registry::start(), Lab::new());
    point_at(&mut lab, &registry);
    let chosen = chosen();
    assert!(chosen.len() > OF_TOFU, "{}", chosen.len());
    let mut known = BTreeSet::new();
    for (at, (flavor, text)) in chosen.iter().enumerate() {
        let lock = read(text, *flavor);
        for (addr, entry) in &lock.providers {
            publish(&registry, addr, entry, &mut known);
        }
        lab.write(&format!("{}/{LOCK}", dir(at, *flavor)), text);
    }

    convert(&lab, TERRAFORM);
    convert(&lab, TOFU);
    for (at, (flavor, text)) in chosen.iter().enumerate() {
        check(&lab, at, *flavor, other(*flavor), &read(text, *flavor));
    }
    back(&lab);
    let whole = all(&lab, &chosen);
    for (at, (flavor, text)) in chosen.iter().enumerate() {
        check(&lab, at, *flavor, *flavor, &read(text, *flavor));
    }

    // What is complete and in canonical form comes back as it was.
    convert(&lab, TERRAFORM);
    convert(&lab, TOFU);
    assert_ne!(all(&lab, &chosen), whole);
    back(&lab);
    assert_eq!(all(&lab, &chosen), whole);
    println!("{} lock files, {} releases", chosen.len(), known.len());
}

/// Returns lock files of both programs that have entries of their own registry and of no other
/// program's, spread over the corpora.
fn chosen() -> Vec<(Flavor, String)> {
    let mut of_both: BTreeMap<Flavor, Vec<String>> = BTreeMap::new();
    for dir in corpus::folders("locks") {
        let names = std::fs::read_dir(dir).unwrap();
        let paths = names.map(|entry| entry.unwrap().path());
        let hcl = paths.filter(|path| path.extension().is_some_and(|one| one == "hcl"));
        for path in hcl.collect::<BTreeSet<_>>() {
            let Ok(text) = std::fs::read_to_string(path) else {
                continue;
            };
            for flavor in [TERRAFORM, TOFU] {
                // Providers of our own corpus are on a host that is nobody's registry.
                let text = text.replace("example.com", flavor.default_host());
                let is_sound = |flavor| LockFile::parse(text.as_bytes(), flavor).is_ok();
                let names =
                    |flavor: Flavor| text.contains(&format!("\"{}/", flavor.default_host()));
                let is_own = names(flavor) && !names(other(flavor));
                if is_own && is_sound(TERRAFORM) && is_sound(TOFU) {
                    of_both.entry(flavor).or_default().push(text.clone());
                }
            }
        }
    }
    let spread = |flavor: Flavor, count: usize| {
        let all = of_both.get(&flavor).cloned().unwrap_or_default();
        let step = (all.len() / count).max(1);
        let some = all.into_iter().step_by(step).take(count);
        some.map(|text| (flavor, text)).collect::<Vec<_>>()
    };
    let of_tofu = spread(TOFU, OF_TOFU);
    [spread(TERRAFORM, FILES - of_tofu.len()), of_tofu].concat()
}

fn other(flavor: Flavor) -> Flavor {
    if flavor.is_opentofu() {
        TERRAFORM
    } else {
        TOFU
    }
}

fn dir(at: usize, flavor: Flavor) -> String {
    format!("{}/{at:02}", flavor.command())
}

/// Converts all roots that came from the other program, which are in a directory of its own.
fn convert(lab: &Lab, to: Flavor) {
    let program = if to.is_opentofu() {
        "opentofu"
    } else {
        "terraform"
    };
    run(lab, program, other(to).command());
}

/// Converts all roots back.
fn back(lab: &Lab) {
    run(lab, "terraform", TERRAFORM.command());
    run(lab, "opentofu", TOFU.command());
}

#[track_caller]
fn run(lab: &Lab, to: &str, dir: &str) {
    let outcome = lab.run(&[
        "convert",
        "--no-cache",
        "--to",
        to,
        "--platform",
        "linux_amd64,darwin_arm64",
        "-r",
        dir,
    ]);
    assert_exit(&outcome, 0);
}

fn all(lab: &Lab, chosen: &[(Flavor, String)]) -> Vec<String> {
    let chosen = chosen.iter().enumerate();
    chosen
        .map(|(at, (flavor, _))| lab.read(&format!("{}/{LOCK}", dir(at, *flavor))))
        .collect()
}

fn read(text: &str, flavor: Flavor) -> LockFile {
    LockFile::parse(text.as_bytes(), flavor).unwrap()
}

/// Publishes the packages of an entry, once.
fn publish(
    registry: &Registry,
    addr: &ProviderAddr,
    entry: &ProviderLock,
    known: &mut BTreeSet<String>,
) {
    let source = format!("{}/{}", addr.namespace(), addr.type_name());
    let version = entry.version.to_string();
    if !known.insert(format!("{source} {version}")) {
        return;
    }
    for platform in PLATFORMS {
        registry.add_zip(&source, &version, platform, &zip(addr, &version, platform));
    }
}

fn zip(addr: &ProviderAddr, version: &str, platform: &str) -> Vec<u8> {
    let name = format!("terraform-provider-{}_v{version}", addr.type_name());
    zip_of(&[(&name, &format!("{} {platform}", addr.namespace()))])
}

/// Makes sure that a lock file has the header of a program, every version that it had, the hashes of the
/// made-up packages for what is on the program's registry, and everything else as it was.
#[track_caller]
fn check(lab: &Lab, at: usize, from: Flavor, to: Flavor, before: &LockFile) {
    let text = lab.read(&format!("{}/{LOCK}", dir(at, from)));
    assert!(text.starts_with(to.header()), "{at}: {text}");
    let after = read(&text, to);
    assert_eq!(
        text,
        lockctl::lockfile::write(&after, to),
        "it is canonical"
    );
    assert_eq!(
        after.providers.len(),
        before.providers.len(),
        "{at}: {text}"
    );
    for (addr, entry) in &before.providers {
        let moved = addr.on_registry_of(to);
        let is_public = moved.is_some() || addr.hostname().unicode() == to.default_host();
        let addr = moved.as_ref().unwrap_or(addr);
        let found = after
            .providers
            .get(addr)
            .unwrap_or_else(|| panic!("{addr}: {text}"));
        if !is_public {
            assert_eq!(found, entry, "{addr} is on another host");
            continue;
        }
        assert_eq!(found.version, entry.version, "{addr}");
        assert_eq!(found.constraints, entry.constraints, "{addr}");
        assert_eq!(found.hashes.of(Scheme::H1).count(), 2, "{addr}: {text}");
        let version = entry.version.to_string();
        let zips = PLATFORMS.map(|platform| {
            let zh = sha256_hex(zip(addr, &version, platform));
            format!("zh:{zh}").parse().unwrap()
        });
        let zips: Hashes = zips.into_iter().collect();
        let listed: Hashes = found.hashes.of(Scheme::Zh).cloned().collect();
        assert_eq!(listed, zips, "{addr}: {text}");
    }
}
