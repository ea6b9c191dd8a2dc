//! The files that differ between two packages, and those whose removal would make a package right.

use std::collections::BTreeMap;
use std::fmt;

use crate::archive::FileDigest;
use crate::hash::{Digest, Hash, Hashes, h1_of_digests};

/// Maximum number of files of a kind that are named; the rest is counted.
const MAX_NAMED: usize = 5;

/// Maximum number of files for trying every subset: 4,096 subsets are hashed in milliseconds, and most packages
/// have fewer files.
const MAX_FILES_FOR_SUBSETS: usize = 12;

/// The differences of a package from one that is right; names are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Files of both, with other content.
    pub(super) changed: Vec<Box<[u8]>>,
    /// Files that only the right one has.
    pub(super) missing: Vec<Box<[u8]>>,
    /// Files that the right one does not have.
    pub(super) stray: Vec<Box<[u8]>>,
}

impl Differences {
    /// Compares the files of a package with those of one that is right: digests by name.
    pub(super) fn between<'f>(
        files: impl Iterator<Item = (&'f [u8], Digest)>,
        right: impl Iterator<Item = (&'f [u8], Digest)>,
    ) -> Self {
        let (files, right) = (BTreeMap::from_iter(files), BTreeMap::from_iter(right));
        let mut differences = Self::default();
        for (name, digest) in &files {
            match right.get(name) {
                None => differences.stray.push((*name).into()),
                Some(right_digest) if right_digest != digest => {
                    differences.changed.push((*name).into());
                }
                Some(_) => {}
            }
        }
        differences.missing = right
            .into_keys()
            .filter(|name| !files.contains_key(name))
            .map(Into::into)
            .collect();
        differences
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty() && self.stray.is_empty()
    }

    /// Returns true if files were added, and nothing else was changed.
    pub(super) fn is_stray_only(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty() && !self.stray.is_empty()
    }
}

impl fmt::Display for Differences {
    /// Writes a line for each kind, indented.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            ("changed", &self.changed),
            ("missing", &self.missing),
            ("stray", &self.stray),
        ];
        let lines: Vec<String> = kinds
            .iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(kind, names)| format!("  {kind}: {}", named(names)))
            .collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Names a few files and counts the rest.
pub(super) fn named(names: &[Box<[u8]>]) -> String {
    let shown: Vec<_> = names
        .iter()
        .take(MAX_NAMED)
        .map(|name| String::from_utf8_lossy(name))
        .collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Finds the files without which a package would be one that is recorded: they were added to it, which the
/// recorded hash proves without any other copy. Empty if there is no such set, or if there are too many sets to
/// try: of many files only each by itself is left out.
///
/// Fewer files are tried before more, and at least one is kept.
pub(super) fn strays(files: &[FileDigest], recorded: &Hashes) -> Vec<Box<[u8]>> {
    let count = files.len();
    // Too many subsets to try, so each file is left out only by itself.
    if count > MAX_FILES_FOR_SUBSETS {
        return (0..count)
            .find(|stray| is_recorded_without(files, recorded, |index| index == *stray))
            .map_or(Vec::new(), |stray| vec![files[stray].name.clone()]);
    }
    // Each bit of a subset is a file that is left out; the last subset would leave out all.
    let mut subsets: Vec<u32> = (1..(1 << count)).collect();
    subsets.pop();
    // The likely case first: few files were added.
    subsets.sort_by_key(|subset: &u32| subset.count_ones());
    for subset in subsets {
        let is_stray = |index: usize| subset >> index & 1 == 1;
        if is_recorded_without(files, recorded, is_stray) {
            return (0..count)
                .filter(|index| is_stray(*index))
                .map(|index| files[index].name.clone())
                .collect();
        }
    }
    Vec::new()
}

fn is_recorded_without(
    files: &[FileDigest],
    recorded: &Hashes,
    is_stray: impl Fn(usize) -> bool,
) -> bool {
    let kept = files
        .iter()
        .enumerate()
        .filter(|(index, _)| !is_stray(*index))
        .map(|(_, file)| (&*file.name, file.digest));
    h1_of_digests(kept).is_ok_and(|hash: Hash| recorded.contains(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::sha256;

    fn files(texts: &[(&str, &str)]) -> Vec<FileDigest> {
        let mut files: Vec<FileDigest> = texts
            .iter()
            .map(|(name, content)| FileDigest {
                name: name.as_bytes().into(),
                size: content.len() as u64,
                digest: sha256(content.as_bytes()),
            })
            .collect();
        files.sort_by(|a, b| a.name.cmp(&b.name));
        files
    }

    fn hashes(texts: &[(&str, &str)]) -> Hashes {
        let files = files(texts);
        let digests = files.iter().map(|file| (&*file.name, file.digest));
        std::iter::once(h1_of_digests(digests).expect("no line feed")).collect()
    }

    #[track_caller]
    fn check(found: &[(&str, &str)], right: &[(&str, &str)], want: &str) {
        let (found, right) = (files(found), files(right));
        let found = found.iter().map(|file| (&*file.name, file.digest));
        let right = right.iter().map(|file| (&*file.name, file.digest));
        let differences = Differences::between(found, right);
        assert_eq!(differences.to_string(), want);
        assert_eq!(differences.is_empty(), want.is_empty());
    }

    #[test]
    fn files_are_changed_missing_or_stray() {
        check(&[], &[], "");
        check(&[("a", "1"), ("b", "2")], &[("a", "1"), ("b", "2")], "");
        check(
            &[("a", "1"), ("c", "3"), ("d", "4")],
            &[("b", "2"), ("c", "x"), ("d", "4"), ("e", "5")],
            "  changed: c\n  missing: b, e\n  stray: a",
        );
        check(&[("a/b", "1")], &[("a", "1")], "  missing: a\n  stray: a/b");
    }

    #[test]
    fn a_few_files_are_named_and_the_rest_is_counted() {
        let names: Vec<String> = (10..20).map(|n| format!("f{n}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "")).collect();
        check(&many, &[], "  stray: f10, f11, f12, f13, f14 and 5 more");
    }

    #[track_caller]
    fn check_strays(found: &[(&str, &str)], right: &[(&str, &str)], want: &[&str]) {
        let found = strays(&files(found), &hashes(right));
        let found: Vec<String> = found
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        assert_eq!(found, want);
    }

    #[test]
    fn what_was_added_is_found_without_another_copy() {
        let right = [("LICENSE", "l"), ("terraform-provider-x", "x")];
        let with = |more: &[(&'static str, &'static str)]| [&right[..], more].concat();
        check_strays(&with(&[(".DS_Store", "d")]), &right, &[".DS_Store"]);
        check_strays(&with(&[("b", "2"), ("a", "1")]), &right, &["a", "b"]);
        // Nothing is added, something is changed, or something is missing.
        check_strays(&right, &right, &[]);
        check_strays(&[("LICENSE", "m"), right[1], ("a", "")], &right, &[]);
        check_strays(&[("a", ""), right[1]], &right, &[]);
        // No file at all would be a hash, too.
        check_strays(&[("a", "")], &[], &[]);

        let names: Vec<String> = (0..400).map(|n| format!("f{n}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "")).collect();
        let more = [&many[..], &[("stray", "s")]].concat();
        check_strays(&more, &many, &["stray"]);
    }
}
