//! Service discovery: where the registries of a host are (rules 1).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::net::{Answer, Ask, Net, Redirects};
use super::{FetchError, FetchFault, Sent, SourceFault, Unauthorized, cut};
use crate::addr::{Hostname, Origin, Url, UrlError};
use crate::parallel::Memo;
use crate::world::Credentials;

/// The services of a host by their names, e.g. `providers.v1`; the URLs are as they were written,
/// absolute or relative to the discovery document.
pub type Services = BTreeMap<String, String>;

/// A service of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    Providers,
    Modules,
}

/// Maximum size of a discovery document, in bytes: the limit of both programs.
const MAX_DISCOVERY_BYTES: u64 = 1024 * 1024;

/// A host whose registry cannot be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// The host's name fits into no URL.
    #[error(transparent)]
    Hostname(UrlError),
    /// The document could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("{url} answered 404: the host has no services")]
    NoServices { url: Url },
    #[error("{url} is no service discovery document: {reason}")]
    NoDocument { url: Url, reason: String },
    #[error("the host has no {0}")]
    NoRegistry(Service),
    #[error("the host's {0} does not support protocol {name}", name = .0.name())]
    OtherProtocol(Service),
    #[error("the URL of the host's {0} cannot be used")]
    ServiceUrl(Service, #[source] UrlError),
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

/// The registries of all hosts. The discovery document of each host is requested once in a run, for all
/// purposes.
pub struct Discovery<'a> {
    net: Net<'a>,
    pub(super) hosts: Hosts<'a>,
    documents: Memo<Hostname, Result<Arc<DiscoveryDocument>, DiscoveryError>>,
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
struct DiscoveryDocument {
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

    /// Returns the origin of the addresses of a host's registries.
    #[must_use]
    pub fn found_by(&self, host: &Hostname) -> FoundBy {
        if self.hosts.services.contains_key(host) {
            FoundBy::Configuration
        } else {
            FoundBy::Host
        }
    }

    /// Returns the credentials for requests to a host's registry at `base`.
    ///
    /// A service URL may be plain http (rules 1.6). The programs send the token there all the same, where
    /// anything on the way can read it; here it is not sent.
    pub(super) fn credentials(&self, host: &Hostname, base: &Url) -> Option<Credentials> {
        (self.hosts.credentials)(host).filter(|_| base.origin().encrypted)
    }

    /// Makes the fault of an answer of a host's registry at `base` that is a refusal (rules 2.6).
    pub(super) fn refusal(&self, host: &Hostname, answer: Answer, base: &Url) -> Arc<SourceFault> {
        let refused = answer.refusal();
        Arc::new(
            self.unauthorized(host, &refused, Some(&base.origin()))
                .map_or(SourceFault::Fetch(refused), SourceFault::Unauthorized),
        )
    }

    /// Returns the rejection of credentials, or the demand for some, that an error is; `home` is the origin to which
    /// they may be sent.
    fn unauthorized(
        &self,
        host: &Hostname,
        error: &FetchError,
        home: Option<&Origin>,
    ) -> Option<Unauthorized> {
        let FetchFault::Status {
            status: status @ (401 | 403),
            stated,
            ..
        } = &error.fault
        else {
            return None;
        };
        let has_credentials = (self.hosts.credentials)(host).is_some();
        Some(Unauthorized {
            host: host.to_string(),
            url: error.url.clone(),
            status: *status,
            sent: Sent::to(&error.url, home, has_credentials),
            stated: stated.clone(),
            why_none: (self.hosts.helper)(host),
        })
    }

    /// Returns the URL below which a registry of a host answers, as [`registry`](Self::registry) does.
    pub(super) fn service(
        &self,
        host: &Hostname,
        service: Service,
    ) -> Result<Url, Arc<SourceFault>> {
        self.registry(host, service).map_err(|cause| {
            let home = Url::discovery(host).map(|url| url.origin()).ok();
            let refused = match &cause {
                DiscoveryError::Fetch(error) => self.unauthorized(host, error, home.as_ref()),
                _ => None,
            };
            Arc::new(match refused {
                Some(refused) => SourceFault::Unauthorized(refused),
                None => SourceFault::Discovery {
                    host: host.clone(),
                    by: self.found_by(host),
                    cause,
                },
            })
        })
    }

    /// Returns the URL below which a registry of a host answers.
    ///
    /// # Errors
    /// If the host has no such registry, or does not say where it is.
    pub fn registry(&self, host: &Hostname, service: Service) -> Result<Url, DiscoveryError> {
        // One document per host and run serves both services (rules 1.1, 12.3), also if it could not be
        // fetched.
        let document = self.documents.get(host, || {
            let document = match self.hosts.services.get(host) {
                // A `host` block of the CLI configuration replaces the document, so its relative URLs count
                // from the usual place of the document (rules 1.9).
                Some(services) => DiscoveryDocument {
                    url: Url::discovery(host).map_err(DiscoveryError::Hostname)?,
                    services: services
                        .iter()
                        .map(|(name, url)| (name.clone(), Some(url.clone())))
                        .collect(),
                },
                None => self.discover(host)?,
            };
            Ok(Arc::new(document))
        })?;
        document.registry(service)
    }

    fn discover(&self, host: &Hostname) -> Result<DiscoveryDocument, DiscoveryError> {
        let url = Url::discovery(host).map_err(DiscoveryError::Hostname)?;
        let credentials = (self.hosts.credentials)(host);
        let ask = Ask {
            url: &url,
            headers: &[("accept", "application/json")],
            credentials: credentials.as_ref(),
            hops: self.net.policy.discovery_hops,
            limit: MAX_DISCOVERY_BYTES,
            timeout: self.net.policy.discovery_timeout,
            // This document decides which registry gets the token of the host, so anyone who could change
            // it on the way would get the token.
            redirects: Redirects::Encrypted,
        };
        let answer = self.net.document(&ask, self.net.policy.discovery())?;
        match answer.status {
            200 => DiscoveryDocument::parse(answer),
            // Only this status says that the host has no services at all (rules 1.2).
            404 => Err(DiscoveryError::NoServices { url: answer.url }),
            _ => Err(DiscoveryError::Fetch(answer.refusal())),
        }
    }
}

impl DiscoveryDocument {
    fn parse(answer: Answer) -> Result<Self, DiscoveryError> {
        let no_document = |reason: String| DiscoveryError::NoDocument {
            url: answer.url.clone(),
            reason,
        };
        // Both programs require `application/json` here, but not for the documents of a registry (rules
        // 1.1, 2.1).
        if let Some(fault) = answer.media_type_fault() {
            return Err(no_document(fault));
        }
        let values: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&answer.body)
            .map_err(|error| {
                let error = cut(&error.to_string());
                no_document(format!("it holds no JSON object: {error}"))
            })?;
        Ok(Self {
            services: values
                .into_iter()
                .map(|(name, value)| (name, value.as_str().map(str::to_owned)))
                .collect(),
            url: answer.url,
        })
    }

    fn registry(&self, service: Service) -> Result<Url, DiscoveryError> {
        let Some(Some(text)) = self.services.get(service.name()) else {
            // Another version of the protocol, or a value that is no text, is reported as such (rules 1.7).
            let family = match service {
                Service::Providers => "providers.",
                Service::Modules => "modules.",
            };
            return Err(
                if self.services.keys().any(|name| name.starts_with(family)) {
                    DiscoveryError::OtherProtocol(service)
                } else {
                    DiscoveryError::NoRegistry(service)
                },
            );
        };
        // A relative URL counts from where the document was found in the end, behind all redirects
        // (rules 1.3).
        let url = self
            .url
            .join(text)
            .map_err(|cause| DiscoveryError::ServiceUrl(service, cause))?;
        // Both programs refuse a user in the URL (rules 1.6); the token of the host is the only credential
        // of a registry.
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
        let found = DiscoveryDocument::parse(answer)
            .and_then(|document| document.registry(Service::Providers));
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
