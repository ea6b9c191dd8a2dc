//! Hashes that a network mirror states of all platforms (`trust_all_hashes`), and what becomes of a mirror
//! once an `h1:` was slipped in: what OpenTofu makes of them, and what lockctl does.
//!
//! Each attack names what OpenTofu was recorded to do (`fixtures/source-cases/netmirror.json` and
//! `package-hashes.json`).

use std::collections::BTreeSet;

use super::registry::{DEMO, point_at, with_registry};
use super::*;
use crate::registry::{Origin, Registry};
use crate::scenarios::{Packages, lock_hashes};

const TOFU: [&str; 7] = [
    "lock",
    "--flavor",
    "opentofu",
    "--installation",
    "cli",
    "--platform",
    "linux_amd64",
];

/// A root whose packages come from a mirror that is trusted; what the mirror states is altered in these
/// places.
fn with_trusted(config: &str, set: Value) -> (Registry, Lab) {
    let (registry, lab) = with_registry(config);
    let url = registry.url(Origin::Lab);
    lab.write(
        "rc",
        format!(
            "provider_installation {{\n  network_mirror {{\n    url = \"{url}/mirror/\"\n    \
             trust_all_hashes = true\n  }}\n}}\n"
        ),
    );
    tell(&registry, set);
    (registry, lab)
}

fn tell(registry: &Registry, set: Value) {
    let patch = json!({"kind": "mirror_version", "action": "patch", "times": -1, "set": set});
    registry.reset(&json!({"rules": [patch]}));
}

/// The hashes of the one entry of the lock file, as symbols.
fn recorded(lab: &Lab) -> BTreeSet<String> {
    let hashes = lock_hashes(&lab.read(LOCK)).into_values().flatten();
    let symbols = &Packages::recorded().hashes;
    let symbol = |hash: String| {
        let mut known = symbols.iter();
        let found = known.find(|(_, value)| **value == hash);
        found.map_or(hash, |(symbol, _)| symbol.clone())
    };
    hashes.map(symbol).collect()
}

/// Symbols of the hashes of `demo` 1.0.0.
fn all(schemes: &[&str], platforms: &[&str]) -> BTreeSet<String> {
    let symbols = schemes.iter().flat_map(|scheme| {
        let symbol = move |platform| format!("{scheme}(demo/1.0.0/{platform})");
        platforms.iter().map(symbol)
    });
    symbols.collect()
}

const PLATFORMS: [&str; 4] = [
    "darwin_arm64",
    "linux_amd64",
    "linux_arm64",
    "windows_amd64",
];

fn said(registry: &Registry, outcome: &Outcome) -> String {
    outcome.stderr.replace(&registry.url(Origin::Lab), "MIRROR")
}

#[test]
fn what_a_trusted_mirror_states_is_written_and_called_claimed() {
    let (registry, lab) = with_trusted(DEMO, json!({}));
    let outcome = lab.run(&TOFU).exits(0);
    assert_eq!(recorded(&lab), all(&["h1", "zh"], &PLATFORMS));
    said(&registry, &outcome).has("6 hashes of 1 provider are claimed by MIRROR/mirror/");
    // `nm-trust-enforce`, `nm-trust-other-host`: only what the own package has.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let mut strict = lab;
    strict.set("OPENTOFU_ENFORCE_GPG_VALIDATION", "true");
    assert_exit(&strict.run(&TOFU), 0);
    assert_eq!(recorded(&strict), all(&["h1", "zh"], &["linux_amd64"]));
    let config = DEMO.replace("acme/demo", "example.com/acme/demo");
    let (_registry, other) = with_trusted(&config, json!({}));
    assert_exit(&other.run(&TOFU), 0);
    assert_eq!(recorded(&other), all(&["h1", "zh"], &["linux_amd64"]));
}

#[test]
fn nobody_is_trusted_by_an_option() {
    let (registry, lab) = with_trusted(DEMO, json!({}));
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    let args = [
        "lock",
        "--flavor",
        "opentofu",
        "--platform",
        "linux_amd64",
        "--net-mirror",
        &url,
    ];
    assert_exit(&lab.run(&args), 0);
    assert_eq!(recorded(&lab), all(&["h1", "zh"], &["linux_amd64"]));
}

/// `OpenTofu`: accepted, since the hashes of all platforms are pooled (`nm-trust-foreign-zip`).
#[test]
fn attack_the_zip_of_another_platform() {
    let foreign = "terraform-provider-demo_1.0.0_linux_arm64.zip";
    let (_registry, lab) = with_trusted(DEMO, json!({"archives/linux_amd64/url": foreign}));
    let outcome = lab.run(&TOFU).exits(2);
    outcome.stderr_has("the package has none of the hashes that the mirror states");
    assert!(!lab.path(LOCK).exists());
}

/// `OpenTofu`: written silently (`nm-trust-false-foreign`).
#[test]
fn attack_a_false_h1_of_another_platform() {
    let symbols = &Packages::recorded().hashes;
    let lie = json!({"archives/linux_arm64/hashes/1": symbols["h1(nothing a)"]});
    let (registry, mut lab) = with_trusted(DEMO, lie.clone());
    let outcome = lab.run(&TOFU).exits(0);
    let is_counted = said(&registry, &outcome).contains("claimed by MIRROR/mirror/");
    assert!(
        is_counted && recorded(&lab).contains("h1(nothing a)"),
        "{outcome:#?}"
    );
    let before = lab.read(LOCK);
    let alarm = |outcome: &Outcome| {
        assert_exit(outcome, 1);
        let cause = "MIRROR/mirror/ states h1:";
        let said = said(&registry, outcome);
        said.has(cause);
        said.has("nothing was written");
    };
    // Whoever wants proof finds it, as does whoever wants that platform,
    alarm(&lab.run(&[&TOFU[..], &["--prove"]].concat()));
    let wanted = [&TOFU[..6], &["linux_arm64"]].concat();
    alarm(&lab.run(&wanted));
    assert_eq!(lab.read(LOCK), before);
    // or has had that package from the registry before.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let mirror = lab.read("rc");
    point_at(&mut lab, &registry);
    assert_exit(&lab.run(&wanted), 0);
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    lab.write("rc", mirror);
    tell(&registry, lie);
    alarm(&lab.run(&TOFU));
    assert!(!lab.path(LOCK).exists());
}

/// `OpenTofu`: refuses the right zip for the hashes of others (`nm-trust-own-no-hashes`).
#[test]
fn hashes_of_others_say_nothing_of_a_package_without_any() {
    let none = json!({"archives/linux_amd64/hashes": null});
    let (_registry, lab) = with_trusted(DEMO, none);
    assert_exit(&lab.run(&TOFU), 0);
    let others = ["darwin_arm64", "linux_arm64", "windows_amd64"];
    let mut wanted = all(&["h1", "zh"], &others);
    wanted.extend(all(&["h1"], &["linux_amd64"]));
    assert_eq!(recorded(&lab), wanted);
}

/// `OpenTofu`: writes the `h1:` silently, and then accepts the other zip from the mirror, without a warning
/// (`pkg-injected-h1-then-fs`).
#[test]
fn attack_an_h1_is_slipped_in_for_a_mirror_to_come() {
    let (registry, lab) = with_registry(DEMO);
    let evil = &Packages::recorded().hashes["h1(evil/1.0.0/linux_amd64)"];
    let direct = ["lock", "--flavor", "opentofu", "--platform", "linux_amd64"];
    registry.reset(&json!({"packages": true}));
    assert_exit(&lab.run(&direct), 0);
    let good = lab.read(LOCK);
    let slip = json!({"packages/linux_amd64/hashes/+": evil});
    let patch = json!({"kind": "download", "action": "patch", "times": -1, "set": slip});
    registry.reset(&json!({"packages": true, "rules": [patch]}));
    lab.run(&direct).exits(1).stderr_has(evil.as_str());
    assert_eq!(lab.read(LOCK), good);
    let zip =
        "mirror/registry.opentofu.org/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    lab.write(zip, Packages::recorded().zip("evil/1.0.0/linux_amd64"));
    // Nothing recorded accepts it. `lock` adds the hash of what a mirror has, as `providers lock` does, but
    // says what that means.
    let outcome = lab.run(&[&direct[..], &["--fs-mirror", "mirror", "--dry-run"]].concat());
    assert_exit(&outcome, 0);
    outcome.stderr_has("a package of the mirror does not match the lock file");
}
