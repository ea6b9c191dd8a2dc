//! The edits that a moved provider needs, root by root.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::state_command;
use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::config::{Loaded, ModuleNode};
use crate::diag::{FileId, Span, Texts, has_errors};
use crate::driver::{Job, OpenResult};
use crate::flavor::Flavor;
use crate::hash::Hashes;
use crate::hcl::tree::{Body, Expr, ExprKind, Item, ObjectKey};
use crate::lock::LockOptions;
use crate::locker::{self, OutdatedRequest, VersionComparison};
use crate::lockfile::{self, LockFile};
use crate::module_config::MergedAttribute;
use crate::report::{Failure, RootResult};
use crate::requirement::{RequirementOrigin, Requirements, StateSeen};
use crate::run::edits::{EditablePlace, NotEditable, PlannedEdits};
use crate::run::root::Root;
use crate::run::session::Session;
use crate::run::typed_addr::TypedAddr;
use crate::run::user::enforcement;
use crate::run::user::sources::Sources;
use crate::{hcl, project};

/// The edits of all roots, and what remains to be done by hand.
#[derive(Default)]
pub(super) struct ReplacedRoots {
    pub(super) edits: PlannedEdits,
    /// The commands that change the states, in the order of the roots.
    pub(super) state_commands: Vec<String>,
    pub(super) remarks: Vec<String>,
    /// Some root has the old provider.
    is_known: bool,
}

/// The job that plans the edits.
pub(super) struct ReplaceJob<'r, 'a> {
    session: Rc<Session<'a>>,
    old: &'r TypedAddr,
    new: &'r TypedAddr,
    sources: Sources<'a>,
    pub(super) replaced: ReplacedRoots,
}

/// A root with the old provider.
pub(super) struct OpenRoot {
    root: Root,
    loaded: Loaded,
    old: ProviderAddr,
    new: ProviderAddr,
    /// The lock file with the entry at its new address, without hashes.
    lock: LockFile,
    /// The requirements on the old provider as those on the new one.
    requirements: Requirements,
    source: usize,
}

impl<'r, 'a> ReplaceJob<'r, 'a> {
    pub(super) fn new(
        session: &Rc<Session<'a>>,
        options: &LockOptions,
        old: &'r TypedAddr,
        new: &'r TypedAddr,
    ) -> Self {
        Self {
            session: Rc::clone(session),
            old,
            new,
            sources: Sources::new(Rc::clone(session), options.source.choice(session.options)),
            replaced: ReplacedRoots::default(),
        }
    }
}

impl Job for ReplaceJob<'_, '_> {
    type Opened = OpenRoot;
    type Done = ();

    fn open(
        &mut self,
        root: Root,
        loaded: Option<Loaded>,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenRoot>, Failure> {
        let flavor = root.flavor;
        let (old, new) = (self.old.by_rules_of(flavor)?, self.new.by_rules_of(flavor)?);
        let lock_faults = root.lock.as_ref().map(|lock| &*lock.diagnostics);
        result.faults(lock_faults.unwrap_or_default());
        let loaded = loaded.filter(|loaded| loaded.found);
        let Some(loaded) = loaded else {
            return Err(root.no_configuration());
        };
        // The printed command changes the state that a requirement comes from; other faults of states stop the run.
        result.faults(
            loaded.diagnostics.iter().filter(|fault| {
                !is_of_state(fault.primary.as_ref().map(|label| label.file), &loaded)
            }),
        );
        if has_errors(lock_faults.unwrap_or_default())
            || result.status != crate::report::RootStatus::Clean
        {
            return Ok(OpenResult::Finished);
        }
        let document = &root.document().lock;
        let is_required = loaded.requirements.providers.contains_key(&old);
        if !is_required && !document.providers.contains_key(&old) {
            return Ok(OpenResult::Finished);
        }
        self.replaced.is_known = true;
        let mut lock = document.clone();
        if let Some(entry) = lock.providers.remove(&old) {
            lock.providers
                .entry(new.clone())
                .or_insert(lockfile::ProviderLock {
                    hashes: Hashes::default(),
                    ..entry
                });
        }
        let mut requirements = loaded.requirements.clone();
        if let Some(places) = requirements.providers.remove(&old) {
            requirements
                .providers
                .entry(new.clone())
                .or_default()
                .extend(places);
        }
        let source = self.sources.of_root(&root, true, texts, result)?;
        Ok(source.map_or(OpenResult::Finished, |source| {
            OpenResult::Ready(OpenRoot {
                root,
                loaded,
                old,
                new,
                lock,
                requirements,
                source,
            })
        }))
    }

    fn obstacles(&self) -> Vec<Failure> {
        if self.replaced.is_known {
            return Vec::new();
        }
        let title = format!("{} cannot be replaced: nothing requires it", self.old);
        vec![Failure::new(title).help("name the provider as `lockctl tree` does")]
    }

    fn work(&mut self, mut roots: Vec<(OpenRoot, &mut RootResult)>, texts: &Texts) -> Vec<()> {
        self.keep_offered(&mut roots);
        let mut project_files = BTreeSet::new();
        for (opened, result) in &mut roots {
            for failure in self.sources_of(opened, texts) {
                result.fail(failure);
            }
            self.states_of(opened);
            let root = &opened.root;
            if let Some(lock) = &root.lock {
                let text = lockfile::write(&opened.lock, root.flavor);
                self.replaced
                    .edits
                    .rewrite(&root.lock_path, &lock.bytes, text.into_bytes());
            }
            let path = root.project_file();
            if let Some(path) = path.filter(|path| project_files.insert(path.to_owned())) {
                let failure = self.project_file(path, opened).err();
                if let Some(failure) = failure {
                    result.fail(failure);
                }
            }
        }
        roots.iter().map(|_| ()).collect()
    }
}

impl ReplaceJob<'_, '_> {
    /// Takes out entries whose version the new address does not offer, so that the newest allowed is selected.
    fn keep_offered(&mut self, roots: &mut [(OpenRoot, &mut RootResult)]) {
        let sources = self.sources.by_number();
        let named: Vec<BTreeSet<ProviderAddr>> = roots
            .iter()
            .map(|(opened, _)| [opened.new.clone()].into())
            .collect();
        let requests: Vec<OutdatedRequest<'_>> = roots
            .iter()
            .zip(&named)
            .map(|((opened, _), named)| OutdatedRequest {
                source: &sources[opened.source],
                requirements: &opened.requirements,
                lock: &opened.lock,
                overridden: &[],
                named,
                policy: None,
            })
            .collect();
        let enforced = enforcement(self.session.world.env);
        let compared = locker::outdated(&|flavor| Rules { flavor, enforced }, &requests);
        for ((opened, _), compared) in roots.iter_mut().zip(compared) {
            let lacks = compared.iter().any(|provider| {
                matches!(&provider.standing, VersionComparison::Offered { outlook, .. } if !outlook.offers_locked)
            });
            if lacks && let Some(entry) = opened.lock.providers.remove(&opened.new) {
                self.replaced.remarks.push(format!(
                    "{}: {} does not offer {}, so that the newest allowed version is selected",
                    opened.root.dir.display(),
                    opened.new.short(opened.root.flavor),
                    entry.version
                ));
            }
        }
    }

    /// Plans the edits of sources; returns the reasons why some stay.
    fn sources_of(&mut self, opened: &OpenRoot, texts: &Texts) -> Vec<Failure> {
        let mut failures = Vec::new();
        let flavor = opened.root.flavor;
        for node in &opened.loaded.modules {
            let merged = node.merged(texts, flavor);
            let required = &merged.settings.required_providers;
            for (name, attribute) in required {
                let source = source_item(attribute);
                let addr = match source {
                    Some(Expr {
                        kind: ExprKind::String(text),
                        ..
                    }) => ProviderAddr::parse(text, flavor).ok(),
                    Some(_) => None,
                    None => ProviderAddr::parse(name, flavor).ok(),
                };
                if addr.as_ref() != Some(&opened.old) {
                    continue;
                }
                let planned = match source {
                    Some(source) => self.source(opened, node, (attribute.file, source.span), texts),
                    None => self.entry(opened, node, name, attribute, texts),
                };
                failures.extend(planned.err());
            }
            failures.extend(self.implied(opened, node, required, texts).err());
        }
        failures
    }

    /// Plans to replace the text of a `source`.
    fn source(
        &mut self,
        opened: &OpenRoot,
        node: &ModuleNode,
        (file, span): (FileId, Span),
        texts: &Texts,
    ) -> Result<(), Failure> {
        let place = self.place(opened, node, (file, span), texts)?;
        let new = spelled(&opened.new, &place.text, opened.root.flavor);
        self.replaced.edits.add(place, &opened.old, new)
    }

    fn place<'t>(
        &self,
        opened: &OpenRoot,
        node: &ModuleNode,
        (file, span): (FileId, Span),
        texts: &'t Texts,
    ) -> Result<EditablePlace<'t>, Failure> {
        let place = EditablePlace::find(
            self.session.world,
            &opened.root.dir,
            (&opened.loaded, &node.path),
            texts,
            (file, span),
        );
        place.map_err(|error| {
            let line = texts.position(file, span.start).line;
            let old = opened.old.short(opened.root.flavor);
            let failure = Failure::new(format!("{old} stays at {}:{line}", texts.name(file)));
            match error {
                NotEditable::Foreign => failure
                    .because(format!(
                        "{} is not of this repository, and is not edited",
                        node.path
                    ))
                    .help(format!(
                        "a version of that module is needed that requires {}",
                        opened.new.short(opened.root.flavor)
                    )),
                NotEditable::Computed => failure
                    .because("the source is built from parts, and is not edited")
                    .help("write it by hand"),
            }
        })
    }

    /// Plans a `source` for an entry without one: its name implied the old address.
    fn entry(
        &mut self,
        opened: &OpenRoot,
        node: &ModuleNode,
        name: &str,
        attribute: &MergedAttribute,
        texts: &Texts,
    ) -> Result<(), Failure> {
        let value = &attribute.written.value;
        let new = opened.new.short(opened.root.flavor);
        let written = &texts.bytes(attribute.file)[value.span.start..value.span.end];
        let written = String::from_utf8_lossy(written);
        let is_json = texts.name(attribute.file).ends_with(".json");
        let text = match (&value.kind, is_json) {
            (ExprKind::Object(items), true) => {
                let comma = if items.is_empty() { "" } else { ", " };
                written.replacen('{', &format!("{{\"source\": {new:?}{comma}"), 1)
            }
            (_, true) => format!("{{\"source\": {new:?}, \"version\": {written}}}"),
            (ExprKind::Object(_), false) => {
                written.replacen('{', &format!("{{ source = {new:?},"), 1)
            }
            (_, false) => format!("{{ source = {new:?}, version = {written} }}"),
        };
        let place = self.insertion(opened, node, (attribute.file, value.span), texts)?;
        let row = format!("{name} = {{ source = {new:?} }}");
        self.replaced.edits.insert(place, &opened.old, row, text)
    }

    /// Plans an entry of `required_providers` in a module whose blocks imply the old address.
    fn implied(
        &mut self,
        opened: &OpenRoot,
        node: &ModuleNode,
        required: &BTreeMap<String, MergedAttribute>,
        texts: &Texts,
    ) -> Result<(), Failure> {
        let name = opened.old.type_name();
        let implied = opened
            .loaded
            .requirements
            .places(&opened.old)
            .iter()
            .find(|place| {
                place.module == node.path
                    && matches!(
                        place.origin,
                        RequirementOrigin::ProviderBlock | RequirementOrigin::Implied
                    )
            });
        let Some(implied) = implied.filter(|_| !required.contains_key(name)) else {
            return Ok(());
        };
        let new = opened.new.short(opened.root.flavor);
        let block = format!(
            "terraform {{\n  required_providers {{\n    {name} = {{\n      source = {new:?}\n    }}\n  }}\n}}\n"
        );
        // Beside the other entries of the module, else in the file that implies it.
        let beside = required.values().next();
        let file = beside.map_or(implied.file, |entry| entry.file);
        let span = Span::new(texts.bytes(file).len(), texts.bytes(file).len());
        let place = self.insertion(opened, node, (file, span), texts)?;
        let is_json = texts.name(file).ends_with(".json");
        let inserted = if is_json {
            None
        } else {
            inserted(texts.bytes(file), name, &new)
        };
        let Some((at, text)) = inserted else {
            return Err(Failure::new(format!(
                "{} implies {}",
                texts.name(file),
                opened.old.short(opened.root.flavor)
            ))
            .help(format!("state the new source there:\n{block}")));
        };
        let row = format!("{name} = {{ source = {new:?} }}");
        let place = place.at(at);
        self.replaced.edits.insert(place, &opened.old, row, text)
    }

    fn insertion<'t>(
        &self,
        opened: &OpenRoot,
        node: &ModuleNode,
        (file, span): (FileId, Span),
        texts: &'t Texts,
    ) -> Result<EditablePlace<'t>, Failure> {
        let place = EditablePlace::any(
            self.session.world,
            &opened.root.dir,
            (&opened.loaded, &node.path),
            texts,
            (file, span),
        );
        place.map_err(|_| {
            let old = opened.old.short(opened.root.flavor);
            Failure::new(format!("{old} stays in {}", texts.name(file))).because(format!(
                "{} is not of this repository, and is not edited",
                node.path
            ))
        })
    }

    /// Adds the command for the state of a root, if it has the old provider or cannot be seen.
    fn states_of(&mut self, opened: &OpenRoot) {
        let in_state = opened
            .loaded
            .requirements
            .places(&opened.old)
            .iter()
            .any(|place| place.origin == RequirementOrigin::State);
        if in_state || opened.loaded.requirements.state == StateSeen::No {
            self.replaced.state_commands.push(state_command(
                opened.root.flavor.command(),
                &opened.root.dir,
                &opened.old.to_string(),
                &opened.new.to_string(),
            ));
        }
    }

    /// Plans the edits of a project file: labels, and texts in lists and arguments, that are the old address.
    fn project_file(&mut self, path: &std::path::Path, opened: &OpenRoot) -> Result<(), Failure> {
        let world = self.session.world;
        let bytes = world
            .disk
            .read(path, project::MAX_FILE_BYTES)
            .map_err(|error| {
                Failure::new(format!("{} cannot be read", path.display()))
                    .because(error.to_string())
            })?;
        let (body, _) = hcl::parse(FileId::ALONE, &bytes);
        let mut found = Vec::new();
        texts_of(&body, &mut |text, span| {
            let addr = ProviderAddr::parse(text, opened.root.flavor).ok();
            // A type alone is an address, too, and any word may be one.
            if text.contains('/') && addr.as_ref() == Some(&opened.old) {
                let new = spelled(&opened.new, text, opened.root.flavor);
                found.push((span, hcl::edit::quoted(&new)));
            }
        });
        if !found.is_empty() {
            let edited = hcl::edit::splice(&bytes, found);
            self.replaced.edits.rewrite(path, &bytes, edited);
        }
        Ok(())
    }
}

/// Returns whether a fault is about the file of a state that names the old provider.
fn is_of_state(file: Option<FileId>, loaded: &Loaded) -> bool {
    let mut states = loaded
        .requirements
        .providers
        .values()
        .flatten()
        .filter(|place| place.origin == RequirementOrigin::State);
    states.any(|place| Some(place.file) == file)
}

/// Spells an address as another one is: with its host, or without.
fn spelled(addr: &ProviderAddr, like: &str, flavor: Flavor) -> String {
    if like.matches('/').count() == 2 {
        addr.to_string()
    } else {
        addr.short(flavor)
    }
}

/// Returns the value of `source` in an entry of `required_providers`; of several the last, as the programs do.
fn source_item(attribute: &MergedAttribute) -> Option<&Expr> {
    let ExprKind::Object(items) = &attribute.written.value.kind else {
        return None;
    };
    let is_source = |key: &ObjectKey| match key {
        ObjectKey::Name(word) => word.text == "source",
        ObjectKey::Expr(key) => matches!(&key.kind, ExprKind::String(text) if text == "source"),
    };
    let source = items.iter().rfind(|item| is_source(&item.key));
    source.map(|item| &item.value)
}

/// Returns the text that adds an entry to the first block `required_providers` of a file, and its place.
fn inserted(bytes: &[u8], name: &str, source: &str) -> Option<(usize, String)> {
    use hcl::edit::{BlockName, Expression, HclEditor};
    let block = |kind| BlockName { kind, labels: &[] };
    let path = [block("terraform"), block("required_providers")];
    let mut editor = HclEditor::open(bytes.to_vec()).ok()?;
    let value: Expression = format!("{{ source = {} }}", hcl::edit::quoted(source))
        .parse()
        .ok()?;
    editor.set(&path, name, value).ok()?;
    let edited = editor.into_bytes();
    let start = bytes
        .iter()
        .zip(&edited)
        .take_while(|(old, new)| old == new)
        .count();
    let end = start + edited.len().checked_sub(bytes.len())?;
    // One part was added, and all else is as it was.
    (edited[end..] == bytes[start..]).then_some(())?;
    let text = String::from_utf8(edited[start..end].to_vec()).ok()?;
    Some((start, text))
}

/// Visits the labels of blocks and the texts of arguments and lists, each with its place.
fn texts_of(body: &Body, visit: &mut dyn FnMut(&str, Span)) {
    for item in &body.items {
        match item {
            Item::Block(block) => {
                for label in &block.labels {
                    visit(&label.text, label.span);
                }
                texts_of(&block.body, visit);
            }
            Item::Attribute(attribute) => match &attribute.value.kind {
                ExprKind::String(text) => visit(text, attribute.value.span),
                ExprKind::Tuple(elements) => {
                    for element in elements {
                        if let ExprKind::String(text) = &element.kind {
                            visit(text, element.span);
                        }
                    }
                }
                _ => {}
            },
        }
    }
}
