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

const SETTINGS: &str = r#"
variable "settings" {
  type = map(object({
    name = string
    size = optional(number, 10)
    tags = optional(list(string))
  }))
  default = {
    web = { name = "front", tags = ["a", "b"] }
    db  = { name = "store", size = 2.50 }
  }
}
variable "suffix" {}
"#;

#[test]
fn a_map_gives_a_block_for_each_key_in_their_order() {
    let contents = r#"
  setting {
    name = "first"
  }
  dynamic "setting" {
    for_each = var.settings
    content {
      name = setting.value.name
      size = setting.value.size
      tags = setting.value.tags
      id   = "${setting.key}-${setting.value.size}"
    }
  }
  setting {
    name = "last"
  }
"#;
    let wanted = r#"
  setting {
    name = "first"
  }
  setting {
    name = "store"
    size = 2.5
    tags = null
    id = "db-2.5"
  }
  setting {
    name = "front"
    size = 10
    tags = ["a", "b"]
    id = "web-10"
  }
  setting {
    name = "last"
  }
"#;
    check(SETTINGS, contents, wanted);
}

#[test]
fn lists_have_indexes_and_sets_have_equal_keys() {
    let contents = r#"
  dynamic "a" {
    for_each = ["x", "w"]
    content {
      v = [a.key, a.value]
    }
  }
  dynamic "b" {
    for_each = toset(["x", "w", "x"])
    content {
      v = [b.key, b.value]
    }
  }
  dynamic "c" {
    for_each = [for key, value in var.settings : key if value.size > 5]
    content {
      v = c.value
    }
  }
  dynamic "d" {
    for_each = values(var.settings)[*].name
    content {
      v = d.value
    }
  }
  dynamic "e" {
    for_each = []
    content {
    }
  }
"#;
    let wanted = r#"
  a {
    v = [0, "x"]
  }
  a {
    v = [1, "w"]
  }
  b {
    v = ["w", "w"]
  }
  b {
    v = ["x", "x"]
  }
  c {
    v = "web"
  }
  d {
    v = "store"
  }
  d {
    v = "front"
  }
"#;
    check(SETTINGS, contents, wanted);
}

#[test]
fn blocks_nest_and_may_be_renamed_and_labelled() {
    let contents = r#"
  dynamic "rule" {
    for_each = { in = [80, 443], out = [] }
    iterator = it
    labels   = [it.key, "port${length(it.value)}"]
    content {
      dynamic "port" {
        for_each = it.value
        content {
          number = port.value
          name   = "${it.key}/${port.key}"
        }
      }
      dynamic "it" {
        for_each = [it.key]
        content {
          name = it.value
        }
      }
    }
  }
"#;
    let wanted = r#"
  rule "in" "port2" {
    port {
      number = 80
      name = "in/0"
    }
    port {
      number = 443
      name = "in/1"
    }
    it {
      name = "in"
    }
  }
  rule "out" "port0" {
    it {
      name = "out"
    }
  }
"#;
    check("", contents, wanted);
}

#[test]
fn only_the_iterator_is_replaced() {
    let contents = r#"
  dynamic "a" {
    for_each = [{ name = "n", list = ["l"], set = toset(["s"]) }]
    content {
      b = "${a.value.name}-${x_y.other.id}$${a.value.name}"
      c = [a.value.name, var.suffix, { (a.value.name) = x_y.other.id }]
      d = lookup(a.value, var.suffix, "none")
      e = a.value[var.suffix]
      f = [for a in ["own"] : "${a}${var.suffix}"]
      g = [for item in a.value.list : "${item}${var.suffix}"]
      h = var.suffix == "" ? a.value.set : toset([])
      i = file("${path.module}/${a.value.name}")
      j = file(a.value.name)
      k = try(a.value.nope, var.suffix)
      l = <<-EOT
        ${a.value.name} ${ a.value.name ~}
        ${var.suffix}
      EOT
      m = "%{ for item in a.value.list }${item}${var.suffix}%{ endfor }"
      n = x_y.other[a.key].id
      o = a.value.name == "n" ? 1 : 2
      p = each.value
    }
  }
"#;
    let wanted = r#"
  a {
    b = "n-${x_y.other.id}$${a.value.name}"
    c = ["n", var.suffix, { "n" = x_y.other.id }]
    d = lookup({ list = ["l"], name = "n", set = ["s"] }, var.suffix, "none")
    e = ({ list = ["l"], name = "n", set = ["s"] })[var.suffix]
    f = [for a in ["own"] : "${a}${var.suffix}"]
    g = [for item in ["l"] : "${item}${var.suffix}"]
    h = var.suffix == "" ? toset(["s"]) : toset([])
    i = file("${path.module}/n")
    j = file("n")
    k = try(({ list = ["l"], name = "n", set = ["s"] }).nope, var.suffix)
    l = <<-EOT
        n ${ "n" ~}
        ${var.suffix}
      EOT
    m = "%{ for item in ["l"] }${item}${var.suffix}%{ endfor }"
    n = x_y.other[0].id
    o = 1
    p = each.value
  }
"#;
    check(SETTINGS, contents, wanted);
}

#[test]
fn literal_text_stays_literal() {
    let contents = r#"
  dynamic "a" {
    for_each = ["$${x}", "{", "\"\\\n", "", " "]
    content {
      b = "%${a.value}${var.suffix}"
      c = <<-EOT
        ${a.value}EOT
        ${var.suffix}
      EOT
    }
  }
"#;
    let wanted = r#"
  a {
    b = "%${"$${x}"}${var.suffix}"
    c = <<-EOT
        $${x}EOT
        ${var.suffix}
      EOT
  }
  a {
    b = "%${"{"}${var.suffix}"
    c = <<-EOT
        {EOT
        ${var.suffix}
      EOT
  }
  a {
    b = "%\"\\\n${var.suffix}"
    c = <<-EOT
        ${"\"\\\n"}EOT
        ${var.suffix}
      EOT
  }
  a {
    b = "%${""}${var.suffix}"
    c = <<-EOT
        ${""}EOT
        ${var.suffix}
      EOT
  }
  a {
    b = "% ${var.suffix}"
    c = <<-EOT
        ${" "}EOT
        ${var.suffix}
      EOT
  }
"#;
    check(SETTINGS, contents, wanted);
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
    check(SETTINGS, contents, wanted);
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
