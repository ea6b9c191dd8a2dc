//! The comments of a lock file that a person wrote.

use std::collections::BTreeSet;

use crate::flavor::Flavor;
use crate::hcl;

/// Lists the comments of a lock file in the order of the text, without the lines of a program's
/// header, wherever these are.
///
/// ```
/// use lockctl_core::lockfile::comments;
///
/// let text = b"# This file is maintained automatically by \"tofu init\".\n# keep this\n";
/// assert_eq!(comments(text), [b"# keep this"]);
/// ```
#[must_use]
pub fn comments(bytes: &[u8]) -> Vec<&[u8]> {
    let headers: BTreeSet<&[u8]> = Flavor::ALL
        .iter()
        .flat_map(|flavor| flavor.header().lines().map(str::as_bytes))
        .collect();
    hcl::comments(bytes)
        .into_iter()
        .filter_map(|span| bytes.get(span.start..span.end))
        .filter(|text| !headers.contains(text))
        .collect()
}
