//! Documents of registries, mirrors and stores of OCI artifacts, from servers that answer anything.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockctl::addr::ProviderAddr;
use lockctl::flavor::Flavor;
use lockctl::package::PackageId;
use lockctl::sources::Source;
use lockctl::sources::discovery::{Discovery, Hosts};
use lockctl::sources::net::Net;
use lockctl::sources::network_mirror::{MirrorAccess, NetworkMirror};
use lockctl::sources::oci::{OciMirror, OciRegistries};
use lockctl::sources::registry::Registry;
use lockctl::sources::retry::RetryPolicy;
use lockctl::world::HttpResponse;
use lockctl::world::mem::{MemClock, MemEnv, MemHttp};

use super::Budget;

const BUDGET: Budget = Budget {
    // The double keeps every request.
    base_bytes: 16 << 20,
    bytes: 4_000,
    base_allocations: 400_000,
    allocations: 400,
};

/// The most requests that all questions about a provider may make, however a server answers: a list of
/// tags may have 1,000 pages.
const MAX_REQUESTS: usize = 2_200;

/// Begins each answer but the first.
const NEXT: &str = "\n--8<--\n";

pub mod registry {
    pub fn run(data: &[u8]) {
        super::ask(data, |net, flavor, work| {
            let hosts = super::Hosts {
                services: super::BTreeMap::new(),
                credentials: Box::new(|_| Ok(None)),
            };
            let discovery = super::Arc::new(super::Discovery::new(net.clone(), hosts));
            work(&super::Registry::new(net, flavor, discovery));
        });
    }
}

pub mod mirror {
    pub fn run(data: &[u8]) {
        super::ask(data, |net, flavor, work| {
            let access = super::MirrorAccess {
                url: "https://mirror.example/p/".parse().expect("a URL"),
                credentials: Box::new(|_| Ok(None)),
                trusts_all_hashes: false,
            };
            work(&super::NetworkMirror::new(net, flavor, access));
        });
    }
}

pub mod oci {
    pub fn run(data: &[u8]) {
        super::ask(data, |net, _, work| {
            let registries = super::OciRegistries::new(net, Box::new(|_| Ok(None)));
            let repository = |provider: &super::ProviderAddr| {
                let text = format!("oci.example/{}", provider.type_name());
                Ok(text.parse().expect("a repository"))
            };
            work(&super::OciMirror::new(
                super::Arc::new(registries),
                Box::new(repository),
            ));
        });
    }
}

/// Asks a source about a provider; servers answer with the parts of the input in turn, the last one for ever.
fn ask(data: &[u8], make: impl Fn(Net<'_>, Flavor, &dyn Fn(&dyn Source))) {
    let text = String::from_utf8_lossy(data);
    let answers: Vec<&str> = text.split(NEXT).collect();
    for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
        let next = AtomicUsize::new(0);
        let http = MemHttp::new(|_| {
            let at = next.fetch_add(1, Ordering::Relaxed);
            Ok(answer(answers[at.min(answers.len() - 1)]))
        });
        let clock = MemClock::default();
        let env = MemEnv {
            current_dir: PathBuf::from("/"),
            ..MemEnv::default()
        };
        let net = Net {
            http: &http,
            clock: &clock,
            policy: RetryPolicy::of(&env, flavor),
            package_credentials: Arc::new(|_| None),
            observer: &|_| {},
            outages: Arc::default(),
        };
        BUDGET.spend(data, || make(net, flavor, &|source| check(source, flavor)));
        let asked = http.asked();
        assert!(asked.len() <= MAX_REQUESTS, "{} requests", asked.len());
        for request in asked {
            let is_web = ["https://", "http://"]
                .iter()
                .any(|scheme| request.url.starts_with(scheme));
            assert!(is_web, "{}", request.url);
        }
    }
}

fn check(source: &dyn Source, flavor: Flavor) {
    let provider = ProviderAddr::parse("registry.example/acme/demo", flavor).expect("an address");
    let mut versions = vec!["1.0.0".parse().expect("a version")];
    match source.versions(&provider) {
        Ok(offer) => {
            let mut sorted = offer.versions.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), offer.versions.len(), "each version once");
            versions.extend(sorted.pop());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    for version in versions {
        let _ = source.platforms(&provider, &version);
        let id = PackageId {
            provider: provider.clone(),
            version,
            platform: "linux_amd64".parse().expect("a platform"),
        };
        match source.package(&id) {
            Ok(meta) => assert_eq!(meta.id, id),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        let _ = source.published(&id.provider, &id.version);
    }
}

/// The first line of an answer states its status, its media type and a place; the others are the body.
fn answer(text: &str) -> HttpResponse {
    let (head, body) = text
        .split_once('\n')
        .unwrap_or(("200 application/json", text));
    let mut words = head.split(' ');
    let status = words
        .next()
        .and_then(|status| status.parse().ok())
        .unwrap_or(200);
    let mut headers = Vec::new();
    for name in ["content-type", "location", "link", "www-authenticate"] {
        if let Some(value) = words.next().filter(|value| !value.is_empty()) {
            headers.push((name, value));
        }
    }
    HttpResponse::of(status, &headers, body)
}
