//! `import` blocks: what they point to (config rules 4.9, 12.6).

use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Block};
use crate::module_config::decode::contents::{Contents, Declaration, ImportBlock, ImportTarget};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::addresses::{self, Address, AddressPart};
use crate::module_config::syntax::{self, names};
use crate::module_config::validate::bodies;

pub(crate) fn decode(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    bodies::check(&block.body, &language::IMPORT, faults);
    id(block, faults);
    let Some(to) = block.body.attribute("to") else {
        return;
    };
    // In JSON the target is a string that holds an expression.
    let Some(value) = syntax::as_expression(&to.value, faults) else {
        return;
    };
    let parts = addresses::parts(&value);
    let Some(address) = address(to, parts.as_deref(), faults) else {
        return;
    };
    let Some(target) = target(&address) else {
        return;
    };
    // With a computed key it is not known yet which instance it is.
    if parts.is_some_and(|parts| !addresses::is_computed(&parts)) {
        let (shown, place) = if faults.flavor.is_opentofu() {
            (address.with_keys(), block.header)
        } else {
            (address.without_keys(), to.value.span)
        };
        // There may be only one import of an instance.
        contents.declared.push(Declaration {
            kind: "import",
            labels: vec![shown, address.with_keys()],
            place: faults.place(place),
        });
    }
    let Ok(provider) = names::provider_argument(&block.body, faults) else {
        return;
    };
    contents.imports.push(ImportBlock {
        target,
        provider,
        place: faults.place(to.value.span),
        block: faults.place(block.header),
    });
}

/// Checks that exactly one argument says which object is imported.
fn id(block: &Block, faults: &mut Faults) {
    let id = block.body.attribute("id");
    let identity = block
        .body
        .attribute("identity")
        .filter(|_| faults.flavor != Flavor::Terraform1_11);
    let newer = "Invalid import block";
    match (id, identity, faults.flavor) {
        (Some(_), None, _) | (None, Some(_), _) => {}
        // The argument may be in a part that could not be read.
        (None, None, _) if faults.may_hide(block.body.span) => {}
        // `identity` is newer than Terraform 1.11, and the titles changed with it (config rules 11.3,
        // 12.6).
        (None, None, Flavor::Terraform1_11) => bodies::missing(&block.body, "id", faults),
        (None, None, Flavor::OpenTofu1_12) => {
            let remark = "id or identity is missing";
            faults.invalid("Missing required import argument", block.header, remark);
        }
        (None, None, _) => faults.invalid(newer, block.header, "id or identity is missing"),
        (Some(id), Some(identity), Flavor::OpenTofu1_12) => {
            let first = id.name.span.min(identity.name.span);
            let remark = "only one of id and identity may be set";
            faults.invalid("Conflicting import arguments", first, remark);
        }
        (Some(_), Some(_), _) => {
            faults.invalid(
                newer,
                block.header,
                "only one of id and identity may be set",
            );
        }
    }
}

/// Reads what is imported into; anything that is no resource is reported.
fn address<'e>(
    to: &'e Attribute,
    parts: Option<&[AddressPart<'e>]>,
    faults: &mut Faults,
) -> Option<Address<'e>> {
    const REMARK: &str = "write TYPE.NAME";
    let is_opentofu = faults.flavor.is_opentofu();
    let Some(parts) = parts else {
        let (title, place) = if is_opentofu {
            ("Invalid import address expression", to.value.span)
        } else {
            (NO_TARGET, to.span)
        };
        faults.invalid(title, place, REMARK);
        return None;
    };
    match addresses::instance(parts, faults.flavor) {
        Ok(address) => match address.resource.as_ref().map(|resource| resource.kind) {
            Some("resource") => Some(address),
            // OpenTofu adds the provider of data sources, too (config rules 4.9).
            Some(_) if is_opentofu => Some(address),
            None if is_opentofu => {
                faults.invalid("Invalid address", to.value.span, REMARK);
                None
            }
            _ => {
                faults.invalid(NO_TARGET, to.span, "only a resource can be imported");
                None
            }
        },
        Err((title, place)) => {
            let (title, place) = if is_opentofu {
                (title, place)
            } else {
                (NO_TARGET, to.span)
            };
            faults.invalid(title, place, REMARK);
            None
        }
    }
}

const NO_TARGET: &str = "Invalid import address";

fn target(address: &Address<'_>) -> Option<ImportTarget> {
    let resource = address.resource.as_ref()?;
    Some(ImportTarget {
        in_module: !address.modules.is_empty(),
        kind: resource.kind,
        type_name: resource.type_name.to_owned(),
        name: resource.name.to_owned(),
    })
}
