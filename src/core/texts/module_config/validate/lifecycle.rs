//! `lifecycle` blocks of resources.

use crate::expr::{self, Value};
use crate::hcl::tree::{Block, Expr};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::references::{self, ReferenceSubject};
use crate::module_config::validate::conditions::{self, Owner};
use crate::module_config::validate::{bodies, triggers};

const MISPLACED: &str = "only a resource block may set this";

/// Checks the `lifecycle` block of a resource, data source or ephemeral resource.
pub(super) fn check(owner: Owner<'_>, block: &Block, faults: &mut Faults) {
    let blocks = bodies::check(&block.body, &language::LIFECYCLE, faults);
    for argument in bodies::known(&language::LIFECYCLE, &block.body, faults.flavor) {
        match (owner.kind, &*argument.name.text) {
            // OpenTofu's, for all of them; the value may be anything.
            (_, "enabled") => {}
            ("resource", "create_before_destroy") => {
                bodies::truth(&argument.value, faults);
            }
            // OpenTofu computes these much later.
            ("resource", "prevent_destroy" | "destroy") if faults.flavor.is_opentofu() => {}
            ("resource", "prevent_destroy" | "destroy") => {
                bodies::truth(&argument.value, faults);
            }
            ("resource", "ignore_changes") => ignore_changes(&argument.value, faults),
            ("resource", "replace_triggered_by") => {
                for item in references::list(&argument.value, faults) {
                    replace_triggered_by(item, faults);
                }
            }
            ("ephemeral", _) if faults.flavor.is_opentofu() => {
                let title = "Invalid lifecycle configuration for ephemeral resource";
                faults.invalid(title, block.header, MISPLACED);
            }
            (kind, _) => {
                let title = format!("Invalid {} lifecycle argument", noun(kind));
                faults.invalid(title, argument.name.span, MISPLACED);
            }
        }
    }
    for (kind, nested) in blocks {
        match kind {
            "action_trigger" if owner.kind == "resource" => triggers::check(nested, faults),
            "action_trigger" => {
                let kind = noun(owner.kind);
                let title = format!("Invalid {kind} lifecycle nested block");
                faults.invalid(title, nested.kind.span, "only a resource triggers actions");
            }
            _ => conditions::check(owner, nested, faults),
        }
    }
}

fn noun(kind: &str) -> &'static str {
    match kind {
        "ephemeral" => "ephemeral resource",
        _ => "data resource",
    }
}

/// Checks which changes are ignored: `all`, or a list of what stands in the resource.
fn ignore_changes(value: &Expr, faults: &mut Faults) {
    if references::word(value) == Some("all") {
        return;
    }
    let items = references::list(value, faults);
    // Versions before 0.12 wrote `["*"]` for `all`; the programs still have an error of its own for it.
    let is_star = |item: &&Expr| match expr::constant(faults.file, item) {
        Ok(Value::String(text)) => text == "*",
        _ => false,
    };
    let (stars, names): (Vec<&Expr>, Vec<&Expr>) = items.iter().partition(is_star);
    if !stars.is_empty() {
        let title = "Invalid ignore_changes wildcard";
        faults.invalid(title, value.span, "write all instead of the list");
    }
    let mut good = 0;
    for name in names {
        good += usize::from(references::whole(name, faults).is_some());
    }
    if let Some(star) = stars.last().filter(|_| good > 0) {
        let title = "Invalid ignore_changes ruleset";
        faults.invalid(
            title,
            star.span,
            "all and a list of names exclude each other",
        );
    }
}

/// Checks what replaces a resource: one resource, or a part of it.
fn replace_triggered_by(item: &Expr, faults: &mut Faults) {
    let flavor = faults.flavor;
    let subjects = references::inside(item)
        .into_iter()
        .map(|reference| ReferenceSubject::of(reference, flavor))
        .collect::<Result<Vec<ReferenceSubject<'_>>, _>>();
    let subjects = match subjects {
        Ok(subjects) => subjects,
        Err(title) => return faults.invalid(title, item.span, ""),
    };
    let mut resources = 0;
    for subject in subjects {
        let what = match subject {
            ReferenceSubject::Resource { .. } => {
                resources += 1;
                continue;
            }
            ReferenceSubject::Each("key") | ReferenceSubject::Count("index") => continue,
            ReferenceSubject::Each(_) => "each reference",
            ReferenceSubject::Count(_) => "count reference",
            _ => "reference",
        };
        let title = format!("Invalid {what} in replace_triggered_by expression");
        let remark = "only resources, count.index and each.key may be named here";
        faults.invalid(title, item.span, remark);
    }
    // An item is one reference; `count.index` and `each.key` may only be inside its keys (config rules
    // 12.3).
    if resources != 1 {
        let title = "Invalid replace_triggered_by expression";
        faults.invalid(title, item.span, "each item names one resource");
    }
}
