//! Arguments that are found by what stands in them.

use std::collections::BTreeMap;

use crate::diag::FileId;
use crate::module_config::file::SourcePlace;
use crate::module_config::merge::merged::MergedAttribute;

/// Something about each of several arguments, found by any place in the argument.
///
/// Arguments never overlap: those of nested blocks are arguments of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByArgument<T> {
    /// The end of each argument and its value, by file and start.
    arguments: BTreeMap<(FileId, usize), (usize, T)>,
}

impl<T> ByArgument<T> {
    pub(crate) fn insert(&mut self, argument: &MergedAttribute, value: T) {
        let span = argument.written.span;
        let key = (argument.file, span.start);
        self.arguments.insert(key, (span.end, value));
    }

    /// Returns what is said of the argument in which something stands.
    pub(crate) fn around(&self, place: SourcePlace) -> Option<&T> {
        let SourcePlace { file, span } = place;
        let mut before = self.arguments.range(..=(file, span.start));
        let ((of, _), (end, value)) = before.next_back()?;
        (*of == file && span.end <= *end).then_some(value)
    }
}
