//! A network mirror on a network that is made up.

use std::collections::BTreeMap;

use super::*;
use crate::world::mem::{MemClock, MemHttp};
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

/// Asks a mirror for the versions of a provider, and for one package.
fn ask(http: &MemHttp<'_>) -> (String, String) {
    let clock = MemClock::default();
    let access = MirrorAccess {
        url: "https://m.example/p/".parse().expect("valid"),
        credentials: Box::new(|host| {
            let is_mirror = host.ascii() == "m.example";
            Ok(is_mirror.then(|| Credentials::Bearer(Secret::new("word"))))
        }),
        trusts_all_hashes: false,
    };
    let mirror = NetworkMirror::new(Net::of_doubles(http, &clock, FLAVOR), FLAVOR, access);
    let id = PackageId {
        provider: ProviderAddr::parse("acme/demo", FLAVOR).expect("valid"),
        version: "1.0.0".parse().expect("valid"),
        platform: "linux_amd64".parse().expect("valid"),
    };
    let versions = match mirror.versions(&id.provider) {
        Ok(offer) => offer.versions.iter().map(ToString::to_string).collect(),
        Err(error) => error.to_string(),
    };
    let package = match mirror.package(&id) {
        Ok(meta) => {
            let hashes: Vec<&str> = meta.stated.iter().map(Hash::as_str).collect();
            format!("{} {}", meta.location, hashes.join(" "))
        }
        Err(error) => error.to_string(),
    };
    (versions, package)
}

#[track_caller]
fn check_package(status: u16, kind: &'static str, body: &'static str, expected: &str) {
    let http = server(&[(VERSION, status, kind, body)]);
    assert_eq!(ask(&http).1, expected, "of {body}");
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
fn credentials_are_those_of_the_mirror_and_stay_there() {
    let body = "{\"versions\":{\"1.0.0\":{}}}";
    let redirect = "https://o.example/moved.json";
    let http = server(&[(INDEX, 302, redirect, ""), ("/moved.json", 200, JSON, body)]);
    assert_eq!(ask(&http).0, "1.0.0");
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
    let (versions, _) = ask(&http);
    assert!(
        versions.ends_with("was redirected more than 5 times"),
        "{versions}"
    );
}
