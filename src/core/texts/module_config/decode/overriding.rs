//! Constructs that an override file may not have.

use crate::hcl::tree::{Block, ExprKind};
use crate::module_config::faults::Faults;

/// Types of blocks that hold conditions.
const RULES: [&str; 3] = ["precondition", "postcondition", "validation"];

const REMARK: &str = "an override file only changes what others declare";

/// Reports what may not stand in an override file; returns whether the block counts.
pub(super) fn allows(kind: &str, block: &Block, faults: &mut Faults) -> bool {
    let title = match kind {
        "moved" => Some("Cannot override 'moved' blocks"),
        "import" => Some("Cannot override 'import' blocks"),
        "check" => Some("Can't override check blocks"),
        // Terraform ignores these (config rules 3.9).
        "removed" if faults.flavor.is_opentofu() => Some("Cannot override 'Removed' blocks"),
        "language" => Some("Language selections in override file"),
        _ => None,
    };
    if let Some(title) = title {
        faults.invalid(title, block.header, REMARK);
        return false;
    }
    let is_merged = match kind {
        "resource" | "data" | "output" | "module" => true,
        // Terraform passes over ephemeral resources in override files.
        "ephemeral" => faults.flavor.is_opentofu(),
        _ => false,
    };
    if is_merged
        && let Some(list) = block.body.attribute("depends_on")
        && let ExprKind::Tuple(items) = &list.value.kind
        && let Some(first) = items.first()
    {
        let remark = "depends_on cannot be overridden";
        faults.invalid("Unsupported override", first.span, remark);
    }
    let in_lifecycle = block
        .body
        .blocks()
        .filter(|nested| nested.kind.text == "lifecycle")
        .flat_map(|lifecycle| lifecycle.body.blocks());
    let rules: Vec<&Block> = match kind {
        "resource" | "data" | "ephemeral" => in_lifecycle.collect(),
        "output" | "variable" => block.body.blocks().collect(),
        _ => Vec::new(),
    };
    for rule in rules {
        if RULES.contains(&&*rule.kind.text) {
            let title = format!("Can't override {} blocks", rule.kind.text);
            faults.invalid(title, rule.header, "only the primary files may have them");
        }
    }
    true
}
