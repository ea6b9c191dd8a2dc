//! A bill of materials of roots: what their lock files name, with the facts that count.

use std::collections::BTreeMap;

use crate::hash::Hashes;
use crate::locker::TrustedFacts;
use crate::report::{CommandResult, RootResult, Sentence};
use crate::run::facts::{self, UserFacts};
use crate::run::options::{RootChoice, RunOptions};
use crate::run::{World, commands, each};
use crate::sbom::{Bill, BilledRelease, BilledRoot, ReleaseEvidence, ReleaseId};
use crate::world::Replaced;

/// The hashes of a release in all lock files, and the facts that count in all their roots.
struct LockedRelease {
    hashes: Hashes,
    trusted: TrustedFacts,
}

/// Makes the bill of all roots, and the result of the command so far; no request is made.
///
/// `name` names a path of a root, or in one, from the top of its repository.
pub(crate) fn bill(
    options: &RunOptions,
    choice: &RootChoice,
    world: World<'_>,
    name: &dyn Fn(&RootResult, &str) -> String,
) -> (Bill, CommandResult) {
    let mut bill = Bill::default();
    let mut locked: BTreeMap<ReleaseId, LockedRelease> = BTreeMap::new();
    let all = each(options, choice, world, |root, _, result| {
        let Some(lock) = root.sound_lock_of(choice, result)? else {
            return Ok(Replaced::Done);
        };
        let trusted = facts::trusted(root);
        let mut billed = BilledRoot {
            lock_file: name(result, &root.lock_path.display().to_string()),
            releases: lock
                .document
                .lock
                .providers
                .iter()
                .map(|(provider, entry)| (provider.clone(), entry.version.clone()))
                .collect(),
        };
        for (id, entry) in billed
            .releases
            .iter()
            .zip(lock.document.lock.providers.values())
        {
            let release = locked.entry(id.clone()).or_insert_with(|| LockedRelease {
                hashes: Hashes::default(),
                trusted,
            });
            release.hashes = release.hashes.union(&entry.hashes);
            // What only some of the roots trust must not stand in what all of them share.
            if trusted == TrustedFacts::Own {
                release.trusted = trusted;
            }
        }
        let mut root_name = name(result, &result.path);
        // The tops of two repositories have the same name.
        if bill.roots.contains_key(&root_name) {
            root_name.clone_from(&result.path);
            billed.lock_file = root.lock_path.display().to_string();
        }
        bill.roots.insert(root_name, billed);
        Ok(Replaced::Done)
    });
    let facts = UserFacts::new(options, world);
    let store = facts.get();
    for (id, LockedRelease { hashes, trusted }) in locked {
        let release = trusted.release(store, &id.0, &id.1);
        let evidence = ReleaseEvidence {
            release: release.as_ref().map(|stored| &stored.release),
            fact: &|zh| Some(trusted.find(store, zh)?.fact.clone()),
            contents: &|zh| trusted.contents(store, zh),
        };
        let billed = BilledRelease::of(&id, &hashes, &evidence);
        bill.releases.insert(id, billed);
    }
    let mut result = all.into_result("sbom");
    bill.left_out = result
        .roots()
        .iter()
        .filter(|root| root.status.exit_code() != 0)
        .map(|root| name(root, &root.path))
        .collect();
    result.remarks.extend(facts.remarks());
    add_remarks(&mut result, &bill, options, choice);
    (bill, result)
}

/// Says what the bill lacks, and the command that finds it out.
fn add_remarks(result: &mut CommandResult, bill: &Bill, options: &RunOptions, choice: &RootChoice) {
    let missing = result
        .roots()
        .iter()
        .filter(|root| root.lacks_lock())
        .count();
    if missing > 0 {
        let have = if missing == 1 {
            "root has"
        } else {
            "roots have"
        };
        result.remarks.push(Sentence::note(format!(
            "{missing} {have} no lock file, so the bill does not list what is required there; run \
             `{}`",
            commands::of_all(options, choice).lock
        )));
    }
    let unread = bill.unread();
    if unread > 0 {
        let all = bill.releases.len();
        result.remarks.push(Sentence::note(format!(
            "the contents of {unread} of {all} locked releases are not known for all packages, so the bill does not \
             list all their modules; run `lockctl show --build --contents{}`",
            commands::roots(options, choice)
        )));
    }
}
