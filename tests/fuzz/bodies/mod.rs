//! Bodies of the fuzz targets: what is done with an input, and what must hold for every input.
//!
//! libFuzzer calls them with inputs that it makes up (`fuzz_targets/`); `cargo test` calls them with the
//! inputs that are kept in `fixtures/fuzz/`. A body panics where something does not hold.

mod diagnostics;
mod locks;
mod program;
mod programs;
mod reference;
mod tree;

pub mod addresses;
pub mod advisories;
pub mod build_information;
pub mod bundle;
pub mod checksums;
pub mod cli_config;
pub mod configuration;
pub mod constraints;
pub mod diff;
pub mod expressions;
pub mod facts;
pub mod hcl;
pub mod json;
pub mod lock;
pub mod lock_file;
pub mod merge;
pub mod modules_json;
pub mod openpgp;
pub mod pins;
pub mod project;
pub mod renderers;
pub mod servers;
pub mod state;
pub mod tar;
pub mod terragrunt;
pub mod zip;

use allocation_counter::{AllocationInfo, measure};

/// A target by its name, which is also that of its dictionary, its corpus and its program.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

/// All targets, by name.
pub const TARGETS: &[Target] = &[
    target("addresses", addresses::run),
    target("advisories", advisories::run),
    target("build_information", build_information::run),
    target("bundle", bundle::run),
    target("checksums", checksums::run),
    target("cli_config", cli_config::run),
    target("configuration", configuration::run),
    target("constraints", constraints::run),
    target("diff", diff::run),
    target("expressions", expressions::run),
    target("facts", facts::run),
    target("hcl", hcl::run),
    target("json", json::run),
    target("lock", lock::run),
    target("lock_file", lock_file::run),
    target("merge", merge::run),
    target("mirror", servers::mirror::run),
    target("modules_json", modules_json::run),
    target("oci", servers::oci::run),
    target("openpgp", openpgp::run),
    target("pins", pins::run),
    target("project", project::run),
    target("registry", servers::registry::run),
    target("renderers", renderers::run),
    target("state", state::run),
    target("tar", tar::run),
    target("terragrunt", terragrunt::run),
    target("zip", zip::run),
];

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// What reading an input may cost: memory at one time, and work, counted in allocations. Neither
/// depends on the machine or on its load.
#[derive(Clone, Copy)]
struct Budget {
    /// Bytes for an empty input.
    base_bytes: u64,
    /// Bytes for each byte of the input.
    bytes: u64,
    /// Allocations for an empty input.
    base_allocations: u64,
    /// Allocations for each byte of the input.
    allocations: u64,
}

impl Budget {
    /// Does work whose cost must grow as the input does, and no faster.
    #[track_caller]
    fn spend<T>(self, input: &[u8], work: impl FnOnce() -> T) -> T {
        let mut result = None;
        let AllocationInfo {
            bytes_max,
            count_total,
            ..
        } = measure(|| result = Some(work()));
        let len = input.len() as u64;
        let bytes = self.base_bytes + self.bytes * len;
        assert!(
            bytes_max <= bytes,
            "{len} bytes took {bytes_max} of memory, not {bytes}"
        );
        let allocations = self.base_allocations + self.allocations * len;
        assert!(
            count_total <= allocations,
            "{len} bytes took {count_total} allocations, not {allocations}"
        );
        result.expect("the work was done")
    }
}
