//! Real configurations whose calls are answered by registries and git hosts that the test makes up.
//!
//! What a configuration calls is found out first; then a module is made up for each call, with one
//! requirement. Public hosts are led to the lab: registries by `host` blocks, git hosts by `insteadOf`. A
//! commit cannot be made with a given id, so ids in sources are replaced by those of made-up commits.

mod made_up;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use lockctl::config::{self, ConfigSources, Settings};
use lockctl::diag::Texts;
use lockctl::flavor::Flavor;
use lockctl::os::RealDisk;
use lockctl::remote_module::{
    FoundModule, InstalledOnly, ModuleFailure, ModuleRequest, RemoteModules, RequestedSource,
};
use serde_json::Value;

use self::made_up::{Asked, MadeUp};
use crate::configs::corpus::corpus_root;
use crate::corpus;
use crate::module_lab::ModuleLab;
use crate::remote_modules::packages::PackageCase;

/// What every made-up module requires.
const REQUIRED: &str = "example.com/made/up";

/// Configurations with calls that no program reads: errors in the source, however many modules there are.
const REFUSED: [&str; 2] = [
    "055_terraform-docs__terraform-docs",
    "056_terraform-docs__terraform-docs",
];

/// The title of those errors.
const NO_REGISTRY: &str = "Invalid registry module source address";

/// Writes down what is asked for, and finds nothing.
#[derive(Default)]
struct Recorder(Mutex<BTreeMap<String, Asked>>);

impl RemoteModules for Recorder {
    fn find(&self, request: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
        let asked = match request.source {
            RequestedSource::Registry(module, wanted) => {
                Asked::Registry(module.clone(), wanted.cloned())
            }
            RequestedSource::Remote(module) => Asked::Remote(module.clone()),
        };
        let mut all = self.0.lock().unwrap();
        all.insert(request.key.to_owned(), asked);
        InstalledOnly.find(request)
    }
}

/// Reads all files below a directory.
fn files_below(dir: &Path, top: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, top, files);
        } else {
            let name = path.strip_prefix(top).unwrap().display().to_string();
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Runs `lockctl tree` in a directory of a configuration; returns its exit code and what it printed.
///
/// It is a program of its own because git takes its settings from the environment of the process.
fn tree(lab: &ModuleLab, input: &Value, below: &Path, flavor: &str) -> (i32, Value) {
    let case = PackageCase::new(lab, input);
    let filled: Value = serde_json::from_str(&case.fill(&input.to_string())).unwrap();
    for (name, text) in filled["root"].as_object().unwrap() {
        let path = case.path("root").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_str().unwrap()).unwrap();
    }
    let settings = case.path("elsewhere").join("cli.tfrc");
    std::fs::write(&settings, filled["cli"].as_str().unwrap()).unwrap();
    let ended = Command::new(env!("CARGO_BIN_EXE_lockctl"))
        .args([
            "tree",
            "--format",
            "json",
            "--modules",
            "fetch",
            "--flavor",
            flavor,
        ])
        .current_dir(case.path("root").join(below))
        .stdin(Stdio::null())
        .env_clear()
        .envs(&case.run.vars)
        .env("TF_CLI_CONFIG_FILE", settings)
        .env("SSL_CERT_FILE", lab.ca_file())
        .env("SSL_CERT_DIR", "/nonexistent")
        .env("LOCKCTL_CACHE_DIR", case.path("elsewhere").join("cache"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let document = serde_json::from_slice(&ended.stdout);
    let document = document.unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (ended.status.code().unwrap(), document)
}

/// Resolves the calls of a configuration; returns what is wrong, and what to print about it.
fn resolve(lab: &ModuleLab, folder: &Path) -> Result<String, String> {
    let source = std::fs::read_to_string(folder.join("SOURCE")).unwrap();
    let mut lines = source.lines();
    let listed = lines.find_map(|line| line.strip_prefix("remote modules: "));
    let sources = listed.expect("it says what is called").split(", ").count();
    let name = folder.file_name().unwrap().to_str().unwrap();
    let root = corpus_root(folder);
    // Where the directory of the repository is named for it, the configuration is one for OpenTofu.
    let is_tofu = source
        .lines()
        .any(|line| line.starts_with("path: ") && line.contains("tofu"));
    let (flavor, typed) = match is_tofu {
        true => (Flavor::OpenTofu1_12, "opentofu@1.12"),
        false => (Flavor::Terraform1_11, "terraform@1.11"),
    };
    let recorder = Recorder::default();
    let outside = ConfigSources {
        files: &RealDisk,
        modules: &recorder,
    };
    config::load_with(
        outside,
        &mut Texts::default(),
        &root,
        &Settings::new(flavor),
    );
    let mut made_up = MadeUp::default();
    for (key, asked) in recorder.0.into_inner().unwrap() {
        made_up.answer(&key, &asked);
    }
    let mut files = BTreeMap::new();
    files_below(folder, folder, &mut files);
    let below = root.strip_prefix(folder).unwrap();
    let (code, document) = tree(lab, &made_up.case(&files), below, typed);
    let found = &document["roots"][0];
    let findings = found["findings"].as_array().into_iter().flatten();
    let errors = findings.filter(|one| one["severity"] == "error");
    let titles: Vec<&str> = errors.filter_map(|one| one["title"].as_str()).collect();
    if REFUSED.contains(&name) {
        return match titles.contains(&NO_REGISTRY) {
            true => Ok(format!("{name} ({typed}): refused, {NO_REGISTRY}")),
            false => Err(format!("{name}: no program reads this, {titles:?}")),
        };
    }
    let modules = found["modules"].as_array().cloned().unwrap_or_default();
    let calls = modules.iter().filter(|one| one["kind"] == "call");
    let unseen = calls.filter(|one| one["seen"] == false).count();
    let mut wrong = Vec::new();
    if code != 0 || !titles.is_empty() || unseen > 0 {
        wrong.push(format!("exit {code}, {unseen} unseen, {titles:?}"));
    }
    if made_up.sources.len() != sources {
        wrong.push(format!("{sources} sources, but {:?}", made_up.sources));
    }
    for (key, version) in &made_up.expected {
        let path = format!("module.{}", key.replace('.', ".module."));
        let module = modules.iter().find(|one| one["path"] == path);
        let module = module.unwrap_or(&Value::Null);
        let mut required = module["providers"].as_array().into_iter().flatten();
        let is_read = required.any(|one| one["provider"] == REQUIRED);
        if !is_read || module["fetched"]["version"].as_str() != version.as_deref() {
            wrong.push(format!("{key}, wanted {version:?}: {module}"));
        }
    }
    let calls = made_up.kinds.iter();
    let calls: Vec<String> = calls
        .map(|(kind, calls)| format!("{calls} {kind}"))
        .collect();
    match wrong.is_empty() {
        true => Ok(format!("{name} ({typed}): {}", calls.join(", "))),
        false => Err(format!("{name}:\n{}", wrong.join("\n"))),
    }
}

#[test]
fn remote_calls_of_real_configurations_are_resolved() {
    let lab = ModuleLab::start();
    let mut faults = Vec::new();
    let mut tried = 0;
    for part in corpus::parts("configs", "expected_requirements.tsv") {
        for row in &part.rows {
            if row.get("status") != "skipped-remote-modules" {
                continue;
            }
            tried += 1;
            match resolve(&lab, &part.dir.join(row.get("dir"))) {
                Ok(line) => println!("{line}"),
                Err(fault) => faults.push(fault),
            }
        }
    }
    println!("{tried} configurations with remote modules");
    assert!(tried > 0 && faults.is_empty(), "{}", faults.join("\n"));
}
