//! The recorded scenarios of `fixtures/source-cases`: inputs for a run, and what the programs did.
//!
//! ```text
//! let registry = Registry::start();
//! Packages::recorded().publish(&registry);
//! for scenario in scenarios("registry") {
//!     for engine in scenario.engines() {
//!         let mut lab = Lab::new();
//!         let run = scenario.lay_out(&registry, &lab, engine);
//!         for step in &run.steps {
//!             step.prepare(&registry, &mut lab);
//!             // run lockctl in `run.directory`
//!         }
//!         // compare with `run.expected` and `registry.requests()`
//!     }
//! }
//! ```
//!
//! A scenario is laid out below the directory of the lab, which its texts call `{dir}`: `work` is the
//! working directory, `home` and `tmp` are what they say, `rc` is the CLI configuration file.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(dead_code, reason = "not every test binary needs all of it")]

mod outcome;
mod packages;
mod run;
mod symbols;

use serde_json::Value;

pub(crate) use self::outcome::{Exit, Expected, LockAfter, lock_hashes};
pub(crate) use self::packages::{Packages, split};
pub(crate) use self::run::{Run, Step};
pub(crate) use self::symbols::{Symbols, left_over};

/// The groups whose scenarios need a registry with its network mirror, or one of OCI artifacts.
pub(crate) const GROUPS: &[&str] = &[
    "registry",
    "discovery",
    "documents",
    "sums",
    "signatures",
    "package-hashes",
    "netmirror",
    "fsmirror",
    "config",
    "lockfile",
    "cache",
    "shims",
    "oci",
];

/// A program whose behaviour was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Engine {
    /// Terraform 1.11.4.
    Terraform11,
    /// Terraform 1.15.9.
    Terraform15,
    /// Terraform 1.16.0-rc2.
    Terraform16,
    /// OpenTofu 1.12.6.
    OpenTofu12,
}

/// A recorded scenario.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) id: String,
    pub(crate) note: String,
    input: Value,
    outcomes: Value,
}

impl Engine {
    pub(crate) const ALL: [Self; 4] = [
        Self::Terraform11,
        Self::Terraform15,
        Self::Terraform16,
        Self::OpenTofu12,
    ];

    /// As outcomes are labelled.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Terraform11 => "terraform 1.11.4",
            Self::Terraform15 => "terraform 1.15.9",
            Self::Terraform16 => "terraform 1.16.0-rc2",
            Self::OpenTofu12 => "tofu 1.12.6",
        }
    }

    pub(crate) fn version(self) -> &'static str {
        self.label().split(' ').nth(1).unwrap()
    }

    /// The host of provider addresses without one.
    pub(crate) fn host(self) -> &'static str {
        match self {
            Self::OpenTofu12 => "registry.opentofu.org",
            _ => "registry.terraform.io",
        }
    }

    /// As `--flavor` takes it.
    pub(crate) fn flavor(self) -> &'static str {
        match self {
            Self::Terraform11 => "terraform@1.11",
            Self::Terraform15 => "terraform@1.15",
            Self::Terraform16 => "terraform@1.16",
            Self::OpenTofu12 => "opentofu@1.12",
        }
    }
}

impl Scenario {
    /// The programs that were run in this scenario.
    pub(crate) fn engines(&self) -> impl Iterator<Item = Engine> {
        let recorded = |engine: &Engine| self.outcomes.get(engine.label()).is_some();
        Engine::ALL.into_iter().filter(recorded)
    }

    /// What a program did; `None` if it was not run.
    pub(crate) fn expect(&self, engine: Engine, symbols: &Symbols) -> Option<Expected> {
        let recorded = outcome::recorded(&self.outcomes, engine)?;
        let sorted = self.input["sorted"] == true;
        Some(Expected::parse(&symbols.fill_json(&recorded), sorted))
    }
}

/// All scenarios of a group, in the order of their recording.
pub(crate) fn scenarios(group: &str) -> Vec<Scenario> {
    let file = read_json(group);
    let scenario = |given: &Value| Scenario {
        id: text(&given["id"]),
        note: text(&given["note"]),
        input: given["input"].clone(),
        outcomes: given["outcomes"].clone(),
    };
    let all = file["scenarios"].as_array().unwrap();
    all.iter().map(scenario).collect()
}

fn read_json(name: &str) -> Value {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/source-cases");
    let bytes = std::fs::read(format!("{dir}/{name}.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn text(given: &Value) -> String {
    given.as_str().expect("a text").to_owned()
}
