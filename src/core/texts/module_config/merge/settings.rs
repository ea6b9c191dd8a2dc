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
}

impl SettingsMerge {
    /// Takes the `terraform` blocks of a file.
    pub(super) fn file(&mut self, file: ModuleFile, blocks: Vec<Block>, flavor: Flavor) {
        // OpenTofu takes versions only from files that are its own (config rules 11.1).
        let counts_versions = !flavor.is_opentofu() || file.only == Some(Program::OpenTofu);
        let mut versions = Vec::new();
        let mut backend: Option<MergedBlock> = None;
        for item in blocks.into_iter().flat_map(|block| block.body.items) {
            match item {
                Item::Attribute(written) => {
                    let is_version = written.name.text == "required_version";
                    let argument = MergedAttribute {
                        file: file.id,
                        written,
                        replaces: Vec::new(),
                    };
                    if is_version {
                        versions.push(argument);
                    } else if !file.is_override() {
                        // `experiments` of override files are ignored (config rules 3.5).
                        self.merged.others.push(argument);
                    }
                }
                Item::Block(block) => match &*block.kind.text {
                    "required_providers" => self.required_providers(file, block),
                    // Within one file the cloud is stronger, wherever it stands.
                    "backend" if backend.is_some() => {}
                    "backend" | "cloud" => backend = Some(decode(file, block)),
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
                },
            }
        }
        if counts_versions {
            // Null counts, too: it leaves the base without any.
            if file.is_override() && !flavor.is_opentofu() && !versions.is_empty() {
                self.merged.required_versions.clear();
            }
            self.merged.required_versions.append(&mut versions);
        }
        if file.is_override() || self.merged.backend.is_none() {
            self.merged.backend = backend.or(self.merged.backend.take());
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
