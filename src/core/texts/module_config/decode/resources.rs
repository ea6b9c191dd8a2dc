//! Blocks that some provider manages: which one that is.

use crate::hcl::tree::Block;
use crate::module_config::decode::contents::{Contents, Resource};
use crate::module_config::faults::Faults;
use crate::module_config::syntax::names;

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
