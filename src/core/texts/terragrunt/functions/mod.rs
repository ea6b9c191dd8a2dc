//! Terragrunt's own functions (rules 5).
//!
//! What needs a run of Terragrunt, a program, keys or the network is unknown, and the reason is recorded.

mod directories;
mod read;
mod texts;

use std::cell::RefCell;

use super::evaluation::Evaluation;
use super::outcome::UnknownCause;
use crate::expr::{ExtraCall, ExtraFault, ExtraFunctions, Type, Typed, Value};

/// The functions, as expressions of one file call them.
pub(super) struct Calls<'c, 'a> {
    pub(super) evaluation: RefCell<&'c mut Evaluation<'a>>,
    /// The file that holds the calls.
    pub(super) at: usize,
}

type Answer = Result<Typed, ExtraFault>;

/// Functions whose values only a run of Terragrunt knows, with the reasons (rules 5.6).
const UNKNOWN: [(&str, &str); 9] = [
    ("get_aws_account_alias", "AWS is not asked"),
    ("get_aws_account_id", "AWS is not asked"),
    ("get_aws_caller_identity_arn", "AWS is not asked"),
    ("get_aws_caller_identity_user_id", "AWS is not asked"),
    (
        "get_default_retryable_errors",
        "the list belongs to a version of Terragrunt",
    ),
    (
        "get_working_dir",
        "the directory in the cache depends on the machine",
    ),
    ("mark_glob_as_read", "the files of a pattern are not listed"),
    ("run_cmd", "run_cmd runs a program"),
    ("sops_decrypt_file", "sops_decrypt_file needs keys"),
];

/// Functions that list commands, with the commands.
const COMMANDS: [(&str, &str); 4] = [
    (
        "get_terraform_commands_that_need_input",
        "apply import init plan refresh",
    ),
    (
        "get_terraform_commands_that_need_locking",
        "apply destroy import plan refresh taint untaint",
    ),
    (
        "get_terraform_commands_that_need_parallelism",
        "apply plan destroy",
    ),
    (
        "get_terraform_commands_that_need_vars",
        "apply console destroy import plan push refresh",
    ),
];

/// The names of all other functions.
const NAMES: [&str; 23] = [
    "constraint_check",
    "deep_merge",
    "endswith",
    "find_in_parent_folders",
    "get_env",
    "get_original_terragrunt_dir",
    "get_parent_terragrunt_dir",
    "get_path_from_repo_root",
    "get_path_to_repo_root",
    "get_platform",
    "get_repo_root",
    "get_terraform_cli_args",
    "get_terraform_command",
    "get_terragrunt_dir",
    "get_terragrunt_source_cli_flag",
    "mark_as_read",
    "path_relative_from_include",
    "path_relative_to_include",
    "read_terragrunt_config",
    "read_tfvars_file",
    "startswith",
    "strcontains",
    "timecmp",
];

/// Finds what a table has for a name.
fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

impl ExtraFunctions for Calls<'_, '_> {
    fn knows(&self, name: &str) -> bool {
        NAMES.contains(&name) || find(&UNKNOWN, name).or(find(&COMMANDS, name)).is_some()
    }

    fn call(&self, call: ExtraCall<'_>) -> Answer {
        let evaluation = &mut **self.evaluation.borrow_mut();
        let at = self.at;
        match call.name {
            // These two take values of any type; all others take texts (rules 5.1).
            "read_terragrunt_config" => return read::configuration(evaluation, at, &call),
            // An experiment in the version that is followed (rules 5.12).
            "deep_merge" => {
                return refused("deep_merge needs the experiment of that name");
            }
            _ => {}
        }
        let Some(args) = strings(&call)? else {
            return Ok(Typed::unknown(Type::Any));
        };
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        if let Some(reason) = find(&UNKNOWN, call.name) {
            return Ok(unknown(evaluation, at, &call, reason));
        }
        if let Some(commands) = find(&COMMANDS, call.name) {
            return Ok(list(commands.split(' ')));
        }
        let without_args = |value: Typed| {
            if call.args.is_empty() {
                return Ok(value);
            }
            refused(format!("{} takes no arguments", call.name))
        };
        match call.name {
            "find_in_parent_folders" => directories::find(evaluation, at, &args),
            "path_relative_to_include"
            | "path_relative_from_include"
            | "get_parent_terragrunt_dir" => {
                directories::of_include(evaluation, at, call.name, &args)
            }
            // In a parent this is the directory of the unit (rules 3.2).
            "get_terragrunt_dir" => without_args(path(&evaluation.instances[at].unit_dir)),
            "get_original_terragrunt_dir" => without_args(path(&evaluation.instances[0].unit_dir)),
            "get_repo_root" | "get_path_from_repo_root" | "get_path_to_repo_root" => without_args(
                Typed::string(directories::of_repository(evaluation, at, call.name)?),
            ),
            "get_platform" => without_args(Typed::string(evaluation.around.platform)),
            "get_env" => variable(evaluation, at, &call, &args),
            "read_tfvars_file" => read::variables(evaluation, at, &args),
            _ => command(evaluation, at, &call, &args),
        }
    }
}

/// Calls functions about the command that runs, and those of texts.
fn command(
    evaluation: &mut Evaluation<'_>,
    at: usize,
    call: &ExtraCall<'_>,
    args: &[&str],
) -> Answer {
    match call.name {
        // Any command may run later, unless one is given (rules 5.7).
        "get_terraform_command" | "get_terraform_cli_args" => {
            let Some(words) = evaluation.around.command.clone() else {
                let reason = "it depends on the command that runs";
                return Ok(unknown(evaluation, at, call, reason));
            };
            Ok(match call.name {
                "get_terraform_command" => {
                    Typed::string(words.first().map(String::as_str).unwrap_or_default())
                }
                _ => list(words.iter().map(String::as_str)),
            })
        }
        // No flag is given: the answer of a run without `--source`.
        "get_terragrunt_source_cli_flag" => Ok(Typed::string("")),
        "mark_as_read" => match args {
            [path] => Ok(Typed::string(*path)),
            _ => Err(expected(call, 1)),
        },
        "constraint_check" => texts::constraint_check(call, args),
        _ => texts::of_language(evaluation, call, args),
    }
}

/// Returns an environment variable. An unset one is an error of Terragrunt, but unknown here: Terragrunt may run
/// with another environment.
fn variable(
    evaluation: &mut Evaluation<'_>,
    at: usize,
    call: &ExtraCall<'_>,
    args: &[&str],
) -> Answer {
    let (name, default) = match args {
        [name] => (*name, None),
        [name, default] => (*name, Some(*default)),
        _ => {
            return refused("get_env takes one or two arguments");
        }
    };
    if name.is_empty() {
        return refused("the name of a variable must not be empty");
    }
    // A variable that is set but empty is set (rules 5.3).
    match ((evaluation.around.variable)(name), default) {
        (Some(_), _) if evaluation.around.hides_variables => {
            let reason = "values of the environment are not used here";
            Ok(unknown(evaluation, at, call, reason))
        }
        (Some(value), _) => Ok(Typed::string(value)),
        (None, Some(default)) => Ok(Typed::string(default)),
        (None, None) => {
            let reason = format!("the environment variable {name} is not set");
            Ok(unknown(evaluation, at, call, &reason))
        }
    }
}

/// Converts all arguments to texts, as Terragrunt does (rules 5.1); `None` if one is unknown.
fn strings(call: &ExtraCall<'_>) -> Result<Option<Vec<String>>, ExtraFault> {
    let mut texts = Vec::new();
    let mut is_known = true;
    for (at, arg) in call.args.iter().enumerate() {
        match &arg.value {
            // Null is refused, also for parameters that may be left out (rules 5.1).
            Value::Null => {
                let reason = "argument must not be null".to_owned();
                return Err(ExtraFault::Argument(at, reason));
            }
            Value::Unknown => is_known = false,
            value => match value.to_text() {
                Some(text) => texts.push(text),
                None => {
                    let reason = "a string is required".to_owned();
                    return Err(ExtraFault::Argument(at, reason));
                }
            },
        }
    }
    Ok(is_known.then_some(texts))
}

/// Makes an unknown value, and records the reason.
fn unknown(
    evaluation: &mut Evaluation<'_>,
    at: usize,
    call: &ExtraCall<'_>,
    reason: &str,
) -> Typed {
    let place = evaluation.place(at, call.span);
    evaluation.record(UnknownCause {
        text: reason.to_owned(),
        place,
    });
    Typed::unknown(Type::Any)
}

fn refused<T>(reason: impl Into<String>) -> Result<T, ExtraFault> {
    Err(ExtraFault::Call(reason.into()))
}

fn uncertain<T>(reason: impl Into<String>) -> Result<T, ExtraFault> {
    Err(ExtraFault::Uncertain(reason.into()))
}

fn expected(call: &ExtraCall<'_>, count: usize) -> ExtraFault {
    let (name, given) = (call.name, call.args.len());
    ExtraFault::Call(format!("{name} takes {count} arguments, not {given}"))
}

fn path(path: &std::path::Path) -> Typed {
    Typed::string(path.display().to_string())
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> Typed {
    let items = texts.map(|text| Value::string(text.to_owned()));
    Typed::list(Type::String, items.collect())
}
