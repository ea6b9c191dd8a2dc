//! The configuration of one file, argument by argument, before it is merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evaluation::{Evaluation, ExprContext, label};
use super::outcome::{FilePlace, Outcome, Slot, Stop};
use crate::expr::Value;
use crate::hcl::tree::{Attribute, Block};

/// The arguments of a block, or the attributes of an object, by name.
pub(super) type Arguments = BTreeMap<String, Slot>;

/// The configuration of one file, or of several merged.
#[derive(Clone, Debug, Default)]
pub(super) struct FileConfig {
    /// The arguments of the `terraform` block, if there is one.
    pub(super) terraform: Option<Arguments>,
    /// The nested blocks of `terraform`, by kind and label.
    pub(super) commands: BTreeMap<(String, String), Arguments>,
    pub(super) generate: BTreeMap<String, GenerateBlock>,
    pub(super) remote_state: Option<RemoteState>,
    pub(super) dependency: BTreeMap<String, Arguments>,
    pub(super) dependencies: Option<Slot>,
    pub(super) feature: BTreeMap<String, Arguments>,
    /// `inputs` and the other attributes at the top.
    pub(super) attributes: Arguments,
    /// Blocks that are taken as a whole: `exclude`, `errors`, `engine`, `catalog`.
    pub(super) others: BTreeMap<String, Arguments>,
    pub(super) locals: Arguments,
}

/// A `generate` block, or an attribute of the object `generate`.
#[derive(Clone, Debug)]
pub(super) struct GenerateBlock {
    pub(super) arguments: Arguments,
    pub(super) place: FilePlace,
}

/// The block `remote_state`, or the attribute instead of it, which may be unknown as a whole.
#[derive(Clone, Debug)]
pub(super) struct RemoteState {
    pub(super) arguments: Outcome<Arguments>,
    pub(super) place: FilePlace,
}

/// The part of a configuration that is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted<'w> {
    /// The part that decides the files that Terraform sees.
    Unit,
    /// One section, by the name of its block or attribute.
    Section(&'w str),
    Everything,
}

impl Wanted<'_> {
    fn has(self, section: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Section(wanted) => wanted == section,
            // Inputs and dependencies decide no file: an error in them changes nothing (rules 2.4).
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
            if !wanted.has(name) {
                continue;
            }
            let slot = self.slot(at, attribute, ExprContext::Rest);
            match name {
                "remote_state" => {
                    config.remote_state = Some(RemoteState {
                        place: slot.place,
                        arguments: parts(&slot),
                    });
                }
                "generate" => config.add_generated(&slot),
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
                // A local value is computed for others, too: what made it unknown is noted for this one alone.
                let (outcome, causes) = self.traced(|this| this.local(at, &name));
                let place = self.place(at, Default::default());
                if let Some(outcome) = outcome {
                    let slot = Slot {
                        place,
                        outcome,
                        causes,
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
        let first_label = block.labels.first().map(|label| label.text.clone());
        match (block.kind.text.as_str(), first_label) {
            ("terraform", _) => match &mut config.terraform {
                // With two blocks it is open which source counts.
                Some(first) => {
                    let title = "Duplicate terraform block";
                    let stop = Stop::invalid(title, place, "only one is allowed");
                    first.insert("source".to_owned(), Slot::stopped(place, stop));
                }
                None => self.terraform_config(at, block, wanted, config),
            },
            ("generate", Some(label)) => {
                let arguments = self.arguments(at, block, &[]);
                let generate = GenerateBlock { arguments, place };
                config.generate.insert(label, generate);
            }
            ("remote_state", _) => {
                // Unknown arguments of a backend are no problem until an expression needs them.
                let arguments = self.arguments(at, block, &[]);
                config.remote_state = Some(RemoteState {
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
                    config.dependencies = Some(self.slot(at, paths, ExprContext::Rest));
                }
            }
            ("feature", Some(label)) => {
                let mut arguments = Arguments::new();
                if let Some(default) = block.body.attribute("default") {
                    // A default knows functions and `values` only (rules 2.9).
                    let slot = self.slot(at, default, ExprContext::Base);
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

    fn terraform_config(
        &mut self,
        at: usize,
        block: &Block,
        wanted: Wanted<'_>,
        config: &mut FileConfig,
    ) {
        let mut arguments = self.arguments(at, block, &["source"]);
        // The source has a context of its own (rules 2.5).
        if let Some(source) = block.body.attribute("source") {
            let slot = self.slot(at, source, ExprContext::Source);
            arguments.insert("source".to_owned(), slot);
        }
        config.terraform = Some(arguments);
        if wanted == Wanted::Unit {
            // Hooks and extra arguments decide nothing of the files.
            return;
        }
        for inner in block.body.blocks() {
            let key = (inner.kind.text.clone(), label(inner));
            let arguments = self.arguments(at, inner, &[]);
            config.commands.insert(key, arguments);
        }
    }

    /// Evaluates the arguments of a block, except those named in `without`.
    fn arguments(&mut self, at: usize, block: &Block, without: &[&str]) -> Arguments {
        let is_wanted = |attribute: &&Attribute| !without.contains(&attribute.name.text.as_str());
        block
            .body
            .attributes()
            .filter(is_wanted)
            .map(|attribute| {
                let slot = self.slot(at, attribute, ExprContext::Rest);
                (attribute.name.text.clone(), slot)
            })
            .collect()
    }
}

impl FileConfig {
    /// Adds the files of an attribute `generate`, by label.
    fn add_generated(&mut self, slot: &Slot) {
        let place = slot.place;
        // A file of unknown arguments has an unknown path.
        let unknown = |stop| Arguments::from([("path".to_owned(), Slot::stopped(place, stop))]);
        match parts(slot) {
            Ok(files) => {
                for (label, file) in files {
                    let arguments = parts(&file).unwrap_or_else(unknown);
                    self.generate
                        .insert(label, GenerateBlock { arguments, place });
                }
            }
            Err(stop) => {
                let arguments = unknown(stop);
                self.generate
                    .insert(String::new(), GenerateBlock { arguments, place });
            }
        }
    }
}

/// Splits the value of an attribute that replaces a block into arguments.
fn parts(slot: &Slot) -> Outcome<Arguments> {
    let value = slot.outcome.clone()?;
    match value.value {
        Value::Object(_) => {}
        Value::Unknown => return Err(Stop::uncertain(slot.place, &slot.unknown().reason)),
        _ => {
            let title = "Unsuitable value type";
            return Err(Stop::invalid(title, slot.place, "an object is required"));
        }
    }
    let argument = |(name, item)| {
        let slot = Slot {
            place: slot.place,
            outcome: Ok(Arc::new(item)),
            causes: slot.causes.clone(),
        };
        (name, slot)
    };
    Ok(value.attributes().into_iter().map(argument).collect())
}
