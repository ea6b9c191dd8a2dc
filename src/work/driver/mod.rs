//! Jobs over roots: the roots are found, opened and worked on.
//!
//! [`over_roots`] is the only place that knows of several roots, of threads and of the order of results. A
//! command implements [`Job`].
//!
//! Invariant: results are in the order of the roots, not of their completion.

mod changed;
pub(crate) mod changed_args;
mod contained;
mod each;
mod job;
mod over_roots;
mod results;

pub(crate) use changed::ChangedFiles;
pub(crate) use changed_args::ChangedArgs;
pub(crate) use contained::contained;
pub(crate) use each::{each, each_loaded};
pub(crate) use job::{Job, OpenResult, RunInputs};
pub(crate) use over_roots::over_roots;
pub(crate) use results::RootResults;
