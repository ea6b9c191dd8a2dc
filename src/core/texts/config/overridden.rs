//! Arguments that requirements in override files replace.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::loaded::{Loaded, ModuleNode};
use crate::diag::{FileId, Texts};
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Body, Item};
use crate::module_config::file::SourcePlace;
use crate::module_config::merge::arguments::ByArgument;
use crate::module_config::merge::merged::{MergedAttribute, MergedBlock, MergedModule};
use crate::module_config::syntax;
use crate::requirement::Requirement;

/// The arguments of override files that require something, each with what it overrides.
#[derive(Clone, Debug, Default)]
pub struct OverriddenPlaces {
    arguments: ByArgument<Vec<OverriddenPlace>>,
}

/// An argument that another file replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverriddenPlace {
    /// The name of the argument; the header of the block, where the argument was added.
    pub place: SourcePlace,
    /// The constraints that it states, as written; `None` if it states none.
    pub constraints: Option<String>,
}

impl OverriddenPlaces {
    /// Looks at all requirements of a root.
    #[must_use]
    pub fn of_all(loaded: &Loaded, texts: &Texts, flavor: Flavor) -> Self {
        let all: Vec<&Requirement> = loaded.requirements.providers.values().flatten().collect();
        Self::of(&all, loaded, texts, flavor)
    }

    /// Looks at the modules that have some of the requirements in an override file.
    #[must_use]
    pub fn of(
        requirements: &[&Requirement],
        loaded: &Loaded,
        texts: &Texts,
        flavor: Flavor,
    ) -> Self {
        let mut overridden = Self::default();
        let wanted: BTreeSet<FileId> = requirements
            .iter()
            .map(|requirement| requirement.file)
            .collect();
        // Calls may share a module, which is looked at once.
        let mut seen = BTreeSet::new();
        for node in &loaded.modules {
            if node
                .files
                .first()
                .is_some_and(|first| !seen.insert(first.id))
            {
                continue;
            }
            // Merging costs more than parsing: most modules have no override file with a requirement.
            let is_wanted = node
                .files
                .iter()
                .any(|file| file.is_override() && wanted.contains(&file.id));
            if is_wanted {
                let stated = stated_constraints(node, texts, flavor);
                overridden.module(&node.merged(texts, flavor), &stated);
            }
        }
        overridden
    }

    fn module(&mut self, module: &MergedModule, stated: &StatedConstraints) {
        for entry in module.settings.required_providers.values() {
            self.add(entry, &entry.replaces, stated);
        }
        for block in &module.blocks {
            self.block(block, stated);
            // A check holds a data source of the module.
            for data in block.body.blocks().filter(|nested| nested.kind == "data") {
                self.block(data, stated);
            }
        }
    }

    fn block(&mut self, block: &MergedBlock, stated: &StatedConstraints) {
        for argument in ["provider", "version"] {
            let Some(argument) = block.body.attribute(argument) else {
                continue;
            };
            // What the base does not say is added to it.
            let is_added = argument.replaces.is_empty() && argument.file != block.header.file;
            let header = [block.header];
            let replaces = if is_added {
                &header
            } else {
                &*argument.replaces
            };
            self.add(argument, replaces, stated);
        }
    }

    fn add(
        &mut self,
        argument: &MergedAttribute,
        replaces: &[SourcePlace],
        stated: &StatedConstraints,
    ) {
        if replaces.is_empty() {
            return;
        }
        let replaced = replaces
            .iter()
            .map(|place| OverriddenPlace {
                place: *place,
                constraints: stated.get(place).cloned(),
            })
            .collect();
        self.arguments.insert(argument, replaced);
    }

    /// Returns what a requirement overrides, the earliest place first.
    #[must_use]
    pub fn by(&self, requirement: &Requirement) -> &[OverriddenPlace] {
        let Requirement { file, span, .. } = *requirement;
        let replaces = self.arguments.around(SourcePlace { file, span });
        replaces.map_or(&[], Vec::as_slice)
    }

    /// Describes what a requirement overrides, as in `~> 4.0 at main.tf:6`; `None` if that is nothing.
    #[must_use]
    pub fn describe(&self, requirement: &Requirement, texts: &Texts) -> Option<String> {
        let describe = |replaced: &OverriddenPlace| {
            let SourcePlace { file, span } = replaced.place;
            let line = texts.position(file, span.start).line;
            let constraints = replaced.constraints.as_deref();
            let constraints = constraints.map_or_else(String::new, |text| format!("{text} at "));
            format!("{constraints}{}:{line}", texts.name(file))
        };
        let replaced = self.by(requirement);
        let described = || Vec::from_iter(replaced.iter().map(describe)).join(" and ");
        (!replaced.is_empty()).then(described)
    }
}

/// The constraints that arguments state, by the places of their names.
type StatedConstraints = BTreeMap<SourcePlace, String>;

/// Reads the constraints in the files of a module; a merged module has only those that count.
fn stated_constraints(node: &ModuleNode, texts: &Texts, flavor: Flavor) -> StatedConstraints {
    let mut stated = BTreeMap::new();
    for file in &*node.files {
        let (body, _) = syntax::parse(*file, texts.bytes(file.id), flavor);
        for block in body.blocks() {
            match &*block.kind.text {
                "terraform" => block
                    .body
                    .blocks()
                    .filter(|block| block.kind.text == "required_providers")
                    .for_each(|block| collect(&block.body, file.id, &mut stated)),
                "provider" => collect(&block.body, file.id, &mut stated),
                _ => {}
            }
        }
    }
    stated
}

/// Collects `NAME = { version = … }`, `NAME = "…"` and `version = "…"`.
fn collect(body: &Body, file: FileId, stated: &mut StatedConstraints) {
    for item in &body.items {
        let Item::Attribute(attribute) = item else {
            continue;
        };
        let version = match expr::constant(file, &attribute.value) {
            Ok(Value::Object(mut members)) => members.remove("version"),
            Ok(value) => Some(value),
            Err(_) => None,
        };
        if let Some(Value::String(version)) = version {
            let span = attribute.name.span;
            stated.insert(SourcePlace { file, span }, version);
        }
    }
}
