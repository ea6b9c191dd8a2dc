//! What is read of real git repositories.

mod changes;
mod tree;
