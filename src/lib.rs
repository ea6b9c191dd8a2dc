//! The program `lockctl` as a library, for its tests and benchmarks.
//!
//! Everything here may change with any version. Programs that read, compare and verify lock files use the crate
//! `lockctl-core`.

mod front;
mod work;

#[cfg(unix)]
#[doc(hidden)]
pub use front::signals;
#[doc(hidden)]
pub use front::{cli, guide};
#[doc(hidden)]
pub use lockctl_fetch::{
    acquire, addr, archive, authenticate, cliconfig, config, contents, coverage, diag, effective,
    expr, flavor, git, hash, hcl, json, locker, lockfile, mirror, module_config, modules, net, os,
    package, packages, parallel, pins, platform, project, remote_module, requirement, resolve,
    review, sources, store, terragrunt, upstream, verifier, verify, version, workspace, world,
};
#[doc(hidden)]
pub use work::{
    advice, audit, cache, changes, diff, driver, inspect, lock, merging, mirroring, outdated,
    replace, report, reporting, run, sbom, trust, verifying,
};
