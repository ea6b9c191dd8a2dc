//! The values of the variables of a root: files, environment and arguments in their order (rules 9.4).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::mem;
use std::path::Path;
use std::sync::Arc;

use crate::config::given::{GivenValues, ValueArgument};
use crate::config::tree::reader::Reader;
use crate::diag::{Diagnostic, FileId, Span, has_errors, rules};
use crate::hcl;
use crate::module_config::decode::late::Late;
use crate::module_config::file::Syntax;
use crate::module_config::syntax;
use crate::requirement::UnreadValues;

/// A value as it is given.
#[derive(Clone, Debug)]
pub(in crate::texts::config) enum RootValue {
    /// Text from the environment or an argument.
    Text(String),
    /// An expression in a file.
    Written(Late),
    /// A value of the environment that must not be used.
    Hidden,
}

/// The values that the environment, files and the user give to variables of a root.
#[derive(Debug, Default)]
pub(in crate::texts::config) struct RootValues {
    by_name: BTreeMap<String, RootValue>,
    /// The files that the programs read by themselves and that cannot be read here: each may hold a value of any
    /// variable.
    pub unread: Vec<UnreadFile>,
}

/// A file of values that cannot be read.
#[derive(Debug)]
pub(in crate::texts::config) struct UnreadFile {
    pub file: FileId,
    pub values: UnreadValues,
    /// The errors to report if the source or the version of a module depends on a value.
    pub faults: Vec<Diagnostic>,
    pub decides_module: bool,
}

impl UnreadFile {
    /// Makes the note that no provider depends on the values of the file.
    pub(in crate::texts::config) fn note(&self) -> Diagnostic {
        let fault = self.faults.first();
        let why = if self.values.is_encrypted {
            "git-crypt encrypted it"
        } else {
            fault.map_or("", |fault| &*fault.title)
        };
        let remark = format!("{why}; no provider depends on its values");
        let title = "Values of variables cannot be read";
        Diagnostic::note(rules::VALUES_UNREADABLE, title)
            .at(self.file, Span::default(), remark)
            .help(if self.values.is_encrypted {
                "`git-crypt unlock` decrypts it"
            } else {
                "correct the file"
            })
    }
}

impl RootValues {
    pub(in crate::texts::config) fn get(&self, name: &str) -> Option<&RootValue> {
        self.by_name.get(name)
    }

    /// Notes a file of values that is not read, with its faults.
    fn leave_out(&mut self, file: FileId, path: String, bytes: &[u8], faults: Vec<Diagnostic>) {
        // The file may replace every earlier value.
        self.by_name.clear();
        self.unread.push(UnreadFile {
            file,
            values: UnreadValues {
                path,
                is_encrypted: hcl::is_git_crypt(bytes),
            },
            faults,
            decides_module: false,
        });
    }
}

/// Gathers the values of a root; the last one of a name counts.
pub(in crate::texts::config) fn read(reader: &mut Reader<'_>, given: &GivenValues) -> RootValues {
    let by_name = given
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
    let mut values = RootValues {
        by_name,
        unread: Vec::new(),
    };
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
        let path = Path::new(name);
        let found = mem::take(&mut reader.found);
        let read = file(reader, path, &mut values);
        let faults = mem::replace(&mut reader.found, found);
        // No provider depends on most values (rules 9.14).
        if has_errors(&faults) {
            let (file, bytes) = read.unwrap_or_else(|| (reader.name_file(path), Arc::default()));
            let path = reader.texts().name(file).to_owned();
            values.leave_out(file, path, &bytes, faults);
        } else {
            reader.found.extend(faults);
        }
    }
    for argument in &given.arguments {
        match argument {
            ValueArgument::Value { name, text } => {
                let value = RootValue::Text(text.clone());
                values.by_name.insert(name.clone(), value);
            }
            // What the user names must be there.
            ValueArgument::File(path) => {
                file(reader, path, &mut values);
            }
        }
    }
    values
}

/// Reads one file and reports what is wrong with it; returns its text, if there is any.
fn file(
    reader: &mut Reader<'_>,
    path: &Path,
    values: &mut RootValues,
) -> Option<(FileId, Arc<[u8]>)> {
    let syntax = if path.as_os_str().as_encoded_bytes().ends_with(b".json") {
        Syntax::Json
    } else {
        Syntax::Native
    };
    let (file, bytes) = reader.text(path)?;
    // Read as text, the encrypted bytes would be a syntax error without any meaning.
    if hcl::is_git_crypt(&bytes) {
        let title = "File is encrypted by git-crypt";
        let error = Diagnostic::error(rules::SYNTAX_ERROR, title)
            .at(file, Span::default(), "its values are not known")
            .help("run `git-crypt unlock`, or give the values with --var NAME=VALUE or --var-file FILE");
        reader.found.push(error);
        return Some((file, bytes));
    }
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
        let name = argument.name.text.clone();
        values.by_name.insert(name, RootValue::Written(late));
    }
    Some((file, bytes))
}
