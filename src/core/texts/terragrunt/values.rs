//! Values as Terragrunt merges them (rules 3.3).

use crate::expr::{Type, Typed, Value};

/// Merges objects by key.
pub(super) fn shallow(upper: &Typed, parent: &Typed) -> Typed {
    match (&upper.value, &parent.value) {
        (Value::Object(_), Value::Object(_)) => {
            let mut merged = parent.attributes();
            merged.extend(upper.attributes());
            Typed::object(merged)
        }
        (Value::Unknown, _) | (_, Value::Unknown) => Typed::unknown(Type::Any),
        _ => upper.clone(),
    }
}

/// Merges objects recursively, and appends a list to that of the parent.
pub(super) fn deep(upper: &Typed, parent: &Typed) -> Typed {
    match (&upper.value, &parent.value) {
        (Value::Object(_), Value::Object(_)) => {
            let mut merged = parent.attributes();
            for (name, item) in upper.attributes() {
                let item = match merged.get(&name) {
                    Some(known) => deep(&item, known),
                    None => item,
                };
                merged.insert(name, item);
            }
            Typed::object(merged)
        }
        (Value::Tuple(_), Value::Tuple(_)) => {
            let list = parent.clone().into_items().unwrap_or_default();
            let upper = upper.clone().into_items().unwrap_or_default();
            Typed::tuple(list.into_iter().chain(upper).collect())
        }
        (Value::Unknown, _) | (_, Value::Unknown) => Typed::unknown(Type::Any),
        _ => upper.clone(),
    }
}
