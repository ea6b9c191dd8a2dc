//! Addresses in sources of units (rules 6).

use std::path::{Path, PathBuf};

use super::surroundings::UnitSurroundings;
use crate::diag::Label;
use crate::version::Version;
use crate::world::clean;

/// Beginnings of addresses that have a short form (rules 6.5).
const SHORT_FORMS: [&str; 3] = ["github.com/", "gitlab.com/", "git@"];

/// The source of the module of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitSource {
    /// The package that is copied or fetched as a whole.
    pub package: UnitPackage,
    /// The directory of the module in it, with slashes, if it is not the top.
    pub subdirectory: Option<String>,
    /// The place of the argument; `None` for a unit without one.
    pub place: Option<Label>,
}

/// A package of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitPackage {
    /// The directory of the unit itself.
    Own,
    /// A directory, or a single file, on this machine; as absolute as the unit's directory is.
    Local(PathBuf),
    /// A package that Terragrunt fetches, by the address as Terragrunt understands it: `git::https://…`.
    Remote(String),
    /// A module of a registry.
    Registry(RegistryPackage),
}

/// A module of a registry, as `tfr://` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryPackage {
    /// The host, the default one if none is written; as written, it may have a port.
    pub host: String,
    /// Namespace, name and system, with slashes.
    pub path: String,
    /// The exact version; without one the newest release counts.
    pub version: Option<String>,
    /// The whole address as Terragrunt shows it.
    pub text: String,
}

/// Parses the source of a unit; `None` means a unit without one (rules 6.2 to 6.9).
///
/// # Errors
/// The reason why the source is not understood.
pub(super) fn understand(
    written: Option<&str>,
    unit_dir: &Path,
    program: &str,
    around: &UnitSurroundings<'_>,
) -> Result<(UnitPackage, Option<String>), String> {
    // These mean the unit itself (rules 6.2).
    let Some(text) = written.filter(|text| !text.is_empty() && *text != ".") else {
        return Ok((UnitPackage::Own, None));
    };
    let (base, subdirectory) = split(text);
    let package = match detect(&base, unit_dir, program, around)? {
        // A path to the unit is the unit itself, with the rules for its cache (rules 9.4).
        UnitPackage::Local(path) if path == clean(unit_dir) => UnitPackage::Own,
        package => package,
    };
    Ok((package, subdirectory))
}

/// Splits `PACKAGE//SUB?QUERY` into the package with its query, and the directory in it.
fn split(text: &str) -> (String, Option<String>) {
    let (text, query) = split_query(text);
    // The `//` of a scheme does not separate the directory.
    let from = text.find("://").map_or(0, |at| at + 3);
    let Some(at) = text[from..].find("//") else {
        return (format!("{text}{query}"), None);
    };
    let (base, below) = (&text[..from + at], &text[from + at + 2..]);
    let parts: Vec<&str> = below
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let subdirectory = (!parts.is_empty()).then(|| parts.join("/"));
    (format!("{base}{query}"), subdirectory)
}

/// Determines the kind of a package from its address (rules 6.5).
fn detect(
    base: &str,
    unit_dir: &Path,
    program: &str,
    around: &UnitSurroundings<'_>,
) -> Result<UnitPackage, String> {
    let (forced, rest) = match base.split_once("::") {
        Some((getter, rest)) if getter.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            (Some(getter), rest)
        }
        _ => (None, base),
    };
    let with_getter = |address: String| match (forced, address.split_once("::")) {
        (Some(getter), Some((_, plain))) => UnitPackage::Remote(format!("{getter}::{plain}")),
        (Some(getter), None) => UnitPackage::Remote(format!("{getter}::{address}")),
        (None, _) => UnitPackage::Remote(address),
    };
    // These are understood without `https://` as well (rules 6.5).
    let rest = rest
        .strip_prefix("https://")
        .or_else(|| rest.strip_prefix("http://"))
        .filter(|plain| SHORT_FORMS.iter().any(|start| plain.starts_with(start)))
        .unwrap_or(rest);
    if let Some((scheme, path)) = rest.split_once("://") {
        return match (forced, scheme) {
            // Without a getter a file URL is a path of this machine (rules 6.5).
            (None, "file") => Ok(UnitPackage::Local(clean(Path::new(split_query(path).0)))),
            (None, "tfr") => registry(rest, path, program, around),
            _ => Ok(with_getter(rest.to_owned())),
        };
    }
    // An address without host has no `//` behind the scheme.
    if forced.is_none()
        && let Some(path) = rest.strip_prefix("tfr:")
    {
        return registry(rest, path, program, around);
    }
    if rest.starts_with("bitbucket.org/") {
        return Err("Terragrunt asks Bitbucket what kind of repository it is".to_owned());
    }
    if let Some(address) = of_known_host(rest) {
        return Ok(with_getter(address));
    }
    let (path, query) = split_query(rest);
    let path = clean(&unit_dir.join(path));
    match forced {
        // Anything else is a path relative to the unit, whose query is ignored (rules 6.7).
        None => Ok(UnitPackage::Local(path)),
        Some(_) => Ok(with_getter(format!("file://{}{query}", path.display()))),
    }
}

/// Completes an address without a scheme by that of its host, if it is a host of repositories or buckets.
fn of_known_host(rest: &str) -> Option<String> {
    if let Some(address) = hosted(rest, "github.com/").or_else(|| hosted(rest, "gitlab.com/")) {
        return Some(address);
    }
    // The short form of SSH addresses (rules 6.5).
    if let Some(host_and_path) = rest.strip_prefix("git@")
        && let Some((host, path)) = host_and_path.split_once(':')
        && !host.contains('/')
    {
        let path = path.trim_start_matches('/');
        return Some(format!("git::ssh://git@{host}/{path}"));
    }
    let (host, _) = rest.split_once('/').unwrap_or((rest, ""));
    if host.ends_with(".amazonaws.com") {
        Some(format!("s3::https://{rest}"))
    } else if rest.starts_with("www.googleapis.com/storage/") {
        Some(format!("gcs::https://{rest}"))
    } else {
        None
    }
}

/// Splits an address before its query, which keeps the question mark.
fn split_query(text: &str) -> (&str, &str) {
    text.split_at(text.find('?').unwrap_or(text.len()))
}

/// Parses an address such as `github.com/OWNER/REPOSITORY`.
fn hosted(text: &str, host: &str) -> Option<String> {
    let rest = text.strip_prefix(host)?;
    let (path, query) = split_query(rest);
    let (owner, rest) = path.split_once('/')?;
    // What follows the repository is kept with its `/`.
    let (repository, further) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let repository = repository.trim_end_matches(".git");
    Some(format!(
        "git::https://{host}{owner}/{repository}.git{further}{query}"
    ))
}

/// Parses `tfr://HOST/NAMESPACE/NAME/SYSTEM?version=VERSION` (rules 6.9).
fn registry(
    whole: &str,
    path: &str,
    program: &str,
    around: &UnitSurroundings<'_>,
) -> Result<UnitPackage, String> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (host, path) = path.split_once('/').unwrap_or((path, ""));
    // Without a host the variable counts, then the default registry of the program (rules 6.9).
    let host = match (host, &around.registry_host) {
        ("", Some(host)) => host.clone(),
        ("", None)
            if Path::new(program)
                .file_stem()
                .is_some_and(|name| name == "tofu") =>
        {
            "registry.opentofu.org".to_owned()
        }
        ("", None) => "registry.terraform.io".to_owned(),
        (host, _) => host.to_owned(),
    };
    // Terragrunt accepts no subdirectory here, only behind `//` (rules 6.6).
    if path.split('/').count() != 3 {
        let reason = "a module of a registry is NAMESPACE/NAME/SYSTEM".to_owned();
        return Err(reason);
    }
    let version = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| *name == "version")
        .map(|(_, version)| version.to_owned());
    if let Some(version) = &version
        // Constraints are not allowed in the address (rules 6.9).
        && version.parse::<Version>().is_err()
    {
        let reason = format!("{version:?} is no exact version");
        return Err(reason);
    }
    Ok(UnitPackage::Registry(RegistryPackage {
        host,
        path: path.to_owned(),
        version,
        text: whole.to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terragrunt::Documents;
    use crate::world::mem::slashed;

    fn shown(package: &UnitPackage) -> String {
        match package {
            UnitPackage::Own => "own".to_owned(),
            UnitPackage::Local(path) => slashed(path),
            // It has paths of this machine.
            UnitPackage::Remote(address) => slashed(address),
            UnitPackage::Registry(module) => format!("{} {}", module.host, module.path),
        }
    }

    #[test]
    fn addresses_are_understood_as_terragrunt_does() {
        let documents = Documents::default();
        let around = UnitSurroundings::new(&documents);
        let github = "git::https://github.com/o/r.git";
        for (written, package, below) in [
            (".//mod", "own", Some("mod")),
            ("../u", "own", None),
            ("../..//a//b?x=1", "/", Some("a/b")),
            ("ns/name/aws", "/r/u/ns/name/aws", None),
            ("file:///m//s", "/m", Some("s")),
            ("https://github.com/o/r//m", github, Some("m")),
            ("github.com/o/r?ref=v1", &format!("{github}?ref=v1"), None),
            (
                "git@h:o/r.git//m?ref=v1",
                "git::ssh://git@h/o/r.git?ref=v1",
                Some("m"),
            ),
            (
                "git::git@h/o/r.git?ref=v1",
                "git::file:///r/u/git@h/o/r.git?ref=v1",
                None,
            ),
            (
                "git::https://h/r.git?ref=a//b",
                "git::https://h/r.git?ref=a//b",
                None,
            ),
            ("hg::https://h/r", "hg::https://h/r", None),
            ("https://h/a.zip//m", "https://h/a.zip", Some("m")),
            (
                "b.s3.amazonaws.com/k.zip",
                "s3::https://b.s3.amazonaws.com/k.zip",
                None,
            ),
            (
                "tfr:///ns/n/s?version=1.0.0",
                "registry.terraform.io ns/n/s",
                None,
            ),
            ("tfr://h:1/ns/n/s//m?version=1.0.0", "h:1 ns/n/s", Some("m")),
        ] {
            let found = understand(Some(written), Path::new("/r/u"), "terraform", &around);
            let found = found.map(|(package, below)| (shown(&package), below));
            let expected = (package.to_owned(), below.map(str::to_owned));
            assert_eq!(found, Ok(expected), "from {written:?}");
        }
    }

    #[test]
    fn what_is_asked_elsewhere_or_refused_is_no_package() {
        let documents = Documents::default();
        let around = UnitSurroundings::new(&documents);
        let understand =
            |text: &str| super::understand(Some(text), Path::new("/r/u"), "tofu", &around);
        for text in [
            "bitbucket.org/o/r",
            "tfr://h/n/s",
            "tfr://h/ns/n/s?version=~>1.0",
        ] {
            assert!(understand(text).is_err(), "{text}");
        }
    }
}
