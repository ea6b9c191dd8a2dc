//! The command that moves the roots that are behind.

use std::path::PathBuf;

use crate::cli::args::ModulesArg;
use crate::cli::lock::LockOptions;
use crate::cli::source_args::InstallationArg;
use crate::config::ValueArgument;
use crate::run::commands;
use crate::run::options::RunOptions;
use crate::run::platforms::PlatformArg;

/// The roots that a command is for.
pub(super) enum RootPlaces {
    /// Roots, by their directories.
    Roots(Vec<PathBuf>),
    /// All roots in these directories and below.
    Below(Vec<PathBuf>),
}

impl RootPlaces {
    /// Returns how many directories are named.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Roots(dirs) | Self::Below(dirs) => dirs.len(),
        }
    }
}

/// Returns the command that moves a provider to a version, both as in `hashicorp/aws@5.31.0`.
///
/// Roots are named without exception, and packages come from where the run took them: it can be typed as
/// it is.
pub(super) fn update_to(
    run: &RunOptions,
    options: &LockOptions,
    target: &str,
    places: &RootPlaces,
) -> String {
    let (recursive, dirs) = match places {
        RootPlaces::Roots(dirs) => ("", dirs),
        RootPlaces::Below(dirs) => (" -r", dirs),
    };
    let dirs: String = dirs
        .iter()
        .map(|dir| commands::named_as_path(dir))
        .collect();
    format!(
        "lockctl update {}{recursive}{dirs}{}{}",
        commands::quoted(target),
        commands::rules(run),
        inputs(run, options)
    )
}

/// Returns the options that say what a run reads and where packages come from.
fn inputs(run: &RunOptions, options: &LockOptions) -> String {
    let mut text = String::new();
    let platforms = &options.platforms.platforms;
    let platforms: Vec<String> = platforms.iter().map(platform).collect();
    if !platforms.is_empty() {
        text += &format!(" --platform {}", platforms.join(","));
    }
    let source = &options.source;
    if let Some(dir) = &source.fs_mirror {
        text += &commands::option("--fs-mirror", &run.below(dir));
    }
    if let Some(url) = &source.net_mirror {
        text += &format!(" --net-mirror {}", commands::quoted(&url.to_string()));
    }
    if let Some(template) = &source.oci_mirror {
        text += &format!(" --oci-mirror {}", commands::quoted(&template.to_string()));
    }
    if source.installation == InstallationArg::Cli {
        text += " --installation cli";
    }
    if let Some(path) = &run.cli_config {
        text += &commands::option("--cli-config", &run.below(path));
    }
    let configuration = &options.configuration;
    if let Some(name) = &configuration.test_directory {
        text += &commands::option("--test-directory", name);
    }
    for argument in &configuration.values.0 {
        text += &match argument {
            ValueArgument::Value { name, text } => {
                format!(" --var {}", commands::quoted(&format!("{name}={text}")))
            }
            ValueArgument::File(path) => commands::option("--var-file", path),
        };
    }
    text += match configuration.modules {
        ModulesArg::Auto => "",
        ModulesArg::Installed => " --modules installed",
        ModulesArg::Fetch => " --modules fetch",
    };
    if let Some(dir) = &configuration.confine {
        text += &commands::option("--confine", &run.below(dir));
    }
    let switches = [
        (configuration.strict_modules, " --strict-modules"),
        (configuration.no_state, " --no-state"),
        (run.offline, " --offline"),
        (run.no_cache, " --no-cache"),
        (options.prove, " --prove"),
    ];
    for (is_on, option) in switches {
        if is_on {
            text += option;
        }
    }
    text
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
