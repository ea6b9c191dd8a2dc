//! An evaluated unit: its source, its generated files, and the rules for copying files.

use std::path::{Path, PathBuf};

use super::evaluation::Evaluation;
use super::file_config::{Arguments, FileConfig};
use super::generate::{self, GeneratedFile};
use super::globs::Glob;
use super::outcome::{FilePlace, Slot, UnitResult, UnitUnknown};
use super::source::{self, UnitPackage, UnitSource};
use super::surroundings::UnitSurroundings;
use crate::expr::Value;

/// A unit, as far as it is known without a run of Terragrunt.
#[derive(Clone, Debug)]
pub struct EvaluatedUnit {
    /// The directory of the unit file, as an absolute path.
    pub dir: PathBuf,
    /// The path of the unit file.
    pub file: PathBuf,
    /// The files that it includes, in the order of their blocks.
    pub parents: Vec<PathBuf>,
    /// The source of the module (`source` of the `terraform` block).
    pub source: UnitResult<UnitSource>,
    /// Hidden files that are copied all the same (`include_in_copy`).
    pub include_in_copy: UnitResult<Vec<Glob>>,
    /// Files that are not copied (`exclude_from_copy`).
    pub exclude_from_copy: UnitResult<Vec<Glob>>,
    /// A run copies its lock file beside the unit (`copy_terraform_lock_file`).
    pub copies_lock_file: UnitResult<bool>,
    /// The files that are generated, in the order of their labels, that of `remote_state` last.
    pub generated: Vec<GeneratedFile>,
    /// The reason why a file of a `generate` block is not known, the first one of several.
    not_generated: Option<UnitUnknown>,
}

impl EvaluatedUnit {
    /// Returns true if the package is the unit itself: then an existing cache restores the lock file in it
    /// (rules 9.4). `None` if the source is not known.
    #[must_use]
    pub fn runs_itself(&self) -> Option<bool> {
        let source = self.source.as_ref().ok()?;
        Some(source.package == UnitPackage::Own)
    }

    /// Returns the first reason why the requirements of the unit are not all known.
    #[must_use]
    pub fn unseen(&self) -> Option<&UnitUnknown> {
        let source = self.source.as_ref().err();
        let copied = [&self.include_in_copy, &self.exclude_from_copy];
        let copied = copied.into_iter().find_map(|list| list.as_ref().err());
        source.or(copied).or(self.not_generated.as_ref())
    }
}

/// Makes a unit without any known part.
pub(super) fn all_unknown(unit_dir: &Path, path: &Path, unknown: &UnitUnknown) -> EvaluatedUnit {
    EvaluatedUnit {
        dir: unit_dir.to_owned(),
        file: path.to_owned(),
        parents: Vec::new(),
        source: Err(unknown.clone()),
        include_in_copy: Err(unknown.clone()),
        exclude_from_copy: Err(unknown.clone()),
        copies_lock_file: Err(unknown.clone()),
        generated: Vec::new(),
        not_generated: None,
    }
}

/// Reads the values of a merged configuration that decide the files that Terraform sees.
pub(super) fn of_config(
    evaluation: &mut Evaluation<'_>,
    unit_dir: &Path,
    path: &Path,
    config: &FileConfig,
) -> EvaluatedUnit {
    let around = evaluation.around;
    let none = Arguments::new();
    let terraform = config.terraform.as_ref().unwrap_or(&none);
    let program = program(config, around);
    let name = program.as_ref().map_or("terraform", String::as_str);
    let copies_lock_file = if terraform.contains_key("copy_terraform_lock_file") {
        generate::truth(terraform, "copy_terraform_lock_file")
    } else {
        // A run copies the lock file beside the unit file unless that is turned off (rules 9.2).
        Ok(true)
    };
    let parents = evaluation.includes(0).unwrap_or_default();
    let mut generated = Vec::new();
    let mut not_generated = None;
    for block in config.generate.values() {
        match generate::file(block) {
            Ok(file) => generated.push(file),
            Err(unknown) => drop(not_generated.get_or_insert(unknown)),
        }
    }
    // A backend names no provider: where its file is not known, nothing is missing.
    let backend = config.remote_state.as_ref().map(generate::backend);
    generated.extend(backend.and_then(Result::ok).flatten());
    EvaluatedUnit {
        dir: unit_dir.to_owned(),
        file: path.to_owned(),
        parents: parents.iter().map(|include| include.path.clone()).collect(),
        source: source_of(terraform, unit_dir, name, around),
        include_in_copy: globs(terraform.get("include_in_copy")),
        exclude_from_copy: globs(terraform.get("exclude_from_copy")),
        copies_lock_file,
        generated,
        not_generated,
    }
}

/// Returns the program that Terragrunt runs for a unit: OpenTofu, if it is found and none is named.
fn program(config: &FileConfig, around: &UnitSurroundings<'_>) -> UnitResult<String> {
    if let Some(program) = &around.program {
        return Ok(program.clone());
    }
    // A flag or a variable wins over the file (rules 10.2).
    let name = generate::text(&config.attributes, "terraform_binary")?;
    Ok(name.filter(|name| !name.is_empty()).unwrap_or_else(|| {
        let has_tofu = around.programs.iter().any(|name| name == "tofu");
        if has_tofu { "tofu" } else { "terraform" }.to_owned()
    }))
}

fn source_of(
    terraform: &Arguments,
    unit_dir: &Path,
    program: &str,
    around: &UnitSurroundings<'_>,
) -> UnitResult<UnitSource> {
    let text = generate::text(terraform, "source")?;
    let place = terraform.get("source").map(|slot| slot.place);
    let reported_at = place.unwrap_or(FilePlace::NOWHERE);
    let (package, subdirectory) = source::understand(text.as_deref(), unit_dir, program, around)
        .map_err(|reason| UnitUnknown::new(reported_at, reason))?;
    if generate::text(terraform, "version")?.is_some() {
        let reason = "the argument version is an experiment";
        return Err(UnitUnknown::new(reported_at, reason));
    }
    Ok(UnitSource {
        package,
        subdirectory,
        place: place.map(FilePlace::label),
    })
}

/// Reads a list of patterns.
fn globs(slot: Option<&Slot>) -> UnitResult<Vec<Glob>> {
    const NO_LIST: &str = "a list of strings is required";
    let Some(slot) = slot else {
        return Ok(Vec::new());
    };
    let value = slot.settled()?;
    let items = match &value.value {
        Value::Null => return Ok(Vec::new()),
        Value::Tuple(items) => items,
        _ => return Err(UnitUnknown::new(slot.place, NO_LIST)),
    };
    let mut globs = Vec::new();
    for item in items {
        let text = item
            .to_text()
            .ok_or_else(|| UnitUnknown::new(slot.place, NO_LIST))?;
        // A pattern that is read differently here could leave out a file that Terragrunt copies.
        let glob = Glob::parse(&text).ok_or_else(|| {
            let reason = format!("the pattern {text:?} is not followed");
            UnitUnknown::new(slot.place, reason)
        })?;
        globs.push(glob);
    }
    Ok(globs)
}
