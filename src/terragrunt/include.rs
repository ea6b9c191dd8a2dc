//! Include blocks: which parents a unit has, and what it sees of them (rules 3).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::evaluation::{Evaluation, Includes, Read, Role, Sharing, Stage, block};
use super::limits::MAX_INCLUDES;
use super::names::Names;
use super::outcome::{Outcome, Place, Stop};
use super::surroundings::relative;
use crate::diag::rules;
use crate::expr::{Typed, Value};
use crate::hcl::references::Reference;
use crate::hcl::tree::{Attribute, Block, ExprKind, Step};
use crate::world::clean;

/// An include block.
#[derive(Clone, Debug)]
pub(super) struct Include {
    /// Empty for a block without label.
    pub(super) label: String,
    pub(super) is_bare: bool,
    /// Absolute where the unit is.
    pub(super) path: PathBuf,
    pub(super) is_exposed: bool,
    pub(super) strategy: Strategy,
    /// The parent in its role.
    pub(super) parent: usize,
}

/// How a parent is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    None,
    Shallow,
    Deep,
}

/// Where relative functions look for the parent.
pub(super) enum Included {
    /// There is none: the file itself stands for it.
    Itself,
    Parent(PathBuf),
    /// Several are there, and none is named.
    Several,
    /// None of this label is there.
    Missing,
}

impl Evaluation<'_> {
    /// Returns the include blocks of a unit, with their parents.
    pub(super) fn includes(&mut self, at: usize) -> Outcome<Arc<Vec<Include>>> {
        if self.instances[at].role != Role::Unit {
            return Ok(Arc::default());
        }
        match &self.instances[at].includes {
            Includes::Done(found) => return found.clone(),
            // Functions in an include block see none.
            Includes::Begun => return Ok(Arc::default()),
            Includes::NotLooked => {}
        }
        self.instances[at].includes = Includes::Begun;
        let found = self.read_includes(at).map(Arc::new);
        self.instances[at].includes = Includes::Done(found.clone());
        found
    }

    /// Returns the parents of a unit, in the order of their blocks.
    pub(super) fn parents(&mut self, at: usize) -> Outcome<Vec<usize>> {
        let includes = self.includes(at)?;
        Ok(includes.iter().map(|include| include.parent).collect())
    }

    fn read_includes(&mut self, at: usize) -> Outcome<Vec<Include>> {
        let document = Arc::clone(&self.instances[at].document);
        let mut includes: Vec<Include> = Vec::new();
        let blocks = document.body.blocks();
        for block in blocks.filter(|block| block.kind.text == "include") {
            let place = self.place(at, block.header);
            if includes.len() >= MAX_INCLUDES {
                return Err(Stop::uncertain(place, "too many files are included"));
            }
            let include = self.read_include(at, block, place)?;
            let has_bare = includes.iter().any(|other| other.is_bare);
            if include.is_bare && has_bare {
                let title = "Multiple bare include blocks";
                let note = "give each include block a label";
                return Err(refused(title, place, note));
            }
            includes.push(include);
        }
        Ok(includes)
    }

    fn read_include(&mut self, at: usize, block: &Block, place: Place) -> Outcome<Include> {
        let known = ["path", "expose", "merge_strategy"];
        let mut attributes = block.body.attributes();
        if let Some(other) = attributes.find(|one| !known.contains(&one.name.text.as_str())) {
            let place = self.place(at, other.name.span);
            let title = "Unsupported argument";
            return Err(Stop::refused(rules::UNSUPPORTED_ITEM, title, place, ""));
        }
        let is_strict =
            |name| self.around.has_switch(name) || self.around.has_switch("strict-mode");
        if block.labels.is_empty() && is_strict("bare-include") {
            return Err(refused("An include block needs a label", place, ""));
        }
        let Some(path) = block.body.attribute("path") else {
            return Err(refused(
                "Missing required argument",
                place,
                "path is required",
            ));
        };
        let path_place = self.attribute_place(at, path);
        let Some(path) = self.text(at, path, Stage::Include)? else {
            let note = "null is not allowed";
            return Err(refused("Unsuitable value type", path_place, note));
        };
        if path.is_empty() {
            let title = "An include block must specify a path";
            return Err(refused(title, path_place, ""));
        }
        let path = clean(&self.instances[at].unit_dir.join(path));
        let is_exposed = match block.body.attribute("expose") {
            Some(expose) => self.truth(at, expose, Stage::Include)?.unwrap_or(false),
            None => false,
        };
        let strategy = match block.body.attribute("merge_strategy") {
            Some(strategy) => self.strategy(at, strategy)?,
            None => Strategy::Shallow,
        };
        let parent = self.parent(at, &path, path_place)?;
        Ok(Include {
            label: block
                .labels
                .first()
                .map_or_else(String::new, |label| label.text.clone()),
            is_bare: block.labels.is_empty(),
            path,
            is_exposed,
            strategy,
            parent,
        })
    }

    fn strategy(&mut self, at: usize, attribute: &Attribute) -> Outcome<Strategy> {
        let place = self.attribute_place(at, attribute);
        let text = self.text(at, attribute, Stage::Include)?;
        match text.as_deref() {
            None | Some("shallow") => Ok(Strategy::Shallow),
            Some("deep") => Ok(Strategy::Deep),
            Some("no_merge") => Ok(Strategy::None),
            Some(other) => {
                let note = format!("{other:?} is none of no_merge, shallow and deep");
                Err(refused("Unknown merge strategy", place, &note))
            }
        }
    }

    fn parent(&mut self, at: usize, path: &Path, place: Place) -> Outcome<usize> {
        let found = self.document(path, Sharing::Shared);
        let title = "Include configuration not found";
        let (document, file) = found.map_err(|unread| unread.stop(title, path, place))?;
        let is_nested = block(&document, "include").is_some();
        let parent = self.add(document, file, Role::Parent(at));
        if let Some(fault) = self.faults(parent).into_iter().next() {
            return Err(Stop::of_fault(fault));
        }
        if is_nested {
            let note = format!("{} includes another file", path.display());
            let title = "Only one level of includes is allowed";
            return Err(refused(title, place, &note));
        }
        Ok(parent)
    }

    /// Evaluates an argument that is a text; `None` for null.
    pub(super) fn text(
        &mut self,
        at: usize,
        attribute: &Attribute,
        stage: Stage,
    ) -> Outcome<Option<String>> {
        let slot = self.slot(at, attribute, stage);
        let value = slot.outcome.clone()?;
        match &value.value {
            Value::Null => Ok(None),
            Value::Unknown => {
                let unknown = slot.unknown();
                let place = Place {
                    file: unknown.place.file,
                    span: unknown.place.span,
                };
                Err(Stop::uncertain(place, &unknown.reason))
            }
            value => match value.to_text() {
                Some(text) => Ok(Some(text)),
                None => Err(Stop::refused(
                    rules::WRONG_TYPE,
                    "Unsuitable value type",
                    slot.place,
                    "a string is required",
                )),
            },
        }
    }

    fn truth(&mut self, at: usize, attribute: &Attribute, stage: Stage) -> Outcome<Option<bool>> {
        let place = self.attribute_place(at, attribute);
        match self.text(at, attribute, stage)?.as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => {
                let title = "Unsuitable value type";
                Err(Stop::refused(
                    rules::WRONG_TYPE,
                    title,
                    place,
                    "a bool is required",
                ))
            }
        }
    }

    /// Returns the parent that relative functions mean (rules 5.2).
    pub(super) fn included(&mut self, at: usize, label: Option<&str>) -> Outcome<Included> {
        if let Role::Parent(_) = self.instances[at].role {
            let path = self.instances[at].document.path.clone();
            return Ok(Included::Parent(path));
        }
        let includes = self.includes(at)?;
        Ok(match (&includes[..], label) {
            ([], _) => Included::Itself,
            ([only], _) => Included::Parent(only.path.clone()),
            (_, None) => Included::Several,
            (all, Some(label)) => match all.iter().rev().find(|one| one.label == label) {
                Some(found) => Included::Parent(found.path.clone()),
                None => Included::Missing,
            },
        })
    }

    /// Adds what a unit sees of its parents.
    pub(super) fn used_include(
        &mut self,
        at: usize,
        used: Reference<'_>,
        names: &mut Names,
    ) -> Outcome<()> {
        let includes = self.includes(at)?;
        if includes.is_empty() {
            return Ok(());
        }
        names.object("include");
        let steps = used.steps;
        if let [only] = &includes[..]
            && only.is_bare
        {
            // Alone and without label, the parent itself has the name.
            if only.is_exposed {
                let value = self.seen(only.parent, steps)?;
                for (name, item) in super::object::items(&value) {
                    names.attribute("include", &name, Arc::new(item));
                }
            }
            return Ok(());
        }
        let label = match steps.first() {
            Some(Step::Attr(word)) => Some(word.text.as_str()),
            Some(Step::Index(key)) => match &key.kind {
                ExprKind::String(text) => Some(text.as_str()),
                _ => None,
            },
            _ => None,
        };
        for (place, include) in includes.iter().enumerate() {
            let is_wanted = label.is_none_or(|label| label == include.label);
            let behind = &includes[place + 1..];
            // Of two blocks with one label the later counts.
            let is_last = !behind.iter().any(|later| later.label == include.label);
            if is_wanted && is_last && include.is_exposed {
                let steps = steps.get(1..).filter(|_| label.is_some());
                let value = self.seen(include.parent, steps.unwrap_or_default())?;
                names.attribute("include", &include.label, Arc::new(value));
            }
        }
        Ok(())
    }

    /// Returns the part of a parent's configuration that steps lead to, or all of it.
    fn seen(&mut self, parent: usize, steps: &[Step]) -> Outcome<Typed> {
        let name = |step: &Step| match step {
            Step::Attr(word) => Some(word.text.clone()),
            _ => None,
        };
        match steps {
            [section, inner, ..]
                if name(section).as_deref() == Some("locals") && name(inner).is_some() =>
            {
                let inner = name(inner).unwrap_or_default();
                let value = self.local(parent, &inner).transpose()?;
                let items = value.map(|value| (inner, Typed::clone(&value)));
                let locals = Typed::object(items.into_iter().collect());
                Ok(Typed::object([("locals".to_owned(), locals)].into()))
            }
            [section, ..] if name(section).is_some() => {
                let section = name(section).unwrap_or_default();
                self.seen_part(parent, Some(section))
            }
            _ => self.seen_part(parent, None),
        }
    }

    /// Evaluates a part of a parent once for all expressions that look at it.
    fn seen_part(&mut self, parent: usize, section: Option<String>) -> Outcome<Typed> {
        let key = (parent, section);
        if let Some(Read::Done(outcome, reasons)) = self.parts.get(&key) {
            let (outcome, reasons) = (outcome.clone(), reasons.clone());
            self.because_of(&reasons);
            return outcome.map(Arc::unwrap_or_clone);
        }
        let (outcome, reasons) =
            self.traced(|this| this.part_of_configuration(parent, key.1.as_deref()));
        let outcome = outcome.map(Arc::new);
        self.parts.insert(key, Read::Done(outcome.clone(), reasons));
        outcome.map(Arc::unwrap_or_clone)
    }
}

pub(super) fn refused(title: &str, place: Place, note: &str) -> Stop {
    Stop::refused(rules::CONFIGURATION_INVALID, title, place, note)
}

/// Returns the way from a unit to its parent's directory and back.
pub(super) fn ways(unit_dir: &Path, parent: &Path) -> (String, String) {
    let parent = super::evaluation::directory(parent);
    (relative(parent, unit_dir), relative(unit_dir, parent))
}
