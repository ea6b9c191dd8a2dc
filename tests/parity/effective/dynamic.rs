//! Modules with `dynamic` blocks: the blocks that lockctl generates hold what the program computes.
//!
//! No provider is needed: an output computes the contents of each block by a `for` over the same collection, and
//! another output holds the expressions of the generated blocks.

use std::fmt::Write as _;
use std::path::Path;

use lockctl::config::{self, Settings};
use lockctl::diag::Texts;
use lockctl::effective::{self, EffectiveBlock, EffectiveModule};
use lockctl::os::RealDisk;
use serde_json::Value;

use crate::lab::Lab;
use crate::seed::Seed;
use crate::terraform::Terraform;

/// The values of the module, of which expressions are made.
const DECLARATIONS: &str = r#"
variable "names" {
  type    = list(string)
  default = ["b", "a b", "\"q\" \\ $${x} %%{y", "{z", "é\n\tt", "", "1", "true", "b"]
}
variable "settings" {
  type = map(object({
    name = optional(string, "unnamed")
    size = optional(number)
    on   = optional(bool, true)
    tags = optional(map(string), { k = "v" })
    in   = optional(list(string), ["i", "j"])
    set  = optional(set(string), ["z", "y"])
  }))
  default = {
    two = { name = "n2", size = 1.50, tags = {} }
    one = { on = false, in = [], size = 12345678901 }
    "k y" = { name = null, set = [] }
  }
}
variable "given" {
  type = set(number)
}
variable "suffix" {
  default = "-s$"
}
variable "flag" {
  default = true
}
variable "table" {
  type    = map(string)
  default = { a = "A", one = "ONE", k = "K" }
}
locals {
  names = [for index, name in var.names : "${index}/${name}" if length(name) < 4]
  all   = [for key, value in var.settings : merge(value, { id = key })]
  deep  = { for key, value in var.settings : key => { name = value.name, size = value.size, on = value.on, tags = value.tags, in = value.in, set = value.set } if value.on }
}
"#;

/// Collections of texts and numbers.
const PLAIN: &[&str] = &[
    "var.names",
    "toset(var.names)",
    "local.names",
    "var.given",
    "keys(var.settings)",
    "values(var.settings)[*].name",
    "local.all[*].id",
    "[for one in local.all : one.name if one.on]",
    "{ for one in local.all : one.id => one.size }",
    "var.table",
    "range(3)",
    "[]",
    "{}",
    "var.flag ? [] : [1]",
    "var.flag ? [1] : []",
    "[\"x\", 1, true, null]",
    "compact(var.names)",
    "flatten([for value in values(var.settings) : tolist(value.set)])",
    "setunion(var.names, [\"q\"])",
    "zipmap([\"p\", \"q\"], [1, 2])",
    "{ (var.suffix) = 1, \"a b\" = 2 }",
    "tomap({ b = 1, a = 2 })",
    "concat(var.names, [\"é\"])",
    "split(\"-\", \"a-b\")",
];

/// Collections of objects with the attributes of `var.settings`.
const OBJECTS: &[&str] = &[
    "var.settings",
    "local.all",
    "local.deep",
    "values(var.settings)",
    "{ for key, value in var.settings : upper(key) => value }",
    "[for one in local.all : one if one.on]",
    "toset([for one in local.all : merge(one, { size = 1 })])",
    "[var.settings[\"one\"], merge(var.settings[\"two\"], { name = \"x\" })]",
];

/// Expressions of the element `@`; `#` is its key.
const OF_ANY: &[&str] = &[
    "@",
    "#",
    "\"${#}\"",
    "\"k${#}%${#}$\"",
    "\"${#}${var.suffix}\"",
    "\"${ # }{${var.suffix}%${#}{\"",
    "[@, var.suffix]",
    "{ (\"${#}\") = var.suffix, x = @ }",
    "var.flag ? @ : null",
    "var.flag ? [#] : []",
    "jsonencode({ key = #, value = @, more = var.suffix })",
    "jsonencode(@)",
    "lookup(var.table, #, \"none\")",
    "try(var.table[#], var.suffix)",
    "[for § in [1, 2] : \"${§}${var.suffix}\"]",
    "[for it in var.names : \"${it}${#}\" if it != var.suffix]",
    "{ for key, value in var.table : \"${key}${#}\" => [value, @] }",
    "\"%{ if var.flag }${#}%{ else }no%{ endif }${var.suffix}\"",
    "\"%{ for it in [#, 1] }${it}${var.suffix}%{ endfor }\"",
    "<<-EOT\n    ${#} and ${var.suffix}\n      ${ # ~}\n    $${#} \\n\n  EOT\n",
    "@ == var.suffix",
    "contains(var.names, #)",
    "coalesce(\"${#}\", var.suffix)",
    "(@)",
    "[[@], [[#, var.flag]]]",
];

/// Expressions of an element with the attributes of `var.settings`.
const OF_OBJECTS: &[&str] = &[
    "@.name",
    "@[\"name\"]",
    "\"${@.name}${var.suffix}\"",
    "upper(@.name)",
    "@.on ? @.name : var.suffix",
    "var.flag && @.on",
    "!@.on",
    "@.tags",
    "merge(@.tags, var.table)",
    "lookup(@.tags, \"k\", var.suffix)",
    "lookup(@.tags, var.suffix, \"none\")",
    "try(@.tags[var.suffix], @.nope, \"none\")",
    "@.in[*]",
    "[for index, it in @.in : \"${index}${it}${var.suffix}\"]",
    "length(@.in) + length(var.names)",
    "try(@.size + 1, -1)",
    "[@.size, -1]",
    "concat(@.in, var.names)",
    "setunion(@.set, var.names)",
    "var.flag ? @.set : toset([])",
    "var.flag ? @.in : tolist([])",
    "{ for key, value in @ : key => value if key != var.suffix }",
    "@.set",
    "try(@.in[0], var.suffix)",
];

/// The contents of a block, with the names of its arguments.
struct Content {
    for_each: String,
    iterator: String,
    arguments: Vec<String>,
    nested: Option<Box<Self>>,
}

fn content(seed: &mut Seed, depth: usize) -> Content {
    let has_objects = seed.below(2) == 0;
    let outer = ["first", "second", "third"];
    // An inner block may hide the iterator of an outer one.
    let iterator = outer[if seed.below(4) == 0 { 0 } else { depth }].to_owned();
    let mut for_each = if has_objects {
        (*seed.pick(OBJECTS)).to_owned()
    } else {
        (*seed.pick(PLAIN)).to_owned()
    };
    if depth > 0 && seed.below(2) == 0 {
        let of_outer = [
            "[first.key, 1]",
            "{ a = first.value, b = first.key }",
            "[first.value]",
        ];
        for_each = (*seed.pick(&of_outer)).to_owned();
    }
    let is_of_outer = for_each.contains("first");
    let arguments = (0..2 + seed.below(4)).map(|_| {
        let of_objects = has_objects && !is_of_outer && seed.below(3) > 0;
        let expression = *seed.pick(if of_objects { OF_OBJECTS } else { OF_ANY });
        expression
            .replace('§', &iterator)
            .replace('@', &format!("{iterator}.value"))
            .replace('#', &format!("{iterator}.key"))
    });
    let arguments = arguments.collect();
    let nested = (depth < 2 && seed.below(2) == 0).then(|| Box::new(content(seed, depth + 1)));
    Content {
        for_each,
        iterator,
        arguments,
        nested,
    }
}

impl Content {
    /// Writes the contents as a `dynamic` block.
    fn dynamic(&self, out: &mut String) {
        writeln!(out, "dynamic \"made\" {{").unwrap();
        writeln!(out, "for_each = {}", self.for_each).unwrap();
        writeln!(out, "iterator = {}", self.iterator).unwrap();
        writeln!(out, "content {{").unwrap();
        for (index, argument) in self.arguments.iter().enumerate() {
            writeln!(out, "a{index} = {argument}").unwrap();
        }
        if let Some(nested) = &self.nested {
            nested.dynamic(out);
        }
        writeln!(out, "}}\n}}").unwrap();
    }

    /// Writes a list of the objects that the blocks hold, computed by the program.
    fn objects(&self, out: &mut String) {
        let Self {
            for_each, iterator, ..
        } = self;
        writeln!(
            out,
            "[for {iterator} in [for key, value in {for_each} : {{ key = key, value = value }}] : {{"
        )
        .unwrap();
        for (index, argument) in self.arguments.iter().enumerate() {
            writeln!(out, "a{index} = {argument}").unwrap();
        }
        if let Some(nested) = &self.nested {
            write!(out, "made = ").unwrap();
            nested.objects(out);
        }
        writeln!(out, "}}]").unwrap();
    }
}

/// Writes the blocks in which a content is generated as a list of objects; `None` if one is not expanded.
fn generated<'b>(
    blocks: impl Iterator<Item = &'b EffectiveBlock<'b>>,
    content: &Content,
) -> Option<String> {
    let mut out = String::from("[\n");
    for block in blocks {
        if block.kind == "dynamic" {
            return None;
        }
        out.push_str("{\n");
        for attribute in block.attributes() {
            writeln!(out, "{} = {}", attribute.name, attribute.text).unwrap();
        }
        if let Some(nested) = &content.nested {
            let nested = generated(block.blocks(), nested)?;
            writeln!(out, "made = {nested}").unwrap();
        }
        out.push_str("},\n");
    }
    out.push(']');
    Some(out)
}

/// How a module ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Same,
    /// The program refuses an expression.
    Refused,
    /// lockctl does not expand a block, for this reason.
    Kept(String),
}

/// Compares what lockctl generates in a module with what the program computes.
pub(super) fn compare(program: &Terraform, lab: &Lab, number: u64) -> Result<End, String> {
    let mut seed = Seed::new(number);
    let content = content(&mut seed, 0);
    let (dir, mut wanted, mut dynamic) = (format!("d{number}"), String::new(), String::new());
    content.objects(&mut wanted);
    content.dynamic(&mut dynamic);
    let resource = format!("resource \"terraform_data\" \"a\" {{\n{dynamic}}}\n");
    lab.write(
        &format!("{dir}/ours/terraform.tfvars"),
        "given = [3, 1, 2]\n",
    );
    lab.write(
        &format!("{dir}/ours/main.tf"),
        format!("{DECLARATIONS}{resource}"),
    );
    let root = lab.path(&format!("{dir}/ours"));
    let (got, remarks) = with_expanded(&root, program, |module| {
        let block = module.blocks.iter().find(|block| block.kind == "resource");
        let block = block.unwrap();
        (generated(block.blocks(), &content), remarks(block))
    });
    let shown = got.as_deref().unwrap_or("null");
    lab.write(
        &format!("{dir}/theirs/terraform.tfvars"),
        "given = [3, 1, 2]\n",
    );
    lab.write(
        &format!("{dir}/theirs/main.tf"),
        format!("{DECLARATIONS}output \"wanted\" {{\nvalue = {wanted}\n}}\noutput \"got\" {{\nvalue = {shown}\n}}\n"),
    );
    let theirs = format!("{dir}/theirs");
    let plan = ["plan", "-no-color", "-input=false", "-out=plan"];
    let (succeeded, said) = program.run(lab, &theirs, &plan);
    if !succeeded {
        let alone = format!("{DECLARATIONS}output \"wanted\" {{\nvalue = {wanted}\n}}\n");
        lab.write(&format!("{theirs}/main.tf"), alone);
        let (succeeded, _) = program.run(lab, &theirs, &plan);
        if succeeded {
            return Err(format!("{said}\n{dynamic}\n{shown}"));
        }
        return Ok(End::Refused);
    }
    if got.is_none() {
        let reason = remarks.join("; ");
        return Ok(End::Kept(reason));
    }
    let json = program.succeeds(lab, &theirs, &["show", "-json", "plan"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let outputs = &json["planned_values"]["outputs"];
    let (wanted, got) = (&outputs["wanted"]["value"], &outputs["got"]["value"]);
    if wanted == got {
        return Ok(End::Same);
    }
    Err(format!(
        "{dynamic}\n{}",
        difference("value", wanted, got).join("\n")
    ))
}

/// Lists where two values differ.
pub(super) fn difference(at: &str, wanted: &Value, got: &Value) -> Vec<String> {
    let both: Vec<(String, &Value, &Value)> = match (wanted, got) {
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            let both = wanted.iter().zip(got).enumerate();
            both.map(|(index, (wanted, got))| (index.to_string(), wanted, got))
                .collect()
        }
        (Value::Object(wanted), Value::Object(got)) if wanted.keys().eq(got.keys()) => wanted
            .iter()
            .map(|(key, value)| (key.clone(), value, &got[key]))
            .collect(),
        _ if wanted == got => Vec::new(),
        _ => return vec![format!("{at}: wanted {wanted}, got {got}")],
    };
    both.into_iter()
        .flat_map(|(key, wanted, got)| difference(&format!("{at}.{key}"), wanted, got))
        .collect()
}

/// Expands a root, and hands the module to `work`.
fn with_expanded<T>(
    root: &Path,
    program: &Terraform,
    work: impl FnOnce(&EffectiveModule<'_>) -> T,
) -> T {
    let settings = Settings::new(program.rules);
    let mut texts = Texts::default();
    let loaded = config::load(&RealDisk, &mut texts, root, &settings);
    let modules = &loaded.modules;
    let read = texts.clone();
    let merged = modules[0].merged(&read, program.rules);
    let module = effective::effective(&modules[0].files, &merged, &read, program.rules);
    config::with_planned(&RealDisk, &mut texts, root, &settings, modules, |values| {
        values.enter(0);
        work(&effective::expand(module, values))
    })
}

fn remarks(block: &EffectiveBlock<'_>) -> Vec<String> {
    let nested = block.blocks().flat_map(remarks);
    block.remarks.iter().cloned().chain(nested).collect()
}
