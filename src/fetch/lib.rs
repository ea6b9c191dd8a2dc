//! Registries, mirrors, remote modules, signatures, and stores of what was proven: what lockctl fetches.
//!
//! A part of the program `lockctl`; everything here may change with any version. Programs that read, compare and
//! verify lock files use `lockctl-core`.

mod evidence;
mod work;

#[doc(hidden)]
pub use evidence::{acquire, authenticate, modules, net, packages, sources, store};
#[doc(hidden)]
pub use work::{locker, mirror, upstream};

#[doc(hidden)]
pub use lockctl_core::{
    addr, archive, cliconfig, config, contents, coverage, diag, effective, expr, flavor, git, hash,
    hcl, json, lockfile, module_config, os, package, parallel, pins, platform, project,
    remote_module, requirement, resolve, review, terragrunt, verifier, verify, version, workspace,
    world,
};
