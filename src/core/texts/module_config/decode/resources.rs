//! Blocks that some provider manages: which one that is.

use crate::hcl::tree::Block;
use crate::module_config::decode::contents::{Contents, Resource};
use crate::module_config::faults::Faults;
use crate::module_config::syntax::{names, words};

/// Decodes a resource, a data source, an ephemeral resource or an action.
pub(crate) fn decode(
    kind: &'static str,
    block: &Block,
    contents: &mut Contents,
    faults: &mut Faults,
) {
    contents.declare(kind, block, faults);
    let [type_name, name] = &*block.labels else {
        return;
    };
    // The type implies the provider, so that it must be a name.
    if !words::is_identifier(&type_name.text) {
        let title = match kind {
            "data" => "Invalid data source name",
            "ephemeral" if faults.flavor.is_opentofu() => "Invalid ephemeral resource type name",
            "ephemeral" => "Invalid ephemeral resource type",
            "action" => "Invalid action type name",
            _ => "Invalid resource type name",
        };
        return faults.invalid(title, type_name.span, words::NAME);
    }
    let Ok(provider) = names::provider_argument(&block.body, faults) else {
        return;
    };
    // The provider comes from the argument if there is one, else from the type (config rules 4.7).
    let place = provider
        .as_ref()
        .map_or_else(|| faults.place(type_name.span), |reference| reference.place);
    contents.resources.push(Resource {
        kind,
        type_name: type_name.text.clone(),
        name: name.text.clone(),
        provider,
        place,
    });
}
