//! A run of the program: the [`options`] that were typed, and the [`session`], which reads the configuration of the
//! user's machine ([`user`]) once.

pub(crate) mod builds;
pub(crate) mod command;
pub(crate) mod commands;
pub(crate) mod computed;
pub(crate) mod contents;
pub(crate) mod contradiction;
pub(crate) mod edits;
pub(crate) mod facts;
mod failure;
pub(crate) mod formats;
pub(crate) mod github;
pub(crate) mod holding;
pub(crate) mod ignored;
pub(crate) mod line_ends;
pub(crate) mod options;
pub(crate) mod pages;
pub(crate) mod paths;
pub(crate) mod platforms;
pub(crate) mod progress;
pub(crate) mod provenance;
pub(crate) mod provider;
pub(crate) mod root;
pub(crate) mod session;
pub(crate) mod shared_keys;
pub(crate) mod typed_addr;
pub(crate) mod unseen;
pub(crate) mod user;
mod values;
pub(crate) mod versions;

use crate::world::{Clock, Disk, Env, Files, Http, Run};

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
