//! Functions of texts.

use super::arguments::{CallArguments, CallFault, CallResult, text_list};
use crate::expr::typed::Typed;

pub(super) fn chomp(args: &CallArguments<'_>) -> CallResult {
    // All line breaks at the end are cut off, not only the last.
    let text = args.text(0).trim_end_matches(['\n', '\r']);
    Ok(Typed::string(text))
}

pub(super) fn startswith(args: &CallArguments<'_>) -> CallResult {
    Ok(Typed::bool(args.text(0).starts_with(args.text(1))))
}

pub(super) fn endswith(args: &CallArguments<'_>) -> CallResult {
    Ok(Typed::bool(args.text(0).ends_with(args.text(1))))
}

pub(super) fn strcontains(args: &CallArguments<'_>) -> CallResult {
    Ok(Typed::bool(args.text(0).contains(args.text(1))))
}

pub(super) fn trim(args: &CallArguments<'_>) -> CallResult {
    let cut = args.text(1);
    let text = args.text(0).trim_matches(|c| cut.contains(c));
    Ok(Typed::string(text))
}

pub(super) fn trimprefix(args: &CallArguments<'_>) -> CallResult {
    let text = args.text(0);
    let trimmed = text.strip_prefix(args.text(1)).unwrap_or(text);
    Ok(Typed::string(trimmed))
}

pub(super) fn trimsuffix(args: &CallArguments<'_>) -> CallResult {
    let text = args.text(0);
    let trimmed = text.strip_suffix(args.text(1)).unwrap_or(text);
    Ok(Typed::string(trimmed))
}

pub(super) fn trimspace(args: &CallArguments<'_>) -> CallResult {
    Ok(Typed::string(args.text(0).trim()))
}

pub(super) fn lower(args: &CallArguments<'_>) -> CallResult {
    in_case(args.text(0), |c| c.to_lowercase().collect())
}

pub(super) fn upper(args: &CallArguments<'_>) -> CallResult {
    in_case(args.text(0), |c| c.to_uppercase().collect())
}

/// Changes the case of each letter on its own, as the programs do.
fn in_case(text: &str, changed: fn(char) -> String) -> CallResult {
    let mut out = String::new();
    for c in text.chars() {
        let letter = changed(c);
        // Where Rust makes several letters of one, the programs make another single one or none.
        let is_several = letter.chars().nth(1).is_some();
        // These letters got their case after the version of Unicode of the programs.
        let has_new_case = matches!(c, '\u{1c80}'..='\u{1c8f}' | '\u{a7c0}'..='\u{a7ff}' | '\u{264}' | '\u{19b}' | '\u{10000}'..);
        if is_several || (has_new_case && !letter.starts_with(c)) {
            return Err(CallFault::Uncertain(
                "a letter whose case hangs on the program",
            ));
        }
        out.push_str(&letter);
    }
    Ok(Typed::string(out))
}

pub(super) fn indent(args: &CallArguments<'_>) -> CallResult {
    let spaces = usize::try_from(args.whole(0)?)
        .map_err(|_| CallFault::call("the number of spaces must not be negative"))?;
    let text = args.text(1);
    let lines = text.matches('\n').count();
    args.allow(lines.saturating_mul(spaces).saturating_add(spaces))?;
    let line_break = format!("\n{}", " ".repeat(spaces));
    Ok(Typed::string(text.replace('\n', &line_break)))
}

pub(super) fn join(args: &CallArguments<'_>) -> CallResult {
    if args.values.len() < 2 {
        return Err(CallFault::call("at least one list is required"));
    }
    let mut parts = Vec::new();
    for at in 1..args.values.len() {
        for part in args.texts(at) {
            parts.push(part.ok_or_else(|| CallFault::argument(at, "no item may be null"))?);
        }
    }
    let separator = args.text(0);
    let separators = separator.len().saturating_mul(parts.len());
    args.allow(separators.saturating_add(parts.iter().map(|part| part.len()).sum()))?;
    Ok(Typed::string(parts.join(separator)))
}

pub(super) fn split(args: &CallArguments<'_>) -> CallResult {
    Ok(match (args.text(0), args.text(1)) {
        // An empty text has no characters, but one part between separators.
        ("", "") => text_list::<&str>([]),
        (_, "") => text_list([""]),
        ("", text) => text_list(text.chars()),
        (separator, text) => text_list(text.split(separator)),
    })
}

pub(super) fn substr(args: &CallArguments<'_>) -> CallResult {
    let text = args.text(0);
    let (offset, length) = (args.whole(1)?, args.whole(2)?);
    // The programs count grapheme clusters, by the tables of their version of Unicode.
    if !text.is_ascii() || text.contains('\r') {
        return Err(CallFault::Uncertain("this counts characters beyond ASCII"));
    }
    let total = i64::try_from(text.len()).unwrap_or(i64::MAX);
    // A negative offset counts from the end; one before the start is the start.
    let start = if offset < 0 {
        (total + offset).max(0)
    } else {
        offset.min(total)
    };
    let end = match length {
        length if length < 0 => total,
        // With a negative offset, a length of 0 means the rest of the text.
        0 if offset < 0 => total,
        length => start.saturating_add(length).min(total),
    };
    let index = |place: i64| usize::try_from(place).unwrap_or_default();
    let part = text.get(index(start)..index(end)).unwrap_or_default();
    Ok(Typed::string(part))
}
