//! Native syntax: text to a tree, with every problem of a file at once.

pub mod tree;
