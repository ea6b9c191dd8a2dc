//! Installation methods of packages: the `provider_installation` blocks (rules 5).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::language::{Findings, MAX_NAMED};
use super::node::{ConfigEntry, ConfigValue};
use super::template::RepositoryTemplate;
use crate::addr::{ProviderAddr, ProviderFilter, ProviderPattern, Url};
use crate::diag::{Diagnostic, FileId, Span, did_you_mean, rules};
use crate::flavor::Flavor;

/// A `provider_installation` block with its methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The file that holds it.
    pub file: FileId,
    /// The word that begins the block.
    pub span: Span,
    /// The methods without a fault, in query order.
    pub methods: Vec<Method>,
}

/// One way to install packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// The kind of source.
    pub kind: MethodKind,
    /// The providers that it serves.
    pub providers: ProviderFilter,
    /// Number of further requests for a package, where that is stated; OpenTofu only.
    pub download_retries: Option<usize>,
    /// The word that begins it.
    pub span: Span,
}

/// The ways to install packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// Providers that are run from directories, as written.
    DevOverrides(BTreeMap<ProviderAddr, PathBuf>),
    /// From the registry of each provider.
    Direct,
    /// From a directory: as written, relative to the working directory.
    FilesystemMirror(PathBuf),
    /// From a host that speaks the protocol of mirrors.
    NetworkMirror {
        /// Below which URL; https.
        url: Url,
        /// OpenTofu records the hashes that it states for all platforms.
        trusts_all_hashes: bool,
    },
    /// From repositories of OCI artifacts; OpenTofu only.
    OciMirror {
        /// The address of the repository for each provider.
        template: RepositoryTemplate,
    },
}

/// The name of each kind of method, and its required argument.
const KINDS: [(&str, Option<&str>); 5] = [
    ("dev_overrides", None),
    ("direct", None),
    ("filesystem_mirror", Some("path")),
    ("network_mirror", Some("url")),
    ("oci_mirror", Some("repository_template")),
];

/// The arguments of every method that takes packages from somewhere.
const EVERYWHERE: [&str; 2] = ["include", "exclude"];

impl Installation {
    /// Returns true if there is a `direct` method, with any `include`.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.methods
            .iter()
            .any(|method| method.kind == MethodKind::Direct)
    }

    /// Returns whether it changes nothing: packages come from registries without it, too.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        let all_providers = ProviderFilter::default();
        let is_usual = |method: &Method| {
            method.kind == MethodKind::Direct && method.providers == all_providers
        };
        !self.methods.is_empty() && self.methods.iter().all(is_usual)
    }
}

/// Reads a block; what cannot be meant is left out and reported, as the programs do.
pub(super) fn read(findings: &mut Findings, flavor: Flavor, entry: &ConfigEntry) -> Installation {
    let file = findings.file;
    let mut reader = MethodReader { findings, flavor };
    let mut methods = Vec::new();
    for method in entry.value.entries() {
        // In JSON several methods of one kind are a list below one name.
        let nodes = match &method.value {
            ConfigValue::List(nodes) => nodes.iter().collect(),
            node => vec![node],
        };
        for node in nodes {
            let Some(read) = reader.method(method, node) else {
                continue;
            };
            if matches!(read.kind, MethodKind::DevOverrides(_)) && !methods.is_empty() {
                let title = "dev_overrides must come before all other installation methods";
                reader.wrong(method.key.span, title);
                continue;
            }
            methods.push(read);
        }
    }
    Installation {
        file,
        span: entry.key.span,
        methods,
    }
}

struct MethodReader<'f> {
    findings: &'f mut Findings,
    flavor: Flavor,
}

/// The arguments of a method.
#[derive(Default)]
struct MethodArguments {
    /// `None` if a pattern is none.
    providers: Option<ProviderFilter>,
    place: Option<String>,
    download_retries: Option<usize>,
    trusts_all_hashes: bool,
}

impl MethodReader<'_> {
    fn method(&mut self, entry: &ConfigEntry, node: &ConfigValue) -> Option<Method> {
        let name = &entry.key.text;
        let Some((_, required)) = KINDS
            .iter()
            .find(|(kind, _)| kind == name && self.is_method(kind))
        else {
            self.unknown_method(entry);
            return None;
        };
        let ConfigValue::Object(arguments) = node else {
            self.wrong(entry.key.span, "Invalid provider_installation method block");
            return None;
        };
        // It names directories instead of providers, and has neither `include` nor `exclude`.
        if name == "dev_overrides" {
            return Some(Method {
                kind: MethodKind::DevOverrides(self.overrides(arguments)?),
                providers: ProviderFilter::default(),
                download_retries: None,
                span: entry.key.span,
            });
        }
        let read = self.arguments(name, *required, arguments);
        // An empty path or URL counts as a missing one.
        let place = read.place.filter(|place| !place.is_empty());
        if let (Some(required), None) = (required, &place) {
            let title = format!("Invalid {name} method block: {required} is required");
            self.wrong(entry.key.span, title);
            return None;
        }
        let place = place.unwrap_or_default();
        let kind = match &**name {
            "filesystem_mirror" => MethodKind::FilesystemMirror(place.into()),
            "network_mirror" => MethodKind::NetworkMirror {
                url: self.url(entry, &place)?,
                trusts_all_hashes: read.trusts_all_hashes,
            },
            "oci_mirror" => {
                let include = read.providers.as_ref().map(|filter| &*filter.include);
                MethodKind::OciMirror {
                    template: self.template(entry, &place, include)?,
                }
            }
            _ => MethodKind::Direct,
        };
        Some(Method {
            kind,
            // A method with an invalid pattern is dropped as a whole (rules 5.4).
            providers: read.providers?,
            download_retries: read.download_retries,
            span: entry.key.span,
        })
    }

    /// Reads the arguments of a method of the kind `name`, one of which may be required.
    fn arguments(
        &mut self,
        name: &str,
        required: Option<&str>,
        arguments: &[ConfigEntry],
    ) -> MethodArguments {
        let mut read = MethodArguments::default();
        let mut include = Some(Vec::new());
        let mut exclude = Some(Vec::new());
        for argument in arguments {
            match (&*argument.key.text, name) {
                ("include", _) => include = include.and(self.patterns(argument)),
                ("exclude", _) => exclude = exclude.and(self.patterns(argument)),
                (other, _) if Some(other) == required => read.place = text(&argument.value),
                ("download_retry_count", "direct" | "network_mirror") => {
                    if self.is_read(argument) {
                        read.download_retries = self.number(argument);
                    }
                }
                ("trust_all_hashes", "network_mirror") => {
                    read.trusts_all_hashes =
                        self.is_read(argument) && argument.value.scalar() == Some("true");
                }
                _ => {
                    let names: Vec<&str> = required.into_iter().chain(EVERYWHERE).collect();
                    self.findings.unknown_argument(&argument.key, &names);
                }
            }
        }
        read.providers = include
            .zip(exclude)
            .map(|(include, exclude)| ProviderFilter { include, exclude });
        read
    }

    /// Reads the directories of providers; `None` if a name is no address.
    fn overrides(&mut self, entries: &[ConfigEntry]) -> Option<BTreeMap<ProviderAddr, PathBuf>> {
        let mut overrides = BTreeMap::new();
        for entry in entries {
            let addr = ProviderAddr::parse(&entry.key.text, self.flavor);
            let (Ok(addr), Some(dir)) = (addr, text(&entry.value)) else {
                let title = "dev_overrides holds the addresses of providers, each with a directory";
                self.wrong(entry.key.span, title);
                // The programs drop all directories then.
                return None;
            };
            overrides.insert(addr, dir.into());
        }
        Some(overrides)
    }

    /// Reads the URL of a network mirror, which must be https. What is shown of it holds no secret.
    fn url(&mut self, entry: &ConfigEntry, text: &str) -> Option<Url> {
        let title = "Invalid URL for provider installation source";
        match text.parse::<Url>() {
            Ok(url) if url.origin().encrypted => Some(url),
            _ => {
                let note = "the program drops this method, since its URL is no https URL";
                self.findings.invalid(title, entry.key.span, note);
                None
            }
        }
    }

    /// Reads a template of repositories; `None` without sound patterns of `include`.
    fn template(
        &mut self,
        entry: &ConfigEntry,
        text: &str,
        include: Option<&[ProviderPattern]>,
    ) -> Option<RepositoryTemplate> {
        // The programs drop a method without sound patterns in any case, so its template is not checked.
        let template = RepositoryTemplate::of_method(text, include?);
        if let Err(error) = &template {
            let title = "Invalid oci_mirror repository template";
            let help = "write a template as in \"ghcr.io/acme/${namespace}/${type}\"; what it does not \
                        use must be the same in all patterns of include";
            let fault = Diagnostic::error(rules::CLI_CONFIGURATION_INVALID, title).help(help);
            self.findings.push(fault, entry.key.span, error.to_string());
        }
        template.ok()
    }

    /// Returns whether the program reads an argument that only OpenTofu has.
    fn is_read(&mut self, argument: &ConfigEntry) -> bool {
        if !self.flavor.is_opentofu() {
            self.findings.opentofu_only(&argument.key, "argument");
        }
        self.flavor.is_opentofu()
    }

    fn number(&mut self, argument: &ConfigEntry) -> Option<usize> {
        let number = argument.value.scalar().and_then(|text| text.parse().ok());
        if number.is_none() {
            self.wrong(argument.key.span, "A whole number is required");
        }
        number
    }

    fn is_method(&self, name: &str) -> bool {
        name != "oci_mirror" || self.flavor.is_opentofu()
    }

    fn unknown_method(&mut self, entry: &ConfigEntry) {
        let name = &entry.key.text;
        let kinds: Vec<&str> = KINDS
            .iter()
            .map(|(kind, _)| *kind)
            .filter(|kind| self.is_method(kind))
            .collect();
        let title = "Unknown provider installation method";
        let note = if name == "oci_mirror" {
            "only OpenTofu has this method"
        } else {
            "neither Terraform nor OpenTofu has such a method"
        };
        let help = did_you_mean(name, &kinds).unwrap_or_else(|| "delete the block".to_owned());
        let error = Diagnostic::error(rules::CLI_CONFIGURATION_INVALID, title).help(help);
        self.findings.push(error, entry.key.span, note);
    }

    /// Reads a list of patterns; `None` if one of them is none.
    fn patterns(&mut self, argument: &ConfigEntry) -> Option<Vec<ProviderPattern>> {
        let ConfigValue::List(nodes) = &argument.value else {
            self.wrong(argument.key.span, "A list of provider patterns is required");
            return None;
        };
        let mut patterns = Vec::new();
        let mut is_sound = true;
        for node in nodes {
            let Some(text) = text(node) else {
                self.wrong(argument.key.span, "A list of provider patterns is required");
                return None;
            };
            match ProviderPattern::parse(&text, self.flavor) {
                Ok(pattern) => patterns.push(pattern),
                Err(error) => {
                    // The programs drop the whole method then.
                    is_sound = false;
                    let title = "Invalid provider matching pattern";
                    let note = match text.len() {
                        0..=MAX_NAMED => error.to_string(),
                        _ => "this is no pattern".to_owned(),
                    };
                    self.wrong(argument.key.span, format!("{title}: {note}"));
                }
            }
        }
        is_sound.then_some(patterns)
    }

    fn wrong(&mut self, span: Span, title: impl Into<String>) {
        self.findings
            .invalid(title, span, "the program drops this method");
    }
}

fn text(node: &ConfigValue) -> Option<String> {
    match node {
        ConfigValue::Text(text) => Some(text.reveal().to_owned()),
        _ => None,
    }
}
