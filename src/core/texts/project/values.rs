//! Blocks with their names checked, and arguments as plain values.

use std::collections::BTreeSet;

use super::{SettingEnd, SettingPlace};
use crate::addr::Hostname;
use crate::diag::{Diagnostic, FileId, Span, did_you_mean, rules};
use crate::expr::{self, Value};
use crate::hcl::tree::{Block, Body, Expr, ExprKind, Word};
use crate::package::calendar;

/// The attributes and blocks that a body may have.
pub(in crate::texts) struct BodySchema {
    /// The body, in words for messages.
    pub subject: &'static str,
    pub arguments: &'static [&'static str],
    pub blocks: &'static [&'static str],
}

/// Names that are written in the wrong body, with their place.
const ELSEWHERE: [(&str, &str); 3] = [
    ("fact_keys", "in a trust block"),
    ("key_id", "in a provider block in policy"),
    ("platforms", "at the top, or in a provider block there"),
];

/// Maximum number of elements of a list, and of blocks of one kind in a body.
pub(super) const MAX_ITEMS: usize = 1_000;

/// A value with its place.
#[derive(Clone, Debug)]
pub(in crate::texts) struct Located<T> {
    pub value: T,
    pub span: Span,
}

/// A reader of one file, with the problems that it found.
pub(in crate::texts) struct ProjectReader {
    pub file: FileId,
    pub problems: Vec<Diagnostic>,
}

impl ProjectReader {
    /// Adds an error that belongs to no narrower rule.
    pub(in crate::texts) fn invalid(&mut self, title: &str, at: Span, remark: &str, help: &str) {
        let error = Diagnostic::error(rules::PROJECT_INVALID, title);
        self.push(error.at(self.file, at, remark).help(help));
    }

    /// Adds an error about a repeated statement.
    pub(in crate::texts) fn twice(&mut self, title: &str, at: Span, first: Span) {
        let error = Diagnostic::error(rules::PROJECT_INVALID, title)
            .at(self.file, at, "stated again")
            .see(self.file, first, "first stated here")
            .help("delete one of the two blocks");
        self.push(error);
    }

    pub(in crate::texts) fn push(&mut self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    /// Reports everything in a body that has no business there.
    pub(in crate::texts) fn names(&mut self, body: &Body, schema: &BodySchema) {
        for argument in body.attributes() {
            let name = &argument.name;
            if !schema.arguments.contains(&&*name.text) {
                self.unknown(name, schema, "Unsupported argument", schema.blocks);
            }
        }
        for block in body.blocks() {
            if !schema.blocks.contains(&&*block.kind.text) {
                let title = "Unsupported block type";
                self.unknown(&block.kind, schema, title, schema.arguments);
            }
        }
    }

    /// Reports an unknown name; `others` are those that are known in the other form.
    fn unknown(&mut self, name: &Word, schema: &BodySchema, title: &str, others: &[&str]) {
        let only_blocks = schema
            .blocks
            .iter()
            .filter(|name| !schema.arguments.contains(name));
        let names: Vec<&str> = schema
            .arguments
            .iter()
            .chain(only_blocks)
            .copied()
            .collect();
        let elsewhere = ELSEWHERE.iter().find(|(word, _)| *word == name.text);
        // The most certain answer first: the right form, then the right place, then a similar name.
        let help = if others.contains(&&*name.text) {
            let is_block = schema.blocks.contains(&&*name.text);
            let form = if is_block { "{ … }" } else { "= …" };
            Some(format!("write {} {form}", name.text))
        } else if let Some((_, place)) = elsewhere {
            Some(format!("write it {place}"))
        } else {
            did_you_mean(&name.text, &names)
        };
        let help = help.unwrap_or_else(|| match &*names {
            [only] => format!("delete it: {} takes {only} only", schema.subject),
            names => format!("delete it: {} takes {}", schema.subject, listed(names)),
        });
        let remark = format!("{} has no such name", schema.subject);
        let error = Diagnostic::error(rules::UNSUPPORTED_ITEM, title);
        self.push(error.at(self.file, name.span, remark).help(help));
    }

    /// Returns the only label of a block.
    pub(in crate::texts) fn label<'b>(
        &mut self,
        block: &'b Block,
        example: &str,
    ) -> Option<&'b Word> {
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
    pub(in crate::texts) fn no_label(&mut self, block: &Block) {
        if let Some(label) = block.labels.first() {
            let title = format!("Extraneous label for {}", block.kind.text);
            let error = Diagnostic::error(rules::LABEL_WRONG, title);
            self.push(error.at(self.file, label.span, "this block takes no label"));
        }
    }

    /// Reads an argument that is a text.
    pub(in crate::texts) fn text(&mut self, body: &Body, name: &str) -> Option<Located<String>> {
        let argument = body.attribute(name)?;
        match self.value(&argument.value)? {
            Value::Null => None,
            Value::String(value) => Some(located(value, argument.value.span)),
            other => self.misfit(name, &other, argument.value.span, "a text in quotes"),
        }
    }

    /// Reads an argument that is a whole number, from 0 on.
    pub(super) fn count(&mut self, body: &Body, name: &str) -> Option<usize> {
        let argument = body.attribute(name)?;
        let value = self.value(&argument.value)?;
        let count = match &value {
            Value::Null => return None,
            Value::Number(number) => number.to_index(),
            _ => None,
        };
        count.or_else(|| self.misfit(name, &value, argument.value.span, "a whole number"))
    }

    /// Reads an argument that is `true` or `false`.
    pub(in crate::texts) fn flag(&mut self, body: &Body, name: &str) -> Option<bool> {
        let argument = body.attribute(name)?;
        match self.value(&argument.value)? {
            Value::Null => None,
            Value::Bool(value) => Some(value),
            other => self.misfit(name, &other, argument.value.span, "true or false"),
        }
    }

    /// Returns the value of an expression that is `true` or `false`; `None` of any other, which is not reported.
    pub(super) fn is_flag(&self, expr: &Expr) -> Option<bool> {
        match expr::constant(self.file, expr) {
            Ok(Value::Bool(value)) => Some(value),
            _ => None,
        }
    }

    /// Reads the reason of a block that must have one.
    pub(super) fn reason(&mut self, block: &Block, remark: &str) -> String {
        let reason = self.text(&block.body, "reason");
        let says_nothing = match &reason {
            Some(text) => text.value.trim().is_empty(),
            // A reason of another type was reported already.
            None => block.body.attribute("reason").is_none(),
        };
        if says_nothing {
            let at = reason.as_ref().map_or(block.header, |text| text.span);
            self.invalid(
                "Missing reason",
                at,
                remark,
                "say why, as in reason = \"…\"",
            );
        }
        reason.map_or_else(String::new, |text| text.value)
    }

    /// Reads the name of a host.
    pub(super) fn host(&mut self, text: &Located<String>) -> Option<Hostname> {
        let host = text.value.parse::<Hostname>();
        if let Err(error) = &host {
            let help = "write the name as a browser shows it, without scheme or path";
            self.invalid("Invalid hostname", text.span, &error.to_string(), help);
        }
        host.ok()
    }

    /// Returns the place of a value in the file.
    pub(super) fn place(&self, span: Span) -> SettingPlace {
        let file = self.file;
        SettingPlace { file, span }
    }

    /// Returns the blocks of a kind, as many as there may be.
    pub(in crate::texts) fn blocks<'b>(&mut self, body: &'b Body, kind: &str) -> Vec<&'b Block> {
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
    pub(in crate::texts) fn texts(
        &mut self,
        body: &Body,
        name: &str,
    ) -> Option<Vec<Located<String>>> {
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
                Value::Tuple(items) => items
                    .into_iter()
                    .map(|item| located(item, expr.span))
                    .collect(),
                other => return self.misfit(name, &other, expr.span, "a list of texts in quotes"),
            },
        };
        let text_of = |item: Located<Value>| match item.value {
            Value::String(value) => Some(located(value, item.span)),
            other => self.misfit(name, &other, item.span, "a text in quotes"),
        };
        let mut texts: Vec<Located<String>> = values.into_iter().filter_map(text_of).collect();
        if let Some(first) = texts.get(MAX_ITEMS) {
            self.flood(&format!("Too many elements of {name}"), first.span);
            texts.truncate(MAX_ITEMS);
        }
        let mut seen = BTreeSet::new();
        texts.retain(|text| seen.insert(text.value.clone()));
        Some(texts)
    }

    /// As [`ProjectReader::texts`], for a list that says nothing without an element.
    pub(in crate::texts) fn some_texts(
        &mut self,
        body: &Body,
        name: &str,
    ) -> Option<Vec<Located<String>>> {
        let span = body.attribute(name)?.value.span;
        let before = self.problems.len();
        let texts = self.texts(body, name)?;
        if texts.is_empty() && self.problems.len() == before {
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
                self.problems.extend(error);
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

    /// Reads the day when a setting ends, if there is one; `None` if it cannot be read: without its end a setting
    /// that was meant to end would count for ever.
    pub(in crate::texts) fn until(&mut self, body: &Body) -> Option<Option<SettingEnd>> {
        let Some(argument) = body.attribute("until") else {
            return Some(None);
        };
        let span = argument.value.span;
        let text = self.text(body, "until")?;
        let Some(moment) = calendar::read_day(&text.value) else {
            let help = "write a day as YEAR-MONTH-DAY, as in 2027-03-01; it begins at 00:00 UTC";
            self.invalid("Invalid day", span, "this is no day", help);
            return None;
        };
        let place = self.place(span);
        Some(Some(SettingEnd { moment, place }))
    }
}

/// Finds a word in a table.
pub(super) fn choice<T: Copy>(
    title: &str,
    text: &Located<String>,
    table: &[(&str, T)],
    reader: &mut ProjectReader,
) -> Option<T> {
    if let Some((_, value)) = table.iter().find(|(word, _)| *word == text.value) {
        return Some(*value);
    }
    let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
    let help = did_you_mean(&text.value, &words)
        .unwrap_or_else(|| format!("it can be {}", words.join(", ")));
    reader.invalid(title, text.span, "this word has no meaning here", &help);
    None
}

fn located<T>(value: T, span: Span) -> Located<T> {
    Located { value, span }
}

/// Lists words as in `a, b and c`.
pub(in crate::texts) fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
