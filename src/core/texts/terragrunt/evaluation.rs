//! The state of the evaluation of one unit: its files in their roles, and the values that were computed.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::documents::ParsedFile;
use super::file_names::{AUTOINCLUDE_FILE, VALUES_FILE, is_unit_file};
use super::limits::{MAX_FILE_BYTES, MAX_FILES, MAX_READ_DEPTH, MAX_REASONS, MAX_TOTAL_BYTES};
use super::outcome::{FilePlace, Outcome, Stop, Traced, UnknownCause};
use super::surroundings::UnitSurroundings;
use crate::diag::{Diagnostic, FileId, Span, Texts, rules};
use crate::expr::{Budget, DemandChain, OnDemand, Typed};
use crate::hcl::tree::{Attribute, Block};
use crate::world::{Files, Within, is_beyond_top, is_outside};

/// Levels of nesting that count for a file that is read from inside of an expression: the evaluation of a file
/// recurses through many functions, and the stack is limited.
const READ_LEVELS: usize = 16;

/// The evaluation of one unit, with all files that it reads.
pub(super) struct Evaluation<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) texts: &'a mut Texts,
    pub(super) around: &'a UnitSurroundings<'a>,
    /// The files that values are computed from.
    pub(super) readable: Within<'a>,
    /// The files in their roles; the unit comes first.
    pub(super) instances: Vec<FileInstance>,
    ids: BTreeMap<PathBuf, FileId>,
    /// Local values, by file and name.
    pub(super) locals: OnDemand<(usize, String), Traced>,
    /// The include blocks of units.
    pub(super) includes: OnDemand<usize, Outcome<Arc<Vec<Include>>>>,
    /// The values of the files of values beside files; `None` for a directory without such a file.
    pub(super) values: OnDemand<usize, Outcome<Option<Arc<Typed>>>>,
    /// Results of `read_terragrunt_config`, by path.
    pub(super) reads: OnDemand<PathBuf, Traced>,
    /// Sections of the configurations of parents; `None` is the whole configuration.
    pub(super) sections: OnDemand<(usize, Option<String>), Traced>,
    files_left: usize,
    bytes_left: u64,
    pub(super) budget: Budget,
    pub(super) chain: DemandChain,
    /// The nesting of the expression that reads files.
    pub(super) depth: usize,
    read_depth: usize,
    /// Causes of unknown values since the innermost [`Evaluation::traced`] began.
    causes: Vec<UnknownCause>,
}

/// A file in the role that it plays.
pub(super) struct FileInstance {
    pub(super) document: Arc<ParsedFile>,
    pub(super) file: FileId,
    /// The result of `get_terragrunt_dir`: in a parent the directory of the unit (rules 3.2).
    pub(super) unit_dir: PathBuf,
    pub(super) role: FileRole,
}

/// The role of a file in the evaluation of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileRole {
    /// A unit, or a file that is read as one.
    Unit,
    /// A file that the unit of this instance includes.
    Parent(usize),
    /// A file beside a unit that is merged over it.
    Autoinclude,
}

/// An include block with the parent that it names.
#[derive(Clone, Debug)]
pub(super) struct Include {
    /// Empty for a block without label.
    pub(super) label: String,
    pub(super) is_bare: bool,
    /// Absolute where the unit is.
    pub(super) path: PathBuf,
    pub(super) is_exposed: bool,
    pub(super) strategy: MergeStrategy,
    /// The parent in its role; a missing one that is not merged stops only what uses it.
    pub(super) parent: Outcome<usize>,
}

/// The value of `merge_strategy` of an include block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MergeStrategy {
    None,
    Shallow,
    Deep,
}

/// The context of an expression, which decides the names that it may use (rules 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExprContext {
    /// A file of values, or the default of a feature: functions, and `values` in the latter.
    Base,
    /// An argument of an include block.
    Include,
    Locals,
    Source,
    /// Any other argument of a unit.
    Rest,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(
        files: &'a dyn Files,
        texts: &'a mut Texts,
        around: &'a UnitSurroundings<'a>,
    ) -> Self {
        Self {
            files,
            texts,
            around,
            readable: match &around.repository {
                Some(top) => Within::new(files, top, &|_| false),
                // Parents of a unit lie above it, and no directory is known that holds all of them.
                None => Within::anywhere(files),
            },
            instances: Vec::new(),
            ids: BTreeMap::new(),
            locals: OnDemand::default(),
            includes: OnDemand::default(),
            values: OnDemand::default(),
            reads: OnDemand::default(),
            sections: OnDemand::default(),
            files_left: MAX_FILES,
            bytes_left: MAX_TOTAL_BYTES,
            budget: Budget::default(),
            chain: DemandChain::default(),
            depth: 0,
            read_depth: 0,
            causes: Vec::new(),
        }
    }

    /// Reads and parses a file; one that other units share is parsed once for all.
    pub(super) fn document(
        &mut self,
        path: &Path,
        sharing: Sharing,
    ) -> Result<(Arc<ParsedFile>, FileId), ReadFailure> {
        // A file that is shared counts for each unit: the limit must not depend on other units.
        self.files_left = self.files_left.checked_sub(1).ok_or(ReadFailure::TooMuch)?;
        if let Some(document) = self.around.documents.find(path) {
            let file = self.id(&document);
            return Ok((document, file));
        }
        // A unit may read many files just below the limit of one file.
        let limit = MAX_FILE_BYTES.min(self.bytes_left);
        // The files that Terragrunt looks for itself are its configuration; expressions name others.
        let is_configuration =
            is_unit_file(path) || path.ends_with(VALUES_FILE) || path.ends_with(AUTOINCLUDE_FILE);
        let is_beside_unit = self
            .instances
            .first()
            .is_none_or(|unit| directory(path) == unit.unit_dir);
        let files: &dyn Files = if is_configuration && is_beside_unit {
            self.files
        } else {
            &self.readable
        };
        let bytes = files
            .read(path, limit)
            .map_err(|error| match error.kind() {
                ErrorKind::FileTooLarge => ReadFailure::TooMuch,
                ErrorKind::NotFound | ErrorKind::NotADirectory => ReadFailure::Missing,
                _ if is_outside(&error) || is_beyond_top(&error) => ReadFailure::Outside,
                _ => ReadFailure::Failed(error.to_string()),
            })?;
        self.bytes_left -= bytes.len() as u64;
        let document = Arc::new(ParsedFile::parse(path, bytes));
        // Files of the unit itself would only fill the memory.
        if sharing == Sharing::Shared {
            self.around.documents.keep(&document);
        }
        let file = self.id(&document);
        Ok((document, file))
    }

    fn id(&mut self, document: &ParsedFile) -> FileId {
        if let Some(file) = self.ids.get(&document.path) {
            return *file;
        }
        let name = self.files.shown(&document.path);
        let file = self.texts.add(name, Arc::clone(&document.bytes));
        self.ids.insert(document.path.clone(), file);
        file
    }

    /// Adds a file in a role; the unit's own directory is that of the file.
    pub(super) fn add(&mut self, document: Arc<ParsedFile>, file: FileId, role: FileRole) -> usize {
        let unit_dir = match role {
            FileRole::Parent(unit) => self.instances[unit].unit_dir.clone(),
            FileRole::Unit | FileRole::Autoinclude => directory(&document.path).to_owned(),
        };
        self.instances.push(FileInstance {
            document,
            file,
            unit_dir,
            role,
        });
        self.instances.len() - 1
    }

    pub(super) fn place(&self, at: usize, span: Span) -> FilePlace {
        let instance = &self.instances[at];
        // Spans inside templates of JSON count from the beginning of the template, and may exceed the file.
        let end = instance.document.bytes.len();
        FilePlace {
            file: instance.file,
            span: Span::new(span.start.min(end), span.end.min(end)),
        }
    }

    /// Returns the place of an attribute's value.
    pub(super) fn attribute_place(&self, at: usize, attribute: &Attribute) -> FilePlace {
        self.place(at, attribute.value.span)
    }

    /// Runs something, and returns the causes of unknown values meanwhile, which count outside as well.
    pub(super) fn traced<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Traced<T> {
        let outer = std::mem::take(&mut self.causes);
        let value = run(self);
        let inner = std::mem::replace(&mut self.causes, outer);
        self.record_all(&inner);
        (value, inner)
    }

    /// Records the cause of an unknown value.
    pub(super) fn record(&mut self, cause: UnknownCause) {
        if self.causes.len() < MAX_REASONS && !self.causes.contains(&cause) {
            self.causes.push(cause);
        }
    }

    pub(super) fn record_all(&mut self, causes: &[UnknownCause]) {
        for cause in causes {
            self.record(cause.clone());
        }
    }

    /// Returns the outcome of a value that was computed before, and records its causes again.
    pub(super) fn recalled(&mut self, (outcome, causes): Traced) -> Outcome {
        self.record_all(&causes);
        outcome
    }

    /// Runs something inside of an expression that reads another file; `None` if files read each other too deep.
    pub(super) fn deeper<T>(
        &mut self,
        depth: usize,
        run: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if self.read_depth >= MAX_READ_DEPTH {
            return None;
        }
        let outer = (self.depth, self.chain);
        self.depth = depth + READ_LEVELS;
        self.read_depth += 1;
        let value = run(self);
        self.read_depth -= 1;
        // The chain of a file that was read does not count outside.
        (self.depth, self.chain) = outer;
        Some(value)
    }

    /// Returns the syntax errors of a file, at their places.
    pub(super) fn faults(&self, at: usize) -> Vec<Diagnostic> {
        let instance = &self.instances[at];
        let mut faults = instance.document.faults.clone();
        for fault in &mut faults {
            for label in fault.primary.iter_mut().chain(&mut fault.related) {
                label.file = instance.file;
            }
        }
        faults
    }

    /// Stops at the first syntax error of a file.
    pub(super) fn check_syntax(&self, at: usize) -> Outcome<()> {
        match self.faults(at).into_iter().next() {
            Some(fault) => Err(Stop::of_fault(fault)),
            None => Ok(()),
        }
    }
}

/// The chance that other units read a file, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    Shared,
    Own,
}

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReadFailure {
    Missing,
    TooMuch,
    Outside,
    Failed(String),
}

impl ReadFailure {
    /// Stops the evaluation of a value that needs the file.
    pub(super) fn stop(&self, title: &str, path: &Path, place: FilePlace) -> Stop {
        let path = path.display();
        match self {
            Self::Missing => {
                let note = format!("{path} does not exist");
                Stop::refused(rules::FILE_UNREADABLE, title, place, &note)
            }
            Self::Failed(reason) => {
                let note = format!("{path}: {reason}");
                Stop::refused(rules::FILE_UNREADABLE, title, place, &note)
            }
            Self::TooMuch => Stop::uncertain(place, "too much would be read"),
            Self::Outside => Stop::uncertain(place, &format!("{path} may not be read")),
        }
    }
}

/// Returns the directory of a file.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Finds the only block of a kind.
pub(super) fn block<'d>(document: &'d ParsedFile, kind: &str) -> Option<&'d Block> {
    document.body.blocks().find(|block| block.kind.text == kind)
}

/// Lists the blocks of a kind, in order.
pub(super) fn blocks<'d>(document: &'d ParsedFile, kind: &str) -> impl Iterator<Item = &'d Block> {
    document
        .body
        .blocks()
        .filter(move |block| block.kind.text == kind)
}

/// Returns the first label of a block; empty if it has none.
pub(super) fn label(block: &Block) -> String {
    block
        .labels
        .first()
        .map_or_else(String::new, |label| label.text.clone())
}
