//! lockctl resolves, locks, verifies and explains the provider dependencies of Terraform and
//! OpenTofu configurations (`.terraform.lock.hcl`), without running either program.
//!
//! Data flows one way, and every arrow is a plain value:
//!
//! ```text
//! config dirs --config--> Requirements --+
//!                                        +--resolve--> Selections --sources--> PackageMeta
//! lock file --lockfile::parse--> LockFile+                                          |
//!                                   |                                             fetch
//!                                   |                                               v
//! lock file <--lockfile::write-- LockFile <--assemble-- Hash <--archive-- zip or unpacked dir
//!                                   |                                               |
//!                                   +---------------- verify <----------------------+
//!                                                       |
//!                                                       +--> Report --report--> human, json
//! ```
//!
//! # For other programs
//!
//! | To | Use |
//! |---|---|
//! | read, change and write lock files | [`lock`] |
//! | compare lock files, judge the changes, merge | [`diff`](mod@diff) |
//! | find what is wrong with a root | [`Verifier`] and [`verify`] |
//! | compute hashes of packages | [`hash`] |
//!
//! ```
//! use lockctl::{Flavor, lock::LockFile};
//!
//! let text = "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n}\n";
//! let lock = LockFile::parse(text.as_bytes(), Flavor::Terraform1_16)?;
//! assert_eq!(lock.providers.len(), 1);
//! # Ok::<(), lockctl::lock::LockFileError>(())
//! ```
//!
//! These stay as they are where the rooms behind them change. Everything else is hidden here, and may
//! change with any version.
//!
//! Cargo features:
//!
//! - none (`default-features = false`): all of the above; no network, no OpenPGP, no signal handler, and
//!   at most 80 crates,
//! - `fetch`: registries, mirrors, remote modules, signatures, stores of facts,
//! - `cli` (the default): the program; it implies `fetch`.
//!
//! # Rooms
//!
//! The rooms below are in reading order: words, documents, the outside, decisions, flows, report,
//! shell. Each imports only rooms that come before it.
//!
//! What the real programs do is written down in each room that follows them, as in
//! `version::rules`: numbered, with the recorded case that proves each rule. Comments cite a rule of
//! their own room as `rules 2.2`, that of another one as `version rules 2.2`. What users should know
//! beside the README is in the pages of `lockctl explain`: `guide::topics`.

#[doc(hidden)]
pub mod flavor;

#[doc(hidden)]
pub mod addr;
#[doc(hidden)]
pub mod contents;
#[doc(hidden)]
pub mod diag;
pub mod hash;
#[doc(hidden)]
pub mod package;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod platform;
#[doc(hidden)]
pub mod remote_module;
#[doc(hidden)]
pub mod requirement;
#[doc(hidden)]
pub mod version;
#[doc(hidden)]
pub mod world;

#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod authenticate;
#[doc(hidden)]
pub mod cliconfig;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod expr;
#[doc(hidden)]
pub mod hcl;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod lockfile;
#[doc(hidden)]
pub mod module_config;
#[doc(hidden)]
pub mod project;
#[doc(hidden)]
pub mod terragrunt;

#[doc(hidden)]
pub mod archive;
#[doc(hidden)]
pub mod git;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod modules;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod sources;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod store;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod coverage;
#[doc(hidden)]
pub mod resolve;
#[doc(hidden)]
pub mod review;

#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod locker;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod mirror;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod packages;
#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod upstream;
pub mod verify;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod sbom;

#[doc(hidden)]
pub mod workspace;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod report;

#[cfg(feature = "cli")]
mod run;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod guide;

#[cfg(feature = "fetch")]
#[doc(hidden)]
pub mod net;
#[doc(hidden)]
pub mod os;
mod serialized;
#[cfg(all(unix, feature = "cli"))]
#[doc(hidden)]
pub mod signals;
mod verifier;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod completion;

pub use addr::ProviderAddr;
pub use archive::dir::hash_directory;
pub use archive::zip::hash_zip;
pub use flavor::Flavor;
pub use hash::{Hash, Hashes};
pub use lockfile::{LockFile, ProviderLock};
pub use platform::Platform;
pub use review::{diff, merge};
pub use verifier::{Verification, Verifier, VerifierError};
pub use version::{Constraints, Version};

/// Lock files: bytes to a model, and the model to the bytes that the programs would write.
pub mod lock {
    pub use crate::addr::ProviderAddr;
    pub use crate::flavor::{Flavor, Program};
    pub use crate::hash::{Hash, Hashes};
    pub use crate::lockfile::{FILE_NAME, LockFile, LockFileError, ProviderLock, write};
    pub use crate::version::{Constraints, Version};
}

/// Two lock files, or three: what changed, how alarming it is, and the merged one.
pub mod diff {
    pub use crate::review::{
        Cause, ChangeKind, Explained, LockDiff, MergeBase, MergeConflict, MergePreference, Merged,
        ProviderChange, ProviderSide, Risk, diff, explain, merge,
    };
}
