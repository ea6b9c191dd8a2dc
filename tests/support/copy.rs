//! Copying directories.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;

/// Copies a directory with everything in it.
pub(crate) fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Copies `fixtures/quickstart` as it is in the repository, without files that a command wrote into the checkout:
/// the first command of the README locks it.
#[allow(dead_code, reason = "not every test binary asks for it")]
pub(crate) fn copy_quickstart(to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quickstart");
    std::fs::create_dir_all(to).unwrap();
    for file in ["main.tf", ".lockctl.hcl"] {
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
    for dir in ["modules", "mirror"] {
        copy_dir(&from.join(dir), &to.join(dir));
    }
}
