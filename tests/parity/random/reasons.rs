//! Why a program fails.

use std::collections::BTreeSet;

use serde_json::Value;

/// A reason to fail that both programs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// No version meets the constraints.
    NoVersion,
    /// No source has the provider.
    Unknown,
    /// The locked version does not meet the constraints.
    Conflict,
    /// The locked version is not offered any more.
    Gone,
    /// There is no package for a platform.
    Platform,
    /// A package is not one of those that are recorded.
    Checksum,
}

/// What Terraform prints, without the frame around it.
const THEIRS: [(&str, Reason); 9] = [
    (
        "no available releases match the given constraints",
        Reason::NoVersion,
    ),
    (
        "was not found in any of the search locations",
        Reason::Unknown,
    ),
    ("does not have a provider named", Reason::Unknown),
    (
        "does not match configured version constraint",
        Reason::Conflict,
    ),
    ("is no longer available", Reason::Gone),
    ("does not have a package available for", Reason::Platform),
    ("does not have a package of", Reason::Platform),
    ("is not available for", Reason::Platform),
    ("doesn't match any of the checksums", Reason::Checksum),
];

/// Reads why Terraform failed.
pub(super) fn theirs(said: &str) -> BTreeSet<Reason> {
    let text = said.replace(['│', '╷', '╵'], " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = THEIRS.iter().filter(|(phrase, _)| text.contains(phrase));
    found.map(|(_, reason)| *reason).collect()
}

/// Returns whether lockctl fails for the reasons of Terraform.
///
/// It looks for all versions and platforms before it downloads anything, so where one of them is
/// missing it does not come to a package that is not the recorded one.
pub(super) fn cover(ours: &BTreeSet<Reason>, theirs: &BTreeSet<Reason>) -> bool {
    let mut theirs = theirs.iter();
    !ours.is_empty() && theirs.all(|one| *one == Reason::Checksum || ours.contains(one))
}

/// Reads why lockctl failed for a root, from what its JSON has about it.
pub(super) fn ours(root: &Value) -> BTreeSet<Reason> {
    let all = ["failures", "findings"].into_iter();
    let all = all.flat_map(|field| root[field].as_array().into_iter().flatten());
    all.filter_map(reason).collect()
}

fn reason(one: &Value) -> Option<Reason> {
    let title = one["title"].as_str().unwrap();
    let has = |phrase: &str| title.contains(phrase);
    Some(
        if has("meets the constraints") || has("names a pre-release") {
            Reason::NoVersion
        } else if has("has no package of") || has("has a package of") {
            let is_about_one = has(" for ");
            if is_about_one {
                Reason::Platform
            } else {
                Reason::Unknown
            }
        } else if has("is for registry.") {
            Reason::Unknown
        } else if has("is not offered any more") {
            Reason::Gone
        } else if has("the locked version") {
            Reason::Conflict
        } else if one["rule"].is_string() && one["severity"] == "error" {
            Reason::Checksum
        } else {
            return None;
        },
    )
}
