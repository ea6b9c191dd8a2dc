//! Modules that are fetched: replays of `fixtures/module-cases`.

mod attacks_archive;
mod attacks_git;
mod classify;
// Which authority a program trusts cannot be stated in the environment elsewhere.
#[cfg(target_os = "linux")]
mod harness;
mod packages;
mod recorded;
mod replay;
mod requests;
mod selection;
mod warm;
