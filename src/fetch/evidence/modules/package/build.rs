//! Making a package of its entries, one by one, within limits.

use super::{
    ContentRoom, Directory, FileContent, MAX_ENTRIES, MAX_PATH_BYTES, PackageError, PackageTree,
    TreeNode,
};

/// The longest part of a path that common file systems take, in bytes.
const MAX_PART_BYTES: usize = 255;

/// The longest path that Linux takes, in bytes, with the NUL behind it.
const MAX_ONE_PATH_BYTES: usize = 4096;

/// The most directories inside each other; deeper ones are an attack on the stack of a reader.
const MAX_DEPTH: usize = 128;

/// A package that is being made.
///
/// Paths are raw bytes with `/` between their parts; empty parts and `.` do not count, and a path that begins
/// with `/` starts at the top. The last of two files of one path counts.
#[derive(Debug, Default)]
pub struct PackageBuilder {
    top: Directory,
    entries: usize,
    path_bytes: usize,
    room: ContentRoom,
}

impl PackageBuilder {
    /// Starts with an empty package.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory, and those above it; one that is there already is left alone.
    ///
    /// # Errors
    /// If the path cannot be used, is that of a file, or is one too many.
    pub fn directory(&mut self, path: &[u8]) -> Result<(), PackageError> {
        let parts = parts(path)?;
        self.enter(&parts, path).map(drop)
    }

    /// Adds a file; bytes that are not to be kept are dropped (rules 1.3).
    ///
    /// # Errors
    /// As [`PackageBuilder::directory`].
    pub fn file(&mut self, path: &[u8], content: FileContent) -> Result<(), PackageError> {
        let content = match content {
            FileContent::Kept(bytes) if !self.room.takes(path, bytes.len() as u64) => {
                FileContent::of_passed(&bytes)
            }
            content => content,
        };
        self.put(path, TreeNode::File(content))
    }

    /// Adds a symbolic link with its target as it is written.
    ///
    /// # Errors
    /// As [`PackageBuilder::directory`].
    pub fn link(&mut self, path: &[u8], target: &[u8]) -> Result<(), PackageError> {
        if target.is_empty() || target.contains(&0) || target.len() >= MAX_ONE_PATH_BYTES {
            return Err(PackageError::UnusablePath { path: path.into() });
        }
        // Targets are kept like paths, so they count like paths.
        self.path_bytes += target.len();
        self.put(path, TreeNode::Link(target.into()))
    }

    /// Puts all files of another package below a directory.
    ///
    /// # Errors
    /// As [`PackageBuilder::directory`].
    pub fn join(&mut self, path: &[u8], tree: &PackageTree) -> Result<(), PackageError> {
        self.directory(path)?;
        let mut rows = Vec::new();
        tree.rows(&mut rows);
        for (below, node) in rows {
            let path = [path, &below].join(&b'/');
            match node {
                TreeNode::Directory(_) => self.directory(&path)?,
                TreeNode::File(content) => self.file(&path, content.clone())?,
                TreeNode::Link(target) => self.link(&path, target)?,
            }
        }
        Ok(())
    }

    /// Ends the construction of the tree.
    #[must_use]
    pub fn finish(self) -> PackageTree {
        PackageTree { top: self.top }
    }

    fn put(&mut self, path: &[u8], node: TreeNode) -> Result<(), PackageError> {
        let parts = parts(path)?;
        let Some((name, above)) = parts.split_last() else {
            return Err(PackageError::UnusablePath { path: path.into() });
        };
        self.count(path)?;
        let dir = self.enter(above, path)?;
        // The programs fail to write a file over a directory, in either order.
        if let Some(TreeNode::Directory(_)) = dir.get(*name) {
            return Err(PackageError::FileAndDirectory { path: path.into() });
        }
        dir.insert((*name).into(), node);
        Ok(())
    }

    /// Returns the directory that the parts lead to, which is made where it is missing.
    fn enter(&mut self, parts: &[&[u8]], path: &[u8]) -> Result<&mut Directory, PackageError> {
        let mut dir = &self.top;
        let mut missing = parts;
        while let Some((part, rest)) = missing.split_first() {
            match dir.get(*part) {
                Some(TreeNode::Directory(below)) => dir = below,
                Some(_) => return Err(PackageError::FileAndDirectory { path: path.into() }),
                None => break,
            }
            missing = rest;
        }
        // Directories above an entry count as entries: a zip can name thousands of them in a few bytes.
        for _ in missing {
            self.count(path)?;
        }
        let mut dir = &mut self.top;
        for part in parts {
            let node = dir
                .entry((*part).into())
                .or_insert_with(|| TreeNode::Directory(Directory::new()));
            let TreeNode::Directory(below) = node else {
                return Err(PackageError::FileAndDirectory { path: path.into() });
            };
            dir = below;
        }
        Ok(dir)
    }

    /// Counts an entry; the path of a directory above it counts as long as the whole path.
    fn count(&mut self, path: &[u8]) -> Result<(), PackageError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(PackageError::TooMuch {
                what: "entries",
                limit: MAX_ENTRIES as u64,
            });
        }
        self.path_bytes += path.len();
        if self.path_bytes > MAX_PATH_BYTES {
            return Err(PackageError::TooMuch {
                what: "bytes of paths",
                limit: MAX_PATH_BYTES as u64,
            });
        }
        Ok(())
    }
}

/// Returns the parts of a path that count.
fn parts(path: &[u8]) -> Result<Vec<&[u8]>, PackageError> {
    let parts: Vec<&[u8]> = path
        // Windows separates with both, so that a name with the other one could not be read again.
        .split(|byte| *byte == b'/' || cfg!(windows) && *byte == b'\\')
        .filter(|part| !part.is_empty() && *part != b".")
        .collect();
    if parts.contains(&&b".."[..]) {
        return Err(PackageError::ParentInPath { path: path.into() });
    }
    // A path that no file system takes would make `init` fail, and deep trees exhaust the stack of a
    // reader.
    let is_too_long = path.len() >= MAX_ONE_PATH_BYTES
        || parts.len() > MAX_DEPTH
        || parts.iter().any(|part| part.len() > MAX_PART_BYTES);
    if is_too_long || path.contains(&0) {
        return Err(PackageError::UnusablePath { path: path.into() });
    }
    Ok(parts)
}
