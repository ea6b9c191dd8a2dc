//! Changes of lock files explained.

mod corpus;
