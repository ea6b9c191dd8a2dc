//! Options that commands share: what is typed is what a run works with.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};

use crate::cliconfig::RepositoryTemplate;
use crate::config::ValueArgument;
use crate::diag::quoted;
use crate::flavor::FlavorChoice;
use crate::project::PackageSource;
use crate::run::formats::Format;
use crate::run::platforms::PlatformArg;
use crate::run::values::VariableValues;
use crate::sources::network_mirror::MirrorUrl;
use crate::{lockfile, parallel};

/// The options that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Options {
    /// Run as if started in this directory
    #[arg(
        short = 'C',
        long,
        global = true,
        hide_short_help = true,
        value_name = "DIR"
    )]
    pub(crate) chdir: Option<PathBuf>,
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
    pub(crate) flavor: FlavorChoice,
    /// How results are printed; see `lockctl explain formats`
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        default_value = "human",
        value_parser = one_of(Format::by_name())
    )]
    pub(crate) format: Format,
    /// When colours are used; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
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
    pub(crate) quiet: bool,
    /// Print more: notes, single hashes, packages, requests
    #[arg(short, long, global = true, hide_short_help = true, action = ArgAction::SetTrue)]
    pub(crate) verbose: bool,
    /// Make no network requests
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) offline: bool,
    /// Use no fact about packages that earlier runs kept, and keep none
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_cache: bool,
    /// Use this project file instead of every .lockctl.hcl
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Read project files as they are in this git revision, not as they are on disk
    ///
    /// For pull requests: what the base revision states decides, in each directory. Files of submodules are
    /// not among those of a revision, so the project files around a submodule govern it.
    #[arg(long, global = true, hide_short_help = true, value_name = "REF")]
    pub(crate) config_at: Option<String>,
    /// Read this CLI configuration instead of that of Terraform or OpenTofu
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) cli_config: Option<PathBuf>,
    /// The options of the command that a command named in advice repeats.
    #[arg(skip)]
    pub(crate) repeated: RepeatedOptions,
}

/// Options of a command that also decide what another command finds, so that advice repeats them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepeatedOptions {
    pub(crate) configuration: Configuration,
    /// The place of packages.
    pub(crate) source: Option<PackageSource>,
}

/// The use of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl Options {
    /// Returns a path as seen from the directory of the run.
    pub(crate) fn below(&self, path: &Path) -> PathBuf {
        match &self.chdir {
            Some(dir) if path == Path::new(".") => dir.clone(),
            Some(dir) => dir.join(path),
            None => path.to_owned(),
        }
    }

    /// Checks that an option which needs the network, if it is in use, is not combined with `--offline`.
    ///
    /// # Errors
    /// With the sentence that the user reads.
    pub(crate) fn check_offline(&self, option: &str, in_use: bool) -> Result<(), String> {
        if in_use && self.offline {
            return Err(format!(
                "'{option}' needs the network, and '--offline' forbids requests"
            ));
        }
        Ok(())
    }
}

/// Options that control how configuration is read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Configuration {
    /// Look for test files in this directory of the root [default: tests]
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
    /// Fail if a module is not visible
    ///
    /// A module is not visible if it is not installed, or if its source cannot be computed.
    #[arg(long)]
    pub(crate) strict_modules: bool,
    /// Where remote modules are read from, if they are not installed
    ///
    /// A remote module is one of a registry, a repository or an archive. What is installed and up to date is
    /// read from `.terraform/modules` in any case.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(crate) modules: ModuleChoice,
    /// Do not read the state
    ///
    /// Providers that only the state requires count as not required.
    #[arg(long)]
    pub(crate) no_state: bool,
    /// Read and write nothing outside of this directory
    ///
    /// This holds whatever `..` and symbolic links say. Files that an option names may be elsewhere. No
    /// value of the environment (`TF_VAR_NAME`, `get_env`) is used.
    #[arg(long, value_name = "DIR")]
    pub(crate) confine: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) values: VariableValues,
}

impl Configuration {
    /// Returns the options that decide which providers are required, as they would be typed from here.
    pub(crate) fn typed(&self, options: &Options) -> String {
        let mut typed = String::new();
        let mut add = |option: &str, value: &str| {
            typed += &format!(" --{option} {}", quoted(value));
        };
        for argument in &self.values.0 {
            match argument {
                ValueArgument::Value { name, text } => add("var", &format!("{name}={text}")),
                // It is a file of the root, wherever the command is typed.
                ValueArgument::File(path) => add("var-file", &path.display().to_string()),
            }
        }
        if let Some(dir) = &self.test_directory {
            add("test-directory", &dir.display().to_string());
        }
        if let Some(dir) = &self.confine {
            add("confine", &options.below(dir).display().to_string());
        }
        if self.no_state {
            typed += " --no-state";
        }
        typed
    }
}

/// The places that remote modules are read from where they are not installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModuleChoice {
    /// From the cache; `lock` and `update` also fetch them, unless `--offline` is given
    #[default]
    Auto,
    /// Not at all: such a module is not visible
    Installed,
    /// From the cache, else fetched; a module that cannot be fetched is an error
    Fetch,
}

/// Roots to work on, or directories to search for roots.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RootArgs {
    /// Root module directories [default: the working directory]
    #[arg(value_name = "ROOT")]
    pub(crate) roots: Vec<PathBuf>,
    /// Find the roots in each ROOT and below
    ///
    /// A root is a directory with a lock file or a backend, or one that the project file names; see
    /// `lockctl explain roots`.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// With -r, also take units of Terragrunt without a lock file as roots
    ///
    /// Without it, such a unit is a root if `roots` of the project file names it.
    #[arg(long, requires = "recursive")]
    pub(crate) terragrunt: bool,
    /// The command works on one root, and searches for none.
    #[arg(skip)]
    pub(crate) is_single: bool,
}

impl RootArgs {
    /// Returns the directories as seen from that of the run, the working directory if none was typed.
    pub(crate) fn dirs(&self, options: &Options) -> Vec<PathBuf> {
        if self.roots.is_empty() {
            return vec![options.below(Path::new("."))];
        }
        self.roots
            .iter()
            .map(|root| Self::dir(root, options))
            .collect()
    }

    /// Returns the directory of a root that was typed; the path of a lock file means its directory.
    pub(crate) fn dir(typed: &Path, options: &Options) -> PathBuf {
        match typed.parent() {
            _ if !typed.ends_with(lockfile::FILE_NAME) => options.below(typed),
            Some(dir) if !dir.as_os_str().is_empty() => options.below(dir),
            // `.terraform.lock.hcl` alone has an empty parent, which names nothing.
            _ => options.below(Path::new(".")),
        }
    }
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Platforms {
    /// Wanted platforms, separated by commas [default: those of the project file, else common]
    ///
    /// A platform is OS_ARCH, as in linux_amd64, or one of common (linux and darwin on amd64 and arm64,
    /// windows on amd64), all, current and locked. The option may be repeated.
    #[arg(long = "platform", value_delimiter = ',', value_name = "PLATFORM")]
    pub(crate) platforms: Vec<PlatformArg>,
}

/// Options on the source of packages.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SourceArgs {
    /// Take packages from this filesystem mirror [default: project file, else registries]
    #[arg(long, value_name = "DIR")]
    pub(crate) fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror
    ///
    /// The URL uses https and ends with a slash.
    #[arg(long, value_name = "URL", conflicts_with = "fs_mirror")]
    pub(crate) net_mirror: Option<MirrorUrl>,
    /// Take packages from repositories of OCI artifacts
    ///
    /// The template makes the address of a repository from hostname, namespace and type of a provider, as
    /// in `oci_mirror` of OpenTofu: `ghcr.io/acme/${namespace}/${type}`. `{namespace}` means the same as
    /// `${namespace}`.
    #[arg(
        long,
        value_name = "TEMPLATE",
        conflicts_with_all = ["fs_mirror", "net_mirror"]
    )]
    pub(crate) oci_mirror: Option<RepositoryTemplate>,
    /// Take packages from registries, or as `init` does
    ///
    /// With `registry` packages come from the registry of each provider, as in `providers lock`; with
    /// `cli` from the sources that the CLI configuration states, as in `init`.
    #[arg(
        long,
        value_parser = installations(),
        value_name = "FROM",
        conflicts_with_all = ["fs_mirror", "net_mirror", "oci_mirror"]
    )]
    pub(crate) installation: Option<PackageSource>,
}

impl SourceArgs {
    /// Returns the place that packages come from, if any was typed; at most one was.
    pub(crate) fn choice(&self, options: &Options) -> Option<PackageSource> {
        if let Some(dir) = &self.fs_mirror {
            Some(PackageSource::FilesystemMirror(options.below(dir)))
        } else if let Some(url) = &self.net_mirror {
            Some(PackageSource::NetworkMirror(url.clone()))
        } else if let Some(template) = &self.oci_mirror {
            Some(PackageSource::OciMirror(template.clone()))
        } else {
            self.installation.clone()
        }
    }
}

/// Reads the value of `--installation`: the sources that are asked where no mirror is named.
pub(crate) fn installations() -> impl TypedValueParser<Value = PackageSource> {
    one_of([
        ("registry", PackageSource::Registry),
        ("cli", PackageSource::CliConfiguration),
    ])
}

/// Lists examples for a help text: commands, and what each is for.
pub(crate) fn examples(rows: &[(&str, &str)]) -> String {
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

/// Returns the number of packages that may be hashed at once: what was typed, else the number of cores.
pub(crate) fn job_count(typed: Option<NonZeroUsize>) -> NonZeroUsize {
    typed.unwrap_or_else(parallel::cores)
}

pub(crate) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 up".to_owned())
}

/// Reads a number of bytes with its unit.
pub(crate) fn byte_count(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let (number, factor) = UNITS
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
        .unwrap_or((text, 1));
    number
        .trim_end()
        .parse()
        .ok()
        .and_then(|number: u64| number.checked_mul(factor))
        .ok_or_else(|| "write a whole number of bytes, as in 500MB or 2GiB".to_owned())
}

/// Reads one of a few words, which help lists.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static>(
    words: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let words: Vec<(&'static str, T)> = Vec::from_iter(words);
    PossibleValuesParser::new(words.iter().map(|(name, _)| *name)).map(move |word: String| {
        words
            .iter()
            .find_map(|(name, value)| (*name == word).then(|| value.clone()))
            .expect("the parser lets no other word through")
    })
}

/// Returns true if an argument that may be an address is a path instead: no address begins with a dot or a
/// slash, ends with a slash, or has a backslash.
pub(crate) fn is_path(text: &str) -> bool {
    text.starts_with(['.', '/']) || text.ends_with('/') || text.contains('\\')
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    #[test]
    fn a_number_of_bytes_may_have_a_unit() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("12B", Some(12)),
            ("500MB", Some(500_000_000)),
            ("2 GiB", Some(2 << 30)),
            ("99999999999GB", None),
            ("1.5GB", None),
            ("MB", None),
            ("-1", None),
        ] {
            assert_eq!(byte_count(text).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn the_path_of_a_lock_file_stands_for_its_root() {
        let program = Options::augment_args(clap::Command::new("lockctl"));
        let matches = program.get_matches_from(["lockctl"]);
        let options = Options::from_arg_matches(&matches).expect("no argument is required");
        let dirs = |given: &[&str]| {
            RootArgs {
                roots: given.iter().map(PathBuf::from).collect(),
                ..RootArgs::default()
            }
            .dirs(&options)
        };
        assert_eq!(dirs(&[]), [PathBuf::from(".")]);
        assert_eq!(dirs(&[".terraform.lock.hcl"]), [PathBuf::from(".")]);
        assert_eq!(
            dirs(&["a/.terraform.lock.hcl", "b"]),
            [PathBuf::from("a"), PathBuf::from("b")]
        );
    }
}
