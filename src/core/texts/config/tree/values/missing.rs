//! Values of the root that are not known: which of them decide on a module (rules 9.12, 9.14).

use crate::config::tree::reader::Reader;
use crate::config::tree::values::{Stop, Values};
use crate::diag::{Diagnostic, Label};
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;
use crate::requirement::{MissingValues, ValueErrors};

/// A variable of the root without a value.
pub(super) struct UnsetVariable {
    pub(super) name: String,
    pub(super) note: Diagnostic,
    /// The source or the version of a module depends on it.
    pub(super) decides_module: bool,
}

impl Values {
    /// Adds an error that the programs report because a variable of the root has no value.
    pub(super) fn predict(&self, error: Diagnostic, reader: &mut Reader<'_>) {
        flood::push(&mut reader.value_errors.errors, error);
    }

    /// Notes that the source or the version of a module depends on the variables that have no value.
    pub(super) fn note_deciding(&mut self, stop: &Stop) {
        let Stop::Uncertain(reason) = stop else {
            return;
        };
        for Label { file, span, .. } in reason.primary.iter().chain(&reason.related) {
            let (file, span) = (*file, *span);
            if let Some(variable) = self.unset.get_mut(&SourcePlace { file, span }) {
                variable.decides_module = true;
            }
            for unread in &mut self.given.unread {
                unread.decides_module |= unread.file == file;
            }
        }
    }

    /// Returns the values that are not known and that decide on no module, and adds a note on each to `found`. A file
    /// that decides on one is an error. Errors of the programs are added to `value_errors`.
    pub(in crate::texts::config) fn into_missing(
        self,
        found: &mut Vec<Diagnostic>,
        value_errors: &mut ValueErrors,
    ) -> MissingValues {
        let mut missing = MissingValues::default();
        let unset = self.unset.into_values();
        for variable in unset.filter(|variable| !variable.decides_module) {
            missing.variables.push(variable.name);
            found.push(variable.note);
        }
        for unread in self.given.unread {
            if unread.decides_module {
                found.extend(unread.faults);
            } else {
                found.push(unread.note());
                if !unread.values.is_encrypted {
                    value_errors.errors.extend(unread.faults);
                }
                missing.files.push(unread.values);
            }
        }
        missing
    }
}
