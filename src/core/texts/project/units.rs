//! Units of Terragrunt, as far as their files show by themselves (rules 1.4).

use crate::diag::{FileId, has_errors};
use crate::hcl;
use crate::world::{DirEntry, Files};

use super::locate::{LOCK_FILE, ProjectPlace, holds};

/// The name of the file that makes a directory a unit, unless there is one of a stack.
pub(super) const UNIT_FILE: &str = "terragrunt.hcl";

/// The name of the file that Terragrunt generates units from.
pub const STACK_FILE: &str = "terragrunt.stack.hcl";

/// A file that is merged over a unit.
const AUTOINCLUDE_FILE: &str = "terragrunt.autoinclude.hcl";

/// Maximum size of a unit file that is looked at, in bytes; a larger one makes a unit.
const MAX_UNIT_BYTES: u64 = 1 << 20;

/// The part that a directory has for Terragrunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// There is no unit file, or one of a stack beside it.
    None,
    /// A unit, which may have a lock file.
    Unit,
    /// A unit that generates all of its files, or a parent that generates files for the units below.
    Generating,
    /// A parent: there is nothing that the program could read.
    Parent,
}

/// Finds out what a directory with these entries is.
pub fn unit_kind(files: &dyn Files, dir: &ProjectPlace, entries: &[DirEntry]) -> UnitKind {
    if !holds(entries, UNIT_FILE) || holds(entries, STACK_FILE) {
        return UnitKind::None;
    }
    let is_configuration = |entry: &DirEntry| {
        let name = entry.name.to_string_lossy();
        [".tf", ".tofu", ".tf.json", ".tofu.json"]
            .iter()
            .any(|ending| name.ends_with(ending))
    };
    let has_more = holds(entries, AUTOINCLUDE_FILE)
        || entries
            .iter()
            .any(|entry| entry.name == LOCK_FILE || is_configuration(entry));
    // These show a unit without reading the file, which thousands of directories may have.
    if has_more {
        return UnitKind::Unit;
    }
    let Ok(bytes) = files.read(&dir.file(UNIT_FILE), MAX_UNIT_BYTES) else {
        return UnitKind::Unit;
    };
    let (body, faults) = hcl::parse(FileId::ALONE, &bytes);
    let is_part_of_unit = body.blocks().any(|block| match block.kind.text.as_str() {
        "include" => true,
        "terraform" => block.body.attribute("source").is_some(),
        _ => false,
    });
    // A file that cannot be parsed makes a unit as well, as for Terragrunt (`terragrunt` rules 1.5).
    if is_part_of_unit || has_errors(&faults) {
        return UnitKind::Unit;
    }
    // A file that generates may be a parent, or a unit whose configuration is written first.
    let generates = body.attribute("generate").is_some()
        || body.blocks().any(|block| block.kind.text == "generate");
    if generates {
        UnitKind::Generating
    } else {
        UnitKind::Parent
    }
}
