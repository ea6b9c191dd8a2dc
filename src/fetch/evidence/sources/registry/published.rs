//! When a registry says that a release was published (rules 11.2).
//!
//! This is no part of the protocol, and nothing depends on it: any failure means that there is no
//! date, nothing is repeated, and a host that gave no answer is not asked again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::Registry;
use crate::addr::{ProviderAddr, Url};
use crate::flavor::Flavor;
use crate::package::calendar::read_timestamp;
use crate::parallel::Memo;
use crate::sources::discovery::FoundBy;
use crate::sources::net::{Ask, HOPS, Net, Redirects};
use crate::sources::retry::RetryPolicy;
use crate::sources::{SourceFault, read_json};
use crate::version::Version;

/// Documentation of the providers in OpenTofu's registry.
const OPENTOFU_DOCUMENTATION: &str = "https://api.opentofu.org/registry/docs/providers/";

/// Maximum size of the document of a release or of a provider, in bytes: that of a provider with 1,500
/// pages of documentation, which it lists, has some 300,000.
const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// The dates that were found so far.
pub(super) struct PublishedDates<'a> {
    /// Repeats no request; a host that fails is given up for dates alone.
    net: Net<'a>,
    releases: Memo<(ProviderAddr, Version), Option<SystemTime>>,
    /// The dates of all versions that OpenTofu's registry documents.
    providers: Memo<ProviderAddr, Arc<BTreeMap<Version, SystemTime>>>,
}

impl<'a> PublishedDates<'a> {
    pub(super) fn new(net: &Net<'a>) -> Self {
        Self {
            net: Net {
                policy: RetryPolicy {
                    document_retries: 0,
                    ..net.policy
                },
                // Nothing depends on a date, so a host that is slow or broken costs one wait in a run (rules
                // 11.3), and is asked for everything else all the same.
                outages: Arc::default(),
                ..net.clone()
            },
            releases: Memo::default(),
            providers: Memo::default(),
        }
    }
}

impl Registry<'_> {
    /// Returns when the registry of a provider says that a version was published.
    pub(super) fn published_at(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Option<SystemTime> {
        // A `host` block puts another registry in the place of OpenTofu's own, which documents its releases.
        let host = provider.hostname();
        if host.ascii() == Flavor::OpenTofu1_12.default_host()
            && self.discovery.found_by(host) == FoundBy::Host
        {
            let documented = self.published.providers.get(provider, || {
                self.documented(provider).unwrap_or_default().into()
            });
            return documented.get(version).copied();
        }
        let question = (provider.clone(), version.clone());
        self.published
            .releases
            .get(&question, || self.release(provider, version))
    }

    /// Asks a registry about a release as the one of Terraform answers.
    fn release(&self, provider: &ProviderAddr, version: &Version) -> Option<SystemTime> {
        let asked = version.to_string();
        let path = [provider.namespace(), provider.type_name(), &asked];
        let net = &self.published.net;
        let answer = self
            .ask(net, provider.hostname(), &path, MAX_DOCUMENT_BYTES)
            .inspect_err(|fault| {
                if let SourceFault::Fetch(error) = &**fault {
                    net.outages.give_up(error);
                }
            })
            .ok()
            .filter(|answer| answer.status == 200)?;
        let document: Value = read_json(&answer.body).ok()?;
        // The date of another version says nothing of this one.
        let is_other = document["version"]
            .as_str()
            .is_some_and(|stated| stated != asked);
        read_timestamp(document["published_at"].as_str()?).filter(|_| !is_other)
    }

    /// Asks the documentation API of OpenTofu about all versions of a provider.
    fn documented(&self, provider: &ProviderAddr) -> Option<BTreeMap<Version, SystemTime>> {
        let base: Url = OPENTOFU_DOCUMENTATION.parse().ok()?;
        let net = &self.published.net;
        let path = [provider.namespace(), provider.type_name(), "index.json"];
        let ask = Ask {
            url: &base.below(path),
            headers: &[],
            credentials: None,
            hops: HOPS,
            limit: MAX_DOCUMENT_BYTES,
            timeout: net.policy.document_timeout,
            // Nothing signs a date, so it must not be changed on the way.
            redirects: Redirects::Encrypted,
        };
        let answer = net
            .document(&ask, net.policy.documents())
            .inspect_err(|error| net.outages.give_up(error))
            .ok()
            .filter(|answer| answer.status == 200)?;
        let document: Value = read_json(&answer.body).ok()?;
        let versions = document["versions"].as_array().into_iter().flatten();
        let dates = versions.filter_map(|release| {
            let id = release["id"].as_str()?;
            let version = id.strip_prefix('v').unwrap_or(id).parse().ok()?;
            Some((version, read_timestamp(release["published"].as_str()?)?))
        });
        Some(dates.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::package::calendar::day;
    use crate::sources::discovery::Discovery;
    use crate::sources::registry::Hosts;
    use crate::world::mem::{MemClock, MemHttp};
    use crate::world::{Credentials, HttpError, HttpResponse, Secret};

    const FLAVOR: Flavor = Flavor::OpenTofu1_12;
    const DISCOVERED: &str = "{\"providers.v1\": \"/v1/providers/\"}";

    /// Asks for dates, each as `ADDRESS VERSION`, on a network with these documents by URL; a text
    /// without a brace is no answer. Returns the days, and what was requested with a token or without.
    fn ask(documents: &[(&str, &str)], releases: &[&str]) -> (Vec<String>, Vec<String>) {
        let http = MemHttp::new(|request| {
            let url = request.url.secret_text();
            let known = documents.iter().find(|(place, _)| *place == url);
            match known {
                Some((_, text)) if text.contains('{') => {
                    let json = [("content-type", "application/json")];
                    Ok(HttpResponse::of(200, &json, *text))
                }
                Some((_, "nothing")) => Err(HttpError::Timeout {
                    limit: Duration::from_secs(1),
                }),
                Some((_, reason)) => Err(HttpError::Broken {
                    reason: (*reason).to_owned(),
                }),
                None => Ok(HttpResponse::of(404, &[], "")),
            }
        });
        let clock = MemClock::default();
        let net = Net::of_doubles(&http, &clock, FLAVOR);
        let hosts = Hosts {
            services: BTreeMap::new(),
            credentials: Box::new(|_| Ok(Some(Credentials::Bearer(Secret::new("word"))))),
        };
        let discovery = Arc::new(Discovery::new(net.clone(), hosts));
        let registry = Registry::new(net, FLAVOR, discovery);
        let days = releases.iter().map(|release| {
            let (addr, version) = release.split_once(' ').expect("two words");
            let provider = ProviderAddr::parse(addr, FLAVOR).expect("valid");
            let version = version.parse().expect("valid");
            let date = registry.published_at(&provider, &version);
            date.map_or_else(|| "unknown".to_owned(), day)
        });
        let days = days.collect();
        let asked = http.asked().into_iter().map(|one| {
            let token = if one.credentials.is_some() {
                " with a token"
            } else {
                ""
            };
            format!("{}{token}", one.url)
        });
        (days, asked.collect())
    }

    #[test]
    fn a_registry_states_the_date_of_a_release() {
        const HOST: &str = "https://registry.example.com/.well-known/terraform.json";
        const RELEASE: &str = "https://registry.example.com/v1/providers/acme/demo/1.2.0";
        for (document, wanted) in [
            (
                "{\"version\": \"1.2.0\", \"published_at\": \"2024-05-06T23:00:00-02:00\"}",
                "2024-05-07",
            ),
            (
                "{\"published_at\": \"2024-05-06T00:00:00Z\", \"docs\": [1]}",
                "2024-05-06",
            ),
            (
                "{\"version\": \"1.3.0\", \"published_at\": \"2024-05-06T00:00:00Z\"}",
                "unknown",
            ),
            ("{\"published_at\": \"yesterday\"}", "unknown"),
            ("{\"published_at\": 1714953600}", "unknown"),
            ("{}", "unknown"),
            ("{\"published", "unknown"),
        ] {
            let documents = [(HOST, DISCOVERED), (RELEASE, document)];
            let twice = ["registry.example.com/acme/demo 1.2.0"; 2];
            let (days, asked) = ask(&documents, &twice);
            assert_eq!(days, [wanted; 2], "{document}");
            let once = [HOST, RELEASE].map(|url| format!("{url} with a token"));
            assert_eq!(asked, once, "{document}");
        }
    }

    #[test]
    fn the_documentation_of_opentofu_states_the_dates_of_all_versions() {
        const DOCUMENT: &str =
            "https://api.opentofu.org/registry/docs/providers/acme/demo/index.json";
        let document = "{\"versions\": [\
            {\"id\": \"v1.2.0\", \"published\": \"2024-05-06T00:00:00Z\"}, \
            {\"id\": \"1.1.0\", \"published\": \"2024-04-06T00:00:00Z\"}, \
            {\"id\": \"v1.0.0\"}, {\"id\": \"latest\", \"published\": \"2024-05-06T00:00:00Z\"}]}";
        let releases = ["acme/demo 1.2.0", "acme/demo 1.1.0", "acme/demo 1.0.0"];
        let (days, asked) = ask(&[(DOCUMENT, document)], &releases);
        assert_eq!(days, ["2024-05-06", "2024-04-06", "unknown"]);
        assert_eq!(asked, [DOCUMENT]);
    }

    #[test]
    fn a_host_that_gave_no_answer_is_not_asked_again() {
        const DOCUMENT: &str =
            "https://api.opentofu.org/registry/docs/providers/acme/demo/index.json";
        let releases = ["acme/demo 1.2.0", "acme/other 1.2.0"];
        for failure in ["nothing", "reset"] {
            let (days, asked) = ask(&[(DOCUMENT, failure)], &releases);
            assert_eq!(days, ["unknown"; 2]);
            assert_eq!(asked, [DOCUMENT]);
        }
        // A document that is not there is an answer.
        let (_, asked) = ask(&[], &releases);
        assert_eq!(asked.len(), 2);

        const HOST: &str = "https://registry.example.com/.well-known/terraform.json";
        const RELEASE: &str = "https://registry.example.com/v1/providers/acme/demo/1.2.0";
        let documents = [(HOST, DISCOVERED), (RELEASE, "reset")];
        let releases = ["1.2.0", "1.1.0"].map(|v| format!("registry.example.com/acme/demo {v}"));
        let (days, asked) = ask(&documents, &releases.each_ref().map(|text| &**text));
        assert_eq!(days, ["unknown"; 2]);
        assert_eq!(asked.len(), 2, "{asked:?}");
    }
}
