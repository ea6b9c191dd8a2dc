//! `module` blocks: what their source means (config rules 5.5).

use crate::addr::module::{ModuleSource, ModuleSourceError, RegistryModule};
use crate::diag::rules;
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Block, Expr};
use crate::module_config::decode::bodies;
use crate::module_config::decode::contents::CallVersion as Version;
use crate::module_config::decode::contents::{Call, Contents, PassedArgument, Source};
use crate::module_config::decode::late::Late;
use crate::module_config::faults::Faults;
use crate::module_config::file::{ModuleFileRole, SourcePlace};
use crate::module_config::language::{self, ESCAPE};
use crate::module_config::syntax::{self, references, words};
use crate::version::CoreConstraints;

/// Decodes a `module` block; a faulty one is reported and gives no call.
pub(crate) fn decode(block: &Block, contents: &mut Contents, faults: &mut Faults) {
    let [name] = &*block.labels else { return };
    if !words::is_identifier(&name.text) {
        faults.invalid("Invalid module instance name", name.span, words::NAME);
        return;
    }
    let stated = version(block, faults);
    // What is wrong with a version says nothing about the source.
    let version = stated.clone().unwrap_or(Version::Computed);
    let (source, span) = match block.body.attribute("source") {
        Some(argument) => match source(&argument.value, &version, faults) {
            Some(source) => (Some(source), argument.value.span),
            None => return,
        },
        // An override may set other arguments alone; the source is then that of the base (config rules
        // 3.12).
        None if faults.role == ModuleFileRole::Override => (None, block.header),
        None => {
            faults.invalid(
                "Missing required argument",
                faults.gap(&block.body),
                "source is missing",
            );
            return;
        }
    };
    // Only now: faults of the source are reported as well.
    if stated.is_none() {
        return;
    }
    contents.calls.push(Call {
        name: name.text.clone(),
        source,
        version,
        version_place: version_place(block, faults),
        place: faults.place(span),
        header: faults.place(block.header),
        arguments: arguments(block, faults),
        source_late: late(block, "source", faults),
        version_late: late(block, "version", faults),
    });
}

/// Reads the values for variables; inside `_` the words of the program are variables, too.
fn arguments(block: &Block, faults: &Faults) -> Vec<PassedArgument> {
    let is_passed = |argument: &&Attribute| !language::CALL.has_argument(&argument.name.text);
    block
        .body
        .attributes()
        .filter(is_passed)
        .chain(
            block
                .body
                .blocks()
                .filter(|nested| nested.kind.text == ESCAPE)
                .flat_map(|nested| nested.body.attributes()),
        )
        .map(|argument| PassedArgument::new(argument, faults))
        .collect()
}

/// Keeps an argument that may be computed.
fn late(block: &Block, name: &str, faults: &Faults) -> Option<Late> {
    let argument = block.body.attribute(name)?;
    Late::keep(&argument.value, faults)
}

pub(crate) fn version_place(block: &Block, faults: &Faults) -> Option<SourcePlace> {
    let argument = block.body.attribute("version")?;
    Some(faults.place_of(&argument.value))
}

/// Reads the version of a call; one that is no version is reported, and none.
pub(crate) fn version(block: &Block, faults: &mut Faults) -> Option<Version> {
    let Some(argument) = block.body.attribute("version") else {
        return Some(Version::Absent);
    };
    let value = match evaluate(&argument.value, faults) {
        Ok(value) => value,
        Err(Unevaluated::Computed) => return Some(Version::Computed),
        Err(Unevaluated::Refused) => return None,
    };
    let read = stated_version(&value);
    if read.is_none() {
        let span = argument.value.span;
        faults.error(
            rules::CONSTRAINT_INVALID,
            "Invalid version constraint",
            span,
            "",
        );
    }
    read
}

/// Reads the value of a version; `None` if it is no constraint.
pub(crate) fn stated_version(value: &Value) -> Option<Version> {
    if *value == Value::Null {
        return Some(Version::Null);
    }
    let constraints = CoreConstraints::parse(&value.to_text()?).ok()?;
    Some(Version::Stated(constraints))
}

/// Reads the source of a module that a test run calls: no program computes that, and only OpenTofu
/// takes more than local paths and registries (config rules 6.3).
pub(crate) fn of_run(value: &Expr, version: &Version, faults: &mut Faults) -> Option<Source> {
    let text = bodies::text(value, faults)?;
    let source = match version {
        Version::Absent => ModuleSource::parse(&text, faults.flavor),
        // Beside a version only the address of a registry is taken (config rules 12.6).
        _ => RegistryModule::parse(&text, faults.flavor).map(ModuleSource::Registry),
    };
    match source {
        // Terraform refuses repositories and archives here, although a call takes them (config rules
        // 6.3).
        Ok(ModuleSource::Remote(_)) if !faults.flavor.is_opentofu() => {
            let remark =
                "write a local path, from the root on, or the address of a registry's module";
            faults.invalid(ModuleSourceError::TITLE, value.span, remark);
            None
        }
        Ok(source) => Some(Source::new(text, source)),
        Err(error) => {
            faults.invalid(error.title(), value.span, error.help());
            None
        }
    }
}

/// The reason why an expression has no value here.
enum Unevaluated {
    Computed,
    /// The expression is not allowed here; that is reported already.
    Refused,
}

/// Evaluates a source or a version. Terraform 1.11 takes a constant only, the others compute it; only
/// where it is computed is a string in JSON a template (config rules 2.3).
fn evaluate(value: &Expr, faults: &mut Faults) -> Result<Value, Unevaluated> {
    if faults.flavor != Flavor::Terraform1_11 {
        let value = syntax::as_template(value, faults);
        // A constant may name what does not matter to its value, but to the program.
        let constant = expr::constant(faults.file, &value);
        return constant
            .ok()
            .filter(|_| !references::refers(&value))
            .ok_or(Unevaluated::Computed);
    }
    expr::constant(faults.file, value).map_err(|error| {
        if error.refused.is_empty() {
            Unevaluated::Computed
        } else {
            faults.add(error.refused);
            Unevaluated::Refused
        }
    })
}

fn source(value: &Expr, version: &Version, faults: &mut Faults) -> Option<Source> {
    let constant = match evaluate(value, faults) {
        Ok(constant) => constant,
        Err(Unevaluated::Computed) => return Some(Source::Computed(faults.place(value.span))),
        Err(Unevaluated::Refused) => return None,
    };
    // A number or a bool becomes text, as in any argument of type string.
    let Some(text) = constant.to_text() else {
        let title = no_text_title(&constant, faults.flavor);
        faults.invalid(title, value.span, "a string is needed here");
        return None;
    };
    let source = match version {
        // Whether the two fit each other shows where the module is installed.
        Version::Computed => {
            return Some(match ModuleSource::parse(&text, faults.flavor) {
                Ok(source) => Source::new(text, source),
                Err(_) => Source::Unfit(text),
            });
        }
        // The oldest Terraform only looks whether the argument is there.
        Version::Null if faults.flavor == Flavor::Terraform1_11 => {
            RegistryModule::parse(&text, faults.flavor).map(ModuleSource::Registry)
        }
        version => beside(&text, version, faults.flavor),
    };
    match source {
        Ok(source) => Some(Source::new(text, source)),
        Err(error) => {
            faults.invalid(error.title(), value.span, error.help());
            None
        }
    }
}

/// Reads the text of a source beside the version of the call.
///
/// # Errors
/// If the two do not fit.
pub(crate) fn fitting(
    text: &str,
    version: &Version,
    flavor: Flavor,
) -> Result<Source, ModuleSourceError> {
    let source = beside(text, version, flavor)?;
    Ok(Source::new(text.to_owned(), source))
}

fn beside(
    text: &str,
    version: &Version,
    flavor: Flavor,
) -> Result<ModuleSource, ModuleSourceError> {
    match version {
        Version::Stated(_) => RegistryModule::parse(text, flavor).map(ModuleSource::Registry),
        _ => ModuleSource::parse(text, flavor),
    }
}

/// Returns the title of a source that is no text.
pub(crate) fn no_text_title(value: &Value, flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Terraform1_11 | Flavor::OpenTofu1_12 => "Unsuitable value type",
        _ if *value == Value::Null => "Unsuitable module source",
        _ => "Incorrect value type",
    }
}
