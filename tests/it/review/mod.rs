//! Changes of lock files explained.

mod cases;
mod corpus;
mod explained;
