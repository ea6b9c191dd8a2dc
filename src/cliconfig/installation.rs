//! How packages are installed: the `provider_installation` blocks (rules 5).

use std::path::PathBuf;

use super::language::{MAX_NAMED, unknown_argument};
use super::node::{Entry, Node};
use crate::addr::{ProviderFilter, ProviderPattern};
use crate::diag::{Diagnostic, FileId, Span, did_you_mean};
use crate::flavor::Flavor;

/// A `provider_installation` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The file.
    pub file: FileId,
    /// The word that begins the block.
    pub span: Span,
    /// The methods that can be understood, in the order in which they are tried.
    pub methods: Vec<Method>,
}

/// One way to install packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Which way.
    pub kind: MethodKind,
    /// For which providers.
    pub providers: ProviderFilter,
    /// The word that begins it.
    pub span: Span,
}

/// The ways to install packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// Directories with a provider in each, whose packages count for nothing else.
    DevOverrides,
    /// From the registry of each provider.
    Direct,
    /// From a directory: as written, seen from the directory in which the program runs.
    FilesystemMirror(PathBuf),
    /// From a host that speaks the protocol of mirrors.
    NetworkMirror,
    /// From a registry of OCI artifacts; OpenTofu only.
    OciMirror,
}

/// What each kind of method is called, and the argument that it cannot do without.
const KINDS: [(&str, Option<&str>); 5] = [
    ("dev_overrides", None),
    ("direct", None),
    ("filesystem_mirror", Some("path")),
    ("network_mirror", Some("url")),
    ("oci_mirror", Some("repository_template")),
];

impl Installation {
    /// Returns whether it has a `direct` method, whatever that includes.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        let mut kinds = self.methods.iter().map(|method| &method.kind);
        kinds.any(|kind| *kind == MethodKind::Direct)
    }
}

/// Reads a block; what cannot be meant is left out and reported, as the programs do.
pub(super) fn read(file: FileId, flavor: Flavor, entry: &Entry) -> (Installation, Vec<Diagnostic>) {
    let mut reader = Reader {
        file,
        flavor,
        found: Vec::new(),
    };
    let mut methods = Vec::new();
    for method in entry.value.entries() {
        // In JSON several methods of one kind are a list below one name.
        let nodes = match &method.value {
            Node::List(nodes) => nodes.iter().collect(),
            node => vec![node],
        };
        let read = nodes.iter().filter_map(|node| reader.method(method, node));
        methods.extend(read);
    }
    let block = Installation {
        file,
        span: entry.key.span,
        methods,
    };
    (block, reader.found)
}

struct Reader {
    file: FileId,
    flavor: Flavor,
    found: Vec<Diagnostic>,
}

impl Reader {
    fn method(&mut self, entry: &Entry, node: &Node) -> Option<Method> {
        let name = &entry.key.text;
        let known = KINDS.iter().find(|(known, _)| known == name);
        let Some((_, needed)) = known.filter(|_| self.is_known(name)) else {
            self.unknown_method(entry);
            return None;
        };
        let Node::Object(arguments) = node else {
            self.wrong(entry.key.span, "Invalid provider_installation method block");
            return None;
        };
        let mut providers = ProviderFilter::default();
        let mut place = None;
        let mut is_sound = true;
        for argument in arguments {
            match &*argument.key.text {
                // Its arguments are the addresses of providers.
                _ if name == "dev_overrides" => {}
                "include" => match self.patterns(argument) {
                    Some(patterns) => providers.include = patterns,
                    None => is_sound = false,
                },
                "exclude" => match self.patterns(argument) {
                    Some(patterns) => providers.exclude = patterns,
                    None => is_sound = false,
                },
                other if Some(other) == *needed => place = text(&argument.value),
                _ if name == "filesystem_mirror" => {
                    let known = ["path", "include", "exclude"];
                    let finding = unknown_argument(self.file, &argument.key, &known);
                    self.found.push(finding);
                }
                // What else the other methods have matters only where they are followed.
                _ => {}
            }
        }
        let place = place.filter(|place| !place.is_empty());
        if let (Some(needed), None) = (needed, &place) {
            let title = format!("Invalid {name} method block: {needed} is required");
            self.wrong(entry.key.span, title);
            return None;
        }
        let kind = kind(name, place);
        is_sound.then_some(Method {
            kind,
            providers,
            span: entry.key.span,
        })
    }

    fn is_known(&self, name: &str) -> bool {
        name != "oci_mirror" || self.flavor.is_opentofu()
    }

    fn unknown_method(&mut self, entry: &Entry) {
        let name = &entry.key.text;
        let known: Vec<&str> = KINDS.iter().map(|(known, _)| *known).collect();
        let known: Vec<&str> = known.into_iter().filter(|one| self.is_known(one)).collect();
        let title = "Unknown provider installation method";
        let note = if name == "oci_mirror" {
            "only OpenTofu has this method"
        } else {
            "neither Terraform nor OpenTofu has such a method"
        };
        let help = did_you_mean(name, &known);
        let help = help.unwrap_or_else(|| "delete the block".to_owned());
        let error = Diagnostic::error("cli-configuration-invalid", title);
        self.found
            .push(error.at(self.file, entry.key.span, note).help(help));
    }

    /// Reads a list of patterns; `None` if one of them is none, since then the programs drop the
    /// method.
    fn patterns(&mut self, argument: &Entry) -> Option<Vec<ProviderPattern>> {
        let Node::List(nodes) = &argument.value else {
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
        let error = Diagnostic::error("cli-configuration-invalid", title);
        self.found
            .push(error.at(self.file, span, "the program drops this method"));
    }
}

fn text(node: &Node) -> Option<String> {
    match node {
        Node::Text(text) => Some(text.reveal().to_owned()),
        _ => None,
    }
}

fn kind(name: &str, place: Option<String>) -> MethodKind {
    match name {
        "dev_overrides" => MethodKind::DevOverrides,
        "filesystem_mirror" => MethodKind::FilesystemMirror(place.unwrap_or_default().into()),
        "network_mirror" => MethodKind::NetworkMirror,
        "oci_mirror" => MethodKind::OciMirror,
        _ => MethodKind::Direct,
    }
}
