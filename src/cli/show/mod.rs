//! `lockctl show`: what is locked.

mod args;
mod text;

use crate::cli::args::Common;
use crate::cli::session::root::{self, LockText, Root};
use crate::cli::session::roots;
use crate::cli::{Command, Look, Stderr, World};
use crate::parallel;
use crate::report::json::{Provider, ShownHash, ShownProvider};
use crate::report::{Block, CommandResult, Failure, RootResult};
use crate::verify::KnownHashes;
use crate::verify::packages::{self, Memo, PackagePlace, Search};
use crate::world::Replaced;
pub(in crate::cli) use args::Show;

impl Command for Show {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        run(common, self, world)
    }

    fn root_text(&self, root: &RootResult, look: Look) -> Vec<Block> {
        text::of_root(root, look)
    }
}

fn run(common: &Common, args: &Show, world: World<'_>) -> CommandResult {
    let all = roots::each(common, &args.roots, world, |root, _, result| {
        let Some(lock) = root.sound_lock(result)? else {
            return Ok(Replaced::Done);
        };
        let known = known_hashes(root, lock, world)?;
        result.providers = providers(lock, &known);
        Ok(Replaced::Done)
    });
    all.into_result("show")
}

/// Lists what is locked, each hash with the platforms that are known to have it.
fn providers(lock: &LockText, known: &KnownHashes) -> Vec<Provider> {
    let entries = lock.document.lock.providers.iter();
    let shown = entries.map(|(provider, entry)| {
        let known = known.get(provider);
        let hashes = entry.hashes.iter().map(|hash| {
            let own = known.into_iter().flatten().filter(|(_, one)| *one == hash);
            ShownHash {
                hash: hash.clone(),
                platforms: own.map(|(platform, _)| platform.to_string()).collect(),
            }
        });
        Provider::Shown(ShownProvider {
            provider: provider.clone(),
            version: entry.version.clone(),
            constraints: entry.constraints.clone(),
            hashes: hashes.collect(),
            platforms: known
                .into_iter()
                .flatten()
                .map(|(p, _)| p.clone())
                .collect(),
        })
    });
    shown.collect()
}

/// Asks the installed packages which hash belongs to which platform.
fn known_hashes(root: &Root, lock: &LockText, world: World<'_>) -> Result<KnownHashes, Failure> {
    let search = Search {
        places: &[PackagePlace::installed(root.providers_dir(world.env))],
        singles: &[],
        wanted: None,
        sources: &|_| Vec::new(),
        cache_may_break: false,
    };
    let mut memo = Memo::new(world.disk, parallel::cores());
    let checked = packages::check(&mut memo, root.subject(lock, None), search);
    match checked.failures.first() {
        None => Ok(checked.known),
        Some(unscanned) => Err(root::unreadable_packages(unscanned)),
    }
}
