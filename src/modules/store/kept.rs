//! How answers are written for the cache.

use std::sync::Arc;

use super::Package;
use crate::modules::package::PackageTree;
use crate::sources::modules::ModuleVersions;

/// Writes a package: a line with the id of the commit, which may be empty, and the tree.
pub(super) fn package(package: &Package) -> Vec<u8> {
    let commit = package.commit.as_deref().unwrap_or_default();
    let tree = package.tree.to_bytes();
    [commit.as_bytes(), b"\n", &tree].concat()
}

/// Reads a package; what was written by another version is none.
pub(super) fn read_package(bytes: &[u8]) -> Option<Package> {
    let at = bytes.iter().position(|b| *b == b'\n')?;
    let commit = std::str::from_utf8(&bytes[..at]).ok()?;
    let tree = PackageTree::from_bytes(&bytes[at + 1..]).ok()?;
    Some(Package {
        tree: Arc::new(tree),
        commit: (!commit.is_empty()).then(|| commit.into()),
    })
}

/// Writes a list of versions, a line each; what is no version begins with `!`.
pub(super) fn versions(versions: &ModuleVersions) -> String {
    let good = versions
        .versions
        .iter()
        .map(|version| format!("{version}\n"));
    let bad = versions
        .unreadable
        .iter()
        .map(|text| format!("!{}\n", text.escape_debug()));
    good.chain(bad).collect()
}

/// Reads a list of versions.
pub(super) fn read_versions(bytes: &[u8]) -> Option<ModuleVersions> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (bad, good): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('!'));
    let mut found = ModuleVersions::read(good.iter().copied());
    found
        .unreadable
        .extend(bad.iter().map(|line| line[1..].to_owned()));
    Some(found)
}
