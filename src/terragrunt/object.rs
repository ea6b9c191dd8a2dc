//! The object that expressions and `render --json` see of a configuration (rules 3.2).

use std::collections::BTreeMap;

use super::evaluation::{Evaluation, FileRole};
use super::file_config::{Arguments, FileConfig, Wanted};
use super::outcome::Outcome;
use crate::expr::{Type, Typed};

type Attributes = BTreeMap<String, Typed>;

/// Attributes that are texts, and empty where they are not set.
const TEXTS: [&str; 7] = [
    "download_dir",
    "iam_assume_role_session_name",
    "iam_role",
    "iam_web_identity_token",
    "terraform_binary",
    "terraform_version_constraint",
    "terragrunt_version_constraint",
];

/// Attributes that are null where they are not set.
const NULLS: [&str; 4] = [
    "dependencies",
    "iam_assume_role_duration",
    "inputs",
    "locals",
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
    // Terragrunt stops at any error (rules 2.4).
    if let Some(stop) = config.refused.first() {
        return Err(stop.clone());
    }
    let mut sections = Attributes::new();
    for name in TEXTS {
        sections.insert(name.to_owned(), Typed::string(""));
    }
    set_defaults(&mut sections, &NULLS, &Typed::null(Type::Any));
    sections.extend(values(&config.attributes)?);
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
        generate.insert(label.clone(), generated(&block.arguments)?);
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
        set("remote_state", backend(&remote_state.arguments.clone()?)?);
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

fn generated(arguments: &Arguments) -> Outcome<Typed> {
    let mut attributes = values(arguments)?;
    let flags = ["disable_signature", "disable"];
    set_defaults(&mut attributes, &flags, &Typed::bool(false));
    set_defaults(&mut attributes, &["comment_prefix"], &Typed::string("# "));
    set_defaults(&mut attributes, &["if_disabled"], &Typed::string("skip"));
    set_defaults(&mut attributes, &["contents"], &Typed::string(""));
    Ok(Typed::object(attributes))
}

fn backend(arguments: &Arguments) -> Outcome<Typed> {
    let mut attributes = values(arguments)?;
    let flags = ["disable_init", "disable_dependency_optimization"];
    set_defaults(&mut attributes, &flags, &Typed::bool(false));
    let objects = ["generate", "config", "encryption"];
    set_defaults(&mut attributes, &objects, &Typed::null(Type::Any));
    Ok(Typed::object(attributes))
}

fn terraform(arguments: &Arguments, config: &FileConfig) -> Outcome<Typed> {
    let mut attributes = values(arguments)?;
    let optional = [
        "source",
        "include_in_copy",
        "exclude_from_copy",
        "copy_terraform_lock_file",
    ];
    set_defaults(&mut attributes, &optional, &Typed::null(Type::Any));
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

fn set_defaults(attributes: &mut Attributes, names: &[&str], default: &Typed) {
    for name in names {
        attributes
            .entry((*name).to_owned())
            .or_insert_with(|| default.clone());
    }
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
