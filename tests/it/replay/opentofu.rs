//! The cases of the group `opentofu`: what only OpenTofu does with a lock file, and what becomes of one
//! that both programs use.

use std::collections::BTreeMap;

use lockctl::flavor::{Flavor, Program};
use serde_json::{Value, json};

use super::commands::{Counterpart, Place};
use super::differences::{differences, stated};
use super::lifecycle::PROGRAMS;
use super::{LOCK, Recorded, Replayed, Tally, Verdict};
use crate::cases;
use crate::lab::Lab;
use crate::oci::OciRegistry;
use crate::registry::{Origin, Registry, sha256_hex};
use crate::scenarios::Engine;
use crate::zips::{Entry, Zip};

const OLD_HOST: &str = "registry.terraform.io";
const NEW_HOST: &str = "registry.opentofu.org";

/// The platforms of the package in registries and network mirrors, and its program.
const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_386"];
const PROGRAM: &str = "terraform-provider-x_v1.0.0";

#[test]
fn opentofu_cases() {
    let differences = differences("cases");
    let registry = Registry::start();
    publish(&registry);
    let oci = OciRegistry::start();
    let packages = PLATFORMS.map(|platform| (platform, zip(platform)));
    oci.publish("t/x", "1.0.0", &packages, "ok");
    let mut tally = Tally::default();
    for case in cases::load("opentofu") {
        let (program, _) = case.command().split_once(' ').unwrap();
        let program = match program {
            "tofu" => Program::OpenTofu,
            _ => Program::Terraform,
        };
        let engines = PROGRAMS.into_iter();
        for (flavor, engine) in engines.filter(|(flavor, _)| flavor.program() == program) {
            let difference = stated(&differences, &case.id(), engine);
            let verdict = match replay(&case.as_recorded(), &registry, &oci, engine) {
                Err(reason) => Verdict::LeftOut(reason),
                Ok((replayed, recorded)) => {
                    let fault = match difference {
                        Some(difference) => difference.fault(&replayed, &recorded),
                        None => replayed.difference_to(&recorded),
                    };
                    fault.map_or(Verdict::Agrees, Verdict::Differs)
                }
            };
            tally.count(
                &format!("{} {flavor}", case.id()),
                verdict,
                difference.is_some(),
            );
        }
    }
    tally.report("opentofu");
}

/// Replays a case, or says why that cannot be done.
fn replay(
    case: &Value,
    registry: &Registry,
    oci: &OciRegistry,
    engine: Engine,
) -> Result<(Replayed, Recorded), &'static str> {
    let lab = lay_out(case, registry, oci);
    let mirror = lab.path("mirror").display().to_string();
    let command = text(case, "command").replace("MIRROR", &mirror);
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let lock = lab.path(&format!("work/{LOCK}"));
    let read = || std::fs::read_to_string(&lock).ok();
    let before = read();
    let place = Place {
        lab: &lab,
        root: "work",
        flavor: engine.flavor(),
    };
    let (success, outcome, asked) = match Counterpart::of(engine, &args) {
        Counterpart::Run(command, options) => {
            let outcome = place.run(command, &options);
            (outcome.code == 0, outcome, Some(Default::default()))
        }
        Counterpart::Predict(route) => {
            let (success, outcome) = place.predict(route, &[mirror]);
            if !success {
                check_title(case, route, &outcome.stdout);
            }
            (success, outcome, None)
        }
        Counterpart::None(reason) => return Err(reason),
    };
    let replayed = Replayed {
        success,
        outcome,
        before,
        after: read(),
        asked,
    };
    let recorded = Recorded {
        success: case["ok"] == true || is_started(case),
        lock: recorded_file(case, "after"),
        wrote: case["lock_rewritten"] == true,
        asked: None,
    };
    Ok((replayed, recorded))
}

/// Makes sure that the failure that is predicted for the run has a title that the program printed.
#[track_caller]
fn check_title(case: &Value, route: &str, json: &str) {
    let json: Value = serde_json::from_str(json).unwrap();
    let rows = json["roots"][0]["matrix"].as_array().unwrap();
    let of_run = |row: &&Value| row["route"] == route && row["provider"].is_null();
    let row = rows.iter().find(of_run).unwrap();
    let printed = case["diagnostics"].as_array().unwrap();
    let has_title = printed.iter().any(|one| one["summary"] == row["title"]);
    assert!(has_title, "{}: {row}, not in {printed:?}", case["id"]);
}

/// Returns whether the only thing wrong was the made-up provider, which is no program.
fn is_started(case: &Value) -> bool {
    let shown = case["diagnostics"].as_array().unwrap();
    let mut errors = shown.iter().filter(|one| one["severity"] == "error");
    errors
        .all(|one| text(one, "summary").starts_with("failed to read provider configuration schema"))
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn recorded_file(case: &Value, field: &str) -> Option<String> {
    let path = case[field].as_str()?;
    let bytes = cases::file(Flavor::Terraform1_11, path);
    Some(String::from_utf8(bytes).unwrap())
}

/// Writes what a case starts from, and has the registry behave as it did there.
fn lay_out(case: &Value, registry: &Registry, oci: &OciRegistry) -> Lab {
    let mut lab = Lab::new();
    let id = text(case, "id").trim_start_matches("opentofu/").to_owned();
    let single = json!({ "main.tf": case["config"] });
    let files = case["files"].as_object().or(single.as_object()).unwrap();
    for (name, content) in files {
        lab.write(&format!("work/{name}"), content.as_str().unwrap());
    }
    if let Some(before) = recorded_file(case, "before") {
        lab.write(&format!("work/{LOCK}"), before);
    }
    if let Some(provider) = case["state_provider"].as_str() {
        lab.write("work/terraform.tfstate", state(provider));
    }
    std::fs::create_dir(lab.path("mirror")).unwrap();
    for path in case["packages"].as_array().unwrap() {
        let path = path.as_str().unwrap();
        lab.write(&format!("mirror/{path}"), mirrored(&id, path));
    }
    for dir in case["installed_before"].as_array().unwrap() {
        let dir = dir.as_str().unwrap();
        for (name, content) in installed(&id, dir) {
            lab.write(&format!("work/.terraform/providers/{dir}/{name}"), content);
        }
    }
    let set = lab.path("cache").display().to_string();
    for (name, value) in case["environment"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap().replace("DIR", &set);
        lab.set(name, value);
    }
    if id.starts_with("cache_") && !id.ends_with("_fill") {
        let dir = "cache/reg.example/t/x/1.0.0/linux_amd64";
        lab.write(&format!("{dir}/{PROGRAM}"), "reg linux_amd64");
    }
    let behaviour = Behaviour::of(text(case, "origin"));
    registry.reset(&behaviour.knobs());
    let cli = match behaviour.source {
        Source::Disk => disk_mirror(&lab),
        Source::Registry => direct(registry, case),
        Source::Mirror => network_mirror(registry, id.contains("_trusted")),
        Source::Oci => oci_mirror(oci),
    };
    lab.write("rc", cli);
    let ca = registry.ca_file().into();
    let (rc, home) = (lab.path("rc").into(), lab.path("home").into());
    for (name, value) in [
        ("SSL_CERT_FILE", ca),
        ("TF_CLI_CONFIG_FILE", rc),
        ("HOME", home),
    ] {
        lab.env.vars.insert(name.to_owned(), value);
    }
    lab
}

/// A state that holds one resource of a provider.
fn state(provider: &str) -> String {
    let resource = json!({
        "mode": "managed", "type": "x_a", "name": "a",
        "provider": format!("provider[{provider:?}]"), "instances": [],
    });
    let state = json!({
        "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a",
        "outputs": {}, "resources": [resource], "check_results": null,
    });
    state.to_string()
}

/// Returns what the recorder wrote to a path of its mirror: a program, or a zip of one.
fn mirrored(id: &str, path: &str) -> Vec<u8> {
    let parts: Vec<&str> = path.split('/').collect();
    if let [_, _, _, zip] = *parts {
        assert!(zip.ends_with(".zip"), "{path}");
        let program = Entry::file(PROGRAM, "fake");
        let program = program.with(|entry| entry.attributes = 0o100_755 << 16);
        return match id.starts_with("odd_zip") {
            true => Zip::of([
                Entry::directory("docs/"),
                Entry::file("docs/a.txt", "a"),
                program,
            ]),
            false => Zip::of([program]),
        }
        .bytes();
    }
    let [host, _, type_name, version, ..] = *parts else {
        panic!("{path}: no package");
    };
    match (host, type_name) {
        (_, "y" | "opentofu-x") => "fake".to_owned(),
        (OLD_HOST | NEW_HOST, _) => format!("{type_name} {version} from {host}"),
        _ => format!("{type_name} {version}"),
    }
    .into()
}

/// Returns the files of an installed package.
fn installed(id: &str, dir: &str) -> BTreeMap<String, Vec<u8>> {
    let [_, _, type_name, version, _] = *dir.split('/').collect::<Vec<_>>() else {
        panic!("{dir}: no package");
    };
    let program = format!("terraform-provider-{type_name}_v{version}");
    let is_changed = match type_name {
        "y" => id.starts_with("unused_entry"),
        _ => id.starts_with("zip_mirror_modified"),
    };
    let content = match (is_changed, id.starts_with("odd_zip")) {
        (true, _) => "changed".into(),
        (false, true) => "fake".into(),
        (false, false) => mirrored(id, &format!("{dir}/{program}")),
    };
    let mut files = BTreeMap::from([(program, content)]);
    if id.starts_with("odd_zip") {
        files.insert("docs/a.txt".to_owned(), "a".into());
    }
    files
}

/// Where packages come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Disk,
    Registry,
    Mirror,
    Oci,
}

/// What a registry or a network mirror does, as the words of a case say.
struct Behaviour {
    source: Source,
    has_keys: bool,
    /// The hashes that it states of each package, if it states any.
    stated: Option<fn(&str) -> Vec<String>>,
    /// By how many bytes the stated sizes are too large.
    surplus: usize,
}

impl Behaviour {
    fn of(origin: &str) -> Self {
        let (origin, stating) = match origin.split_once(" stating ") {
            Some((origin, stating)) => (origin.trim_end_matches(','), stating),
            None => (origin, ""),
        };
        let (source, has_keys) = match origin {
            "" => (Source::Disk, true),
            "signed registry" => (Source::Registry, true),
            "registry without signing keys" => (Source::Registry, false),
            "network mirror" => (Source::Mirror, true),
            "OCI mirror" => (Source::Oci, true),
            other => panic!("{other:?} is no origin"),
        };
        let stated: Option<fn(&str) -> Vec<String>> = match stating {
            "" => None,
            "h1 and zh" | "h1 and zh of each package" | "a wrong package size" => {
                Some(|platform| vec![h1(platform), zh(platform)])
            }
            "a wrong h1" => Some(|platform| vec![format!("h1:{}=", "A".repeat(43)), zh(platform)]),
            "a wrong zh" => Some(|platform| vec![h1(platform), format!("zh:{}", "0".repeat(64))]),
            "h1 only" => Some(|platform| vec![h1(platform)]),
            "zh" => Some(|platform| vec![zh(platform)]),
            "a wrong zh and the right h1" => {
                Some(|platform| vec![format!("zh:{}", "0".repeat(64)), h1(platform)])
            }
            "an unknown scheme and the right h1" => {
                Some(|platform| vec!["h7:abc".to_owned(), h1(platform)])
            }
            other => panic!("{other:?} cannot be stated"),
        };
        Self {
            source,
            has_keys,
            stated,
            surplus: usize::from(stating == "a wrong package size"),
        }
    }

    /// Returns the knobs of a registry that does so.
    fn knobs(&self) -> Value {
        let Some(stated) = self.stated else {
            return json!({ "no_keys": !self.has_keys, "mirror_hashes": [] });
        };
        let mut set = serde_json::Map::new();
        for platform in PLATFORMS {
            let list = match self.source {
                Source::Mirror => "archives",
                _ => "packages",
            };
            set.insert(format!("{list}/{platform}/hashes"), stated(platform).into());
            if self.surplus > 0 {
                let size = zip(platform).len() + self.surplus;
                set.insert(format!("packages/{platform}/package_size"), size.into());
            }
        }
        let kind = match self.source {
            Source::Mirror => "mirror_version",
            _ => "download",
        };
        json!({
            "no_keys": !self.has_keys,
            "packages": self.source == Source::Registry,
            "rules": [{"kind": kind, "action": "patch", "times": -1, "set": set}],
        })
    }
}

/// Returns the package of a platform in registries and network mirrors.
fn zip(platform: &str) -> Vec<u8> {
    Zip::of([Entry::file(PROGRAM, format!("reg {platform}"))]).bytes()
}

fn zh(platform: &str) -> String {
    format!("zh:{}", sha256_hex(zip(platform)))
}

fn h1(platform: &str) -> String {
    let content = format!("reg {platform}").into_bytes();
    let names = [PROGRAM.as_bytes().into()];
    let h1 = lockctl::hash::h1(&names, |_| Ok(&*content)).unwrap();
    h1.to_string()
}

/// Publishes the package under both of its addresses, with a manifest in the list.
fn publish(registry: &Registry) {
    for source in ["t/x", "hashicorp/x"] {
        let mut sums = String::new();
        for platform in PLATFORMS {
            let zip = zip(platform);
            registry.add_zip(source, "1.0.0", platform, &zip);
            let name = format!("terraform-provider-x_1.0.0_{platform}.zip");
            sums += &format!("{}  {name}\n", sha256_hex(zip));
        }
        let name = "terraform-provider-x_1.0.0_manifest.json";
        sums += &format!("{}  {name}\n", sha256_hex(b"{}"));
        registry.replace_sums(source, "1.0.0", sums.as_bytes());
    }
}

fn disk_mirror(lab: &Lab) -> String {
    let mirror = lab.path("mirror").display().to_string();
    format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n")
}

/// The registry stands for the host that the configuration names, or for that of OpenTofu.
fn direct(registry: &Registry, case: &Value) -> String {
    let host = match text(case, "config").contains("reg.example/") {
        true => "reg.example",
        false => NEW_HOST,
    };
    let service = format!("{}/v1/providers/", registry.url(Origin::Plain));
    format!(
        "host {host:?} {{\n  services = {{ \"providers.v1\" = {service:?} }}\n}}\n\
         provider_installation {{\n  direct {{}}\n}}\n"
    )
}

fn network_mirror(registry: &Registry, is_trusted: bool) -> String {
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    let trust = match is_trusted {
        true => "    trust_all_hashes = true\n",
        false => "",
    };
    format!("provider_installation {{\n  network_mirror {{\n    url = {url:?}\n{trust}  }}\n}}\n")
}

fn oci_mirror(oci: &OciRegistry) -> String {
    let template = format!("{}/${{namespace}}/${{type}}", oci.domain());
    format!(
        "provider_installation {{\n  oci_mirror {{\n    repository_template = {template:?}\n    include = \
         [\"{NEW_HOST}/*/*\"]\n  }}\n}}\n"
    )
}
