//! What a unit comes to: source, generated files, and how files are copied.

use std::path::{Path, PathBuf};

use super::evaluation::Evaluation;
use super::file_config::{Arguments, FileConfig};
use super::generate::{self, GeneratedFile};
use super::globs::Glob;
use super::outcome::{Known, Slot, Unknown};
use super::source::{self, Package, SourceFault, UnitSource};
use super::surroundings::UnitSurroundings;
use crate::diag::{Label, Span};
use crate::expr::Value;

/// What is known of a unit without a run of Terragrunt.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The directory of the unit file.
    pub dir: PathBuf,
    /// The unit file.
    pub file: PathBuf,
    /// The files that it includes, in the order of their blocks.
    pub parents: Vec<PathBuf>,
    /// Where the module comes from.
    pub source: Known<UnitSource>,
    /// Hidden files that are copied all the same (`include_in_copy`).
    pub include_in_copy: Known<Vec<Glob>>,
    /// Files that are not copied (`exclude_from_copy`).
    pub exclude_from_copy: Known<Vec<Glob>>,
    /// Whether the lock file of a run is copied beside the unit (`copy_terraform_lock_file`).
    pub copies_lock_file: Known<bool>,
    /// The program that runs, as a name or a path.
    pub program: Known<String>,
    /// The files that are generated, in the order of their labels, that of `remote_state` last.
    pub generated: Vec<GeneratedFile>,
    /// The backend that the module must declare, because `remote_state` generates no file.
    pub declared_backend: Option<String>,
    /// Generated files that are not known, and what else may write files.
    pub unknown: Vec<UnknownPart>,
    /// Where shown paths count from; empty if they are absolute.
    pub(super) top: PathBuf,
}

/// A part of a unit that is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPart {
    /// Which part.
    pub part: UnitPart,
    /// Why.
    pub unknown: Unknown,
}

/// A part of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitPart {
    /// The file of the `generate` block of this label.
    Generate(String),
    /// The file of `remote_state`; it names no provider.
    Backend,
    /// A hook that runs before `init` and may write files.
    Hook(String),
}

impl Unit {
    /// Returns whether the package is the unit itself: then an existing cache restores the lock file that is in it
    /// (rules 9.4). `None` if the source is not known.
    #[must_use]
    pub fn runs_itself(&self) -> Option<bool> {
        let source = self.source.value()?;
        Some(source.package == Package::Own)
    }

    /// Returns whether the program is OpenTofu; `None` if its name does not say.
    #[must_use]
    pub fn is_opentofu(&self) -> Option<bool> {
        let program = Path::new(self.program.value()?);
        match program.file_stem()?.to_str()? {
            "tofu" => Some(true),
            "terraform" => Some(false),
            _ => None,
        }
    }

    /// Returns why the requirements of the unit are not all known, if so.
    #[must_use]
    pub fn unseen(&self) -> Option<&Unknown> {
        if let Known::Unknown(unknown) = &self.source {
            return Some(unknown);
        }
        for list in [&self.include_in_copy, &self.exclude_from_copy] {
            if let Known::Unknown(unknown) = list {
                return Some(unknown);
            }
        }
        let mut parts = self.unknown.iter();
        let part = parts.find(|part| matches!(part.part, UnitPart::Generate(_)));
        part.map(|part| &part.unknown)
    }
}

/// Makes a unit of which nothing is known.
pub(super) fn all_unknown(unit_dir: &Path, path: &Path, unknown: &Unknown) -> Unit {
    Unit {
        dir: unit_dir.to_owned(),
        file: path.to_owned(),
        parents: Vec::new(),
        source: Known::Unknown(unknown.clone()),
        include_in_copy: Known::Unknown(unknown.clone()),
        exclude_from_copy: Known::Unknown(unknown.clone()),
        copies_lock_file: Known::Unknown(unknown.clone()),
        program: Known::Unknown(unknown.clone()),
        generated: Vec::new(),
        declared_backend: None,
        unknown: Vec::new(),
        top: PathBuf::new(),
    }
}

/// Reads what a merged configuration decides.
pub(super) fn decided(
    evaluation: &mut Evaluation<'_>,
    unit_dir: &Path,
    path: &Path,
    config: &FileConfig,
) -> Unit {
    let around = evaluation.around;
    let none = Arguments::new();
    let terraform = config.terraform.as_ref().unwrap_or(&none);
    let known =
        |read: Result<Option<String>, Unknown>| read.map_or_else(Known::Unknown, Known::Value);
    let program = match &around.program {
        Some(program) => Known::Value(program.clone()),
        None => known(generate::text(&config.attributes, "terraform_binary")).and_then(|stated| {
            let has_tofu = around.programs.iter().any(|name| name == "tofu");
            let default = if has_tofu { "tofu" } else { "terraform" };
            let stated = stated.filter(|stated| !stated.is_empty());
            Known::Value(stated.unwrap_or_else(|| default.to_owned()))
        }),
    };
    let name = program.value().map_or("terraform", String::as_str);
    let copies = match terraform.contains_key("copy_terraform_lock_file") {
        true => generate::truth(terraform, "copy_terraform_lock_file"),
        false => Ok(true),
    };
    let mut generated = Vec::new();
    let mut unknown = Vec::new();
    for (label, block) in &config.generate {
        match generate::file(label, block) {
            Known::Value(file) => generated.push(file),
            Known::Unknown(why) => unknown.push(UnknownPart {
                part: UnitPart::Generate(label.clone()),
                unknown: why,
            }),
        }
    }
    let mut declared_backend = None;
    match config.remote_state.as_ref().and_then(generate::backend) {
        Some(Known::Value(file)) => generated.push(file),
        Some(Known::Unknown(why)) => unknown.push(UnknownPart {
            part: UnitPart::Backend,
            unknown: why,
        }),
        None => {
            let group = config.remote_state.as_ref();
            let arguments = group.and_then(|group| group.arguments.as_ref().ok());
            let stated = arguments.map(|arguments| generate::text(arguments, "backend"));
            declared_backend = stated.and_then(Result::ok).flatten();
        }
    }
    // Two `terraform` blocks leave open which source counts.
    let two = config.refused.iter().find(|_| config.terraform.is_some());
    let two = two.filter(|stop| stop.diagnostic().title.contains("terraform"));
    let source = match two {
        Some(stop) => Known::Unknown(stop.unknown(evaluation.place(0, Span::default()))),
        None => source_of(terraform, unit_dir, name, around),
    };
    let includes = evaluation.includes(0).unwrap_or_default();
    Unit {
        dir: unit_dir.to_owned(),
        file: path.to_owned(),
        parents: includes
            .iter()
            .map(|include| include.path.clone())
            .collect(),
        source,
        include_in_copy: globs(terraform.get("include_in_copy")),
        exclude_from_copy: globs(terraform.get("exclude_from_copy")),
        copies_lock_file: copies.map_or_else(Known::Unknown, Known::Value),
        program,
        generated,
        declared_backend,
        unknown,
        top: around.top.clone().unwrap_or_default(),
    }
}

fn source_of(
    terraform: &Arguments,
    unit_dir: &Path,
    program: &str,
    around: &UnitSurroundings<'_>,
) -> Known<UnitSource> {
    let is_replaced = matches!(around.source, super::SourceOverride::Whole(_));
    let text = match generate::text(terraform, "source") {
        Ok(text) => text,
        Err(_) if is_replaced => None,
        Err(unknown) => return Known::Unknown(unknown),
    };
    let slot = terraform.get("source");
    let place = slot.map(|slot| Label::new(slot.place.file, slot.place.span, ""));
    let understood = source::understand(text.as_deref(), unit_dir, program, around);
    let unknown = |reason: String, is_refused: bool| Unknown {
        reason,
        place: place
            .clone()
            .unwrap_or(Label::new(crate::diag::FileId::ALONE, Span::default(), "")),
        is_refused,
    };
    let (mut package, subdirectory) = match understood {
        Ok(understood) => understood,
        Err(SourceFault::Refused(reason)) => return Known::Unknown(unknown(reason, true)),
        Err(SourceFault::Unknown(reason)) => return Known::Unknown(unknown(reason, false)),
    };
    match generate::text(terraform, "version") {
        Ok(None) => {}
        Ok(Some(constraint)) => match &mut package {
            Package::Registry(module) if around.has_switch("version-attribute") => {
                module.constraint = Some(constraint);
            }
            _ if around.has_switch("version-attribute") => {}
            _ => {
                let reason = "the argument version is an experiment".to_owned();
                return Known::Unknown(unknown(reason, true));
            }
        },
        Err(unknown) => return Known::Unknown(unknown),
    }
    Known::Value(UnitSource {
        package,
        subdirectory,
        place,
    })
}

/// Reads a list of patterns.
fn globs(slot: Option<&Slot>) -> Known<Vec<Glob>> {
    let Some(slot) = slot else {
        return Known::Value(Vec::new());
    };
    slot.settled().and_then(|value| {
        let unknown = |reason: String, is_refused: bool| {
            Known::Unknown(Unknown {
                reason,
                place: Label::new(slot.place.file, slot.place.span, ""),
                is_refused,
            })
        };
        let items = match &value.value {
            Value::Null => return Known::Value(Vec::new()),
            Value::Tuple(items) => items,
            _ => return unknown("a list of strings is required".to_owned(), true),
        };
        let mut globs = Vec::new();
        for item in items {
            let Some(text) = item.to_text() else {
                return unknown("a list of strings is required".to_owned(), true);
            };
            match Glob::parse(&text) {
                Some(glob) => globs.push(glob),
                None => return unknown(format!("the pattern {text:?} is not followed"), false),
            }
        }
        Known::Value(globs)
    })
}
