//! Both sides of a merge: the driver that git runs, files with conflict markers, and the settings that make git run
//! lockctl.

pub(crate) mod git;
pub(crate) mod merge;
pub(crate) mod resolve;
