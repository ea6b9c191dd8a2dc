//! `mirror --bundle` and `--from FILE`: bundles written on one side of an air gap and read on the other.

use std::io::Cursor;
use std::path::Path;

use lockctl::mirror::bundle::Bundle;
use lockctl::os::RealDisk;

use super::mirror::{locked, mirror, times, tree};
use super::mirror_disturbed::{FailingDisk, NO_SPACE};
use super::registry::{TWO, steady};
use super::*;

const LINUX: &[&str] = &["--platform", "linux_amd64"];
const BUNDLE: &[&str] = &["--bundle", "b.tar"];

/// The options of the far side: no request, and no fact of the near side.
const FAR: &[&str] = &["--offline", "--no-cache"];

fn bytes(lab: &Lab, file: &str) -> Vec<u8> {
    std::fs::read(lab.path(file)).unwrap()
}

/// The manifest of a bundle.
fn manifest(lab: &Lab, file: &str) -> Value {
    let bundle = bytes(lab, file);
    let mut archive = tar::Archive::new(Cursor::new(bundle));
    let first = archive.entries().unwrap().next().unwrap().unwrap();
    assert_eq!(first.path().unwrap(), Path::new("lockctl-bundle.json"));
    serde_json::from_reader(first).unwrap()
}

/// The versions, or platforms, of the packages that a list of a manifest names.
fn named<'m>(manifest: &'m Value, list: &str, field: &str) -> Vec<&'m str> {
    let packages = manifest[list].as_array().unwrap();
    packages
        .iter()
        .map(|package| package[field].as_str().unwrap())
        .collect()
}

/// Runs `mirror` into another directory, as on the far side.
fn far(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["mirror", "--flavor", "terraform@1.11", "far"], FAR, more].concat())
}

#[test]
fn a_bundle_has_what_the_lock_files_need() {
    let (registry, lab) = locked();
    let outcome = mirror(&lab, &[TWO, BUNDLE].concat()).exits(0);
    assert_eq!(outcome.stderr, "");
    steady(&registry, &outcome.stdout).reads(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE   STATE  FROM
acme/demo  1.0.0    2         611 B  new    registry.terraform.io
placed 2 packages (611 B from registry.terraform.io)
bundled 2 packages, 4.61 kB, in b.tar

"#]]);
    let digest = lockctl::hash::zh(&bytes(&lab, LOCK)[..]).unwrap();
    let stated = manifest(&lab, "b.tar");
    assert_eq!(stated["format_version"], "1.0");
    assert_eq!(stated["base"], Value::Null);
    assert_eq!(
        stated["lock_files"],
        json!([{ "path": LOCK, "sha256": digest.value() }])
    );
    assert_eq!(stated["left_out"], json!([]));
    assert_eq!(
        stated["packages"][1],
        json!({
            "provider": "registry.terraform.io/acme/demo",
            "version": "1.0.0",
            "platform": "linux_amd64",
            "name": "registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
            "bytes": 305,
            "zh": "zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5",
            "h1": "h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY="
        })
    );
    // Any program that unpacks tars makes a packed mirror from the bundle.
    let mut archive = tar::Archive::new(Cursor::new(bytes(&lab, "b.tar")));
    for entry in archive.entries().unwrap() {
        let header = entry.unwrap().header().clone();
        assert_eq!(header.mtime().unwrap(), 0);
        assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
        assert_eq!(header.mode().unwrap(), 0o644);
    }
    let mut archive = tar::Archive::new(Cursor::new(bytes(&lab, "b.tar")));
    archive.unpack(lab.path("untarred")).unwrap();
    let zips = |dir: &str| -> Vec<_> {
        tree(&lab.path(dir))
            .into_iter()
            .filter(|(name, _)| name.ends_with(".zip"))
            .collect()
    };
    assert_eq!(zips("untarred"), zips("m"));
}

#[test]
fn a_bundle_made_twice_is_the_same_file() {
    let (_registry, lab) = locked();
    let text = lab.read(LOCK);
    for root in ["a", "b"] {
        lab.write(&format!("{root}/{LOCK}"), &text);
    }
    assert_exit(&mirror(&lab, &[TWO, BUNDLE, &["a", "b"]].concat()), 0);
    let first = bytes(&lab, "b.tar");
    let before = times(&lab.path(""));
    // The same bytes are not written again.
    let again = mirror(&lab, &[TWO, BUNDLE, &["b", "a"]].concat()).exits(0);
    assert!(
        again.stdout.ends_with("in b.tar, which is as it was\n"),
        "{again:#?}"
    );
    assert_eq!(times(&lab.path(""))["b.tar"], before["b.tar"]);
    // The bytes do not depend on the order in which the mirror was filled, or on other files in it.
    std::fs::remove_dir_all(lab.path("m")).unwrap();
    assert_exit(&mirror(&lab, &["--platform", "darwin_arm64", "a"]), 0);
    lab.write(
        "m/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip",
        b"x",
    );
    let named = ["--bundle", "other.tar", "b", "a"];
    assert_exit(&mirror(&lab, &[TWO, &named].concat()), 0);
    assert_eq!(bytes(&lab, "other.tar"), first);
    // A changed lock file changes the bundle, even if it needs the same packages.
    lab.write(&format!("a/{LOCK}"), format!("{text}\n"));
    assert_exit(&mirror(&lab, &[TWO, BUNDLE, &["a", "b"]].concat()), 0);
    assert_ne!(bytes(&lab, "b.tar"), first);
}

#[test]
fn the_far_side_makes_the_same_mirror_without_a_request() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, BUNDLE].concat()), 0);
    registry.reset(&json!({}));
    let outcome = far(&lab, &[TWO, &["--from", "b.tar"]].concat()).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE   STATE  FROM
acme/demo  1.0.0    2         611 B  new    b.tar
placed 2 packages (611 B from b.tar)

"#]]);
    assert_eq!(tree(&lab.path("far")), tree(&lab.path("m")));
    assert_exit(&far(&lab, &[TWO, &["--check", "--prune"]].concat()), 0);
    let verified = lab.run(&[&["verify", "--no-cache", "--fs-mirror", "far"], TWO].concat());
    assert_exit(&verified, 0);
    let unpacked = [TWO, &["--from", "b.tar", "--unpacked=also"]].concat();
    assert_exit(&far(&lab, &unpacked), 0);
    assert_eq!(registry.requests(), [""; 0]);
}

#[test]
fn programs_read_what_the_bundle_has() {
    let (_registry, lab) = locked();
    let outcome = mirror(&lab, &[TWO, BUNDLE, &["--format", "json"]].concat()).exits(0);
    let said = outcome.json();
    let bundle = Bundle::open(&RealDisk, &lab.path("b.tar")).unwrap();
    assert_eq!(
        said["bundle"],
        json!({
            "path": "b.tar",
            "packages": 2,
            "bytes": bytes(&lab, "b.tar").len(),
            "left_out": 0,
            "manifest_sha256": lockctl::hash::hex_of_digest(bundle.digest()),
            "changed": true
        })
    );
}

#[test]
fn a_cut_bundle_holds_only_what_an_earlier_one_lacks() {
    let (registry, lab) = locked();
    mirror(&lab, &[LINUX, &["--bundle", "old.tar"]].concat()).exits(0);
    let cut = ["--bundle", "cut.tar", "--since", "old.tar"];
    let outcome = mirror(&lab, &[TWO, &cut].concat()).exits(0);
    assert!(
        outcome
            .stdout
            .ends_with("in cut.tar; 1 package left out since old.tar\n"),
        "{outcome:#?}"
    );
    let stated = manifest(&lab, "cut.tar");
    let old = Bundle::open(&RealDisk, &lab.path("old.tar")).unwrap();
    assert_eq!(stated["base"], lockctl::hash::hex_of_digest(old.digest()));
    assert_eq!(named(&stated, "packages", "platform"), ["darwin_arm64"]);
    assert_eq!(named(&stated, "left_out", "platform"), ["linux_amd64"]);
    // A third bundle, based on the second, has no package of the first two.
    let next = ["--bundle", "next.tar", "--since", "cut.tar"];
    assert_exit(&mirror(&lab, &[TWO, &next].concat()), 0);
    assert_eq!(manifest(&lab, "next.tar")["packages"], json!([]));

    registry.reset(&json!({}));
    let alone = far(&lab, &[TWO, &["--from", "cut.tar"]].concat()).exits(2);
    let base = lockctl::hash::hex_of_digest(old.digest());
    alone.stderr.replace(&base, "OLD").reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: cut.tar: it leaves the package to an earlier bundle; it builds on that whose manifest has the SHA-256 OLD
  help: mirror the earlier bundle into the same directory first, or name it with --from as well
note: no signed list of registry.terraform.io was used (no request may be made): the zh: of the lock file vouches for its packages

"#]]);
    let both = ["--from", "cut.tar", "--from", "old.tar"];
    assert_exit(&far(&lab, &[TWO, &both].concat()), 0);
    assert_eq!(tree(&lab.path("far")), tree(&lab.path("m")));
    assert_eq!(registry.requests(), [""; 0]);
}

/// The far side may have other lock files than the near side had.
#[test]
fn a_bundle_without_a_package_says_so() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[LINUX, BUNDLE].concat()), 0);
    let named = ["--platform", "darwin_arm64", "--from", "b.tar"];
    let outcome = far(&lab, &named).exits(2);
    outcome.stderr_has("cause: b.tar: the bundle does not have the package as it is locked\n");
}

/// The manifest is not evidence: bytes with a wrong hash are refused, and the next place is used.
#[test]
fn other_bytes_in_a_bundle_are_never_placed() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, BUNDLE].concat()), 0);
    let mut wrong = bytes(&lab, "b.tar");
    // A byte in the content of the last member, before its padding and the end of the archive.
    let at = wrong.len() - 1024 - 512 + 100;
    wrong[at] ^= 1;
    lab.write("wrong.tar", &wrong);
    let outcome = far(&lab, &[TWO, &["--from", "wrong.tar"]].concat()).exits(2);
    outcome.stderr_has("which is not that of the release");
    let zips = tree(&lab.path("far"));
    assert!(
        zips.keys().all(|name| !name.ends_with("linux_amd64.zip")),
        "{:?}",
        zips.keys()
    );
    let both = ["--from", "wrong.tar", "--from", "b.tar"];
    assert_exit(&far(&lab, &[TWO, &both].concat()), 0);
    assert_eq!(tree(&lab.path("far")), tree(&lab.path("m")));
}

#[test]
fn what_is_no_bundle_is_refused_before_anything_is_fetched() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, BUNDLE].concat()), 0);
    registry.reset(&json!({}));
    lab.write("notes.txt", "no bundle at all");
    lab.write("cut-off.tar", &bytes(&lab, "b.tar")[..3300]);
    let refused = |args: &[&str]| {
        let outcome = mirror(&lab, &[TWO, args].concat()).exits(2);
        outcome.stderr
    };
    refused(&["--from", "notes.txt"]).reads(str![[r#"
error: notes.txt cannot be used as a bundle
  cause: it is not a tar archive as lockctl writes it: it has no valid header
  help: name with --from a file that `lockctl mirror --bundle` wrote; if it is one, it was damaged on its way: copy it again

"#]]);
    assert!(refused(&["--from", "cut-off.tar"]).contains("goes beyond the end of the file"));
    assert!(refused(&["--from", "nowhere"]).contains("nowhere"));
    assert!(
        refused(&["--bundle", "c.tar", "--since", "notes.txt"])
            .contains("name with --since a file")
    );
    refused(&["--bundle", "b.tar", "--since", "b.tar"]).reads(str![[r#"
error: b.tar would be replaced by a bundle that builds on it
  help: give --bundle another name

"#]]);
    refused(&["--bundle", "m"]).reads(str![[r#"
error: m cannot be written
  cause: it is not a regular file

"#]]);
    assert!(refused(&["--bundle", "no/such/b.tar"]).contains("no/such/b.tar cannot be written"));
    refused(&["--bundle", "c.tar", "--unpacked"]).reads(str![[r#"
error: a bundle holds zips, and --unpacked alone places none
  help: --unpacked=also makes both

"#]]);
    assert_eq!(registry.requests(), [""; 0]);
    assert!(!lab.path("c.tar").exists());
}

#[test]
fn a_bundle_is_whole_or_not_written() {
    let (registry, lab) = locked();
    registry.reset(&json!({"rules": [{"kind": "package", "action": "truncate", "times": -1}]}));
    let outcome = mirror(&lab, &[TWO, BUNDLE].concat()).exits(2);
    outcome.stderr_has("no bundle was written");
    assert!(!lab.path("b.tar").exists());
}

/// Both public registries have the same zip of a provider, which is found by its hash.
#[test]
fn a_package_is_found_by_its_hash() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, BUNDLE].concat()), 0);
    let text = lab.read(LOCK);
    let other = text.replace("registry.terraform.io", "registry.opentofu.org");
    lab.write(&format!("tofu/{LOCK}"), other);
    let args = words("mirror --flavor opentofu@1.12 far tofu --from b.tar");
    assert_exit(&lab.run(&[&args[..], FAR, TWO].concat()), 0);
    let zips = tree(&lab.path("far/registry.opentofu.org/acme/demo"));
    assert_eq!(zips.len(), 4, "{:?}", zips.keys());
}

/// Wherever the disk is full, the bundle is as before; everything else is there already.
#[test]
fn a_full_disk_leaves_the_bundle_as_it_was() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[LINUX, BUNDLE].concat()), 0);
    assert_exit(&mirror(&lab, TWO), 0);
    let before = tree(&lab.path(""));
    let args = ["mirror", "--flavor", "terraform@1.11", "m"];
    let args = [&args[..], TWO, BUNDLE].concat();
    let mut in_the_bundle = 0;
    for succeed in 0.. {
        let outcome = lab.run_on(&FailingDisk::after(succeed, NO_SPACE), &args);
        if outcome.code == 0 {
            break;
        }
        let outcome = outcome.exits(2);
        outcome.stderr_has("cannot be written");
        in_the_bundle += usize::from(outcome.stderr.contains("b.tar"));
        assert_eq!(tree(&lab.path("")), before, "{succeed} operations");
    }
    assert!(in_the_bundle > 2, "{in_the_bundle}");
}
