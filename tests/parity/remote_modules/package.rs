//! Packages of modules that are made up: what is in them, where they are, and how calls name them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::content::{Call, Providers, module_text};
use crate::dice::Dice;
use crate::module_lab::git;

/// The directories of every package. A module calls only those that come after its own.
pub(super) const DIRS: [&str; 4] = ["", "modules/a", "modules/a/inner", "modules/b"];

/// The versions of a package, oldest first; each has some of them.
const VERSIONS: [&str; 5] = ["0.9.0", "1.0.0", "1.2.0", "1.10.0", "2.0.0"];

/// What a registry module is called with; `None` is no constraint.
const CONSTRAINTS: [Option<&str>; 9] = [
    None,
    Some("1.2.0"),
    Some("= 1.2.0"),
    Some("~> 1.0"),
    Some("~> 1.2.0"),
    Some(">= 0.9, < 1.3.0"),
    Some(">= 1.0.0, != 2.0.0"),
    Some("< 3"),
    Some("<= 1.2"),
];

/// The version that every package has: all constraints allow it.
const ALLOWED: &str = "1.2.0";

/// Where the files of a package are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Repository,
    Archive(&'static str),
}

/// A package in several versions, as it was published.
#[derive(Debug)]
pub(super) struct Package {
    name: String,
    storage: Storage,
    /// The directory that holds everything in an archive; empty if there is none.
    top: &'static str,
    versions: Vec<&'static str>,
    /// The ids of the commits, one of each version.
    commits: Vec<String>,
}

/// Where packages are served from, and what is served.
pub(super) struct Site<'a> {
    /// `HOST:PORT`.
    pub(super) host: &'a str,
    /// The directory of the repositories.
    pub(super) repos: &'a Path,
    pub(super) routes: BTreeMap<String, Value>,
    pub(super) archives: BTreeMap<String, Value>,
}

impl Package {
    /// Makes up a package whose modules call some of others, and publishes it.
    pub(super) fn make_up(
        dice: &mut Dice,
        name: String,
        others: &[Self],
        providers: &Providers,
        site: &mut Site<'_>,
    ) -> Self {
        let storage = match dice.below(4) {
            0 => Storage::Archive("zip"),
            1 => Storage::Archive("tar.gz"),
            _ => Storage::Repository,
        };
        let top = match storage {
            Storage::Archive(_) => dice.one_of(&["", "", "top-1"]),
            Storage::Repository => "",
        };
        let mut versions: Vec<&str> = VERSIONS.to_vec();
        versions.retain(|version| *version == ALLOWED || dice.chance(60));
        let mut package = Self {
            name,
            storage,
            top,
            versions,
            commits: Vec::new(),
        };
        let contents: Vec<_> = package
            .versions
            .iter()
            .map(|_| contents(dice, others, providers, site))
            .collect();
        match storage {
            Storage::Repository => package.commit(&contents, site.repos),
            Storage::Archive(ending) => {
                for (version, files) in package.versions.iter().zip(&contents) {
                    let name = format!("{}-{version}.{ending}", package.name);
                    site.archives.insert(name, archive(ending, top, files));
                }
            }
        }
        package.publish(dice, site);
        package
    }

    /// Makes the repository: a commit, a tag and a branch of each version.
    fn commit(&mut self, contents: &[BTreeMap<String, String>], repos: &Path) {
        let mut refs = BTreeMap::new();
        let commits = self.versions.iter().zip(contents).enumerate();
        let commits: Vec<Value> = commits
            .map(|(at, (version, files))| {
                refs.insert(format!("refs/heads/line-{version}"), at);
                let kind = if at % 2 == 0 { "tags" } else { "annotated" };
                json!({ "files": files, kind: [format!("v{version}")] })
            })
            .collect();
        let described = json!({ &self.name: { "commits": commits, "refs": refs } });
        let mut ids = git::make_repos(repos, &described);
        self.commits = ids.remove(&self.name).unwrap();
    }

    /// Adds the answers of the registry, and of a server that says where the newest version is.
    fn publish(&self, dice: &mut Dice, site: &mut Site<'_>) {
        let mut listed = self.versions.clone();
        if dice.chance(50) {
            listed.reverse();
        }
        let listed: Vec<Value> = listed.iter().map(|one| json!({ "version": one })).collect();
        let base = format!("/mods/acme/{}/lab", self.name);
        let listed = json!({"json": {"modules": [{ "versions": listed }]}});
        site.routes.insert(format!("{base}/versions"), listed);
        for at in 0..self.versions.len() {
            let answer =
                |location: String| json!({"status": 204, "headers": {"X-Terraform-Get": location}});
            let mut location = self.place(dice, at, site);
            if dice.chance(30) && self.storage != Storage::Repository {
                // Relative to the request.
                location = location.replace(&format!("https://{}", site.host), "");
            }
            let top = if self.top.is_empty() {
                String::new()
            } else {
                format!("//{}", self.top)
            };
            let with_top = with_subdirectory(&location, &top);
            site.routes.insert(
                format!("{base}/{}/download", self.versions[at]),
                answer(with_top),
            );
            let whole = self.place(dice, at, site);
            site.routes
                .insert(format!("/dirs/{}-{at}", self.name), answer(whole));
        }
    }

    /// Returns an address of the package in a version, without a subdirectory.
    fn place(&self, dice: &mut Dice, at: usize, site: &Site<'_>) -> String {
        let (name, host, version) = (&self.name, site.host, self.versions[at]);
        let Storage::Archive(ending) = self.storage else {
            let newest = at + 1 == self.versions.len();
            let query = match dice.below(6) {
                0 if newest => String::new(),
                0 | 1 => format!("?ref=line-{version}"),
                2 => format!("?ref={}", self.commits[at]),
                3 => format!("?depth=1&ref=v{version}"),
                _ => format!("?ref=v{version}"),
            };
            return format!("git::https://{host}/git/{name}.git{query}");
        };
        let named = match (ending, dice.chance(20)) {
            ("zip", true) => "?archive=zip",
            (_, true) => "?archive=tar.gz",
            (_, false) => "",
        };
        format!("https://{host}/archives/{name}-{version}.{ending}{named}")
    }

    /// Makes up a call of a module in the package.
    pub(super) fn call(&self, dice: &mut Dice, site: &Site<'_>) -> Call {
        let dir = dice.one_of(&DIRS);
        let sub = |parts: [&str; 2]| {
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            if parts.is_empty() {
                String::new()
            } else {
                format!("//{}", parts.join("/"))
            }
        };
        if dice.chance(45) {
            let constraint = CONSTRAINTS[dice.below(CONSTRAINTS.len())];
            return Call {
                source: format!("{}/acme/{}/lab{}", site.host, self.name, sub(["", dir])),
                version: constraint.map(str::to_owned),
            };
        }
        let at = dice.below(self.versions.len());
        let top = match self.top {
            // One level, whatever its name.
            top if !top.is_empty() && dice.chance(50) => "*",
            top => top,
        };
        let place = match dice.chance(12) {
            true => format!("https://{}/dirs/{}-{at}", site.host, self.name),
            false => self.place(dice, at, site),
        };
        Call {
            source: with_subdirectory(&place, &sub([top, dir])),
            version: None,
        }
    }
}

/// Puts a subdirectory before the query.
fn with_subdirectory(place: &str, sub: &str) -> String {
    match place.split_once('?') {
        Some((before, query)) => format!("{before}{sub}?{query}"),
        None => format!("{place}{sub}"),
    }
}

/// Makes up the files of a package.
fn contents(
    dice: &mut Dice,
    others: &[Package],
    providers: &Providers,
    site: &Site<'_>,
) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("README.md".to_owned(), "Made up.\n".to_owned())]);
    for (at, dir) in DIRS.iter().enumerate() {
        let mut calls = Vec::new();
        if at + 1 < DIRS.len() && dice.chance(40) {
            let to = DIRS[at + 1 + dice.below(DIRS.len() - at - 1)];
            calls.push(Call::local(dir, to));
        }
        if !others.is_empty() && dice.chance(25) {
            calls.push(others[dice.below(others.len())].call(dice, site));
        }
        let path = if dir.is_empty() {
            String::new()
        } else {
            format!("{dir}/")
        };
        files.insert(
            format!("{path}main.tf"),
            module_text(dice, providers, &calls),
        );
        if dice.chance(20) {
            let name = dice.one_of(&["outputs.tf", ".hidden.tf", "data.tf.json"]);
            let text = match name {
                "data.tf.json" => "{\"data\": {\"delta_thing\": {\"a\": {}}}}".to_owned(),
                _ => module_text(dice, &Providers::default(), &[]),
            };
            files.insert(format!("{path}{name}"), text);
        }
    }
    files
}

fn archive(ending: &str, top: &str, files: &BTreeMap<String, String>) -> Value {
    let entries = files.iter().map(|(path, text)| {
        let mut name = String::new();
        if !top.is_empty() {
            write!(name, "{top}/").unwrap();
        }
        name += path;
        json!({ "name": name, "text": text })
    });
    let entries: Vec<Value> = entries.collect();
    json!({ "format": ending, "entries": entries })
}
