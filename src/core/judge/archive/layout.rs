//! Computes the files that the entries of a zip become when they are unpacked (rules 3).
//!
//! Pure: names in, paths out. The rules are those of Unix; that Windows takes `\` for a separator when it
//! unpacks is not reproduced, because a lock is shared by all systems.

use std::collections::{BTreeMap, BTreeSet};

use super::central::{EntryKind, ZipEntry};
use super::{ArchiveError, EntryFault};

/// The longest part of a path that common file systems take, in bytes.
const MAX_PART_BYTES: usize = 255;

/// The longest path that Linux takes, in bytes, with the NUL behind it.
const MAX_PATH_BYTES: usize = 4096;

/// Returns the files by their paths below the package, each with the number of the entry whose
/// content it ends up with: the last one of that path.
pub(super) fn unpacked_files(
    entries: &[ZipEntry],
) -> Result<BTreeMap<Box<[u8]>, usize>, ArchiveError> {
    let mut files = BTreeMap::new();
    let mut directories = BTreeSet::new();
    for (number, entry) in entries.iter().enumerate() {
        let path = clean(&entry.name)?;
        if entry.kind == EntryKind::Directory {
            directories.insert(path);
        } else if path.is_empty() {
            return Err(EntryFault::NameUnusable.of(&entry.name));
        } else {
            // Of entries that become one file the last counts (rules 3.2).
            files.insert(path, number);
        }
    }
    for path in files.keys() {
        let inside: Box<[u8]> = [path, &b"/"[..]].concat().into();
        let next_file = files.range(inside.clone()..).next().map(|(next, _)| next);
        let next_directory = directories.range(inside.clone()..).next();
        // The programs fail to unpack such a zip, with the entries in either order.
        if directories.contains(path)
            || next_file.is_some_and(|next| next.starts_with(&inside))
            || next_directory.is_some_and(|next| next.starts_with(&inside))
        {
            return Err(EntryFault::FileAndDirectory.of(path));
        }
    }
    Ok(files)
}

/// Joins the parts of a name that count: empty ones and `.` vanish, `..` refuses the package.
pub(super) fn clean(name: &[u8]) -> Result<Box<[u8]>, ArchiveError> {
    // The programs take a backslash for a separator here, on every system.
    if name
        .split(|byte| matches!(byte, b'/' | b'\\'))
        .any(|part| part == b"..")
    {
        return Err(EntryFault::ParentInName.of(name));
    }
    if name.contains(&0) {
        return Err(EntryFault::NameUnusable.of(name));
    }
    let parts: Vec<&[u8]> = name
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
        .collect();
    let path = parts.join(&b'/');
    // The programs fail when they create the file (rules 5.2).
    if parts.iter().any(|part| part.len() > MAX_PART_BYTES) || path.len() >= MAX_PATH_BYTES {
        return Err(EntryFault::NameTooLong.of(name));
    }
    Ok(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: EntryKind) -> ZipEntry {
        ZipEntry {
            name: name.as_bytes().into(),
            kind,
            method: 0,
            flags: 0,
            crc: 0,
            packed: 0,
            size: 0,
            header_start: 0,
            executable: 0,
        }
    }

    /// Names that end in `/` are directories, all others files.
    #[track_caller]
    fn check(names: &[&str], expected: &str) {
        let entries: Vec<ZipEntry> = names
            .iter()
            .map(|name| match name.strip_suffix('/') {
                Some(_) => entry(name, EntryKind::Directory),
                None => entry(name, EntryKind::File),
            })
            .collect();
        let found = match unpacked_files(&entries) {
            Ok(files) => files
                .iter()
                .map(|(path, number)| format!("{}={number}", String::from_utf8_lossy(path)))
                .collect::<Vec<_>>()
                .join(" "),
            Err(e) => e.to_string(),
        };
        assert_eq!(found, expected, "of {names:?}");
    }

    #[test]
    fn names_are_cleaned_and_the_last_one_wins() {
        check(&["a", "b/c"], "a=0 b/c=1");
        check(
            &["./a", "/b", "c//d", "e/.", "f/./g"],
            "a=0 b=1 c/d=2 e=3 f/g=4",
        );
        check(&["a", "b", "./a"], "a=2 b=1");
        check(
            &["a..b", "...", "c\\d", "C:/x"],
            "...=1 C:/x=3 a..b=0 c\\d=2",
        );
    }

    #[test]
    fn directories_do_not_count() {
        check(&["/", "./", "a/", "a/b", "a//"], "a/b=3");
    }

    #[test]
    fn a_parent_refuses_the_package() {
        check(&["d/../a"], "the entry \"d/../a\" has a path part \"..\"");
        check(
            &["d\\..\\a"],
            "the entry \"d\\\\..\\\\a\" has a path part \"..\"",
        );
        check(&["a/../"], "the entry \"a/../\" has a path part \"..\"");
    }

    #[test]
    fn a_file_needs_a_name() {
        for name in ["", ".", "a\0b", "a\0b/"] {
            let message = format!("the entry {name:?} cannot be unpacked under that name");
            check(&[name], &message);
        }
    }

    #[test]
    fn nothing_is_a_file_and_a_directory() {
        let message = "the entry \"a\" is a file and a directory in the same zip";
        for names in [
            ["a", "a/b"],
            ["a/b", "a"],
            ["a/", "a"],
            ["a", "./a/"],
            ["a", "a/b/"],
        ] {
            check(&names, message);
        }
        check(&["a", "a-b", "a.b/c", "ab/"], "a=0 a-b=1 a.b/c=2");
    }

    #[test]
    fn names_fit_into_file_systems() {
        let part = "n".repeat(255);
        check(&[&part], &format!("{part}=0"));
        let longer = "n".repeat(256);
        check(
            &[&longer],
            &format!("the entry {longer:?} has a name that is too long for a file"),
        );
        let path = format!("{}/{}", vec![part.as_str(); 15].join("/"), "n".repeat(255));
        assert_eq!(path.len(), MAX_PATH_BYTES - 1);
        check(&[&path], &format!("{path}=0"));
        let path = format!("{path}/n");
        check(
            &[&path],
            &format!("the entry {path:?} has a name that is too long for a file"),
        );
    }
}
