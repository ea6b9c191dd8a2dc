//! Every command that a failure names parses and runs, and one that fixes something ends the failure.

use super::advised::{Tally, acts_on_a_root, commands_in, is_placeholder, run};
use super::advised_scenes::{Stage, alter_hashes, asking, locked};
use super::registry::{DEMO, TWO, with_registry};
use super::*;

/// A name, the beginning of a command that the failure names, and the scene; `None` where git is not installed.
type FailureScene = (&'static str, &'static str, fn() -> Option<Stage>);

const LOCKS: &str = "lock --flavor terraform@1.11 --platform linux_amd64";

/// A directory with roots `a` and `b`, which no command finds without `-r`.
fn two_roots() -> (crate::registry::Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    for root in ["a", "b"] {
        lab.write(&format!("{root}/main.tf"), DEMO);
    }
    let args = ["lock", "--flavor", "terraform@1.11", "a", "b"];
    lab.run(&[&args[..], TWO].concat()).exits(0);
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    (registry, lab)
}

/// A repository with two commits.
fn repository(finds: &str) -> Option<Stage> {
    let repo = Repo::new()?;
    repo.write("live/main.tf", DEMO);
    repo.commit("first");
    repo.write("live/main.tf", "");
    repo.commit("second");
    let mut stage = Stage::new(repo.lab).found_by(finds);
    stage.is_repository = true;
    Some(stage)
}

const FAILURES: &[FailureScene] = &[
    (
        "locked version outside the constraints",
        "lockctl update",
        || {
            let (registry, lab) = locked(&json!({}));
            lab.write("main.tf", DEMO.replace("~> 1.0.0", "~> 1.2.0"));
            Some(asking((registry, lab), LOCKS))
        },
    ),
    (
        "locked version outside, in one of two roots",
        "lockctl update",
        || {
            let (registry, lab) = two_roots();
            lab.write("b/main.tf", DEMO.replace("~> 1.0.0", "~> 1.2.0"));
            Some(asking((registry, lab), &format!("{LOCKS} -r")))
        },
    ),
    ("locked version gone", "lockctl update", || {
        let list =
            json!({"versions": [{"version": "1.2.0", "protocols": ["5.0"], "platforms": []}]});
        let (registry, lab) = locked(&json!({}));
        lab.write("main.tf", DEMO.replace("~> 1.0.0", "~> 1.0"));
        registry.reset(&json!({"rules": [
            {"kind": "versions", "action": "answer", "text": list.to_string(), "times": -1},
        ]}));
        let finds = "lock --flavor terraform@1.11 --platform linux_arm64 --no-cache";
        Some(asking((registry, lab), finds))
    }),
    ("too young", "lockctl update", || {
        let (registry, lab) = super::age::young_releases();
        Some(asking((registry, lab), LOCKS))
    }),
    ("too young, in two roots", "lockctl update", || {
        let (registry, lab) = super::age::young_releases();
        for root in ["a", "b"] {
            lab.write(&format!("{root}/main.tf"), lab.read("main.tf"));
        }
        std::fs::remove_file(lab.path("main.tf")).unwrap();
        Some(asking((registry, lab), &format!("{LOCKS} a b")))
    }),
    ("hashes contradicted", "lockctl lock", || {
        let (registry, lab) = locked(&json!({}));
        alter_hashes(&lab, &["zh"]);
        Some(asking((registry, lab), &format!("{LOCKS} --no-cache")))
    }),
    ("hashes contradicted, in two roots", "lockctl lock", || {
        let (registry, lab) = two_roots();
        for root in ["a", "b"] {
            lab.write(LOCK, lab.read(&format!("{root}/{LOCK}")));
            alter_hashes(&lab, &["zh", "h1"]);
            lab.write(&format!("{root}/{LOCK}"), lab.read(LOCK));
        }
        std::fs::remove_file(lab.path(LOCK)).unwrap();
        Some(asking((registry, lab), &format!("{LOCKS} -r --no-cache")))
    }),
    ("no lock file", "lockctl lock", || {
        Some(asking(with_registry(DEMO), "show"))
    }),
    ("no lock file of a named root", "lockctl lock", || {
        let (registry, lab) = with_registry(DEMO);
        lab.write("a/main.tf", DEMO);
        Some(asking((registry, lab), "show a --flavor terraform@1.11"))
    }),
    ("nothing to mirror", "lockctl show", || {
        let finds = "mirror m --provider acme/none --flavor terraform@1.11";
        Some(asking(locked(&json!({})), finds))
    }),
    ("nothing to mirror in two roots", "lockctl show", || {
        let finds = "mirror m -r --provider acme/none --flavor terraform@1.11";
        Some(asking(two_roots(), finds))
    }),
    ("nothing to compare", "lockctl tree", || {
        let finds = "outdated acme/none --flavor terraform@1.11";
        Some(asking(locked(&json!({})), finds))
    }),
    ("nothing to compare in two roots", "lockctl tree", || {
        let finds = "outdated acme/none -r --flavor terraform@1.11";
        Some(asking(two_roots(), finds))
    }),
    ("no history", "lockctl log", || repository("log ./nowhere")),
    ("no revision", "git log", || {
        repository("verify --since nowhere -r")
    }),
    ("shallow", "git fetch", || {
        let repo = Repo::new()?;
        repo.git(&["init", "-q", "origin"]);
        for subject in ["first", "second"] {
            repo.git(&[
                "-C",
                "origin",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                subject,
            ]);
        }
        let origin = format!("file://{}", repo.path().join("origin").display());
        repo.git(&["fetch", "-q", "--depth=1", &origin, "HEAD"]);
        repo.git(&["reset", "-q", "--hard", "FETCH_HEAD"]);
        repo.git(&["remote", "add", "origin", &origin]);
        let mut stage = Stage::new(repo.lab).found_by("diff HEAD~1");
        stage.is_repository = true;
        Some(stage)
    }),
    ("a registry refuses access", "terraform login", || {
        let (registry, lab) = with_registry(DEMO);
        registry.reset(&json!({"rules": [{"kind": "versions", "action": "401", "times": -1}]}));
        Some(asking((registry, lab), LOCKS))
    }),
];

/// Returns the failures of the command of a scene, each with the advice that is given.
fn failures(stage: &Stage) -> Vec<(String, String)> {
    let args: Vec<&str> = stage.finds.iter().map(String::as_str).collect();
    let outcome = stage.lab.run(&[&args[..], &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
    let roots = document["roots"].as_array().cloned().unwrap_or_default();
    roots
        .iter()
        .chain([&document])
        .flat_map(|root| root["failures"].as_array().into_iter().flatten())
        .map(|failure| {
            let text = |field: &str| failure[field].as_str().unwrap_or_default().to_owned();
            (text("title"), text("help"))
        })
        .collect()
}

#[test]
fn commands_of_failures_end_them() {
    let mut tally = Tally::default();
    for (name, wanted, scene) in FAILURES {
        let Some(stage) = scene() else { continue };
        let failed = failures(&stage);
        let commands: Vec<Vec<String>> = failed
            .iter()
            .flat_map(|(_, help)| commands_in(help))
            .collect();
        if !commands
            .iter()
            .any(|words| words.join(" ").starts_with(wanted))
        {
            tally.fail(name, format!("no `{wanted}` in {failed:?}"));
            continue;
        }
        let mut acts = false;
        for words in &commands {
            let line = words.join(" ");
            if !tally.commands.insert(format!("{name}: {line}")) {
                continue;
            }
            if let Some(word) = words.iter().find(|word| is_placeholder(word)) {
                tally.fail(name, format!("`{line}` has the literal word {word}"));
                continue;
            }
            let acting = acts_on_a_root(words);
            acts |= acting;
            run(name, &stage, words, acting, &mut tally);
        }
        let titles: Vec<String> = failures(&stage)
            .into_iter()
            .map(|(title, _)| title)
            .collect();
        if acts && failed.iter().any(|(title, _)| titles.contains(title)) {
            tally.fail(
                name,
                format!("it is still there after {commands:?}: {titles:?}"),
            );
        }
    }
    tally.end("failures");
}
