//! Where the packages of modules come from: registries of modules, and files over `http` and `https`.
//!
//! As for providers, nothing is unpacked here: a registry says where a package is, and an archive is a file of
//! bytes.

mod versions;

pub use versions::{ModuleVersions, NoSelection};
