//! The trait of a job over roots, and the inputs of its run.

use std::num::NonZeroUsize;

use crate::config::Loaded;
use crate::diag::Texts;
use crate::driver::ChangedFiles;
use crate::parallel;
use crate::report::{Failure, RootResult};
use crate::run::World;
use crate::run::options::{Options, RootArgs};
use crate::run::root::Root;
use crate::run::session::Session;
use crate::workspace::Reading;
use crate::world::{Exclusive, Replaced};

/// The inputs of the run of a job.
#[derive(Clone, Copy)]
pub(crate) struct RunInputs<'a> {
    pub(crate) roots: &'a RootArgs,
    pub(crate) options: &'a Options,
    /// The sources of configuration; `None` if the job needs nothing but lock files.
    pub(crate) reading: Option<Reading<'a>>,
    /// The files that changed, if the work is limited to changed roots.
    pub(crate) changed: Option<&'a ChangedFiles>,
    /// The number of roots that are read at once.
    pub(crate) jobs: NonZeroUsize,
    pub(crate) world: World<'a>,
}

impl<'a> RunInputs<'a> {
    /// Takes all roots by their lock files alone.
    pub(crate) fn of_locks<'b: 'a>(session: &'a Session<'b>, roots: &'a RootArgs) -> Self {
        Self {
            roots,
            options: session.options,
            reading: None,
            changed: None,
            jobs: parallel::cores(),
            world: session.world,
        }
    }
}

/// A job over roots.
///
/// Roots are read side by side, opened in their order, worked on together, and finished in their order.
pub(crate) trait Job {
    /// A root that is ready for the work.
    type Opened;
    /// A root after the work.
    type Done;

    /// Prepares a root for the work, or finishes it.
    ///
    /// `loaded` is its configuration, if the run reads any.
    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<Self::Opened>, Failure>;

    /// Returns the reasons why no root can be worked on, now that all could be opened.
    fn obstacles(&self) -> Vec<Failure> {
        Vec::new()
    }

    /// Works on all roots, each with its result so far; returns them in their order.
    fn work(
        &mut self,
        roots: Vec<(Self::Opened, &mut RootResult)>,
        texts: &Texts,
    ) -> Vec<Self::Done>;

    /// Writes and reports what came of a root; a job that writes nothing reports with its work.
    ///
    /// `held` is the exclusive right to write its lock file, if the run has it.
    fn finish(
        &mut self,
        _root: Self::Done,
        _held: Option<&Exclusive>,
        _texts: &Texts,
        _result: &mut RootResult,
    ) -> Result<Replaced, Failure> {
        Ok(Replaced::Done)
    }
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
