//! Git submodules that are not checked out: directories that hold nothing, though the repository has
//! something there.

use std::io::ErrorKind;
use std::path::{Component, Path};

use crate::world::Files;

use super::locate::ProjectPlace;

/// The file at the top of a repository that lists its submodules.
const FILE_NAME: &str = ".gitmodules";

/// Maximum size of the file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Length in bytes of a path that is too long for every system.
const MAX_PATH_BYTES: usize = 4096;

/// Lists the submodules of a repository that are not checked out; none if the list cannot be read.
#[must_use]
pub fn missing(files: &dyn Files, top: &ProjectPlace) -> Vec<ProjectPlace> {
    let Ok(bytes) = files.read(&top.file(FILE_NAME), MAX_FILE_BYTES) else {
        return Vec::new();
    };
    // `path` is written by `git submodule add` on a line of its own; other forms of git's configuration
    // (continued lines, escapes) only make a submodule look like a missing directory.
    String::from_utf8_lossy(&bytes)
        .lines()
        .filter_map(path)
        .filter_map(|path| {
            Path::new(path)
                .components()
                .try_fold(top.clone(), |place, part| match part {
                    Component::Normal(name) => Some(place.child(name)),
                    Component::CurDir => Some(place),
                    // A path that leads out of the repository was not written by git.
                    _ => None,
                })
        })
        .filter(|place| is_empty(files, place))
        .collect()
}

/// Reads a line `path = PATH`.
fn path(line: &str) -> Option<&str> {
    let (name, value) = line.split_once('=')?;
    let value = value.trim().trim_matches('"');
    let is_path = !value.is_empty() && value.len() < MAX_PATH_BYTES;
    (name.trim() == "path" && is_path).then_some(value)
}

fn is_empty(files: &dyn Files, place: &ProjectPlace) -> bool {
    // git leaves an empty directory for a submodule that is not checked out; it may have been removed.
    match files.list(place.shown()) {
        Ok(entries) => entries.is_empty(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemFiles, slashed};

    #[test]
    fn submodules_without_files_are_missing() {
        let list = "[submodule \"a\"]\n\tpath = mods/a\n\turl = https://example.com/a.git\n\
                    [submodule \"b\"]\n\tpath = \"mods/b\"\n[submodule \"c\"]\n\tpath = ../c\n\
                    [submodule \"d\"]\n\tpath=\n\tpathology = x\n";
        let files = MemFiles::with(&[(".gitmodules", list), ("mods/a/main.tf", "")]);
        let top = ProjectPlace::new(Path::new("."), Path::new("/"));
        let missing = missing(&files, &top);
        let shown: Vec<String> = missing.iter().map(|place| slashed(place.shown())).collect();
        assert_eq!(shown, ["mods/b"]);
    }
}
