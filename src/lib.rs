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
//! The rooms below are in reading order: words, documents, the outside, decisions, flows, report,
//! shell. Each imports only rooms that stand before it.
//!
//! What the real programs do is written down in each room that follows them, as in
//! [`version::rules`]: numbered, with the recorded case that proves each rule. Comments cite a rule of
//! their own room as `rules 2.2`, that of another one as `version rules 2.2`.

pub mod flavor;

pub mod addr;
pub mod diag;
pub mod hash;
pub mod package;
pub mod parallel;
pub mod platform;
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

pub mod archive;
pub mod git;
pub mod sources;

pub mod coverage;
pub mod resolve;
pub mod review;

pub mod locker;
pub mod verify;

pub mod workspace;

pub mod report;

pub mod cli;
pub mod os;
