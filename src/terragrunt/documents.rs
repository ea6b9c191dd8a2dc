//! Files of Terragrunt as trees, each shared file parsed once for all units.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::json;
use super::limits::MAX_SHARED_BYTES;
use super::schema;
use crate::diag::{Diagnostic, FileId};
use crate::hcl;
use crate::hcl::tree::Body;

/// The text of a file with its tree.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) path: PathBuf,
    pub(super) bytes: Arc<[u8]>,
    pub(super) body: Body,
    /// Whether places inside expressions mean nothing, as in JSON.
    pub(super) is_json: bool,
    /// What is wrong with the syntax; its places are of [`FileId::ALONE`].
    pub(super) faults: Vec<Diagnostic>,
    /// What Terragrunt refuses of the structure, likewise.
    pub(super) misfits: Vec<Diagnostic>,
}

impl Document {
    pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Self {
        let bytes: Arc<[u8]> = bytes.into();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let (body, faults) = match is_json {
            true => json::parse(FileId::ALONE, &bytes),
            false => hcl::parse(FileId::ALONE, &bytes),
        };
        Self {
            path: path.to_owned(),
            misfits: schema::check(path, &body),
            bytes,
            body,
            is_json,
            faults,
        }
    }
}

/// The parsed files that many units share. One value serves all units of a run, from several threads.
#[derive(Debug, Default)]
pub struct Documents {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    documents: BTreeMap<PathBuf, Arc<Document>>,
    bytes: usize,
}

impl Documents {
    pub(super) fn find(&self, path: &Path) -> Option<Arc<Document>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.documents.get(path).map(Arc::clone)
    }

    /// Keeps a document for other units, as far as there is room.
    pub(super) fn keep(&self, document: &Arc<Document>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = kept.bytes + document.bytes.len();
        if bytes <= MAX_SHARED_BYTES {
            kept.bytes = bytes;
            kept.documents
                .insert(document.path.clone(), Arc::clone(document));
        }
    }
}
