//! A package as bytes, for caches.
//!
//! The bytes are `lockctl package 2` and a line feed, then for each entry, directories before what is in them
//! and names in byte order: one byte for its kind, its path, and its body: the content of a file that is kept, the
//! target of a link, the length of another file and its SHA-256 if it was hashed. Before the path and the body comes
//! the length of each. Lengths have eight bytes, the lowest first.

use super::{Directory, FileContent, PackageBuilder, PackageTree, TreeNode};

const HEADER: &[u8] = b"lockctl package 2\n";

const DIRECTORY: u8 = b'd';
const KEPT: u8 = b'k';
const PASSED: u8 = b'p';
const LINK: u8 = b'l';

impl PackageTree {
    /// Writes the package as bytes; equal packages give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut rows = Vec::new();
        self.rows(&mut rows);
        let mut out = HEADER.to_vec();
        for (path, node) in rows {
            let passed: Vec<u8>;
            let (kind, body): (u8, &[u8]) = match node {
                TreeNode::Directory(_) => (DIRECTORY, b""),
                TreeNode::File(FileContent::Kept(bytes)) => (KEPT, bytes),
                TreeNode::File(FileContent::Passed(bytes, digest)) => {
                    let digest = digest.as_deref().into_iter().flatten();
                    passed = bytes.to_le_bytes().iter().chain(digest).copied().collect();
                    (PASSED, &passed)
                }
                TreeNode::Link(target) => (LINK, target),
            };
            out.push(kind);
            // Lengths instead of end marks: names may hold any byte but zero, and contents any byte.
            for part in [&path, body] {
                out.extend((part.len() as u64).to_le_bytes());
                out.extend(part);
            }
        }
        out
    }

    /// Reads what [`PackageTree::to_bytes`] wrote; `None` if anything else is in the bytes. Nothing in them is trusted.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(HEADER)?;
        // The builder checks every path and limit again.
        let mut builder = PackageBuilder::new();
        while let Some((kind, behind)) = rest.split_first() {
            rest = behind;
            let (path, body) = (take(&mut rest)?, take(&mut rest)?);
            let added = match *kind {
                DIRECTORY if body.is_empty() => builder.directory(path),
                KEPT => builder.file(path, FileContent::Kept(body.into())),
                PASSED => {
                    let (size, digest) = body.split_first_chunk()?;
                    let digest = match digest {
                        [] => None,
                        digest => Some(Box::new(digest.try_into().ok()?)),
                    };
                    builder.file(path, FileContent::Passed(u64::from_le_bytes(*size), digest))
                }
                LINK => builder.link(path, body),
                _ => return None,
            };
            added.ok()?;
        }
        Some(builder.finish())
    }

    /// Lists everything in the package with its path, directories before what is in them.
    pub(super) fn rows<'t>(&'t self, rows: &mut Vec<(Vec<u8>, &'t TreeNode)>) {
        rows_below(&self.top, &[], rows);
    }
}

fn rows_below<'t>(dir: &'t Directory, at: &[u8], rows: &mut Vec<(Vec<u8>, &'t TreeNode)>) {
    for (name, node) in dir {
        let path = if at.is_empty() {
            name.to_vec()
        } else {
            [at, name].join(&b'/')
        };
        rows.push((path.clone(), node));
        if let TreeNode::Directory(below) = node {
            rows_below(below, &path, rows);
        }
    }
}

/// Takes a part off the front, behind its length.
fn take<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, behind) = rest.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (taken, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}
