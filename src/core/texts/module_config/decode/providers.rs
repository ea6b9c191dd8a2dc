//! Declarations of providers: `required_providers` and `provider` blocks (config rules 4).

use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Span, rules};
use crate::expr::{self, Value};
use crate::hcl::tree::{Attribute, Block, Body, Expr, ExprKind, ObjectKey, Word};
use crate::module_config::decode::contents::{
    Contents, Declaration, ProviderBlock, RequiredProvider, Stated, Written,
};
use crate::module_config::decode::sources;
use crate::module_config::faults::Faults;
use crate::module_config::file::ModuleFileRole;
use crate::module_config::syntax::{names, words};
use crate::version::Constraints;

pub(crate) fn required_providers(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    contents.declared.push(Declaration {
        kind: "required_providers",
        labels: Vec::new(),
        place: faults.place(block.header),
    });
    for nested in block.body.blocks() {
        // Entries are arguments; a block has a title of its own (config rules 4.2).
        let title = format!("Unexpected \"{}\" block", nested.kind.text);
        faults.error(
            rules::UNSUPPORTED_ITEM,
            title,
            nested.header,
            "write an argument instead",
        );
    }
    for entry in block.body.attributes() {
        let before = faults.errors();
        // Old versions knew only the shorthand: any primitive constant, without references, becomes its
        // text (config rules 4.1).
        let shorthand = expr::constant(faults.file, &entry.value)
            .ok()
            .and_then(|value| value.to_text());
        let decoded = match shorthand {
            Some(version) => shorthand_entry(&entry.name, version, &entry.value, faults),
            None => object_entry(&entry.name, &entry.value, faults),
        };
        // An entry with an error is no entry: its names must not resolve to half an address.
        if faults.errors() == before {
            contents.required.extend(decoded);
        }
    }
}

/// Decodes `NAME = "CONSTRAINTS"`, where the name need not be in normal form.
fn shorthand_entry(
    name: &Word,
    version: String,
    value: &Expr,
    faults: &mut Faults,
) -> Option<RequiredProvider> {
    let constraints = constraints(&version, value.span, faults);
    let Some(addr) = names::implied(&name.text, faults.flavor) else {
        faults.error(
            rules::ADDRESS_MALFORMED,
            "Invalid provider name",
            value.span,
            "",
        );
        return None;
    };
    Some(RequiredProvider {
        local_name: name.text.clone(),
        addr,
        source: None,
        stated: Stated {
            constraints: constraints?,
            place: faults.place_of(value),
        },
    })
}

/// Decodes `NAME = { source = …, version = …, configuration_aliases = … }`.
fn object_entry(name: &Word, value: &Expr, faults: &mut Faults) -> Option<RequiredProvider> {
    if !names::is_normal(&name.text, faults.flavor) {
        names::invalid_local_name(value.span, faults);
        return None;
    }
    let ExprKind::Object(items) = &value.kind else {
        let remark = "write a version constraint or an object with source and version";
        faults.invalid("Invalid required_providers object", value.span, remark);
        return None;
    };
    // Without a source the name implies the address, as in the short form (config rules 4.1).
    let mut addr = names::implied(&name.text, faults.flavor)?;
    let mut written = None;
    let mut stated = Stated {
        constraints: Constraints::default(),
        place: faults.place(name.span),
    };
    // A repeated key is no error: the last one counts (config rules 3.14).
    for item in items {
        match object_key(&item.key, faults).as_deref() {
            Some("source") => {
                if let Some(stated) = source(&item.value, faults) {
                    (addr, written) = (stated.0, Some(stated.1));
                }
            }
            Some("version") => {
                stated.place = faults.place_of(&item.value);
                // A refused version is an error, and the caller drops an entry with errors.
                stated.constraints = object_version(&item.value, faults).unwrap_or_default();
            }
            // They only say what callers must pass.
            Some("configuration_aliases") => {}
            Some(_) => {
                let remark = "only source, version and configuration_aliases belong here";
                let span = match &item.key {
                    ObjectKey::Name(word) => word.span,
                    ObjectKey::Expr(key) => key.span,
                };
                faults.invalid("Invalid required_providers object", span, remark);
            }
            None => {}
        }
    }
    Some(RequiredProvider {
        local_name: name.text.clone(),
        addr,
        source: written,
        stated,
    })
}

fn object_key(key: &ObjectKey, faults: &mut Faults) -> Option<String> {
    let key = match key {
        ObjectKey::Name(word) => return Some(word.text.clone()),
        ObjectKey::Expr(key) => key,
    };
    match expr::constant(faults.file, key) {
        Ok(Value::String(text)) => Some(text),
        Ok(_) => {
            faults.invalid("Invalid Attribute", key.span, "a key must be a string");
            None
        }
        Err(found) => {
            faults.add(found);
            None
        }
    }
}

fn source(value: &Expr, faults: &mut Faults) -> Option<(ProviderAddr, Written)> {
    let Ok(Value::String(text)) = expr::constant(faults.file, value) else {
        faults.invalid(
            "Invalid source",
            value.span,
            "the source must be a constant string",
        );
        return None;
    };
    match ProviderAddr::parse(&text, faults.flavor) {
        Ok(addr) => {
            let place = faults.place_of(value);
            Some((addr, Written { text, place }))
        }
        Err(error) => {
            // The title is that of the programs; the reason behind it is ours, because theirs repeats the title.
            let title = error.kind().title();
            let (note, help) = match sources::reason(&text, error.kind(), faults.flavor) {
                Some(reason) => (reason.note, reason.help),
                None => (error.to_string(), None),
            };
            let mut diagnostic = Diagnostic::error(rules::ADDRESS_MALFORMED, title);
            diagnostic = diagnostic.at(faults.file, value.span, note);
            diagnostic.help = help.map(Into::into);
            faults.push(diagnostic);
            None
        }
    }
}

/// Reads the version of an object entry, which unlike the shorthand must be a string.
fn object_version(value: &Expr, faults: &mut Faults) -> Option<Constraints> {
    if let Ok(Value::String(text)) = expr::constant(faults.file, value) {
        return constraints(&text, value.span, faults);
    }
    let remark = "the version must be a constant string";
    faults.error(
        rules::CONSTRAINT_INVALID,
        "Invalid version constraint",
        value.span,
        remark,
    );
    None
}

/// Decodes a `provider` block; its `version` is deprecated, but it counts (config rules 4.8).
pub(crate) fn provider_block(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    let [label] = &*block.labels else { return };
    // A local name must be in normal form here (config rules 4.3), else nothing else is said about the
    // block.
    if !names::is_normal(&label.text, faults.flavor) {
        names::invalid_local_name(label.span, faults);
        return;
    }
    let alias = alias(&block.body, faults);
    let labels = [Some(label.text.clone()), alias.clone()];
    contents.declared.push(Declaration {
        kind: "provider",
        labels: labels.into_iter().flatten().collect(),
        place: faults.place(block.header),
    });
    contents.provider_blocks.push(ProviderBlock {
        local_name: label.text.clone(),
        alias,
        version: block_version(&block.body, faults),
        place: faults.place(block.header),
    });
}

fn alias(body: &Body, faults: &mut Faults) -> Option<String> {
    let alias = body.attribute("alias")?;
    let text = expr::constant(faults.file, &alias.value)
        .ok()
        .and_then(|value| value.to_text())
        .filter(|text| words::is_identifier(text));
    if text.is_none() {
        let title = "Invalid provider configuration alias";
        faults.invalid(title, alias.value.span, "an alias is a literal name");
    }
    text
}

/// Reads the version of a `provider` block: any primitive value, or null for none.
fn block_version(body: &Body, faults: &mut Faults) -> Option<Stated> {
    let argument = body.attribute("version")?;
    // OpenTofu counts it in test files as well (config rules 4.8, 6.2).
    if faults.role == ModuleFileRole::Test && !faults.flavor.is_opentofu() {
        let title = "Version constraints are not allowed in test files";
        let remark = "state the version in required_providers";
        faults.invalid(title, argument.value.span, remark);
        return None;
    }
    let title = "Version constraints inside provider configuration blocks are deprecated";
    let remark = "this counts in addition to required_providers";
    faults.odd(title, argument.name.span, remark);
    let value = constant(argument, faults)?;
    if value == Value::Null {
        return None;
    }
    let span = argument.value.span;
    let text = version_text(&value, span, faults)?;
    Some(Stated {
        constraints: constraints(&text, span, faults)?,
        place: faults.place(span),
    })
}

/// Evaluates an argument that must be constant, and reports it if it is not.
pub(crate) fn constant(argument: &Attribute, faults: &mut Faults) -> Option<Value> {
    expr::constant(faults.file, &argument.value)
        .map_err(|found| faults.add(found))
        .ok()
}

/// Returns the text of a version constraint, and reports a value that has none.
pub(crate) fn version_text(value: &Value, at: Span, faults: &mut Faults) -> Option<String> {
    let text = value.to_text();
    if text.is_none() {
        let title = "Invalid version constraint";
        faults.error(
            rules::CONSTRAINT_INVALID,
            title,
            at,
            "a string is needed here",
        );
    }
    text
}

fn constraints(text: &str, at: Span, faults: &mut Faults) -> Option<Constraints> {
    Constraints::parse_config(text)
        .map_err(|error| {
            let title = "Invalid version constraint";
            faults.error(rules::CONSTRAINT_INVALID, title, at, &error.to_string());
        })
        .ok()
}
