//! Modules that are fetched: replays of `fixtures/module-cases`.

mod attacks_archive;
mod attacks_git;
mod classify;
mod harness;
mod packages;
mod recorded;
mod selection;
mod store;
mod warm;
