use std::io;
use std::path::Path;

use super::repository::OPTIONS;
use super::*;
use crate::world::Ended;
use crate::world::mem::{MemEnv, MemRun};

fn ended(code: i32, stdout: &str, stderr: &str) -> io::Result<Ended> {
    Ok(Ended {
        code: Some(code),
        stdout: stdout.into(),
        stderr: stderr.into(),
    })
}

/// Answers as git does in a work tree, and by a function to what is asked of it there.
fn work_tree<'a>(answer: impl Fn(&[&str]) -> io::Result<Ended> + Sync + 'a) -> MemRun<'a> {
    MemRun::new(move |invocation| {
        let args = invocation.args.iter().skip(OPTIONS.len());
        let args: Vec<&str> = args.filter_map(|arg| arg.to_str()).collect();
        if args.contains(&"--show-cdup") {
            ended(0, "false\ntrue\n../\nlive/\n", "")
        } else {
            answer(&args)
        }
    })
}

#[test]
fn what_keeps_git_from_answering_is_told_apart() {
    let find = |run: &MemRun<'_>| {
        let error = Repository::find(run, Path::new("x")).expect_err("no repository");
        error.to_string()
    };
    assert_eq!(
        find(&MemRun::nothing()),
        "git is not installed, or not in PATH"
    );
    let run = MemRun::new(|_| ended(128, "", "fatal: not a git repository (or any parent)\n"));
    assert_eq!(find(&run), "x is in no git repository");
    let run = MemRun::new(|_| ended(128, "", "fatal: detected dubious ownership\nmore\n"));
    assert_eq!(
        find(&run),
        "git rev-parse failed: detected dubious ownership"
    );
    let run = MemRun::new(|_| Err(io::ErrorKind::NotADirectory.into()));
    assert_eq!(find(&run), "git could not be run in x");
}

#[test]
fn every_run_of_git_has_limits_of_time_and_memory() {
    let run = MemRun::new(|invocation| {
        let limit = invocation.timeout.expect("a time limit");
        assert!(limit.as_secs() <= 600, "{limit:?}");
        let memory = invocation.memory.expect("a limit of memory");
        assert!(memory <= 2 << 30, "{memory}");
        Err(io::ErrorKind::TimedOut.into())
    });
    let error = Repository::find(&run, Path::new("x")).expect_err("too slow");
    assert_eq!(error.to_string(), "git rev-parse did not end within 20 s");
    let error = Repository::ignores(&run, Path::new("x"), "file").expect_err("too slow");
    assert!(
        error.to_string().starts_with("git check-ignore did not"),
        "{error}"
    );
    assert_eq!(base_of(&run, Path::new("x"), "file", 10), None);
    assert!(!is_unmerged(&run, Path::new("x"), "file"));
    assert!(!wants_base(&run, Path::new("x")));
    assert_eq!(run.ran().len(), 5);
}

/// A FIFO in the place of the index made these wait for ten minutes.
#[test]
fn what_reads_a_single_file_has_a_short_time_limit() {
    let run = MemRun::new(|invocation| {
        assert_eq!(invocation.timeout.map(|limit| limit.as_secs()), Some(20));
        Err(io::ErrorKind::TimedOut.into())
    });
    let dir = Path::new("x");
    assert_eq!(base_of(&run, dir, "file", 10), None);
    assert!(!is_unmerged(&run, dir, "file"));
    let marking = Marking {
        size: 7,
        labels: ["ours", "base", "theirs"],
        shows_base: false,
    };
    let error = merge_file(&run, [dir; 3], &marking, 10).expect_err("too slow");
    assert_eq!(error.to_string(), "git merge-file did not end within 20 s");
    let error = Repository::anywhere(&run, dir)
        .output(&["check-attr"], &[], 10)
        .expect_err("too slow");
    assert_eq!(error.to_string(), "git check-attr did not end within 20 s");
    assert_eq!(run.ran().len(), 4);
}

#[test]
fn the_top_and_the_way_down_are_found() {
    let run = work_tree(|_| ended(0, "", ""));
    let repository = Repository::find(&run, Path::new("a")).expect("found");
    assert_eq!(repository.top(), Some(Path::new("a/../")));
    assert_eq!(repository.prefix(), Path::new("live"));
    let run = MemRun::new(|_| ended(0, "false\n\n\n", ""));
    let found = Repository::find(&run, Path::new("a")).expect("found");
    assert_eq!(found.top(), None);
}

#[test]
fn a_text_like_an_option_never_reaches_git() {
    let run = work_tree(|_| ended(0, "", ""));
    let repository = Repository::find(&run, Path::new(".")).expect("found");
    for text in [
        "-h",
        "--output=x",
        "",
        "a\nb",
        "a\0b",
        "--upload-pack=x...HEAD",
    ] {
        let error = repository.sides(text).map(drop).expect_err("refused");
        assert!(!error.to_string().is_empty());
    }
    assert_eq!(run.ran().len(), 1, "only the repository was searched");
}

#[test]
fn answers_that_make_no_sense_are_refused() {
    let zeros = "0".repeat(40);
    let some = "1".repeat(40);
    for said in [
        "nonsense\0path\0",
        ":100644 100644 1 2\0path\0",
        &format!(":100644 100644 {some} {some} X\0path\0"),
        &format!(":100644 100644 {some} {zeros} R100\0path"),
    ] {
        let run = work_tree(|args| match args[0] {
            "rev-parse" => ended(0, &format!("{some}\n"), ""),
            "diff" => ended(0, said, ""),
            _ => ended(0, "", ""),
        });
        let repository = Repository::find(&run, Path::new(".")).expect("found");
        let (old, new) = repository.sides("HEAD").expect("two sides");
        let error = repository.changes(&old, &new).expect_err("no list");
        assert_eq!(
            error.to_string(),
            "the output of git diff was not understood",
            "{said}"
        );
    }
}

/// Reads files of one repository, whose git prints this about them.
fn read(said: &'static str, names: &[&str], limit: u64) -> Result<Vec<BlobContent>, GitError> {
    let run = work_tree(|_| ended(0, said, ""));
    let repository = Repository::find(&run, Path::new(".")).expect("found");
    let names: Vec<ObjectId> = names
        .iter()
        .filter_map(|digit| ObjectId::read(&digit.repeat(40)))
        .collect();
    let read = repository.read(&names, limit);
    assert_eq!(
        run.ran().len(),
        2,
        "one process for the repository, one for all files"
    );
    read
}

#[test]
fn files_are_read_by_one_process() {
    let said = "blob 2\nab\n1234 missing\nblob 5\nblob \ntree 1\n\n\nblob 0\n\n";
    assert_eq!(
        read(said, &["1", "2", "3", "4", "5"], 4).expect("read"),
        [
            BlobContent::Bytes(b"ab".to_vec()),
            BlobContent::Missing,
            BlobContent::TooLarge { bytes: 5 },
            BlobContent::Missing,
            BlobContent::Bytes(Vec::new()),
        ]
    );
    for said in [
        "blob 3\n4\nabcd\n",
        "blob 3\nabc",
        "blob x\nabc\n",
        "blob\n",
        "ambiguous\n",
        "",
    ] {
        assert!(read(said, &["1"], 10).is_err(), "{said}");
    }
}

#[test]
fn files_that_are_too_large_are_not_printed() {
    let run = work_tree(|args| match args[1] {
        "--batch=%(objecttype) %(objectsize)" => Err(io::ErrorKind::FileTooLarge.into()),
        "--batch=%(objectsize)" => ended(0, "2\nab\n", ""),
        _ => ended(0, "blob 90000000\nblob 2\n", ""),
    });
    let repository = Repository::find(&run, Path::new(".")).expect("found");
    let names = ["1", "2"].map(|digit| ObjectId::read(&digit.repeat(40)).expect("a name"));
    assert_eq!(
        repository.read(&names, 10).expect("read"),
        [
            BlobContent::TooLarge { bytes: 90_000_000 },
            BlobContent::Bytes(b"ab".to_vec()),
        ]
    );
}

#[test]
fn a_plan_names_only_what_differs() {
    let run = work_tree(|args| match args.last() {
        Some(&"merge.lockctl.name") => ended(0, &format!("{}\0", SETTINGS[0].1), ""),
        Some(&"diff.lockctl.textconv") => ended(0, "other\0", ""),
        _ => ended(1, "", ""),
    });
    let wiring = Wiring::find(&run, &MemEnv::default(), Path::new("."), ConfigScope::Local);
    let wiring = wiring.expect("found");
    let changed = |plan: &WiringPlan| -> Vec<&str> {
        plan.settings.iter().map(|change| change.name).collect()
    };
    let plan = wiring.plan(WiringGoal::Installed, None).expect("a plan");
    assert_eq!(
        changed(&plan),
        ["merge.lockctl.driver", "diff.lockctl.textconv"]
    );
    let attributes = plan.attributes.expect("a new file").new;
    let plan = wiring.plan(WiringGoal::Installed, Some(attributes.clone()));
    assert_eq!(plan.expect("a plan").attributes, None);
    let plan = wiring.plan(WiringGoal::Removed, Some(attributes));
    let plan = plan.expect("a plan");
    assert_eq!(
        changed(&plan),
        ["merge.lockctl.name", "diff.lockctl.textconv"]
    );
    // Nothing else was in the file.
    assert_eq!(plan.attributes.expect("a change").new, b"");
}
