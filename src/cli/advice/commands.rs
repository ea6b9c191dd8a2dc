//! The commands that advice names, as they would be typed.

use std::path::{Path, PathBuf};

use crate::cli::args::{Common, ModulesArg, PlatformArg, Roots, is_path};
use crate::cli::lock::LockOptions;
use crate::cli::session::sources::Installation;
use crate::config::ValueArgument;
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
    let recursive = match (roots.recursive, roots.terragrunt) {
        (true, true) => " -r --terragrunt",
        (true, false) => " -r",
        (false, _) => "",
    };
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
    let options = rules(common);
    Advice {
        update: format!("lockctl update{paths}{options}"),
        lock: format!("lockctl lock{root}{options}"),
        verify: format!("lockctl verify{root}{options}"),
        fmt: format!("lockctl fmt{root}{options}"),
    }
}

/// Returns the options that say whose rules apply.
fn rules(common: &Common) -> String {
    let mut options = String::new();
    if let FlavorChoice::Stated(stated) = common.flavor {
        options += &format!(" --flavor {}", stated.flavor);
    }
    if let Some(path) = &common.config {
        options += &option("--config", &common.below(path));
    }
    options
}

/// Which roots a command is for.
pub(in crate::cli) enum Places {
    /// These.
    Roots(Vec<PathBuf>),
    /// All in these directories and below.
    Below(Vec<PathBuf>),
}

impl Places {
    /// Returns how many directories are named.
    pub(in crate::cli) fn len(&self) -> usize {
        match self {
            Self::Roots(dirs) | Self::Below(dirs) => dirs.len(),
        }
    }
}

/// Returns the command that moves a provider to a version, both as in `hashicorp/aws@5.31.0`.
///
/// Roots are named without exception, and packages come from where the run took them: it can be typed as
/// it is.
pub(in crate::cli) fn update_to(
    common: &Common,
    options: &LockOptions,
    target: &str,
    places: &Places,
) -> String {
    let (recursive, dirs) = match places {
        Places::Roots(dirs) => ("", dirs),
        Places::Below(dirs) => (" -r", dirs),
    };
    let dirs: String = dirs.iter().map(|dir| named_as_path(dir)).collect();
    format!(
        "lockctl update {}{recursive}{dirs}{}{}",
        quoted(target),
        rules(common),
        inputs(common, options)
    )
}

/// Returns the options that say what a run reads and where packages come from.
fn inputs(common: &Common, options: &LockOptions) -> String {
    let mut text = String::new();
    let platforms = options.platforms.platforms.iter();
    let platforms: Vec<String> = platforms.map(platform).collect();
    if !platforms.is_empty() {
        text += &format!(" --platform {}", platforms.join(","));
    }
    let source = &options.source;
    if let Some(dir) = &source.fs_mirror {
        text += &option("--fs-mirror", &common.below(dir));
    }
    if let Some(url) = &source.net_mirror {
        text += &format!(" --net-mirror {}", quoted(&url.to_string()));
    }
    if let Some(template) = &source.oci_mirror {
        text += &format!(" --oci-mirror {}", quoted(&template.to_string()));
    }
    if source.installation == Installation::Cli {
        text += " --installation cli";
    }
    if let Some(path) = &common.cli_config {
        text += &option("--cli-config", &common.below(path));
    }
    let configuration = &options.configuration;
    if let Some(name) = &configuration.test_directory {
        text += &option("--test-directory", name);
    }
    for argument in &configuration.values.0 {
        text += &match argument {
            ValueArgument::Value { name, text } => {
                format!(" --var {}", quoted(&format!("{name}={text}")))
            }
            ValueArgument::File(path) => option("--var-file", path),
        };
    }
    text += match configuration.modules {
        ModulesArg::Auto => "",
        ModulesArg::Installed => " --modules installed",
        ModulesArg::Fetch => " --modules fetch",
    };
    if let Some(dir) = &configuration.confine {
        text += &option("--confine", &common.below(dir));
    }
    let switches = [
        (configuration.strict_modules, " --strict-modules"),
        (configuration.no_state, " --no-state"),
        (common.offline, " --offline"),
        (common.no_cache, " --no-cache"),
        (options.prove, " --prove"),
    ];
    let switches = switches.iter().filter(|(is_on, _)| *is_on);
    text.extend(switches.map(|(_, option)| *option));
    text
}

fn option(name: &str, path: &Path) -> String {
    format!(" {name} {}", quoted(&path.display().to_string()))
}

/// Spells a platform as it is typed.
fn platform(typed: &PlatformArg) -> String {
    match typed {
        PlatformArg::Named(platform) => platform.to_string(),
        PlatformArg::Common => "common".to_owned(),
        PlatformArg::All => "all".to_owned(),
        PlatformArg::Current => "current".to_owned(),
        PlatformArg::Locked => "locked".to_owned(),
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
