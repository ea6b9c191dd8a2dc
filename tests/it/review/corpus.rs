//! The changes of the corpus.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use lockctl::addr::{is_known_publisher, look_alike};
use lockctl::diag::{Texts, has_errors};
use lockctl::flavor::Flavor;
use lockctl::lockfile::{self, Document};
use lockctl::review::{ChangeKind, LockDiff, diff, explain};
use lockctl::version::{Upgrade, VersionStep};

use crate::corpus;

/// Reads one side, and whether it is without a fault.
fn read(path: &Path) -> (Document, bool) {
    let bytes = fs::read(path).unwrap();
    let mut texts = Texts::default();
    let file = texts.add(path.display().to_string(), bytes.clone());
    let (document, diagnostics) = lockfile::parse(file, &bytes, Flavor::Terraform1_11);
    (document, !has_errors(&diagnostics))
}

/// Returns what changed, in the words of the corpus.
fn words(found: &LockDiff) -> BTreeSet<&'static str> {
    let mut words = BTreeSet::new();
    for change in &found.providers {
        for kind in &change.kinds {
            words.insert(match kind {
                ChangeKind::Added => "added",
                ChangeKind::Removed => "removed",
                ChangeKind::HostSwitched => "host",
                ChangeKind::NamespaceSwitched => "namespace",
                ChangeKind::Upgraded => match change.step() {
                    Some(VersionStep::Up(Upgrade::Major)) => "major",
                    Some(VersionStep::Up(Upgrade::Minor)) => "minor",
                    _ => "patch",
                },
                ChangeKind::Downgraded => "downgrade",
                ChangeKind::ConstraintsChanged => {
                    let is_empty = |side: Option<&lockctl::review::ProviderSide>| {
                        side.is_none_or(|side| side.lock.constraints.is_empty())
                    };
                    match (is_empty(change.before()), is_empty(change.now())) {
                        (true, _) => "constraint-added",
                        (_, true) => "constraint-dropped",
                        _ => "constraint",
                    }
                }
                ChangeKind::HashesAdded => "hash-add",
                ChangeKind::HashesRemoved => "hash-remove",
                ChangeKind::HashesReplaced => "hash-replace",
                other => panic!("the table has no word for {other:?}"),
            });
        }
    }
    words
}

#[test]
fn real_changes_are_distinguished() {
    let parts = corpus::parts("diffs", "index.tsv");
    let rows = parts
        .iter()
        .flat_map(|part| part.rows.iter().map(move |row| (&part.dir, row)));
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (dir, row) in rows {
        let (dir, kind) = (dir.join(row.get("dir")), row.get("kind"));
        let side = |name| read(&dir.join(name));
        let ((old, old_reads), (new, new_reads)) = (side("old.lock.hcl"), side("new.lock.hcl"));
        if !(old_reads && new_reads) {
            *counts.entry("broken").or_default() += 1;
        }
        if kind.contains("syntax") {
            continue;
        }
        let found = diff(&old.lock, &new.lock);
        let mut words = words(&found);
        if words.is_empty() {
            words.insert("format-only");
        }
        let expected: BTreeSet<&str> = kind.split('+').collect();
        for word in &words {
            *counts.entry(word).or_default() += 1;
        }
        // The corpus says no more of a provider that comes from elsewhere.
        let is_switched = expected.contains("host") || expected.contains("namespace");
        let agrees = match is_switched || !(old_reads && new_reads) {
            true => expected.is_subset(&words),
            false => expected == words,
        };
        if !agrees {
            wrong.push(format!("{}: {words:?}, not {expected:?}", dir.display()));
        }
        if std::env::var_os("LOCKCTL_SHOW").is_some() {
            println!("== {} {kind}", dir.display());
            for change in &found.providers {
                let explained = explain(change);
                println!(
                    "{:?} {} {}: {}",
                    explained.risk,
                    change.addr(),
                    change
                        .now()
                        .map_or(String::new(), |side| side.lock.version.to_string()),
                    explained.sentence()
                );
            }
        }
    }
    println!("{counts:?}");
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Namespaces of the corpus that are no publishers: somebody's test data, and hosts of their own.
const NO_PUBLISHERS: [&str; 4] = ["local", "providers", "teleport", "terraform"];

#[test]
fn no_real_provider_is_a_look_alike() {
    let mut wrong = Vec::new();
    let mut unknown = BTreeSet::new();
    for part in corpus::parts("locks", "index.tsv") {
        for row in &part.rows {
            let (document, _) = read(&part.dir.join(row.get("file")));
            let providers = &document.lock.providers;
            for addr in providers.keys() {
                let others = providers.keys().filter(|other| *other != addr);
                let found = look_alike(addr, others);
                wrong.extend(found.map(|found| format!("{}: {found}", row.get("file"))));
                let namespace = addr.namespace();
                let is_listed = is_known_publisher(namespace) || NO_PUBLISHERS.contains(&namespace);
                if part.is_public && namespace.chars().count() >= 5 && !is_listed {
                    unknown.insert(namespace.to_owned());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown.is_empty(), "the table lacks {unknown:?}");
}
