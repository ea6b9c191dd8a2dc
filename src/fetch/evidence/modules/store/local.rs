//! Packages on this machine, which only the author of the configuration may name.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure;
use super::web::{WantedChecksum, archive_arguments, check, single_file};
use super::{ModulePackage, ModuleStore};
use crate::addr::module::Query;
use crate::flavor::Flavor;
use crate::modules::archive::{MAX_ARCHIVE_BYTES, NamedArchive, read_archive};
use crate::modules::package::{FileContent, PackageBuilder, PackageTree, is_kept};
use crate::remote_module::ModuleFailure;
use crate::world::FileKind;

/// Directories that belong to a program, not to a module: they are not read.
const LEFT_OUT: [&str; 2] = [".git", ".terraform"];

/// The longest file whose content is looked at, in bytes: longer ones are never kept.
const MAX_READ_BYTES: u64 = 16 << 20;

impl ModuleStore<'_> {
    /// Reads a package from the disk; `rest` is a URL with the scheme `file` (rules 8.5).
    pub(super) fn read_disk(
        &self,
        rest: &str,
        flavor: Flavor,
    ) -> Result<ModulePackage, ModuleFailure> {
        let (_, path) = rest.split_once(':').unwrap_or(("", rest));
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        // The programs take `?archive=` and `?checksum=` for files on disk, too (rules 8.5).
        let mut query = Query::parse_readable(query);
        let (archive, checksum) = archive_arguments(&mut query, path, flavor)?;
        let path = local_path(path);
        if !path.is_absolute() {
            let cause = "a path behind file: must be absolute; a local path starts with ./ or ../";
            return Err(failure::missing(cause));
        }
        let unreadable = |error: io::Error| {
            failure::missing(format!("{} cannot be read: {error}", path.display()))
        };
        let mut place = None;
        let tree = match archive {
            Some(NamedArchive::SingleFile) => return Err(single_file()),
            Some(NamedArchive::Archive(kind)) => {
                let mut scratch = self.world.disk.scratch().map_err(unreadable)?;
                let bytes = self
                    .world
                    .disk
                    .read(&path, MAX_ARCHIVE_BYTES)
                    .map_err(unreadable)?;
                scratch.write_all(&bytes).map_err(unreadable)?;
                let wanted = match checksum {
                    Some(WantedChecksum::Stated(checksum)) => Some(checksum),
                    // Lists are taken over http and https only (`sources` rules 13.3).
                    Some(WantedChecksum::Listed(_)) => {
                        let cause = "a list of checksums is supported for URLs only";
                        return Err(failure::missing(cause));
                    }
                    None => None,
                };
                check(&mut scratch, wanted.as_ref(), &path.display().to_string())?;
                read_archive(kind, scratch).map_err(|error| failure::package(&error))?
            }
            None => {
                place = self.world.disk.resolve(&path).ok().map(Arc::from);
                self.directory(&path)?
            }
        };
        Ok(ModulePackage {
            place,
            ..ModulePackage::of(tree)
        })
    }

    /// Reads a directory as a package.
    fn directory(&self, top: &Path) -> Result<PackageTree, ModuleFailure> {
        let unreadable = |path: &Path, error: &io::Error| {
            failure::missing(format!("{} cannot be read: {error}", path.display()))
        };
        match self.world.disk.kind(top) {
            Ok(FileKind::Directory) => {}
            Ok(_) => {
                let cause = format!("{} is no directory, and no archive", top.display());
                return Err(failure::missing(cause));
            }
            Err(error) => return Err(unreadable(top, &error)),
        }
        let mut builder = PackageBuilder::new();
        // A stack instead of recursion: a directory tree may be as deep as the file system allows.
        let mut open = vec![PathBuf::new()];
        while let Some(dir) = open.pop() {
            let here = top.join(&dir);
            let entries = self
                .world
                .disk
                .list(&here)
                .map_err(|error| unreadable(&here, &error))?;
            for entry in entries {
                let (path, place) = (dir.join(&entry.name), here.join(&entry.name));
                let name = path.as_os_str().as_encoded_bytes().to_vec();
                let put = match entry.kind {
                    FileKind::Directory => {
                        if LEFT_OUT.iter().all(|name| entry.name != *name) {
                            open.push(path);
                        }
                        builder.directory(&name)
                    }
                    FileKind::Symlink => match self.world.disk.link(&place) {
                        Ok(Some(target)) => {
                            builder.link(&name, target.as_os_str().as_encoded_bytes())
                        }
                        Ok(None) => Ok(()),
                        Err(error) => return Err(unreadable(&place, &error)),
                    },
                    FileKind::File => {
                        let content = match self.world.disk.read(&place, MAX_READ_BYTES) {
                            Ok(bytes) if is_kept(&name, bytes.len() as u64) => {
                                FileContent::Kept(bytes.into())
                            }
                            Ok(bytes) => FileContent::of_passed(&bytes),
                            // A file that no configuration refers to must not fail the module; to read it is an
                            // error then.
                            Err(_) => FileContent::Passed(MAX_READ_BYTES, None),
                        };
                        builder.file(&name, content)
                    }
                    // Nothing reads a FIFO or a device.
                    FileKind::Other => Ok(()),
                };
                put.map_err(|error| failure::package(&error))?;
            }
        }
        Ok(builder.finish())
    }
}

/// Returns the path that a URL of the scheme `file` means: `//./p` and `///p` are both `/p`.
fn local_path(text: &str) -> PathBuf {
    let rest = text.strip_prefix("//").unwrap_or(text);
    let path = match rest.split_once('/') {
        // A host in the address does not count.
        Some((_, path)) if text.starts_with("//") => format!("/{path}"),
        _ => rest.to_owned(),
    };
    // The library of the programs decodes percent escapes in a path. Unlike in a query, `+`, `&` and `;` have
    // no meaning there.
    let escaped = path
        .replace('+', "%2B")
        .replace('&', "%26")
        .replace(';', "%3B");
    let decoded = Query::parse(&format!("p={escaped}"))
        .ok()
        .and_then(|query| query.get("p").map(PathBuf::from));
    decoded.unwrap_or_else(|| PathBuf::from(path))
}
