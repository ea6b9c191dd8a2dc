//! Locks from a registry: what `lockctl lock` writes against `init` and `providers lock`.

use serde_json::json;

use crate::copy::copy_dir;
use crate::lab::{Lab, zip_of};
use crate::registry::{Origin, Registry};
use crate::terraform::Terraform;
use crate::{LOCK, PLATFORMS, lockctl};

/// A host that is known by the CLI configuration alone.
const FOREIGN: &str = "café.example";

/// What the registry has; of every version each of the platforms. Hosts do not matter to it.
const PUBLISHED: [(&str, &[&str]); 6] = [
    (
        "acme/x",
        &[
            "0.9.0",
            "1.0.0",
            "1.2.0",
            "1.10.0",
            "1.9.0",
            "2.0.0",
            "2.1.0-rc1",
        ],
    ),
    ("hashi-corp/next", &["0.9.0", "0.9.9", "1.0.0"]),
    ("T%C3%A9/idn", &["3.0.0+meta", "2.0.0"]),
    ("t/port", &["1.0.0-beta.1", "1.0.0"]),
    ("hashicorp/null", &["3.2.1", "3.2.2", "3.3.0-alpha"]),
    ("hashicorp/y", &["2.5.0", "3.0.0"]),
];

/// A lab, a registry that both programs ask there, and one of the programs.
struct Setting {
    terraform: Terraform,
    registry: Registry,
    lab: Lab,
}

impl Setting {
    /// Makes everything ready, but for a root; `None` where there is no program to compare with.
    fn new() -> Option<Self> {
        let terraform = Terraform::find_trusting()?;
        let registry = Registry::start();
        let mut lab = Lab::new();
        terraform.use_registry(&mut lab, &registry, &[FOREIGN]);
        Some(Self {
            terraform,
            registry,
            lab,
        })
    }

    /// The same with a root that has a lock of its own, and what it requires.
    fn with_root() -> Option<Self> {
        let setting = Self::new()?;
        for (source, versions) in PUBLISHED {
            for version in versions {
                setting.publish(source, version);
            }
        }
        setting.write_root();
        Some(setting)
    }

    fn publish(&self, source: &str, version: &str) {
        let (_, type_name) = source.split_once('/').unwrap();
        for platform in PLATFORMS {
            let zip = zip_of(&[(
                &format!("terraform-provider-{type_name}_v{version}"),
                &format!("{source} {version} {platform}"),
            )]);
            self.registry.add_zip(source, version, platform, &zip);
        }
    }

    /// A root with a child module, requiring providers of several hosts in several ways.
    fn write_root(&self) {
        let port = self.registry.port(Origin::Lab);
        let main = r#"
terraform {
  required_providers {
    x    = { source = "acme/x", version = ">= 1.0, != 1.2.0" }
    next = { source = "hashi-corp/next", version = "~> 0.9" }
    idn  = { source = "CAFÉ.example/Té/idn" }
    port = { source = "localhost:PORT/t/port", version = "1.0.0-beta.1" }
  }
}

provider "y" {
  version = "< 3"
}

resource "null_resource" "implied" {}

module "child" {
  source = "./modules/child"
}
"#;
        let child = r#"
terraform {
  required_providers {
    other = { source = "acme/x", version = "~> 1" }
  }
}
data "y_thing" "a" {}
"#;
        let main = main.replace("PORT", &port.to_string());
        self.lab.write("root/main.tf", main);
        self.lab.write("root/modules/child/versions.tf", child);
    }

    /// Copies the root, with this lock file if there is one.
    fn copy(&self, to: &str, lock: Option<&str>) {
        copy_dir(&self.lab.path("root"), &self.lab.path(to));
        if let Some(lock) = lock {
            self.lab.write(&format!("{to}/{LOCK}"), lock);
        }
    }

    fn read(&self, root: &str) -> String {
        self.lab.read(&format!("{root}/{LOCK}"))
    }

    /// The lock file after `terraform init`.
    #[track_caller]
    fn init(&self, root: &str) -> String {
        let args = ["init", "-no-color", "-backend=false"];
        self.terraform.succeeds(&self.lab, root, &args);
        self.read(root)
    }

    /// The lock file after `terraform providers lock`.
    #[track_caller]
    fn providers_lock(&self, root: &str, platforms: &[&str]) -> String {
        let platforms: Vec<String> = platforms
            .iter()
            .map(|platform| format!("-platform={platform}"))
            .collect();
        let mut args = vec!["providers", "lock", "-no-color"];
        args.extend(platforms.iter().map(String::as_str));
        self.terraform.succeeds(&self.lab, root, &args);
        self.read(root)
    }

    /// The lock file after `lockctl lock`.
    #[track_caller]
    fn lockctl_lock(&self, root: &str, platforms: &[&str]) -> String {
        let platforms = platforms.join(",");
        let args = ["lock", root, "--platform", &platforms];
        let outcome = lockctl(&self.lab, &self.terraform, &args);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        self.read(root)
    }

    /// Checks that another run of each program changes nothing.
    #[track_caller]
    fn is_settled(&self, root: &str, platforms: &[&str]) {
        let lock = self.read(root);
        for _ in 0..2 {
            assert_eq!(self.lockctl_lock(root, platforms), lock, "lockctl again");
            assert_eq!(self.providers_lock(root, platforms), lock, "lock again");
            assert_eq!(self.init(root), lock, "init again");
        }
    }
}

#[test]
fn a_registry_gives_the_bytes_of_terraform() {
    let Some(setting) = Setting::with_root() else {
        return;
    };
    setting.registry.reset(&json!({ "sums": ["manifest"] }));
    setting.copy("theirs", None);
    let after_init = setting.init("theirs");
    let wanted = setting.providers_lock("theirs", &PLATFORMS);
    // One h1: for each platform, one zh: for each and for the manifest.
    assert_eq!(wanted.matches("\"h1:").count(), 6 * 4);
    assert_eq!(wanted.matches("\"zh:").count(), 6 * 5);

    setting.copy("fresh", None);
    let fresh = setting.lockctl_lock("fresh", &PLATFORMS);
    assert_eq!(fresh, wanted, "from nothing");
    setting.copy("completed", Some(&after_init));
    let completed = setting.lockctl_lock("completed", &PLATFORMS);
    assert_eq!(completed, wanted, "completing `init`");

    let readonly = ["init", "-no-color", "-backend=false", "-lockfile=readonly"];
    let said = setting.terraform.succeeds(&setting.lab, "fresh", &readonly);
    assert!(!said.contains("Provider lock file not updated"), "{said}");
    assert_eq!(setting.read("fresh"), wanted, "accepted as it is");
    println!("parity: registry, 6 providers of 3 hosts, 4 platforms: equal bytes");
}

#[test]
fn a_registry_lock_for_one_platform_is_that_of_init() {
    let Some(setting) = Setting::with_root() else {
        return;
    };
    setting.copy("theirs", None);
    let wanted = setting.init("theirs");
    setting.copy("ours", None);
    assert_eq!(setting.lockctl_lock("ours", &["current"]), wanted);
    println!("parity: registry, one platform: the bytes of init");
}

/// An entry of a lock file that is not what `providers lock` leaves: its provider, and its hashes.
type Gap = (&'static str, fn(&Known) -> Vec<String>);

/// The hashes of a complete entry.
struct Known {
    /// Of the package that `init` takes here.
    own_h1: String,
    other_h1: Vec<String>,
    /// In the order of the file.
    zh: Vec<String>,
}

const UNKNOWN: &str = "h2:unknown";

const GAPS: [Gap; 9] = [
    ("no-hashes", |_| Vec::new()),
    ("zh-only", |known| known.zh.clone()),
    ("one-zh", |known| vec![known.zh[0].clone()]),
    ("other-zh", |known| vec![known.zh[3].clone()]),
    ("own-h1", |known| vec![known.own_h1.clone()]),
    ("other-h1", |known| vec![known.other_h1[0].clone()]),
    ("all-h1", |known| {
        let mut all = known.other_h1.clone();
        all.push(known.own_h1.clone());
        all
    }),
    ("unknown-scheme", |_| vec![UNKNOWN.to_owned()]),
    ("some-of-each", |known| {
        let some = [UNKNOWN, &known.zh[2], &known.other_h1[1], &known.own_h1];
        some.map(str::to_owned).into()
    }),
];

impl Known {
    /// Reads the entry of `acme/type_name` in the files of `init` and of `providers lock`.
    fn read(after_init: &str, complete: &str, type_name: &str) -> Self {
        let hashes = |lock: &str, scheme: &str| -> Vec<String> {
            let start = lock.find(&format!("/acme/{type_name}\"")).unwrap();
            let entry = &lock[start..];
            let entry = &entry[..entry.find("\n}").unwrap()];
            entry
                .split('"')
                .filter(|text| text.starts_with(scheme))
                .map(str::to_owned)
                .collect()
        };
        let own_h1 = hashes(after_init, "h1:").remove(0);
        let mut other_h1 = hashes(complete, "h1:");
        other_h1.retain(|hash| *hash != own_h1);
        Self {
            own_h1,
            other_h1,
            zh: hashes(complete, "zh:"),
        }
    }
}

#[test]
fn gaps_are_filled_as_terraform_fills_them() {
    let Some(setting) = Setting::new() else {
        return;
    };
    let mut requirements = String::new();
    for (name, _) in GAPS {
        setting.publish(&format!("acme/{name}"), "1.0.0");
        requirements +=
            &format!("    {name} = {{ source = \"acme/{name}\", version = \"~> 1\" }}\n");
    }
    let root = format!("terraform {{\n  required_providers {{\n{requirements}  }}\n}}\n");
    setting.lab.write("root/main.tf", root);
    setting.copy("complete", None);
    let after_init = setting.init("complete");
    let complete = setting.providers_lock("complete", &PLATFORMS);

    // A provider that nothing requires, then entries with comments and older constraints.
    let mut lock = "# a comment\nprovider \"example.com/acme/left-over\" {\n  version = \"0.1.0\"\n  hashes = [\"zh:00\"]\n}\n".to_owned();
    for (name, hashes) in GAPS {
        let hashes = hashes(&Known::read(&after_init, &complete, name));
        let hashes = match hashes.as_slice() {
            [] => String::new(),
            some => format!("  hashes = {some:?} # these\n"),
        };
        lock += &format!(
            "provider \"registry.terraform.io/acme/{name}\" {{\n  version = \"1.0.0\"\n  constraints = \">= 0.5.0\"\n{hashes}}}\n"
        );
        setting.publish(&format!("acme/{name}"), "1.1.0");
    }
    setting.copy("theirs", Some(&lock));
    let wanted = setting.providers_lock("theirs", &PLATFORMS);
    assert!(!wanted.contains("1.1.0"), "versions stay:\n{wanted}");
    // `providers lock` keeps what nothing requires; `lock` drops it, as `init` does.
    let left_over = "provider \"example.com/acme/left-over\" {\n  version = \"0.1.0\"\n  hashes = [\n    \"zh:00\",\n  ]\n}\n\n";
    assert!(wanted.contains(left_over), "no longer kept:\n{wanted}");
    let wanted = wanted.replace(left_over, "");
    setting.copy("ours", Some(&lock));
    assert_eq!(setting.lockctl_lock("ours", &PLATFORMS), wanted);
    println!("parity: {} entries with gaps, filled alike", GAPS.len());
}

#[test]
fn what_one_program_wrote_the_other_leaves_alone() {
    let Some(setting) = Setting::with_root() else {
        return;
    };
    setting.copy("theirs", None);
    setting.init("theirs");
    setting.is_settled("theirs", &["linux_amd64"]);
    setting.providers_lock("theirs", &PLATFORMS);
    setting.is_settled("theirs", &PLATFORMS);
    setting.copy("ours", None);
    setting.lockctl_lock("ours", &PLATFORMS);
    setting.init("ours");
    setting.is_settled("ours", &PLATFORMS);
    println!("parity: three lock files, unchanged by either program, twice");
}

#[test]
fn odd_registries_give_the_bytes_of_terraform() {
    let Some(setting) = Setting::new() else {
        return;
    };
    setting.publish("acme/x", "1.0.0");
    let root = "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n";
    setting.lab.write("root/main.tf", root);
    let two = ["windows_amd64", "linux_arm64"];
    let knobs = [
        json!({ "sums": ["crlf"] }),
        json!({ "sums": ["upper", "no_newline"] }),
        json!({ "sums": ["manifest", "crlf", "no_newline"] }),
        json!({ "sums": ["no:darwin"] }),
        json!({ "sums": ["double:darwin"] }),
        json!({ "redirects": 3, "relative_urls": true }),
        json!({ "packages": true, "gzip": false, "ranges": false }),
        json!({ "keys": ["stranger", "main"], "packages": true }),
    ];
    for (at, knobs) in knobs.iter().enumerate() {
        setting.registry.reset(knobs);
        let (theirs, ours) = (format!("theirs{at}"), format!("ours{at}"));
        setting.copy(&theirs, None);
        let wanted = setting.providers_lock(&theirs, &two);
        setting.copy(&ours, None);
        assert_eq!(setting.lockctl_lock(&ours, &two), wanted, "{knobs}");
    }
    println!("parity: {} odd registries, equal bytes", knobs.len());
}
