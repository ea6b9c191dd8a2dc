//! `tree` as pictures, in the languages that programs draw.

use snapbox::{IntoData as _, str};

use super::tree::{grove, required, thousand};
use super::*;

#[test]
fn mermaid_draws_one_graph() {
    let outcome = grove().run(&["tree", "--format", "mermaid"]).exits(0);
    outcome.stdout_eq(str![[r##"
flowchart LR
  n0["."]
  n1["module.app<br/>./app"]
  n2["module.deep<br/>./deep"]
  n3["module.far<br/>acme/far/x<br/>not visible: Module not installed"]:::dashed
  n4["module.net<br/>acme/net/x"]
  n5["test tests.main"]
  n6["run setup<br/>./tests/setup"]
  n7[("state<br/>terraform.tfstate")]
  n8(["acme/x"])
  n9(["acme/y"])
  n10(["hashicorp/null"])
  n11(["hashicorp/random"])
  n12(["terraform.io/builtin/terraform"])
  n0 --> n1
  n1 --> n2
  n0 --> n3
  n0 --> n4
  n0 --> n5
  n5 --> n6
  n0 --> n7
  n0 -->|"~#gt; 1.2, != 1.4.0"| n8
  n2 -->|"#gt;= 1.3.0"| n8
  n4 -->|"#lt; 3.0.0"| n9
  n6 --> n11
  n6 --> n12
  n7 --> n10
  classDef dashed stroke-dasharray: 4 4

"##]]);
    outcome.stderr_has("cannot be seen");
}

#[test]
fn dot_draws_one_graph() {
    let outcome = grove().run(&["tree", "--format", "dot", "-q"]).exits(0);
    outcome.stdout_eq(
        str![[r#"
digraph lockctl {
  rankdir=LR
  node [shape=box]
  n0 [label="."]
  n1 [label="module.app\n./app"]
  n2 [label="module.deep\n./deep"]
  n3 [label="module.far\nacme/far/x\nnot visible: Module not installed", style=dashed]
  n4 [label="module.net\nacme/net/x"]
  n5 [label="test tests.main"]
  n6 [label="run setup\n./tests/setup"]
  n7 [label="state\nterraform.tfstate", shape=cylinder]
  n8 [label="acme/x", shape=ellipse]
  n9 [label="acme/y", shape=ellipse]
  n10 [label="hashicorp/null", shape=ellipse]
  n11 [label="hashicorp/random", shape=ellipse]
  n12 [label="terraform.io/builtin/terraform", shape=ellipse]
  {rank=sink; n8; n9; n10; n11; n12}
  n0 -> n1
  n1 -> n2
  n0 -> n3
  n0 -> n4
  n0 -> n5
  n5 -> n6
  n0 -> n7
  n0 -> n8 [label="~> 1.2, != 1.4.0"]
  n2 -> n8 [label=">= 1.3.0"]
  n4 -> n9 [label="< 3.0.0"]
  n6 -> n11
  n6 -> n12
  n7 -> n10
}

"#]]
        .raw(),
    );
    assert!(outcome.stderr.is_empty());
}

#[test]
fn several_roots_share_providers_in_a_picture() {
    let lab = grove();
    let roots = ["app/deep", "tests/setup", "app"];
    let outcome = lab.run(&[&["tree", "--format", "mermaid"], &roots[..]].concat());
    assert_exit(&outcome, 0);
    outcome.stdout_eq(str![[r##"
flowchart LR
  n0["app/deep"]
  n1["tests/setup"]
  n2["app"]
  n3["module.deep<br/>./deep"]
  n4(["acme/x"])
  n5(["hashicorp/random"])
  n6(["terraform.io/builtin/terraform"])
  n2 --> n3
  n0 -->|"#gt;= 1.3.0"| n4
  n1 --> n5
  n1 --> n6
  n3 -->|"#gt;= 1.3.0"| n4

"##]]);
    let outcome = lab.run(&[&["tree", "nowhere"], &roots[..]].concat());
    assert_exit(&outcome, 2);
    outcome.stdout_eq(str![[r#"
PROVIDER                        CONSTRAINTS  ROOTS  WHERE
acme/x                          >= 1.3.0     2      app/deep, app
hashicorp/random                any version  1      tests/setup
terraform.io/builtin/terraform  built in     1      tests/setup
4 modules, 3 providers

"#]]);
    outcome.stderr_has("nowhere cannot be read");
}

#[test]
fn pictures_are_for_the_tree_only() {
    let lab = grove();
    for args in [
        ["show", "--format", "mermaid"],
        ["verify", "--format", "dot"],
    ] {
        let outcome = lab.run(&args).exits(2);
        assert!(outcome.stdout.is_empty());
        let first = outcome.stderr.lines().next().unwrap();
        let format = args[2];
        let wanted = format!("error: invalid value '{format}' for '--format <FORMAT>'");
        assert_eq!(first, wanted);
    }
}

#[test]
fn a_thousand_equal_calls_are_one_node() {
    let lab = thousand();
    lab.run(&["tree", "--format", "dot"]).stdout_eq(
        str![[r#"
digraph lockctl {
  rankdir=LR
  node [shape=box]
  n0 [label="."]
  n1 [label="module.other\n./other"]
  n2 [label="module.own\n./svc"]
  n3 [label="module.deep\n./deep"]
  n4 [label="module.svc000\nmodule.svc001\nmodule.svc002 and 997 more\n./svc"]
  n5 [label="acme/x", shape=ellipse]
  {rank=sink; n5}
  n0 -> n1
  n1 -> n2
  n2 -> n3
  n0 -> n4
  n4 -> n2 [label="the same", style=dashed]
  n2 -> n5 [label="~> 1.0"]
  n3 -> n5 [label=">= 1.1.0"]
}

"#]]
        .raw(),
    );
    let outcome = lab.run(&["tree", "--format", "mermaid", "-v"]);
    outcome.stderr_has("Mermaid draws 500 arrows");
}

/// Sources and names that would end a quoted text, begin a line, or mean something to who draws.
fn hostile() -> Lab {
    let lab = Lab::new();
    let dirs = [
        "a\"]-->b",
        "`b`<b>&amp;\tz",
        "\u{202e}]; end",
        "#quot;",
        "$$x$$ fab:fa-car",
        "\u{1b}[31m%%{init: {}}%%",
    ];
    let mut calls = String::new();
    for (n, dir) in dirs.iter().enumerate() {
        let source = dir.replace('"', "\\\"").replace("%{", "%%{");
        calls += &format!("module \"m{n}\" {{\n  source = \"./{source}\"\n}}\n");
        lab.write(&format!("{dir}/main.tf"), required("x", "~> 1.0"));
    }
    lab.write("main.tf", calls);
    lab
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no such names of files")]
fn hostile_names_stay_inside_of_quotes_of_mermaid() {
    let lab = hostile();
    let outcome = lab.run(&["tree", "--format", "mermaid"]).exits(0);
    outcome.stdout.clone().reads(str![[r#"
flowchart LR
  n0["."]
  n1["module.m0<br/>./a#quot;#93;--#gt;b"]
  n2["module.m1<br/>./#96;b#96;#lt;b#gt;#amp;amp;#9;z"]
  n3["module.m2<br/>./�#93;; end"]
  n4["module.m3<br/>./#35;quot;"]
  n5["module.m4<br/>./#36;#8288;#36;x#36;#8288;#36; fab:#8288;fa-car"]
  n6["module.m5<br/>./�#91;31m#37;#37;#123;init: #123;#125;#125;#37;#37;"]
  n7(["acme/x"])
  n0 --> n1
  n0 --> n2
  n0 --> n3
  n0 --> n4
  n0 --> n5
  n0 --> n6
  n1 -->|"~#gt; 1.0"| n7
  n2 -->|"~#gt; 1.0"| n7
  n3 -->|"~#gt; 1.0"| n7
  n4 -->|"~#gt; 1.0"| n7
  n5 -->|"~#gt; 1.0"| n7
  n6 -->|"~#gt; 1.0"| n7

"#]]);
    for line in outcome.stdout.lines() {
        assert!([0, 2].contains(&line.matches('"').count()), "{line}");
        let quoted = line.split('"').nth(1).unwrap_or("").replace("<br/>", "");
        assert!(
            !quoted.contains(['<', '>', '[', ']', '`', '%', '{']),
            "{line}"
        );
    }
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no such names of files")]
fn hostile_names_stay_inside_of_quotes_of_dot() {
    let lab = hostile();
    let outcome = lab.run(&["tree", "--format", "dot"]);
    outcome.stdout.clone().reads(
        str![[r#"
digraph lockctl {
  rankdir=LR
  node [shape=box]
  n0 [label="."]
  n1 [label="module.m0\n./a\"]-->b"]
  n2 [label="module.m1\n./`b`<b>&amp;amp;	z"]
  n3 [label="module.m2\n./�]; end"]
  n4 [label="module.m3\n./#quot;"]
  n5 [label="module.m4\n./$$x$$ fab:fa-car"]
  n6 [label="module.m5\n./�[31m%%{init: {}}%%"]
  n7 [label="acme/x", shape=ellipse]
  {rank=sink; n7}
  n0 -> n1
  n0 -> n2
  n0 -> n3
  n0 -> n4
  n0 -> n5
  n0 -> n6
  n1 -> n7 [label="~> 1.0"]
  n2 -> n7 [label="~> 1.0"]
  n3 -> n7 [label="~> 1.0"]
  n4 -> n7 [label="~> 1.0"]
  n5 -> n7 [label="~> 1.0"]
  n6 -> n7 [label="~> 1.0"]
}

"#]]
        .raw(),
    );
    for line in outcome.stdout.lines() {
        let bare = line.replace("\\\\", "").replace("\\\"", "");
        assert!([0, 2].contains(&bare.matches('"').count()), "{line}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no such names of files")]
fn hostile_names_do_not_steer_a_terminal() {
    let lab = hostile();
    lab.run(&["tree"]).stdout_eq(str![[r#"
.
├─ module.m0  ./a"]-->b
│  └─ acme/x  ~> 1.0
├─ module.m1  ./`b`<b>&amp;	z
│  └─ acme/x  ~> 1.0
├─ module.m2  ./�]; end
│  └─ acme/x  ~> 1.0
├─ module.m3  ./#quot;
│  └─ acme/x  ~> 1.0
├─ module.m4  ./$$x$$ fab:fa-car
│  └─ acme/x  ~> 1.0
└─ module.m5  ./�[31m%%{init: {}}%%
   └─ acme/x  ~> 1.0
7 modules, 1 provider

"#]]);
}
