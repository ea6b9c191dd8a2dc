//! A package as bytes, for caches.
//!
//! The bytes are `lockctl package 1` and a line feed, then for each entry, directories before what is in them
//! and names in byte order: one byte for its kind, the length of its path and the path, and for a file the
//! length of its content, for a file that is kept and for a link also the bytes, for one that was hashed its
//! SHA-256. Lengths are written in groups
//! of seven bits, the lowest first.

use std::sync::Arc;

use super::{Directory, FileContent, PackageBuilder, PackageError, PackageTree, TreeNode};

const HEADER: &[u8] = b"lockctl package 1\n";

const DIRECTORY: u8 = b'd';
const KEPT: u8 = b'k';
const PASSED: u8 = b'p';
const HASHED: u8 = b'h';
const LINK: u8 = b'l';

/// Bytes that are no stored package.
#[derive(Debug, thiserror::Error)]
pub enum StoredTreeError {
    #[error("it is no stored package of this version")]
    Header,
    #[error("the stored package is damaged at byte {at}")]
    Damaged {
        /// The offset of the fault, in bytes.
        at: usize,
    },
    #[error("the stored package is not valid")]
    Entry(#[from] PackageError),
}

impl PackageTree {
    /// Writes the package as bytes; equal packages give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut rows = Vec::new();
        self.rows(&mut rows);
        let mut out = HEADER.to_vec();
        for (path, node) in rows {
            let (kind, rest): (u8, &[u8]) = match node {
                TreeNode::Directory(_) => (DIRECTORY, b""),
                TreeNode::File(FileContent::Kept(bytes)) => (KEPT, bytes),
                TreeNode::File(FileContent::Passed(_, None)) => (PASSED, b""),
                TreeNode::File(FileContent::Passed(_, Some(digest))) => (HASHED, &**digest),
                TreeNode::Link(target) => (LINK, target),
            };
            out.push(kind);
            // Lengths instead of end marks: names may hold any byte but zero, and contents any byte.
            put_number(&mut out, path.len() as u64);
            out.extend_from_slice(&path);
            match node {
                TreeNode::Directory(_) => {}
                TreeNode::File(FileContent::Passed(bytes, _)) => {
                    put_number(&mut out, *bytes);
                    out.extend_from_slice(rest);
                }
                TreeNode::File(FileContent::Kept(_)) | TreeNode::Link(_) => {
                    put_number(&mut out, rest.len() as u64);
                    out.extend_from_slice(rest);
                }
            }
        }
        out
    }

    /// Reads what [`PackageTree::to_bytes`] wrote.
    ///
    /// # Errors
    /// If anything else is in the bytes; nothing in them is trusted.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoredTreeError> {
        let body = bytes.strip_prefix(HEADER).ok_or(StoredTreeError::Header)?;
        let mut rest = body;
        // The builder checks every path and limit again: nothing in the cache is trusted.
        let mut builder = PackageBuilder::new();
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            let damaged = || StoredTreeError::Damaged { at };
            let (kind, behind) = rest.split_first().ok_or_else(damaged)?;
            rest = behind;
            let path = take_bytes(&mut rest).ok_or_else(damaged)?;
            let bytes = match *kind {
                KEPT | LINK => take_bytes(&mut rest).ok_or_else(damaged)?,
                _ => &[],
            };
            match *kind {
                DIRECTORY => builder.directory(path)?,
                KEPT => builder.file(path, FileContent::Kept(Arc::from(bytes)))?,
                PASSED => {
                    let size = take_number(&mut rest).ok_or_else(damaged)?;
                    builder.file(path, FileContent::Passed(size, None))?;
                }
                HASHED => {
                    let size = take_number(&mut rest).ok_or_else(damaged)?;
                    let (digest, behind) = rest.split_first_chunk().ok_or_else(damaged)?;
                    rest = behind;
                    builder.file(path, FileContent::Passed(size, Some(Box::new(*digest))))?;
                }
                LINK => builder.link(path, bytes)?,
                _ => return Err(damaged()),
            }
        }
        Ok(builder.finish())
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

fn take_bytes<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        let bits = u64::from(byte & 0x7f);
        // The last group has one bit left for a number of 64 bits.
        if (bits << shift) >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
