//! Explicit stacks: the units and stacks that a stack file generates (rules 10.1).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::evaluation::{Evaluation, FileRole, Sharing, Stage, blocks, directory, label};
use super::file_names::STACK_FILE;
use super::include::PARENT_NOT_FOUND;
use super::outcome::{FilePlace, Outcome, Stop, UnitResult};
use super::source::{self, SourceFault, UnitPackage};
use super::surroundings::{SourceOverride, UnitSurroundings};
use crate::diag::{Span, Texts};
use crate::expr::{Typed, Value};
use crate::hcl::references::{self, Reference};
use crate::hcl::tree::Block;
use crate::world::{Files, clean};

/// The directory of generated units, beside the stack file.
const GENERATED_DIR: &str = ".terragrunt-stack";

/// A unit or a stack that a stack file generates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackComponent {
    /// The label of its block.
    pub name: String,
    /// The component is a stack itself, not a unit.
    pub is_stack: bool,
    /// The directory that it is generated in.
    pub dir: PathBuf,
    /// The package that is copied there, lock file included.
    pub package: UnitPackage,
    /// The directory in the package.
    pub subdirectory: Option<String>,
    /// The values that its file of values is made of.
    pub values: Option<Typed>,
}

/// Reads the stack file of a directory.
///
/// Nothing is generated: generated units are ordinary units once they are on the disk.
///
/// # Errors
/// The first thing that Terragrunt refuses, or that only a run knows.
///
/// ```
/// use std::path::Path;
/// use lockctl_core::diag::Texts;
/// use lockctl_core::terragrunt::{Documents, UnitSurroundings, stack};
/// use lockctl_core::world::mem::MemFiles;
///
/// let text = "unit \"db\" {\n  source = \"../units/db\"\n  path   = \"db\"\n}\n";
/// let files = MemFiles::with(&[("/r/st/terragrunt.stack.hcl", text)]);
/// let documents = Documents::default();
/// let around = UnitSurroundings::new(&documents);
/// let found = stack(&files, &mut Texts::default(), Path::new("/r/st"), &around);
/// let component = &found.unwrap()[0];
/// assert_eq!(component.dir, Path::new("/r/st/.terragrunt-stack/db"));
/// ```
#[doc(hidden)]
pub fn stack(
    files: &dyn Files,
    texts: &mut Texts,
    stack_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> UnitResult<Vec<StackComponent>> {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = stack_dir.join(STACK_FILE);
    components(&mut evaluation, &path).map_err(|stop| stop.unknown(FilePlace::NOWHERE))
}

fn components(evaluation: &mut Evaluation<'_>, path: &Path) -> Outcome<Vec<StackComponent>> {
    super::passes::begin(evaluation, path, &mut Vec::new())?;
    if let Some(misfit) = evaluation.misfits(0).into_iter().next() {
        return Err(Stop::Refused(Arc::new(misfit)));
    }
    check_parents(evaluation)?;
    let document = Arc::clone(&evaluation.instances[0].document);
    let mut components = Vec::new();
    let (mut names, mut dirs) = (BTreeSet::new(), BTreeSet::new());
    for block in document.body.blocks() {
        let is_stack = block.kind.text == "stack";
        if !is_stack && block.kind.text != "unit" {
            continue;
        }
        let place = evaluation.place(0, block.header);
        let component = component(evaluation, block)?;
        // A unit and a stack may share a name, but not a directory.
        let is_new = names.insert((is_stack, component.name.clone()));
        if !is_new || !dirs.insert(component.dir.clone()) {
            let note = "another one has the same name or path";
            return Err(Stop::invalid("Duplicate unit or stack", place, note));
        }
        components.push(component);
    }
    if components.is_empty() {
        let place = evaluation.place(0, Span::default());
        return Err(Stop::invalid("A stack needs a unit or a stack", place, ""));
    }
    Ok(components)
}

/// Stops at files that the stack includes, unless they are empty.
fn check_parents(evaluation: &mut Evaluation<'_>) -> Outcome<()> {
    let document = Arc::clone(&evaluation.instances[0].document);
    let dir = directory(&document.path).to_owned();
    for block in blocks(&document, "include") {
        let place = evaluation.place(0, block.header);
        let Some(attribute) = block.body.attribute("path") else {
            continue;
        };
        let text = evaluation.text(0, attribute, Stage::Include)?;
        let path = clean(&dir.join(text.unwrap_or_default()));
        let (parent, _) = evaluation
            .document(&path, Sharing::Shared)
            .map_err(|failure| failure.stop(PARENT_NOT_FOUND, &path, place))?;
        if !parent.body.items.is_empty() || !parent.faults.is_empty() {
            return Err(Stop::uncertain(place, "what a stack includes is not read"));
        }
    }
    Ok(())
}

fn component(evaluation: &mut Evaluation<'_>, block: &Block) -> Outcome<StackComponent> {
    let place = evaluation.place(0, block.header);
    let dir = component_dir(evaluation, 0, block)?;
    let stack_dir = evaluation.instances[0].unit_dir.clone();
    let text = match block.body.attribute("source") {
        Some(attribute) => evaluation.text(0, attribute, Stage::Rest)?,
        None => None,
    };
    // Flags of units do not replace the sources of stacks.
    let plain = UnitSurroundings {
        source: SourceOverride::None,
        source_map: Vec::new(),
        registry_host: evaluation.around.registry_host.clone(),
        ..UnitSurroundings::new(evaluation.around.documents)
    };
    let program = evaluation.around.program.clone().unwrap_or_default();
    let (package, subdirectory) = source::understand(text.as_deref(), &stack_dir, &program, &plain)
        .map_err(|fault| match fault {
            SourceFault::Refused(reason) => {
                Stop::invalid("Source is not understood", place, &reason)
            }
            SourceFault::Unknown(reason) => Stop::uncertain(place, &reason),
        })?;
    let values = match block.body.attribute("values") {
        Some(attribute) => {
            let value = evaluation.slot(0, attribute, Stage::Rest).outcome?;
            Some(Typed::clone(&value)).filter(|value| !value.is_null())
        }
        None => None,
    };
    Ok(StackComponent {
        name: label(block),
        is_stack: block.kind.text == "stack",
        dir,
        package,
        subdirectory,
        values,
    })
}

/// Returns the directory that a unit or a stack is generated in.
fn component_dir(evaluation: &mut Evaluation<'_>, at: usize, block: &Block) -> Outcome<PathBuf> {
    let place = evaluation.place(at, block.header);
    let Some(attribute) = block.body.attribute("path") else {
        let title = "Missing required argument";
        return Err(Stop::invalid(title, place, "path is required"));
    };
    let is_component = |used: &Reference<'_>| ["unit", "stack"].contains(&used.root);
    if references::inside(&attribute.value)
        .iter()
        .any(is_component)
    {
        return Err(Stop::uncertain(place, "a path that depends on another one"));
    }
    let path = evaluation
        .text(at, attribute, Stage::Rest)?
        .unwrap_or_default();
    let is_beside = match block.body.attribute("no_dot_terragrunt_stack") {
        Some(attribute) => {
            let value = evaluation.slot(at, attribute, Stage::Rest).outcome?;
            value.value == Value::Bool(true)
        }
        None => false,
    };
    let stack_dir = &evaluation.instances[at].unit_dir;
    let top = if is_beside {
        stack_dir.clone()
    } else {
        stack_dir.join(GENERATED_DIR)
    };
    let dir = clean(&top.join(path));
    if !dir.starts_with(&top) {
        let title = "Path leaves the directory of the stack";
        return Err(Stop::invalid(title, place, ""));
    }
    Ok(dir)
}

impl Evaluation<'_> {
    /// Returns true for a stack file that is not included by another file.
    pub(super) fn is_stack(&self, at: usize) -> bool {
        let path = &self.instances[at].document.path;
        self.instances[at].role == FileRole::Unit
            && path.file_name().is_some_and(|name| name == STACK_FILE)
    }

    /// Returns the values of `unit.NAME` or `stack.NAME` in a stack file: each has its `path`.
    pub(super) fn generated_dirs(
        &mut self,
        at: usize,
        kind: &str,
    ) -> Outcome<BTreeMap<String, Typed>> {
        let document = Arc::clone(&self.instances[at].document);
        let mut dirs = BTreeMap::new();
        for block in blocks(&document, kind) {
            let dir = component_dir(self, at, block)?;
            let path = Typed::string(dir.display().to_string());
            let items = BTreeMap::from([("path".to_owned(), path)]);
            dirs.insert(label(block), Typed::object(items));
        }
        Ok(dirs)
    }

    /// Evaluates a stack file as `read_terragrunt_config` shows it: `local`, and the arguments of its units and
    /// stacks.
    pub(super) fn stack_configuration(&mut self, at: usize) -> Outcome<Typed> {
        let document = Arc::clone(&self.instances[at].document);
        let mut locals = BTreeMap::new();
        for name in self.local_names(at) {
            if let Some(value) = self.local(at, &name) {
                locals.insert(name, Typed::clone(&*value?));
            }
        }
        let mut sections = BTreeMap::from([("local".to_owned(), Typed::object(locals))]);
        for kind in ["unit", "stack"] {
            let mut components = BTreeMap::new();
            for block in blocks(&document, kind) {
                let Some(label) = block.labels.first() else {
                    continue;
                };
                let mut items = BTreeMap::new();
                for attribute in block.body.attributes() {
                    let value = self.slot(at, attribute, Stage::Rest).outcome?;
                    items.insert(attribute.name.text.clone(), Typed::clone(&value));
                }
                items.insert("name".to_owned(), Typed::string(label.text.as_str()));
                components.insert(label.text.clone(), Typed::object(items));
            }
            if !components.is_empty() {
                sections.insert(kind.to_owned(), Typed::object(components));
            }
        }
        Ok(Typed::object(sections))
    }
}
