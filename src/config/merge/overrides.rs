//! Override files: they change what the primary files declare (rules 3).
//!
//! They are applied in byte order of their names, block by block, before any local name is
//! resolved. An argument that an override sets replaces the one of the base; an entry of
//! `required_providers` is replaced as a whole, so that one with only a version loses its source.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::decode::contents::{
    Call, CallVersion, Contents, Declaration, ProviderBlock, RequiredProvider, Resource, Source,
};
use crate::config::decode::duplicates;
use crate::config::decode::variables::Variable;
use crate::config::file::Place;
use crate::config::flood;
use crate::diag::Diagnostic;
use crate::flavor::Flavor;

/// Applies the contents of all override files, in their order.
pub(in crate::config) fn apply(
    base: &mut Contents,
    overrides: Vec<Contents>,
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) {
    let mut merge = Merge::of(base, flavor, found);
    for mut contents in overrides {
        merge.base.files.append(&mut contents.files);
        merge.declarations(&contents.declared);
        for entry in contents.required {
            merge.required(entry);
        }
        for block in contents.provider_blocks {
            merge.provider_block(block);
        }
        for resource in contents.resources {
            merge.resource(resource);
        }
        for call in contents.calls {
            merge.call(call);
        }
        for variable in contents.variables {
            merge.variable(variable);
        }
        // OpenTofu checks each file on its own (rules 11.1).
        if contents.sets_core_version && !flavor.is_opentofu() {
            merge.base.core_versions.clear();
        }
        merge.base.core_versions.extend(contents.core_versions);
        // One of them replaces whichever the base has.
        let (backend, faults) = (contents.backend, contents.backend_faults);
        merge.base.set_backend(backend, faults);
    }
    merge.versions_of_local_modules();
}

/// The contents that are changed, with the place of everything that can be.
struct Merge<'a> {
    base: &'a mut Contents,
    flavor: Flavor,
    found: &'a mut Vec<Diagnostic>,
    declared: BTreeSet<(&'static str, Vec<String>)>,
    required: BTreeMap<String, usize>,
    provider_blocks: BTreeMap<(String, Option<String>), usize>,
    resources: BTreeMap<(&'static str, String, String), usize>,
    calls: BTreeMap<String, usize>,
    variables: BTreeMap<String, usize>,
}

impl<'a> Merge<'a> {
    fn of(base: &'a mut Contents, flavor: Flavor, found: &'a mut Vec<Diagnostic>) -> Self {
        let declared = base.declared.iter();
        let required = base.required.iter().enumerate();
        let provider_blocks = base.provider_blocks.iter().enumerate();
        let resources = base.resources.iter().enumerate();
        let calls = base.calls.iter().enumerate();
        let variables = base.variables.iter().enumerate();
        Self {
            declared: declared.map(|one| (one.kind, one.labels.clone())).collect(),
            required: required
                .map(|(at, one)| (one.local_name.clone(), at))
                .collect(),
            provider_blocks: provider_blocks.map(|(at, one)| (one.key(), at)).collect(),
            resources: resources.map(|(at, one)| (one.key(), at)).collect(),
            calls: calls.map(|(at, one)| (one.name.clone(), at)).collect(),
            variables: variables.map(|(at, one)| (one.name.clone(), at)).collect(),
            base,
            flavor,
            found,
        }
    }

    /// Checks that what one file overrides is there, and what it may set only once.
    fn declarations(&mut self, declared: &[Declaration]) {
        // Newer versions have new titles for these, but not in override files (rules 3.6).
        let flavor = if self.flavor.is_opentofu() {
            self.flavor
        } else {
            Flavor::Terraform1_11
        };
        // A backend and a cloud in one file are no rivals here: the cloud counts.
        for kind in ["backend", "cloud", "encryption"] {
            let settings = declared.iter().filter(|one| one.kind == kind);
            duplicates::duplicates(settings, flavor, self.found);
        }
        for Declaration {
            kind,
            labels,
            place,
        } in declared
        {
            let Some(title) = missing_title(kind, labels, self.flavor) else {
                continue;
            };
            if !self.declared.contains(&(*kind, labels.clone())) {
                self.missing(title, *place);
            }
        }
    }

    fn required(&mut self, entry: RequiredProvider) {
        match self.required.get(&entry.local_name) {
            Some(at) => self.base.required[*at] = entry,
            None => {
                let at = self.base.required.len();
                self.required.insert(entry.local_name.clone(), at);
                self.base.required.push(entry);
            }
        }
    }

    /// Merges a `provider` block; the default one needs no base to count.
    fn provider_block(&mut self, block: ProviderBlock) {
        if let Some(at) = self.provider_blocks.get(&block.key()) {
            let base = &mut self.base.provider_blocks[*at];
            base.version = block.version.or(base.version.take());
            base.is_empty &= block.is_empty;
        } else if block.alias.is_none() {
            let at = self.base.provider_blocks.len();
            self.provider_blocks.insert(block.key(), at);
            self.base.provider_blocks.push(block);
        }
    }

    fn resource(&mut self, resource: Resource) {
        // Terraform passes over these without a word, OpenTofu does not (rules 3.9).
        if resource.kind == "ephemeral" && !self.flavor.is_opentofu() {
            return;
        }
        let Some(at) = self.resources.get(&resource.key()) else {
            return;
        };
        if resource.provider.is_some() {
            let base = &mut self.base.resources[*at];
            base.provider = resource.provider;
            base.place = resource.place;
        }
    }

    fn call(&mut self, call: Call) {
        let Some(at) = self.calls.get(&call.name) else {
            return;
        };
        let base = &mut self.base.calls[*at];
        if let Some(source) = call.source {
            base.source = Some(source);
            base.place = call.place;
        }
        match call.version {
            CallVersion::Absent => {}
            CallVersion::Null if self.flavor == Flavor::Terraform1_11 => {}
            version => base.version = version,
        }
        base.handover.merge(call.handover);
    }

    fn variable(&mut self, variable: Variable) {
        if let Some(at) = self.variables.get(&variable.name) {
            self.base.variables[*at].merge(variable, self.found);
        }
    }

    /// Checks what only now came together: the source of one file, the version of another.
    fn versions_of_local_modules(&mut self) {
        for call in &mut self.base.calls {
            let Some(Source::Local(source)) = &call.source else {
                continue;
            };
            match &call.version {
                CallVersion::Absent | CallVersion::Null => continue,
                CallVersion::Computed => {
                    call.source = Some(Source::Computed(source.clone()));
                    continue;
                }
                CallVersion::Stated(_) => {}
            }
            // OpenTofu reads sources after merging [R]; Terraform finds this out when installing.
            let (title, place) = if self.flavor.is_opentofu() {
                ("Invalid registry module source address", call.place)
            } else {
                ("Invalid version constraint", call.header)
            };
            let remark = "a local module has no versions";
            flood::push(
                self.found,
                Diagnostic::error("configuration-invalid", title)
                    .at(place.file, place.span, remark),
            );
        }
    }

    fn missing(&mut self, title: &str, place: Place) {
        flood::push(
            self.found,
            Diagnostic::error("configuration-invalid", title).at(
                place.file,
                place.span,
                "there is nothing to override",
            ),
        );
    }
}

/// Says what is wrong if there is no base, for whatever needs one.
fn missing_title(kind: &str, labels: &[String], flavor: Flavor) -> Option<&'static str> {
    Some(match kind {
        "provider" if labels.len() > 1 => "Missing base provider configuration for override",
        "resource" | "action" => "Missing resource to override",
        "data" => "Missing data resource to override",
        "ephemeral" if flavor.is_opentofu() => "Missing ephemeral resource to override",
        "variable" => "Missing base variable declaration to override",
        "local" => "Missing base local value definition to override",
        "output" => "Missing base output definition to override",
        "module" => "Missing module call to override",
        _ => return None,
    })
}
