//! A job over roots: roots found, opened and worked on, and the configuration of the user's machine.
//!
//! [`over_roots`] is the only place that knows of several roots, of threads and of the order of results. A
//! command implements [`Job`]; it works with the [`options`] that were typed, and
//! with the [`session`], which reads what the machine of the user is configured to ([`user`]).
//!
//! Invariant: results are in the order of the roots, not of their completion.

pub(crate) mod builds;
mod changed;
pub(crate) mod commands;
mod contained;
pub(crate) mod contents;
pub(crate) mod contradiction;
mod driver;
mod each;
pub(crate) mod facts;
mod failure;
pub(crate) mod formats;
pub(crate) mod ignored;
mod job;
pub(crate) mod line_ends;
pub(crate) mod mirror;
pub(crate) mod options;
pub(crate) mod platforms;
pub(crate) mod progress;
mod results;
pub(crate) mod root;
pub(crate) mod session;
pub(crate) mod typed_addr;
pub(crate) mod unseen;
pub(crate) mod user;
mod values;

use crate::world::{Clock, Disk, Env, Files, Http, Run};

pub(crate) use changed::ChangedFiles;
pub(crate) use contained::contained;
pub(crate) use driver::over_roots;
pub(crate) use each::{each, each_loaded};
pub(crate) use job::{Job, OpenResult, RunInputs};
pub(crate) use results::RootResults;

/// The outside that commands act on.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Files, which may be written.
    pub disk: &'a dyn Disk,
    /// Variables of the environment, and the terminal.
    pub env: &'a dyn Env,
    /// Requests over the network.
    pub http: &'a dyn Http,
    /// The time of day, and waiting.
    pub clock: &'a dyn Clock,
    /// Other programs, as git or credential helpers.
    pub run: &'a dyn Run,
    /// The files that project files are read from, if it is not the disk.
    pub project_files: Option<&'a dyn Files>,
}
