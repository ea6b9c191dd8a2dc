//! Registries of modules: which versions there are, and where a package is (rules 12).

use std::sync::Arc;

use serde::Deserialize;

use super::ModuleRegistryError;
use super::versions::ModuleVersions;
use crate::addr::module::{RegistryModule, RemoteModule};
use crate::addr::{Hostname, Url};
use crate::flavor::Flavor;
use crate::sources::discovery::{Discovery, Service};
use crate::sources::download::{Check, Downloaded, PackageRequest, Transfer, download};
use crate::sources::net::{Answer, Ask, HOPS, Net, Redirects};
use crate::sources::{About, FetchError, SourceError, SourceFault, SourceLocation, read_json};
use crate::version::Version;
use crate::world::Disk;

/// Maximum size of a list of versions, in bytes; the longest real ones have some hundred thousand.
const MAX_VERSIONS_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum size of the answer with a location, in bytes: one URL.
const MAX_LOCATION_BYTES: u64 = 64 * 1024;

/// Maximum length of a location, in bytes: signed URLs have some thousand.
const MAX_ADDRESS_BYTES: usize = 16 * 1024;

/// The registries of modules of all hosts. Nothing is remembered here but the documents of hosts.
pub struct ModuleRegistries<'a> {
    net: Net<'a>,
    flavor: Flavor,
    discovery: Arc<Discovery<'a>>,
}

/// The location that a registry states for a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleLocation {
    /// At an address as in a source, perhaps with a subdirectory.
    Source(RemoteModule),
    /// At a URL that only OpenTofu fetches: an archive of any kind, with one request.
    Direct { url: Url, token: DirectToken },
}

impl ModuleLocation {
    /// Returns the address of the package, which may hold secrets.
    pub(crate) fn address(&self) -> RemoteModule {
        match self {
            Self::Source(source) => source.clone(),
            Self::Direct { url, .. } => RemoteModule {
                package: url.secret_text().into(),
                sub: "".into(),
            },
        }
    }
}

/// The treatment of a host's token in the request for a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectToken {
    /// The token is sent there: the registry asks for that.
    Sent,
    Withheld,
}

/// A list of versions: only the first module counts.
#[derive(Deserialize)]
struct VersionDocument {
    modules: Option<Vec<ListedModule>>,
}

#[derive(Deserialize)]
struct ListedModule {
    versions: Option<Vec<ListedVersion>>,
}

#[derive(Deserialize)]
struct ListedVersion {
    version: Option<String>,
}

/// The answer with a location, as OpenTofu reads it.
#[derive(Deserialize)]
struct LocationDocument {
    location: Option<String>,
    use_registry_credentials: Option<bool>,
}

impl<'a> ModuleRegistries<'a> {
    /// Makes the registries of all hosts; makes no request yet.
    #[must_use]
    pub fn new(net: Net<'a>, flavor: Flavor, discovery: Arc<Discovery<'a>>) -> Self {
        Self {
            net,
            flavor,
            discovery,
        }
    }

    /// Asks which versions a module has.
    ///
    /// # Errors
    /// If the registry cannot be found, or gives no list.
    pub fn versions(&self, module: &RegistryModule) -> Result<ModuleVersions, ModuleRegistryError> {
        let (_, answer) = self.ask(module, &["versions"], MAX_VERSIONS_BYTES)?;
        if answer.status != 200 {
            let host = module.host.clone();
            return Err(ModuleRegistryError::UnknownModule { host });
        }
        let list: VersionDocument = read(&module.host, &answer)?;
        // The programs read the first module only, with any name (rules 12.4).
        let Some(first) = list.modules.unwrap_or_default().into_iter().next() else {
            return Err(ModuleRegistryError::NoModule { url: answer.url });
        };
        let versions = first.versions.unwrap_or_default();
        Ok(ModuleVersions::read(versions.iter().map(|listed| {
            listed.version.as_deref().unwrap_or_default()
        })))
    }

    /// Asks where the package of a version is.
    ///
    /// # Errors
    /// If the registry cannot be found, or names no place that could be used.
    pub fn location(
        &self,
        module: &RegistryModule,
        version: &Version,
    ) -> Result<ModuleLocation, ModuleRegistryError> {
        let version = version.to_string();
        let path = [&*version, "download"];
        let (asked, answer) = self.ask(module, &path, MAX_LOCATION_BYTES)?;
        match answer.status {
            200 | 204 => {}
            _ => {
                let host = module.host.clone();
                return Err(ModuleRegistryError::UnknownVersion { host });
            }
        }
        location(&module.host, &asked, &answer, self.flavor)
    }

    /// Returns whether the registry of a module is asked over encrypted connections; one that cannot be found
    /// counts as that.
    #[must_use]
    pub fn is_encrypted(&self, module: &RegistryModule) -> bool {
        self.discovery
            .registry(&module.host, Service::Modules)
            .map_or(true, |base| base.origin().encrypted)
    }

    /// Downloads a package of at most `limit` bytes that only OpenTofu fetches, by one request. The token of
    /// the registry's host is sent over encrypted connections only (rules 12.8).
    ///
    /// # Errors
    /// The last failure, when all repetitions failed.
    pub fn direct(
        &self,
        disk: &dyn Disk,
        module: &RegistryModule,
        url: &Url,
        token: DirectToken,
        limit: u64,
    ) -> Result<Downloaded, FetchError> {
        let credentials = match token {
            // OpenTofu sends the token to any origin; here it is at least encrypted on the way (rules
            // 12.8).
            DirectToken::Sent => self.discovery.credentials(&module.host, url),
            DirectToken::Withheld => None,
        };
        let net = Net {
            package_credentials: Arc::new(move |_| credentials.clone()),
            ..self.net.clone()
        };
        let accept = ("accept", "application/zip, application/x-tar; *;q=0.1");
        let request = PackageRequest {
            url,
            check: Check::Address,
            headers: &[accept, self.version_header()],
            limit,
            bytes: None,
            retries: None,
            transfer: Transfer::Encoded,
            allowance: None,
        };
        download(&net, &|| disk.scratch(), request)
    }

    fn version_header(&self) -> (&'static str, &'static str) {
        ("x-terraform-version", self.flavor.observed_version())
    }

    /// Requests a document about a module from its registry; returns the URL before redirects, and the answer
    /// with the status 200, 204 or 404.
    fn ask(
        &self,
        module: &RegistryModule,
        path: &[&str],
        limit: u64,
    ) -> Result<(Url, Answer), ModuleRegistryError> {
        let host = &module.host;
        let error = |fault| source_error(host, fault);
        let base = self
            .discovery
            .service(host, Service::Modules)
            .map_err(error)?
            // Here a missing slash at the end is added, unlike with providers (rules 12.3).
            .as_directory();
        let start = [&*module.namespace, &*module.name, &*module.system];
        let url = base.below(start.iter().chain(path).copied());
        let credentials = self.discovery.credentials(host, &base);
        let ask = Ask {
            url: &url,
            headers: &[self.version_header()],
            credentials: credentials.as_ref(),
            hops: HOPS,
            limit,
            timeout: self.net.policy.document_timeout,
            // Unlike a provider, a module is proved by nothing else.
            redirects: Redirects::NoDowngrade,
        };
        let answer = self
            .net
            .document(&ask, self.net.policy.documents())
            .map_err(|cause| error(Arc::new(cause.into())))?;
        match answer.status {
            200 | 204 | 404 => Ok((url, answer)),
            _ => Err(error(self.discovery.refusal(host, answer, &base))),
        }
    }
}

fn source_error(host: &Hostname, fault: Arc<SourceFault>) -> ModuleRegistryError {
    let place = SourceLocation::Modules(host.clone());
    SourceError::new(place, About::Source, fault).into()
}

fn read<T: serde::de::DeserializeOwned>(
    host: &Hostname,
    answer: &Answer,
) -> Result<T, ModuleRegistryError> {
    read_json(&answer.body)
        .map_err(|reason| source_error(host, SourceFault::bad_document(&answer.url, reason)))
}

/// Reads where a package is from an answer (rules 12.5 to 12.7); `asked` is the URL before redirects, from
/// which relative locations count.
fn location(
    host: &Hostname,
    asked: &Url,
    answer: &Answer,
    flavor: Flavor,
) -> Result<ModuleLocation, ModuleRegistryError> {
    let bad = |cause| {
        let url = answer.url.clone();
        ModuleRegistryError::BadLocation { url, cause }
    };
    let mut stated = None;
    // Only OpenTofu reads the body, and then it must be JSON (rules 12.5).
    if flavor.is_opentofu() && answer.status == 200 {
        let document: LocationDocument = read(host, answer)?;
        stated = document.location.filter(|text| !text.is_empty());
        if let (Some(text), Some(sends)) = (&stated, document.use_registry_credentials) {
            let token = if sends {
                DirectToken::Sent
            } else {
                DirectToken::Withheld
            };
            let package = asked.join(text).map_err(|cause| bad(cause.to_string()))?;
            return Ok(ModuleLocation::Direct {
                url: package,
                token,
            });
        }
    }
    let stated = stated.or_else(|| answer.location.clone());
    let Some(text) = stated.filter(|text| text.len() <= MAX_ADDRESS_BYTES) else {
        let url = answer.url.clone();
        return Err(ModuleRegistryError::NoLocation { url });
    };
    // It may be a reference as well, but never is a path of this machine.
    let is_reference = ["/", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start));
    // A bare word, such as `p.zip`, is no reference but an address without a scheme (rules 12.6, 12.7).
    let parsed = if is_reference {
        let url = asked.join(&text).map_err(|error| bad(error.to_string()))?;
        RemoteModule::parse(url.secret_text())
    } else {
        RemoteModule::parse(&text)
    };
    parsed
        .map(ModuleLocation::Source)
        .map_err(|error| bad(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "https://r.example/m/acme/net/aws/1.0.0/download";

    fn answer(status: u16, header: &str, body: &str) -> Answer {
        Answer {
            url: ASKED.parse().expect("valid"),
            status,
            content_type: String::new(),
            location: (!header.is_empty()).then(|| header.to_owned()),
            changed: None,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        }
    }

    #[track_caller]
    fn check(given: (u16, &str, &str), terraform: &str, opentofu: &str) {
        let (status, header, body) = given;
        for (flavor, wanted) in [
            (Flavor::Terraform1_11, terraform),
            (Flavor::OpenTofu1_12, opentofu),
        ] {
            let asked = ASKED.parse().expect("valid");
            let host = Hostname::parse_either("r.example").expect("valid");
            let found = match location(&host, &asked, &answer(status, header, body), flavor) {
                Ok(ModuleLocation::Source(source)) => source.to_string(),
                Ok(ModuleLocation::Direct { url, token }) => {
                    format!("{} {token:?}", url.secret_text())
                }
                Err(error) => error.title(flavor).to_owned(),
            };
            assert_eq!(found, wanted, "of {given:?} for {flavor}");
        }
    }

    #[test]
    fn locations_are_read_as_the_programs_do() {
        const ACCESS: &str = "Error accessing remote module registry";
        const LOCATION: &str = "Invalid package location from module registry";
        let (zip, other) = ("https://h/p.zip", "https://h/q.zip");
        let json = format!("{{\"location\":\"{other}\"}}");
        check((204, zip, ""), zip, zip);
        check((200, zip, ""), zip, ACCESS);
        check((200, zip, "<html>"), zip, ACCESS);
        check((200, zip, "{}"), zip, zip);
        check((200, zip, &json), zip, other);
        check((200, "", &json), ACCESS, other);
        check((204, "", ""), ACCESS, ACCESS);
        check((200, "", "{\"location\":\"\"}"), ACCESS, ACCESS);
        for (text, wanted) in [
            ("/p.zip?b=1", "https://r.example/p.zip?b=1"),
            (
                "./p.zip//x",
                "https://r.example/m/acme/net/aws/1.0.0/p.zip//x",
            ),
            (
                "../p?archive=zip",
                "https://r.example/m/acme/net/aws/p?archive=zip",
            ),
            (
                "github.com/o/r?ref=v1",
                "git::https://github.com/o/r.git?ref=v1",
            ),
            ("file:///etc", "file:///etc"),
        ] {
            check((204, text, ""), wanted, wanted);
        }
        for text in ["p.zip", "acme/other/aws", "https://h/p.zip//../x"] {
            check((204, text, ""), LOCATION, ACCESS);
        }
        let long = format!("https://h/{}", "x".repeat(MAX_ADDRESS_BYTES));
        check((204, &long, ""), ACCESS, ACCESS);
    }

    #[test]
    fn opentofu_fetches_some_packages_directly() {
        const ACCESS: &str = "Error accessing remote module registry";
        let text = "{\"location\":\"p//x?a=1#f\",\"use_registry_credentials\":";
        let url = "https://r.example/m/acme/net/aws/1.0.0/p//x?a=1";
        for (rest, wanted) in [
            ("true}", format!("{url} Sent")),
            ("false}", format!("{url} Withheld")),
            ("null}", ACCESS.to_owned()),
            ("1}", ACCESS.to_owned()),
        ] {
            check((200, "", &format!("{text}{rest}")), ACCESS, &wanted);
        }
        let git = "{\"location\":\"git::https://h/r\",\"use_registry_credentials\":true}";
        check((200, "", git), ACCESS, ACCESS);
    }
}
