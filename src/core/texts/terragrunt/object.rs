//! The object that expressions and `render --json` see of a configuration (rules 3.2).

use std::collections::BTreeMap;

use super::evaluation::{Evaluation, FileRole};
use super::file_config::{Arguments, FileConfig, Wanted};
use super::outcome::Outcome;
use crate::expr::{Type, Typed};

type Attributes = BTreeMap<String, Typed>;

/// The value of an argument that is not set.
#[derive(Clone, Copy)]
enum DefaultValue {
    False,
    Null,
    Text(&'static str),
}

use DefaultValue::{False, Null, Text};

/// Arguments that the object has in any case, with their values where they are not set.
type Defaults = &'static [(&'static str, DefaultValue)];

const TOP: Defaults = &[
    ("download_dir", Text("")),
    ("iam_assume_role_session_name", Text("")),
    ("iam_role", Text("")),
    ("iam_web_identity_token", Text("")),
    ("terraform_binary", Text("")),
    ("terraform_version_constraint", Text("")),
    ("terragrunt_version_constraint", Text("")),
    ("dependencies", Null),
    ("iam_assume_role_duration", Null),
    ("inputs", Null),
    ("locals", Null),
];

const GENERATE: Defaults = &[
    ("disable_signature", False),
    ("disable", False),
    ("comment_prefix", Text("# ")),
    ("if_disabled", Text("skip")),
    ("contents", Text("")),
];

const REMOTE_STATE: Defaults = &[
    ("disable_init", False),
    ("disable_dependency_optimization", False),
    ("generate", Null),
    ("config", Null),
    ("encryption", Null),
];

const TERRAFORM: Defaults = &[
    ("source", Null),
    ("include_in_copy", Null),
    ("exclude_from_copy", Null),
    ("copy_terraform_lock_file", Null),
];

impl Evaluation<'_> {
    /// Returns a section of the configuration of one file as an object, or all sections. A unit's parents are
    /// merged first.
    pub(super) fn section_of_configuration(
        &mut self,
        at: usize,
        section: Option<&str>,
    ) -> Outcome<Typed> {
        let wanted = section.map_or(Wanted::Everything, Wanted::Section);
        let config = match self.instances[at].role {
            FileRole::Unit => self.merged(at, wanted)?,
            FileRole::Parent(_) | FileRole::Autoinclude => self.file_config(at, wanted),
        };
        let mut sections = object(&config)?;
        if let Some(section) = section {
            sections.retain(|name, _| name == section);
        }
        Ok(Typed::object(sections))
    }
}

/// Makes an object of a configuration.
///
/// # Errors
/// The first argument that has no value.
pub(super) fn object(config: &FileConfig) -> Outcome<Attributes> {
    let mut sections = with_defaults(&config.attributes, TOP)?;
    let mut set = |name: &str, value: Typed| sections.insert(name.to_owned(), value);
    if !config.locals.is_empty() {
        set("locals", Typed::object(values(&config.locals)?));
    }
    if let Some(paths) = &config.dependencies {
        let paths = Typed::clone(&*paths.outcome.clone()?);
        set(
            "dependencies",
            Typed::object([("paths".to_owned(), paths)].into()),
        );
    }
    let mut generate = Attributes::new();
    for (label, block) in &config.generate {
        let file = with_defaults(&block.arguments, GENERATE)?;
        generate.insert(label.clone(), Typed::object(file));
    }
    set("generate", Typed::object(generate));
    let mut dependencies = Attributes::new();
    for (label, arguments) in &config.dependency {
        let mut dependency = named(label, arguments)?;
        // `render --json` has another name for it than the block.
        if let Some(skip) = dependency.remove("skip_outputs") {
            dependency.insert("skip".to_owned(), skip);
        }
        dependencies.insert(label.clone(), Typed::object(dependency));
    }
    set("dependency", Typed::object(dependencies));
    let mut features = Attributes::new();
    for (label, arguments) in &config.feature {
        features.insert(label.clone(), Typed::object(named(label, arguments)?));
    }
    set("feature", Typed::object(features));
    if let Some(arguments) = &config.terraform {
        set("terraform", terraform(arguments, config)?);
    }
    if let Some(remote_state) = &config.remote_state {
        let arguments = with_defaults(&remote_state.arguments.clone()?, REMOTE_STATE)?;
        set("remote_state", Typed::object(arguments));
    }
    for (kind, arguments) in &config.others {
        // The nested blocks of the others are not read, so that not all of these is known.
        let value = match kind.as_str() {
            "exclude" => Typed::object(values(arguments)?),
            _ => Typed::unknown(Type::Any),
        };
        set(kind, value);
    }
    Ok(sections)
}

fn terraform(arguments: &Arguments, config: &FileConfig) -> Outcome<Typed> {
    let mut attributes = with_defaults(arguments, TERRAFORM)?;
    let kinds = ["extra_arguments", "before_hook", "after_hook", "error_hook"];
    let mut commands: BTreeMap<String, Attributes> = kinds
        .map(|kind| (kind.to_owned(), Attributes::new()))
        .into();
    for ((kind, label), arguments) in &config.commands {
        let command = Typed::object(named(label, arguments)?);
        let commands = commands.entry(kind.clone()).or_default();
        commands.insert(label.clone(), command);
    }
    for (kind, commands) in commands {
        attributes.insert(kind, Typed::object(commands));
    }
    Ok(Typed::object(attributes))
}

fn with_defaults(arguments: &Arguments, defaults: Defaults) -> Outcome<Attributes> {
    let mut attributes = values(arguments)?;
    for (name, default) in defaults {
        attributes
            .entry((*name).to_owned())
            .or_insert_with(|| match default {
                False => Typed::bool(false),
                Null => Typed::null(Type::Any),
                Text(text) => Typed::string(*text),
            });
    }
    Ok(attributes)
}

/// Returns the values of a block's arguments, and its label as `name`.
fn named(label: &str, arguments: &Arguments) -> Outcome<Attributes> {
    let mut attributes = values(arguments)?;
    attributes.insert("name".to_owned(), Typed::string(label));
    Ok(attributes)
}

fn values(arguments: &Arguments) -> Outcome<Attributes> {
    arguments
        .iter()
        .map(|(name, slot)| Ok((name.clone(), Typed::clone(&*slot.outcome.clone()?))))
        .collect()
}
