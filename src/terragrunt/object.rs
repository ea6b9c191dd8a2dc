//! A configuration as the object that expressions and `render --json` show (rules 3.2).

use std::collections::BTreeMap;

use super::evaluation::{Evaluation, Role};
use super::file_config::{Arguments, FileConfig, Wanted};
use super::outcome::Outcome;
use crate::expr::{Type, Typed};

/// Returns the attributes of an object; of anything else there are none.
pub(super) fn items(value: &Typed) -> BTreeMap<String, Typed> {
    value.clone().into_attributes().unwrap_or_default()
}

/// What the attributes are that are texts, and empty where they are not set.
const TEXTS: &[&str] = &[
    "download_dir",
    "iam_assume_role_session_name",
    "iam_role",
    "iam_web_identity_token",
    "terraform_binary",
    "terraform_version_constraint",
    "terragrunt_version_constraint",
];

impl Evaluation<'_> {
    /// Returns a section of the configuration of one file as an object, or all of them. A unit's parents are
    /// merged first.
    pub(super) fn part_of_configuration(
        &mut self,
        at: usize,
        section: Option<&str>,
    ) -> Outcome<Typed> {
        let wanted = section.map_or(Wanted::Everything, Wanted::Section);
        let config = match self.instances[at].role {
            Role::Unit => self.merged(at, wanted)?,
            Role::Parent(_) | Role::Autoinclude => self.file_config(at, wanted),
        };
        let mut items = object(&config)?;
        if let Some(section) = section {
            items.retain(|name, _| name == section);
        }
        Ok(Typed::object(items))
    }
}

/// Makes an object of a configuration.
///
/// # Errors
/// The first argument that has no value.
pub(super) fn object(config: &FileConfig) -> Outcome<BTreeMap<String, Typed>> {
    if let Some(stop) = config.refused.first() {
        return Err(stop.clone());
    }
    let mut all = BTreeMap::new();
    let null = || Typed::null(Type::Any);
    for name in TEXTS {
        all.insert((*name).to_owned(), Typed::string(""));
    }
    for name in [
        "dependencies",
        "iam_assume_role_duration",
        "inputs",
        "locals",
    ] {
        all.insert(name.to_owned(), null());
    }
    for (name, slot) in &config.attributes {
        all.insert(name.clone(), Typed::clone(&*slot.outcome.clone()?));
    }
    if !config.locals.is_empty() {
        all.insert("locals".to_owned(), Typed::object(values(&config.locals)?));
    }
    if let Some(paths) = &config.dependencies {
        let paths = Typed::clone(&*paths.outcome.clone()?);
        let paths = Typed::object([("paths".to_owned(), paths)].into());
        all.insert("dependencies".to_owned(), paths);
    }
    let mut generate = BTreeMap::new();
    for (label, one) in &config.generate {
        let mut items = values(&one.arguments)?;
        let mut default = |name: &str, value: Typed| {
            items.entry(name.to_owned()).or_insert(value);
        };
        default("comment_prefix", Typed::string("# "));
        default("disable_signature", Typed::bool(false));
        default("disable", Typed::bool(false));
        default("if_disabled", Typed::string("skip"));
        default("contents", Typed::string(""));
        generate.insert(label.clone(), Typed::object(items));
    }
    all.insert("generate".to_owned(), Typed::object(generate));
    let mut dependency = BTreeMap::new();
    for (label, arguments) in &config.dependency {
        let mut items = items(&one_named(label, arguments)?);
        if let Some(skip) = items.remove("skip_outputs") {
            items.insert("skip".to_owned(), skip);
        }
        dependency.insert(label.clone(), Typed::object(items));
    }
    all.insert("dependency".to_owned(), Typed::object(dependency));
    all.insert("feature".to_owned(), named(&config.feature)?);
    if let Some(arguments) = &config.terraform {
        all.insert("terraform".to_owned(), terraform(arguments, config)?);
    }
    if let Some(group) = &config.remote_state {
        let mut items = values(&group.arguments.clone()?)?;
        for name in ["disable_init", "disable_dependency_optimization"] {
            items.entry(name.to_owned()).or_insert(Typed::bool(false));
        }
        for name in ["generate", "config", "encryption"] {
            items.entry(name.to_owned()).or_insert_with(null);
        }
        all.insert("remote_state".to_owned(), Typed::object(items));
    }
    for (kind, arguments) in &config.others {
        // Their nested blocks mean nothing here, so that not all of them is known.
        let value = match kind.as_str() {
            "exclude" => Typed::object(values(arguments)?),
            _ => Typed::unknown(Type::Any),
        };
        all.insert(kind.clone(), value);
    }
    Ok(all)
}

fn terraform(arguments: &Arguments, config: &FileConfig) -> Outcome<Typed> {
    let mut items = values(arguments)?;
    for name in [
        "source",
        "include_in_copy",
        "exclude_from_copy",
        "copy_terraform_lock_file",
    ] {
        let null = || Typed::null(Type::Any);
        items.entry(name.to_owned()).or_insert_with(null);
    }
    let mut commands: BTreeMap<String, BTreeMap<String, Typed>> = BTreeMap::new();
    for kind in ["extra_arguments", "before_hook", "after_hook", "error_hook"] {
        commands.insert(kind.to_owned(), BTreeMap::new());
    }
    for ((kind, label), arguments) in &config.commands {
        let value = one_named(label, arguments)?;
        let group = commands.entry(kind.clone()).or_default();
        group.insert(label.clone(), value);
    }
    let commands = commands.into_iter();
    items.extend(commands.map(|(kind, all)| (kind, Typed::object(all))));
    Ok(Typed::object(items))
}

fn named(blocks: &BTreeMap<String, Arguments>) -> Outcome<Typed> {
    let items = blocks.iter().map(|(label, arguments)| {
        let value = one_named(label, arguments)?;
        Ok((label.clone(), value))
    });
    Ok(Typed::object(items.collect::<Outcome<_>>()?))
}

fn one_named(label: &str, arguments: &Arguments) -> Outcome<Typed> {
    let mut items = values(arguments)?;
    items.insert("name".to_owned(), Typed::string(label));
    Ok(Typed::object(items))
}

fn values(arguments: &Arguments) -> Outcome<BTreeMap<String, Typed>> {
    let items = arguments.iter();
    let items = items.map(|(name, slot)| Ok((name.clone(), Typed::clone(&*slot.outcome.clone()?))));
    items.collect()
}
