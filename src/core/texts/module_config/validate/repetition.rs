//! Arguments that say how often a block counts: only one of them may be set.

use crate::hcl::tree::Block;
use crate::module_config::faults::Faults;

/// Reports a block that says twice how often it counts; `lifecycle` may hold OpenTofu's `enabled`.
pub(super) fn check(block: &Block, lifecycle: Option<&Block>, faults: &mut Faults) {
    let enabled = lifecycle
        .filter(|_| faults.flavor.is_opentofu())
        .and_then(|lifecycle| lifecycle.body.attribute("enabled"));
    let set = [
        block.body.attribute("count"),
        enabled,
        block.body.attribute("for_each"),
    ];
    let names: Vec<String> = set
        .iter()
        .flatten()
        .map(|argument| format!("{:?}", argument.name.text))
        .collect();
    // As in `Invalid combination of "count" and "for_each"` (config rules 12.2).
    let names = match &*names {
        [] | [_] => return,
        [first, second] => format!("{first} and {second}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    };
    let mut spans = set.iter().flatten().map(|argument| argument.name.span);
    // Terraform shows the one that it reads last, OpenTofu whatever stands first.
    let at = if faults.flavor.is_opentofu() {
        spans.min_by_key(|span| span.start)
    } else {
        spans.next_back()
    };
    if let Some(at) = at {
        let title = format!("Invalid combination of {names}");
        faults.invalid(title, at, "only one of them may be set");
    }
}
