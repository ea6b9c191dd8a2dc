//! `audit`: advisories against lock files, ignores, formats, and databases that are not in order.

use super::*;

/// The advisories of the unit tests.
const ADVISORIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/advisories");

pub(super) fn lock_of(entries: &[(&str, &str, &str)]) -> String {
    let mut text = String::new();
    for (addr, version, constraints) in entries {
        let constraints = match *constraints {
            "" => String::new(),
            text => format!("  constraints = \"{text}\"\n"),
        };
        text += &format!(
            "provider \"registry.terraform.io/{addr}\" {{\n  version     = \"{version}\"\n{constraints}  \
             hashes = [\n    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}}\n\n"
        );
    }
    text
}

fn audit(lab: &Lab, more: &[&str]) -> Outcome {
    let args = [
        &["audit", "--flavor", "terraform@1.11", "--db", ADVISORIES],
        more,
    ]
    .concat();
    lab.run(&args)
}

#[test]
fn roots_fold_to_one_advisory() {
    let lab = Lab::new();
    for (root, version, constraints) in [
        ("a", "5.4.0", "~> 5.0"),
        ("b", "5.3.0", "~> 5.0"),
        ("c", "5.4.0", "~> 5.4.0"),
        ("d", "5.5.0", "~> 5.0"),
    ] {
        lab.write(
            &format!("{root}/{LOCK}"),
            lock_of(&[
                ("acme/custom", version, constraints),
                ("acme/quiet", "1.0.0", ">= 1.0.0"),
            ]),
        );
    }
    audit(&lab, &["-r"]).exits(1).stdout_eq(str![[r#"
ADVISORY      PROVIDER     VERSION       FIXED  HOW                                                                                ROOTS  WHERE
GO-1999-0003  acme/custom  5.3.0, 5.4.0  5.5.0  `lockctl update -r . --flavor terraform@1.11 acme/custom@5.5.0`  2      a, b
    CVE-1999-0003: Custom range below an open main range
GO-1999-0003  acme/custom  5.4.0         5.5.0  the recorded constraint ~> 5.4.0 excludes it                                       1      c
    CVE-1999-0003: Custom range below an open main range
1 advisory about providers concerns 2 of 4 provider versions

"#]]);
}

#[test]
fn the_configuration_decides_before_the_recorded_constraints() {
    let lab = Lab::new();
    lab.write(LOCK, lock_of(&[("acme/custom", "5.4.0", "~> 5.0")]));
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    custom = {\n      source  = \"acme/custom\"\n      \
         version = \"< 5.5.0\"\n    }\n  }\n}\n",
    );
    let outcome = audit(&lab, &["--format", "json"]).exits(1);
    let advisory = &outcome.json()["roots"][0]["providers"][0]["advisories"][0];
    assert_eq!(
        advisory["excluded_by"], "the constraint < 5.5.0 (main.tf:5)",
        "{advisory}"
    );
    assert_eq!(advisory["command"], Value::Null);
    assert_eq!(advisory["fixed"], "5.5.0");
    assert_eq!(advisory["level"], "provider");
    assert_eq!(advisory["status"], "affected");
    assert_eq!(advisory["counts"], true);
}

/// The same constraint on another line is no other way to a fixed version.
#[test]
fn roots_with_one_constraint_fold_wherever_it_is() {
    let lab = Lab::new();
    for (root, above) in [("a", ""), ("b", "# One more line.\n")] {
        lab.write(
            &format!("{root}/{LOCK}"),
            lock_of(&[("acme/custom", "5.4.0", "~> 5.0")]),
        );
        let required = "terraform {\n  required_providers {\n    custom = {\n      source  = \"acme/custom\"\n      \
             version = \"< 5.5.0\"\n    }\n  }\n}\n";
        lab.write(&format!("{root}/main.tf"), format!("{above}{required}"));
    }
    let outcome = audit(&lab, &["-r"]).exits(1);
    let folded = "  the constraint < 5.5.0 excludes it  2      a, b\n";
    outcome.stdout_has(folded);
}

/// `--fail-on` decides the exit code; the text calls no version safe, and reports unknown contents.
#[test]
fn what_counts_can_be_chosen() {
    let lab = Lab::new();
    lab.write(LOCK, lock_of(&[("acme/custom", "5.4.0", "")]));
    for (level, code) in [
        ("provider", 1),
        ("stdlib", 1),
        ("dependency", 1),
        ("never", 0),
    ] {
        assert_exit(&audit(&lab, &["--fail-on", level]), code);
    }
    lab.write(LOCK, lock_of(&[("acme/quiet", "1.0.0", "")]));
    let outcome = audit(&lab, &[]).exits(0);
    outcome.stdout_eq(str![[r#"
no advisory is known to concern 1 provider version

"#]]);
    let unknown = "the contents of 1 provider version of 1 are unknown, so their Go version and modules were \
                   not compared; `lockctl show --build --contents . --flavor terraform@1.11` reads them";
    outcome.stderr_has(unknown);
    assert!(!format!("{outcome:?}").contains("safe"));
    // A version is one, whatever hashes other roots record of it.
    lab.write(&format!("other/{LOCK}"), lab.read(LOCK).replace("A=", "E="));
    audit(&lab, &["-r"]).stderr_has("the contents of 1 provider version of 1 are unknown");
}

#[test]
fn an_unknown_verdict_is_mentioned_and_does_not_count() {
    let lab = Lab::new();
    lab.write(LOCK, lock_of(&[("acme/pseudo", "7.14.0", "")]));
    audit(&lab, &[]).exits(0).stdout_eq(str![[r#"
ADVISORY      PROVIDER     VERSION  FIXED  HOW
GO-1999-0004  acme/pseudo  7.14.0   -      unknown, because its version cannot be compared
    Pseudo-version as the limit
no advisory is known to concern 1 provider version; 1 advisory unknown

"#]]);
}

#[test]
fn exceptions_are_those_of_the_project_file() {
    let lab = Lab::new();
    lab.write(LOCK, lock_of(&[("acme/custom", "5.4.0", "")]));
    let ignore = |id: &str, more: &str| {
        lab.write(
            ".lockctl.hcl",
            format!("audit {{\n  ignore \"{id}\" {{\n    reason = \"no matter\"\n{more}  }}\n}}\n"),
        );
        audit(&lab, &[])
    };
    // Any identifier of the advisory is accepted, regardless of case.
    for id in ["GO-1999-0003", "cve-1999-0003"] {
        let outcome = ignore(id, "    until = \"2099-01-01\"\n").exits(0);
        outcome.stdout_has("1 advisory ignored by the project file");
    }
    let ended = ignore("GO-1999-0003", "    until = \"2020-01-01\"\n").exits(1);
    let text = ".lockctl.hcl ignored GO-1999-0003 until 2020-01-01 (UTC); the exception has ended";
    ended.stderr_has(text);
    let other = ignore("GO-1999-0099", "").exits(1);
    let text = ".lockctl.hcl ignores GO-1999-0099, which concerns no locked version here";
    other.stderr_has(text);
    for (text, error) in [
        ("audit {\n  ignores \"X\" {}\n}\n", "did you mean ignore?"),
        (
            "audit {\n  ignore \"GO-1\" {}\n}\n",
            "an advisory that is ignored needs a reason",
        ),
        (
            "audit {\n  ignore \"a b\" { reason = \"x\" }\n}\n",
            "this is not the name of an advisory",
        ),
        (
            "audit {\n  ignore \"GO-1\" {\n    reason = \"x\"\n    util = \"2030-01-01\"\n  }\n}\n",
            "did you mean until?",
        ),
        (
            "audit {\n  ignore \"GO-1\" { reason = \"x\" }\n  ignore \"go-1\" { reason = \"x\" }\n}\n",
            "delete one of the two blocks",
        ),
    ] {
        lab.write(".lockctl.hcl", text);
        let outcome = audit(&lab, &[]).exits(2);
        let output = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(output.contains(error), "{text}: {output}");
    }
}

#[test]
fn sarif_has_each_advisory_as_a_rule() {
    let lab = Lab::new();
    lab.write(
        LOCK,
        lock_of(&[("acme/custom", "5.4.0", ""), ("acme/all", "1.0.0", "")]),
    );
    let outcome = audit(&lab, &["--format", "sarif"]).exits(1);
    let log = outcome.json();
    let run = &log["runs"][0];
    let rules: Vec<&Value> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    let ids: Vec<&str> = rules
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["GO-1999-0002", "GO-1999-0003"]);
    assert_eq!(rules[1]["helpUri"], "https://vuln.example/GO-1999-0003");
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for (at, result) in results.iter().enumerate() {
        assert_eq!(result["ruleIndex"], at);
        assert_eq!(result["ruleId"], ids[at]);
        assert_eq!(result["level"], "error");
    }
    let prints: Vec<&Value> = results
        .iter()
        .map(|result| &result["partialFingerprints"])
        .collect();
    assert_ne!(prints[0], prints[1]);
}

#[test]
fn formats_of_ci_have_each_finding() {
    let lab = Lab::new();
    lab.write(LOCK, lock_of(&[("acme/custom", "5.4.0", "")]));
    let outcome = audit(&lab, &["--format", "github"]).exits(1);
    outcome.stdout_has("::error file=.terraform.lock.hcl,line=2");
    for format in ["markdown", "junit"] {
        let outcome = audit(&lab, &["--format", format]).exits(1);
        outcome.stdout_has("GO-1999-0003");
    }
}

#[test]
fn a_database_that_is_not_in_order_is_no_clean_answer() {
    let lab = Lab::new();
    lab.write(LOCK, lock_of(&[("acme/custom", "5.4.0", "")]));
    let run = |db: &str| lab.run(&["audit", "--db", db]);
    run("nothing").exits(2);
    lab.write("empty/x.txt", "");
    run("empty").exits(2).stderr_has("empty has no advisories");
    let broken = "broken/GO-1.json";
    lab.write(broken, "{");
    let outcome = run("broken").exits(2);
    outcome.stderr_has("1 advisory could not be read");
    // An index may name an advisory that is missing, has another identifier, or is outside of the directory.
    let path = "github.com/acme/terraform-provider-custom";
    for (id, text) in [
        ("../../../main", "this is not the name of an advisory"),
        ("GO-2", "GO-2: "),
        ("GO-3", "GO-3: it is GO-4"),
    ] {
        lab.write(
            "db/index/modules.json",
            format!("[{{\"path\": \"{path}\", \"vulns\": [{{\"id\": \"{id}\"}}]}}]"),
        );
        lab.write("db/ID/GO-3.json", "{\"id\": \"GO-4\"}");
        let outcome = run("db").exits(2);
        assert!(outcome.stderr.contains(text), "{id}: {outcome:?}");
    }
    lab.write("db/index/modules.json", "{}");
    assert_exit(&run("db"), 2);
}
