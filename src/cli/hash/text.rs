//! How `lockctl hash` reads: one hash a line, as `sha256sum` prints it.

use crate::report::json::{HashedPackage, Package};
use crate::report::{Block, CommandResult, Subject};

/// Returns what people read of a result.
pub(super) fn blocks(result: &CommandResult) -> Vec<Block> {
    let Subject::Packages(packages) = &result.subject else {
        return Vec::new();
    };
    let hashed = packages.iter().filter_map(|one| match &one.package {
        Package::Hashed(package) => Some(Block::Lines(lines(package))),
        Package::Failed(_) => None,
    });
    hashed.collect()
}

fn lines(package: &HashedPackage) -> Vec<String> {
    let HashedPackage { path, h1, .. } = package;
    let mut lines = Vec::new();
    lines.extend(package.zh.as_ref().map(|zh| format!("{zh}  {path}")));
    lines.push(format!("{h1}  {path}"));
    if let Some(member_h1) = package.member_h1.as_ref().filter(|one| *one != h1) {
        let which = "(of its members: checked, never recorded)";
        lines.push(format!("{member_h1}  {path} {which}"));
    }
    let files = package.files.iter().flatten();
    lines.extend(files.map(|file| format!("  {}  {:>12}  {}", file.sha256, file.size, file.name)));
    lines
}
