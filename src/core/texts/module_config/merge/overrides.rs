//! From what each file declares to what a module declares (config rules 3).
//!
//! Which argument counts is known by then (`standing`). Here its decoded value moves to the block that
//! it overrides, before any local name is resolved; and what only shows when files come together is
//! reported: an override without a base, a version for a local module.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::module::ModuleSource;
use crate::diag::{Diagnostic, rules};
use crate::flavor::Flavor;
use crate::module_config::decode::contents::{
    Call, CallVersion, Contents, Declaration, ProviderBlock, RequiredProvider, Resource, Source,
};
use crate::module_config::decode::duplicates;
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;
use crate::module_config::merge::standing::EffectivePlaces;
use crate::requirement::CoreVersion;

/// Applies the contents of all override files, in their order.
pub(crate) fn apply(
    base: &mut Contents,
    overrides: Vec<Contents>,
    standing: &EffectivePlaces,
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) {
    if !overrides.is_empty() {
        let mut merge = OverrideMerge {
            declared: base
                .declared
                .iter()
                .map(|declaration| (declaration.kind, declaration.labels.clone()))
                .collect(),
            required: indexes(&base.required, |entry| entry.local_name.clone()),
            provider_blocks: indexes(&base.provider_blocks, ProviderBlock::key),
            resources: indexes(&base.resources, Resource::key),
            calls: indexes(&base.calls, |call| call.name.clone()),
            variables: indexes(&base.variables, |variable| variable.name.clone()),
            locals: indexes(&base.locals, |local| local.name.clone()),
            base,
            standing,
            flavor,
            found,
        };
        for contents in overrides {
            merge.file(contents);
        }
        // Whether override files replace or add depends on the flavor (config rules 3.5).
        base.core_versions.retain(|version| {
            let CoreVersion { file, span, .. } = *version;
            standing.has(SourcePlace { file, span })
        });
    }
    versions_without_registry(base, flavor, found);
}

/// The contents that are changed, with the place of everything that can be.
struct OverrideMerge<'a> {
    base: &'a mut Contents,
    standing: &'a EffectivePlaces,
    flavor: Flavor,
    found: &'a mut Vec<Diagnostic>,
    declared: BTreeSet<(&'static str, Vec<String>)>,
    required: BTreeMap<String, usize>,
    provider_blocks: BTreeMap<(String, Option<String>), usize>,
    resources: BTreeMap<(&'static str, String, String), usize>,
    calls: BTreeMap<String, usize>,
    variables: BTreeMap<String, usize>,
    locals: BTreeMap<String, usize>,
}

impl OverrideMerge<'_> {
    fn file(&mut self, mut contents: Contents) {
        self.declarations(&contents.declared);
        for entry in contents.required {
            self.required(entry);
        }
        for block in contents.provider_blocks {
            self.provider_block(block);
        }
        for resource in contents.resources {
            self.resource(resource);
        }
        for call in contents.calls {
            self.call(call);
        }
        for variable in contents.variables {
            // Decoded values are merged here, file after file: see the steps of config rules 3.13.
            if let Some(index) = self.variables.get(&variable.name) {
                self.base.variables[*index].merge(variable, self.found);
            }
        }
        // What is left of an encryption that is overridden is not known here.
        if !contents.encryption.is_empty() {
            self.base.encryption.clear();
        }
        for local in contents.locals {
            // A local value without a base is reported with the declarations (config rules 3.8).
            if let Some(at) = self.locals.get(&local.name) {
                self.base.locals[*at] = local;
            }
        }
        self.base.core_versions.append(&mut contents.core_versions);
        if contents
            .files
            .iter()
            .any(|file| self.standing.backend == Some(file.id))
        {
            self.base.set_backend(contents.backend);
        }
        self.base.files.append(&mut contents.files);
    }

    /// Checks that what one file overrides is there, and what it may set only once.
    fn declarations(&mut self, declared: &[Declaration]) {
        // Newer versions have new titles for these, but not in override files (config rules 3.6).
        let flavor = if self.flavor.is_opentofu() {
            self.flavor
        } else {
            Flavor::Terraform1_11
        };
        // A backend and a cloud in one file are no rivals here: the cloud counts.
        for kind in ["backend", "cloud", "encryption"] {
            let settings = declared
                .iter()
                .filter(|declaration| declaration.kind == kind);
            duplicates::duplicates(settings, flavor, self.found);
        }
        for Declaration {
            kind,
            labels,
            place,
        } in declared
        {
            let title = match *kind {
                "provider" if labels.len() > 1 => {
                    "Missing base provider configuration for override"
                }
                "resource" | "action" => "Missing resource to override",
                "data" => "Missing data resource to override",
                "ephemeral" if self.flavor.is_opentofu() => {
                    "Missing ephemeral resource to override"
                }
                "variable" => "Missing base variable declaration to override",
                "local" => "Missing base local value definition to override",
                "output" => "Missing base output definition to override",
                "module" => "Missing module call to override",
                // The others need no base.
                _ => continue,
            };
            if !self.declared.contains(&(*kind, labels.clone())) {
                flood::push(
                    self.found,
                    Diagnostic::error(rules::CONFIGURATION_INVALID, title).at(
                        place.file,
                        place.span,
                        "there is nothing to override",
                    ),
                );
            }
        }
    }

    fn required(&mut self, entry: RequiredProvider) {
        if !self.standing.has(entry.stated.place) {
            return;
        }
        match self.required.get(&entry.local_name) {
            // As a whole: an entry with `version` alone loses the source of the base (config rules
            // 3.4).
            Some(at) => self.base.required[*at] = entry,
            None => {
                let at = self.base.required.len();
                self.required.insert(entry.local_name.clone(), at);
                self.base.required.push(entry);
            }
        }
    }

    fn provider_block(&mut self, block: ProviderBlock) {
        if let Some(at) = self.provider_blocks.get(&block.key()) {
            let base = &mut self.base.provider_blocks[*at];
            if let Some(version) = block.version
                && self.standing.has(version.place)
            {
                base.version = Some(version);
            }
        // A default configuration needs no base: an override file may be the first to state it (config
        // rules 3.8).
        } else if self.standing.has_block(block.place) {
            let at = self.base.provider_blocks.len();
            self.provider_blocks.insert(block.key(), at);
            self.base.provider_blocks.push(block);
        }
    }

    fn resource(&mut self, resource: Resource) {
        let Some(at) = self.resources.get(&resource.key()) else {
            return;
        };
        if let Some(provider) = resource.provider
            && self.standing.has(provider.place)
        {
            let base = &mut self.base.resources[*at];
            base.place = provider.place;
            base.provider = Some(provider);
        }
    }

    fn call(&mut self, call: Call) {
        let Some(at) = self.calls.get(&call.name) else {
            return;
        };
        let base = &mut self.base.calls[*at];
        if call.source.is_some() && self.standing.has(call.place) {
            base.source = call.source;
            base.source_late = call.source_late;
            base.place = call.place;
        }
        if call
            .version_place
            .is_some_and(|place| self.standing.has(place))
        {
            base.version = call.version;
            base.version_late = call.version_late;
            base.version_place = call.version_place;
        }
        let standing = self.standing;
        base.arguments.extend(call.arguments);
        base.arguments
            .retain(|argument| standing.has(argument.place));
    }
}

/// Maps the key of each declaration to its index.
fn indexes<T, K: Ord>(declarations: &[T], key: impl Fn(&T) -> K) -> BTreeMap<K, usize> {
    declarations
        .iter()
        .enumerate()
        .map(|(index, declaration)| (key(declaration), index))
        .collect()
}

/// Checks that a source of one file and a version of another one fit together (config rules 5.14).
fn versions_without_registry(base: &Contents, flavor: Flavor, found: &mut Vec<Diagnostic>) {
    for call in &base.calls {
        let remark = match &call.source {
            Some(Source::Local { .. }) => "a local module has no versions",
            Some(Source::Remote {
                module: ModuleSource::Remote(_),
                ..
            }) => "only a module of a registry has versions",
            _ => continue,
        };
        if !matches!(call.version, CallVersion::Stated(_)) {
            continue;
        }
        // OpenTofu reads sources after merging; Terraform finds this out when installing.
        let (title, place) = if flavor.is_opentofu() {
            ("Invalid registry module source address", call.place)
        } else {
            ("Invalid version constraint", call.header)
        };
        flood::push(
            found,
            Diagnostic::error(rules::CONFIGURATION_INVALID, title)
                .at(place.file, place.span, remark),
        );
    }
}
