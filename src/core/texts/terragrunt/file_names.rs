//! Names of the files of Terragrunt (rules 1).

use std::path::Path;

/// The name of a unit file.
pub const UNIT_FILE: &str = "terragrunt.hcl";

/// The name of a unit file in JSON syntax.
pub const UNIT_FILE_JSON: &str = "terragrunt.hcl.json";

/// The name of a stack file.
pub const STACK_FILE: &str = "terragrunt.stack.hcl";

/// The name of a file that is merged over the unit beside it.
pub(super) const AUTOINCLUDE_FILE: &str = "terragrunt.autoinclude.hcl";

/// The name of a file of values, beside a unit or a stack.
pub const VALUES_FILE: &str = "terragrunt.values.hcl";

/// Returns true for the path of a unit file, by its name.
pub(super) fn is_unit_file(path: &Path) -> bool {
    path.ends_with(UNIT_FILE) || path.ends_with(UNIT_FILE_JSON)
}
