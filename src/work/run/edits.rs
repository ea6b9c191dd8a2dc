//! Edits of texts in configuration, of many roots together: each place once.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::addr::ProviderAddr;
use crate::config::Loaded;
use crate::diag::{FileId, Span, Texts};
use crate::hcl::edit::{EditError, HclEditor, literal, quoted, splice};
use crate::lockfile;
use crate::project::{self, ProjectPlace};
use crate::report::Failure;
use crate::report::json::{EditRow, FileEdits};
use crate::requirement::ModulePath;
use crate::run::World;
use crate::version::Constraints;
use crate::workspace;
use crate::world::{Disk, Replaced, Unwritten, clean};

/// The edits of a run, by the path of the file and the place in it.
#[derive(Default)]
pub(crate) struct PlannedEdits {
    files: BTreeMap<PathBuf, EditedFile>,
    /// Files that are written anew, with their bytes before and after.
    rewritten: BTreeMap<PathBuf, (Vec<u8>, Vec<u8>)>,
    /// The roots, by their directories.
    pub(crate) roots: BTreeMap<PathBuf, EditedRoot>,
    /// An address of Terraform 0.12 is replaced, which states may have.
    pub(crate) replaces_legacy: bool,
}

/// A root whose files are edited.
#[derive(Default)]
pub(crate) struct EditedRoot {
    /// The conditions of its visible places before any edit.
    pub(crate) before: BTreeMap<ProviderAddr, Constraints>,
    /// Reasons why some version is not the newest.
    pub(crate) remarks: Vec<String>,
}

/// A file that is edited.
struct EditedFile {
    shown: String,
    /// The path from the top of the repository on, as in diffs of git.
    below_top: PathBuf,
    bytes: Vec<u8>,
    edits: BTreeMap<(usize, usize), PlannedEdit>,
}

/// An edit of a place.
struct PlannedEdit {
    row: EditRow,
    /// The text in the form of the file.
    written: String,
}

/// A place in a file that may be edited.
pub(crate) struct EditablePlace<'t> {
    path: PathBuf,
    below_top: PathBuf,
    shown: &'t str,
    bytes: &'t [u8],
    span: Span,
    line: usize,
    /// The text without quotes; empty if the place need not be one.
    pub(crate) text: String,
}

/// The reason why a place is not edited.
pub(crate) enum NotEditable {
    /// The module was fetched, or is outside of the repository.
    Foreign,
    /// The value is no text in quotes.
    Computed,
}

impl<'t> EditablePlace<'t> {
    /// Finds a place in a module of a root; the file must be in the repository, or without one below the working
    /// directory.
    pub(crate) fn find(
        world: World<'_>,
        root: &Path,
        (loaded, module): (&Loaded, &ModulePath),
        texts: &'t Texts,
        (file, span): (FileId, Span),
    ) -> Result<Self, NotEditable> {
        let (shown, bytes) = (texts.name(file), texts.bytes(file));
        let current = world.env.current_dir().map_err(|_| NotEditable::Foreign)?;
        let top = project::repository(world.disk, &ProjectPlace::new(root, &current));
        let top = top.map_or(current.clone(), |top| top.absolute().to_owned());
        let path = clean(&current.join(shown));
        let is_fetched = loaded
            .modules
            .iter()
            .find(|node| node.path == *module)
            .is_none_or(|node| node.fetched.is_some());
        let data_dir = clean(&current.join(root).join(workspace::data_dir(world.env)));
        let resolved = |path: &Path| world.disk.resolve(path).map_err(|_| NotEditable::Foreign);
        if is_fetched || path.starts_with(data_dir) {
            return Err(NotEditable::Foreign);
        }
        // A link may lead anywhere, and several roots may have links to one file.
        let path = resolved(&path)?;
        let below_top = path
            .strip_prefix(resolved(&top)?)
            .map_err(|_| NotEditable::Foreign)?;
        Ok(Self {
            below_top: below_top.to_owned(),
            path,
            shown,
            bytes,
            span,
            line: texts.position(file, span.start).line,
            text: String::new(),
        })
    }

    /// Reads the text in quotes at the place; `None` if the value is built from parts.
    pub(crate) fn quoted_text(self) -> Option<Self> {
        let written = &self.bytes[self.span.start..self.span.end];
        let written = std::str::from_utf8(written).ok()?;
        let text = if self.is_json() {
            let text: Option<String> = serde_json::from_str(written).ok();
            text.filter(|text| !text.contains("${") && !text.contains("%{"))
        } else {
            literal(written)
        };
        Some(Self {
            text: text?,
            ..self
        })
    }

    /// Moves to another place of the file, before an offset.
    pub(crate) fn at(self, offset: usize) -> Self {
        Self {
            span: Span::new(offset, offset),
            ..self
        }
    }

    fn is_json(&self) -> bool {
        self.shown.ends_with(".json")
    }

    fn written(&self, text: &str) -> String {
        if self.is_json() {
            serde_json::to_string(text).expect("a text has a form in JSON")
        } else {
            quoted(text)
        }
    }
}

impl PlannedEdits {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.rewritten.is_empty()
    }

    /// Plans to replace a text.
    ///
    /// # Errors
    /// If another root needs another text at the same place.
    pub(crate) fn add(
        &mut self,
        place: EditablePlace<'_>,
        provider: &ProviderAddr,
        to: String,
    ) -> Result<(), Failure> {
        if place.text == to {
            return Ok(());
        }
        let written = place.written(&to);
        self.insert(place, provider, to, written)
    }

    /// Plans to write a text over a place, in the form of the file.
    ///
    /// # Errors
    /// If another root needs another text at the same place.
    pub(crate) fn insert(
        &mut self,
        place: EditablePlace<'_>,
        provider: &ProviderAddr,
        to: String,
        written: String,
    ) -> Result<(), Failure> {
        let file = self.files.entry(place.path).or_insert_with(|| EditedFile {
            shown: place.shown.to_owned(),
            below_top: place.below_top,
            bytes: place.bytes.to_owned(),
            edits: BTreeMap::new(),
        });
        let row = EditRow {
            path: place.shown.to_owned(),
            line: place.line,
            provider: provider.clone(),
            from: place.text,
            to,
        };
        let key = (place.span.start, place.span.end);
        match file.edits.get(&key) {
            Some(other) if other.written != written => Err(Failure::new(format!(
                "{}:{} is shared by roots that need {:?} and {:?}",
                row.path, row.line, other.row.to, row.to
            ))
            .help("name the version, as in hashicorp/aws@6.2.0")),
            _ => {
                file.edits.insert(key, PlannedEdit { row, written });
                Ok(())
            }
        }
    }

    /// Plans to write a file anew.
    pub(crate) fn rewrite(&mut self, path: &Path, old: &[u8], new: Vec<u8>) {
        if old != new {
            self.rewritten
                .insert(path.to_owned(), (old.to_owned(), new));
        }
    }

    /// Writes all files to a disk.
    ///
    /// # Errors
    /// If a file cannot be written, or was changed since it was read.
    pub(crate) fn write(&self, disk: &dyn Disk) -> Result<(), Failure> {
        let edited = self.files.iter().map(|(path, file)| {
            let shown = Path::new(&file.shown);
            (path, shown, &file.bytes, file.edited())
        });
        let rewritten = self
            .rewritten
            .iter()
            .map(|(path, (old, new))| (path, path.as_path(), old, new.clone()));
        for (path, shown, old, new) in edited.chain(rewritten) {
            let replaced = disk.replace(path, Some(old), &new);
            let cause = match replaced {
                Ok(Replaced::Done) => continue,
                Ok(Replaced::Changed) => None,
                Err(cause) => Some(cause),
            };
            return Err(nothing_written(&Unwritten {
                path: shown.to_owned(),
                cause,
                left: Vec::new(),
            }));
        }
        Ok(())
    }

    /// Returns what is edited, by file and line.
    pub(crate) fn report(&self) -> FileEdits {
        let mut report = FileEdits::default();
        for file in self.files.values() {
            report
                .rows
                .extend(file.edits.values().map(|edit| edit.row.clone()));
            report.diff += &unified(&file.below_top, &file.bytes, &file.edited());
        }
        for (path, (old, new)) in &self.rewritten {
            // What changes in a lock file is explained.
            if path.file_name() != Some(lockfile::FILE_NAME.as_ref()) {
                report.diff += &unified(path, old, new);
            }
        }
        report
    }
}

impl EditedFile {
    fn edited(&self) -> Vec<u8> {
        let edits = self
            .edits
            .iter()
            .map(|((start, end), edit)| (Span::new(*start, *end), edit.written.clone()));
        splice(&self.bytes, edits.collect())
    }
}

/// Returns a diff as `git apply` reads it.
fn unified(path: &Path, old: &[u8], new: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = TextDiff::from_lines(&*old, &*new);
    let names = [
        format!("a/{}", path.display()),
        format!("b/{}", path.display()),
    ];
    let mut unified = diff.unified_diff();
    unified.header(&names[0], &names[1]).to_string()
}

/// Edits a project file, which is made if it is missing, in one atomic step.
///
/// # Errors
/// If the file cannot be read, edited or written.
pub(crate) fn edit_project_file(
    disk: &dyn Disk,
    path: &Path,
    edit: impl FnOnce(&mut HclEditor) -> Result<(), EditError>,
) -> Result<(), Failure> {
    let failed = |error: &dyn Display| {
        Failure::new(format!("{} could not be written", path.display())).because(error.to_string())
    };
    let old = match disk.read(path, project::MAX_FILE_BYTES) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(&error)),
    };
    let new = HclEditor::open(old.clone().unwrap_or_default())
        .and_then(|mut editor| edit(&mut editor).map(|()| editor.into_bytes()))
        .map_err(|error| failed(&error))?;
    match disk.replace(path, old.as_deref(), &new) {
        Ok(Replaced::Done) => Ok(()),
        Ok(Replaced::Changed) => {
            Err(failed(&"another program has changed it meanwhile").help("run the command again"))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Returns the failure of files that are written together or not at all.
pub(crate) fn nothing_written(unwritten: &Unwritten) -> Failure {
    let path = unwritten.path.display();
    let mut failure = match &unwritten.cause {
        Some(cause) => Failure::new(format!("nothing was written: {path} cannot be replaced"))
            .because(cause.to_string()),
        None => Failure::new(format!("nothing was written: {path} was changed meanwhile"))
            .help("run the command again"),
    };
    for left in &unwritten.left {
        let left = left.display();
        failure = failure.because(format!("{left} was written, and could not be set back"));
    }
    failure
}
