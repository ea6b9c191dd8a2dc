//! The options that several commands share, and helpers that read the words of an argument.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};

use crate::cli::formats::Format;
use crate::cli::values::VariableValues;
use crate::flavor::FlavorChoice;
use crate::parallel;
use crate::run::options::{ConfigurationOptions, ModuleChoice, RootChoice, RunOptions};
use crate::run::platforms::PlatformArg;
use crate::run::progress::ProgressForm;
use crate::world::{Env, Stream};

/// The options that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(super) struct Common {
    /// Run as if started in this directory
    #[arg(
        short = 'C',
        long,
        global = true,
        hide_short_help = true,
        value_name = "DIR"
    )]
    pub(super) chdir: Option<PathBuf>,
    /// Whose rules apply: auto, terraform, opentofu, or with a version, as in terraform@1.11
    ///
    /// `auto` decides by the project file, the lock file and the files of the root; see `lockctl
    /// explain flavors`.
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        default_value = "auto",
        hide_default_value = true
    )]
    pub(super) flavor: FlavorChoice,
    /// How results are printed; see `lockctl explain formats`
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        default_value = "human",
        value_parser = one_of(Format::by_name())
    )]
    pub(super) format: Format,
    /// When colours are used; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t = ColorChoice::Auto)]
    pub(super) color: ColorChoice,
    /// Print results only, no remarks; of several roots, failures only
    ///
    /// What `show`, `tree`, `why`, `log`, `outdated` and `diff` were asked for is printed all the same.
    #[arg(
        short,
        long,
        global = true,
        hide_short_help = true,
        conflicts_with = "verbose"
    )]
    pub(super) quiet: bool,
    /// Print more: notes, single hashes, packages, requests
    #[arg(short, long, global = true, hide_short_help = true, action = ArgAction::SetTrue)]
    pub(super) verbose: bool,
    /// Make no network requests
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) offline: bool,
    /// Use no fact about packages that earlier runs kept, and keep none
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) no_cache: bool,
    /// Use this project file instead of every .lockctl.hcl
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Read project files as they are in this git revision, not as they are on disk
    ///
    /// For pull requests: what the base revision states decides, in each directory. Files of submodules are
    /// not among those of a revision, so the project files around a submodule govern it.
    #[arg(long, global = true, hide_short_help = true, value_name = "REF")]
    pub(super) config_at: Option<String>,
    /// Read this CLI configuration instead of that of Terraform or OpenTofu
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(super) cli_config: Option<PathBuf>,
}

impl Common {
    /// Returns the options that are not about output.
    pub(super) fn options(&self) -> RunOptions {
        RunOptions {
            dir: self.chdir.clone(),
            flavor: self.flavor,
            verbose: self.verbose,
            offline: self.offline,
            no_cache: self.no_cache,
            project_file: self.config.clone(),
            cli_config: self.cli_config.clone(),
        }
    }

    /// Decides how progress is shown, also by whether standard error is a terminal.
    pub(super) fn progress(&self, env: &dyn Env) -> ProgressForm {
        // Events are results, which neither `-v` nor `-q` changes. The lines of `-v` come before the bar:
        // each would be written into the line that the bar draws.
        if self.format == Format::JsonLines {
            ProgressForm::Events
        } else if self.verbose {
            ProgressForm::Requests
        } else if env.terminal(Stream::Stderr) && !self.quiet && self.format == Format::Human {
            ProgressForm::Bar
        } else {
            ProgressForm::Hidden
        }
    }

    /// Resolves a path against the directory of `--chdir`.
    pub(super) fn below(&self, path: &Path) -> PathBuf {
        self.options().below(path)
    }

    /// Checks that an option which needs the network, if it is in use, is not combined with `--offline`.
    ///
    /// # Errors
    /// With the sentence that the user reads.
    pub(super) fn check_offline(&self, option: &str, in_use: bool) -> Result<(), String> {
        if in_use && self.offline {
            return Err(format!(
                "'{option}' needs the network, and '--offline' forbids requests"
            ));
        }
        Ok(())
    }
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Lists examples for a help text: commands, and what each is for.
pub(in crate::front::cli) fn examples(rows: &[(&str, &str)]) -> String {
    let width = rows
        .iter()
        .map(|(command, _)| command.len())
        .max()
        .unwrap_or_default();
    let lines = rows
        .iter()
        .map(|(command, purpose)| format!("\n  {command:width$}  {purpose}"));
    format!("Examples:{}", lines.collect::<String>())
}

/// Options that control how configuration is read.
#[derive(Clone, Debug, Args)]
pub(super) struct Configuration {
    /// Look for test files in this directory of the root [default: tests]
    #[arg(long, value_name = "DIR")]
    pub(super) test_directory: Option<PathBuf>,
    /// Fail if a module is not visible
    ///
    /// A module is not visible if it is not installed, or if its source cannot be computed.
    #[arg(long)]
    pub(super) strict_modules: bool,
    /// Where remote modules are read from, if they are not installed
    ///
    /// A remote module is one of a registry, a repository or an archive. What is installed and up to date is
    /// read from `.terraform/modules` in any case.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(super) modules: ModulesArg,
    /// Do not read the state
    ///
    /// Providers that only the state requires count as not required.
    #[arg(long)]
    pub(super) no_state: bool,
    /// Read and write nothing outside of this directory
    ///
    /// This holds whatever `..` and symbolic links say. Files that an option names may be elsewhere. No
    /// value of the environment (`TF_VAR_NAME`, `get_env`) is used.
    #[arg(long, value_name = "DIR")]
    pub(super) confine: Option<PathBuf>,
    #[command(flatten)]
    pub(super) values: VariableValues,
}

impl Configuration {
    /// Returns what is typed about reading configuration.
    pub(super) fn options(&self) -> ConfigurationOptions {
        ConfigurationOptions {
            test_directory: self.test_directory.clone(),
            strict_modules: self.strict_modules,
            modules: match self.modules {
                ModulesArg::Auto => ModuleChoice::Auto,
                ModulesArg::Installed => ModuleChoice::Installed,
                ModulesArg::Fetch => ModuleChoice::Fetch,
            },
            reads_state: !self.no_state,
            is_confined: self.confine.is_some(),
            values: self.values.0.clone(),
        }
    }
}

/// The place from which remote modules are read that are not installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ModulesArg {
    /// From the cache; `lock` and `update` also fetch them, unless `--offline` is given
    #[default]
    Auto,
    /// Not at all: such a module is not visible
    Installed,
    /// From the cache, else fetched; a module that cannot be fetched is an error
    Fetch,
}

#[derive(Clone, Debug, Args)]
pub(super) struct RootArgs {
    /// Root module directories [default: the working directory]
    #[arg(value_name = "ROOT")]
    roots: Vec<PathBuf>,
    /// Find the roots in each ROOT and below
    ///
    /// A root is a directory with a lock file or a backend, or one that the project file names; see
    /// `lockctl explain roots`.
    #[arg(short, long)]
    pub(super) recursive: bool,
    /// With -r, also take units of Terragrunt without a lock file as roots
    ///
    /// Without it, such a unit is a root if `roots` of the project file names it.
    #[arg(long, requires = "recursive")]
    pub(super) terragrunt: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Platforms {
    /// Wanted platforms, separated by commas [default: those of the project file, else common]
    ///
    /// A platform is OS_ARCH, as in linux_amd64, or one of common (linux and darwin on amd64 and arm64,
    /// windows on amd64), all, current and locked. The option may be repeated.
    #[arg(long = "platform", value_delimiter = ',', value_name = "PLATFORM")]
    pub(super) platforms: Vec<PlatformArg>,
}

impl RootArgs {
    pub(super) fn new(roots: Vec<PathBuf>, recursive: bool) -> Self {
        Self {
            roots,
            recursive,
            terragrunt: false,
        }
    }

    /// Returns true if a root was typed exactly so.
    pub(super) fn names(&self, root: &str) -> bool {
        self.roots.iter().any(|typed| typed.as_os_str() == root)
    }

    /// Returns whether none was typed, and none is to be found.
    pub(super) fn are_default(&self) -> bool {
        self.roots.is_empty() && !self.recursive
    }

    /// Returns the paths that were typed.
    pub(super) fn typed(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Returns these roots as if no path had been typed.
    pub(super) fn without_paths(&self) -> Self {
        Self {
            roots: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the choice with only those roots that `is_root` accepts.
    pub(super) fn retaining(&self, is_root: impl Fn(&Path) -> bool) -> Self {
        let mut roots = self.clone();
        roots.roots.retain(|path| is_root(path));
        roots
    }

    /// Returns these roots with one more before them.
    pub(super) fn after(&self, first: &str) -> Self {
        let mut roots = self.clone();
        roots.roots.insert(0, PathBuf::from(first));
        roots
    }
}

/// Returns how many packages may be hashed at once: what was typed, else the number of cores.
pub(in crate::front::cli) fn job_count(typed: Option<NonZeroUsize>) -> NonZeroUsize {
    typed.unwrap_or_else(parallel::cores)
}

pub(in crate::front::cli) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 up".to_owned())
}

/// Reads one of a few words, which help lists.
pub(in crate::front::cli) fn one_of<T: Clone + Send + Sync + 'static>(
    words: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let words: Vec<(&'static str, T)> = words.into_iter().collect();
    let names: Vec<&'static str> = words.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).map(move |word: String| {
        words
            .iter()
            .find_map(|(name, value)| (*name == word).then(|| value.clone()))
            .expect("the parser lets no other word through")
    })
}

impl RootArgs {
    /// Returns what is typed about roots.
    pub(super) fn choice(&self) -> RootChoice {
        RootChoice {
            dirs: self.paths(),
            recursive: self.recursive,
            terragrunt: self.terragrunt,
        }
    }

    /// Returns the roots as typed, the working directory if none was.
    ///
    /// The path of a lock file means its directory.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        if self.roots.is_empty() {
            return vec![PathBuf::from(".")];
        }
        let is_lock = |path: &PathBuf| path.ends_with(crate::lockfile::FILE_NAME);
        let parent = |path: &PathBuf| match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir.to_owned(),
            // `.terraform.lock.hcl` alone has an empty parent, which names nothing.
            _ => PathBuf::from("."),
        };
        self.roots
            .iter()
            .map(|p| if is_lock(p) { parent(p) } else { p.clone() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_lock_file_stands_for_its_root() {
        let paths = |given: &[&str]| {
            RootArgs {
                roots: given.iter().map(PathBuf::from).collect(),
                recursive: false,
                terragrunt: false,
            }
            .paths()
        };
        assert_eq!(paths(&[]), [PathBuf::from(".")]);
        assert_eq!(paths(&[".terraform.lock.hcl"]), [PathBuf::from(".")]);
        assert_eq!(
            paths(&["a/.terraform.lock.hcl", "b"]),
            [PathBuf::from("a"), PathBuf::from("b")]
        );
    }
}
