//! The files of a commit, read from its objects: nothing is checked out (rules 5.6).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::GitFiles;
use super::address::GitAddress;
use super::command::GitPlace;
use super::error::GitFailure;
use crate::modules::package::{
    ContentRoom, FileContent, MAX_ENTRIES, MAX_KEPT_FILE_BYTES, MAX_PATH_BYTES, PackageBuilder,
    PackageError,
};

/// Maximum output of git about the names of a commit, in bytes: the longest names a package may have, with
/// the kind and id of each.
const MAX_NAMES_BYTES: u64 = (MAX_PATH_BYTES + MAX_ENTRIES * ROW_BYTES) as u64;

/// Length of a row that git prints about a file beside its name, in bytes.
const ROW_BYTES: usize = 96;

/// Maximum size of the files that one git process reads, in bytes.
const MAX_BATCH_BYTES: u64 = 32 << 20;

/// The longest target of a link, in bytes.
const MAX_LINK_BYTES: u64 = 4096;

/// Maximum number of configuration files that are fetched after the first fetch left them out.
const MAX_LARGE_FILES: usize = 1000;

/// The files that only a server without limits sends at first: configuration itself, in either syntax.
const CONFIGURATION_ENDINGS: [&str; 4] = [".tf", ".tofu", ".tf.json", ".tofu.json"];

/// The files and submodules of a commit.
#[derive(Debug, Default)]
pub(super) struct CommitFiles {
    rows: Vec<TreeRow>,
}

/// A repository in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gitlink {
    pub(super) path: Box<[u8]>,
    pub(super) commit: String,
}

#[derive(Debug)]
struct TreeRow {
    kind: RowKind,
    object: Box<str>,
    path: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Directory,
    File,
    Link,
    Repository,
}

/// The contents, by the names of their objects.
type Contents = BTreeMap<Box<str>, FileContent>;

impl CommitFiles {
    pub(super) fn list(
        place: &GitPlace<'_>,
        repository: &Path,
        commit: &str,
        address: &GitAddress,
    ) -> Result<Self, GitFailure> {
        const COMMAND: &str = "ls-tree";
        let args = [COMMAND, "-r", "-t", "-z", "--full-tree", commit];
        let ended = place.read(repository, address, &args, b"", MAX_NAMES_BYTES)?;
        let failed = GitFailure::Unexpected { command: COMMAND };
        if ended.code != Some(0) {
            return Err(failed);
        }
        let rows: Vec<TreeRow> = ended
            .stdout
            .split(|byte| *byte == 0)
            .filter(|row| !row.is_empty())
            .map(TreeRow::parse)
            .collect::<Option<_>>()
            .ok_or(failed)?;
        // git refuses to check out such a path: a file below `.git` could be a hook or a setting.
        let is_git = |part: &[u8]| part.eq_ignore_ascii_case(b".git");
        if let Some(row) = rows
            .iter()
            .find(|row| row.path.split(|byte| *byte == b'/').any(is_git))
        {
            let path = row.path.clone();
            return Err(PackageError::UnusablePath { path }.into());
        }
        Ok(Self { rows })
    }

    /// Returns the repositories in it.
    pub(super) fn gitlinks(&self) -> Vec<Gitlink> {
        self.rows
            .iter()
            .filter(|row| row.kind == RowKind::Repository)
            .map(|row| Gitlink {
                path: row.path.clone(),
                commit: row.object.to_string(),
            })
            .collect()
    }

    pub(super) fn file(&self, path: &[u8]) -> Option<&str> {
        self.rows
            .iter()
            .find(|row| *row.path == *path && row.kind == RowKind::File)
            .map(|row| &*row.object)
    }

    /// Returns true if an entry has this path.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.rows.iter().any(|row| *row.path == *path)
    }

    /// Reads the contents that can matter, and makes a package of all entries.
    pub(super) fn package(
        &self,
        place: &GitPlace<'_>,
        repository: &Path,
        address: &GitAddress,
        files: GitFiles,
    ) -> Result<PackageBuilder, GitFailure> {
        let contents = self.contents(place, repository, address, files)?;
        let mut builder = PackageBuilder::new();
        for row in &self.rows {
            match (row.kind, contents.get(&row.object)) {
                (RowKind::Directory | RowKind::Repository, _) => builder.directory(&row.path)?,
                (RowKind::Link, Some(FileContent::Kept(target))) => {
                    builder.link(&row.path, target)?;
                }
                (RowKind::Link, _) => {
                    let path = row.path.clone();
                    return Err(PackageError::UnusablePath { path }.into());
                }
                (RowKind::File, Some(content)) => builder.file(&row.path, content.clone())?,
                (RowKind::File, None) => {
                    // Left out by the server, which was asked for smaller ones.
                    let bytes = MAX_KEPT_FILE_BYTES + 1;
                    builder.file(&row.path, FileContent::Passed(bytes, None))?;
                }
            }
        }
        Ok(builder)
    }

    fn contents(
        &self,
        place: &GitPlace<'_>,
        repository: &Path,
        address: &GitAddress,
        files: GitFiles,
    ) -> Result<Contents, GitFailure> {
        let mut sizes = self.sizes(place, repository, address)?;
        if self.fetch_configuration(place, repository, address, &sizes)? {
            sizes = self.sizes(place, repository, address)?;
        }
        let mut contents = Contents::new();
        let (mut wanted, mut hashed) = (Vec::new(), Vec::new());
        let mut room = ContentRoom::default();
        let mut seen = BTreeSet::new();
        for row in &self.rows {
            let Some(size) = sizes.get(&row.object).copied() else {
                continue;
            };
            // Files with the same content are one object, which is read once.
            if seen.contains(&*row.object) {
                continue;
            }
            // What is not kept needs no content, only its length (rules 1.3).
            let is_wanted = match row.kind {
                // No file system takes a longer target.
                RowKind::Link => size <= MAX_LINK_BYTES,
                _ => room.takes(&row.path, size),
            };
            if is_wanted {
                seen.insert(&*row.object);
                wanted.push((&*row.object, size));
            } else {
                let passed = FileContent::Passed(size, None);
                contents.entry(row.object.clone()).or_insert(passed);
                if files == GitFiles::All {
                    hashed.push((&*row.object, size));
                }
            }
        }
        for batch in batches(&wanted) {
            read_batch(place, repository, address, batch, &mut contents)?;
        }
        // An object that one name keeps is known already under all its names.
        hashed.retain(|(object, _)| !matches!(contents.get(*object), Some(FileContent::Kept(_))));
        hashed.sort_unstable();
        hashed.dedup();
        for batch in batches(&hashed) {
            let mut read = Contents::new();
            read_batch(place, repository, address, batch, &mut read)?;
            for (object, content) in read {
                if let FileContent::Kept(bytes) = content {
                    contents.insert(object, FileContent::of_passed(&bytes));
                }
            }
        }
        Ok(contents)
    }

    /// Fetches large files of configuration that are not here yet; returns false if there are none. What the server
    /// does not give stays away.
    fn fetch_configuration(
        &self,
        place: &GitPlace<'_>,
        repository: &Path,
        address: &GitAddress,
        sizes: &BTreeMap<Box<str>, u64>,
    ) -> Result<bool, GitFailure> {
        let lacking: BTreeSet<&str> = self
            .rows
            .iter()
            .filter(|row| {
                row.kind == RowKind::File
                    && CONFIGURATION_ENDINGS
                        .iter()
                        .any(|ending| row.path.ends_with(ending.as_bytes()))
            })
            .map(|row| &*row.object)
            .filter(|object| !sizes.contains_key(*object))
            .take(MAX_LARGE_FILES)
            .collect();
        if lacking.is_empty() {
            return Ok(false);
        }
        let lines: String = lacking.iter().map(|object| format!("{object}\n")).collect();
        let args = [
            "-c",
            // There is nothing to negotiate: the objects are named one by one.
            "fetch.negotiationAlgorithm=noop",
            "fetch",
            "--quiet",
            "--no-tags",
            "--filter=blob:none",
            "--stdin",
            "--",
            address.secret_url(),
        ];
        place.ask(address, Some(repository), &args, lines.as_bytes())?;
        place.forget_remotes(repository, lines.find('\n').unwrap_or_default())?;
        Ok(true)
    }

    /// Returns the sizes of the files and links in bytes, by the names of their objects; without those that
    /// are not here.
    fn sizes(
        &self,
        place: &GitPlace<'_>,
        repository: &Path,
        address: &GitAddress,
    ) -> Result<BTreeMap<Box<str>, u64>, GitFailure> {
        const COMMAND: &str = "cat-file";
        let objects: BTreeSet<&str> = self
            .rows
            .iter()
            .filter(|row| matches!(row.kind, RowKind::File | RowKind::Link))
            .map(|row| &*row.object)
            .collect();
        if objects.is_empty() {
            return Ok(BTreeMap::new());
        }
        let stdin: String = objects.iter().map(|object| format!("{object}\n")).collect();
        let args = [COMMAND, "--batch-check=%(objecttype) %(objectsize)"];
        let ended = place.read(
            repository,
            address,
            &args,
            stdin.as_bytes(),
            MAX_NAMES_BYTES,
        )?;
        let printed = String::from_utf8_lossy(&ended.stdout);
        // The answers have no names: one line more or less would give every following file another size.
        if ended.code != Some(0) || printed.lines().count() != objects.len() {
            return Err(GitFailure::Unexpected { command: COMMAND });
        }
        Ok(objects
            .iter()
            .zip(printed.lines())
            .filter_map(|(object, line)| {
                let size = line.strip_prefix("blob ")?.parse().ok()?;
                Some((Box::from(*object), size))
            })
            .collect())
    }
}

impl TreeRow {
    /// Reads `MODE TYPE OBJECT<TAB>PATH`.
    fn parse(row: &[u8]) -> Option<Self> {
        let tab = row.iter().position(|byte| *byte == b'\t')?;
        let (head, path) = (std::str::from_utf8(&row[..tab]).ok()?, &row[tab + 1..]);
        let [mode, _, object] = head.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        // The first three digits of a mode are its type; permissions follow.
        let kind = match mode.get(..3)? {
            "040" => RowKind::Directory,
            "100" => RowKind::File,
            "120" => RowKind::Link,
            "160" => RowKind::Repository,
            _ => return None,
        };
        // The id is written to the standard input of git later: a line feed in it would be another request.
        let is_object = object.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_object && !path.is_empty()).then(|| Self {
            kind,
            object: object.into(),
            path: path.into(),
        })
    }
}

/// Cuts a list of objects with their lengths into parts that are read at once.
fn batches<'w, 'o>(wanted: &'w [(&'o str, u64)]) -> Vec<&'w [(&'o str, u64)]> {
    let mut bytes = 0;
    let mut batches = Vec::new();
    let mut start = 0;
    for (at, (_, size)) in wanted.iter().enumerate() {
        // The output of a process is held in memory beside the contents that are kept.
        if bytes + size > MAX_BATCH_BYTES && at > start {
            batches.push(&wanted[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += size;
    }
    if start < wanted.len() {
        batches.push(&wanted[start..]);
    }
    batches
}

fn read_batch(
    place: &GitPlace<'_>,
    repository: &Path,
    address: &GitAddress,
    batch: &[(&str, u64)],
    contents: &mut Contents,
) -> Result<(), GitFailure> {
    const COMMAND: &str = "cat-file";
    let limit: u64 = batch.iter().map(|(_, size)| size + ROW_BYTES as u64).sum();
    let stdin: String = batch
        .iter()
        .map(|(object, _)| format!("{object}\n"))
        .collect();
    let args = [COMMAND, "--batch=%(objectsize)"];
    let unexpected = GitFailure::Unexpected { command: COMMAND };
    let ended = match place.read(repository, address, &args, stdin.as_bytes(), limit) {
        // The limit is the sum of the sizes that git itself has stated.
        Err(GitFailure::TooLarge { what: "names", .. }) => return Err(unexpected),
        ended => ended?,
    };
    let mut rest = &ended.stdout[..];
    for (object, size) in batch {
        // `SIZE\nCONTENT\n`, of a content that may hold any byte.
        let content = usize::try_from(*size).ok().and_then(|size| {
            let behind = rest.strip_prefix(format!("{size}\n").as_bytes())?;
            let (content, behind) = behind.split_at_checked(size)?;
            rest = behind.strip_prefix(b"\n")?;
            Some(content)
        });
        let Some(content) = content else {
            return Err(unexpected);
        };
        contents.insert(Box::from(*object), FileContent::Kept(content.into()));
    }
    Ok(())
}
