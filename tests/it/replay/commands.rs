//! Which command of lockctl does what a recorded command does.

use crate::lab::{Lab, Outcome};
use crate::scenarios::Engine;

/// What stands in for a command of a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Counterpart {
    /// `lock` or `update`, with these options.
    Run(&'static str, Vec<String>),
    /// A route of `verify --matrix`, which predicts what the program does.
    Predict(&'static str),
    /// Nothing, for a reason.
    None(&'static str),
}

/// Where a command of lockctl runs, and by whose rules.
pub(super) struct Place<'a> {
    pub(super) lab: &'a Lab,
    /// The root, below the directory of the lab.
    pub(super) root: &'a str,
    pub(super) flavor: &'a str,
}

impl Counterpart {
    /// Reads the arguments of a program, e.g. `providers lock -platform=linux_arm64`.
    pub(super) fn of(engine: Engine, args: &[&str]) -> Self {
        let has = |flag: &str| args.contains(&flag);
        match args {
            ["init", ..] if has("-lockfile=readonly") && has("-upgrade") => {
                Self::None("flags that exclude each other")
            }
            ["init", ..] if has("-lockfile=readonly") => Self::Predict("readonly"),
            ["init", ..] => {
                let command = if has("-upgrade") { "update" } else { "lock" };
                Self::Run(command, options(args, &["--installation", "cli"]))
            }
            ["plan", ..] => Self::Predict("here-plan"),
            ["validate"] => Self::None("`validate` is no route of the matrix"),
            ["providers", "lock", flags @ ..] => {
                if flags.iter().any(|arg| !arg.starts_with('-')) {
                    return Self::None("`lock` has no argument that names a provider");
                }
                if flags.iter().any(|arg| arg.starts_with("-var")) {
                    return Self::None("`lock` has no `--var`");
                }
                if flags.iter().any(|arg| arg.starts_with("-oci-mirror")) {
                    return Self::None("a flag that OpenTofu does not have yet");
                }
                if flags.contains(&"-enable-plugin-cache") {
                    return Self::None("the plugin cache in place of packages");
                }
                let has_json = flags.iter().any(|arg| arg.starts_with("-json"));
                if has_json && engine != Engine::OpenTofu12 {
                    return Self::None("a flag that Terraform does not have");
                }
                Self::Run("lock", options(flags, &[]))
            }
            _ => Self::None("a command that does not lock"),
        }
    }
}

/// Returns the platforms and the source of packages; without one, `source`.
fn options(args: &[&str], source: &[&str]) -> Vec<String> {
    const PAIRS: [(&str, &str); 4] = [
        ("-platform=", "--platform"),
        ("-fs-mirror=", "--fs-mirror"),
        ("-plugin-dir=", "--fs-mirror"),
        ("-net-mirror=", "--net-mirror"),
    ];
    let mut options = Vec::new();
    for arg in args {
        for (theirs, ours) in PAIRS {
            if let Some(value) = arg.strip_prefix(theirs) {
                options.extend([ours.to_owned(), value.to_owned()]);
            }
        }
    }
    if !options.iter().any(|one| one == "--platform") {
        options.extend(["--platform", "linux_amd64"].map(str::to_owned));
    }
    if !options.iter().any(|one| one.ends_with("-mirror")) {
        options.extend(source.iter().map(|&one| one.to_owned()));
    }
    options
}

impl Place<'_> {
    /// Runs a command.
    pub(super) fn run(&self, command: &str, options: &[String]) -> Outcome {
        let mut args = vec![command, "--flavor", self.flavor];
        args.extend(options.iter().map(String::as_str));
        self.lab.run_in(self.root, &args)
    }

    /// Runs `verify --matrix` with packages beside those that are installed; returns whether the
    /// program succeeds by a route, on this platform.
    pub(super) fn predict(&self, route: &str, packages: &[String]) -> (bool, Outcome) {
        let mut args = vec!["verify", "--matrix", "--format", "json"];
        args.extend(["--flavor", self.flavor, "--platform", "linux_amd64"]);
        for package in packages {
            args.extend(["--package", package]);
        }
        let outcome = self.lab.run_in(self.root, &args);
        let json = outcome.json();
        let rows = json["roots"][0]["matrix"].as_array();
        let rows = rows.unwrap_or_else(|| panic!("no matrix: {outcome:#?}"));
        let mut rows = rows.iter().filter(|row| row["route"] == route);
        (rows.all(|row| row["outcome"] != "fails"), outcome)
    }
}

#[test]
fn commands_have_counterparts() {
    let run = |command, options: &[&str]| {
        Counterpart::Run(command, options.iter().map(|&one| one.to_owned()).collect())
    };
    let of =
        |line: &str| Counterpart::of(Engine::Terraform11, &line.split(' ').collect::<Vec<_>>());
    let here = ["--platform", "linux_amd64"];
    let cli = ["--installation", "cli"];
    assert_eq!(of("init -json"), run("lock", &[here, cli].concat()));
    assert_eq!(
        of("init -plugin-dir=p"),
        run("lock", &[["--fs-mirror", "p"], here].concat())
    );
    assert_eq!(
        of("providers lock -platform=a_b -platform=c_d"),
        run("lock", &["--platform", "a_b", "--platform", "c_d"])
    );
    assert_eq!(of("init -upgrade"), run("update", &[here, cli].concat()));
    assert_eq!(
        of("init -lockfile=readonly"),
        Counterpart::Predict("readonly")
    );
    assert!(matches!(of("providers lock a/b"), Counterpart::None(_)));
}
