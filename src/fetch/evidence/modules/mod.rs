//! Remote modules: packages of files, and where they come from.
//!
//! A package is a [`PackageTree`](package::PackageTree): its files in memory, never on the disk. Nothing of
//! it is ever executed, no path leads out of it, and everything that is read has a limit.

pub mod archive;
pub mod git;
pub mod package;
pub mod store;

pub mod rules {
    #![doc = include_str!("rules.md")]
}
