//! A bill of materials of roots: the content of their lock files, with trusted facts.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::has_errors;
use crate::driver::each;
use crate::hash::Hashes;
use crate::locker::TrustedFacts;
use crate::lockfile::LockFile;
use crate::report::{CommandResult, RootResult, Sentence};
use crate::run::options::RootArgs;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::{commands, facts};
use crate::sbom::{Bill, BilledRelease, BilledRoot, ReleaseEvidence, ReleaseId};
use crate::verify::Advice;
use crate::world::Replaced;

/// The hashes of a release in all lock files, and the facts that all their roots trust.
struct LockedRelease {
    hashes: Hashes,
    trusted: TrustedFacts,
    /// A root takes its packages from a registry, which alone has signed lists.
    is_listed: bool,
}

/// The releases with packages whose contents are not known.
#[derive(Default)]
struct UnreadReleases {
    count: usize,
    /// Some are from a registry; without a signed list no contents are kept.
    any_listed: bool,
}

/// The roots so far, with the releases that they lock.
#[derive(Default)]
struct LockedRoots {
    roots: BTreeMap<String, BilledRoot>,
    releases: BTreeMap<ReleaseId, LockedRelease>,
}

impl LockedRoots {
    fn add(
        &mut self,
        root: &Root,
        lock: &LockFile,
        result: &RootResult,
        name: &dyn Fn(&RootResult, &str) -> String,
    ) {
        let trusted = facts::trusted(root);
        let is_listed = !root
            .package_source()
            .is_some_and(|source| source.is_mirror());
        let lock_path = root.lock_path.display().to_string();
        let mut root_name = name(result, &result.path);
        let mut billed = BilledRoot {
            lock_file: name(result, &lock_path),
            releases: BTreeSet::new(),
            modules: root
                .pins
                .iter()
                .flat_map(|pins| pins.document.pins.values())
                .cloned()
                .collect(),
        };
        for (provider, entry) in &lock.providers {
            let id = (provider.clone(), entry.version.clone());
            billed.releases.insert(id.clone());
            let release = self.releases.entry(id).or_insert_with(|| LockedRelease {
                hashes: Hashes::default(),
                trusted,
                is_listed: false,
            });
            release.is_listed |= is_listed;
            // Lock files may name other platforms of the same release, and the bill lists a release once.
            release.hashes = release.hashes.union(&entry.hashes);
            // All roots share the entry of a release, so it must not have facts that only some of them trust.
            release.trusted = TrustedFacts {
                imported: release.trusted.imported && trusted.imported,
                signed: release.trusted.signed && trusted.signed,
            };
        }
        // The top directories of two repositories have the same name; the second must not replace the first.
        if self.roots.contains_key(&root_name) {
            root_name.clone_from(&result.path);
            billed.lock_file = lock_path;
        }
        self.roots.insert(root_name, billed);
    }
}

/// Makes the bill of all roots, and the result of the command without the document; makes no request.
///
/// `name` returns the path of a root, or of a file in it, from the top of its repository.
pub(crate) fn bill(
    session: &Session<'_>,
    roots: &RootArgs,
    name: &dyn Fn(&RootResult, &str) -> String,
) -> (Bill, CommandResult) {
    let mut locked = LockedRoots::default();
    let all = each(session, roots, |root, _, result| {
        let pin_faults = root.pins.as_ref().map(|pins| &*pins.diagnostics);
        let pin_faults = pin_faults.unwrap_or_default();
        result.faults(pin_faults);
        let lock = root.sound_lock_of(roots, result)?;
        if let Some(lock) = lock.filter(|_| !has_errors(pin_faults)) {
            locked.add(root, &lock.document.lock, result, name);
        }
        Ok(Replaced::Done)
    });
    let mut bill = Bill {
        roots: locked.roots,
        ..Bill::default()
    };
    let facts = &session.facts;
    let store = facts.get();
    // Facts are read once for each release, and not for each root that locks it.
    let mut unread = UnreadReleases::default();
    for (id, locked) in locked.releases {
        let LockedRelease {
            hashes, trusted, ..
        } = locked;
        let release = trusted.release(store, &id.0, &id.1);
        let evidence = ReleaseEvidence {
            release: release.as_ref().map(|stored| &*stored.release),
            fact: &|zh| Some(trusted.find(store, zh)?.fact.clone()),
            contents: &|zh| facts.contents(trusted, zh),
        };
        let billed = BilledRelease::of(&id, &hashes, &evidence);
        if !billed.is_read(&hashes) {
            unread.count += 1;
            unread.any_listed |= locked.is_listed;
        }
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
    let commands = commands::of_all(session.options, roots);
    add_remarks(&mut result, &unread, bill.releases.len(), &commands);
    (bill, result)
}

/// Adds remarks on data that the bill lacks, with the commands that provide it.
fn add_remarks(
    result: &mut CommandResult,
    unread: &UnreadReleases,
    releases: usize,
    commands: &Advice,
) {
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
            commands.lock
        )));
    }
    if unread.count > 0 {
        // `lock` reads the programs of packages that it downloads; facts of older versions lack them.
        let next = if unread.any_listed {
            format!("run `lockctl show --build --contents{}`", commands.roots)
        } else {
            "no contents are kept of packages without a signed list, as those of a mirror"
                .to_owned()
        };
        result.remarks.push(Sentence::note(format!(
            "the contents of {} of {releases} locked releases are not known for all packages, so the bill does not \
             list all their modules; {next}",
            unread.count
        )));
    }
}
