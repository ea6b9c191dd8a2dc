//! The place that packages come from, as the block `packages` states it.

use std::path::{Path, PathBuf};

use super::SettingPlace;
use super::locate::ProjectFile;
use super::values::{BodySchema, Located, ProjectReader, choice};
use crate::addr::MirrorUrl;
use crate::cliconfig::RepositoryTemplate;
use crate::diag::quoted;
use crate::hcl::tree::Block;

/// `packages { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageSetting {
    /// The place that packages come from.
    pub source: PackageSource,
    /// The place of the argument in the file.
    pub place: SettingPlace,
}

/// The place that packages come from, as a project file or an option states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// A filesystem mirror, by its directory: in a project file as seen from the directory of the file, as an
    /// option as seen from the working directory.
    FilesystemMirror(PathBuf),
    /// A network mirror, by its URL.
    NetworkMirror(MirrorUrl),
    /// Repositories of OCI artifacts.
    OciMirror(RepositoryTemplate),
    /// The registry of each provider.
    Registry,
    /// The sources that the CLI configuration states.
    CliConfiguration,
}

impl PackageSource {
    /// Returns the option that chooses the place.
    #[must_use]
    pub fn option(&self) -> String {
        match self {
            Self::Registry => "--installation registry".to_owned(),
            Self::CliConfiguration => "--installation cli".to_owned(),
            Self::FilesystemMirror(dir) => {
                format!("--fs-mirror {}", quoted(&dir.display().to_string()))
            }
            Self::NetworkMirror(url) => format!("--net-mirror {}", quoted(&url.to_string())),
            Self::OciMirror(template) => {
                format!("--oci-mirror {}", quoted(&template.to_string()))
            }
        }
    }

    /// Returns true for a place that has packages and no signed list of them.
    #[must_use]
    pub fn is_mirror(&self) -> bool {
        !matches!(self, Self::Registry | Self::CliConfiguration)
    }

    /// Returns the name of the place in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Registry => "registries".to_owned(),
            Self::CliConfiguration => "CLI configuration".to_owned(),
            Self::FilesystemMirror(dir) => dir.display().to_string(),
            Self::NetworkMirror(url) => url.to_string(),
            Self::OciMirror(_) => "OCI mirror".to_owned(),
        }
    }
}

const PACKAGES: BodySchema = BodySchema {
    subject: "a packages block",
    arguments: &["fs_mirror", "net_mirror", "oci_mirror", "installation"],
    blocks: &[],
};

const INSTALLATION: [(&str, bool); 2] = [("registry", false), ("cli", true)];

pub(super) fn read(block: &Block, reader: &mut ProjectReader) -> Option<PackageSetting> {
    let body = &block.body;
    reader.names(body, &PACKAGES);
    let mut arguments = PACKAGES
        .arguments
        .iter()
        .filter_map(|name| Some((*name, body.attribute(name)?)));
    let Some((name, first)) = arguments.next() else {
        // A name with a typing error was reported already.
        if body.attributes().next().is_some() {
            return None;
        }
        let help = "write fs_mirror = \"DIR\", net_mirror = \"URL\", oci_mirror = \"TEMPLATE\" or \
                    installation = \"cli\"";
        let remark = "no place is stated";
        reader.invalid("Missing argument", block.header, remark, help);
        return None;
    };
    if let Some((_, second)) = arguments.next() {
        let remark = format!("{name} states another place already");
        let help = "packages come from one place: delete the other arguments";
        reader.invalid("Two places of packages", second.value.span, &remark, help);
        return None;
    }
    let before = reader.problems.len();
    let Some(text) = reader.text(body, name) else {
        // In a file of HCL `${…}` is evaluated, and nothing here has a value.
        if name == "oci_mirror" {
            for problem in &mut reader.problems[before..] {
                problem.help = Some("write {namespace} and {type}, without a dollar sign".into());
            }
        }
        return None;
    };
    Some(PackageSetting {
        source: source(name, &text, reader)?,
        place: SettingPlace {
            file: reader.file,
            span: first.value.span,
        },
    })
}

/// Reads the text of an argument.
fn source(name: &str, text: &Located<String>, reader: &mut ProjectReader) -> Option<PackageSource> {
    let invalid = |title: &str, remark: String, help: &str, reader: &mut ProjectReader| {
        reader.invalid(title, text.span, &remark, help);
    };
    Some(match name {
        "fs_mirror" if text.value.is_empty() => {
            let help = "write the top directory of a filesystem mirror, from the directory of this \
                        file on";
            invalid("Invalid path", "it is empty".to_owned(), help, reader);
            return None;
        }
        "fs_mirror" => PackageSource::FilesystemMirror(PathBuf::from(&text.value)),
        "net_mirror" => match text.value.parse() {
            Ok(url) => PackageSource::NetworkMirror(url),
            Err(error) => {
                let help = "write a URL as in https://mirror.example/providers/";
                invalid("Invalid URL", format!("{error}"), help, reader);
                return None;
            }
        },
        "oci_mirror" => match text.value.parse() {
            Ok(template) => PackageSource::OciMirror(template),
            Err(error) => {
                let help = "write a template as in ghcr.io/acme/{namespace}/{type}";
                invalid("Invalid template", format!("{error}"), help, reader);
                return None;
            }
        },
        _ => {
            if choice("Invalid installation", text, &INSTALLATION, reader)? {
                PackageSource::CliConfiguration
            } else {
                PackageSource::Registry
            }
        }
    })
}

impl ProjectFile {
    /// Returns a path of the file as seen from the working directory.
    ///
    /// Also with `--config`, a path starts from the directory of the file that holds it: it is written
    /// there, and the working directory differs from command to command.
    #[must_use]
    pub fn resolve(&self, path: &Path) -> PathBuf {
        let dir = self.path.as_deref().and_then(Path::parent);
        dir.unwrap_or_else(|| Path::new("")).join(path)
    }
}
