//! References of expressions: a whole expression as a reference, and all that are anywhere inside it.

use crate::flavor::Flavor;
use crate::hcl::references::is_fixed;
pub(crate) use crate::hcl::references::{Reference, functions, inside};
use crate::hcl::tree::{Attribute, Expr, ExprKind, Step};
use crate::module_config::faults::Faults;
use crate::module_config::syntax::words;

/// Checks a list of references, in quotes or not.
///
/// Whether anything is there that they mean is a matter of later steps.
pub(crate) fn check_list(value: &Expr, faults: &mut Faults) {
    for item in list(value, faults) {
        whole(item, faults);
    }
}

/// Checks the argument `depends_on`, a list of references that are no actions.
pub(crate) fn depends_on(argument: &Attribute, faults: &mut Faults) {
    for item in list(&argument.value, faults) {
        let root = whole(item, faults);
        if root.is_some_and(|root| root == "action") && faults.flavor.has_actions() {
            let remark = "name what triggers the action";
            faults.invalid("Invalid depends_on Action Reference", item.span, remark);
        }
    }
}

/// Returns the items of a list that is written out; anything else is reported.
pub(crate) fn list<'e>(value: &'e Expr, faults: &mut Faults) -> &'e [Expr] {
    match &value.kind {
        ExprKind::Tuple(items) => items,
        _ => {
            faults.invalid("Invalid expression", value.span, "a list is needed here");
            &[]
        }
    }
}

/// Returns whether an expression is one reference, in quotes or not.
pub(crate) fn is_reference(value: &Expr) -> bool {
    read(value).is_ok()
}

/// Reads an expression that is one reference, `NAME.NAME[KEY]`, and returns its first name.
pub(crate) fn whole<'e>(value: &'e Expr, faults: &mut Faults) -> Option<&'e str> {
    if matches!(value.kind, ExprKind::String(_)) {
        faults.odd("Quoted references are deprecated", value.span, "");
    }
    read(value)
        .map_err(|title| faults.invalid(title, value.span, "write a reference"))
        .ok()
}

fn read(value: &Expr) -> Result<&str, &'static str> {
    let (root, steps) = match &value.kind {
        ExprKind::String(text) => return quoted(text).map(|(root, _)| root),
        ExprKind::Traversal(base, steps) => (&**base, &**steps),
        _ => (value, &[][..]),
    };
    let root = word(root).filter(|_| steps.iter().all(is_fixed));
    root.ok_or("Invalid expression")
}

/// Reads an expression that is one word, perhaps in quotes, as in old versions.
pub(crate) fn keyword<'e>(value: &'e Expr, faults: &mut Faults) -> Option<&'e str> {
    let ExprKind::String(text) = &value.kind else {
        return word(value);
    };
    faults.odd("Quoted keywords are deprecated", value.span, "");
    match quoted(text) {
        Ok((root, 0)) => Some(root),
        _ => None,
    }
}

/// Returns the unquoted word that an expression is; the programs take keywords for names where they look
/// for one.
pub(crate) fn word(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Variable(name) => Some(name),
        ExprKind::Null => Some("null"),
        ExprKind::Bool(true) => Some("true"),
        ExprKind::Bool(false) => Some("false"),
        _ => None,
    }
}

/// Returns the title under which the programs refuse a text in quotes that is no reference.
pub(crate) fn fault_in_quoted(text: &str) -> Option<&'static str> {
    quoted(text).err()
}

/// Reads a reference in quotes: its first name, and how many steps follow.
fn quoted(text: &str) -> Result<(&str, usize), &'static str> {
    let (root, mut rest) = name(text).ok_or("Variable name required")?;
    let mut steps = 0;
    loop {
        rest = rest.trim_start();
        let Some(step) = rest.chars().next() else {
            return Ok((root, steps));
        };
        let behind = rest[step.len_utf8()..].trim_start();
        rest = match step {
            '.' => name(behind).ok_or("Attribute name required")?.1,
            '[' => {
                let behind = key(behind)?.trim_start();
                behind.strip_prefix(']').ok_or("Unclosed index brackets")?
            }
            _ => return Err("Invalid character"),
        };
        steps += 1;
    }
}

/// Splits a name off.
fn name(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let inside = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let end = text.find(|c| !inside(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    words::is_identifier(name).then_some((name, rest))
}

/// Passes over the key of an index.
fn key(text: &str) -> Result<&str, &'static str> {
    if let Some(text) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = text.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        return end.map_or(Err("Unterminated string literal"), |end| {
            Ok(&text[end + 1..])
        });
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let inside = |c: char| c.is_ascii_digit() || c == '.';
        return Ok(text.trim_start_matches(inside));
    }
    Err(if text.starts_with('*') {
        "Attribute name required"
    } else {
        "Index value required"
    })
}

/// The object of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceSubject<'e> {
    /// A resource of a kind, `ephemeral` and `data` too.
    Resource {
        kind: &'e str,
        type_name: &'e str,
        name: &'e str,
    },
    Count(&'e str),
    Each(&'e str),
    Action,
    /// An action with something behind it, which no action has.
    InsideAction,
    Module,
    /// Anything else that there is.
    Other,
}

impl<'e> ReferenceSubject<'e> {
    /// Says what a reference means.
    ///
    /// # Errors
    /// The title of the program if it can be nothing.
    pub(crate) fn of(used: Reference<'e>, flavor: Flavor) -> Result<Self, &'static str> {
        const INVALID: &str = "Invalid reference";
        let is_new = flavor.has_actions();
        let attribute = |at: usize| match used.steps.get(at) {
            Some(Step::Attr(name)) => Ok(&*name.text),
            _ => Err(INVALID),
        };
        match used.root {
            "self" => Ok(Self::Other),
            "caller" if is_new => Ok(Self::Other),
            "template" | "lazy" | "arg" => Err("Reserved symbol name"),
            "count" => attribute(0).map(Self::Count),
            "each" => attribute(0).map(Self::Each),
            "module" => attribute(0).map(|_| Self::Module),
            "var" | "local" | "path" | "terraform" => attribute(0).map(|_| Self::Other),
            "tofu" if flavor.is_opentofu() => attribute(0).map(|_| Self::Other),
            "action" if is_new => {
                attribute(0)?;
                attribute(1)?;
                // A third step may be the key of an instance. What comes behind that lies inside the action.
                let behind = match used.steps.get(2) {
                    Some(Step::Index(_)) => 3,
                    _ => 2,
                };
                if used.steps.len() > behind {
                    Ok(Self::InsideAction)
                } else {
                    Ok(Self::Action)
                }
            }
            "string" | "number" | "bool" | "any" if is_new && used.steps.is_empty() => {
                Ok(Self::Other)
            }
            kind @ ("resource" | "data" | "ephemeral") => Ok(Self::Resource {
                kind,
                type_name: attribute(0)?,
                name: attribute(1)?,
            }),
            type_name => Ok(Self::Resource {
                kind: "resource",
                type_name,
                name: attribute(0)?,
            }),
        }
    }
}

/// Returns whether an expression depends on anything but itself.
pub(crate) fn refers(value: &Expr) -> bool {
    !inside(value).is_empty()
}

/// Returns whether an expression uses the variable of a name.
pub(crate) fn refers_to_variable(value: &Expr, name: &str) -> bool {
    let means_it = |used: &Reference<'_>| {
        let first = used.steps.first();
        used.root == "var" && matches!(first, Some(Step::Attr(word)) if word.text == name)
    };
    inside(value).iter().any(means_it)
}
