//! The directory of a module in its package (rules 2).

use std::io;
use std::path::{Component, Path, PathBuf};

use super::glob::{GlobPattern, has_meta};
use super::read::{LastLink, PlaceNode};
use super::{Directory, PackageTree, TreeNode, system_name};
use crate::remote_module::is_leaving;
use crate::world::{FileKind, Files};

/// Maximum number of directories that the first parts of a pattern may match: links to directories above
/// them let a few names match without end.
const MAX_MATCHES: usize = 10_000;

/// The target of a link that leads out of its package, wherever in a package it is.
const LEADS_OUT: &[u8] = b"/";

/// The reading of the text behind `//`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubdirectoryPattern {
    /// A glob pattern: the address of the package is written in full.
    Glob,
    /// A path: of a module of a registry, and of the location that the registry names.
    Path,
}

/// A subdirectory that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubdirectoryError {
    #[error("the package has no such directory")]
    Missing,
    #[error("the pattern matches more than one name of the package")]
    Ambiguous,
    #[error("the pattern is not valid")]
    BadPattern,
    #[error("it is not a directory")]
    NotADirectory,
    #[error("it leads out of the package")]
    Leaves,
}

impl PackageTree {
    /// Finds the directory that is named behind `//`; the empty text names the package itself.
    ///
    /// # Errors
    /// If it is not exactly one directory, or not inside of the package.
    pub fn expand(
        &self,
        sub: &str,
        pattern: SubdirectoryPattern,
    ) -> Result<PathBuf, SubdirectoryError> {
        let dir = match pattern {
            SubdirectoryPattern::Glob if has_meta(sub) => self.only_match(sub)?,
            // The programs join it to the directory of the package.
            SubdirectoryPattern::Glob | SubdirectoryPattern::Path => {
                Path::new(sub.trim_start_matches('/'))
                    .components()
                    .filter(|part| *part != Component::CurDir)
                    .collect()
            }
        };
        match self.kind(&dir) {
            Ok(FileKind::Directory) => Ok(dir),
            Ok(_) => Err(SubdirectoryError::NotADirectory),
            Err(error) if is_leaving(&error) => Err(SubdirectoryError::Leaves),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(SubdirectoryError::NotADirectory)
            }
            Err(_) => Err(SubdirectoryError::Missing),
        }
    }

    /// Returns a directory of the package as a package of its own, with links replaced by the files that they
    /// lead to (rules 2.4). A link that leads out of the package still does, so that reading it is an error.
    ///
    /// # Errors
    /// If there is no such directory, or a link in it leads to a directory or to nothing.
    pub fn below(&self, dir: &Path) -> io::Result<Self> {
        let place = self.place(dir, LastLink::Followed)?;
        let PlaceNode::Directory(directory) = place.node else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        let top = self.without_links(directory, &place.spelled()?)?;
        Ok(Self { top })
    }

    fn without_links(&self, dir: &Directory, at: &Path) -> io::Result<Directory> {
        let mut copy = Directory::new();
        for (name, node) in dir {
            let Some(spelled) = system_name(name) else {
                continue;
            };
            let path = at.join(spelled);
            let node = match node {
                TreeNode::Directory(below) => {
                    TreeNode::Directory(self.without_links(below, &path)?)
                }
                TreeNode::File(content) => TreeNode::File(content.clone()),
                TreeNode::Link(_) => match self.place(&path, LastLink::Followed) {
                    Ok(place) => match place.node {
                        PlaceNode::File(content) => TreeNode::File(content.clone()),
                        PlaceNode::Directory(_) | PlaceNode::Link(_) => {
                            return Err(io::ErrorKind::IsADirectory.into());
                        }
                    },
                    // To follow it is the error, not to have it (rules 1.2): the module may never refer to it.
                    Err(error) if is_leaving(&error) => TreeNode::Link(LEADS_OUT.into()),
                    Err(error) => return Err(error),
                },
            };
            copy.insert(name.clone(), node);
        }
        Ok(copy)
    }

    /// Returns the one path that a pattern matches.
    fn only_match(&self, sub: &str) -> Result<PathBuf, SubdirectoryError> {
        let mut dirs = vec![PathBuf::new()];
        // A link that leads out matches nothing, but is the reason if nothing else matches.
        let mut reason = SubdirectoryError::Missing;
        let parts: Vec<&str> = sub.split('/').filter(|part| !part.is_empty()).collect();
        for (at, part) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            let pattern = if has_meta(part) {
                Some(GlobPattern::parse(part).ok_or(SubdirectoryError::BadPattern)?)
            } else {
                None
            };
            let mut matches = Vec::new();
            for dir in dirs {
                let Some(pattern) = &pattern else {
                    let path = dir.join(part);
                    // Go's `Glob` looks at a name without a pattern by `lstat`, so a link counts, wherever
                    // it leads.
                    match self.place(&path, LastLink::Kept) {
                        Ok(_) => matches.push(path),
                        Err(error) if is_leaving(&error) => reason = SubdirectoryError::Leaves,
                        Err(_) => {}
                    }
                    continue;
                };
                match self.list(&dir) {
                    Ok(entries) => matches.extend(
                        entries
                            .iter()
                            .filter(|entry| pattern.matches(entry.name.as_encoded_bytes()))
                            .map(|entry| dir.join(&entry.name)),
                    ),
                    Err(error) if is_leaving(&error) => reason = SubdirectoryError::Leaves,
                    // A file among directories has no names in it.
                    Err(_) => {}
                }
            }
            dirs = matches;
            if dirs.len() > MAX_MATCHES {
                return Err(SubdirectoryError::Ambiguous);
            }
            if dirs.is_empty() {
                return Err(reason);
            }
            if is_last && dirs.len() > 1 {
                return Err(SubdirectoryError::Ambiguous);
            }
        }
        dirs.pop().ok_or(reason)
    }
}
