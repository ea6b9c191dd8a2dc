//! A registry on a network that is made up: what it states beside its signed list (rules 3.8).

use std::collections::BTreeMap;

use super::*;
use crate::world::mem::{MemClock, MemHttp};
use crate::world::{HttpResponse, Secret};

/// Asks a registry, by the rules of a flavor, for the packages of two platforms, of which it states these
/// fields `packages`.
fn ask(flavor: Flavor, fields: [&'static str; 2]) -> [Result<PackageMeta, String>; 2] {
    let http = MemHttp::new(move |request| {
        let text = request.url.secret_text();
        let platform = |arch, packages| {
            format!(
                "{{\"os\":\"linux\",\"arch\":\"{arch}\",\"filename\":\"a.zip\",\"download_url\":\"/a.zip\",\
                 \"shasum\":\"{}\",\"shasums_url\":\"/sums\",\"shasums_signature_url\":\"/sig\",\
                 \"packages\":{packages}}}",
                "Ab".repeat(32)
            )
        };
        let body = match text.rsplit('/').next() {
            Some("amd64") => platform("amd64", fields[0]),
            Some("arm64") => platform("arm64", fields[1]),
            _ => String::new(),
        };
        Ok(HttpResponse::of(200, &[], body))
    });
    let clock = MemClock::default();
    let net = Net::of_doubles(&http, &clock, flavor);
    let host: Hostname = "example.com".parse().expect("valid");
    let services = [(
        "providers.v1".to_owned(),
        Secret::new("https://r.example/v1/"),
    )];
    let hosts = Hosts {
        services: BTreeMap::from([(host, BTreeMap::from(services))]),
        credentials: Box::new(|_| Ok(None)),
    };
    let discovery = Arc::new(Discovery::new(net.clone(), hosts));
    let registry = Registry::new(net, flavor, discovery);
    let package = |platform: &str| {
        let id = PackageId {
            provider: ProviderAddr::parse("example.com/acme/demo", flavor).expect("valid"),
            version: "1.0.0".parse().expect("valid"),
            platform: platform.parse().expect("valid"),
        };
        registry.package(&id).map_err(|error| error.to_string())
    };
    [package("linux_amd64"), package("linux_arm64")]
}

const ONE: &str = "{\"linux_amd64\":{\"hashes\":[\"h1:x\"],\"package_size\":5}}";

#[test]
fn each_document_of_a_release_has_its_claims() {
    let [first, second] = ask(Flavor::OpenTofu1_12, [ONE, ONE]).map(|one| one.expect("found"));
    let (first, second) = (
        first.claims.expect("stated"),
        second.claims.expect("stated"),
    );
    assert_eq!(first.by, "example.com");
    assert_eq!(first, second);
    let other = "{\"linux_amd64\":{\"hashes\":[\"h1:y\"]}}";
    let [first, second] = ask(Flavor::OpenTofu1_12, [ONE, other]).map(|one| one.expect("found"));
    assert_ne!(first.claims, second.claims);
    let [first, second] = ask(Flavor::OpenTofu1_12, ["null", ONE]).map(|one| one.expect("found"));
    assert!(first.claims.is_none() && second.claims.is_some());
    let spelled = second.evidence.expect("evidence").shasum_text;
    assert_eq!(spelled, "Ab".repeat(32));
}

#[test]
fn terraform_refuses_nothing_for_what_is_stated() {
    let [bad, good] = ask(Flavor::Terraform1_11, ["[]", ONE]).map(|one| one.expect("found"));
    assert!(bad.claims.is_none());
    let claims = good.claims.expect("stated");
    let sizes: Vec<Option<u64>> = claims.packages.values().map(|one| one.size).collect();
    assert_eq!(sizes, [None]);
    let [bad, good] = ask(Flavor::OpenTofu1_12, ["[]", ONE]);
    let error = "https://r.example/v1/acme/demo/1.0.0/download/linux/amd64 is not what a registry \
                 answers: packages: invalid type: sequence, expected a map";
    assert_eq!(bad.expect_err("refused"), error);
    assert!(good.is_ok());
}
