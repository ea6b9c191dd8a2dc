//! Whole rooms and whole commands, in one binary.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(
    clippy::print_stdout,
    reason = "tests say what they counted and what they skipped"
)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests touch the real world"
)]

mod action;
mod action_diff;
mod action_install;
mod action_push;
mod archives;
mod attested;
mod build_information;
mod cases;
mod commands;
mod configs;
mod corpus_syntax;
mod facts_concurrent;
mod fuzz;
mod git;
mod github_api;
mod hooks;
mod hostile_archives;
mod interrupt;
mod limits;
mod lockfiles;
mod output_schema;
mod pages;
mod pictures;
mod recipes;
mod recorded_scenarios;
mod registry_cases;
mod release_files;
mod remote_modules;
mod replay;
mod review;
mod routes;
mod selections;
mod terragrunt;
mod texts;
mod threats;
mod torture;
mod versions;

#[path = "../support/attestations.rs"]
mod attestations;
#[path = "../support/bucket.rs"]
mod bucket;
#[path = "../support/copy.rs"]
mod copy;
#[path = "../support/corpus.rs"]
mod corpus;
#[path = "../support/disk.rs"]
mod disk;
#[path = "../support/lab.rs"]
mod lab;
#[path = "../support/module_lab/mod.rs"]
mod module_lab;
#[path = "../support/modules.rs"]
mod modules;
#[path = "../support/oci/mod.rs"]
mod oci;
#[path = "../support/registry/mod.rs"]
mod registry;
#[path = "../support/repo.rs"]
mod repo;
#[path = "../support/scenarios/mod.rs"]
mod scenarios;
#[path = "../support/schema.rs"]
mod schema;
#[path = "../support/seed.rs"]
mod seed;
#[path = "../support/servers.rs"]
mod servers;
#[path = "../support/static_files.rs"]
mod static_files;
#[path = "../support/temp.rs"]
mod temp;
#[path = "../support/unset_values.rs"]
mod unset_values;
#[path = "../support/worst/mod.rs"]
mod worst;
#[path = "../support/zips.rs"]
mod zips;
