//! Service discovery: where the registries of a host are (rules 1).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::net::{Answer, Ask, Net, Redirects};
use super::{FetchError, Sent, SourceFault, cut};
use crate::addr::{Hostname, Origin, Url};
use crate::parallel::Memo;
use crate::world::{Credentials, Secret};

/// The services of a host by their names, e.g. `providers.v1`; the URLs are as they were written,
/// absolute or relative to the discovery document.
pub type Services = BTreeMap<String, Secret>;

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
    /// The document could not be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The host has no such registry, in words.
    #[error("{0}")]
    NoRegistry(String),
    /// The host states its registry in a way that cannot be used, in words.
    #[error("{0}")]
    BadService(String),
}

/// The hosts of the CLI configuration, and the credentials for any host.
pub struct Hosts<'a> {
    /// The services that replace service discovery.
    pub services: BTreeMap<Hostname, Services>,
    /// The credentials for a host.
    pub credentials: Box<HostCredentials<'a>>,
}

/// Returns the credentials for a host, if there are some, or why a credentials helper gave no answer.
pub type HostCredentials<'a> =
    dyn Fn(&Hostname) -> Result<Option<Credentials>, String> + Send + Sync + 'a;

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
        (self.hosts.credentials)(host)
            .ok()?
            .filter(|_| base.origin().encrypted)
    }

    /// Makes the fault of an answer of a host's registry at `base` that is a refusal (rules 2.6).
    pub(super) fn refusal(&self, host: &Hostname, answer: Answer, base: &Url) -> Arc<SourceFault> {
        self.refused(host, answer.refusal(), Some(&base.origin()))
    }

    /// Makes the fault of a request for a host; `home` is the origin to which its credentials may be sent.
    fn refused(
        &self,
        host: &Hostname,
        error: FetchError,
        home: Option<&Origin>,
    ) -> Arc<SourceFault> {
        let credentials = (self.hosts.credentials)(host);
        let sent = Sent::to(&error.url, home, matches!(credentials, Ok(Some(_))));
        let why_none = credentials.err();
        Arc::new(SourceFault::refused(
            error,
            host.to_string(),
            sent,
            why_none,
        ))
    }

    /// Returns the URL below which a registry of a host answers, as [`registry`](Self::registry) does.
    pub(super) fn service(
        &self,
        host: &Hostname,
        service: Service,
    ) -> Result<Url, Arc<SourceFault>> {
        self.registry(host, service).map_err(|cause| match cause {
            DiscoveryError::Fetch(error) if error.is_unauthorized() => {
                let home = Url::discovery(host).map(|url| url.origin()).ok();
                self.refused(host, error, home.as_ref())
            }
            cause => Arc::new(SourceFault::Discovery {
                host: host.clone(),
                by: self.found_by(host),
                cause,
            }),
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
            // The name of a host may fit into no URL.
            let url = Url::discovery(host)
                .map_err(|cause| DiscoveryError::NoRegistry(cause.to_string()))?;
            // A `host` block of the CLI configuration replaces the document, so its relative URLs count
            // from the usual place of the document (rules 1.9).
            if let Some(services) = self.hosts.services.get(host) {
                let services = services
                    .iter()
                    .map(|(name, url)| (name.clone(), Some(url.reveal().to_owned())))
                    .collect();
                return Ok(Arc::new(DiscoveryDocument { url, services }));
            }
            let credentials = (self.hosts.credentials)(host).unwrap_or_default();
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
                200 => DiscoveryDocument::parse(answer).map(Arc::new),
                // Only this status says that the host has no services at all (rules 1.2).
                404 => Err(DiscoveryError::NoRegistry(format!(
                    "{} answered 404: the host has no services",
                    answer.url
                ))),
                _ => Err(DiscoveryError::Fetch(answer.refusal())),
            }
        })?;
        document.registry(service)
    }
}

impl DiscoveryDocument {
    fn parse(answer: Answer) -> Result<Self, DiscoveryError> {
        let no_document = |reason: String| {
            let url = &answer.url;
            let text = format!("{url} is no service discovery document: {reason}");
            DiscoveryError::NoRegistry(text)
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
            let name = service.name();
            return Err(
                if self.services.keys().any(|name| name.starts_with(family)) {
                    let text = format!("the host's {service} does not support protocol {name}");
                    DiscoveryError::BadService(text)
                } else {
                    DiscoveryError::NoRegistry(format!("the host has no {service}"))
                },
            );
        };
        // A relative URL counts from where the document was found in the end, behind all redirects
        // (rules 1.3).
        let url = self.url.join(text).map_err(|cause| {
            let text = format!("the URL of the host's {service} cannot be used: {cause}");
            DiscoveryError::BadService(text)
        })?;
        // Both programs refuse a user in the URL (rules 1.6); the token of the host is the only credential
        // of a registry.
        if url.has_user() {
            let text = format!("the URL of the host's {service} holds a user name or password");
            return Err(DiscoveryError::BadService(text));
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
        check(json, "{\"providers.v2\":\"/v2/\"}", "BadService");
        check(json, "{\"providers.v1\":{\"a\":1}}", "BadService");
        check(json, "{\"providers.v1\":\"ftp://x/\"}", "BadService");
        check(json, "{\"providers.v1\":\"https://a:b@h/\"}", "BadService");
        check(json, "[]", "NoRegistry");
        check(json, "{", "NoRegistry");
        check("text/html", registry, "NoRegistry");
        check("", registry, "NoRegistry");
    }
}
