//! Registries and repositories with a module for each call of a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lockctl::addr::module::{Query, RegistryModule, RemoteModule};
use lockctl::version::{CoreConstraints, Version};
use serde_json::{Value, json};

/// The newest version of every made-up registry module, which few constraints allow.
const NEWEST: &str = "99.0.0";

/// The text of every made-up module.
const MODULE: &str =
    "terraform {\n  required_providers {\n    up = { source = \"example.com/made/up\" }\n  }\n}\n";

/// What a call asks for.
#[derive(Clone)]
pub(super) enum Asked {
    Registry(RegistryModule, Option<CoreConstraints>),
    Remote(RemoteModule),
}

/// Everything that is served for a configuration.
#[derive(Default)]
pub(super) struct MadeUp {
    /// The repositories by their names: the directories that are called, and the refs.
    repos: BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)>,
    /// The hosts of registries.
    registries: BTreeSet<String>,
    routes: serde_json::Map<String, Value>,
    /// Ids of commits with what stands for them in the configuration.
    ids: Vec<(String, String)>,
    /// What each call has to come to: the version, for a module of a registry.
    pub(super) expected: BTreeMap<String, Option<String>>,
    /// Calls by the kind of their source.
    pub(super) kinds: BTreeMap<&'static str, usize>,
    /// The text of each source.
    pub(super) sources: BTreeSet<String>,
}

impl MadeUp {
    pub(super) fn answer(&mut self, key: &str, asked: &Asked) {
        let (kind, version, source) = match asked {
            Asked::Registry(module, wanted) => {
                let version = self.registry(module, wanted.as_ref());
                let text = module.to_string();
                ("registry", Some(version), text)
            }
            Asked::Remote(module) => {
                self.repository(&module.package, &module.sub);
                ("git", None, module.to_string())
            }
        };
        *self.kinds.entry(kind).or_default() += 1;
        self.expected.insert(key.to_owned(), version);
        self.sources.insert(source);
    }

    /// Makes up a registry module; returns the version that its constraints select.
    fn registry(&mut self, module: &RegistryModule, wanted: Option<&CoreConstraints>) -> String {
        let RegistryModule {
            host,
            namespace,
            name,
            system,
            sub,
        } = module;
        self.registries.insert(host.to_string());
        let base = format!("/mods/{host}/{namespace}/{name}/{system}");
        let listed = format!("{base}/versions");
        // The versions that constraints name, each made complete.
        let text = wanted.map(ToString::to_string).unwrap_or_default();
        let numbers = text.split([' ', ',', '=', '~', '>', '<', '!']);
        let numbers = numbers.filter(|number| !number.is_empty()).map(|number| {
            let parts: Vec<&str> = number.split('.').chain(["0", "0"]).take(3).collect();
            parts.join(".")
        });
        let versions: BTreeSet<String> = numbers.chain([NEWEST.to_owned()]).collect();
        let allowed = versions.iter().filter(|text| {
            let version: Version = text.parse().unwrap();
            wanted.is_none_or(|wanted| wanted.allows(&version))
        });
        let chosen = allowed.max_by_key(|text| text.parse::<Version>().unwrap());
        let chosen = chosen.expect("a version that is named is allowed").clone();
        // Calls with other constraints have other versions in the same list.
        let list = self
            .routes
            .entry(listed)
            .or_insert_with(|| json!({"json": {"modules": [{"versions": []}]}}));
        let list = list["json"]["modules"][0]["versions"]
            .as_array_mut()
            .unwrap();
        list.extend(versions.iter().map(|version| json!({ "version": version })));
        let place = format!(
            "git::https://github.com/{namespace}/terraform-{system}-{name}.git?ref=v{chosen}"
        );
        self.repository(&place, sub);
        self.routes.insert(
            format!("{base}/{chosen}/download"),
            json!({"status": 204, "headers": {"X-Terraform-Get": place}}),
        );
        chosen
    }

    /// Makes up a repository with a directory, by its address.
    fn repository(&mut self, address: &str, dir: &str) {
        let (url, query) = address.split_once('?').unwrap_or((address, ""));
        let url = url.strip_prefix("git::").expect("an address for git");
        let (_, place) = url.split_once("://").unwrap();
        let place = place.strip_prefix("git@").unwrap_or(place);
        let name = place.strip_suffix(".git").unwrap_or(place).to_owned();
        let reference = Query::parse_readable(query)
            .get("ref")
            .unwrap_or_default()
            .to_owned();
        let is_id = reference.len() == 40 && reference.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (dirs, refs) = self.repos.entry(name.clone()).or_default();
        dirs.insert(dir.to_owned());
        match is_id {
            true => self.ids.push((reference, format!("<{name}#0>"))),
            false if !reference.is_empty() => drop(refs.insert(reference)),
            false => {}
        }
    }

    /// Returns the case that serves all this to a configuration.
    pub(super) fn case(&self, files: &BTreeMap<String, String>) -> Value {
        let hosts = self
            .repos
            .keys()
            .map(|name| name.split('/').next().unwrap());
        let hosts: BTreeSet<&str> = hosts.collect();
        let mut gitconfig = "[http]\n\tsslCAInfo = <CA>\n".to_owned();
        for host in hosts {
            let there = format!("https://<LAB>/git/{host}/");
            gitconfig += &format!(
                "[url \"{there}\"]\n\tinsteadOf = https://{host}/\n\tinsteadOf = ssh://git@{host}/\n"
            );
        }
        let blocks = self.registries.iter().map(|host| {
            format!("host {host:?} {{\n  services = {{\n    \"modules.v1\" = \"https://<LAB>/mods/{host}/\"\n  }}\n}}\n")
        });
        let repos = self.repos.iter().map(|(name, (dirs, refs))| {
            let files = dirs.iter().map(|dir| {
                let path = Path::new(dir).join("main.tf");
                (path.display().to_string(), json!(MODULE))
            });
            let files: serde_json::Map<_, _> = files.collect();
            (
                name.clone(),
                json!({"commits": [{ "files": files, "tags": refs }]}),
            )
        });
        let repos: serde_json::Map<_, _> = repos.collect();
        let mut root = json!(files).to_string();
        for (id, symbol) in &self.ids {
            root = root.replace(id, symbol);
        }
        json!({
            "root": serde_json::from_str::<Value>(&root).unwrap(),
            "repos": repos,
            "routes": self.routes,
            "gitconfig": gitconfig,
            "cli": blocks.collect::<String>(),
        })
    }
}
