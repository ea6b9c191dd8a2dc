//! Three lock files into one, and conflict markers out of one.

use super::*;

const HEADER: &str = "# This file is maintained automatically by \"terraform init\".\n\
                      # Manual edits may be lost in future updates.\n";

/// A lock file of entries `TYPE VERSION HASH-LETTER…`.
pub(super) fn file(entries: &[&str]) -> String {
    let blocks = entries.iter().map(|entry| {
        let words: Vec<&str> = entry.split_whitespace().collect();
        let [name, version, hashes @ ..] = words.as_slice() else {
            panic!("{entry}")
        };
        let hashes = hashes
            .iter()
            .map(|letter| format!("    \"h1:{}=\",\n", letter.repeat(43)));
        let hashes: String = hashes.collect();
        format!(
            "\nprovider \"example.com/t/{name}\" {{\n  version = \"{version}\"\n  hashes = [\n{hashes}  ]\n}}\n"
        )
    });
    HEADER.to_owned() + &blocks.collect::<String>()
}

/// Merges three files; returns how it went, what stands in ours and what was said.
fn merge(sides: [&str; 3], more: &[&str]) -> (u8, String, String) {
    let lab = Lab::new();
    for (name, text) in ["base", "ours", "theirs"].iter().zip(sides) {
        lab.write(name, text);
    }
    let path = ["--path", LOCK];
    let args = [&["merge", "base", "ours", "theirs"], &path[..], more].concat();
    let outcome = lab.run(&args);
    assert!(outcome.stdout.is_empty(), "{outcome:?}");
    (outcome.code, lab.read("ours"), outcome.stderr)
}

#[test]
fn additions_of_both_sides_come_together() {
    let (code, text, said) = merge(
        [
            &file(&["b 1.0.0 a b"]),
            &file(&["a 1.0.0 a", "b 1.0.0 a"]),
            &file(&["b 1.0.0 a b c", "c 1.0.0 a"]),
        ],
        &[],
    );
    assert_eq!(code, 0, "{said}");
    assert_eq!(text, file(&["a 1.0.0 a", "b 1.0.0 a c", "c 1.0.0 a"]));
    said.reads(str![[r#"
note: .terraform.lock.hcl: merged entry by entry: 1 provider changed by us, 1 provider changed by them, 1 provider changed by both

"#]]);
}

#[test]
fn only_the_block_in_question_is_marked() {
    let sides = [
        file(&["a 1.0.0 a", "b 1.5.0 a", "c 1.0.0 a"]),
        file(&["a 1.0.0 a b", "b 1.6.0 b", "c 1.0.0 a"]),
        file(&["a 1.0.0 a", "b 1.4.0 c", "c 1.1.0 d"]),
    ];
    let sides = [&*sides[0], &sides[1], &sides[2]];
    let style = ["--conflict-style", "diff3", "--marker-size", "9"];
    let labels = ["--label-ours", "HEAD", "--label-theirs", "%Y"];
    let (code, text, said) = merge(sides, &[&style[..], &labels].concat());
    assert_eq!(code, 1, "{said}");
    said.reads(str![[r#"
note: .terraform.lock.hcl: merged entry by entry: 1 provider changed by us, 1 provider changed by them, 1 provider changed by both
error: .terraform.lock.hcl: example.com/t/b needs manual resolution: we have 1.6.0, they have 1.4.0, before 1.5.0
note: run `lockctl resolve . --prefer ours` or `--prefer theirs`, or edit the blocks between the markers and delete the markers; then run `git add .terraform.lock.hcl`

"#]]);
    let blocks = |name: &str| file(&[name]).replace(HEADER, "").trim_start().to_owned();
    let wanted = format!(
        "{}\n<<<<<<<<< HEAD\n{}||||||||| base\n{}=========\n{}>>>>>>>>> theirs\n\n{}",
        file(&["a 1.0.0 a b"]),
        blocks("b 1.6.0 b"),
        blocks("b 1.5.0 a"),
        blocks("b 1.4.0 c"),
        blocks("c 1.1.0 d"),
    );
    assert_eq!(text, wanted);
    for (side, version) in [("ours", "b 1.6.0 b"), ("theirs", "b 1.4.0 c")] {
        let (code, text, said) = merge(sides, &["--prefer", side]);
        assert_eq!(code, 0, "{said}");
        assert_eq!(text, file(&["a 1.0.0 a b", version, "c 1.1.0 d"]));
        said.has("; run `lockctl lock .`");
    }
}

/// A lock file of one entry with constraints.
fn constrained(version: &str, constraints: &str) -> String {
    file(&[&format!("a {version} a")])
        .replace("  version", "  version    ")
        .replace(
            "  hashes",
            &format!("  constraints = \"{constraints}\"\n  hashes"),
        )
}

/// Our side pins the version of the base, and their side moves on.
#[test]
fn constraints_that_exclude_the_version_of_the_other_side_are_a_conflict() {
    let base = constrained("2.0.0", "<= 3.0.0");
    let ours = constrained("2.0.0", "2.0.0");
    let theirs = constrained("3.0.0", "<= 3.0.0");
    for prefer in ["newest", "fail"] {
        let (code, text, said) = merge([&base, &ours, &theirs], &["--prefer", prefer]);
        assert_eq!(code, 1, "{said}");
        text.has(">>>>>>> theirs");
        said.has(
            "example.com/t/a needs manual resolution: we have 2.0.0 with the constraints \"2.0.0\", \
             they have 3.0.0, before 2.0.0",
        );
        said.has("run `lockctl resolve . --prefer ours` or `--prefer theirs`, or edit");
    }
    let (code, text, said) = merge([&base, &theirs, &ours], &["--prefer", "ours"]);
    assert_eq!((code, text), (0, theirs.clone()));
    said.reads(str![[r#"
note: .terraform.lock.hcl: merged entry by entry: 1 provider changed by both
warning: .terraform.lock.hcl: example.com/t/a 3.0.0: the sides have different versions; constraints of one side exclude the one shown here, which was taken; run `lockctl lock .`, or `lockctl update . example.com/t/a` if the configuration excludes it

"#]]);

    // The configuration has the pin of the other side.
    let lab = simple();
    let pinned = ONE_PROVIDER
        .replace("t/x", "t/a")
        .replace("~> 1.0", "2.0.0");
    let packages = "platforms = [\"linux_amd64\"]\npackages {\n  fs_mirror = \"mirror\"\n}\n";
    lab.write(LOCK, &theirs)
        .write("main.tf", pinned)
        .write(".lockctl.hcl", packages)
        .unpacked("mirror", "example.com/t/a/2.0.0/linux_amd64", "two");
    lab.run(&["lock"]).exits(2).stderr_has("lockctl update");
    lab.run(&["update", ".", "example.com/t/a"]).exits(0);
    lab.run(&["verify"]).exits(0);
}

/// Which sides the program offers is what settles the conflict.
#[test]
fn newest_is_offered_only_where_it_helps() {
    let up = [
        file(&["a 1.0.0 a"]),
        file(&["a 1.1.0 b"]),
        file(&["a 1.2.0 c"]),
    ];
    let down = [
        file(&["a 1.5.0 a"]),
        file(&["a 1.4.0 b"]),
        file(&["a 1.6.0 c"]),
    ];
    let removed = [file(&["a 1.0.0 a"]), file(&[]), file(&["a 1.0.0 b"])];
    for (sides, is_offered) in [(up, true), (down, false), (removed, false)] {
        let sides = sides.each_ref().map(|side| &**side);
        let (code, text, said) = merge(sides, &["--prefer", "fail", "--conflict-style", "diff3"]);
        assert_eq!(code, 1, "{said}");
        assert_eq!(said.contains("--prefer newest"), is_offered, "{said}");
        let settled = u8::from(!is_offered);
        assert_eq!(resolve(&text, &["--prefer", "newest"]).0, settled);
        assert_eq!(resolve(&text, &["--prefer", "theirs"]).0, 0);
    }
}

#[test]
fn a_file_of_another_name_is_edited() {
    let lab = Lab::new();
    for (name, version) in [("base", "1.5.0"), ("ours", "1.6.0"), ("theirs", "1.4.0")] {
        lab.write(name, file(&[&format!("a {version} a")]));
    }
    let outcome = lab.run(&["merge", "base", "ours", "theirs"]).exits(1);
    outcome.stderr_has("note: edit the blocks between the markers and delete the markers\n");
    outcome.stderr.lacks("lockctl resolve");
}

#[test]
fn json_has_every_remark() {
    let lab = Lab::new();
    let up = [
        file(&["a 1.0.0 a"]),
        file(&["a 1.1.0 b"]),
        file(&["a 1.2.0 c"]),
    ];
    for (name, text) in ["base", "ours", "theirs"].iter().zip(&up) {
        lab.write(name, text);
    }
    let args = ["merge", "base", "ours", "theirs", "--path", LOCK];
    let args = [&args[..], &["--format", "json"]].concat();
    let said: Value = serde_json::from_str(&lab.run(&args).exits(0).stdout).unwrap();
    let remarks = said["roots"][0]["remarks"].as_array().unwrap();
    let severities: Vec<&str> = remarks
        .iter()
        .filter_map(|remark| remark["severity"].as_str())
        .collect();
    assert_eq!(severities, ["note", "warning"], "{said}");
    remarks[1]["text"].as_str().unwrap().has("lockctl lock");
    assert_eq!(
        (&said["summary"]["warnings"], &said["summary"]["notes"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn what_a_canonical_file_cannot_keep_is_counted() {
    let base = file(&["a 1.0.0 a"]);
    let ours = file(&["a 1.0.0 a b"]).replace("  version", "  # pinned\n  version");
    let theirs = file(&["a 1.0.0 a c"]) + "# end\n# end\n";
    let (code, text, said) = merge([&base, &ours, &theirs], &["--quiet"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(text, file(&["a 1.0.0 a b c"]));
    assert_eq!(
        said,
        "warning: .terraform.lock.hcl: 3 comments were not kept, as the program keeps none\n"
    );
}

#[test]
fn the_header_merges_like_an_entry() {
    let tofu = |text: String| text.replace("terraform init", "tofu init");
    let base = file(&[]);
    let (ours, theirs) = (file(&["a 1.0.0 a"]), file(&["b 1.0.0 a"]));
    let both = file(&["a 1.0.0 a", "b 1.0.0 a"]);
    let (_, text, _) = merge([&base, &tofu(ours.clone()), &theirs], &[]);
    assert_eq!(text, tofu(both.clone()));
    let (_, text, _) = merge([&base, &ours, &tofu(theirs.clone())], &[]);
    assert_eq!(text, tofu(both.clone()));
    let (_, text, _) = merge([&tofu(base.clone()), &ours, &tofu(theirs.clone())], &[]);
    assert_eq!(text, both);
    let (_, text, _) = merge(["", &ours, &tofu(theirs.clone())], &[]);
    assert_eq!(text, both);
    let bare = ours.replace(HEADER, "");
    let (_, text, _) = merge(["", &bare, &tofu(theirs)], &[]);
    assert_eq!(text, tofu(both));
}

#[test]
fn a_base_with_markers_is_known_as_far_as_it_goes() {
    let conflict = "<<<<<<< one\n\nprovider \"example.com/t/b\" {\n  version = \"1.0.0\"\n}\n=======\n>>>>>>> two\n";
    let base = file(&["a 1.0.0 a b"]) + conflict;
    let ours = file(&["a 1.0.0 a", "b 1.0.0 a"]);
    let theirs = file(&["a 1.0.0 a b c", "b 1.1.0 b"]);
    let (code, text, said) = merge([&base, &ours, &theirs], &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(text, file(&["a 1.0.0 a c", "b 1.1.0 b"]));
    said.has("count as unknown");
}

#[test]
fn git_gets_its_own_code_when_nothing_was_written() {
    let lab = Lab::new();
    lab.write("base", "").write("ours", "");
    for args in [
        &["merge", "base", "ours", "nowhere"] as &[&str],
        &["merge", "base", "ours", "."],
    ] {
        let outcome = lab.run(args).exits(129);
        assert!(!outcome.stderr.is_empty(), "{args:?} says why");
        assert_eq!(lab.read("ours"), "");
    }
}

#[test]
fn a_side_that_cannot_be_read_loses_nothing() {
    if !has_git() {
        return;
    }
    let base = file(&["a 1.0.0 a", "b 1.0.0 a"]);
    let ours = file(&["a 1.0.0 a", "b 1.1.0 b"]);
    let theirs = file(&["a 1.0.0 a", "b 1.2.0 c"]).replace("1.2.0", "1.x");
    let (code, text, said) = merge([&base, &ours, &theirs], &["--conflict-style", "diff3"]);
    assert_eq!(code, 1, "{said}");
    for part in [
        "1.1.0",
        "1.x",
        "<<<<<<< ours",
        "||||||| base",
        ">>>>>>> theirs",
    ] {
        text.has(part);
    }
    said.has(".terraform.lock.hcl (theirs):");
    said.has("line by line");
}

/// git compares lines of noise in a time that grows with the square of their number.
#[test]
fn too_many_lines_are_not_merged_line_by_line() {
    let side = |letters: &str, lines: usize| {
        let letters = letters.chars().cycle().take(lines);
        letters
            .flat_map(|letter| [letter, '\n'])
            .collect::<String>()
    };
    let [base, ours, theirs] = [("ab", 33_334), ("abc", 33_334), ("acb", 33_335)]
        .map(|(letters, lines)| side(letters, lines));
    let ours = ours.trim_end();
    let (code, text, said) = merge([&base, ours, &theirs], &["--conflict-style", "diff3"]);
    assert_eq!(code, 1, "{said}");
    let wanted =
        format!("<<<<<<< ours\n{ours}\n||||||| base\n{base}=======\n{theirs}>>>>>>> theirs\n");
    assert!(text == wanted, "{} bytes", text.len());
    said.has("more than 100000 lines");
    let few = ["ab", "abc", "acb"].map(|letters| side(letters, 100));
    let (_, _, said) = merge(
        few.each_ref().map(String::as_str),
        &["--conflict-style", "merge"],
    );
    assert!(!has_git() || said.contains("line by line"), "{said}");
}

/// Returns whether git is installed, and prints it if it is not.
pub(super) fn has_git() -> bool {
    let found = std::process::Command::new("git").arg("--version").output();
    if found.is_err() {
        println!("skipped: git is not installed");
    }
    found.is_ok()
}

/// Resolves a lock file; returns how it went, what stands there and what was said.
fn resolve(text: &str, more: &[&str]) -> (u8, String, String) {
    let lab = Lab::new();
    lab.write(LOCK, text);
    let outcome = lab.run(&[&["resolve"], more].concat());
    (
        outcome.code,
        lab.read(LOCK),
        outcome.stdout + &outcome.stderr,
    )
}

/// Line by line, as git does: all hashes of one list, and a version, are in conflict.
const LINE_BY_LINE: &str = r#"
provider "example.com/t/a" {
<<<<<<< HEAD
  version = "1.1.0"
||||||| 1234567
  version = "1.0.0"
=======
  version = "1.2.0"
>>>>>>> branch
  hashes = [
<<<<<<< HEAD
    "h1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb=",
||||||| 1234567
    "h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=",
=======
    "h1:ccccccccccccccccccccccccccccccccccccccccccc=",
>>>>>>> branch
  ]
}
"#;

#[test]
fn markers_of_git_are_resolved() {
    let text = HEADER.to_owned() + LINE_BY_LINE;
    let (code, resolved, said) = resolve(&text, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(resolved, file(&["a 1.2.0 c"]));
    said.reads(str![[r#"
.terraform.lock.hcl: no conflict is left
note: merged entry by entry: 1 provider changed by both
warning: example.com/t/a 1.2.0: the sides have different versions, and the one shown here was taken; run `lockctl lock .`

"#]]);
    let (_, windows, _) = resolve(&text.replace('\n', "\r\n"), &["--prefer", "ours"]);
    assert_eq!(windows, file(&["a 1.1.0 b"]));
    let (code, unresolved, _) = resolve(&text, &["--prefer", "fail"]);
    assert_eq!(code, 1);
    assert_eq!(unresolved.matches("<<<<<<< HEAD").count(), 1);
    assert_eq!(resolve(&unresolved, &["--prefer", "fail"]).1, unresolved);
    assert_eq!(resolve(&unresolved, &[]).1, file(&["a 1.2.0 c"]));
}

#[test]
fn markers_without_a_base_lose_nothing() {
    let (ours, theirs) = (file(&["a 1.0.0 a b"]), file(&["a 1.0.0 a c", "b 1.0.0 a"]));
    let text = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n");
    let (code, resolved, said) = resolve(&text, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(resolved, file(&["a 1.0.0 a b c", "b 1.0.0 a"]));
    said.has("what only one side has is kept, and the newer version is taken, also where a side went down");
    let tofu = ours.replace("terraform init", "tofu init");
    let text = format!("<<<<<<< HEAD\n{tofu}=======\n{theirs}>>>>>>> branch\n");
    assert!(resolve(&text, &[]).1.contains("\"tofu init\""));
}

/// Advice for many roots is one line, with the command for all of them.
#[test]
fn the_advice_for_many_roots_is_said_once() {
    let lab = Lab::new();
    let (ours, theirs) = (file(&["a 1.0.0 a"]), file(&["a 1.1.0 b"]));
    let text = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n");
    for root in ["one", "two", "three"] {
        lab.write(&format!("{root}/{LOCK}"), &text);
    }
    let outcome = lab.run(&["resolve", "-r", "--prefer", "fail"]).exits(1);
    assert_eq!(
        outcome.stderr.matches("lockctl resolve").count(),
        1,
        "{}",
        outcome.stderr
    );
    outcome.stderr_has(
        "run `lockctl resolve -r . --prefer newest`, `--prefer ours` or `--prefer theirs`",
    );
    lab.run(&["resolve", "-r", "--prefer", "theirs"]).exits(0);
    assert_eq!(lab.read(&format!("two/{LOCK}")), theirs);
}

#[test]
fn a_preference_counts_for_what_one_side_lacks() {
    let (ours, theirs) = (file(&["a 1.0.0 a"]), file(&["a 1.0.0 a", "b 1.0.0 a"]));
    let text = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n");
    assert_eq!(resolve(&text, &["--prefer", "ours"]).1, ours);
    assert_eq!(resolve(&text, &["--prefer", "theirs"]).1, theirs);
    let (code, unresolved, said) = resolve(&text, &["--prefer", "fail"]);
    assert_eq!(code, 1, "{said}");
    unresolved.has("<<<<<<< HEAD\n=======");
}

#[test]
fn what_cannot_be_taken_apart_stays_as_it_is() {
    let nested = "<<<<<<< a\n<<<<<<< b\n=======\n>>>>>>> c\n";
    let (code, text, said) = resolve(nested, &[]);
    assert_eq!(code, 2);
    assert_eq!(text, nested);
    said.reads(str![[r#"
error[conflict-markers]: Conflict markers do not fit together
 --> .terraform.lock.hcl:2:1
  |
1 | <<<<<<< a
  | --------- the conflict that is open begins
2 | <<<<<<< b
  | ^^^^^^^^^ a conflict begins inside of another
  |
  = help: nothing was written; fix or delete the markers, or let git write them anew with `git checkout --merge -- FILE`


"#]]);
    // `verify` does not send to a command that refuses.
    let lab = Lab::new();
    lab.write(LOCK, nested);
    let outcome = lab.run(&["verify"]).exits(1);
    outcome.stdout_has("= help: fix or delete the markers, or let git");
    outcome.stdout_lacks("lockctl resolve");
    let broken = LINE_BY_LINE.replace("1.2.0", "1.x");
    let (code, text, said) = resolve(&broken, &[]);
    assert_eq!(code, 2);
    assert_eq!(text, broken);
    said.has(".terraform.lock.hcl:8:");
    let sound = file(&["a 1.0.0 a"]);
    let (code, text, said) = resolve(&sound, &[]);
    assert_eq!((code, text), (0, sound));
    said.has("no conflict markers");
}

#[test]
fn conflicts_of_many_roots_are_one_finding_and_one_note() {
    let lab = Lab::new();
    for root in ["a", "b", "c"] {
        lab.write(&format!("envs/{root}/main.tf"), "")
            .write(&format!("envs/{root}/{LOCK}"), LINE_BY_LINE);
    }
    let found = lab.run(&["verify", "-r"]).exits(1).stdout;
    assert_eq!(found.matches("[conflict-markers]").count(), 1, "{found}");
    found.has("run `lockctl resolve -r .`");
    let outcome = lab.run(&["resolve", "-r"]).exits(0);
    for sentence in ["merged entry by entry", "run `lockctl lock -r .`"] {
        assert_eq!(outcome.stderr.matches(sentence).count(), 1, "{outcome:#?}");
    }
    lab.run(&["verify", "-r"]).stdout_lacks("conflict-markers");
}

#[test]
fn other_commands_point_to_resolve() {
    let lab = Lab::new();
    lab.write(LOCK, LINE_BY_LINE).write("main.tf", "");
    for args in [&["verify"] as &[&str], &["fmt"], &["lock"]] {
        let outcome = lab.run(args);
        let said = outcome.stdout + &outcome.stderr;
        assert!(said.contains("run `lockctl resolve .`"), "{args:?}: {said}");
    }
}
