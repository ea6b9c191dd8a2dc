//! What many roots lock after a run: the summary stays on a screen.

use snapbox::{assert_data_eq, str};

use super::assert_exit;
use super::in_use::{ONE, lock, offered, program, root, summary, type_commands};
use crate::lab::Lab;

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
fn many_roots_have_a_table_and_directories_stand_for_them() {
    let lab = many();
    let args = [&["lock", "-r", "live", "--no-state"], ONE].concat();
    let outcome = program(&lab, &args);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"

provider         version  roots  where
example.com/t/a  2.0.0    3      live/even/00, live/even/02, live/odd/01
                 1.1.0    9      live/even/04, live/even/06, live/even/08 and 6 more
                 1.0.0    1      live/old
to update the older roots:
  lockctl update example.com/t/a@2.0.0 -r ./live/even ./live/odd --platform linux_amd64 --fs-mirror mirror --no-state
  lockctl update example.com/t/a@1.1.0 ./live/old --platform linux_amd64 --fs-mirror mirror --no-state
held back by constraints:
  example.com/t/a 1.0.0 in live/old: "~> 1.0" at live/old/main.tf:3 does not allow 2.0.0
1 provider is locked at different versions, 1 at one version each
13 roots: 13 clean

"#]]
    );
    let verbose = summary(&program(&lab, &[&args[..], &["-v"]].concat()));
    for at in 3..12 {
        assert!(
            verbose.contains(&format!("/{at:02},")) || verbose.contains(&format!("/{at:02}\n")),
            "{verbose}"
        );
    }
    assert_eq!(type_commands(&lab, &outcome), 2);
    let after = program(&lab, &args);
    assert_data_eq!(
        summary(&after),
        str![[r#"

provider         version  roots  where
example.com/t/a  2.0.0    12     live/even/00, live/even/02, live/even/04 and 9 more
                 1.1.0    1      live/old
held back by constraints:
  example.com/t/a 1.1.0 in live/old: "~> 1.0" at live/old/main.tf:3 does not allow 2.0.0
1 provider is locked at different versions, 1 at one version each
13 roots: 13 clean

"#]]
    );
}

#[test]
fn roots_that_fail_are_left_out() {
    let lab = many();
    root(&lab, "live/odd/bad", &[("gone", "")], &[]);
    root(&lab, "live/odd/torn", &[("a", "")], &[("a", "2.0.0")]);
    lab.write("live/odd/torn/main.tf", "oops");
    let outcome = lock(&lab, &["-r", "./live"]);
    assert_exit(&outcome, 2);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"

provider         version  roots  where
example.com/t/a  2.0.0    3      live/even/00, live/even/02, live/odd/01
                 1.1.0    9      live/even/04, live/even/06, live/even/08 and 6 more
                 1.0.0    1      live/old
to update the older roots:
  lockctl update example.com/t/a@2.0.0 -r live/even live/odd/03 live/odd/05 live/odd/07 live/odd/09 live/odd/11 --flavor terraform@1.16 --platform linux_amd64 --fs-mirror mirror --no-state
  lockctl update example.com/t/a@1.1.0 live/old --flavor terraform@1.16 --platform linux_amd64 --fs-mirror mirror --no-state
held back by constraints:
  example.com/t/a 1.0.0 in live/old: "~> 1.0" at live/old/main.tf:3 does not allow 2.0.0
1 provider is locked at different versions, 1 at one version each; 2 roots that could not be locked are left out
15 roots: 13 clean, 2 failed

"#]]
    );
}

/// In one directory with a root that is held back there is no directory for the others.
#[test]
fn a_long_command_is_shown_if_all_is() {
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
    let outcome = program(&lab, &args);
    assert_exit(&outcome, 2);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"

provider         version  roots  where
example.com/t/a  2.0.0    1      live/00
                 1.1.0    25     live/01, live/02, live/03 and 22 more
to update the older roots:
  example.com/t/a to 2.0.0 in 24 roots (-v shows the command, which names each)
held back by constraints:
  example.com/t/a 1.1.0 in live/old: "~> 1.0" at live/old/main.tf:3 does not allow 2.0.0
1 provider is locked at different versions; 1 root that could not be locked is left out
27 roots: 26 clean, 1 failed

"#]]
    );
    let verbose = program(&lab, &[&args[..], &["-v"]].concat());
    assert_eq!(type_commands(&lab, &verbose), 1);
    let after = program(&lab, &args);
    assert!(!summary(&after).contains("older roots"), "{after:#?}");

    let markdown = program(&lab, &[&args[..], &["--format", "markdown"]].concat());
    assert_data_eq!(
        markdown.stdout,
        str![[r#"
| provider | version | roots | where |
|---|---|---|---|
| `example.com/t/a` | `2.0.0` | `25` | `live/00, live/01, live/02 and 22 more` |
|  | `1.1.0` | `1` | `live/old` |

held back by constraints&#58;

```
example.com/t/a 1.1.0 in live/old: "~> 1.0" at live/old/main.tf:3 does not allow 2.0.0
```

1 provider is locked at different versions; 1 root that could not be locked is left out

**Error**: live/zz: the mirror in mirror has no package of example&#46;com/t/gone<br>cause: required in live/zz/main&#46;tf:3<br>help&#58; check the source address, or add the provider to the mirror

| ROOT | RESULT |
|---|---|
| `live/00` | `live/00/.terraform.lock.hcl is up to date` |
| `live/01` | `live/01/.terraform.lock.hcl is up to date` |
| `live/02` | `live/02/.terraform.lock.hcl is up to date` |
| `live/03` | `live/03/.terraform.lock.hcl is up to date` |
| `live/04` | `live/04/.terraform.lock.hcl is up to date` |
| `live/05` | `live/05/.terraform.lock.hcl is up to date` |
| `live/06` | `live/06/.terraform.lock.hcl is up to date` |
| `live/07` | `live/07/.terraform.lock.hcl is up to date` |
| `live/08` | `live/08/.terraform.lock.hcl is up to date` |
| `live/09` | `live/09/.terraform.lock.hcl is up to date` |
| `live/10` | `live/10/.terraform.lock.hcl is up to date` |
| `live/11` | `live/11/.terraform.lock.hcl is up to date` |
| `live/12` | `live/12/.terraform.lock.hcl is up to date` |
| `live/13` | `live/13/.terraform.lock.hcl is up to date` |
| `live/14` | `live/14/.terraform.lock.hcl is up to date` |
| `live/15` | `live/15/.terraform.lock.hcl is up to date` |
| `live/16` | `live/16/.terraform.lock.hcl is up to date` |
| `live/17` | `live/17/.terraform.lock.hcl is up to date` |
| `live/18` | `live/18/.terraform.lock.hcl is up to date` |
| `live/19` | `live/19/.terraform.lock.hcl is up to date` |
| `live/20` | `live/20/.terraform.lock.hcl is up to date` |
| `live/21` | `live/21/.terraform.lock.hcl is up to date` |
| `live/22` | `live/22/.terraform.lock.hcl is up to date` |
| `live/23` | `live/23/.terraform.lock.hcl is up to date` |
| `live/24` | `live/24/.terraform.lock.hcl is up to date` |
| `live/old` | `live/old/.terraform.lock.hcl is up to date` |

**27 roots&#58; 26 clean, 1 failed**


"#]]
    );
}
