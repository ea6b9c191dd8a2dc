//! The options that give values to variables, in the order of the command line.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches, value_parser};

use crate::config::ValueArgument;

/// Values for the variables of a root.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableValues(pub(crate) Vec<ValueArgument>);

const VAR: &str = "var";
const VAR_FILE: &str = "var_file";

impl FromArgMatches for VariableValues {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut values = Self::default();
        values.update_from_arg_matches(matches)?;
        Ok(values)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let places = |id| matches.indices_of(id).into_iter().flatten();
        let texts = matches.get_many::<String>(VAR).into_iter().flatten();
        let files = matches.get_many::<std::path::PathBuf>(VAR_FILE);
        let mut typed: Vec<(usize, ValueArgument)> = Vec::new();
        for (at, text) in places(VAR).zip(texts) {
            let value = match text.split_once('=') {
                Some((name, text)) if !name.trim().is_empty() => ValueArgument::Value {
                    name: name.trim().to_owned(),
                    text: text.to_owned(),
                },
                _ => {
                    let text = format!("--var needs NAME=VALUE, not {text:?}\n");
                    return Err(Error::raw(ErrorKind::ValueValidation, text));
                }
            };
            typed.push((at, value));
        }
        for (at, path) in places(VAR_FILE).zip(files.into_iter().flatten()) {
            typed.push((at, ValueArgument::File(path.clone())));
        }
        // clap keeps the values of each option apart, and of `--var` and `--var-file` the later one
        // counts (`config` rules 9.4).
        typed.sort_by_key(|(at, _)| *at);
        self.0 = typed.into_iter().map(|(_, argument)| argument).collect();
        Ok(())
    }
}

impl clap::Args for VariableValues {
    fn augment_args(command: Command) -> Command {
        let var = Arg::new(VAR)
            .long("var")
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .value_parser(value_parser!(String))
            .help("Give a variable of the root a value that module sources depend on")
            .long_help(
                "Give a variable of the root a value that module sources depend on\n\n\
                 Text as it is, or an expression if the type of the variable is not primitive. \
                 Of several values the last one counts, before it those of *.auto.tfvars, of \
                 terraform.tfvars and of TF_VAR_NAME. Commands in advice repeat the value, so give no \
                 secrets.",
            );
        let file = Arg::new(VAR_FILE)
            .long("var-file")
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(value_parser!(std::path::PathBuf))
            .help("Read values of variables from this file of the root");
        command.arg(var).arg(file)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
