//! Blocks that require nothing, but that the programs refuse where they are wrong: `output`,
//! `locals`, `check`, `moved` and `removed` (config rules 12.5, 12.6).

use crate::expr;
use crate::hcl::tree::{Block, Body, Expr};
use crate::module_config::decode::contents::{Contents, Declaration, Local};
use crate::module_config::decode::late::Late;
use crate::module_config::decode::resources;
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::addresses::{self, Address};
use crate::module_config::syntax::{references, words};
use crate::module_config::validate::{self, Inside, bodies, conditions};

pub(crate) fn output(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    contents.declare("output", block, faults);
    let [label] = &*block.labels else { return };
    if !words::is_identifier(&label.text) {
        faults.invalid("Invalid output name", label.span, words::NAME);
    }
    for (kind, nested) in bodies::check(&block.body, &language::OUTPUT, faults) {
        if kind == "precondition" {
            conditions::rule(nested, faults);
        } else {
            let remark = "an output has preconditions only";
            faults.invalid("Postconditions are not allowed", nested.kind.span, remark);
        }
    }
    let deprecated = block.body.attribute("deprecated");
    if let Some(argument) = deprecated.filter(|_| faults.flavor.is_opentofu()) {
        let text = expr::constant(faults.file, &argument.value).ok();
        let text = text.and_then(|text| text.to_text());
        if text.is_some_and(|text| text.trim().is_empty()) {
            let remark = "say what to use instead";
            faults.invalid(
                "Invalid `deprecated` attribute",
                argument.value.span,
                remark,
            );
        }
    }
}

pub(crate) fn locals(body: &Body, contents: &mut Contents, faults: &mut Faults) {
    bodies::arguments_only(body, faults);
    for value in body.attributes() {
        if !words::is_identifier(&value.name.text) {
            faults.invalid("Invalid local value name", value.name.span, words::NAME);
        }
        if let Some(late) = Late::keep(&value.value, faults) {
            contents.locals.push(Local {
                name: value.name.text.clone(),
                place: faults.place(value.name.span),
                value: late,
            });
        }
        contents.declared.push(Declaration {
            kind: "local",
            labels: vec![value.name.text.clone()],
            place: faults.place(value.name.span),
        });
    }
}

/// Decodes a `check` block, whose only data source is one of the module.
pub(crate) fn check(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    contents.declare("check", block, faults);
    let [label] = &*block.labels else { return };
    if !words::is_identifier(&label.text) {
        faults.invalid("Invalid check block name", label.span, words::NAME);
    }
    let nested = bodies::check(&block.body, &language::CHECK, faults);
    let mut asserts = 0;
    for (kind, nested) in &nested {
        let before = faults.errors();
        if *kind == "assert" {
            conditions::rule(nested, faults);
            asserts += usize::from(faults.errors() == before);
        }
    }
    // An assertion with an error does not count.
    if asserts == 0 && !faults.may_hide(block.body.span) {
        let remark = "a check needs an assert block";
        faults.invalid("Zero assert blocks", block.header, remark);
    }
    let title = "Multiple data resource blocks";
    if let Some(data) = bodies::at_most_one(&nested, "data", title, faults)
        && validate::resource("data", data, Inside::Check, faults)
    {
        // It requires its provider like a data source of the module (config rules 4.7).
        resources::decode("data", data, contents, faults);
    }
}

pub(crate) fn moved(block: &Block, faults: &mut Faults) {
    bodies::check(&block.body, &language::MOVED, faults);
    let mut end = |name| {
        let argument = block.body.attribute(name)?;
        let parts = reference(&argument.value, faults)?;
        addresses::instance(&parts, faults.flavor)
            .map_err(|(title, place)| faults.invalid(title, place, ADDRESS))
            .ok()
    };
    let (from, to) = (end("from"), end("to"));
    if faults.flavor.is_opentofu() {
        for (name, end) in [("from", &from), ("to", &to)] {
            let is_ephemeral = end
                .as_ref()
                .is_none_or(|end| kind_of(end) == Some("ephemeral"));
            if is_ephemeral && !faults.may_hide(block.body.span) {
                let remark = format!("{name} is nothing that can be moved");
                faults.invalid("Invalid \"moved\" address", block.header, &remark);
            }
        }
    }
    if let (Some(from), Some(to)) = (from, to)
        && from.resource.is_some() != to.resource.is_some()
    {
        let remark = "a resource can only become a resource, and a module a module";
        faults.invalid("Invalid \"moved\" addresses", block.header, remark);
    }
}

fn kind_of(address: &Address<'_>) -> Option<&'static str> {
    address.resource.as_ref().map(|resource| resource.kind)
}

/// Splits an address that must be a mere reference; what is none is reported.
pub(crate) fn reference<'e>(
    value: &'e Expr,
    faults: &mut Faults,
) -> Option<Vec<addresses::AddressPart<'e>>> {
    let parts = addresses::parts(value).filter(|parts| !addresses::is_computed(parts));
    if parts.is_none() {
        faults.invalid("Invalid expression", value.span, ADDRESS);
    }
    parts
}

/// The remark on a text that is no address.
pub(crate) const ADDRESS: &str = "write TYPE.NAME or module.NAME, without computing anything";

pub(crate) fn removed(block: &Block, faults: &mut Faults) {
    let nested = bodies::check(&block.body, &language::REMOVED, faults);
    let from = block.body.attribute("from");
    let target = from.and_then(|from| removed_address(&from.value, faults));
    let lifecycles = nested.iter().filter(|(kind, _)| *kind == "lifecycle");
    for (_, lifecycle) in lifecycles {
        bodies::check(&lifecycle.body, &language::REMOVED_LIFECYCLE, faults);
    }
    if faults.flavor.is_opentofu() {
        bodies::at_most_one(&nested, "lifecycle", "Duplicate lifecycle block", faults);
    }
    // What could not be read was reported; what is removed is a resource as a rule.
    let of_module = target.is_some_and(|target| target.resource.is_none());
    let connection =
        bodies::at_most_one(&nested, "connection", "Duplicate connection block", faults);
    if let Some(connection) = connection.filter(|_| of_module) {
        faults.invalid("Invalid connection block", connection.header, WITH_RESOURCE);
    }
    for (_, provisioner) in nested.iter().filter(|(kind, _)| *kind == "provisioner") {
        let is_opentofu = faults.flavor.is_opentofu();
        let when = provisioner.body.attribute("when");
        let when = when.and_then(|when| references::keyword(&when.value, faults));
        let (title, place, remark) = match (when, of_module, is_opentofu) {
            (_, true, false) => (
                "Invalid provisioner block",
                provisioner.header,
                WITH_RESOURCE,
            ),
            (Some("destroy"), true, true) => {
                ("Invalid \"removed\" block", block.header, WITH_RESOURCE)
            }
            (Some("destroy"), false, _) => continue,
            (_, _, true) => (
                "Invalid \"removed.provisioner\" block",
                provisioner.header,
                WHEN,
            ),
            (_, _, false) => ("Invalid provisioner block", provisioner.header, WHEN),
        };
        faults.invalid(title, place, remark);
    }
}

const WITH_RESOURCE: &str = "only a removed resource can have this";

fn removed_address<'e>(value: &'e Expr, faults: &mut Faults) -> Option<Address<'e>> {
    let parts = reference(value, faults)?;
    let address = match addresses::object(&parts, faults.flavor) {
        Ok(address) => address,
        Err((title, place)) => {
            faults.invalid(title, place, "write TYPE.NAME or module.NAME");
            return None;
        }
    };
    let title = match (kind_of(&address), faults.flavor.is_opentofu()) {
        (Some("data"), false) => "Data source address not allowed",
        (Some("data"), true) => "Data source address is not allowed",
        (Some("ephemeral"), true) => "Ephemeral resource address is not allowed",
        _ => return Some(address),
    };
    faults.invalid(
        title,
        value.span,
        "nothing of this kind remains in the state",
    );
    None
}

const WHEN: &str = "write when = destroy";
