//! What many roots lock after a run: the summary stays on a screen.

use super::in_use::{ONE, offered, program, root, summary};
use super::*;

/// Twelve roots below `live`, of which three are at the newest version, and one of `old`.
fn many() -> Lab {
    let lab = offered();
    for at in 0..12 {
        let version = if at < 3 { "2.0.0" } else { "1.1.0" };
        let kind = if at % 2 == 0 { "even" } else { "odd" };
        let required = [("a", ">= 1.0"), ("b", "")];
        let locked = [("a", version), ("b", "2.0.0")];
        root(&lab, &format!("live/{kind}/{at:02}"), &required, &locked);
    }
    root(&lab, "live/old", &[("a", "~> 1.0")], &[("a", "1.0.0")]);
    lab
}

#[test]
fn many_roots_have_a_table() {
    let lab = many();
    let args = [&["lock", "-r", "live", "--no-state"], ONE].concat();
    let outcome = program(&lab, &args).exits(0);
    summary(&outcome).reads(str![[r#"
all 13 roots: updated lock file

PROVIDER         VERSION  ROOTS  WHERE
example.com/t/a  2.0.0    3      live/even/00, live/even/02, live/odd/01
example.com/t/a  1.1.0    9      live/even/04, live/even/06, live/even/08, live/even/10, live/odd/03 and 4 more
example.com/t/a  1.0.0    1      live/old
1 provider is locked at different versions, 1 at one version each
13 roots: 13 clean

"#]]);
    let verbose = summary(&program(&lab, &[&args[..], &["-v"]].concat()));
    for at in 3..12 {
        assert!(
            verbose.contains(&format!("/{at:02},")) || verbose.contains(&format!("/{at:02}\n")),
            "{verbose}"
        );
    }
}

#[test]
#[cfg_attr(
    windows,
    ignore = "the lab writes each backslash of an output as a slash"
)]
fn a_comment_shows_many_roots_in_short() {
    let lab = offered();
    for at in 0..25 {
        let version = if at == 0 { "2.0.0" } else { "1.1.0" };
        root(
            &lab,
            &format!("live/{at:02}"),
            &[("a", "")],
            &[("a", version)],
        );
    }
    root(&lab, "live/old", &[("a", "~> 1.0")], &[("a", "1.1.0")]);
    root(&lab, "live/zz", &[("gone", "")], &[]);
    let args = [&["lock", "-r", "live", "--no-state"], ONE].concat();
    let outcome = program(&lab, &args).exits(2);
    summary(&outcome).reads(str![[r#"
26 roots: updated lock file

PROVIDER         VERSION  ROOTS  WHERE
example.com/t/a  2.0.0    1      live/00
example.com/t/a  1.1.0    25     live/01, live/02, live/03, live/04, live/05 and 20 more
1 provider is locked at different versions; 1 root that could not be locked is left out
27 roots: 26 clean, 1 failed

"#]]);

    program(&lab, &[&args[..], &["--format", "markdown"]].concat()).stdout_eq(str![[r#"
**Error**: live/zz: the mirror in mirror has no package of example.com/t/gone<br>cause: required in live/zz/main.tf:3<br>help: check the source address, or add the provider to the mirror

| PROVIDER | VERSION | ROOTS | WHERE |
|---|---|---|---|
| `example.com/t/a` | `2.0.0` | 1 | `live/00` |
| `example.com/t/a` | `1.1.0` | 25 | `live/01, live/02, live/03, live/04, live/05 and 20 more` |

1 provider is locked at different versions; 1 root that could not be locked is left out

26 roots: lock file is up to date

**27 roots: 26 clean, 1 failed**


"#]]);
}
