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
    installed: Option<&'a str>,
    cached: Option<&'a str>,
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
                        may_break,
                        methods: "mirror",
                    });
                }
            }
        }
        for methods in ["other", "other mirror", "mirror other", "none"] {
            let (installed, cached) = (None, None);
            cases.push(Case {
                hashes,
                installed,
                cached,
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
    let config = format!(
        "plugin_cache_dir = {cache:?}\nplugin_cache_may_break_dependency_lock_file = {}\n\
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
        lab.unpacked(&format!("{root}/.terraform/providers"), &package, content);
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
        may_break,
        methods,
    } = case;
    (!agrees).then(|| {
        format!(
            "{hashes:?}, installed {installed:?}, cached {cached:?}, may break {may_break}, \
             {methods}: {row}, but {done} {found:?}"
        )
    })
}
