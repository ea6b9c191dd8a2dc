//! A lock file for the other program: the entry that each entry becomes (rules 5).

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::hash::{Hashes, Scheme};
use crate::lockfile::{LockFile, ProviderLock};
use crate::requirement::{RequirementOrigin, Requirements};
use crate::version::Version;

/// A lock file as a run for the other program starts from it, and the fate of each entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversion {
    /// The lock file with the entries that were moved, which have their versions and no hashes.
    pub lock: LockFile,
    /// The entries that moved to the registry of the program, sorted.
    pub moved: Vec<MovedEntry>,
    /// The entries that stay as they are, each with the reason, sorted.
    pub staying: BTreeMap<ProviderAddr, NotConverted>,
    /// Entries of the other program's registry that are left out, because the file has one of the
    /// program's own for the same provider.
    pub superseded: Vec<Superseded>,
}

/// An entry that moved to another registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedEntry {
    /// The provider as it was locked.
    pub from: ProviderAddr,
    /// The provider on the registry of the program.
    pub to: ProviderAddr,
    /// The version, which stays.
    pub version: Version,
    /// The hashes that were recorded of the package on the other registry.
    pub recorded: Hashes,
}

/// The reason why an entry is not converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NotConverted {
    /// The entry is on neither of the two public registries.
    OtherHost,
    /// The configuration names its registry.
    Named,
    /// The state names its registry.
    State,
}

/// An entry that the file has on both registries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superseded {
    /// The entry that is left out.
    pub from: ProviderAddr,
    /// The version in that entry.
    pub version: Version,
    /// The entry that counts.
    pub to: ProviderAddr,
    /// The version in the entry that counts.
    pub own: Version,
}

/// Decides the fate of each entry when a lock file is converted to a flavor; `requirements` are those
/// that the program reads.
///
/// An entry that neither moves nor stays is one that nothing requires: the run removes it.
#[must_use]
pub fn convert(lock: &LockFile, requirements: &Requirements, target: Flavor) -> Conversion {
    let mut conversion = Conversion::default();
    let requires = |addr: &ProviderAddr| requirements.providers.contains_key(addr);
    for (from, entry) in &lock.providers {
        let Some(to) = from.on_registry_of(target) else {
            // An entry on the program's own registry needs no move; one on any other host is reported.
            if from.hostname().unicode() != target.default_host() {
                conversion
                    .staying
                    .insert(from.clone(), NotConverted::OtherHost);
            }
            conversion.keep(from, entry);
            continue;
        };
        let staying = requirements.providers.get(from).map(|places| {
            let by_state = places
                .iter()
                .all(|place| place.origin == RequirementOrigin::State);
            if by_state {
                NotConverted::State
            } else {
                NotConverted::Named
            }
        });
        if let Some(staying) = staying {
            conversion.staying.insert(from.clone(), staying);
            conversion.keep(from, entry);
        }
        // Where both registries have an entry, the program reads its own; a version of the other one must
        // not replace it (rules 5.1).
        match lock.providers.get(&to) {
            Some(own) if staying.is_none() => conversion.superseded.push(Superseded {
                from: from.clone(),
                version: entry.version.clone(),
                to,
                own: own.version.clone(),
            }),
            Some(_) => {}
            // Where not everything was seen, an entry that nothing requires moves like the others (rules 5.1).
            None if requires(&to) || (staying.is_none() && !requirements.is_complete()) => {
                // The zips of the other registry may be built anew, so the run finds the hashes (rules 5.3).
                let without_hashes = ProviderLock {
                    hashes: Hashes::default(),
                    ..entry.clone()
                };
                conversion.lock.providers.insert(to.clone(), without_hashes);
                conversion.moved.push(MovedEntry {
                    from: from.clone(),
                    to,
                    version: entry.version.clone(),
                    recorded: entry.hashes.clone(),
                });
            }
            // Nothing requires it: the run removes it as `init` does (rules 5.1), and reports that.
            None if staying.is_none() => conversion.keep(from, entry),
            None => {}
        }
    }
    conversion
}

impl Conversion {
    fn keep(&mut self, addr: &ProviderAddr, entry: &ProviderLock) {
        self.lock.providers.insert(addr.clone(), entry.clone());
    }

    /// Returns the hashes that were recorded of the packages of moved entries on the other registry.
    #[must_use]
    pub fn recorded(&self) -> BTreeMap<ProviderAddr, Hashes> {
        self.moved
            .iter()
            .map(|entry| (entry.to.clone(), entry.recorded.clone()))
            .collect()
    }
}

/// Returns true if hashes that were recorded of a release elsewhere are those of a signed list.
pub(super) fn is_same_release(recorded: &Hashes, signed: &Hashes) -> bool {
    let zips = recorded.of(Scheme::Zh).count();
    let all_signed = recorded.of(Scheme::Zh).all(|zh| signed.contains(zh));
    // Equal zips have equal `h1:` (rules 5.3). More `h1:` than zips cannot all belong to them.
    zips > 0 && all_signed && recorded.of(Scheme::H1).count() <= zips
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::diag::{Span, Texts};
    use crate::requirement::{ModulePath, Requirement, StateSeen, UnseenCall, UnseenReason};
    use crate::version::Constraints;

    const TOFU: Flavor = Flavor::OpenTofu1_12;

    fn lock(entries: &[(&str, &str)]) -> LockFile {
        let entries = entries.iter().map(|(addr, version)| {
            let entry = ProviderLock {
                version: version.parse().expect("a version"),
                constraints: Constraints::parse_lock("~> 1.0").expect("constraints"),
                hashes: std::iter::once("h1:own".parse().expect("a hash")).collect(),
            };
            (ProviderAddr::parse(addr, TOFU).expect("an address"), entry)
        });
        LockFile {
            providers: entries.collect(),
        }
    }

    fn required(by: &[(&str, RequirementOrigin)]) -> Requirements {
        let file = Texts::default().add("main.tf", Vec::new());
        let mut requirements = Requirements {
            state: StateSeen::Yes,
            ..Requirements::default()
        };
        for (addr, origin) in by {
            let addr = ProviderAddr::parse(addr, TOFU).expect("an address");
            let place = Requirement {
                constraints: Arc::default(),
                module: ModulePath::default(),
                origin: *origin,
                file,
                span: Span::default(),
            };
            requirements.providers.entry(addr).or_default().push(place);
        }
        requirements
    }

    /// Writes what a conversion came to: the entries that a run starts from, without hashes where it has
    /// to find them, and then each word that is said about an entry.
    fn text(found: &Conversion) -> Vec<String> {
        let entries = found.lock.providers.iter().map(|(addr, entry)| {
            let bare = if entry.hashes.is_empty() { " bare" } else { "" };
            format!("{addr} {}{bare}", entry.version)
        });
        let moved = found.moved.iter();
        let moved = moved.map(|entry| format!("moved {} {}", entry.from, entry.version));
        let staying = found.staying.iter();
        let staying = staying.map(|(addr, why)| format!("stays {addr} {why:?}"));
        let superseded = found.superseded.iter();
        let superseded = superseded.map(|entry| format!("{} before {}", entry.own, entry.version));
        entries
            .chain(moved)
            .chain(staying)
            .chain(superseded)
            .collect()
    }

    #[track_caller]
    fn check(entries: &[(&str, &str)], requirements: &Requirements, wanted: &[&str]) {
        assert_eq!(text(&convert(&lock(entries), requirements, TOFU)), wanted);
    }

    const OLD: &str = "registry.terraform.io/acme/x";
    const NEW: &str = "registry.opentofu.org/acme/x";

    #[test]
    fn both_registries_may_be_used() {
        let both = required(&[
            (OLD, RequirementOrigin::RequiredProviders),
            (NEW, RequirementOrigin::Implied),
        ]);
        check(
            &[(OLD, "1.2.0")],
            &both,
            &[
                "registry.opentofu.org/acme/x 1.2.0 bare",
                "registry.terraform.io/acme/x 1.2.0",
                "moved registry.terraform.io/acme/x 1.2.0",
                "stays registry.terraform.io/acme/x Named",
            ],
        );
    }

    #[test]
    fn what_nothing_requires_moves_only_where_something_is_unseen() {
        let stays = ["registry.terraform.io/acme/x 1.2.0"];
        check(&[(OLD, "1.2.0")], &required(&[]), &stays);
        let mut unseen = required(&[]);
        unseen.unseen_calls.push(UnseenCall {
            module: ModulePath::default(),
            ways: 1,
            source: String::new(),
            reason: UnseenReason::NotHere,
            file: Texts::default().add("main.tf", Vec::new()),
            span: Span::default(),
        });
        let moves = [
            "registry.opentofu.org/acme/x 1.2.0 bare",
            "moved registry.terraform.io/acme/x 1.2.0",
        ];
        check(&[(OLD, "1.2.0")], &unseen, &moves);
    }

    #[test]
    fn hashes_of_another_registry_count_if_its_zips_are_signed_here() {
        let zh = |digit: &str| format!("zh:{}", digit.repeat(64));
        let hashes = |texts: &[&str]| -> Hashes {
            texts
                .iter()
                .map(|text| text.parse().expect("a hash"))
                .collect()
        };
        let signed = hashes(&[&zh("1"), &zh("2")]);
        let check = |recorded: &[&str], is_same: bool| {
            let found = is_same_release(&hashes(recorded), &signed);
            assert_eq!(found, is_same, "{recorded:?}");
        };
        check(&["h1:a", &zh("1"), &zh("2")], true);
        check(&["h1:a", &zh("1")], true);
        check(&["h1:a", &zh("1"), &zh("3")], false);
        check(&["h1:a", "h1:b", &zh("1")], false);
        check(&["h1:a"], false);
        check(&[], false);
    }
}
