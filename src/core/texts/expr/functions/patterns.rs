//! `replace`, and the functions of regular expressions.
//!
//! The programs' patterns are translated to the dialect of the `regex` crate before they are used.

use regex::{Captures, Regex, RegexBuilder};

use super::arguments::{CallArguments, CallFault, CallResult};
use super::dialect;
use crate::expr::typed::Typed;
use crate::expr::types::Type;

/// Maximum size of a compiled pattern, in bytes: a short pattern with counts may become very large.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Maximum length of a pattern, in bytes.
const MAX_PATTERN_LENGTH: usize = 16 << 10;

pub(super) fn regex(args: &CallArguments<'_>) -> CallResult {
    let pattern = compiled(args.text(0), 0)?;
    match pattern.captures(args.text(1)) {
        Some(captures) => Ok(captured(&pattern, Some(&captures))),
        None => Err(CallFault::call(
            "pattern did not match any part of the given string",
        )),
    }
}

pub(super) fn regexall(args: &CallArguments<'_>) -> CallResult {
    let pattern = compiled(args.text(0), 0)?;
    let mut matches = Vec::new();
    for captures in pattern.captures_iter(args.text(1)) {
        args.allow(matches.len())?;
        matches.push(captured(&pattern, Some(&captures)));
    }
    let ty = match matches.first() {
        Some(first) => first.ty.clone(),
        None => captured(&pattern, None).ty,
    };
    Ok(Typed::list(
        ty,
        matches.into_iter().map(|matched| matched.value).collect(),
    ))
}

pub(super) fn replace(args: &CallArguments<'_>) -> CallResult {
    let (text, old, new) = (args.text(0), args.text(1), args.text(2));
    let allow = |matches: usize| {
        let added = matches.saturating_mul(new.len());
        args.allow(added.saturating_add(text.len()))
    };
    // Slashes enclose a pattern; a lone slash is a text.
    let inside = old.strip_prefix('/').and_then(|old| old.strip_suffix('/'));
    let Some(inside) = inside.filter(|_| old.len() > 1) else {
        allow(text.matches(old).count())?;
        return Ok(Typed::string(text.replace(old, new)));
    };
    // Only `regex` itself names the argument.
    let pattern = compiled(inside, 1).map_err(CallFault::without_argument)?;
    // `$01` and `$é` name groups in one of the dialects only (rules 6.7).
    if !dialect::is_same_replacement(new) {
        return Err(CallFault::Uncertain(
            "this replacement has several readings",
        ));
    }
    allow(pattern.find_iter(text).count())?;
    // A reference in the new text may be replaced by the whole match.
    let references = new.matches('$').count().saturating_mul(text.len());
    args.allow(references.saturating_add(new.len()))?;
    Ok(Typed::string(&*pattern.replace_all(text, new)))
}

/// Makes the programs' result of one match: the text, a tuple of its groups, or an object of those that have
/// names. Without captures all texts are null.
fn captured(pattern: &Regex, captures: Option<&Captures<'_>>) -> Typed {
    let names: Vec<Option<&str>> = pattern.capture_names().skip(1).collect();
    let group = |at: usize| match captures.and_then(|captures| captures.get(at)) {
        Some(group) => Typed::string(group.as_str()),
        None => Typed::null(Type::String),
    };
    if names.is_empty() {
        return group(0);
    }
    let groups = (1..=names.len()).map(group);
    if names.iter().all(Option::is_none) {
        return Typed::tuple(groups.collect());
    }
    Typed::object(
        names
            .iter()
            .zip(groups)
            .filter_map(|(name, value)| Some(((*name)?.to_owned(), value)))
            .collect(),
    )
}

/// Compiles the pattern of an argument.
fn compiled(text: &str, at: usize) -> CallResult<Regex> {
    if text.len() > MAX_PATTERN_LENGTH {
        return Err(CallFault::Uncertain("this pattern is too long"));
    }
    let translated = dialect::translated(text)
        .ok_or(CallFault::Uncertain("this pattern has several readings"))?;
    let pattern = RegexBuilder::new(&translated)
        // A short pattern with nested counts can take gigabytes.
        .size_limit(MAX_PATTERN_BYTES)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => CallFault::Uncertain("this pattern is too large"),
            _ => CallFault::argument(at, "this is no pattern"),
        })?;
    let names = pattern.capture_names().skip(1);
    let (named, unnamed): (Vec<_>, Vec<_>) = names.partition(Option::is_some);
    if !named.is_empty() && !unnamed.is_empty() {
        let reason = "cannot mix both named and unnamed capture groups";
        return Err(CallFault::argument(at, reason));
    }
    Ok(pattern)
}
