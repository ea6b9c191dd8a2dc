//! Releases that outlive the run: what signed lists and hashed packages say of them (`store` rules 5).

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::Release;
use super::stages::ReleaseWork;
use super::work::RootWork;
use crate::authenticate::Signer;
use crate::package::{ReleaseFact, ReleasePackage};
use crate::sources::filesystem_mirror::packed_name;
use crate::store::{FactOrigin, Facts};

/// Keeps the releases of all roots whose evidence holds, each once.
pub(super) fn keep(facts: &dyn Facts, roots: &[RootWork<'_, ReleaseWork>]) {
    let mut releases: BTreeMap<Release, ReleaseFact> = BTreeMap::new();
    let providers = roots
        .iter()
        .filter(|root| root.errors.is_empty())
        .flat_map(|root| &root.providers);
    for provider in providers {
        let release = provider.selected.release();
        let known = match releases.get_mut(&release) {
            Some(known) => known,
            None => {
                let Some(listed) = listed(&release, provider) else {
                    continue;
                };
                releases.entry(release).or_insert(listed)
            }
        };
        for (package, zh) in provider
            .packages
            .iter()
            .filter_map(|package| Some((package, package.content.hashes.zh()?)))
        {
            let content = &package.content;
            // One `h1:` represents the package, and this machine has computed it (`store` rules 1.1).
            let is_own = content
                .fact
                .as_ref()
                .is_none_or(|fact| fact.origin == FactOrigin::Computed);
            let hashes = &content.hashes;
            let is_plain = hashes.member_h1() == Some(&hashes.h1)
                && hashes.zip.iter().all(|zip| zip.oddities.is_empty());
            if let Some(listed) = known.packages.get_mut(zh).filter(|_| is_own && is_plain) {
                listed.h1 = Some(hashes.h1.clone());
            }
        }
    }
    for release in releases.values() {
        // Most runs find out nothing new, and then nothing is read but the answer that is remembered.
        let is_known = facts
            .release(&release.provider, &release.version)
            .is_some_and(|known| {
                let mut both = (*known.release).clone();
                both.add(release);
                known.origin == FactOrigin::Computed && both == *known.release
            });
        if !is_known {
            facts.keep_release(release);
        }
    }
}

/// Returns the times when keys expire, by the fingerprint of the primary key.
#[must_use]
pub fn key_ends(signers: &[Signer]) -> BTreeMap<String, SystemTime> {
    let ends = signers
        .iter()
        .map(|signer| (signer.key.fingerprint.clone(), signer.expires));
    ends.filter_map(|(key, end)| Some((key, end?))).collect()
}

/// Makes a release of the lists that came with its packages; nothing without a signature.
fn listed(release: &Release, provider: &ReleaseWork) -> Option<ReleaseFact> {
    let list = provider.lists.signed()?;
    let Release {
        provider: addr,
        version,
    } = release;
    let mut listed = ReleaseFact {
        provider: addr.clone(),
        version: version.clone(),
        lists_release: provider.has_whole_list(list),
        signers: list
            .signers
            .iter()
            .map(|signer| signer.key.clone())
            .collect(),
        key_ends: key_ends(&list.signers),
        dates: list.dates.clone(),
        packages: BTreeMap::new(),
        others: list.hashes.iter().cloned().collect(),
        attested: BTreeMap::new(),
    };
    // Where a policy wants a least age, more dates were asked for than those of the evidence.
    let search = provider.selected.age.as_ref();
    if let Some(dates) = search.and_then(|search| search.dates.as_ref()) {
        listed.dates.extend(dates.iter());
    }
    for (zh, file) in &*list.listed {
        // A registry could hand out the signed list of another release: names of this version count.
        if let Some((of, platform)) = packed_name(&file.file, addr.type_name())
            && of == *version
        {
            listed.others.remove(zh);
            let package = ReleasePackage { platform, h1: None };
            listed.packages.insert(zh.clone(), package);
        }
    }
    // Only then the list is shown to be that of this release.
    (!listed.packages.is_empty()).then_some(listed)
}
