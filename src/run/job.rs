//! The trait of a job over roots.

use std::num::NonZeroUsize;

use crate::diag::Texts;
use crate::parallel;
use crate::report::{Failure, RootResult};
use crate::run::root::Root;
use crate::world::{Exclusive, Replaced};

/// A job over roots.
///
/// Roots are loaded side by side, opened in their order, worked on together, and finished in their order.
pub(crate) trait Job: Sync {
    /// Files of a root that are read beside its lock file.
    type Loaded: Send;
    /// A root that is ready for the work.
    type Opened;
    /// A root after the work.
    type Done;

    /// Returns how many roots are loaded at once.
    fn threads(&self) -> NonZeroUsize {
        parallel::cores()
    }

    /// Reads what the job needs beside the lock file; changes nothing.
    fn load(&self, root: &Root, texts: &mut Texts) -> Self::Loaded;

    /// Prepares a root for the work, or finishes it.
    fn open(
        &mut self,
        root: Root,
        loaded: Self::Loaded,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<Self::Opened>, Failure>;

    /// Returns the reasons why no root can be worked on, now that all could be opened.
    fn obstacles(&self) -> Vec<Failure> {
        Vec::new()
    }

    /// Works on all roots; returns them in their order.
    fn work(&mut self, roots: Vec<Self::Opened>) -> Vec<Self::Done>;

    /// Writes and reports what came of a root.
    ///
    /// `held` is the exclusive right to write its lock file, if the run has it.
    fn finish(
        &mut self,
        root: Self::Done,
        held: Option<&Exclusive>,
        texts: &Texts,
        result: &mut RootResult,
    ) -> Result<Replaced, Failure>;
}

/// The state of a root after [`Job::open`].
pub(crate) enum OpenResult<T> {
    /// The root waits for the work on all roots.
    Ready(T),
    /// The result is complete without any work.
    Finished,
    /// Another program changed its lock file; it starts over.
    Changed,
}

impl<T> From<Replaced> for OpenResult<T> {
    fn from(replaced: Replaced) -> Self {
        match replaced {
            Replaced::Done => Self::Finished,
            Replaced::Changed => Self::Changed,
        }
    }
}
