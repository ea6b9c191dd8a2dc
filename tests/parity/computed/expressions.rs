//! Expressions that are made up to be of a type, mostly.

use super::kinds::{Fit, Kind, NAMES, native};
use crate::dice::Dice;

/// What the programs refuse, or what is not known early.
const FAULTS: &[&str] = &[
    "var.nope",
    "local.nope",
    "local.l0",
    "local.l1.nope",
    "null_resource.x.id",
    "data.null_data_source.x.id",
    "module.c0.x",
    "each.key",
    "count.index",
    "self.x",
    "nope",
    "nope.x",
    "terraform.env",
    "terraform.workspace",
    "terraform.nope",
    "terraform.applying",
    "tofu.workspace",
    "path.nope",
    "path.cwd",
    "null",
    "nope()",
    "core::upper(\"a\")",
    "provider::x::y()",
    "[1, 2][5]",
    "[1, 2][\"a\"]",
    "{}.a",
    "{}[\"a\"]",
    "\"x\".y",
    "null[0]",
    "null.a",
    "upper()",
    "upper(\"a\", \"b\")",
    "upper([])",
    "upper(null)",
    "tonumber(\"x\")",
    "tobool(\"x\")",
    "tolist(\"x\")",
    "toset([[], {}])",
    "1 + \"x\"",
    "1 / 0",
    "5 % 0",
    "!5",
    "-\"x\"",
    "null + 1",
    "null ? 1 : 2",
    "\"x\" ? 1 : 2",
    "true ? 1 : []",
    "true ? [1] : [\"a\", []]",
    "file(\"nope\")",
    "fileexists(\"data\")",
    "templatefile(\"data/t.tftpl\", {})",
    "templatefile(\"data/t.tftpl\", [])",
    "templatefile(\"nope\", {})",
    "timestamp()",
    "plantimestamp()",
    "uuid()",
    "jsondecode(\"{\")",
    "regex(\"x\", \"y\")",
    "regex(\"(\", \"y\")",
    "parseint(\"z\", 10)",
    "parseint(\"z\", 99)",
    "element([], 0)",
    "one([1, 2])",
    "sum([])",
    "max()",
    "coalesce()",
    "coalesce(null)",
    "range(1, 2, 0)",
    "chunklist([1], -1)",
    "lookup({ a = 1 }, \"b\")",
    "zipmap([\"a\"], [])",
    "format(\"%d\", \"x\")",
    "format(\"%s\")",
    "format(\"%z\", 1)",
    "join(\",\", [null])",
    "join(\",\", [[]])",
    "\"${[]}\"",
    "\"a${null}\"",
    "\"${{}}b\"",
    "\"%{ if 5 }%{ endif }\"",
    "\"%{ for x in 5 }%{ endfor }\"",
    "[for x in 5 : x]",
    "[for x in null : x]",
    "[for x in [1] : x if \"q\"]",
    "[for x in [1] : x if null]",
    "{ for x in [\"a\", \"a\"] : x => 1 }",
    "{ for x in [null] : x => 1 }",
    "{ for x in [[]] : x => 1 }",
    "{ (null) = 1 }",
    "{ ([]) = 1 }",
    "merge([], {})",
    "keys([])",
    "length(5)",
    "length(null)",
    "upper([\"a\"]...)",
    "max([]...)",
    "max(5...)",
    "max(null...)",
    "sensitive(1)",
    "nonsensitive(1)",
    "try()",
    "try(var.v0.nope)",
    "can()",
    "can(1, 2)",
    "can(var.nope)",
    "try(local.nope, 1)",
    "sort([1, \"a\", []])",
    "flatten(5)",
    "var.v0.nope",
    "var.v0[99]",
    "var.a.nope",
    "var.v0.*.nope",
    "var[\"v0\"]",
    "local[\"l0\"]",
    "var",
    "path",
];

/// What an expression may name, and how one is made up.
pub(super) struct Writer<'d> {
    pub(super) dice: &'d mut Dice,
    /// Names with their types.
    pub(super) names: Vec<(String, Kind)>,
    /// How many more expressions are written before one with a fault; none has one where there is nothing.
    pub(super) fault_in: Option<usize>,
    bound: usize,
}

impl<'d> Writer<'d> {
    pub(super) fn new(dice: &'d mut Dice) -> Self {
        Self {
            dice,
            names: Vec::new(),
            fault_in: None,
            bound: 0,
        }
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.dice.below(texts.len())]
    }

    /// Makes up a small type.
    pub(super) fn kind(&mut self) -> Kind {
        Kind::make_up(self.dice, 2)
    }

    /// Writes a constant of a type.
    pub(super) fn constant(&mut self, kind: &Kind) -> String {
        native(&kind.value(self.dice, Fit::Exact))
    }

    /// Writes an expression of a type.
    pub(super) fn of(&mut self, kind: &Kind, depth: usize) -> String {
        match &mut self.fault_in {
            Some(0) => {
                self.fault_in = None;
                return self.pick(FAULTS).to_owned();
            }
            Some(left) => *left -= 1,
            None => {}
        }
        let choice = self.dice.below(12);
        if depth == 0 || choice < 4 {
            return self.named(kind).unwrap_or_else(|| self.constant(kind));
        }
        let below = depth - 1;
        match choice {
            4 => {
                let condition = self.of(&Kind::Truth, below);
                let (then, otherwise) = (self.of(kind, below), self.of(kind, below));
                format!("({condition} ? {then} : {otherwise})")
            }
            5 => {
                let (first, second) = (self.of(kind, below), self.of(kind, below));
                match self.dice.below(7) {
                    0 => format!("try({first}, {second})"),
                    1 => format!("[{first}, {second}][{}]", self.dice.below(2)),
                    2 => format!("{{ p = {first}, q = {second} }}.p"),
                    3 => format!("{{ p = {first}, \"q\" : {second} }}[\"q\"]"),
                    4 => format!("element([{first}, {second}], {})", self.dice.below(4)),
                    5 => format!("nonsensitive(sensitive({first}))"),
                    _ => format!("coalesce({first}, {second})"),
                }
            }
            _ => match kind {
                Kind::Text => self.text(below),
                Kind::Number => self.number(below),
                Kind::Truth => self.truth(below),
                Kind::List(item) => self.list(item, below),
                Kind::Set(item) => self.set(item, below),
                Kind::Map(item) => self.map(item, below),
                Kind::Tuple(items) => {
                    let items: Vec<String> =
                        items.iter().map(|item| self.of(item, below)).collect();
                    format!("[{}]", items.join(", "))
                }
                Kind::Object(attributes) => {
                    let pairs = attributes.iter().map(|one| {
                        let value = self.of(&one.kind, below);
                        format!("{} = {value}", one.name)
                    });
                    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
                }
            },
        }
    }

    /// Returns a name of a type, or a part of one.
    fn named(&mut self, kind: &Kind) -> Option<String> {
        let mut found = Vec::new();
        for (name, known) in &self.names {
            if known == kind {
                found.push(name.clone());
            }
            match known {
                Kind::Object(attributes) => {
                    let fitting = attributes.iter().filter(|one| one.kind == *kind);
                    found.extend(fitting.map(|one| format!("{name}.{}", one.name)));
                }
                Kind::Tuple(items) => {
                    let items = items.iter().enumerate().filter(|(_, item)| *item == kind);
                    found.extend(items.map(|(at, _)| format!("{name}[{at}]")));
                }
                Kind::Map(item) | Kind::List(item) if **item == *kind => {
                    let key = match known {
                        Kind::Map(_) => "\"p\"",
                        _ => "0",
                    };
                    let constant = native(&kind.value(self.dice, Fit::Exact));
                    found.push(format!("try({name}[{key}], {constant})"));
                }
                _ => {}
            }
        }
        (!found.is_empty()).then(|| found.swap_remove(self.dice.below(found.len())))
    }

    fn text(&mut self, depth: usize) -> String {
        let text = |writer: &mut Self| writer.of(&Kind::Text, depth);
        let texts = Kind::List(Box::new(Kind::Text));
        match self.dice.below(22) {
            0..=5 => self.template(depth),
            6 => {
                let function = [
                    "upper",
                    "lower",
                    "trimspace",
                    "strrev",
                    "tostring",
                    "chomp",
                    "basename",
                ];
                format!("{}({})", self.pick(&function), text(self))
            }
            7 => format!(
                "join({:?}, {})",
                self.pick(&["", "-", ","]),
                self.of(&texts, depth)
            ),
            8 => format!("replace({}, \"a\", {})", text(self), text(self)),
            9 => {
                let verb = self.pick(&["%s", "%v", "%q", "%5s", "%-3s|", "%#v", "%%%s"]);
                format!("format(\"{verb}-%v\", {}, {})", text(self), self.any(depth))
            }
            10 => format!("jsonencode({})", self.any(depth)),
            11 => format!(
                "substr({}, {}, {})",
                text(self),
                self.dice.below(3),
                self.dice.below(4)
            ),
            12 => {
                let function = self.pick(&["trimprefix", "trimsuffix", "trim"]);
                format!("{function}({}, {})", text(self), text(self))
            }
            13 => format!("tostring({})", self.primitive(depth)),
            14 => format!("split(\",\", {})[0]", text(self)),
            15 => {
                let map = self.of(&Kind::Map(Box::new(Kind::Text)), depth);
                format!("lookup({map}, {:?}, {})", self.pick(NAMES), text(self))
            }
            16 => "file(\"data/t.txt\")".to_owned(),
            17 => format!(
                "templatefile(\"data/t.tftpl\", {{ x = {}, y = {} }})",
                self.primitive(depth),
                self.of(&texts, depth)
            ),
            18 => self
                .pick(&["path.module", "path.root", "basename(path.cwd)"])
                .to_owned(),
            19 => format!("try(regex(\"[a-z]+\", {}), {})", text(self), text(self)),
            20 => format!(
                "jsondecode(file(\"data/j.json\")).{}",
                self.pick(&["text", "list[0]"])
            ),
            _ => format!("try(tostring({}), {})", self.any(depth), text(self)),
        }
    }

    fn template(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.dice.below(3) {
            let part = match self.dice.below(8) {
                0 => self
                    .pick(&["a", "-", "$", "%", "$$", "%%", "é", "$${x}", "%%{x}"])
                    .to_owned(),
                1..=4 => format!("${{{}}}", self.primitive(depth)),
                5 => format!(
                    "%{{ if {} }}{}%{{ else }}b%{{ endif }}",
                    self.of(&Kind::Truth, depth),
                    self.pick(&["", "a", "${1 + 1}", " ${true} "])
                ),
                6 => {
                    let items = self.of(&Kind::List(Box::new(Kind::Text)), depth);
                    format!("%{{ for i, x in {items} ~}} ${{i}}${{x}},%{{ endfor ~}} ")
                }
                _ => format!("${{~ {} ~}} ", self.primitive(depth)),
            };
            text.push_str(&part);
        }
        format!("\"{text}\"")
    }

    fn number(&mut self, depth: usize) -> String {
        let number = |writer: &mut Self| writer.of(&Kind::Number, depth);
        match self.dice.below(12) {
            0..=3 => {
                let operator = self.pick(&["+", "-", "*", "%"]);
                let (left, right) = (number(self), number(self));
                match operator {
                    "%" => format!("({left} % 3)"),
                    _ => format!("({left} {operator} {right})"),
                }
            }
            4 => {
                let function = self.pick(&["min", "max"]);
                format!("{function}({}, {})", number(self), number(self))
            }
            5 => {
                let function = self.pick(&["floor", "ceil", "abs", "signum", "tonumber", "-"]);
                format!("{function}({})", number(self))
            }
            6 | 7 => {
                let kind = match self.dice.below(3) {
                    0 => Kind::Text,
                    1 => Kind::List(Box::new(self.kind())),
                    _ => Kind::Map(Box::new(self.kind())),
                };
                format!("length({})", self.of(&kind, depth))
            }
            8 => format!("sum([{}, {}])", number(self), number(self)),
            9 => format!("try(tonumber({}), {})", self.any(depth), number(self)),
            10 => "parseint(\"1f\", 16)".to_owned(),
            _ => {
                let list = self.of(&Kind::List(Box::new(Kind::Text)), depth);
                format!("try(index({list}, {}), 9)", self.of(&Kind::Text, depth))
            }
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        match self.dice.below(12) {
            0 | 1 => {
                let operator = self.pick(&["&&", "||"]);
                let (left, right) = (self.of(&Kind::Truth, depth), self.of(&Kind::Truth, depth));
                format!("({left} {operator} {right})")
            }
            2 => format!("!{}", self.of(&Kind::Truth, depth)),
            3 | 4 => {
                let operator = self.pick(&["<", "<=", ">", ">="]);
                let (left, right) = (self.of(&Kind::Number, depth), self.of(&Kind::Number, depth));
                format!("({left} {operator} {right})")
            }
            5 | 6 => {
                let kind = self.kind();
                let operator = self.pick(&["==", "!="]);
                let (left, right) = (self.of(&kind, depth), self.of(&kind, depth));
                format!("({left} {operator} {right})")
            }
            7 => format!("can({})", self.any(depth)),
            8 => {
                let kind = self.kind();
                let list = self.of(&Kind::List(Box::new(kind.clone())), depth);
                format!("contains({list}, {})", self.of(&kind, depth))
            }
            9 => format!("({} == null)", self.any(depth)),
            10 => {
                let function = self.pick(&["startswith", "endswith", "strcontains"]);
                let (text, part) = (self.of(&Kind::Text, depth), self.of(&Kind::Text, depth));
                format!("{function}({text}, {part})")
            }
            _ => {
                let function = self.pick(&["alltrue", "anytrue"]);
                format!("{function}([{}])", self.of(&Kind::Truth, depth))
            }
        }
    }

    /// Calls `write` with a new name of a type.
    fn bound(&mut self, kind: &Kind, write: impl FnOnce(&mut Self, &str) -> String) -> String {
        self.bound += 1;
        let name = format!("x{}", self.bound);
        self.names.push((name.clone(), kind.clone()));
        let text = write(self, &name);
        self.names.pop();
        text
    }

    fn list(&mut self, item: &Kind, depth: usize) -> String {
        let of = Kind::List(Box::new(item.clone()));
        let list = |writer: &mut Self| writer.of(&of, depth);
        match self.dice.below(14) {
            0..=2 => {
                let items: Vec<String> = (0..self.dice.below(4))
                    .map(|_| self.of(item, depth))
                    .collect();
                format!("[{}]", items.join(", "))
            }
            3 => format!("tolist({})", list(self)),
            4 => format!("concat({}, {})", list(self), list(self)),
            5 => {
                let function = self.pick(&["reverse", "distinct"]);
                format!("{function}({})", list(self))
            }
            6 => format!(
                "values({})",
                self.of(&Kind::Map(Box::new(item.clone())), depth)
            ),
            7 => format!(
                "tolist({})",
                self.of(&Kind::Set(Box::new(item.clone())), depth)
            ),
            8 => match item {
                Kind::Text => {
                    let function = self.pick(&["sort", "compact"]);
                    format!("{function}({})", list(self))
                }
                _ => format!("slice(concat({}, {}), 0, 0)", list(self), list(self)),
            },
            9 => format!("{}[*]", list(self)),
            10 => {
                let from = self.of(&of, depth);
                format!("[for x in {from} : x if can(x)]")
            }
            _ => {
                let from = Kind::primitive(self.dice);
                let items = match self.dice.below(3) {
                    0 => self.of(&Kind::List(Box::new(from.clone())), depth),
                    1 => self.of(&Kind::Set(Box::new(from.clone())), depth),
                    _ => self.of(&Kind::Map(Box::new(from.clone())), depth),
                };
                self.bound(&from, |writer, name| {
                    let value = writer.of(item, depth);
                    let condition = match writer.dice.below(3) {
                        0 => format!(" if {}", writer.of(&Kind::Truth, depth)),
                        _ => String::new(),
                    };
                    format!("[for {name} in {items} : {value}{condition}]")
                })
            }
        }
    }

    fn set(&mut self, item: &Kind, depth: usize) -> String {
        let list = Kind::List(Box::new(item.clone()));
        let set = Kind::Set(Box::new(item.clone()));
        match self.dice.below(5) {
            0 => {
                let function = self.pick(&["setunion", "setintersection", "setsubtract"]);
                format!(
                    "{function}({}, {})",
                    self.of(&set, depth),
                    self.of(&set, depth)
                )
            }
            _ => format!("toset({})", self.of(&list, depth)),
        }
    }

    fn map(&mut self, item: &Kind, depth: usize) -> String {
        let map = Kind::Map(Box::new(item.clone()));
        match self.dice.below(8) {
            0..=2 => {
                let keys = ["p", "q", "\"r\"", "(\"s\")", "\"${\"t\"}\"", "5", "true"];
                let pairs: Vec<String> = (0..self.dice.below(4))
                    .map(|at| format!("{} = {}", keys[(at * 2) % 7], self.of(item, depth)))
                    .collect();
                format!("{{ {} }}", pairs.join(", "))
            }
            3 => format!("tomap({})", self.of(&map, depth)),
            4 => format!("merge({}, {})", self.of(&map, depth), self.of(&map, depth)),
            5 => format!(
                "zipmap([\"p\", \"b\"], [{}, {}])",
                self.of(item, depth),
                self.of(item, depth)
            ),
            _ => {
                let from = self.of(&map, depth);
                self.bound(item, |writer, name| {
                    let value = writer.of(item, depth);
                    match writer.dice.below(3) {
                        0 => format!("{{ for k, {name} in {from} : upper(k) => {value} }}"),
                        1 => format!("{{ for k, {name} in {from} : k => {value} if k != \"q\" }}"),
                        _ => format!("{{ for k, {name} in {from} : k => {value}... }}"),
                    }
                })
            }
        }
    }

    /// Writes an expression of a primitive type.
    fn primitive(&mut self, depth: usize) -> String {
        let kind = Kind::primitive(self.dice);
        self.of(&kind, depth)
    }

    /// Writes an expression of some type.
    pub(super) fn any(&mut self, depth: usize) -> String {
        let kind = self.kind();
        self.of(&kind, depth)
    }
}
