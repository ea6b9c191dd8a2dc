//! What `verify` foretells for each route against what the real program does.

use std::path::Path;

use lockctl::coverage::{Outcome, Prediction, Route, without_h1};
use lockctl::hash::{Hash, Hashes};

use crate::LOCK;
use crate::lab::{Lab, zip_of};
use crate::terraform::Terraform;

const PACKAGE: &str = "example.com/t/x/1.0.0/linux_amd64";
const ROOT: &str = "terraform {\n  required_providers {\n    x = { source = \"example.com/t/x\" }\n  }\n}\n\ndata \"x_thing\" \"a\" {}\n";

/// Each row: what an entry holds beside, perhaps, the zh of the package that is installed.
const ENTRIES: [(&[&str], bool); 7] = [
    (&[], false),
    (&["h2:x"], false),
    (&["h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="], false),
    (
        &["h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "zh:00"],
        false,
    ),
    (
        &["h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "zh:00"],
        true,
    ),
    (&["zh:00"], true),
    (&[], true),
];

#[test]
fn routes_come_out_as_foretold() {
    let Some(terraform) = Terraform::find() else {
        return;
    };
    if lockctl::platform::Platform::current().to_string() != "linux_amd64" {
        println!("skipped: the packages here are for linux_amd64");
        return;
    }
    let zip = zip_of(&[("terraform-provider-x_v1.0.0", "fake")]);
    let own = lockctl::hash::zh(&*zip).unwrap();
    let mut compared = 0;
    for (texts, with_own) in ENTRIES {
        let mut hashes: Hashes = texts
            .iter()
            .map(|text| text.parse::<Hash>().unwrap())
            .collect();
        if with_own {
            hashes.insert(own.clone());
        }
        for prediction in without_h1(&hashes, terraform.rules) {
            // A registry hands out a zip, as a packed mirror does; a cache is not in the way.
            let (layout, args): (_, &[&str]) = match prediction.route {
                Route::Registry | Route::PluginCache => ("packed", &["init"]),
                Route::UnpackedMirror => ("unpacked", &["init"]),
                Route::Readonly => ("packed", &["init", "-lockfile=readonly"]),
                Route::PlanAfterInit => ("packed", &["plan", "-input=false"]),
            };
            let lab = Lab::new();
            write_lab(&lab, layout, &zip, &hashes);
            terraform.use_mirror(&lab);
            if prediction.route == Route::PlanAfterInit {
                terraform.run(&lab, "root", &["init", "-lockfile=readonly", "-no-color"]);
            }
            let found = run(&terraform, &lab, args);
            check(&prediction, &found, &hashes);
            compared += 1;
        }
    }
    assert_eq!(compared, 35);
    println!("parity: {compared} predictions of routes hold");
}

/// What the program did.
struct Found {
    succeeded: bool,
    said: String,
    rewrote: bool,
}

fn write_lab(lab: &Lab, layout: &str, zip: &[u8], hashes: &Hashes) {
    lab.write("root/main.tf", ROOT);
    match layout {
        "packed" => lab.write(
            "mirror/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip",
            zip,
        ),
        _ => lab.unpacked("mirror", PACKAGE, "fake"),
    };
    let list: Vec<String> = hashes
        .iter()
        .map(|hash| format!("{:?}", hash.as_str()))
        .collect();
    let list = if list.is_empty() {
        String::new()
    } else {
        format!("  hashes = [{}]\n", list.join(", "))
    };
    let text = format!("provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n{list}}}\n");
    lab.write(&format!("root/{LOCK}"), text);
}

fn run(terraform: &Terraform, lab: &Lab, args: &[&str]) -> Found {
    let before = lab.read(&format!("root/{LOCK}"));
    let (succeeded, said) = terraform.run(lab, "root", &[args, &["-no-color"]].concat());
    assert!(Path::new(&lab.path("root")).exists());
    Found {
        succeeded,
        said,
        rewrote: lab.read(&format!("root/{LOCK}")) != before,
    }
}

#[track_caller]
fn check(prediction: &Prediction, found: &Found, hashes: &Hashes) {
    let context = format!("{prediction:?} for {hashes:?}:\n{}", found.said);
    if let Some(title) = prediction.title {
        assert!(found.said.contains(title), "{context}");
    }
    match prediction.outcome {
        Outcome::Rewrites | Outcome::RewritesUnchecked => {
            assert!(found.succeeded && found.rewrote, "{context}");
        }
        Outcome::Warns => assert!(found.succeeded && !found.rewrote, "{context}"),
        Outcome::Fails => assert!(!found.succeeded && !found.rewrote, "{context}"),
        // A made-up provider does not start, which is the next thing that plan wants.
        Outcome::Passes => assert!(
            found.said.contains("Failed to load plugin schemas"),
            "{context}"
        ),
    }
}
