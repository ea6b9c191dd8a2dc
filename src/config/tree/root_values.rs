//! The values of the variables of a root: files, environment and arguments in their order (rules 9.4).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use crate::config::given::{GivenValues, ValueArgument};
use crate::config::tree::reader::Reader;
use crate::diag::{Diagnostic, rules};
use crate::module_config::decode::late::Late;
use crate::module_config::file::Syntax;
use crate::module_config::syntax;

/// A value as it is given.
#[derive(Clone, Debug)]
pub(in crate::config) enum RootValue {
    /// Text from the environment or an argument.
    Text(String),
    /// An expression in a file.
    Written(Late),
    /// A value of the environment that must not be used.
    Hidden,
}

/// Gathers the values of a root; the last one of a name counts.
pub(in crate::config) fn read(
    reader: &mut Reader<'_>,
    given: &GivenValues,
) -> BTreeMap<String, RootValue> {
    let mut values: BTreeMap<String, RootValue> = given
        .environment
        .iter()
        .map(|(name, text)| (name.clone(), RootValue::Text(text.clone())))
        .chain(
            given
                .hidden
                .iter()
                .map(|name| (name.clone(), RootValue::Hidden)),
        )
        .collect();
    // Later sources replace earlier ones: environment, files by name, then the command line (rules
    // 9.4).
    let names = reader.names(Path::new("")).unwrap_or_default();
    // These two come before all `*.auto.tfvars` (rules 9.4).
    let first = ["terraform.tfvars", "terraform.tfvars.json"].map(OsStr::new);
    let is_automatic = |name: &&OsStr| {
        let name = name.as_encoded_bytes();
        name.ends_with(b".auto.tfvars") || name.ends_with(b".auto.tfvars.json")
    };
    let automatic = names.iter().map(OsString::as_os_str).filter(is_automatic);
    for name in first
        .into_iter()
        .filter(|name| names.iter().any(|present| present == name))
        .chain(automatic)
    {
        file(reader, Path::new(name), &mut values);
    }
    for argument in &given.arguments {
        match argument {
            ValueArgument::Value { name, text } => {
                values.insert(name.clone(), RootValue::Text(text.clone()));
            }
            ValueArgument::File(path) => file(reader, path, &mut values),
        }
    }
    values
}

/// Reads one file; what is wrong with it stops the programs.
fn file(reader: &mut Reader<'_>, path: &Path, values: &mut BTreeMap<String, RootValue>) {
    let syntax = if path.as_os_str().as_encoded_bytes().ends_with(b".json") {
        Syntax::Json
    } else {
        Syntax::Native
    };
    let Some((file, bytes)) = reader.text(path) else {
        return;
    };
    let (body, found) = syntax::values(file, &bytes, syntax);
    reader.found.extend(found);
    if let Some(block) = body.blocks().next() {
        let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, "Unexpected block");
        let remark = "a file of values holds arguments only";
        reader.found.push(error.at(file, block.kind.span, remark));
    }
    for argument in body.attributes() {
        let late = Late {
            file,
            expr: Arc::new(argument.value.clone()),
            syntax,
        };
        values.insert(argument.name.text.clone(), RootValue::Written(late));
    }
}
