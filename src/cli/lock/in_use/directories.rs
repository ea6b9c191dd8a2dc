//! Directories that stand for many roots.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns directories that have all wanted roots and no other one in them, as few as possible and
/// sorted; `None` if there are no such directories.
///
/// They are `tops`, or below these. All paths start from the same place.
pub(super) fn holding_only(
    tops: &[PathBuf],
    wanted: &BTreeSet<&Path>,
    others: &[&Path],
) -> Option<Vec<PathBuf>> {
    let mut above_others = BTreeSet::new();
    for root in others {
        above_others.extend(plain(root).ancestors());
    }
    let mut dirs = BTreeSet::new();
    for root in wanted {
        let root = plain(root);
        let top = tops
            .iter()
            .map(|top| plain(top))
            .filter(|top| root.starts_with(top))
            .min()?;
        let highest = root
            .ancestors()
            .take_while(|dir| dir.starts_with(top))
            .filter(|dir| !above_others.contains(dir))
            .last()?;
        dirs.insert(highest.to_owned());
    }
    Some(dirs.into_iter().collect())
}

/// Returns a path without the dot at its beginning.
fn plain(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tops: &[&str], wanted: &[&str], others: &[&str], dirs: Option<&[&str]>) {
        let tops: Vec<PathBuf> = tops.iter().map(PathBuf::from).collect();
        let of_wanted = wanted.iter().map(Path::new).collect();
        let of_others: Vec<&Path> = others.iter().map(Path::new).collect();
        let found = holding_only(&tops, &of_wanted, &of_others);
        let dirs = dirs.map(|dirs| dirs.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(found, dirs, "{wanted:?} without {others:?}");
    }

    #[test]
    fn a_directory_stands_for_roots_only_without_another_one_in_it() {
        check(&["."], &["a/x", "b"], &[], Some(&[""]));
        check(&["."], &["./a/x", "a/y", "b"], &["c"], Some(&["a", "b"]));
        check(&["."], &["a/x", "a/y"], &["a/z/1"], Some(&["a/x", "a/y"]));
        check(&["a", "b"], &["a/x", "b/y"], &["c"], Some(&["a", "b"]));
        check(&["/r"], &["/r/a/x", "/r/a/y"], &["/r/b"], Some(&["/r/a"]));
        check(&["../r"], &["../r/a"], &[], Some(&["../r"]));
    }

    #[test]
    fn none_stands_for_a_root_with_another_one_below() {
        check(&["."], &["a"], &["a/examples/b"], None);
        check(&["."], &["."], &["b"], None);
        check(&["a"], &["b"], &[], None);
    }
}
