//! The paths that the user names: single packages, or directories full of them.

use std::io;
use std::path::{Path, PathBuf};

use super::named::Single;
use super::places::{Absence, PackagePlace};
use crate::archive::has_any_executable;
use crate::flavor::{Flavor, Program};
use crate::package::Local;
use crate::platform::Platform;
use crate::sources::SourceError;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::verify::PackageOrigin;
use crate::version::Version;
use crate::world::{FileKind, Files, clean};

/// The packages that the user names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPackages {
    /// Directories laid out as mirrors.
    pub places: Vec<PackagePlace>,
    /// Zips and unpacked directories.
    pub singles: Vec<Single>,
}

/// A reason why a path that the user names holds no package.
#[derive(Debug, thiserror::Error)]
pub enum NamedError {
    /// The path cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The path as typed.
        path: PathBuf,
        /// The failure of the file system.
        #[source]
        cause: io::Error,
    },
    /// A directory cannot be scanned as a mirror.
    #[error(transparent)]
    Mirror(SourceError),
    /// A directory holds neither a package nor a mirror.
    #[error("there is no package in {}", path.display())]
    NoPackage {
        /// The directory as typed.
        path: PathBuf,
    },
}

impl NamedPackages {
    /// Adds the packages that a path leads to: a zip, an unpacked package, a directory full of zips, or one laid
    /// out as a mirror. A relative path is one from `current` on.
    ///
    /// # Errors
    /// If the path leads to none of these.
    pub fn add(
        &mut self,
        files: &dyn Files,
        current: &Path,
        path: &Path,
    ) -> Result<(), NamedError> {
        let unreadable = |cause| NamedError::Unreadable {
            path: path.to_owned(),
            cause,
        };
        let single = |place: Local| {
            let absolute = clean(&current.join(place.path()));
            Single { place, absolute }
        };
        if files.kind(path).map_err(unreadable)? != FileKind::Directory {
            self.singles.push(single(Local::Archive(path.to_owned())));
            return Ok(());
        }
        let entries = files.list(path).map_err(unreadable)?;
        let names: Vec<&str> = entries
            .iter()
            .filter_map(|entry| entry.name.to_str())
            .collect();
        let is_zip =
            |name: &&&str| name.starts_with("terraform-provider-") && name.ends_with(".zip");
        let zips: Vec<&&str> = names.iter().filter(is_zip).collect();
        let directory = single(Local::Directory(path.to_owned()));
        // An unpacked package without an executable is still one where a mirror would have it.
        let mut last = directory.absolute.iter().rev();
        let mut last = || last.next()?.to_str();
        let lies_as_in_mirror = last().is_some_and(|text| text.parse::<Platform>().is_ok())
            && last().is_some_and(|text| text.parse::<Version>().is_ok());
        let is_package =
            lies_as_in_mirror || has_any_executable(names.iter().map(|name| name.as_bytes()));
        if !zips.is_empty() {
            self.singles.extend(
                zips.into_iter()
                    .map(|name| single(Local::Archive(path.join(name)))),
            );
        } else if is_package {
            self.singles.push(directory);
        } else {
            // Any flavor will do: flavors differ in the packages that they accept, not in those that are there.
            let flavor = Flavor::newest(Program::Terraform);
            let mirror = FilesystemMirror::scan(files, path, flavor).map_err(NamedError::Mirror)?;
            if mirror.providers().next().is_none() && mirror.unreachable().is_empty() {
                return Err(NamedError::NoPackage {
                    path: path.to_owned(),
                });
            }
            let dir = path.to_owned();
            let place = PackagePlace::new(PackageOrigin::Named, dir, Absence::Failure);
            self.places.push(place);
        }
        Ok(())
    }
}
