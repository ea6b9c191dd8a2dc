//! `import` blocks: what they point to (`config.md` 3.2).

use crate::diag::Span;
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Expr, ExprKind, Step};

use super::contents::{Contents, Declaration, Faults, Import, Target};
use super::{json, names};

const MISSING: &str = "Missing required argument";

/// Decodes an `import` block.
pub(super) fn decode(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    let has_id = block.body.attribute("id").is_some();
    let identity = block.body.attribute("identity");
    let identity_known = faults.flavor != Flavor::Terraform1_11;
    if let Some(argument) = identity.filter(|_| !identity_known) {
        let at = argument.name.span;
        faults.error("unsupported-item", "Unsupported argument", at, "");
    }
    if !has_id && (identity.is_none() || !identity_known) {
        let title = missing_id_title(faults.flavor);
        let at = match title {
            MISSING => faults.gap(block),
            _ => block.header,
        };
        faults.invalid(title, at, "id is missing");
    }
    let Some(to) = block.body.attribute("to") else {
        faults.invalid(MISSING, faults.gap(block), "to is missing");
        return;
    };
    let Some(address) = json::as_expression(&to.value, faults) else {
        return;
    };
    let Some(target) = target(&address) else {
        faults.invalid("Invalid import address", to.value.span, "write TYPE.NAME");
        return;
    };
    if target.kind == "data" && !faults.flavor.is_opentofu() {
        let remark = "a data source cannot be imported";
        faults.invalid("Invalid import address", to.value.span, remark);
        return;
    }
    if !has_keys(&address) {
        declare(&target, to.value.span, contents, faults);
    }
    let Ok(provider) = names::provider_argument(&block.body, faults) else {
        return;
    };
    contents.imports.push(Import {
        target,
        provider,
        place: faults.place(to.value.span),
        block: faults.place(block.header),
    });
}

fn missing_id_title(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Terraform1_11 => MISSING,
        Flavor::OpenTofu1_12 => "Missing required import argument",
        Flavor::Terraform1_15 | Flavor::Terraform1_16 => "Invalid import block",
    }
}

/// Notes a target without instance keys, of which there may be only one import.
fn declare(target: &Target, at: Span, contents: &mut Contents, faults: &Faults) {
    if target.in_module || target.kind != "resource" {
        return;
    }
    contents.declared.push(Declaration {
        kind: "import",
        labels: vec![target.type_name.clone(), target.name.clone()],
        place: faults.place(at),
    });
}

fn has_keys(to: &Expr) -> bool {
    match &to.kind {
        ExprKind::Traversal(_, steps) => steps.iter().any(|step| !matches!(step, Step::Attr(_))),
        _ => false,
    }
}

/// Reads `[module.NAME[KEY].…][data.|resource.]TYPE.NAME[KEY]`.
fn target(to: &Expr) -> Option<Target> {
    let ExprKind::Traversal(base, steps) = &to.kind else {
        return None;
    };
    let ExprKind::Variable(root) = &base.kind else {
        return None;
    };
    let mut names = vec![root.as_str()];
    for step in steps {
        match step {
            Step::Attr(name) => names.push(&name.text),
            Step::Index(_) => {}
            Step::AttrSplat | Step::FullSplat => return None,
        }
    }
    let mut rest = names.as_slice();
    let mut in_module = false;
    while let ["module", _, inner @ ..] = rest {
        in_module = true;
        rest = inner;
    }
    let (kind, type_name, name) = match rest {
        ["data", type_name, name] => ("data", type_name, name),
        ["resource", type_name, name] => ("resource", type_name, name),
        [type_name, name] => ("resource", type_name, name),
        _ => return None,
    };
    Some(Target {
        in_module,
        kind,
        type_name: (*type_name).to_owned(),
        name: (*name).to_owned(),
    })
}
