//! A lock file with the inputs of its checks.

use std::fmt;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, FileId, Help, RootCommand, Span, quoted, rules};
use crate::flavor::Flavor;
use crate::hash::Hash;
use crate::hash::Hashes;
use crate::lockfile::{Document, Places};
use crate::package::PackageId;
use crate::requirement::{Requirements, StateSeen};
use crate::review;

/// Maximum number of hashes of an entry that are shown in their places.
const MAX_SHOWN: usize = 5;

/// The lock file that is checked.
#[derive(Clone, Copy, Debug)]
pub struct CheckedLock<'a> {
    /// The lock file as it was read.
    pub document: &'a Document,
    /// The id of its text.
    pub file: FileId,
    /// The program whose rules apply.
    pub flavor: Flavor,
    /// The requirements of the configuration, if it could be read.
    pub requirements: Option<&'a Requirements>,
    /// Commands to be named in advice.
    pub advice: &'a Advice,
}

/// Commands as they would be typed for the root at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The one that locks it.
    pub lock: RootCommand,
    /// The one that locks it with packages of registries, which alone have signed lists.
    pub lock_signed: RootCommand,
    /// The one that moves all of its versions; a provider behind it moves alone.
    pub update: RootCommand,
    /// The one that checks it.
    pub verify: RootCommand,
    /// The one that resolves conflicts of a merge in its lock file.
    pub resolve: RootCommand,
    /// The arguments that name it, with a space before them, for commands that have another argument first.
    pub roots: RootCommand,
    /// The same for commands that read configuration.
    pub read_roots: RootCommand,
    /// The one that brings its lock file into canonical form.
    pub fmt: RootCommand,
    /// The one that rewrites its lock file for the other program; `--to` and its name belong behind it.
    pub convert: RootCommand,
}

/// Returns the help for an entry that nothing visible requires.
fn left_over(lock: &str) -> String {
    format!(
        "neither configuration nor state requires the provider: `{lock}` drops the entry, and so does init"
    )
}

impl Advice {
    /// Adds commands to the faults of a lock file that has these bytes; a fault that no command is about keeps its help.
    pub fn add_to(&self, faults: &mut [Diagnostic], bytes: &[u8]) {
        for fault in faults {
            if fault.code == rules::CONFLICT_MARKERS && review::part(bytes).is_err() {
                fault.help = Some(review::MARKERS_HELP.into());
            } else if let Some(help) = self.repair(fault.code) {
                fault.help = Some(help);
            }
        }
    }

    /// Returns the help for a fault of the lock file; `None` for rules that no command is about.
    fn repair(&self, rule: &str) -> Option<Help> {
        let edit = match rule {
            rules::CONFLICT_MARKERS => {
                let mut help = self.resolve.named_in(|resolve| {
                    format!(
                        "a merge stopped in conflict here: run `{resolve}`, or keep one side of each conflict or \
                         join both, and delete the marker lines"
                    )
                });
                help.command = Some(self.resolve.clone());
                return Some(help);
            }
            rules::DUPLICATE_PROVIDER => {
                return Some(self.verify.with("--fix").named_in(|fix| {
                    format!("run `{fix}`, which joins blocks of one version, or delete one of the blocks")
                }));
            }
            rules::UNSUPPORTED_ITEM => return Some("delete it".into()),
            rules::VERSION_MISSING | rules::VERSION_MALFORMED => {
                "restore the line from version control, or delete the block"
            }
            rules::CONSTRAINTS_MALFORMED => "delete the argument constraints",
            rules::HASHES_EMPTY => "delete the argument hashes",
            rules::HASH_SCHEME_MISSING => "delete this hash",
            _ => return None,
        };
        Some(
            self.lock
                .named_in(|lock| format!("{edit}, then run `{lock}`")),
        )
    }

    /// Returns the commands as they would be typed in the directory of the root itself.
    #[must_use]
    pub fn here() -> Self {
        Self {
            lock: RootCommand::new("lockctl lock"),
            lock_signed: RootCommand::new("lockctl lock"),
            update: RootCommand::new("lockctl update"),
            verify: RootCommand::new("lockctl verify"),
            resolve: RootCommand::new("lockctl resolve"),
            roots: RootCommand::new(""),
            read_roots: RootCommand::new(""),
            fmt: RootCommand::new("lockctl fmt"),
            convert: RootCommand::new("lockctl convert"),
        }
    }

    /// Names registries in the command that needs them, because the project file states another place of
    /// packages.
    pub fn take_from_registries(&mut self) {
        self.lock_signed = self.lock_signed.with("--installation registry");
    }

    /// Returns the command that places its packages into a mirror.
    #[must_use]
    pub fn mirror(&self, dir: &Path) -> RootCommand {
        let dir = quoted(&dir.display().to_string());
        self.roots.after(&format!("lockctl mirror {dir}"))
    }

    /// Returns the command that shows what requires a provider.
    #[must_use]
    pub fn why(&self, provider: impl fmt::Display) -> RootCommand {
        self.read_roots.after(&format!("lockctl why {provider}"))
    }

    /// Returns the command that follows a provider that moved.
    #[must_use]
    pub fn replace(&self, old: &str, new: &str) -> RootCommand {
        let command = format!("lockctl replace {old} {new}");
        self.read_roots.after(&command)
    }

    /// Returns the same commands; those that fetch packages get an option about their source.
    #[must_use]
    pub fn taking_from(&self, source: &str) -> Self {
        Self {
            lock: self.lock.with(source),
            update: self.update.with(source),
            ..self.clone()
        }
    }

    /// Returns the same commands, with those for all roots taken from `all`.
    #[must_use]
    pub fn among(&self, all: &Self) -> Self {
        let (mut own, mut all) = (self.clone(), all.clone());
        if self.lock_signed != self.lock {
            all.take_from_registries();
        }
        for (own, all) in own.commands().into_iter().zip(all.commands()) {
            own.for_all.clone_from(&all.for_all);
        }
        own
    }

    fn commands(&mut self) -> [&mut RootCommand; 9] {
        [
            &mut self.lock,
            &mut self.lock_signed,
            &mut self.update,
            &mut self.verify,
            &mut self.resolve,
            &mut self.roots,
            &mut self.read_roots,
            &mut self.fmt,
            &mut self.convert,
        ]
    }
}

impl<'a> CheckedLock<'a> {
    /// Returns the hashes of the entry that a package belongs to.
    pub fn recorded(self, id: &PackageId) -> &'a Hashes {
        &self.document.lock.providers[&id.provider].hashes
    }

    /// Returns the help for an entry without a requirement that `lock` can see: a state that is not visible
    /// needs it, or it is left over.
    pub fn left_over(&self, provider: &ProviderAddr) -> Option<Help> {
        let requirements = self.requirements?;
        let seen = requirements.unseen_calls.is_empty();
        if !seen || requirements.providers.contains_key(provider) {
            return None;
        }
        Some(match requirements.state {
            StateSeen::No => self.advice.lock.named_in(|lock| {
                format!(
                    "no configuration requires the provider, but the state may: `{lock}` keeps the entry; if the \
                     state does not need it, init removes it"
                )
            }),
            StateSeen::Yes | StateSeen::LeftOut => self.advice.lock.named_in(left_over),
        })
    }

    /// Returns the place of the header of an entry; the start of the file if it has none.
    pub fn header(&self, provider: &ProviderAddr) -> Span {
        self.places(provider)
            .map_or_else(Span::default, |places| places.header)
    }

    /// Returns the place of the hashes of an entry; its beginning if it has none.
    pub fn hashes(&self, provider: &ProviderAddr) -> Span {
        self.places(provider)
            .and_then(|places| places.hashes)
            .unwrap_or_else(|| self.header(provider))
    }

    /// Returns the place of the version of an entry.
    pub fn version(&self, provider: &ProviderAddr) -> Span {
        self.places(provider)
            .map_or_else(Span::default, |places| places.version)
    }

    /// Returns the address on the registry of this program that is required and not locked, where the entry is that of
    /// the other program: a conversion keeps its version for it (`locker` rules 5.1), and OpenTofu reads entries
    /// of `hashicorp` so by itself (`lockfile` rules 5.2).
    #[must_use]
    pub fn waiting_twin(&self, provider: &ProviderAddr) -> Option<ProviderAddr> {
        let required = &self.requirements?.providers;
        let locked = &self.document.lock.providers;
        provider
            .on_registry_of(self.flavor)
            .filter(|twin| required.contains_key(twin) && !locked.contains_key(twin))
    }

    /// Puts a finding at hashes of an entry, each with a note; the first few are shown.
    pub fn at_hashes<'h>(
        &self,
        provider: &ProviderAddr,
        mut diagnostic: Diagnostic,
        hashes: impl Iterator<Item = (&'h Hash, String)>,
    ) -> Diagnostic {
        let listed = self.places(provider).map(|places| &*places.listed);
        let mut places: Vec<(Span, String)> = hashes
            .map(|(hash, note)| {
                let place = listed
                    .into_iter()
                    .flatten()
                    .find(|(other, _)| other == hash);
                let span = place.map_or_else(|| self.hashes(provider), |(_, span)| *span);
                (span, note)
            })
            .collect();
        // The file may list them in any order (`lockfile` rules 4.2); the first in the file is the main place.
        places.sort_by_key(|(span, _)| span.start);
        for (index, (span, note)) in places.into_iter().take(MAX_SHOWN).enumerate() {
            diagnostic = match index {
                0 => diagnostic.at(self.file, span, note),
                _ => diagnostic.see(self.file, span, note),
            };
        }
        diagnostic
    }

    /// Returns the places of the parts of an entry, if the file has it.
    #[must_use]
    pub fn places(&self, provider: &ProviderAddr) -> Option<&Places> {
        self.document.places.get(provider)
    }
}
