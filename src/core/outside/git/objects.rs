//! Names of objects, and what files held at a revision.

use std::fmt;

use super::error::GitError;
use super::repository::{MAX_LIST_BYTES, Repository};

/// Maximum size of the files that one git process reads, in bytes.
const MAX_BATCH_BYTES: u64 = 32 << 20; // The output of one process is held in memory.

/// Size of what git prints about an object, beside its content, in bytes.
const HEADER_BYTES: u64 = 128;

/// The name of an object: 40 or 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId {
    text: Box<str>,
}

crate::words::serialized::as_text!(ObjectId);

/// The content of a file at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobContent {
    /// The whole content of the file.
    Bytes(Vec<u8>),
    /// More than was to be read.
    TooLarge {
        /// The size of the file, in bytes.
        bytes: u64,
    },
    /// The repository does not hold it: a partial clone, or a broken one.
    Missing,
}

/// A file that is read at once with others.
struct WantedBlob<'o> {
    /// Its index in the answer.
    index: usize,
    blob: &'o ObjectId,
    /// The size of the file, in bytes.
    bytes: u64,
}

impl ObjectId {
    /// Reads a name as git prints it; `None` for anything else, and for the name that means
    /// nothing.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_name = [40, 64].contains(&text.len()) && text.bytes().all(is_hex);
        (is_name && text.bytes().any(|byte| byte != b'0')).then(|| Self { text: text.into() })
    }

    /// Returns all digits of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the first ten digits, for messages and tables.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.text[..10]
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Repository<'_> {
    /// Reads files at once, each up to `limit` bytes; the answers are in the order of the names.
    ///
    /// It takes a single process, and two or more beyond 32 MiB, however many files there are.
    ///
    /// # Errors
    /// If git does not answer; not for a file that is missing or too large.
    pub fn read(&self, blobs: &[ObjectId], limit: u64) -> Result<Vec<BlobContent>, GitError> {
        const COMMAND: &str = "cat-file";
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let format = "--batch=%(objecttype) %(objectsize)";
        let output = match self.output(&[COMMAND, format], &names(blobs.iter()), MAX_BATCH_BYTES) {
            // Large files, which may be too large, are not printed by git at all.
            Err(GitError::TooMuch { .. }) => return self.read_by_size(blobs, limit),
            output => output?,
        };
        let mut rest = &output[..];
        blobs
            .iter()
            .map(|_| {
                typed_content(&mut rest, limit).ok_or(GitError::Unexpected { command: COMMAND })
            })
            .collect()
    }

    /// Asks for the sizes of files before it reads those that are not too large.
    fn read_by_size(&self, blobs: &[ObjectId], limit: u64) -> Result<Vec<BlobContent>, GitError> {
        let sizes = self.sizes(blobs)?;
        let mut contents = Vec::with_capacity(blobs.len());
        let mut wanted = Vec::new();
        for (index, (blob, size)) in blobs.iter().zip(sizes).enumerate() {
            contents.push(match size {
                // Without GIT_NO_LAZY_FETCH a partial clone would fetch it now.
                None => BlobContent::Missing,
                Some(bytes) if bytes > limit => BlobContent::TooLarge { bytes },
                Some(bytes) => {
                    wanted.push(WantedBlob { index, blob, bytes });
                    BlobContent::Bytes(Vec::new())
                }
            });
        }
        while !wanted.is_empty() {
            let mut bytes = 0;
            let within_batch = |wanted: &&WantedBlob<'_>| {
                bytes += wanted.bytes;
                bytes <= MAX_BATCH_BYTES
            };
            // A single file may be larger than a batch.
            let count = wanted.iter().take_while(within_batch).count().max(1);
            let batch: Vec<WantedBlob<'_>> = wanted.drain(..count).collect();
            let read = self.batch(&batch)?;
            for (wanted, bytes) in batch.iter().zip(read) {
                contents[wanted.index] = BlobContent::Bytes(bytes);
            }
        }
        Ok(contents)
    }

    /// Returns how many bytes files have; nothing for what is no file or is missing.
    fn sizes(&self, blobs: &[ObjectId]) -> Result<Vec<Option<u64>>, GitError> {
        const COMMAND: &str = "cat-file";
        let format = "--batch-check=%(objecttype) %(objectsize)";
        let output = self.output(&[COMMAND, format], &names(blobs.iter()), MAX_LIST_BYTES)?;
        let sizes: Vec<Option<u64>> = String::from_utf8_lossy(&output)
            .lines()
            .map(|line| line.strip_prefix("blob ")?.parse().ok())
            .collect();
        if sizes.len() != blobs.len() {
            return Err(GitError::Unexpected { command: COMMAND });
        }
        Ok(sizes)
    }

    /// Reads files whose sizes are known.
    fn batch(&self, blobs: &[WantedBlob<'_>]) -> Result<Vec<Vec<u8>>, GitError> {
        const COMMAND: &str = "cat-file";
        let limit: u64 = blobs.iter().map(|wanted| wanted.bytes + HEADER_BYTES).sum();
        let stdin = names(blobs.iter().map(|wanted| wanted.blob));
        let output = self.output(&[COMMAND, "--batch=%(objectsize)"], &stdin, limit)?;
        let mut rest = &output[..];
        blobs
            .iter()
            .map(|wanted| {
                let content = content(&mut rest, wanted.bytes);
                content.ok_or(GitError::Unexpected { command: COMMAND })
            })
            .collect()
    }
}

/// Takes `TYPE SIZE\nCONTENT\n`, or `NAME missing\n`, off the front.
fn typed_content(rest: &mut &[u8], limit: u64) -> Option<BlobContent> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (kind, size) = std::str::from_utf8(&rest[..end]).ok()?.split_once(' ')?;
    if size == "missing" {
        *rest = &rest[end + 1..];
        return Some(BlobContent::Missing);
    }
    *rest = &rest[kind.len() + 1..];
    let bytes = size.parse().ok()?;
    let content = content(rest, bytes)?;
    Some(match kind {
        "blob" if bytes > limit => BlobContent::TooLarge { bytes },
        "blob" => BlobContent::Bytes(content),
        _ => BlobContent::Missing,
    })
}

/// Takes `SIZE\nCONTENT\n` off the front.
fn content(rest: &mut &[u8], size: u64) -> Option<Vec<u8>> {
    let header = format!("{size}\n");
    let behind = rest.strip_prefix(header.as_bytes())?;
    let (content, behind) = behind.split_at_checked(usize::try_from(size).ok()?)?;
    *rest = behind.strip_prefix(b"\n")?;
    Some(content.to_vec())
}

fn names<'o>(objects: impl Iterator<Item = &'o ObjectId>) -> Vec<u8> {
    let lines = objects.flat_map(|object| [object.as_str().as_bytes(), b"\n"]);
    lines.collect::<Vec<_>>().concat()
}
