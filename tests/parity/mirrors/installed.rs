//! The real `init -lockfile=readonly` from each layout, without a network, and many at once.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use lockctl::parallel;
use serde_json::json;

use super::{MirrorSetting, PLATFORMS};
use crate::LOCK;
use crate::seed::Seed;
use crate::static_files::StaticFiles;

/// Number of `init` that run at once from one mirror.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(20).expect("positive");

const READONLY: &[&str] = &["-lockfile=readonly"];

/// Every path below a directory, with its length and the time of its last change.
fn states(dir: &Path) -> BTreeMap<String, (u64, SystemTime)> {
    let mut states = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let state = (metadata.len(), metadata.modified().unwrap());
        states.insert(path.display().to_string(), state);
        if metadata.is_dir() {
            left.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    states
}

/// The links below `.terraform/providers` of a root.
fn links(dir: &Path) -> usize {
    let mut links = 0;
    let mut left = vec![dir.join(".terraform/providers")];
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            links += usize::from(kind.is_symlink());
            if kind.is_dir() {
                left.push(entry.path());
            }
        }
    }
    links
}

/// A locked root, and its mirror in a layout with the CLI configuration that uses it.
fn mirrored(layout: &[&str]) -> Option<MirrorSetting> {
    let setting = MirrorSetting::new()?;
    setting.write_root("root", &mut Seed::new(7));
    setting.lock("root");
    let platforms = PLATFORMS.join(",");
    let more = [
        "root",
        "--platform",
        &platforms,
        "--write-cli-config",
        "mirror.tfrc",
    ];
    setting.mirror("m", &[&more[..], layout].concat());
    Some(setting)
}

#[test]
fn each_layout_serves_a_readonly_init() {
    for layout in [&[][..], &["--unpacked"], &["--unpacked=also"]] {
        let Some(setting) = mirrored(layout) else {
            return;
        };
        setting.registry.reset(&json!({}));
        setting.use_methods("root", &setting.lab.read("mirror.tfrc"));
        setting.installs("root", READONLY);
        // `init` makes a link to each directory, and unpacks zips.
        let links = links(&setting.lab.path("root"));
        let lock = setting.lab.read(&format!("root/{LOCK}"));
        let expected = if layout.is_empty() {
            0
        } else {
            lock.matches("provider \"").count()
        };
        assert_eq!(links, expected, "{layout:?}");
        println!(
            "parity: init -lockfile=readonly from {layout:?}: {links} links, 0 registry requests"
        );
    }
}

/// A lock file that was written on another platform has an `h1:` of that one only; its `zh:` vouch for the package.
#[test]
fn a_lock_file_of_another_platform_serves_an_init() {
    let Some(setting) = MirrorSetting::new() else {
        return;
    };
    setting.write_root("root", &mut Seed::new(11));
    let lock = ["lock", "root", "--platform", "darwin_arm64"];
    let outcome = crate::lockctl(&setting.lab, &setting.terraform, &lock);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    let more = [
        "root",
        "--platform",
        "linux_amd64",
        "--write-cli-config",
        "mirror.tfrc",
    ];
    setting.mirror("m", &more);
    setting.registry.reset(&json!({}));
    setting.use_methods("root", &setting.lab.read("mirror.tfrc"));
    let locked = setting.lab.read(&format!("root/{LOCK}"));
    let init = ["init", "-no-color", "-backend=false"];
    let said = setting.terraform.succeeds(&setting.lab, "root", &init);
    let providers = locked.matches("provider \"").count();
    assert_eq!(said.matches("- Installed ").count(), providers, "{said}");
    let now = setting.lab.read(&format!("root/{LOCK}"));
    let added = now.matches("\"h1:").count() - locked.matches("\"h1:").count();
    assert_eq!(added, providers, "an h1: of this platform each: {now}");
    println!(
        "parity: init from a mirror for a lock file of another platform: {providers} installed"
    );
}

#[test]
fn a_network_mirror_serves_a_readonly_init() {
    let Some(setting) = mirrored(&[]) else {
        return;
    };
    let server = StaticFiles::start(setting.lab.path("."));
    let platforms = PLATFORMS.join(",");
    let url = server.url("m");
    let served = [
        "root",
        "--platform",
        &platforms,
        "--write-cli-config",
        "served.tfrc",
        "--url",
        &url,
    ];
    setting.mirror("m", &served);
    setting.registry.reset(&json!({}));
    setting.use_methods("root", &setting.lab.read("served.tfrc"));
    setting.installs("root", READONLY);
    let paths = server.take_paths();
    let zips = paths.iter().filter(|path| path.ends_with(".zip")).count();
    assert!(zips > 0, "{paths:?}");
    println!(
        "parity: init -lockfile=readonly from a network mirror: {} requests there, 0 to registries",
        paths.len()
    );
}

/// Without a network nothing but the directory can have served.
#[cfg(target_os = "linux")]
#[test]
fn filesystem_mirrors_need_no_network() {
    let isolated = ["--user", "--map-root-user", "--net"];
    let probe = Command::new("unshare").args(isolated).arg("true").output();
    if !probe.is_ok_and(|ended| ended.status.success()) {
        println!("skipped: this system does not allow to unshare the network");
        return;
    }
    for layout in [&[][..], &["--unpacked"]] {
        let Some(setting) = mirrored(layout) else {
            return;
        };
        // The configuration of lockctl alone: no host block leads to a registry of the tests.
        setting
            .lab
            .write("root/cli.tfrc", setting.lab.read("mirror.tfrc"));
        let lock = setting.lab.read(&format!("root/{LOCK}"));
        let init = ["init", "-no-color", "-backend=false", "-lockfile=readonly"];
        let without_network = [&["unshare"], &isolated[..], &["--"]].concat();
        let (succeeded, said) =
            setting
                .terraform
                .run_behind(&without_network, &setting.lab, "root", &init);
        assert!(succeeded, "{said}");
        assert_eq!(setting.lab.read(&format!("root/{LOCK}")), lock);
        println!("parity: init -lockfile=readonly from {layout:?} without a network");
    }
}

#[test]
fn many_inits_at_once_share_an_unpacked_mirror() {
    let Some(setting) = mirrored(&["--unpacked"]) else {
        return;
    };
    let roots: Vec<String> = (0..AT_ONCE.get())
        .map(|at| format!("copies/{at}"))
        .collect();
    for root in &roots {
        crate::copy_dir(&setting.lab.path("root"), &setting.lab.path(root));
        setting.use_methods(root, &setting.lab.read("mirror.tfrc"));
    }
    let before = states(&setting.lab.path("m"));
    setting.registry.reset(&json!({}));
    parallel::map(AT_ONCE, &roots, |root| setting.installs(root, READONLY));
    assert_eq!(
        states(&setting.lab.path("m")),
        before,
        "nothing is written there"
    );
    println!(
        "parity: {} init at once from an unpacked mirror, which stays as it is",
        roots.len()
    );
}
