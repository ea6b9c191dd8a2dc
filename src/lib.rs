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
//! What is named at the top of this crate is what other programs need most; it stays as it is where
//! the rooms below change:
//!
//! - [`LockFile::parse`] and [`write`](lockfile::write()) read and write lock files,
//! - [`ProviderAddr`], [`Version`], [`Constraints`], [`Platform`] and [`Hash`](struct@Hash) are what they are about,
//! - [`hash_zip`] and [`hash_directory`] compute the hashes of a package,
//! - [`diff()`] and [`merge()`] compare lock files,
//! - [`verify::run`] checks a lock file, [`locker::run`] completes one with packages of any
//!   [`Source`](sources::Source).
//!
//! # Rooms
//!
//! The rooms below are in reading order: words, documents, the outside, decisions, flows, report,
//! shell. Each imports only rooms that come before it.
//!
//! What the real programs do is written down in each room that follows them, as in
//! [`version::rules`]: numbered, with the recorded case that proves each rule. Comments cite a rule of
//! their own room as `rules 2.2`, that of another one as `version rules 2.2`. What users should know
//! beside the README is in the pages of `lockctl explain`: [`diag::topics`].

pub mod flavor;

pub mod addr;
pub mod diag;
pub mod hash;
pub mod package;
#[doc(hidden)]
pub mod parallel;
pub mod platform;
pub mod remote_module;
pub mod requirement;
pub mod version;
pub mod world;

pub mod authenticate;
pub mod cliconfig;
pub mod config;
pub mod expr;
pub mod hcl;
pub mod json;
pub mod lockfile;
pub mod project;
pub mod terragrunt;

pub mod archive;
pub mod git;
pub mod modules;
pub mod sources;
pub mod store;

pub mod coverage;
pub mod resolve;
pub mod review;

pub mod locker;
pub mod verify;

pub mod workspace;

pub mod report;

#[doc(hidden)]
pub mod cli;
pub mod os;

pub use addr::ProviderAddr;
pub use archive::dir::hash_directory;
pub use archive::zip::hash_zip;
pub use flavor::Flavor;
pub use hash::{Hash, Hashes};
pub use lockfile::{LockFile, ProviderLock};
pub use platform::Platform;
pub use review::{diff, merge};
pub use version::{Constraints, Version};
