//! How often something is requested that fails: settings, and what the programs were recorded to do with
//! them (`sources` rules 4 and 10.5).

use super::registry::{DEMO, rule, with_registry};
use super::*;
use crate::registry::Origin;

/// Everything that states how often something is requested.
#[derive(Clone, Copy, Default)]
struct Settings {
    variable: Option<(&'static str, &'static str)>,
    /// `retry_count`.
    protocols: Option<u64>,
    /// `download_retry_count` of the only method.
    method: Option<u64>,
}

const NONE: Settings = Settings {
    variable: None,
    protocols: None,
    method: None,
};

/// Locks from a registry, or from its mirror, of which requests of this kind always get status 503; checks
/// how many there are.
#[track_caller]
fn check(flavor: &str, kind: &str, settings: Settings, expected: usize) {
    let (registry, mut lab) = with_registry(DEMO);
    registry.reset(&rule(kind, "503"));
    let method = match kind.starts_with("mirror_") {
        true => format!(
            "network_mirror {{\n    url = \"{}/mirror/\"\n",
            registry.url(Origin::Lab)
        ),
        false => "direct {\n".to_owned(),
    };
    let count = settings.method.map_or(String::new(), |count| {
        format!("    download_retry_count = {count}\n")
    });
    let protocols = settings.protocols.map_or(String::new(), |count| {
        format!("registry_protocols {{\n  retry_count = {count}\n}}\n")
    });
    let hosts = lab.read("rc");
    lab.write(
        "rc",
        format!("{protocols}provider_installation {{\n  {method}{count}  }}\n}}\n{hosts}"),
    );
    if let Some((name, value)) = settings.variable {
        lab.set(name, value);
    }
    let args = ["lock", "--flavor", flavor, "--installation", "cli"];
    let outcome = lab.run(&[&args[..], &["--platform", "linux_amd64"]].concat());
    assert_exit(&outcome, 2);
    assert!(!lab.path(LOCK).exists());
    let entries = registry.entries();
    let asked = entries
        .iter()
        .filter(|entry| entry.status == Some(503))
        .count();
    assert_eq!(asked, expected, "{}", outcome.stderr);
}

fn variable(name: &'static str, value: &'static str) -> Settings {
    Settings {
        variable: Some((name, value)),
        ..NONE
    }
}

fn documents(value: &'static str) -> Settings {
    variable("TF_REGISTRY_DISCOVERY_RETRY", value)
}

fn packages(value: &'static str) -> Settings {
    variable("TF_PROVIDER_DOWNLOAD_RETRY", value)
}

#[test]
fn documents_are_requested_as_often_as_is_stated() {
    for kind in ["versions", "download", "shasums", "signature"] {
        // Recorded of both programs: `reg-versions-503`, `reg-download-503`.
        check("terraform", kind, NONE, 2);
        check("opentofu", kind, NONE, 2);
    }
    // `reg-versions-503-retry0`: a variable cannot switch it off.
    check("opentofu", "versions", documents("0"), 2);
    check("opentofu", "versions", documents("3"), 4);
    let block = |count, of: Settings| Settings {
        protocols: Some(count),
        ..of
    };
    // `reg-retry-block`: the block can, but the variable overrides it.
    check("opentofu", "versions", block(0, NONE), 1);
    check("opentofu", "versions", block(2, NONE), 3);
    check("opentofu", "versions", block(0, documents("3")), 4);
    // Terraform does not read the block.
    check("terraform", "versions", block(0, NONE), 2);
}

#[test]
fn packages_are_requested_as_often_as_is_stated() {
    // Recorded of OpenTofu: `reg-package-503`, `reg-package-503-retry-env0`, `reg-package-503-retry-env1`.
    check("opentofu", "package", NONE, 3);
    check("opentofu", "package", packages("0"), 3);
    check("opentofu", "package", packages("1"), 2);
    let method = |count, of: Settings| Settings {
        method: Some(count),
        ..of
    };
    // `reg-package-503-retry-block0`: 0 is possible there, and the variable does not override it.
    check("opentofu", "package", method(0, NONE), 1);
    check("opentofu", "package", method(1, packages("5")), 2);
    check(
        "opentofu",
        "package",
        method(u64::from(u32::MAX), NONE),
        101,
    );
    // `nm-package-503-block0`.
    check("opentofu", "mirror_package", method(0, NONE), 1);
    check("opentofu", "mirror_package", NONE, 3);
    // Terraform requests a package once and knows neither setting; lockctl requests it as often for both.
    check("terraform", "package", NONE, 3);
    check("terraform", "package", method(0, NONE), 3);
}

#[test]
fn documents_of_mirrors_are_requested_as_those_of_registries() {
    // OpenTofu requests them once, whatever is stated: `nm-index-503-once-registry-protocols`.
    check("opentofu", "mirror_index", NONE, 2);
    let block = Settings {
        protocols: Some(2),
        ..NONE
    };
    check("opentofu", "mirror_index", block, 3);
    check("terraform", "mirror_version", NONE, 2);
}
