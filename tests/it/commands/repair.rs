//! `lock --repair`: what is replaced by which evidence, and what is not.

use std::collections::BTreeSet;

use super::registry::{DEMO, TWO, lock, rule, steady, with_registry};
use super::*;
use crate::registry::{Origin, Registry};
use crate::scenarios::{Packages, scenarios};

const ONE: [&str; 2] = ["--platform", "linux_amd64"];
const ALL: [&str; 2] = ["--platform", "all"];

fn wrong_zh() -> String {
    format!("zh:{}", "0".repeat(64))
}

fn wrong_h1() -> String {
    format!("h1:{}=", "A".repeat(43))
}

fn hash(symbol: &str) -> String {
    Packages::recorded().hashes[symbol].clone()
}

/// A root that was locked for platforms, and the registry that it was locked from.
fn locked(platforms: [&str; 2]) -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, &platforms), 0);
    (registry, lab)
}

/// Adds lines to the hashes of the only entry.
fn slip(lab: &Lab, hashes: &[String]) {
    let lines = hashes.iter().map(|hash| format!("\n    \"{hash}\","));
    let added = format!("  hashes = [{}", lines.collect::<String>());
    lab.write(LOCK, lab.read(LOCK).replace("  hashes = [", &added));
}

fn repair(lab: &Lab, more: &[&str]) -> Outcome {
    lock(lab, &[&["--repair", "-q"], more].concat())
}

/// Repairs in vain: the same is said without the option, and nothing is written.
#[track_caller]
fn check_alarm(lab: &Lab, more: &[&str], said: &str) {
    let before = lab.read(LOCK);
    for option in [&[][..], &["--repair"]] {
        let outcome = lock(lab, &[option, more].concat()).exits(1);
        assert!(
            outcome.stderr.contains(said),
            "{option:?}: {}",
            outcome.stderr
        );
        assert_eq!(lab.read(LOCK), before, "{option:?}");
    }
}

#[test]
fn a_hash_that_the_signed_list_does_not_have_is_replaced() {
    let (registry, lab) = locked(ONE);
    let good = lab.read(LOCK);
    slip(&lab, &[wrong_zh()]);
    let outcome = repair(&lab, &ONE).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  1 platform  0 hashes added, 1 replaced  self-signed, key ID KEYID
    1 recorded hash contradicts the checksum list (self-signed, key ID KEYID)
      zh:0000000000000000000000000000000000000000000000000000000000000000  not in the list
updated .terraform.lock.hcl

"#]]);
    assert_eq!(lab.read(LOCK), good);
    assert_exit(&lock(&lab, &["--platform", "linux_amd64", "--check"]), 0);
}

#[test]
fn an_h1_is_replaced_once_every_package_was_computed() {
    let (registry, lab) = locked(ALL);
    let good = lab.read(LOCK);
    slip(&lab, &[wrong_h1()]);
    let bad = lab.read(LOCK);
    // It may be that of a platform that is not looked at.
    let outcome = repair(&lab, &ONE).exits(1);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the signed checksums of registry.terraform.io/acme/demo 1.0.0 contradict at least 1 hash of the lock file
  cause: 4 recorded h1: belong to none of the packages hashed here, and only 3 other packages are left, so at least 1 is wrong
  help: nothing was written: such a hash accepts a package that no signature covers; find out first where it came from; `lockctl lock . --flavor terraform@1.11 --repair --prove --platform all` compares the packages of all platforms and replaces what is wrong

"#]]);
    assert_eq!(lab.read(LOCK), bad);

    let outcome = repair(&lab, &ALL).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  4 platforms  0 hashes added, 1 replaced  self-signed, key ID KEYID
    1 recorded hash contradicts the checksum list (self-signed, key ID KEYID)
      h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=  of none of its packages, which have:
        h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  darwin_arm64
        h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=  linux_amd64
        h1:gf/YJ04+o6HabeEye8ydEGigfLch08hoVY7fVhSjKBY=  linux_arm64
        h1:l9QsIG3U/m9E2fEIHU0QZE4l1umHOgQ2hIUEjsR+XtE=  windows_amd64
updated .terraform.lock.hcl

"#]]);
    assert_eq!(lab.read(LOCK), good);
}

#[test]
fn an_h1_that_nothing_contradicts_stays() {
    let (_registry, lab) = locked(ONE);
    let foreign = hash("h1(demo/1.0.0/linux_arm64)");
    slip(&lab, &[foreign.clone(), wrong_zh()]);
    repair(&lab, &ONE).exits(0);
    let text = lab.read(LOCK);
    text.has(&foreign);
    text.lacks(wrong_zh());
    let outcome = lock(&lab, &[&["--repair"], &ONE[..]].concat()).exits(0);
    assert_eq!(lab.read(LOCK), text, "nothing is repaired again");
    // Right or wrong: only its package shows it.
    let kept = "acme/demo 1.0.0 keeps 1 h1: hash of packages that were not compared, right or wrong; \
                `lockctl lock --repair --prove --platform all` compares all packages";
    outcome.stderr_has(kept);
    let outcome = repair(&lab, &["--prove", "--platform", "all"]).exits(0);
    outcome.stderr_lacks("--repair");
}

#[test]
fn an_alarm_lists_every_hash_that_is_wrong() {
    let (_registry, lab) = locked(ALL);
    let wrong: Vec<String> = "0123456789"
        .chars()
        .map(|digit| format!("zh:{}", digit.to_string().repeat(64)))
        .collect();
    slip(&lab, &[&wrong[..], &[wrong_h1()]].concat());
    let outcome = lock(&lab, &ONE).exits(1);
    for hash in &wrong {
        let line = format!("  cause: {hash} is not in the checksums\n");
        outcome.stderr_has(&line);
    }
    let lines = outcome
        .stderr
        .lines()
        .filter(|line| line.contains("cause:"));
    assert_eq!(lines.count(), wrong.len() + 1, "{}", outcome.stderr);
    // The right ones are not among them, and all packages show which one is not.
    outcome.stderr_lacks("h1:A");
    let outcome = lock(&lab, &ALL).exits(1);
    let line = format!("  cause: {} is of none of its packages\n", wrong_h1());
    outcome.stderr_has(&line);
    assert_eq!(
        outcome.stderr.matches("h1:").count(),
        1,
        "{}",
        outcome.stderr
    );
    // Programs get the same.
    let json = lock(&lab, &[&["--format", "json"], &ALL[..]].concat());
    let said = json.json();
    let title = said["roots"][0]["findings"][0]["title"].as_str().unwrap();
    for hash in wrong.iter().chain([&wrong_h1()]) {
        title.has(hash);
    }
}

/// `init` refuses the package; `providers lock` adds its hashes beside the wrong one.
#[test]
fn a_zh_of_nothing_is_an_alarm_where_a_release_has_one_platform() {
    let (registry, lab) = with_registry(&DEMO.replace("acme/demo", "acme/single"));
    let zip = zip_of(&[("terraform-provider-single_v1.0.0", "single")]);
    registry.add_zip("acme/single", "1.0.0", "linux_amd64", &zip);
    let entry = |hashes: &[String]| {
        let text = format!(
            "provider \"registry.terraform.io/acme/single\" {{\n  version = \"1.0.0\"\n  hashes = {hashes:?}\n}}\n"
        );
        lab.write(LOCK, text);
    };
    for hashes in [&[wrong_zh()][..], &[wrong_h1()], &[wrong_h1(), wrong_zh()]] {
        entry(hashes);
        let bad = lab.read(LOCK);
        let outcome = lock(&lab, &ONE).exits(1);
        for hash in hashes {
            outcome.stderr_has(hash.as_str());
        }
        assert_eq!(lab.read(LOCK), bad);
        assert_exit(&repair(&lab, &ONE), 0);
        let good = lab.read(LOCK);
        assert!(!hashes.iter().any(|hash| good.contains(hash)), "{good}");
        assert_exit(&lock(&lab, &[&["--check"], &ONE[..]].concat()), 0);
    }
}

#[test]
fn hashes_of_another_version_are_replaced() {
    let (_registry, lab) = locked(ONE);
    let good = lab.read(LOCK);
    let mut bad = good.clone();
    for platform in [
        "linux_amd64",
        "linux_arm64",
        "darwin_arm64",
        "windows_amd64",
    ] {
        let own = hash(&format!("zh(demo/1.0.0/{platform})"));
        bad = bad.replace(&own, &hash(&format!("zh(demo/1.1.0/{platform})")));
    }
    let own = hash("h1(demo/1.0.0/linux_amd64)");
    let other = hash("h1(demo/1.1.0/linux_amd64)");
    lab.write(LOCK, bad.replace(&own, &other));
    let alarm = lock(&lab, &ONE).exits(1);
    alarm.stderr_has("was the version edited by hand?");

    let outcome = lock(&lab, &[&["--repair"], &ONE[..]].concat()).exits(0);
    // Nothing shows that the `h1:` is not that of another platform.
    assert!(lab.read(LOCK).contains(&other));
    let kept =
        "acme/demo 1.0.0 keeps 1 h1: hash of packages that were not compared, right or wrong";
    outcome.stderr_has(kept);
    // All packages do.
    let outcome = repair(&lab, &ALL).exits(0);
    assert!(!lab.read(LOCK).contains(&other), "{outcome:?}");
}

/// The version was edited by hand: facts show whose the hashes are, though two packages of this release were not hashed.
#[test]
fn hashes_that_facts_attribute_to_another_release_are_replaced() {
    let (_registry, lab) = with_registry(&DEMO.replace("~> 1.0.0", "1.1.0"));
    assert_exit(&facts::lock(&lab, TWO), 0);
    let edited = lab.read(LOCK).replace("\"1.1.0\"", "\"1.0.0\"");
    lab.write("main.tf", DEMO.replace("~> 1.0.0", "1.0.0"));
    lab.write(LOCK, edited);
    let verify = [&["verify", "--flavor", "terraform@1.11"], TWO].concat();
    let outcome = lab.run(&verify).exits(1);
    outcome.stdout_has("hash-not-of-release");
    outcome.stdout_has("run `lockctl lock . --flavor terraform@1.11 --repair`");

    let other = hash("h1(demo/1.1.0/linux_amd64)");
    let outcome = facts::lock(&lab, &[&["--repair", "-v"], TWO].concat()).exits(0);
    outcome.stdout_has(format!("{other}  of another release"));
    let repaired = lab.read(LOCK);
    assert_exit(&lab.run(&verify), 0);
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_exit(&facts::lock(&lab, TWO), 0);
    assert_eq!(repaired, lab.read(LOCK));
}

#[test]
fn what_would_be_replaced_is_shown_and_not_written() {
    let (_registry, lab) = locked(ONE);
    slip(&lab, &[wrong_zh()]);
    let bad = lab.read(LOCK);
    let outcome = repair(&lab, &["--platform", "linux_amd64", "--check"]).exits(1);
    outcome.stdout_has("not in the list");
    let outcome = repair(&lab, &["--platform", "linux_amd64", "--dry-run"]).exits(0);
    outcome.stdout_has("hashes-removed");
    assert_eq!(lab.read(LOCK), bad);
}

#[test]
fn json_has_a_row_of_evidence_for_each_replaced_hash() {
    let (registry, lab) = locked(ALL);
    slip(&lab, &[wrong_zh(), wrong_h1()]);
    let json = repair(&lab, &["--platform", "all", "--format", "json"]).exits(0);
    let said: Value = serde_json::from_str(&steady(&registry, &json.stdout)).unwrap();
    let replaced = said["roots"][0]["providers"][0]["replaced"]
        .as_array()
        .unwrap();
    assert_eq!(replaced.len(), 2);
    assert_eq!(
        replaced[0],
        json!({
            "hash": wrong_zh(),
            "contradicted_by": "signed-list",
            "key_ids": ["KEYID"],
            "computed": [],
        })
    );
    assert_eq!(replaced[1]["contradicted_by"], "every-package");
    let computed = replaced[1]["computed"].as_array().unwrap();
    assert_eq!(computed.len(), 4);
    let linux = json!({"platform": "linux_amd64", "hash": hash("h1(demo/1.0.0/linux_amd64)")});
    assert_eq!(computed[1], linux);
}

#[test]
fn every_root_is_repaired_by_its_own_evidence() {
    let (_registry, lab) = with_registry(DEMO);
    lab.write("a/main.tf", DEMO).write("b/main.tf", DEMO);
    assert_exit(&lock(&lab, &["a", "b", "--platform", "linux_amd64"]), 0);
    let good = lab.read("b/.terraform.lock.hcl");
    let bad = good.replace(
        "  hashes = [",
        &format!("  hashes = [\n    \"{}\",", wrong_zh()),
    );
    lab.write("a/.terraform.lock.hcl", bad);
    assert_exit(&lock(&lab, &["-r", "--platform", "linux_amd64"]), 1);
    let outcome = repair(&lab, &["-r", "--platform", "linux_amd64"]).exits(0);
    assert_eq!(outcome.stdout.matches("not in the list").count(), 1);
    assert_eq!(lab.read("a/.terraform.lock.hcl"), good);
}

#[test]
fn a_release_that_was_published_again_is_repaired() {
    let (registry, lab) = locked(["--platform", "linux_amd64,linux_arm64"]);
    let new = zip_of(&[("terraform-provider-demo_v1.0.0", "published again")]);
    let sums = ["darwin_arm64", "linux_amd64", "windows_amd64"].map(|platform| {
        let zip = Packages::recorded().zip(&format!("demo/1.0.0/{platform}"));
        (platform, crate::registry::sha256_hex(zip))
    });
    let all = sums
        .into_iter()
        .chain([("linux_arm64", crate::registry::sha256_hex(&new))]);
    let sums =
        all.map(|(platform, hex)| format!("{hex}  terraform-provider-demo_1.0.0_{platform}.zip\n"));
    registry.add_zip("acme/demo", "1.0.0", "linux_arm64", &new);
    registry.replace_sums("acme/demo", "1.0.0", sums.collect::<String>().as_bytes());
    registry.reset(&json!({}));
    let platforms = ["--platform", "linux_amd64,linux_arm64"];
    let outcome = lock(&lab, &platforms).exits(1);
    outcome.stderr_has("`lockctl lock . --flavor terraform@1.11 --repair` replace");
    repair(&lab, &platforms).exits(0);
    let old = hash("zh(demo/1.0.0/linux_arm64)");
    assert!(!lab.read(LOCK).contains(&old), "{}", lab.read(LOCK));
    assert_eq!(lab.read(LOCK).matches("zh:").count(), 4);
}

#[test]
fn a_mirror_contradicts_nothing() {
    let (registry, lab) = with_registry(DEMO);
    let zeros = |digit: &str| format!("zh:{}", digit.repeat(64));
    lab.write(
        LOCK,
        format!(
            "provider \"registry.terraform.io/acme/demo\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \
             \"{}\",\n    \"{}\",\n  ]\n}}\n",
            zeros("1"),
            zeros("2"),
        ),
    );
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    check_alarm(
        &lab,
        &["--platform", "linux_amd64", "--net-mirror", &url],
        "find out which copy is genuine",
    );
}

#[test]
fn evidence_that_does_not_hold_repairs_nothing() {
    for (knobs, said) in [
        (json!({"sign_with": "stranger"}), "cannot be trusted"),
        (
            rule("package", "flip"),
            "does not match the hash that its registry states",
        ),
    ] {
        let (registry, lab) = locked(ONE);
        slip(&lab, &[wrong_zh()]);
        let bad = lab.read(LOCK);
        registry.reset(&knobs);
        repair(&lab, &ONE).exits(2).stderr_has(said);
        assert_eq!(lab.read(LOCK), bad);
    }
}

/// Recorded scenarios in which the lock file contradicts the signed list.
#[test]
#[cfg_attr(windows, ignore = "some scenarios have symbolic links")]
fn recorded_lock_files_with_wrong_hashes_are_repaired() {
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    let mut repaired = BTreeSet::new();
    let wrong = hash("zh(nothing a)");
    for scenario in scenarios("lockfile") {
        for engine in scenario.engines() {
            let mut lab = Lab::new();
            let run = scenario.lay_out(&registry, &lab, engine);
            let [step] = &run.steps[..] else {
                continue;
            };
            let mut command = step.args.iter().take(2);
            if !command.any(|word| word == "init" || word == "lock") {
                continue;
            }
            step.prepare(&registry, &mut lab);
            let before = std::fs::read_to_string(run.directory.join(LOCK)).ok();
            // Most scenarios have no such hash, and replays compare them.
            if !before.as_ref().is_some_and(|text| text.contains(&wrong)) {
                continue;
            }
            let args = [
                "lock",
                "--flavor",
                engine.flavor(),
                "--platform",
                "linux_amd64",
            ];
            if lab.run_in("work", &args).code != 1 {
                continue;
            }
            let after = || std::fs::read_to_string(run.directory.join(LOCK)).ok();
            assert_eq!(after(), before, "{}", scenario.id);
            let outcome = lab.run_in("work", &[&args[..], &["--repair"]].concat());
            assert_exit(&outcome, 0);
            let next = lab.run_in("work", &[&args[..], &["--check"]].concat());
            assert_exit(&next, 0);
            assert!(!after().unwrap().contains(&wrong), "{}", scenario.id);
            repaired.insert(format!("{} {}", scenario.id, engine.label()));
        }
    }
    let repaired: Vec<String> = repaired.into_iter().collect();
    repaired.join("\n").reads(str![[r#"
lock-wrong terraform 1.11.4
lock-wrong terraform 1.15.9
lock-wrong terraform 1.16.0-rc2
lock-wrong tofu 1.12.6
lock-wrong-lock terraform 1.11.4
lock-wrong-lock terraform 1.15.9
lock-wrong-lock terraform 1.16.0-rc2
lock-wrong-lock tofu 1.12.6
"#]]);
}

#[test]
fn a_repair_says_that_a_false_h1_may_have_stayed() {
    let (_registry, lab) = locked(ONE);
    slip(&lab, &[wrong_h1()]);
    let bad = lab.read(LOCK);
    repair(&lab, &ONE).exits(0);
    assert_eq!(lab.read(LOCK), bad);
    lock(&lab, &[&["--repair"], &ONE[..]].concat()).stderr_has("--repair --prove --platform all");
    // Without the option nothing was to be repaired.
    lock(&lab, &ONE).exits(0).stderr_lacks("--repair");
    assert_exit(&repair(&lab, &["--prove", "--platform", "all"]), 0);
    assert!(!lab.read(LOCK).contains(&wrong_h1()));
}

#[test]
fn a_package_that_was_added_to_the_list_replaces_nothing() {
    let (registry, lab) = locked(["--platform", "linux_amd64,linux_arm64"]);
    // The new list has every recorded hash, and another zip for a platform.
    let old = lab.read(LOCK);
    let old = old.lines().filter_map(|line| {
        let hex = line.trim().strip_prefix("\"zh:")?.strip_suffix("\",")?;
        Some(format!("{hex}  old-{}.zip\n", &hex[..8]))
    });
    let evil = zip_of(&[("terraform-provider-demo_v1.0.0", "evil")]);
    let own = Packages::recorded().zip("demo/1.0.0/linux_amd64");
    let new = [("linux_arm64", &evil), ("linux_amd64", &own)].map(|(platform, zip)| {
        let hex = crate::registry::sha256_hex(zip);
        format!("{hex}  terraform-provider-demo_1.0.0_{platform}.zip\n")
    });
    let sums = new.concat() + &old.collect::<String>();
    registry.add_zip("acme/demo", "1.0.0", "linux_arm64", &evil);
    registry.replace_sums("acme/demo", "1.0.0", sums.as_bytes());
    registry.reset(&json!({}));
    check_alarm(
        &lab,
        &["--platform", "linux_amd64,linux_arm64"],
        "does not match the lock file",
    );
}
