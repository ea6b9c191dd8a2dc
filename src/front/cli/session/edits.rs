//! Edits of texts in configuration, of many roots together: each place once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::addr::ProviderAddr;
use crate::config::Loaded;
use crate::diag::{FileId, Span, Texts};
use crate::hcl::edit::{literal, quoted, splice};
use crate::project::{self, ProjectPlace};
use crate::report::Failure;
use crate::report::json::{EditRow, FileEdits};
use crate::requirement::ModulePath;
use crate::run::World;
use crate::workspace;
use crate::world::{Disk, Replaced, Unwritten, clean};

/// The edits of a run, by the path of the file and the place in it.
#[derive(Default)]
pub(in crate::front::cli) struct PlannedEdits {
    files: BTreeMap<PathBuf, EditedFile>,
}

/// A file that is edited.
struct EditedFile {
    shown: String,
    /// The path from the top of the repository on, as in diffs of git.
    below_top: PathBuf,
    bytes: Vec<u8>,
    edits: BTreeMap<(usize, usize), EditRow>,
}

/// A text in quotes that may be edited.
pub(in crate::front::cli) struct EditablePlace<'t> {
    path: PathBuf,
    below_top: PathBuf,
    shown: &'t str,
    bytes: &'t [u8],
    span: Span,
    line: usize,
    /// The text without quotes.
    pub(in crate::front::cli) text: String,
}

/// The reason why a place is not edited.
pub(in crate::front::cli) enum NotEditable {
    /// The module was fetched, or is outside of the repository.
    Foreign,
    /// The value is no text in quotes.
    Computed,
}

impl<'t> EditablePlace<'t> {
    /// Finds the text at a place in a module of a root; the file must be in the repository, or without one below
    /// the working directory.
    pub(in crate::front::cli) fn find(
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
        let node = loaded.modules.iter().find(|node| node.path == *module);
        let is_fetched = node.is_none_or(|node| node.fetched.is_some());
        let data_dir = clean(&current.join(root).join(workspace::data_dir(world.env)));
        let resolved = |path: &Path| world.disk.resolve(path).map_err(|_| NotEditable::Foreign);
        if is_fetched || path.starts_with(data_dir) {
            return Err(NotEditable::Foreign);
        }
        // A link may lead anywhere.
        let real = resolved(&path)?;
        let below_top = real
            .strip_prefix(resolved(&top)?)
            .map_err(|_| NotEditable::Foreign)?;
        let written = std::str::from_utf8(&bytes[span.start..span.end]).unwrap_or_default();
        let is_json = shown.ends_with(".json");
        let text = if is_json {
            let text: Option<String> = serde_json::from_str(written).ok();
            text.filter(|text| !text.contains("${") && !text.contains("%{"))
        } else {
            literal(written)
        };
        Ok(Self {
            below_top: below_top.to_owned(),
            path,
            shown,
            bytes,
            span,
            line: texts.position(file, span.start).line,
            text: text.ok_or(NotEditable::Computed)?,
        })
    }
}

impl PlannedEdits {
    pub(in crate::front::cli) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Plans to replace a text.
    ///
    /// # Errors
    /// If another root needs another text at the same place.
    pub(in crate::front::cli) fn add(
        &mut self,
        place: EditablePlace<'_>,
        provider: &ProviderAddr,
        to: String,
    ) -> Result<(), Failure> {
        if place.text == to {
            return Ok(());
        }
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
            Some(other) if other.to != row.to => Err(Failure::new(format!(
                "{}:{} is shared by roots that need {:?} and {:?}",
                row.path, row.line, other.to, row.to
            ))
            .help("name the version, as in hashicorp/aws@6.2.0")),
            _ => {
                file.edits.insert(key, row);
                Ok(())
            }
        }
    }

    /// Writes all files to a disk.
    ///
    /// # Errors
    /// If a file cannot be written, or was changed since it was read.
    pub(in crate::front::cli) fn write(&self, disk: &dyn Disk) -> Result<(), Failure> {
        for (path, file) in &self.files {
            let replaced = disk.replace(path, Some(&file.bytes), &file.edited());
            let cause = match replaced {
                Ok(Replaced::Done) => continue,
                Ok(Replaced::Changed) => None,
                Err(cause) => Some(cause),
            };
            return Err(nothing_written(&Unwritten {
                path: file.shown.clone().into(),
                cause,
                left: Vec::new(),
            }));
        }
        Ok(())
    }

    /// Returns what is edited, by file and line.
    pub(in crate::front::cli) fn report(&self) -> FileEdits {
        let mut report = FileEdits::default();
        for file in self.files.values() {
            report.rows.extend(file.edits.values().cloned());
            let (old, new) = (String::from_utf8_lossy(&file.bytes), file.edited());
            let new = String::from_utf8_lossy(&new);
            let diff = TextDiff::from_lines(&*old, &*new);
            let name = file.below_top.display();
            let names = (format!("a/{name}"), format!("b/{name}"));
            let mut unified = diff.unified_diff();
            report.diff += &unified.header(&names.0, &names.1).to_string();
        }
        report
    }
}

impl EditedFile {
    fn edited(&self) -> Vec<u8> {
        let is_json = self.shown.ends_with(".json");
        let edits = self.edits.iter().map(|((start, end), row)| {
            let text = if is_json {
                serde_json::to_string(&row.to).expect("a text has a form in JSON")
            } else {
                quoted(&row.to)
            };
            (Span::new(*start, *end), text)
        });
        splice(&self.bytes, edits.collect())
    }
}

/// Returns the failure of files that are written together or not at all.
pub(in crate::front::cli) fn nothing_written(unwritten: &Unwritten) -> Failure {
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
