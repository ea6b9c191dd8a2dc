//! Functions: a table of what each of them takes, and the call of one (rules 6).
//!
//! What all of them have in common is done here, as the programs do it: arguments are converted, a null
//! where none is taken is refused, marks go from the arguments to the result, and of what is not known
//! nothing is computed. A function that is missing here is no error of the program: its result is
//! uncertain.

mod closures;
mod collections;
mod csv;
mod dialect;
mod encoding;
mod extra;
mod files;
mod format;
mod hashes;
mod networks;
mod numbers;
mod patterns;
mod products;
mod sequences;
mod strings;
#[cfg(test)]
mod tests;
mod times;
mod transcode;
mod yaml;

use super::convert::{Misfit, convert};
use super::eval::{Eval, NotConstant, Outcome};
use super::scope::{FunctionSet, Surroundings};
use super::typed::Typed;
use super::types::Type;
use super::value::{Marks, Value};
use crate::diag::{Span, rules};
use crate::hcl::tree::{Call, Expr};

const BAD_ARGUMENT: &str = "Invalid function argument";

/// One function.
struct Function {
    name: &'static str,
    takes: &'static [Takes],
    /// What further arguments are, if there may be any.
    rest: Option<Takes>,
    needs: Needs,
    gives: Gives,
    run: fn(&[Typed], &Limits<'_>) -> Result<Typed, Fault>,
}

/// What a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Anything but null.
    Any,
    /// Anything.
    Maybe,
    Text,
    Number,
    /// A list of strings.
    Texts,
    /// A list of whatever the items have in common.
    List,
    /// The same as a set.
    Set,
    /// A list of bools.
    Truths,
    /// A map of lists of strings.
    TextLists,
}

impl Takes {
    fn ty(self) -> Type {
        match self {
            Self::Any | Self::Maybe => Type::Any,
            Self::Text => Type::String,
            Self::Number => Type::Number,
            Self::Texts => Type::List(Box::new(Type::String)),
            Self::List => Type::List(Box::new(Type::Any)),
            Self::Set => Type::Set(Box::new(Type::Any)),
            Self::Truths => Type::List(Box::new(Type::Bool)),
            Self::TextLists => Type::Map(Box::new(Self::Texts.ty())),
        }
    }
}

/// How much of the arguments must be known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing: it looks at what it needs.
    Nothing,
    /// The arguments, but not all of their parts.
    Whole,
    /// Everything.
    Parts,
}

/// What a function gives where its arguments are not known.
#[derive(Clone, Copy)]
enum Gives {
    Text,
    Number,
    Truth,
    Open,
}

impl Gives {
    fn ty(self) -> Type {
        match self {
            Self::Text => Type::String,
            Self::Number => Type::Number,
            Self::Truth => Type::Bool,
            Self::Open => Type::Any,
        }
    }
}

/// Why a function has no result.
enum Fault {
    /// The program refuses an argument.
    Argument(usize, String),
    /// The program refuses the call.
    Call(String),
    /// The program may have a result.
    Uncertain(&'static str),
}

/// What a function may look at, and how much it may make.
struct Limits<'s> {
    around: &'s Surroundings<'s>,
    work: usize,
}

impl Limits<'_> {
    /// Checks that as much as this may be made.
    fn allow(&self, work: usize) -> Result<(), Fault> {
        match work <= self.work {
            true => Ok(()),
            false => Err(Fault::Uncertain("this computes too much")),
        }
    }
}

impl From<Misfit> for Fault {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Refused(reason) => Self::Argument(0, reason),
            Misfit::Uncertain(reason) => Self::Uncertain(reason),
        }
    }
}

/// All tables.
const TABLES: [&[Function]; 15] = [
    collections::TABLE,
    csv::TABLE,
    encoding::TABLE,
    files::TABLE,
    format::TABLE,
    hashes::TABLE,
    networks::TABLE,
    numbers::TABLE,
    patterns::TABLE,
    products::TABLE,
    sequences::TABLE,
    strings::TABLE,
    times::TABLE,
    transcode::TABLE,
    yaml::TABLE,
];

/// Functions of the programs that are missing here.
///
/// Some stay: what `base64gzip` gives hangs on one implementation of DEFLATE, `log` on the rounding of
/// floats; `bcrypt` draws a random salt; no source needs a private key, for `rsadecrypt`.
const MISSING: &[&str] = &[
    "base64gzip",
    "bcrypt",
    "convert",
    "fileset",
    "log",
    "rsadecrypt",
    "templatestring",
    "yamlencode",
];

/// Functions that only OpenTofu has.
const ONLY_OPENTOFU: &[&str] = &["base64gunzip", "cidrcontains", "urldecode"];

/// Functions that only Terraform has.
const ONLY_TERRAFORM: &[&str] = &["convert"];

/// Functions that came after Terraform 0.15.3.
const AFTER_0_15: &[&str] = &[
    "base64gunzip",
    "cidrcontains",
    "convert",
    "endswith",
    "ephemeralasnull",
    "issensitive",
    "plantimestamp",
    "startswith",
    "strcontains",
    "templatestring",
    "timecmp",
    "urldecode",
];

/// Functions that Terraform 0.15.3 has only to report that they are gone.
const REMOVED: &[&str] = &["list", "map"];

/// Returns whether a function is one of the other program, or of a later version.
fn is_foreign(name: &str, around: &Surroundings<'_>) -> bool {
    if around.functions == FunctionSet::Terraform0_15 {
        return AFTER_0_15.contains(&name) || name.contains("::");
    }
    // Only with OpenTofu, values that differ from run to run are known early.
    match around.has_volatile {
        true => ONLY_TERRAFORM.contains(&name),
        false => ONLY_OPENTOFU.contains(&name),
    }
}

/// Calls a function.
pub(super) fn call<'e>(eval: &mut Eval<'e>, call: &'e Call, span: Span) -> Outcome {
    let name = call.name.text.as_str();
    let Some(around) = eval.scope.functions else {
        let title = "Function calls not allowed";
        return eval.refuse(rules::NOT_CONSTANT, title, call.name.span, "");
    };
    if let Some(extra) = around.extra.filter(|extra| extra.knows(name)) {
        return extra::call(eval, extra, call, span);
    }
    let is_current = around.functions == FunctionSet::Current;
    let name = match name.strip_prefix("core::") {
        Some(own) if is_current => own,
        _ => name,
    };
    if name.contains("::") && is_current {
        // Only a running provider knows what its functions give.
        return Ok(Typed::unknown(Type::Any));
    }
    if (is_current || !is_foreign(name, around))
        && let Some(found) = closures::call(eval, name, call, span)
    {
        return found;
    }
    let mut all = TABLES.iter().copied().flatten();
    let function = all.find(|function| function.name == name);
    let Some(function) = function.filter(|_| !is_foreign(name, around)) else {
        let is_old = around.functions == FunctionSet::Terraform0_15;
        if is_old && REMOVED.contains(&name) {
            let note = format!("the function {name} was removed");
            return eval.refuse(rules::WRONG_TYPE, "Error in function call", span, &note);
        }
        let is_missing = MISSING.contains(&name) || is_old && name == "defaults";
        if is_missing && !is_foreign(name, around) {
            let reason = format!("lockctl does not compute the function {name}");
            return eval.uncertain(call.name.span, &reason);
        }
        let note = format!("there is no function {name:?}");
        return eval.refuse(
            rules::NOT_CONSTANT,
            "Call to unknown function",
            call.name.span,
            &note,
        );
    };
    if !call.expand_final {
        let spans: Vec<Span> = call.args.iter().map(|arg| arg.span).collect();
        count(eval, function, &spans, span)?;
    }
    let (args, spans) = arguments(eval, call)?;
    let args = match args {
        Ok(args) => args,
        Err(marks) => return Ok(Typed::unknown(function.gives.ty()).marked(marks)),
    };
    if call.expand_final {
        count(eval, function, &spans, span)?;
    }
    let mut marks = Marks::default();
    let mut problems = NotConstant::default();
    let mut taken = Vec::new();
    for (at, (arg, place)) in args.into_iter().zip(&spans).enumerate() {
        // Parts keep their marks where they go into the result as they are.
        let (arg, own) = match function.needs {
            Needs::Parts => arg.bare(),
            Needs::Nothing | Needs::Whole => arg.unmarked(),
        };
        marks = marks.and(own);
        let takes = function.takes.get(at).copied().or(function.rest);
        match take(eval, arg, takes.unwrap_or(Takes::Any), *place) {
            Ok(arg) => taken.push(arg),
            Err(found) => problems.add(found),
        }
    }
    let args = problems.or_value(taken)?;
    let is_known = |arg: &Typed| match function.needs {
        Needs::Nothing => true,
        Needs::Whole => !arg.is_unknown(),
        Needs::Parts => arg.value.is_wholly_known(),
    };
    if !args.iter().all(is_known) {
        return Ok(Typed::unknown(function.gives.ty()).marked(marks));
    }
    let limits = Limits {
        around,
        work: eval.work,
    };
    let result = match (function.run)(&args, &limits) {
        Ok(result) => result,
        Err(fault) => return failed(eval, fault, &spans, span),
    };
    eval.charge(span, result.weight())?;
    Ok(result.marked(marks))
}

/// Reports why a function has no result.
fn failed(eval: &Eval<'_>, fault: Fault, spans: &[Span], call: Span) -> Outcome {
    match fault {
        Fault::Argument(at, reason) => {
            let place = spans.get(at).copied().unwrap_or(call);
            eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, place, &reason)
        }
        Fault::Call(reason) => {
            eval.refuse(rules::WRONG_TYPE, "Error in function call", call, &reason)
        }
        Fault::Uncertain(reason) => eval.uncertain(call, reason),
    }
}

/// The arguments of a call; where it is not known how many there are, the marks of those.
type Arguments = Result<Vec<Typed>, Marks>;

/// Evaluates the arguments of a call, each with its place.
fn arguments<'e>(eval: &mut Eval<'e>, call: &'e Call) -> Outcome<(Arguments, Vec<Span>)> {
    let mut args = eval.all(&call.args)?;
    let mut spans: Vec<Span> = call.args.iter().map(|arg: &Expr| arg.span).collect();
    if !call.expand_final {
        return Ok((Ok(args), spans));
    }
    let (Some(last), Some(place)) = (args.pop(), spans.pop()) else {
        return Ok((Ok(args), spans));
    };
    let (last, marks) = last.unmarked();
    let title = "Invalid expanding argument value";
    match last.value {
        Value::Unknown => return Ok((Err(marks), spans)),
        Value::Tuple(_) => {}
        _ => return eval.refuse(rules::WRONG_TYPE, title, place, "a list is needed here"),
    }
    for item in last.into_items().unwrap_or_default() {
        args.push(item.marked(marks));
        spans.push(place);
    }
    Ok((Ok(args), spans))
}

/// Checks how many arguments there are.
fn count(eval: &Eval<'_>, function: &Function, spans: &[Span], call: Span) -> Outcome<()> {
    let Function {
        name, takes, rest, ..
    } = function;
    let wanted = takes.len();
    if spans.len() < wanted {
        let note = format!("{name} takes {wanted} arguments or more");
        return eval.refuse(
            rules::WRONG_TYPE,
            "Not enough function arguments",
            call,
            &note,
        );
    }
    match spans.get(wanted) {
        Some(first) if rest.is_none() => {
            let note = format!("{name} takes only {wanted}");
            eval.refuse(
                rules::WRONG_TYPE,
                "Too many function arguments",
                *first,
                &note,
            )
        }
        _ => Ok(()),
    }
}

/// Converts an argument.
fn take(eval: &Eval<'_>, arg: Typed, takes: Takes, place: Span) -> Outcome {
    if arg.value == Value::Null && takes != Takes::Maybe {
        return eval.refuse(
            rules::WRONG_TYPE,
            BAD_ARGUMENT,
            place,
            "this must not be null",
        );
    }
    match convert(arg, &takes.ty()) {
        Ok(arg) => Ok(arg),
        Err(Misfit::Refused(reason)) => {
            eval.refuse(rules::WRONG_TYPE, BAD_ARGUMENT, place, &reason)
        }
        Err(Misfit::Uncertain(reason)) => eval.uncertain(place, reason),
    }
}

/// Returns the text of an argument that is a string.
fn text(args: &[Typed], at: usize) -> &str {
    match args.get(at).map(|arg| &arg.value) {
        Some(Value::String(text)) => text,
        _ => "",
    }
}

/// Returns the items of an argument that is a sequence.
fn items(args: &[Typed], at: usize) -> Vec<Typed> {
    let items = args.get(at).and_then(|arg| arg.clone().into_items());
    items.unwrap_or_default()
}

/// Returns the texts of the items of an argument; of null there is none.
fn texts(args: &[Typed], at: usize) -> Vec<Option<&str>> {
    match args.get(at).map(|arg| &arg.value) {
        Some(Value::Tuple(items)) => items
            .iter()
            .map(|item| match item {
                Value::String(text) => Some(text.as_str()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
