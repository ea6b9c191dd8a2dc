//! Bills as snapshots of GitHub's dependency submission: one manifest for each lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::Serialize;

use super::{Bill, BilledModule, BilledPackage, BilledRelease, BilledRoot, TOOL, TOOL_URL, purl};
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

#[derive(Serialize)]
struct SnapshotDocument<'a> {
    version: u32,
    sha: &'a str,
    #[serde(rename = "ref")]
    git_ref: &'a str,
    job: SnapshotJob<'a>,
    detector: SnapshotDetector,
    scanned: String,
    manifests: BTreeMap<&'a str, SnapshotManifest<'a>>,
}

#[derive(Serialize)]
struct SnapshotJob<'a> {
    id: &'a str,
    correlator: &'a str,
}

#[derive(Serialize)]
struct SnapshotDetector {
    name: &'static str,
    version: &'static str,
    url: &'static str,
}

#[derive(Serialize)]
struct SnapshotManifest<'a> {
    name: &'a str,
    file: SnapshotFile<'a>,
    resolved: BTreeMap<String, SnapshotPackage>,
}

#[derive(Serialize)]
struct SnapshotFile<'a> {
    source_location: &'a str,
}

#[derive(Serialize)]
struct SnapshotPackage {
    package_url: String,
    relationship: &'static str,
    scope: &'static str,
    dependencies: BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<&'static str, &'static str>,
}

/// Writes a bill; the same bill of the same job gives the same bytes.
#[must_use]
pub fn document(bill: &Bill, origin: &SnapshotOrigin, tool_version: &'static str) -> String {
    let manifests = bill.roots.values().map(|root| {
        let manifest = SnapshotManifest {
            name: &root.lock_file,
            file: SnapshotFile {
                source_location: &root.lock_file,
            },
            resolved: resolved(bill, root),
        };
        (root.lock_file.as_str(), manifest)
    });
    super::printed(&SnapshotDocument {
        // The version of the format; no other exists.
        version: 0,
        sha: &origin.sha,
        git_ref: &origin.git_ref,
        job: SnapshotJob {
            id: &origin.job_id,
            correlator: &origin.correlator,
        },
        detector: SnapshotDetector {
            name: TOOL,
            version: tool_version,
            url: TOOL_URL,
        },
        scanned: calendar::timestamp(origin.scanned),
        manifests: manifests.collect(),
    })
}

/// Lists the releases that a root locks, and the modules in them, by purl.
fn resolved(bill: &Bill, root: &BilledRoot) -> BTreeMap<String, SnapshotPackage> {
    let mut resolved = BTreeMap::new();
    for id in &root.releases {
        let release = bill.releases.get(id);
        // Packages have no purl, so the release depends on the modules of all platforms.
        let modules: BTreeSet<String> = release
            .into_iter()
            .flat_map(|release| &release.packages)
            .flat_map(BilledPackage::modules)
            // A snapshot names dependencies by purl, and a module from a directory has none.
            .filter_map(BilledModule::purl)
            .collect();
        for module in &modules {
            let module = package(module.clone(), "indirect", BTreeSet::new());
            resolved.insert(module.package_url.clone(), module);
        }
        let mut provider = package(purl::of_provider(&id.0, &id.1), "direct", modules);
        if release.is_none_or(BilledRelease::is_unknown) {
            provider.metadata.insert("contents", "unknown");
        }
        resolved.insert(provider.package_url.clone(), provider);
    }
    resolved
}

fn package(
    package_url: String,
    relationship: &'static str,
    dependencies: BTreeSet<String>,
) -> SnapshotPackage {
    SnapshotPackage {
        package_url,
        relationship,
        // A provider and its modules run wherever the configuration is applied.
        scope: "runtime",
        dependencies,
        metadata: BTreeMap::new(),
    }
}
