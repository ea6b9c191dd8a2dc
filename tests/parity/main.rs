//! The same input to the real `terraform` and to lockctl, bytes compared.
//!
//! Runs wherever `terraform` is on PATH, by the rules of that binary's version, and prints
//! `skipped` elsewhere; `LOCKCTL_REQUIRE_PARITY=1` makes a missing binary a failure.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(
    clippy::print_stdout,
    reason = "tests say what they counted and what they skipped"
)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests touch the real world"
)]

mod computed;
mod contradicted;
#[path = "../support/copy.rs"]
mod copy;
#[path = "../support/corpus.rs"]
mod corpus;
mod dice;
mod effective;
mod explained;
mod installations;
mod installed;
#[path = "../support/lab.rs"]
mod lab;
mod made;
mod mirrors;
#[path = "../support/module_lab/mod.rs"]
mod module_lab;
#[path = "../support/modules.rs"]
mod modules;
mod published;
mod random;
#[path = "../support/registry/mod.rs"]
mod registry;
mod remote_modules;
mod routes;
#[path = "../support/schema.rs"]
mod schema;
#[path = "../support/seed.rs"]
mod seed;
#[path = "../support/servers.rs"]
mod servers;
mod signatures;
#[path = "../support/static_files.rs"]
mod static_files;
#[path = "../support/temp.rs"]
mod temp;
mod terraform;
mod trees;
#[path = "../support/unset_values.rs"]
mod unset_values;
mod updates;
mod values;
#[path = "../support/zips.rs"]
mod zips;

use copy::copy_dir;
use lab::{Lab, Outcome};
use lockctl::diag::{Texts, has_errors};
use lockctl::lockfile;
use terraform::Terraform;

const LOCK: &str = ".terraform.lock.hcl";
const PLATFORMS: [&str; 4] = [
    "linux_amd64",
    "linux_arm64",
    "darwin_arm64",
    "windows_amd64",
];

/// Whether a mirror holds zips or directories.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Packed,
    Unpacked,
}

/// A root with a child module, requiring providers of several hosts in several ways.
fn write_root(lab: &Lab) {
    lab.write(
        "root/main.tf",
        r#"
terraform {
  required_providers {
    x    = { source = "example.com/t/x", version = ">= 1.0, != 1.2.0" }
    next = { source = "hashi-corp/next", version = "~> 0.9" }
    idn  = { source = "CAFÉ.example/Té/idn" }
    port = { source = "example.com:8443/t/port", version = "1.0.0-beta.1" }
  }
}

provider "y" {
  version = "< 3"
}

resource "null_resource" "implied" {}

module "child" {
  source = "./modules/child"
}
"#,
    );
    lab.write(
        "root/modules/child/versions.tf",
        r#"
terraform {
  required_providers {
    other = { source = "example.com/t/x", version = "~> 1" }
  }
}
data "y_thing" "a" {}
"#,
    );
}

/// Puts every package of the root, and some that must not be chosen, into a mirror.
fn write_mirror(lab: &Lab, layout: Layout) {
    let packages = [
        (
            "example.com/t/x",
            &[
                "0.9.0",
                "1.0.0",
                "1.2.0",
                "1.10.0",
                "1.9.0",
                "2.0.0",
                "1.11.0-rc1",
            ] as &[&str],
        ),
        (
            "registry.terraform.io/hashi-corp/next",
            &["0.9.0", "0.9.9", "1.0.0"],
        ),
        ("café.example/té/idn", &["3.0.0+meta", "2.0.0"]),
        ("example.com:8443/t/port", &["1.0.0-beta.1", "1.0.0"]),
        ("registry.terraform.io/hashicorp/null", &["3.2.1", "3.2.2"]),
        ("registry.terraform.io/hashicorp/y", &["2.5.0", "3.0.0"]),
    ];
    for (addr, versions) in packages {
        for version in versions {
            for platform in PLATFORMS {
                let package = format!("{addr}/{version}/{platform}");
                let content = format!("{package} content");
                match layout {
                    Layout::Packed => lab.packed("mirror", &package, &content),
                    Layout::Unpacked => lab.unpacked("mirror", &package, &content),
                };
            }
        }
    }
}

fn lockctl(lab: &Lab, terraform: &Terraform, args: &[&str]) -> Outcome {
    let flavor = ["--flavor", terraform.flavor.as_str()];
    lab.run(&[args, &flavor].concat())
}

/// Locks `root` with lockctl for all platforms.
fn lock(lab: &Lab, terraform: &Terraform, root: &str) -> Outcome {
    let platforms = PLATFORMS.join(",");
    lockctl(
        lab,
        terraform,
        &[
            "lock",
            root,
            "--fs-mirror",
            "mirror",
            "--platform",
            &platforms,
        ],
    )
}

/// The lock file after `init`, and then after `providers lock` for all platforms.
fn reference(lab: &Lab, terraform: &Terraform) -> (String, String) {
    copy_dir(&lab.path("root"), &lab.path("theirs"));
    terraform.succeeds(lab, "theirs", &["init", "-no-color", "-backend=false"]);
    let after_init = lab.read(&format!("theirs/{LOCK}"));
    let mirror = format!("-fs-mirror={}", lab.path("mirror").display());
    let platforms = PLATFORMS.map(|platform| format!("-platform={platform}"));
    let mut args = vec!["providers", "lock", "-no-color", mirror.as_str()];
    args.extend(platforms.iter().map(String::as_str));
    terraform.succeeds(lab, "theirs", &args);
    (after_init, lab.read(&format!("theirs/{LOCK}")))
}

fn locks_are_equal(layout: Layout) {
    let Some(terraform) = Terraform::find() else {
        return;
    };
    let lab = Lab::new();
    write_root(&lab);
    write_mirror(&lab, layout);
    terraform.use_mirror(&lab);
    let (after_init, wanted) = reference(&lab, &terraform);

    copy_dir(&lab.path("root"), &lab.path("fresh"));
    let outcome = lock(&lab, &terraform, "fresh");
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert_eq!(
        lab.read(&format!("fresh/{LOCK}")),
        wanted,
        "{layout:?}, from nothing"
    );

    copy_dir(&lab.path("root"), &lab.path("completed"));
    lab.write(&format!("completed/{LOCK}"), &after_init);
    let outcome = lock(&lab, &terraform, "completed");
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert_eq!(
        lab.read(&format!("completed/{LOCK}")),
        wanted,
        "{layout:?}, completing `init`"
    );

    let readonly = ["init", "-no-color", "-backend=false", "-lockfile=readonly"];
    let said = terraform.succeeds(&lab, "fresh", &readonly);
    assert!(!said.contains("Provider lock file not updated"), "{said}");
    assert_eq!(
        lab.read(&format!("fresh/{LOCK}")),
        wanted,
        "accepted as it is"
    );
    println!("parity: {layout:?} mirror, 6 providers, 4 platforms: equal bytes");
}

#[test]
fn a_packed_mirror_gives_the_bytes_of_terraform() {
    locks_are_equal(Layout::Packed);
}

#[test]
fn an_unpacked_mirror_gives_the_bytes_of_terraform() {
    locks_are_equal(Layout::Unpacked);
}

#[test]
fn a_lock_for_one_platform_is_that_of_init() {
    let Some(terraform) = Terraform::find() else {
        return;
    };
    for layout in [Layout::Packed, Layout::Unpacked] {
        let lab = Lab::new();
        write_root(&lab);
        write_mirror(&lab, layout);
        terraform.use_mirror(&lab);
        let (after_init, _) = reference(&lab, &terraform);
        let args = [
            "lock",
            "root",
            "--fs-mirror",
            "mirror",
            "--platform",
            "current",
        ];
        assert_eq!(lockctl(&lab, &terraform, &args).code, 0);
        assert_eq!(lab.read(&format!("root/{LOCK}")), after_init, "{layout:?}");
    }
    println!("parity: one platform: the bytes of init");
}

#[test]
fn real_lock_files_are_rewritten_as_terraform_does() {
    let Some(terraform) = Terraform::find() else {
        return;
    };
    let mut compared = 0;
    let parts = corpus::parts("locks", "index.tsv");
    let rows = parts
        .iter()
        .flat_map(|part| part.rows.iter().map(move |row| (&part.dir, row)));
    for (dir, row) in rows {
        let (name, verdict) = (row.get("file"), row.get("terraform_1_11_4"));
        if row.get("canonical") == "yes" || verdict.starts_with("rejected") {
            continue;
        }
        let bytes = std::fs::read(dir.join(name)).unwrap();
        let lab = Lab::new();
        lab.write(&format!("root/{LOCK}"), &bytes);
        terraform.succeeds(&lab, "root", &["providers", "lock", "-no-color"]);
        let mut texts = Texts::default();
        let id = texts.add(name, bytes.clone());
        let (document, diagnostics) = lockfile::parse(id, &bytes, terraform.rules);
        assert!(!has_errors(&diagnostics), "{}: {diagnostics:#?}", name);
        let written = lockfile::write(&document.lock, terraform.rules);
        assert_eq!(written, lab.read(&format!("root/{LOCK}")), "{}", name);
        compared += 1;
    }
    assert!(compared > 0, "every accepted file that is not canonical");
    println!("parity: {compared} real lock files rewritten, equal bytes");
}
