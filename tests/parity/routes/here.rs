//! What `verify --matrix` predicts for this machine against what the real program does with a mirror and
//! a plugin cache.

use lockctl::platform::Platform;
use serde_json::Value;

use super::play::titles;
use super::states::PROVIDER;
use crate::LOCK;
use crate::lab::Lab;
use crate::terraform::Terraform;

const WRONG_H1: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const WRONG_ZH: &str = "zh:0000000000000000000000000000000000000000000000000000000000000000";

/// A root with what surrounds it.
struct Case<'a> {
    /// The hashes of the entry; `None` if there is no lock file.
    hashes: Option<&'a [&'a str]>,
    /// The content of the installed package; `stray` is the right one with another file beside it.
    installed: Option<&'a str>,
    /// The content of the cached package.
    cached: Option<&'a str>,
    /// A plugin cache is configured.
    has_cache: bool,
    may_break: bool,
    methods: &'a str,
}

/// Compares every combination.
pub(super) fn compare() {
    let Some(terraform) = Terraform::find() else {
        return;
    };
    let lab = Lab::new();
    let package = format!("{PROVIDER}/1.0.0/{}", Platform::current());
    lab.unpacked("mirror", &package, "right");
    lab.packed("packed", &package, "right");
    lab.unpacked(
        "other",
        &format!("{PROVIDER}/1.0.1/{}", Platform::current()),
        "new",
    );
    let hashed = lab.run(&["hash", &format!("mirror/{package}")]).stdout;
    let at = hashed.find("h1:").unwrap();
    let h1 = hashed[at..].split_whitespace().next().unwrap();
    let both = [h1, WRONG_ZH];
    let locked: [Option<&[&str]>; 6] = [
        None,
        Some(&[]),
        Some(&[h1]),
        Some(&[WRONG_H1]),
        Some(&[WRONG_ZH]),
        Some(&both),
    ];
    let packages = [None, Some("right"), Some("wrong")];
    let mut cases = Vec::new();
    for hashes in locked {
        for cached in packages {
            for may_break in [false, true] {
                // What is installed matters to entries only.
                let installed = if cached.is_some() {
                    &packages[..2]
                } else {
                    &packages
                };
                for &installed in installed {
                    cases.push(Case {
                        hashes,
                        installed,
                        cached,
                        has_cache: true,
                        may_break,
                        methods: "mirror",
                    });
                }
            }
        }
        for installed in [None, Some("wrong"), Some("stray")] {
            for (methods, has_cache) in [("mirror", false), ("packed", false), ("packed", true)] {
                cases.push(Case {
                    hashes,
                    installed,
                    cached: None,
                    has_cache,
                    may_break: false,
                    methods,
                });
            }
        }
        for methods in ["other", "other mirror", "mirror other", "none"] {
            let (installed, cached) = (None, None);
            cases.push(Case {
                hashes,
                installed,
                cached,
                has_cache: true,
                may_break: false,
                methods,
            });
        }
    }
    let faults: Vec<String> = cases
        .iter()
        .enumerate()
        .filter_map(|(at, case)| fault(&terraform, &lab, at, case))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("parity: this machine: {} predictions hold", cases.len());
}

/// Plays one case; returns what differs.
fn fault(terraform: &Terraform, lab: &Lab, at: usize, case: &Case<'_>) -> Option<String> {
    let package = format!("{PROVIDER}/1.0.0/{}", Platform::current());
    let root = format!("here-{at}");
    let methods = case.methods.split(' ').filter(|name| *name != "none");
    let methods = methods.map(|name| {
        let path = lab.path(name).display().to_string();
        format!("  filesystem_mirror {{\n    path = {path:?}\n  }}\n")
    });
    let methods: String = methods.collect();
    let cache = lab.path(&format!("{root}/cache")).display().to_string();
    let cache_dir = if case.has_cache {
        format!("plugin_cache_dir = {cache:?}\n")
    } else {
        String::new()
    };
    let config = format!(
        "{cache_dir}plugin_cache_may_break_dependency_lock_file = {}\n\
         provider_installation {{\n{methods}}}\n",
        case.may_break
    );
    lab.write("cli.tfrc", config);
    lab.write(&format!("{root}/cache/empty"), "");
    lab.write(
        &format!("{root}/main.tf"),
        "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n",
    );
    if let Some(content) = case.cached {
        lab.unpacked(&format!("{root}/cache"), &package, content);
    }
    if let Some(content) = case.installed {
        let providers = format!("{root}/.terraform/providers");
        if content == "stray" {
            lab.unpacked(&providers, &package, "right");
            lab.write(&format!("{providers}/{package}/stray.log"), "");
        } else {
            lab.unpacked(&providers, &package, content);
        }
    }
    if let Some(hashes) = case.hashes {
        let list = match hashes {
            [] => String::new(),
            some => format!("  hashes = {some:?}\n"),
        };
        let text = format!("provider \"{PROVIDER}\" {{\n  version = \"1.0.0\"\n{list}}}\n");
        lab.write(&format!("{root}/{LOCK}"), text);
    }
    let args = [
        "verify",
        &root,
        "--flavor",
        &terraform.flavor,
        "--cli-config",
        "cli.tfrc",
    ];
    let more = ["--platform", "current", "--matrix", "--format", "json"];
    let outcome = lab.run(&[&args[..], &more].concat());
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let rows = json["roots"][0]["matrix"].as_array().unwrap();
    let mut rows = rows.iter();
    let row = rows.find(|row| row["route"] == "here").unwrap();
    let read = || std::fs::read(lab.path(&format!("{root}/{LOCK}"))).ok();
    let before = read();
    let (succeeded, said) = terraform.run(lab, &root, &["init", "-no-color"]);
    let done = match (succeeded, read() == before) {
        (false, _) => "fails",
        (true, true) => "passes",
        (true, false) => "rewrites",
    };
    let wanted: Vec<String> = row["title"]
        .as_str()
        .map(str::to_owned)
        .into_iter()
        .collect();
    let found = titles(&said);
    let agrees = row["outcome"] == done && wanted == found;
    let Case {
        hashes,
        installed,
        cached,
        has_cache,
        may_break,
        methods,
    } = case;
    (!agrees).then(|| {
        format!(
            "{hashes:?}, installed {installed:?}, cached {cached:?}, cache {has_cache}, may break {may_break}, \
             {methods}: {row}, but {done} {found:?}"
        )
    })
}

/// Compares a provider that only the state requires, locked at a pre-release: `init` selects none without an
/// exact condition, and `plan` does not look at the version.
pub(super) fn compare_prerelease_of_state() {
    let Some(terraform) = Terraform::find() else {
        return;
    };
    let lab = Lab::new();
    let package = format!("{PROVIDER}/1.0.0-rc1/{}", Platform::current());
    lab.unpacked("mirror", &package, "right");
    lab.unpacked("root/.terraform/providers", &package, "right");
    terraform.use_mirror(&lab);
    let hashed = lab.run(&["hash", &format!("mirror/{package}")]).stdout;
    let h1 = hashed[hashed.find("h1:").unwrap()..]
        .split_whitespace()
        .next()
        .unwrap();
    lab.write(
        &format!("root/{LOCK}"),
        format!("provider \"{PROVIDER}\" {{\n  version = \"1.0.0-rc1\"\n  hashes = [\n    {h1:?},\n  ]\n}}\n"),
    );
    lab.write("root/main.tf", "terraform {}\n");
    let provider = format!("provider[\"{PROVIDER}\"]");
    let state = serde_json::json!({
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": 1,
        "lineage": "00000000-0000-0000-0000-000000000001",
        "outputs": {},
        "resources": [{
            "mode": "managed", "type": "x_y", "name": "s", "provider": provider,
            "instances": [{"schema_version": 0, "attributes": {}}],
        }],
        "check_results": null,
    });
    lab.write("root/terraform.tfstate", state.to_string());
    let args = [
        "verify",
        "root",
        "--flavor",
        &terraform.flavor,
        "--cli-config",
        "cli.tfrc",
    ];
    let more = ["--platform", "current", "--matrix", "--format", "json"];
    let outcome = lab.run(&[&args[..], &more].concat());
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let outcome_of = |route: &str| {
        let rows = json["roots"][0]["matrix"].as_array().unwrap();
        let row = rows
            .iter()
            .find(|row| row["route"] == route && !row["provider"].is_null());
        (
            row.unwrap()["outcome"].clone(),
            row.unwrap()["title"].clone(),
        )
    };
    // The package does not start, and that is all that `plan` has against it.
    let (succeeded, said) = terraform.run(&lab, "root", &["plan", "-no-color", "-input=false"]);
    let is_only_not_started = titles(&said)
        .iter()
        .all(|title| title.contains("failed to instantiate") || title.contains("schema"));
    assert!(!succeeded && is_only_not_started, "{said}");
    assert_eq!(outcome_of("here-plan").0, "passes", "{json:#}");
    let (succeeded, said) = terraform.run(&lab, "root", &["init", "-no-color"]);
    assert!(!succeeded, "{said}");
    let (outcome, title) = outcome_of("here");
    assert_eq!(outcome, "fails", "{json:#}");
    assert_eq!(titles(&said), [title.as_str().unwrap()], "{said}");
}
