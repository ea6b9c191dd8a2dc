//! Duplicates that the programs refuse.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, rules};
use crate::flavor::Flavor;
use crate::module_config::decode::contents::Declaration;
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;

/// Reports what stands more than once but may not (config rules 3.14).
pub(crate) fn duplicates<'a>(
    declared: impl IntoIterator<Item = &'a Declaration>,
    flavor: Flavor,
    found: &mut Vec<Diagnostic>,
) {
    let mut first: BTreeMap<(&str, &[String]), SourcePlace> = BTreeMap::new();
    for declaration in declared {
        let key = (declaration.kind, &*declaration.labels);
        let SourcePlace { file, span } = declaration.place;
        // Each further one is compared with the first, as the programs report it.
        if let Some(other) = first.get(&key) {
            let title = duplicate_title(declaration, flavor);
            flood::push(
                found,
                Diagnostic::error(rules::CONFIGURATION_INVALID, title)
                    .at(file, span, "declared again")
                    .see(other.file, other.span, "first declared here"),
            );
            continue;
        }
        first.insert(key, declaration.place);
        // A backend and a cloud exclude each other as well (config rules 3.6).
        let rival = match declaration.kind {
            "backend" => first.get(&("cloud", &[][..])),
            "cloud" => first.get(&("backend", &[][..])),
            _ => None,
        };
        if let Some(rival) = rival {
            let title = match flavor {
                Flavor::Terraform1_11 => "Both a backend and cloud configuration are present",
                Flavor::Terraform1_15 | Flavor::Terraform1_16 => {
                    "Conflicting 'cloud' and 'backend' configuration blocks are present"
                }
                Flavor::OpenTofu1_12 => "Both a backend and a cloud configuration are present",
            };
            flood::push(
                found,
                Diagnostic::error(rules::CONFIGURATION_INVALID, title)
                    .at(rival.file, rival.span, "only one of the two may be set")
                    .see(file, span, "the other one"),
            );
        }
    }
}

fn duplicate_title(declaration: &Declaration, flavor: Flavor) -> String {
    let Declaration { kind, labels, .. } = declaration;
    // Terraform 1.15 reworded the title for backends.
    let newer = matches!(flavor, Flavor::Terraform1_15 | Flavor::Terraform1_16);
    match *kind {
        "required_providers" => "Duplicate required providers configuration".to_owned(),
        "provider" => "Duplicate provider configuration".to_owned(),
        "variable" => "Duplicate variable declaration".to_owned(),
        "local" => "Duplicate local value definition".to_owned(),
        "output" => "Duplicate output definition".to_owned(),
        "module" => "Duplicate module call".to_owned(),
        "backend" if newer => "Duplicate 'backend' configuration block".to_owned(),
        "cloud" if !flavor.is_opentofu() => "Duplicate HCP Terraform configurations".to_owned(),
        "cloud" => "Duplicate cloud configurations".to_owned(),
        "ephemeral" if flavor.is_opentofu() => {
            format!(
                "Duplicate ephemeral resource \"{}\" configuration",
                labels[0]
            )
        }
        "resource" | "data" | "ephemeral" | "action" => {
            format!("Duplicate {kind} \"{}\" configuration", labels[0])
        }
        _ => format!("Duplicate {kind} configuration"),
    }
}
