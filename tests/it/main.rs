//! Whole rooms and whole commands, in one binary.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests touch the real world"
)]

mod archives;
mod corpus_syntax;
mod versions;
