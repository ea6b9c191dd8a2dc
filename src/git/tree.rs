//! The files of a revision, as if they lay in a directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::GitError;
use super::objects::{Content, ObjectId};
use super::repository::{MAX_LIST_BYTES, Repository, kind_of, path_of};
use super::revision::Revision;
use crate::world::{DirEntry, FileKind, Files, ReadSeek};

/// How many links are followed in a row.
const MAX_LINKS: usize = 40;

/// How many bytes the name that a link leads to may have.
const MAX_LINK_BYTES: u64 = 4096;

/// The files of a revision; paths are relative, and begin at the top of the repository.
///
/// What is not committed is not there: no state, no installed modules. A link that leads out of the
/// repository leads nowhere. Submodules are neither files nor directories.
pub struct Tree<'a> {
    repository: Repository<'a>,
    top: Node,
    seen: Mutex<ReadObjects>,
}

/// What was read already: git is started once for a directory, and once for its files of a kind.
#[derive(Default)]
struct ReadObjects {
    dirs: BTreeMap<ObjectId, Arc<Listing>>,
    contents: BTreeMap<ObjectId, Content>,
}

type Listing = BTreeMap<OsString, Node>;

#[derive(Clone)]
struct Node {
    kind: FileKind,
    id: ObjectId,
}

/// Where a path leads to: a node, and the directories above it.
struct Found {
    node: Node,
    name: OsString,
    dir: ObjectId,
    /// The names on the way from the top, without links.
    path: PathBuf,
}

impl<'a> Tree<'a> {
    /// Makes the tree of a revision.
    #[must_use]
    pub fn new(repository: &Repository<'a>, revision: &Revision) -> Self {
        Self {
            repository: repository.clone(),
            top: Node {
                kind: FileKind::Directory,
                id: revision.id.clone(),
            },
            seen: Mutex::default(),
        }
    }

    /// Walks down a path; the last link of it is followed, too.
    fn find(&self, path: &Path) -> io::Result<Found> {
        let mut rest = parts(path)?;
        let mut way: Vec<(OsString, Node)> = Vec::new();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                way.pop().ok_or(ErrorKind::NotFound)?;
                continue;
            }
            let dir = way.last().map_or(&self.top, |(_, node)| node);
            let listing = self.listing(dir)?;
            let node = listing.get(&part).ok_or(ErrorKind::NotFound)?;
            if node.kind != FileKind::Symlink {
                way.push((part, node.clone()));
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("too many levels of symbolic links"));
            }
            let target = self.content(&node.id, MAX_LINK_BYTES)?;
            rest.extend(parts(&path_of(&target))?);
        }
        let above = way.len().checked_sub(2).and_then(|at| way.get(at));
        let dir = above.map_or(&self.top, |(_, node)| node).id.clone();
        let path = way.iter().map(|(name, _)| name).collect();
        let (name, node) = way.pop().unwrap_or((OsString::new(), self.top.clone()));
        Ok(Found {
            node,
            name,
            dir,
            path,
        })
    }

    fn listing(&self, dir: &Node) -> io::Result<Arc<Listing>> {
        if dir.kind != FileKind::Directory {
            return Err(ErrorKind::NotADirectory.into());
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listing) = seen.dirs.get(&dir.id) {
            return Ok(Arc::clone(listing));
        }
        let args = ["ls-tree", "-z", "--full-tree", dir.id.as_str()];
        let said = self.repository.output(&args, &[], MAX_LIST_BYTES);
        let said = said.map_err(io::Error::other)?;
        let lines = said
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty());
        let listing: Option<Listing> = lines.map(entry).collect();
        let unexpected = || io::Error::other(GitError::Unexpected { command: "ls-tree" });
        let listing = Arc::new(listing.ok_or_else(unexpected)?);
        seen.dirs.insert(dir.id.clone(), Arc::clone(&listing));
        Ok(listing)
    }

    /// Reads a file, and those beside it that are likely to be read next.
    fn file(&self, found: &Found, limit: u64) -> io::Result<Vec<u8>> {
        let extension = |name: &OsStr| Path::new(name).extension().map(OsStr::to_owned);
        let wanted = extension(&found.name);
        let dir = Node {
            kind: FileKind::Directory,
            id: found.dir.clone(),
        };
        let listing = self.listing(&dir)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.contents.contains_key(&found.node.id) {
            let alike = listing.iter().filter(|(name, node)| {
                let is_new = !seen.contents.contains_key(&node.id);
                node.kind == FileKind::File && is_new && extension(name) == wanted
            });
            let blobs: Vec<ObjectId> = alike.map(|(_, node)| node.id.clone()).collect();
            let contents = self.repository.read(&blobs, limit);
            let contents = contents.map_err(io::Error::other)?;
            seen.contents.extend(blobs.into_iter().zip(contents));
        }
        drop(seen);
        self.content(&found.node.id, limit)
    }

    fn content(&self, id: &ObjectId, limit: u64) -> io::Result<Vec<u8>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.contents.get(id);
        // It may have been too large only for whoever read it before.
        let is_known = known.is_some_and(|content| match content {
            Content::TooLarge { bytes } => *bytes > limit,
            Content::Bytes(_) | Content::Missing => true,
        });
        if !is_known {
            let content = self.repository.read(std::slice::from_ref(id), limit);
            let content = content.map_err(io::Error::other)?.pop();
            seen.contents
                .extend(content.map(|content| (id.clone(), content)));
        }
        match seen.contents.get(id) {
            Some(Content::Bytes(bytes)) if bytes.len() as u64 <= limit => Ok(bytes.clone()),
            Some(Content::Bytes(_) | Content::TooLarge { .. }) => {
                Err(ErrorKind::FileTooLarge.into())
            }
            Some(Content::Missing) | None => {
                Err(io::Error::other("the repository does not hold it"))
            }
        }
    }
}

impl std::fmt::Debug for Tree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Tree");
        shown.field("id", &self.top.id).finish_non_exhaustive()
    }
}

impl Files for Tree<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let found = self.find(path)?;
        match found.node.kind {
            FileKind::File => self.file(&found, limit),
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
        let found = self.find(dir)?;
        let listing = self.listing(&found.node)?;
        let entries = listing.iter().map(|(name, node)| DirEntry {
            name: name.clone(),
            kind: node.kind,
        });
        Ok(entries.collect())
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        Ok(self.find(path)?.node.kind)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(self.find(path)?.path)
    }
}

/// Takes a path apart, the last part first.
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
fn entry(line: &[u8]) -> Option<(OsString, Node)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let kind = kind_of(words.next()?);
    let id = ObjectId::read(words.nth(1)?)?;
    let name: PathBuf = path_of(&line[tab + 1..]);
    Some((name.into_os_string(), Node { kind, id }))
}
