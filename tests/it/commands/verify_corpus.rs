//! `verify` over the lock files of the corpus.

use std::collections::{BTreeMap, BTreeSet};

use lockctl::diag::FileId;
use lockctl::flavor::Flavor;
use lockctl::lockfile;

use super::*;
use crate::corpus;

/// Rules that judge a lock file which the programs accept; all others of the group *file* refuse it.
const OF_SOUND_FILES: [&str; 8] = [
    "entries-carried-over",
    "file-not-canonical",
    "hash-not-well-formed",
    "hosts-mixed",
    "module-lock",
    "platforms-incomplete",
    "platforms-unattributed",
    "zh-missing",
];

/// A real lock file with what Terraform 1.11.4 says of it.
struct Real {
    name: String,
    text: Vec<u8>,
    /// The titles of its errors; none if it accepts the file.
    titles: BTreeSet<String>,
}

fn corpus() -> Vec<Real> {
    let parts = corpus::parts("locks", "index.tsv");
    let rows = parts.iter().flat_map(|part| {
        part.rows.iter().map(|row| {
            let name = row.get("file").to_owned();
            let verdict = row.get("terraform_1_11_4").strip_prefix("rejected: ");
            let titles = verdict.into_iter().flat_map(|titles| titles.split("; "));
            Real {
                text: std::fs::read(part.dir.join(&name)).unwrap(),
                name,
                titles: titles.map(str::to_owned).collect(),
            }
        })
    });
    rows.collect()
}

/// Writes a root that requires exactly what a lock file locks.
fn root_of(lab: &Lab, real: &Real) {
    lab.write(&format!("{}/{LOCK}", real.name), &real.text);
    let (document, _) = lockfile::parse(FileId::ALONE, &real.text, Flavor::Terraform1_11);
    let required = document.lock.providers.keys().enumerate();
    let required: String = required
        .map(|(at, provider)| format!("    p{at} = {{\n      source = \"{provider}\"\n    }}\n"))
        .collect();
    let text = format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n");
    lab.write(&format!("{}/main.tf", real.name), text);
}

/// Verifies every root and returns the findings of each as pairs of rule and title.
fn findings(lab: &Lab, more: &[&str]) -> BTreeMap<String, Vec<(String, String)>> {
    let args = words("verify -r --format json --flavor terraform@1.11");
    let outcome = lab.run(&[&args[..], more].concat()).exits(1);
    let json = outcome.json();
    let roots = json["roots"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let pairs = |root: &Value| -> Vec<(String, String)> {
        let findings = root["findings"].as_array().unwrap();
        let pairs = findings.iter();
        pairs
            .map(|one| (text(&one["rule"]), text(&one["title"])))
            .collect()
    };
    roots
        .iter()
        .map(|root| (text(&root["path"]), pairs(root)))
        .collect()
}

#[test]
fn real_lock_files_are_judged_as_terraform_judges_them() {
    let corpus = corpus();
    let lab = Lab::new();
    for real in &corpus {
        root_of(&lab, real);
    }
    let groups = ["--only", "file,platforms"];
    let found = findings(&lab, &groups);
    assert_eq!(found.len(), corpus.len());
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for real in &corpus {
        let own = &found[&real.name];
        let rules: BTreeSet<&str> = own.iter().map(|(rule, _)| &**rule).collect();
        for rule in &rules {
            *files.entry(rule).or_default() += 1;
        }
        let refused = own
            .iter()
            .filter(|(rule, _)| !OF_SOUND_FILES.contains(&&**rule));
        let titles: BTreeSet<&str> = refused.map(|(_, title)| &**title).collect();
        // A title that only follows from another one is not told again (`lockfiles.rs`).
        let is_right = titles.is_empty() == real.titles.is_empty()
            && titles.iter().all(|title| real.titles.contains(*title));
        if !is_right {
            wrong.push(format!("{}: {titles:?}, not {:?}", real.name, real.titles));
        }
    }
    println!("{} files: {files:#?}", corpus.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let two = ["--platform", "linux_amd64,darwin_arm64"];
    let narrow = findings(&lab, &[groups, two].concat());
    // A file that cannot be read has no platforms to be judged.
    let sound = corpus.iter().filter(|real| real.titles.is_empty());
    let sound: Vec<&str> = sound.map(|real| &*real.name).collect();
    let incomplete = [&found, &narrow].map(|found| -> BTreeSet<&str> {
        let is_incomplete = |name: &str| {
            let mut findings = found[name].iter();
            findings.any(|(rule, _)| rule == "platforms-incomplete")
        };
        let sound = sound.iter().copied();
        sound.filter(|name| is_incomplete(name)).collect()
    });
    let shares = incomplete
        .each_ref()
        .map(|names| 100 * names.len() / sound.len());
    println!("platforms-incomplete: {shares:?} %");
    let [by_default, narrow] = &incomplete;
    assert!(
        narrow.is_subset(by_default),
        "fewer platforms are complete sooner"
    );
    assert!(
        narrow.len() < by_default.len(),
        "some are complete for two only"
    );
}
