//! `lockctl diff` on two files.

use super::*;

const HEADER: &str = "\
# This file is maintained automatically by \"terraform init\".
# Manual edits may be lost in future updates.
";

/// A lock file of entries `ADDRESS VERSION CONSTRAINTS | HASH …`, in canonical form.
pub(super) fn text(entries: &[&str]) -> String {
    let mut text = HEADER.to_owned();
    for entry in entries {
        let (head, hashes) = entry.split_once('|').unwrap();
        let mut words = head.trim().splitn(3, ' ');
        let (addr, version) = (words.next().unwrap(), words.next().unwrap());
        text += &format!("\nprovider \"{addr}\" {{\n");
        match words.next() {
            None => text += &format!("  version = \"{version}\"\n"),
            Some(constraints) => {
                text +=
                    &format!("  version     = \"{version}\"\n  constraints = \"{constraints}\"\n");
            }
        }
        text += "  hashes = [\n";
        for hash in hashes.split_whitespace() {
            let (scheme, letter) = hash.split_once(':').unwrap();
            let value = match scheme {
                "h1" => format!("{}=", letter.repeat(43)),
                "zh" => letter.repeat(64),
                _ => letter.to_owned(),
            };
            text += &format!("    \"{scheme}:{value}\",\n");
        }
        text += "  ]\n}\n";
    }
    text
}

const OLD: &[&str] = &[
    "registry.terraform.io/a/gone 1.0.0 | h1:a",
    "registry.terraform.io/hashicorp/aws 5.31.0 ~> 5.0 | h1:a zh:a",
    "registry.terraform.io/hashicorp/null 3.2.1 | h1:a h1:b zh:a",
    "registry.terraform.io/hashicorp/same 1.0.0 | h1:a",
];

const NEW: &[&str] = &[
    "example.com/a/new 1.0.0 ~> 1.0 | h1:a",
    "registry.terraform.io/hashicorp/aws 6.0.0 ~> 6.0 | h1:b zh:b",
    "registry.terraform.io/hashicorp/null 3.2.1 | h1:c h1:b zh:b",
    "registry.terraform.io/hashicorp/same 1.0.0 | h1:a",
];

fn diff(old: &str, new: &str, more: &[&str]) -> Outcome {
    let lab = Lab::new();
    lab.write("old.hcl", old);
    lab.write("new.hcl", new);
    lab.run(&[&["diff", "old.hcl", "new.hcl"], more].concat())
}

#[test]
fn one_line_for_each_provider_and_a_verdict() {
    let outcome = diff(&text(OLD), &text(NEW), &[]).exits(0);
    outcome.stdout_eq(str![[r#"
danger   registry.terraform.io/hashicorp/null  3.2.1           hashes-replaced                        1 of 1 zh: was replaced, but the version did not change: another mirror, a release that was published again, or tampering
notice   example.com/a/new                     1.0.0           added
notice   registry.terraform.io/hashicorp/aws   5.31.0 → 6.0.0  upgraded (major), constraints-changed  the constraints changed (~> 5.0 → ~> 6.0)
routine  registry.terraform.io/a/gone          1.0.0           removed
1 provider added, 1 removed, 1 upgraded with new constraints, 1 with other hashes under the same version; danger: registry.terraform.io/hashicorp/null

"#]]);
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
}

#[test]
fn markdown_has_a_table_and_folded_details() {
    diff(&text(OLD), &text(NEW), &["--format", "markdown"]).exits(0).stdout_eq(str![[r#"
**1 provider added, 1 removed, 1 upgraded with new constraints, 1 with other hashes under the same version; danger: registry.terraform.io/hashicorp/null**

| RISK | PROVIDER | VERSION | CHANGE | REMARK |
|---|---|---|---|---|
| **danger** | [`registry.terraform.io/hashicorp/null`](https://registry.terraform.io/providers/hashicorp/null/latest) | [`3.2.1`](https://registry.terraform.io/providers/hashicorp/null/3.2.1) | `hashes-replaced` | 1 of 1 zh: was replaced, but the version did not change: another mirror, a release that was published again, or tampering |
| notice | `example.com/a/new` | `1.0.0` | `added` |  |
| notice | [`registry.terraform.io/hashicorp/aws`](https://registry.terraform.io/providers/hashicorp/aws/latest) | [`5.31.0 → 6.0.0`](https://registry.terraform.io/providers/hashicorp/aws/6.0.0) | `upgraded (major), constraints-changed` | the constraints changed (/~> 5.0 → /~> 6.0) |
| routine | [`registry.terraform.io/a/gone`](https://registry.terraform.io/providers/a/gone/latest) | [`1.0.0`](https://registry.terraform.io/providers/a/gone/1.0.0) | `removed` |  |

<details><summary>Details</summary>

`registry.terraform.io/hashicorp/null` `3.2.1`

```diff
- h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=
+ h1:ccccccccccccccccccccccccccccccccccccccccccc=
- zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
+ zh:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
```

`example.com/a/new` `1.0.0`

```diff
+ provider = example.com/a/new
+ version = 1.0.0
+ constraints = ~> 1.0
+ h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=
```

`registry.terraform.io/hashicorp/aws` `5.31.0 → 6.0.0`

```diff
- version = 5.31.0
+ version = 6.0.0
- constraints = ~> 5.0
+ constraints = ~> 6.0
- h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=
+ h1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb=
- zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
+ zh:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
```

`registry.terraform.io/a/gone` `1.0.0`

```diff
- provider = registry.terraform.io/a/gone
- version = 1.0.0
- h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=
```

</details>


"#]]);
}

#[test]
fn json_has_every_fact() {
    let outcome = diff(&text(&OLD[1..2]), &text(&NEW[1..2]), &["--format", "json"]).exits(0);
    let (files, rest) = outcome.stdout.split_once("  \"verdict\"").unwrap();
    files.reads(str![[r#"
{
  "format_version": "1.0",
  "command": "diff",
  "exit": 0,
  "roots": [],
  "files": [
    {
      "path": "new.hcl",
      "old_path": null,
      "flavor": "terraform@1.16",
      "status": "clean",
      "kinds": [],
      "cause": "",
      "risk": "notice",
      "findings": [],
      "failures": [],
      "changes": [
        {
          "provider": "registry.terraform.io/hashicorp/aws",
          "kinds": [
            "upgraded",
            "constraints-changed"
          ],
          "cause": "the major version changed, so all hashes changed; the constraints changed (~> 5.0 → ~> 6.0)",
          "follows_from": null,
          "risk": "notice",
          "old": {
            "provider": "registry.terraform.io/hashicorp/aws",
            "version": "5.31.0",
            "constraints": "~> 5.0",
            "hashes": [
              "h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=",
              "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            ]
          },
          "new": {
            "provider": "registry.terraform.io/hashicorp/aws",
            "version": "6.0.0",
            "constraints": "~> 6.0",
            "hashes": [
              "h1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb=",
              "zh:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
            ]
          },
          "step": "major"
        }
      ],
      "unchanged": 0
    }
  ],

"#]]);
    assert!(rest.contains("with new constraints, nothing alarming"));
}

#[test]
fn risks_can_be_made_to_fail() {
    let upgrade = [
        text(&["registry.terraform.io/a/x 1.0.0 | h1:a"]),
        text(&["registry.terraform.io/a/x 1.1.0 | h1:b"]),
    ];
    let downgrade = [upgrade[1].clone(), upgrade[0].clone()];
    let again = [
        upgrade[0].clone(),
        text(&["registry.terraform.io/a/x 1.0.0 | h1:b"]),
    ];
    for (pair, on_warning, on_danger) in [(upgrade, 0, 0), (downgrade, 1, 0), (again, 1, 1)] {
        let code = |more: &[&str]| diff(&pair[0], &pair[1], more).code;
        assert_eq!(code(&[]), 0);
        assert_eq!(code(&["--fail-on", "warning"]), on_warning, "{pair:?}");
        assert_eq!(code(&["--fail-on", "danger"]), on_danger, "{pair:?}");
    }
}

#[track_caller]
fn check_file(old: &str, new: &str, wanted: &str) {
    let outcome = diff(old, new, &[]);
    assert_eq!(outcome.stdout.trim_end(), wanted);
    assert_exit(&outcome, 0);
}

#[test]
fn what_happened_to_the_file_is_shown() {
    let entry = ["registry.terraform.io/a/x 1.0.0 | h1:a"];
    let plain = text(&entry);
    check_file(&plain, &plain, "nothing changed");
    check_file(
        &plain.replace('\n', "\r\n"),
        &plain,
        "routine  the same is locked, written in another form\n\
         nothing but the formatting changed, nothing alarming",
    );
    check_file(
        &plain.replace("  version", "  # keep\n  # this\n  version"),
        &plain,
        "notice  2 comments of an author were removed: the programs keep none\n\
         no entry of a provider changed, nothing alarming",
    );
    check_file(
        &plain,
        &plain.replace("terraform init", "tofu init"),
        "notice  the header is that of `tofu init` now\n\
         no entry of a provider changed, nothing alarming",
    );
    check_file(
        &plain.replace(HEADER, ""),
        &plain,
        "routine  a program wrote its header above the file\n\
         no entry of a provider changed, nothing alarming",
    );
}

#[test]
fn a_file_may_come_or_go() {
    let lab = Lab::new();
    lab.write(
        &format!("full/{LOCK}"),
        text(&["registry.terraform.io/a/x 1.0.0 | h1:a"]),
    );
    lab.write("empty/main.tf", "");
    let gone = lab.run(&["diff", "full", "empty", "--fail-on", "warning"]);
    assert_exit(&gone, 1);
    gone.stdout_eq(str![[r#"
warning  the file was removed, so the next init selects versions anew and accepts any package
routine  a/x  1.0.0  removed  the configuration no longer requires it
1 provider removed; warning: the file itself

"#]]);
    if cfg!(windows) {
        // There is no such file.
        return;
    }
    let came = lab.run(&["diff", "/dev/null", "full"]).exits(0);
    came.stdout_eq(str![[r#"
routine  the file is new
notice  a/x  1.0.0  added
1 provider added, nothing alarming

"#]]);
    assert_exit(&lab.run(&["diff", "empty", "empty"]), 2);
    assert_exit(&lab.run(&["diff", "full", "nowhere"]), 2);
    assert_exit(&lab.run(&["show", "full", "--format", "markdown"]), 2);
}

#[test]
fn what_can_be_read_of_a_broken_file_is_compared() {
    let broken = text(NEW).replacen("version     = \"1.0.0\"", "version = ", 1);
    let outcome = diff(&text(OLD), &broken, &[]).exits(2);
    outcome.stdout_eq(str![[r#"
warning  the file is broken: only what can be read is compared
danger   hashicorp/null  3.2.1           hashes-replaced                        1 of 1 zh: was replaced, but the version did not change: another mirror, a release that was published again, or tampering
notice   hashicorp/aws   5.31.0 → 6.0.0  upgraded (major), constraints-changed  the constraints changed (~> 5.0 → ~> 6.0)
routine  a/gone          1.0.0           removed
1 provider removed, 1 upgraded with new constraints, 1 with other hashes under the same version; danger: hashicorp/null; warning: the file itself

"#]]);
    outcome.stderr_has("new.hcl:5");
}

#[test]
fn hostile_text_stays_text() {
    let hash = "9:a|b`<b>@all\\u001b[31m``` www.evil.example";
    let evil = text(&["registry.terraform.io/a/x 1.0.0 | h1:a"])
        .replace("\"h1:", &format!("\"{hash}\",\n    \"h1:"));
    let plain = text(&["registry.terraform.io/a/x 1.0.0 | h1:a"]);
    diff(&plain, &evil, &["--format", "markdown"]).exits(0).stdout_eq(str![[r#"
1 provider with more hashes, nothing alarming

| RISK | PROVIDER | VERSION | CHANGE | REMARK |
|---|---|---|---|---|
| notice | [`a/x`](https://registry.terraform.io/providers/a/x/latest) | [`1.0.0`](https://registry.terraform.io/providers/a/x/1.0.0) | `hashes-added` | hashes of the unknown scheme 9 were added or removed |

<details><summary>Details</summary>

`a/x` `1.0.0`

````diff
+ 9:a|b`<b>@all�[31m``` www.evil.example
````

</details>


"#]]);
}

#[test]
fn the_configuration_says_what_a_change_follows_from() {
    let lab = Lab::new();
    let require = |constraint: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    aws = {{\n      source  = \"hashicorp/aws\"\n      \
             version = \"{constraint}\"\n    }}\n  }}\n}}\n"
        )
    };
    lab.write(&format!("old/{LOCK}"), text(OLD));
    lab.write(
        "old/main.tf",
        require("~> 5.0") + "resource \"null_resource\" \"x\" {}\n",
    );
    lab.write(&format!("new/{LOCK}"), text(&NEW[1..]));
    lab.write("new/main.tf", require("~> 6.0") + "provider \"gone\" {}\n");
    let outcome = lab.run(&["diff", "old", "new"]).exits(0);
    for wanted in [
        "the constraint in new/main.tf:5 changed from ~> 5.0 to ~> 6.0\n",
        "the configuration no longer requires it\n",
        "or tampering; nothing in the configuration requires it\n",
    ] {
        outcome.stdout_has(wanted);
    }

    lab.write(&format!("new/{LOCK}"), text(&[]));
    let outcome = lab.run(&["diff", "old", "new"]);
    outcome.stdout_has("but new/main.tf:5 still requires it\n");
}
