//! `lockctl cache import`: facts of other machines.

use std::io::ErrorKind;
use std::path::Path;

use super::{STANDARD, UserStore, exit, is_standard, result};
use crate::authenticate::Note;
use crate::cache::ImportArgs;
use crate::diag::counted;
use crate::package::FactKey;
use crate::report::json::{ImportedFile, StoreReport};
use crate::report::{CLEAN, CommandResult, Failure, Sentence};
use crate::run::World;
use crate::run::contradiction;
use crate::run::options::Options;
use crate::store::{self, Export, FactOrigin, MAX_EXPORT_BYTES, name_of_import};

pub(super) fn run(
    options: &Options,
    args: &ImportArgs,
    found: UserStore<'_>,
) -> Result<CommandResult, Failure> {
    let mut files = Vec::new();
    for path in &args.files {
        files.push(import(options, args, path, &found)?);
    }
    let exits = files
        .iter()
        .map(|file| exit(file.failure.as_ref(), &file.contradictions));
    let exit = exits.max().unwrap_or(CLEAN);
    let mut remarks: Vec<Sentence> = found
        .store
        .notes()
        .into_iter()
        .map(Sentence::warning)
        .collect();
    // An import removes no fact to make room for others (`store` rules 4.3).
    for file in files.iter().filter(|file| file.left_out > 0) {
        remarks.push(Sentence::warning(format!(
            "there is no room for {} of {}; `lockctl cache clean --imported` makes room",
            counted(file.left_out, "fact"),
            named(&file.path)
        )));
    }
    if files.iter().any(|file| file.new > 0) {
        remarks.push(Sentence::note(
            "imported facts replace downloads only with `trust { imported_facts = true }` in .lockctl.hcl",
        ));
    }
    let report = StoreReport {
        imported: files,
        ..found.report()
    };
    Ok(CommandResult {
        exit,
        remarks,
        ..result(report, Vec::new())
    })
}

/// Imports the facts of one file.
///
/// # Errors
/// If the store cannot be used; what is wrong with the file is in the result.
fn import(
    options: &Options,
    args: &ImportArgs,
    path: &Path,
    found: &UserStore<'_>,
) -> Result<ImportedFile, Failure> {
    let typed = path.display().to_string();
    let shown = named(&typed).to_owned();
    let from = name_of_import(args.from.as_deref().unwrap_or(&shown));
    let mut row = ImportedFile {
        path: typed,
        imported_from: from.clone(),
        ..ImportedFile::default()
    };
    let (stated, origin) = match read(options, found.world, path, args) {
        Ok((stated, None)) => (stated, FactOrigin::Imported(from)),
        Ok((stated, Some(key))) => {
            row.imported_from.clone_from(&key);
            (stated, FactOrigin::Signed(key))
        }
        Err(cause) => {
            // What is wrong with one file keeps none of the others from being imported.
            row.failure = Some(
                Failure::new(format!("{shown} cannot be imported"))
                    .because(cause)
                    .help("name a file that `lockctl cache export` wrote"),
            );
            return Ok(row);
        }
    };
    let done = found
        .store
        .import(&stated, &origin)
        .map_err(|error| found.unusable(&error))?;
    // Then nothing of the file was kept (`store` rules 4.2): who states one false fact is not trusted
    // with others.
    if !done.contradictions.is_empty() {
        row.failure = Some(contradiction::alarm(
            &shown,
            &done.contradictions,
            "imported",
        ));
        row.contradictions = contradiction::rows(&done.contradictions);
    }
    (row.new, row.known, row.left_out) = (done.new, done.known, done.left_out);
    Ok(row)
}

/// Returns what messages call a file, by its path.
pub(super) fn named(path: &str) -> &str {
    match path {
        STANDARD => "standard input",
        path => path,
    }
}

/// Reads the facts of a file; returns the key that signed it as well, if keys are stated.
///
/// # Errors
/// With what is wrong with it.
fn read(
    options: &Options,
    world: World<'_>,
    path: &Path,
    args: &ImportArgs,
) -> Result<(Export, Option<String>), String> {
    let bytes = if is_standard(path) {
        world.env.input(MAX_EXPORT_BYTES)
    } else {
        world.disk.read(&options.below(path), MAX_EXPORT_BYTES)
    };
    let bytes = bytes.map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => format!("it has more than {MAX_EXPORT_BYTES} bytes"),
        _ => error.to_string(),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let notes = Note::split(&text);
    // A text without a signature may have empty lines.
    let (text, signer) = match &notes[..] {
        [note] => (note.text, note.signer(&args.keys)),
        _ => (&*text, None),
    };
    let stated = store::import(text).map_err(|error| error.to_string())?;
    if signer.is_none() && !args.keys.is_empty() {
        return Err("none of the stated keys signed it".to_owned());
    }
    Ok((stated, signer.map(FactKey::shown)))
}
