//! `lockctl show`: what is locked.

use crate::addr::{ProviderAddr, ProviderFilter};
use crate::cli::World;
use crate::cli::args::{Common, Show};
use crate::cli::output::{Output, RootOutput};
use crate::cli::root::{self, LockText, Root};
use crate::cli::roots;
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::hash::Scheme;
use crate::lockfile::ProviderLock;
use crate::parallel;
use crate::report::json::{Provider, ShownHash, ShownProvider};
use crate::report::{Block, Failure};
use crate::verify::packages::{self, Absence, Memo, Origin, Place, Search};
use crate::verify::platforms::KnownHashes;
use crate::world::Replaced;

/// What all roots of a run share.
struct Run<'a> {
    common: &'a Common,
    world: World<'a>,
}

/// One entry with the hashes that installed packages tell about.
struct Entry<'a> {
    provider: &'a ProviderAddr,
    lock: &'a ProviderLock,
    known: &'a KnownHashes,
}

pub(in crate::cli) fn run(common: &Common, args: &Show, world: World<'_>) -> Output {
    let run = Run { common, world };
    let ran = roots::each(common, &args.roots, world, |root, texts, output| {
        run.root(root, texts, output)
    });
    Output::of_roots("show", ran)
}

impl Run<'_> {
    fn root(
        &self,
        root: &Root,
        texts: &mut Texts,
        output: &mut RootOutput,
    ) -> Result<Replaced, Failure> {
        let Some(lock) = root.sound_lock(texts, output)? else {
            return Ok(Replaced::Done);
        };
        let known = self.known_hashes(root, lock)?;
        let entries = lock.document.lock.providers.iter();
        let entries: Vec<Entry<'_>> = entries
            .map(|(provider, lock)| Entry {
                provider,
                lock,
                known: &known,
            })
            .collect();
        output.report.results.push(overview(&entries, root.flavor));
        for entry in &entries {
            if self.common.verbose {
                output
                    .report
                    .results
                    .push(Block::Lines(entry.lines(root.flavor)));
            }
            output.json.providers.push(entry.json());
        }
        Ok(Replaced::Done)
    }

    /// Asks the installed packages which hash is whose.
    fn known_hashes(&self, root: &Root, lock: &LockText) -> Result<KnownHashes, Failure> {
        let dir = root.providers_dir(self.world.env);
        let subject = root.subject(lock, None);
        let place = Place {
            origin: Origin::Installed,
            dir,
            providers: ProviderFilter::default(),
            absence: Absence::Fine,
        };
        let search = Search {
            places: &[place],
            singles: &[],
            wanted: None,
        };
        let mut memo = Memo::new(self.world.disk, parallel::cores());
        let checked = packages::check(&mut memo, subject, search);
        match checked.failures.first() {
            None => Ok(checked.known),
            Some(unscanned) => Err(root::unreadable_packages(unscanned)),
        }
    }
}

fn overview(entries: &[Entry<'_>], flavor: Flavor) -> Block {
    if entries.is_empty() {
        return Block::Lines(vec!["nothing is locked".to_owned()]);
    }
    let titles = [
        "PROVIDER",
        "VERSION",
        "CONSTRAINTS",
        "h1",
        "zh",
        "other",
        "KNOWN PLATFORMS",
    ];
    let titles = titles.map(str::to_owned).to_vec();
    let rows = entries.iter().map(|entry| entry.row(flavor));
    Block::Table(std::iter::once(titles).chain(rows).collect())
}

impl Entry<'_> {
    fn row(&self, flavor: Flavor) -> Vec<String> {
        let count = |scheme| self.lock.hashes.of(scheme).count().to_string();
        let platforms: Vec<String> = self
            .known
            .get(self.provider)
            .into_iter()
            .flatten()
            .map(|(p, _)| p.to_string())
            .collect();
        let or_dash = |text: String| {
            if text.is_empty() {
                "-".to_owned()
            } else {
                text
            }
        };
        vec![
            self.provider.short(flavor),
            self.lock.version.to_string(),
            or_dash(self.lock.constraints.to_string()),
            count(Scheme::H1),
            count(Scheme::Zh),
            count(Scheme::Other),
            or_dash(platforms.join(" ")),
        ]
    }

    /// Walks over the hashes, each with the platforms that are known to have it.
    fn hashes(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        self.lock.hashes.iter().map(|hash| {
            let known = self.known.get(self.provider).into_iter().flatten();
            let own = known.filter(|(_, known)| *known == hash);
            (
                hash.as_str(),
                own.map(|(platform, _)| platform.to_string()).collect(),
            )
        })
    }

    fn lines(&self, flavor: Flavor) -> Vec<String> {
        let title = format!("{} {}", self.provider.short(flavor), self.lock.version);
        let lines = self.hashes().map(|(hash, platforms)| {
            format!("  {hash}  {}", platforms.join(" "))
                .trim_end()
                .to_owned()
        });
        std::iter::once(title).chain(lines).collect()
    }

    fn json(&self) -> Provider {
        let hashes = self.hashes().map(|(hash, platforms)| ShownHash {
            hash: hash.to_owned(),
            platforms,
        });
        Provider::Shown(ShownProvider {
            provider: self.provider.to_string(),
            version: self.lock.version.to_string(),
            constraints: self.lock.constraints.to_string(),
            hashes: hashes.collect(),
        })
    }
}
