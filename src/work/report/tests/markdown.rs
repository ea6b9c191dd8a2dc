//! Tests of Markdown: what is shown whole, what is folded, what is cut.

use snapbox::{assert_data_eq, str};

use super::{hostile, incomplete_roots, kept, rendered, root, three_roots};
use crate::diag;
use crate::report::rows::FindingRow;
use crate::report::{Checked, Failure, RootStatus, markdown};

/// Renders the Markdown of a check with all that a comment holds.
fn whole(out: &mut dyn std::io::Write, checked: &Checked<'_>) -> std::io::Result<()> {
    markdown::checks(out, checked, None)
}

/// Renders the Markdown of a check over many roots.
fn screen(out: &mut dyn std::io::Write, checked: &Checked<'_>) -> std::io::Result<()> {
    markdown::checks(out, checked, Some(50))
}

#[test]
fn a_summary_begins_with_the_verdict_and_folds_what_is_long() {
    assert_data_eq!(
        rendered(whole, &three_roots()),
        str![[r#"
**lockctl verify: 3 roots: 1 clean, 1 with findings, 1 failed; 1 error, 1 warning, 1 note; not everything could be checked; 1 finding turned off**

| Severity | Rule | Roots | Providers | What | Command |
|---|---|---|---|---|---|
| **error** | `version-outside-constraint` | 2 | 1 | Locked at 1.1.0<br>`m/main.tf:4:1` | `lockctl lock` |

<details><summary>What to do</summary>

`version-outside-constraint`: `example.com/t/x`

```text
run `lockctl lock`
```

</details>

<details><summary>Where</summary>

`version-outside-constraint`

```text
live/a: example.com/t/x
live/b: example.com/t/x
```

</details>

#### `live/a`: 1 error, 1 warning

| Severity | Rule | Provider | Place | What |
|---|---|---|---|---|
| **warning** | `platforms-incomplete` | `example.com/t/x` | `live/a/.terraform.lock.hcl:4:1` | One lacks<br>none is known to be that of darwin_arm64 |

<details><summary>What to do</summary>

`platforms-incomplete`: `example.com/t/x`

```text
run `lockctl lock`
```

</details>

#### `live/b`: failed; 1 error

**Error**: no configuration in live/b<br>cause: there is no .tf file<br>help: name the directory of a root module

<details><summary>1 note</summary>

| Severity | Rule | Provider | Place | What |
|---|---|---|---|---|
| note | `state-not-visible` |  |  | No state |

</details>

<details><summary>1 root clean</summary>

`live/c`

</details>


"#]]
    );
}

#[test]
fn no_foreign_text_breaks_out_of_a_cell() {
    let text = "a | b\n| c `x` **d** [e](http://f.example) <script> @somebody #1 www.g.example ```";
    let out = rendered(whole, &hostile(text));
    for line in out.lines().filter(|line| line.starts_with("| **error**")) {
        let bars = line.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 6, "{line}");
    }
    let fences: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with("````"))
        .collect();
    assert_eq!(
        fences[..2],
        ["````text", "````"],
        "longer than that of the text"
    );
    let mut many = hostile(text);
    many.roots = vec![many.roots[0].clone(); 60];
    let of_many = rendered(screen, &many);
    for line in of_many
        .lines()
        .filter(|line| line.starts_with("| **error**"))
    {
        let bars = line.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 7, "{line}");
    }
    // Outside of code nothing is left that GitHub would act upon.
    let is_error = |line: &&str| line.starts_with("**Error**");
    // Of many roots, their names are in front, as code.
    let of_many = of_many
        .lines()
        .filter(is_error)
        .filter_map(|line| line.split_once("<br>"))
        .map(|(_, text)| text);
    for line in out.lines().filter(is_error).chain(of_many) {
        for sign in ["<script", "@somebody", "[e]", "http://f", "www.g", "`x`"] {
            assert!(!line.contains(sign), "{sign} in {line}");
        }
    }
}

#[test]
fn a_summary_fits_into_a_comment_and_says_what_is_missing() {
    let mut checked = three_roots();
    let pattern = checked.roots[0].findings[0].clone();
    checked.roots = Vec::new();
    for number in 0..400 {
        let mut bad = root(&format!("live/{number}"), RootStatus::Findings);
        let mut finding = pattern.clone();
        finding.file = Some(format!("live/{number}/.terraform.lock.hcl"));
        finding.help = Some(diag::RootCommand::new(format!("lockctl lock live/{number}")).run(""));
        bad.findings = vec![finding];
        checked.roots.push(bad);
    }
    let out = rendered(whole, &checked);
    assert!(out.len() <= 60_000 && out.len() > 50_000, "{}", out.len());
    let last = out.lines().last().expect("a line");
    assert_data_eq!(
        last.to_owned(),
        str![
            "162 findings and 245 texts of advice would not fit here: `lockctl verify -v` shows all."
        ]
    );
    assert_eq!(
        out.matches("<details>").count(),
        out.matches("</details>").count()
    );
}

#[test]
fn a_summary_of_many_roots_has_a_row_for_each_cause() {
    let out = rendered(whole, &incomplete_roots(400));
    assert!(out.len() < 60_000, "{}", out.len());
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with("| ")).collect();
    assert_data_eq!(
        rows.join("\n") + "\n",
        str![[r#"
| Severity | Rule | Roots | Providers | What | Command |
| **warning** | `platforms-incomplete` | 400 | 7 | 4 of 5 wanted platforms are missing for 7 providers in 400 of 400 roots | `lockctl lock -r` |

"#]]
    );
}

#[test]
fn a_screen_about_many_roots_has_a_row_for_each_cause_with_some_roots() {
    let mut checked = incomplete_roots(40);
    let failure = Failure::new("no configuration");
    for root in &mut checked.roots[..7] {
        root.failures = kept([failure.clone()]).iter().collect();
    }
    let note = FindingRow::without_place(diag::named("state-not-visible"), "No state".to_owned());
    for root in &mut checked.roots {
        root.findings.push(note.clone());
    }
    assert_data_eq!(
        rendered(screen, &checked),
        str![[r#"
**lockctl verify: 40 roots: 40 with findings; 280 warnings, 1 note**

**Error**: in 7 roots: `live/0`, `live/1`, `live/2`, `live/3`, `live/4`, and 2 more<br>no configuration

| Severity | Rule | Roots | Providers | What | Command |
|---|---|---|---|---|---|
| **warning** | `platforms-incomplete` | 40: `live/0`, `live/1`, `live/2`, `live/3`, `live/4`, and 35 more | 7 | 4 of 5 wanted platforms are missing for 7 providers in 40 of 40 roots | `lockctl lock -r` |

<details><summary>What to do</summary>

- `platforms-incomplete`: run /`lockctl lock -r/` to add what is missing

</details>

<details><summary>40 notes</summary>

| Severity | Rule | Roots | Providers | What | Command |
|---|---|---|---|---|---|
| note | `state-not-visible` | 40: `live/0`, `live/1`, `live/2`, `live/3`, `live/4`, and 35 more |  | No state |  |

</details>


"#]]
    );
    // Causes that are all different, for more of which there is no room.
    for (at, root) in checked.roots.iter_mut().enumerate() {
        root.failures = kept([Failure::new(format!("failure {at}"))])
            .iter()
            .collect();
        for finding in &mut root.findings {
            finding.help = Some(format!("{} {at}", finding.rule).into());
        }
    }
    let out = rendered(screen, &checked);
    assert!(out.lines().count() <= 50, "{out}");
    let last = out.lines().last().expect("a line");
    assert_data_eq!(
        last.to_owned(),
        str!["35 more failures and 63 more causes (`-v` shows all)"]
    );
}

#[test]
fn a_row_of_one_root_names_the_first_of_many_providers() {
    let out = rendered(whole, &incomplete_roots(1));
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with("| ")).collect();
    assert_data_eq!(
        rows.join("\n") + "\n",
        str![[r#"
| Severity | Rule | Provider | Place | What |
| **warning** | `platforms-incomplete` | `example.com/t/0`<br>`example.com/t/1`<br>`example.com/t/2`<br>`example.com/t/3`<br>`example.com/t/4`<br>and 2 more | `live/0/.terraform.lock.hcl:4:1` | 4 of 5 wanted platforms are missing for 7 providers |

"#]]
    );
}
