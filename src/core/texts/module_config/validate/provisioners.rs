//! `provisioner` and `connection` blocks.

use crate::hcl::tree::{Attribute, Block};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::references::{self, Reference};
use crate::module_config::validate::bodies::known_blocks;

/// Those that no version has any more.
const REMOVED: &[&str] = &["chef", "habitat", "puppet", "salt-masterless"];

/// Checks the provisioners of a resource, and the connection that they share.
pub(super) fn check(provisioners: &[&Block], connection: Option<&Block>, faults: &mut Faults) {
    let mut at_destroy = false;
    for block in provisioners {
        let removed = block.labels.first();
        if let Some(name) = removed.filter(|name| REMOVED.contains(&&*name.text)) {
            let title = format!("The {:?} provisioner has been removed", name.text);
            faults.invalid(title, name.span, "");
            // Nothing else is reported about a provisioner that no version runs.
            continue;
        }
        let when = keyword(block, "when", &["create", "destroy"], faults);
        let runs_at_destroy = when == Some("destroy");
        keyword(block, "on_failure", &["continue", "fail"], faults);
        if runs_at_destroy {
            // These are keywords of the program, and no values of the provisioner.
            let meta = ["when", "on_failure"];
            let arguments = block.body.attributes();
            own_values(
                arguments.filter(|argument| !meta.contains(&&*argument.name.text)),
                faults,
            );
        }
        for (kind, inner) in known_blocks(block, "provisioner", &language::PROVISIONER, faults) {
            if kind == "connection" && runs_at_destroy {
                own_values(inner.body.attributes(), faults);
            }
        }
        at_destroy |= runs_at_destroy;
    }
    // The connection of the resource serves all its provisioners, so one at destruction binds it.
    if let Some(connection) = connection.filter(|_| at_destroy) {
        own_values(connection.body.attributes(), faults);
    }
}

/// Reads an argument that is one of a few words.
fn keyword<'b>(
    block: &'b Block,
    name: &str,
    words: &[&str],
    faults: &mut Faults,
) -> Option<&'b str> {
    let argument = block.body.attribute(name)?;
    let word = references::keyword(&argument.value, faults);
    let word = word.filter(|word| words.contains(word));
    if word.is_none() {
        let title = format!("Invalid {name:?} keyword");
        let remark = format!("write {}", words.join(" or "));
        faults.invalid(title, argument.value.span, &remark);
    }
    word
}

/// Checks that nothing but the resource itself is needed: when it is destroyed, others may be destroyed already.
fn own_values<'b>(arguments: impl Iterator<Item = &'b Attribute>, faults: &mut Faults) {
    for argument in arguments {
        let value = &argument.value;
        let own = |used: &Reference<'_>| match used.root {
            "self" | "path" | "terraform" => true,
            "tofu" => faults.flavor.is_opentofu(),
            "count" => used.only_attribute() == Some("index"),
            "each" => used.only_attribute() == Some("key"),
            _ => false,
        };
        if !references::inside(value).iter().all(own) {
            let title = "Invalid reference from destroy provisioner";
            let remark = "only self, count.index and each.key are known then";
            faults.invalid(title, value.span, remark);
        }
    }
}
