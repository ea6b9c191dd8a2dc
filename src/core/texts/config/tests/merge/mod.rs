//! Files of a module and what they come to, each argument with its line and with those it replaces.

mod resources;
mod settings;

use std::fmt::Write as _;

use crate::config::tests::load_in;
use crate::diag::{Texts, has_errors};
use crate::flavor::Flavor;
use crate::module_config::file::SourcePlace;
use crate::module_config::merge::merged::*;

use Flavor::{OpenTofu1_12, Terraform1_11, Terraform1_15, Terraform1_16};

const TERRAFORM: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16];

/// Compares what the files come to with lines that are indented as much as the first one.
#[track_caller]
fn check(flavors: &[Flavor], files: &[(&str, &str)], expected: &str) {
    for flavor in flavors {
        let (loaded, texts) = load_in("", files, *flavor);
        let found = &loaded.diagnostics;
        assert!(!has_errors(found), "{flavor}: {found:#?}");
        let merged = loaded.modules[0].merged(&texts, *flavor);
        let written = Writer::write(&texts, &merged);
        assert_eq!(written.trim(), dedented(expected).trim(), "{flavor}");
    }
}

/// Compares a file and an override file with what they come to.
#[track_caller]
fn check_two(flavors: &[Flavor], main: &str, over: &str, expected: &str) {
    let (main, over) = (dedented(main), dedented(over));
    let files = [("m.tf", &*main), ("o_override.tf", &*over)];
    check(flavors, &files, expected);
}

/// Removes the first line and the indentation of the second one from all.
fn dedented(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let depth = text.len() - text.trim_start_matches(' ').len();
    let lines = text.lines().map(|line| line.get(depth..).unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes a merged module like a file.
struct Writer<'a> {
    texts: &'a Texts,
    out: String,
}

impl<'a> Writer<'a> {
    fn write(texts: &'a Texts, module: &MergedModule) -> String {
        let out = String::new();
        let mut writer = Self { texts, out };
        let settings = &module.settings;
        let arguments = settings.required_versions.iter().chain(&settings.others);
        for argument in arguments {
            writer.argument(0, "terraform.", argument);
        }
        for entry in settings.required_providers.values() {
            writer.argument(0, "required ", entry);
        }
        let blocks = settings.backend.iter().chain(&settings.encryption);
        for block in blocks.chain(&settings.provider_metas) {
            writer.block(0, block);
        }
        let (locals, blocks): (Vec<&MergedBlock>, Vec<&MergedBlock>) = module
            .blocks
            .iter()
            .partition(|block| block.kind == "locals");
        let values = locals.iter().flat_map(|block| block.body.attributes());
        for value in sorted(values) {
            writer.argument(0, "local.", value);
        }
        for block in blocks {
            writer.block(0, block);
        }
        writer.out
    }

    fn place(&self, place: SourcePlace) -> String {
        let line = self.texts.position(place.file, place.span.start).line;
        format!("{}:{line}", self.texts.name(place.file))
    }

    fn line(&mut self, depth: usize, text: &str) {
        writeln!(self.out, "{:1$}{text}", "", depth * 2).unwrap();
    }

    fn argument(&mut self, depth: usize, start: &str, argument: &MergedAttribute) {
        let span = argument.written.value.span;
        let bytes = &self.texts.bytes(argument.file)[span.start..span.end];
        let value = String::from_utf8_lossy(bytes);
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut from = self.place(argument.name_place());
        let value_place = SourcePlace {
            span,
            ..argument.name_place()
        };
        assert_eq!(from, self.place(value_place));
        for replaced in &argument.replaces {
            write!(from, " for {}", self.place(*replaced)).unwrap();
        }
        let name = &argument.written.name.text;
        self.line(depth, &format!("{start}{name} = {value} # {from}"));
    }

    fn block(&mut self, depth: usize, block: &MergedBlock) {
        let labels = block.labels.iter().map(|one| format!("{:?} ", one.text));
        let labels = labels.collect::<String>();
        let from = self.place(block.header);
        self.line(depth, &format!("{} {labels}{{ # {from}", block.kind));
        for argument in sorted(block.body.attributes()) {
            self.argument(depth + 1, "", argument);
        }
        // A `dynamic` block comes with those that it makes, and what a block `_` keeps comes last.
        let kind = |block: &&MergedBlock| match (&*block.kind, &*block.labels) {
            ("_", _) => (true, String::new()),
            ("dynamic", [made]) => (false, made.text.clone()),
            (kind, _) => (false, kind.to_owned()),
        };
        let mut blocks: Vec<&MergedBlock> = block.body.blocks().collect();
        blocks.sort_by_key(kind);
        for nested in blocks {
            self.block(depth + 1, nested);
        }
        self.line(depth, "}");
    }
}

fn sorted<'a>(arguments: impl Iterator<Item = &'a MergedAttribute>) -> Vec<&'a MergedAttribute> {
    let mut arguments: Vec<&MergedAttribute> = arguments.collect();
    arguments.sort_by_key(|argument| &argument.written.name.text);
    arguments
}

#[test]
fn arguments_are_replaced_one_by_one_and_nested_blocks_by_type() {
    check_two(
        &Flavor::ALL,
        r#"
        resource "a_x" "y" {
          one = 1
          two = 2
          disk { size = 1 }
          disk { size = 2 }
          dynamic "net" {
            for_each = [1]
            content {}
          }
          port {}
        }
        "#,
        r#"
        resource "a_x" "y" {
          two   = "2"
          three = 3
          net {}
          dynamic "disk" {
            for_each = []
            content {}
          }
        }
        "#,
        r#"
        resource "a_x" "y" { # m.tf:1
          one = 1 # m.tf:2
          three = 3 # o_override.tf:3
          two = "2" # o_override.tf:2 for m.tf:3
          dynamic "disk" { # o_override.tf:5
            for_each = [] # o_override.tf:6
            content { # o_override.tf:7
            }
          }
          net { # o_override.tf:4
          }
          port { # m.tf:10
          }
        }
        "#,
    );
}

#[test]
fn override_files_apply_one_after_the_other_whatever_their_syntax() {
    let files = [
        ("a.tf", "data \"a_x\" \"y\" {\n  v = 1\n  w = 1\n}\n"),
        ("b.tf", "data \"a_x\" \"z\" {\n  disk {}\n}\n"),
        (
            "b_override.tf.json",
            "{\"data\": {\"a_x\": {\n\"y\": {\"v\": 3},\n\"z\": {\"disk\": []}}}}",
        ),
        (
            "a_override.tf",
            "data \"a_x\" \"y\" {\n  v = 2\n}\ndata \"a_x\" \"y\" {\n  w = 2\n}\n",
        ),
    ];
    check(
        &Flavor::ALL,
        &files,
        r#"
        data "a_x" "y" { # a.tf:1
          v = 3 # b_override.tf.json:2 for a.tf:2 for a_override.tf:2
          w = 2 # a_override.tf:5 for a.tf:3
        }
        data "a_x" "z" { # b.tf:1
          disk = [] # b_override.tf.json:3
        }
        "#,
    );
}

#[test]
fn a_provider_keeps_what_only_its_base_says() {
    check_two(
        &[Terraform1_11],
        r#"
        provider "a" {
          version = "1.0"
          region  = "x"
        }
        provider "a" {
          alias = "b"
        }
        "#,
        r#"
        provider "a" {
          version = null
        }
        provider "a" {
          alias   = "b"
          version = "2.0"
        }
        provider "c" {
          region = "z"
        }
        provider "c" {
          region = "zz"
        }
        "#,
        r#"
        provider "a" { # m.tf:1
          region = "x" # m.tf:3
          version = "1.0" # m.tf:2
        }
        provider "a" { # m.tf:5
          alias = "b" # m.tf:6
          version = "2.0" # o_override.tf:6
        }
        provider "c" { # o_override.tf:8
          region = "zz" # o_override.tf:12 for o_override.tf:9
        }
        "#,
    );
    check_two(
        &[OpenTofu1_12],
        "provider \"a\" {\n  alias    = \"b\"\n  for_each = {}\n}\n",
        "provider \"a\" {\n  alias    = \"b\"\n  for_each = { x = 1 }\n}\n",
        r#"
        provider "a" { # m.tf:1
          alias = "b" # m.tf:2
          for_each = {} # m.tf:3
        }
        "#,
    );
}

#[test]
fn a_call_takes_over_everything_but_an_empty_map_of_providers() {
    let main = r#"
        module "m" {
          source  = "a/b/c"
          version = "1.0"
          providers = {
            a = a
          }
          v = 1
        }
        "#;
    let over = r#"
        module "m" {
          version   = null
          providers = {}
          v         = 2
          count     = 1
        }
        "#;
    let merged = |version: &str| {
        format!(
            r#"
        module "m" {{ # m.tf:1
          count = 1 # o_override.tf:5
          providers = {{ a = a }} # m.tf:4
          source = "a/b/c" # m.tf:2
          v = 2 # o_override.tf:4 for m.tf:7
          version = {version}
        }}
        "#
        )
    };
    check_two(&[Terraform1_11], main, over, &merged("\"1.0\" # m.tf:3"));
    let null = merged("null # o_override.tf:2 for m.tf:3");
    let others = [Terraform1_15, Terraform1_16, OpenTofu1_12];
    check_two(&others, main, over, &null);
}

#[test]
fn values_that_a_module_takes_has_and_gives_are_merged_by_argument() {
    check_two(
        &Flavor::ALL,
        r#"
        variable "v" {
          type        = string
          description = "d"
          validation {
            condition     = var.v != ""
            error_message = "x"
          }
        }
        locals {
          a = 1
        }
        locals {
          b = 1
        }
        output "o" {
          value       = local.a
          description = "d"
        }
        "#,
        r#"
        locals {
          b = 2
          a = 3
        }
        variable "v" {
          default = 1
          type    = number
        }
        output "o" {
          sensitive   = true
          description = ""
        }
        "#,
        r#"
        local.a = 3 # o_override.tf:3 for m.tf:10
        local.b = 2 # o_override.tf:2 for m.tf:13
        variable "v" { # m.tf:1
          default = 1 # o_override.tf:6
          description = "d" # m.tf:3
          type = number # o_override.tf:7 for m.tf:2
          validation { # m.tf:4
            condition = var.v != "" # m.tf:5
            error_message = "x" # m.tf:6
          }
        }
        output "o" { # m.tf:15
          description = "d" # m.tf:17
          sensitive = true # o_override.tf:10
          value = local.a # m.tf:16
        }
        "#,
    );
}

#[test]
fn newer_arguments_are_overridden_where_the_program_knows_how() {
    let main = "variable \"v\" {\n  deprecated = \"a\"\n  const = false\n}\noutput \"o\" {\n  value = 1\n  deprecated = \"a\"\n}\n";
    let over = "variable \"v\" {\n  deprecated = \"b\"\n  const = true\n  default = 1\n}\noutput \"o\" {\n  deprecated = \"b\"\n}\n";
    let merged = |variable: &str, output: &str| {
        format!(
            r#"
        variable "v" {{ # m.tf:1
          const = true # o_override.tf:3 for m.tf:3
          default = 1 # o_override.tf:4
          deprecated = {variable}
        }}
        output "o" {{ # m.tf:5
          deprecated = {output}
          value = 1 # m.tf:6
        }}
        "#
        )
    };
    let kept = merged("\"a\" # m.tf:2", "\"a\" # m.tf:7");
    check_two(&[Terraform1_15, Terraform1_16], main, over, &kept);
    let replaced = merged(
        "\"b\" # o_override.tf:2 for m.tf:2",
        "\"b\" # o_override.tf:7 for m.tf:7",
    );
    check_two(&[OpenTofu1_12], main, over, &replaced);
}

#[test]
fn some_overrides_are_passed_over_without_a_word() {
    let main = "ephemeral \"a_x\" \"y\" {\n  v = 1\n}\n";
    let over = "ephemeral \"a_x\" \"y\" {\n  v = 2\n}\n";
    let merged = |value: &str| format!("ephemeral \"a_x\" \"y\" {{ # m.tf:1\n  v = {value}\n}}");
    check_two(TERRAFORM, main, over, &merged("1 # m.tf:2"));
    let replaced = merged("2 # o_override.tf:2 for m.tf:2");
    check_two(&[OpenTofu1_12], main, over, &replaced);
    let removed = "removed {\n  from = a_x.y\n}\n";
    let kept = "removed { # m.tf:1\n  from = a_x.y # m.tf:2\n}";
    check_two(TERRAFORM, removed, removed, kept);
}
