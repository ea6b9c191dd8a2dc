//! Whose rules apply to a root.

use std::path::Path;

use crate::diag::FileId;
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::lockfile;
use crate::world::Files;

/// Decides whose rules apply to a root: what is stated, else the header of its lock file, else the
/// registries in it, else its `.tofu` files, else Terraform. Without a version, the newest rules count.
#[must_use]
pub fn flavor_of(
    choice: FlavorChoice,
    files: &dyn Files,
    dir: &Path,
    lock: Option<&[u8]>,
) -> Flavor {
    if let FlavorChoice::Stated(stated) = choice {
        return stated.flavor;
    }
    let by_lock =
        lock.and_then(|bytes| lockfile::header_of(bytes).or_else(|| by_registries(bytes)));
    let program = by_lock.unwrap_or_else(|| by_files(files, dir));
    Flavor::newest(program)
}

/// Returns the program whose default registry, and only that, a lock file names.
fn by_registries(bytes: &[u8]) -> Option<Program> {
    let (document, _) = lockfile::parse(FileId::ALONE, bytes, Flavor::newest(Program::Terraform));
    let names = |program| {
        let host = Flavor::newest(program).default_host();
        let mut addrs = document.lock.providers.keys();
        addrs.any(|addr| addr.hostname().unicode() == host)
    };
    match (names(Program::Terraform), names(Program::OpenTofu)) {
        (true, false) => Some(Program::Terraform),
        (false, true) => Some(Program::OpenTofu),
        _ => None,
    }
}

fn by_files(files: &dyn Files, dir: &Path) -> Program {
    let entries = files.list(dir).unwrap_or_default();
    let is_tofu = |name: &str| name.ends_with(".tofu") || name.ends_with(".tofu.json");
    let mut names = entries.iter().filter_map(|entry| entry.name.to_str());
    if names.any(is_tofu) {
        Program::OpenTofu
    } else {
        Program::Terraform
    }
}
