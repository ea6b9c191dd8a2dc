//! Settings for the program itself: `terraform` and `language` blocks (config rules 3.5, 11).

use crate::diag::rules;
use crate::expr::Value;
use crate::flavor::Program;
use crate::hcl::tree::{Attribute, Block, Body};
use crate::module_config::decode::contents::{Contents, Declaration};
use crate::module_config::decode::{backends, bodies, providers};
use crate::module_config::faults::Faults;
use crate::module_config::language;
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
    for (kind, block) in blocks {
        match kind {
            "required_providers" => providers::required_providers(block, contents, faults),
            // It requires nothing.
            "provider_meta" => {}
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
    for (_, compatible_with) in nested {
        // Its other arguments are for other programs.
        let stated = compatible_with.body.attribute("opentofu");
        if let Some(version) = stated.and_then(|argument| core_version(argument, faults)) {
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
