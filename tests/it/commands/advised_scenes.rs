//! The faults of rules whose page has no example that can be run, and what advice leaves to the reader.

use super::builds;
use super::builds::CLEAN;
use super::claims::lies;
use super::registry::{DEMO, TWO, with_registry};
use super::*;
use crate::registry::{Dates, Registry, TestKey};
use crate::zips::{Entry, Zip};

/// A directory with a fault, and the command that finds it.
pub(super) struct Stage {
    pub(super) lab: Lab,
    /// It answers as long as the scene is there.
    registry: Option<Registry>,
    /// The command without the name of the program.
    pub(super) finds: Vec<String>,
    /// The files of the page, if it is the example of one.
    pub(super) files: Vec<(String, String)>,
    /// Packages of what is required lie in a directory that commands are given.
    pub(super) has_packages: bool,
    pub(super) is_repository: bool,
    /// Several roots have the fault.
    pub(super) is_folded: bool,
}

impl Stage {
    pub(super) fn new(lab: Lab) -> Self {
        Self {
            lab,
            registry: None,
            finds: Vec::new(),
            files: Vec::new(),
            has_packages: false,
            is_repository: false,
            is_folded: false,
        }
    }

    pub(super) fn found_by(mut self, finds: &str) -> Self {
        self.finds = finds.split(' ').map(str::to_owned).collect();
        self
    }
}

/// Makes a scene with a registry, in which the command finds the fault.
pub(super) fn asking((registry, lab): (Registry, Lab), finds: &str) -> Stage {
    let mut stage = Stage::new(lab).found_by(finds);
    stage.registry = Some(registry);
    stage
}

/// A root that is locked for two platforms from a registry, which then has other habits.
pub(super) fn locked(knobs: &serde_json::Value) -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    lab.run(&[&["lock", "--flavor", "terraform@1.11"], TWO].concat())
        .exits(0);
    registry.reset(knobs);
    (registry, lab)
}

const UPSTREAM: &str = "verify --flavor terraform@1.11 --only upstream";

/// Replaces the first character of each hash of these schemes in the lock file.
pub(super) fn alter_hashes(lab: &Lab, schemes: &[&str]) {
    let mut text = lab.read(LOCK);
    for scheme in schemes {
        let begin = format!("\"{scheme}:");
        let parts: Vec<String> = text
            .split(&begin)
            .enumerate()
            .map(|(at, part)| match part.as_bytes()[0] {
                _ if at == 0 => part.to_owned(),
                b'a' => format!("b{}", &part[1..]),
                _ => format!("a{}", &part[1..]),
            })
            .collect();
        text = parts.join(&begin);
    }
    lab.write(LOCK, text);
}

fn remove(lab: &Lab, path: &str) {
    std::fs::remove_file(lab.path(path)).unwrap();
}

fn remove_hashes(lab: &Lab) {
    edit_locks(lab, |text| {
        let (above, below) = text.split_once("  hashes ").unwrap();
        above.to_owned() + below.split_once("]\n").unwrap().1
    });
}

fn edit_locks(lab: &Lab, edit: impl Fn(&str) -> String) {
    for path in [LOCK, "a/.terraform.lock.hcl", "b/.terraform.lock.hcl"] {
        if lab.path(path).exists() {
            lab.write(path, edit(&lab.read(path)));
        }
    }
}

/// A root whose CLI configuration is this.
fn configured(rc: &str, finds: &str) -> Stage {
    let mut lab = simple();
    lab.write("rc", rc);
    let path = lab.path("rc");
    lab.set("TF_CLI_CONFIG_FILE", path);
    Stage::new(lab).found_by(finds)
}

/// A root that is locked by the `zh:` of one zip, with another zip of the same package in its mirror.
fn locked_by_zh(before: &Zip, now: &Zip) -> Lab {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.write("a.zip", before.bytes());
    let hashed = lab.run(&["hash", "a.zip"]).stdout;
    let hashes: Vec<String> = hashed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.contains("1:") || word.starts_with("zh:"))
        .map(|hash| format!("    \"{hash}\",\n"))
        .collect();
    let hashes = hashes.concat();
    let entry = format!(
        "provider \"example.com/t/x\" {{\n  version = \"1.1.0\"\n  hashes = [\n{hashes}  ]\n}}\n"
    );
    lab.write(LOCK, entry);
    let zip = "mirror/example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip";
    lab.write(zip, now.bytes());
    lab
}

type Scene = (&'static str, fn() -> Option<Stage>);

/// The scenes by rule.
pub(super) const SCENES: &[Scene] = &[
    ("build-inconsistent", || {
        let dirty = &CLEAN.replace("clean", "dirty");
        let locked = builds::locked(&[("1.0.0", [CLEAN, dirty])], "1.0.0");
        let finds = "verify --only build --flavor terraform@1.11";
        Some(asking(locked, finds))
    }),
    ("build-of-another-module", || {
        let evil = &CLEAN.replace("github.com/acme/", "github.com/hashicorp/");
        let locked = builds::locked(&[("1.0.0", [evil, evil])], "1.0.0");
        let finds = "verify --only build -v --flavor terraform@1.11";
        Some(asking(locked, finds))
    }),
    ("cli-configuration-missing", || {
        let stage = configured("", "lock --platform linux_amd64");
        remove(&stage.lab, "rc");
        Some(stage)
    }),
    ("cli-configuration-not-followed", || {
        let rc = "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n";
        Some(configured(rc, "lock --platform linux_amd64"))
    }),
    ("cli-configuration-without-effect", || {
        let mirror =
            "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n";
        let rc = format!("{mirror}registry_protocols {{\n  retry_count = 1\n}}\n");
        let finds = "lock --installation cli --platform linux_amd64";
        Some(configured(&rc, finds))
    }),
    ("constraints-malformed", || {
        let lab = simple();
        assert_exit(&super::lock(&lab, BOTH), 0);
        lab.write(LOCK, lab.read(LOCK).replace("\"~> 1.0\"", "\"= 1.1.0\""));
        Some(Stage::new(lab).found_by("verify"))
    }),
    ("hash-not-of-release", || {
        let (registry, lab) = locked(&json!({}));
        alter_hashes(&lab, &["zh", "h1"]);
        Some(asking((registry, lab), "verify --flavor terraform@1.11"))
    }),
    ("hash-unknown-upstream", || {
        let (registry, lab) = locked(&json!({"sums": ["manifest"]}));
        let slip = format!("  hashes = [\n    \"zh:{}\",", "0".repeat(64));
        lab.write(LOCK, lab.read(LOCK).replace("  hashes = [", &slip));
        Some(asking((registry, lab), UPSTREAM))
    }),
    ("hashes-claimed", || {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"packages": true}));
        let linux = ["--flavor", "opentofu", "--platform", "linux_amd64"];
        assert_exit(&lab.run(&[&["lock"], &linux[..]].concat()), 0);
        let finds = "verify --upstream -v --flavor opentofu --platform linux_amd64";
        Some(asking((registry, lab), finds))
    }),
    ("hashes-of-other-version", || {
        let repo = Repo::new()?;
        let old = super::carried::entry("1.0.0", "abc");
        repo.write(LOCK, &old);
        repo.commit("lock");
        repo.write(LOCK, old.replace("1.0.0", "1.1.0"));
        for platform in [
            "linux_amd64",
            "linux_arm64",
            "darwin_amd64",
            "darwin_arm64",
            "windows_amd64",
        ] {
            let package = format!("example.com/acme/demo/1.1.0/{platform}");
            repo.lab
                .unpacked(super::advised::PACKAGES, &package, platform);
        }
        let mut stage = Stage::new(repo.lab).found_by("verify --only platforms");
        stage.has_packages = true;
        Some(stage)
    }),
    ("hashes-contradicted", || {
        let (registry, lab) = locked(&json!({}));
        lab.write(LOCK, lab.read(LOCK).replace("\"1.0.0\"", "\"1.1.0\""));
        Some(asking((registry, lab), UPSTREAM))
    }),
    ("key-changed", || {
        let (registry, lab) = with_registry(DEMO);
        let lock = words("lock --flavor terraform@1.11 --platform linux_amd64");
        lab.run(&lock).exits(0);
        lab.run(&words("trust --flavor terraform@1.11")).exits(0);
        registry.reset(&json!({"keys": ["stranger"], "sign_with": "stranger"}));
        Some(asking((registry, lab), UPSTREAM))
    }),
    ("signature-lost", || {
        let (registry, lab) = with_registry(DEMO);
        lab.run(&words("lock --flavor opentofu --platform linux_amd64"))
            .exits(0);
        lab.run(&words("trust --flavor opentofu")).exits(0);
        registry.reset(&json!({"no_keys": true}));
        Some(asking(
            (registry, lab),
            "verify --flavor opentofu --only upstream",
        ))
    }),
    ("origin-changed", || {
        let other = &CLEAN.replace("acme", "other");
        let builds = [("1.0.0", [CLEAN, CLEAN]), ("1.1.0", [other, other])];
        let (registry, lab) = builds::locked(&builds, "1.0.0");
        lab.run(&words("trust --flavor terraform@1.11")).exits(0);
        builds::update(&lab, "1.1.0");
        Some(asking(
            (registry, lab),
            "verify --only policy --flavor terraform@1.11",
        ))
    }),
    ("provenance-lost", || Some(super::provenance::lost())),
    ("provenance-invalid", || Some(super::provenance::replayed())),
    ("key-expires", || {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"keys": ["expired"], "sign_with": "expired"}));
        let lock = words("lock --flavor terraform@1.11 --platform linux_amd64");
        lab.run(&lock).exits(0);
        Some(asking((registry, lab), UPSTREAM))
    }),
    ("key-not-allowed", || {
        let (registry, lab) = locked(&json!({}));
        let key = TestKey::Stranger.id();
        let pin = format!("policy {{\n  provider \"acme/demo\" {{ key_id = \"{key}\" }}\n}}\n");
        lab.write(".lockctl.hcl", pin);
        Some(asking((registry, lab), UPSTREAM))
    }),
    ("known-vulnerability", || {
        let registry = Registry::start();
        for platform in ["linux_amd64", "darwin_arm64"] {
            let zip = crate::lab::zip_of(&[("terraform-provider-custom_v5.5.0", platform)]);
            registry.add_zip("acme/custom", "5.5.0", platform, &zip);
        }
        let mut lab = Lab::new();
        super::registry::point_at(&mut lab, &registry);
        let entry = super::audit::lock_of(&[("acme/custom", "5.4.0", "~> 5.0")]);
        let config = DEMO
            .replace("acme/demo", "acme/custom")
            .replace("~> 1.0.0", "~> 5.0");
        lab.write(
            ".lockctl.hcl",
            "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n",
        );
        for root in ["a", "b"] {
            lab.write(&format!("{root}/{LOCK}"), &entry);
            lab.write(&format!("{root}/main.tf"), &config);
        }
        let database = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/advisories");
        let mut stage = asking((registry, lab), "audit -r --db");
        stage.finds.push(database.to_owned());
        stage.is_folded = true;
        Some(stage)
    }),
    ("lock-ignored", || {
        let repo = Repo::new()?;
        repo.write("main.tf", ONE_PROVIDER)
            .write(".gitignore", ".terraform*\n");
        let mut stage = Stage::new(repo.lab).found_by("verify");
        stage.is_repository = true;
        Some(stage)
    }),
    ("mirror-lacks-version", || {
        let (registry, lab) = locked(&json!({}));
        let mirror =
            "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n";
        lab.write("rc", lab.read("rc") + mirror);
        std::fs::create_dir(lab.path("mirror")).unwrap();
        Some(asking(
            (registry, lab),
            "verify --only packages --flavor terraform@1.11",
        ))
    }),
    ("module-moved", || {
        let lab = Lab::new();
        let module = lab.path("module").display().to_string().replace('\\', "/");
        let source = format!("module \"net\" {{\n  source = \"{module}\"\n}}\n");
        lab.write("main.tf", source)
            .write(".lockctl.hcl", "modules {\n  lock = true\n}\n")
            .write("module/main.tf", "output \"a\" {\n  value = 1\n}\n");
        lab.run(&["lock"]).exits(0);
        lab.write("module/main.tf", "output \"b\" {\n  value = 2\n}\n");
        Some(Stage::new(lab).found_by("verify --upstream"))
    }),
    ("newer-patch", || {
        let (registry, lab) = locked(&json!({}));
        add_newer(&registry);
        Some(asking(
            (registry, lab),
            "verify --only upstream,configuration -v --flavor terraform@1.11",
        ))
    }),
    ("object-too-large", || {
        let lab = Lab::new();
        let items = "1,".repeat(1 << 19);
        lab.write("main.tf", format!("locals {{\n  x = [{items}]\n}}\n"));
        Some(Stage::new(lab).found_by("verify --only configuration"))
    }),
    ("package-misnamed", || {
        let (registry, lab) = with_registry(DEMO);
        let zip = crate::scenarios::Packages::recorded().zip("demo/1.0.0/linux_amd64");
        let line = format!("{}  demo.zip\n", crate::registry::sha256_hex(&zip));
        registry.replace_sums("acme/demo", "1.0.0", line.as_bytes());
        registry.reset(&json!({"rules": [{
            "kind": "download", "action": "patch", "times": -1, "set": {"filename": "demo.zip"},
        }]}));
        Some(asking((registry, lab), "lock --platform linux_amd64"))
    }),
    ("package-missing", || {
        let (registry, lab) = with_registry(DEMO);
        let gone =
            json!({"kind": "download", "action": "404", "times": -1, "path": "darwin/arm64"});
        registry.reset(&json!({"rules": [gone]}));
        Some(asking((registry, lab), "lock"))
    }),
    ("package-odd", || {
        let odd = Zip::of([
            Entry::directory("docs/"),
            Entry::file("terraform-provider-x_v1.1.0", "x"),
        ]);
        let finds = "verify --only packages -v --fs-mirror mirror --platform linux_amd64";
        Some(Stage::new(locked_by_zh(&odd, &odd)).found_by(finds))
    }),
    ("package-repacked", || {
        let program = || Entry::file("terraform-provider-x_v1.1.0", "x".repeat(100));
        let lab = locked_by_zh(&Zip::of([program()]), &Zip::of([program().deflated()]));
        let finds = "verify --only packages -v --fs-mirror mirror --package a.zip";
        Some(Stage::new(lab).found_by(finds))
    }),
    ("package-tracked", || {
        let repo = Repo::new()?;
        repo.write("main.tf", ONE_PROVIDER);
        let package = ".terraform/providers/example.com/t/x/1.1.0/linux_amd64";
        repo.write(&format!("{package}/terraform-provider-x_v1.1.0"), "x");
        repo.write(
            LOCK,
            "provider \"example.com/t/x\" {\n  version = \"1.1.0\"\n}\n",
        );
        repo.commit("all");
        let mut stage = Stage::new(repo.lab).found_by("verify");
        stage.is_repository = true;
        Some(stage)
    }),
    ("package-unreadable", || {
        let lab = simple();
        assert_exit(&super::lock(&lab, BOTH), 0);
        let zip = "broken/terraform-provider-x_1.1.0_linux_amd64.zip";
        lab.write(zip, "no zip");
        Some(Stage::new(lab).found_by(&format!("verify --only packages --package {zip}")))
    }),
    ("platforms-incomplete", || {
        let lab = simple();
        assert_exit(&super::lock(&lab, &["--platform", "linux_amd64"]), 0);
        let mut stage = Stage::new(lab).found_by("verify -r --platform linux_amd64,darwin_arm64");
        std::fs::rename(
            stage.lab.path("mirror"),
            stage.lab.path(super::advised::PACKAGES),
        )
        .unwrap();
        stage.has_packages = true;
        stage.is_folded = true;
        Some(stage)
    }),
    ("registry-warning", || {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"rules": [
            {"kind": "versions", "action": "patch", "times": -1, "set": {"warnings": ["it moved"]}},
        ]}));
        Some(asking((registry, lab), "lock --platform linux_amd64"))
    }),
    ("release-too-old", || {
        let locked = locked_under("update acme/demo@1.0.0", "max_age = \"30d\"");
        Some(asking(
            locked,
            "verify --only policy --flavor terraform@1.11",
        ))
    }),
    ("release-too-young", || {
        Some(asking(locked_under("lock", "min_age = \"7d\""), UPSTREAM))
    }),
    ("facts-contradict", || {
        let (registry, lab) = shared_store::contradicted();
        Some(asking((registry, lab), "verify"))
    }),
    ("release-unsigned", || {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"no_keys": true}));
        Some(asking(
            (registry, lab),
            "lock --flavor opentofu --platform linux_amd64",
        ))
    }),
    ("signature-odd", || {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"keys": ["expired"], "sign_with": "expired"}));
        Some(asking(
            (registry, lab),
            "lock --flavor opentofu --platform linux_amd64",
        ))
    }),
    ("stated-hash-false", || {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"packages": true}));
        let linux = ["--flavor", "opentofu", "--platform", "linux_amd64"];
        assert_exit(&lab.run(&[&["lock"], &linux[..]].concat()), 0);
        registry.reset(&lies("darwin_arm64 zh:"));
        let finds = "verify --upstream -v --flavor opentofu --platform linux_amd64";
        Some(asking((registry, lab), finds))
    }),
    ("state-unreadable", || {
        let lab = simple();
        let resource = r#"{"mode": "managed", "type": "x_y", "name": "z", "provider": "provider[\"registry.terraform.io/-/hold\"]", "instances": []}"#;
        let state = format!(
            "{{\"version\": 4, \"terraform_version\": \"1.11.4\", \"serial\": 1, \"lineage\": \"a\", \"outputs\": {{}}, \"resources\": [{resource}]}}\n"
        );
        lab.write("terraform.tfstate", state);
        Some(Stage::new(lab).found_by("verify"))
    }),
    ("zh-missing", || {
        let (registry, lab) = locked(&json!({}));
        let text = lab.read(LOCK);
        lab.write(
            LOCK,
            text.lines()
                .filter(|line| !line.contains("zh:"))
                .map(|line| format!("{line}\n"))
                .collect::<String>(),
        );
        Some(asking(
            (registry, lab),
            "verify -v --only platforms --flavor terraform@1.11 --no-cache",
        ))
    }),
    ("key-not-compared", || {
        let (registry, lab) = locked(&json!({}));
        let key = TestKey::Main.id();
        lab.write(
            ".lockctl.hcl",
            format!("policy {{\n  provider \"acme/demo\" {{ key_id = \"{key}\" }}\n}}\n"),
        );
        Some(asking(
            (registry, lab),
            "verify -v --only policy --flavor terraform@1.11 --no-cache",
        ))
    }),
    ("version-gone", || {
        let list =
            json!({"versions": [{"version": "1.0.7", "protocols": ["5.0"], "platforms": []}]});
        let (registry, lab) = locked(&json!({}));
        add_newer(&registry);
        registry.reset(&json!({"rules": [
            {"kind": "versions", "action": "answer", "text": list.to_string(), "times": -1},
        ]}));
        Some(asking((registry, lab), UPSTREAM))
    }),
];

/// Publishes a newer patch for two platforms.
fn add_newer(registry: &Registry) {
    for platform in ["linux_amd64", "darwin_arm64"] {
        let zip = zip_of(&[("terraform-provider-demo_v1.0.7", platform)]);
        registry.add_zip("acme/demo", "1.0.7", platform, &zip);
    }
}

/// The rules with a scene of their own, since the command that the example on their page names needs a registry.
pub(super) const NEED_A_REGISTRY: [&str; 3] =
    ["key-not-compared", "mirror-lacks-version", "zh-missing"];

/// Prepares a directory by hand.
type Preparation = fn(&Lab);

/// What the advice of a rule says to do by hand before its command.
pub(super) const BY_HAND: &[(&str, Preparation)] = &[
    ("hash-not-of-release", remove_hashes),
    ("hashes-contradicted", |lab| {
        lab.write(LOCK, lab.read(LOCK).replace("\"1.1.0\"", "\"1.0.0\""));
        remove_hashes(lab);
    }),
    ("hash-not-well-formed", remove_hashes),
    ("hashes-of-other-version", remove_hashes),
    ("hashes-empty", remove_hashes),
    ("hash-scheme-missing", remove_hashes),
    ("version-missing", |lab| {
        let version = "  version = \"1.2.0\"\n  h";
        edit_locks(lab, |text| text.replace("  h", version));
    }),
    ("duplicate-provider", |lab| {
        edit_locks(lab, |text| text.replace("\"1.3.0\"", "\"1.2.0\""));
    }),
    ("init-rewrites", |lab| {
        let unknown = "    \"h2:2c26b46b68ffc68ff99b453c1d304134\",\n";
        edit_locks(lab, |text| text.replace(unknown, ""));
    }),
];

/// The rules whose findings remain, whatever is done here, with the reason.
pub(super) const LASTING: &[(&str, &str)] = &[
    ("key-expires", "only the publisher can extend a key"),
    ("key-changed", "people must judge it"),
    (
        "module-not-pinned",
        "the module of the example is nowhere, so nothing can pin it",
    ),
    ("signature-lost", "people must judge it"),
    ("origin-changed", "people must judge it"),
    ("provenance-lost", "people must judge it"),
    ("provenance-invalid", "only the publisher can attest it"),
    (
        "release-too-young",
        "the release has to grow older, or the user chooses an older version",
    ),
    (
        "package-unverifiable",
        "the installed package of the example is not that of the release",
    ),
    (
        "look-alike-provider",
        "the name of the provider is known to the reader alone",
    ),
];

/// The errors whose command fixes something, with the rule that has the same fault.
pub(super) const SYMPTOMS: &[(&str, &str)] = &[
    ("unpacked-package-not-recorded", "platforms-incomplete"),
    ("cached-package-not-recorded", "platforms-incomplete"),
    ("installed-package-not-recorded", "platforms-incomplete"),
    ("provider-lock-failed", "platforms-incomplete"),
    ("conflict-markers", "conflict-markers"),
    ("address-not-canonical", "address-not-canonical"),
    ("constraints-malformed", "constraints-malformed"),
    ("hashes-empty", "hashes-empty"),
    ("hash-scheme-missing", "hash-scheme-missing"),
    ("duplicate-provider", "duplicate-provider"),
    ("version-missing", "version-missing"),
    ("module-lock", "module-lock"),
    ("locked-version-conflicts", "version-outside-constraint"),
    ("locked-version-gone", "version-outside-constraint"),
    ("readonly-upgrade", "version-outside-constraint"),
    ("entry-missing", "provider-not-locked"),
    ("lock-file-would-change", "provider-not-required"),
    ("platforms-disagree", "provider-not-locked"),
    ("listed-version-invalid", "provider-not-locked"),
    ("hashes-would-change", "platforms-incomplete"),
    ("hashes-incomplete", "platforms-incomplete"),
    ("entries-carried-over", "entries-carried-over"),
    ("platform-invalid", "provider-not-locked"),
    ("development-overrides", "provider-not-locked"),
];

/// A root that a command locked, with releases of three ages, and a policy that is written after that.
fn locked_under(command: &str, setting: &str) -> (Registry, Lab) {
    let (registry, lab) = with_registry(&DEMO.replace("~> 1.0.0", "~> 1.0"));
    for (version, days) in [("1.2.0", 3), ("1.1.0", 60), ("1.0.0", 61)] {
        let dates = Dates {
            signed_hours_ago: Some(days * 24),
            ..Dates::default()
        };
        registry.set_dates("acme/demo", version, dates);
    }
    lab.run(&words(&format!(
        "{command} --flavor terraform@1.11 --platform linux_amd64"
    )))
    .exits(0);
    lab.write(".lockctl.hcl", format!("policy {{\n  {setting}\n}}\n"));
    (registry, lab)
}
