//! Files of Terragrunt as trees, each shared file parsed once for all units.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::json;
use super::limits::MAX_SHARED_BYTES;
use crate::diag::{Diagnostic, FileId, Severity};
use crate::hcl;
use crate::hcl::tree::{Attribute, Body, Item};

/// The text of a file with its tree.
#[derive(Debug)]
pub(super) struct ParsedFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Arc<[u8]>,
    pub(super) body: Body,
    /// The places of local values by name: that of the block in the file, and that of the argument in the block.
    /// Each value may need all others, so they are not searched for.
    locals: BTreeMap<String, (usize, usize)>,
    /// Places inside expressions mean nothing, as in JSON.
    pub(super) is_json: bool,
    /// Errors of the syntax, at places of [`FileId::ALONE`].
    pub(super) faults: Vec<Diagnostic>,
}

impl ParsedFile {
    pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Self {
        let bytes: Arc<[u8]> = bytes.into();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let (body, mut faults) = if is_json {
            json::parse(FileId::ALONE, &bytes)
        } else {
            hcl::parse(FileId::ALONE, &bytes)
        };
        // Notes are not for Terragrunt: of two equal keys in an object the later one counts.
        faults.retain(|fault| fault.severity == Severity::Error);
        let mut locals = BTreeMap::new();
        let first = body
            .items
            .iter()
            .enumerate()
            .find_map(|(at, item)| match item {
                Item::Block(block) if block.kind.text == "locals" => Some((at, block)),
                _ => None,
            });
        if let Some((at, block)) = first {
            for (place, item) in block.body.items.iter().enumerate() {
                if let Item::Attribute(attribute) = item {
                    // Of equal names the first one counts, as where one is searched for.
                    let name = attribute.name.text.clone();
                    locals.entry(name).or_insert((at, place));
                }
            }
        }
        Self {
            path: path.to_owned(),
            locals,
            bytes,
            body,
            is_json,
            faults,
        }
    }

    /// Returns the argument that is a local value.
    pub(super) fn local(&self, name: &str) -> Option<&Attribute> {
        let (block, place) = *self.locals.get(name)?;
        let Item::Block(block) = self.body.items.get(block)? else {
            return None;
        };
        match block.body.items.get(place)? {
            Item::Attribute(attribute) => Some(attribute),
            Item::Block(_) => None,
        }
    }
}

/// The parsed files that many units share. One value serves all units of a run, from several threads.
#[derive(Debug, Default)]
pub struct Documents {
    shared: Mutex<SharedFiles>,
}

#[derive(Debug, Default)]
struct SharedFiles {
    documents: BTreeMap<PathBuf, Arc<ParsedFile>>,
    bytes: usize,
}

impl Documents {
    pub(super) fn find(&self, path: &Path) -> Option<Arc<ParsedFile>> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.documents.get(path).map(Arc::clone)
    }

    /// Keeps a document for other units, as far as there is room.
    pub(super) fn keep(&self, document: &Arc<ParsedFile>) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = shared.bytes + document.bytes.len();
        // A file without room is read and parsed again for each unit.
        if bytes <= MAX_SHARED_BYTES {
            shared.bytes = bytes;
            shared
                .documents
                .insert(document.path.clone(), Arc::clone(document));
        }
    }
}
