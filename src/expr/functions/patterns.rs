//! `replace`, and the functions of regular expressions.
//!
//! The programs' patterns are written for our own dialect before they are used.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};

use super::{Fault, Function, Gives, Limits, Needs, Takes, dialect, text};
use crate::expr::typed::Typed;
use crate::expr::types::Type;

type Ran = Result<Typed, Fault>;

/// How large a compiled pattern may be, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// How long a pattern may be, in bytes.
const MAX_PATTERN_LENGTH: usize = 16 << 10;

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs: Needs::Parts,
        gives,
        run,
    }
}

const TWO: &[Takes] = &[Takes::Text, Takes::Text];

pub(super) const TABLE: &[Function] = &[
    of("regex", TWO, Gives::Open, |args, _| {
        let pattern = pattern(text(args, 0), 0)?;
        match pattern.captures(text(args, 1)) {
            Some(found) => Ok(captured(&pattern, &found)),
            None => Err(Fault::Call(
                "pattern did not match any part of the given string".to_owned(),
            )),
        }
    }),
    of("regexall", TWO, Gives::Open, |args, limits| {
        let pattern = pattern(text(args, 0), 0)?;
        let mut found = Vec::new();
        for captures in pattern.captures_iter(text(args, 1)) {
            limits.allow(found.len())?;
            found.push(captured(&pattern, &captures));
        }
        let ty = match found.first() {
            Some(first) => first.ty.clone(),
            None => captured_type(&pattern),
        };
        Ok(Typed::list(
            ty,
            found.into_iter().map(|one| one.value).collect(),
        ))
    }),
    of(
        "replace",
        &[Takes::Text, Takes::Text, Takes::Text],
        Gives::Text,
        replace,
    ),
];

fn replace(args: &[Typed], limits: &Limits<'_>) -> Ran {
    let (all, old, new) = (text(args, 0), text(args, 1), text(args, 2));
    let allow = |matches: usize, each: usize| {
        limits.allow(matches.saturating_mul(each).saturating_add(all.len()))
    };
    let inside = old.strip_prefix('/').and_then(|old| old.strip_suffix('/'));
    let Some(inside) = inside.filter(|_| old.len() > 1) else {
        allow(all.matches(old).count(), new.len())?;
        return Ok(Typed::string(all.replace(old, new)));
    };
    let pattern = pattern(inside, 1).map_err(|fault| match fault {
        // Only `regex` itself names the argument.
        Fault::Argument(_, reason) => Fault::Call(reason),
        fault => fault,
    })?;
    if !dialect::is_same_replacement(new) {
        return Err(Fault::Uncertain("this replacement has several readings"));
    }
    // A reference in the new text may stand for all that was matched.
    let longest = new.matches('$').count().saturating_mul(all.len());
    let matches = pattern.find_iter(all).count();
    allow(matches, new.len())?;
    limits.allow(longest.saturating_add(new.len()))?;
    Ok(Typed::string(&*pattern.replace_all(all, new)))
}

/// Returns the type of what a pattern finds.
fn captured_type(pattern: &Regex) -> Type {
    let names: Vec<Option<&str>> = pattern.capture_names().skip(1).collect();
    if names.is_empty() {
        return Type::String;
    }
    let texts = names.iter().map(|_| Typed::null(Type::String));
    shaped(&names, texts.collect()).ty
}

/// Makes of one match what the programs make of it: the text, a tuple of its groups, or an object of
/// those that have names.
fn captured(pattern: &Regex, found: &regex::Captures<'_>) -> Typed {
    let names: Vec<Option<&str>> = pattern.capture_names().skip(1).collect();
    let value = |at: usize| match found.get(at) {
        Some(group) => Typed::string(group.as_str()),
        None => Typed::null(Type::String),
    };
    if names.is_empty() {
        return value(0);
    }
    shaped(&names, (1..=names.len()).map(value).collect())
}

fn shaped(names: &[Option<&str>], values: Vec<Typed>) -> Typed {
    if names.iter().all(Option::is_none) {
        return Typed::tuple(values);
    }
    let named = names.iter().zip(values);
    let named: BTreeMap<String, Typed> = named
        .filter_map(|(name, value)| Some(((*name)?.to_owned(), value)))
        .collect();
    Typed::object(named)
}

/// Compiles the pattern of an argument.
fn pattern(text: &str, at: usize) -> Result<Regex, Fault> {
    if text.len() > MAX_PATTERN_LENGTH {
        return Err(Fault::Uncertain("this pattern is too long"));
    }
    let own = dialect::translated(text);
    let own = own.ok_or(Fault::Uncertain("this pattern has several readings"))?;
    let compiled = RegexBuilder::new(&own)
        .size_limit(MAX_PATTERN_BYTES)
        .build();
    match compiled {
        Ok(pattern) => mixed(&pattern, at).map(|()| pattern),
        Err(regex::Error::CompiledTooBig(_)) => Err(Fault::Uncertain("this pattern is too large")),
        Err(_) => Err(Fault::Argument(at, "this is no pattern".to_owned())),
    }
}

/// Refuses patterns of which some groups have names and others not.
fn mixed(pattern: &Regex, at: usize) -> Result<(), Fault> {
    let names: Vec<Option<&str>> = pattern.capture_names().skip(1).collect();
    let named = names.iter().filter(|name| name.is_some()).count();
    match named == 0 || named == names.len() {
        true => Ok(()),
        false => Err(Fault::Argument(
            at,
            "cannot mix both named and unnamed capture groups".to_owned(),
        )),
    }
}
