//! Service discovery: where the registries of a host are (rules 1).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::net::{Answer, Ask, Net, Route};
use super::{FetchError, cut};
use crate::addr::{Hostname, Url, UrlError};
use crate::parallel::Memo;
use crate::world::Credentials;

/// The services of a host by their names, e.g. `providers.v1`; the URLs are as they were written,
/// absolute or relative to the discovery document.
pub type Services = BTreeMap<String, String>;

/// A service of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// The registry of providers.
    Providers,
    /// The registry of modules.
    Modules,
}

/// Maximum size of a discovery document, in bytes: the limit of both programs.
const MAX_DISCOVERY_BYTES: u64 = 1024 * 1024;

/// A host whose registry cannot be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The host's name fits into no URL.
    #[error(transparent)]
    Hostname(UrlError),
    /// The document could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The host has no discovery document.
    #[error("{url} answered 404: the host has no services")]
    NoServices {
        /// The URL that was requested.
        url: Url,
    },
    /// The answer is no discovery document.
    #[error("{url} is no service discovery document: {reason}")]
    NoDocument {
        /// The URL that was requested.
        url: Url,
        /// The fault of the document.
        reason: String,
    },
    /// The host has services, and none of them is a registry of this kind.
    #[error("the host has no {0}")]
    NoRegistry(Service),
    /// The host has such a registry with another protocol.
    #[error("the host's {0} does not support protocol {name}", name = .0.name())]
    OtherProtocol(Service),
    /// The URL of the registry is none.
    #[error("the URL of the host's {0} cannot be used")]
    ServiceUrl(Service, #[source] UrlError),
    /// The URL of the registry holds a user or a password, which neither program permits.
    #[error("the URL of the host's {0} holds a user name or password")]
    UserInServiceUrl(Service),
}

/// The hosts of the CLI configuration, and the credentials for any host.
pub struct Hosts<'a> {
    /// The services that replace service discovery.
    pub services: BTreeMap<Hostname, Services>,
    /// The credentials for a host.
    pub credentials: Box<HostCredentials<'a>>,
    /// Says why the credentials helper gave no answer about a host.
    pub helper: Box<HostHelper<'a>>,
}

/// Returns the credentials for a host, if there are some.
pub type HostCredentials<'a> = dyn Fn(&Hostname) -> Option<Credentials> + Send + Sync + 'a;

/// Says why a credentials helper gave no answer, if it was asked and gave none.
pub type HostHelper<'a> = dyn Fn(&Hostname) -> Option<String> + Send + Sync + 'a;

/// The registries of all hosts, of which each is asked once in a run, whatever is wanted of it.
pub struct Discovery<'a> {
    net: Net<'a>,
    pub(super) hosts: Hosts<'a>,
    documents: Memo<Hostname, Result<Arc<Document>, DiscoveryError>>,
}

/// The origin of the address of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The host itself, by service discovery.
    Host,
    /// A `host` block of the CLI configuration.
    Configuration,
}

/// The services of a host.
struct Document {
    /// The URL that answered, behind all redirects: relative URLs count from there.
    url: Url,
    /// A value that is no text is `None`: rules 1.7 distinguish it from one that is missing.
    services: BTreeMap<String, Option<String>>,
}

impl Service {
    /// Returns the name that it has in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Providers => "providers.v1",
            Self::Modules => "modules.v1",
        }
    }

    /// Returns how the names of all its versions begin.
    fn family(self) -> &'static str {
        match self {
            Self::Providers => "providers.",
            Self::Modules => "modules.",
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Providers => "provider registry",
            Self::Modules => "module registry",
        })
    }
}

impl<'a> Discovery<'a> {
    /// Makes no request yet.
    #[must_use]
    pub fn new(net: Net<'a>, hosts: Hosts<'a>) -> Self {
        Self {
            net,
            hosts,
            documents: Memo::default(),
        }
    }

    /// Returns what states where the registries of a host are.
    #[must_use]
    pub fn found_by(&self, host: &Hostname) -> FoundBy {
        match self.hosts.services.contains_key(host) {
            true => FoundBy::Configuration,
            false => FoundBy::Host,
        }
    }

    /// Returns the URL below which a registry of a host answers.
    ///
    /// # Errors
    /// If the host has no such registry, or does not say where it is.
    pub fn registry(&self, host: &Hostname, service: Service) -> Result<Url, DiscoveryError> {
        let document = self
            .documents
            .get(host, || match self.hosts.services.get(host) {
                Some(services) => configured(services, host).map(Arc::new),
                None => {
                    let credentials = (self.hosts.credentials)(host);
                    discover(&self.net, host, credentials.as_ref()).map(Arc::new)
                }
            })?;
        document.registry(service)
    }
}

/// Asks a host for its services.
fn discover(
    net: &Net<'_>,
    host: &Hostname,
    credentials: Option<&Credentials>,
) -> Result<Document, DiscoveryError> {
    let url = Url::discovery(host).map_err(DiscoveryError::Hostname)?;
    let ask = Ask {
        url: &url,
        headers: &[("accept", "application/json")],
        credentials,
        hops: net.policy.discovery_hops,
        limit: MAX_DISCOVERY_BYTES,
        timeout: net.policy.discovery_timeout,
        // This document decides which registry gets the token of the host, so anyone who could change it
        // on the way would get the token.
        route: Route::Encrypted,
    };
    let answer = net.document(&ask, net.policy.discovery())?;
    match answer.status {
        200 => {}
        404 => return Err(DiscoveryError::NoServices { url: answer.url }),
        status => {
            return Err(DiscoveryError::Fetch(FetchError::refusal(
                answer.url, status,
            )));
        }
    }
    Document::of(answer)
}

/// Takes what a `host` block of the CLI configuration says for the discovery document
/// (rules 1.9).
fn configured(services: &Services, host: &Hostname) -> Result<Document, DiscoveryError> {
    let services = services
        .iter()
        .map(|(name, url)| (name.clone(), Some(url.clone())));
    Ok(Document {
        url: Url::discovery(host).map_err(DiscoveryError::Hostname)?,
        services: services.collect(),
    })
}

impl Document {
    fn of(answer: Answer) -> Result<Self, DiscoveryError> {
        let no_document = |reason: String| DiscoveryError::NoDocument {
            url: answer.url.clone(),
            reason,
        };
        if let Some(fault) = answer.media_type_fault() {
            return Err(no_document(fault));
        }
        let values: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&answer.body)
            .map_err(|error| {
                let error = cut(&error.to_string());
                no_document(format!("it holds no JSON object: {error}"))
            })?;
        let text = |value: serde_json::Value| value.as_str().map(str::to_owned);
        let services = values.into_iter().map(|(name, v)| (name, text(v)));
        Ok(Self {
            services: services.collect(),
            url: answer.url,
        })
    }

    fn registry(&self, service: Service) -> Result<Url, DiscoveryError> {
        let Some(Some(text)) = self.services.get(service.name()) else {
            let is_family = |name: &String| name.starts_with(service.family());
            return Err(if self.services.keys().any(is_family) {
                DiscoveryError::OtherProtocol(service)
            } else {
                DiscoveryError::NoRegistry(service)
            });
        };
        // A relative URL counts from where the document was found in the end, behind all redirects
        // (rules 1.3).
        let url = self.url.join(text);
        let url = url.map_err(|cause| DiscoveryError::ServiceUrl(service, cause))?;
        if url.has_user() {
            return Err(DiscoveryError::UserInServiceUrl(service));
        }
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content_type: &str, body: &str, wanted: &str) {
        let answer = Answer {
            url: "https://r.example/.well-known/terraform.json"
                .parse()
                .expect("valid"),
            status: 200,
            content_type: content_type.to_owned(),
            location: None,
            changed: None,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        };
        let found = Document::of(answer);
        let found = found.and_then(|document| document.registry(Service::Providers));
        let found = match found {
            Ok(url) => url.secret_text().to_owned(),
            Err(error) => format!("{error:?}"),
        };
        assert!(found.starts_with(wanted), "{found} from {body}");
    }

    #[test]
    fn documents_are_read_as_the_programs_do() {
        let json = "application/json; charset=utf-8";
        let registry = "{\"providers.v1\":\"/v1/p/\",\"modules.v1\":3}";
        check(json, registry, "https://r.example/v1/p/");
        check(
            json,
            "{\"providers.v1\":\"https://o.example/x/\"}",
            "https://o.example/x/",
        );
        check(json, "{\"modules.v1\":\"/m/\"}", "NoRegistry");
        check(json, "{\"providers.v2\":\"/v2/\"}", "OtherProtocol");
        check(json, "{\"providers.v1\":{\"a\":1}}", "OtherProtocol");
        check(json, "{\"providers.v1\":\"ftp://x/\"}", "ServiceUrl");
        check(
            json,
            "{\"providers.v1\":\"https://a:b@h/\"}",
            "UserInServiceUrl",
        );
        check(json, "[]", "NoDocument");
        check(json, "{", "NoDocument");
        check("text/html", registry, "NoDocument");
        check("", registry, "NoDocument");
    }
}
