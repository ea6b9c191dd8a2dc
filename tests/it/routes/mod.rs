//! What `verify --matrix` foretells against what the programs were recorded to do, all four of them.
//!
//! | Group | What is compared |
//! |---|---|
//! | `cases/hashing`, kind `match` | an unpacked mirror, for each state of the hashes |
//! | `cases/lifecycle`, `cases/opentofu` | `init` from mirrors and caches where nothing is installed |
//! | `source-cases/lockfile`, `cache`, `fsmirror`, `shims` | `init` from a registry, a cache, unpacked mirrors; read-only |
//!
//! `replay` compares `plan` in a root with the row of the route `here-plan`.
//!
//! Not compared are the groups that are not about a lock file and a package that is as it should be:
//! how registries, network mirrors and their evidence fail, other flags and commands, packages
//! that were tampered with. Each test names the single cases that it leaves out, and why.

mod cases;
mod scenarios;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lockctl::config::{self, Settings};
use lockctl::coverage::{Outcome, Prediction, Route};
use lockctl::diag::{Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::hash::Hash;
use lockctl::lockfile;
use lockctl::os::RealDisk;
use lockctl::package::WantedPlatforms;
use lockctl::platform::Platform;
use lockctl::verify::matrix::InitOutlook;
use lockctl::verify::{KnownHashes, PackageFacts};

const HERE: &str = "linux_amd64";
const LOCK: &str = ".terraform.lock.hcl";
const INCOMPLETE: &str = "Incomplete lock file information for providers";
const CARRIED_OVER: &str = "Dependency lock file entries automatically updated";

/// Warnings that have nothing to do with what a lock file holds.
const OTHER_WARNINGS: [&str; 3] = [
    "Version constraints inside provider configuration blocks are deprecated",
    "Dependency locks for modules are not yet supported",
    "Potential provider misconfiguration",
];

/// What is known of a package: its `h1:` and its `zh:`.
type PackageHashes = (Option<Hash>, Option<Hash>);

/// What a program did.
#[derive(Debug)]
struct Recorded {
    ok: bool,
    rewrote: bool,
    titles: Vec<String>,
}

/// Foretells what a route makes of the root in a directory, provider by provider.
///
/// `package` tells of the package of an address and a version.
fn foretell(
    dir: &Path,
    flavor: Flavor,
    route: Route,
    package: &dyn Fn(&str, &str) -> PackageHashes,
) -> Vec<Prediction> {
    let mut texts = Texts::default();
    let loaded = config::load(&RealDisk, &mut texts, dir, &Settings::new(flavor));
    let lock = std::fs::read(dir.join(LOCK)).unwrap_or_default();
    let file = texts.add(LOCK, lock.clone());
    let (document, diagnostics) = lockfile::parse(file, &lock, flavor);
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let titles: Vec<&str> = errors.map(|d| &*d.title).collect();
    let platform: Platform = HERE.parse().unwrap();
    let (mut h1, mut zh) = (KnownHashes::new(), KnownHashes::new());
    for (provider, entry) in &document.lock.providers {
        let told = package(&provider.to_string(), &entry.version.to_string());
        for (hash, known) in [(told.0, &mut h1), (told.1, &mut zh)] {
            let of_platform = hash.map(|hash| BTreeMap::from([(platform.clone(), hash)]));
            known.extend(of_platform.map(|of_platform| (provider.clone(), of_platform)));
        }
    }
    let outlook = InitOutlook {
        document: &document,
        faults: &titles,
        flavor,
        requirements: Some(&loaded.requirements),
    };
    let wanted = WantedPlatforms::every(vec![platform]);
    let known = PackageFacts {
        known: h1,
        zips: zh,
        ..PackageFacts::default()
    };
    let rows = outlook.rows(&wanted, &known);
    let of_route = rows.into_iter().map(|row| {
        let mut predictions = row.predictions.into_iter();
        predictions.find(|p| p.route == route).unwrap()
    });
    of_route.collect()
}

/// Returns what is wrong with predictions, which together make a run; `None` if nothing is.
fn fault(predictions: &[Prediction], recorded: &Recorded) -> Option<String> {
    let worst = predictions.iter().map(|p| p.outcome).max();
    let foretold: BTreeSet<&str> = predictions
        .iter()
        .filter(|p| worst != Some(Outcome::Fails) || p.outcome == Outcome::Fails)
        .filter_map(|p| p.title.as_deref())
        .collect();
    let said = recorded.titles.iter().map(String::as_str);
    let said: Vec<&str> = said.filter(|t| !OTHER_WARNINGS.contains(t)).collect();
    // A save for the sake of one provider warns about all that were installed in the same run.
    let saved = worst == Some(Outcome::Rewrites)
        && (predictions.len() > 1 || foretold.contains(CARRIED_OVER));
    let was_foretold = |title: &&str| {
        foretold.iter().any(|known| is_of(title, known))
            || (*title == INCOMPLETE && saved)
            || (*title == CARRIED_OVER && worst == Some(Outcome::Fails))
    };
    let was_said = |known: &&str| said.iter().any(|title| is_of(title, known));
    let agrees = match worst {
        Some(Outcome::Fails) => !recorded.ok && foretold.iter().any(was_said),
        Some(outcome) => {
            recorded.ok
                && recorded.rewrote == (outcome == Outcome::Rewrites)
                && foretold.iter().all(was_said)
        }
        None => recorded.ok && !recorded.rewrote,
    };
    let all_foretold = said.iter().all(was_foretold);
    (!agrees || !all_foretold).then(|| format!("{predictions:?}: {recorded:?}"))
}

/// Tells whether a printed title is the foretold one, which may leave words out.
fn is_of(printed: &str, title: &str) -> bool {
    let mut rest = printed;
    title.split('…').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}
