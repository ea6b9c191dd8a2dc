//! `mirror --oci-layout`: the layout, read by our own reader of OCI registries, and its state after faults.

use std::collections::BTreeSet;
use std::path::Path;

use super::mirror::{locked, mirror, times, tree};
use super::mirror_disturbed::{FailingDisk, NO_SPACE};
use super::registry::{TWO, steady};
use super::*;
use crate::oci::OciRegistry;
use crate::registry::{Registry, sha256_hex};

const LAYOUT: &str = "oci/registry.terraform.io/acme/demo";
const TAG: &str = "org.opencontainers.image.ref.name";

fn mirror_oci(lab: &Lab, more: &[&str]) -> Outcome {
    mirror(lab, &[TWO, &["--oci-layout", "oci"], more].concat())
}

fn document(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Checks every descriptor that can be reached from the index of a layout; returns the names of their blobs. A
/// layout without an index has none.
#[track_caller]
fn sound_blobs(layout: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if !layout.join("index.json").exists() {
        return names;
    }
    assert_eq!(
        document(&layout.join("oci-layout")),
        json!({"imageLayoutVersion": "1.0.0"})
    );
    let mut left = vec![document(&layout.join("index.json"))];
    while let Some(value) = left.pop() {
        if let Some(digest) = value["digest"].as_str() {
            let name = digest.strip_prefix("sha256:").unwrap();
            let blob = std::fs::read(layout.join("blobs/sha256").join(name)).unwrap();
            assert_eq!(sha256_hex(&blob), name);
            assert_eq!(value["size"], blob.len());
            if names.insert(name.to_owned()) {
                left.extend(serde_json::from_slice::<Value>(&blob));
            }
        }
        for field in ["manifests", "layers"] {
            left.extend(value[field].as_array().into_iter().flatten().cloned());
        }
        left.extend(value.get("config").cloned());
    }
    names
}

fn tags(layout: &Path) -> Vec<String> {
    let index = document(&layout.join("index.json"));
    let descriptors = index["manifests"].as_array().unwrap();
    let tag = |descriptor: &Value| descriptor["annotations"][TAG].as_str().map(str::to_owned);
    descriptors.iter().filter_map(tag).collect()
}

/// A registry of OCI artifacts that serves the layout, and both registries trusted.
fn served(registry: &Registry, lab: &mut Lab) -> (OciRegistry, String) {
    let oci = OciRegistry::start();
    oci.publish_layout("acme/demo", &lab.path(LAYOUT));
    let both = [registry.ca_file(), oci.ca_file()].map(|path| std::fs::read(path).unwrap());
    lab.write("both.pem", both.concat());
    let both = lab.path("both.pem").into();
    lab.env.vars.insert("SSL_CERT_FILE".to_owned(), both);
    let template = format!("{}/${{namespace}}/${{type}}", oci.domain());
    (oci, template)
}

#[test]
fn a_layout_is_written_beside_the_mirror() {
    let (registry, lab) = locked();
    let outcome = mirror_oci(&lab, &[]).exits(0);
    steady(&registry, &outcome.stderr).reads(str![[r#"
note: wrote 8 files of the OCI layout oci; `lockctl explain mirror` shows how to push it

"#]]);
    let layout = lab.path(LAYOUT);
    let blobs = sound_blobs(&layout);
    // Two zips, their manifests, the configuration that both have, and the index of the version.
    assert_eq!(blobs.len(), 6);
    let index = document(&layout.join("index.json"));
    let tag = &index["manifests"][0];
    assert_eq!(tag["annotations"], json!({ TAG: "1.0.0" }));
    assert_eq!(tag["artifactType"], "application/vnd.opentofu.provider");
    let name = tag["digest"].as_str().unwrap().replace(':', "/");
    let version = document(&layout.join("blobs").join(name));
    let platforms: Vec<&Value> = version["manifests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["platform"])
        .collect();
    assert_eq!(
        platforms,
        [
            &json!({"architecture": "arm64", "os": "darwin"}),
            &json!({"architecture": "amd64", "os": "linux"})
        ]
    );
    // The mirror is the same as without a layout.
    let with = tree(&lab.path("m"));
    std::fs::remove_dir_all(lab.path("m")).unwrap();
    assert_exit(&mirror(&lab, TWO), 0);
    assert_eq!(tree(&lab.path("m")), with);
}

#[test]
fn a_second_run_rewrites_nothing() {
    let (_registry, lab) = locked();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let before = times(&lab.path("oci"));
    for more in [&[][..], &["--trust-existing"], &["--prune"], &["--check"]] {
        let outcome = mirror_oci(&lab, more).exits(0);
        assert_eq!(outcome.stderr, "");
        assert_eq!(times(&lab.path("oci")), before, "{more:?}");
    }
    // The same packages give the same bytes on every machine.
    let right = tree(&lab.path("oci"));
    std::fs::remove_dir_all(lab.path("oci")).unwrap();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    assert_eq!(tree(&lab.path("oci")), right);
}

#[test]
fn lock_reads_the_layout_back() {
    let (registry, mut lab) = locked();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let (_oci, template) = served(&registry, &mut lab);
    let first = ["lock", "--no-cache", "--flavor", "terraform@1.11"];
    let lock = |lab: &Lab| lab.run(&[&first[..], TWO, &["--oci-mirror", &template]].concat());
    let before = lab.read(LOCK);
    registry.reset(&json!({}));
    assert_exit(&lock(&lab), 0);
    assert_eq!(lab.read(LOCK), before);
    // From nothing, the hashes are those of the two packages in the layout.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_exit(&lock(&lab), 0);
    let text = lab.read(LOCK);
    let hashes: Vec<&str> = text.lines().filter(|line| line.contains("\"h1:")).collect();
    assert_eq!(hashes.len(), 2, "{text}");
    let lines = before.lines().collect::<BTreeSet<_>>();
    assert!(text.lines().all(|line| lines.contains(line)), "{text}");
    assert_eq!(registry.requests(), [""; 0]);
}

#[test]
fn a_mirror_is_made_of_the_layout() {
    let (registry, mut lab) = locked();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let right = tree(&lab.path("m"));
    std::fs::remove_dir_all(lab.path("m")).unwrap();
    let (_oci, template) = served(&registry, &mut lab);
    registry.reset(&json!({}));
    let outcome = mirror(
        &lab,
        &[TWO, &["--no-cache", "--oci-mirror", &template]].concat(),
    );
    assert_exit(&outcome, 0);
    assert_eq!(tree(&lab.path("m")), right);
    assert_eq!(super::mirror::zips_requested(&registry), 0);
}

/// A blob is accepted only by its hash, and `--check` finds every damage without writing.
#[test]
fn every_damage_is_found_and_repaired() {
    let (_registry, lab) = locked();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let right = tree(&lab.path("oci"));
    for name in right.keys() {
        for damaged in [None, Some(b"{}}".to_vec())] {
            let path = lab.path("oci").join(name);
            match &damaged {
                None => std::fs::remove_file(&path).unwrap(),
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            }
            // An index without the marker may be that of a network mirror.
            if name.ends_with("oci-layout") && damaged.is_none() {
                let outcome = mirror_oci(&lab, &[]).exits(2);
                outcome.stderr_has("is not an OCI image layout");
                std::fs::write(&path, &right[name]).unwrap();
                continue;
            }
            let before = tree(&lab.path("oci"));
            let checked = mirror_oci(&lab, &["--check"]).exits(1);
            checked.stderr_has("of the OCI layout would change");
            let planned = mirror_oci(&lab, &["--dry-run"]).exits(0);
            assert!(
                planned
                    .stderr
                    .contains("would write 1 file of the OCI layout"),
                "{name} {planned:#?}"
            );
            assert_eq!(tree(&lab.path("oci")), before);
            assert_exit(&mirror_oci(&lab, &[]), 0);
            assert_eq!(tree(&lab.path("oci")), right, "{name}");
        }
    }
}

/// Versions of earlier runs, tags of other tools and other platforms stay, until `--prune`.
#[test]
fn other_versions_and_platforms_stay_unless_they_are_pruned() {
    let (_registry, lab) = locked();
    let one = &["--platform", "linux_amd64", "--oci-layout", "oci"][..];
    assert_exit(&mirror(&lab, one), 0);
    let only_linux = tree(&lab.path("oci"));
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let both = tree(&lab.path("oci"));
    assert_exit(&mirror(&lab, one), 0);
    assert_eq!(tree(&lab.path("oci")), both);
    let layout = lab.path(LAYOUT);
    let mut index = document(&layout.join("index.json"));
    for tag in ["0.9.0_b1", "latest"] {
        let mut descriptor = index["manifests"][0].clone();
        descriptor["annotations"][TAG] = tag.into();
        index["manifests"].as_array_mut().unwrap().push(descriptor);
    }
    std::fs::write(layout.join("index.json"), index.to_string()).unwrap();
    assert_exit(&mirror(&lab, one), 0);
    assert_eq!(tags(&layout), ["latest", "0.9.0_b1", "1.0.0"]);
    assert_exit(&mirror(&lab, &[one, &["--prune"]].concat()), 0);
    assert_eq!(tags(&layout), ["latest", "1.0.0"]);
    // The blobs of the foreign tag still exist.
    assert_eq!(sound_blobs(&layout).len(), 7);
    // Without the foreign tag nothing needs the other platform.
    std::fs::write(
        layout.join("index.json"),
        &both[&format!("{}/index.json", &LAYOUT[4..])],
    )
    .unwrap();
    let other = "oci/example.com/t/x";
    lab.write(&format!("{other}/oci-layout"), b"{}");
    lab.write(&format!("{other}/index.json"), b"{}");
    lab.write("oci/example.com/notes.txt", b"kept");
    let prune = |more: &[&str]| mirror(&lab, &[one, &["--prune"], more].concat());
    assert_exit(&prune(&["--check"]), 1);
    let before = tree(&lab.path("oci"));
    assert_exit(&prune(&["--dry-run"]), 0);
    assert_eq!(tree(&lab.path("oci")), before);
    assert_exit(&prune(&[]), 0);
    assert!(!lab.path(other).exists());
    std::fs::remove_file(lab.path("oci/example.com/notes.txt")).expect("it stayed");
    assert_eq!(tree(&lab.path("oci")), only_linux);
    assert_exit(&prune(&["--check"]), 0);
}

/// A tag has no `+`.
#[test]
fn build_metadata_is_part_of_the_tag() {
    let lab = Lab::new();
    lab.packed("fs", "example.com/t/x/1.0.0+b1/linux_amd64", "x");
    lab.write("main.tf", super::ONE_PROVIDER.replace("~> 1.0", "1.0.0+b1"));
    let platform = ["--platform", "linux_amd64"];
    let lock = ["lock", "--flavor", "opentofu", "--fs-mirror", "fs"];
    assert_exit(&lab.run(&[&lock[..], &platform].concat()), 0);
    let mirror = words("mirror m --offline --from fs --oci-layout oci");
    assert_exit(&lab.run(&[&mirror[..], &platform].concat()), 0);
    let layout = lab.path("oci/example.com/t/x");
    assert_eq!(tags(&layout), ["1.0.0_b1"]);
    sound_blobs(&layout);
    lab.run(&[&mirror[..], &platform, &["--check"]].concat())
        .exits(0);
}

#[test]
fn directories_that_do_not_fit_are_refused() {
    let (_registry, lab) = locked();
    for dir in ["m", "m/oci", ".", "x/../m/y"] {
        let outcome = mirror(&lab, &[TWO, &["--oci-layout", dir]].concat()).exits(2);
        outcome.stderr_has("are not apart");
        assert!(!lab.path("m").exists());
    }
    let outcome = mirror_oci(&lab, &["--unpacked"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: an OCI layout holds zips, and --unpacked alone places none
  help: --unpacked=also makes both

"#]]);
    // The directory of another mirror has an index of its own.
    assert_exit(&mirror(&lab, TWO), 0);
    std::fs::rename(lab.path("m"), lab.path("oci")).unwrap();
    let before = tree(&lab.path("oci"));
    mirror_oci(&lab, &[]).exits(2).stderr_eq(str![[r#"
error: oci/registry.terraform.io/acme/demo has an index.json and no oci-layout, so it is not an OCI image layout
  help: name another directory with --oci-layout

"#]]);
    assert_eq!(tree(&lab.path("oci")), before);
}

/// A link in the layout may lead anywhere, so no link is followed.
#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let (_registry, lab) = locked();
    std::fs::create_dir(lab.path("outside")).unwrap();
    std::fs::create_dir_all(lab.path("oci/registry.terraform.io")).unwrap();
    crate::disk::link("../../outside", &lab.path("oci/registry.terraform.io/acme"));
    let outcome = mirror_oci(&lab, &[]).exits(2);
    outcome.stderr_has("is a symbolic link");
    assert!(tree(&lab.path("outside")).is_empty());
    // A link to the right bytes is replaced by a blob: the link may lead elsewhere later.
    std::fs::remove_file(lab.path("oci/registry.terraform.io/acme")).unwrap();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let right = tree(&lab.path("oci"));
    for name in sound_blobs(&lab.path(LAYOUT)) {
        let blob = lab.path(LAYOUT).join("blobs/sha256").join(&name);
        std::fs::rename(&blob, lab.path("outside").join(&name)).unwrap();
        let target = lab.path("outside").join(&name);
        crate::disk::link(target.to_str().unwrap(), &blob);
    }
    let outside = tree(&lab.path("outside"));
    assert_exit(&mirror_oci(&lab, &["--check"]), 1);
    assert_exit(&mirror_oci(&lab, &[]), 0);
    assert_eq!(tree(&lab.path("oci")), right);
    assert!(
        !lab.path(LAYOUT)
            .join("blobs/sha256")
            .read_dir()
            .unwrap()
            .any(|blob| { blob.unwrap().file_type().unwrap().is_symlink() })
    );
    assert_eq!(tree(&lab.path("outside")), outside);
}

/// If the disk is full at any step, no index names a missing blob, and the next run succeeds.
#[test]
fn a_full_disk_leaves_no_index_without_its_blobs() {
    let (_registry, lab) = locked();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let right = sound_blobs(&lab.path(LAYOUT));
    let mut failed = 0;
    for succeed in 0.. {
        std::fs::remove_dir_all(lab.path("oci")).unwrap();
        // An earlier state, with an index that is to be replaced.
        let one = ["--platform", "linux_amd64", "--oci-layout", "oci"];
        assert_exit(&mirror(&lab, &one), 0);
        let disk = FailingDisk::after(succeed, NO_SPACE);
        let args = words("mirror --flavor terraform@1.11 m --oci-layout oci");
        let outcome = lab.run_on(&disk, &[&args[..], TWO].concat());
        sound_blobs(&lab.path(LAYOUT));
        if outcome.code == 0 {
            break;
        }
        assert_exit(&outcome, 2);
        outcome.stderr_has("cannot be written");
        failed += 1;
        assert_exit(&mirror_oci(&lab, &[]), 0);
        // The index of the earlier state stays as an unreferenced blob until `--prune`.
        assert_eq!(sound_blobs(&lab.path(LAYOUT)), right);
    }
    // At least a zip, its manifest, the index of the version and the list of tags.
    assert!(failed >= 4, "{failed}");
}

/// If a package cannot be fetched, its files in the layout stay.
#[test]
fn a_failed_download_takes_nothing_away() {
    let (registry, lab) = locked();
    assert_exit(&mirror_oci(&lab, &[]), 0);
    let right = tree(&lab.path("oci"));
    std::fs::remove_dir_all(lab.path("m")).unwrap();
    registry.reset(&json!({"rules": [{"kind": "package", "action": "truncate", "times": -1}]}));
    assert_exit(&mirror_oci(&lab, &["--prune"]), 2);
    assert_eq!(tree(&lab.path("oci")), right);
}
