//! Pinned modules: `lock`, `update --pins`, `verify`, `diff`, `merge` and `resolve` on `.lockctl.modules.hcl`.

use super::*;
use crate::lab::zip_of;
use crate::repo::Repo;
use crate::static_files::StaticFiles;

const PINS: &str = ".lockctl.modules.hcl";

/// A repository of a module that calls another one of it, and a root that calls it by a ref.
fn with_module(reference: &str) -> Option<(Repo, Repo)> {
    let module = Repo::new()?;
    module.write(
        "net/main.tf",
        "module \"in\" {\n  source = \"../inner\"\n}\n",
    );
    module.write("inner/main.tf", "output \"x\" {\n  value = 1\n}\n");
    // A server may leave large files out of what it sends, and they count all the same.
    module.git(&["config", "uploadpack.allowFilter", "true"]);
    module.write("large.bin", "x".repeat(300 << 10));
    #[cfg(unix)]
    for (link, target) in [("link", "net"), ("broken", "nowhere")] {
        std::os::unix::fs::symlink(target, module.lab.path(link)).unwrap();
    }
    module.write(".hidden", "1").commit("1");
    module.git(&["tag", "v1.0.0"]);
    let root = root(&[("net", &source(&module, "net", reference))]);
    Some((module, root))
}

fn source(module: &Repo, sub: &str, reference: &str) -> String {
    let path = module.path().display().to_string().replace('\\', "/");
    format!("git::file://{path}//{sub}?ref={reference}")
}

/// A root in a repository, whose calls are pinned.
fn root(calls: &[(&str, &str)]) -> Repo {
    let mut root = Repo::new().expect("git is there");
    let cache = root.lab.path("cache");
    root.lab.set("LOCKCTL_CACHE_DIR", cache);
    root.write(".lockctl.hcl", "modules {\n  lock = true\n}\n");
    root.write(".gitignore", "cache\n.terraform\n");
    write_calls(&root, calls);
    root
}

fn write_calls(root: &Repo, calls: &[(&str, &str)]) {
    let blocks = calls
        .iter()
        .map(|(name, source)| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n"));
    root.write("main.tf", blocks.collect::<String>());
}

/// Does what `init` does for modules of git.
fn install(root: &Repo, module: &Repo, names: &[&str], sub: &str, reference: &str) {
    let mut records = vec!["{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"}".to_owned()];
    for name in names {
        let dir = format!(".terraform/modules/{name}");
        let _ = std::fs::remove_dir_all(root.lab.path(&dir));
        let url = format!("file://{}", module.path().display());
        root.git(&["clone", "--quiet", "--branch", reference, &url, &dir]);
        let source = source(module, sub, reference);
        records.push(format!(
            "{{\"Key\":\"{name}\",\"Source\":\"{source}\",\"Dir\":\"{dir}/{sub}\"}}"
        ));
    }
    let text = format!("{{\"Modules\":[{}]}}", records.join(","));
    root.write(".terraform/modules/modules.json", text);
}

#[track_caller]
fn runs(root: &Repo, args: &[&str], code: u8, said: &str) -> Outcome {
    let outcome = root.run(args);
    assert_eq!(outcome.code, code, "{args:?}: {outcome:?}");
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(all.contains(said), "{args:?} says no {said:?}: {all}");
    outcome
}

#[test]
fn a_tag_that_moves_changes_nothing_until_it_is_wanted() {
    let Some((module, root)) = with_module("v1.0.0") else {
        return;
    };
    let first = module.git(&["rev-parse", "HEAD"]).trim().to_owned();
    runs(&root, &["lock"], 0, "1 module pinned");
    let pinned = root.lab.read(PINS);
    assert!(
        pinned.contains(&format!("commit = \"{first}\"")),
        "{pinned}"
    );
    runs(&root, &["lock", "--check"], 0, "");
    root.commit("pinned");
    runs(
        &root,
        &[
            "verify",
            "--upstream",
            "--only",
            "configuration,packages,upstream",
        ],
        0,
        "",
    );

    module.write("inner/main.tf", "output \"x\" {\n  value = 2\n}\n");
    let second = module.commit("2");
    module.git(&["tag", "--force", "v1.0.0"]);
    runs(&root, &["lock"], 0, "");
    assert_eq!(root.lab.read(PINS), pinned, "lock keeps what is pinned");
    let moved = format!("it is at commit {second} now, and {first} is pinned");
    runs(&root, &["verify", "--upstream"], 1, &moved);
    runs(&root, &["verify", "--upstream"], 1, "error[module-moved]");
    runs(
        &root,
        &["update", "--pins=other"],
        2,
        "no call of a remote module is named other",
    );
    assert_eq!(root.lab.read(PINS), pinned, "no such call");
    runs(&root, &["update", "--pins", "--check"], 1, "would change");
    runs(
        &root,
        &["update", "--pins=net"],
        0,
        "although its tag is the same",
    );
    assert!(root.lab.read(PINS).contains(&second));
    runs(
        &root,
        &["diff", "--fail-on", "danger"],
        1,
        "danger: module net",
    );
    let json = runs(&root, &["diff", "--format", "json"], 0, "tag-moved").stdout;
    assert!(
        json.contains(&second) && json.contains("\"danger\""),
        "{json}"
    );
}

#[test]
fn pins_move_only_where_there_are_pins() {
    let lab = Lab::new();
    lab.write("main.tf", "module \"net\" {\n  source = \"./net\"\n}\n");
    lab.write("net/main.tf", "locals {\n  a = 1\n}\n");
    for pins in ["--pins", "--pins=net"] {
        lab.run(&["update", pins])
            .exits(2)
            .stderr_has("no root of this run pins its modules");
    }
}

#[test]
fn a_branch_that_was_pushed_over_is_read_from_the_cache_or_not_at_all() {
    let Some((module, root)) = with_module("main") else {
        return;
    };
    runs(&root, &["lock"], 0, "1 module pinned");
    let pinned = root.lab.read(PINS);
    module.write("net/main.tf", "");
    module.git(&["add", "--all"]);
    module.git(&["commit", "--quiet", "--amend", "-m", "other"]);
    module.git(&["tag", "-d", "v1.0.0"]);
    module.git(&["reflog", "expire", "--expire=now", "--all"]);
    module.git(&["gc", "--quiet", "--prune=now"]);
    runs(&root, &["lock"], 0, "");
    assert_eq!(root.lab.read(PINS), pinned);
    runs(&root, &["verify", "--upstream"], 1, "is pinned");
    // Where nothing holds the commit, it counts as not visible, and its pin stays.
    runs(&root, &["lock", "--no-cache"], 0, "");
    assert_eq!(root.lab.read(PINS), pinned);
}

#[test]
fn what_init_installed_is_compared_file_by_file() {
    let Some((module, root)) = with_module("v1.0.0") else {
        return;
    };
    let net = source(&module, "net", "v1.0.0");
    write_calls(&root, &[("net", &net), ("two", &net)]);
    runs(&root, &["lock"], 0, "2 modules pinned");
    install(&root, &module, &["net", "two"], "net", "v1.0.0");
    runs(&root, &["verify"], 0, "");
    // The copy that the programs make for a second call has no names with a dot.
    std::fs::remove_file(root.lab.path(".terraform/modules/two/.hidden")).unwrap();
    runs(&root, &["verify"], 0, "");
    let inner = ".terraform/modules/two/inner/main.tf";
    root.write(inner, "output \"x\" {\n  value = 3\n}\n");
    runs(
        &root,
        &["verify"],
        1,
        ".terraform/modules/two differs in inner/main.tf",
    );
    std::fs::remove_file(root.lab.path(inner)).unwrap();
    root.write(".terraform/modules/two/inner/other.tf", "");
    runs(
        &root,
        &["verify"],
        1,
        "two has inner/other.tf besides the pinned files",
    );
    std::fs::remove_file(root.lab.path(".terraform/modules/two/inner/other.tf")).unwrap();
    runs(&root, &["verify"], 1, "two lacks inner/main.tf");
    root.write(inner, "output \"x\" {\n  value = 1\n}\n");
    runs(&root, &["verify"], 0, "");

    module
        .write("inner/main.tf", "output \"x\" {\n  value = 2\n}\n")
        .commit("2");
    module.git(&["tag", "--force", "v1.0.0"]);
    install(&root, &module, &["net", "two"], "net", "v1.0.0");
    let said = runs(
        &root,
        &["verify"],
        1,
        "error[module-differs]: Module net is not the pinned one",
    );
    assert!(
        said.stdout.contains("net differs in inner/main.tf"),
        "{said:?}"
    );
    // Without the cache no name is known.
    runs(&root, &["verify", "--no-cache"], 1, "net has the hash h1:");
    let text = root.lab.read(".terraform/modules/modules.json");
    root.write(
        ".terraform/modules/modules.json",
        text.replace(".terraform/modules/two/net", "."),
    );
    runs(&root, &["verify"], 1, "modules.json names the directory");
}

#[test]
fn calls_and_pins_belong_together() {
    let Some((module, root)) = with_module("v1.0.0") else {
        return;
    };
    runs(
        &root,
        &["verify"],
        1,
        "error[module-not-pinned]: Module net is not pinned",
    );
    runs(&root, &["lock"], 0, "");
    let other = source(&module, "inner", "v1.0.0");
    write_calls(&root, &[("net", &other), ("new", &other)]);
    runs(
        &root,
        &["verify", "--modules", "fetch"],
        1,
        "pins git::file://",
    );
    runs(
        &root,
        &["verify", "--modules", "fetch"],
        1,
        "Module new is not pinned",
    );
    runs(&root, &["lock"], 0, "module net has another source");
    write_calls(&root, &[("new", &other)]);
    runs(
        &root,
        &["verify"],
        1,
        "warning[module-pin-unused]: No call has the pin net",
    );
    runs(&root, &["lock"], 0, "module net is no longer pinned");
    runs(&root, &["verify"], 0, "");
    root.write(PINS, "module \"new\" {\n  source = \"x\"\n}\n");
    runs(&root, &["lock"], 2, "Incomplete pin");
    runs(&root, &["verify"], 1, "Incomplete pin");
}

#[test]
fn an_archive_that_is_published_again_stops_lock() {
    let Some(_) = Repo::new() else { return };
    let served = crate::temp::dir();
    let archive = served.path().join("m.zip");
    std::fs::write(
        &archive,
        zip_of(&[("main.tf", "output \"x\" {\n  value = 1\n}\n")]),
    )
    .unwrap();
    let server = StaticFiles::start(served.path().to_owned());
    let mut root = root(&[("net", server.url("m.zip").trim_end_matches('/'))]);
    root.lab.set("SSL_CERT_FILE", server.ca_file());
    runs(&root, &["lock"], 0, "1 module pinned");
    let pinned = root.lab.read(PINS);
    runs(&root, &["verify", "--upstream"], 0, "");
    std::fs::write(
        &archive,
        zip_of(&[("main.tf", "output \"x\" {\n  value = 2\n}\n")]),
    )
    .unwrap();
    runs(
        &root,
        &["verify", "--upstream"],
        1,
        "its package has other files now",
    );
    // What the cache holds is the pinned package, as for a commit.
    runs(&root, &["lock"], 0, "");
    runs(&root, &["lock", "--no-cache"], 2, "error[module-moved]");
    assert_eq!(root.lab.read(PINS), pinned);
    runs(
        &root,
        &["update", "--pins"],
        0,
        "module net has other files at the same address: hash h1:",
    );
    runs(&root, &["verify", "--upstream"], 0, "");
}

#[test]
fn a_version_of_a_registry_is_kept_until_it_is_moved() {
    let Some(_) = Repo::new() else { return };
    let served = crate::temp::dir();
    let write = |below: &str, bytes: &[u8]| {
        let path = served.path().join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let server = StaticFiles::start(served.path().to_owned());
    let publish = |versions: &[&str]| {
        let mut listed = Vec::new();
        for version in versions {
            listed.push(format!("{{\"version\": \"{version}\"}}"));
            let location = format!(
                "{{\"location\": \"{}\"}}",
                server.url(&format!("{version}.zip")).trim_end_matches('/')
            );
            write(
                &format!("acme/net/aws/{version}/download"),
                location.as_bytes(),
            );
            write(
                &format!("{version}.zip"),
                &zip_of(&[("main.tf", &format!("# {version}\n"))]),
            );
        }
        let list = format!(
            "{{\"modules\": [{{\"versions\": [{}]}}]}}",
            listed.join(",")
        );
        write("acme/net/aws/versions", list.as_bytes());
    };
    publish(&["1.0.0"]);
    let mut root = root(&[("net", "mods.test/acme/net/aws")]);
    let services = format!(
        "host \"mods.test\" {{\n  services = {{ \"modules.v1\" = \"{}/\" }}\n}}\n",
        server.url("").trim_end_matches('/')
    );
    root.write("cli.tfrc", services);
    root.lab.set("SSL_CERT_FILE", server.ca_file());
    let config = root.lab.path("cli.tfrc");
    root.lab.set("TF_CLI_CONFIG_FILE", config);
    let lock = ["--flavor", "opentofu", "lock"];
    runs(&root, &lock, 0, "1 module pinned");
    assert!(root.lab.read(PINS).contains("version = \"1.0.0\""));
    publish(&["1.0.0", "1.1.0"]);
    runs(&root, &lock, 0, "");
    assert!(root.lab.read(PINS).contains("version = \"1.0.0\""));
    runs(
        &root,
        &["--flavor", "opentofu", "verify", "--upstream"],
        0,
        "",
    );
    runs(
        &root,
        &["--flavor", "opentofu", "update", "--pins"],
        0,
        "went up from version 1.0.0 to version 1.1.0",
    );
    write("1.1.0.zip", &zip_of(&[("main.tf", "# other\n")]));
    runs(
        &root,
        &["--flavor", "opentofu", "verify", "--upstream"],
        1,
        "version 1.1.0 has other files now",
    );
    // The cache has the first files of that version, which are no longer wanted.
    runs(&root, &lock, 0, "");
    let moved = ["--flavor", "opentofu", "update", "--pins=net"];
    let said = "module net has other files at the same version 1.1.0";
    runs(&root, &moved, 0, said);
    runs(
        &root,
        &["--flavor", "opentofu", "verify", "--upstream"],
        0,
        "",
    );
    runs(&root, &lock, 0, "");
}

fn pins(modules: &[(&str, &str)]) -> String {
    let blocks = modules.iter().map(|(name, at)| {
        format!(
            "\nmodule \"{name}\" {{\n  source = \"git::https://h.test/{name}.git\"\n  commit = \"{at}\"\n  hash   = \"h1:{at}\"\n}}\n"
        )
    });
    let header = "# This file is maintained automatically by `lockctl lock`; `lockctl explain modules` describes it.\n# Manual edits may be lost in future updates.\n";
    header.to_owned() + &blocks.collect::<String>()
}

#[test]
fn git_merges_pins_with_the_driver() {
    let Some(root) = Repo::new() else { return };
    let lab = &root.lab;
    for (name, modules) in [
        ("base", [("a", "1"), ("b", "1")]),
        ("ours", [("a", "2"), ("b", "1")]),
        ("theirs", [("a", "1"), ("b", "3")]),
    ] {
        lab.write(name, pins(&modules));
    }
    let merge = ["merge", "base", "ours", "theirs", "--path", PINS];
    runs(&root, &merge, 0, "");
    assert_eq!(lab.read("ours"), pins(&[("a", "2"), ("b", "3")]));
    lab.write("theirs", pins(&[("a", "4"), ("b", "3")]));
    runs(&root, &merge, 1, "module a needs manual resolution");
    let marked = lab.read("ours");
    assert!(
        marked.contains("<<<<<<< ours") && marked.contains(">>>>>>> theirs"),
        "{marked}"
    );
    lab.write(PINS, &marked)
        .write(".lockctl.hcl", "modules {\n  lock = true\n}\n")
        .write("main.tf", "");
    runs(&root, &["lock"], 2, "merge stopped in conflict");
    runs(
        &root,
        &["resolve", "--prefer", "theirs"],
        0,
        "no conflict is left",
    );
    assert_eq!(lab.read(PINS), pins(&[("a", "4"), ("b", "3")]));
}

#[test]
fn a_bill_lists_pinned_modules() {
    let Some((module, root)) = with_module("v1.0.0") else {
        return;
    };
    runs(&root, &["lock"], 0, "1 module pinned");
    root.write(
        LOCK,
        "provider \"registry.terraform.io/a/b\" {\n  version = \"1.0.0\"\n}\n",
    );
    let commit = module.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let pins = root.lab.read(PINS);
    let hash = &pins[pins.find("h1:").expect("a hash")..][..47];
    for format in ["cyclonedx", "spdx"] {
        let bill = runs(&root, &["sbom", "--format", format], 0, "").stdout;
        assert!(bill.contains(&commit) && bill.contains(hash), "{bill}");
    }
    let bill = runs(&root, &["sbom"], 0, "").stdout;
    let bill: serde_json::Value = serde_json::from_str(&bill).expect("JSON");
    let parts = bill["components"].as_array().expect("components");
    let part = parts
        .iter()
        .find(|part| part["version"] == commit.as_str())
        .expect("the module");
    assert_eq!(part["properties"][0]["name"], "lockctl:module-hash");
    let edges = bill["dependencies"].as_array().expect("dependencies");
    assert!(
        edges.iter().any(|edge| {
            let on = edge["dependsOn"].as_array().expect("a list");
            on.contains(&part["bom-ref"])
        }),
        "{bill}"
    );
    // A file that cannot be read leaves the root out.
    root.write(PINS, "module {\n");
    runs(&root, &["sbom"], 2, "Unclosed configuration block");
}
