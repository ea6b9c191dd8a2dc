//! The commands that advice names, as they would be typed.

use std::path::{Path, PathBuf};

use crate::cli::args::{Common, Roots, is_path};
use crate::flavor::FlavorChoice;
use crate::verify::Advice;

/// How many roots a command names that the user named; for more there is a placeholder.
const MAX_ROOTS: usize = 5;

/// Returns the commands for a root, as they would be typed from here.
pub(in crate::cli) fn commands(common: &Common, dir: &Path) -> Advice {
    with_roots(common, "", &[dir.to_owned()])
}

/// Returns the commands for all roots of a run, as they would be typed from here.
pub(in crate::cli) fn commands_for_all(common: &Common, roots: &Roots) -> Advice {
    let recursive = if roots.recursive { " -r" } else { "" };
    let typed = roots.paths();
    let dirs: Vec<PathBuf> = typed.iter().map(|dir| common.below(dir)).collect();
    with_roots(common, recursive, &dirs)
}

/// Names a directory behind a command, unless it is the working directory.
fn named(dir: &Path) -> String {
    // A directory named with a dot at its end, or by `-C .`, is the working directory too.
    let here = dir
        .components()
        .all(|part| part == std::path::Component::CurDir);
    if here {
        String::new()
    } else {
        format!(" {}", quoted(&dir.display().to_string()))
    }
}

/// Names a directory for a command that takes addresses, too.
fn named_as_path(dir: &Path) -> String {
    let text = dir.display().to_string();
    if is_path(&text) {
        named(dir)
    } else {
        named(&Path::new(".").join(dir))
    }
}

fn with_roots(common: &Common, recursive: &str, dirs: &[PathBuf]) -> Advice {
    let names = |name: fn(&Path) -> String| match dirs.len() > MAX_ROOTS {
        true => " ROOT…".to_owned(),
        false => dirs.iter().map(|dir| name(dir)).collect(),
    };
    let root = format!("{recursive}{}", names(named));
    let paths = format!("{recursive}{}", names(named_as_path));
    let flavor = match common.flavor {
        FlavorChoice::Auto => String::new(),
        FlavorChoice::Stated(stated) => format!(" --flavor {}", stated.flavor),
    };
    let config = match &common.config {
        None => String::new(),
        Some(path) => {
            let path = common.below(path).display().to_string();
            format!(" --config {}", quoted(&path))
        }
    };
    Advice {
        update: format!("lockctl update{paths}{flavor}{config}"),
        lock: format!("lockctl lock{root}{flavor}{config}"),
        verify: format!("lockctl verify{root}{flavor}{config}"),
        fmt: format!("lockctl fmt{root}{flavor}{config}"),
    }
}

/// Quotes a word for a shell, where it needs that.
fn quoted(word: &str) -> String {
    // Both shells of Windows take the separator as it is, and know these quotes around spaces.
    let is_separator = |c| cfg!(windows) && c == '\\';
    let plain = |c: char| c.is_alphanumeric() || "_./-:@%+,=".contains(c) || is_separator(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if cfg!(windows) && word.chars().all(|c| plain(c) || c == ' ') {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
