//! Blocks that some provider manages: which one that is.

use crate::config::decode::contents::{Contents, Resource};
use crate::config::faults::Faults;
use crate::config::syntax::names;
use crate::hcl::tree::Block;

/// Decodes a resource, a data source, an ephemeral resource or an action.
pub(in crate::config) fn decode(
    kind: &'static str,
    block: &Block,
    contents: &mut Contents,
    faults: &mut Faults,
) {
    contents.declare(kind, block, faults);
    let [type_name, name] = &*block.labels else {
        return;
    };
    let Ok(provider) = names::provider_argument(&block.body, faults) else {
        return;
    };
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
