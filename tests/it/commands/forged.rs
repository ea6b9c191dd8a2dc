//! A hash that belongs to no package of the release, beside right ones or in the place of one.

use super::facts::{lock, locked};
use super::registry::TWO;
use super::*;
use crate::registry::Registry;
use crate::scenarios::Packages;

const INSTALLED: &str = ".terraform/providers/registry.terraform.io/acme/demo/1.0.0/linux_amd64";

/// The scheme of a change of a lock file: the forged hash, the true ones, and the file.
type Forgery = fn(&str, &[String], &str) -> String;

const FORGERIES: [(&str, Forgery); 2] = [
    ("added", |forged, _, text| {
        text.replace("  hashes = [", &format!("  hashes = [\n    \"{forged}\","))
    }),
    ("replaced", |forged, own, text| {
        text.replace(&own[0], forged)
    }),
];

/// A root with the facts of two of four packages, and an installed package with a byte more than the release has.
/// Returns the forged `h1:` as well, and the true ones of both platforms.
fn altered() -> (Registry, Lab, String, [String; 2]) {
    let (registry, lab) = locked();
    let program = format!("{INSTALLED}/terraform-provider-demo_v1.0.0");
    Packages::recorded().unpack("demo/1.0.0/linux_amd64", &lab.path(INSTALLED));
    let genuine = lab.read(&program);
    lab.write(&program, genuine + "!");
    let hashed = lab.run(&["hash", INSTALLED]).stdout;
    let forged = hashed[hashed.find("h1:").unwrap()..]
        .split_whitespace()
        .next();
    let own = ["linux_amd64", "darwin_arm64"].map(|platform| {
        let symbol = format!("h1(demo/1.0.0/{platform})");
        Packages::recorded().hashes[&symbol].clone()
    });
    (registry, lab, forged.unwrap().to_owned(), own)
}

fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    let args = ["verify", "--flavor", "terraform@1.11"];
    lab.run(&[&args[..], TWO, more].concat())
}

/// Writes a lock file in canonical form, so that its hashes are in order.
fn write(lab: &Lab, text: String) {
    lab.write(LOCK, text);
    assert_exit(&lab.run(&["fmt"]), 0);
}

#[test]
fn verify_finds_a_forged_h1_and_the_package_that_has_it() {
    let (registry, lab, forged, own) = altered();
    let good = lab.read(LOCK);
    registry.reset(&json!({}));
    for (name, forge) in FORGERIES {
        write(&lab, forge(&forged, &own, &good));
        let mut wanted = vec!["hash-not-of-release", "package-mismatch"];
        if name == "replaced" {
            wanted.push("platforms-incomplete");
        }
        let found = verify(&lab, &["--format", "json"]).exits(1);
        assert_eq!(rules(&found), wanted, "{name}");
        // Facts alone show it.
        let counted = verify(&lab, &["--no-cache", "--format", "json"]);
        assert!(
            !counted.stdout.contains("hash-not-of"),
            "{name}: {counted:#?}"
        );
    }
    write(&lab, FORGERIES[0].1(&forged, &own, &good));
    verify(&lab, &[]).stdout.reads(str![[r#"
error[package-mismatch]: The installed package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 is not that of the signed release
 --> .terraform.lock.hcl:4:1
  |
4 | provider "registry.terraform.io/acme/demo" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ .terraform/providers/registry.terraform.io/acme/demo/1.0.0/linux_amd64 has a recorded hash, but the signed package has h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=
...
9 |     "h1:uA2DrKHlHZLkHV49So0c3IeEdpkfcdhkskZEzCFenkw=",
  |     ------------------------------------------------- its h1:
  |
  = help: it differs from the zip zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5, which is recorded:
            changed: terraform-provider-demo_v1.0.0
          unless you know why, delete that directory and run `terraform init` again

error[hash-not-of-release]: registry.terraform.io/acme/demo 1.0.0 is locked with 1 h1: hash of no package of the release
 --> .terraform.lock.hcl:9:5
  |
9 |     "h1:uA2DrKHlHZLkHV49So0c3IeEdpkfcdhkskZEzCFenkw=",
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ of .terraform/providers/registry.terraform.io/acme/demo/1.0.0/linux_amd64, which is not the signed package for linux_amd64
  |
  = help: it accepts a package that no signature covers: find out in the history of the file where it came from; then run `lockctl lock . --flavor terraform@1.11 --repair --platform all`

.terraform.lock.hcl: 2 errors

"#]]);
    assert!(registry.entries().is_empty());
    // The hash without the package may be that of one of two packages that nobody hashed.
    std::fs::remove_dir_all(lab.path(".terraform")).unwrap();
    assert_exit(&verify(&lab, &[]), 0);
}

#[test]
fn show_attributes_one_h1_to_a_platform() {
    let (_registry, lab, forged, own) = altered();
    write(&lab, FORGERIES[0].1(&forged, &own, &lab.read(LOCK)));
    let outcome = lab.run(&["show", "--format", "json", "--flavor", "terraform@1.11"]);
    assert_exit(&outcome, 0);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let hashes = json["roots"][0]["providers"][0]["hashes"]
        .as_array()
        .unwrap();
    let platforms = |hash: &str| {
        let row = hashes.iter().find(|row| row["hash"] == hash).unwrap();
        row["platforms"].clone()
    };
    assert_eq!(platforms(&forged), json!([]));
    assert_eq!(platforms(&own[0]), json!(["linux_amd64"]));
    // The kept list names the zip of every platform.
    let zips = hashes
        .iter()
        .filter(|row| row["hash"].as_str().unwrap().starts_with("zh:"));
    let named: Vec<&Value> = zips.map(|row| &row["platforms"][0]).collect();
    assert_eq!(named.len(), 4);
    assert!(named.iter().all(|name| name.is_string()), "{named:?}");
}

#[test]
fn one_zh_of_a_list_that_was_replaced_is_found_offline() {
    let (registry, lab) = locked();
    registry.reset(&json!({}));
    let good = lab.read(LOCK);
    let windows = Packages::recorded().hashes["zh(demo/1.0.0/windows_amd64)"].clone();
    lab.write(
        LOCK,
        good.replace(&windows, &format!("zh:{}", "0".repeat(64))),
    );
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[hash-not-of-release]: registry.terraform.io/acme/demo 1.0.0 is locked with 1 zh: hash that its signed list lacks
  --> .terraform.lock.hcl:10:5
   |
10 |     "zh:0000000000000000000000000000000000000000000000000000000000000000",
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the signed list of this release does not have it
   |
   = help: an earlier run checked that list; find out in the history of the file where the hash came from; then run `lockctl lock . --flavor terraform@1.11 --repair`, which compares it with the list as it is served now

.terraform.lock.hcl: 1 error

"#]]);
    assert_exit(&verify(&lab, &["--no-cache"]), 0);
    assert!(registry.entries().is_empty());
    // The list as it is served now has its own finding, and the repair that is named works.
    let asked = verify(&lab, &["--upstream", "--format", "json"]);
    assert_eq!(rules(&asked), ["hash-unknown-upstream", "zh-missing"]);
    assert_exit(&lock(&lab, &[TWO, &["--repair"]].concat()), 0);
    assert_eq!(lab.read(LOCK), good);
}

#[test]
fn a_hash_of_no_release_is_no_routine_in_a_diff() {
    let (_registry, lab, forged, own) = altered();
    let good = lab.read(LOCK);
    let diff = |old: &str, new: &str| {
        lab.write("old.hcl", old).write("new.hcl", new);
        let outcome = lab.run(&["diff", "old.hcl", "new.hcl"]).exits(0);
        outcome.stdout
    };
    let [(_, add), (_, replace)] = FORGERIES;
    diff(&good, &add(&forged, &own, &good)).reads(str![[r#"
notice  acme/demo  1.0.0  hashes-added  1 h1: is not known to belong to a package of 1.0.0
1 provider with more hashes, nothing alarming

"#]]);
    diff(&good, &replace(&forged, &own, &good)).reads(str![[r#"
warning  acme/demo  1.0.0  hashes-replaced  1 h1: was replaced while the zh: stayed the same: other platforms were locked, or an h1: was exchanged, which zh: do not show; 1 h1: is not known to belong to a package of 1.0.0
1 provider with other hashes under the same version; warning: acme/demo

"#]]);
    let zh = &Packages::recorded().hashes["zh(demo/1.0.0/windows_amd64)"];
    let other = format!("zh:{}", "0".repeat(64));
    diff(&good, &good.replace(zh, &other)).reads(str![[r#"
danger  acme/demo  1.0.0  hashes-replaced  1 of 4 zh: was replaced, but the version did not change: the release was published again, or the lock file was tampered with; 1 hash belongs to no package of 1.0.0, by what this machine has proven
1 provider with other hashes under the same version; danger: acme/demo

"#]]);
    // Facts explain the hash of a platform that was added.
    let without = good.replace(&format!("    \"{}\",\n", own[1]), "");
    diff(&without, &good).reads(str![[r#"
routine  acme/demo  1.0.0  hashes-added  1 platform was added
1 provider with more hashes, nothing alarming

"#]]);
    // Once every package is known, the hash is of none.
    assert_exit(&lock(&lab, &["--platform", "all"]), 0);
    let all = lab.read(LOCK);
    diff(&all, &add(&forged, &own, &all)).reads(str![[r#"
danger  acme/demo  1.0.0  hashes-added  1 hash belongs to no package of 1.0.0, by what this machine has proven; 1 h1: was added, and 5 h1: are more than the 4 packages in the list of zh: explain
1 provider with more hashes; danger: acme/demo

"#]]);
}

#[test]
fn lock_judges_every_recorded_h1() {
    let (_registry, lab, forged, own) = altered();
    let good = lab.read(LOCK);
    write(&lab, FORGERIES[0].1(&forged, &own, &good));
    let check = |more: &[&str]| lock(&lab, &[&["--check"], TWO, more].concat());
    for more in [&[][..], &["--prove"], &["--no-cache"]] {
        let outcome = check(more).exits(1);
        let title = "error[package-mismatch]: The installed package of registry.terraform.io/acme/demo 1.0.0 \
                     for linux_amd64 is not that of the signed release";
        assert!(outcome.stderr.contains(title), "{more:?}: {outcome:#?}");
    }
    // Without that package the hash may be that of one which this run did not see.
    std::fs::remove_dir_all(lab.path(".terraform")).unwrap();
    check(&[]).exits(0).stderr_has("note: acme/demo 1.0.0 keeps 1 h1: hash of packages that were not compared, right or wrong; \
                `lockctl lock --dry-run --prove --platform all` compares all packages");
    assert!(!lock(&lab, TWO).stderr.contains("not compared"));
    let all = ["--dry-run", "--prove", "--platform", "all"];
    lock(&lab, &all).exits(1).stderr_has(&forged[..12]);
    // So says `verify`, which asks the registry for its list alone.
    verify(&lab, &["--upstream"]).stderr_has("1 recorded h1: was not compared: ");
    // What is named changes nothing of a good file.
    lab.write(LOCK, &good);
    assert_exit(&lock(&lab, &all), 0);
    assert_eq!(lab.read(LOCK), good);
}

#[test]
fn every_check_sees_an_altered_package_with_its_hash() {
    let (_registry, lab, forged, own) = altered();
    let good = lab.read(LOCK);
    let title = "error[package-mismatch]: The installed package of registry.terraform.io/acme/demo 1.0.0 \
                 for linux_amd64 is not that of the signed release";
    for (_, forge) in FORGERIES {
        write(&lab, forge(&forged, &own, &good));
        for more in ["--upstream", "--matrix"] {
            verify(&lab, &[more]).exits(1).stdout_has(title);
        }
        for more in [&["--check"][..], &["--check", "--offline"], &["--prove"]] {
            let args = [more, TWO].concat();
            lock(&lab, &args).exits(1).stderr_has(title);
        }
    }
    write(&lab, FORGERIES[0].1(&forged, &own, &good));
    std::fs::remove_dir_all(lab.path(".terraform")).unwrap();
    let offline = ["--check", "--offline"];
    let outcome = lock(&lab, &[&offline, TWO].concat()).exits(0);
    outcome.stderr_has("note: acme/demo 1.0.0 keeps 1 h1: hash of packages that were not compared");
    // Where nothing is known of the release, each of its hashes would be counted.
    let unknown = [
        "--check",
        "--offline",
        "--no-cache",
        "--platform",
        "linux_amd64",
    ];
    assert!(!lock(&lab, &unknown).stderr.contains("not compared"));
}
