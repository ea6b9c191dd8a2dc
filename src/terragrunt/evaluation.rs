//! The evaluation of one unit: its files, and the values of their expressions on demand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::documents::Document;
use super::functions::Calls;
use super::include::Include;
use super::limits::{
    MAX_CHAIN, MAX_FILE_BYTES, MAX_FILES, MAX_READ_DEPTH, MAX_REASONS, MAX_TOTAL_BYTES,
};
use super::outcome::{Outcome, Place, Reason, Slot, Stop, stopped};
use super::surroundings::UnitSurroundings;
use crate::diag::{Diagnostic, FileId, Span, Texts, rules};
use crate::expr::{self, Budget, EvalScope, FunctionSet, Surroundings, Typed};
use crate::hcl::tree::{Attribute, Block, Expr};
use crate::world::Files;

/// How much all expressions of one unit may compute together, in bytes.
const MAX_WORK: usize = 256 << 20;

/// How many levels of an expression count for one file that is read from inside of it.
const READ_LEVELS: usize = 16;

/// What is known of one unit so far.
pub(super) struct Evaluation<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) texts: &'a mut Texts,
    pub(super) around: &'a UnitSurroundings<'a>,
    /// The unit comes first.
    pub(super) instances: Vec<Instance>,
    ids: BTreeMap<PathBuf, FileId>,
    /// What `read_terragrunt_config` gave for files.
    pub(super) reads: BTreeMap<PathBuf, Read>,
    /// Parts of the configurations of parents, by section.
    pub(super) parts: BTreeMap<(usize, Option<String>), Read>,
    files_left: usize,
    bytes_left: u64,
    work_left: usize,
    kept: Budget,
    chain: usize,
    /// How deep the expression is in which files are read.
    pub(super) depth: usize,
    pub(super) read_depth: usize,
    /// What made values unknown since somebody looked.
    reasons: Vec<Reason>,
}

/// What a file that was read gave.
pub(super) enum Read {
    Begun,
    Done(Outcome, Vec<Reason>),
}

/// A file in the role that it plays.
pub(super) struct Instance {
    pub(super) document: Arc<Document>,
    pub(super) file: FileId,
    /// What `get_terragrunt_dir` answers: in a parent the directory of the unit (rules 3.2).
    pub(super) unit_dir: PathBuf,
    pub(super) role: Role,
    pub(super) includes: Includes,
    pub(super) locals: BTreeMap<String, Memo>,
    pub(super) values: Option<Outcome<Option<Arc<Typed>>>>,
}

/// The role of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is a unit, or read as one.
    Unit,
    /// It is included by the unit of this instance.
    Parent(usize),
    /// It stands beside the unit of this instance and is merged over it.
    Autoinclude,
}

pub(super) enum Includes {
    NotLooked,
    Begun,
    Done(Outcome<Arc<Vec<Include>>>),
}

#[derive(Clone)]
pub(super) enum Memo {
    Begun,
    Done(Outcome, Vec<Reason>),
}

/// What an expression is part of, which decides the names that it may use (rules 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// A file of values, or the default of a feature: functions, and `values` in the latter.
    Base,
    /// An argument of an include block.
    Include,
    Locals,
    Source,
    /// Everything else.
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
            instances: Vec::new(),
            ids: BTreeMap::new(),
            reads: BTreeMap::new(),
            parts: BTreeMap::new(),
            files_left: MAX_FILES,
            bytes_left: MAX_TOTAL_BYTES,
            work_left: MAX_WORK,
            kept: Budget::default(),
            chain: 0,
            depth: 0,
            read_depth: 0,
            reasons: Vec::new(),
        }
    }

    /// Reads and parses a file; one that other units share is parsed once for all.
    pub(super) fn document(
        &mut self,
        path: &Path,
        sharing: Sharing,
    ) -> Result<(Arc<Document>, FileId), Unread> {
        let left = self.files_left.checked_sub(1);
        self.files_left = left.ok_or(Unread::TooMuch)?;
        if let Some(document) = self.around.documents.find(path) {
            let file = self.id(&document);
            return Ok((document, file));
        }
        let limit = MAX_FILE_BYTES.min(self.bytes_left);
        let bytes = match self.files.read(path, limit) {
            Ok(bytes) => bytes,
            Err(error) => {
                return Err(match error.kind() {
                    ErrorKind::FileTooLarge => Unread::TooMuch,
                    ErrorKind::NotFound | ErrorKind::NotADirectory => Unread::Missing,
                    _ if crate::world::is_outside(&error) => Unread::Outside,
                    _ => Unread::Failed(error.to_string()),
                });
            }
        };
        self.bytes_left -= bytes.len() as u64;
        let document = Arc::new(Document::parse(path, bytes));
        if sharing == Sharing::Shared {
            self.around.documents.keep(&document);
        }
        let file = self.id(&document);
        Ok((document, file))
    }

    fn id(&mut self, document: &Document) -> FileId {
        if let Some(file) = self.ids.get(&document.path) {
            return *file;
        }
        let top = self.around.top.as_deref().unwrap_or(Path::new(""));
        let shown = document.path.strip_prefix(top).unwrap_or(&document.path);
        let name = self.files.shown(shown);
        let file = self.texts.add(name, Arc::clone(&document.bytes));
        self.ids.insert(document.path.clone(), file);
        file
    }

    /// Adds a file in a role; the unit's own directory is that of the file.
    pub(super) fn add(&mut self, document: Arc<Document>, file: FileId, role: Role) -> usize {
        let unit_dir = match role {
            Role::Parent(unit) => self.instances[unit].unit_dir.clone(),
            Role::Unit | Role::Autoinclude => directory(&document.path).to_owned(),
        };
        self.instances.push(Instance {
            document,
            file,
            unit_dir,
            role,
            includes: Includes::NotLooked,
            locals: BTreeMap::new(),
            values: None,
        });
        self.instances.len() - 1
    }

    pub(super) fn place(&self, at: usize, span: Span) -> Place {
        let instance = &self.instances[at];
        // Templates in JSON have places of their own.
        let end = instance.document.bytes.len();
        Place {
            file: instance.file,
            span: Span::new(span.start.min(end), span.end.min(end)),
        }
    }

    /// Returns the place of an attribute's value; in JSON that is exact enough.
    pub(super) fn attribute_place(&self, at: usize, attribute: &Attribute) -> Place {
        self.place(at, attribute.value.span)
    }

    /// Evaluates an argument.
    pub(super) fn slot(&mut self, at: usize, attribute: &Attribute, stage: Stage) -> Slot {
        let place = self.attribute_place(at, attribute);
        let (outcome, reasons) = self.traced(|this| this.value(at, &attribute.value, stage));
        Slot {
            place,
            outcome,
            reasons,
        }
    }

    /// Evaluates an expression of a file.
    pub(super) fn value(&mut self, at: usize, expr: &Expr, stage: Stage) -> Outcome {
        let names = self.names(at, expr, stage)?;
        let instance = &self.instances[at];
        let (file, is_json) = (instance.file, instance.document.is_json);
        let dir = directory(&instance.document.path).to_owned();
        let place = self.place(at, expr.span);
        let (files, around) = (self.files, self.around);
        let (given, depth) = (self.work_left, self.depth);
        let calls = Calls {
            evaluation: RefCell::new(self),
            at,
        };
        let surroundings = Surroundings {
            files,
            dir: &dir,
            absolute_dir: around.working_dir.as_ref(),
            has_volatile: true,
            functions: FunctionSet::Terraform0_15,
            extra: Some(&calls),
        };
        let scope = EvalScope {
            names,
            functions: Some(&surroundings),
        };
        let mut budget = Budget::of_work(given);
        let found = expr::evaluate_at(depth, file, expr, &scope, &mut budget);
        drop(scope);
        let this = calls.evaluation.into_inner();
        this.work_left = this
            .work_left
            .saturating_sub(given - budget.work_left().min(given));
        let value = found.map_err(|problems| {
            let stop = stopped(problems, place);
            // Templates in JSON have places of their own, which mean nothing in the file.
            if is_json { moved(&stop, place) } else { stop }
        })?;
        let value = value.bare().0;
        match this.kept.keep(&value) {
            Some(_) => Ok(Arc::new(value)),
            None => Err(Stop::uncertain(place, "this computes too much")),
        }
    }

    /// Runs something, and returns what made values unknown meanwhile, which counts outside as well.
    pub(super) fn traced<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Vec<Reason>) {
        let outer = std::mem::take(&mut self.reasons);
        let value = run(self);
        let inner = std::mem::replace(&mut self.reasons, outer);
        for reason in &inner {
            self.because(reason.clone());
        }
        (value, inner)
    }

    /// Records why a value is unknown.
    pub(super) fn because(&mut self, reason: Reason) {
        if self.reasons.len() < MAX_REASONS && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Records several of them.
    pub(super) fn because_of(&mut self, reasons: &[Reason]) {
        for reason in reasons {
            self.because(reason.clone());
        }
    }

    /// Returns the value of a local; `None` if there is none of that name.
    pub(super) fn local(&mut self, at: usize, name: &str) -> Option<Outcome> {
        match self.instances[at].locals.get(name).cloned() {
            Some(Memo::Done(outcome, reasons)) => {
                self.because_of(&reasons);
                return Some(outcome);
            }
            Some(Memo::Begun) => {
                let document = Arc::clone(&self.instances[at].document);
                let span = local_of(&document, name).map_or(Span::default(), |one| one.span);
                let place = self.place(at, span);
                let title = "Could not evaluate all locals in block";
                let note = format!("local.{name} needs itself");
                return Some(Err(Stop::refused(
                    rules::CONFIGURATION_INVALID,
                    title,
                    place,
                    &note,
                )));
            }
            None => {}
        }
        let document = Arc::clone(&self.instances[at].document);
        let attribute = local_of(&document, name)?;
        let place = self.attribute_place(at, attribute);
        if self.chain >= MAX_CHAIN {
            return Some(Err(Stop::uncertain(
                place,
                "too many locals need each other",
            )));
        }
        let locals = &mut self.instances[at].locals;
        locals.insert(name.to_owned(), Memo::Begun);
        self.chain += 1;
        let slot = self.slot(at, attribute, Stage::Locals);
        self.chain -= 1;
        let memo = Memo::Done(slot.outcome.clone(), slot.reasons);
        let locals = &mut self.instances[at].locals;
        locals.insert(name.to_owned(), memo);
        Some(slot.outcome)
    }

    /// Runs something inside of an expression that reads another file.
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
        (self.depth, self.chain) = outer;
        Some(value)
    }

    /// Returns the faults of a file's syntax at their places.
    pub(super) fn faults(&self, at: usize) -> Vec<Diagnostic> {
        let instance = &self.instances[at];
        let faults = instance.document.faults.iter();
        faults.map(|fault| in_file(fault, instance.file)).collect()
    }

    /// Returns what Terragrunt refuses of a file's structure, at its places.
    pub(super) fn misfits(&self, at: usize) -> Vec<Diagnostic> {
        let instance = &self.instances[at];
        let misfits = instance.document.misfits.iter();
        misfits.map(|one| in_file(one, instance.file)).collect()
    }
}

/// Whether other units are likely to read a file, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    Shared,
    Own,
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    Missing,
    TooMuch,
    Outside,
    Failed(String),
}

impl Unread {
    /// Stops what needs the file.
    pub(super) fn stop(&self, title: &str, path: &Path, place: Place) -> Stop {
        let path = path.display();
        match self {
            Self::Missing => Stop::refused(
                rules::FILE_UNREADABLE,
                title,
                place,
                &format!("{path} does not exist"),
            ),
            Self::Failed(reason) => {
                let note = format!("{path}: {reason}");
                Stop::refused(rules::FILE_UNREADABLE, title, place, &note)
            }
            Self::TooMuch => Stop::uncertain(place, "too much would be read"),
            Self::Outside => Stop::uncertain(place, &format!("{path} may not be read")),
        }
    }
}

fn in_file(diagnostic: &Diagnostic, file: FileId) -> Diagnostic {
    let mut diagnostic = diagnostic.clone();
    for label in diagnostic.primary.iter_mut().chain(&mut diagnostic.related) {
        label.file = file;
    }
    diagnostic
}

fn moved(stop: &Stop, place: Place) -> Stop {
    let mut diagnostic = stop.diagnostic().clone();
    if let Some(label) = &mut diagnostic.primary {
        (label.file, label.span) = (place.file, place.span);
    }
    match stop {
        Stop::Refused(_) => Stop::Refused(Arc::new(diagnostic)),
        Stop::Uncertain(_) => Stop::Uncertain(Arc::new(diagnostic)),
    }
}

/// Returns the directory of a file.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Finds the only block of a kind.
pub(super) fn block<'d>(document: &'d Document, kind: &str) -> Option<&'d Block> {
    let mut blocks = document.body.blocks();
    blocks.find(|block| block.kind.text == kind)
}

fn local_of<'d>(document: &'d Document, name: &str) -> Option<&'d Attribute> {
    block(document, "locals")?.body.attribute(name)
}
