//! The blocks about credentials for registries of OCI artifacts (rules 7.4, 7.5).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::language::{Findings, MAX_NAMED};
use super::node::{ConfigEntry, ConfigValue};
use crate::addr::RepositoryAddr;
use crate::diag::{Span, has_errors};
use crate::world::Secret;

/// The authentication of requests to a registry of OCI artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OciLogin {
    /// By a user with a password.
    Basic {
        /// The name of the user.
        user: String,
        /// The password, which may be empty.
        password: Secret,
    },
    /// By a token that is sent as it is.
    Token(Secret),
    /// By what a Docker credential helper of this name answers.
    Helper(String),
}

/// A block `oci_credentials`, for one domain or repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OciCredentials {
    /// A domain, or a domain with the beginning of the names of repositories.
    pub(super) prefix: String,
    pub(super) login: OciLogin,
    pub(super) span: Span,
}

/// The settings of the block `oci_default_credentials`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OciDefaults {
    /// Files of other tools are read.
    pub(super) discovers: bool,
    /// Paths of these files, if they are stated; as written, seen from the directory of this file.
    pub(super) files: Option<Vec<PathBuf>>,
    /// The Docker credential helper for every domain that has none of its own.
    pub(super) helper: Option<String>,
    pub(super) span: Span,
}

/// The argument that names a Docker credential helper.
const HELPER: &str = "docker_credentials_helper";

impl OciDefaults {
    /// Returns what holds without a block.
    pub(super) fn usual() -> Self {
        Self {
            discovers: true,
            files: None,
            helper: None,
            span: Span::default(),
        }
    }

    /// Puts relative paths below the directory of the file that states them.
    pub(super) fn seen_from(mut self, file: &Path) -> Self {
        let dir = file.parent().unwrap_or(Path::new(""));
        for path in self.files.iter_mut().flatten() {
            *path = dir.join(&*path);
        }
        self
    }
}

/// Reads the blocks `oci_credentials` behind one name; what cannot be meant is left out and reported.
pub(super) fn credentials(findings: &mut Findings, entry: &ConfigEntry) -> Vec<OciCredentials> {
    let mut reader = OciBlockReader {
        block: "oci_credentials",
        findings,
    };
    let mut read = Vec::new();
    for named in entry.value.entries() {
        if !named.value.is_block() {
            reader.wrong(
                entry.key.span,
                "one label with the domain of a registry is needed",
            );
            // Without labels every argument looks like a block: one message is enough.
            break;
        }
        let prefix = &named.key.text;
        if !RepositoryAddr::is_prefix(prefix) {
            reader.wrong(
                named.key.span,
                "the label is neither the domain of a registry nor the beginning of a repository \
                 address in it",
            );
            continue;
        }
        if let Some(login) = reader.login(named) {
            read.push(OciCredentials {
                prefix: prefix.clone(),
                login,
                span: named.key.span,
            });
        }
    }
    read
}

/// Reads a block `oci_default_credentials`.
pub(super) fn defaults(findings: &mut Findings, entry: &ConfigEntry) -> Option<OciDefaults> {
    let mut reader = OciBlockReader {
        block: "oci_default_credentials",
        findings,
    };
    if !entry.value.is_block() {
        reader.wrong(entry.key.span, "braces must follow");
        return None;
    }
    reader.defaults(entry)
}

struct OciBlockReader<'f> {
    block: &'static str,
    findings: &'f mut Findings,
}

/// The arguments of a block `oci_credentials`.
const LOGIN: [&str; 5] = [
    "username",
    "password",
    "access_token",
    "refresh_token",
    HELPER,
];

impl OciBlockReader<'_> {
    fn login(&mut self, block: &ConfigEntry) -> Option<OciLogin> {
        let mut given = BTreeMap::new();
        for argument in block.value.entries() {
            let name = LOGIN.iter().find(|name| **name == argument.key.text);
            match (name, &argument.value) {
                (Some(name), ConfigValue::Text(text)) => {
                    given.insert(*name, text.clone());
                }
                // The value may be a secret in a wrong form: only the place of its name is reported.
                (Some(_), _) => {
                    self.wrong(argument.key.span, "text in quotes must follow");
                    return None;
                }
                (None, _) => self.findings.unknown_argument(&argument.key, &LOGIN),
            }
        }
        // Only one way may be stated (rules 7.4).
        let login = match LOGIN.map(|name| given.remove(name)) {
            [Some(user), Some(password), None, None, None] => Ok(OciLogin::Basic {
                user: user.reveal().to_owned(),
                password,
            }),
            // The program requires both tokens, and never uses the second one (rules 7.4).
            [None, None, Some(token), Some(_), None] => Ok(OciLogin::Token(token)),
            [None, None, None, None, Some(_)] if block.key.text.contains('/') => {
                Err("credential helpers answer for whole domains: leave the path out of the label")
            }
            [None, None, None, None, Some(name)] => helper(&name).map(OciLogin::Helper),
            _ => Err(
                "one of these is needed, and only one: username with password, access_token with \
                 refresh_token, docker_credentials_helper",
            ),
        };
        match login {
            Ok(login) => Some(login),
            Err(note) => {
                self.wrong(block.key.span, note);
                None
            }
        }
    }

    fn defaults(&mut self, entry: &ConfigEntry) -> Option<OciDefaults> {
        let before = self.findings.list.len();
        let mut read = OciDefaults {
            span: entry.key.span,
            ..OciDefaults::usual()
        };
        let known = [
            "discover_ambient_credentials",
            "docker_style_config_files",
            HELPER,
        ];
        for argument in entry.value.entries() {
            let at = argument.key.span;
            match (&*argument.key.text, &argument.value) {
                ("discover_ambient_credentials", value) => match value.scalar() {
                    Some("true") => read.discovers = true,
                    Some("false") => read.discovers = false,
                    _ => self.wrong(at, "`true` or `false` must follow"),
                },
                ("docker_style_config_files", ConfigValue::List(nodes)) => {
                    read.files = nodes
                        .iter()
                        .map(|node| match node {
                            ConfigValue::Text(path) => Some(PathBuf::from(path.reveal())),
                            _ => None,
                        })
                        .collect();
                    if read.files.is_none() {
                        self.wrong(at, "paths in quotes must follow");
                    }
                }
                ("docker_style_config_files", _) => self.wrong(at, "a list of paths must follow"),
                (HELPER, ConfigValue::Text(name)) => {
                    read.helper = helper(name).map_err(|note| self.wrong(at, note)).ok();
                }
                (HELPER, _) => self.wrong(at, "text in quotes must follow"),
                _ => self.findings.unknown_argument(&argument.key, &known),
            }
        }
        if !read.discovers && read.files.is_some() {
            self.wrong(
                entry.key.span,
                "docker_style_config_files has no meaning where discover_ambient_credentials is false",
            );
        }
        // With half of a block other credentials would be sent than the user meant.
        let is_sound = !has_errors(&self.findings.list[before..]);
        is_sound.then_some(read)
    }

    /// Reports an error about a span. The caller leaves the statement out.
    fn wrong(&mut self, span: Span, note: &str) {
        let title = format!("Invalid {} block", self.block);
        self.findings.invalid(title, span, note);
    }
}

/// Checks the name of a credential helper, which becomes a part of the name of a program.
fn helper(name: &Secret) -> Result<String, &'static str> {
    let name = name.reveal();
    if name.is_empty() || name.contains(['/', '\\']) || name.len() > MAX_NAMED {
        return Err("the name of the credential helper is no part of the name of a program");
    }
    Ok(name.to_owned())
}
