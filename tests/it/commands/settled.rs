//! What `lock` leaves, `lock --check` accepts; what it refuses, it leaves alone.

use std::io::Cursor;

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::hash::zh;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::registry::point_at;
use super::*;
use crate::registry::Registry;
use crate::zips::{Entry, Zip};

/// Number of states, unless `PROPTEST_CASES` states another one.
const CASES: u32 = 120;

const PLATFORMS: [&str; 4] = [
    "linux_amd64",
    "darwin_arm64",
    "linux_arm64",
    "windows_amd64",
];

/// The options of a run that decide what it compares.
#[derive(Clone, Debug)]
struct LockState {
    /// The number of platforms of the release.
    release: usize,
    /// The zips hold entries for directories.
    has_directories: bool,
    /// The registry states the hashes of all packages.
    is_stated: bool,
    flavor: &'static str,
    /// The hashes of the entry, by their names.
    hashes: Vec<&'static str>,
    wanted: &'static str,
    trust: &'static str,
    options: Vec<&'static str>,
}

fn states() -> impl Strategy<Value = LockState> {
    // `h1 0` is that of the first platform; `h1 a` and `zh a` are of no package.
    let names = [
        "h1 0", "h1 1", "h1 2", "h1 3", "m1 0", "m1 1", "zh 0", "zh 1", "zh 2", "zh 3", "h1 a",
        "h1 b", "zh a", "zh b", "x1:a",
    ];
    let entry = (
        select(vec![1, 2, 4]),
        any::<bool>(),
        any::<bool>(),
        subsequence(names.to_vec(), 0..=6),
    );
    let run = (
        select(vec!["terraform@1.11", "opentofu@1.12"]),
        select(vec![
            "linux_amd64",
            "linux_amd64,darwin_arm64",
            "common",
            "all",
        ]),
        select(vec![
            "",
            "trust {\n  h1 = \"proven\"\n}\n",
            "trust {\n  h1 = \"claimed\"\n}\n",
        ]),
        subsequence(vec!["--repair", "--no-cache", "--prove"], 0..=2),
    );
    (entry, run).prop_map(
        |((release, has_directories, is_stated, hashes), (flavor, wanted, trust, options))| {
            LockState {
                release,
                has_directories,
                is_stated,
                flavor,
                hashes,
                wanted,
                trust,
                options,
            }
        },
    )
}

fn type_name(release: usize, has_directories: bool) -> String {
    format!("p{release}{}", if has_directories { "d" } else { "" })
}

fn package(release: usize, has_directories: bool, platform: &str) -> Vec<u8> {
    let type_name = type_name(release, has_directories);
    let mut entries = vec![Entry::file(
        format!("terraform-provider-{type_name}_v1.0.0"),
        format!("{type_name} {platform}"),
    )];
    if has_directories {
        entries.push(Entry::directory("docs/"));
        entries.push(Entry::file("docs/index", "a"));
    }
    Zip::of(entries).bytes()
}

impl LockState {
    /// Returns the hash of a name; `None` if the release has no such platform.
    fn hash(&self, name: &str) -> Option<String> {
        let (scheme, which) = name.split_at_checked(3)?;
        let Ok(platform) = which.parse::<usize>() else {
            return Some(match scheme {
                "h1 " if which == "a" => format!("h1:{}=", "A".repeat(43)),
                "h1 " => format!("h1:{}=", "B".repeat(42) + "A"),
                "zh " => format!("zh:{}", which.repeat(64)),
                _ => "x1:a".to_owned(),
            });
        };
        let platform = PLATFORMS[..self.release].get(platform)?;
        let zip = package(self.release, self.has_directories, platform);
        let hashed = hash_zip(Cursor::new(&zip), &Limits::PACKAGE).unwrap();
        Some(match scheme {
            "h1 " => hashed.h1.to_string(),
            "m1 " => hashed.member_h1.to_string(),
            _ => zh(&zip[..]).unwrap().to_string(),
        })
    }

    /// Runs `lock`, and `lock --check` after it; returns what is wrong.
    fn fault(&self, registry: &Registry) -> Option<String> {
        registry.reset(&json!({"packages": self.is_stated}));
        let mut lab = Lab::new();
        point_at(&mut lab, registry);
        let type_name = type_name(self.release, self.has_directories);
        lab.write(
            "main.tf",
            format!(
                "terraform {{\n  required_providers {{\n    p = {{ source = \"acme/{type_name}\" }}\n  }}\n}}\n"
            ),
        );
        lab.write(".lockctl.hcl", self.trust);
        let mut hashes: Vec<String> = self
            .hashes
            .iter()
            .filter_map(|name| self.hash(name))
            .collect();
        hashes.sort();
        hashes.dedup();
        let list = if hashes.is_empty() {
            String::new()
        } else {
            format!("  hashes = {hashes:?}\n")
        };
        let host = if self.flavor.starts_with("opentofu") {
            "registry.opentofu.org"
        } else {
            "registry.terraform.io"
        };
        let before =
            format!("provider \"{host}/acme/{type_name}\" {{\n  version = \"1.0.0\"\n{list}}}\n");
        lab.write(LOCK, &before);
        let args = ["lock", "--flavor", self.flavor, "--platform", self.wanted];
        let locked = lab.run(&[&args[..], &self.options].concat());
        if locked.code != 0 {
            let is_kept = lab.read(LOCK) == before;
            return (!is_kept).then(|| format!("written in spite of {locked:#?}"));
        }
        let checked = lab.run(&[&args[..], &self.options, &["--check"]].concat());
        // What is proven stands for what is claimed, and the other way round; the rest must not matter.
        let prove = self.options.iter().filter(|option| **option == "--prove");
        let plain: Vec<&str> = args.iter().chain(prove).copied().collect();
        let without_options = lab.run(&[&plain[..], &["--check"]].concat());
        [checked, without_options]
            .into_iter()
            .find(|outcome| outcome.code != 0)
            .map(|outcome| format!("from {before}{}\n{locked:#?}\n{outcome:#?}", lab.read(LOCK)))
    }
}

#[test]
fn what_lock_leaves_is_what_check_accepts() {
    let registry = Registry::start();
    for release in [1, 2, 4] {
        for has_directories in [false, true] {
            let source = format!("acme/{}", type_name(release, has_directories));
            for platform in &PLATFORMS[..release] {
                let zip = package(release, has_directories, platform);
                registry.add_zip(&source, "1.0.0", platform, &zip);
            }
        }
    }
    let config = Config {
        cases: std::env::var("PROPTEST_CASES").map_or(CASES, |cases| cases.parse().unwrap()),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng)
        .run(&states(), |state| match state.fault(&registry) {
            None => Ok(()),
            Some(fault) => Err(TestCaseError::fail(fault)),
        })
        .unwrap_or_else(|error| panic!("{error}"));
}
