//! A wanted platform that a release or a mirror lacks.

use super::registry::{DEMO, lock, steady, with_registry};
use super::*;
use crate::registry::Origin;

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
  help: the mirror has packages for darwin_arm64, linux_amd64, linux_arm64, windows_amd64; the release may have one for windows_386: add it to the mirror

"#]]);
}
