//! What the trees that are made up were examples of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

/// Every kind of call that there has to be an example of.
pub(super) const KINDS: [&str; 10] = [
    "registry",
    "git, shallow",
    "git, tag",
    "git, branch",
    "git, commit",
    "git, default branch",
    "zip",
    "tar.gz",
    "directory",
    "local",
];

/// What trees showed.
#[derive(Default)]
pub(super) struct Counts {
    /// How many calls there are of each kind.
    pub(super) calls: BTreeMap<&'static str, usize>,
    pub(super) providers: usize,
    /// Seconds of `init` with `providers lock`, and of `lock`.
    pub(super) seconds: [f64; 2],
    /// How many calls are made by a module that is not the root.
    nested: usize,
    /// How many calls name a subdirectory.
    below: usize,
    /// How many packages are called several times.
    several: usize,
    /// How many registry modules are there in several versions.
    in_versions: usize,
}

impl Counts {
    /// Counts the records of a tree.
    pub(super) fn of(records: &[Value]) -> Self {
        let mut counts = Self::default();
        let mut packages: BTreeMap<String, usize> = BTreeMap::new();
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for record in records {
            let [source, key] = ["Source", "Key"].map(|name| record[name].as_str().unwrap());
            let version = record["Version"].as_str();
            let kind = match version {
                Some(_) => "registry",
                None => kind_of(source),
            };
            *counts.calls.entry(kind).or_default() += 1;
            counts.nested += usize::from(key.contains('.'));
            if kind == "local" {
                continue;
            }
            let (package, sub) = package_of(source);
            counts.below += usize::from(!sub.is_empty());
            let version_text = version.unwrap_or_default();
            *packages
                .entry(format!("{package} {version_text}"))
                .or_default() += 1;
            if let (Some(version), Some(start)) = (version, source.split("//").next()) {
                versions.entry(start).or_default().insert(version);
            }
        }
        counts.several = packages.values().filter(|calls| **calls > 1).count();
        counts.in_versions = versions.values().filter(|all| all.len() > 1).count();
        counts
    }

    pub(super) fn add(&mut self, other: Self) {
        for (kind, calls) in other.calls {
            *self.calls.entry(kind).or_default() += calls;
        }
        self.providers += other.providers;
        self.nested += other.nested;
        self.below += other.below;
        self.several += other.several;
        self.in_versions += other.in_versions;
        for (own, more) in self.seconds.iter_mut().zip(other.seconds) {
            *own += more;
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            calls,
            providers,
            seconds: [theirs, ours],
            nested,
            below,
            several,
            in_versions,
        } = self;
        for (kind, calls) in calls {
            writeln!(f, "  {calls:5} calls: {kind}")?;
        }
        writeln!(f, "  {nested:5} calls by modules that are not the root")?;
        writeln!(f, "  {below:5} calls of a subdirectory")?;
        writeln!(f, "  {several:5} packages called several times")?;
        writeln!(f, "  {in_versions:5} registry modules in several versions")?;
        writeln!(f, "  {providers:5} provider locks")?;
        write!(
            f,
            "  {theirs:.1} s `init` and `providers lock`, {ours:.1} s `lock`"
        )
    }
}

/// Returns what a source without a version is an example of.
fn kind_of(source: &str) -> &'static str {
    if source.starts_with('.') {
        return "local";
    }
    match source.split_once("ref=") {
        Some((before, _)) if before.contains("depth=") => "git, shallow",
        Some((_, name)) if name.starts_with('v') => "git, tag",
        Some((_, name)) if name.starts_with("line-") => "git, branch",
        Some(_) => "git, commit",
        None if source.starts_with("git::") => "git, default branch",
        None if source.contains("/dirs/") => "directory",
        None if source.contains(".zip") => "zip",
        None => "tar.gz",
    }
}

/// Splits a remote source into its package and its subdirectory.
fn package_of(source: &str) -> (String, &str) {
    let (place, query) = source.split_once('?').unwrap_or((source, ""));
    let start = place.find("://").map_or(0, |at| at + 3);
    let (package, sub) = match place[start..].find("//") {
        Some(at) => (&place[..start + at], &place[start + at + 2..]),
        None => (place, ""),
    };
    (format!("{package}?{query}"), sub)
}
