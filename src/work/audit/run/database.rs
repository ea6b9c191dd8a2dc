//! The advisories of a run, from a directory or a server.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::kept::{KeptDocument, KeptDocuments};
use crate::addr::Url;
use crate::audit::{
    Advisory, AdvisoryDatabase, DatabaseDate, MAX_ADVISORIES, MAX_ADVISORY_BYTES, MAX_INDEX_BYTES,
    ModuleIndex, ModuleSelection, is_advisory_id,
};
use crate::diag::counted_as;
use crate::flavor::{Flavor, Program};
use crate::package::calendar;
use crate::parallel;
use crate::report::shared::first_names;
use crate::report::{Failure, Sentence};
use crate::run::World;
use crate::run::options::Options;
use crate::run::session::Session;
use crate::sources::documents::{DocumentAnswer, document};
use crate::sources::net::Net;
use crate::world::Files;

/// The public database of Go.
const PUBLIC: &str = "https://vuln.go.dev";

/// Number of advisories that are fetched at once.
const FETCHES: NonZeroUsize = NonZeroUsize::new(8).expect("it is not zero");

/// Maximum number of advisories that are fetched from a server, a request for each. The public database has 4,300
/// advisories, about all modules together.
const MAX_REQUESTS: usize = 20_000;

/// Maximum number of advisories that a failure names.
const MAX_NAMED: usize = 3;

/// The file that identifies the published layout.
const INDEX: &str = "index/modules.json";

/// The name of the index in the cache.
const KEPT_INDEX: &str = "index-modules";

/// The location of a vulnerability database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DatabasePlace {
    /// The published layout, or OSV files.
    Directory(PathBuf),
    /// The published layout on a server.
    Server(Url),
}

/// Advisories, with remarks on their database.
pub(super) struct LoadedAdvisories {
    pub(super) database: AdvisoryDatabase,
    pub(super) remarks: Vec<Sentence>,
    /// The advisories that could not be read, in words.
    pub(super) failure: Option<Failure>,
}

/// The use of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatabaseUse {
    /// Documents that changed are requested from the server.
    Asked,
    /// No request is made; kept documents are used.
    Kept,
}

/// The names of advisories that could not be read, with the reasons.
#[derive(Default)]
struct Unread(Vec<(String, String)>);

impl DatabasePlace {
    /// Reads the value of `--db`: a URL, or a directory relative to that of the run.
    pub(crate) fn typed(text: Option<&str>, options: &Options) -> Result<Self, Failure> {
        let text = text.unwrap_or(PUBLIC);
        if !text.contains("://") {
            return Ok(Self::Directory(options.below(Path::new(text))));
        }
        match text.parse::<Url>() {
            Ok(url) => Ok(Self::Server(url.as_directory())),
            Err(error) => Err(Failure::from_error(&error)
                .help("name a directory, or an address that begins with https:// with --db")),
        }
    }
}

/// Reads the advisories about some modules.
///
/// # Errors
/// If there is no database.
pub(super) fn load(
    session: &Session<'_>,
    place: &DatabasePlace,
    selection: &ModuleSelection,
    usage: DatabaseUse,
) -> Result<LoadedAdvisories, Failure> {
    match place {
        DatabasePlace::Directory(dir) => directory(session, dir, selection),
        DatabasePlace::Server(url) => server(session, url, selection, usage),
    }
}

fn directory(
    session: &Session<'_>,
    dir: &Path,
    selection: &ModuleSelection,
) -> Result<LoadedAdvisories, Failure> {
    let disk = session.world.disk;
    let shown = dir.display();
    let mut unread = Unread::default();
    let has_index = disk.kind(&dir.join(INDEX)).is_ok();
    let paths = if has_index {
        indexed_files(disk, dir, selection, &mut unread)?
    } else {
        osv_files(disk, dir)?
    };
    if paths.len() > MAX_ADVISORIES {
        let cause = format!("it has more than {MAX_ADVISORIES} files");
        return Err(unreadable(&shown, &cause));
    }
    let read = parallel::map(parallel::cores(), &paths, |(id, path)| {
        let bytes = disk
            .read(path, MAX_ADVISORY_BYTES)
            .map_err(|error| error.to_string())?;
        let advisory = parsed(&bytes)?;
        // Otherwise the advisory would be listed under another identifier than in the index.
        if has_index && advisory.id != *id {
            return Err(format!("it is {}", advisory.id));
        }
        // Most advisories of a directory without an index are about other modules.
        Ok(selection.has_any_of(&advisory).then_some(advisory))
    });
    let mut advisories = Vec::new();
    for ((id, _), read) in paths.into_iter().zip(read) {
        match read {
            Ok(advisory) => advisories.extend(advisory),
            Err(why) => unread.0.push((id, why)),
        }
    }
    let date = disk
        .read(&dir.join("index/db.json"), MAX_ADVISORY_BYTES)
        .ok()
        .and_then(|bytes| DatabaseDate::parse(&bytes).ok())
        .map(|date| dated(&date.modified, session.world));
    Ok(LoadedAdvisories {
        database: AdvisoryDatabase::new(advisories),
        remarks: vec![Sentence::note(format!(
            "advisories of {shown}{}",
            date.unwrap_or_default()
        ))],
        failure: unread.failure(),
    })
}

/// Lists the files of the advisories that an index names about some modules.
fn indexed_files(
    files: &dyn Files,
    dir: &Path,
    selection: &ModuleSelection,
    unread: &mut Unread,
) -> Result<Vec<(String, PathBuf)>, Failure> {
    let path = dir.join(INDEX);
    let index = files
        .read(&path, MAX_INDEX_BYTES)
        .map_err(|error| unreadable(&path.display(), &error))?;
    let index = ModuleIndex::parse(&index).map_err(|error| unreadable(&path.display(), &error))?;
    let files = wanted(&index, selection, unread).into_keys().map(|id| {
        let path = dir.join("ID").join(format!("{id}.json"));
        (id, path)
    });
    Ok(files.collect())
}

/// Lists all files of a directory without an index that may be advisories.
fn osv_files(files: &dyn Files, dir: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let shown = dir.display();
    let entries = files.list(dir);
    let files: Vec<(String, PathBuf)> = entries
        .map_err(|error| unreadable(&shown, &error))?
        .into_iter()
        .filter_map(|entry| {
            let id = entry.name.to_str()?.strip_suffix(".json")?.to_owned();
            Some((id, dir.join(entry.name)))
        })
        .collect();
    if files.is_empty() {
        return Err(Failure::new(format!("{shown} has no advisories")).help("name with --db a directory with index/modules.json, or with *.json files in OSV format"));
    }
    Ok(files)
}

fn server(
    session: &Session<'_>,
    url: &Url,
    selection: &ModuleSelection,
    usage: DatabaseUse,
) -> Result<LoadedAdvisories, Failure> {
    let world = session.world;
    let server = DatabaseServer {
        url,
        kept: KeptDocuments {
            cache: session.cached_answers(),
            url: url.to_string(),
        },
        // Flavors only differ in the number of retries here, and roots of both programs share the database.
        net: session.net(Flavor::newest(Program::Terraform)),
        now: world.clock.now(),
        usage,
    };
    let (index, warning) = server.index()?;
    let mut unread = Unread::default();
    let ids = server.wanted(&index, selection, &mut unread)?;
    let read = parallel::map(FETCHES, &ids, |(id, modified)| {
        // If the index could not be fetched, further requests to the same host would wait and fail as well.
        server.advisory(id, modified, warning.is_some())
    });
    let mut advisories = Vec::new();
    for ((id, _), read) in ids.into_iter().zip(read) {
        match read {
            Ok(advisory) => advisories.push(advisory),
            Err(why) => unread.0.push((id, why)),
        }
    }
    let mut about = format!("advisories of {url}{}", dated(&index.date, world));
    let is_old = usage == DatabaseUse::Kept || warning.is_some();
    if is_old {
        let asked = calendar::ago(index.asked, server.now);
        about += &format!("; kept copy, last compared {asked}");
    }
    let failure = unread.failure().map(|failure| match usage {
        DatabaseUse::Kept => failure.help("run it once without --offline"),
        DatabaseUse::Asked => failure,
    });
    Ok(LoadedAdvisories {
        database: AdvisoryDatabase::new(advisories),
        remarks: warning
            .into_iter()
            .chain(server.kept.notes())
            .map(Sentence::warning)
            .chain([Sentence::note(about)])
            .collect(),
        failure,
    })
}

/// Describes the last change of a database; empty if its time is unknown.
fn dated(modified: &str, world: World<'_>) -> String {
    match calendar::read_timestamp(modified) {
        Some(moment) => {
            let ago = calendar::ago(moment, world.clock.now());
            format!(", changed on {} ({ago})", calendar::day(moment))
        }
        None => String::new(),
    }
}

/// The database of a server, with its kept documents.
struct DatabaseServer<'a> {
    url: &'a Url,
    kept: KeptDocuments<'a>,
    net: Net<'a>,
    now: SystemTime,
    usage: DatabaseUse,
}

impl DatabaseServer<'_> {
    /// Returns the index, and a warning if the kept one is used because the request failed.
    fn index(&self) -> Result<(KeptDocument, Option<String>), Failure> {
        let kept = self.kept.get(KEPT_INDEX);
        if self.usage == DatabaseUse::Kept {
            return kept.map(|kept| (kept, None)).ok_or_else(|| {
                Failure::new(format!("no advisories of {} are kept", self.url))
                    .help("run it once without --offline, or name a directory with --db")
            });
        }
        let etag = kept
            .as_ref()
            .map(|kept| &*kept.etag)
            // A server without entity tags would get a condition that is never true.
            .filter(|etag| !etag.is_empty());
        let url = self.url.below(["index", "modules.json"]);
        match (document(&self.net, &url, MAX_INDEX_BYTES, etag), kept) {
            (Ok(DocumentAnswer::Unchanged), Some(kept)) => {
                let index = KeptDocument {
                    asked: self.now,
                    ..kept
                };
                self.kept.put(KEPT_INDEX, &index);
                Ok((index, None))
            }
            (Ok(DocumentAnswer::Document { body, etag }), _) => {
                let index = KeptDocument {
                    asked: self.now,
                    etag: etag.unwrap_or_default(),
                    date: self.date(),
                    body,
                };
                // A truncated document must not replace a complete one.
                if ModuleIndex::parse(&index.body).is_ok() {
                    self.kept.put(KEPT_INDEX, &index);
                }
                Ok((index, None))
            }
            // Advisories of yesterday find more than a run that fails.
            (Err(error), Some(kept)) => {
                let failure = Failure::from_error(&error);
                let causes = failure.causes.join(": ");
                let warning = format!("{}: {causes}; kept advisories are used", failure.title);
                Ok((kept, Some(warning)))
            }
            (Err(error), None) => Err(Failure::from_error(&error)
                .help("name a copy of the database with --db DIR, or try again")),
            // Only a server that is wrong answers so: no condition was sent.
            (Ok(DocumentAnswer::Unchanged), None) => Err(unreadable(
                &url,
                &"it is unchanged, but nothing is kept of it",
            )),
        }
    }

    /// Lists the needed advisories of an index, with the dates of their last changes.
    fn wanted(
        &self,
        index: &KeptDocument,
        selection: &ModuleSelection,
        unread: &mut Unread,
    ) -> Result<Vec<(String, String)>, Failure> {
        let place = format!("{}{INDEX}", self.url);
        let index = ModuleIndex::parse(&index.body).map_err(|error| unreadable(&place, &error))?;
        let ids: Vec<_> = wanted(&index, selection, unread).into_iter().collect();
        // Each advisory is a request of its own.
        if ids.len() > MAX_REQUESTS {
            let cause =
                format!("it names more than {MAX_REQUESTS} advisories about the locked providers");
            return Err(unreadable(&place, &cause));
        }
        Ok(ids)
    }

    /// Returns the date of the database, as text; empty if the server does not state any.
    fn date(&self) -> String {
        let url = self.url.below(["index", "db.json"]);
        let Ok(DocumentAnswer::Document { body, .. }) =
            document(&self.net, &url, MAX_ADVISORY_BYTES, None)
        else {
            return String::new();
        };
        let date = DatabaseDate::parse(&body).ok();
        // The date becomes a line of the kept object: a text that is not a time could contain a line feed.
        let date = date.filter(|date| calendar::read_timestamp(&date.modified).is_some());
        date.map_or_else(String::new, |date| date.modified)
    }

    /// Returns an advisory: the kept one if it has the date in the index.
    fn advisory(&self, id: &str, modified: &str, is_unreachable: bool) -> Result<Advisory, String> {
        // The date becomes a line of the kept object.
        let modified = if modified.contains('\n') {
            ""
        } else {
            modified
        };
        let kept = self.kept.get(id);
        // If the index states no date, the kept advisory may be outdated.
        let is_current = |kept: &KeptDocument| !modified.is_empty() && kept.date == modified;
        let may_ask = self.usage == DatabaseUse::Asked && !is_unreachable;
        if let Some(kept) = kept.as_ref().filter(|kept| is_current(kept) || !may_ask) {
            match named(&kept.body, id) {
                // An earlier version may have kept what this one cannot read.
                Err(_) if may_ask => {}
                read => return read,
            }
        }
        if !may_ask {
            return Err("it is not kept".to_owned());
        }
        let url = self.url.below(["ID", &format!("{id}.json")]);
        match document(&self.net, &url, MAX_ADVISORY_BYTES, None) {
            Ok(DocumentAnswer::Document { body, etag }) => {
                // Checked before it is kept: a wrong document would stay in use until its date in the index changes.
                let advisory = named(&body, id)?;
                self.kept.put(
                    id,
                    &KeptDocument {
                        asked: self.now,
                        etag: etag.unwrap_or_default(),
                        date: modified.to_owned(),
                        body,
                    },
                );
                Ok(advisory)
            }
            Ok(DocumentAnswer::Unchanged) => Err("it is not kept".to_owned()),
            Err(error) => {
                let failure = Failure::from_error(&error);
                Err([vec![failure.title], failure.causes].concat().join(": "))
            }
        }
    }
}

/// Returns the advisories of an index that are needed, with the dates of their last changes.
fn wanted(
    index: &ModuleIndex,
    selection: &ModuleSelection,
    unread: &mut Unread,
) -> BTreeMap<String, String> {
    let mut ids = BTreeMap::new();
    for module in &index.modules {
        if !selection.has(&module.path) {
            continue;
        }
        for advisory in &module.vulns {
            // The identifier becomes a part of a path or a URL.
            if is_advisory_id(&advisory.id) {
                ids.insert(advisory.id.clone(), advisory.modified.clone());
            } else {
                let name: String = advisory.id.chars().take(40).collect();
                unread
                    .0
                    .push((name, "this is not the name of an advisory".to_owned()));
            }
        }
    }
    ids
}

fn parsed(bytes: &[u8]) -> Result<Advisory, String> {
    Advisory::parse(bytes).map_err(|error| {
        let failure = Failure::from_error(&error);
        [vec![failure.title], failure.causes].concat().join(": ")
    })
}

/// Reads an advisory, and checks its identifier.
fn named(bytes: &[u8], id: &str) -> Result<Advisory, String> {
    // A server may answer with any advisory.
    let advisory = parsed(bytes)?;
    if advisory.id == id {
        Ok(advisory)
    } else {
        Err(format!("it is {}", advisory.id))
    }
}

fn unreadable(shown: &dyn Display, why: &dyn Display) -> Failure {
    Failure::new(format!("advisories could not be read from {shown}"))
        .because(why.to_string())
        .help("name with --db a directory or a server with the Go vulnerability database")
}

impl Unread {
    /// Combines all reasons into one failure.
    fn failure(self) -> Option<Failure> {
        let mut unread = self.0;
        unread.sort();
        // The index lists an advisory below each of its modules, so a wrong identifier occurs several times.
        unread.dedup();
        if unread.is_empty() {
            return None;
        }
        let names = unread.iter().map(|(id, why)| format!("{id}: {why}"));
        // Without an advisory the answer is incomplete, so this is no remark.
        Some(Failure {
            title: format!(
                "{} could not be read",
                counted_as(unread.len(), "advisory", "advisories")
            ),
            causes: first_names(names, MAX_NAMED),
            help: None,
        })
    }
}
