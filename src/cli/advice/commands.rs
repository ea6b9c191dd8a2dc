//! The commands that advice names, as they would be typed.

use std::path::Path;

use crate::cli::args::{Common, Roots};
use crate::flavor::FlavorChoice;
use crate::verify::Advice;

/// How many roots a command names that the user named; for more there is a placeholder.
const MAX_ROOTS: usize = 5;

/// Returns the commands for a root, as they would be typed from here.
pub(in crate::cli) fn commands(common: &Common, dir: &Path) -> Advice {
    with_roots(common, &named(dir))
}

/// Returns the commands for all roots of a run, as they would be typed from here.
pub(in crate::cli) fn commands_for_all(common: &Common, roots: &Roots) -> Advice {
    let recursive = if roots.recursive { " -r" } else { "" };
    let typed = roots.paths();
    let names = match typed.len() > MAX_ROOTS {
        true => " ROOT…".to_owned(),
        false => typed.iter().map(|dir| named(&common.below(dir))).collect(),
    };
    with_roots(common, &format!("{recursive}{names}"))
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

fn with_roots(common: &Common, root: &str) -> Advice {
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
