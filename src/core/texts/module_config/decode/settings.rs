//! Settings for the program itself: `terraform` and `language` blocks (config rules 3.5, 11).

use crate::diag::rules;
use crate::expr::Value;
use crate::flavor::Program;
use crate::hcl::tree::{Attribute, Block, Body};
use crate::module_config::decode::contents::{Contents, Declaration};
use crate::module_config::decode::{backends, providers};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::{names, references};
use crate::module_config::validate::bodies;
use crate::requirement::CoreVersion;
use crate::version::{CoreConstraints, Version};

/// Decodes a `terraform` block; each of its settings is collected on its own.
pub(crate) fn terraform(body: &Body, contents: &mut Contents, faults: &mut Faults) {
    let blocks = bodies::check(body, &language::SETTINGS, faults);
    // OpenTofu takes one part of these only from files that are its own, the others from nowhere.
    let is_foreign = faults.flavor.is_opentofu() && faults.only != Some(Program::OpenTofu);
    if let Some(argument) = body.attribute("required_version").filter(|_| !is_foreign) {
        contents
            .core_versions
            .extend(core_version(argument, faults));
    }
    if !faults.flavor.is_opentofu() {
        if let Some(argument) = body.attribute("experiments") {
            let remark = "only alpha versions have experiments";
            let title = "Module uses experimental features";
            faults.invalid(title, argument.name.span, remark);
        }
        // OpenTofu ignores this argument and `experiments` (config rules 11.1).
        if let Some(argument) = body.attribute("language") {
            edition(argument, "TF2021", faults);
        }
    }
    for (kind, block) in blocks {
        match kind {
            "required_providers" => providers::required_providers(block, contents, faults),
            "provider_meta" => provider_meta(block, contents, faults),
            _ => {
                // Whatever its labels, a setting may stand only once.
                contents.declared.push(Declaration {
                    kind,
                    labels: Vec::new(),
                    place: faults.place(block.header),
                });
                backends::decode(kind, block, contents, faults);
                if kind == "encryption" && faults.flavor.is_opentofu() {
                    let mut kept = Vec::new();
                    backends::keep_all(&block.body, faults, &mut kept);
                    contents
                        .encryption
                        .extend(kept.into_iter().map(|(_, late)| late));
                }
            }
        }
    }
}

/// Checks a language edition: a keyword, of which each program has one.
fn edition(argument: &Attribute, known: &str, faults: &mut Faults) {
    let title = match references::word(&argument.value) {
        Some(word) if word == known => return,
        Some(_) => "Unsupported language edition",
        None => "Invalid language edition",
    };
    let remark = format!("the only edition is {known}, without quotes");
    faults.invalid(title, argument.value.span, &remark);
}

/// Decodes a `provider_meta` block, which requires nothing.
fn provider_meta(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    // A missing label is reported with the table of the language.
    let [label] = &*block.labels else { return };
    let before = faults.errors();
    bodies::arguments_only(&block.body, faults);
    if faults.errors() > before {
        return;
    }
    for argument in block.body.attributes() {
        bodies::constant(&argument.value, faults);
    }
    if names::is_normal(&label.text, faults.flavor) {
        contents.declare("provider_meta", block, faults);
    } else {
        names::invalid_local_name(block.header, faults);
    }
}

/// Reads `required_version` and its like; null says nothing.
fn core_version(argument: &Attribute, faults: &mut Faults) -> Option<CoreVersion> {
    let span = argument.value.span;
    let value = providers::constant(argument, faults)?;
    if value == Value::Null {
        return None;
    }
    let text = providers::version_text(&value, span, faults)?;
    match CoreConstraints::parse_required(&text) {
        Ok(constraints) => Some(CoreVersion {
            constraints,
            file: faults.file,
            span,
        }),
        Err(error) => {
            // A pre-release is allowed in the version of a module, but not here (`version` rules 6).
            let title = if error.is_forbidden_prerelease() {
                "Invalid required_version constraint"
            } else {
                "Invalid version constraint"
            };
            faults.error(rules::CONSTRAINT_INVALID, title, span, &error.to_string());
            None
        }
    }
}

/// Decodes a `language` block of OpenTofu.
///
/// Whether the constraint in it is met is asked where versions of the program are asked for: like
/// `required_version` it never stops us.
pub(crate) fn language(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    let nested = bodies::check(&block.body, &language::LANGUAGE, faults);
    if let Some(argument) = block.body.attribute("edition") {
        edition(argument, "tofu2024", faults);
    }
    if let Some(argument) = block.body.attribute("experiments") {
        for item in references::list(&argument.value, faults) {
            let title = match references::word(item) {
                Some(_) => "Unknown experiment keyword",
                None => "Invalid experiment keyword",
            };
            faults.invalid(title, item.span, "there are no experiments");
        }
    }
    let mut is_stated = false;
    for (_, compatible_with) in nested {
        if is_stated {
            let remark = "one block holds all constraints";
            faults.invalid("Duplicate compatible_with block", block.header, remark);
            continue;
        }
        // Its other arguments are for other programs.
        let stated = compatible_with.body.attribute("opentofu");
        if let Some(version) = stated.and_then(|argument| core_version(argument, faults)) {
            is_stated = true;
            // Versions before 1.12 ignore the block, so that they never refuse the module.
            if version.constraints.allows(&Version::release(1, 11, 0)) {
                let remark = "only versions from 1.12 on read this";
                faults.odd("Ineffective version constraint", version.span, remark);
            }
            // In OpenTofu this counts beside `required_version` (config rules 11.2).
            contents.core_versions.push(version);
        }
    }
}
