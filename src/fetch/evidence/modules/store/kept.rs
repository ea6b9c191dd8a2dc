//! Encodes answers for the cache.

use super::ModulePackage;
use crate::addr::module::RemoteModule;
use crate::modules::package::PackageTree;
use crate::sources::modules::{DirectToken, ModuleLocation, ModuleVersions};

/// Writes a package: a line with the id of the commit, which may be empty, and the tree.
pub(super) fn package(package: &ModulePackage) -> Vec<u8> {
    let commit = package.commit.as_deref().unwrap_or_default();
    [commit.as_bytes(), b"\n", &package.tree.to_bytes()].concat()
}

/// Reads a package; `None` for one of another version of the format.
pub(super) fn read_package(bytes: &[u8]) -> Option<ModulePackage> {
    let at = bytes.iter().position(|b| *b == b'\n')?;
    let (commit, rest) = (std::str::from_utf8(&bytes[..at]).ok()?, &bytes[at + 1..]);
    Some(ModulePackage {
        commit: (!commit.is_empty()).then(|| commit.into()),
        ..ModulePackage::of(PackageTree::from_bytes(rest)?)
    })
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

/// Writes a location, unless it may hold a secret: such URLs end soon as well.
pub(super) fn location(location: &ModuleLocation) -> Option<String> {
    let address = location.address();
    let word = match location {
        ModuleLocation::Source(_) => "source",
        ModuleLocation::Direct { token, .. } => match token {
            DirectToken::Sent => "direct-with-token",
            DirectToken::Withheld => "direct",
        },
    };
    (address.shown() == address.to_string()).then(|| format!("{word} {address}"))
}

/// Reads a location; `None` for any other text.
pub(super) fn read_location(bytes: &[u8]) -> Option<ModuleLocation> {
    let (word, address) = std::str::from_utf8(bytes).ok()?.split_once(' ')?;
    let token = match word {
        "source" => {
            return RemoteModule::parse(address)
                .ok()
                .map(ModuleLocation::Source);
        }
        "direct-with-token" => DirectToken::Sent,
        "direct" => DirectToken::Withheld,
        _ => return None,
    };
    let url = address.parse().ok()?;
    Some(ModuleLocation::Direct { url, token })
}
