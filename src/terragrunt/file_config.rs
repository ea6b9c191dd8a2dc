//! The configuration of one file, argument by argument, before it is merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::{Evaluation, Stage};
use super::include::refused;
use super::object::items;
use super::outcome::{Outcome, Place, Slot, Stop};
use super::schema::ATTRIBUTES;
use crate::expr::Value;
use crate::hcl::tree::{Attribute, Block};

/// The arguments of a block, or the keys of an object, by name.
pub(super) type Arguments = BTreeMap<String, Slot>;

/// The configuration of one file, or of several merged.
#[derive(Clone, Debug, Default)]
pub(super) struct FileConfig {
    /// The arguments of the `terraform` block, if there is one.
    pub(super) terraform: Option<Arguments>,
    /// Its nested blocks, by kind and label.
    pub(super) commands: BTreeMap<(String, String), Arguments>,
    pub(super) generate: BTreeMap<String, Generate>,
    pub(super) remote_state: Option<Group>,
    pub(super) dependency: BTreeMap<String, Arguments>,
    pub(super) dependencies: Option<Slot>,
    pub(super) feature: BTreeMap<String, Arguments>,
    /// `inputs` and the other attributes at the top.
    pub(super) attributes: Arguments,
    /// Blocks that are taken as a whole: `exclude`, `errors`, `engine`, `catalog`.
    pub(super) others: BTreeMap<String, Arguments>,
    pub(super) locals: Arguments,
    /// What Terragrunt refuses of all of it.
    pub(super) refused: Vec<Stop>,
}

/// The arguments of a `generate` block.
#[derive(Clone, Debug)]
pub(super) struct Generate {
    pub(super) arguments: Arguments,
    pub(super) place: Place,
}

/// Arguments that cannot be told apart where an attribute stands for the block.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) arguments: Outcome<Arguments>,
    pub(super) place: Place,
}

/// Which part of a configuration is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted<'w> {
    /// What decides the files that Terraform sees.
    Unit,
    /// One section.
    Section(&'w str),
    Everything,
}

impl Wanted<'_> {
    fn has(self, section: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Section(wanted) => wanted == section,
            Self::Unit => {
                ["terraform", "generate", "remote_state", "terraform_binary"].contains(&section)
            }
        }
    }
}

impl Evaluation<'_> {
    /// Evaluates what is needed of one file.
    pub(super) fn file_config(&mut self, at: usize, wanted: Wanted<'_>) -> FileConfig {
        let document = Arc::clone(&self.instances[at].document);
        let mut config = FileConfig::default();
        for attribute in document.body.attributes() {
            let name = attribute.name.text.as_str();
            if !ATTRIBUTES.contains(&name) || !wanted.has(name) {
                continue;
            }
            let slot = self.slot(at, attribute, Stage::Rest);
            match name {
                "remote_state" => {
                    config.remote_state = Some(Group {
                        place: slot.place,
                        arguments: parts(&slot),
                    });
                }
                "generate" => attribute_form(&slot, &mut config),
                _ => drop(config.attributes.insert(name.to_owned(), slot)),
            }
        }
        for block in document.body.blocks() {
            let kind = block.kind.text.as_str();
            if wanted.has(kind) {
                self.block_config(at, block, wanted, &mut config);
            }
        }
        if wanted.has("locals") {
            for name in self.local_names(at) {
                let (outcome, reasons) = self.traced(|this| this.local(at, &name));
                let place = self.place(at, Default::default());
                if let Some(outcome) = outcome {
                    let slot = Slot {
                        place,
                        outcome,
                        reasons,
                    };
                    config.locals.insert(name, slot);
                }
            }
        }
        config
    }

    fn block_config(
        &mut self,
        at: usize,
        block: &Block,
        wanted: Wanted<'_>,
        config: &mut FileConfig,
    ) {
        let place = self.place(at, block.header);
        let label = block.labels.first().map(|label| label.text.clone());
        match (block.kind.text.as_str(), label) {
            ("terraform", _) => {
                if config.terraform.is_some() {
                    let stop = refused("Duplicate terraform block", place, "only one is allowed");
                    config.refused.push(stop);
                    return;
                }
                let arguments = self.terraform_arguments(at, block);
                config.terraform = Some(arguments);
                let nested = block.body.blocks().filter(|_| wanted != Wanted::Unit);
                for inner in nested {
                    let label = inner.labels.first().map(|label| label.text.clone());
                    let key = (inner.kind.text.clone(), label.unwrap_or_default());
                    let arguments = self.arguments(at, inner, &[]);
                    config.commands.insert(key, arguments);
                }
            }
            ("generate", Some(label)) => {
                let arguments = self.arguments(at, block, &[]);
                let generate = Generate { arguments, place };
                if config.generate.contains_key(&label) {
                    config.refused.push(same_name(&label, place));
                }
                config.generate.insert(label, generate);
            }
            ("remote_state", _) => {
                // What is in a backend's configuration matters only to those who look at it.
                let arguments = self.arguments(at, block, &[]);
                config.remote_state = Some(Group {
                    arguments: Ok(arguments),
                    place,
                });
            }
            ("dependency", Some(label)) => {
                let arguments = self.arguments(at, block, &[]);
                config.dependency.insert(label, arguments);
            }
            ("dependencies", _) => {
                if let Some(paths) = block.body.attribute("paths") {
                    config.dependencies = Some(self.slot(at, paths, Stage::Rest));
                }
            }
            ("feature", Some(label)) => {
                let mut arguments = Arguments::new();
                if let Some(default) = block.body.attribute("default") {
                    let slot = self.slot(at, default, Stage::Base);
                    arguments.insert("default".to_owned(), slot);
                }
                config.feature.insert(label, arguments);
            }
            ("exclude" | "errors" | "engine" | "catalog", _) => {
                let arguments = self.arguments(at, block, &[]);
                config.others.insert(block.kind.text.clone(), arguments);
            }
            _ => {}
        }
    }

    /// The source has a stage of its own (rules 2.5).
    fn terraform_arguments(&mut self, at: usize, block: &Block) -> Arguments {
        let mut arguments = self.arguments(at, block, &["source"]);
        if let Some(source) = block.body.attribute("source") {
            let slot = self.slot(at, source, Stage::Source);
            arguments.insert("source".to_owned(), slot);
        }
        arguments
    }

    fn arguments(&mut self, at: usize, block: &Block, without: &[&str]) -> Arguments {
        let is_wanted = |one: &&Attribute| !without.contains(&one.name.text.as_str());
        let attributes = block.body.attributes().filter(is_wanted);
        let slots = attributes.map(|one| (one.name.text.clone(), self.slot(at, one, Stage::Rest)));
        slots.collect()
    }
}

/// Takes the value of an attribute apart that stands for a block.
fn parts(slot: &Slot) -> Outcome<Arguments> {
    let value = slot.outcome.clone()?;
    let Value::Object(_) = value.value else {
        let unknown = Slot::unknown(slot);
        return Err(match value.value {
            Value::Unknown => Stop::uncertain(slot.place, &unknown.reason),
            _ => refused("Unsuitable value type", slot.place, "an object is required"),
        });
    };
    let slots = items(&value).into_iter().map(|(name, item)| {
        let reasons = slot.reasons.clone();
        let known = Slot::known(slot.place, item);
        (name, Slot { reasons, ..known })
    });
    Ok(slots.collect())
}

fn attribute_form(slot: &Slot, config: &mut FileConfig) {
    let place = slot.place;
    let labels = match parts(slot) {
        Ok(labels) => labels,
        Err(stop) => {
            config.refused.push(stop);
            return;
        }
    };
    for (label, inner) in labels {
        match parts(&inner) {
            Ok(arguments) => {
                let generate = Generate { arguments, place };
                config.generate.insert(label, generate);
            }
            Err(stop) => config.refused.push(stop),
        }
    }
}

/// Two blocks with one label are refused, whoever has them (rules 3.3).
pub(super) fn same_name(label: &str, place: Place) -> Stop {
    let note = format!("another generate block is named {label:?}, too");
    refused("Detected generate blocks with the same name", place, &note)
}
