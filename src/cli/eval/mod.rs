//! `lockctl eval`: what an expression comes to in a root, to find out why a source is what it is.

mod args;

use std::io::ErrorKind;

use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::config::{Evaluated, ValueState};
use crate::diag::Severity;
use crate::expr::{self, Typed, Value};
use crate::report::json::{EvaluatedExpression, PlainValue};
use crate::report::{CommandResult, Failure, RootDetail, RootResult, TextBlock};
use crate::run;
use crate::world::Replaced;
pub(in crate::cli) use args::EvalArgs;

/// The argument that stands for standard input.
const STANDARD: &str = "-";

/// The largest whole number up to which a double holds each.
const MAX_EXACT: u64 = 1 << 53;

/// Maximum size of an expression, in bytes.
const MAX_EXPRESSION_BYTES: u64 = 1024 * 1024;

impl Command for EvalArgs {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        run(common, self, world)
    }

    fn root_text(&self, root: &RootResult, _: Look) -> Vec<TextBlock> {
        match &root.detail {
            RootDetail::Value(value) => {
                let lines = value.text.split('\n').map(str::to_owned).collect();
                vec![TextBlock::Lines(lines)]
            }
            _ => Vec::new(),
        }
    }
}

fn run(common: &Common, args: &EvalArgs, world: World<'_>) -> CommandResult {
    let expression = match expression(args, world) {
        Ok(expression) => expression,
        Err(failure) => return CommandResult::failed("eval", [failure]),
    };
    let all = run::each(
        &common.options(),
        &args.roots.choice(),
        world,
        |root, texts, result| {
            let values = &args.values.0;
            let found = root.evaluate(world.disk, world.env, values, &expression, texts);
            let Evaluated { value, diagnostics } = found;
            for diagnostic in &diagnostics {
                match diagnostic.severity {
                    Severity::Note if !common.verbose => result.aside([diagnostic]),
                    _ => result.faults([diagnostic]),
                }
            }
            if let Some(value) = value {
                result.detail = RootDetail::Value(shown(&value));
            }
            Ok(Replaced::Done)
        },
    );
    all.into_result("eval")
}

/// Returns what was typed, or what comes from standard input.
fn expression(args: &EvalArgs, world: World<'_>) -> Result<Vec<u8>, Failure> {
    if args.expression != STANDARD {
        return Ok(args.expression.clone().into_bytes());
    }
    let input = world.env.input(MAX_EXPRESSION_BYTES);
    input.map_err(|error| Failure {
        title: "the expression could not be read from standard input".to_owned(),
        causes: vec![match error.kind() {
            ErrorKind::FileTooLarge => format!("it has more than {MAX_EXPRESSION_BYTES} bytes"),
            _ => error.to_string(),
        }],
        help: None,
    })
}

/// Describes a value without anything of it that must not be shown.
fn shown(value: &Typed) -> EvaluatedExpression {
    let (_, marks) = value.clone().bare();
    let state = match (marks.sensitive, marks.ephemeral) {
        (true, _) => ValueState::Sensitive,
        (false, true) => ValueState::Ephemeral,
        _ if !value.value.is_wholly_known() => ValueState::Unknown,
        _ => ValueState::Known,
    };
    EvaluatedExpression {
        ty: value.ty.to_string(),
        state,
        value: (state == ValueState::Known).then(|| plain(&value.value)),
        text: expr::as_console(value),
    }
}

fn plain(value: &Value) -> PlainValue {
    match value {
        // Neither is there in a value that may be shown.
        Value::Null | Value::Unknown | Value::Marked(..) => PlainValue::Null,
        Value::Bool(value) => PlainValue::Bool(*value),
        Value::Number(number) => {
            let text = number.to_string();
            // A number of JSON is one only where every reader takes it for the same one.
            match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(whole), _) if whole.unsigned_abs() <= MAX_EXACT => PlainValue::Whole(whole),
                (Err(_), Ok(number)) if number.to_string() == text => PlainValue::Number(number),
                _ => PlainValue::Text(text),
            }
        }
        Value::String(text) => PlainValue::Text(text.clone()),
        Value::Tuple(items) => PlainValue::List(items.iter().map(plain).collect()),
        Value::Object(items) => PlainValue::Map(
            items
                .iter()
                .map(|(name, item)| (name.clone(), plain(item)))
                .collect(),
        ),
    }
}
