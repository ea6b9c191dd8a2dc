//! Modules that are fetched: replays of `fixtures/module-cases`.

mod classify;
mod packages;
mod recorded;
mod selection;
