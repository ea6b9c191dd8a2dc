//! What later runs ask for: nothing that cannot have changed.

use lockctl::flavor::Flavor;
use lockctl::modules::store::ModuleAccess::{self, Cached, Fetched};
use lockctl::remote_module::{FoundModule, ModuleFailure, ModuleFailureKind};
use serde_json::{Value, json};

use crate::module_lab::ModuleLab;
use crate::remote_modules::harness::Case;
use crate::texts::Text as _;

/// A lab with one module of a registry in two versions, and a directory for a cache.
struct Warm {
    lab: ModuleLab,
    cache: tempfile::TempDir,
}

type Found = Vec<Result<FoundModule, ModuleFailure>>;

impl Warm {
    fn new() -> Self {
        Self {
            lab: ModuleLab::start(),
            cache: crate::temp::dir(),
        }
    }

    /// Finds the modules of calls, with the routes as they are and then these; returns what was asked for.
    fn run(&self, access: ModuleAccess, calls: &[&str], routes: &Value) -> (Found, Vec<String>) {
        let blocks = calls.iter().enumerate();
        let blocks = blocks.map(|(at, call)| format!("module \"m{at}\" {{\n{call}\n}}\n"));
        let mut served = json!({
            "/.well-known/terraform.json": {"json": {"modules.v1": "/mods/"}},
            "/mods/acme/net/aws/versions": {"json": {"modules": [{"versions": [
                {"version": "1.0.0"}, {"version": "1.1.0"}, {"version": "odd"}
            ]}]}},
            "/mods/acme/net/aws/1.0.0/download": location("https://<LAB>/archives/p.zip"),
            "/mods/acme/net/aws/1.1.0/download": location("https://<LAB>/archives/p.zip?secret=1"),
        });
        let others = routes.as_object().into_iter().flatten();
        for (route, answer) in others {
            served[route] = answer.clone();
        }
        let file = json!({"name": "main.tf", "text": ""});
        let commits = json!([
            {"files": {"main.tf": "", "x/main.tf": "x"}, "tags": ["v1"]},
            {"files": {"main.tf": "y"}},
        ]);
        let case = json!({"input": {
            "repos": {"r": {"commits": commits}},
            "root": {"main.tf": blocks.collect::<String>()},
            "routes": served,
            "archives": {"p.zip": {"format": "zip", "entries": [file, {"name": "x/main.tf", "text": "x"}]}},
        }});
        let case = Case::new(&self.lab, &case, Flavor::OpenTofu1_12);
        let found = case.find(access, Some(&self.cache.path().join("cache")));
        (found, case.requests())
    }
}

fn location(text: &str) -> Value {
    json!({"status": 204, "headers": {"X-Terraform-Get": text}})
}

fn call(version: &str) -> String {
    format!("source = \"<LAB>/acme/net/aws//x\"\nversion = \"{version}\"")
}

#[track_caller]
fn check_found(found: &Found) {
    for one in found {
        let module = one.as_ref().expect("found");
        let bytes = module.files.read(&module.dir.join("main.tf"), 10);
        assert_eq!(bytes.unwrap(), b"x");
    }
}

fn kinds(found: &Found) -> Vec<ModuleFailureKind> {
    found
        .iter()
        .map(|one| one.as_ref().map(drop).unwrap_err().kind)
        .collect()
}

/// Returns the paths of requests, in their order.
fn paths(asked: &[String]) -> Vec<&str> {
    asked
        .iter()
        .filter_map(|request| request.split(' ').nth(2))
        .collect()
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn an_exact_version_is_asked_for_once() {
    let warm = Warm::new();
    let exact = call("1.0.0");
    let (found, asked) = warm.run(Fetched, &[&exact, &exact], &json!({}));
    check_found(&found);
    assert_eq!(asked.len(), 4, "{asked:?}");
    for access in [Fetched, Cached] {
        let (found, asked) = warm.run(access, &[&exact], &json!({}));
        check_found(&found);
        assert_eq!(asked, [""; 0]);
        let module = found[0].as_ref().unwrap();
        assert_eq!(module.version.as_ref().unwrap().to_string(), "1.0.0");
        assert_eq!(module.warnings.len(), 1, "one listed text is no version");
    }
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn a_range_is_asked_for_again_and_known_offline() {
    let warm = Warm::new();
    let range = call("~> 1.0");
    let (found, _) = warm.run(Fetched, &[&range], &json!({}));
    check_found(&found);
    let (found, asked) = warm.run(Fetched, &[&range], &json!({}));
    check_found(&found);
    // The location may hold a secret, so that it is not kept; the package is.
    let wanted = [
        "/.well-known/terraform.json",
        "/mods/acme/net/aws/versions",
        "/mods/acme/net/aws/1.1.0/download",
    ];
    assert_eq!(paths(&asked), wanted);
    let (found, asked) = warm.run(Cached, &[&range, &call("1.0.0")], &json!({}));
    assert_eq!(kinds(&found), [ModuleFailureKind::NotFetched; 2]);
    assert_eq!(asked, [""; 0]);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn a_location_that_is_gone_is_asked_for_again() {
    let warm = Warm::new();
    let exact = call("1.0.0");
    let gone = json!({"/archives/p.zip": {"status": 404}});
    let (found, _) = warm.run(Fetched, &[&exact], &gone);
    assert_eq!(kinds(&found), [ModuleFailureKind::Missing]);
    let moved = json!({
        "/archives/p.zip": {"status": 404},
        "/moved.zip": {"archive": "p.zip"},
        "/mods/acme/net/aws/1.0.0/download": location("https://<LAB>/moved.zip"),
    });
    let (found, asked) = warm.run(Fetched, &[&exact], &moved);
    check_found(&found);
    let wanted = [
        "/archives/p.zip",
        "/.well-known/terraform.json",
        "/mods/acme/net/aws/1.0.0/download",
        "/moved.zip",
    ];
    assert_eq!(paths(&asked), wanted);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn archives_are_kept_by_their_checksum_alone() {
    let warm = Warm::new();
    let plain = "source = \"https://<LAB>/archives/p.zip//x\"";
    for _ in 0..2 {
        let (found, asked) = warm.run(Fetched, &[plain], &json!({}));
        check_found(&found);
        assert_eq!(asked.len(), 1);
    }
    let (found, _) = warm.run(Cached, &[plain], &json!({}));
    assert_eq!(kinds(&found), [ModuleFailureKind::NotFetched]);
    let wrong = format!(
        "source = \"https://<LAB>/archives/p.zip?checksum={}\"",
        "0".repeat(64)
    );
    let (found, asked) = warm.run(Fetched, &[&wrong], &json!({}));
    assert_eq!(kinds(&found), [ModuleFailureKind::Missing]);
    assert_eq!(asked.len(), 1);
    let cause = found[0].as_ref().map(drop).unwrap_err().to_string();
    cause.has("does not have the checksum sha256:000");
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn an_archive_with_a_good_checksum_is_kept() {
    let warm = Warm::new();
    // The archive of the lab, by the checksum that its failure does not name: computed here.
    let (found, _) = warm.run(
        Fetched,
        &["source = \"https://<LAB>/raw.zip//x?checksum=file:https://<LAB>/sums\""],
        &json!({"/raw.zip": {"archive": "p.zip"}, "/sums": {"body": "zz  raw.zip\n"}}),
    );
    assert_eq!(
        kinds(&found),
        [ModuleFailureKind::Missing],
        "the list has no checksum of it"
    );
    let hex =
        crate::remote_modules::harness::sha256_of_archive(&json!({"format": "zip", "entries": [
            {"name": "main.tf", "text": ""}, {"name": "x/main.tf", "text": "x"}
        ]}));
    let good = format!("source = \"https://<LAB>/archives/p.zip//x?checksum={hex}\"");
    let (found, asked) = warm.run(Fetched, &[&good], &json!({}));
    check_found(&found);
    assert_eq!(asked.len(), 1);
    for access in [Fetched, Cached] {
        let (found, asked) = warm.run(access, &[&good], &json!({}));
        check_found(&found);
        assert_eq!(asked, [""; 0]);
    }
    let listed = "source = \"https://<LAB>/archives/p.zip//x?checksum=file:https://<LAB>/sums\"";
    let sums = json!({"/sums": {"body": format!("{hex}  p.zip\n")}});
    let (found, asked) = warm.run(Fetched, &[listed], &sums);
    check_found(&found);
    assert_eq!(asked.len(), 2);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn a_commit_is_fetched_once() {
    let warm = Warm::new();
    let of =
        |reference: &str| format!("source = \"git::https://<LAB>/git/r.git//x?ref={reference}\"");
    let (pinned, tag) = (of("<r#0>"), of("v1"));
    let (found, asked) = warm.run(Fetched, &[&pinned], &json!({}));
    check_found(&found);
    assert!(!asked.is_empty());
    let commit = found[0].as_ref().unwrap().commit.clone().expect("a commit");
    for access in [Fetched, Cached] {
        let (found, asked) = warm.run(access, &[&pinned], &json!({}));
        check_found(&found);
        assert_eq!(asked, [""; 0]);
        assert_eq!(found[0].as_ref().unwrap().commit, Some(commit.clone()));
    }
    // A tag may move: which commit it means is asked, its files are known.
    let (found, _) = warm.run(Cached, &[&tag], &json!({}));
    assert_eq!(kinds(&found), [ModuleFailureKind::NotFetched]);
    let (found, asked) = warm.run(Fetched, &[&tag], &json!({}));
    check_found(&found);
    assert!(
        asked.iter().any(|one| one.contains("/git/r.git")),
        "{asked:?}"
    );
    let (found, asked) = warm.run(Cached, &[&tag], &json!({}));
    check_found(&found);
    assert_eq!(asked, [""; 0]);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn a_repository_of_a_registry_is_kept_once() {
    let warm = Warm::new();
    let routes = json!({
        "/mods/acme/net/aws/1.0.0/download": location("git::https://<LAB>/git/r.git?ref=v1"),
    });
    let exact = call("1.0.0");
    let (found, _) = warm.run(Fetched, &[&exact], &routes);
    check_found(&found);
    for access in [Fetched, Cached] {
        let (found, asked) = warm.run(access, &[&exact], &routes);
        check_found(&found);
        assert_eq!(asked, [""; 0]);
    }
    let pinned = "source = \"git::https://<LAB>/git/r.git//x?ref=<r#0>\"";
    let (found, asked) = warm.run(Fetched, &[pinned], &routes);
    check_found(&found);
    assert_eq!(asked, [""; 0], "it is the same commit");
}
