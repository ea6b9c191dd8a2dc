//! One call on the way along the tree.

use crate::config::limits::{MAX_DEPTH, MAX_PATH_BYTES};
use crate::config::tree::values::trace::ComputedResult;
use crate::diag::Label;
use crate::module_config::decode::contents::Call;
use crate::requirement::ModulePath;

/// A call on the way: which one, from where, and to where.
pub(super) struct CallSite<'c> {
    pub(super) call: &'c Call,
    /// The index of the call in its module; `None` for a run.
    pub(super) at: Option<usize>,
    pub(super) caller: usize,
    pub(super) sourcing: Sourcing,
    pub(super) path: ModulePath,
}

/// The origin of the source and version of a call.
pub(super) enum Sourcing {
    /// They are written there.
    Written,
    Computed,
    /// They could not be computed, for this reason.
    NotComputed(Option<Label>),
}

impl CallSite<'_> {
    /// Returns whether its source or its version is computed, known or not.
    pub(super) fn is_computed(&self) -> bool {
        !matches!(self.sourcing, Sourcing::Written)
    }

    /// Says what came of computing; nothing where nothing is computed.
    pub(super) fn result(&self) -> Option<ComputedResult> {
        let missing = match &self.sourcing {
            Sourcing::Written => return None,
            Sourcing::Computed => None,
            Sourcing::NotComputed(reason) => reason.clone(),
        };
        let version = self.call.version.clone();
        Some(ComputedResult { version, missing })
    }

    /// Says why the module is too deep, if it is.
    pub(super) fn too_deep(&self) -> Option<String> {
        if self.path.steps().len() > MAX_DEPTH {
            return Some(format!(
                "{MAX_DEPTH} calls are between the root and this one"
            ));
        }
        (self.path.manifest_key().len() >= MAX_PATH_BYTES).then(|| {
            format!("the names of the calls down to here have more than {MAX_PATH_BYTES} bytes")
        })
    }
}
