//! Functions that look at files and paths.

use std::io::ErrorKind;
use std::path::Path;

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::scope::Surroundings;
use crate::expr::typed::Typed;
use crate::world::{FileKind, clean, is_beyond_top, is_outside};

/// The fault of a path that leads out of the repository.
const BEYOND_TOP: CallFault =
    CallFault::Uncertain("values of files outside of the repository are not computed");

pub(super) fn abspath(args: &CallArguments<'_>) -> CallResult {
    let Some(dir) = args.around.absolute_dir else {
        return Err(CallFault::Uncertain("the working directory is not known"));
    };
    let path = clean(&dir.join(args.text(0)));
    Ok(Typed::string(path.display().to_string()))
}

pub(super) fn basename(args: &CallArguments<'_>) -> CallResult {
    let path = args.text(0);
    let trimmed = path.trim_end_matches('/');
    Ok(Typed::string(match (path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }))
}

/// Returns a path without its last part, in the shortest form.
pub(super) fn dirname(args: &CallArguments<'_>) -> CallResult {
    let path = args.text(0);
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in above.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            // Above the root is the root.
            ("..", _) if is_absolute => {}
            _ => parts.push(part),
        }
    }
    let dir = parts.join("/");
    Ok(Typed::string(if is_absolute {
        format!("/{dir}")
    } else if dir.is_empty() {
        ".".to_owned()
    } else {
        dir
    }))
}

pub(super) fn file(args: &CallArguments<'_>) -> CallResult {
    read_text(args.around, args.text(0), args.work).map(Typed::string)
}

pub(super) fn fileexists(args: &CallArguments<'_>) -> CallResult {
    // Paths start at the working directory, also in child modules (rules 6.3).
    let path = args.around.dir.join(args.text(0));
    match args.around.files.kind(&path) {
        // A directory is an error of the program, not false.
        Ok(FileKind::File) => Ok(Typed::bool(true)),
        Ok(_) => Err(CallFault::call("this is no regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Typed::bool(false)),
        Err(error) if is_beyond_top(&error) => Err(BEYOND_TOP),
        Err(error) => Err(CallFault::Call(error.to_string())),
    }
}

pub(super) fn pathexpand(args: &CallArguments<'_>) -> CallResult {
    let path = args.text(0);
    if path.starts_with('~') {
        return Err(CallFault::Uncertain("the home directory is not known"));
    }
    Ok(Typed::string(path))
}

/// Reads a text file of at most `limit` bytes.
pub(super) fn read_text(around: &Surroundings<'_>, path: &str, limit: usize) -> CallResult<String> {
    String::from_utf8(read(around, path, limit)?)
        .map_err(|_| CallFault::Call(format!("{path:?} is no UTF-8")))
}

/// Reads a file of at most `limit` bytes.
pub(super) fn read(around: &Surroundings<'_>, path: &str, limit: usize) -> CallResult<Vec<u8>> {
    // Such a path depends on the user who runs the program.
    if path.starts_with('~') {
        let reason = "paths of home directories are not read";
        return Err(CallFault::Uncertain(reason));
    }
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let bytes = around.files.read(&around.dir.join(Path::new(path)), limit);
    bytes.map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => CallFault::Uncertain("this file is too large"),
        _ if is_beyond_top(&error) => BEYOND_TOP,
        _ if is_outside(&error) => CallFault::Uncertain("this file may not be read"),
        _ => CallFault::Argument(0, format!("{path:?} could not be read: {error}")),
    })
}
