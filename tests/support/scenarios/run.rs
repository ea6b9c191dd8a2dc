//! A scenario laid out in a directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::packages::{Packages, parse_mode, set_mode, split};
use super::symbols::host_blocks;
use super::{Engine, Expected, Scenario, Symbols, text};
use crate::lab::Lab;
use crate::oci::OciRegistry;
use crate::registry::{Origin, Registry};

const LOCK: &str = ".terraform.lock.hcl";

/// A scenario laid out for one program.
pub(crate) struct Run {
    /// The working directory of all steps.
    pub(crate) directory: PathBuf,
    /// What is run, one after the other; the last is the one with an expected outcome.
    pub(crate) steps: Vec<Step>,
    pub(crate) expected: Expected,
    /// The registry of OCI artifacts, if there is one.
    pub(crate) oci: Option<Arc<OciRegistry>>,
}

/// One command line, and what is around it.
pub(crate) struct Step {
    /// Of the recorded program, e.g. `providers lock -platform=linux_arm64`; empty for a step that
    /// only prepares something.
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) knobs: Value,
    /// A failure is no surprise; always so for the last step.
    pub(crate) may_fail: bool,
    /// The CLI configuration file.
    cli_config: String,
    /// Replaces the lock file.
    lock: Option<String>,
    tree: Vec<Value>,
    dir: PathBuf,
    /// What a registry of OCI artifacts serves.
    oci: Option<(Arc<OciRegistry>, Value)>,
}

impl Scenario {
    /// Writes the configuration and the lock file, and plans the steps.
    pub(crate) fn lay_out(&self, registry: &Registry, lab: &Lab, engine: Engine) -> Run {
        let directory = lab.path("work");
        let dir = directory.parent().unwrap();
        let has_oci = self.input.get("oci").is_some();
        let oci = has_oci.then(|| Arc::new(OciRegistry::start()));
        let symbols = Symbols::of(registry, oci.as_deref(), engine, dir);
        let input = symbols.fill_json(&self.input);
        for below in [&directory, &dir.join("home"), &dir.join("tmp")] {
            std::fs::create_dir_all(below).unwrap();
        }
        let main = json!({ "main.tf": input["config"] });
        let files = input["config"].as_object().or(main.as_object()).unwrap();
        for (name, content) in files {
            write(&directory.join(name), text(content).as_bytes());
        }
        if let Some(lock) = input["lock"].as_str() {
            write(&directory.join(LOCK), lock.as_bytes());
        }
        let step = |given: &Value| Step::plan(given, registry, dir);
        let before = input["before"].as_array().into_iter().flatten();
        let mut steps: Vec<Step> = before.map(step).collect();
        let mut last = step(&input);
        last.oci = oci.clone().map(|oci| (oci, input["oci"].clone()));
        last.lock = input["lock_after_before"].as_str().map(str::to_owned);
        last.may_fail = true;
        steps.push(last);
        let expected = self.expect(engine, &symbols);
        Run {
            directory,
            steps,
            expected: expected.unwrap_or_else(|| panic!("{} has no {engine:?}", self.id)),
            oci,
        }
    }
}

impl Step {
    fn plan(given: &Value, registry: &Registry, dir: &Path) -> Self {
        let args = given["run"].as_array().into_iter().flatten();
        let tree = given["tree"].as_array().cloned();
        let mut cli_config = match given["hosts"] == false {
            true => String::new(),
            false => host_blocks(&registry.url(Origin::Lab)),
        };
        cli_config.push_str(given["cli"].as_str().unwrap_or(""));
        Self {
            args: args.map(text).collect(),
            env: environment(given, registry, dir),
            knobs: given["knobs"].clone(),
            may_fail: given["may_fail"] == true,
            cli_config,
            lock: None,
            tree: tree.unwrap_or_default(),
            dir: dir.to_owned(),
            oci: None,
        }
    }

    /// Makes everything ready to run the step: files, environment and registry.
    pub(crate) fn prepare(&self, registry: &Registry, lab: &mut Lab) {
        if let Some(lock) = &self.lock {
            write(&self.dir.join("work").join(LOCK), lock.as_bytes());
        }
        for item in &self.tree {
            self.put(item);
        }
        write(&self.dir.join("rc"), self.cli_config.as_bytes());
        let vars = self.env.iter();
        lab.env.vars = vars
            .map(|(name, value)| (name.clone(), value.into()))
            .collect();
        registry.reset(&self.knobs);
        if let Some((oci, given)) = &self.oci {
            serve(oci, given);
        }
    }

    /// The plugin cache, if one is configured.
    pub(crate) fn cache_dir(&self) -> Option<&Path> {
        let stated = self.env.get("TF_PLUGIN_CACHE_DIR").map(String::as_str);
        let configured = || {
            let (_, rest) = self.cli_config.split_once("plugin_cache_dir")?;
            rest.split('"').nth(1)
        };
        stated.or_else(configured).map(Path::new)
    }

    fn put(&self, item: &Value) {
        let path = self.dir.join("work").join(text(&item["path"]));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(package) = item["zip"].as_str() {
            write(&path, &Packages::recorded().zip(package));
        } else if let Some(package) = item["unpack"].as_str() {
            Packages::recorded().unpack(package, &path);
        } else if let Some(target) = item["link"].as_str() {
            link(target, &path);
        } else if item["remove"] == true {
            remove(&path);
        } else if item.get("mkdir").is_some() {
            std::fs::create_dir_all(&path).unwrap();
        } else {
            write(&path, text(&item["text"]).as_bytes());
            if item["mode"].is_string() {
                set_mode(&path, parse_mode(&item["mode"]));
            }
        }
    }
}

/// Publishes what a scenario wants, and sets its knobs.
fn serve(oci: &OciRegistry, given: &Value) {
    oci.reset(given);
    for one in given["publish"].as_array().into_iter().flatten() {
        let keys = one["packages"].as_array().unwrap().iter().map(text);
        let keys: Vec<String> = keys.collect();
        let packages = keys.iter().map(|key| {
            let (_, _, platform) = split(key);
            (platform, Packages::recorded().zip(key))
        });
        let packages: Vec<(&str, Vec<u8>)> = packages.collect();
        let form = one["form"].as_str().unwrap_or("ok");
        oci.publish(&text(&one["repo"]), &text(&one["tag"]), &packages, form);
    }
}

/// The environment of a recorded run; null in a step takes a variable away.
fn environment(given: &Value, registry: &Registry, dir: &Path) -> BTreeMap<String, String> {
    let below = |name| dir.join(name).display().to_string();
    let mut env: BTreeMap<String, String> = [
        ("HOME", below("home")),
        ("TMPDIR", below("tmp")),
        ("TF_CLI_CONFIG_FILE", below("rc")),
        ("SSL_CERT_FILE", registry.ca_file().display().to_string()),
        ("SSL_CERT_DIR", "/nonexistent".to_owned()),
        ("NO_PROXY", "*".to_owned()),
        ("CHECKPOINT_DISABLE", "1".to_owned()),
        ("TF_IN_AUTOMATION", "1".to_owned()),
        ("TF_INPUT", "0".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    for (name, value) in given["env"].as_object().into_iter().flatten() {
        match value.as_str() {
            Some(value) => env.insert(name.clone(), value.to_owned()),
            None => env.remove(name),
        };
    }
    env
}

fn write(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path).unwrap(),
        Ok(_) => std::fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn link(target: &str, path: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).unwrap();
    #[cfg(not(unix))]
    panic!("no links here: {target} {}", path.display());
}
