//! `verify --upstream`: the lock file against what registries sign.

use super::registry::{DEMO, TWO, lock, rule, steady, with_registry};
use super::*;
use crate::registry::{Origin, Registry, TestKey};
use crate::scenarios::Packages;

/// A root that is locked for two platforms, and the registry that it was locked from.
fn locked() -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"sums": ["manifest"]}));
    assert_exit(&lock(&lab, TWO), 0);
    registry.reset(&json!({"sums": ["manifest"]}));
    (registry, lab)
}

fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    let args = ["verify", "--flavor", "terraform@1.11", "--only", "upstream"];
    lab.run(&[&args as &[&str], more].concat())
}

/// Puts a project file there that pins a key.
pub(super) fn pin(lab: &Lab, key: &str) {
    let provider = format!("provider \"acme/demo\" {{ key_id = \"{key}\" }}");
    lab.write(".lockctl.hcl", format!("policy {{\n  {provider}\n}}\n"));
}

/// Adds a line to the hashes of the only entry.
fn slip(lab: &Lab, hash: &str) {
    let added = format!("  hashes = [\n    \"{hash}\",");
    lab.write(LOCK, lab.read(LOCK).replace("  hashes = [", &added));
}

#[test]
fn a_lock_that_agrees_with_its_registry_is_ok() {
    let (registry, lab) = locked();
    let outcome = lab.run(&[&["verify", "--upstream"], TWO].concat()).exits(0);
    outcome.stdout_eq(str![[r#"
.terraform.lock.hcl: complete by count; 1 provider, h1: hashes for 2 platforms, no package installed, 1 signed list compared

"#]]);
    // The registry signs no `h1:`, and no fact is known.
    outcome.stderr_eq(str![[r#"
note: 2 recorded h1: were not compared: a signed list has none, and no known package has them; `lockctl lock . --dry-run --prove --platform all` downloads all packages and compares

"#]]);
    registry.requests()[..2].join("\n").reads(str![[r#"
GET /v1/providers/acme/demo/versions 200
GET /v1/providers/acme/demo/1.0.0/download/darwin/arm64 200
"#]]);
}

#[test]
fn a_hash_that_nobody_signed_is_told_with_its_place() {
    let (_registry, lab) = locked();
    slip(&lab, &format!("zh:{}", "0".repeat(64)));
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
warning[hash-unknown-upstream]: registry.terraform.io/acme/demo 1.0.0 is locked with a zh: hash that no signed list has
 --> .terraform.lock.hcl:8:5
  |
8 |     "zh:0000000000000000000000000000000000000000000000000000000000000000",
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not in the signed list of the release
  |
  = help: it accepts a package that no signature covers: find out where it came from, then run `lockctl lock . --flavor terraform@1.11 --repair`, which takes it out

.terraform.lock.hcl: 1 warning

"#]]);
}

#[test]
fn what_a_registry_says_hides_no_count() {
    let (_registry, lab) = locked();
    for letter in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        slip(&lab, &format!("h1:{}=", letter.repeat(43)));
    }
    for more in [&[][..], &["--upstream"]] {
        let outcome = lab.run(&[&["verify", "--only", "platforms"], more].concat());
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains("[hashes-unexplained]"), "{more:?}: {said}");
    }
}

#[test]
fn an_entry_of_another_version_is_an_alarm() {
    let (_registry, lab) = locked();
    let edited = lab.read(LOCK).replace("\"1.0.0\"", "\"1.1.0\"");
    lab.write(LOCK, edited);
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[hashes-contradicted]: the signed checksums of registry.terraform.io/acme/demo 1.1.0 contradict every zh: of the lock file
 --> .terraform.lock.hcl:7:12
  |
5 |   version     = "1.1.0"
  |                 ------- the locked version
6 |   constraints = "~> 1.0.0"
7 |   hashes = [
  |            ^ none of these is in the signed list
  |
  = help: if the version was edited by hand, restore the entry from version control, or delete its `hashes` and run `lockctl lock . --flavor terraform@1.11`; if not, the release was published again with other files: ask its authors why

.terraform.lock.hcl: 1 error

"#]]);
}

#[test]
fn what_is_missing_of_the_list_is_a_note() {
    let (_registry, lab) = locked();
    let text = lab.read(LOCK);
    // The entry with so many of its `zh:`.
    let with = |count: usize| -> String {
        let (mut others, mut kept) = (String::new(), 0);
        for line in text.lines() {
            kept += usize::from(line.contains("\"zh:"));
            if !line.contains("\"zh:") || kept <= count {
                others += &format!("{line}\n");
            }
        }
        others
    };
    for (content, title) in [
        (
            with(4),
            "registry.terraform.io/acme/demo is locked with 4 of the 5 signed hashes of its release",
        ),
        (
            with(0),
            "registry.terraform.io/acme/demo is locked without the signed hashes of its release",
        ),
    ] {
        lab.write(LOCK, content);
        // It is told once, whatever else is checked.
        for more in [&["--only", "upstream"][..], &["--upstream"]] {
            let base: &[&str] = &["verify", "--platform", "linux_amd64", "--format", "json"];
            let outcome = lab.run(&[base, more].concat()).exits(0);
            let said = outcome.json();
            let findings = said["roots"][0]["findings"].as_array().unwrap().iter();
            let own = findings.filter(|finding| finding["rule"] == "zh-missing");
            let titles: Vec<&str> = own.map(|own| own["title"].as_str().unwrap()).collect();
            assert_eq!(titles, [title], "{more:?}");
        }
    }
}

#[test]
fn a_version_that_was_taken_back_is_an_error() {
    let (registry, lab) = locked();
    let list = json!({"versions": [{"version": "1.2.0", "protocols": ["5.0"], "platforms": []}]});
    registry.reset(&json!({"rules": [
        {"kind": "versions", "action": "answer", "text": list.to_string(), "times": -1},
    ]}));
    verify(&lab, &[]).exits(1).stdout_eq(str![[r#"
error[version-gone]: registry.terraform.io/acme/demo 1.0.0 is no longer offered by its registry
 --> .terraform.lock.hcl:5:17
  |
5 |   version     = "1.0.0"
  |                 ^^^^^^^ the newest release that it offers is 1.2.0
  |
  = help: find out why it was withdrawn; then run `lockctl update . --flavor terraform@1.11 acme/demo`, which selects another version

.terraform.lock.hcl: 1 error

"#]]);
    // A registry that has no version any more does not have this one either.
    registry.reset(&json!({"rules": [
        {"kind": "versions", "action": "answer", "text": "{\"versions\": []}", "times": -1},
    ]}));
    let outcome = verify(&lab, &[]).exits(1);
    outcome.stdout_has("it offers no release at all");
}

#[test]
fn a_newer_patch_is_told_with_what_the_constraints_say() {
    let config = |constraint: &str| DEMO.replace("~> 1.0.0", constraint);
    for (constraint, wanted) in [
        (
            "~> 1.0.0",
            "the constraints allow it: `lockctl update . acme/demo` moves to it",
        ),
        (
            ">= 1.0.0",
            "the constraints \">= 1.0.0\" allow it, and newer ones: `lockctl update . acme/demo` moves \
             to 1.2.0, with --patch to 1.0.10",
        ),
        ("1.0.0", "the constraints \"1.0.0\" do not allow it"),
    ] {
        let (registry, lab) = locked();
        registry.add_zip("acme/demo", "1.0.7", "linux_amd64", b"nobody asks for it");
        registry.add_zip("acme/demo", "1.0.10", "linux_amd64", b"nor for this");
        registry.add_zip(
            "acme/demo",
            "1.0.11-rc1",
            "linux_amd64",
            b"and this is early",
        );
        lab.write("main.tf", config(constraint));
        let groups = ["--only", "upstream,configuration", "--format", "json"];
        let outcome = lab.run(&[&["verify"], &groups[..]].concat()).exits(0);
        let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let findings = said["roots"][0]["findings"].as_array().unwrap().iter();
        let mut own = findings.filter(|finding| finding["rule"] == "newer-patch");
        let own = own.next().unwrap();
        assert_eq!(
            own["title"],
            "registry.terraform.io/acme/demo 1.0.10 is available, a patch upgrade from 1.0.0"
        );
        let help = own["help"].as_str().unwrap();
        assert_eq!(help.replace(lab.dir().to_str().unwrap(), "."), wanted);
    }
}

#[test]
fn a_pinned_key_may_be_an_id_or_a_fingerprint() {
    let (_registry, lab) = locked();
    let main = TestKey::Main;
    let spaced: Vec<String> = main
        .fingerprint()
        .as_bytes()
        .chunks(4)
        .map(|four| String::from_utf8_lossy(four).to_lowercase())
        .collect();
    for key in [main.id(), main.fingerprint(), spaced.join(" ")] {
        pin(&lab, &key);
        assert_exit(&verify(&lab, &[]), 0);
    }
    let stranger = TestKey::Stranger;
    for key in [stranger.id(), stranger.fingerprint()] {
        pin(&lab, &key);
        let outcome = verify(&lab, &[]).exits(1);
        let found = format!(
            "registry.terraform.io/acme/demo 1.0.0 is signed by key {}, which the policy does not pin",
            main.id()
        );
        outcome.stdout_has(&found);
        outcome.stdout_has(format!("signed by {}", main.fingerprint()));
        outcome.stdout_has(format!(".lockctl.hcl pins {key}"));
        lab.run(&["verify", "--upstream", "--skip", "policy,platforms"])
            .exits(0);
    }
}

#[test]
fn evidence_that_does_not_hold_reads_as_in_lock() {
    for knobs in [
        json!({"no_keys": true}),
        rule("signature", "other_key"),
        rule("signature", "404"),
        rule("shasums", "wrong_checksum"),
        rule("versions", "503"),
        rule("download", "html"),
    ] {
        let (registry, lab) = locked();
        registry.reset(&knobs);
        let wanted = lock(&lab, &["--platform", "darwin_arm64", "-q"]).exits(2);
        let before = lab.read(LOCK);
        registry.reset(&knobs);
        let outcome = verify(&lab, &[]).exits(2);
        assert_eq!(outcome.stderr, wanted.stderr, "{knobs}");
        outcome.stdout_eq(str![[r#"
.terraform.lock.hcl: not everything could be checked

"#]]);
        assert_eq!(lab.read(LOCK), before);
    }
}

#[test]
fn one_failure_stops_no_other_provider() {
    let two = DEMO.replace(
        "    demo = {",
        "    null = {\n      source = \"acme/null\"\n    }\n    demo = {",
    );
    let (registry, lab) = with_registry(&two);
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let unknown = format!("  hashes = [\n    \"zh:{}\",", "0".repeat(64));
    lab.write(LOCK, lab.read(LOCK).replace("  hashes = [", &unknown));
    registry.reset(&json!({"rules": [
        {"kind": "versions", "action": "404", "path": "acme/demo", "times": -1},
    ]}));
    let outcome = verify(&lab, &[]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the registry of registry.terraform.io has no provider registry.terraform.io/acme/demo
  help: check the source address; a provider without one in required_providers is taken for one of the namespace hashicorp
note: 1 recorded h1: was not compared: a signed list has none, and no known package has them; `lockctl lock . --flavor terraform@1.11 --dry-run --prove --platform all` downloads all packages and compares
note: `lockctl explain hash-unknown-upstream` says what this means and how to fix it

"#]]);
    outcome.stdout_has("acme/null 3.0.0 is locked with a zh: hash that no signed list has");
}

/// Serves a list of its own for each of two platforms, and no package for the others.
fn serve_two_lists(registry: &Registry) {
    let list = |platform: &str| {
        let zip = Packages::recorded().zip(&format!("demo/1.0.0/{platform}"));
        let hash = crate::registry::sha256_hex(&zip);
        format!("{hash}  terraform-provider-demo_1.0.0_{platform}.zip\n")
    };
    registry.add_zip("acme/mac", "1.0.0", "darwin_arm64", b"nobody asks for it");
    registry.replace_sums("acme/mac", "1.0.0", list("darwin_arm64").as_bytes());
    registry.replace_sums("acme/demo", "1.0.0", list("linux_amd64").as_bytes());
    let files = registry.url(Origin::Files);
    let sums = format!("{files}/files/acme/mac/1.0.0/terraform-provider-mac_1.0.0_SHA256SUMS");
    let gone = |path: &str| json!({"kind": "download", "action": "404", "times": -1, "path": path});
    registry.reset(&json!({"rules": [
        {"kind": "download", "action": "patch", "times": -1, "path": "darwin/arm64", "set": {
            "shasums_url": sums, "shasums_signature_url": format!("{sums}.sig"),
        }},
        gone("linux/arm64"),
        gone("windows/amd64"),
    ]}));
}

#[test]
fn a_list_of_its_own_for_each_platform_is_read() {
    let (registry, lab) = with_registry(DEMO);
    serve_two_lists(&registry);
    assert_exit(&lock(&lab, TWO), 0);
    serve_two_lists(&registry);
    assert_exit(&verify(&lab, &[]), 0);
    let asked = registry.entries().into_iter();
    let asked = asked.filter(|entry| entry.target.contains("/download/"));
    assert_eq!(asked.count(), 4);
    slip(&lab, &format!("zh:{}", "0".repeat(64)));
    let outcome = verify(&lab, &[]).exits(1);
    outcome.stdout_has("hash-unknown-upstream");
}

#[test]
fn each_release_is_asked_about_once() {
    let (registry, lab) = locked();
    for root in ["a", "b"] {
        lab.write(&format!("{root}/main.tf"), DEMO);
        lab.write(&format!("{root}/{LOCK}"), lab.read(LOCK));
    }
    verify(&lab, &["a", "b", "."]).exits(0);
    assert_eq!(registry.entries().len(), 4, "{:?}", registry.requests());
}

#[test]
fn nobody_is_asked_unless_that_is_wanted() {
    let (registry, lab) = locked();
    assert_exit(&lab.run(&[&["verify"], TWO].concat()), 0);
    lab.run(&["verify", "--upstream", "--skip", "upstream,platforms"])
        .exits(0);
    assert!(registry.entries().is_empty());
    for words in [
        &["verify", "--upstream", "--offline"][..],
        &["verify", "--only", "upstream", "--offline"],
    ] {
        let outcome = lab.run(words).exits(2);
        outcome.stderr_has("'--upstream' needs the network, and '--offline' forbids requests");
    }
}

#[test]
fn a_broken_cli_configuration_keeps_registries_from_being_asked() {
    let (registry, lab) = locked();
    lab.write("rc", "host \"registry.terraform.io\" {\n");
    let outcome = verify(&lab, &[]).exits(2);
    outcome.stdout_has("rc:");
    outcome.stderr_eq(str![[r#"
error: the registries were not asked
  cause: the CLI configuration has errors
  help: correct them first
note: `lockctl explain syntax-error` says what this means and how to fix it

"#]]);
    assert!(registry.entries().is_empty());
}

#[test]
fn show_says_whose_each_zh_is() {
    let (_registry, lab) = locked();
    let other = format!("zh:{}", "0".repeat(64));
    slip(&lab, &other);
    let outcome = lab.run(&["show", "--upstream", "-v"]);
    let owner = |line: &str| {
        let (hash, owner) = line.trim().split_once("  ")?;
        hash.starts_with("zh:").then(|| owner.to_owned())
    };
    let mut owners: Vec<String> = outcome.stdout.lines().filter_map(owner).collect();
    owners.sort();
    let platforms = [
        "darwin_arm64",
        "linux_amd64",
        "linux_arm64",
        "windows_amd64",
    ];
    let wanted = [&platforms[..], &["manifest", "not in the signed list"]].concat();
    for owner in wanted {
        assert!(
            owners.iter().any(|known| known == owner),
            "{owner}: {}",
            outcome.stdout
        );
    }
    outcome.stdout_has(format!("{other}  not in the signed list"));
}
