//! `sbom`: bills of materials of real roots.

use std::collections::BTreeSet;

use lockctl::contents::{BuildInfo, ProgramContents};
use lockctl::os::RealDisk;
use lockctl::store::{Facts as _, Store};
use lockctl::world::Disk as _;
use serde_cyclonedx::cyclonedx::v_1_6::CycloneDx;
use spdx_rs::models::SPDX;

use super::facts::{STORE, locked};
use super::*;
use crate::corpus;

const FORMATS: [&str; 3] = ["cyclonedx", "spdx", "github"];

/// The variables of GitHub's runner.
const RUNNER: [(&str, &str); 6] = [
    ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
    ("GITHUB_REF", "refs/heads/main"),
    ("GITHUB_RUN_ID", "42"),
    ("GITHUB_WORKFLOW", "ci"),
    ("GITHUB_JOB", "lock"),
    ("SOURCE_DATE_EPOCH", "1700000000"),
];

fn entry(provider: &str) -> String {
    format!(
        "provider \"{provider}\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}}\n"
    )
}

fn on_a_runner(lab: &mut Lab) {
    for (name, value) in RUNNER {
        lab.set(name, value);
    }
}

#[track_caller]
fn document(outcome: &Outcome) -> Value {
    assert_exit(outcome, 0);
    serde_json::from_str(&outcome.stdout).expect("a document")
}

/// Finds a component by name, here or below.
fn component<'v>(of: &'v Value, name: &str) -> Option<&'v Value> {
    let mut components = of["components"].as_array()?.iter();
    components.find_map(|part| {
        if part["name"] == name {
            Some(part)
        } else {
            component(part, name)
        }
    })
}

fn properties(of: &Value) -> Vec<String> {
    let properties = of["properties"].as_array().into_iter().flatten();
    properties
        .map(|property| {
            let text = |name| property[name].as_str().unwrap();
            format!("{}={}", text("name"), text("value"))
        })
        .collect()
}

#[test]
fn facts_say_whose_a_hash_is_and_how_it_is_known() {
    let (_registry, mut lab) = locked();
    on_a_runner(&mut lab);
    let bill = document(&lab.run(&["sbom"]));
    assert_eq!(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z");
    let release = component(&bill, "demo").expect("the release");
    let signed_by = properties(release);
    assert!(
        signed_by
            .iter()
            .any(|text| text.starts_with("lockctl:signed-by=")),
        "{signed_by:?}"
    );
    let package =
        component(&bill, "terraform-provider-demo_1.0.0_linux_amd64.zip").expect("a package");
    let zh = package["hashes"][0]["content"].as_str().unwrap();
    assert!(
        lab.read(LOCK).contains(&format!("\"zh:{zh}\"")),
        "{package}"
    );
    let stated = properties(package);
    assert!(
        stated.contains(&format!("lockctl:hash:signed=zh:{zh}")),
        "{stated:?}"
    );
    assert!(
        stated
            .iter()
            .any(|text| text.starts_with("lockctl:hash:proven=h1:")),
        "{stated:?}"
    );
    assert!(
        stated.contains(&"lockctl:contents=unknown".to_owned()),
        "{stated:?}"
    );
    // Without facts, the only evidence for the same hashes is the lock file.
    let bill = document(&lab.run(&["sbom", "--no-cache"]));
    let release = component(&bill, "demo").expect("the release");
    assert!(release["components"].is_null(), "{release}");
    let stated = properties(release);
    assert!(
        stated.contains(&format!("lockctl:hash:kept=zh:{zh}")),
        "{stated:?}"
    );
}

#[test]
fn known_contents_are_listed_below_their_package() {
    let (_registry, mut lab) = locked();
    on_a_runner(&mut lab);
    let text = "path\tx.example/p\nmod\tx.example/p\tv1.0.0\t\ndep\ta.example/a\tv1.2.3\th1:sum=\n";
    let info = BuildInfo::parse("go1.22.3", text).expect("sound");
    // Removed, because contents that were read are not replaced, and the test packages hold no Go program.
    std::fs::remove_dir_all(lab.path(STORE).join("contents-1")).unwrap();
    let disk = RealDisk;
    let store = Store::new(disk.objects(&lab.path(STORE)), &lab.clock);
    let hashes: Vec<String> = lab
        .read(LOCK)
        .split('"')
        .filter(|text| text.starts_with("zh:"))
        .map(str::to_owned)
        .collect();
    for hash in hashes {
        store.keep_contents(
            &hash.parse().unwrap(),
            &ProgramContents::Go(Box::new(info.clone())),
        );
    }
    let outcome = lab.run(&["sbom"]);
    outcome.stderr_lacks("--contents");
    let spdx = lab.run(&["sbom", "--format", "spdx"]);
    check_with_other_readers(&outcome, &spdx, lab.read(LOCK).lines());
    let bill = document(&outcome);
    let module = component(&bill, "a.example/a").expect("a module");
    assert_eq!(module["purl"], "pkg:golang/a.example/a@v1.2.3");
    assert_eq!(properties(module), ["lockctl:go:sum=h1:sum="]);
    assert_eq!(component(&bill, "stdlib").expect("Go")["version"], "1.22.3");
    let snapshot = document(&lab.run(&["sbom", "--format", "github"]));
    let resolved = &snapshot["manifests"][LOCK]["resolved"];
    assert_eq!(
        resolved["pkg:golang/stdlib@1.22.3"]["relationship"],
        "indirect"
    );
    let provider = &resolved["pkg:terraform/acme/demo@1.0.0"];
    assert_eq!(provider["relationship"], "direct");
    assert_eq!(provider["dependencies"].as_array().unwrap().len(), 3);
}

#[test]
fn a_snapshot_has_the_form_that_the_api_wants() {
    let mut lab = Lab::new();
    on_a_runner(&mut lab);
    lab.write(
        &format!("live/{LOCK}"),
        entry("registry.terraform.io/acme/x"),
    );
    let schema = json!({
        "type": "object",
        "required": ["version", "job", "sha", "ref", "detector", "scanned", "manifests"],
        "additionalProperties": false,
        "properties": {
            "version": {"type": "integer", "minimum": 0},
            "sha": {"type": "string", "pattern": "^[0-9a-f]{40}$"},
            "ref": {"type": "string", "pattern": "^refs/"},
            "scanned": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$"},
            "job": {
                "type": "object",
                "required": ["id", "correlator"],
                "additionalProperties": {"type": "string", "minLength": 1}
            },
            "detector": {
                "type": "object",
                "required": ["name", "version", "url"],
                "additionalProperties": {"type": "string", "minLength": 1}
            },
            "manifests": {"type": "object", "minProperties": 1, "additionalProperties": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": false,
                "properties": {
                    "name": {"type": "string"},
                    "file": {"type": "object", "required": ["source_location"]},
                    "resolved": {"type": "object", "additionalProperties": {
                        "type": "object",
                        "required": ["package_url"],
                        "additionalProperties": false,
                        "properties": {
                            "package_url": {"type": "string", "pattern": "^pkg:[a-z]+/"},
                            "relationship": {"enum": ["direct", "indirect"]},
                            "scope": {"enum": ["runtime", "development"]},
                            "dependencies": {"type": "array", "items": {"type": "string"}},
                            "metadata": {"type": "object", "maxProperties": 8}
                        }
                    }}
                }
            }}
        }
    });
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let snapshot = document(&lab.run(&["sbom", "-r", "--format", "github"]));
    if let Err(error) = validator.validate(&snapshot) {
        panic!("{error}: {snapshot:#}");
    }
    assert_eq!(
        snapshot["manifests"][format!("live/{LOCK}")]["file"]["source_location"],
        format!("live/{LOCK}")
    );
    assert_eq!(snapshot["job"]["correlator"], "lockctl-sbom ci lock");
    // The option may precede the command, where `github` is also a format of `verify`.
    assert_eq!(
        document(&lab.run(&["--format", "github", "sbom", "-r"])),
        snapshot
    );
    lab.env.vars.remove("GITHUB_SHA");
    let outside = lab.run(&["sbom", "-r", "--format", "github"]).exits(2);
    assert_eq!(outside.stdout, "");
    outside.stderr_has("set GITHUB_SHA, or run it in a git repository");
}

#[test]
fn without_a_runner_the_repository_says_which_commit_it_is() {
    let Some(repo) = Repo::new() else { return };
    repo.write(LOCK, entry("registry.terraform.io/acme/x"));
    let commit = repo.commit("lock");
    let snapshot = document(&repo.lab.run(&["sbom", "--format", "github"]));
    assert_eq!(snapshot["sha"], *commit);
    assert_eq!(snapshot["ref"], "refs/heads/main");
    assert_eq!(snapshot["scanned"], "2024-05-06T07:08:09Z");
    repo.git(&["checkout", "--quiet", "--detach"]);
    let detached = repo.lab.run(&["sbom", "--format", "github"]).exits(2);
    detached.stderr_has("no branch is checked out, and GITHUB_REF is not set");
}

#[test]
fn a_time_that_is_none_is_an_error() {
    let mut lab = Lab::new();
    lab.write(LOCK, entry("registry.terraform.io/acme/x"));
    for (value, code) in [
        ("soon", 2),
        ("-1", 2),
        ("+1", 2),
        ("1e3", 2),
        ("253402300800", 2),
        ("", 0),
        ("0", 0),
    ] {
        lab.set("SOURCE_DATE_EPOCH", value);
        let outcome = lab.run(&["sbom"]);
        assert_eq!(outcome.code, code, "{value:?}: {outcome:?}");
        assert_eq!(
            outcome.stderr.contains("unset it"),
            code == 2,
            "{outcome:?}"
        );
    }
}

#[test]
fn a_broken_lock_file_is_left_out_and_said() {
    let mut lab = Lab::new();
    on_a_runner(&mut lab);
    lab.write(&format!("a/{LOCK}"), entry("registry.terraform.io/acme/x"));
    lab.write(&format!("b/{LOCK}"), "provider {");
    lab.write("c/main.tf", "terraform {\n  backend \"local\" {}\n}\n");
    let outcome = lab.run(&["sbom", "-r"]).exits(2);
    let bill = outcome.json();
    assert_eq!(bill["compositions"][0]["aggregate"], "incomplete");
    assert_eq!(
        properties(&bill["metadata"]["component"]),
        ["lockctl:left-out=b"]
    );
    outcome.stderr_has("1 root has no lock file");
    for args in [&["sbom", "b"][..], &["sbom", "c"], &["sbom", "nowhere"]] {
        let alone = lab.run(args).exits(2);
        assert_eq!(alone.stdout, "", "{alone:?}");
    }
}

#[test]
fn names_of_directories_stay_in_their_strings() {
    let mut lab = Lab::new();
    on_a_runner(&mut lab);
    let name = if cfg!(windows) {
        "a'b"
    } else {
        "\u{1b}[31m\"\n::error::\u{202e}"
    };
    lab.write(
        &format!("{name}/{LOCK}"),
        entry("registry.terraform.io/acme/x"),
    );
    for format in FORMATS {
        let outcome = lab.run(&["sbom", "-r", "--format", format]);
        document(&outcome);
        assert!(
            !outcome.stdout.contains(['\u{1b}', '\u{202e}']),
            "{}",
            outcome.stdout
        );
        assert!(
            !outcome
                .stdout
                .lines()
                .any(|line| line.trim_start().starts_with("::"))
        );
    }
}

#[test]
fn many_roots_are_one_document_with_each_release_once() {
    let mut lab = Lab::new();
    on_a_runner(&mut lab);
    for number in 0..200 {
        lab.write(
            &format!("live/{number}/{LOCK}"),
            entry("registry.terraform.io/acme/x"),
        );
    }
    let outcome = lab.run(&["sbom", "-r"]);
    let bill = document(&outcome);
    let components = bill["components"].as_array().unwrap();
    assert_eq!(components.len(), 201);
    assert!(outcome.stderr.lines().count() < 10, "{}", outcome.stderr);
    for format in FORMATS {
        let first = lab.run(&["sbom", "-r", "--format", format]);
        let second = lab.run(&["sbom", "-r", "--format", format]);
        assert!(!first.stdout.is_empty());
        assert_eq!(first.stdout, second.stdout, "{format}");
    }
}

/// Every lock file that the program accepts has a document in each format, whose references all lead somewhere.
#[test]
fn the_corpus_has_bills() {
    let mut seen = 0;
    for part in corpus::parts("locks", "index.tsv") {
        for row in part.rows.iter().take(50) {
            let mut lab = Lab::new();
            on_a_runner(&mut lab);
            let text = std::fs::read(part.dir.join(row.get("file"))).unwrap();
            lab.write(LOCK, text);
            let bill = lab.run(&["sbom"]);
            if bill.code == 2 {
                assert_eq!(bill.stdout, "", "{}", row.get("file"));
                continue;
            }
            check_references(&document(&bill));
            let spdx = lab.run(&["sbom", "--format", "spdx"]);
            assert_eq!(document(&spdx)["spdxVersion"], "SPDX-2.3");
            check_with_other_readers(&bill, &spdx, lab.read(LOCK).lines());
            document(&lab.run(&["sbom", "--format", "github"]));
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

/// Reads both documents with independent parsers, and finds the same releases in them.
#[track_caller]
fn check_with_other_readers<'l>(
    bill: &Outcome,
    spdx: &Outcome,
    lock: impl Iterator<Item = &'l str>,
) {
    let bill: CycloneDx = serde_json::from_str(&bill.stdout).expect("CycloneDX 1.6");
    let components = bill.components.unwrap_or_default();
    let purls: BTreeSet<String> = components
        .into_iter()
        .filter_map(|component| component.purl)
        .filter(|purl| purl.starts_with("pkg:terraform/"))
        .collect();
    let spdx: SPDX = serde_json::from_str(&spdx.stdout).expect("SPDX 2.3");
    let located: BTreeSet<String> = spdx
        .package_information
        .into_iter()
        .flat_map(|package| package.external_reference)
        .map(|reference| reference.reference_locator)
        .filter(|purl| purl.starts_with("pkg:terraform/"))
        .collect();
    assert_eq!(purls, located);
    let entries = lock.filter(|line| line.starts_with("provider \""));
    assert_eq!(purls.len(), entries.count());
}

#[track_caller]
fn check_references(bill: &Value) {
    let dependencies = bill["dependencies"].as_array().unwrap();
    let refs: Vec<&Value> = dependencies
        .iter()
        .map(|dependency| &dependency["ref"])
        .collect();
    for to in dependencies
        .iter()
        .flat_map(|dependency| dependency["dependsOn"].as_array().unwrap())
    {
        assert!(refs.contains(&to), "{to}");
    }
    let components = bill["components"].as_array().unwrap();
    for name in components.iter().map(|component| &component["bom-ref"]) {
        assert!(refs.contains(&name), "{name}");
    }
}

#[test]
fn no_request_is_made_and_offline_is_the_same() {
    let (registry, mut lab) = locked();
    on_a_runner(&mut lab);
    let before = super::registry::requests(&registry);
    let online = lab.run(&["sbom"]);
    assert_eq!(online.stdout, lab.run(&["sbom", "--offline"]).stdout);
    assert_eq!(super::registry::requests(&registry), before);
}
