//! Modules that are fetched: replays of `fixtures/module-cases`.

mod classify;
mod recorded;
mod selection;
