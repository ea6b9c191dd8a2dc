//! Functions that look at files and paths.

use std::io::ErrorKind;
use std::path::Path;

use super::{Fault, Function, Gives, Limits, Needs, Takes, text};
use crate::expr::scope::Surroundings;
use crate::expr::typed::Typed;
use crate::world::{FileKind, clean, is_outside};

type Ran = Result<Typed, Fault>;

const fn of(name: &'static str, gives: Gives, run: fn(&[Typed], &Limits<'_>) -> Ran) -> Function {
    Function {
        name,
        takes: &[Takes::Text],
        rest: None,
        needs: Needs::Parts,
        gives,
        run,
    }
}

pub(super) const TABLE: &[Function] = &[
    of("abspath", Gives::Text, |args, limits| {
        let Some(dir) = limits.around.absolute_dir else {
            return Err(Fault::Uncertain("the working directory is not known"));
        };
        let path = clean(&dir.join(text(args, 0)));
        Ok(Typed::string(path.display().to_string()))
    }),
    of("basename", Gives::Text, |args, _| {
        Ok(Typed::string(base(text(args, 0))))
    }),
    of("dirname", Gives::Text, |args, _| {
        Ok(Typed::string(dir(text(args, 0))))
    }),
    of("file", Gives::Text, |args, limits| {
        let text = read_text(limits.around, text(args, 0), limits.work)?;
        Ok(Typed::string(text))
    }),
    of("fileexists", Gives::Truth, |args, limits| {
        let path = limits.around.dir.join(text(args, 0));
        match limits.around.files.kind(&path) {
            Ok(FileKind::File) => Ok(Typed::bool(true)),
            Ok(_) => Err(Fault::Call("this is no regular file".to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Typed::bool(false)),
            Err(error) => Err(Fault::Call(error.to_string())),
        }
    }),
    of("pathexpand", Gives::Text, |args, _| match text(args, 0) {
        path if path.starts_with('~') => Err(Fault::Uncertain("the home directory is not known")),
        path => Ok(Typed::string(path)),
    }),
];

/// Reads a text file, within what may still be computed.
pub(super) fn read_text(
    around: &Surroundings<'_>,
    path: &str,
    limit: usize,
) -> Result<String, Fault> {
    let no_text = || Fault::Call(format!("{path:?} is no UTF-8"));
    String::from_utf8(read(around, path, limit)?).map_err(|_| no_text())
}

/// Reads a file, within what may still be computed.
pub(super) fn read(around: &Surroundings<'_>, path: &str, limit: usize) -> Result<Vec<u8>, Fault> {
    if path.starts_with('~') {
        return Err(Fault::Uncertain("paths of home directories are not read"));
    }
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let read = around.files.read(&around.dir.join(Path::new(path)), limit);
    read.map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => Fault::Uncertain("this file is too large"),
        _ if is_outside(&error) => Fault::Uncertain("this file may not be read"),
        _ => Fault::Argument(0, format!("{path:?} could not be read: {error}")),
    })
}

/// Returns the last part of a path.
fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// Returns a path without its last part, in the shortest form.
fn dir(path: &str) -> String {
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in above.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            ("..", _) if is_absolute => {}
            _ => parts.push(part),
        }
    }
    match (is_absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}
