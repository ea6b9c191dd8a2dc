//! What expressions refer to, without evaluating them.

use crate::hcl::tree::{
    Call, Conditional, Expr, ExprKind, For, ObjectItem, ObjectKey, Step, TemplateFor, TemplateIf,
    TemplatePart,
};

use super::addresses;
use super::contents::Faults;

/// Checks a list of references, such as `depends_on`.
pub(super) fn list(value: &Expr, faults: &mut Faults) {
    let ExprKind::Tuple(items) = &value.kind else {
        let remark = "a list of references is needed here";
        faults.invalid("Invalid expression", value.span, remark);
        return;
    };
    for item in items {
        if let ExprKind::String(_) = &item.kind {
            faults.odd("Quoted references are deprecated", item.span, "");
        } else if addresses::parts(item).is_none_or(|parts| addresses::is_computed(&parts)) {
            let remark = "write a reference, without computing anything";
            faults.invalid("Invalid expression", item.span, remark);
        }
    }
}

/// Tells whether an expression depends on anything but itself.
pub(super) fn refers(expr: &Expr) -> bool {
    Search { bound: Vec::new() }.expr(expr)
}

/// A search for the first name that no `for` around it binds.
struct Search<'e> {
    bound: Vec<&'e str>,
}

impl<'e> Search<'e> {
    fn expr(&mut self, expr: &'e Expr) -> bool {
        match &expr.kind {
            ExprKind::Null | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::String(_) => false,
            ExprKind::Variable(name) => !self.bound.contains(&&**name),
            ExprKind::Template(parts) => self.template(parts),
            ExprKind::Tuple(items) => items.iter().any(|item| self.expr(item)),
            ExprKind::Object(items) => items.iter().any(|item| self.item(item)),
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => self.expr(inner),
            ExprKind::Traversal(base, steps) => {
                self.expr(base) || steps.iter().any(|step| self.step(step))
            }
            ExprKind::Call(call) => {
                let Call { args, .. } = &**call;
                args.iter().any(|arg| self.expr(arg))
            }
            ExprKind::Conditional(conditional) => {
                let Conditional {
                    condition,
                    then,
                    otherwise,
                } = &**conditional;
                [condition, then, otherwise]
                    .into_iter()
                    .any(|part| self.expr(part))
            }
            ExprKind::Binary(_, sides) => self.expr(&sides.0) || self.expr(&sides.1),
            ExprKind::For(walk) => self.walk(walk),
        }
    }

    fn item(&mut self, item: &'e ObjectItem) -> bool {
        let by_key = match &item.key {
            ObjectKey::Name(_) => false,
            ObjectKey::Expr(key) => self.expr(key),
        };
        by_key || self.expr(&item.value)
    }

    fn step(&mut self, step: &'e Step) -> bool {
        match step {
            Step::Index(key) => self.expr(key),
            Step::Attr(_) | Step::AttrSplat | Step::FullSplat => false,
        }
    }

    fn walk(&mut self, walk: &'e For) -> bool {
        if self.expr(&walk.collection) {
            return true;
        }
        let outside = self.bind(walk.key_name.as_deref(), &walk.value_name);
        let inside = [
            walk.key.as_ref(),
            Some(&walk.value),
            walk.condition.as_ref(),
        ];
        let found = inside.into_iter().flatten().any(|part| self.expr(part));
        self.bound.truncate(outside);
        found
    }

    /// Binds the names of a `for`; returns how many there were before.
    fn bind(&mut self, key: Option<&'e str>, value: &'e str) -> usize {
        let outside = self.bound.len();
        self.bound.extend(key);
        self.bound.push(value);
        outside
    }

    fn template(&mut self, parts: &'e [TemplatePart]) -> bool {
        parts.iter().any(|part| match part {
            TemplatePart::Literal(_) => false,
            TemplatePart::Interpolation(inner) => self.expr(inner),
            TemplatePart::If(choice) => {
                let TemplateIf {
                    condition,
                    then,
                    otherwise,
                } = &**choice;
                self.expr(condition) || self.template(then) || self.template(otherwise)
            }
            TemplatePart::For(walk) => {
                let TemplateFor {
                    key_name,
                    value_name,
                    collection,
                    body,
                } = &**walk;
                if self.expr(collection) {
                    return true;
                }
                let outside = self.bind(key_name.as_deref(), value_name);
                let found = self.template(body);
                self.bound.truncate(outside);
                found
            }
        })
    }
}
