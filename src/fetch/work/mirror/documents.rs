//! The documents of the network mirror protocol, as `providers mirror` writes them: two spaces, keys in the order
//! of their bytes, no line feed at the end. Beside its `h1:` a package has its `zh:` here, which the programs
//! accept as well (`sources` rules 8.4).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::directory::MirrorDirectory;
use super::layout::{INDEX, provider_dir, version_document, zips};
use super::present::{PresentCheck, stated};
use super::{MirroredForm, MirroredPackage, MirroredRelease, MirroringError};
use crate::acquire::TrustedFacts;
use crate::addr::ProviderAddr;
use crate::hash::Hashes;
use crate::platform::Platform;
use crate::store::Facts;
use crate::version::Version;
use crate::world::FileKind;

/// Writes the documents of a provider where they differ, the index last; returns those that differed.
///
/// A version that no release is about keeps its document.
///
/// # Errors
/// The first path that cannot be read or written.
pub(super) fn write(
    mirror: &MirrorDirectory<'_>,
    facts: &dyn Facts,
    provider: &ProviderAddr,
    releases: &[&MirroredRelease],
) -> Result<Vec<PathBuf>, MirroringError> {
    let disk = mirror.disk;
    let dir = provider_dir(&mirror.path, provider);
    // Nothing of the provider was placed, or a link is there, which is never followed.
    if !matches!(disk.kind(&dir), Ok(FileKind::Directory)) {
        return Ok(Vec::new());
    }
    // Held until the index is written: another run would list the packages that it knows, and not these.
    let held = mirror.held(&dir)?;
    // The directory is listed under the right to write there, so that of two runs at once the last one
    // lists the packages of both.
    let zips = zips(disk, &dir, provider).map_err(|cause| mirror.failure(&dir, "read", cause))?;
    let check = PresentCheck {
        disk,
        facts,
        trusted: TrustedFacts::OWN,
        existing: mirror.settings.existing,
    };
    let mut differing = Vec::new();
    for release in releases {
        let version = &release.release.version;
        let Some(zips) = zips.get(version) else {
            continue;
        };
        let archives = archives(&check, &dir, version, zips, &release.packages);
        // An empty document would tell the programs that the version has no package for any platform.
        if !archives.is_empty() {
            let path = dir.join(version_document(version));
            let text = text(&json!({ "archives": archives }));
            differing.extend(mirror.replace(held.as_ref(), path, &text)?);
        }
    }
    let versions: BTreeMap<String, Value> = zips
        .keys()
        // A version without its document cannot be installed from a network mirror.
        .filter(|version| {
            let document = dir.join(version_document(version));
            matches!(disk.kind(&document), Ok(FileKind::File))
        })
        .map(|version| (version.to_string(), json!({})))
        .collect();
    if !versions.is_empty() {
        let text = text(&json!({ "versions": versions }));
        differing.extend(mirror.replace(held.as_ref(), dir.join(INDEX), &text)?);
    }
    Ok(differing)
}

/// Lists the packages of a version that are there and right.
fn archives(
    check: &PresentCheck<'_>,
    dir: &Path,
    version: &Version,
    zips: &BTreeMap<Platform, String>,
    packages: &[MirroredPackage],
) -> BTreeMap<String, Value> {
    let stated = stated(check.disk, dir, version);
    zips.iter()
        .filter_map(|(platform, name)| {
            let stated = stated.get(platform);
            let hashes = hashes(check, &dir.join(name), platform, packages, stated)?;
            let hashes: Vec<_> = hashes.iter().collect();
            let archive = json!({ "hashes": hashes, "url": name });
            Some((platform.to_string(), archive))
        })
        .collect()
}

/// Returns the hashes of a zip: those of this run, else those that the document states already, else
/// computed ones; `None` for what is not the package.
fn hashes(
    check: &PresentCheck<'_>,
    path: &Path,
    platform: &Platform,
    packages: &[MirroredPackage],
    stated: Option<&Hashes>,
) -> Option<Hashes> {
    let package = packages
        .iter()
        .find(|package| package.platform == *platform && package.layout == MirroredForm::Zip);
    match package.map(|package| (package.state.is_right(), &package.h1, &package.zh)) {
        Some((true, Some(h1), Some(zh))) => Some([h1, zh].into_iter().cloned().collect()),
        // It is wrong or missing in this run, so the document must not offer it.
        Some(_) => None,
        None => {
            // A package that no lock file of this run needs was placed by another run, which stated its hashes.
            let known = stated.filter(|hashes| !hashes.is_empty());
            known.cloned().or_else(|| {
                let zip = check.hash(path).ok()?;
                Some(zip.zh.into_iter().chain([zip.h1]).collect())
            })
        }
    }
}

fn text(document: &Value) -> Vec<u8> {
    serde_json::to_vec_pretty(document).expect("text and maps with keys of text")
}
