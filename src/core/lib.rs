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
//! use lockctl_core::{Flavor, lock::LockFile};
//!
//! let text = "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n}\n";
//! let lock = LockFile::parse(text.as_bytes(), Flavor::Terraform1_16)?;
//! assert_eq!(lock.providers.len(), 1);
//! # Ok::<(), lockctl_core::lock::LockFileError>(())
//! ```
//!
//! These stay as they are where the rooms behind them change. Everything else is hidden here, and may
//! change with any version.
//!
//! # Rooms
//!
//! Rooms are in wings, in reading order: `words`, `outside`, `texts`, `judge`. Each imports only rooms that
//! come before it. The crates `lockctl-fetch` and `lockctl` build on them.
//!
//! What the real programs do is written down in each room that follows them, as in
//! `version::rules`: numbered, with the recorded case that proves each rule. Comments cite a rule of
//! their own room as `rules 2.2`, that of another one as `version rules 2.2`. What users should know
//! beside the README is in the pages of `lockctl explain`.

mod judge;
mod outside;
mod texts;
mod words;

#[doc(hidden)]
pub use judge::{archive, coverage, resolve, review, verifier, workspace};
#[doc(hidden)]
pub use outside::{git, os, world};
#[doc(hidden)]
pub use texts::{
    cliconfig, config, effective, expr, hcl, json, lockfile, module_config, pins, project,
    remote_module, terragrunt,
};
#[doc(hidden)]
pub use words::{addr, contents, diag, flavor, package, parallel, platform, requirement, version};

pub use judge::verify;
pub use words::hash;

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
        Cause, CauseKind, ChangeKind, Explained, LockDiff, MergeBase, MergeConflict,
        MergePreference, Merged, ProviderChange, ProviderSide, Risk, diff, explain, merge,
    };
}
