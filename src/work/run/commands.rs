//! The commands that advice names, as they would be typed.

use std::path::{Path, PathBuf};

use crate::diag::RootCommand;
use crate::flavor::FlavorChoice;
use crate::run::options::{Options, RootArgs, is_path};
use crate::verify::Advice;

pub(crate) use crate::diag::quoted;

/// Maximum number of roots that a command repeats from the command line; for more there is a placeholder.
const MAX_ROOTS: usize = 20;

/// Returns the commands for a root, as they would be typed from here.
pub(crate) fn of_root(options: &Options, dir: &Path) -> Advice {
    of_dirs(options, &[dir.to_owned()])
}

/// Returns the commands for these roots, as they would be typed from here.
pub(crate) fn of_dirs(options: &Options, dirs: &[PathBuf]) -> Advice {
    with_roots(options, "", dirs)
}

/// Returns the commands for all roots of a run, as they would be typed from here.
pub(crate) fn of_all(options: &Options, roots: &RootArgs) -> Advice {
    let recursive = match (roots.recursive, roots.terragrunt) {
        (true, true) => " -r --terragrunt",
        (true, false) => " -r",
        (false, _) => "",
    };
    with_roots(options, recursive, &roots.dirs(options))
}

fn arguments(recursive: &str, dirs: &[PathBuf], name: fn(&Path) -> String) -> String {
    if dirs.len() > MAX_ROOTS {
        return format!("{recursive} ROOT…");
    }
    let names: String = dirs.iter().map(|dir| name(dir)).collect();
    format!("{recursive}{names}")
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

fn with_roots(options: &Options, recursive: &str, dirs: &[PathBuf]) -> Advice {
    // `update` takes addresses as well as directories; the other commands take directories alone.
    let root = arguments(recursive, dirs, named);
    let paths = arguments(recursive, dirs, |dir| {
        // Without a slash in front, `update live` would mean the provider `hashicorp/live`.
        if is_path(&dir.display().to_string()) {
            named(dir)
        } else {
            named(&Path::new(".").join(dir))
        }
    });
    let mut files = String::new();
    for (option, path) in [
        ("config", &options.config),
        ("cli-config", &options.cli_config),
    ] {
        if let Some(path) = path {
            let path = options.below(path).display().to_string();
            files += &format!(" --{option} {}", quoted(&path));
        }
    }
    let rules = match options.flavor {
        FlavorChoice::Stated(stated) => format!(" --flavor {}{files}", stated.flavor),
        FlavorChoice::Auto => files.clone(),
    };
    // A command that reads another configuration than this run finds other requirements: it would not end the finding.
    let reading = options.repeated.configuration.typed(options);
    let read_roots = format!("{root}{rules}{reading}");
    let lock = RootCommand::new(format!("lockctl lock{read_roots}"));
    let advice = Advice {
        lock_signed: lock.clone(),
        lock,
        update: RootCommand::new(format!("lockctl update{paths}{rules}{reading}")),
        verify: RootCommand::new(format!("lockctl verify{read_roots}")),
        resolve: RootCommand::new(format!("lockctl resolve{root}{rules}")),
        read_roots: RootCommand::new(read_roots),
        roots: RootCommand::new(format!("{root}{rules}")),
        fmt: RootCommand::new(format!("lockctl fmt{root}{rules}")),
        // `--to` says whose rules apply.
        convert: RootCommand::new(format!("lockctl convert{root}{files}{reading}")),
    };
    match &options.repeated.source {
        Some(source) => advice.taking_from(&source.option()),
        None => advice,
    }
}
