//! The contents of a release of a provider, as the documents of its registry and of its repository describe it.
//!
//! Nothing here is part of the registry protocol, and nothing is signed: it is for people who read about an upgrade, and
//! decides nothing. The documents are those of the public registries of Terraform (`/v2`) and OpenTofu
//! (`api.opentofu.org`), and of GitHub's API. Each of them may fail by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::net::{Ask, HOPS, Net, Redirects};
use super::read_json;
use super::registry::VersionListing;
use crate::addr::{ProviderAddr, Url};
use crate::diag;
use crate::flavor::{Flavor, Program};
use crate::version::Version;
use crate::world::Credentials;

/// The documentation of OpenTofu's registry.
const OPENTOFU_DOCUMENTATION: &str = "https://api.opentofu.org/registry/docs/providers/";

/// The documents of Terraform's registry beside its protocol.
const TERRAFORM_DOCUMENTS: &str = "https://registry.terraform.io/v2/";

/// GitHub's API, unless the user names another one.
pub const GITHUB_API: &str = "https://api.github.com/";

/// Maximum size of a document, in bytes: that of a provider with 1,500 pages has less than one million.
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// Maximum number of names of one kind that are kept; the largest provider has some 1,500.
const MAX_NAMES: usize = 10_000;

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Maximum number of releases between two versions whose notes are asked for: GitHub answers 60 requests an hour.
const MAX_BETWEEN: usize = 10;

/// Maximum length of the notes of a release that are kept, in bytes.
const MAX_NOTES_BYTES: usize = 64 << 10;

/// The contents of a release. What no document states is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReleaseContents {
    /// The names of resources, data sources and functions, by kind; `None` if no page is shown.
    pub names: Option<BTreeMap<ContentKind, BTreeSet<String>>>,
    /// The names whose page says that they are deprecated, each behind its kind.
    pub deprecated: BTreeSet<(ContentKind, String)>,
    /// The plugin protocols of the release.
    pub protocols: BTreeSet<String>,
    /// The platforms that packages are offered for.
    pub platforms: BTreeSet<String>,
    /// The repository at GitHub, as in `hashicorp/terraform-provider-aws`.
    pub repository: Option<String>,
    /// The SPDX identifier of the licence.
    pub licence: Option<String>,
    /// The notes of the release, in Markdown.
    pub notes: Option<String>,
    /// The documents that could not be read, with the reason.
    #[serde(skip)]
    pub unread: Vec<String>,
}

/// A kind of thing that a provider holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContentKind {
    /// A resource of a `resource` block.
    Resource,
    /// A resource of a `data` block.
    DataSource,
    /// A function of the provider.
    Function,
    /// A resource of an `ephemeral` block.
    EphemeralResource,
    /// An action of an `action` block.
    Action,
    /// A resource of a `list` block.
    ListResource,
}

impl ContentKind {
    /// Every kind, in the order of the output.
    pub const ALL: [Self; 6] = [
        Self::Resource,
        Self::DataSource,
        Self::Function,
        Self::EphemeralResource,
        Self::Action,
        Self::ListResource,
    ];

    /// Returns its name in the singular.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::DataSource => "data source",
            Self::Function => "function",
            Self::EphemeralResource => "ephemeral resource",
            Self::Action => "action",
            Self::ListResource => "list resource",
        }
    }

    /// Reads the word of either registry.
    fn read(word: &str) -> Option<Self> {
        match word {
            "resources" => Some(Self::Resource),
            "data-sources" | "datasources" => Some(Self::DataSource),
            "functions" => Some(Self::Function),
            "ephemeral-resources" | "ephemeral" => Some(Self::EphemeralResource),
            "actions" => Some(Self::Action),
            "list-resources" | "listresources" => Some(Self::ListResource),
            // Guides and the page of the provider itself.
            _ => None,
        }
    }
}

/// The notes of the releases between two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotesBetween {
    /// The notes of releases between both versions, the newest first.
    pub earlier_notes: Vec<ReleaseNotes>,
    /// Number of older releases between both versions, whose notes were not read.
    pub more_releases: usize,
}

/// The notes of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReleaseNotes {
    /// The version of the release.
    pub version: String,
    /// The notes in Markdown, without control characters.
    pub notes: String,
}

impl ReleaseContents {
    /// Returns what the list of versions states about a release.
    #[must_use]
    pub fn listed(listing: &VersionListing) -> Self {
        Self {
            protocols: listing
                .protocols
                .iter()
                .filter(|text| is_plain(text))
                .take(MAX_NAMES)
                .cloned()
                .collect(),
            platforms: listing.platforms.iter().map(ToString::to_string).collect(),
            ..Self::default()
        }
    }
}

/// A document of JSON:API, as Terraform's registry writes them.
#[derive(Deserialize)]
struct JsonApi {
    data: Value,
    #[serde(default)]
    included: Vec<IncludedItem>,
}

/// A version of a provider, or a page.
#[derive(Default, Deserialize)]
#[serde(default)]
struct IncludedItem {
    #[serde(rename = "type")]
    kind: String,
    id: String,
    attributes: Value,
}

/// The servers that are asked about releases.
pub struct ReleaseDocuments<'a> {
    /// The network that requests go through.
    pub net: Net<'a>,
    /// GitHub's API, with a slash at its end.
    pub github: Url,
    /// The token for GitHub's API, which is sent to it alone.
    pub github_token: Option<Credentials>,
}

impl ReleaseDocuments<'_> {
    /// Adds what the documents of the registry and of GitHub state to the contents of some versions of a provider.
    pub fn complete(
        &self,
        provider: &ProviderAddr,
        versions: &mut BTreeMap<Version, ReleaseContents>,
    ) {
        let host = provider.hostname().ascii();
        if host == Flavor::newest(Program::Terraform).default_host() {
            let path = ["providers", provider.namespace(), provider.type_name()];
            let query = "include=provider-versions";
            let known: Result<JsonApi, String> = self
                .registry_document(TERRAFORM_DOCUMENTS, &path, query)
                .and_then(|known| {
                    known.ok_or_else(|| "the registry documents no such provider".to_owned())
                });
            for (version, contents) in &mut *versions {
                let known = known.as_ref().map_err(Clone::clone);
                let read = known.and_then(|known| self.terraform(known, version, contents));
                if let Err(error) = read {
                    contents.unread.push(error);
                }
            }
        } else if host == Flavor::newest(Program::OpenTofu).default_host() {
            for (version, contents) in &mut *versions {
                if let Err(error) = self.opentofu(provider, version, contents) {
                    contents.unread.push(error);
                }
            }
        } else {
            for contents in versions.values_mut() {
                let why = format!("{host} publishes no documents that are read");
                contents.unread.push(why);
            }
        }
        for (version, contents) in versions {
            contents.names = contents.names.take().filter(|names| !names.is_empty());
            if let Some(repository) = contents.repository.clone() {
                self.github(&repository, version, contents);
            }
        }
    }

    /// Adds what the registry states about one version: its repository, names and deprecations.
    fn terraform(
        &self,
        known: &JsonApi,
        version: &Version,
        contents: &mut ReleaseContents,
    ) -> Result<(), String> {
        contents.repository = known.data["attributes"]["source"]
            .as_str()
            .and_then(github_name);
        let text = version.to_string();
        let listed = known
            .included
            .iter()
            .find(|item| item.kind == "provider-versions" && item.attributes["version"] == *text)
            .ok_or_else(|| format!("the registry documents no version {version}"))?;
        let path = ["provider-versions", &*listed.id];
        let pages: Option<JsonApi> =
            self.registry_document(TERRAFORM_DOCUMENTS, &path, "include=provider-docs")?;
        let pages = pages.map(|pages| pages.included).unwrap_or_default();
        let names = contents.names.get_or_insert_default();
        for page in pages.iter().filter(|page| page.kind == "provider-docs") {
            let text = |name: &str| page.attributes[name].as_str().unwrap_or_default();
            // Pages for other languages are generated of those in HCL.
            if matches!(text("language"), "" | "hcl") {
                let name = (text("category"), text("slug"));
                let stated = [text("title"), text("subcategory")];
                add(names, &mut contents.deprecated, name, stated);
            }
        }
        Ok(())
    }

    fn opentofu(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        contents: &mut ReleaseContents,
    ) -> Result<(), String> {
        let tag = format!("v{version}");
        let path = [
            provider.namespace(),
            provider.type_name(),
            &tag,
            "index.json",
        ];
        let release: Value = self
            .registry_document(OPENTOFU_DOCUMENTATION, &path, "")?
            .ok_or_else(|| format!("the registry documents no version {version}"))?;
        contents.repository = release["link"].as_str().and_then(github_name);
        // The registry lists what it found by rank: the file at the top first, and the best match of a file.
        contents.licence = items(&release["license"])
            .find_map(|licence| licence["spdx"].as_str())
            .filter(|id| is_plain(id))
            .map(str::to_owned);
        let names = contents.names.get_or_insert_default();
        for (category, pages) in release["docs"].as_object().into_iter().flatten() {
            // The page of the provider itself is no list.
            for page in items(pages) {
                let text = |name: &str| page[name].as_str().unwrap_or_default();
                let stated = [text("title"), text("description")];
                let name = (&**category, text("name"));
                add(names, &mut contents.deprecated, name, stated);
            }
        }
        Ok(())
    }

    /// Asks GitHub for the notes of a release, and for the licence if no registry states it.
    fn github(&self, repository: &str, version: &Version, contents: &mut ReleaseContents) {
        if contents.licence.is_none() {
            match self.github_document(repository, &["license"], &format!("ref=v{version}")) {
                // A licence that GitHub does not recognise has this word.
                Ok(answer) => {
                    contents.licence = answer["license"]["spdx_id"]
                        .as_str()
                        .filter(|id| *id != "NOASSERTION" && is_plain(id))
                        .map(str::to_owned);
                }
                Err(error) => contents.unread.push(error),
            }
        }
        match self.notes(repository, version) {
            Ok(notes) => contents.notes = notes,
            Err(error) => contents.unread.push(error),
        }
    }

    /// Asks GitHub for the notes of releases, which are named from the newest to the oldest; of many the first ones.
    ///
    /// # Errors
    /// The reason why an answer could not be read.
    pub fn notes_between(
        &self,
        repository: &str,
        versions: &[&Version],
    ) -> Result<NotesBetween, String> {
        let mut between = NotesBetween {
            earlier_notes: Vec::new(),
            more_releases: versions.len().saturating_sub(MAX_BETWEEN),
        };
        for version in versions.iter().take(MAX_BETWEEN) {
            let notes = self.notes(repository, version)?;
            if let Some(notes) = notes.filter(|notes| !notes.trim().is_empty()) {
                between.earlier_notes.push(ReleaseNotes {
                    version: version.to_string(),
                    notes,
                });
            }
        }
        Ok(between)
    }

    fn notes(&self, repository: &str, version: &Version) -> Result<Option<String>, String> {
        let tag = format!("v{version}");
        let release = self.github_document(repository, &["releases", "tags", &tag], "")?;
        let Some(notes) = release["body"].as_str() else {
            return Ok(None);
        };
        // Control characters could change a terminal.
        let mut notes = notes.replace(|c: char| c != '\n' && c.is_control(), "");
        let mut end = MAX_NOTES_BYTES.min(notes.len());
        while !notes.is_char_boundary(end) {
            end -= 1;
        }
        notes.truncate(end);
        Ok(Some(notes))
    }

    /// Asks for a document about a repository, `OWNER/NAME`; one that does not exist is null.
    fn github_document(
        &self,
        repository: &str,
        path: &[&str],
        query: &str,
    ) -> Result<Value, String> {
        let repository = ["repos"].into_iter().chain(repository.split('/'));
        let path: Vec<&str> = repository.chain(path.iter().copied()).collect();
        let token = self.github_token.as_ref();
        Ok(self
            .get(&self.github, &path, query, token)?
            .unwrap_or_default())
    }

    fn registry_document<T: DeserializeOwned>(
        &self,
        base: &str,
        path: &[&str],
        query: &str,
    ) -> Result<Option<T>, String> {
        let base: Url = base.parse().expect("our own address is one");
        self.get(&base, path, query, None)
    }

    fn get<T: DeserializeOwned>(
        &self,
        base: &Url,
        path: &[&str],
        query: &str,
        credentials: Option<&Credentials>,
    ) -> Result<Option<T>, String> {
        let url = base
            .below(path.iter().copied())
            .map_query(|_| query.to_owned());
        let ask = Ask {
            url: &url,
            headers: &[("accept", "application/json")],
            credentials,
            hops: HOPS,
            limit: MAX_DOCUMENT_BYTES,
            timeout: self.net.policy.document_timeout,
            redirects: Redirects::NoDowngrade,
        };
        let answer = self.net.optional_document(&ask).map_err(|error| {
            let mut reasons = vec![error.to_string()];
            reasons.extend(diag::causes(&error));
            reasons.join(": ")
        })?;
        match answer.status {
            200 => read_json(&answer.body)
                .map(Some)
                .map_err(|error| format!("{url}: {error}")),
            404 => Ok(None),
            status => Err(format!("{url} answers with status {status}")),
        }
    }
}

/// Returns the elements of a list; none of anything else.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Adds a page to the names of its kind, unless its name could not be shown.
fn add(
    names: &mut BTreeMap<ContentKind, BTreeSet<String>>,
    deprecated: &mut BTreeSet<(ContentKind, String)>,
    (category, name): (&str, &str),
    stated: [&str; 2],
) {
    let Some(kind) = ContentKind::read(category).filter(|_| is_plain(name)) else {
        return;
    };
    let names = names.entry(kind).or_default();
    if names.len() < MAX_NAMES {
        names.insert(name.to_owned());
    }
    // No document has a field for it; publishers write it into a title or the heading above.
    if stated
        .iter()
        .any(|text| text.to_lowercase().contains("deprecated"))
    {
        deprecated.insert((kind, name.to_owned()));
    }
}

/// Returns true if a text can be shown: servers decide what it is.
fn is_plain(text: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.contains(char::is_control)
}

/// Returns the name of a repository at GitHub.
fn github_name(address: &str) -> Option<String> {
    let (_, path) = address.split_once("github.com/")?;
    let (owner, rest) = path.split_once('/')?;
    let (name, _) = rest.split_once('/').unwrap_or((rest, ""));
    let name = name.trim_end_matches(".git");
    let is_name = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    (is_name(owner) && is_name(name)).then(|| format!("{owner}/{name}"))
}
