//! From the directories of a root to the contents of its modules, within limits.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::mem;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::config::limits::{MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES, MAX_TOTAL_ITEMS};
use crate::config::tree::files::{self, Backups, ModuleFiles, SourceFile};
use crate::config::tree::kept::{self, KeptDirectory, ReadDirectory, ReadingCost, SharedDirectory};
use crate::config::tree::packages::{Mounted, Packages};
use crate::diag::{Diagnostic, FileId, Severity, Span, Texts, rules};
use crate::flavor::Flavor;
use crate::hcl::tree::{Body, Item};
use crate::module_config::decode::contents::Contents;
use crate::module_config::decode::{blocks, duplicates, runs};
use crate::module_config::file::{ModuleFile, ModuleFileRole};
use crate::module_config::flood;
use crate::module_config::merge::{module::ModuleMerge, overrides, standing::EffectivePlaces};
use crate::module_config::syntax;
use crate::remote_module::is_leaving;
use crate::requirement::ValueErrors;
use crate::world::{DirEntry, FileKind, Files, ReadSeek, is_outside, lexical};

/// The title of a file that is not read.
const UNREAD: &str = "Failed to read file";

/// Reads what is below (or beside) one root; directories are given from the root on.
pub(in crate::texts::config) struct Reader<'a> {
    files: &'a Packages<'a>,
    /// As the caller wrote it. It may be a link, so that `..` behind it is not for us to resolve.
    root: PathBuf,
    /// The root without links, once a call needs it.
    real_root: OnceCell<PathBuf>,
    texts: &'a mut Texts,
    pub flavor: Flavor,
    bytes_left: u64,
    files_left: usize,
    /// The number of arguments and blocks that may still be kept.
    items_left: usize,
    /// The contents hold the merged module, too.
    pub keeps_merged: bool,
    /// Everything that was found to be wrong so far.
    pub found: Vec<Diagnostic>,
    /// The errors about variables of the root without a value.
    pub value_errors: ValueErrors,
    /// For directories behind `..`: no link is on the way, so that the path is shown without.
    plain_dirs: BTreeMap<PathBuf, bool>,
}

/// One file, as it is written and as what it declares.
struct DecodedFile {
    file: ModuleFile,
    body: Body,
    contents: Contents,
}

impl<'a> Reader<'a> {
    /// Returns the directory of the root, as the caller wrote it.
    pub(in crate::texts::config) fn root(&self) -> &Path {
        &self.root
    }

    pub(in crate::texts::config) fn new(
        files: &'a Packages<'a>,
        texts: &'a mut Texts,
        root: &Path,
        flavor: Flavor,
    ) -> Self {
        Self {
            files,
            root: root
                .components()
                .filter(|part| *part != Component::CurDir)
                .collect(),
            real_root: OnceCell::new(),
            texts,
            flavor,
            bytes_left: MAX_TOTAL_BYTES,
            files_left: MAX_FILES,
            items_left: MAX_TOTAL_ITEMS,
            keeps_merged: false,
            found: Vec::new(),
            value_errors: ValueErrors::default(),
            plain_dirs: BTreeMap::new(),
        }
    }

    pub(in crate::texts::config) fn choose(&self, dir: &Path) -> io::Result<ModuleFiles> {
        let entries = self.list(dir)?;
        Ok(files::choose(&entries, Backups::LeftOut, self.flavor))
    }

    /// Lists the test files of a separate test directory, which need not be there; one that the user
    /// named had better be.
    pub(in crate::texts::config) fn choose_tests(
        &mut self,
        dir: &Path,
        is_named: bool,
    ) -> Vec<SourceFile> {
        // Terraform from 1.15 on does not ignore such names in the test directory (rules 1.2).
        let backups = if self.flavor.reads_backups_of_tests() {
            Backups::Read
        } else {
            Backups::LeftOut
        };
        match self.list(dir) {
            Ok(entries) => files::choose(&entries, backups, self.flavor).tests,
            Err(error) => {
                let absent = [ErrorKind::NotFound, ErrorKind::NotADirectory];
                if !absent.contains(&error.kind()) {
                    self.unreadable_directory(dir, &error);
                } else if is_named {
                    let title = "Test directory does not exist";
                    let warning = Diagnostic::warning(rules::TEST_DIRECTORY_MISSING, title);
                    self.report(dir, warning, "no test file is read from there");
                }
                Vec::new()
            }
        }
    }

    /// Reads the files of a module, unless another root of the run did it by the same rules.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub(in crate::texts::config) fn directory(
        &mut self,
        dir: &Path,
    ) -> io::Result<Arc<ReadDirectory>> {
        // Each root pays for what another one read, so that no limit depends on the order of roots.
        if let Some(shared) = self.shared(dir)
            && self.take(shared.cost)
        {
            let shown = PathBuf::from(self.shown(dir));
            let names = (shown != shared.shown).then(|| {
                let names = shared.texts.names();
                names
                    .map(|name| kept::renamed(name, &shared.shown, &shown))
                    .collect()
            });
            self.texts.mount(&shared.texts, names);
            self.found.extend(shared.directory.found.iter().cloned());
            flood::relieve(&mut self.found);
            return Ok(Arc::clone(&shared.directory));
        }
        let chosen = self.choose(dir)?;
        let contents = self.module(dir, &chosen);
        Ok(Arc::new(ReadDirectory::new(contents, Vec::new())))
    }

    /// Returns what the run keeps of a directory; reads it for all roots, if none did.
    fn shared(&mut self, dir: &Path) -> Option<Arc<SharedDirectory>> {
        let memo = self.files.memo(&self.path(dir))?;
        let flavor = self.flavor;
        let kept = memo.value(
            |kept: &KeptDirectory| kept.flavor == flavor,
            || KeptDirectory::new(flavor),
        );
        kept.get_or_read(|| {
            let mut texts = Texts::to_share(memo.number());
            let mut reader = Reader::new(self.files, &mut texts, &self.root, flavor);
            reader.keeps_merged = self.keeps_merged;
            let contents = reader.module(dir, &reader.choose(dir).ok()?);
            let mut found = mem::take(&mut reader.found);
            flood::in_order(&mut found);
            let shown = PathBuf::from(reader.shown(dir));
            let (bytes, files, items) = (reader.bytes_left, reader.files_left, reader.items_left);
            // Each root reports by itself what is too large.
            let is_within = bytes > 0 && files > 0 && items > 0;
            let cost = ReadingCost {
                bytes: MAX_TOTAL_BYTES - bytes,
                files: MAX_FILES - files,
                items: MAX_TOTAL_ITEMS - items,
            };
            let is_kept = is_within && memo.reserve(cost.memory());
            is_kept.then(|| SharedDirectory {
                directory: Arc::new(ReadDirectory::new(contents, found)),
                texts: texts.into_shared(),
                shown,
                cost,
            })
        })
    }

    /// Counts what another root read; returns false if it is more than this one may read.
    fn take(&mut self, cost: ReadingCost) -> bool {
        // A file with as many bytes as are left was still read.
        if cost.bytes > self.bytes_left
            || cost.files > self.files_left
            || cost.items >= self.items_left
        {
            return false;
        }
        self.bytes_left -= cost.bytes;
        self.files_left -= cost.files;
        self.items_left -= cost.items;
        true
    }

    /// Decodes the files of a module and applies its override files.
    pub(in crate::texts::config) fn module(
        &mut self,
        dir: &Path,
        chosen: &ModuleFiles,
    ) -> Contents {
        let mut all = Contents::default();
        let has_overrides = !chosen.overrides.is_empty();
        let mut overrides = Vec::new();
        let mut bodies = Vec::new();
        for file in &chosen.primary {
            let Some(decoded) = self.decode(dir, file, ModuleFileRole::Primary) else {
                continue;
            };
            // Most modules have no override files, and then nothing is merged.
            if has_overrides || self.keeps_merged {
                bodies.push((decoded.file, decoded.body));
            }
            all.append(decoded.contents);
        }
        for file in &chosen.overrides {
            if let Some(decoded) = self.decode(dir, file, ModuleFileRole::Override) {
                bodies.push((decoded.file, decoded.body));
                overrides.push(decoded.contents);
            }
        }
        // Before the override files: a block that overrides is no duplicate of its base.
        duplicates::duplicates(&all.declared, self.flavor, &mut self.found);
        let merge = ModuleMerge::of(bodies, self.flavor);
        let standing = if has_overrides {
            merge.standing()
        } else {
            EffectivePlaces::default()
        };
        overrides::apply(&mut all, overrides, &standing, self.flavor, &mut self.found);
        all.merged = self.keeps_merged.then(|| Arc::new(merge.into_merged()));
        all
    }

    /// Decodes a test file; one that cannot be read has no contents.
    pub(in crate::texts::config) fn test_file(
        &mut self,
        dir: &Path,
        file: &SourceFile,
    ) -> Contents {
        let decoded = self.decode(dir, file, ModuleFileRole::Test);
        decoded.map_or_else(Contents::default, |decoded| decoded.contents)
    }

    /// Decodes one file; `None` if it cannot be read.
    fn decode(
        &mut self,
        dir: &Path,
        file: &SourceFile,
        role: ModuleFileRole,
    ) -> Option<DecodedFile> {
        let id = self.read(&dir.join(&file.name))?;
        let file = ModuleFile {
            id,
            role,
            syntax: file.syntax,
            only: file.only,
        };
        let (body, mut faults) = syntax::parse(file, self.texts.bytes(id), self.flavor);
        let items = items(&body);
        if items > self.items_left {
            // No further file is read: each would be parsed in vain.
            self.items_left = 0;
            let error = too_many_items();
            let diagnostic = Diagnostic::error(rules::FILE_UNREADABLE, UNREAD).help(remedy(&error));
            let diagnostic = diagnostic.at(id, Span::default(), error.to_string());
            flood::push(&mut self.found, diagnostic);
            return None;
        }
        self.items_left -= items;
        let mut contents = match role {
            ModuleFileRole::Primary | ModuleFileRole::Override => {
                blocks::decode(&body, &mut faults)
            }
            ModuleFileRole::Test => runs::decode(&body, &mut faults),
        };
        contents.files.push(file);
        // Faults count against the limit of the run after each file, not after the whole tree.
        self.found.append(&mut faults.into_found());
        flood::relieve(&mut self.found);
        Some(DecodedFile {
            file,
            body,
            contents,
        })
    }

    /// Makes warnings of the errors from a place in the list on, which concern the backend or the encryption:
    /// `init` stops there, and no provider depends on either (rules 10.3).
    pub(in crate::texts::config) fn spare_lock(&mut self, start: usize) {
        for fault in self.found.iter_mut().skip(start) {
            if fault.severity == Severity::Error {
                flood::push(&mut self.value_errors.errors, fault.clone());
                fault.severity = Severity::Warning;
            }
        }
    }

    /// Reads a file into the table of texts; what keeps it from that is reported.
    fn read(&mut self, path: &Path) -> Option<FileId> {
        // One budget for all modules: a tree of a thousand calls may name a thousand large files.
        let limit = MAX_FILE_BYTES.min(self.bytes_left);
        let read = match (self.files_left, self.items_left) {
            (0, _) => Err(io::Error::other(format!("more than {MAX_FILES} files"))),
            (_, 0) => Err(too_many_items()),
            _ => self.files.read(&self.path(path), limit),
        };
        match read {
            Ok(bytes) => {
                self.files_left -= 1;
                self.bytes_left = self.bytes_left.saturating_sub(bytes.len() as u64);
                let name = self.shown(path);
                Some(self.texts.add(name, bytes))
            }
            Err(error) => {
                let code = if is_leaving(&error) {
                    rules::MODULE_ESCAPES_PACKAGE
                } else {
                    rules::FILE_UNREADABLE
                };
                let diagnostic = Diagnostic::error(code, UNREAD).help(remedy(&error));
                self.report(path, diagnostic, &error.to_string());
                None
            }
        }
    }

    /// Reads a file into the table of texts, and returns it; what keeps it from that is reported.
    pub(in crate::texts::config) fn text(&mut self, path: &Path) -> Option<(FileId, Arc<[u8]>)> {
        let file = self.read(path)?;
        Some((file, Arc::from(self.texts.bytes(file))))
    }

    pub(in crate::texts::config) fn texts(&self) -> &Texts {
        self.texts
    }

    /// Puts a text that is in no file into the table of texts.
    pub(in crate::texts::config) fn add_text(&mut self, name: &str, text: &str) -> FileId {
        self.texts.add(name, text.as_bytes().to_vec())
    }

    /// Lists the names in a directory that are no directories, in order.
    pub(in crate::texts::config) fn names(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        let names = self
            .list(dir)?
            .into_iter()
            .filter(|entry| entry.kind != FileKind::Directory)
            .map(|entry| entry.name)
            .collect();
        Ok(names)
    }

    /// Returns the file system with the path of the root in it.
    pub(in crate::texts::config) fn around(&self) -> (&'a Packages<'a>, PathBuf) {
        (self.files, self.path(Path::new("")))
    }

    /// Reads a file that is no configuration, within the same limits; the path is one from the root.
    pub(in crate::texts::config) fn bytes(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let limit = MAX_FILE_BYTES.min(self.bytes_left);
        let bytes = self.files.read(&self.path(path), limit)?;
        self.bytes_left = self.bytes_left.saturating_sub(bytes.len() as u64);
        Ok(bytes)
    }

    /// Opens a file to be read piece by piece; the path is one from the root.
    pub(in crate::texts::config) fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.files.open(&self.path(path))
    }

    /// Returns whether a path from the root leads to a directory.
    pub(in crate::texts::config) fn is_directory(&self, path: &Path) -> bool {
        let kind = self.files.kind(&self.path(path));
        kind.is_ok_and(|kind| kind == FileKind::Directory)
    }

    /// Gives a file that is not kept a place in the table of texts; the path is one from the root.
    pub(in crate::texts::config) fn name_file(&mut self, path: &Path) -> FileId {
        let name = self.shown(path);
        // The position is that of the file as a whole; its text may be large and secret, and is not
        // kept.
        self.texts.add(name, Vec::new())
    }

    /// Puts the files of a package where the package of a call would be installed; the path is one from the
    /// root.
    pub(in crate::texts::config) fn mount(&self, at: &Path, package: Mounted) {
        self.files.mount(self.path(at), package);
    }

    /// Returns a directory without the links on the way to it; both are given from the root on.
    pub(in crate::texts::config) fn without_links(&self, dir: &Path) -> io::Result<PathBuf> {
        let real_root = match self.real_root.get() {
            Some(known) => known,
            None => {
                let real = self.files.resolve(&self.path(Path::new("")))?;
                self.real_root.get_or_init(|| real)
            }
        };
        self.files.without_links(real_root, dir, &self.path(dir))
    }

    /// Returns what messages call a file or directory; the path is one from the root. `live/dev/../../modules/m` is
    /// shown as `modules/m`, unless links give the two another meaning.
    fn shown(&mut self, path: &Path) -> String {
        let path = self.path(path);
        let short = lexical(&path);
        if short == path || short.as_os_str().is_empty() {
            return self.files.shown(&path);
        }
        let dir = path.parent().unwrap_or(&path);
        // Behind a link `..` leads elsewhere, and the short path would name another file.
        let is_plain = match self.plain_dirs.get(dir) {
            Some(is_plain) => *is_plain,
            None => {
                let real = self.files.resolve(&path);
                let is_plain = real
                    .is_ok_and(|real| self.files.resolve(&short).is_ok_and(|short| short == real));
                self.plain_dirs.insert(dir.to_owned(), is_plain);
                is_plain
            }
        };
        self.files.shown(if is_plain { &short } else { &path })
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.files.list(&self.path(dir))
    }

    /// Turns a path from the root on into one that can be read; nothing is read otherwise.
    fn path(&self, path: &Path) -> PathBuf {
        let path = if path.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(path)
        };
        // The empty path names no directory to the system.
        if path.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            path
        }
    }

    /// Reports a directory that no call names.
    pub(in crate::texts::config) fn unreadable_directory(&mut self, dir: &Path, error: &io::Error) {
        let title = "Failed to read module directory";
        let diagnostic = Diagnostic::error(rules::MODULE_UNREADABLE, title).help(remedy(error));
        self.report(dir, diagnostic, &error.to_string());
    }

    /// Reports something about a whole file or directory that was not read; the path is one from the
    /// root.
    pub(in crate::texts::config) fn report(
        &mut self,
        path: &Path,
        diagnostic: Diagnostic,
        remark: &str,
    ) {
        let id = self.name_file(path);
        flood::push(&mut self.found, diagnostic.at(id, Span::default(), remark));
    }
}

/// Counts the arguments and blocks of a body, and of all bodies in it. A block counts twice
/// (`MAX_TOTAL_ITEMS`).
fn items(body: &Body) -> usize {
    body.items
        .iter()
        .map(|item| match item {
            Item::Attribute(_) => 1,
            Item::Block(block) => 2 + items(&block.body),
        })
        .sum()
}

fn too_many_items() -> io::Error {
    io::Error::other(format!(
        "more than {MAX_TOTAL_ITEMS} arguments and blocks in all files (a block counts twice)"
    ))
}

/// Returns the help for a file or directory that cannot be read.
fn remedy(error: &io::Error) -> &'static str {
    if is_outside(error) {
        return "keep everything that is needed below that directory, or name a larger one";
    }
    if is_leaving(error) {
        return "put the file itself in the place of the link";
    }
    match error.kind() {
        ErrorKind::NotFound => "correct the path; a link may lead nowhere",
        ErrorKind::NotADirectory => "correct the path",
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => "put a file in its place",
        ErrorKind::FileTooLarge => "split it into smaller files",
        ErrorKind::Other => "move what does not belong here to another directory",
        _ => "make it readable",
    }
}
