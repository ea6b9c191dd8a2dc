//! `dynamic` blocks and what is generated of them. The values are those that Terraform 1.11.4 plans.

mod stays;

use std::fmt::Write as _;
use std::path::Path;

use crate::config::{self, Settings, ValueArgument};
use crate::diag::Texts;
use crate::effective::module::{EffectiveBlock, EffectiveItem};
use crate::effective::{effective, expand};
use crate::flavor::Flavor;
use crate::world::mem::MemFiles;

/// Expands the module of a node, and returns its resources and provider blocks.
fn expanded(files: &[(&str, &str)], node: usize, vars: &[(&str, &str)], flavor: Flavor) -> String {
    let mut settings = Settings::new(flavor);
    for (name, text) in vars {
        let (name, text) = ((*name).to_owned(), (*text).to_owned());
        let value = ValueArgument::Value { name, text };
        settings.values.arguments.push(value);
    }
    let files = MemFiles::with(files);
    let mut texts = Texts::default();
    let root = Path::new("");
    let loaded = config::load(&files, &mut texts, root, &settings);
    let modules = &loaded.modules;
    let read = texts.clone();
    let merged = modules[node].merged(&read, flavor);
    let module = effective(&modules[node].files, &merged, &read, flavor);
    let module = config::with_planned(&files, &mut texts, root, &settings, modules, |values| {
        values.enter(node);
        expand(module, values)
    });
    let mut out = String::new();
    let is_shown = |block: &&EffectiveBlock<'_>| ["resource", "provider"].contains(&&*block.kind);
    for block in module.blocks.iter().filter(is_shown) {
        write_block(&mut out, 0, block);
    }
    out
}

fn write_block(out: &mut String, depth: usize, block: &EffectiveBlock<'_>) {
    let indent = "  ".repeat(depth);
    for remark in &block.remarks {
        writeln!(out, "{indent}# {remark}").unwrap();
    }
    let labels: String = block
        .labels
        .iter()
        .map(|label| format!("{label:?} "))
        .collect();
    writeln!(out, "{indent}{} {labels}{{", block.kind).unwrap();
    for item in &block.items {
        match item {
            EffectiveItem::Attribute(attribute) => {
                let text = attribute.text.trim_end();
                writeln!(out, "{indent}  {} = {text}", attribute.name).unwrap();
            }
            EffectiveItem::Block(nested) => write_block(out, depth + 1, nested),
        }
    }
    writeln!(out, "{indent}}}").unwrap();
}

/// Compares the contents of a resource with those that they are expanded to, in a module with these declarations.
#[track_caller]
fn check(declarations: &str, contents: &str, wanted: &str) {
    let main = format!("{declarations}\nresource \"x_y\" \"z\" {{\n{contents}\n}}\n");
    for flavor in Flavor::ALL {
        let out = expanded(&[("main.tf", &main)], 0, &[], flavor);
        let body = out
            .strip_prefix("resource \"x_y\" \"z\" {\n")
            .and_then(|body| body.strip_suffix("}\n"));
        let (body, wanted) = (dedented(body.expect("the resource")), dedented(wanted));
        assert_eq!(body, wanted, "{flavor}");
    }
}

/// Removes the indentation of the first line from all.
fn dedented(text: &str) -> String {
    let text = text.trim_start_matches('\n').trim_end();
    let depth = text.len() - text.trim_start_matches(' ').len();
    let lines = text.lines().map(|line| line.get(depth..).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Checks the text of a value in a quoted template and in a heredoc.
#[track_caller]
fn check_templates(value: &str, [quoted, heredoc]: [&str; 2]) {
    let block = |header: &str, quoted: &str, heredoc: &str| {
        format!(
            "  {header} {{\n    b = \"{quoted}${{var.suffix}}\"\n    c = <<-EOT\n        {heredoc}EO\n        \
             ${{var.suffix}}\n      EOT\n  }}\n"
        )
    };
    let content = block("content", "${a.value}", "${a.value}");
    let dynamic = format!("  dynamic \"a\" {{\n    for_each = [{value}]\n{content}  }}");
    let wanted = block("a", quoted, heredoc);
    check("variable \"suffix\" {}", &dynamic, &wanted);
}

#[test]
fn plain_text_becomes_part_of_a_template() {
    for (value, text) in [
        ("\"two words\"", "two words"),
        ("\"(x)*\"", "(x)*"),
        ("1.5", "1.5"),
        ("true", "true"),
    ] {
        check_templates(value, [text; 2]);
    }
    // Such text would be stripped, be an escape, make a sequence, or a line the end of the heredoc.
    for value in ["\"x \"", "\"\\n\"", "\"{x\"", "\"$$\"", "\"~x\""] {
        check_templates(value, [&*format!("${{{value}}}"); 2]);
    }
    check_templates("\"T\"", ["T", "${\"T\"}"]);
}

#[test]
fn no_secret_is_printed() {
    let contents = r#"
  dynamic "a" {
    for_each = [{ user = "u", password = sensitive("hush") }]
    content {
      user = a.value.user
      all  = a.value
      url  = "${a.value.user}:${a.value.password}@${var.suffix}"
      size = length(a.value.password)
    }
  }
"#;
    let wanted = r#"
  a {
    user = "u"
    all = (sensitive)
    url = "u:${(sensitive)}@${var.suffix}"
    size = (sensitive)
  }
"#;
    check("variable \"suffix\" {}", contents, wanted);
}

const BLOCKS_OF_VAR_V: &str = r#"
variable "v" {
  type = list(string)
}
resource "x_y" "z" {
  dynamic "b" {
    for_each = var.v
    content {
      v = b.value
    }
  }
}
"#;

#[test]
fn values_come_from_the_command_line_files_and_calls() {
    let wanted =
        |value: &str| format!("resource \"x_y\" \"z\" {{\n  b {{\n    v = \"{value}\"\n  }}\n}}\n");
    let call = "module \"m\" {\n  source = \"./m\"\n  v      = [local.l]\n}\nlocals {\n  l = \"call\"\n}\n";
    for flavor in Flavor::ALL {
        let out = expanded(
            &[("main.tf", BLOCKS_OF_VAR_V)],
            0,
            &[("v", "[\"typed\"]")],
            flavor,
        );
        assert_eq!(out, wanted("typed"));
        let files = [
            ("main.tf", BLOCKS_OF_VAR_V),
            ("a.auto.tfvars", "v = [\"file\"]"),
        ];
        assert_eq!(expanded(&files, 0, &[], flavor), wanted("file"));
        let files = [("main.tf", call), ("m/main.tf", BLOCKS_OF_VAR_V)];
        assert_eq!(expanded(&files, 1, &[], flavor), wanted("call"));
        let unknown = call.replace("\"call\"", "x_y.other.id");
        let files = [("main.tf", &*unknown), ("m/main.tf", BLOCKS_OF_VAR_V)];
        let out = expanded(&files, 1, &[], flavor);
        assert!(out.contains("# not expanded: x_y.other.id is known to a plan only"));
    }
}

#[test]
fn an_override_keeps_the_defaults_of_the_base() {
    let base = r#"
variable "v" {
  type    = list(object({ a = optional(string, "base") }))
  default = [{}]
}
resource "x_y" "z" {
  dynamic "b" {
    for_each = var.v
    content {
      v = b.value.a
    }
  }
}
"#;
    let over = "variable \"v\" {\n  type = set(object({ a = optional(string, \"over\") }))\n}\n";
    let files = [("main.tf", base), ("o_override.tf", over)];
    for vars in [&[][..], &[("v", "[{}]")]] {
        let out = expanded(&files, 0, vars, Flavor::Terraform1_11);
        assert!(out.contains("v = \"base\""), "{out}");
    }
}

#[test]
fn json_generates_the_same_blocks() {
    let json = r#"{"resource": {"x_y": {"z": {"dynamic": {"b": {
        "for_each": ["p", "q"], "iterator": "it",
        "content": {"v": "${it.value}-${x_y.other.id}", "w": "${it.key}"}
    }}}}}}"#;
    let out = expanded(&[("main.tf.json", json)], 0, &[], Flavor::OpenTofu1_12);
    let wanted = r#"resource "x_y" "z" {
  b {
    v = "p-${x_y.other.id}"
    w = 0
  }
  b {
    v = "q-${x_y.other.id}"
    w = 1
  }
}
"#;
    assert_eq!(out, wanted);
}
