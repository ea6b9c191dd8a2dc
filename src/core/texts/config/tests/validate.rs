//! One file (and an override file) at a time: titles and lines, by flavor.
//!
//! What Terraform 1.11 says was tried with it; the others are recorded cases or follow from them.

use std::path::Path;

use crate::config::Settings;
use crate::config::load;
use crate::diag::{Severity, Texts};
use crate::flavor::Flavor;
use crate::world::mem::MemFiles;

/// Says what is wrong with some files, as `LINE title`.
#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &[&str]) {
    for flavor in Flavor::ALL {
        let mut texts = Texts::default();
        let disk = MemFiles::with(files);
        let loaded = load(&disk, &mut texts, Path::new(""), &Settings::new(flavor));
        let reported: Vec<String> = loaded
            .diagnostics
            .iter()
            .filter(|error| error.severity == Severity::Error)
            .map(|error| {
                let label = error.primary.as_ref().expect("every error has a place");
                let line = texts.position(label.file, label.span.start).line;
                format!("{line} {}", error.title)
            })
            .collect();
        assert_eq!(reported, expected, "{flavor}: {files:?}");
    }
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_files(&[("main.tf", text), ("m/m.tf", "")], expected);
}

#[test]
fn what_requires_nothing_is_not_looked_into() {
    for text in [
        "resource \"a_x\" \"x\" {\ncount = 1\nfor_each = {}\nlocals {}\n}",
        "resource \"a_x\" \"x\" {\nlifecycle {\nnope = a\n}\nlifecycle {}\nprovisioner {}\n}",
        "module \"m\" {\nsource = \"./m\"\nproviders = [a]\ndepends_on = 1\n}",
        "moved {}\nremoved {\nfrom = 1\n}\ncheck \"c d\" {}\noutput \"a b\" {}",
        "terraform {\nprovider_meta \"a_b\" {\nx = y\n}\n}",
        "import {}\nimport {\nto = a[*]\n}",
        "variable \"count\" {\nnope = 1\ndefault = var.x\nsensitive = \"maybe\"\n}",
        "variable \"v\" {\ntype = number\ndefault = \"x\"\n}",
        "provider \"a\" {\ncount = 1\n}\nprovider \"a\" {\nalias = 1\n}",
        "output \"o\" {}\noutput \"o\" {}\nlocals {\nx {}\n}",
        "terraform {\nbackend \"nope\" {\n}\ncloud {\nnope = 1\n}\n}",
    ] {
        check(text, &[]);
    }
    check(
        "moved \"x\" {\nfrom =\n}",
        &["1 Extraneous label for moved", "2 Invalid expression"],
    );
    check(
        "provider \"a_b\" {\ncount = 1\n}",
        &["1 Invalid provider local name"],
    );
}

#[test]
fn what_leaves_open_which_one_counts_is_refused() {
    for (text, line, title) in [
        ("variable \"v\" {}\n", 2, "Duplicate variable declaration"),
        (
            "locals {\na = 1\n}\n",
            5,
            "Duplicate local value definition",
        ),
        (
            "module \"m\" {\nsource = \"./m\"\n}\n",
            4,
            "Duplicate module call",
        ),
        (
            "terraform {\nrequired_providers {}\n}\n",
            5,
            "Duplicate required providers configuration",
        ),
    ] {
        check(&text.repeat(2), &[&format!("{line} {title}")]);
    }
}

#[test]
fn what_no_override_can_change_is_passed_over() {
    let base = "resource \"a_x\" \"x\" {}\nvariable \"v\" {}\n";
    let over = "moved {}\nimport {}\ncheck \"c\" {}\n\
                resource \"a_x\" \"x\" {\ndepends_on = [a.b]\nlifecycle {\nprecondition {}\n}\n}\n\
                variable \"v\" {\nvalidation {}\n}\n";
    check_files(&[("main.tf", base), ("x_override.tf", over)], &[]);
}
