//! Single packages that the user names, and the locked package that each of them is.

use std::path::{Path, PathBuf};

use super::places::is_locked;
use crate::addr::ProviderAddr;
use crate::package::{Local, PackageId};
use crate::platform::Platform;
use crate::sources::filesystem_mirror::packed_name;
use crate::verify::CheckedLock;
use crate::version::Version;

/// A zip or an unpacked directory that the user names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    /// The path as typed, with its form.
    pub place: Local,
    /// The same as an absolute path, whose last parts may name the package.
    pub absolute: PathBuf,
}

/// The package that a single one is to a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// One of a locked version.
    Locked(PackageId),
    /// One of these locked versions, as far as its name shows; at least two.
    Ambiguous(Vec<PackageId>),
    /// Its path or its name says a provider or version that is not locked: this one.
    NotLocked(String),
    /// Neither path nor name identify it, so the hash has to.
    Unknown,
}

/// Identifies a package: by a path as in a mirror, else by the name of a zip.
pub(super) fn identify(single: &Single, subject: CheckedLock<'_>) -> Identity {
    let lock = &subject.document.lock;
    if let Some(id) = by_path(single, subject) {
        return if is_locked(lock, &id) {
            Identity::Locked(id)
        } else {
            Identity::NotLocked(id.to_string())
        };
    }
    let Some((type_name, version, platform)) = by_name(&single.place) else {
        return Identity::Unknown;
    };
    // The name of a zip has no namespace, so that several entries may fit.
    let mut ids: Vec<PackageId> = lock
        .providers
        .iter()
        .filter(|(provider, entry)| {
            provider.type_name().eq_ignore_ascii_case(&type_name) && entry.version == version
        })
        .map(|(provider, _)| PackageId {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
        })
        .collect();
    match ids.len() {
        0 => Identity::NotLocked(format!("{type_name} {version} for {platform}")),
        1 => Identity::Locked(ids.remove(0)),
        _ => Identity::Ambiguous(ids),
    }
}

/// Reads `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH`, or the path of a zip in a packed mirror.
fn by_path(single: &Single, subject: CheckedLock<'_>) -> Option<PackageId> {
    let parts: Vec<&str> = single
        .absolute
        .iter()
        .map(|part| part.to_str().unwrap_or_default())
        .collect();
    let provider = |parts: &[&str]| ProviderAddr::parse(&parts.join("/"), subject.flavor).ok();
    match &single.place {
        Local::Directory(_) => {
            let [.., host, namespace, type_name, version, platform] = parts.as_slice() else {
                return None;
            };
            Some(PackageId {
                provider: provider(&[host, namespace, type_name])?,
                // A directory `1.0` holds version 1.0.0 (`sources` rules 7.3).
                version: version.parse().ok()?,
                platform: platform.parse().ok()?,
            })
        }
        Local::Archive(_) => {
            let [.., host, namespace, type_name, name] = parts.as_slice() else {
                return None;
            };
            // A host has a dot or a port, else any three directories would be an address.
            let provider =
                provider(&[host, namespace, type_name]).filter(|_| host.contains(['.', ':']))?;
            let (version, platform) = packed_name(name, provider.type_name())?;
            Some(PackageId {
                provider,
                version,
                platform,
            })
        }
    }
}

/// Reads the name of a zip, `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
fn by_name(place: &Local) -> Option<(String, Version, Platform)> {
    let Local::Archive(path) = place else {
        return None;
    };
    // The programs match names of zips in lower case, too (`sources` rules 7.2).
    let name = path.file_name()?.to_str()?.to_lowercase();
    let (type_name, _) = name.strip_prefix("terraform-provider-")?.split_once('_')?;
    let (version, platform) = packed_name(&name, type_name)?;
    Some((type_name.to_owned(), version, platform))
}

impl Single {
    /// Returns the path as typed.
    pub(super) fn path(&self) -> &Path {
        self.place.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Texts;
    use crate::flavor::Flavor;
    use crate::lockfile;
    use crate::verify::Advice;

    const LOCK: &str = "provider \"example.com/t/x\" {\n  version = \"1.0.0\"\n}\n\
                        provider \"other.example/t/x\" {\n  version = \"1.0.0\"\n}\n\
                        provider \"example.com/t/y\" {\n  version = \"2.0.0\"\n}\n";

    #[track_caller]
    fn check(place: Local, want: &str) {
        let flavor = Flavor::Terraform1_11;
        let file = Texts::default().add("", Vec::new());
        let (document, problems) = lockfile::parse(file, LOCK.as_bytes(), flavor);
        assert!(problems.is_empty(), "{problems:?}");
        let advice = Advice::here();
        let subject = CheckedLock {
            document: &document,
            file,
            flavor,
            requirements: None,
            advice: &advice,
        };
        let absolute = Path::new("/w").join(place.path());
        let found = match identify(&Single { place, absolute }, subject) {
            Identity::Locked(id) => id.to_string(),
            Identity::Ambiguous(ids) => format!("one of {}", ids.len()),
            Identity::NotLocked(what) => format!("not locked: {what}"),
            Identity::Unknown => "unknown".to_owned(),
        };
        assert_eq!(found, want);
    }

    #[test]
    fn a_package_is_known_by_its_path_or_its_name() {
        let zip = |path: &str| Local::Archive(path.into());
        let dir = |path: &str| Local::Directory(path.into());
        let x = "example.com/t/x 1.0.0 for linux_amd64";
        check(dir("m/example.com/t/x/1.0.0/linux_amd64"), x);
        check(
            zip("example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip"),
            x,
        );
        check(
            zip("a/b/c/terraform-provider-y_2.0.0_linux_amd64.zip"),
            "example.com/t/y 2.0.0 for linux_amd64",
        );
        check(
            zip("Terraform-Provider-X_1.0.0_linux_amd64.ZIP"),
            "one of 2",
        );
        check(
            zip("terraform-provider-y_1.0.0_linux_amd64.zip"),
            "not locked: y 1.0.0 for linux_amd64",
        );
        check(
            dir("example.com/t/x/3.0.0/linux_amd64"),
            "not locked: example.com/t/x 3.0.0 for linux_amd64",
        );
        check(zip("package.zip"), "unknown");
        check(zip("terraform-provider-x.zip"), "unknown");
        check(dir("unpacked"), "unknown");
        check(dir("a/b/c/d/e"), "unknown");
    }
}
