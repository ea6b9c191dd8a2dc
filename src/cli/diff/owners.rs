//! The platforms that the hashes of a change belong to, as far as facts say it.

use std::collections::BTreeMap;

use crate::cli::args::Common;
use crate::cli::formats::Format;
use crate::coverage::Attribution;
use crate::hash::{Hash, Hashes};
use crate::locker::TrustedFacts;
use crate::platform::Platform;
use crate::report::FileResult;
use crate::review::{ProviderChange, ProviderSide};
use crate::run::facts::UserFacts;

/// Adds to each change which platforms its hashes belong to; does nothing unless single hashes are shown.
pub(super) fn add(files: &mut [FileResult], common: &Common, facts: &UserFacts<'_>) {
    let shows_hashes = common.verbose || common.format != Format::Human;
    if !shows_hashes {
        return;
    }
    for file in files {
        for provider in &mut file.comparison.review.providers {
            provider.owners = owners(&provider.change, facts);
        }
    }
}

/// Asks the facts about both entries: of one release either may hold the `zh:` that explains an `h1:`.
///
/// Imported facts do not count: the two states of a file may be those of different project files.
fn owners(change: &ProviderChange, facts: &UserFacts<'_>) -> BTreeMap<Hash, Vec<Platform>> {
    let sides = || change.before().into_iter().chain(change.now());
    let attribution = |side: &ProviderSide| -> Attribution {
        let version = &side.lock.version;
        let hashes: Hashes = sides()
            .filter(|other| {
                other.addr.type_name() == side.addr.type_name() && other.lock.version == *version
            })
            .flat_map(|other| &other.lock.hashes)
            .cloned()
            .collect();
        TrustedFacts::Own.attribute(facts.get(), &side.addr, version, &hashes)
    };
    let known = [change.before(), change.now()].map(|side| side.map(attribution));
    let known = || known.iter().flatten();
    change
        .moved()
        .filter_map(|hash| {
            let owners = known().map(|known| known.platforms_of(hash));
            let owners = owners.into_iter().find(|owners| !owners.is_empty())?;
            Some((hash.clone(), owners))
        })
        .collect()
}
