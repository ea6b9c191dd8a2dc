//! Directories that were read for one root, and are kept for the other roots of a run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::config::tree::resolve::{self, Module};
use crate::diag::{Diagnostic, SharedTexts};
use crate::flavor::Flavor;
use crate::module_config::decode::contents::Contents;

/// Bytes of memory that an argument or a block of a kept directory takes, beside its text.
const ITEM_BYTES: usize = 200;

/// One directory, read. Nothing in it depends on the call or the root that leads there.
#[derive(Default)]
pub(in crate::texts::config) struct ReadDirectory {
    pub contents: Arc<Contents>,
    /// The faults of its files, in the order of their places.
    pub found: Vec<Diagnostic>,
    module: OnceLock<Arc<Module>>,
}

impl ReadDirectory {
    pub(in crate::texts::config) fn new(contents: Contents, found: Vec<Diagnostic>) -> Self {
        Self {
            contents: Arc::new(contents),
            found,
            ..Self::default()
        }
    }

    pub(in crate::texts::config) fn module(&self, flavor: Flavor) -> Arc<Module> {
        Arc::clone(self.module.get_or_init(|| {
            let mut found = Vec::new();
            let needs = resolve::resolve(&self.contents, flavor, &mut found);
            Arc::new(Module {
                needs,
                files: self.contents.files.clone().into(),
                contents: Arc::clone(&self.contents),
                found,
            })
        }))
    }
}

/// A directory with the texts of its files, as every root may take it.
pub(in crate::texts::config) struct SharedDirectory {
    pub directory: Arc<ReadDirectory>,
    pub texts: SharedTexts,
    /// The directory as the texts name it.
    pub shown: PathBuf,
    /// The share of the limits of a root that reading it takes.
    pub cost: ReadingCost,
}

/// The parts of the limits of a root that reading takes.
#[derive(Clone, Copy)]
pub(in crate::texts::config) struct ReadingCost {
    pub bytes: u64,
    pub files: usize,
    pub items: usize,
}

impl ReadingCost {
    /// Returns about how many bytes of memory are kept.
    pub(in crate::texts::config) fn memory(self) -> usize {
        let text = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        text.saturating_add(self.items.saturating_mul(ITEM_BYTES))
    }
}

/// The place for a directory by the rules of one flavor. Who comes first reads it; others wait.
pub(in crate::texts::config) struct KeptDirectory {
    pub flavor: Flavor,
    state: Mutex<KeptState>,
}

enum KeptState {
    Unread,
    Read(Arc<SharedDirectory>),
    /// Each root reads it by itself.
    Refused,
}

impl KeptDirectory {
    pub(in crate::texts::config) fn new(flavor: Flavor) -> Self {
        Self {
            flavor,
            state: Mutex::new(KeptState::Unread),
        }
    }

    /// Returns the directory; `read` is called once, and returns nothing for one that is not to be kept.
    pub(in crate::texts::config) fn get_or_read(
        &self,
        read: impl FnOnce() -> Option<SharedDirectory>,
    ) -> Option<Arc<SharedDirectory>> {
        // If a reader panicked, the next one tries again.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let KeptState::Unread = *state {
            *state = read().map_or(KeptState::Refused, |read| KeptState::Read(Arc::new(read)));
        }
        match &*state {
            KeptState::Read(directory) => Some(Arc::clone(directory)),
            KeptState::Unread | KeptState::Refused => None,
        }
    }
}

/// Returns a name with another directory in front of it.
pub(in crate::texts::config) fn renamed(name: &str, from: &Path, to: &Path) -> String {
    match Path::new(name).strip_prefix(from) {
        Ok(inside) => to.join(inside).display().to_string(),
        Err(_) => name.to_owned(),
    }
}
