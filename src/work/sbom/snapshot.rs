//! Bills as snapshots of GitHub's dependency submission: one manifest for each lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::{Bill, BilledModule, BilledRelease, BilledRoot, TOOL, TOOL_URL, TOOL_VERSION, purl};
use crate::package::calendar;

/// The commit and the job that a snapshot belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotOrigin {
    /// The commit, as 40 or 64 hexadecimal digits.
    pub sha: String,
    /// The full name of the branch, as in `refs/heads/main`.
    pub git_ref: String,
    /// The name of this run.
    pub job_id: String,
    /// A name that later runs of the same job share: a snapshot replaces the earlier one with that name.
    pub correlator: String,
    pub scanned: SystemTime,
}

/// Writes a bill; the same bill of the same job gives the same bytes.
pub fn document(bill: &Bill, origin: &SnapshotOrigin) -> String {
    let manifests: BTreeMap<&str, Value> = bill
        .roots
        .values()
        .map(|root| {
            let manifest = json!({
                "name": root.lock_file,
                "file": {"source_location": root.lock_file},
                "resolved": resolved(bill, root),
            });
            (root.lock_file.as_str(), manifest)
        })
        .collect();
    super::printed(&json!({
        // The version of the format; no other exists.
        "version": 0,
        "sha": origin.sha,
        "ref": origin.git_ref,
        "job": {"id": origin.job_id, "correlator": origin.correlator},
        "detector": {"name": TOOL, "version": TOOL_VERSION, "url": TOOL_URL},
        "scanned": calendar::timestamp(origin.scanned),
        "manifests": manifests,
    }))
}

/// Lists the releases that a root locks, and the modules in them, by purl.
fn resolved(bill: &Bill, root: &BilledRoot) -> BTreeMap<String, Value> {
    let mut resolved = BTreeMap::new();
    for id in &root.releases {
        let release = bill.releases.get(id);
        // Packages have no purl, so the release depends on the modules of all platforms.
        let modules: BTreeSet<String> = release
            .into_iter()
            .flat_map(|release| &release.packages)
            .flat_map(|package| &package.modules)
            // A snapshot names dependencies by purl, and a module from a directory has none.
            .filter_map(BilledModule::purl)
            .collect();
        for module in &modules {
            let none = BTreeSet::new();
            resolved.insert(module.clone(), package(module, "indirect", &none));
        }
        let purl = purl::of_provider(&id.0, &id.1);
        let mut provider = package(&purl, "direct", &modules);
        if release.is_none_or(BilledRelease::is_unknown) {
            provider["metadata"] = json!({"contents": "unknown"});
        }
        resolved.insert(purl, provider);
    }
    resolved
}

fn package(purl: &str, relationship: &str, dependencies: &BTreeSet<String>) -> Value {
    json!({
        "package_url": purl,
        "relationship": relationship,
        // A provider and its modules run wherever the configuration is applied.
        "scope": "runtime",
        "dependencies": dependencies,
    })
}
