//! `yamldecode`: the one document of a text (rules 6.6).
//!
//! The programs read YAML 1.1, the parser here YAML 1.2. A document that the two may read differently has no certain
//! value (rules 6.9), and neither has a text that the parser refuses.

mod scalars;

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::convert::convert;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;

/// Maximum nesting of a document: reading is recursive.
const MAX_NESTING: usize = 64;

/// Maximum length of a key, in bytes. The programs have a limit, too, in another unit.
const MAX_KEY: usize = 512;

const FORM: CallFault = CallFault::Uncertain("this YAML may mean something else to the program");
const NO_YAML: CallFault = CallFault::Uncertain("this text could not be read as YAML");

/// Reads the only document of a text.
pub(super) fn yamldecode(args: &CallArguments<'_>) -> CallResult {
    let text = args.text(0);
    if !scalars::is_portable(text) {
        return Err(FORM);
    }
    let mut reader = YamlReader {
        events: Parser::new_from_str(text),
        anchored: BTreeMap::new(),
        ends_with_line: text.ends_with('\n'),
        copied: 0,
        args,
    };
    loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::StreamEnd => return Err(CallFault::call("there is no document")),
            first => {
                let value = reader.node(first, 0)?;
                // Only one document may be there (rules 6.6).
                return match (reader.next()?, reader.next()?) {
                    (Event::DocumentEnd, Event::StreamEnd) => Ok(value),
                    (Event::DocumentEnd, Event::DocumentStart(_)) => {
                        Err(CallFault::call("only a single document is allowed"))
                    }
                    _ => Err(FORM),
                };
            }
        }
    }
}

struct YamlReader<'t, 'l> {
    events: Parser<'t, StrInput<'t>>,
    /// The values that have anchors, as far as they are complete.
    anchored: BTreeMap<usize, Typed>,
    /// The text ends with a line break. Otherwise the two versions may differ in the end of the last block.
    ends_with_line: bool,
    /// The size of the values that aliases have copied, in bytes.
    copied: usize,
    args: &'l CallArguments<'l>,
}

impl<'t> YamlReader<'t, '_> {
    fn next(&mut self) -> CallResult<Event<'t>> {
        Ok(self.next_with_place()?.0)
    }

    fn next_with_place(&mut self) -> CallResult<(Event<'t>, Span)> {
        match self.events.next_event() {
            Some(Ok(found)) => Ok(found),
            Some(Err(_)) | None => Err(NO_YAML),
        }
    }

    /// Reads a node; the anchor of one that has none is zero.
    fn node(&mut self, event: Event<'t>, depth: usize) -> CallResult {
        if depth >= MAX_NESTING {
            return Err(CallFault::Uncertain("this YAML is nested too deep"));
        }
        let (anchor, value) = match event {
            Event::Alias(anchor) => {
                // An anchor is known only once its value is complete, so that no value holds itself.
                let Some(value) = self.anchored.get(&anchor).cloned() else {
                    return Err(CallFault::call("an anchor is used inside of its own value"));
                };
                self.copy(&value)?;
                return Ok(value);
            }
            // What a tag makes of a node is not read.
            Event::Scalar(text, style, anchor, None) => {
                // The end of such a block depends on the version of YAML.
                if is_block(style) && (depth == 0 || !self.ends_with_line) {
                    return Err(FORM);
                }
                (anchor, scalar(&text, style)?)
            }
            Event::SequenceStart(anchor, None) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break (anchor, Typed::tuple(items)),
                        item => items.push(self.node(item, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(anchor, None) => (anchor, self.mapping(depth)?),
            _ => return Err(FORM),
        };
        if anchor != 0 {
            self.copy(&value)?;
            self.anchored.insert(anchor, value.clone());
        }
        Ok(value)
    }

    /// Counts a copy: aliases of aliases grow exponentially with the text.
    fn copy(&mut self, value: &Typed) -> CallResult<()> {
        self.copied = self.copied.saturating_add(value.value.weight());
        self.args.allow(self.copied)
    }

    /// Reads a mapping; of several values of a key the last one counts.
    fn mapping(&mut self, depth: usize) -> CallResult {
        let mut members = BTreeMap::new();
        loop {
            let key = match self.next_with_place()? {
                (Event::MappingEnd, _) => return Ok(Typed::object(members)),
                // In brackets, only YAML 1.2 has keys of several lines.
                (_, place) if place.start.line() != place.end.line() => return Err(FORM),
                (key, _) => key_of(key)?,
            };
            let next = self.next()?;
            let member = self.node(next, depth + 1)?;
            match key {
                MappingKey::Name(name) => {
                    members.insert(name, member);
                }
                MappingKey::Merge => match (&member.ty, member.value) {
                    (Type::Object(_), value @ Value::Object(_)) => {
                        let ty = member.ty;
                        let merged = Typed { ty, value }.into_attributes();
                        members.extend(merged.unwrap_or_default());
                    }
                    // OpenTofu merges a list of mappings, Terraform refuses it.
                    (Type::Tuple(_), _) => return Err(FORM),
                    _ => {
                        return Err(CallFault::call(
                            "only a mapping can be merged into a mapping",
                        ));
                    }
                },
            }
        }
    }
}

enum MappingKey {
    Name(String),
    /// `<<`: the value is merged into the mapping.
    Merge,
}

fn key_of(event: Event<'_>) -> CallResult<MappingKey> {
    let (text, style) = match event {
        Event::Scalar(text, style, 0, None) => (text, style),
        Event::SequenceStart(0, None) | Event::MappingStart(0, None) | Event::Alias(_) => {
            return Err(CallFault::call("only strings are allowed as mapping keys"));
        }
        _ => return Err(FORM),
    };
    if is_block(style) || text.len() > MAX_KEY {
        return Err(FORM);
    }
    match (&*text, style) {
        ("<<", ScalarStyle::Plain) => return Ok(MappingKey::Merge),
        ("<<", _) => return Err(FORM),
        _ => {}
    }
    match convert(scalar(&text, style)?, &Type::String)?.value {
        Value::String(name) => Ok(MappingKey::Name(name)),
        _ => Err(CallFault::call("a mapping key must not be null")),
    }
}

/// Makes a value of a scalar.
fn scalar(text: &str, style: ScalarStyle) -> CallResult {
    match style {
        ScalarStyle::Plain => scalars::plain(text),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Ok(Typed::string(text)),
        ScalarStyle::Literal | ScalarStyle::Folded => scalars::block(text),
    }
}

fn is_block(style: ScalarStyle) -> bool {
    matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
}
