//! What facts of earlier runs say about the hashes of lock files.

use lockctl::addr::ProviderAddr;
use lockctl::flavor::Flavor;
use lockctl::os::{RealClock, RealDisk};
use lockctl::package::Fact;
use lockctl::store::{FactOrigin, Removal, Store};
use lockctl::world::Disk;

use super::facts::{STORE, lock, locked};
use super::registry::{DEMO, TWO, with_registry};
use super::*;

/// Verifies for some platforms.
fn verify(lab: &Lab, platforms: &str, more: &[&str]) -> Outcome {
    let first = [
        "verify",
        "--flavor",
        "terraform@1.11",
        "--platform",
        platforms,
    ];
    lab.run(&[&first, more].concat())
}

/// Verifies with and without facts, and compares the rules of the findings and the exit codes.
#[track_caller]
fn check(lab: &Lab, platforms: &str, with: (&[&str], u8), without: (&[&str], u8)) {
    for (more, (wanted, exit)) in [(&[][..], with), (&["--no-cache"], without)] {
        let outcome = verify(lab, platforms, &[more, &["--format", "json"]].concat());
        assert_eq!(rules(&outcome), wanted, "{more:?}");
        assert_exit(&outcome, exit);
    }
}

/// Puts other facts into the place of those that runs left.
pub(super) fn replace_facts(lab: &Lab, origin: &FactOrigin, change: impl Fn(&mut Fact)) {
    let store = Store::new(RealDisk.objects(&lab.path(STORE)), &RealClock);
    let kept = store.inventory().unwrap().facts;
    assert!(!kept.is_empty());
    store.clean(Removal::Everything, false).unwrap();
    for mut stored in kept {
        change(&mut stored.fact);
        store.put(&stored.fact, origin.clone()).unwrap();
    }
}

/// An `h1:` of no package.
fn wrong() -> String {
    format!("h1:{}=", "A".repeat(43))
}

#[test]
fn show_says_which_platform_a_hash_belongs_to() {
    let (_registry, lab) = locked();
    let show = |more: &[&str]| {
        let outcome = lab.run(&[&["show", "--flavor", "terraform@1.11"], more].concat());
        assert_exit(&outcome, 0);
        outcome.stdout
    };
    show(&["-v"]).reads(str![[r#"
PROVIDER   VERSION  CONSTRAINTS  h1  zh  other  KNOWN PLATFORMS
acme/demo  1.0.0    ~> 1.0.0     2   4   0      darwin_arm64 linux_amd64
    h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=  linux_amd64
    h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  darwin_arm64
    zh:275a11312187e269df2df09571579c85f44f0dea0ed4edb1b97e1bc1ea1e4b8e  windows_amd64
    zh:305f2feec166f157a0df602b52d0b4dfba43f7bd1f4639061f420b3aa3dff8af  linux_arm64
    zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5  linux_amd64
    zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896  darwin_arm64

"#]]);
    show(&["--no-cache"]).reads(str![[r#"
PROVIDER   VERSION  CONSTRAINTS  h1  zh  other  KNOWN PLATFORMS
acme/demo  1.0.0    ~> 1.0.0     2   4   0      -

"#]]);
    let json: Value = serde_json::from_str(&show(&["--format", "json"])).unwrap();
    let hashes = json["roots"][0]["providers"][0]["hashes"].as_array();
    let of_linux = hashes.unwrap().iter();
    let of_linux = of_linux.filter(|row| row["platforms"] == serde_json::json!(["linux_amd64"]));
    let of_linux: Vec<&str> = of_linux
        .map(|row| &row["hash"].as_str().unwrap()[..3])
        .collect();
    assert_eq!(of_linux, ["h1:", "zh:"]);
}

#[test]
fn facts_attribute_hashes_and_hide_nothing() {
    let (_registry, lab) = locked();
    let (known, counted): (&[&str], &[&str]) = (&[], &["platforms-unattributed"]);
    check(&lab, "linux_amd64,darwin_arm64", (known, 0), (counted, 0));
    // The verdict is not `ok` where hashes are only counted.
    for (more, proof, word) in [
        (&[][..], "proven", "ok; "),
        (&["--no-cache"], "counted", "complete by count; "),
    ] {
        let both = "linux_amd64,darwin_arm64";
        verify(&lab, both, more).stdout_has(word);
        let json = verify(&lab, both, &[&["--format", "json"], more].concat());
        let document = json.json();
        assert_eq!(document["roots"][0]["proof"], proof, "{json:#?}");
        assert_eq!(document["roots"][0]["status"], "clean", "{json:#?}");
    }
    // As many as are wanted, but of other platforms.
    let incomplete: &[&str] = &["platforms-incomplete"];
    check(
        &lab,
        "linux_amd64,windows_amd64",
        (incomplete, 1),
        (counted, 0),
    );
    check(&lab, "windows_amd64", (incomplete, 1), (counted, 0));
    let three = "linux_amd64,darwin_arm64,windows_amd64";
    check(&lab, three, (incomplete, 1), (incomplete, 1));
    // No release is for it: more hashes would not help.
    let outcome = verify(&lab, "linux_amd64,darwin_arm64,openbsd_arm", &[]);
    outcome.stdout.clone().reads(str![[r#"
warning[platforms-incomplete]: 1 of 3 wanted platforms of registry.terraform.io/acme/demo lacks an h1: hash
 --> .terraform.lock.hcl:4:1
  |
4 | provider "registry.terraform.io/acme/demo" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 2 h1: recorded, none for openbsd_arm; the release has no package for openbsd_arm
  |
  = help: no h1: can be added: leave openbsd_arm out of --platform
          wanted: darwin_arm64, linux_amd64, openbsd_arm (stated by --platform)

.terraform.lock.hcl: 1 warning

"#]]);
    assert_exit(&outcome, 1);
    verify(&lab, "linux_amd64,darwin_arm64", &[]).exits(0);
}

#[test]
fn verify_leaves_the_store_as_it_is() {
    let lab = Lab::new();
    lab.write("main.tf", DEMO);
    let mut lab = lab;
    let home = lab.path("home");
    lab.set("XDG_CACHE_HOME", home.join(".cache"));
    for command in ["verify", "show"] {
        lab.run(&[command]);
        assert!(!lab.path("home").exists(), "{command}");
    }
}

#[test]
fn an_h1_that_was_slipped_in_is_found_once_all_packages_are_known() {
    let (_registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, TWO), 0);
    let complete = |platforms: &str| {
        assert_exit(&lock(&lab, &["--platform", platforms]), 0);
        lab.read(LOCK)
    };
    // One of four packages is not known: an h1: that is left over may be its own.
    complete("linux_amd64,darwin_arm64,linux_arm64");
    let insert = |text: &str| {
        let line = format!("  hashes = [\n    \"{}\",", wrong());
        lab.write(LOCK, text.replacen("  hashes = [", &line, 1));
    };
    insert(&lab.read(LOCK));
    let three = "linux_amd64,darwin_arm64,linux_arm64";
    check(&lab, three, (&[], 0), (&["platforms-unattributed"], 0));
    // In the place of another one, so that counts show nothing.
    lab.write(
        LOCK,
        lab.read(LOCK)
            .replace(&format!("    \"{}\",\n", wrong()), ""),
    );
    let all = complete("all");
    let other: Vec<&str> = all.lines().filter(|line| line.contains("\"h1:")).collect();
    let slipped = all.replace(other[0].trim(), &format!("\"{}\",", wrong()));
    lab.write(LOCK, slipped);
    let platforms = "linux_amd64,darwin_arm64,linux_arm64,windows_amd64";
    let found: &[&str] = &["hash-not-of-release", "platforms-incomplete"];
    check(
        &lab,
        platforms,
        (found, 1),
        (&["platforms-unattributed"], 0),
    );
    verify(&lab, platforms, &[]).stdout.reads(str![[r#"
warning[platforms-incomplete]: 1 of 4 wanted platforms of registry.terraform.io/acme/demo lacks an h1: hash
 --> .terraform.lock.hcl:4:1
  |
4 | provider "registry.terraform.io/acme/demo" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 4 h1: recorded, none for linux_amd64
  |
  = help: run `lockctl lock . --flavor terraform@1.11 --platform darwin_arm64,linux_amd64,linux_arm64,windows_amd64` to add what is missing (stated by --platform)

error[hash-not-of-release]: registry.terraform.io/acme/demo 1.0.0 is locked with 1 h1: hash of no package of the release
 --> .terraform.lock.hcl:8:5
  |
8 |     "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ none of its 4 packages has this hash
  |
  = help: it accepts a package that no signature covers: find out in the history of the file where it came from; then run `lockctl lock . --flavor terraform@1.11 --repair --platform all`

.terraform.lock.hcl: 1 error, 1 warning

"#]]);
    // Beside all others.
    insert(&all);
    let found: &[&str] = &["hash-not-of-release", "hashes-unexplained"];
    let counted: &[&str] = &["hashes-unexplained", "platforms-unattributed"];
    check(&lab, platforms, (found, 1), (counted, 1));
}

#[test]
fn hashes_of_an_older_release_under_a_new_version_are_found() {
    let (_registry, lab) = locked();
    lab.write(LOCK, lab.read(LOCK).replace("\"1.0.0\"", "\"1.0.1\""));
    let two = "linux_amd64,darwin_arm64";
    let found: &[&str] = &["hash-not-of-release", "platforms-unattributed"];
    check(&lab, two, (found, 1), (&["platforms-unattributed"], 0));
    verify(&lab, two, &[]).stdout.reads(str![[r#"
error[hash-not-of-release]: registry.terraform.io/acme/demo 1.0.1 is locked with 4 hashes of registry.terraform.io/acme/demo 1.0.0
  --> .terraform.lock.hcl:8:5
   |
 5 |   version     = "1.0.1"
   |                 ------- the locked version
...
 8 |     "h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=",
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ of the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64
 9 |     "h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=",
   |     ------------------------------------------------- of the package of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64
...
12 |     "zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5",
   |     --------------------------------------------------------------------- of the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64
13 |     "zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896",
   |     --------------------------------------------------------------------- of the package of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64
   |
   = help: an earlier run downloaded that package and proved what it is; if the version was edited by hand, restore the entry from version control, else find out where the hashes came from; then run `lockctl lock . --flavor terraform@1.11 --repair`

.terraform.lock.hcl: 1 error; 1 note (-v shows it)

"#]]);
}

/// Hashes of other packages accept none, and the matrix and the help say the same of `init`.
#[test]
fn the_matrix_and_the_findings_predict_the_same() {
    let (_registry, lab) = locked();
    let whole = lab.read(LOCK);
    let zeros = format!("zh:{}", "0".repeat(64));
    let linux = "zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5";
    let darwin = "zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896";
    let h1_of_darwin = "h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=";
    let with = |hashes: &[&str]| {
        let is_hash = |line: &&str| line.contains("\"h1:") || line.contains("\"zh:");
        let rest: Vec<&str> = whole.lines().filter(|line| !is_hash(line)).collect();
        let lines: String = hashes
            .iter()
            .map(|hash| format!("\n    \"{hash}\","))
            .collect();
        let rest = rest.join("\n") + "\n";
        rest.replace("hashes = [", &format!("hashes = [{lines}"))
    };
    let failure = "`terraform init` fails: Failed to install provider";
    for (text, outcome, is_said) in [
        (whole.replace("\"1.0.0\"", "\"1.0.1\""), "fails", false),
        (with(&[&zeros]), "fails", true),
        (with(&[darwin]), "fails", true),
        (with(&[h1_of_darwin, linux]), "rewrites", false),
    ] {
        lab.write(LOCK, &text);
        let json = verify(&lab, "linux_amd64", &["--matrix", "--format", "json"]).json();
        let registry = json["roots"][0]["matrix"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["route"] == "registry")
            .unwrap();
        assert_eq!(registry["outcome"], outcome, "{text}: {registry:#}");
        let said = verify(&lab, "linux_amd64", &[]).stdout;
        assert_eq!(said.contains(failure), is_said, "{text}: {said}");
    }
}

#[test]
fn platforms_that_facts_prove_count_as_locked() {
    let (_registry, lab) = locked();
    let before = lab.read(LOCK);
    assert_exit(&lock(&lab, &["--platform", "locked"]), 0);
    assert_eq!(lab.read(LOCK), before);
    let outcome = verify(&lab, "locked", &[]).exits(0);
    outcome.stdout_lacks("unattributed");
    for more in ["--no-cache", "--prove"] {
        let outcome = lock(&lab, &["--platform", "locked", more]).exits(2);
        assert!(outcome.stderr.contains("could not be determined"), "{more}");
    }
}

#[test]
fn files_that_differ_from_a_known_package_are_named() {
    let (_registry, lab) = locked();
    let dir = ".terraform/providers/registry.terraform.io/acme/demo/1.0.0/linux_amd64";
    lab.write(&format!("{dir}/terraform-provider-demo_v1.0.0"), "changed");
    lab.write(&format!("{dir}/added"), "");
    let outcome = verify(&lab, "linux_amd64,darwin_arm64", &[]).exits(1);
    outcome.stdout.clone().reads(str![[r#"
error[package-mismatch]: The installed package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 does not match the lock file
 --> .terraform.lock.hcl:4:1
  |
4 | provider "registry.terraform.io/acme/demo" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no recorded h1: matches .terraform/providers/registry.terraform.io/acme/demo/1.0.0/linux_amd64
  |
  = help: it differs from the zip zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5, which is recorded:
            changed: terraform-provider-demo_v1.0.0
            missing: README.md
            stray: added
          unless you know why, delete that directory and run `terraform init` again

.terraform.lock.hcl: 1 error

"#]]);
    let counted = verify(&lab, "linux_amd64,darwin_arm64", &["--no-cache"]).exits(1);
    counted.stdout_lacks("stray:");
}

#[test]
fn diff_names_the_platforms_of_single_hashes() {
    let (_registry, lab) = locked();
    let both = lab.read(LOCK);
    lab.write("new/.terraform.lock.hcl", &both);
    let h1: Vec<&str> = both.lines().filter(|line| line.contains("\"h1:")).collect();
    // Without its zh: nothing on this side explains an h1:; the other side does.
    let fewer = both
        .lines()
        .filter(|line| !line.contains("\"zh:") && *line != h1[1]);
    let fewer: Vec<&str> = fewer.collect();
    lab.write("old/.terraform.lock.hcl", fewer.join("\n") + "\n");
    let diff = |more: &[&str]| {
        let outcome = lab.run(&[&["diff", "old", "new"], more].concat()).exits(0);
        outcome.stdout
    };
    diff(&["-v"]).reads(str![[r#"
routine  acme/demo  1.0.0  hashes-added  the list of zh: was added; 1 platform was added
    + h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  darwin_arm64
    + zh:275a11312187e269df2df09571579c85f44f0dea0ed4edb1b97e1bc1ea1e4b8e  windows_amd64
    + zh:305f2feec166f157a0df602b52d0b4dfba43f7bd1f4639061f420b3aa3dff8af  linux_arm64
    + zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5  linux_amd64
    + zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896  darwin_arm64
1 provider with more hashes, nothing alarming

"#]]);
    assert!(!diff(&["-v", "--no-cache"]).contains("linux_amd64"));
    let json: Value = serde_json::from_str(&diff(&["--format", "json"])).unwrap();
    let platforms = &json["files"][0]["changes"][0]["hash_platforms"];
    assert_eq!(platforms.as_array().unwrap().len(), 5, "{json:#}");
    // `diff` always compares builds, so it always reads the store.
    let store = lab.path("home/.cache/lockctl");
    std::fs::remove_dir_all(&store).unwrap();
    lab.write("home/.cache/lockctl", "");
    for more in [&["-v"][..], &[]] {
        let outcome = lab.run(&[&["diff", "old", "new"], more].concat());
        assert_eq!(outcome.stderr.matches("the store was ignored").count(), 1);
    }
}

#[test]
fn hashes_of_a_provider_of_another_type_are_found() {
    let (_registry, lab) = locked();
    replace_facts(&lab, &FactOrigin::Computed, |fact| {
        let other = ProviderAddr::parse("acme/other", Flavor::Terraform1_11);
        fact.id.provider = other.unwrap();
    });
    let two = "linux_amd64,darwin_arm64";
    let found: &[&str] = &["hash-not-of-release", "platforms-unattributed"];
    check(&lab, two, (found, 1), (&["platforms-unattributed"], 0));
    // The same packages may come from several registries.
    replace_facts(&lab, &FactOrigin::Computed, |fact| {
        let same = ProviderAddr::parse("example.com/mirror/demo", Flavor::Terraform1_11);
        fact.id.provider = same.unwrap();
    });
    check(&lab, two, (&[], 0), (&["platforms-unattributed"], 0));
}

#[test]
fn the_signed_list_decides_about_a_zip_of_two_releases() {
    let (_registry, lab) = locked();
    replace_facts(&lab, &FactOrigin::Computed, |fact| {
        fact.id.version = "0.9.0".parse().unwrap();
    });
    for (more, is_found) in [(&["--upstream"][..], false), (&[], true)] {
        let outcome = verify(&lab, "linux_amd64", &[more, &["--format", "json"]].concat());
        let rules = rules(&outcome);
        assert_eq!(
            rules.iter().any(|rule| rule == "hash-not-of-release"),
            is_found
        );
    }
}

#[test]
fn imported_facts_explain_nothing_unless_the_project_file_trusts_them() {
    let (_registry, lab) = locked();
    replace_facts(&lab, &FactOrigin::Imported("ci".to_owned()), |_| {});
    let counted: &[&str] = &["platforms-unattributed"];
    check(&lab, "linux_amd64,darwin_arm64", (counted, 0), (counted, 0));
    lab.write(".lockctl.hcl", "trust {\n  imported_facts = true\n}\n");
    check(&lab, "linux_amd64,darwin_arm64", (&[], 0), (counted, 0));
}
