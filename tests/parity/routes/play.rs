//! Lays a state out for a route, runs the program there, and compares.

use std::collections::BTreeMap;

use lockctl::config::{self, Settings};
use lockctl::coverage::{Outcome, Prediction, Route};
use lockctl::diag::{Severity, Texts};
use lockctl::hash::Hash;
use lockctl::lockfile;
use lockctl::os::RealDisk;
use lockctl::package::WantedPlatforms;
use lockctl::platform::Platform;
use lockctl::verify::matrix::InitOutlook;
use lockctl::verify::{KnownHashes, PackageFacts};
use serde_json::json;

use super::states::{HASHES, PROVIDER, Packages, Played, SITUATIONS};
use crate::LOCK;
use crate::lab::{Lab, zip_of};
use crate::registry::Registry;
use crate::terraform::Terraform;

/// A made-up provider does not start, which is the next thing that `plan` and `validate` want once they
/// have found every package right.
const NOT_STARTED: &str = "Failed to load plugin schemas";

/// The same for one that only the state names.
const NOT_STARTED_FOR_STATE: &str = "failed to read …schema for …: failed to instantiate";

const HERE: &str = "linux_amd64";
const BINARY: &str = "terraform-provider-x_v1.0.0";

/// Routes that are played in one way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Family {
    Mirrors,
    Registry,
}

impl Family {
    pub(super) fn routes(self) -> &'static [Route] {
        match self {
            Self::Mirrors => &[Route::UnpackedMirror],
            Self::Registry => &[Route::Registry, Route::PluginCache, Route::Readonly],
        }
    }
}

/// One program, the packages, and where it finds them.
struct Stage {
    terraform: Terraform,
    registry: Registry,
    lab: Lab,
    packages: Packages,
}

/// What the program did.
#[derive(Debug)]
struct Found {
    succeeded: bool,
    titles: Vec<String>,
    rewrote: bool,
}

pub(super) fn compare(family: Family) {
    let Some(mut stage) = Stage::set() else {
        return;
    };
    let mut compared = 0;
    let mut faults = Vec::new();
    for (at, state) in stage.packages.states().into_iter().enumerate() {
        let name = state.name;
        for route in family.routes() {
            let root = format!("{route:?}-{at}");
            stage.lay_out(&root, *route, &state);
            let prediction = stage.predict(&root, *route);
            let found = stage.play(&root, *route);
            compared += 1;
            assert!(!prediction.assumed, "{name}: the packages are known");
            if !agree(&prediction, &found) {
                faults.push(format!("{name}: {prediction:?}, but {found:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(
        compared,
        family.routes().len() * (HASHES.len() + SITUATIONS.len())
    );
    println!("parity: {family:?}: {compared} predictions hold");
}

/// Compares the severity of missing hashes of default platforms with `init` on each platform of the release.
pub(super) fn compare_default_platforms() {
    let Some(mut stage) = Stage::set() else {
        return;
    };
    // The program plays this platform only, so for the other one the packages change their roles.
    let swapped = stage.packages.swapped();
    let own = stage.packages.states();
    let (mut warnings, mut notes, mut faults) = (0, 0, Vec::new());
    for (at, (state, other)) in own.iter().zip(swapped.states()).enumerate() {
        let Some(lock) = state.lock.as_deref().filter(|_| at < HASHES.len()) else {
            continue;
        };
        // With both `h1:` nothing is missing that the release has.
        if lock.contains(&stage.packages.h1) && lock.contains(&stage.packages.other_h1) {
            continue;
        }
        let fails = [state, &other].map(|state| {
            let root = format!("default-{at}-{}", state.lock == other.lock);
            stage.lay_out(&root, Route::Registry, state);
            !stage.play(&root, Route::Registry).succeeded
        });
        let severity = stage.severity_of_default(&format!("severity-{at}"), state);
        let expected = if fails.contains(&true) {
            "warning"
        } else {
            "note"
        };
        match expected {
            "warning" => warnings += 1,
            _ => notes += 1,
        }
        if severity != expected {
            faults.push(format!(
                "{}: {severity}, but init fails: {fails:?}",
                state.name
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(warnings >= 5 && notes >= 5, "{warnings} {notes}");
    println!("parity: default platforms: {warnings} warnings and {notes} notes");
}

impl Stage {
    /// Returns how severe `verify` finds it that default platforms lack hashes.
    fn severity_of_default(&mut self, root: &str, state: &Played) -> String {
        self.lay_out(root, Route::Registry, state);
        let flavor = self.terraform.rules.to_string();
        let args = ["verify", root, "--flavor", &flavor, "--no-cache", "--only"];
        let outcome = self
            .lab
            .run(&[&args[..], &["platforms", "--format", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let mut findings = json["roots"][0]["findings"].as_array().unwrap().iter();
        let incomplete = findings.find(|finding| finding["rule"] == "platforms-incomplete");
        incomplete.map_or_else(String::new, |finding| {
            finding["severity"].as_str().unwrap().to_owned()
        })
    }

    /// Publishes the packages, and learns the hashes of a complete entry from the program itself.
    fn set() -> Option<Self> {
        let terraform = Terraform::find_trusting()?;
        if Platform::current().to_string() != HERE {
            println!("skipped: the packages here are for {HERE}");
            return None;
        }
        let (own, other) = (zip_of(&[(BINARY, "fake")]), zip_of(&[(BINARY, "other")]));
        let registry = Registry::start();
        registry.reset(&json!({ "sums": ["manifest"] }));
        registry.add_zip("acme/x", "1.0.0", HERE, &own);
        registry.add_zip("acme/x", "1.0.0", "darwin_arm64", &other);
        let lab = Lab::new();
        lab.write(
            &format!("packed/{PROVIDER}/terraform-provider-x_1.0.0_{HERE}.zip"),
            &own,
        );
        lab.unpacked("unpacked", &format!("{PROVIDER}/1.0.0/{HERE}"), "fake");
        lab.unpacked("cache", &format!("{PROVIDER}/1.0.0/{HERE}"), "fake");
        lab.unpacked("other", &format!("{PROVIDER}/1.0.0/{HERE}"), "other");
        let h1 = |dir: &str| {
            let outcome = lab.run(&["hash", &format!("{dir}/{PROVIDER}/1.0.0/{HERE}")]);
            let text = outcome.stdout;
            let start = text.find("h1:").unwrap();
            text[start..].split_whitespace().next().unwrap().to_owned()
        };
        let zh = |zip: &[u8]| lockctl::hash::zh(zip).unwrap().to_string();
        let packages = Packages {
            h1: h1("unpacked"),
            zh: zh(&own),
            other_h1: h1("other"),
            other_zh: zh(&other),
            list: Vec::new(),
        };
        let mut stage = Self {
            terraform,
            registry,
            lab,
            packages,
        };
        stage.learn_list();
        Some(stage)
    }

    fn learn_list(&mut self) {
        let nothing_locked = Played {
            name: "nothing locked",
            constraint: Some(">= 0.1"),
            lock: None,
            more: &[],
        };
        self.lay_out("complete", Route::Registry, &nothing_locked);
        let found = self.play("complete", Route::Registry);
        assert!(found.succeeded, "{found:?}");
        let text = self.lab.read(&format!("complete/{LOCK}"));
        let hashes = text.split('"');
        let list = hashes.filter(|hash| hash.starts_with("zh:"));
        self.packages.list = list.map(str::to_owned).collect();
        assert_eq!(self.packages.list.len(), 3);
        assert!(self.packages.list.contains(&self.packages.zh));
    }

    /// Writes a root, and the CLI configuration of the route.
    fn lay_out(&mut self, root: &str, route: Route, state: &Played) {
        let lab = &mut self.lab;
        let dir = |name: &str| lab.path(name).display().to_string();
        let mirror = |name: &str| {
            format!(
                "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
                dir(name)
            )
        };
        let config = match route {
            Route::UnpackedMirror => mirror("unpacked"),
            Route::PluginCache => format!("plugin_cache_dir = {:?}\n", dir("cache")),
            _ => String::new(),
        };
        self.terraform.use_registry(lab, &self.registry, &[]);
        let hosts = lab.read("cli.tfrc");
        lab.write("cli.tfrc", hosts + &config);
        let main = match state.constraint {
            Some(constraint) => format!(
                "terraform {{\n  required_providers {{\n    x = {{ source = \"acme/x\", version = {constraint:?} }}\n  }}\n}}\n\ndata \"x_thing\" \"a\" {{}}\n"
            ),
            None => "output \"a\" {\n  value = 1\n}\n".to_owned(),
        };
        lab.write(&format!("{root}/main.tf"), main);
        if let Some(lock) = &state.lock {
            lab.write(&format!("{root}/{LOCK}"), lock);
        }
        for (path, text) in state.more {
            lab.write(&format!("{root}/{path}"), *text);
        }
    }

    /// What lockctl foretells, knowing the package of this platform.
    fn predict(&self, root: &str, route: Route) -> Prediction {
        let flavor = self.terraform.rules;
        let mut texts = Texts::default();
        let dir = self.lab.path(root);
        let loaded = config::load(&RealDisk, &mut texts, &dir, &Settings::new(flavor));
        let lock = std::fs::read(dir.join(LOCK)).unwrap_or_default();
        let file = texts.add(LOCK, lock.clone());
        let (document, diagnostics) = lockfile::parse(file, &lock, flavor);
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let titles: Vec<&str> = errors.map(|d| &*d.title).collect();
        let outlook = InitOutlook {
            document: &document,
            faults: &titles,
            flavor,
            requirements: Some(&loaded.requirements),
        };
        let platform: Platform = HERE.parse().unwrap();
        let wanted = WantedPlatforms::every(vec![platform.clone()]);
        let known = |hash: &str| -> KnownHashes {
            let hash: Hash = hash.parse().unwrap();
            let of_provider = BTreeMap::from([(platform.clone(), hash)]);
            let addr = lockctl::addr::ProviderAddr::parse("acme/x", flavor).unwrap();
            [(addr, of_provider)].into()
        };
        let known = PackageFacts {
            known: known(&self.packages.h1),
            zips: known(&self.packages.zh),
            ..PackageFacts::default()
        };
        let rows = outlook.rows(&wanted, &known);
        let [row] = &*rows else {
            panic!("one provider, one platform: {rows:?}")
        };
        let mut predictions = row.predictions.iter();
        predictions.find(|p| p.route == route).unwrap().clone()
    }

    fn play(&self, root: &str, route: Route) -> Found {
        let args: &[&str] = match route {
            Route::Readonly => &["init", "-lockfile=readonly"],
            _ => &["init"],
        };
        let read = || std::fs::read(self.lab.path(root).join(LOCK)).ok();
        let before = read();
        let args = [args, &["-no-color"]].concat();
        let (succeeded, said) = self.terraform.run(&self.lab, root, &args);
        Found {
            succeeded,
            titles: titles(&said),
            rewrote: read() != before,
        }
    }
}

/// Takes the titles of errors and warnings out of what the program said.
pub(super) fn titles(said: &str) -> Vec<String> {
    let lines = said.lines().map(|line| line.trim_start_matches(['│', ' ']));
    let titles = lines.filter_map(|line| {
        let title = line.strip_prefix("Error: ");
        title.or_else(|| line.strip_prefix("Warning: "))
    });
    titles.map(str::to_owned).collect()
}

/// Tells whether exit, title and file are as foretold, and nothing else was said.
fn agree(prediction: &Prediction, found: &Found) -> bool {
    let is_init = prediction.route.command() == "init";
    let (succeeds, rewrites) = match prediction.outcome {
        Outcome::Passes | Outcome::Warns => (is_init, false),
        Outcome::Rewrites => (true, true),
        Outcome::Fails => (false, false),
    };
    let nothing_used = found.titles.is_empty() && found.succeeded;
    let expected = match (&prediction.title, prediction.outcome) {
        (Some(title), _) => Some(&**title),
        (None, Outcome::Passes) if !is_init && !nothing_used => Some(NOT_STARTED),
        (None, _) => None,
    };
    let succeeds = succeeds || (prediction.outcome == Outcome::Passes && nothing_used);
    let not_started =
        |title: &&String| is_of(title, NOT_STARTED) || is_of(title, NOT_STARTED_FOR_STATE);
    let mut said = found.titles.iter();
    let titles = match expected {
        None => found.titles.is_empty(),
        Some(NOT_STARTED) => !found.titles.is_empty() && said.all(|t| not_started(&t)),
        // What the tests need is not started either, and that is said beside it.
        Some(title) => {
            let mut said = said.filter(|t| !not_started(t)).peekable();
            said.peek().is_some() && said.all(|t| is_of(t, title))
        }
    };
    succeeds == found.succeeded && rewrites == found.rewrote && titles
}

/// Tells whether a printed title is the foretold one, which may leave words out.
fn is_of(printed: &str, title: &str) -> bool {
    let mut rest = printed;
    title.split('…').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}
