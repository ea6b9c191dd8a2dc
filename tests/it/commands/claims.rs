//! Hashes that a registry or a mirror states and nothing signs: what OpenTofu makes of them, and what
//! lockctl does.
//!
//! Each attack names what OpenTofu was recorded to do (`fixtures/source-cases/package-hashes.json` and
//! `netmirror.json`).

use super::registry::{DEMO, with_registry};
use super::*;
use crate::registry::Registry;
use crate::scenarios::Packages;

const TOFU: [&str; 5] = ["lock", "--flavor", "opentofu", "--platform", "linux_amd64"];

fn h1(lock: &str) -> Vec<String> {
    let texts = lock.split('"').filter(|text| text.starts_with("h1:"));
    texts.map(str::to_owned).collect()
}

/// The real `h1:` of the package of a platform.
fn own_h1(platform: &str) -> String {
    let zip = Packages::recorded().zip(&format!("demo/1.0.0/{platform}"));
    let limits = &lockctl::archive::Limits::PACKAGE;
    let hashed = lockctl::archive::zip::hash_zip(std::io::Cursor::new(zip), limits).unwrap();
    hashed.h1.to_string()
}

/// A registry that states hashes, all of which whose text contains `only` are false.
pub(super) fn lies(only: &str) -> Value {
    json!({
        "packages": true,
        "rules": [{"kind": "download", "action": "wrong_packages", "only": only, "times": -1}],
    })
}

fn remove_lock(lab: &Lab) {
    std::fs::remove_file(lab.path(LOCK)).unwrap();
}

fn zips(registry: &Registry) -> usize {
    let entries = registry.entries().into_iter();
    entries.filter(|one| one.target.ends_with(".zip")).count()
}

#[track_caller]
fn assert_alarm(outcome: &Outcome, said: &str) {
    assert_exit(outcome, 1);
    let is_said = outcome.stderr.contains(said) && outcome.stderr.contains("nothing was written");
    assert!(is_said, "{outcome:#?}");
}

#[test]
fn what_is_stated_of_other_platforms_is_written_and_called_claimed() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"packages": true}));
    let outcome = lab.run(&TOFU).exits(0);
    assert_eq!(zips(&registry), 1);
    let lock = h1(&lab.read(LOCK));
    for platform in ["linux_amd64", "darwin_arm64"] {
        assert!(lock.contains(&own_h1(platform)), "{platform}");
    }
    outcome.stdout_has(" claimed");
    let said = "claimed by registry.opentofu.org, and nothing proves";
    outcome.stderr_has(said);

    // Every run says so, new or not.
    let outcome = lab.run(&TOFU);
    outcome.stdout_has("is up to date");
    outcome.stderr_has(said);

    // JSON names the source of each.
    let outcome = lab.run(&[&TOFU[..], &["--format", "json"]].concat());
    let json = outcome.json();
    let hashes = json["roots"][0]["providers"][0]["hashes"].as_array();
    let hashes = hashes.unwrap().iter();
    let claimed: Vec<&Value> = hashes
        .filter(|hash| hash["provenance"] == "claimed")
        .collect();
    assert_eq!(claimed.len(), lock.len() - 1, "{json:#}");
    let is_named = |hash: &&Value| hash["evidence"]["stated_by"] == "registry.opentofu.org";
    assert!(claimed.iter().all(is_named), "{claimed:?}");

    // With --prove every package is looked at, and nothing is only claimed.
    let outcome = lab.run(&[&TOFU[..], &["--prove"]].concat()).exits(0);
    outcome.stdout_has("is up to date");
    outcome.stderr_lacks("claimed");
}

#[test]
fn a_project_says_how_far_statements_count() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"packages": true}));
    lab.write(".lockctl.hcl", "trust {\n  h1 = \"proven\"\n}\n");
    assert_exit(&lab.run(&TOFU), 0);
    assert_eq!(h1(&lab.read(LOCK)), [own_h1("linux_amd64")]);

    remove_lock(&lab);
    lab.write(".lockctl.hcl", "trust {\n  h1 = \"claimed\"\n}\n");
    registry.reset(&json!({"packages": true}));
    assert_exit(&lab.run(&TOFU), 0);
    assert_eq!(zips(&registry), 0);
    let claimed = lab.read(LOCK);
    assert!(h1(&claimed).contains(&own_h1("linux_amd64")));

    // As without that setting, but without any download.
    remove_lock(&lab);
    lab.write(".lockctl.hcl", "");
    assert_exit(&lab.run(&TOFU), 0);
    assert_eq!(lab.read(LOCK), claimed);

    // Those who are not named are not believed.
    remove_lock(&lab);
    lab.write(
        ".lockctl.hcl",
        "trust {\n  h1 = \"claimed\"\n  h1_from = [\"registry.example.com\"]\n}\n",
    );
    assert_exit(&lab.run(&[&TOFU[..], &["--no-cache"]].concat()), 0);
    assert_eq!(h1(&lab.read(LOCK)), [own_h1("linux_amd64")]);
}

#[test]
fn enforced_validation_takes_nothing_that_is_stated() {
    let (registry, mut lab) = with_registry(DEMO);
    registry.reset(&lies("darwin_arm64 h1:"));
    lab.set("OPENTOFU_ENFORCE_GPG_VALIDATION", "true");
    let outcome = lab.run(&TOFU).exits(0);
    assert_eq!(h1(&lab.read(LOCK)), [own_h1("linux_amd64")]);
    outcome.stderr_lacks("claimed");
}

/// `OpenTofu`: written silently, beside the right one (`pkg-own-h1-false`).
#[test]
fn attack_a_false_h1_of_the_own_platform() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&lies("linux_amd64 h1:"));
    let own = own_h1("linux_amd64");
    assert_alarm(&lab.run(&TOFU), &format!("but the package has {own}"));
    assert!(!lab.path(LOCK).exists());

    // Also where a true one is locked (`pkg-own-h1-false-locked`: written silently).
    registry.reset(&json!({}));
    lab.write(".lockctl.hcl", "trust {\n  h1 = \"proven\"\n}\n");
    assert_exit(&lab.run(&TOFU), 0);
    let locked = lab.read(LOCK);
    registry.reset(&lies("linux_amd64 h1:"));
    assert_alarm(&lab.run(&TOFU), "false hashes are stated");
    assert_eq!(lab.read(LOCK), locked);
}

/// `OpenTofu`: written silently; `providers lock` for that platform adds the right one beside it
/// (`pkg-foreign-h1-false-then-lock`).
#[test]
fn attack_a_false_h1_of_a_wanted_platform() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&lies("darwin_arm64 h1:"));
    let both = [&TOFU[..4], &["linux_amd64,darwin_arm64"]].concat();
    let outcome = lab.run(&both);
    let own = own_h1("darwin_arm64");
    assert_alarm(
        &outcome,
        &format!("for darwin_arm64, but the package has {own}"),
    );
    assert!(!lab.path(LOCK).exists());
}

/// `OpenTofu`: written silently (`pkg-foreign-h1-false`).
#[test]
fn attack_a_false_h1_of_an_unwanted_platform() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&lies("darwin_arm64 h1:"));
    let outcome = lab.run(&TOFU).exits(0);
    outcome.stderr_has("claimed by registry.opentofu.org, and nothing proves");
    assert!(!h1(&lab.read(LOCK)).contains(&own_h1("darwin_arm64")));
    assert!(h1(&lab.read(LOCK)).len() > 1);

    // Whoever wants proof finds it.
    let outcome = lab.run(&[&TOFU[..], &["--prove"]].concat());
    assert_alarm(&outcome, "for darwin_arm64, but the package has");

    // So does whoever has hashed that package before.
    remove_lock(&lab);
    registry.reset(&json!({}));
    let darwin = [&TOFU[..4], &["darwin_arm64"]].concat();
    assert_exit(&lab.run(&darwin), 0);
    remove_lock(&lab);
    registry.reset(&lies("darwin_arm64 h1:"));
    let own = own_h1("darwin_arm64");
    let outcome = lab.run(&TOFU);
    assert_alarm(
        &outcome,
        &format!("for darwin_arm64, but an earlier run computed {own}"),
    );
    assert!(!lab.path(LOCK).exists());
}

/// `OpenTofu`: written silently (`pkg-foreign-zh-false`).
#[test]
fn attack_a_false_zh() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&lies("darwin_arm64 zh:"));
    let said = "for darwin_arm64, but its checksum list does not have it";
    assert_alarm(&lab.run(&TOFU), said);
    assert!(!lab.path(LOCK).exists());
}

/// `OpenTofu`: accepts the other zip, without a warning (`pkg-injected-h1-then-registry`).
#[test]
fn attack_keys_are_withheld_after_an_h1_was_slipped_in() {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lab.run(&TOFU), 0);
    // The h1: of the zip to come, as a run of OpenTofu would have written it.
    let other = Packages::recorded().zip("demo/1.1.0/linux_amd64");
    let limits = &lockctl::archive::Limits::PACKAGE;
    let hashed = lockctl::archive::zip::hash_zip(std::io::Cursor::new(&other), limits).unwrap();
    let slipped = format!("    \"{}\",\n    \"h1:", hashed.h1);
    let lock = lab.read(LOCK).replacen("    \"h1:", &slipped, 1);
    lab.write(LOCK, &lock);
    registry.add_zip("acme/demo", "1.0.0", "linux_amd64", &other);
    registry.reset(&json!({"no_keys": true}));
    let outcome = lab.run(&[&TOFU[..], &["--no-cache"]].concat()).exits(1);
    outcome.stderr_has("nothing was written");
    assert_eq!(lab.read(LOCK), lock);
}

/// The registries of both programs have the same packages, as for most providers.
#[test]
fn terraform_can_take_what_the_other_registry_states() {
    let (registry, lab) = with_registry(DEMO);
    let args = ["lock", "--flavor", "terraform", "--platform", "common"];
    assert_exit(&lab.run(&args), 0);
    let proven = lab.read(LOCK);
    remove_lock(&lab);
    lab.write(
        ".lockctl.hcl",
        "trust {\n  h1 = \"claimed\"\n  h1_from = [\"registry.opentofu.org\"]\n}\n",
    );
    registry.reset(&json!({"packages": true}));
    let fresh = [&args[..], &["--no-cache"]].concat();
    let outcome = lab.run(&fresh).exits(0);
    assert_eq!(zips(&registry), 0, "{outcome:#?}");
    assert_eq!(lab.read(LOCK), proven);
    let said = "claimed by registry.opentofu.org, and nothing proves";
    outcome.stderr_has(said);

    // --prove checks them.
    let outcome = lab.run(&[&args[..], &["--prove"]].concat()).exits(0);
    outcome.stderr_lacks("claimed");
    registry.reset(&lies("linux_amd64 h1:"));
    let outcome = lab.run(&[&args[..], &["--prove"]].concat());
    assert_alarm(&outcome, "registry.opentofu.org states");

    // A package that was built anew there has another zh:, and is downloaded.
    remove_lock(&lab);
    registry.reset(&lies("linux_amd64 zh:"));
    let outcome = lab.run(&fresh).exits(0);
    assert_eq!(zips(&registry), 1, "{outcome:#?}");
    assert_eq!(lab.read(LOCK), proven);

    // A registry that gives no answer costs the download only.
    remove_lock(&lab);
    let knobs = json!({"packages": false});
    registry.reset(&knobs);
    assert_exit(&lab.run(&fresh), 0);
    assert!(zips(&registry) > 1);
    assert_eq!(lab.read(LOCK), proven);
}

#[test]
fn verify_says_which_hashes_are_only_claimed() {
    let (registry, mut lab) = with_registry(DEMO);
    registry.reset(&json!({"packages": true}));
    assert_exit(&lab.run(&TOFU), 0);
    let verify = words("verify --flavor opentofu --upstream --platform linux_amd64 -v");
    lab.run(&verify).exits(0).stdout_has("hashes-claimed");
    let name = "OPENTOFU_ENFORCE_GPG_VALIDATION";
    lab.set(name, "true");
    lab.run(&verify).exits(0).stdout_lacks("hashes-claimed");
    lab.env.vars.remove(name);
    registry.reset(&lies("darwin_arm64 zh:"));
    lab.run(&verify).exits(1).stdout_has("stated-hash-false");
    registry.reset(&json!({"packages": true}));
    assert_exit(&lab.run(&[&TOFU[..], &["--prove"]].concat()), 0);
    lab.run(&verify).exits(0).stdout_lacks("hashes-claimed");
}

/// As many `h1:` as wanted, of other platforms: only what the registry states shows it.
#[test]
fn a_stated_h1_that_is_missing_is_a_finding_and_hides_none() {
    let (registry, lab) = with_registry(DEMO);
    lab.write(".lockctl.hcl", "trust {\n  h1 = \"proven\"\n}\n");
    registry.reset(&json!({"packages": true}));
    let others = "linux_amd64,windows_amd64";
    let lock = ["lock", "--flavor", "opentofu", "--platform", others];
    assert_exit(&lab.run(&lock), 0);
    let verify = |more: &[&str]| {
        let wanted = "--platform=linux_amd64,darwin_arm64";
        let args = ["verify", "--flavor", "opentofu", "--no-cache", wanted];
        lab.run(&[&args[..], more].concat())
    };
    let offline = verify(&[]).exits(0);
    offline.stdout_has("complete by count; 1 provider, h1: hashes for 2 platforms");

    let outcome = verify(&["--upstream"]).exits(1);
    outcome.stdout_has("[platforms-incomplete]");
    let stated = "none for darwin_arm64; that of darwin_arm64 is stated by registry.opentofu.org";
    outcome.stdout_has(stated);

    // A package whose zh: is not signed says nothing, nor does one that is recorded.
    registry.reset(&lies("darwin_arm64 zh:"));
    verify(&["--upstream"]).stdout_lacks("[platforms-incomplete]");
    registry.reset(&json!({"packages": true}));
    let right = lab.read(LOCK);
    let second = format!("    \"{}\",\n    \"zh:", own_h1("darwin_arm64"));
    lab.write(LOCK, right.replacen("    \"zh:", &second, 1));
    let outcome = verify(&["--upstream"]).exits(0);
    outcome.stdout_has("complete by count; ");
    // Where no list is stated it is a note.
    lab.write(LOCK, right);
    let args = ["verify", "--flavor", "opentofu", "--no-cache", "--upstream"];
    lab.run(&args).exits(0).stderr_has("the default list");
}

#[test]
fn where_every_hash_is_false_and_the_list_is_unsigned_the_advice_works() {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lab.run(&TOFU), 0);
    let right = lab.read(LOCK);
    let begin = right.find("  hashes = [").unwrap();
    let end = right.find("  ]\n").unwrap() + "  ]\n".len();
    let (before, after) = (&right[..begin], &right[end..]);
    let hash = format!("    \"zh:{}\",\n", "0".repeat(64));
    lab.write(LOCK, format!("{before}  hashes = [\n{hash}  ]\n{after}"));
    registry.reset(&json!({"no_keys": true}));
    let fresh = [&TOFU[..], &["--no-cache"]].concat();
    let outcome = lab.run(&fresh);
    let advice =
        "if it was not, delete `hashes` from the entry and lock again, which keeps the version";
    assert_alarm(&outcome, advice);
    // No option repairs it, because nothing signed shows what is right.
    assert_exit(&lab.run(&[&fresh[..], &["--repair"]].concat()), 1);
    lab.write(LOCK, format!("{before}{after}"));
    assert_exit(&lab.run(&fresh), 0);
    assert!(lab.read(LOCK).contains("version     = \"1.0.0\""));
    assert!(lab.read(LOCK).contains(&own_h1("linux_amd64")));
}
