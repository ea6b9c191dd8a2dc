//! What a unit comes to: source, generated files, and how files are copied.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::evaluation::{Evaluation, Role, Sharing, Unread};
use super::file_config::{Arguments, FileConfig, Wanted};
use super::generate::{self, GeneratedFile};
use super::globs::Glob;
use super::limits::MAX_NOTES;
use super::object;
use super::outcome::{Known, Place, Slot, Stop, Unknown};
use super::source::{self, Package, SourceFault, UnitSource};
use super::surroundings::UnitSurroundings;
use crate::diag::{Diagnostic, Label, Span, Texts};
use crate::expr::{Typed, Value};
use crate::world::{Files, clean};

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

/// Evaluates a unit.
pub(super) fn evaluate(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> (Unit, Vec<Diagnostic>) {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = evaluation.unit_file(unit_dir);
    let mut found = Vec::new();
    let begun = begin(&mut evaluation, &path, &mut found);
    let mut unit = match begun.and_then(|()| evaluation.merged(0, Wanted::Unit)) {
        Ok(config) => decided(&mut evaluation, unit_dir, &path, &config),
        Err(stop) => {
            if found.is_empty() {
                found.push(note(stop.diagnostic()));
            }
            let fallback = Place {
                file: crate::diag::FileId::ALONE,
                span: Span::default(),
            };
            return (all_unknown(unit_dir, &path, &stop.unknown(fallback)), found);
        }
    };
    notes(&mut evaluation, &mut unit, &mut found);
    (unit, found)
}

/// Reads the unit file.
pub(super) fn begin(
    evaluation: &mut Evaluation<'_>,
    path: &Path,
    found: &mut Vec<Diagnostic>,
) -> Result<(), Stop> {
    let (document, file) = match evaluation.document(path, Sharing::Own) {
        Ok(read) => read,
        Err(unread) => {
            let file = evaluation.texts.add(path.display().to_string(), Vec::new());
            let span = Span::default();
            let title = match unread {
                Unread::Missing => "There is no unit file",
                _ => "The unit file cannot be read",
            };
            return Err(unread.stop(title, path, Place { file, span }));
        }
    };
    let at = evaluation.add(document, file, Role::Unit);
    let faults = evaluation.faults(at);
    match faults.first() {
        Some(first) if first.severity == crate::diag::Severity::Error => {
            let stop = Stop::of_fault(first.clone());
            found.extend(faults);
            Err(stop)
        }
        _ => Ok(()),
    }
}

fn all_unknown(unit_dir: &Path, path: &Path, unknown: &Unknown) -> Unit {
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
fn decided(
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

/// Reports what Terragrunt stops at, and changes nothing because of it.
fn notes(evaluation: &mut Evaluation<'_>, unit: &mut Unit, found: &mut Vec<Diagnostic>) {
    let mut stops: Vec<Diagnostic> = Vec::new();
    let mut files = vec![0];
    files.extend(evaluation.parents(0).unwrap_or_default());
    for at in files {
        stops.extend(evaluation.misfits(at));
    }
    match evaluation.merged(0, Wanted::Everything) {
        Ok(config) => {
            hooks(&config, unit);
            refusals(&config, &mut stops);
            stops.extend(beyond_values(evaluation, &config));
        }
        Err(stop) => stops.push(stop.diagnostic().clone()),
    }
    let mut known: Vec<&Unknown> = unit.unknown.iter().map(|part| &part.unknown).collect();
    if let Known::Unknown(unknown) = &unit.source {
        known.push(unknown);
    }
    for unknown in known.into_iter().filter(|unknown| unknown.is_refused) {
        let diagnostic = Diagnostic::error("configuration-invalid", unknown.reason.as_str());
        let Label { file, span, .. } = unknown.place;
        let is_reported = stops.iter().any(|stop| {
            let label = stop.primary.as_ref();
            label.is_some_and(|label| (label.file, label.span) == (file, span))
        });
        if !is_reported {
            stops.push(diagnostic.at(file, span, ""));
        }
    }
    for stop in stops {
        let stop = note(&stop);
        if found.len() < MAX_NOTES && !found.contains(&stop) {
            found.push(stop);
        }
    }
}

/// Collects everything that Terragrunt refuses in a configuration.
fn refusals(config: &FileConfig, stops: &mut Vec<Diagnostic>) {
    let mut add = |stop: &Stop| {
        if let Stop::Refused(diagnostic) = stop {
            stops.push(Diagnostic::clone(diagnostic));
        }
    };
    config.refused.iter().for_each(&mut add);
    let groups = config.terraform.iter().chain(config.commands.values());
    let groups = groups.chain(config.generate.values().map(|one| &one.arguments));
    let groups = groups.chain(config.dependency.values());
    let groups = groups.chain(config.feature.values());
    let groups = groups.chain([&config.attributes, &config.locals]);
    let groups = groups.chain(config.others.values());
    let slots = groups.flat_map(Arguments::values);
    for slot in slots.chain(&config.dependencies) {
        if let Err(stop) = &slot.outcome {
            add(stop);
        }
    }
    match config.remote_state.as_ref().map(|group| &group.arguments) {
        Some(Ok(arguments)) => {
            let failed = arguments
                .values()
                .filter_map(|slot| slot.outcome.as_ref().err());
            failed.for_each(&mut add);
        }
        Some(Err(stop)) => add(stop),
        None => {}
    }
}

/// Finds what Terragrunt refuses although every value is fine: inputs of another type, directories that are not
/// there.
fn beyond_values(evaluation: &Evaluation<'_>, config: &FileConfig) -> Vec<Diagnostic> {
    let mut stops = Vec::new();
    let mut add = |title: &str, place: Place, note: &str| {
        let stop = super::include::refused(title, place, note);
        stops.push(stop.diagnostic().clone());
    };
    if let Some(slot) = config.attributes.get("inputs")
        && let Ok(value) = &slot.outcome
        && !matches!(value.value, Value::Object(_) | Value::Null | Value::Unknown)
    {
        add("inputs must be an object", slot.place, "");
    }
    if let Some(slot) = config.attributes.get("download_dir")
        && let Some(text) = slot
            .outcome
            .as_ref()
            .ok()
            .and_then(|value| value.value.to_text())
        && !text.is_empty()
        && Path::new(&text).is_relative()
    {
        add("download_dir must be an absolute path", slot.place, "");
    }
    let unit_dir = &evaluation.instances[0].unit_dir;
    let lists = config.dependencies.iter();
    let single = config.dependency.values();
    let slots = lists.chain(single.filter_map(|arguments| arguments.get("config_path")));
    for slot in slots {
        let Ok(value) = &slot.outcome else { continue };
        let texts: Vec<String> = match &value.value {
            Value::Tuple(items) => items.iter().filter_map(Value::to_text).collect(),
            value => value.to_text().into_iter().collect(),
        };
        for text in texts {
            let path = clean(&unit_dir.join(&text));
            if evaluation
                .files
                .kind(&path)
                .is_err_and(|error| error.kind() == ErrorKind::NotFound)
            {
                add("A dependency does not exist", slot.place, &text);
            }
        }
    }
    stops
}

/// Hooks that run before `init` may write what Terraform reads (rules 8.9).
fn hooks(config: &FileConfig, unit: &mut Unit) {
    for ((kind, label), arguments) in &config.commands {
        let command = match kind.as_str() {
            "before_hook" => "init",
            "after_hook" => "init-from-module",
            _ => continue,
        };
        let Some(slot) = arguments.get("commands") else {
            continue;
        };
        let Ok(value) = &slot.outcome else { continue };
        let runs = match &value.value {
            Value::Tuple(items) => items.contains(&Value::string(command)),
            Value::Unknown => true,
            _ => false,
        };
        if runs {
            let unknown = Unknown {
                reason: format!("the hook {label:?} runs a program before init"),
                place: Label::new(slot.place.file, slot.place.span, ""),
                is_refused: false,
            };
            unit.unknown.push(UnknownPart {
                part: UnitPart::Hook(label.clone()),
                unknown,
            });
        }
    }
}

fn note(stop: &Diagnostic) -> Diagnostic {
    let title = format!("Terragrunt stops at this unit: {}", stop.title);
    Diagnostic {
        severity: crate::diag::Severity::Note,
        title,
        ..stop.clone()
    }
}

/// Evaluates all of a unit, as `terragrunt render --json` shows it.
pub(super) fn render(
    files: &dyn Files,
    texts: &mut Texts,
    unit_dir: &Path,
    around: &UnitSurroundings<'_>,
) -> Result<Rendered, Box<Diagnostic>> {
    let mut evaluation = Evaluation::new(files, texts, around);
    let path = evaluation.unit_file(unit_dir);
    let diagnostic = |stop: Stop| Box::new(stop.diagnostic().clone());
    begin(&mut evaluation, &path, &mut Vec::new()).map_err(diagnostic)?;
    if let Some(misfit) = evaluation.misfits(0).into_iter().next() {
        return Err(Box::new(misfit));
    }
    let (config, reasons) = evaluation.traced(|this| this.merged(0, Wanted::Everything));
    if let Ok(config) = &config
        && let Some(refused) = beyond_values(&evaluation, config).into_iter().next()
    {
        return Err(Box::new(refused));
    }
    let object = config
        .and_then(|config| object::object(&config))
        .map_err(diagnostic)?;
    Ok(Rendered {
        value: Typed::object(object),
        reasons: reasons.into_iter().map(|reason| reason.text).collect(),
    })
}

/// The whole configuration of a unit.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The object, with unknown parts where only a run knows.
    pub value: Typed,
    /// What made parts unknown.
    pub reasons: Vec<String>,
}
