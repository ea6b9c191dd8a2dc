//! Merged modules against requirements: both come from the same files, each on its own way.

use std::sync::Arc;

use lockctl::expr;
use lockctl::flavor::Flavor;
use lockctl::hcl::tree::{ExprKind, ObjectKey};
use lockctl::module_config::{MergedAttribute, MergedBlock, MergedModule, SourcePlace};
use lockctl::requirement::{Requirement, RequirementOrigin};

use super::judge::Said;
use super::recorded::{ReadCase, read_cases};

/// Whatever requires a provider stands where the merged module has it, override files or not.
#[test]
fn requirements_stand_where_merged_modules_have_them() {
    let (mut compared, mut overridden) = (0, 0);
    let mut faults = Vec::new();
    for ReadCase {
        name, flavor, said, ..
    } in read_cases()
    {
        // What is wrong counts for nothing in either.
        if said.loaded.requirements.faulty {
            continue;
        }
        for (module, places) in modules(said, *flavor) {
            for requirement in places {
                compared += 1;
                let at = SourcePlace {
                    file: requirement.file,
                    span: requirement.span,
                };
                let known = sites(&module, requirement.origin);
                if !known.contains(&at) {
                    faults.push(format!("{name} {flavor}: {requirement:?}"));
                }
            }
            let entries = module.settings.required_providers.values();
            overridden += entries.filter(|entry| !entry.replaces.is_empty()).count();
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Each entry is compared, and some of them stand in override files.
    assert!(compared > 1000, "{compared} requirements");
    assert!(overridden > 20, "{overridden} entries");
}

/// Returns every module that was seen with what it requires, and checks that all entries of
/// `required_providers` require something.
fn modules(said: &Said, flavor: Flavor) -> Vec<(Arc<MergedModule>, Vec<&Requirement>)> {
    let all = said.loaded.requirements.providers.values().flatten();
    let all: Vec<&Requirement> = all
        .filter(|one| one.origin != RequirementOrigin::State)
        .collect();
    let nodes = said.loaded.modules.iter().filter(|node| node.dir.is_some());
    let found = nodes.map(|node| {
        let module = node.merged(&said.texts, flavor);
        let own = all.iter().filter(|one| one.module == node.path);
        let own: Vec<&Requirement> = own.copied().collect();
        let entries = own
            .iter()
            .filter(|one| one.origin == RequirementOrigin::RequiredProviders);
        assert_eq!(entries.count(), module.settings.required_providers.len());
        (module, own)
    });
    found.collect()
}

/// Returns every place that may require a provider in some way.
fn sites(module: &MergedModule, origin: RequirementOrigin) -> Vec<SourcePlace> {
    let mut found = Vec::new();
    match origin {
        RequirementOrigin::RequiredProviders => {
            let entries = module.settings.required_providers.values();
            found.extend(entries.map(version_of_entry));
        }
        RequirementOrigin::ProviderBlock => {
            for block in module
                .blocks
                .iter()
                .filter(|block| block.kind == "provider")
            {
                let version = block.body.attribute("version");
                let version = version.filter(|one| one.written.value.kind != ExprKind::Null);
                found.push(version.map_or(block.header, value_place));
            }
        }
        RequirementOrigin::Implied => {
            for block in &module.blocks {
                let nested = block.body.blocks();
                let data = nested.filter(|nested| block.kind == "check" && nested.kind == "data");
                found.extend(data.map(implied));
                found.push(implied(block));
            }
        }
        RequirementOrigin::State => {}
    }
    found
}

/// Finds the version in an entry: the value itself, a part of it, or just the name.
fn version_of_entry(entry: &MergedAttribute) -> SourcePlace {
    let ExprKind::Object(items) = &entry.written.value.kind else {
        return value_place(entry);
    };
    let mut versions = items.iter().filter(|item| match &item.key {
        ObjectKey::Name(word) => word.text == "version",
        ObjectKey::Expr(key) => expr::constant(entry.file, key)
            .is_ok_and(|key| key.to_text().as_deref() == Some("version")),
    });
    match versions.next_back() {
        Some(version) => SourcePlace {
            file: entry.file,
            span: version.value.span,
        },
        None => entry.name_place(),
    }
}

fn value_place(argument: &MergedAttribute) -> SourcePlace {
    SourcePlace {
        file: argument.file,
        span: argument.written.value.span,
    }
}

/// Finds what says which provider manages a block: an argument, or its type.
fn implied(block: &MergedBlock) -> SourcePlace {
    let says = match &*block.kind {
        "import" => block.body.attribute("to"),
        _ => block.body.attribute("provider"),
    };
    match (says, block.labels.first()) {
        (Some(argument), _) => value_place(argument),
        (None, Some(label)) => SourcePlace {
            file: block.header.file,
            span: label.span,
        },
        (None, None) => block.header,
    }
}
