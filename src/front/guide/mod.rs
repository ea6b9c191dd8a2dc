//! The guide: pages, what to type after a failure, and the way from what a user sees to the page that explains it.
//!
//! [`topics`] are the pages beside those of the rules. [`search`] finds words in the pages of rules and topics. [`output::messages`] reads the output of
//! `terraform` or `tofu`, [`known`] is the table of the errors about providers and lock files that they
//! print, and [`recognised::explain`] puts both together.
//!
//! Invariant: an error is recognised by the table alone, and no code knows the name of an error.

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub(crate) mod explain;
pub mod known;
pub(crate) mod output;
pub(crate) mod recognised;
pub(crate) mod search;
pub(crate) mod subject;
#[cfg(test)]
mod tests;
pub mod topics;

pub use topics::{TOPICS, Topic};
