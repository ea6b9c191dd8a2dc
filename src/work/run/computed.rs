//! Rows about computed values and the values behind them.

use crate::config::{
    ComputedArgument, ComputedCall, TracedPlace, TracedValue, VALUE_PREFIX, ValueOrigin, ValueState,
};

/// Maximum number of indented levels; deeper ones are indented like the last of them.
const MAX_INDENT: usize = 8;

/// Makes a row for each argument that is computed, and for each value behind it.
pub(crate) fn rows(call: &ComputedCall) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = call
        .arguments()
        .map(|(name, computed)| argument(name, computed))
        .chain(call.values.iter().map(value))
        .collect();
    if !call.complete {
        rows.push(vec!["  … and more values".to_owned()]);
    }
    rows
}

fn argument(name: &str, argument: &ComputedArgument) -> Vec<String> {
    let mut origin = at(&argument.place);
    match (&argument.value, &argument.missing) {
        (_, Some(missing)) => origin += &format!(", not computed: {missing}"),
        (Some(value), None) => origin += &format!(", which is {value}"),
        (None, None) => {}
    }
    vec![format!("{name} = {}", argument.expression), origin]
}

fn value(value: &TracedValue) -> Vec<String> {
    let shown = match value.state {
        ValueState::Known => value.value.as_deref().unwrap_or_default(),
        ValueState::Sensitive => "(sensitive value)",
        ValueState::Ephemeral => "(ephemeral value)",
        ValueState::Unknown => "(not known before the plan)",
        ValueState::NotComputed => "(not computed)",
    };
    let mut origin = origin(value);
    match (&value.missing, value.state) {
        // The origin says it.
        (Some(_), ValueState::NotComputed) if value.from == ValueOrigin::Unset => {}
        (Some(missing), ValueState::NotComputed) => {
            origin += &format!(", not computed: {missing}");
        }
        (Some(missing), _) => origin += &format!(", but {missing}"),
        (None, _) => {}
    }
    let indent = "  ".repeat(1 + value.level.min(MAX_INDENT));
    vec![format!("{indent}{} = {shown}", value.name), origin]
}

/// Says where a value is given.
fn origin(value: &TracedValue) -> String {
    let place = value.place.as_ref().map_or_else(String::new, at);
    // `value.name` is `var.NAME`; the environment and `--var` take the name alone.
    let name = value.name.split('.').nth(1).unwrap_or_default();
    match value.from {
        ValueOrigin::Local | ValueOrigin::ValuesFile => place,
        ValueOrigin::Unset => format!("{place}, no value"),
        ValueOrigin::Default => format!("{place}, default"),
        ValueOrigin::DefaultForNull => format!("{place}, default instead of null"),
        ValueOrigin::Argument => format!("{place}, argument of {}", value.module),
        ValueOrigin::Run => format!("{place}, variable of {}", value.module),
        ValueOrigin::Environment => format!("{VALUE_PREFIX}{name}"),
        ValueOrigin::CommandLine => format!("--var {name}"),
        ValueOrigin::Program => "selected".to_owned(),
    }
}

fn at(place: &TracedPlace) -> String {
    format!("{}:{}", place.file, place.line)
}
