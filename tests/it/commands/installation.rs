//! `lock --installation cli`: which sources are asked for which roots.

use super::registry::{DEMO, steady, with_registry};
use super::*;
use crate::registry::{Origin, Registry};

fn lock(lab: &Lab, flavor: &str, more: &[&str]) -> Outcome {
    let args = ["lock", "--installation", "cli", "--flavor", flavor];
    lab.run(&[&args, more].concat())
}

const HERE: &[&str] = &["--platform", "linux_amd64"];

/// Adds an installation block to the CLI configuration.
fn install(lab: &Lab, methods: &str) {
    let hosts = lab.read("rc");
    lab.write(
        "rc",
        format!("provider_installation {{\n{methods}}}\n{hosts}"),
    );
}

/// A root that requires `acme/demo`, with a mirror directory that has other versions than the registry.
fn with_mirror(methods: &str) -> (Registry, Lab) {
    let (registry, lab) = with_registry(&DEMO.replace("~> 1.0.0", ">= 1.0.0"));
    for version in ["1.0.0", "9.0.0"] {
        let package = format!("registry.terraform.io/acme/demo/{version}/linux_amd64");
        lab.unpacked("mirror", &package, version);
    }
    install(&lab, methods);
    (registry, lab)
}

fn version(lab: &Lab) -> String {
    let lock = lab.read(LOCK);
    let line = lock.lines().find(|line| line.contains("version "));
    line.unwrap_or_default().trim().to_owned()
}

#[test]
fn platforms_may_come_from_different_methods() {
    let (registry, lab) = with_mirror("  filesystem_mirror { path = \"mirror\" }\n  direct {}\n");
    lab.write("main.tf", DEMO.replace("~> 1.0.0", "1.0.0"));
    let more = ["--platform", "linux_amd64,darwin_arm64", "-v"];
    let outcome = lock(&lab, "terraform", &more).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  1.0.0  selected  2 platforms  6 hashes added  self-signed, key ID KEYID
    h1:YF/rE9wrxJ2Wk095aeZC4hqfY7/nnxD2JIUQqjmAGZY=  computed, linux_amd64
    h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  proven, darwin_arm64
    zh:275a11312187e269df2df09571579c85f44f0dea0ed4edb1b97e1bc1ea1e4b8e  signed, terraform-provider-demo_1.0.0_windows_amd64.zip
    zh:305f2feec166f157a0df602b52d0b4dfba43f7bd1f4639061f420b3aa3dff8af  signed, terraform-provider-demo_1.0.0_linux_arm64.zip
    zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5  signed, terraform-provider-demo_1.0.0_linux_amd64.zip
    zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896  signed, terraform-provider-demo_1.0.0_darwin_arm64.zip
6 hashes added: 4 signed, 1 proven, 1 computed and not covered by a signature
created .terraform.lock.hcl

"#]]);
}

#[test]
fn without_a_block_local_directories_hide_the_registry() {
    let (registry, lab) = with_registry(DEMO);
    let package = "registry.terraform.io/acme/demo/1.0.5/linux_amd64";
    lab.unpacked("terraform.d/plugins", package, "x");
    let offline = [HERE, &["--offline"]].concat();
    assert_exit(&lock(&lab, "terraform", &offline), 0);
    assert_eq!(version(&lab), "version     = \"1.0.5\"");
    assert!(registry.requests().is_empty());
}

#[test]
fn relative_directories_are_those_of_each_root() {
    let (registry, lab) = with_registry(DEMO);
    for root in ["a", "b", "c"] {
        lab.write(&format!("{root}/main.tf"), DEMO);
    }
    let package = "registry.terraform.io/acme/demo/1.0.7/linux_amd64";
    lab.unpacked("b/terraform.d/plugins", package, "x");
    lock(&lab, "terraform", &[&["a", "b", "c"], HERE].concat()).exits(0);
    assert_eq!(
        lab.read(&format!("a/{LOCK}")),
        lab.read(&format!("c/{LOCK}"))
    );
    assert!(lab.read(&format!("b/{LOCK}")).contains("1.0.7"));
    // The two roots without a directory of their own share every answer.
    assert_eq!(registry.requests().len(), 5);
}

#[test]
fn offline_only_directories_are_asked() {
    let (registry, lab) = with_mirror("  direct { include = [\"acme/*\"] }\n");
    let outcome = lock(&lab, "terraform", &[HERE, &["--offline"]].concat()).exits(2);
    outcome.stderr_eq(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: the registry is not asked, since network requests are forbidden
  help: leave out --offline

"#]]);
    assert!(registry.requests().is_empty());
}

#[test]
fn a_provider_that_no_method_is_for_is_an_error() {
    let (_registry, lab) = with_mirror(
        "  filesystem_mirror {\n    path = \"mirror\"\n    include = [\"other/*\"]\n  }\n",
    );
    lock(&lab, "terraform", HERE).exits(2).stderr_eq(str![[r#"
error: no source of packages is for registry.terraform.io/acme/demo
  cause: required in main.tf:5 (">= 1.0.0")
  help: check the source address, and provider_installation in the CLI configuration with its include and exclude

"#]]);
}

#[test]
fn every_place_that_was_searched_is_named() {
    let (registry, lab) = with_mirror("  filesystem_mirror { path = \"mirror\" }\n  direct {}\n");
    lab.write("main.tf", DEMO.replace("acme/demo", "acme/nothing"));
    let outcome = lock(&lab, "terraform", HERE).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: no source of packages has registry.terraform.io/acme/nothing: the mirror in mirror has no package of registry.terraform.io/acme/nothing; the registry of registry.terraform.io has no provider registry.terraform.io/acme/nothing
  cause: required in main.tf:5 ("~> 1.0.0")
  help: check the source address, and provider_installation in the CLI configuration with its include and exclude

"#]]);
}

#[test]
fn a_mirror_that_is_not_there_fails_what_it_is_for() {
    let (_registry, lab) = with_mirror("  filesystem_mirror { path = \"nowhere\" }\n  direct {}\n");
    lock(&lab, "terraform", HERE).exits(2).stderr_eq(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: the mirror in nowhere cannot be read
  cause: [..]
  help: make it a readable directory, or correct the CLI configuration

"#]]);
}

#[test]
fn overridden_providers_are_left_alone_by_newer_terraform() {
    let (registry, lab) =
        with_mirror("  dev_overrides { \"acme/demo\" = \"/dev\" }\n  direct {}\n");
    let outcome = lock(&lab, "terraform@1.16", HERE).exits(0);
    format!("{}{}", outcome.stdout, outcome.stderr).reads(str![[r#"
.: no provider is required, so there is nothing to lock
note: acme/demo is in dev_overrides: it is not locked

"#]]);
    assert!(registry.requests().is_empty() && !lab.path(LOCK).exists());
    assert_exit(&lock(&lab, "terraform@1.11", HERE), 0);
    let before = lab.read(LOCK);
    lock(&lab, "terraform@1.15", &["--platform", "darwin_arm64"]).exits(0);
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn a_network_mirror_is_asked_with_its_token() {
    let (registry, lab) = with_registry(DEMO);
    let url = registry.url(Origin::Lab);
    let host = url.trim_start_matches("https://");
    let token = format!("credentials \"{host}\" {{\n  token = \"word\"\n}}\n");
    install(
        &lab,
        &format!("  network_mirror {{ url = \"{url}/mirror/\" }}\n"),
    );
    lab.write("rc", lab.read("rc") + &token);
    assert_exit(&lock(&lab, "terraform", HERE), 0);
    let auth: Vec<bool> = registry
        .requests()
        .iter()
        .map(|one| one.contains("auth=Bearer"))
        .collect();
    assert_eq!(auth, [true, true, false]);
}

#[test]
fn an_oci_mirror_needs_the_network() {
    let (registry, lab) = with_registry(DEMO);
    install(
        &lab,
        "  oci_mirror {\n    repository_template = \"example.com/${namespace}/${type}\"\n    include = [\"registry.opentofu.org/*/*\"]\n  }\n",
    );
    lock(&lab, "opentofu", &[HERE, &["--offline"]].concat()).exits(2).stderr_eq(str![[r#"
error: the versions of registry.opentofu.org/acme/demo could not be fetched
  cause: the OCI mirror example.com/${namespace}/${type} is not asked, since network requests are forbidden
  help: leave out --offline

"#]]);
    assert!(registry.requests().is_empty());
}

#[test]
fn only_opentofu_trusts_the_hashes_of_a_mirror() {
    let (registry, lab) = with_registry(DEMO);
    let url = registry.url(Origin::Lab);
    let mirror = format!(
        "  network_mirror {{\n    url = \"{url}/mirror/\"\n    trust_all_hashes = true\n  }}\n"
    );
    install(&lab, &mirror);
    let warning = "warning[cli-configuration-without-effect]";
    for (flavor, warns) in [("opentofu", false), ("terraform", true)] {
        let outcome = lock(&lab, flavor, HERE).exits(0);
        assert_eq!(
            outcome.stderr.contains(warning),
            warns,
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn other_mirrors_cannot_be_named_beside_it() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    assert_exit(&lock(&lab, "terraform", &["--fs-mirror", "mirror"]), 2);
}

#[cfg(unix)]
#[test]
fn a_helper_that_fails_is_named_where_credentials_are_missing() {
    use std::os::unix::fs::PermissionsExt as _;
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&serde_json::json!({"token": "word"}));
    let helper = "home/.terraform.d/plugins/terraform-credentials-vault";
    lab.write(
        helper,
        "#!/bin/sh\necho 'the vault is sealed' >&2\nexit 1\n",
    );
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(lab.path(helper), mode).unwrap();
    lab.write("rc", lab.read("rc") + "credentials_helper \"vault\" {}\n");
    let outcome = lock(&lab, "terraform", HERE).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the versions of registry.terraform.io/acme/demo could not be fetched
  cause: registry.terraform.io requires credentials: https://REGISTRY/v1/providers/acme/demo/versions answered 401: Unauthorized
  help: give a token for registry.terraform.io in TF_TOKEN_registry_terraform_io, or by `terraform login registry.terraform.io`; the credentials helper "vault" failed: the vault is sealed

"#]]);
}

/// OpenTofu records the `zh:` of a mirror's zip. Beside the signed list of the release, which comes with the package
/// of another platform, the next run would refuse it, and deleting it would not help.
#[test]
fn a_package_of_a_mirror_that_the_signed_list_lacks_is_an_alarm_at_once() {
    let (registry, lab) = with_registry(DEMO);
    let url = registry.url(Origin::Lab);
    let methods = format!("  network_mirror {{ url = \"{url}/mirror/\" }}\n  direct {{}}\n");
    install(&lab, &methods);
    let others = ["darwin_arm64", "linux_arm64", "windows_amd64"]
        .map(|platform| (format!("archives/{platform}"), Value::Null));
    let others = Value::Object(others.into_iter().collect());
    registry.reset(&json!({
        "sums": ["no:linux_amd64"],
        "rules": [{"kind": "mirror_version", "action": "patch", "times": -1, "set": others}],
    }));
    let outcome = lock(
        &lab,
        "opentofu",
        &["--platform", "linux_amd64,darwin_arm64"],
    );
    assert_exit(&outcome, 1);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the signed checksums of the release lack the package of registry.opentofu.org/acme/demo 1.0.0 for linux_amd64: https://REGISTRY/mirror/registry.opentofu.org/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip has zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5
  help: nothing was written: the mirror may have a changed package; replace it there by that of the registry, or take no package from it (`--installation registry`)

"#]]);
    assert!(!lab.path(LOCK).exists());
    // The way out: all packages from one source.
    for args in [
        &["--installation", "registry", "--platform", "darwin_arm64"][..],
        &["--installation", "cli", "--platform", "linux_amd64"],
    ] {
        let args = [&["lock", "--flavor", "opentofu"], args].concat();
        assert_exit(&lab.run(&args), 0);
        assert_exit(&lab.run(&[&args[..], &["--check"]].concat()), 0);
        std::fs::remove_file(lab.path(LOCK)).unwrap();
    }
}

#[test]
fn versions_of_all_methods_count() {
    let (registry, lab) = with_mirror("  filesystem_mirror { path = \"mirror\" }\n  direct {}\n");
    assert_exit(&lock(&lab, "terraform", HERE), 0);
    assert_eq!(version(&lab), "version     = \"9.0.0\"");
    assert_eq!(registry.requests().len(), 1);
}
