//! A package as files: paths are followed link by link, and never out of it.

use std::collections::VecDeque;
use std::io::{self, Cursor};
use std::path::{Component, Path, PathBuf};

use super::{ContentNotKept, Directory, FileContent, PackageTree, TreeNode, system_name};
use crate::remote_module::LeavesPackage;
use crate::world::{DirEntry, FileKind, Files, ReadSeek};

/// Maximum number of links that are followed in a row; Linux has the same limit.
const MAX_LINKS: usize = 40;

/// The node at a path, with the names of the directories above it.
pub(super) struct TreePlace<'t> {
    /// The names from the top on, without links.
    pub(super) path: Vec<&'t [u8]>,
    pub(super) node: PlaceNode<'t>,
}

/// The node at a path.
#[derive(Clone, Copy)]
pub(super) enum PlaceNode<'t> {
    Directory(&'t Directory),
    File(&'t FileContent),
    /// A link, with its target.
    Link(&'t [u8]),
}

/// The treatment of a link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    Followed,
    /// The path leads to the link itself.
    Kept,
}

/// A part of a path that is still to be followed.
enum TreeStep {
    Up,
    Name(Vec<u8>),
}

impl PackageTree {
    /// Follows a path to its end.
    pub(super) fn place(&self, path: &Path, last: LastLink) -> io::Result<TreePlace<'_>> {
        let mut left: VecDeque<TreeStep> = path
            .components()
            .filter_map(|part| match part {
                Component::CurDir => None,
                Component::ParentDir => Some(Ok(TreeStep::Up)),
                Component::Normal(name) => {
                    Some(Ok(TreeStep::Name(name.as_encoded_bytes().to_vec())))
                }
                Component::Prefix(_) | Component::RootDir => Some(Err(LeavesPackage)),
            })
            .collect::<Result<_, _>>()?;
        let mut above: Vec<(&[u8], &Directory)> = Vec::new();
        let mut links = 0;
        while let Some(part) = left.pop_front() {
            let dir = above.last().map_or(&self.top, |(_, dir)| dir);
            let name = match part {
                TreeStep::Up if above.pop().is_some() => continue,
                TreeStep::Up => return Err(LeavesPackage.into()),
                TreeStep::Name(name) => name,
            };
            let Some((name, node)) = dir.get_key_value(&*name) else {
                return Err(io::ErrorKind::NotFound.into());
            };
            let node = match node {
                TreeNode::Directory(below) => {
                    above.push((name, below));
                    continue;
                }
                // A link in the middle of a path is always followed, as by the system.
                TreeNode::Link(target) if last == LastLink::Followed || !left.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(io::Error::other("too many links in a row"));
                    }
                    // The target counts from the directory of the link, and the rest of the path from the
                    // target.
                    let rest = std::mem::take(&mut left);
                    left = parts_of_link(target)?;
                    left.extend(rest);
                    continue;
                }
                TreeNode::Link(target) => PlaceNode::Link(target),
                TreeNode::File(content) => PlaceNode::File(content),
            };
            if !left.is_empty() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            let path = above
                .iter()
                .map(|(name, _)| *name)
                .chain([&**name])
                .collect();
            return Ok(TreePlace { path, node });
        }
        let node = PlaceNode::Directory(above.last().map_or(&self.top, |(_, dir)| dir));
        let path = above.iter().map(|(name, _)| *name).collect();
        Ok(TreePlace { path, node })
    }

    /// Returns the target of a link, as it is written; `None` for a path that is no link or does not exist.
    #[must_use]
    pub fn link(&self, path: &Path) -> Option<PathBuf> {
        let place = self.place(path, LastLink::Kept).ok()?;
        match place.node {
            PlaceNode::Link(target) => system_name(target).map(PathBuf::from),
            PlaceNode::Directory(_) | PlaceNode::File(_) => None,
        }
    }

    fn content(&self, path: &Path) -> io::Result<&FileContent> {
        match self.place(path, LastLink::Followed)?.node {
            PlaceNode::File(content) => Ok(content),
            PlaceNode::Directory(_) | PlaceNode::Link(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }
}

impl Files for PackageTree {
    /// A file whose content is not kept is an error, [`ContentNotKept`].
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.content(path)? {
            FileContent::Kept(bytes) if bytes.len() as u64 <= limit => Ok(bytes.to_vec()),
            // A file that is too long for the reader anyway is reported as that, as on the disk.
            FileContent::Passed(bytes, _) if *bytes <= limit => {
                Err(ContentNotKept { bytes: *bytes }.into())
            }
            FileContent::Kept(_) | FileContent::Passed(..) => {
                Err(io::ErrorKind::FileTooLarge.into())
            }
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        match self.content(path)? {
            FileContent::Kept(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
            FileContent::Passed(bytes, _) => Err(ContentNotKept { bytes: *bytes }.into()),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let PlaceNode::Directory(dir) = self.place(dir, LastLink::Followed)?.node else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        Ok(dir
            .iter()
            .filter_map(|(name, node)| {
                let kind = match node {
                    TreeNode::Directory(_) => FileKind::Directory,
                    TreeNode::File(_) => FileKind::File,
                    TreeNode::Link(_) => FileKind::Symlink,
                };
                let name = system_name(name)?;
                Some(DirEntry { name, kind })
            })
            .collect())
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        match self.place(path, LastLink::Followed)?.node {
            PlaceNode::Directory(_) => Ok(FileKind::Directory),
            PlaceNode::File(_) => Ok(FileKind::File),
            PlaceNode::Link(_) => Ok(FileKind::Symlink),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.place(path, LastLink::Followed)?.spelled()
    }
}

impl TreePlace<'_> {
    /// Returns the path as the system spells it.
    pub(super) fn spelled(&self) -> io::Result<PathBuf> {
        self.path
            .iter()
            .map(|name| system_name(name))
            .collect::<Option<PathBuf>>()
            .ok_or_else(|| io::ErrorKind::InvalidFilename.into())
    }
}

fn parts_of_link(target: &[u8]) -> io::Result<VecDeque<TreeStep>> {
    // An absolute target is a file of this machine (rules 1.2).
    if target.starts_with(b"/") {
        return Err(LeavesPackage.into());
    }
    Ok(target
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
        .map(|part| match part {
            b".." => TreeStep::Up,
            name => TreeStep::Name(name.to_vec()),
        })
        .collect())
}
