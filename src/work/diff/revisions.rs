//! The lock files of a git repository that differ between two states of it.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::advice;
use crate::diag::Texts;
use crate::diff::configuration::Configured;
use crate::diff::{DiffArgs, configuration, file_result, read_side};
use crate::git::{self, BlobContent, Change, GitError, ObjectId, Repository, Status, TreeEntry};
use crate::lockfile;
use crate::pins::{self, Pins};
use crate::project::{ProjectPlace, Projects};
use crate::report::{Failure, FileResult, Sentence};
use crate::review::{FileComparison, LockSide};
use crate::run::World;
use crate::run::commands;
use crate::run::options::Options;
use crate::run::session::Session;
use crate::workspace;
use crate::world::{FileKind, Files, clean, lexical};

/// The states that are compared, and the means to read them.
pub(super) struct RevisionReader<'s, 'a> {
    session: &'s Session<'a>,
    repository: Repository<'a>,
    /// The two states, in words.
    names: [String; 2],
    /// The files of those states that are revisions.
    trees: [Option<git::Tree<'a>>; 2],
    /// The absolute path of the top of the repository.
    top: PathBuf,
}

/// Compares every lock file that differs between the states that were typed, and says what was not compared.
///
/// # Errors
/// If they name nothing, or git does not answer.
pub(crate) fn compare(
    session: &Session<'_>,
    args: &DiffArgs,
    texts: &mut Texts,
) -> Result<(Vec<FileResult>, Vec<Sentence>), Failure> {
    let world = session.world;
    let dir = session.options.below(Path::new("."));
    let repository =
        Repository::find(world.run, &dir).map_err(|error| refused(session, args, &error))?;
    let sides = sides(&repository, args).map_err(|error| refused(session, args, &error))?;
    let changes = repository.changes(&sides.0, &sides.1).map_err(failure)?;
    // A bare repository has no work tree; its revisions are read as if they lay in the root directory.
    let top = match (repository.top(), world.env.current_dir()) {
        (Some(top), Ok(current)) => clean(&current.join(top)),
        _ => PathBuf::from("/"),
    };
    let tree = |side: &git::Side| match side {
        git::Side::At(revision) => {
            Some(git::Tree::new(&repository, revision).placed_at(top.clone()))
        }
        git::Side::Index | git::Side::WorkTree => None,
    };
    let reading = RevisionReader {
        session,
        trees: [tree(&sides.0), tree(&sides.1)],
        top,
        repository,
        names: [named(&sides.0), named(&sides.1)],
    };
    let mut files = reading.all(&changes, texts)?;
    let repository = &reading.repository;
    let changes_of = |files| repository.changes_of(files, &sides.0, &sides.1);
    let pinned = changes_of(&git::PIN_FILES).map_err(failure)?;
    files.extend(reading.pins(&pinned)?);
    // A link that changed itself was compared above.
    let known: BTreeSet<&Path> = changes.iter().map(Change::path).collect();
    let linked = repository.linked_locks().map_err(failure)?;
    for path in linked.iter().filter(|path| !known.contains(&***path)) {
        files.extend(reading.linked(path, texts));
    }
    files.sort_by(|a, b| a.comparison.path.cmp(&b.comparison.path));
    let submodules: Vec<String> = repository
        .moved_submodules(&sides.0, &sides.1)
        .map_err(failure)?
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let projects = changes_of(&git::PROJECT_FILES).map_err(failure)?;
    let mut warnings = reading.lost_memory(&projects)?;
    if !submodules.is_empty() {
        warnings.push(Sentence::warning(format!(
            "lock files of submodules that are at another commit were not compared: {}",
            submodules.join(", ")
        )));
    }
    Ok((files, warnings))
}

/// Returns true if two words that are paths name revisions as well.
pub(crate) fn are_revisions(options: &Options, args: &DiffArgs, world: World<'_>) -> bool {
    let words = [&args.old, &args.new];
    let texts: Vec<&str> = words
        .into_iter()
        .filter_map(|word| word.as_ref()?.to_str())
        .collect();
    // git lets no name of a revision begin so.
    if texts.iter().any(|text| text.starts_with(['.', '/'])) {
        return false;
    }
    // A branch may hold a directory `main`; its lock file would be compared instead of the branch of that name.
    let repository = Repository::find(world.run, &options.below(Path::new(".")));
    repository.is_ok_and(|repository| {
        texts.len() == 2 && texts.iter().all(|text| repository.revision(text).is_ok())
    })
}

/// Finds the states that were typed.
fn sides(repository: &Repository<'_>, args: &DiffArgs) -> Result<(git::Side, git::Side), GitError> {
    let text = |path: &Option<PathBuf>| Some(path.as_ref()?.to_string_lossy().into_owned());
    let old = text(&args.old);
    let old = old.as_deref().unwrap_or("HEAD");
    match text(&args.new) {
        Some(new) => {
            let (old, new) = (repository.revision(old)?, repository.revision(&new)?);
            Ok((git::Side::At(old), git::Side::At(new)))
        }
        None if args.staged => Ok((git::Side::At(repository.revision(old)?), git::Side::Index)),
        None => repository.sides(old),
    }
}

/// Returns the failure of what was typed: it may have been meant as a file.
fn refused(session: &Session<'_>, args: &DiffArgs, error: &GitError) -> Failure {
    let mut failure = advice::git::failure(error);
    let typed: Vec<String> = [&args.old, &args.new]
        .into_iter()
        .flatten()
        .map(|path| path.display().to_string())
        .collect();
    let has_range = typed.len() == 2 && typed.iter().any(|text| text.contains(".."));
    let has_range = has_range && matches!(error, GitError::NoRevision { .. });
    let title = format!("{} cannot be compared", typed.join(" and "));
    let (missing, existing): (Vec<&String>, Vec<&String>) = typed.iter().partition(|typed| {
        let path = session.options.below(Path::new(typed));
        session.world.disk.kind(&path).is_err()
    });
    match error {
        GitError::Bare => failure.help("name two revisions"),
        // The advice says where the revision is.
        GitError::NoRevision {
            is_shallow,
            remote_branch,
            ..
        } if !has_range && (*is_shallow || remote_branch.is_some()) => {
            let cause = std::mem::replace(&mut failure.title, title);
            failure.causes.insert(0, cause);
            failure
        }
        GitError::NoRepository { .. } | GitError::NoRevision { .. } if !typed.is_empty() => {
            Failure::new(title)
                .because(match (&*missing, &*existing) {
                    _ if has_range => "a range such as A..B takes no second argument".to_owned(),
                    // Beside a path the other word is one, too.
                    ([missing], [_]) => format!("{missing} does not exist"),
                    _ => failure.title,
                })
                .help("name two lock files or their directories, or revisions")
        }
        _ => failure,
    }
}

/// Names a state, for use before the path of a file.
fn named(side: &git::Side) -> String {
    match side {
        git::Side::At(revision) => format!("{}:", revision.text),
        git::Side::Index => ":".to_owned(),
        git::Side::WorkTree => String::new(),
    }
}

impl RevisionReader<'_, '_> {
    fn all(&self, changes: &[Change], texts: &mut Texts) -> Result<Vec<FileResult>, Failure> {
        let (blobs, contents) = self.contents(changes, lockfile::MAX_BYTES)?;
        // Opening a root reads its lock file, which would start git twice more.
        for tree in self.trees.iter().flatten() {
            for (blob, content) in blobs.iter().zip(&contents) {
                tree.remember(blob.clone(), content.clone());
            }
        }
        let mut contents = contents.into_iter();
        let now = self.session.world.clock.now();
        let [old_tree, _] = &self.trees;
        let mut projects = old_tree.as_ref().map(|tree| Projects::nearest(tree, now));
        // One command for all of them: files with equal changes are shown together.
        let unmerged: Vec<PathBuf> = changes
            .iter()
            .filter(|change| change.status == Status::Unmerged)
            .filter_map(|change| Some(self.placed(change.path()).parent()?.to_owned()))
            .collect();
        let resolve = commands::of_dirs(self.session.options, &unmerged).resolve;
        let mut all = Vec::new();
        for change in changes {
            let mut failures = Vec::new();
            let mut side = |entry: &Option<TreeEntry>, name: &str| {
                let entry = entry.as_ref()?;
                // `contents` has one item for each blob, in the order of the changes.
                let content = entry.blob.as_ref().and_then(|_| contents.next());
                // A conflict has up to three versions, and none of them is the old or the new one.
                if change.status == Status::Unmerged {
                    return None;
                }
                self.side(entry, content, name, texts)
                    .unwrap_or_else(|failure| {
                        failures.push(failure);
                        None
                    })
            };
            let old = side(&change.old, &self.names[0]);
            let new = side(&change.new, &self.names[1]);
            let mut comparison = compared(change, old, new, failures.is_empty());
            if change.status == Status::Unmerged {
                comparison.review.unmerged(&resolve.for_all);
            }
            let mut comparison = self.explain(comparison, change, texts);
            if let Some(projects) = &mut projects
                && let Some(dir) = change.path().parent()
            {
                let place = ProjectPlace::new(dir, &self.top);
                comparison.memory = configuration::memory(&place, projects, texts);
            }
            if !comparison.review.is_empty() || !failures.is_empty() {
                all.push(file_result(comparison, failures));
            }
        }
        Ok(all)
    }

    /// Reads what git stores of changed files, in their order, by one call and not by a process for each.
    pub(super) fn contents(
        &self,
        changes: &[Change],
        limit: u64,
    ) -> Result<(Vec<ObjectId>, Vec<BlobContent>), Failure> {
        let blobs: Vec<ObjectId> = changes
            .iter()
            .flat_map(|change| [&change.old, &change.new])
            .filter_map(|entry| entry.as_ref()?.blob.clone())
            .collect();
        let contents = self.repository.read(&blobs, limit);
        let contents = contents.map_err(failure)?;
        Ok((blobs, contents))
    }

    /// Returns the bytes of a side of a change: the next of the contents, or those in the work tree.
    pub(super) fn bytes(
        &self,
        entry: &TreeEntry,
        contents: &mut impl Iterator<Item = BlobContent>,
    ) -> Option<Vec<u8>> {
        match entry.blob.as_ref().and_then(|_| contents.next()) {
            Some(BlobContent::Bytes(bytes)) => Some(bytes),
            Some(BlobContent::TooLarge { .. } | BlobContent::Missing) => None,
            None => workspace::read_lock(self.session.world.disk, &self.top.join(&entry.path))
                .ok()
                .flatten(),
        }
    }

    /// Compares files of pinned modules.
    fn pins(&self, changes: &[Change]) -> Result<Vec<FileResult>, Failure> {
        let mut contents = self.contents(changes, pins::MAX_BYTES)?.1.into_iter();
        let mut all = Vec::new();
        for change in changes {
            let mut failures = Vec::new();
            let mut side = |entry: &Option<TreeEntry>| {
                let Some(entry) = entry else {
                    return Pins::default();
                };
                self.bytes(entry, &mut contents)
                    .and_then(|bytes| pins::read(&bytes))
                    .unwrap_or_else(|| {
                        let shown = entry.path.display().to_string();
                        failures.push(unreadable(&shown, "it is no sound file of pinned modules"));
                        Pins::default()
                    })
            };
            let (old, new) = (side(&change.old), side(&change.new));
            let path = change.path().display().to_string();
            let comparison = FileComparison::of_pins(path, &old, &new);
            if !comparison.review.is_empty() || !failures.is_empty() {
                all.push(file_result(comparison, failures));
            }
        }
        Ok(all)
    }

    /// Compares the files that a link leads to, which is the same link on both sides; `None` if they are equal.
    fn linked(&self, path: &Path, texts: &mut Texts) -> Option<FileResult> {
        let mut failures = Vec::new();
        let mut sides = Vec::new();
        for (tree, name) in self.trees.iter().zip(&self.names) {
            let shown = format!("{name}{}", path.display());
            let absolute = self.top.join(path);
            let read = match tree {
                Some(tree) => tree.read(&absolute, lockfile::MAX_BYTES),
                None => self.read_within(&absolute),
            };
            match read {
                Ok(bytes) => sides.push((shown, Some(bytes))),
                // It leads nowhere, or out of the repository.
                Err(error) if error.kind() == ErrorKind::NotFound => sides.push((shown, None)),
                Err(error) => failures.push(unreadable(&shown, &error.to_string())),
            }
        }
        if let [(_, old), (_, new)] = &sides[..]
            && old == new
        {
            return None;
        }
        let dir = self.top.join(path).parent()?.to_owned();
        let mut sides = sides.into_iter().map(|(shown, bytes)| {
            // With one side unreadable everything on the other would look new.
            let bytes = bytes.filter(|_| failures.is_empty())?;
            Some(read_side(self.session, &dir, shown, bytes, texts))
        });
        let (old, new) = (sides.next().flatten(), sides.next().flatten());
        drop(sides);
        let entry = |side: &Option<LockSide>| {
            side.as_ref().map(|_| TreeEntry {
                path: path.to_owned(),
                // A link has no blob of a lock file: its bytes were read through it.
                kind: FileKind::Symlink,
                blob: None,
            })
        };
        let change = Change {
            status: Status::Modified,
            old: entry(&old),
            new: entry(&new),
        };
        let comparison = FileComparison::of(path.display().to_string(), old, new);
        Some(file_result(
            self.explain(comparison, &change, texts),
            failures,
        ))
    }

    /// Reads a file on disk, unless a link leads out of the repository.
    fn read_within(&self, path: &Path) -> io::Result<Vec<u8>> {
        let disk = self.session.world.disk;
        if !disk.resolve(path)?.starts_with(disk.resolve(&self.top)?) {
            return Err(ErrorKind::NotFound.into());
        }
        disk.read(path, lockfile::MAX_BYTES)
    }

    /// Adds what the configuration of both states says; that of the index is not read.
    fn explain(
        &self,
        comparison: FileComparison,
        change: &Change,
        texts: &mut Texts,
    ) -> FileComparison {
        let [old_tree, new_tree] = &self.trees;
        let path = |entry: &Option<TreeEntry>| match entry {
            Some(entry) => entry.path.clone(),
            None => change.path().to_owned(),
        };
        let [old, new] = [path(&change.old), path(&change.new)];
        let on_disk = self.repository.top().map(|top| top.join(&new));
        let committed =
            |tree, path| Some(Configured::Revision(tree, Path::parent(path)?, &self.top));
        let old = old_tree.as_ref().and_then(|tree| committed(tree, &old));
        let new = match (new_tree, &on_disk) {
            (Some(tree), _) => committed(tree, &new),
            // The name of the index is `:`, that of the work tree is empty; only the work tree is on disk.
            (None, Some(path)) if self.names[1].is_empty() => path.parent().map(Configured::Disk),
            _ => None,
        };
        configuration::explain(comparison, [old, new], self.session, texts)
    }

    /// Returns a path of the repository as seen from here.
    fn placed(&self, path: &Path) -> PathBuf {
        lexical(&self.repository.top().unwrap_or(Path::new("")).join(path))
    }

    /// Reads one side of a change; nothing if there is none.
    fn side(
        &self,
        entry: &TreeEntry,
        content: Option<BlobContent>,
        name: &str,
        texts: &mut Texts,
    ) -> Result<Option<LockSide>, Failure> {
        let shown = format!("{name}{}", entry.path.display());
        let path = self.placed(&entry.path);
        // git stores the target of a link as its content; read as a lock file it would be a syntax error.
        if entry.kind != FileKind::File {
            return Err(unreadable(
                &shown,
                "it is a link, or something else than a file",
            ));
        }
        let bytes = match content {
            None => workspace::read_lock(self.session.world.disk, &path)?,
            Some(BlobContent::Bytes(bytes)) => Some(bytes),
            Some(BlobContent::TooLarge { .. }) => {
                let cause = format!("it has more than {} bytes", lockfile::MAX_BYTES);
                return Err(unreadable(&shown, &cause));
            }
            Some(BlobContent::Missing) => {
                return Err(unreadable(&shown, "the repository does not hold it"));
            }
        };
        let dir = path.parent().unwrap_or(Path::new("."));
        Ok(bytes.map(|bytes| read_side(self.session, dir, shown, bytes, texts)))
    }
}

/// Compares the sides of a change.
fn compared(
    change: &Change,
    old: Option<LockSide>,
    new: Option<LockSide>,
    are_both_read: bool,
) -> FileComparison {
    // One side alone would look as if everything had been added or removed.
    let (old, new) = if are_both_read {
        (old, new)
    } else {
        (None, None)
    };
    let path = change.path().display().to_string();
    let mut comparison = FileComparison::of(path, old, new);
    if let (Status::Renamed, Some(old)) = (change.status, &change.old) {
        comparison.review = comparison.review.renamed(old.path.display().to_string());
    }
    comparison
}

fn failure(error: GitError) -> Failure {
    advice::git::failure(&error)
}

fn unreadable(shown: &str, cause: &str) -> Failure {
    Failure::new(format!("{shown} cannot be read")).because(cause.to_owned())
}
