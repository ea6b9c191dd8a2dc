//! Trees of modules whose sources are computed.
//!
//! What an expression comes to is made visible by a checksum of its JSON: the source is the directory with
//! this number, and each directory requires a provider of its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::expressions::Writer;
use super::kinds::{Fit, Kind, native};
use crate::dice::Dice;

/// How many directories of a checksum there are.
const LEAVES: usize = 16;
/// The file with the numbers of letters, in each module.
const CODES: &str = "codes.tf";
/// How deep expressions are nested, at most.
const DEPTH: usize = 3;

/// A tree, in pieces that may be left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// Each file with its pieces.
    pub(super) files: BTreeMap<String, Vec<String>>,
    pub(super) env: Vec<(String, String)>,
    /// Options of the command.
    pub(super) args: Vec<String>,
}

/// A variable of a module.
#[derive(Clone)]
struct Variable {
    name: String,
    kind: Kind,
    /// Whether its declaration leaves the type open.
    is_open: bool,
    has_default: bool,
}

/// Whose rules apply, as far as they decide what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Terraform,
    OpenTofu,
}

pub(super) struct Maker<'d> {
    dice: &'d mut Dice,
    language: Language,
    tree: Tree,
    /// The variables that all modules below the root have, so that any source may turn out to be any of them.
    shared: Vec<Variable>,
    /// Where the one fault of the tree is, if it has one: after so many expressions.
    fault_in: Option<usize>,
}

impl Tree {
    /// Makes up the tree of a seed.
    pub(super) fn make_up(seed: u64, language: Language) -> Self {
        let mut dice = Dice::new(seed);
        let fault_in = (dice.below(4) == 0).then(|| dice.below(60));
        let mut maker = Maker {
            dice: &mut dice,
            language,
            tree: Self::default(),
            shared: Vec::new(),
            fault_in,
        };
        maker.shared_variables();
        maker.root();
        for dir in ["n0", "n1"] {
            maker.module(dir);
        }
        maker.leaves();
        maker.data();
        maker.tree
    }

    fn add(&mut self, file: &str, piece: String) {
        self.files.entry(file.to_owned()).or_default().push(piece);
    }

    /// Shows all of it, to be tried by hand.
    pub(super) fn text(&self) -> String {
        let is_the_same_always = |path: &str| path.starts_with("m/") || path.ends_with(CODES);
        let files = self.files.iter();
        let files = files.filter(|(path, _)| !is_the_same_always(path));
        let mut text: String = files
            .map(|(path, pieces)| format!("-- {path} --\n{}", pieces.concat()))
            .collect();
        text += &format!(
            "-- environment and arguments --\n{:?}\n{:?}\n",
            self.env, self.args
        );
        text
    }
}

impl Maker<'_> {
    fn one_in(&mut self, count: usize) -> bool {
        self.dice.below(count) == 0
    }

    fn shared_variables(&mut self) {
        for name in ["a", "b"] {
            let variable = Variable {
                name: name.to_owned(),
                kind: Kind::make_up(self.dice, 2),
                is_open: self.one_in(4),
                has_default: self.one_in(3),
            };
            self.shared.push(variable);
        }
        self.shared.push(Variable {
            name: "n".to_owned(),
            kind: Kind::Number,
            is_open: false,
            has_default: false,
        });
    }

    fn root(&mut self) {
        let mut variables = Vec::new();
        for at in 0..2 + self.dice.below(3) {
            let variable = Variable {
                name: format!("v{at}"),
                kind: Kind::make_up(self.dice, 3),
                is_open: self.one_in(4),
                has_default: self.one_in(2),
            };
            self.declare("main.tf", &variable);
            self.give(&variable);
            variables.push(variable);
        }
        if self.one_in(12) {
            let undeclared = Variable {
                name: "undeclared".to_owned(),
                kind: Kind::Text,
                is_open: true,
                has_default: false,
            };
            self.give(&undeclared);
        }
        if self.one_in(4) {
            self.tree
                .env
                .push(("TF_WORKSPACE".to_owned(), "w1".to_owned()));
        }
        let names = self.locals("main.tf", &variables);
        for at in 0..1 + self.dice.below(4) {
            let to_leaf = self.one_in(2);
            self.call("main.tf", &format!("c{at}"), "./", to_leaf, &names);
        }
    }

    fn module(&mut self, dir: &str) {
        let file = format!("{dir}/main.tf");
        for variable in self.shared.clone() {
            let variable = Variable {
                is_open: variable.is_open && self.one_in(2),
                ..variable
            };
            self.declare(&file, &variable);
        }
        let shared = self.shared.clone();
        let names = self.locals(&file, &shared);
        self.call(&file, "leaf", "../", true, &names);
        if self.one_in(2) {
            self.recursion(&file, dir, &names);
        }
    }

    /// Declares a variable.
    fn declare(&mut self, file: &str, variable: &Variable) {
        let mut body = String::new();
        if !variable.is_open {
            body += &format!("  type = {}\n", variable.kind.written());
        }
        if variable.has_default {
            let default = match self.one_in(12) {
                true => Value::Null,
                false => variable.kind.value(self.dice, Fit::Loose),
            };
            body += &format!("  default = {}\n", native(&default));
        }
        let is_secret = self.one_in(24);
        if is_secret {
            let mark = ["sensitive", "ephemeral"][self.dice.below(2)];
            body += &format!("  {mark} = true\n");
        }
        let is_const = match self.language {
            Language::Terraform => !is_secret && !self.one_in(40),
            Language::OpenTofu => self.one_in(5),
        };
        match is_const {
            true => body += "  const = true\n",
            false if self.one_in(30) => body += "  const = false\n",
            false => {}
        }
        if self.one_in(4) {
            body += &format!("  nullable = {}\n", self.one_in(3));
        }
        self.tree
            .add(file, format!("variable {:?} {{\n{body}}}\n", variable.name));
    }

    /// Gives a root variable values in some of the places for them.
    fn give(&mut self, variable: &Variable) {
        let count = match (variable.has_default, self.dice.below(10)) {
            (true, 0..=5) | (false, 0) => 0,
            (_, 9) => 3,
            (_, 8) => 2,
            _ => 1,
        };
        let name = &variable.name;
        for _ in 0..count {
            let value = match self.dice.below(24) {
                0 => Value::Null,
                1 => Kind::make_up(self.dice, 2).value(self.dice, Fit::Loose),
                _ => variable.kind.value(self.dice, Fit::Loose),
            };
            let text = match (&value, variable.is_open || self.one_in(12)) {
                (Value::String(text), true) => text.clone(),
                (Value::String(text), _)
                    if matches!(variable.kind, Kind::Text | Kind::Number | Kind::Truth) =>
                {
                    text.clone()
                }
                _ => native(&value),
            };
            let native = match self.dice.below(100) {
                0 => "upper(\"a\")".to_owned(),
                1 => "\"${1 + 1}\"".to_owned(),
                2 => "var.v0".to_owned(),
                3 => "\"a${1}\"".to_owned(),
                _ => native(&value),
            };
            match self.dice.below(8) {
                0 => self.tree.env.push((format!("TF_VAR_{name}"), text)),
                1 => self.tree.args.push(format!("-var={name}={text}")),
                2 => self.in_json("terraform.tfvars.json", name, value),
                3 => self.in_json("b.auto.tfvars.json", name, value),
                4 => self.in_native("a.auto.tfvars", name, &native),
                5 => {
                    self.in_native("given.tfvars", name, &native);
                    self.tree.args.push("-var-file=given.tfvars".to_owned());
                }
                _ => self.in_native("terraform.tfvars", name, &native),
            }
        }
    }

    fn in_native(&mut self, file: &str, name: &str, value: &str) {
        let start = format!("{name} =");
        let pieces = self.tree.files.entry(file.to_owned()).or_default();
        if !pieces.iter().any(|piece| piece.starts_with(&start)) {
            pieces.push(format!("{start} {value}\n"));
        }
    }

    fn in_json(&mut self, file: &str, name: &str, value: Value) {
        let pieces = self.tree.files.entry(file.to_owned()).or_default();
        let mut values: Map<String, Value> = match pieces.pop() {
            Some(text) => serde_json::from_str(&text).unwrap(),
            None => Map::new(),
        };
        values.insert(name.to_owned(), value);
        pieces.push(Value::Object(values).to_string());
    }

    fn writer(&mut self, names: &[(String, Kind)]) -> Writer<'_> {
        let mut writer = Writer::new(self.dice);
        writer.names = names.to_vec();
        writer
    }

    /// Writes an expression, which may be the one with the fault.
    fn expression(&mut self, kind: &Kind, names: &[(String, Kind)]) -> String {
        let fault_in = self.fault_in;
        let mut writer = self.writer(names);
        writer.fault_in = fault_in;
        let text = writer.of(kind, DEPTH);
        self.fault_in = writer.fault_in;
        text
    }

    /// Declares local values; returns all names of the module.
    fn locals(&mut self, file: &str, variables: &[Variable]) -> Vec<(String, Kind)> {
        let known = variables.iter();
        let mut names: Vec<(String, Kind)> = known
            .map(|variable| (format!("var.{}", variable.name), variable.kind.clone()))
            .collect();
        let codes = file.replace("main.tf", CODES);
        self.tree.add(&codes, letters());
        for at in 0..1 + self.dice.below(4) {
            let kind = Kind::make_up(self.dice, 2);
            let value = self.expression(&kind, &names);
            self.tree
                .add(file, format!("locals {{\n  l{at} = {value}\n}}\n"));
            names.push((format!("local.l{at}"), kind));
        }
        names
    }

    /// Writes the number of the directory that a value leads to.
    fn checksum(&mut self, names: &[(String, Kind)]) -> String {
        let kind = Kind::make_up(self.dice, 2);
        let value = self.expression(&kind, names);
        format!(
            "sum([for i, c in split(\"\", jsonencode({value})) : (i + 1) * lookup(local.codes, c, 7)]) % {LEAVES}"
        )
    }

    /// Writes a call of a module.
    fn call(&mut self, file: &str, name: &str, up: &str, to_leaf: bool, names: &[(String, Kind)]) {
        let source = match (to_leaf, self.dice.below(4)) {
            (true, _) => format!("\"{up}m/${{{}}}\"", self.checksum(names)),
            (false, 0) => format!("\"{up}n0\""),
            (false, 1) => format!("format(\"%sn%d\", {up:?}, length({}) % 2)", {
                self.expression(&Kind::Text, names)
            }),
            _ => format!(
                "{} ? \"{up}n0\" : \"{up}n1\"",
                self.expression(&Kind::Truth, names)
            ),
        };
        let mut body = format!("  source = {source}\n");
        for variable in self.shared.clone() {
            let is_left_out = match (to_leaf, variable.has_default) {
                (true, _) => !self.one_in(4),
                (false, true) => self.one_in(2),
                (false, false) => self.one_in(60),
            };
            if is_left_out {
                continue;
            }
            let value = match variable.name.as_str() {
                "n" => self.dice.below(4).to_string(),
                _ => match self.one_in(20) {
                    true => native(&variable.kind.value(self.dice, Fit::Loose)),
                    false => self.expression(&variable.kind, names),
                },
            };
            body += &format!("  {} = {value}\n", variable.name);
        }
        if self.one_in(60) {
            body += "  undeclared = 1\n";
        }
        if self.one_in(10) {
            body += "  count = 0\n";
        }
        self.tree
            .add(file, format!("module {name:?} {{\n{body}}}\n"));
    }

    /// Writes a call of the module itself, or of the other one, which ends when a counter is used up.
    fn recursion(&mut self, file: &str, dir: &str, names: &[(String, Kind)]) {
        let mut body = format!(
            "  source = var.n > 0 ? \"../{dir}\" : \"../m/${{{}}}\"\n  n = var.n - 1\n",
            self.checksum(names)
        );
        for variable in self.shared.clone() {
            if variable.name == "n" || variable.has_default && self.one_in(2) {
                continue;
            }
            let value = match self.one_in(2) {
                true => format!("var.{}", variable.name),
                false => self.expression(&variable.kind, names),
            };
            body += &format!("  {} = {value}\n", variable.name);
        }
        self.tree
            .add(file, format!("module \"again\" {{\n{body}}}\n"));
    }

    /// Writes the directories with a provider each.
    fn leaves(&mut self) {
        for at in 0..LEAVES {
            let variables = self.shared.iter();
            let variables: String = variables
                .map(|one| format!("variable {:?} {{\n  default = null\n}}\n", one.name))
                .collect();
            let resource = format!("resource \"p{at}_x\" \"y\" {{}}\n");
            self.tree
                .add(&format!("m/{at}/main.tf"), variables + &resource);
        }
    }

    /// Writes what file functions read.
    fn data(&mut self) {
        self.tree.add("data/t.txt", "some\ntext\n".to_owned());
        let template =
            "${x}%{ for i in y ~}\n  ${i}-\n%{ endfor ~}\n%{ if length(y) > 1 }many%{ endif }";
        self.tree.add("data/t.tftpl", template.to_owned());
        self.tree.add(
            "data/j.json",
            "{\"text\": \"é\", \"list\": [\"l\", 2.50]}".to_owned(),
        );
    }
}

/// Writes a number for each letter.
fn letters() -> String {
    let letters = ('0'..='9').chain('a'..='z').chain('A'..='Z');
    let letters = letters.chain("{}[]\":,.-_".chars()).enumerate();
    let pairs =
        letters.map(|(at, letter)| format!("{:?} = {}", letter.to_string(), (at * 7 + 3) % 61));
    let pairs: Vec<String> = pairs.collect();
    format!("locals {{\n  codes = {{ {} }}\n}}\n", pairs.join(", "))
}
