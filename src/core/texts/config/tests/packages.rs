//! Packages among the files of a root.

use std::sync::{Arc, Mutex};

use super::*;
use crate::diag::Severity;
use crate::remote_module::{
    FoundModule, ModuleFailure, ModuleFailureKind, ModuleRequest, RemoteModules, RequestedSource,
};

/// The packages that a double has, by the text of their address without the host of a registry.
struct Shelf(Vec<(&'static str, &'static [(&'static str, &'static str)])>);

fn package_and_directory<'a>(request: &ModuleRequest<'a>) -> (&'a str, &'a str) {
    match request.source {
        RequestedSource::Registry(one, _) => (&one.name, &one.sub),
        RequestedSource::Remote(one) => (&one.package, &one.sub),
    }
}

impl RemoteModules for Shelf {
    fn find(&self, request: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
        let (package, sub) = package_and_directory(request);
        let failure = |kind| ModuleFailure {
            kind,
            title: "Failed to download module",
            cause: format!("{package} is not on the shelf"),
            help: Some("look elsewhere".to_owned()),
        };
        match package {
            "git::https://h.test/silent" => return Err(failure(ModuleFailureKind::Unreachable)),
            "https://h.test/x" => return Err(failure(ModuleFailureKind::Refused("module-unsafe"))),
            _ => {}
        }
        let mut shelf = self.0.iter();
        let found = shelf.find(|(name, _)| *name == package);
        let (name, files) = found.ok_or_else(|| failure(ModuleFailureKind::Missing))?;
        Ok(FoundModule {
            files: Arc::new(MemFiles::with(files)),
            dir: PathBuf::from(sub),
            package: Arc::from(*name),
            shown: Arc::from(*name),
            version: None,
            commit: None,
            place: None,
            hash: None,
            warnings: Vec::new(),
        })
    }
}

const NET: &[(&str, &str)] = &[
    (
        "main.tf",
        "module \"in\" {\n  source = \"./inner\"\n}\nresource \"aws_vpc\" \"x\" {\n}\n",
    ),
    ("inner/main.tf", "resource \"null_resource\" \"x\" {\n}\n"),
    (
        "up/main.tf",
        "module \"q\" {\n  source = \"../../other\"\n}\n",
    ),
    (".hidden/main.tf", "resource \"tls_x\" \"x\" {\n}\n"),
    ("bad/main.tf", "resource \"x\" {\n"),
];

#[track_caller]
fn check_shelf(root: &str, unreached: Unreached, expected: &[&str]) {
    let shelf = Shelf(vec![("net", NET), ("git::https://h.test/r", NET)]);
    let files = MemFiles::with(&[("main.tf", root)]);
    let outside = ConfigSources {
        files: &files,
        modules: &shelf,
    };
    let settings = Settings {
        unreached,
        ..Settings::new(TERRAFORM)
    };
    let mut texts = Texts::default();
    let loaded = load_with(outside, &mut texts, Path::new(""), &settings);
    let outline = outlined(&loaded, &texts, TERRAFORM);
    let lines: Vec<&str> = outline.lines().collect();
    assert_eq!(lines, expected);
}

#[test]
fn packages_are_where_they_would_be_installed() {
    let root = "module \"a\" {\n  source = \"acme/net/aws\"\n}\n";
    check_shelf(
        root,
        Unreached::Unseen,
        &["a: hashicorp/aws", "a.in: hashicorp/null"],
    );
    let shelf = Shelf(vec![("net", NET)]);
    let files = MemFiles::with(&[("main.tf", root)]);
    let outside = ConfigSources {
        files: &files,
        modules: &shelf,
    };
    let settings = Settings::new(TERRAFORM);
    let loaded = load_with(outside, &mut Texts::default(), Path::new(""), &settings);
    let dirs = loaded
        .modules
        .iter()
        .map(|node| slashed(node.dir.clone().unwrap()));
    let dirs: Vec<String> = dirs.collect();
    assert_eq!(
        dirs,
        ["", ".terraform/modules/a", ".terraform/modules/a/inner"]
    );
}

#[test]
fn calls_do_not_leave_their_package() {
    check_shelf(
        "module \"a\" {\n  source = \"acme/net/aws//up\"\n}\n",
        Unreached::Unseen,
        &["net//up/main.tf:2: Local module path escapes module package"],
    );
}

#[test]
fn files_of_packages_are_named_by_their_package() {
    check_shelf(
        "module \"a\" {\n  source = \"git::https://h.test/r//bad\"\n}\n",
        Unreached::Unseen,
        &["git::https://h.test/r//bad/main.tf:1: Unclosed configuration block"],
    );
}

#[test]
fn the_copy_for_a_second_call_lacks_names_with_a_dot() {
    check_shelf(
        "module \"a\" {\n  source = \"acme/net/aws//.hidden\"\n}\n\
         module \"b\" {\n  source = \"acme/net/aws//.hidden\"\n}\n",
        Unreached::Unseen,
        &[
            "a: hashicorp/tls",
            "main.tf:5: Unreadable module subdirectory",
        ],
    );
    check_shelf(
        "module \"a\" {\n  source = \"git::https://h.test/r\"\n}\n\
         module \"b\" {\n  source = \"git::https://h.test/r//.hidden\"\n}\n",
        Unreached::Unseen,
        &[
            "a: hashicorp/aws",
            "a.in: hashicorp/null",
            "main.tf:5: Failed to expand subdir globs",
        ],
    );
}

#[test]
fn failures_are_errors_or_calls_that_cannot_be_seen() {
    let silent = "module \"a\" {\n  source = \"git::https://h.test/silent\"\n}\n";
    check_shelf(
        silent,
        Unreached::Unseen,
        &[
            "a ? git::https://h.test/silent",
            "main.tf:2: Failed to download module",
        ],
    );
    check_shelf(
        silent,
        Unreached::Error,
        &["main.tf:2: Failed to download module"],
    );
    let missing = "module \"a\" {\n  source = \"git::https://h.test/nothing\"\n}\n";
    let error = "main.tf:2: Failed to download module";
    check_shelf(
        missing,
        Unreached::Unseen,
        &["a ? git::https://h.test/nothing", error],
    );
    check_shelf(missing, Unreached::Error, &[error]);
    let unsafe_one = "module \"a\" {\n  source = \"https://h.test/x\"\n}\n";
    check_shelf(unsafe_one, Unreached::Unseen, &[error]);
}

/// Writes down what is announced.
struct Announced<'a>(Shelf, &'a Mutex<Vec<Vec<String>>>);

impl RemoteModules for Announced<'_> {
    fn find(&self, request: &ModuleRequest<'_>) -> Result<FoundModule, ModuleFailure> {
        self.0.find(request)
    }

    fn prepare(&self, requests: &[ModuleRequest<'_>]) {
        let packages = requests
            .iter()
            .map(|request| package_and_directory(request).0.to_owned());
        self.1
            .lock()
            .expect("no thread panics")
            .push(packages.collect());
    }
}

#[test]
fn what_the_calls_of_a_module_ask_for_is_announced() {
    let root = "module \"a\" {\n  source = \"./a\"\n}\n\
                module \"b\" {\n  source = \"acme/net/aws\"\n}\n\
                module \"c\" {\n  source = \"git::https://h.test/r//..\"\n}\n\
                module \"d\" {\n  source = \"git::https://h.test/r\"\n}\n\
                module \"e\" {\n  source = \"git::https://h.test/x\"\n}\n";
    let records = r#"{"Modules":[{"Key":"e","Source":"git::https://h.test/x","Dir":"a"}]}"#;
    let files = MemFiles::with(&[
        ("main.tf", root),
        (
            "a/main.tf",
            "module \"f\" {\n  source = \"acme/net/aws\"\n}\n",
        ),
        (".terraform/modules/modules.json", records),
    ]);
    let announced = Mutex::default();
    let shelf = Shelf(vec![("net", NET), ("git::https://h.test/r", NET)]);
    let outside = ConfigSources {
        files: &files,
        modules: &Announced(shelf, &announced),
    };
    let settings = Settings::new(TERRAFORM);
    load_with(outside, &mut Texts::default(), Path::new(""), &settings);
    let mut announced = announced.into_inner().expect("no thread panics");
    announced.retain(|packages| !packages.is_empty());
    let repository = "git::https://h.test/r";
    assert_eq!(
        announced,
        [vec!["net", repository], vec!["net"], vec!["net"]]
    );
}

/// Checks calls into the packages of other calls; those of `a` are on the shelf, those of `gone` are not.
#[track_caller]
fn check_inside(root: &str, data_dir: &str, expected: &[&str]) {
    let shelf = Shelf(vec![("git::https://h.test/a", NET)]);
    let nested = "module \"q\" {\n  source = \"../.terraform/modules/a/inner\"\n}\n";
    let files = MemFiles::with(&[("main.tf", root), ("nested/main.tf", nested)]);
    let outside = ConfigSources {
        files: &files,
        modules: &shelf,
    };
    for flavor in Flavor::ALL {
        let settings = Settings {
            data_dir: data_dir.into(),
            ..Settings::new(flavor)
        };
        let mut texts = Texts::default();
        let loaded = load_with(outside, &mut texts, Path::new(""), &settings);
        let mut outline: Vec<String> = loaded
            .modules
            .iter()
            .map(|node| format!("{}: {}", node.path, node.unseen.unwrap_or("visible")))
            .collect();
        let errors = loaded
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error);
        outline.extend(errors.map(|error| error.title.clone()));
        assert_eq!(outline[1..], *expected, "{flavor}");
    }
}

#[test]
fn a_local_module_in_the_package_of_a_call_is_as_visible_as_that() {
    let call =
        |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    let remote = |name: &str| call(name, &format!("git::https://h.test/{name}"));
    let gone = "Failed to download module";
    let inside = "Module is in another one that is not visible";
    let there = "./.terraform/modules";
    // Whichever comes first in the file: the package is fetched before anything is read from it.
    for [first, second] in [["x", "a"], ["a", "x"]] {
        let one = |name: &str| match name {
            "x" => call("x", &format!("{there}/a/inner")),
            name => remote(name),
        };
        let all = [
            "module.a: visible",
            "module.a.module.in: visible",
            "module.x: visible",
        ];
        check_inside(&(one(first) + &one(second)), ".terraform", &all);
    }
    let own = call("x", &format!("{there}/gone/sub")) + &call("y", &format!("{there}/gone"));
    check_inside(
        &(own + &remote("gone")),
        ".terraform",
        &[
            &format!("module.gone: {gone}"),
            &format!("module.x: {inside}"),
            &format!("module.y: {inside}"),
        ],
    );
    // Another data directory, also where a source still names the usual one.
    for source in ["./d/modules/gone/sub", "./.terraform/modules/gone/sub"] {
        check_inside(
            &(remote("gone") + &call("x", source)),
            "d",
            &[
                &format!("module.gone: {gone}"),
                &format!("module.x: {inside}"),
            ],
        );
    }
    // From a module below, which may come before the call.
    let nested = call("m", "./nested") + &remote("a");
    check_inside(
        &nested,
        ".terraform",
        &[
            "module.m: visible",
            &format!("module.m.module.q: {inside}"),
            "module.a: visible",
            "module.a.module.in: visible",
        ],
    );
    // What is no package of any call, or no directory of a visible one, is missing.
    let unreadable = "Unreadable module directory";
    check_inside(
        &call("x", &format!("{there}/none/sub")),
        ".terraform",
        &[unreadable],
    );
    check_inside(
        &(remote("a") + &call("x", &format!("{there}/a/none"))),
        ".terraform",
        &[
            "module.a: visible",
            "module.a.module.in: visible",
            unreadable,
        ],
    );
}
