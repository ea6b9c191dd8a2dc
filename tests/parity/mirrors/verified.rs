//! `verify` right after the real `init`, which installed from each source.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{MirrorSetting, PLATFORMS};
use crate::seed::Seed;
use crate::static_files::StaticFiles;
use crate::terraform::Terraform;
use crate::{LOCK, lockctl};

/// Number of roots of each route.
const ROOTS: u64 = 8;

const ROUTES: [&str; 5] = ["registry", "packed", "unpacked", "network", "cache"];

/// The notes that are true of a lock file as `init` leaves it: of a mirror, it has one `h1:`, and the mirror has
/// packages for other platforms.
const NOTES: [&str; 4] = [
    "package-unverifiable",
    "platforms-incomplete",
    "platforms-unattributed",
    "zh-missing",
];

/// Installs generated roots from each source, with the lock files that `init` makes.
fn install(setting: &MirrorSetting, server: &StaticFiles) {
    let mut seed = Seed::new(42);
    for route in ROUTES {
        for number in 0..ROOTS {
            setting.write_root(&format!("roots/{route}/r{number}"), &mut seed);
        }
    }
    setting.lock("roots");
    let platforms = PLATFORMS.join(",");
    let roots = ["-r", "roots", "--platform", &platforms];
    setting.mirror("packed", &roots);
    setting.mirror("unpacked", &[&roots[..], &["--unpacked"]].concat());
    std::fs::create_dir(setting.lab.path("plugins")).unwrap();
    for route in ROUTES {
        let method = match route {
            "registry" => String::new(),
            "cache" => {
                let dir = setting.lab.path("plugins").display().to_string();
                format!("plugin_cache_dir = {dir:?}\n")
            }
            "network" => {
                let url = server.url("packed");
                format!(
                    "provider_installation {{\n  network_mirror {{\n    url = {url:?}\n  }}\n}}\n"
                )
            }
            dir => {
                let path = setting.lab.path(dir).display().to_string();
                format!(
                    "provider_installation {{\n  filesystem_mirror {{\n    path = {path:?}\n  }}\n}}\n"
                )
            }
        };
        for number in 0..ROOTS {
            let root = format!("roots/{route}/r{number}");
            std::fs::remove_file(setting.lab.path(&format!("{root}/{LOCK}"))).unwrap();
            setting.use_methods(&root, &method);
            let init = ["init", "-no-color", "-backend=false"];
            let said = setting.terraform.succeeds(&setting.lab, &root, &init);
            assert!(
                said.contains("- Install") || said.contains("- Using"),
                "{said}"
            );
        }
    }
}

/// Verifies all roots below a directory; returns how often each note was reported.
#[track_caller]
fn verify(setting: &MirrorSetting, args: &[&str]) -> BTreeMap<String, usize> {
    let args = [&["verify", "-r", "--format", "json"], args].concat();
    let outcome = lockctl(&setting.lab, &setting.terraform, &args);
    assert_eq!(outcome.code, 0, "{args:?}: {outcome:#?}");
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let mut notes = BTreeMap::new();
    for root in json["roots"].as_array().unwrap() {
        for finding in root["findings"].as_array().unwrap() {
            assert_eq!(finding["severity"], "note", "{finding:#}");
            *notes
                .entry(finding["rule"].as_str().unwrap().to_owned())
                .or_default() += 1;
        }
    }
    let known: BTreeSet<&str> = NOTES.into();
    assert!(
        notes.keys().all(|rule| known.contains(rule.as_str())),
        "{args:?}: {outcome:#?}"
    );
    notes
}

fn nothing_is_wrong_after(terraform: Terraform) {
    let mut setting = MirrorSetting::of(terraform);
    let is_opentofu = setting.terraform.rules.is_opentofu();
    if is_opentofu {
        // As OpenTofu's registry states the hashes of every platform.
        setting.registry.reset(&json!({ "packages": true }));
    }
    let server = StaticFiles::start(setting.lab.path("."));
    install(&setting, &server);
    for store in ["", "store"] {
        if !store.is_empty() {
            // With the facts of a run that proves every package.
            let dir = setting.lab.path(store).into();
            setting
                .lab
                .env
                .vars
                .insert("LOCKCTL_CACHE_DIR".to_owned(), dir);
            let args = [
                "lock",
                "-r",
                "roots/registry",
                "--check",
                "--platform",
                "current",
            ];
            let outcome = lockctl(&setting.lab, &setting.terraform, &args);
            assert_eq!(outcome.code, 0, "{outcome:#?}");
        }
        for route in ROUTES {
            let dir = format!("roots/{route}");
            let config = format!("{dir}/r0/cli.tfrc");
            let notes = verify(
                &setting,
                &[&dir, "--cli-config", &config, "--platform", "current"],
            );
            println!("parity: verify after init from {route}, store {store:?}: {notes:?}");
        }
        verify(&setting, &["roots", "--platform", "current"]);
        // The double's releases lack two of the common platforms. OpenTofu records one `h1:` for each `zh:`, as a mirror
        // leaves them, and then the count does not show that the list is whole.
        if !is_opentofu {
            verify(&setting, &["roots/registry"]);
        }
        // For the eyes of whoever runs it with `--nocapture`.
        for more in [&[][..], &["-v"]] {
            let args = [&["verify", "-r", "roots", "--platform", "current"], more].concat();
            println!(
                "{}",
                lockctl(&setting.lab, &setting.terraform, &args).stdout
            );
        }
    }
    println!(
        "parity: verify after init in {} generated roots by {} routes",
        ROOTS * 5,
        ROUTES.len()
    );
}

#[test]
fn verify_finds_nothing_wrong_right_after_init() {
    if let Some(terraform) = Terraform::find_trusting() {
        nothing_is_wrong_after(terraform);
    }
}

#[test]
fn verify_finds_nothing_wrong_right_after_init_of_opentofu() {
    if let Some(tofu) = Terraform::find_tofu() {
        nothing_is_wrong_after(tofu);
    }
}
