//! Bills of a small project, in every format.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use super::snapshot::SnapshotOrigin;
use super::*;
use crate::addr::ProviderAddr;
use crate::contents::{BuildInfo, ProgramContents};
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes};
use crate::package::{Fact, PackageId};

fn hash(text: &str) -> Hash {
    text.parse().expect("a hash")
}

fn zh(digit: char) -> Hash {
    hash(&format!("zh:{}", digit.to_string().repeat(64)))
}

fn id(provider: &str, version: &str) -> ReleaseId {
    let provider = ProviderAddr::parse(provider, Flavor::Terraform1_16).expect("an address");
    (provider, version.parse().expect("a version"))
}

/// A fact about the zip `a` for Linux and `b` for macOS.
fn fact(zh: &Hash, id: &ReleaseId) -> Option<Fact> {
    let (platform, h1) = match zh.value().chars().next()? {
        'a' => ("linux_amd64", "h1:linux="),
        'b' => ("darwin_arm64", "h1:darwin="),
        _ => return None,
    };
    Some(Fact {
        zh: zh.clone(),
        h1: hash(h1),
        size: 7,
        id: PackageId {
            provider: id.0.clone(),
            version: id.1.clone(),
            platform: platform.parse().expect("a platform"),
        },
        offered: Vec::new(),
        files: Vec::new(),
    })
}

/// The program in the zip `a`; the program in `b` was not read.
fn contents(zh: &Hash) -> Option<Arc<ProgramContents>> {
    let text = "path\tx.example/p\nmod\tx.example/P\t(devel)\t\ndep\ta.example/A\tv1.2.3+incompatible\th1:sum=\n\
        dep\tb.example/b\tv1.0.0\t\n=>\tc.example/c\tv1.1.0\th1:other=\n\ndep\td.example/d\tv1.0.0\t\n=>\t../d\t(devel)\t\n\n\
        build\tvcs.modified=true\nbuild\tvcs.revision=0123\n";
    let info = BuildInfo::parse("go1.22.3 X:loopvar", text).expect("sound");
    (zh.value().starts_with('a')).then(|| Arc::new(ProgramContents::Go(Box::new(info))))
}

fn release(id: &ReleaseId, hashes: &[Hash]) -> BilledRelease {
    let hashes: Hashes = hashes.iter().cloned().collect();
    let evidence = ReleaseEvidence {
        release: None,
        fact: &|zh| fact(zh, id),
        contents: &contents,
    };
    BilledRelease::of(id, &hashes, &evidence)
}

fn bill() -> Bill {
    let (demo, twin) = (
        id("acme/demo", "1.0.0"),
        id("registry.opentofu.org/acme/demo", "1.0.0"),
    );
    let root = |lock_file: &str, releases: &[&ReleaseId]| BilledRoot {
        modules: std::collections::BTreeSet::new(),
        lock_file: lock_file.to_owned(),
        releases: releases.iter().map(|id| (*id).clone()).collect(),
    };
    let hashes = [
        zh('a'),
        zh('b'),
        zh('c'),
        hash("h1:linux="),
        hash("h1:strange="),
    ];
    Bill {
        roots: [
            (
                "live/a".to_owned(),
                root("live/a/.terraform.lock.hcl", &[&demo]),
            ),
            (
                "live/\u{1b}\"b".to_owned(),
                root("live/b/.terraform.lock.hcl", &[&demo, &twin]),
            ),
        ]
        .into(),
        releases: [
            (demo.clone(), release(&demo, &hashes)),
            (twin.clone(), release(&twin, &[hash("h1:strange=")])),
        ]
        .into(),
        left_out: ["live/broken".to_owned()].into(),
    }
}

fn read(document: &str) -> Value {
    serde_json::from_str(document).expect("JSON")
}

/// Finds a component by name, here or below.
fn component<'v>(of: &'v Value, name: &str) -> Option<&'v Value> {
    let components = of["components"].as_array()?;
    components.iter().find_map(|part| {
        if part["name"] == name {
            Some(part)
        } else {
            component(part, name)
        }
    })
}

/// Lists the properties of a component, as `name=value` without the prefix.
fn properties(of: &Value) -> Vec<String> {
    of["properties"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|property| {
            let text = |name: &str| property[name].as_str().expect("text").to_owned();
            format!("{}={}", text("name").replace("lockctl:", ""), text("value"))
        })
        .collect()
}

/// Returns what a component depends on.
fn dependencies(document: &Value, name: &str) -> Vec<String> {
    document["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["ref"] == name)
        .flat_map(|dependency| dependency["dependsOn"].as_array().expect("a list").clone())
        .map(|to| to.as_str().expect("a name").to_owned())
        .collect()
}

const DEMO: &str = "pkg:terraform/acme/demo@1.0.0";
const TWIN: &str = "pkg:terraform/acme/demo@1.0.0?repository_url=registry.opentofu.org";

#[test]
fn every_component_is_listed_with_its_evidence() {
    let document = read(&cyclonedx::document(&bill(), None));
    let demo = document["components"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|component| component["purl"] == DEMO)
        .expect("the release");
    assert_eq!(demo["purl"], DEMO);
    // The zip `c` and this `h1:` are in the lock file, and no fact is about them.
    let kept = format!("hash:kept={}", zh('c'));
    assert_eq!(properties(demo), ["hash:kept=h1:strange=".to_owned(), kept]);
    let linux =
        component(demo, "terraform-provider-demo_1.0.0_linux_amd64.zip").expect("a package");
    assert_eq!(linux["hashes"][0]["alg"], "SHA-256");
    assert_eq!(linux["hashes"][0]["content"], "a".repeat(64));
    let computed = format!("hash:computed={}", zh('a'));
    let expected = [
        "platform=linux_amd64",
        &computed,
        "hash:computed=h1:linux=",
        "size=7",
        "contents=go",
        "go:main-module=x.example/P@(devel)",
        "go:vcs-revision=0123",
        "go:vcs-modified=true",
    ];
    assert_eq!(properties(linux), expected);
    let darwin =
        component(demo, "terraform-provider-demo_1.0.0_darwin_arm64.zip").expect("a package");
    assert!(properties(darwin).contains(&"contents=unknown".to_owned()));
    for (name, purl, expected) in [
        ("x.example/P", Some("pkg:golang/x.example/p"), ""),
        (
            "a.example/A",
            Some("pkg:golang/a.example/a@v1.2.3%2Bincompatible"),
            "go:sum=h1:sum=",
        ),
        (
            "c.example/c",
            Some("pkg:golang/c.example/c@v1.1.0"),
            "go:sum=h1:other= go:replaces=b.example/b@v1.0.0",
        ),
        ("../d", None, "go:replaces=d.example/d@v1.0.0"),
        ("stdlib", Some("pkg:golang/stdlib@1.22.3"), ""),
    ] {
        let module = component(&document, name).expect(name);
        assert_eq!(module["purl"].as_str(), purl, "{name}");
        assert_eq!(properties(module).join(" "), expected, "{name}");
    }
}

#[test]
fn dependencies_lead_from_roots_to_modules_and_unknown_ones_are_said() {
    let document = read(&cyclonedx::document(&bill(), None));
    assert_eq!(dependencies(&document, "roots").len(), 2);
    assert_eq!(dependencies(&document, "root:live/a"), [DEMO]);
    assert_eq!(dependencies(&document, "root:live/\u{1b}\"b"), [DEMO, TWIN]);
    let packages = dependencies(&document, DEMO);
    assert_eq!(packages.len(), 2);
    let counts: Vec<usize> = packages
        .iter()
        .map(|package| dependencies(&document, package).len())
        .collect();
    assert_eq!(counts, [0, 5], "the program for macOS was not read");
    let compositions = &document["compositions"];
    assert_eq!(compositions[0]["aggregate"], "incomplete");
    assert_eq!(compositions[0]["dependencies"][0], "roots");
    assert_eq!(compositions[1]["aggregate"], "unknown");
    let unknown: Vec<&str> = compositions[1]["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(unknown, [&*packages[0], TWIN]);
}

#[test]
fn spdx_has_the_same_elements() {
    let document = read(&spdx::document(&bill(), None));
    let packages = document["packages"].as_array().expect("a list");
    let names: Vec<&str> = packages
        .iter()
        .filter_map(|package| package["SPDXID"].as_str())
        .collect();
    assert_eq!(names.len(), 2 + 2 + 2 + 5, "{names:?}");
    let relationships = document["relationships"].as_array().expect("a list");
    let count = |kind: &str| {
        let is_kind = |relationship: &&Value| relationship["relationshipType"] == kind;
        relationships.iter().filter(is_kind).count()
    };
    assert_eq!(
        [count("DESCRIBES"), count("DEPENDS_ON"), count("CONTAINS")],
        [2, 3, 2 + 5]
    );
    for end in ["spdxElementId", "relatedSpdxElement"] {
        for relationship in relationships {
            let id = relationship[end].as_str().expect("an ID");
            assert!(id == "SPDXRef-DOCUMENT" || names.contains(&id), "{id}");
        }
    }
    assert_eq!(document["comment"], "left out: live/broken");
    assert_eq!(document["creationInfo"]["created"], "1970-01-01T00:00:00Z");
}

#[test]
fn a_snapshot_has_a_manifest_for_each_lock_file() {
    let origin = SnapshotOrigin {
        sha: "0".repeat(40),
        git_ref: "refs/heads/main".to_owned(),
        job_id: "1".to_owned(),
        correlator: "ci".to_owned(),
        scanned: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
    };
    let document = read(&snapshot::document(&bill(), &origin));
    assert_eq!(document["scanned"], "2023-11-14T22:13:20Z");
    let resolved = &document["manifests"]["live/b/.terraform.lock.hcl"]["resolved"];
    assert_eq!(resolved[DEMO]["relationship"], "direct");
    // The directory has no purl.
    assert_eq!(
        resolved[DEMO]["dependencies"].as_array().map(Vec::len),
        Some(4)
    );
    assert_eq!(
        resolved["pkg:golang/stdlib@1.22.3"]["relationship"],
        "indirect"
    );
    assert_eq!(resolved[TWIN]["metadata"]["contents"], "unknown");
    assert!(document["manifests"]["live/a/.terraform.lock.hcl"]["resolved"][TWIN].is_null());
}

#[test]
fn the_same_bill_has_the_same_bytes_and_another_one_another_name() {
    let serial = |bill: &Bill, created| {
        let text = cyclonedx::document(bill, created);
        assert_eq!(text, cyclonedx::document(&bill.clone(), created));
        let serial = read(&text)["serialNumber"]
            .as_str()
            .expect("a name")
            .to_owned();
        let is_v8 = serial.len() == 45
            && serial.as_bytes()[23] == b'8'
            && b"89ab".contains(&serial.as_bytes()[28]);
        assert!(is_v8, "{serial}");
        serial
    };
    let (first, mut other) = (bill(), bill());
    other.left_out.clear();
    let serials = [
        serial(&first, None),
        serial(&other, None),
        serial(&first, Some(UNIX_EPOCH)),
    ];
    assert!(
        serials[0] != serials[1] && serials[0] != serials[2],
        "{serials:?}"
    );
    let namespace = |bill: &Bill| read(&spdx::document(bill, None))["documentNamespace"].clone();
    assert_eq!(namespace(&first), namespace(&bill()));
    assert_ne!(namespace(&first), namespace(&other));
}

#[test]
fn a_bill_of_a_single_root_is_about_that_root() {
    let mut bill = bill();
    bill.left_out.clear();
    bill.roots.pop_first();
    let document = read(&cyclonedx::document(&bill, None));
    assert_eq!(document["metadata"]["component"]["name"], "live/a");
    bill.roots.clear();
    let document = read(&cyclonedx::document(&bill, None));
    assert_eq!(document["metadata"]["component"]["bom-ref"], "roots");
}

#[test]
fn the_same_module_with_two_checksums_has_two_names() {
    let module = |sum: &str| BilledModule {
        path: "a.example/a".to_owned(),
        version: Some("v1.0.0".to_owned()),
        sum: Some(sum.to_owned()),
        replaces: None,
        is_directory: false,
    };
    let all = [module("h1:x="), module("h1:y=")].into();
    let names: Vec<String> = modules::names(&all).into_values().collect();
    assert_eq!(
        names,
        [
            "pkg:golang/a.example/a@v1.0.0",
            "pkg:golang/a.example/a@v1.0.0#2"
        ]
    );
}
