//! A registry of OCI artifacts on a network that is made up: who is sent what, and where it ends.

use std::collections::BTreeMap;

use super::*;
use crate::flavor::Flavor;
use crate::sources::net::Net;
use crate::world::mem::{MemClock, MemHttp, MemRequest};
use crate::world::{Clock as _, Credentials, HttpRequest, HttpResponse, Secret};

const FLAVOR: Flavor = Flavor::OpenTofu1_12;

/// What a server answers: a status, header fields, and a body.
type Page = (u16, Vec<(&'static str, String)>, String);

fn page(status: u16, headers: &[(&'static str, &str)], body: &str) -> Page {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| (*name, (*value).to_owned()));
    (status, headers.collect(), body.to_owned())
}

/// Serves pages by `HOST/PATH?QUERY`; what is asked for without the right credentials is refused.
fn serve(
    pages: BTreeMap<String, Page>,
    wanted: Option<&'static str>,
    challenge: &'static str,
) -> MemHttp<'static> {
    MemHttp::new(move |request: &HttpRequest<'_>| {
        let text = request.url.secret_text();
        let target = text.split_once("://").map_or("", |(_, target)| target);
        let is_registry = target.starts_with("r.example/");
        if is_registry && wanted.is_some_and(|wanted| shown(request.credentials) != wanted) {
            let headers = [("www-authenticate", challenge)];
            return Ok(HttpResponse::of(401, &headers, ""));
        }
        let Some((status, headers, body)) = pages.get(target) else {
            return Ok(HttpResponse::of(404, &[], ""));
        };
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, &**v)).collect();
        Ok(HttpResponse::of(*status, &headers, body.as_str()))
    })
}

fn shown(credentials: Option<&Credentials>) -> String {
    match credentials {
        None => "-".to_owned(),
        Some(Credentials::Bearer(token)) => format!("Bearer {}", token.reveal()),
        Some(Credentials::Basic { user, password }) => {
            format!("Basic {user}:{}", password.reveal())
        }
    }
}

/// Lists requests as `HOST/PATH?QUERY CREDENTIALS`.
fn requests(http: &MemHttp<'_>) -> Vec<String> {
    let line = |request: MemRequest| {
        let url = request.url.trim_start_matches("https://").to_owned();
        format!("{url} {}", shown(request.credentials.as_ref()))
    };
    http.asked().into_iter().map(line).collect()
}

/// Works with a mirror whose repositories are below `r.example`.
fn with<T>(
    http: &MemHttp<'_>,
    clock: &MemClock,
    login: impl Fn() -> Result<Option<Credentials>, String> + Send + Sync,
    work: impl FnOnce(&OciMirror<'_>, &Net<'_>) -> T,
) -> T {
    let mut net = Net::of_doubles(http, clock, FLAVOR);
    let registries = Arc::new(OciRegistries::new(net.clone(), Box::new(move |_| login())));
    net.package_credentials = registries.package_credentials(Arc::clone(&net.package_credentials));
    let repository = |provider: &ProviderAddr| {
        let text = format!(
            "r.example/{}/{}",
            provider.namespace(),
            provider.type_name()
        );
        text.parse()
            .map_err(|error: crate::addr::RepositoryAddrError| error.to_string())
    };
    work(&OciMirror::new(registries, Box::new(repository)), &net)
}

fn demo() -> ProviderAddr {
    ProviderAddr::parse("acme/demo", FLAVOR).expect("valid")
}

fn versions(mirror: &OciMirror<'_>) -> String {
    match mirror.versions(&demo()) {
        Ok(offer) => offer
            .versions
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
        Err(error) => error.to_string(),
    }
}

fn password() -> Result<Option<Credentials>, String> {
    Ok(Some(Credentials::Basic {
        user: "u".to_owned(),
        password: Secret::new("p"),
    }))
}

fn nothing() -> Result<Option<Credentials>, String> {
    Ok(None)
}

const TAGS: &str = "r.example/v2/acme/demo/tags/list";

fn listed(tags: &str) -> BTreeMap<String, Page> {
    let pages = [
        ("r.example/v2/", page(200, &[], "{}")),
        (TAGS, page(200, &[], tags)),
        (
            "r.example/token?scope=repository%3Aacme%2Fdemo%3Apull&service=s",
            page(200, &[], "{\"access_token\":\"t\"}"),
        ),
    ];
    pages
        .into_iter()
        .map(|(target, page)| (target.to_owned(), page))
        .collect()
}

#[test]
fn a_list_of_tags_ends() {
    let clock = MemClock::default();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let http = MemHttp::new(|request| {
        let number = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let is_ping = request.url.path() == "/v2/";
        let link = format!("<?last={number}>; rel=\"next\"");
        let headers = [("link", &*link)];
        let headers = if is_ping { &headers[1..] } else { &headers[..] };
        Ok(HttpResponse::of(200, headers, "{\"tags\":[\"1.0.0\"]}"))
    });
    with(&http, &clock, nothing, |mirror, _| {
        let want = "https://r.example/v2/acme/demo/tags/list lists tags on more than 1000 pages";
        assert_eq!(versions(mirror), want);
    });
    assert_eq!(http.asked().len(), 1 + MAX_PAGES);
    let long = format!("<{}>", "x".repeat(MAX_PAGE_URL_BYTES));
    let links = [
        (&*long, "the address has more than 8 KiB"),
        ("<https://other.example/v2/x>", "it leads to another server"),
        ("<http://r.example/v2/x>", "it leads to another server"),
        (
            "<https://r.example:5000/v2/x>",
            "it leads to another server",
        ),
        ("<list>", "it leads to the same page"),
        ("<https://[>", ""),
    ];
    for (link, reason) in links {
        let mut pages = listed("{}");
        pages.insert(
            TAGS.to_owned(),
            page(200, &[("link", link)], "{\"tags\":[]}"),
        );
        let http = serve(pages, None, "");
        with(&http, &clock, password, |mirror, _| {
            let found = versions(mirror);
            let want = format!("https://{TAGS} continues its list of tags elsewhere: {reason}");
            assert!(found.starts_with(&want), "{found}");
        });
        assert_eq!(http.asked().len(), 2, "{link}");
    }
}

#[test]
fn all_pages_of_tags_together_have_a_limit() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let tags = format!("{{\"tags\":[\"{}\"]}}", "x".repeat(MAX_ALL_TAGS_BYTES / 8));
    let http = MemHttp::new(|request| {
        let number = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if request.url.path() == "/v2/" {
            return Ok(HttpResponse::of(200, &[], "{}"));
        }
        let link = format!("<?last={number}>; rel=\"next\"");
        Ok(HttpResponse::of(200, &[("link", &*link)], &*tags))
    });
    with(&http, &MemClock::default(), nothing, |mirror, _| {
        let want = "https://r.example/v2/acme/demo/tags/list lists tags of more than 16 MiB";
        assert_eq!(versions(mirror), want);
    });
    assert_eq!(http.asked().len(), 1 + 8);
}

#[test]
fn the_reason_for_missing_credentials_is_kept() {
    let clock = MemClock::default();
    let tags = listed("{\"tags\":[\"1.0.0\"]}");
    let http = serve(tags, Some("Basic u:p"), "Basic realm=\"x\"");
    let failing = || Err("the vault is closed".to_owned());
    with(&http, &clock, failing, |mirror, _| {
        let error = mirror.versions(&demo()).expect_err("no credentials");
        let SourceFault::Unauthorized(refused) = &*error.fault else {
            panic!("{error:?}");
        };
        assert_eq!(refused.sent, crate::sources::Sent::Nothing);
        assert_eq!(refused.why_none.as_deref(), Some("the vault is closed"));
    });
}

#[test]
fn tokens_are_fetched_where_the_registry_says() {
    let clock = MemClock::default();
    let tags = "{\"tags\":[\"1.0.0\"]}";
    let query = "scope=repository%3Aacme%2Fdemo%3Apull&service=s";
    let check =
        |realm: &'static str, pages: BTreeMap<String, Page>, found: &str, asked: &[&str]| {
            let http = serve(pages, Some("Bearer t"), realm);
            with(&http, &clock, password, |mirror, _| {
                assert_eq!(versions(mirror), found, "{realm}")
            });
            let mut want = vec!["r.example/v2/ -".to_owned()];
            want.extend(asked.iter().map(|one| (*one).to_owned()));
            assert_eq!(requests(&http), want, "{realm}");
        };
    // A server that never takes the credentials must not see them in the place of a token either.
    let own = "Bearer realm=\"https://r.example/token\",service=\"s\"";
    let refused = "r.example rejected the credentials: https://r.example/token?… answered 401";
    check(
        own,
        listed(tags),
        refused,
        &[&format!("r.example/token?{query} Basic u:p")],
    );
    let at = |place: &str, status: u16, body: &str| {
        let mut pages = listed(tags);
        pages.insert(format!("{place}/t?{query}"), page(status, &[], body));
        pages
    };
    // Neither the password nor anything else goes to a foreign place; a token for everybody may come
    // from there.
    check(
        "Bearer realm=\"https://other.example/t\",service=\"s\"",
        at("other.example", 200, "{\"token\":\"t\"}"),
        "1.0.0",
        &[
            &format!("other.example/t?{query} -"),
            &format!("{TAGS} Bearer t"),
        ],
    );
    let withheld = "r.example requires credentials, which are not sent there: https://r.example/v2/acme/demo/tags/list \
                    answered 401";
    check(
        "Bearer realm=\"https://other.example/t\",service=\"s\"",
        at("other.example", 200, "{\"token\":\"wrong\"}"),
        withheld,
        &[
            &format!("other.example/t?{query} -"),
            &format!("{TAGS} Bearer wrong"),
            &format!("other.example/t?{query} -"),
        ],
    );
    let place = "https://r.example/v2/ asks for credentials in a way that cannot be used: its place for tokens";
    check(
        "Bearer realm=\"http://r.example/t\",service=\"s\"",
        listed(tags),
        &format!("{place} does not use https"),
        &[],
    );
    check(
        "Bearer realm=\"nowhere\"",
        listed(tags),
        &format!("{place} is no URL"),
        &[],
    );
    check(
        "Bearer realm=\"https://a:b@r.example/t\"",
        listed(tags),
        &format!("{place} has a user in its URL"),
        &[],
    );
    check(
        "Negotiate",
        listed(tags),
        "https://r.example/v2/ asks for credentials in a way that cannot be used: its scheme is \
         \"negotiate\"",
        &[],
    );
    let bad = "https://other.example/t?… is not what a registry of OCI artifacts answers: it";
    for (body, reason) in [
        ("", "is no JSON object with a token"),
        ("{\"token\":5}", "is no JSON object with a token"),
        ("{\"token\":\"\"}", "states no token"),
    ] {
        check(
            "Bearer realm=\"https://other.example/t\",service=\"s\"",
            at("other.example", 200, body),
            &format!("{bad} {reason}"),
            &[&format!("other.example/t?{query} -")],
        );
    }
}

/// A token of the configuration is sent as it is, and asked for nowhere.
#[test]
fn a_given_token_is_sent_to_its_registry() {
    let clock = MemClock::default();
    let token = || Ok(Some(Credentials::Bearer(Secret::new("t"))));
    let realm = "Bearer realm=\"https://other.example/t\"";
    let http = serve(listed("{\"tags\":[\"1.0.0\"]}"), Some("Bearer t"), realm);
    with(&http, &clock, token, |mirror, _| {
        assert_eq!(versions(mirror), "1.0.0")
    });
    assert_eq!(
        requests(&http),
        ["r.example/v2/ -", &format!("{TAGS} Bearer t")]
    );
}

#[test]
fn zips_are_downloaded_with_what_their_registry_was_told() {
    let clock = MemClock::default();
    let http = MemHttp::new(|request: &HttpRequest<'_>| {
        let text = request.url.secret_text();
        if text.contains("/token?") {
            let number = clock.now().duration_since(MemClock::default().now());
            let token = number.map_or(0, |passed| passed.as_secs());
            let body = format!("{{\"token\":\"t{token}\",\"expires_in\":100}}");
            return Ok(HttpResponse::of(200, &[], body));
        }
        if request.credentials.is_none() {
            let challenge = "Bearer realm=\"https://r.example/token\"";
            return Ok(HttpResponse::of(
                401,
                &[("www-authenticate", challenge)],
                "",
            ));
        }
        Ok(HttpResponse::of(200, &[], "{\"tags\":[\"1.0.0\"]}"))
    });
    with(&http, &clock, password, |mirror, net| {
        assert_eq!(versions(mirror), "1.0.0");
        let of = |url: &str| {
            let url: Url = url.parse().expect("valid");
            let credentials = (net.package_credentials)(&url);
            shown(credentials.as_ref())
        };
        let zip = "https://r.example/v2/acme/demo/blobs/sha256:x";
        assert_eq!(of(zip), "Bearer t0");
        for other in [
            "https://r.example/v2/acme/demo2/blobs/sha256:x",
            "https://r.example/v2/acme/demo/manifests/sha256:x",
            "https://r.example:5000/v2/acme/demo/blobs/sha256:x",
            "http://r.example/v2/acme/demo/blobs/sha256:x",
            "https://other.example/v2/acme/demo/blobs/sha256:x",
        ] {
            assert_eq!(of(other), "-", "{other}");
        }
        clock.sleep(std::time::Duration::from_secs(89));
        assert_eq!(of(zip), "Bearer t0");
        clock.sleep(std::time::Duration::from_secs(2));
        assert_eq!(of(zip), "Bearer t91");
    });
}

#[test]
fn manifests_that_are_too_large_or_lead_astray_are_refused() {
    let clock = MemClock::default();
    let id = PackageId {
        provider: demo(),
        version: "1.0.0".parse().expect("valid"),
        platform: "linux_amd64".parse().expect("valid"),
    };
    let tag = "r.example/v2/acme/demo/manifests/1.0.0";
    let check = |answer: Page, want: &str| {
        let mut pages = listed("{}");
        pages.insert(tag.to_owned(), answer);
        let http = serve(pages, None, "");
        with(&http, &clock, password, |mirror, _| {
            let error = mirror.package(&id).expect_err("refused").to_string();
            assert!(error.starts_with(want), "{error}");
        });
    };
    let index = [("content-type", media::INDEX)];
    check(
        page(200, &index, &" ".repeat(5 * 1024 * 1024)),
        &format!("https://{tag} sends more than 5242879 bytes"),
    );
    check(
        page(302, &[("location", "http://r.example/x")], ""),
        &format!("https://{tag} answered with a redirect to plain http"),
    );
    check(
        page(302, &[("location", "1.0.0")], ""),
        &format!("https://{tag} was redirected more than 9 times"),
    );
    check(
        page(404, &[], ""),
        "the repository r.example/acme/demo has no tag 1.0.0 for registry.opentofu.org/acme/demo 1.0.0",
    );
    let entry = |digest: &str| {
        format!(
            "{{\"mediaType\":\"{}\",\"artifactType\":\"application/vnd.opentofu.provider\",\"manifests\":[{{\
             \"mediaType\":\"{}\",\"artifactType\":\"application/vnd.opentofu.provider-target\",\
             \"digest\":\"{digest}\",\"platform\":{{\"os\":\"linux\",\"architecture\":\"amd64\"}}}}]}}",
            media::INDEX,
            media::MANIFEST,
        )
    };
    for digest in [
        "../../other/manifests/x",
        "sha512:00",
        "",
        &format!("sha256:{}", "A".repeat(64)),
    ] {
        let want = format!(
            "https://{tag} is no manifest of a provider: it names something by {digest:?}, which is no \
             SHA-256 digest"
        );
        check(page(200, &index, &entry(digest)), &want);
    }
    let digest = format!("sha256:{}", "a".repeat(64));
    let lie = [index[0], ("docker-content-digest", &*digest)];
    check(
        page(200, &lie, &entry(&digest)),
        &format!(
            "https://{tag} is no manifest of a provider: its content does not have the digest {digest}"
        ),
    );
    check(
        page(200, &index, &entry(&digest)),
        &format!("https://r.example/v2/acme/demo/manifests/{digest} answered 404 Not Found"),
    );
}
