//! The files of a revision, as if they lay in a directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::GitError;
use super::objects::{BlobContent, ObjectId};
use super::repository::{MAX_LIST_BYTES, Repository, kind_of, path_of};
use super::revision::Revision;
use crate::world::{DirEntry, FileKind, Files, ReadSeek};

/// Maximum number of links in a row that are followed; Linux has the same limit.
const MAX_LINKS: usize = 40;

/// Maximum length of the target of a link, in bytes; longer ones are no paths on Linux.
const MAX_LINK_BYTES: u64 = 4096;

/// The files of a revision; relative paths begin at the top of the repository.
///
/// Files that are not committed do not exist: no state, no installed modules. A link that leads out of the
/// repository leads nowhere. A submodule is an empty directory, as in a clone that did not check it out. A
/// directory `.git` exists at the top, so that other code recognises the repository.
pub struct Tree<'a> {
    repository: Repository<'a>,
    top: GitTreeNode,
    top_path: Option<PathBuf>,
    objects: Mutex<ReadObjects>,
}

/// Objects that were read: git is started once for a directory, and once for its files of a kind.
#[derive(Default)]
struct ReadObjects {
    dirs: BTreeMap<ObjectId, Arc<TreeListing>>,
    contents: BTreeMap<ObjectId, BlobContent>,
}

type TreeListing = BTreeMap<OsString, GitTreeNode>;

#[derive(Clone)]
struct GitTreeNode {
    kind: FileKind,
    /// The object; `None` for an empty directory: a submodule, or `.git`.
    id: Option<ObjectId>,
}

/// The target of a path, and the directory above it.
struct ResolvedPath {
    node: GitTreeNode,
    name: OsString,
    dir: GitTreeNode,
    /// The names on the way from the top, without links.
    path: PathBuf,
}

impl<'a> Tree<'a> {
    /// Makes the tree of a revision; only relative paths exist in it.
    #[must_use]
    pub fn new(repository: &Repository<'a>, revision: &Revision) -> Self {
        Self {
            repository: repository.clone(),
            top: GitTreeNode {
                kind: FileKind::Directory,
                id: Some(revision.id.clone()),
            },
            top_path: None,
            objects: Mutex::default(),
        }
    }

    /// Gives the top of the repository an absolute path without `.` and `..`; files are then found by absolute
    /// paths, too.
    #[must_use]
    pub fn placed_at(mut self, top_path: PathBuf) -> Self {
        self.top_path = Some(top_path);
        self
    }

    /// Adds content that was read already, so that git is not started for it again.
    pub fn remember(&self, blob: ObjectId, content: BlobContent) {
        self.objects().contents.insert(blob, content);
    }

    /// Walks down a path; the last link of it is followed, too.
    fn find(&self, path: &Path) -> io::Result<ResolvedPath> {
        // Terragrunt and local modules above a root are read by absolute paths.
        let path = match &self.top_path {
            Some(top) => path.strip_prefix(top).unwrap_or(path),
            None => path,
        };
        let mut rest = parts(path)?;
        let mut nodes: Vec<(OsString, GitTreeNode)> = Vec::new();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                // Links are replaced by their targets, so the node above is the one that the system means.
                nodes.pop().ok_or(ErrorKind::NotFound)?;
                continue;
            }
            if part == ".git" && nodes.is_empty() {
                let kind = FileKind::Directory;
                nodes.push((part, GitTreeNode { kind, id: None }));
                continue;
            }
            let dir = nodes.last().map_or(&self.top, |(_, node)| node);
            let listing = self.listing(dir)?;
            let node = listing.get(&part).ok_or(ErrorKind::NotFound)?;
            if node.kind != FileKind::Symlink {
                nodes.push((part, node.clone()));
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("too many levels of symbolic links"));
            }
            let target = self.content(node, MAX_LINK_BYTES)?;
            rest.extend(parts(&path_of(&target))?);
        }
        let path = nodes.iter().map(|(name, _)| name).collect();
        let (name, node) = nodes.pop().unwrap_or((OsString::new(), self.top.clone()));
        let dir = nodes.pop().map_or(self.top.clone(), |(_, node)| node);
        Ok(ResolvedPath {
            node,
            name,
            dir,
            path,
        })
    }

    fn objects(&self) -> MutexGuard<'_, ReadObjects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listing(&self, dir: &GitTreeNode) -> io::Result<Arc<TreeListing>> {
        if dir.kind != FileKind::Directory {
            return Err(ErrorKind::NotADirectory.into());
        }
        let Some(id) = &dir.id else {
            return Ok(Arc::default());
        };
        let mut objects = self.objects();
        // Equal directories have one id, in all places of a repository.
        if let Some(listing) = objects.dirs.get(id) {
            return Ok(Arc::clone(listing));
        }
        let args = ["ls-tree", "-z", "--full-tree", id.as_str()];
        let output = self
            .repository
            .output(&args, &[], MAX_LIST_BYTES)
            .map_err(io::Error::other)?;
        let listing: Option<TreeListing> = output
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
            .map(entry)
            .collect();
        let unexpected = || io::Error::other(GitError::Unexpected { command: "ls-tree" });
        let listing = Arc::new(listing.ok_or_else(unexpected)?);
        objects.dirs.insert(id.clone(), Arc::clone(&listing));
        Ok(listing)
    }

    /// Reads a file, and those beside it that are likely to be read next.
    fn file(&self, file: &ResolvedPath, limit: u64) -> io::Result<Vec<u8>> {
        let extension = |name: &OsStr| Path::new(name).extension().map(OsStr::to_owned);
        let wanted = extension(&file.name);
        let listing = self.listing(&file.dir)?;
        let mut objects = self.objects();
        let is_new = |id: &ObjectId| !objects.contents.contains_key(id);
        if file.node.id.as_ref().is_some_and(is_new) {
            // Starting git takes longer than reading a module: all files of a kind come with the first.
            let blobs: Vec<ObjectId> = listing
                .iter()
                .filter(|(name, node)| node.kind == FileKind::File && extension(name) == wanted)
                .filter_map(|(_, node)| node.id.clone())
                .filter(is_new)
                .collect();
            let contents = self
                .repository
                .read(&blobs, limit)
                .map_err(io::Error::other)?;
            objects.contents.extend(blobs.into_iter().zip(contents));
        }
        drop(objects);
        self.content(&file.node, limit)
    }

    fn content(&self, file: &GitTreeNode, limit: u64) -> io::Result<Vec<u8>> {
        let id = file.id.as_ref().ok_or(ErrorKind::IsADirectory)?;
        let mut objects = self.objects();
        let is_read = match objects.contents.get(id) {
            // An earlier reader may have had a lower limit.
            Some(BlobContent::TooLarge { bytes }) => *bytes > limit,
            Some(BlobContent::Bytes(_) | BlobContent::Missing) => true,
            None => false,
        };
        if !is_read {
            let contents = self.repository.read(std::slice::from_ref(id), limit);
            let content = contents.map_err(io::Error::other)?.pop();
            objects
                .contents
                .extend(content.map(|content| (id.clone(), content)));
        }
        match objects.contents.get(id) {
            // An earlier reader may have had a higher limit, too.
            Some(BlobContent::Bytes(bytes)) if bytes.len() as u64 <= limit => Ok(bytes.clone()),
            Some(BlobContent::Bytes(_) | BlobContent::TooLarge { .. }) => {
                Err(ErrorKind::FileTooLarge.into())
            }
            Some(BlobContent::Missing) | None => {
                Err(io::Error::other("the repository does not hold it"))
            }
        }
    }
}

impl Files for Tree<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.find(path)?;
        match file.node.kind {
            FileKind::File => self.file(&file, limit),
            FileKind::Directory => Err(ErrorKind::IsADirectory.into()),
            FileKind::Symlink | FileKind::Other => {
                let text = "not a regular file";
                Err(io::Error::new(ErrorKind::InvalidInput, text))
            }
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        Ok(Box::new(Cursor::new(self.read(path, MAX_LIST_BYTES)?)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let listing = self.listing(&self.find(dir)?.node)?;
        Ok(listing
            .iter()
            .map(|(name, node)| DirEntry {
                name: name.clone(),
                kind: node.kind,
            })
            .collect())
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        Ok(self.find(path)?.node.kind)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let resolved = self.find(path)?.path;
        // A relative and an absolute path to the same file resolve to the same one.
        Ok(match &self.top_path {
            Some(top) => top.join(resolved),
            None => resolved,
        })
    }

    fn shown(&self, path: &Path) -> String {
        let below_top = self
            .top_path
            .as_ref()
            .and_then(|top| path.strip_prefix(top).ok());
        below_top.unwrap_or(path).display().to_string()
    }
}

/// Splits a path into its parts, the last one first.
fn parts(path: &Path) -> io::Result<Vec<OsString>> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir | Component::Normal(_) => {
                parts.push(component.as_os_str().to_owned());
            }
            Component::RootDir | Component::Prefix(_) => return Err(ErrorKind::NotFound.into()),
        }
    }
    parts.reverse();
    Ok(parts)
}

/// Reads `MODE TYPE ID\tNAME`.
fn entry(line: &[u8]) -> Option<(OsString, GitTreeNode)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let (mode, object_type) = (words.next()?, words.next()?);
    let id = ObjectId::read(words.next()?)?;
    // The commit of a submodule is in another repository, so nothing can be listed.
    let node = if object_type == "commit" {
        GitTreeNode {
            kind: FileKind::Directory,
            id: None,
        }
    } else {
        GitTreeNode {
            kind: kind_of(mode),
            id: Some(id),
        }
    };
    Some((path_of(&line[tab + 1..]).into_os_string(), node))
}
