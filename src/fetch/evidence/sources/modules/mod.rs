//! Sources of the packages of modules: registries of modules, and files over `http` and `https`.
//!
//! As for providers, nothing is unpacked here: a registry says where a package is, and an archive is a file
//! of bytes.

mod directory;
mod error;
mod meta;
mod registry;
mod sums;
mod versions;

pub use directory::{DirectoryError, directory};
pub use error::ModuleRegistryError;
pub use registry::{DirectToken, ModuleLocation, ModuleRegistries};
pub use sums::checksum_of;
pub use versions::{ModuleVersions, NoSelection};
