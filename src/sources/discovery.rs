//! Service discovery: where the provider registry of a host is (rules 1).

use std::collections::BTreeMap;

use super::net::{Answer, Ask, Net, Route};
use super::{FetchError, cut};
use crate::addr::{Hostname, Url, UrlError};
use crate::world::Credentials;

/// The services of a host by their names, e.g. `providers.v1`; the URLs are as they were written,
/// absolute or relative to the discovery document.
pub type Services = BTreeMap<String, String>;

/// The service that is wanted.
const SERVICE: &str = "providers.v1";

/// What the documents of other versions of it would be called.
const SERVICE_FAMILY: &str = "providers.";

/// How long a discovery document may be, in bytes: the limit of both programs.
const MAX_DISCOVERY_BYTES: u64 = 1024 * 1024;

/// Why a host has no provider registry.
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
        /// What is wrong with it.
        reason: String,
    },
    /// The host has services, and none of them is a provider registry.
    #[error("the host has no provider registry")]
    NoRegistry,
    /// The host has a provider registry with another protocol.
    #[error("the host's provider registry does not support protocol {SERVICE}")]
    OtherProtocol,
    /// The URL of the registry is none.
    #[error("the URL of the host's provider registry cannot be used")]
    ServiceUrl(#[source] UrlError),
    /// The URL of the registry holds a user or a password, which neither program permits.
    #[error("the URL of the host's provider registry holds a user name or password")]
    UserInServiceUrl,
}

/// Asks a host where its provider registry is.
pub(super) fn discover(
    net: &Net<'_>,
    host: &Hostname,
    credentials: Option<&Credentials>,
) -> Result<Url, DiscoveryError> {
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
    service_url(&services(&answer)?, &answer.url)
}

/// Reads a document. A value that is no text becomes `None`: rules 1.7 distinguish it from one that is
/// missing.
fn services(answer: &Answer) -> Result<BTreeMap<String, Option<String>>, DiscoveryError> {
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
    Ok(values
        .into_iter()
        .map(|(name, v)| (name, text(v)))
        .collect())
}

/// Takes what a `host` block of the CLI configuration says for the discovery document
/// (rules 1.9).
pub(super) fn configured(services: &Services, host: &Hostname) -> Result<Url, DiscoveryError> {
    let url = Url::discovery(host).map_err(DiscoveryError::Hostname)?;
    let services = services
        .iter()
        .map(|(name, url)| (name.clone(), Some(url.clone())));
    service_url(&services.collect(), &url)
}

fn service_url(
    services: &BTreeMap<String, Option<String>>,
    document: &Url,
) -> Result<Url, DiscoveryError> {
    let Some(Some(text)) = services.get(SERVICE) else {
        let is_family = |name: &String| name.starts_with(SERVICE_FAMILY);
        return Err(if services.keys().any(is_family) {
            DiscoveryError::OtherProtocol
        } else {
            DiscoveryError::NoRegistry
        });
    };
    // A relative URL counts from where the document was found in the end, behind all redirects
    // (rules 1.3).
    let url = document.join(text).map_err(DiscoveryError::ServiceUrl)?;
    if url.has_user() {
        return Err(DiscoveryError::UserInServiceUrl);
    }
    Ok(url)
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
            changed: None,
            body: body.as_bytes().to_vec(),
        };
        let found = services(&answer).and_then(|services| service_url(&services, &answer.url));
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
