//! Blocks with their names checked, and arguments as plain values.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, FileId, Span, did_you_mean, rules};
use crate::expr::{self, Value};
use crate::hcl::tree::{Block, Body, Expr, ExprKind, Word};

/// What may stand in a body.
pub(super) struct Known {
    /// What the body is, in words.
    pub what: &'static str,
    pub arguments: &'static [&'static str],
    pub blocks: &'static [&'static str],
    /// Names that belong elsewhere, with where that is.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

/// How many elements a list may have, and how many blocks of one kind a body.
pub(super) const MAX_ITEMS: usize = 1_000;

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub value: T,
    pub span: Span,
}

/// The file at hand with what is wrong about it.
pub(super) struct Faults {
    pub file: FileId,
    pub found: Vec<Diagnostic>,
}

impl Faults {
    /// Adds an error that belongs to no narrower rule.
    pub(super) fn invalid(&mut self, title: &str, at: Span, remark: &str, help: &str) {
        let error = Diagnostic::error(rules::PROJECT_INVALID, title);
        self.push(error.at(self.file, at, remark).help(help));
    }

    /// Adds an error about something that stands twice.
    pub(super) fn twice(&mut self, title: &str, at: Span, first: Span) {
        let error = Diagnostic::error(rules::PROJECT_INVALID, title)
            .at(self.file, at, "stated again")
            .see(self.file, first, "first stated here")
            .help("delete one of the two blocks");
        self.push(error);
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Reports everything in a body that has no business there.
    pub(super) fn names(&mut self, body: &Body, known: &Known) {
        for argument in body.attributes() {
            let name = &argument.name;
            if !known.arguments.contains(&&*name.text) {
                self.unknown(name, known, "Unsupported argument", known.blocks);
            }
        }
        for block in body.blocks() {
            if !known.blocks.contains(&&*block.kind.text) {
                let title = "Unsupported block type";
                self.unknown(&block.kind, known, title, known.arguments);
            }
        }
    }

    /// Reports an unknown name; `others` are those that are known in the other form.
    fn unknown(&mut self, name: &Word, known: &Known, title: &str, others: &[&str]) {
        let blocks = known.blocks.iter();
        let blocks = blocks.filter(|name| !known.arguments.contains(name));
        let all: Vec<&str> = known.arguments.iter().chain(blocks).copied().collect();
        let elsewhere = known.elsewhere.iter().find(|(word, _)| *word == name.text);
        let help = if let Some((_, place)) = elsewhere {
            Some(format!("write it in {place}"))
        } else if others.contains(&&*name.text) {
            let is_block = known.blocks.contains(&&*name.text);
            let form = if is_block { "{ … }" } else { "= …" };
            Some(format!("write {} {form}", name.text))
        } else {
            did_you_mean(&name.text, &all)
        };
        let help = help.unwrap_or_else(|| match &*all {
            [only] => format!("delete it: {} takes {only} only", known.what),
            all => format!("delete it: {} takes {}", known.what, listed(all)),
        });
        let remark = format!("{} has no such name", known.what);
        let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, title);
        self.push(error.at(self.file, name.span, remark).help(help));
    }

    /// Returns the only label of a block.
    pub(super) fn label<'b>(&mut self, block: &'b Block, example: &str) -> Option<&'b Word> {
        let kind = &block.kind.text;
        if let [label, others @ ..] = &*block.labels {
            let Some(other) = others.first() else {
                return Some(label);
            };
            let title = format!("Extraneous label for {kind}");
            let error = Diagnostic::error(rules::LABEL_WRONG, title);
            self.push(error.at(self.file, other.span, "one label is enough"));
        } else {
            let error = Diagnostic::error(rules::LABEL_WRONG, format!("Missing label for {kind}"));
            let help = format!("write {kind} {example:?} {{ … }}");
            self.push(error.at(self.file, block.header, "").help(help));
        }
        None
    }

    /// Reports the labels of a block that has none.
    pub(super) fn no_label(&mut self, block: &Block) {
        if let Some(label) = block.labels.first() {
            let title = format!("Extraneous label for {}", block.kind.text);
            let error = Diagnostic::error(rules::LABEL_WRONG, title);
            self.push(error.at(self.file, label.span, "this block takes no label"));
        }
    }

    /// Reads an argument that is a text.
    pub(super) fn text(&mut self, body: &Body, name: &str) -> Option<Located<String>> {
        let argument = body.attribute(name)?;
        match self.value(&argument.value)? {
            Value::Null => None,
            Value::String(value) => Some(located(value, argument.value.span)),
            other => self.misfit(name, &other, argument.value.span, "a text in quotes"),
        }
    }

    /// Reads an argument that is `true` or `false`.
    pub(super) fn flag(&mut self, body: &Body, name: &str) -> Option<bool> {
        let argument = body.attribute(name)?;
        match self.value(&argument.value)? {
            Value::Null => None,
            Value::Bool(value) => Some(value),
            other => self.misfit(name, &other, argument.value.span, "true or false"),
        }
    }

    /// Returns the blocks of a kind, as many as there may be.
    pub(super) fn blocks<'b>(&mut self, body: &'b Body, kind: &str) -> Vec<&'b Block> {
        let mut blocks: Vec<&Block> = body.blocks().filter(|b| b.kind.text == kind).collect();
        if let Some(first) = blocks.get(MAX_ITEMS) {
            self.flood(&format!("Too many {kind} blocks"), first.header);
            blocks.truncate(MAX_ITEMS);
        }
        blocks
    }

    fn flood(&mut self, title: &str, at: Span) {
        let remark = format!("at most {MAX_ITEMS} can be read");
        self.invalid(title, at, &remark, "delete what is not needed");
    }

    /// Reads an argument that is a list of texts, each once; one that is no text is left out.
    pub(super) fn texts(&mut self, body: &Body, name: &str) -> Option<Vec<Located<String>>> {
        let mut texts = self.elements(body, name)?;
        if let Some(first) = texts.get(MAX_ITEMS) {
            self.flood(&format!("Too many elements of {name}"), first.span);
            texts.truncate(MAX_ITEMS);
        }
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        texts.retain(|text| match seen.get(&text.value) {
            Some(first) => {
                let error = Diagnostic::error(rules::PROJECT_INVALID, "Duplicate element")
                    .at(self.file, text.span, "stated again")
                    .see(self.file, *first, "first stated here")
                    .help("delete one of the two; was another one meant?");
                self.push(error);
                false
            }
            None => {
                seen.insert(text.value.clone(), text.span);
                true
            }
        });
        Some(texts)
    }

    fn elements(&mut self, body: &Body, name: &str) -> Option<Vec<Located<String>>> {
        let argument = body.attribute(name)?;
        let expr = &argument.value;
        let values: Vec<Located<Value>> = match &expr.kind {
            // Each element has a place of its own.
            ExprKind::Tuple(items) => items
                .iter()
                .filter_map(|item| Some(located(self.value(item)?, item.span)))
                .collect(),
            _ => match self.value(expr)? {
                Value::Null => return None,
                Value::Tuple(items) => {
                    let items = items.into_iter();
                    items.map(|item| located(item, expr.span)).collect()
                }
                other => return self.misfit(name, &other, expr.span, "a list of texts in quotes"),
            },
        };
        let texts = values.into_iter().filter_map(|item| match item.value {
            Value::String(value) => Some(located(value, item.span)),
            other => self.misfit(name, &other, item.span, "a text in quotes"),
        });
        Some(texts.collect())
    }

    /// As [`Faults::texts`], for a list that says nothing without an element.
    pub(super) fn some_texts(&mut self, body: &Body, name: &str) -> Option<Vec<Located<String>>> {
        let span = body.attribute(name)?.value.span;
        let before = self.found.len();
        let texts = self.texts(body, name)?;
        if texts.is_empty() && self.found.len() == before {
            let remark = "at least one element is needed";
            let help = format!("add one, or delete {name}");
            self.invalid("Empty list", span, remark, &help);
        }
        Some(texts)
    }

    fn value(&mut self, expr: &Expr) -> Option<Value> {
        match expr::constant(self.file, expr) {
            Ok(value) => Some(value),
            Err(error) => {
                self.found.extend(error);
                None
            }
        }
    }

    fn misfit<T>(&mut self, name: &str, value: &Value, at: Span, wanted: &str) -> Option<T> {
        let remark = format!("{wanted} is needed, not {}", value.type_name());
        let error = Diagnostic::error(rules::WRONG_TYPE, format!("Unsuitable value for {name}"));
        self.push(error.at(self.file, at, remark));
        None
    }
}

fn located<T>(value: T, span: Span) -> Located<T> {
    Located { value, span }
}

/// Lists words as in `a, b and c`.
pub(super) fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
