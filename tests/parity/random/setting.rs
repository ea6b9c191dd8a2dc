//! A setting that is made up: where packages come from, for which platforms, and some roots.

use std::process::Command;

use lockctl::version::Constraints;

use super::catalog::{Catalog, PLATFORMS, PROVIDERS, Release};
use crate::LOCK;
use crate::dice::Dice;
use crate::lab::Lab;
use crate::registry::{Origin, Registry};

const CONSTRAINTS: [&str; 13] = [
    "",
    "",
    "",
    "1.0.0",
    "~> 1.0",
    "~> 1.1.0",
    ">= 1.1.0",
    "< 1.10.0",
    "!= 2.3.4",
    "2.0.0-rc1",
    ">= 1.0.0-beta1",
    "> 0.9.0, <= 2.0.0",
    "1.0.0+b1",
];

const PATTERNS: [&str; 6] = [
    "acme/*",
    "acme/one",
    "other/three",
    "*/*",
    "*/*/*",
    "registry.terraform.io/acme/two",
];

/// The directory that is the mirror of a setting.
pub(super) const MIRROR: &str = "mirror";

/// Where packages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The registry, for `init` and for `providers lock`.
    Registry,
    /// One mirror directory, for both.
    FilesystemMirror,
    /// The network mirror, for both.
    NetworkMirror,
    /// For `init` the sources of the CLI configuration, for `providers lock` the registry.
    Methods,
}

/// Which platforms are wanted, beside the running one.
#[derive(Debug)]
pub(super) enum Wanted {
    Named(Vec<&'static str>),
    Common,
}

/// A setting; its roots are laid out twice, below `theirs` and below `ours`.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) source: Source,
    pub(super) wanted: Wanted,
    pub(super) roots: Vec<Root>,
}

/// A root that was made up.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) name: String,
    /// The module that only `init` fetches, if it calls one.
    pub(super) far: Option<Far>,
}

/// How lockctl finds a module that only `init` fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Far {
    /// As `init` installed it.
    Installed,
    /// Not at all, beside the lock file that `init` wrote.
    Absent,
}

impl Setting {
    /// Makes up a setting and writes all of it into a lab, whose CLI configuration leads to the
    /// registry already.
    pub(super) fn make_up(
        dice: &mut Dice,
        catalog: &Catalog,
        lab: &Lab,
        registry: &Registry,
    ) -> Self {
        let source = match dice.below(4) {
            0 => Source::Registry,
            1 => Source::FilesystemMirror,
            2 => Source::NetworkMirror,
            _ => Source::Methods,
        };
        let percent = if source == Source::FilesystemMirror {
            93
        } else {
            60
        };
        catalog.fill(dice, lab, MIRROR, percent);
        let mirror = format!("    path = {:?}\n", lab.path(MIRROR).display().to_string());
        let url = format!("    url = \"{}/mirror/\"\n", registry.url(Origin::Lab));
        let methods = match source {
            Source::Registry => String::new(),
            Source::FilesystemMirror => method("filesystem_mirror", &mirror),
            Source::NetworkMirror => method("network_mirror", &url),
            Source::Methods => {
                let kinds = [
                    ("direct", ""),
                    ("filesystem_mirror", &*mirror),
                    ("network_mirror", &*url),
                ];
                let count = 1 + dice.below(3);
                let methods = (0..count).map(|_| {
                    let (kind, place) = kinds[dice.below(3)];
                    method(kind, &(place.to_owned() + &filter(dice)))
                });
                methods.collect()
            }
        };
        if !methods.is_empty() {
            let hosts = lab.read("cli.tfrc");
            let installation = format!("provider_installation {{\n{methods}}}\n");
            lab.write("cli.tfrc", hosts + &installation);
        }
        let wanted = match dice.below(4) {
            0 => Wanted::Common,
            count => {
                let mut others: Vec<&str> = PLATFORMS[1..].to_vec();
                while others.len() > count {
                    others.remove(dice.below(others.len()));
                }
                Wanted::Named(others)
            }
        };
        let names = (0..1 + dice.below(3)).map(|number| format!("r{number}"));
        let roots = names.map(|name| {
            let far = dice.chance(15).then(|| match dice.below(2) {
                0 => Far::Installed,
                _ => Far::Absent,
            });
            let root = Root { name, far };
            root.make_up(dice, catalog, lab, source);
            root
        });
        let roots = roots.collect();
        Self {
            source,
            wanted,
            roots,
        }
    }
}

fn method(kind: &str, arguments: &str) -> String {
    format!("  {kind} {{\n{arguments}  }}\n")
}

fn filter(dice: &mut Dice) -> String {
    let mut filter = String::new();
    for name in ["include", "exclude"] {
        if dice.chance(25) {
            let patterns = [dice.one_of(&PATTERNS), dice.one_of(&PATTERNS)];
            filter += &format!("    {name} = {patterns:?}\n");
        }
    }
    filter
}

/// Writes a file of a root for both programs.
fn write(lab: &Lab, root: &str, name: &str, content: &str) {
    lab.write(&format!("theirs/{root}/{name}"), content)
        .write(&format!("ours/{root}/{name}"), content);
}

impl Root {
    /// Writes the root with modules in it, which neither program has installed, and a lock file before.
    fn make_up(&self, dice: &mut Dice, catalog: &Catalog, lab: &Lab, source: Source) {
        let mut required = Vec::new();
        let modules = ["", "modules/a/", "modules/a/inner/"];
        let depth = 1 + dice.below(modules.len());
        for (level, dir) in modules[..depth].iter().enumerate() {
            let mut text = requirements(dice, catalog, &mut required, level == 0);
            if let Some(next) = modules[..depth].get(level + 1) {
                let below = next.strip_prefix(dir).unwrap().trim_end_matches('/');
                text += &format!("module \"below\" {{\n  source = \"./{below}\"\n}}\n");
            }
            if level == 0 && self.far.is_some() {
                let content = requirements(dice, catalog, &mut required, false);
                let place = repository(lab, &self.name, &content);
                text += &format!("module \"far\" {{\n  source = \"git::file://{place}\"\n}}\n");
            }
            write(lab, &self.name, &format!("{dir}main.tf"), &text);
        }
        // Where lockctl gets the lock file of `init`, that one has to be up to date, which it is if there was
        // none before.
        if dice.chance(60)
            && self.far != Some(Far::Absent)
            && let Some(lock) = lock_before(dice, catalog, &required, source)
        {
            write(lab, &self.name, LOCK, &lock);
        }
    }
}

/// Makes up what a module requires, and adds it to what the others do.
fn requirements(
    dice: &mut Dice,
    catalog: &Catalog,
    required: &mut Vec<(&'static str, Constraints)>,
    is_root: bool,
) -> String {
    let mut block = String::new();
    for (number, provider) in PROVIDERS.into_iter().enumerate() {
        // At least one: without any `providers lock` writes an empty file.
        let is_needed = is_root && number == 0;
        if !is_needed && !dice.chance(30) {
            continue;
        }
        let (_, name) = provider.split_once('/').unwrap();
        let mut text = dice.one_of(&CONSTRAINTS);
        required.push((provider, constraints(text)));
        // Seldom a set that nothing meets: both programs refuse it.
        if allowed(catalog, required, provider).is_empty() && !dice.chance(5) {
            required.pop();
            required.push((provider, Constraints::default()));
            text = "";
        }
        let constraint = match text {
            "" => String::new(),
            some => format!(", version = {some:?}"),
        };
        block += &format!("    {name} = {{ source = {provider:?}{constraint} }}\n");
    }
    format!("terraform {{\n  required_providers {{\n{block}  }}\n}}\n")
}

fn constraints(text: &str) -> Constraints {
    match text {
        "" => Constraints::default(),
        some => Constraints::parse_config(some).unwrap(),
    }
}

/// Makes a git repository of one module; returns where it is.
fn repository(lab: &Lab, name: &str, content: &str) -> String {
    let dir = format!("far/{name}");
    lab.write(&format!("{dir}/main.tf"), content);
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        let user = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let done = command
            .args(user)
            .args(args)
            .current_dir(lab.path(&dir))
            .output();
        assert!(done.unwrap().status.success(), "git {args:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "main.tf"]);
    git(&["commit", "--quiet", "--message", "one"]);
    lab.path(&dir).display().to_string()
}

/// Returns the releases of a provider that everything allows which requires it.
fn allowed<'c>(
    catalog: &'c Catalog,
    required: &[(&str, Constraints)],
    provider: &str,
) -> Vec<&'c Release> {
    let required = required.iter().filter(|(known, _)| *known == provider);
    let all: Constraints = required.flat_map(|(_, one)| one).cloned().collect();
    let mut releases = catalog.of(provider);
    releases.retain(|release| all.allows(&release.version.parse().unwrap()));
    releases
}

/// Makes up a lock file of what is required, as some earlier run or an author may have left it.
fn lock_before(
    dice: &mut Dice,
    catalog: &Catalog,
    required: &[(&str, Constraints)],
    source: Source,
) -> Option<String> {
    let mut blocks = Vec::new();
    for provider in PROVIDERS {
        let is_required = required.iter().any(|(known, _)| *known == provider);
        if !is_required || !dice.chance(80) {
            continue;
        }
        // Seldom one outside the constraints: both programs refuse it.
        let releases = match dice.chance(95) {
            true => allowed(catalog, required, provider),
            false => catalog.of(provider),
        };
        if !releases.is_empty() {
            let release = releases[dice.below(releases.len())];
            blocks.push(entry(dice, catalog.host, release, source));
        }
    }
    if dice.chance(20) {
        let host = catalog.host;
        blocks.push(format!(
            "provider \"{host}/acme/unused\" {{\n  version = \"1.0.0\"\n}}\n"
        ));
    }
    let comment = if dice.chance(20) { "# by hand\n\n" } else { "" };
    (!blocks.is_empty()).then(|| format!("{comment}{}", blocks.join("\n")))
}

/// Makes up an entry: right, or with hashes missing, or with a constraint that is not up to date, or
/// with a list of hashes that are all wrong.
fn entry(dice: &mut Dice, host: &str, release: &Release, source: Source) -> String {
    let own = release.packages.get("linux_amd64");
    let own: Vec<String> = own.map(|package| package.h1.clone()).into_iter().collect();
    let all = release.packages.values().map(|package| package.h1.clone());
    let is_zip = matches!(source, Source::Registry | Source::NetworkMirror);
    let mut hashes: Vec<String> = match dice.below(20) {
        0..=6 => own.into_iter().chain(release.signed()).collect(),
        7..=10 if !own.is_empty() => all.chain(release.signed()).collect(),
        11..=13 => release.signed().collect(),
        14..=15 => own,
        // A directory is not compared with `zh:`.
        19 if is_zip => (1..5)
            .map(|n| format!("zh:{}", n.to_string().repeat(64)))
            .collect(),
        _ => Vec::new(),
    };
    hashes.sort();
    if dice.chance(10) {
        hashes.reverse();
    }
    let version = if dice.chance(3) {
        "1.5.5"
    } else {
        release.version
    };
    let constraints = match dice.below(10) {
        0..=6 => String::new(),
        _ => "  constraints = \">= 0.1.0\"\n".to_owned(),
    };
    let hashes = match &*hashes {
        [] => String::new(),
        some => format!("  hashes = {some:?}\n"),
    };
    let provider = release.provider;
    format!("provider \"{host}/{provider}\" {{\n  version = {version:?}\n{constraints}{hashes}}}\n")
}
