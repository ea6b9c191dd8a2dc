//! `lockctl changes`: what another version of a provider brings.

pub(crate) mod text;

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::addr::ProviderAddr;
use crate::advice;
use crate::diag::Texts;
use crate::flavor::{Flavor, Program};
use crate::lockfile;
use crate::report::{
    CLEAN, CommandResult, FAILED, Failure, Look, ResultSubject, Sentence, TextBlock,
};
use crate::review::LockSide;
use crate::run::command::Command;
use crate::run::github::GithubApi;
use crate::run::options::examples;
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;
use crate::sources::registry::VersionListing;
use crate::sources::release_changes::ReleaseChanges;
use crate::sources::release_contents::{NotesBetween, ReleaseContents, ReleaseDocuments};
use crate::store::answers::AnswerKind;
use crate::version::Version;
use crate::workspace::{self, flavor_of};

/// The version of the format in which contents are kept.
const FORMAT: u32 = 2;

/// Show what an upgrade brings: resources, functions, licence, release notes
///
/// The documents of the public registries and of GitHub are read, and what they say of a release is kept. Nothing of it
/// is signed. GITHUB_TOKEN lifts GitHub's limit on requests, and GITHUB_API_URL names another server for them.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl changes", "each locked provider against its newest release"),
    ("lockctl changes hashicorp/aws", "one provider"),
    ("lockctl changes hashicorp/aws 5.31.0..6.2.0", "between two versions"),
    ("lockctl changes hashicorp/aws --format markdown", "the same, for a pull request"),
]))]
pub(crate) struct ChangesArgs {
    /// The provider, as in hashicorp/aws [default: every locked one]
    #[arg(value_name = "ADDR")]
    addr: Option<TypedAddr>,
    /// The versions to compare [default: the locked one, and the newest release]
    #[arg(value_name = "OLD..NEW", value_parser = TypedRange::parse)]
    range: Option<TypedRange>,
}

/// Two versions as typed, of which each may be left out.
#[derive(Clone, Debug, Default)]
struct TypedRange {
    old: Option<Version>,
    new: Option<Version>,
}

impl TypedRange {
    fn parse(text: &str) -> Result<Self, String> {
        let fault = || format!("{text:?} is no range of versions, as 5.31.0..6.2.0 is");
        let (old, new) = text.split_once("..").ok_or_else(fault)?;
        let side = |text: &str| match text {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| fault()),
        };
        Ok(Self {
            old: side(old)?,
            new: side(new)?,
        })
    }
}

impl Command for ChangesArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let reader = ReleaseReader::new(session);
        let targets = reader.and_then(|reader| Ok((self.targets(session)?, reader)));
        let (targets, reader) = match targets {
            Ok(targets) => targets,
            Err(failure) => return CommandResult::failed("changes", [failure]),
        };
        let mut releases = Vec::new();
        let mut failures = Vec::new();
        for (provider, old) in &targets {
            let new = self.range.as_ref().and_then(|range| range.new.as_ref());
            match reader.changes(provider, old, new) {
                Ok(changes) => releases.extend(changes),
                Err(failure) => failures.push(failure),
            }
        }
        if releases.is_empty() && !failures.is_empty() {
            return CommandResult::failed("changes", failures);
        }
        let exit = if failures.is_empty() { CLEAN } else { FAILED };
        let mut remarks: Vec<Sentence> = failures.iter().map(sentence).collect();
        if releases.is_empty() {
            remarks.push(Sentence::note("every provider is at its newest release"));
        }
        CommandResult {
            exit,
            remarks,
            ..CommandResult::of("changes", ResultSubject::Releases(releases))
        }
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        match &result.subject {
            ResultSubject::Releases(releases) => text::blocks(releases, look),
            _ => Vec::new(),
        }
    }
}

/// Says in one sentence what failed.
pub(crate) fn sentence(failure: &Failure) -> Sentence {
    Sentence::warning(format!("{}: {}", failure.title, failure.causes.join(": ")))
}

impl ChangesArgs {
    /// Returns the providers that are compared, each with its version before.
    fn targets(&self, session: &Session<'_>) -> Result<Vec<(ProviderAddr, Version)>, Failure> {
        let (disk, options) = (session.world.disk, session.options);
        let path = options.below(Path::new(lockfile::FILE_NAME));
        let bytes = workspace::read_lock(disk, &path)?;
        let lacks_file = bytes.is_none();
        let dir = options.below(Path::new("."));
        let flavor = flavor_of(options.flavor, disk, &dir, bytes.as_deref());
        let file = Texts::default().add(path.display().to_string(), Vec::new());
        let lock = bytes.map(|bytes| LockSide::read(file, bytes, flavor).document.lock);
        let locked = lock.unwrap_or_default().providers;
        let Some(typed) = &self.addr else {
            if locked.is_empty() {
                let path = path.display();
                let title = if lacks_file {
                    format!("there is no {path}")
                } else {
                    format!("{path} locks no provider")
                };
                return Err(Failure::new(title).help("name a provider and two versions"));
            }
            return Ok(locked
                .into_iter()
                .map(|(addr, entry)| (addr, entry.version))
                .collect());
        };
        let addr = typed.among(locked.keys(), flavor)?;
        let typed_old = self.range.as_ref().and_then(|range| range.old.clone());
        let old = typed_old.or_else(|| Some(locked.get(&addr)?.version.clone()));
        match old {
            Some(old) => Ok(vec![(addr, old)]),
            None => {
                let title = format!("{} locks no version of {addr}", path.display());
                Err(Failure::new(title).help("name both versions, as in 5.31.0..6.2.0"))
            }
        }
    }
}

/// Reads what releases hold: from the cache, and else from the servers that document them.
pub(crate) struct ReleaseReader<'s, 'a> {
    session: &'s Session<'a>,
    documents: ReleaseDocuments<'a>,
}

impl<'s, 'a> ReleaseReader<'s, 'a> {
    /// Prepares to read; nothing is asked yet.
    ///
    /// # Errors
    /// If `GITHUB_API_URL` is no address.
    pub(crate) fn new(session: &'s Session<'a>) -> Result<Self, Failure> {
        let GithubApi { url, token, .. } = GithubApi::read(session.world.env)?;
        let documents = ReleaseDocuments {
            net: session.net(Flavor::newest(Program::Terraform)),
            github: url,
            github_token: token,
        };
        Ok(Self { session, documents })
    }

    /// Compares two versions of a provider, the second of which is the newest release if it is not named; `None` if
    /// the first is the newest.
    ///
    /// # Errors
    /// If the registry lists no versions, or nothing may be asked and nothing is kept.
    pub(crate) fn changes(
        &self,
        provider: &ProviderAddr,
        old: &Version,
        new: Option<&Version>,
    ) -> Result<Option<ReleaseChanges>, Failure> {
        let is_offline = self.session.options.offline;
        if let Some(new) = new
            && let (Some(before), Some(now)) = (
                self.kept(&of_version(provider, old)),
                self.kept(&of_version(provider, new)),
            )
            && let Some(between) = self
                .kept(&of_range(provider, old, new))
                .or_else(|| is_offline.then(NotesBetween::default))
        {
            return Ok(Some(ReleaseChanges {
                between,
                ..ReleaseChanges::between(provider, (old, &before), (new, &now))
            }));
        }
        if is_offline {
            let title = format!("what releases of {provider} hold is not kept on this machine");
            return Err(Failure::new(title)
                .because(match new {
                    Some(new) => {
                        format!("both {old} and {new} are needed, and --offline forbids requests")
                    }
                    None => "--offline forbids to ask for the newest release".to_owned(),
                })
                .help("run it once without --offline, or name two versions that are kept"));
        }
        let listed = self.listed(provider)?;
        let newest = listed.keys().rfind(|version| !version.is_prerelease());
        let Some(new) = new.or(newest).filter(|new| *new != old) else {
            return Ok(None);
        };
        if !listed.contains_key(new) {
            let failure = Failure::new(format!("{provider} has no version {new}"));
            return Err(match newest {
                Some(newest) => failure.help(format!("its newest release is {newest}")),
                None => failure,
            });
        }
        let (before, now) = self.contents(provider, [old, new], &listed);
        let mut changes = ReleaseChanges::between(provider, (old, &before), (new, &now));
        if let Some(repository) = &now.repository {
            let between: Vec<&Version> = listed
                .keys()
                .rev()
                .filter(|version| *version > old && *version < new && !version.is_prerelease())
                .collect();
            let question = of_range(provider, old, new);
            match self.kept(&question) {
                Some(kept) => changes.between = kept,
                None => match self.documents.notes_between(repository, &between) {
                    Ok(between) => {
                        self.keep(&question, &between);
                        changes.between = between;
                    }
                    Err(error) => changes.unread.push(error),
                },
            }
        }
        Ok(Some(changes))
    }

    /// Asks for the versions of a provider as `init` does: with service discovery, the credentials of the host, and the
    /// addresses that the CLI configuration names for it.
    fn listed(
        &self,
        provider: &ProviderAddr,
    ) -> Result<BTreeMap<Version, VersionListing>, Failure> {
        let flavor = Flavor::newest(Program::Terraform);
        let listed = self.session.of(flavor).registry().listings(provider);
        listed.map_err(|error| {
            let failure = Failure::from_error(&error);
            match advice::network::source(&error, flavor) {
                Some(help) => failure.help(help),
                None => failure,
            }
        })
    }

    /// Returns the contents of two versions: those that are kept, and else those that are asked for and kept now.
    fn contents(
        &self,
        provider: &ProviderAddr,
        versions: [&Version; 2],
        listed: &BTreeMap<Version, VersionListing>,
    ) -> (ReleaseContents, ReleaseContents) {
        let kept = |version| self.kept(&of_version(provider, version));
        let mut wanted = BTreeMap::new();
        for version in versions {
            if kept(version).is_some() {
                continue;
            }
            let contents = listed.get(version).map_or_else(
                || ReleaseContents {
                    unread: vec![format!("the registry lists no version {version}")],
                    ..ReleaseContents::default()
                },
                ReleaseContents::listed,
            );
            wanted.insert(version.clone(), contents);
        }
        if !wanted.is_empty() {
            self.documents.complete(provider, &mut wanted);
        }
        for (version, contents) in &wanted {
            // The documents of a release do not change, so what was read in full is kept.
            if contents.unread.is_empty() {
                self.keep(&of_version(provider, version), contents);
            }
        }
        let [before, now] = versions.map(|version| {
            let read = wanted.remove(version);
            read.or_else(|| kept(version)).unwrap_or_default()
        });
        (before, now)
    }

    /// Returns the kept answer to a question.
    fn kept<T: DeserializeOwned>(&self, question: &str) -> Option<T> {
        let cache = self.session.cached_answers()?;
        let kept = cache.find(AnswerKind::Releases, question)?;
        serde_json::from_slice(&kept.answer).ok()
    }

    fn keep(&self, question: &str, answer: &impl Serialize) {
        if let Some(cache) = self.session.cached_answers()
            && let Ok(bytes) = serde_json::to_vec(answer)
        {
            cache.keep(AnswerKind::Releases, question, &bytes);
        }
    }
}

/// Returns the question about the contents of a release.
fn of_version(provider: &ProviderAddr, version: &Version) -> String {
    format!("{FORMAT} {provider} {version}")
}

/// Returns the question about the notes between two releases.
fn of_range(provider: &ProviderAddr, old: &Version, new: &Version) -> String {
    format!("{FORMAT} {provider} {old}..{new}")
}
