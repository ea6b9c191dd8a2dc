//! The room as its callers see it.

mod find;
mod nearest;
mod read;
