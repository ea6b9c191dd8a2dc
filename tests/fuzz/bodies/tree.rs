//! Directories in memory, written down as text: a line `-- NAME --` begins each file.

use std::path::Path;

use lockctl::world::Disk;
use lockctl::world::mem::MemFiles;

/// The most files of an input: more say nothing new.
const MAX_FILES: usize = 8;

/// Reads an input as a directory below `top`; what stands before the first line of a file is `first`.
pub(super) fn files(top: &str, first: &str, data: &[u8]) -> MemFiles {
    let files = MemFiles::default();
    let objects = files.objects(Path::new(top));
    let mut name = first.to_owned();
    let mut text: Vec<u8> = Vec::new();
    let mut count = 0;
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        if let Some(next) = file_name(line).filter(|_| count < MAX_FILES) {
            objects.put(&name, &text).expect("memory");
            name = next.to_owned();
            text.clear();
            count += 1;
        } else {
            text.extend_from_slice(line);
        }
    }
    objects.put(&name, &text).expect("memory");
    drop(objects);
    files
}

/// A relative path without odd parts: which names a disk may hold is no question here.
fn file_name(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let name = line.trim_end().strip_prefix("-- ")?.strip_suffix(" --")?;
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && part.len() < 100;
    let has_control = name.chars().any(char::is_control);
    (name.split('/').all(is_plain) && !has_control).then_some(name)
}
