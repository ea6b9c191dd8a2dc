//! Other words for the rules and topics that have pages.

use super::topics::TOPICS;
use crate::diag::RULES;

/// Words that users type, with the pages that answer them, the most likely one first. Words are in lower case,
/// with hyphens, and in the singular.
pub(super) const ALIASES: &[(&str, &[&str])] = &[
    ("age", &["release-too-young", "project-file"]),
    ("air-gap", &["mirror", "facts"]),
    ("air-gapped", &["mirror", "facts"]),
    ("airgap", &["mirror", "facts"]),
    ("airgapped", &["mirror", "facts"]),
    ("alpine", &["platforms-incomplete"]),
    ("atlantis", &["roots"]),
    ("arm64", &["platforms-incomplete"]),
    ("artifactory", &["network"]),
    ("cache", &["facts"]),
    ("checksum", &["trust", "package-mismatch"]),
    ("cli-config", &["network"]),
    ("conflict", &["conflict-markers", "git"]),
    (
        "constraint",
        &["version-outside-constraint", "constraints-stale"],
    ),
    ("cooldown", &["release-too-young", "project-file"]),
    ("credential", &["network"]),
    ("dev-override", &["network"]),
    ("diff", &["git"]),
    ("digest", &["trust"]),
    ("error", &["exit-codes"]),
    ("exit", &["exit-codes"]),
    ("exit-code", &["exit-codes"]),
    ("exit-status", &["exit-codes"]),
    ("fork", &["look-alike-provider"]),
    ("format", &["formats"]),
    ("github", &["ci"]),
    ("github-action", &["ci"]),
    ("gitlab", &["ci"]),
    ("gpg", &["trust", "key-not-allowed"]),
    ("h1", &["trust", "platforms-incomplete"]),
    ("hash", &["trust"]),
    ("init", &["matrix"]),
    ("json", &["formats"]),
    ("junit", &["formats"]),
    ("key", &["key-not-allowed", "trust"]),
    ("lockctl.hcl", &["project-file"]),
    (".lockctl.hcl", &["project-file"]),
    ("lockfile", &["trust"]),
    ("lock-file", &["trust"]),
    ("login", &["network"]),
    ("m1", &["platforms-incomplete"]),
    ("mac", &["platforms-incomplete"]),
    ("markdown", &["formats"]),
    ("max-download", &["limits"]),
    ("merge", &["git", "conflict-markers"]),
    ("min-age", &["release-too-young", "project-file"]),
    ("minimum-age", &["release-too-young", "project-file"]),
    (
        "minimum-release-age",
        &["release-too-young", "project-file"],
    ),
    ("module", &["modules"]),
    ("monorepo", &["roots"]),
    ("offline", &["network", "facts"]),
    ("oci", &["network"]),
    ("opentofu", &["flavors", "convert"]),
    ("output", &["formats"]),
    ("pin", &["key-not-allowed", "project-file"]),
    ("plan", &["matrix"]),
    ("platform", &["platforms-incomplete"]),
    ("plugin-cache", &["matrix", "mirror"]),
    ("policy", &["project-file", "provider-not-allowed"]),
    ("pre-commit", &["ci"]),
    ("private-registry", &["network"]),
    ("provider-installation", &["network"]),
    ("proxy", &["network"]),
    ("readonly", &["matrix", "ci"]),
    ("recursive", &["roots"]),
    ("registry", &["network"]),
    ("sarif", &["formats"]),
    ("schema", &["formats"]),
    ("sha256", &["trust"]),
    ("signature", &["trust", "release-unsigned"]),
    ("size", &["limits"]),
    ("stack", &["terragrunt"]),
    ("supply-chain", &["trust"]),
    ("terraform", &["flavors", "differences"]),
    ("terraformrc", &["network"]),
    ("timeout", &["limits", "network"]),
    ("tofu", &["flavors", "convert"]),
    ("token", &["network"]),
    ("typosquat", &["look-alike-provider"]),
    ("typosquatting", &["look-alike-provider"]),
    ("unit", &["terragrunt"]),
    ("upgrade", &["newer-patch", "version-outside-constraint"]),
    ("validate", &["matrix"]),
    ("workspace", &["roots"]),
    ("yanked", &["version-gone"]),
    ("zh", &["trust", "zh-missing"]),
];

/// Returns the name of the page that a word means: that of a rule or topic, however it is spelled, or of an
/// alias.
pub(crate) fn page_named(word: &str) -> Option<&'static str> {
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    // Both `mirror` and `mirrors` are typed, and the table has one of them.
    let singular = word.strip_suffix('s').unwrap_or(&word);
    let name = names().find(|name| *name == word);
    let alias = || {
        ALIASES
            .iter()
            .find(|(alias, _)| *alias == word || *alias == singular)
            .map(|(_, pages)| pages[0])
    };
    name.or_else(alias)
}

/// Returns the names of all pages.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let rules = RULES.iter().map(|rule| rule.name);
    TOPICS.iter().map(|topic| topic.name).chain(rules)
}
