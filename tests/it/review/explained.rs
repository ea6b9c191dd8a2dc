//! How each kind of change is explained.

use lockctl::addr::ProviderAddr;
use lockctl::flavor::Flavor;
use lockctl::hash::{Hash, Hashes};
use lockctl::lockfile::{LockFile, ProviderLock};
use lockctl::review::{ExplainedChange, diff, explain};
use lockctl::version::Constraints;

const FLAVOR: Flavor = Flavor::Terraform1_11;

/// A digest that is well-formed, by a letter.
fn hash(text: &str) -> Hash {
    let (scheme, letter) = text.split_once(':').unwrap();
    let value = match scheme {
        "h1" => format!("h1:{}=", letter.repeat(43)),
        "zh" => format!("zh:{}", letter.repeat(64)),
        _ => text.to_owned(),
    };
    value.parse().unwrap()
}

/// An entry from `VERSION [CONSTRAINTS] | HASH …`.
fn lock(text: &str) -> ProviderLock {
    let (head, hashes) = text.split_once('|').unwrap_or((text, ""));
    let (version, constraints) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
    ProviderLock {
        version: version.parse().unwrap(),
        constraints: Constraints::parse_lock(constraints).unwrap(),
        hashes: hashes.split_whitespace().map(hash).collect::<Hashes>(),
    }
}

/// A lock file from lines `ADDRESS = ENTRY`.
fn file(text: &str) -> LockFile {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let providers = lines.map(|line| {
        let (addr, entry) = line.split_once('=').unwrap();
        (
            ProviderAddr::parse(addr.trim(), FLAVOR).unwrap(),
            lock(entry),
        )
    });
    LockFile {
        providers: providers.collect(),
    }
}

/// Says a change of one provider as `risk kinds: sentence`.
fn explained(old: &str, new: &str) -> String {
    let found = diff(&file(old), &file(new));
    let all = found.providers.iter().map(|change| {
        let explained = explain(change);
        let kinds: Vec<String> = change
            .kinds
            .iter()
            .map(|kind| format!("{kind:?}"))
            .collect();
        format!(
            "{:?} {}: {}",
            explained.risk,
            kinds.join("+"),
            explained.sentence()
        )
    });
    all.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(old: &str, new: &str, wanted: &str) {
    assert_eq!(explained(old, new), wanted, "{old} -> {new}");
}

/// Checks rows `OLD -> NEW`, each with its explanation below; a prefix is that of both sides, and `;` ends a line.
#[track_caller]
fn rows(prefix: &str, text: &str) {
    let side = |side: &str| format!("{prefix}{}", side.trim()).replace("; ", "\n");
    let mut lines = text.lines().peekable();
    while let Some((old, new)) = lines.next().and_then(|line| line.split_once("->")) {
        let mut wanted = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
            wanted.push(&line[2..]);
        }
        check(&side(old), &side(new), &wanted.join("\n"));
    }
}

#[test]
fn changes_of_versions_are_explained() {
    rows(
        "",
        "\
a/x = 1.0.0 | h1:a -> a/x = 1.0.0 | h1:a
a/x = 1.0.0 | h1:a zh:m zh:a -> a/x = 1.1.0 | h1:b zh:m zh:b
  Routine Upgraded: the version moved, so its hashes changed
a/x = 1.0.0 | h1:a zh:a -> a/x = 1.1.0 | h1:b zh:b
  Routine Upgraded: the version moved, so all hashes changed
a/x = 1.0.0 -> a/x = 1.1.0 | h1:b
  Routine Upgraded: the version moved
a/x = 1.0.0 | h1:a -> a/x = 2.0.0-beta | h1:b
  Notice Upgraded: the version is a pre-release; the major version changed, so all hashes changed
a/x = 1.1.0 | h1:a h1:b zh:a zh:b -> a/x = 1.0.0 | h1:c zh:a zh:b
  Warning Downgraded: the version went down, but 2 hashes of the version before are still recorded; only 1 platform of 2 was locked again
a/x = 1.0.0 | h1:a zh:a zh:b zh:c zh:m -> a/x = 1.1.0 | h1:b zh:a zh:b zh:c zh:m
  Warning Upgraded: the version moved, but 4 hashes of the version before are still recorded
a/x = 1.0.0 ~> 1.0 | h1:a zh:a -> a/x = 2.0.0 ~> 1.0 | h1:b
  Warning Upgraded: the list of zh: is no longer recorded: a mirror, a plugin cache and tools that compute h1: only leave such an entry; the major version changed, so all hashes changed; the recorded constraints do not allow this version",
    );
}

#[test]
fn changes_of_hashes_are_explained() {
    rows(
        "a/x = 1.0.0 | ",
        "\
h1:a zh:a -> h1:a h1:b zh:a
  Routine HashesAdded: 1 platform was added
h1:a -> h1:a zh:a zh:b
  Routine HashesAdded: the list of zh: was added
zh:a -> zh:a zh:b zh:c
  Notice HashesAdded: 3 zh: are recorded instead of 1, as when the signed list is added
h1:a zh:a -> h1:a h1:b zh:a zh:b
  Notice HashesAdded: 1 package was added with zh: and h1:, as from a mirror
h1:a h1:b zh:a -> h1:a zh:a
  Warning HashesRemoved: 1 h1: was removed, so fewer platforms are locked
h1:a zh:a -> h1:a
  Warning HashesRemoved: the list of zh: is no longer recorded: a mirror, a plugin cache and tools that compute h1: only leave such an entry
h1:a ->
  Warning HashesRemoved: no hash is recorded any more, so any package is accepted
h9:a -> h9:b
  Notice HashesReplaced: hashes of the unknown scheme h9 were added or removed
h1:a h9:a -> h1:a H1:b
  Notice HashesReplaced: hashes of the unknown schemes H1, h9 were added or removed",
    );
}

/// Each of them is how an attack would look, beside other things.
#[test]
fn changes_that_tampering_would_make_are_never_routine() {
    let check = |old: &str, new: &str, wanted: &str| {
        check(
            &format!("a/x = 1.0.0 | {old}"),
            &format!("a/x = 1.0.0 | {new}"),
            wanted,
        );
    };
    rows(
        "a/x = 1.0.0 | ",
        "\
h1:a h1:b h1:c h1:d zh:a zh:b zh:c zh:d -> h1:a h1:b h1:c h1:d h1:e zh:a zh:b zh:c zh:d
  Warning HashesAdded: 1 h1: was added, and 5 h1: are more than the 4 packages in the list of zh: explain",
    );
    let too_many = "3 h1: are recorded, more than the 2 packages in the list of zh: explain";
    super::explained::check(
        "",
        "a/x = 1.0.0 | h1:a h1:b h1:c zh:a zh:b",
        &format!("Warning Added: {too_many}; the provider was not locked before"),
    );
    super::explained::check(
        "a/x = 1.0.0 | h1:a h1:b zh:a zh:b",
        "a/x = 1.1.0 | h1:c h1:d h1:e zh:c zh:d",
        &format!(
            "Warning Upgraded: {too_many}; the version moved, so all hashes changed; 3 platforms are locked instead of 2"
        ),
    );
    let grew = "but the version did not change: packages were added to the release, or hashes to the file by hand";
    check(
        "h1:a h1:b h1:c h1:d zh:a zh:b zh:c zh:d",
        "h1:a h1:b h1:c h1:d zh:a zh:b zh:c zh:d zh:e",
        &format!("Warning HashesAdded: the list of zh: grew from 4 to 5, {grew}"),
    );
    check(
        "zh:a zh:b",
        "zh:a zh:b zh:c",
        &format!("Warning HashesAdded: the list of zh: grew from 2 to 3, {grew}"),
    );
    check(
        "zh:a",
        "zh:a zh:b",
        &format!("Warning HashesAdded: the list of zh: grew from 1 to 2, {grew}"),
    );
    rows(
        "a/x = 1.0.0 | ",
        "\
h1:a zh:a zh:b zh:c -> h1:a zh:a zh:b
  Warning HashesRemoved: the list of zh: shrank from 3 to 2, but the version did not change: packages were removed from the release, or hashes from the file by hand
h1:a zh:a -> h1:b zh:a
  Warning HashesReplaced: 1 h1: was replaced while the zh: stayed the same: other platforms were locked, or an h1: was exchanged, which zh: do not show
h1:a h1:b h1:c h1:d zh:a zh:b zh:c zh:d -> h1:a h1:e zh:a zh:b zh:c zh:d
  Warning HashesReplaced: 3 of 4 h1: were replaced by 1, so fewer platforms are locked while the zh: stayed the same: other platforms were locked, or an h1: was exchanged, which zh: do not show
h1:a h1:b h1:c -> h1:a h1:d
  Danger HashesReplaced: 2 of 3 h1: were replaced by 1, so fewer platforms are locked, but the version did not change: another platform or another mirror, a release that was published again, or tampering
h1:a h1:b -> h1:a h1:c h1:d
  Danger HashesReplaced: 1 of 2 h1: was replaced by 2, but the version did not change: another platform or another mirror, a release that was published again, or tampering
h1:a -> h1:b
  Danger HashesReplaced: 1 h1: was replaced, but the version did not change: another platform or another mirror, a release that was published again, or tampering
h1:a zh:a -> h1:b zh:b
  Danger HashesReplaced: 1 of 1 zh: was replaced, but the version did not change: another mirror, a release that was published again, or tampering
h1:a zh:a zh:c -> h1:a zh:b zh:c
  Danger HashesReplaced: 1 of 2 zh: was replaced, but the version did not change: the release was published again, or the lock file was tampered with",
    );
}

#[test]
fn changes_of_addresses_are_explained() {
    rows(
        "",
        "\
 -> a/x = 1.0.0
  Warning Added: no hash is recorded yet, so any package is accepted; the provider was not locked before
 -> a/x = 1.0.0 | h1:a
  Notice Added: the provider was not locked before
a/x = 1.0.0 ->
  Routine Removed: the provider is no longer locked
hashicorp/x = 1.0.0 | h1:a zh:a -> registry.opentofu.org/hashicorp/x = 1.0.0 | h1:b zh:b
  Notice HostSwitched: the registry is registry.opentofu.org now, as after a switch between Terraform and OpenTofu
hashicorp/x = 1.0.0 | h1:a -> example.com/hashicorp/x = 1.0.0 | h1:b
  Warning HostSwitched: the registry changed from registry.terraform.io to example.com",
    );
    // The publisher comes before the version and what happened to the hashes.
    rows(
        "",
        "\
terraform-providers/x = 1.0.0 | h1:a zh:a zh:b -> hashicorp/x = 2.0.0 | h1:b
  Warning NamespaceSwitched+Upgraded: the publisher changed from terraform-providers to hashicorp; the list of zh: is no longer recorded: a mirror, a plugin cache and tools that compute h1: only leave such an entry; the major version changed, so all hashes changed",
    );
    // Two candidates are no pair.
    rows(
        "",
        "\
a/x = 1.0.0; b/x = 1.0.0 -> c/x = 1.0.0 | h1:a
  Routine Removed: the provider is no longer locked
  Routine Removed: the provider is no longer locked
  Notice Added: the provider was not locked before",
    );
}

#[test]
fn look_alikes_are_dangers() {
    rows(
        "",
        "\
 -> hashicrop/aws = 1.0.0 | h1:a
  Danger Added: hashicrop is one typing error away from hashicorp; the provider was not locked before
acmecorp/x = 1.0.0 | h1:a -> acmecorp/x = 1.0.0 | h1:a; acmecrop/y = 1.0.0 | h1:a
  Danger Added: acmecrop is one typing error away from acmecorp; the provider was not locked before
hashicorp/x = 1.0.0 | h1:a -> hashicrop/x = 1.0.0 | h1:b
  Danger NamespaceSwitched: the publisher changed from hashicorp to hashicrop, which is nearly the same name
acme/x = 1.0.0 | h1:a -> hashicrop/x = 1.0.0 | h1:b
  Danger NamespaceSwitched: hashicrop is one typing error away from hashicorp; the publisher changed from acme to hashicrop",
    );
    // The way back is none.
    rows(
        "",
        "\
hashicrop/x = 1.0.0 | h1:a -> hashicorp/x = 1.0.0 | h1:b
  Warning NamespaceSwitched: the publisher changed from hashicrop to hashicorp",
    );
    // What was locked before is not new.
    rows(
        "",
        "\
hashicrop/x = 1.0.0 | h1:a -> hashicrop/x = 1.1.0 | h1:b
  Routine Upgraded: the version moved, so all hashes changed",
    );
}

#[test]
fn long_constraints_are_shown_by_the_terms_that_changed() {
    let check = |old: &str, new: &str, wanted: &str| {
        let found = diff(
            &file(&format!("a/x = {old}")),
            &file(&format!("a/x = {new}")),
        );
        let change = found.providers.into_iter().next().unwrap();
        assert_eq!(
            ExplainedChange::of(change).sentence(),
            wanted,
            "{old} -> {new}"
        );
    };
    check(
        "5.60.0 >= 2.0.0, >= 3.0.0, >= 4.0.0, >= 5.58.0",
        "5.60.0 >= 2.0.0, >= 3.0.0, >= 4.0.0, >= 5.60.0",
        "the constraints allow fewer versions (>= 5.58.0 → >= 5.60.0)",
    );
    check(
        "5.60.0 >= 2.0.0, >= 3.0.0",
        "5.60.0 >= 2.0.0, >= 3.0.0, >= 5.0.0",
        "the constraints allow fewer versions (>= 5.0.0 was added)",
    );
    check(
        "5.60.0 >= 2.0.0, >= 3.0.0",
        "5.60.0 >= 3.0.0",
        "the constraints are written in another way, to the same effect (>= 2.0.0 was removed)",
    );
    check(
        "5.58.0 ~> 5.58.0 | h1:a",
        "5.60.0 ~> 5.60.0 | h1:b",
        "the version moved, so all hashes changed; the constraints changed (~> 5.58.0 → ~> 5.60.0)",
    );
}

#[test]
fn changes_of_constraints_are_explained() {
    rows(
        "a/x = 1.2.0 ",
        "\
~> 1.0 -> ~> 1.2
  Routine ConstraintsChanged: the constraints allow fewer versions
~> 1.0 -> 1.2.0
  Routine ConstraintsChanged: the constraints allow one version only
~> 1.0 -> >= 1.0.0, < 2.0.0
  Routine ConstraintsChanged: the constraints are written in another way, to the same effect
~> 1.0 ->
  Notice ConstraintsChanged: no constraints are recorded any more
 -> ~> 1.0
  Routine ConstraintsChanged: constraints are recorded for the first time
~> 1.0 -> >= 2.0.0, < 1.0.0
  Warning ConstraintsChanged: the constraints allow no version at all; the recorded constraints do not allow this version",
    );
}
