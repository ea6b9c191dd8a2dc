//! Answers of registries, mirrors and stores of OCI artifacts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lockctl::addr::ProviderAddr;
use lockctl::addr::module::RegistryModule;
use lockctl::flavor::Flavor;
use lockctl::package::PackageId;
use lockctl::sources::Source;
use lockctl::sources::discovery::{Discovery, Hosts};
use lockctl::sources::modules::ModuleRegistries;
use lockctl::sources::net::Net;
use lockctl::sources::network_mirror::{MirrorAccess, NetworkMirror};
use lockctl::sources::oci::{OciMirror, OciRegistries};
use lockctl::sources::registry::Registry;
use lockctl::sources::retry::RetryPolicy;
use lockctl::world::HttpResponse;
use lockctl::world::mem::{MemClock, MemEnv, MemHttp};

use super::{Case, Reader, Work, case, nested, numbered, repeated, within};

const FLAVOR: Flavor = Flavor::OpenTofu1_12;

const SERVICES: &str =
    r#"{"providers.v1":"https://h.example/v1/providers/","modules.v1":"https://h.example/m/"}"#;

/// JSON that answers no question.
macro_rules! json {
    ($($more:expr),* $(,)?) => {
        &[
            case("deep", "open lists", |bytes| repeated(bytes, "[")),
            case("deep", "objects", |bytes| nested(bytes, "{\"a\":", "1", "}").into()),
            case("repetitive", "zeros", |bytes| within("[", &"0,".repeat(bytes / 2), "0]")),
            case("repetitive", "empty objects", |bytes| within("[", &"{},".repeat(bytes / 3), "0]")),
            case("repetitive", "white space", |bytes| repeated(bytes, " ")),
            case("long", "string", |bytes| within("\"", &"a".repeat(bytes), "\"")),
            case("long", "escapes", |bytes| within("[\"", &"\\u0061".repeat(bytes / 6), "\"]")),
            case("wide", "members", |bytes| {
                within("{", &numbered(bytes, |n| format!("\"a{n}\":1,")), "\"b\":1}")
            }),
            $($more),*
        ]
    };
}

const DISCOVERY: &[Case] = json![
    case("many", "services", |bytes| {
        within(
            "{",
            &numbered(bytes, |n| format!("\"x.v{n}\":\"/{n}/\",")),
            "\"providers.v1\":\"/\"}",
        )
    }),
    case("long", "address of a service", |bytes| {
        within("{\"providers.v1\":\"/", &"a/".repeat(bytes / 2), "\"}")
    }),
];

const VERSIONS: &[Case] = json![
    case("many", "versions", |bytes| {
        let all = numbered(bytes, |n| format!("{{\"version\":\"1.0.{n}\"}},"));
        within("{\"versions\":[", &all, "{}]}")
    }),
    case("many", "versions without anything", |bytes| {
        within("{\"versions\":[", &"{},".repeat(bytes / 3), "{}]}")
    }),
    case("wide", "platforms", |bytes| {
        let all = numbered(bytes, |n| format!("{{\"os\":\"o{n}\",\"arch\":\"a\"}},"));
        within(
            "{\"versions\":[{\"version\":\"1.0.0\",\"platforms\":[",
            &all,
            "{}]}]}",
        )
    }),
    case("wide", "protocols", |bytes| {
        let all = numbered(bytes, |n| format!("\"{n}.0\","));
        within(
            "{\"versions\":[{\"version\":\"1.0.0\",\"protocols\":[",
            &all,
            "\"5.0\"]}]}",
        )
    }),
    case("wide", "warnings", |bytes| {
        let all = numbered(bytes, |n| format!("\"w{n}\","));
        within("{\"versions\":[],\"warnings\":[", &all, "\"w\"]}")
    }),
    case("repetitive", "one version", |bytes| {
        within(
            "{\"versions\":[",
            &"{\"version\":\"1.0.0\"},".repeat(bytes / 20),
            "{}]}",
        )
    }),
    case("almost right", "versions", |bytes| {
        let all = numbered(bytes, |n| format!("{{\"version\":\"1.0.x{n}\"}},"));
        within("{\"versions\":[", &all, "{}]}")
    }),
    case("long", "version", |bytes| {
        within(
            "{\"versions\":[{\"version\":\"1.0.0-",
            &"a.".repeat(bytes / 2),
            "a\"}]}",
        )
    }),
];

const PACKAGES: &[Case] = json![
    case("many", "keys", |bytes| {
        let all = "{\"ascii_armor\":\"x\"},".repeat(bytes / 20);
        package(
            "",
            &format!("\"signing_keys\":{{\"gpg_public_keys\":[{all}{{}}]}}"),
        )
    }),
    case("many", "packages", |bytes| {
        let all = numbered(bytes, |n| {
            format!("\"o{n}_a\":{{\"hashes\":[\"h1:{n}\"]}},")
        });
        package("", &format!("\"packages\":{{{all}\"x_y\":{{}}}}"))
    }),
    case("wide", "hashes", |bytes| {
        let all = numbered(bytes, |n| format!("\"h1:{n}\","));
        package(
            "",
            &format!("\"packages\":{{\"linux_amd64\":{{\"hashes\":[{all}\"h1:x\"]}}}}"),
        )
    }),
    case("long", "key", |bytes| {
        let key = "A".repeat(bytes);
        package(
            "",
            &format!("\"signing_keys\":{{\"gpg_public_keys\":[{{\"ascii_armor\":\"{key}\"}}]}}"),
        )
    }),
    case("long", "name", |bytes| package(
        &"x".repeat(bytes),
        "\"a\":1"
    )),
    case("almost right", "digest", |bytes| {
        within(
            "{\"filename\":\"x.zip\",\"shasum\":\"",
            &"a".repeat(bytes),
            "\"}",
        )
    }),
];

const INDEXES: &[Case] = json![
    case("many", "versions", |bytes| {
        let all = numbered(bytes, |n| format!("\"1.0.{n}\":{{}},"));
        within("{\"versions\":{", &all, "\"1.0.0\":{}}}")
    }),
    case("many", "archives", |bytes| {
        let all = numbered(bytes, |n| format!("\"o{n}_a\":{{\"url\":\"x{n}.zip\"}},"));
        within(
            "{\"archives\":{",
            &all,
            "\"linux_amd64\":{\"url\":\"x.zip\"}}}",
        )
    }),
    case("wide", "hashes", |bytes| {
        let all = numbered(bytes, |n| format!("\"zh:{n:064x}\","));
        within(
            "{\"archives\":{\"linux_amd64\":{\"url\":\"x.zip\",\"hashes\":[",
            &all,
            "\"h1:x\"]}}}",
        )
    }),
    case("repetitive", "one version", |bytes| {
        within(
            "{\"versions\":{",
            &"\"1.0.0\":{},".repeat(bytes / 11),
            "\"1.0.0\":{}}}",
        )
    }),
    case("almost right", "versions", |bytes| {
        let all = numbered(bytes, |n| format!("\"1.0.x{n}\":{{}},"));
        within("{\"versions\":{", &all, "\"1.0.0\":{}}}")
    }),
    case("long", "address of a package", |bytes| {
        let url = "a/".repeat(bytes / 2);
        within("{\"archives\":{\"linux_amd64\":{\"url\":\"", &url, "\"}}}")
    }),
];

const OCI: &[Case] = json![
    case("many", "tags", |bytes| {
        within(
            "{\"tags\":[",
            &numbered(bytes, |n| format!("\"1.0.{n}\",")),
            "\"1.0.0\"]}",
        )
    }),
    case("repetitive", "one tag", |bytes| within(
        "{\"tags\":[",
        &"\"1.0.0\",".repeat(bytes / 8),
        "\"a\"]}"
    )),
    case("almost right", "tags", |bytes| {
        within(
            "{\"tags\":[",
            &numbered(bytes, |n| format!("\"1.x{n}\",")),
            "\"1.0.0\"]}",
        )
    }),
    case("many", "manifests", |bytes| {
        let all = numbered(bytes, |n| {
            format!(
                "{{\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\"artifactType\":\"application/vnd.opentofu.provider-target\",\"digest\":\"sha256:{n:064x}\",\"size\":5,\"platform\":{{\"os\":\"o{n}\",\"architecture\":\"a\"}}}},"
            )
        });
        let head = "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.index.v1+json\",\"artifactType\":\"application/vnd.opentofu.provider\",\"manifests\":[";
        within(head, &all, "{}]}")
    }),
    case("many", "layers", |bytes| {
        let all = "{\"mediaType\":\"archive/zip\"},".repeat(bytes / 28);
        within("{\"schemaVersion\":2,\"layers\":[", &all, "{}]}")
    }),
];

const MODULES: &[Case] = json![
    case("many", "versions", |bytes| {
        let all = numbered(bytes, |n| format!("{{\"version\":\"1.0.{n}\"}},"));
        within("{\"modules\":[{\"versions\":[", &all, "{}]}]}")
    }),
    case("many", "modules", |bytes| within(
        "{\"modules\":[",
        &"{},".repeat(bytes / 3),
        "{}]}"
    )),
    case("almost right", "versions", |bytes| {
        let all = numbered(bytes, |n| format!("{{\"version\":\"1.x{n}\"}},"));
        within("{\"modules\":[{\"versions\":[", &all, "{}]}]}")
    }),
];

pub(super) fn readers() -> Vec<Reader> {
    vec![
        Reader::library("services of a host", discovery, DISCOVERY),
        Reader::library("registry, versions", versions, VERSIONS),
        Reader::library("registry, package", registry_package, PACKAGES),
        Reader::library("mirror, index", mirror, INDEXES),
        Reader::library("OCI registry", oci, OCI),
        Reader::library("registry, module", modules, MODULES),
    ]
}

fn package(name: &str, more: &str) -> Vec<u8> {
    let digest = "ab".repeat(32);
    format!(
        "{{\"protocols\":[\"5.0\"],\"os\":\"linux\",\"arch\":\"amd64\",\"filename\":\"{name}x_1.0.0_linux_amd64.zip\",\"download_url\":\"x.zip\",\"shasum\":\"{digest}\",\"shasums_url\":\"SUMS\",\"shasums_signature_url\":\"SUMS.sig\",{more}}}"
    )
    .into_bytes()
}

/// The requests of a source that the input answers.
#[derive(Clone, Copy)]
enum Answered {
    Services,
    Others,
}

fn discovery(input: Vec<u8>) -> Work {
    ask(input, Answered::Services, |net| {
        ask_registry(net, |source| {
            drop(source.versions(&provider()));
        })
    })
}

fn versions(input: Vec<u8>) -> Work {
    ask(input, Answered::Others, |net| {
        ask_registry(net, |source| {
            drop(source.versions(&provider()));
        })
    })
}

fn registry_package(input: Vec<u8>) -> Work {
    ask(input, Answered::Others, |net| {
        ask_registry(net, |source| {
            drop(source.package(&id()));
        })
    })
}

fn mirror(input: Vec<u8>) -> Work {
    ask(input, Answered::Others, |net| {
        let access = MirrorAccess {
            url: "https://mirror.example/p/".parse().expect("a URL"),
            credentials: Box::new(|_| Ok(None)),
            trusts_all_hashes: false,
        };
        let source = NetworkMirror::new(net, FLAVOR, access);
        drop(source.versions(&provider()));
        drop(source.package(&id()));
    })
}

fn oci(input: Vec<u8>) -> Work {
    ask(input, Answered::Others, |net| {
        let registries = OciRegistries::new(net, Box::new(|_| Ok(None)));
        let repository = |_: &ProviderAddr| Ok("oci.example/x".parse().expect("a repository"));
        let source = OciMirror::new(Arc::new(registries), Box::new(repository));
        drop(source.versions(&provider()));
        drop(source.package(&id()));
    })
}

fn modules(input: Vec<u8>) -> Work {
    ask(input, Answered::Others, |net| {
        let discovery = Arc::new(Discovery::new(net.clone(), no_hosts()));
        let registries = ModuleRegistries::new(net, FLAVOR, discovery);
        let module = RegistryModule::parse("h.example/a/b/c", FLAVOR).expect("an address");
        drop(registries.versions(&module));
    })
}

fn ask_registry(net: Net<'_>, question: impl Fn(&dyn Source)) {
    let discovery = Arc::new(Discovery::new(net.clone(), no_hosts()));
    question(&Registry::new(net, FLAVOR, discovery));
}

fn no_hosts() -> Hosts<'static> {
    Hosts {
        services: BTreeMap::new(),
        credentials: Box::new(|_| Ok(None)),
    }
}

fn provider() -> ProviderAddr {
    ProviderAddr::parse("h.example/acme/demo", FLAVOR).expect("an address")
}

fn id() -> PackageId {
    PackageId {
        provider: provider(),
        version: "1.0.0".parse().expect("a version"),
        platform: "linux_amd64".parse().expect("a platform"),
    }
}

fn ask(input: Vec<u8>, answered: Answered, question: impl Fn(Net<'_>) + 'static) -> Work {
    Box::new(move || {
        let http = MemHttp::new(|request| {
            let is_discovery = request.url.secret_text().ends_with("terraform.json");
            let body = match answered {
                Answered::Others if is_discovery => SERVICES.as_bytes().to_vec(),
                _ => input.clone(),
            };
            let headers = [("content-type", "application/json")];
            Ok(HttpResponse::of(200, &headers, body))
        });
        let clock = MemClock::default();
        let env = MemEnv {
            current_dir: PathBuf::from("/"),
            ..MemEnv::default()
        };
        question(Net {
            http: &http,
            clock: &clock,
            policy: RetryPolicy::of(&env, FLAVOR),
            package_credentials: Arc::new(|_| None),
            observer: &|_| {},
            outages: Arc::default(),
        });
    })
}
