//! Stand-ins in test files: `mock_provider` and `override_…` blocks (config rules 6.2, 12.8).
//!
//! They require nothing, whatever names they use.

use crate::module_config::syntax::names::ProviderKey;
use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Span, rules};
use crate::expr::Value;
use crate::hcl::tree::{Attribute, Block, Body};
use crate::module_config::decode::{providers, statements};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::{addresses, names, references};
use crate::module_config::validate::bodies;

/// Checks a `mock_provider` block; returns what makes it one of its kind.
pub(crate) fn provider(block: &Block, faults: &mut Faults) -> Option<ProviderKey> {
    let [label] = &*block.labels else { return None };
    let blocks = bodies::check(&block.body, &language::MOCK_PROVIDER, faults);
    if !names::is_normal(&label.text, faults.flavor) {
        names::invalid_local_name(block.header, faults);
        return None;
    }
    let title = if faults.flavor.is_opentofu() {
        "Invalid mock provider configuration alias"
    } else {
        "Invalid provider configuration alias"
    };
    let alias = providers::alias(&block.body, title, faults);
    if let Some(argument) = block.body.attribute("for_each").filter(|_| alias.is_none())
        && faults.flavor.is_opentofu()
    {
        let title = "Alias required when using \"for_each\"";
        faults.invalid(title, argument.value.span, "there is no alias");
    }
    during(&block.body, faults);
    mocks(block, &blocks, faults);
    for (kind, nested) in &blocks {
        if kind.starts_with("override_") {
            target(kind, nested, faults);
        }
    }
    duplicates(&blocks, Some(block), faults);
    Some((label.text.clone(), alias))
}

/// Checks the mocks of types, of which each may stand once.
fn mocks(provider: &Block, blocks: &[(&'static str, &Block)], faults: &mut Faults) {
    let mut seen: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for (kind, block) in blocks {
        let (true, [label]) = (kind.starts_with("mock_"), &*block.labels) else {
            continue;
        };
        bodies::check(&block.body, &language::MOCK, faults);
        during(&block.body, faults);
        if let Some(defaults) = block.body.attribute("defaults") {
            values(defaults, None, faults);
        }
        match seen.get(&(*kind, &*label.text)) {
            Some(first) => {
                let (title, place) = if faults.flavor.is_opentofu() {
                    (format!("Duplicated `{kind}` block"), provider.header)
                } else {
                    (format!("Duplicate {kind} block"), label.span)
                };
                again(title, place, *first, faults);
            }
            None => {
                seen.insert((*kind, &*label.text), block.header);
            }
        }
    }
}

fn again(title: String, place: Span, first: Span, faults: &mut Faults) {
    let again = Diagnostic::error(rules::CONFIGURATION_INVALID, title)
        .at(faults.file, place, "declared again")
        .see(faults.file, first, "first declared here");
    faults.push(again);
}

/// Checks when a stand-in takes effect.
fn during(body: &Body, faults: &mut Faults) {
    let Some(argument) = body.attribute("override_during") else {
        return;
    };
    // OpenTofu has no such argument: the table of the language refuses it.
    if faults.flavor.is_opentofu() {
        return;
    }
    if !matches!(references::word(&argument.value), Some("plan" | "apply")) {
        let remark = "write plan or apply, without quotes";
        faults.invalid("Invalid override_during value", argument.name.span, remark);
    }
}

/// Checks the values of a stand-in, which newer versions of Terraform evaluate later; `title` is
/// Terraform's for what is no object, if it minds.
fn values(argument: &Attribute, title: Option<String>, faults: &mut Faults) {
    if faults.flavor.has_newer_tests() {
        return;
    }
    let Some(value) = bodies::constant(&argument.value, faults) else {
        return;
    };
    let title = if faults.flavor.is_opentofu() {
        Some("Object expected".to_owned())
    } else {
        title
    };
    if let (false, Some(title)) = (matches!(value, Value::Object(_)), title) {
        faults.invalid(title, argument.name.span, "an object is needed here");
    }
}

pub(crate) fn target(kind: &str, block: &Block, faults: &mut Faults) {
    let (schema, name) = match kind {
        "override_module" => (&language::OVERRIDE_MODULE, "outputs"),
        _ => (&language::OVERRIDE_RESOURCE, "values"),
    };
    bodies::check(&block.body, schema, faults);
    during(&block.body, faults);
    if let Some(argument) = block.body.attribute(name) {
        values(argument, Some(format!("Invalid {name} attribute")), faults);
    }
    match block.body.attribute("target") {
        Some(argument) => target_address(kind, argument, faults),
        None if faults.flavor.is_opentofu() => bodies::missing(&block.body, "target", faults),
        None if faults.may_hide(block.body.span) => {}
        None => faults.invalid(
            "Missing target attribute",
            block.header,
            "target is missing",
        ),
    }
}

fn target_address(kind: &str, argument: &Attribute, faults: &mut Faults) {
    let value = &argument.value;
    let Some(parts) = statements::reference(value, faults) else {
        return;
    };
    let is_opentofu = faults.flavor.is_opentofu();
    let read = if is_opentofu {
        addresses::object(&parts, faults.flavor)
    } else {
        addresses::instance(&parts, faults.flavor)
    };
    let address = match read {
        Ok(address) => address,
        Err((title, place)) => {
            // OpenTofu expects a module before it looks at what follows.
            let title = if is_opentofu && kind == "override_module" && title == NO_ADDRESS {
                "Module address expected"
            } else {
                title
            };
            return faults.invalid(title, place, statements::ADDRESS);
        }
    };
    let found = address.resource.as_ref().map(|resource| resource.kind);
    let wanted = match kind {
        "override_module" => None,
        "override_data" => Some("data"),
        _ => Some("resource"),
    };
    let (title, place) = match (is_opentofu, wanted, found) {
        (false, wanted, found) if wanted != found => ("Invalid override target", argument.span),
        (true, None, Some(_)) => ("Module address expected", value.span),
        (true, Some(_), None) => ("Module address is not allowed", value.span),
        _ => return,
    };
    faults.invalid(title, place, "this block is for something else");
}

const NO_ADDRESS: &str = "Invalid address";

/// Reports what is overridden twice; `provider` is the mock that holds the blocks, if one does.
///
/// OpenTofu looks at this only in mocks, as long as the tests are not run.
pub(crate) fn duplicates(
    blocks: &[(&'static str, &Block)],
    provider: Option<&Block>,
    faults: &mut Faults,
) {
    let is_opentofu = faults.flavor.is_opentofu();
    if is_opentofu && provider.is_none() {
        return;
    }
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for (kind, block) in blocks {
        if !kind.starts_with("override_") {
            continue;
        }
        // A target that is no address is reported where the block is checked.
        let Some(argument) = block.body.attribute("target") else {
            continue;
        };
        let Some(parts) = addresses::parts(&argument.value) else {
            continue;
        };
        let Ok(address) = addresses::instance(&parts, faults.flavor) else {
            continue;
        };
        let target = address.with_keys();
        match seen.get(&target) {
            Some(first) => {
                let (title, place) = match (is_opentofu, provider) {
                    (true, Some(provider)) => {
                        (format!("Duplicated `{kind}` block"), provider.header)
                    }
                    _ => (format!("Duplicate {kind} block"), block.header),
                };
                again(title, place, *first, faults);
            }
            None => {
                seen.insert(target, block.header);
            }
        }
    }
}
