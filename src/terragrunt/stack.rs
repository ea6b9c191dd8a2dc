//! Explicit stacks: which units and stacks a stack file generates (rules 10.1).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discovery::STACK_FILE;
use super::evaluation::{Evaluation, Role, Sharing, Stage, directory};
use super::include::refused;
use super::outcome::{Known, Outcome, Place, Stop};
use super::source::{self, Package, SourceFault};
use super::surroundings::{SourceOverride, UnitSurroundings};
use crate::diag::{FileId, Span, Texts};
use crate::expr::{Typed, Value};
use crate::hcl::references;
use crate::hcl::tree::Block;
use crate::world::{Files, clean};

/// Where generated units lie.
const GENERATED_DIR: &str = ".terragrunt-stack";

/// A unit or a stack that a stack file generates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackComponent {
    /// The label of its block.
    pub name: String,
    /// Whether it is a stack itself.
    pub is_stack: bool,
    /// The directory that it is generated in.
    pub dir: PathBuf,
    /// What is copied there, lock file included.
    pub package: Package,
    /// The directory in the package.
    pub subdirectory: Option<String>,
    /// What its file of values is made of.
    pub values: Option<Typed>,
}

/// Reads the stack file of a directory.
///
/// Nothing is generated: generated units are ordinary units where they are on the disk.
///
/// ```
/// use std::path::Path;
/// use lockctl::diag::Texts;
/// use lockctl::terragrunt::{Documents, UnitSurroundings, stack};
/// use lockctl::world::mem::MemFiles;
///
/// let text = "unit \"db\" {\n  source = \"../units/db\"\n  path   = \"db\"\n}\n";
/// let files = MemFiles::with(&[("/r/st/terragrunt.stack.hcl", text)]);
/// let documents = Documents::default();
/// let around = UnitSurroundings::new(&documents);
/// let found = stack(&files, &mut Texts::default(), Path::new("/r/st"), &around);
/// let component = &found.value().unwrap()[0];
/// assert_eq!(component.dir, Path::new("/r/st/.terragrunt-stack/db"));
/// ```
#[must_use]
pub fn stack(
    files: &dyn Files,
    texts: &mut Texts,
    stack_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> Known<Vec<StackComponent>> {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = stack_dir.join(STACK_FILE);
    match components(&mut evaluation, &path) {
        Ok(found) => Known::Value(found),
        Err(stop) => {
            let (file, span) = (FileId::ALONE, Span::default());
            Known::Unknown(stop.unknown(Place { file, span }))
        }
    }
}

fn components(evaluation: &mut Evaluation<'_>, path: &Path) -> Outcome<Vec<StackComponent>> {
    super::ways::begin(evaluation, path, &mut Vec::new())?;
    if let Some(misfit) = evaluation.misfits(0).into_iter().next() {
        return Err(Stop::Refused(Arc::new(misfit)));
    }
    check_parents(evaluation)?;
    let document = Arc::clone(&evaluation.instances[0].document);
    let mut found = Vec::new();
    let (mut names, mut dirs) = (BTreeSet::new(), BTreeSet::new());
    for block in document.body.blocks() {
        let is_stack = block.kind.text == "stack";
        if !is_stack && block.kind.text != "unit" {
            continue;
        }
        let place = evaluation.place(0, block.header);
        let component = component(evaluation, block)?;
        let is_new = names.insert((is_stack, component.name.clone()));
        if !is_new || !dirs.insert(component.dir.clone()) {
            let note = "another one has the same name or path";
            return Err(refused("Duplicate unit or stack", place, note));
        }
        found.push(component);
    }
    if found.is_empty() {
        let place = evaluation.place(0, Span::default());
        return Err(refused("A stack needs a unit or a stack", place, ""));
    }
    Ok(found)
}

/// Files that a stack includes are not followed, unless they hold nothing.
fn check_parents(evaluation: &mut Evaluation<'_>) -> Outcome<()> {
    let document = Arc::clone(&evaluation.instances[0].document);
    let dir = directory(&document.path).to_owned();
    for block in document
        .body
        .blocks()
        .filter(|block| block.kind.text == "include")
    {
        let place = evaluation.place(0, block.header);
        let Some(attribute) = block.body.attribute("path") else {
            continue;
        };
        let text = evaluation.text(0, attribute, Stage::Include)?;
        let path = clean(&dir.join(text.unwrap_or_default()));
        let title = "Include configuration not found";
        let read = evaluation.document(&path, Sharing::Shared);
        let (parent, _) = read.map_err(|unread| unread.stop(title, &path, place))?;
        if !parent.body.items.is_empty() || !parent.faults.is_empty() {
            return Err(Stop::uncertain(place, "what a stack includes is not read"));
        }
    }
    Ok(())
}

fn component(evaluation: &mut Evaluation<'_>, block: &Block) -> Outcome<StackComponent> {
    let place = evaluation.place(0, block.header);
    let name = block
        .labels
        .first()
        .map_or_else(String::new, |label| label.text.clone());
    let dir = component_dir(evaluation, 0, block)?;
    let stack_dir = evaluation.instances[0].unit_dir.clone();
    let text = match block.body.attribute("source") {
        Some(attribute) => evaluation.text(0, attribute, Stage::Rest)?,
        None => None,
    };
    let plain = UnitSurroundings {
        source: SourceOverride::None,
        source_map: Vec::new(),
        registry_host: evaluation.around.registry_host.clone(),
        ..UnitSurroundings::new(evaluation.around.documents)
    };
    let program = evaluation.around.program.clone().unwrap_or_default();
    let understood = source::understand(text.as_deref(), &stack_dir, &program, &plain);
    let (package, subdirectory) = understood.map_err(|fault| match fault {
        SourceFault::Refused(reason) => refused("Source is not understood", place, &reason),
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
        name,
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
        return Err(refused(
            "Missing required argument",
            place,
            "path is required",
        ));
    };
    let names = references::inside(&attribute.value);
    if names
        .iter()
        .any(|name| ["unit", "stack"].contains(&name.root))
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
    let top = match is_beside {
        true => stack_dir.clone(),
        false => stack_dir.join(GENERATED_DIR),
    };
    let dir = clean(&top.join(path));
    match dir.starts_with(&top) {
        true => Ok(dir),
        false => Err(refused("Path leaves the directory of the stack", place, "")),
    }
}

impl Evaluation<'_> {
    /// Returns whether a file is a stack file.
    pub(super) fn is_stack(&self, at: usize) -> bool {
        let path = &self.instances[at].document.path;
        self.instances[at].role == Role::Unit
            && path.file_name().is_some_and(|name| name == STACK_FILE)
    }

    /// Returns what `unit.NAME` and `stack.NAME` mean in a stack file: each has its `path`.
    pub(super) fn generated_dirs(
        &mut self,
        at: usize,
        kind: &str,
    ) -> Outcome<BTreeMap<String, Typed>> {
        let document = Arc::clone(&self.instances[at].document);
        let mut dirs = BTreeMap::new();
        for block in document
            .body
            .blocks()
            .filter(|block| block.kind.text == kind)
        {
            let dir = component_dir(self, at, block)?;
            let path = Typed::string(dir.display().to_string());
            let items = BTreeMap::from([("path".to_owned(), path)]);
            let label = block.labels.first().map(|label| label.text.clone());
            dirs.insert(label.unwrap_or_default(), Typed::object(items));
        }
        Ok(dirs)
    }
}

/// Evaluates a stack file as `read_terragrunt_config` shows it: `local`, and what its units and stacks say.
pub(super) fn read(evaluation: &mut Evaluation<'_>, at: usize) -> Outcome<Typed> {
    let document = Arc::clone(&evaluation.instances[at].document);
    let mut all = BTreeMap::new();
    let mut locals = BTreeMap::new();
    for name in evaluation.local_names(at) {
        if let Some(value) = evaluation.local(at, &name) {
            locals.insert(name, Typed::clone(&*value?));
        }
    }
    all.insert("local".to_owned(), Typed::object(locals));
    for kind in ["unit", "stack"] {
        let mut named = BTreeMap::new();
        for block in document
            .body
            .blocks()
            .filter(|block| block.kind.text == kind)
        {
            let Some(label) = block.labels.first() else {
                continue;
            };
            let mut items = BTreeMap::new();
            for attribute in block.body.attributes() {
                let value = evaluation.slot(at, attribute, Stage::Rest).outcome?;
                items.insert(attribute.name.text.clone(), Typed::clone(&value));
            }
            items.insert("name".to_owned(), Typed::string(label.text.as_str()));
            named.insert(label.text.clone(), Typed::object(items));
        }
        if !named.is_empty() {
            all.insert(kind.to_owned(), Typed::object(named));
        }
    }
    Ok(Typed::object(all))
}
