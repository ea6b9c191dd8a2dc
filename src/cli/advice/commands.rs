//! The commands that advice names, as they would be typed.

use std::path::Path;

use crate::cli::args::Common;
use crate::flavor::FlavorChoice;
use crate::verify::Advice;

/// Returns the commands for a root, as they would be typed from here.
pub(in crate::cli) fn commands(common: &Common, dir: &Path) -> Advice {
    // A directory named with a dot at its end, or by `-C .`, is the working directory too.
    let here = dir
        .components()
        .all(|part| part == std::path::Component::CurDir);
    let root = if here {
        String::new()
    } else {
        format!(" {}", quoted(&dir.display().to_string()))
    };
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
