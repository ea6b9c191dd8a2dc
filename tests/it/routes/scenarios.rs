//! The recorded scenarios of `fixtures/source-cases`.

use lockctl::coverage::Route;
use lockctl::flavor::FlavorChoice;
use lockctl::hash::Hash;

use super::{LOCK, PackageHashes, Recorded, fault, foretell};
use crate::lab::Lab;
use crate::registry::Registry;
use crate::scenarios::{Engine, LockAfter, Packages, Run, Scenario, scenarios};

/// Scenarios that are about something else than a lock file and a package that is right.
const LEFT_OUT: &[(&str, &str)] = &[
    ("cache-hit-locked-registry-down", "the registry fails"),
    ("cache-yanked", "the version has gone"),
    ("dev-overrides-variable", "development overrides"),
    (
        "lock-broken",
        "two errors, which some programs report one by one",
    ),
    ("lock-installed-is-link", "something is installed"),
    ("shim-lock-tf-older", "the version has gone"),
    ("shim-lock-tofu-older", "the version has gone"),
];

/// Returns the route that a scenario takes, if it is one of the matrix.
fn route(scenario: &Scenario, run: &Run) -> Option<Route> {
    let last = run.steps.last()?;
    let args: Vec<&str> = last.args.iter().map(String::as_str).collect();
    let with_cache = last.env.contains_key("TF_PLUGIN_CACHE_DIR");
    let id = &*scenario.id;
    let is_plain = last.knobs.as_object().is_none_or(serde_json::Map::is_empty);
    if !is_plain || LEFT_OUT.iter().any(|(known, _)| *known == id) {
        return None;
    }
    match (&*args, id) {
        (["init", "-lockfile=readonly"], _) => Some(Route::Readonly),
        (["init"], _) if id.starts_with("fs-unpacked-locked") => Some(Route::UnpackedMirror),
        (
            ["init"],
            "cache-hit-locked"
            | "cache-locked-zh-only"
            | "cache-locked-foreign-h1"
            | "cache-locked-wrong",
        ) => Some(Route::PluginCache),
        (["init"], _) if with_cache || run.steps.len() > 1 => None,
        (["init"], _) if id.starts_with("lock-") || id.starts_with("shim-lock-") => {
            Some(Route::Registry)
        }
        _ => None,
    }
}

fn compare(scenario: &Scenario, engine: Engine, registry: &Registry) -> Option<Result<(), String>> {
    let mut lab = Lab::new();
    let run = scenario.lay_out(registry, &lab, engine);
    let route = route(scenario, &run)?;
    run.steps.last()?.prepare(registry, &mut lab);
    if route == Route::PluginCache && !run.directory.join(LOCK).exists() {
        // The steps before leave what `init` writes: the package's own h1 and the signed list.
        lab.write(&format!("work/{LOCK}"), complete(engine));
    }
    let FlavorChoice::Stated(flavor) = engine.flavor().parse().unwrap() else {
        panic!("a stated flavor")
    };
    let package = |addr: &str, version: &str| -> PackageHashes {
        let type_name = addr.rsplit('/').next().unwrap();
        let hash = |scheme: &str| -> Option<Hash> {
            let symbol = format!("{scheme}({type_name}/{version}/linux_amd64)");
            Packages::recorded()
                .hashes
                .get(&symbol)
                .map(|h| h.parse().unwrap())
        };
        (hash("h1"), hash("zh"))
    };
    let predictions = foretell(&run.directory, flavor.flavor, route, &package);
    if predictions.iter().any(|p| p.assumed) {
        return None;
    }
    let expected = &run.expected;
    let recorded = Recorded {
        ok: expected.success(),
        rewrote: matches!(expected.lock, LockAfter::Text(_)),
        titles: expected
            .diagnostics
            .iter()
            .map(|d| d.title.clone())
            .collect(),
    };
    let fault = fault(&predictions, &recorded);
    Some(fault.map_or(Ok(()), |fault| {
        Err(format!("{} by {engine:?}: {fault}", scenario.id))
    }))
}

/// The lock file of a good `init` of the provider `demo`.
fn complete(engine: Engine) -> String {
    let hashes = &Packages::recorded().hashes;
    let platforms = [
        "linux_amd64",
        "linux_arm64",
        "darwin_arm64",
        "windows_amd64",
    ];
    let mut all: Vec<&str> = platforms
        .iter()
        .map(|platform| &*hashes[&format!("zh(demo/1.0.0/{platform})")])
        .chain([&*hashes["h1(demo/1.0.0/linux_amd64)"]])
        .collect();
    all.sort_unstable();
    let host = engine.host();
    format!("provider \"{host}/acme/demo\" {{\n  version = \"1.0.0\"\n  hashes = {all:?}\n}}\n")
}

// Some scenarios need symbolic links, for which Windows wants a privilege.
#[cfg(unix)]
#[test]
fn recorded_runs_with_a_lock_file_are_foretold() {
    let registry = Registry::start();
    let (mut compared, mut faults) = (0, Vec::new());
    for group in ["lockfile", "cache", "fsmirror", "shims"] {
        for scenario in scenarios(group) {
            for engine in scenario.engines() {
                match compare(&scenario, engine, &registry) {
                    None => {}
                    Some(Ok(())) => compared += 1,
                    Some(Err(fault)) => faults.push(fault),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared > 0);
    println!("source cases: {compared} predictions as recorded");
}
