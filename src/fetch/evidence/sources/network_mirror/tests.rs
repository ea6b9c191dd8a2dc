//! A network mirror on a network that is made up.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::sources::retry::RetryPolicy;
use crate::world::mem::{MemClock, MemEnv, MemHttp};
use crate::world::{Credentials, HttpResponse, Secret};

const FLAVOR: Flavor = Flavor::Terraform1_11;

/// What a server answers, by path: a status, a content type or the place of a redirect, and a body.
type Pages = BTreeMap<&'static str, (u16, &'static str, &'static str)>;

const JSON: &str = "application/json; charset=utf-8";

const INDEX: &str = "/p/registry.terraform.io/acme/demo/index.json";

const VERSION: &str = "/p/registry.terraform.io/acme/demo/1.0.0.json";

fn server(pages: &[(&'static str, u16, &'static str, &'static str)]) -> MemHttp<'static> {
    let pages = pages.iter();
    let pages: Pages = pages
        .map(|(path, status, kind, body)| (*path, (*status, *kind, *body)))
        .collect();
    MemHttp::new(move |request| {
        let text = request.url.secret_text();
        let path = &text[text.find(".example").map_or(0, |at| at + ".example".len())..];
        let Some((status, kind, body)) = pages.get(path) else {
            return Ok(HttpResponse::of(404, &[], ""));
        };
        let name = if (300..400).contains(status) {
            "location"
        } else {
            "content-type"
        };
        Ok(HttpResponse::of(*status, &[(name, kind)], *body))
    })
}

fn network<'a>(http: &'a MemHttp<'_>, clock: &'a MemClock) -> Net<'a> {
    Net {
        http,
        clock,
        policy: RetryPolicy::of(&MemEnv::default(), FLAVOR),
        package_credentials: Arc::new(|_| None),
        observer: &|_| {},
        outages: Arc::default(),
    }
}

/// Asks the mirror at a URL for the versions of a provider, and for one package.
fn ask(http: &MemHttp<'_>, url: &str) -> (String, String) {
    let clock = MemClock::default();
    let net = network(http, &clock);
    let access = MirrorAccess {
        url: url.parse().expect("valid"),
        credentials: Box::new(|host| {
            let is_mirror = host.ascii() == "m.example";
            is_mirror.then(|| Credentials::Bearer(Secret::new("word")))
        }),
        helper: Box::new(|_| None),
        trusts_all_hashes: false,
    };
    let mirror = NetworkMirror::new(net, FLAVOR, access);
    let provider = ProviderAddr::parse("acme/demo", FLAVOR).expect("valid");
    let versions = match mirror.versions(&provider) {
        Ok(offer) => offer
            .versions
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
        Err(error) => error.to_string(),
    };
    let id = PackageId {
        provider,
        version: "1.0.0".parse().expect("valid"),
        platform: "linux_amd64".parse().expect("valid"),
    };
    let package = match mirror.package(&id) {
        Ok(meta) => {
            let hashes: Vec<&str> = meta.stated.iter().map(Hash::as_str).collect();
            format!("{} {}", meta.location, hashes.join(" "))
                .trim_end()
                .to_owned()
        }
        Err(error) => error.to_string(),
    };
    (versions, package)
}

#[track_caller]
fn check_versions(status: u16, kind: &'static str, body: &'static str, expected: &str) {
    let http = server(&[(INDEX, status, kind, body)]);
    assert_eq!(ask(&http, "https://m.example/p/").0, expected, "of {body}");
}

#[track_caller]
fn check_package(status: u16, kind: &'static str, body: &'static str, expected: &str) {
    let http = server(&[(VERSION, status, kind, body)]);
    assert_eq!(ask(&http, "https://m.example/p/").1, expected, "of {body}");
}

#[test]
fn lists_of_versions_are_read_as_the_programs_do() {
    check_versions(
        200,
        JSON,
        "{\"versions\":{\"1.10.0\":{},\"1.9.0\":null,\"banana\":{},\"v2.0.0\":{}}}",
        "1.9.0 1.10.0",
    );
    let unknown =
        "the mirror https://m.example/p/ has no package of registry.terraform.io/acme/demo";
    check_versions(404, JSON, "", unknown);
    check_versions(200, JSON, "{\"versions\":{}}", unknown);
    check_versions(200, JSON, "{}", unknown);
    check_versions(
        200,
        "text/html",
        "{\"versions\":{\"1.0.0\":{}}}",
        "https://m.example/p/registry.terraform.io/acme/demo/index.json is not what a network mirror \
         answers: its content type is text/html, not application/json",
    );
    check_versions(
        403,
        JSON,
        "",
        "m.example rejected the credentials: \
         https://m.example/p/registry.terraform.io/acme/demo/index.json answered 403",
    );
}

#[test]
fn packages_are_found_as_the_programs_do() {
    let url = "https://m.example/p/registry.terraform.io/acme/demo";
    check_package(
        200,
        JSON,
        "{\"archives\":{\"linux_amd64\":{\"url\":\"a.zip\",\"hashes\":[\"zh:b\",\"h1:a\",\"x:y\"]},\
         \"linux_arm64\":{\"url\":\"b.zip\",\"hashes\":[\"none\"]}}}",
        &format!("{url}/a.zip h1:a x:y zh:b"),
    );
    check_package(
        200,
        JSON,
        "{\"archives\":{\"linux_amd64\":{\"url\":\"https://o.example/a.zip\"}}}",
        "https://o.example/a.zip",
    );
    check_package(
        200,
        JSON,
        "{\"archives\":{\"linux_arm64\":{\"url\":\"a.zip\"}}}",
        "the mirror https://m.example/p/ has no package of registry.terraform.io/acme/demo 1.0.0 for \
         linux_amd64",
    );
    check_package(
        404,
        JSON,
        "",
        "the mirror https://m.example/p/ has no list of the packages of \
         registry.terraform.io/acme/demo 1.0.0",
    );
    check_package(
        200,
        JSON,
        "{\"archives\":{\"linux_amd64\":{\"url\":\"a.zip\",\"hashes\":[\"abc\"]}}}",
        &format!(
            "{url}/1.0.0.json is not what a network mirror answers: it states \"abc\", which is no hash"
        ),
    );
}

#[test]
fn what_nothing_protects_is_refused() {
    let url = "https://m.example/p/registry.terraform.io/acme/demo/1.0.0.json";
    check_package(
        200,
        JSON,
        "{\"archives\":{\"linux_amd64\":{\"url\":\"http://m.example/a.zip\"}}}",
        &format!("{url} states no hash of http://m.example/a.zip, which does not use https"),
    );
    check_package(
        200,
        JSON,
        "{\"archives\":{\"linux_amd64\":{\"url\":\"http://m.example/a.zip\",\"hashes\":[\"zh:a\"]}}}",
        "http://m.example/a.zip zh:a",
    );
    check_package(
        200,
        JSON,
        "{\"archives\":{\"linux_amd64\":{\"hashes\":[\"zh:a\"]}}}",
        &format!("{url} is not what a network mirror answers: it states no url for linux_amd64"),
    );
    check_package(
        302,
        "http://m.example/elsewhere.json",
        "",
        &format!("{url} answered with a redirect to plain http"),
    );
}

#[test]
fn a_url_without_its_slash_loses_its_last_part() {
    let body = "{\"versions\":{\"1.0.0\":{}}}";
    let http = server(&[(
        "/registry.terraform.io/acme/demo/index.json",
        200,
        JSON,
        body,
    )]);
    assert_eq!(ask(&http, "https://m.example/p").0, "1.0.0");
}

#[test]
fn credentials_are_those_of_the_mirror_and_stay_there() {
    let body = "{\"versions\":{\"1.0.0\":{}}}";
    let redirect = "https://o.example/moved.json";
    let http = server(&[(INDEX, 302, redirect, ""), ("/moved.json", 200, JSON, body)]);
    assert_eq!(ask(&http, "https://m.example/p/").0, "1.0.0");
    let asked = http.asked().into_iter();
    let asked: Vec<(String, bool)> = asked.map(|r| (r.url, r.credentials.is_some())).collect();
    let at_home = |path: &str| (format!("https://m.example{path}"), true);
    let elsewhere = (redirect.to_owned(), false);
    assert_eq!(asked, [at_home(INDEX), elsewhere, at_home(VERSION)]);
}

#[test]
fn more_than_five_redirects_are_too_many() {
    let http = MemHttp::new(|request| {
        let next = format!("{}x", request.url.secret_text());
        Ok(HttpResponse::of(302, &[("location", &next)], ""))
    });
    let (versions, _) = ask(&http, "https://m.example/p/");
    assert!(
        versions.ends_with("was redirected more than 5 times"),
        "{versions}"
    );
}

#[test]
fn each_document_is_asked_for_once() {
    let body = "{\"archives\":{\"linux_amd64\":{\"url\":\"a.zip\"},\"x\":{},\"os_arch\":{}}}";
    let http = server(&[(VERSION, 200, JSON, body)]);
    let clock = MemClock::default();
    let net = network(&http, &clock);
    let access = MirrorAccess {
        url: "https://m.example/p/".parse().expect("valid"),
        credentials: Box::new(|_| None),
        helper: Box::new(|_| None),
        trusts_all_hashes: false,
    };
    let mirror = NetworkMirror::new(net, FLAVOR, access);
    let provider = ProviderAddr::parse("acme/demo", FLAVOR).expect("valid");
    let version: Version = "1.0.0".parse().expect("valid");
    for _ in 0..2 {
        let platforms = mirror.platforms(&provider, &version);
        let platforms: Vec<String> = platforms.iter().map(ToString::to_string).collect();
        assert_eq!(platforms, ["linux_amd64", "os_arch"]);
    }
    assert_eq!(http.asked().len(), 1);
}

#[test]
fn hashes_of_all_platforms_are_claims_of_a_mirror_that_is_trusted() {
    let body = "{\"archives\":{\"linux_amd64\":{\"url\":\"a.zip\",\"hashes\":[\"h1:a\",\"x:y\"]},\
                \"linux_arm64\":{\"url\":\"b.zip\",\"hashes\":[\"none\",\"zh:b\"]},\"a_b\":{\"url\":\"c.zip\"},\
                \"banana\":{\"hashes\":[\"h1:c\"]}}}";
    let http = server(&[(VERSION, 200, JSON, body)]);
    let clock = MemClock::default();
    let net = network(&http, &clock);
    let package = |trusts_all_hashes| {
        let access = MirrorAccess {
            url: "https://m.example/p/".parse().expect("valid"),
            credentials: Box::new(|_| None),
            helper: Box::new(|_| None),
            trusts_all_hashes,
        };
        let id = PackageId {
            provider: ProviderAddr::parse("acme/demo", FLAVOR).expect("valid"),
            version: "1.0.0".parse().expect("valid"),
            platform: "linux_amd64".parse().expect("valid"),
        };
        let mirror = NetworkMirror::new(net.clone(), FLAVOR, access);
        mirror.package(&id).expect("found")
    };
    assert_eq!(package(false).claims, None);
    let trusted = package(true);
    // What the package is compared with stays what is stated of its own platform.
    let own: Vec<&str> = trusted.stated.iter().map(Hash::as_str).collect();
    assert_eq!(own, ["h1:a", "x:y"]);
    let claims = trusted.claims.expect("trusted");
    assert_eq!(claims.by, "https://m.example/p/");
    let packages = claims.packages.iter().map(|(platform, one)| {
        let hashes: Vec<&str> = one.hashes.iter().map(Hash::as_str).collect();
        format!("{platform} {}", hashes.join(" "))
    });
    let packages: Vec<String> = packages.collect();
    assert_eq!(packages, ["a_b ", "linux_amd64 h1:a", "linux_arm64 zh:b"]);
}

#[test]
fn only_https_urls_are_those_of_mirrors() {
    let refused = [
        "http://m.example/",
        "m.example",
        "ftp://m.example/",
        "https://[::1]/",
    ];
    for text in refused {
        assert!(text.parse::<MirrorUrl>().is_err(), "{text}");
    }
}
