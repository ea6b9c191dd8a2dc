//! Merging of a unit with its parents (rules 3.3).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::{Evaluation, Role, Sharing, Unread};
use super::file_config::{Arguments, FileConfig, Wanted, same_name};
use super::include::Strategy;
use super::object::items;
use super::outcome::{Outcome, Slot, Stop};
use crate::expr::{Type, Typed, Value};

/// The file beside a unit that is merged over it.
const AUTOINCLUDE: &str = "terragrunt.autoinclude.hcl";

impl Evaluation<'_> {
    /// Evaluates what is needed of a unit, its parents included.
    pub(super) fn merged(&mut self, at: usize, wanted: Wanted<'_>) -> Outcome<FileConfig> {
        let includes = self.includes(at)?;
        let mut config = self.file_config(at, wanted);
        for include in includes.iter().rev() {
            if include.strategy == Strategy::None {
                continue;
            }
            let parent = self.file_config(include.parent, wanted);
            config = over(config, parent, include.strategy);
        }
        if let Some(upper) = self.autoinclude(at)? {
            let locals = std::mem::take(&mut config.locals);
            let upper = self.file_config(upper, wanted);
            config = over(upper, config, Strategy::Shallow);
            config.locals = locals;
        }
        Ok(config)
    }

    fn autoinclude(&mut self, at: usize) -> Outcome<Option<usize>> {
        let instance = &self.instances[at];
        let path = instance.unit_dir.join(AUTOINCLUDE);
        let is_unit = super::is_unit_file(&instance.document.path, self.around);
        if !is_unit {
            return Ok(None);
        }
        let place = self.place(at, Default::default());
        match self.document(&path, Sharing::Own) {
            Ok((document, file)) => {
                let upper = self.add(document, file, Role::Autoinclude);
                match self.faults(upper).into_iter().next() {
                    Some(fault) => Err(Stop::of_fault(fault)),
                    None => Ok(Some(upper)),
                }
            }
            Err(Unread::Missing) => Ok(None),
            Err(unread) => Err(unread.stop("File cannot be read", &path, place)),
        }
    }
}

/// Lays a configuration over that of a parent.
fn over(upper: FileConfig, parent: FileConfig, strategy: Strategy) -> FileConfig {
    let is_deep = strategy == Strategy::Deep;
    let mut refused = upper.refused;
    refused.extend(parent.refused);
    if !is_deep {
        let labels = upper.generate.iter();
        let doubles = labels.filter(|(label, _)| parent.generate.contains_key(*label));
        refused.extend(doubles.map(|(label, one)| same_name(label, one.place)));
    }
    let dependencies = match (upper.dependencies, parent.dependencies) {
        (Some(upper_paths), Some(parent_paths)) => {
            // Deep merging takes out what replaced dependencies of the parent name.
            let replaced = parent.dependency.iter();
            let replaced =
                replaced.filter(|(label, _)| is_deep && upper.dependency.contains_key(*label));
            let gone: Vec<Slot> = replaced
                .filter_map(|(_, arguments)| arguments.get("config_path").cloned())
                .collect();
            Some(joined_lists(&parent_paths, &upper_paths, &gone))
        }
        (upper, parent) => upper.or(parent),
    };
    let (dependency, feature) = match is_deep {
        true => (
            deep_blocks(upper.dependency, parent.dependency),
            deep_blocks(upper.feature, parent.feature),
        ),
        false => (
            laid(upper.dependency, parent.dependency),
            laid(upper.feature, parent.feature),
        ),
    };
    FileConfig {
        terraform: terraform(upper.terraform, parent.terraform, strategy),
        commands: laid(upper.commands, parent.commands),
        generate: laid(upper.generate, parent.generate),
        remote_state: upper.remote_state.or(parent.remote_state),
        dependency,
        dependencies,
        feature,
        attributes: attributes(upper.attributes, parent.attributes, strategy),
        others: laid(upper.others, parent.others),
        locals: upper.locals,
        refused,
    }
}

/// The upper one counts where both have a name.
fn laid<K: Ord, T>(upper: BTreeMap<K, T>, mut parent: BTreeMap<K, T>) -> BTreeMap<K, T> {
    parent.extend(upper);
    parent
}

/// Arguments that are null count as not set.
fn set(arguments: Arguments) -> Arguments {
    let is_null = |slot: &Slot| slot.outcome.as_ref().is_ok_and(|value| value.is_null());
    arguments
        .into_iter()
        .filter(|(_, slot)| !is_null(slot))
        .collect()
}

fn terraform(
    upper: Option<Arguments>,
    parent: Option<Arguments>,
    strategy: Strategy,
) -> Option<Arguments> {
    let (mut upper, mut parent) = match (upper, parent) {
        (Some(upper), Some(parent)) => (set(upper), set(parent)),
        (upper, parent) => return upper.or(parent),
    };
    for name in ["include_in_copy", "exclude_from_copy"] {
        // Shallow merging loses the upper list (rules 3.3).
        let own = upper.remove(name);
        if strategy != Strategy::Deep {
            continue;
        }
        let list = match (own, parent.remove(name)) {
            (Some(own), Some(below)) => Some(joined_lists(&own, &below, &[])),
            (own, below) => own.or(below),
        };
        parent.extend(list.map(|list| (name.to_owned(), list)));
    }
    Some(laid(upper, parent))
}

fn attributes(upper: Arguments, parent: Arguments, strategy: Strategy) -> Arguments {
    let (own, below) = (upper.get("inputs").cloned(), parent.get("inputs").cloned());
    let mut merged = laid(set(upper), set(parent));
    if let (Some(own), Some(below)) = (own, below) {
        let inputs = both(&own, &below, |own, below| match strategy {
            Strategy::Deep => deep(own, below),
            _ => shallow(own, below),
        });
        merged.insert("inputs".to_owned(), inputs);
    }
    merged
}

fn deep_blocks(
    upper: BTreeMap<String, Arguments>,
    mut parent: BTreeMap<String, Arguments>,
) -> BTreeMap<String, Arguments> {
    for (label, own) in upper {
        let below = parent.remove(&label).unwrap_or_default();
        let mut merged = laid(own.clone(), below.clone());
        for (name, own) in &own {
            if let Some(below) = below.get(name) {
                merged.insert(name.clone(), both(own, below, deep));
            }
        }
        parent.insert(label, merged);
    }
    parent
}

/// Puts two values together, if both are there.
fn both(own: &Slot, below: &Slot, join: impl FnOnce(&Typed, &Typed) -> Typed) -> Slot {
    let outcome = match (&own.outcome, &below.outcome) {
        (Ok(own), Ok(below)) => Ok(Arc::new(join(own, below))),
        (Err(stop), _) | (_, Err(stop)) => Err(stop.clone()),
    };
    let reasons = own.reasons.iter().chain(&below.reasons);
    Slot {
        place: own.place,
        outcome,
        reasons: reasons.cloned().collect(),
    }
}

/// Joins two lists; what is in the first already, or among `gone`, is left out.
fn joined_lists(first: &Slot, second: &Slot, gone: &[Slot]) -> Slot {
    both(first, second, |first, second| {
        let gone = gone.iter().filter_map(|slot| slot.outcome.as_ref().ok());
        let gone: Vec<&Value> = gone.map(|value| &value.value).collect();
        let (Some(mut list), Some(others)) =
            (first.clone().into_items(), second.clone().into_items())
        else {
            return Typed::unknown(Type::Any);
        };
        list.retain(|item| !gone.contains(&&item.value));
        for other in others {
            if !list.iter().any(|item| item.value == other.value) {
                list.push(other);
            }
        }
        Typed::tuple(list)
    })
}

/// Merges objects by key.
fn shallow(own: &Typed, below: &Typed) -> Typed {
    match (&own.value, &below.value) {
        (Value::Object(_), Value::Object(_)) => {
            let mut merged = items(below);
            merged.extend(items(own));
            Typed::object(merged)
        }
        (Value::Unknown, _) | (_, Value::Unknown) => Typed::unknown(Type::Any),
        _ => own.clone(),
    }
}

/// Merges objects recursively, and puts the own list behind that of the parent.
pub(super) fn deep(own: &Typed, below: &Typed) -> Typed {
    match (&own.value, &below.value) {
        (Value::Object(_), Value::Object(_)) => {
            let mut merged = items(below);
            for (name, item) in items(own) {
                let item = match merged.get(&name) {
                    Some(known) => deep(&item, known),
                    None => item,
                };
                merged.insert(name, item);
            }
            Typed::object(merged)
        }
        (Value::Tuple(_), Value::Tuple(_)) => {
            let list = below.clone().into_items().unwrap_or_default();
            let own = own.clone().into_items().unwrap_or_default();
            Typed::tuple(list.into_iter().chain(own).collect())
        }
        (Value::Unknown, _) | (_, Value::Unknown) => Typed::unknown(Type::Any),
        _ => own.clone(),
    }
}
