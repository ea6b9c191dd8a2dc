//! `terraform` blocks: each setting is collected and overridden on its own (config rules 3.4 to 3.7).

use crate::flavor::{Flavor, Program};
use crate::hcl::tree::{Block, Item};
use crate::module_config::file::ModuleFile;
use crate::module_config::language;
use crate::module_config::merge::bodies::{decode, decode_body, merge_block, replace};
use crate::module_config::merge::merged::{MergedAttribute, MergedBlock, MergedSettings};

/// The settings of a module while its files are read, one after the other.
#[derive(Default)]
pub(super) struct SettingsMerge {
    merged: MergedSettings,
    /// The `encryption` blocks of override files.
    encryption: Vec<MergedBlock>,
    file: Option<(ModuleFile, Flavor)>,
    /// The constraints of the current file, which count only when all of it is known.
    required_versions: Vec<MergedAttribute>,
    backend: Option<MergedBlock>,
}

impl SettingsMerge {
    /// Begins with a file.
    pub(super) fn start(&mut self, file: ModuleFile, flavor: Flavor) {
        self.file = Some((file, flavor));
    }

    /// Takes a `terraform` block of the file.
    pub(super) fn block(&mut self, block: Block) {
        let Some((file, flavor)) = self.file else {
            return;
        };
        for item in block.body.items {
            let block = match item {
                Item::Block(block) => block,
                Item::Attribute(written) => {
                    let argument = MergedAttribute {
                        file: file.id,
                        written,
                        replaces: Vec::new(),
                    };
                    self.argument(file, flavor, argument);
                    continue;
                }
            };
            match &*block.kind.text {
                "required_providers" => self.required_providers(file, block),
                "backend" | "cloud" => {
                    let block = decode(file, block);
                    // Within one file the cloud is stronger, wherever it stands.
                    if self.backend.is_none() || block.kind == "cloud" {
                        self.backend = Some(block);
                    }
                }
                "encryption" if flavor.is_opentofu() => {
                    let block = decode(file, block);
                    match &mut self.merged.encryption {
                        Some(_) if file.is_override() => self.encryption.push(block),
                        base => drop(base.get_or_insert(block)),
                    }
                }
                // Ignored in override files (config rules 3.5).
                "provider_meta" if !file.is_override() => {
                    self.merged.provider_metas.push(decode(file, block));
                }
                _ => {}
            }
        }
    }

    fn argument(&mut self, file: ModuleFile, flavor: Flavor, argument: MergedAttribute) {
        match &*argument.written.name.text {
            // OpenTofu takes it only from files that are its own (config rules 11.1).
            "required_version" if flavor.is_opentofu() && file.only != Some(Program::OpenTofu) => {}
            "required_version" => self.required_versions.push(argument),
            // `experiments` of override files are ignored (config rules 3.5).
            _ if file.is_override() => {}
            _ => self.merged.others.push(argument),
        }
    }

    fn required_providers(&mut self, file: ModuleFile, block: Block) {
        let entries = &mut self.merged.required_providers;
        for entry in decode_body(file, block.body).into_attributes() {
            let name = &entry.written.name.text;
            match entries.get_mut(name) {
                Some(base) if file.is_override() => replace(base, entry),
                // A second entry in primary files is `Attribute redefined` (config rules 3.14).
                Some(_) => {}
                // Unlike resources, entries need no base (config rules 3.4).
                None => drop(entries.insert(name.clone(), entry)),
            }
        }
    }

    /// Ends with the file.
    pub(super) fn finish(&mut self) {
        let Some((file, flavor)) = self.file.take() else {
            return;
        };
        // Null counts, too: it leaves the base without any.
        let clears = file.is_override() && !flavor.is_opentofu();
        if clears && !self.required_versions.is_empty() {
            self.merged.required_versions.clear();
        }
        self.merged
            .required_versions
            .append(&mut self.required_versions);
        match (&mut self.merged.backend, self.backend.take()) {
            (base, Some(backend)) if file.is_override() => *base = Some(backend),
            (base, Some(backend)) => drop(base.get_or_insert(backend)),
            (_, None) => {}
        }
    }

    /// Returns what is known so far, of `encryption` without what override files say of it.
    pub(super) fn merged(&self) -> &MergedSettings {
        &self.merged
    }

    /// Returns what all files come to.
    pub(super) fn into_merged(mut self, flavor: Flavor) -> MergedSettings {
        if let Some(base) = &mut self.merged.encryption {
            for block in self.encryption {
                merge_block(base, block, &language::ENCRYPTION, flavor);
            }
        }
        self.merged
    }
}
