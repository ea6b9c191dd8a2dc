//! A unit merged with its parents (rules 3.3).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::{Evaluation, FileRole, MergeStrategy, ReadFailure, Sharing};
use super::file_config::{Arguments, FileConfig, Wanted};
use super::file_names::{AUTOINCLUDE_FILE, is_unit_file};
use super::outcome::{Outcome, Slot};
use super::values::{deep, shallow};
use crate::expr::{Type, Typed, Value};

impl Evaluation<'_> {
    /// Evaluates the wanted part of a unit and its parents, and merges them.
    pub(super) fn merged(&mut self, at: usize, wanted: Wanted<'_>) -> Outcome<FileConfig> {
        let includes = self.includes(at)?;
        let mut config = self.file_config(at, wanted);
        // A later parent goes over an earlier one (rules 3.3).
        for include in includes.iter().rev() {
            // `no_merge` only exposes the parent.
            if include.strategy == MergeStrategy::None {
                continue;
            }
            let parent = self.file_config(include.parent.clone()?, wanted);
            config = over(config, parent, include.strategy);
        }
        let instance = &self.instances[at];
        // Files that `read_terragrunt_config` reads under another name have none (rules 3.4).
        if !is_unit_file(&instance.document.path) {
            return Ok(config);
        }
        let path = instance.unit_dir.join(AUTOINCLUDE_FILE);
        match self.document(&path, Sharing::Own) {
            Ok((document, file)) => {
                let upper = self.add(document, file, FileRole::Autoinclude);
                self.check_syntax(upper)?;
                // Locals are never merged: those of the unit stay (rules 3.3).
                let locals = std::mem::take(&mut config.locals);
                let upper = self.file_config(upper, wanted);
                config = over(upper, config, MergeStrategy::Shallow);
                config.locals = locals;
                Ok(config)
            }
            Err(ReadFailure::Missing) => Ok(config),
            Err(failure) => {
                let place = self.place(at, Default::default());
                Err(failure.stop("File cannot be read", &path, place))
            }
        }
    }
}

/// Lays a configuration over that of a parent.
fn over(upper: FileConfig, parent: FileConfig, strategy: MergeStrategy) -> FileConfig {
    let is_deep = strategy == MergeStrategy::Deep;
    let dependencies = match (upper.dependencies, parent.dependencies) {
        (Some(upper_paths), Some(parent_paths)) => {
            // Deep merging removes the paths of dependencies of the parent that the unit replaces.
            let replaced: Vec<Slot> = parent
                .dependency
                .iter()
                .filter(|(label, _)| is_deep && upper.dependency.contains_key(*label))
                .filter_map(|(_, arguments)| arguments.get("config_path").cloned())
                .collect();
            Some(joined_lists(&parent_paths, &upper_paths, &replaced))
        }
        (upper, parent) => upper.or(parent),
    };
    type Blocks = BTreeMap<String, Arguments>;
    // Deep merging joins the arguments of equal labels.
    let blocks: fn(Blocks, Blocks) -> Blocks = if is_deep { deep_blocks } else { laid };
    FileConfig {
        terraform: terraform(upper.terraform, parent.terraform, strategy),
        // Hooks of equal labels are replaced as a whole, even when merging deep (rules 3.3).
        commands: laid(upper.commands, parent.commands),
        // Terragrunt stops at two blocks of one label unless it merges deep (rules 3.3).
        generate: laid(upper.generate, parent.generate),
        // The block counts as a whole, with any strategy.
        remote_state: upper.remote_state.or(parent.remote_state),
        dependency: blocks(upper.dependency, parent.dependency),
        dependencies,
        feature: blocks(upper.feature, parent.feature),
        attributes: attributes(upper.attributes, parent.attributes, strategy),
        others: laid(upper.others, parent.others),
        locals: upper.locals,
    }
}

/// Merges two maps; where both have a key, the upper value counts.
fn laid<K: Ord, T>(upper: BTreeMap<K, T>, mut parent: BTreeMap<K, T>) -> BTreeMap<K, T> {
    parent.extend(upper);
    parent
}

/// Drops arguments that are null.
fn set(arguments: Arguments) -> Arguments {
    // An argument that is null counts as not set.
    let is_null = |slot: &Slot| slot.outcome.as_ref().is_ok_and(|value| value.is_null());
    arguments
        .into_iter()
        .filter(|(_, slot)| !is_null(slot))
        .collect()
}

fn terraform(
    upper: Option<Arguments>,
    parent: Option<Arguments>,
    strategy: MergeStrategy,
) -> Option<Arguments> {
    let (mut upper, mut parent) = match (upper, parent) {
        (Some(upper), Some(parent)) => (set(upper), set(parent)),
        (upper, parent) => return upper.or(parent),
    };
    for name in ["include_in_copy", "exclude_from_copy"] {
        // Shallow merging loses the upper list (rules 3.3).
        let upper_list = upper.remove(name);
        if strategy != MergeStrategy::Deep {
            continue;
        }
        let list = match (upper_list, parent.remove(name)) {
            (Some(upper), Some(parent)) => Some(joined_lists(&upper, &parent, &[])),
            (upper, parent) => upper.or(parent),
        };
        parent.extend(list.map(|list| (name.to_owned(), list)));
    }
    Some(laid(upper, parent))
}

fn attributes(upper: Arguments, parent: Arguments, strategy: MergeStrategy) -> Arguments {
    let inputs = match (upper.get("inputs"), parent.get("inputs")) {
        (Some(upper), Some(parent)) if strategy == MergeStrategy::Deep => {
            Some(both(upper, parent, deep))
        }
        (Some(upper), Some(parent)) => Some(both(upper, parent, shallow)),
        _ => None,
    };
    let mut merged = laid(set(upper), set(parent));
    merged.extend(inputs.map(|inputs| ("inputs".to_owned(), inputs)));
    merged
}

fn deep_blocks(
    upper: BTreeMap<String, Arguments>,
    mut parent: BTreeMap<String, Arguments>,
) -> BTreeMap<String, Arguments> {
    for (label, arguments) in upper {
        let merged = parent.entry(label).or_default();
        for (name, slot) in arguments {
            let slot = match merged.get(&name) {
                Some(below) => both(&slot, below, deep),
                None => slot,
            };
            merged.insert(name, slot);
        }
    }
    parent
}

/// Joins two values, unless one of them has none.
fn both(upper: &Slot, parent: &Slot, join: impl FnOnce(&Typed, &Typed) -> Typed) -> Slot {
    let outcome = match (&upper.outcome, &parent.outcome) {
        (Ok(upper), Ok(parent)) => Ok(Arc::new(join(upper, parent))),
        (Err(stop), _) | (_, Err(stop)) => Err(stop.clone()),
    };
    Slot {
        place: upper.place,
        outcome,
        causes: [upper.causes.as_slice(), &parent.causes].concat(),
    }
}

/// Joins two lists without duplicates, and without the items of the first that are `removed`.
fn joined_lists(first: &Slot, second: &Slot, removed: &[Slot]) -> Slot {
    both(first, second, |first, second| {
        let removed: Vec<&Value> = removed
            .iter()
            .filter_map(|slot| slot.outcome.as_ref().ok())
            .map(|value| &value.value)
            .collect();
        let (Some(mut list), Some(added)) =
            (first.clone().into_items(), second.clone().into_items())
        else {
            return Typed::unknown(Type::Any);
        };
        list.retain(|item| !removed.contains(&&item.value));
        for item in added {
            if !list.iter().any(|known| known.value == item.value) {
                list.push(item);
            }
        }
        Typed::tuple(list)
    })
}
