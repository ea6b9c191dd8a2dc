//! The text of `lockctl hash`: one hash a line, as `sha256sum` prints it.

use crate::report::json::{HashedPackageRow, PackageRow};
use crate::report::{CommandResult, ResultSubject, TextBlock};

/// Returns what people read of a result.
pub(super) fn blocks(result: &CommandResult) -> Vec<TextBlock> {
    let ResultSubject::Packages(packages) = &result.subject else {
        return Vec::new();
    };
    packages
        .iter()
        .filter_map(|result| match &result.package {
            PackageRow::Hashed(package) => Some(TextBlock::Lines(lines(package))),
            PackageRow::Failed(_) => None,
        })
        .collect()
}

fn lines(package: &HashedPackageRow) -> Vec<String> {
    let HashedPackageRow { path, h1, .. } = package;
    let mut lines = Vec::new();
    for hash in package.zh.iter().flatten().chain(h1) {
        lines.push(format!("{hash}  {path}"));
    }
    // Both are equal unless the zip is odd (`archive` rules 1.2).
    if let Some(member_h1) = package
        .member_h1
        .as_ref()
        .filter(|member_h1| !h1.contains(member_h1))
    {
        let which = "(of its members: checked, never recorded)";
        lines.push(format!("{member_h1}  {path} {which}"));
    }
    lines.extend(
        package
            .files
            .iter()
            .flatten()
            .map(|file| format!("  {}  {:>12}  {}", file.sha256, file.size, file.name)),
    );
    lines
}
