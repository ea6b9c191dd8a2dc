//! Encodes answers for the cache.

use super::ModulePackage;
use crate::modules::package::PackageTree;
use crate::sources::modules::ModuleVersions;

/// An answer about a package in the cache.
pub(super) enum KeptPackage {
    Here(ModulePackage),
    /// The cache key of an answer with the same files.
    Elsewhere(String),
}

/// First bytes, behind the line of the commit, of an answer that only names another question.
const ELSEWHERE: &[u8] = b"@";

/// Writes a package: a line with the id of the commit, which may be empty, and the tree or the question under
/// which it is kept already.
pub(super) fn package(package: &ModulePackage) -> Vec<u8> {
    let commit = package.commit.as_deref().unwrap_or_default();
    // Several versions of a registry may name one commit: its files are kept once (rules 8.7).
    let rest = match &package.kept_as {
        Some(question) => [ELSEWHERE, question.as_bytes()].concat(),
        None => package.tree.to_bytes(),
    };
    [commit.as_bytes(), b"\n", &rest].concat()
}

/// Reads a package that is kept as the answer to a question; `None` for one of another version of the format.
pub(super) fn read_package(bytes: &[u8], question: &str) -> Option<KeptPackage> {
    let at = bytes.iter().position(|b| *b == b'\n')?;
    let (commit, rest) = (std::str::from_utf8(&bytes[..at]).ok()?, &bytes[at + 1..]);
    if let Some(question) = rest.strip_prefix(ELSEWHERE) {
        let question = std::str::from_utf8(question).ok()?;
        return Some(KeptPackage::Elsewhere(question.to_owned()));
    }
    Some(KeptPackage::Here(ModulePackage {
        commit: (!commit.is_empty()).then(|| commit.into()),
        kept_as: Some(question.into()),
        ..ModulePackage::of(PackageTree::from_bytes(rest).ok()?)
    }))
}

/// Writes a list of versions, a line each; a text that is no version has a `!` before it.
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
    let mut versions = ModuleVersions::read(good);
    versions
        .unreadable
        .extend(bad.iter().map(|line| line[1..].to_owned()));
    Some(versions)
}
