//! Tests of Markdown: what is shown whole, what is folded, what is cut.

use snapbox::{assert_data_eq, str};

use super::{hostile, incomplete_roots, kept, rendered, three_roots, without_place};
use crate::diag;
use crate::report::{Checked, Failure, Screen, markdown};

fn screen_of(checked: &Checked<'_>, lines: Option<usize>) -> Screen {
    Screen {
        lines,
        verbose: false,
        roots: checked.roots.len(),
        ..Screen::UNLIMITED
    }
}

/// Renders the Markdown of a check with all that a comment holds.
fn whole(out: &mut dyn std::io::Write, checked: &Checked<'_>) -> std::io::Result<()> {
    out.write_all(markdown::checks(checked, screen_of(checked, None)).as_bytes())
}

/// Renders the Markdown of a check over many roots.
fn screen(out: &mut dyn std::io::Write, checked: &Checked<'_>) -> std::io::Result<()> {
    out.write_all(markdown::checks(checked, screen_of(checked, Some(50))).as_bytes())
}

#[test]
fn a_summary_begins_with_the_verdict_and_has_a_row_for_each_cause() {
    assert_data_eq!(
        rendered(whole, &three_roots()),
        str![[r#"
**lockctl verify: 3 roots: 1 clean, 1 with findings, 1 failed; 1 error, 1 warning, 1 note; not everything could be checked; 1 finding turned off**

**Error**: live/b: no configuration in live/b<br>cause: there is no .tf file<br>help: name the directory of a root module

| SEVERITY | RULE | PROVIDER | WHAT | PLACE | ROOTS | WHERE |
|---|---|---|---|---|---|---|
| **error** | `version-outside-constraint` | `example.com/t/x` | Locked at 1.1.0 | `m/main.tf:4:1` | 2 | `live/a`, `live/b` |
| **warning** | `platforms-incomplete` | `example.com/t/x` | One lacks<br>none is known to be that of darwin_arm64 | `live/a/.terraform.lock.hcl:4:1` | 1 | `live/a` |

<details><summary>What to do</summary>

- `platforms-incomplete`, `version-outside-constraint`: run `lockctl lock`

</details>

<details><summary>1 note</summary>

| SEVERITY | RULE | WHAT | ROOTS | WHERE |
|---|---|---|---|---|
| note | `state-not-visible` | No state | 1 | `live/c` |

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
        assert_eq!(bars, 8, "{line}");
    }
    let mut many = hostile(text);
    many.roots = vec![many.roots[0].clone(); 60];
    let of_many = rendered(screen, &many);
    for line in of_many
        .lines()
        .filter(|line| line.starts_with("| **error**"))
    {
        let bars = line.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 8, "{line}");
    }
    // Outside of code nothing is left that GitHub would act upon.
    let is_error = |line: &&str| line.starts_with("**Error**");
    // The names of roots are in front, as code.
    let errors = out
        .lines()
        .chain(of_many.lines())
        .filter(is_error)
        .filter_map(|line| line.split_once("<br>"))
        .map(|(_, text)| text);
    for line in errors {
        for sign in ["<script", "@somebody", "[e]", "http://f", "www.g", "`x`"] {
            assert!(!line.contains(sign), "{sign} in {line}");
        }
    }
}

#[test]
fn a_screen_about_many_roots_has_a_row_for_each_cause_with_some_roots() {
    let mut checked = incomplete_roots(40);
    let failure = Failure::new("no configuration");
    for root in &mut checked.roots[..7] {
        root.failures = kept([failure.clone()]).iter().collect();
    }
    let note = without_place(diag::named("state-not-visible"), "No state".to_owned());
    for root in &mut checked.roots {
        root.findings.push(note.clone());
    }
    assert_data_eq!(
        rendered(screen, &checked),
        str![[r#"
**lockctl verify: 40 roots: 40 with findings; 280 warnings, 1 note**

**Error**: live/0, live/1, live/2, live/3, live/4 and 2 more: no configuration

| SEVERITY | RULE | PROVIDER | WHAT | ROOTS | WHERE |
|---|---|---|---|---|---|
| **warning** | `platforms-incomplete` | `example.com/t/0`, `example.com/t/1`, `example.com/t/2` and 4 more | 4 of 5 wanted platforms are missing for 7 providers in 40 of 40 roots | 40 | `live/0`, `live/1`, `live/2`, `live/3`, `live/4` and 35 more |

<details><summary>What to do</summary>

- `platforms-incomplete`: run `lockctl lock -r` to add what is missing

</details>

<details><summary>40 notes</summary>

| SEVERITY | RULE | WHAT | ROOTS | WHERE |
|---|---|---|---|---|
| note | `state-not-visible` | No state | 40 | `live/0`, `live/1`, `live/2`, `live/3`, `live/4` and 35 more |

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
    for more in [
        "\n… and 35 more (`-v` shows all)\n",
        "\n… and 27 more (`-v` shows all)\n",
    ] {
        assert!(out.contains(more), "{out}");
    }
    assert_eq!(
        out.matches("<details>").count(),
        out.matches("</details>").count()
    );
}

#[test]
fn a_row_of_one_root_names_the_first_of_many_providers() {
    let out = rendered(whole, &incomplete_roots(1));
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with("| ")).collect();
    assert_data_eq!(
        rows.join("\n") + "\n",
        str![[r#"
| SEVERITY | RULE | PROVIDER | WHAT | PLACE |
| **warning** | `platforms-incomplete` | `example.com/t/0`, `example.com/t/1`, `example.com/t/2` and 4 more | 4 of 5 wanted platforms are missing for 7 providers | `live/0/.terraform.lock.hcl:4:1` |

"#]]
    );
}
