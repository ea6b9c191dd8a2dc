//! The CLI configuration of the programs (rules 1 to 6): host services, credentials, and where
//! packages come from.
//!
//! Its language is HCL 1 or JSON. `locate` finds the files, `tokens` and `native` read HCL 1,
//! `tree` makes one tree of either form, `blocks` reads that, and
//! `credentials` and `netrc` say which credentials go to which host; `installation`, `following`
//! and `local` say where packages come from.
//!
//! Invariant: tokens leave this room only as a [`crate::world::Secret`]. The texts that diagnostics point into
//! hold `*` for everything that could be a token, at unchanged offsets; `veil` decides what is shown.

mod blocks;
mod credentials;
mod following;
mod installation;
mod language;
mod local;
mod locate;
mod native;
mod netrc;
mod node;
mod oci_blocks;
mod oci_logins;
#[cfg(test)]
mod secrecy_tests;
mod template;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_installation;
#[cfg(test)]
mod tests_oci;
mod tokens;
mod tree;
mod veil;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::addr::Hostname;
use crate::diag::{self, Diagnostic, FileId, Span, Texts};
use crate::flavor::Flavor;
use crate::world::{Env, Files, Secret, is_outside};
use blocks::NamedHelper;
pub use installation::{Installation, Method, MethodKind};
pub use local::LocalMirror;
use locate::{ConfigPlace, Habits, MissingFile};
pub use netrc::Netrc;
pub use oci_blocks::OciLogin;
use oci_blocks::{OciCredentials, OciDefaults};
pub use oci_logins::OciLogins;
pub use template::{RepositoryTemplate, TemplateError};

/// Maximum size of one file, in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Maximum number of files in the configuration directory.
pub const MAX_DIRECTORY_FILES: usize = 100;

/// Errors of the system for a path that does not exist.
const ABSENT: [ErrorKind; 2] = [ErrorKind::NotFound, ErrorKind::NotADirectory];

/// The files and blocks of the CLI configuration that are read.
#[derive(Clone, Copy, Debug)]
pub struct ConfigChoice<'a> {
    /// The program whose files and blocks count.
    pub flavor: Flavor,
    /// The one file that the user names, which must be there; `None` for those that the program
    /// would read.
    pub file: Option<&'a Path>,
}

/// The settings of the files and of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CliConfig {
    /// The services of each host that has a `host` block: they replace its discovery document as
    /// a whole. Values are as written, and may hold passwords; a relative URL is one on that document (`sources` rules
    /// 1.9).
    pub hosts: BTreeMap<Hostname, BTreeMap<String, Secret>>,
    /// The configured credentials helper.
    pub helper: Option<HelperProgram>,
    /// Retries and time limits of requests to registries.
    pub protocols: RegistryProtocols,
    /// The files that were read; later ones win.
    pub files: Vec<PathBuf>,
    /// The `provider_installation` blocks, in the order of the files.
    pub installations: Vec<Installation>,
    /// The directory of shared unpacked packages, relative to the working directory (rules 6).
    pub cache_dir: Option<PathBuf>,
    /// A package of that directory may be used although the lock file does not hold its hash
    /// (rules 6.2).
    pub cache_may_break: bool,
    /// The directories that count as mirrors where no block says otherwise (rules 5.1),
    /// whether they exist or not.
    pub implied_mirrors: Vec<PathBuf>,
    /// The credentials for registries of OCI artifacts, in the order of the files.
    oci_credentials: Vec<OciCredentials>,
    /// Other places of such credentials, if they are stated.
    oci_defaults: Option<OciDefaults>,
    /// The token for each host; `None` where a block without a token hides other sources.
    tokens: BTreeMap<Hostname, Option<Secret>>,
}

/// A credentials helper (rules 4.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperProgram {
    /// The label in the CLI configuration.
    pub name: String,
    /// The arguments before the verb.
    pub args: Vec<String>,
    /// The directories that may hold the program, in search order.
    pub dirs: Vec<PathBuf>,
}

/// The settings of the block `registry_protocols` (`sources` rules 4.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegistryProtocols {
    /// Number of further requests for a document.
    pub retries: Option<u64>,
    /// Time limit for a document, in seconds.
    pub timeout_seconds: Option<u64>,
}

/// Reads the CLI configuration that the program would read (rules 1 to 4).
///
/// Returns what was understood, and every problem. An error means that the programs would drop
/// the file, or that it says something that they ignore silently, which rules 1.6 forbid us.
///
/// ```
/// use lockctl_core::cliconfig::{ConfigChoice, read};
/// use lockctl_core::diag::Texts;
/// use lockctl_core::flavor::Flavor;
/// use lockctl_core::world::mem::{MemEnv, MemFiles};
///
/// let files = MemFiles::with(&[("rc", "credentials \"a.example\" { token = \"t\" }")]);
/// let wanted = ConfigChoice {
///     flavor: Flavor::Terraform1_11,
///     file: Some("rc".as_ref()),
/// };
/// let (config, problems) = read(&files, &MemEnv::default(), &mut Texts::default(), wanted);
/// assert!(problems.is_empty() && config.token(&"a.example".parse()?).is_some());
/// # Ok::<(), lockctl_core::addr::HostnameError>(())
/// ```
#[must_use]
pub fn read(
    files: &dyn Files,
    env: &dyn Env,
    texts: &mut Texts,
    wanted: ConfigChoice<'_>,
) -> (CliConfig, Vec<Diagnostic>) {
    let place = ConfigPlace {
        files,
        env,
        habits: Habits::HERE,
    };
    read_at(place, texts, wanted)
}

/// Reads the CLI configuration as on a system with the habits of the place.
fn read_at(
    place: ConfigPlace<'_>,
    texts: &mut Texts,
    wanted: ConfigChoice<'_>,
) -> (CliConfig, Vec<Diagnostic>) {
    let located = locate::locate(place, wanted.flavor, wanted.file);
    let mut reader = ConfigReader {
        place,
        texts,
        flavor: wanted.flavor,
        config: CliConfig::default(),
        helper_at: None,
        oci_at: BTreeMap::new(),
        problems: Vec::new(),
    };
    if let Some((path, missing)) = located.main {
        reader.main(&path, missing);
    }
    if let Some(directory) = located.directory {
        reader.directory(&directory);
    }
    let mut config = reader.config;
    config.implied_mirrors = place.implied_mirrors(wanted.flavor);
    // The variable beats all files, and nothing in it is expanded (rules 2.1).
    config.cache_dir = place.path("TF_PLUGIN_CACHE_DIR").or(config.cache_dir);
    // Every value but the empty one and `0` turns it on, `false` as well (rules 2.2).
    let may_break = place
        .env
        .var("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE");
    config.cache_may_break |= may_break.is_some_and(|value| !value.is_empty() && value != "0");
    // A variable beats all files, even if it is empty (rules 4.1).
    for (host, token) in credentials::from_env(place.env) {
        config.tokens.insert(host, Some(token));
    }
    (config, reader.problems)
}

/// The files in the course of being read.
struct ConfigReader<'a> {
    place: ConfigPlace<'a>,
    texts: &'a mut Texts,
    flavor: Flavor,
    config: CliConfig,
    /// The place of the block that named the credentials helper.
    helper_at: Option<(FileId, Span)>,
    /// The places of the blocks about registries of OCI artifacts, by label.
    oci_at: BTreeMap<String, (FileId, Span)>,
    problems: Vec<Diagnostic>,
}

impl ConfigReader<'_> {
    fn main(&mut self, path: &Path, missing: MissingFile) {
        // The usual way to have no configuration; it is no file that `Files` reads.
        if path == Path::new("/dev/null") {
            return;
        }
        match self.place.files.read(path, MAX_FILE_BYTES) {
            Ok(bytes) => self.contents(path, &bytes),
            // The meaning of a missing file depends on who named it (rules 1.1).
            Err(error) if ABSENT.contains(&error.kind()) => match missing {
                MissingFile::Fine => {}
                MissingFile::Fault => self.unreadable(path, &error),
                MissingFile::Remark => {
                    let title = "Unable to open CLI configuration file";
                    let warning =
                        Diagnostic::warning(diag::rules::CLI_CONFIGURATION_MISSING, title)
                            .help("correct or unset TF_CLI_CONFIG_FILE or TERRAFORM_CONFIG");
                    self.report(path, warning, "this file does not exist");
                }
            },
            // It was not named: a run that must not look there goes on without it.
            Err(error) if is_outside(&error) && missing == MissingFile::Fine => {}
            Err(error) => self.unreadable(path, &error),
        }
    }

    /// Reads the files of the configuration directory by name (rules 1.2).
    fn directory(&mut self, directory: &Path) {
        let entries = match self.place.files.list(directory) {
            Ok(entries) => entries,
            Err(error) => {
                // A file in its place is passed over by the programs.
                if !ABSENT.contains(&error.kind()) && !is_outside(&error) {
                    self.unreadable(directory, &error);
                }
                return;
            }
        };
        let names: Vec<&str> = entries
            .iter()
            .filter_map(|entry| entry.name.to_str())
            .filter(|name| locate::is_read(name))
            .collect();
        if names.len() > MAX_DIRECTORY_FILES {
            let error = format!("more than {MAX_DIRECTORY_FILES} configuration files");
            return self.unreadable(directory, &io::Error::other(error));
        }
        // The files are listed by name; of two that state the same host the later one counts (rules 1.5).
        for name in names {
            let path = directory.join(name);
            match self.place.files.read(&path, MAX_FILE_BYTES) {
                Ok(bytes) => self.contents(&path, &bytes),
                Err(error) => self.unreadable(&path, &error),
            }
        }
    }

    fn contents(&mut self, path: &Path, bytes: &[u8]) {
        let parsed = tree::parse(bytes);
        let file = self.texts.add(path.display().to_string(), parsed.shown);
        self.config.files.push(path.to_owned());
        let entries = match parsed.tree {
            Ok(entries) => entries,
            // A syntax error drops the whole file (rules 1.4), so nothing of what was understood counts.
            Err(fault) => {
                let program = self.flavor.program();
                let title = "CLI configuration cannot be parsed";
                let help = format!(
                    "correct it: {program} ignores a broken file as a whole, and asks hosts without the tokens and \
                     services in it"
                );
                let diagnostic = Diagnostic::error(diag::rules::SYNTAX_ERROR, title)
                    .at(file, fault.span, fault.note)
                    .help(help);
                return self.problems.push(diagnostic);
            }
        };
        let mut contents = blocks::read(file, self.flavor, &entries);
        diag::in_order(&mut contents.findings.list);
        self.problems.append(&mut contents.findings.list);
        // A later file wins as a whole for each host (rules 1.5).
        self.config.hosts.append(&mut contents.hosts);
        self.config.tokens.append(&mut contents.tokens);
        self.config
            .installations
            .append(&mut contents.installations);
        // The first file that states a directory counts, and the setting that can break the lock file can only
        // be turned on (rules 2.1 and 2.2).
        if let (None, Some(dir)) = (&self.config.cache_dir, contents.cache_dir) {
            self.config.cache_dir = self.place.expanded(&dir);
        }
        self.config.cache_may_break |= contents.cache_may_break;
        // Each setting counts by itself, unlike the services of a host.
        let protocols = &mut self.config.protocols;
        protocols.retries = contents.protocols.retries.or(protocols.retries);
        let seconds = contents.protocols.timeout_seconds;
        protocols.timeout_seconds = seconds.or(protocols.timeout_seconds);
        for helper in contents.helpers {
            self.helper(helper, file);
        }
        for credentials in contents.oci_credentials {
            self.oci_credentials(credentials, file);
        }
        for defaults in contents.oci_defaults {
            self.oci_defaults(defaults.seen_from(path), file);
        }
    }

    /// Keeps the first helper; another one is an error (rules 1.5).
    fn helper(&mut self, named: NamedHelper, file: FileId) {
        let at = (file, named.span);
        match (&self.config.helper, self.helper_at) {
            (Some(first), Some(place)) if first.name != named.name => {
                let title = "No more than one credentials_helper block may be specified";
                self.problems.push(another_block(title, at, place));
            }
            _ => {
                self.config.helper = Some(HelperProgram {
                    name: named.name,
                    args: named.args,
                    dirs: self.place.helper_directories(self.flavor),
                });
                self.helper_at = Some(at);
            }
        }
    }

    /// Keeps the first credentials for a prefix; others are an error (rules 7.4).
    fn oci_credentials(&mut self, block: OciCredentials, file: FileId) {
        let title = format!(
            "No more than one oci_credentials block for {:?}",
            block.prefix
        );
        if self.is_first(&block.prefix, (file, block.span), title) {
            self.config.oci_credentials.push(block);
        }
    }

    fn oci_defaults(&mut self, defaults: OciDefaults, file: FileId) {
        let title = "No more than one oci_default_credentials block may be specified";
        // The label of `oci_credentials` is never empty, so the empty one is free for this block.
        if self.is_first("", (file, defaults.span), title.to_owned()) {
            self.config.oci_defaults = Some(defaults);
        }
    }

    /// Notes where a block is; reports it if there is another one of the same label.
    fn is_first(&mut self, label: &str, at: (FileId, Span), title: String) -> bool {
        let Some(first) = self.oci_at.get(label) else {
            self.oci_at.insert(label.to_owned(), at);
            return true;
        };
        self.problems.push(another_block(title, at, *first));
        false
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        let remedy = match error.kind() {
            kind if ABSENT.contains(&kind) => "correct the path",
            ErrorKind::FileTooLarge => "name a smaller file; this is hardly a CLI configuration",
            ErrorKind::IsADirectory | ErrorKind::InvalidInput => "name a file",
            // Without the variable, files of the user that are outside are passed over.
            _ if is_outside(error) => {
                "unset TF_CLI_CONFIG_FILE, or name the file with --cli-config"
            }
            ErrorKind::Other => "correct the path, or move what does not belong there",
            _ => "make it readable",
        };
        let title = "Failed to read CLI configuration";
        let diagnostic = Diagnostic::error(diag::rules::FILE_UNREADABLE, title).help(remedy);
        self.report(path, diagnostic, &error.to_string());
    }

    /// Reports something about a whole file or directory.
    fn report(&mut self, path: &Path, diagnostic: Diagnostic, remark: &str) {
        let id = self.texts.add(path.display().to_string(), Vec::new());
        self.problems
            .push(diagnostic.at(id, Span::default(), remark));
    }
}

/// Reports a block where only the first one may be.
fn another_block(
    title: impl Into<String>,
    at: (FileId, Span),
    first: (FileId, Span),
) -> Diagnostic {
    Diagnostic::error(diag::rules::CLI_CONFIGURATION_INVALID, title)
        .at(at.0, at.1, "this is another one")
        .see(first.0, first.1, "the first one is here")
        .help("delete one of the two blocks")
}
