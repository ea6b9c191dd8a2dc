//! `mirror`: what is placed, from where, and what a second run does.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use super::registry::{DEMO, TWO, lock, steady, with_registry};
use super::*;
use crate::registry::{Origin, Registry};
use crate::scenarios::Packages;

const DIR: &str = "m/registry.terraform.io/acme/demo";
const ZIP: &str = "m/registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";

pub(super) fn mirror(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["mirror", "--flavor", "terraform@1.11", "m"], more].concat())
}

/// A root that is locked for two platforms, whose registry has forgotten the requests for that.
pub(super) fn locked() -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, TWO), 0);
    registry.reset(&json!({}));
    (registry, lab)
}

/// Every file below a directory, with its bytes.
pub(super) fn tree(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(&path).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().display().to_string();
                files.insert(name.replace('\\', "/"), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

pub(super) fn times(dir: &Path) -> BTreeMap<String, SystemTime> {
    tree(dir)
        .into_keys()
        .map(|name| {
            let changed = std::fs::metadata(dir.join(&name)).unwrap().modified();
            (name, changed.unwrap())
        })
        .collect()
}

pub(super) fn zips_requested(registry: &Registry) -> usize {
    let requests = registry.requests();
    requests.iter().filter(|line| line.contains(".zip")).count()
}

#[test]
fn a_packed_mirror_is_placed() {
    let (registry, lab) = locked();
    let outcome = mirror(&lab, TWO).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE   STATE  FROM
acme/demo  1.0.0    2         611 B  new    registry.terraform.io
placed 2 packages (611 B from registry.terraform.io)

"#]]);
    assert_eq!(outcome.stderr, "");
    let files = tree(&lab.path(DIR));
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [
            "1.0.0.json",
            "index.json",
            "terraform-provider-demo_1.0.0_darwin_arm64.zip",
            "terraform-provider-demo_1.0.0_linux_amd64.zip",
        ]
    );
    let zip = Packages::recorded().zip("demo/1.0.0/linux_amd64");
    assert_eq!(files["terraform-provider-demo_1.0.0_linux_amd64.zip"], zip);
    lab.read(&format!("{DIR}/index.json")).reads(str![[r#"
{
  "versions": {
    "1.0.0": {}
  }
}
"#]]);
    lab.read(&format!("{DIR}/1.0.0.json")).reads(str![[r#"
{
  "archives": {
    "darwin_arm64": {
      "hashes": [
        "h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=",
        "zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896"
      ],
      "url": "terraform-provider-demo_1.0.0_darwin_arm64.zip"
    },
    "linux_amd64": {
      "hashes": [
        "h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=",
        "zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5"
      ],
      "url": "terraform-provider-demo_1.0.0_linux_amd64.zip"
    }
  }
}
"#]]);
}

#[test]
fn only_named_providers_are_mirrored() {
    let (_registry, lab) = locked();
    let outcome = mirror(&lab, &["--provider", "acme/none"]).exits(2);
    outcome.stderr_has("error: acme/none cannot be mirrored: no lock file has an entry for it");
    // What is not named would be removed.
    assert_exit(&mirror(&lab, &["--provider", "acme/demo", "--prune"]), 2);
    lab.write(
        LOCK,
        lab.read(LOCK)
            + "\nprovider \"registry.terraform.io/acme/other\" {\n  version = \"1.0.0\"\n}\n",
    );
    assert_exit(&mirror(&lab, &["--provider", "demo"]), 0);
    assert_exit(&mirror(&lab, &["--provider", "acme/demo", "--check"]), 0);
    assert_exit(&mirror(&lab, &["--check"]), 1);
}

#[test]
fn a_second_run_requests_and_rewrites_nothing() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    let before = times(&lab.path("m"));
    for more in [&[][..], &["--trust-existing"]] {
        registry.reset(&json!({}));
        let outcome = mirror(&lab, &[TWO, more].concat()).exits(0);
        assert_eq!(registry.requests(), [""; 0]);
        assert_eq!(times(&lab.path("m")), before);
        outcome.stdout_has("kept 2 packages");
    }
    assert_exit(&mirror(&lab, &[TWO, &["--check"]].concat()), 0);
}

/// Without typed platforms and a project file those are wanted that the entry is known to be for.
#[test]
fn the_platforms_of_the_lock_file_are_wanted() {
    let (_registry, lab) = with_registry(DEMO);
    lab.run(&[&["lock", "--flavor", "terraform@1.11"], TWO].concat())
        .exits(0);
    assert_exit(&mirror(&lab, &[]), 0);
    let zips = tree(&lab.path("m"));
    let zips: Vec<&String> = zips.keys().filter(|name| name.ends_with(".zip")).collect();
    assert_eq!(zips.len(), 2, "{zips:?}");
}

#[test]
fn what_is_there_is_believed_only_if_its_hash_is_right() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    let right = tree(&lab.path("m"));
    let mut wrong = std::fs::read(lab.path(ZIP)).unwrap();
    *wrong.last_mut().unwrap() ^= 1;
    std::fs::write(lab.path(ZIP), &wrong).unwrap();
    registry.reset(&json!({}));
    let checked = mirror(&lab, &[TWO, &["--check"]].concat()).exits(1);
    checked.stdout_has("1 package wrong");
    checked.stderr_eq(str![[r#"
warning: 1 document would change, so as to list the packages that are there: m/registry.terraform.io/acme/demo/1.0.0.json
warning: m/registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip is wrong: it has zh:be2791dafe201926f50f198c7e15728ca5feb070c1633bb64017c264cbfbbe75, expected zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5

"#]]);
    assert_eq!(registry.requests(), [""; 0]);
    // The replacement is reported: whoever changed the file may do so again.
    let replaced = mirror(&lab, TWO).exits(0);
    format!("{}{}", replaced.stdout, replaced.stderr).reads(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE   STATE           FROM
acme/demo  1.0.0    2         611 B  kept, replaced  registry.terraform.io
placed 1 package (305 B from registry.terraform.io), kept 1 package
warning: m/registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip was wrong and was replaced: it has zh:be2791dafe201926f50f198c7e15728ca5feb070c1633bb64017c264cbfbbe75, expected zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5

"#]]);
    assert_eq!(tree(&lab.path("m")), right);
    assert_eq!(zips_requested(&registry), 1);
}

/// Without requests only the named directories have packages.
#[test]
fn a_dry_run_without_a_place_fails_as_the_run_would() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    std::fs::rename(lab.path("m"), lab.path("other")).unwrap();
    let offline = [TWO, &["--offline"]].concat();
    let dry = [&offline[..], &["--dry-run"]].concat();
    for more in [&offline, &dry] {
        let outcome = mirror(&lab, more).exits(2);
        steady(&registry, &outcome.stdout).reads(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE  STATE    FROM
acme/demo  1.0.0    2         -     missing  -
2 packages missing

"#]]);
        steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64 could not be fetched
  cause: the same applies to registry.terraform.io/acme/demo 1.0.0 for linux_amd64
  help: without --offline its registry is asked; --from DIR names a directory that has the package
note: no signed list of registry.terraform.io was used (no request may be made): the zh: of the lock file vouches for its packages

"#]]);
    }
    let outcome = mirror(&lab, &[&dry[..], &["--from", "other"]].concat()).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE  STATE    FROM
acme/demo  1.0.0    2         -     missing  -
would place 2 packages (missing)

"#]]);
    assert!(!lab.path("m").exists());
}

#[test]
fn check_and_dry_run_write_nothing() {
    let (registry, lab) = locked();
    mirror(&lab, &[TWO, &["--check"]].concat()).exits(1);
    assert_eq!(registry.requests(), [""; 0]);
    let planned = mirror(&lab, &[TWO, &["--dry-run"]].concat()).exits(0);
    planned.stdout_has("would place 2 packages");
    assert_eq!(zips_requested(&registry), 0);
    assert!(!lab.path("m").exists());
}

/// Any directory with the right bytes will do, and a place with other bytes is left for the next one.
#[test]
fn bytes_come_from_any_directory() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    std::fs::rename(lab.path("m"), lab.path("other")).unwrap();
    let wrong = format!("wrong/{}", &ZIP[2..]);
    lab.write(&wrong, b"something else");
    registry.reset(&json!({}));
    let outcome = mirror(
        &lab,
        &[TWO, &["--from", "wrong", "--from", "other"]].concat(),
    );
    assert_exit(&outcome, 0);
    assert_eq!(zips_requested(&registry), 0);
    assert_eq!(tree(&lab.path("m")), tree(&lab.path("other")));
    outcome.stdout_has(" from other");
}

/// With no request at all the lock file vouches, and that is said.
#[test]
fn offline_the_lock_file_vouches() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    std::fs::rename(lab.path("m"), lab.path("other")).unwrap();
    registry.reset(&json!({}));
    let offline = [TWO, &["--offline", "--no-cache", "--from", "other"]].concat();
    let outcome = mirror(&lab, &offline).exits(0);
    assert_eq!(registry.requests(), [""; 0]);
    outcome.stderr_eq(str![[r#"
note: no signed list of registry.terraform.io was used (no request may be made): the zh: of the lock file vouches for its packages

"#]]);
    assert_eq!(tree(&lab.path("m")), tree(&lab.path("other")));
}

#[test]
fn a_network_mirror_is_asked_before_the_registry() {
    let (registry, lab) = locked();
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    mirror(&lab, &[TWO, &["--net-mirror", &url]].concat()).exits(0);
    let zips: Vec<String> = registry
        .requests()
        .into_iter()
        .filter(|line| line.contains(".zip"))
        .collect();
    assert_eq!(zips.len(), 2);
    assert!(
        zips.iter().all(|line| line.contains("/mirror/")),
        "{zips:?}"
    );
}

#[test]
fn what_no_lock_file_needs_is_removed() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    let right = tree(&lab.path("m"));
    let stray = "terraform-provider-demo_0.9.0_linux_amd64.zip";
    lab.write(&format!("{DIR}/{stray}"), b"old");
    lab.write(&format!("{DIR}/0.9.0.json"), b"{}");
    lab.write(
        "m/example.com/t/x/2.0.0/linux_amd64/terraform-provider-x",
        b"x",
    );
    lab.write("m/notes.txt", b"kept");
    mirror(&lab, &[TWO, &["--check", "--prune"]].concat()).exits(1);
    mirror(&lab, &[TWO, &["--dry-run", "--prune"]].concat()).exits(0);
    assert!(lab.path(&format!("{DIR}/{stray}")).exists());
    mirror(&lab, &[TWO, &["--prune"]].concat()).exits(0);
    std::fs::remove_file(lab.path("m/notes.txt")).expect("it stayed");
    assert_eq!(tree(&lab.path("m")), right);
    assert!(!lab.path("m/example.com").exists());
    assert_exit(&mirror(&lab, &[TWO, &["--check", "--prune"]].concat()), 0);
}

#[test]
fn the_cli_configuration_names_what_is_mirrored() {
    let (_registry, lab) = locked();
    let write = ["--write-cli-config", "mirror.tfrc"];
    let outcome = mirror(&lab, &[TWO, &write].concat()).exits(0);
    outcome.stderr_eq(str![[r#"
note: `export TF_CLI_CONFIG_FILE=mirror.tfrc` makes `init` use the mirror
note: `terraform init -lockfile=readonly` then installs from it, and leaves the lock file as it is

"#]]);
    let dir = std::fs::canonicalize(lab.path("m")).unwrap();
    let text = lab.read("mirror.tfrc");
    text.replace(&dir.display().to_string().replace('\\', "\\\\"), "/m")
        .reads(str![[r#"
provider_installation {
  filesystem_mirror {
    path    = "/m"
    include = [
      "registry.terraform.io/acme/demo",
    ]
  }
  direct {
    exclude = [
      "registry.terraform.io/acme/demo",
    ]
  }
}

"#]]);
    let url = [
        TWO,
        &write,
        &["--url", "https://example.com/m/", "--fallback"],
    ]
    .concat();
    assert_exit(&mirror(&lab, &url), 0);
    lab.read("mirror.tfrc").reads(str![[r#"
provider_installation {
  network_mirror {
    url     = "https://example.com/m/"
    include = [
      "registry.terraform.io/acme/demo",
    ]
  }
  direct {}
}

"#]]);
}

#[test]
fn places_without_any_package_of_a_release_are_an_error() {
    let (_registry, lab) = locked();
    let unpacked =
        "other/registry.terraform.io/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_v1.0.0";
    lab.write(unpacked, "program");
    let outcome = mirror(&lab, &["--offline", "--no-cache", "--from", "other"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: other: it has the package unpacked only, and the zip cannot be made from its files
  help: --unpacked makes a mirror of unpacked packages, which `init` installs from as well
note: no signed list of registry.terraform.io was used (no request may be made): the zh: of the lock file vouches for its packages

"#]]);
    let rows = "PROVIDER   VERSION  PACKAGES  SIZE  STATE    FROM\n\
                acme/demo  1.0.0    5         -     missing  -\n\
                5 packages missing\n";
    assert_eq!(outcome.stdout, rows);
}
