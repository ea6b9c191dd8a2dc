//! A wanted platform that a release or a mirror lacks.

use super::facts;
use super::registry::{DEMO, lock, steady, with_registry};
use super::*;
use crate::registry::{Origin, Registry};

const FILE: &str = ".lockctl.hcl";

/// The way out of the error, as the page `platforms-incomplete` promises it; `providers lock` fails as well
/// (`reg-platform-missing-lock`).
#[test]
fn the_error_prints_the_block_that_keeps_the_project_file_from_wanting_it() {
    let (_registry, lab) = with_registry(DEMO);
    let platforms = "platforms = [\"linux_amd64\", \"darwin_amd64\", \"windows_386\"]\n";
    lab.write(FILE, platforms);
    let outcome = lock(&lab, &[]).exits(2);
    outcome.stderr_eq(str![[r#"
error: the registry of registry.terraform.io has no package of registry.terraform.io/acme/demo 1.0.0 for darwin_amd64
  cause: the same applies to windows_386
  help: it has packages for darwin_arm64, linux_amd64, linux_arm64, windows_amd64; in .lockctl.hcl, write `provider "acme/demo" { platforms = ["linux_amd64"] }`

"#]]);
    let (_, line) = outcome.stderr.split_once("write `").unwrap();
    let (block, _) = line.split_once('`').unwrap();
    lab.write(FILE, format!("{platforms}{block}\n"));
    assert_exit(&lock(&lab, &[]), 0);
    assert_exit(&lab.run(&["verify", "--flavor", "terraform@1.11"]), 0);
}

#[test]
fn a_block_keeps_the_preset() {
    let (_registry, lab) = with_registry(DEMO);
    lab.write(
        FILE,
        "provider \"acme/demo\" {\n  platforms = [\"common\", \"windows_386\"]\n}\n",
    );
    let outcome = lock(&lab, &[]).exits(2);
    outcome.stderr_has("write `provider \"acme/demo\" { platforms = [\"common\"] }`");
}

#[test]
fn no_block_is_advised_for_a_typed_platform_or_where_none_is_left() {
    let (_registry, lab) = with_registry(DEMO);
    let outcome = lock(&lab, &["--platform", "linux_amd64,windows_386"]).exits(2);
    outcome.stderr_lacks("write `");
    lab.write(FILE, "platforms = [\"windows_386\"]\n");
    lock(&lab, &[]).exits(2).stderr_lacks("write `");
}

/// The release may have what a mirror lacks.
#[test]
fn a_mirror_says_nothing_of_the_release() {
    let (registry, lab) = with_registry(DEMO);
    lab.write(FILE, "platforms = [\"linux_amd64\", \"windows_386\"]\n");
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    let outcome = lock(&lab, &["--net-mirror", &url]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the mirror https://REGISTRY/mirror/ has no package of registry.terraform.io/acme/demo 1.0.0 for windows_386
  help: it has packages for darwin_arm64, linux_amd64, linux_arm64, windows_amd64; the release may have one for windows_386: add it to the mirror

"#]]);
}

/// A registry, and roots that are locked for the platforms that the release has: `darwin_amd64` is wanted as well.
fn locked_roots(roots: &[&str]) -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    for root in roots {
        lab.write(&format!("{root}/main.tf"), DEMO);
    }
    assert_exit(&facts::lock(&lab, roots), 0);
    (registry, lab)
}

fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["verify", "--flavor", "terraform@1.11"], more].concat())
}

#[test]
fn verify_states_what_the_release_has_once_and_keeps_the_file() {
    let (_registry, lab) = locked_roots(&["."]);
    lab.write(FILE, "# Ours.\nflavor = \"terraform\" # for now\n");
    verify(&lab, &["-v"])
        .stdout_has("run `lockctl verify . --flavor terraform@1.11 --fix` to state");
    let outcome = verify(&lab, &["--fix", "-v"]).exits(0);
    outcome.stdout.reads(str![[r#"
fixed: .lockctl.hcl states the platforms of registry.terraform.io/acme/demo: darwin_arm64, linux_amd64, linux_arm64, windows_amd64
.terraform.lock.hcl: ok; 1 provider, h1: hashes for 4 platforms, no package installed

"#]]);
    lab.read(FILE).reads(str![[r##"
# Ours.
flavor = "terraform" # for now

provider "registry.terraform.io/acme/demo" {
  platforms = ["darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"]
}

"##]]);
    let (written, lock_file) = (lab.read(FILE), lab.read(LOCK));
    verify(&lab, &["-v"])
        .exits(0)
        .stdout_lacks("platforms-incomplete");
    verify(&lab, &["--fix", "-v"])
        .exits(0)
        .stdout_lacks("fixed");
    assert_eq!((lab.read(FILE), lab.read(LOCK)), (written, lock_file));
}

#[test]
fn roots_of_one_project_file_state_it_together() {
    let (_registry, lab) = locked_roots(&["a", "b"]);
    lab.write(".git/HEAD", "ref: refs/heads/main\n");
    let outcome = verify(&lab, &["--fix", "a", "b"]).exits(0);
    outcome.stdout.reads(str![[r#"
all 2 roots: fixed: .lockctl.hcl states the platforms of registry.terraform.io/acme/demo: darwin_arm64, linux_amd64, linux_arm64, windows_amd64
2 roots: 2 clean

"#]]);
    assert_eq!(lab.read(FILE).matches("provider \"").count(), 1);
    verify(&lab, &["-v", "a", "b"]).stdout_lacks("platforms-incomplete");
}

/// A statement would also keep the other root from being checked for the platforms that its release has.
#[test]
fn roots_that_differ_are_left_to_the_user() {
    let (_registry, lab) = locked_roots(&["a"]);
    lab.write(".git/HEAD", "ref: refs/heads/main\n");
    lab.write("b/main.tf", DEMO);
    assert_exit(&facts::lock(&lab, &["b", "--platform", "linux_amd64"]), 0);
    verify(&lab, &["--fix", "a", "b"])
        .stderr_has(".lockctl.hcl cannot state the platforms of registry.terraform.io/acme/demo");
    assert!(!lab.path(FILE).exists());
}

#[test]
fn nothing_is_stated_without_a_finding_by_option_or_against_a_policy() {
    let (_registry, lab) = locked_roots(&["."]);
    let four = "darwin_arm64,linux_amd64,linux_arm64,windows_amd64";
    verify(&lab, &["--fix", "--platform", four])
        .exits(0)
        .stdout_lacks("fixed");
    verify(&lab, &["--fix", "--platform", "linux_amd64,openbsd_arm"])
        .exits(1)
        .stdout_lacks("fixed");
    assert!(!lab.path(FILE).exists());
    let policy = "policy {\n  platforms = [\"darwin_amd64\"]\n}\n";
    lab.write(FILE, policy);
    verify(&lab, &["--fix"]).exits(1).stdout_lacks("fixed");
    assert_eq!(lab.read(FILE), policy);
}

#[test]
fn no_file_is_written_where_a_revision_governs() {
    let (_registry, lab) = locked_roots(&["."]);
    let Some(repo) = Repo::of(lab) else {
        return;
    };
    let base = repo.commit("base");
    let outcome = repo.run(&[
        "verify",
        "--flavor",
        "terraform@1.11",
        "--fix",
        "--config-at",
        &base,
    ]);
    outcome
        .exits(1)
        .stderr_has("note: no project file was fixed: --config-at reads them from a revision");
    assert!(!repo.lab.path(FILE).exists());
}
