//! Directories in memory, written down as text: a line `-- NAME --` begins each file.

use std::path::Path;

use lockctl::world::Disk;
use lockctl::world::mem::MemFiles;

/// The most files of an input: more say nothing new.
const MAX_FILES: usize = 8;

/// Reads an input as a directory below `top`; what stands before the first line of a file is `first`.
pub(super) fn files(top: &str, first: &str, data: &[u8]) -> MemFiles {
    put(top, &parts(first, data))
}

/// Puts files below a directory; of two with the same name the second stays.
pub(super) fn put(top: &str, parts: &[(String, Vec<u8>)]) -> MemFiles {
    let files = MemFiles::default();
    let objects = files.objects(Path::new(top));
    for (name, text) in parts {
        objects.put(name, text).expect("memory");
    }
    drop(objects);
    files
}

/// Cuts an input into files, in its order; what stands before the first line of a file is `first`.
pub(super) fn parts(first: &str, data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut parts = vec![(first.to_owned(), Vec::new())];
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        if let Some(name) = file_name(line).filter(|_| parts.len() <= MAX_FILES) {
            parts.push((name.to_owned(), Vec::new()));
        } else if let Some((_, text)) = parts.last_mut() {
            text.extend_from_slice(line);
        }
    }
    parts
}

/// A relative path without odd parts: which names a disk may hold is no question here.
fn file_name(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let name = line.trim_end().strip_prefix("-- ")?.strip_suffix(" --")?;
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && part.len() < 100;
    let has_control = name.chars().any(char::is_control);
    (name.split('/').all(is_plain) && !has_control).then_some(name)
}
