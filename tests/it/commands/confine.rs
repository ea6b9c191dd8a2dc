//! `--confine`: what a stranger's pull request may reach, and what it may not.

#[cfg(unix)]
use std::path::Path;

use super::*;
#[cfg(unix)]
use lockctl::os::RealDisk;
#[cfg(unix)]
use lockctl::world::{Confined, Disk as _, Files as _, Replaced, is_outside};

/// A word that stands outside only.
const SECRET: &str = "hunter2";

/// A directory with a checkout, and beside it what nobody may see.
fn outside() -> Lab {
    let lab = Lab::new();
    lab.write("secret/main.tf", format!("variable \"{SECRET}\" {{}}\n"));
    lab.write("secret/terraform.tfstate", format!("{SECRET} is no state"));
    lab.write(format!("secret/{LOCK}").as_str(), format!("{SECRET} = 1\n"));
    lab.write("repo/root/main.tf", ONE_PROVIDER);
    lab
}

fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    let args = ["verify", "--confine", "repo", "repo/root"];
    lab.run(&[&args, more].concat())
}

#[track_caller]
fn assert_quiet(outcome: &Outcome) {
    format!("{}{}", outcome.stdout, outcome.stderr).lacks(SECRET);
}

#[test]
fn a_hostile_pull_request_learns_nothing_and_is_reported() {
    let lab = outside();
    let off = "rule \"platforms-incomplete\" {\n  level  = \"off\"\n  reason = \"because\"\n}\n\
               rule \"version-outside-constraint\" {\n  level  = \"off\"\n  reason = \"because\"\n}\n";
    lab.write("repo/.lockctl.hcl", off);
    lab.write("trusted.hcl", "platforms = [\"linux_amd64\"]\n");
    lab.write(
        &format!("repo/root/{LOCK}"),
        "provider \"example.com/t/x\" {\n  version = \"2.0.0\"\n  hashes = [\n    \"zh:00\",\n  ]\n}\n",
    );
    // Believed, the project file of the pull request hides two of the findings.
    verify(&lab, &[]).stdout_has("2 findings turned off");
    let outcome = verify(&lab, &["--config", "trusted.hcl"]).exits(1);
    for rule in [
        "platforms-incomplete",
        "version-outside-constraint",
        "hash-not-well-formed",
    ] {
        outcome.stdout_has(format!("[{rule}]"));
    }
    // What leads outside is an error at its place, and the rest is still judged.
    lab.write(
        "repo/root/more.tf",
        "terraform {\n  backend \"local\" {\n    path = \"../../secret/terraform.tfstate\"\n  }\n}\n\
         module \"out\" {\n  source = \"../../secret\"\n}\n\
         module \"loop\" {\n  source = \"./loop\"\n  key = file(\"../../secret/main.tf\")\n}\n",
    );
    lab.write(
        "repo/root/loop/main.tf",
        "variable \"key\" {}\nmodule \"again\" {\n  source = \"../loop\"\n}\n",
    );
    let outcome = verify(&lab, &["--config", "trusted.hcl"]).exits(2);
    assert_quiet(&outcome);
    for part in [
        "error[module-unreadable]: Unreadable module directory",
        "more.tf:7:12",
        "it is outside of the directory ",
        "[hash-not-well-formed]",
        "[platforms-incomplete]",
    ] {
        outcome.stdout_has(part);
    }
    let huge = format!("# {SECRET}\n").repeat(50 * 1024 * 1024 / 10);
    lab.write(&format!("repo/root/{LOCK}"), huge);
    let outcome = verify(&lab, &["--config", "trusted.hcl"]).exits(2);
    assert_quiet(&outcome);
    outcome.stderr_has("it has more than");
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_are_refused_unseen() {
    use std::os::unix::fs::symlink;
    for (name, target) in [
        ("more.tf", "../../secret/main.tf"),
        (LOCK, "../../secret/.terraform.lock.hcl"),
        ("terraform.tfstate", "../../secret/terraform.tfstate"),
        ("m", "../../secret"),
        (".terraform", "../../secret"),
        ("../.lockctl.hcl", "../secret/main.tf"),
    ] {
        let lab = outside();
        if name == "m" {
            lab.write(
                "repo/root/calls.tf",
                "module \"m\" {\n  source = \"./m\"\n}\n",
            );
        }
        symlink(target, lab.path("repo/root").join(name)).unwrap();
        let outcome = verify(&lab, &["--format", "json"]);
        assert_quiet(&outcome);
        assert_ne!(outcome.code, 0, "{name}: {outcome:#?}");
        // Whether there is something cannot be told apart.
        std::fs::remove_dir_all(lab.path("secret")).unwrap();
        let again = verify(&lab, &["--format", "json"]);
        assert_eq!(again.stdout, outcome.stdout, "{name}");
    }
}

#[test]
fn what_an_option_names_may_lie_elsewhere() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.write("repo/main.tf", ONE_PROVIDER);
    let mirror = ["lock", "--fs-mirror", "mirror", "--confine", "repo", "repo"];
    assert_exit(&lab.run(&[&mirror, BOTH].concat()), 0);
    assert_eq!(lab.read(&format!("repo/{LOCK}")), lab.read(LOCK));
    let outcome = lab.run(&["verify", "--confine", "repo", "."]).exits(2);
    outcome.stderr_has("outside of");
    // What the person keeps outside is passed over, unless it was named.
    let mut lab = lab;
    lab.set("HOME", lab.path("home"));
    lab.write("home/.terraformrc", "nonsense {\n");
    let elsewhere = ONE_PROVIDER.replace("example.com", "localhost:1");
    lab.write("repo/other/main.tf", elsewhere);
    let ask = ["lock", "--confine", "repo", "repo/other"];
    lab.run(&ask).stderr_lacks("terraformrc");
    lab.set("TF_CLI_CONFIG_FILE", lab.path("home/.terraformrc"));
    let outcome = lab.run(&ask).exits(2);
    outcome.stderr_has("outside of");
    outcome.stderr_has("help: unset TF_CLI_CONFIG_FILE");
    let outcome = lab.run(&["verify", "--confine", "nowhere"]).exits(2);
    outcome.stderr_has("name a directory");
}

/// A directory `top` with a file, links of all kinds, and a file beside it.
#[cfg(unix)]
fn linked() -> Lab {
    use std::os::unix::fs::symlink;
    let lab = Lab::new();
    lab.write("top/dir/file", "inside")
        .write("beside/file", "outside");
    for (name, target) in [
        ("short", "dir/file"),
        ("through", "./dir/../dir/"),
        ("twice", "through"),
        ("back", "../top/dir"),
        ("out", "../beside/file"),
        ("out_to_nothing", "../nothing/there"),
        ("loop", "loop"),
    ] {
        symlink(target, lab.path("top").join(name)).unwrap();
    }
    symlink(lab.path("top/dir"), lab.path("top/absolute")).unwrap();
    symlink(lab.path("top"), lab.path("alias")).unwrap();
    lab
}

#[cfg(unix)]
#[test]
fn paths_are_followed_link_by_link() {
    let lab = linked();
    for top in ["top", "alias"] {
        let files = Confined::new(&RealDisk, lab.path(""), Path::new(top), &[]).unwrap();
        let read = |path: &str| files.read(Path::new(path), 100);
        for below in [
            "dir/file",
            "short",
            "through/file",
            "twice/file",
            "twice/../short",
            "back/file",
            "absolute/file",
            "./dir/./file",
        ] {
            assert_eq!(
                read(&format!("{top}/{below}")).unwrap(),
                b"inside",
                "{below}"
            );
            assert_eq!(read(&format!("top/{below}")).unwrap(), b"inside", "{below}");
        }
        for path in [
            "top/out",
            "top/out_to_nothing",
            "beside/file",
            "top/../beside/file",
            "top/dir/../../beside/file",
            "nothing",
            "",
            "top/..",
            "/",
        ] {
            let path = Path::new(path);
            let refused = |error: std::io::Error| assert!(is_outside(&error), "{path:?}: {error}");
            refused(files.read(path, 100).unwrap_err());
            refused(files.list(path).unwrap_err());
            refused(files.replace(path, None, b"").unwrap_err());
        }
        for path in ["top/nothing", "top/loop", "top/nothing/there"] {
            let error = read(path).unwrap_err();
            assert!(!is_outside(&error), "{path}: {error}");
        }
    }
    // Another name of the directory leads there by a link that is outside.
    let files = Confined::new(&RealDisk, lab.path(""), Path::new("top"), &[]).unwrap();
    let error = files.read(Path::new("alias/dir/file"), 100).unwrap_err();
    assert!(is_outside(&error), "{error}");
}

#[cfg(unix)]
#[test]
fn named_files_beside_the_directory_can_be_reached() {
    let lab = linked();
    let named = [lab.path("beside")];
    let files = Confined::new(&RealDisk, lab.path(""), Path::new("top"), &named).unwrap();
    assert_eq!(files.read(Path::new("top/out"), 100).unwrap(), b"outside");
    let done = files
        .replace(Path::new("top/short"), Some(b"inside"), b"new")
        .unwrap();
    assert_eq!(done, Replaced::Done);
    assert_eq!(lab.read("top/dir/file"), "new");
}

// The paths of Windows are no text of a URL as they are.
#[cfg(not(windows))]
#[test]
fn no_repository_of_this_machine_is_fetched() {
    let lab = outside();
    for source in ["git::file://@/secret", "git::@/secret", "@/secret"] {
        let source = source.replace('@', &lab.path("").display().to_string());
        let call = format!(
            "module \"m\" {{\n  source = \"{}\"\n}}\n",
            source.replace("//secret", "/secret")
        );
        lab.write("repo/root/main.tf", call);
        let outcome = verify(&lab, &["--modules", "fetch", "--only", "configuration"]).exits(2);
        assert_quiet(&outcome);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(
            said.contains("outside of the directory"),
            "{source}: {said}"
        );
    }
}
