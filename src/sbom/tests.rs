//! Bills of a small project, in every format.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use super::snapshot::SnapshotOrigin;
use super::*;
use crate::addr::ProviderAddr;
use crate::contents::{BuildInfo, ProgramContents};
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes};
use crate::package::{Fact, PackageId};

const QUIET: Circumstances = Circumstances {
    tool_version: "0.0.0",
    created: None,
};

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

/// The program in the zip `a`; nobody read the one in `b`.
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

/// Lists the components of a document by name, with those below, and their properties.
fn components(of: &Value, indent: &str) -> String {
    let mut text = String::new();
    for component in of["components"].as_array().into_iter().flatten() {
        let field = |name| component[name].as_str().unwrap_or("-");
        text += &format!(
            "{indent}{} {} {}\n",
            field("name"),
            field("version"),
            field("purl")
        );
        for hash in component["hashes"].as_array().into_iter().flatten() {
            text += &format!("{indent}  {} {:.8}\n", hash["alg"], hash["content"]);
        }
        for property in component["properties"].as_array().into_iter().flatten() {
            let value = property["value"].as_str().unwrap_or_default();
            text += &format!(
                "{indent}  {} = {value:.24}\n",
                property["name"].as_str().unwrap_or_default()
            );
        }
        text += &components(component, &format!("{indent}    "));
    }
    text
}

#[test]
fn every_component_is_listed_with_its_evidence() {
    let document = read(&cyclonedx::document(&bill(), QUIET));
    assert_data_eq!(
        components(&document, "").replace('\u{1b}', "ESC"),
        str![[r#""#]]
    );
}

#[test]
fn dependencies_lead_from_roots_to_modules_and_unknown_ones_are_said() {
    let document = read(&cyclonedx::document(&bill(), QUIET));
    let edges = document["dependencies"].as_array().expect("a list");
    let names: Vec<&str> = edges
        .iter()
        .filter_map(|edge| edge["ref"].as_str())
        .collect();
    let mut text = String::new();
    for edge in edges {
        for to in edge["dependsOn"].as_array().expect("a list") {
            let to = to.as_str().expect("a name");
            assert!(names.contains(&to), "{to} is a component");
            text += &format!(
                "{:.60} -> {to:.60}\n",
                edge["ref"].as_str().expect("a name")
            );
        }
    }
    text += &format!("{:#}\n", document["compositions"]);
    assert_data_eq!(text.replace('\u{1b}', "ESC"), str![[r#""#]]);
}

#[test]
fn spdx_has_the_same_elements() {
    let document = read(&spdx::document(&bill(), QUIET));
    let mut text = String::new();
    for package in document["packages"].as_array().expect("a list") {
        let locator = package["externalRefs"][0]["referenceLocator"].as_str();
        text += &format!(
            "{} {} {}\n",
            package["SPDXID"].as_str().expect("an ID"),
            package["name"].as_str().expect("a name"),
            locator.unwrap_or("-")
        );
    }
    for relationship in document["relationships"].as_array().expect("a list") {
        let field = |name: &str| {
            relationship[name]
                .as_str()
                .expect("text")
                .replace("SPDXRef-", "")
        };
        let (from, to) = (field("spdxElementId"), field("relatedSpdxElement"));
        text += &format!("{from} {} {to}\n", field("relationshipType"));
    }
    text += &format!("{}\n{:#}\n", document["comment"], document["creationInfo"]);
    assert_data_eq!(text.replace('\u{1b}', "ESC"), str![[r#""#]]);
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
    assert_data_eq!(snapshot::document(&bill(), &origin, "0.0.0"), str![[r#""#]]);
}

#[test]
fn the_same_bill_has_the_same_bytes_and_another_one_another_name() {
    let serial = |bill: &Bill, circumstances| {
        let text = cyclonedx::document(bill, circumstances);
        assert_eq!(text, cyclonedx::document(&bill.clone(), circumstances));
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
    let dated = Circumstances {
        created: Some(UNIX_EPOCH),
        ..QUIET
    };
    let serials = [
        serial(&first, QUIET),
        serial(&other, QUIET),
        serial(&first, dated),
    ];
    assert!(
        serials[0] != serials[1] && serials[0] != serials[2],
        "{serials:?}"
    );
    let namespace = |bill: &Bill| read(&spdx::document(bill, QUIET))["documentNamespace"].clone();
    assert_eq!(namespace(&first), namespace(&bill()));
    assert_ne!(namespace(&first), namespace(&other));
}

#[test]
fn a_bill_of_a_single_root_is_about_that_root() {
    let mut bill = bill();
    bill.left_out.clear();
    bill.roots.pop_first();
    let document = read(&cyclonedx::document(&bill, QUIET));
    assert_eq!(document["metadata"]["component"]["name"], "live/a");
    bill.roots.clear();
    let document = read(&cyclonedx::document(&bill, QUIET));
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
