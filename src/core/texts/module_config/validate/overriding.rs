//! Constructs that an override file may not have.

use crate::hcl::tree::{Block, ExprKind};
use crate::module_config::faults::Faults;
use crate::module_config::syntax::references;

/// Reports what may not stand in an override file; returns whether the block counts.
pub(crate) fn allows(kind: &str, block: &Block, faults: &mut Faults) -> bool {
    let title = match kind {
        "moved" => "Cannot override 'moved' blocks",
        "import" => "Cannot override 'import' blocks",
        "check" => "Can't override check blocks",
        // Terraform ignores these (config rules 3.9).
        "removed" if faults.flavor.is_opentofu() => "Cannot override 'Removed' blocks",
        "language" => "Language selections in override file",
        _ => {
            // Terraform passes over ephemeral resources in override files.
            let merged = match kind {
                "resource" | "data" | "output" | "module" => true,
                "ephemeral" => faults.flavor.is_opentofu(),
                _ => false,
            };
            let argument = block.body.attribute("depends_on").filter(|_| merged);
            let value = argument.map(|argument| &argument.value.kind);
            // What is no list, or no reference, is reported as such.
            if let Some(ExprKind::Tuple(items)) = value
                && let Some(first) = items.iter().find(|item| references::is_reference(item))
            {
                let remark = "depends_on cannot be overridden";
                faults.invalid("Unsupported override", first.span, remark);
            }
            return true;
        }
    };
    faults.invalid(
        title,
        block.header,
        "an override file only changes what others declare",
    );
    false
}
