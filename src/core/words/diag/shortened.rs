//! Texts that quote foreign names, of a length that can be read.

use std::borrow::Cow;

/// Maximum length of a title, a remark or advice, in characters.
///
/// A name that it quotes may have megabytes; an alarm lists a hundred hashes.
pub const MAX_TEXT: usize = 10_000;

/// Cuts a text in the middle if it has more characters than `most`.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let half = most / 2;
    let beginning: String = text.chars().take(half).collect();
    let end = text
        .char_indices()
        .rev()
        .nth(half - 1)
        .map_or(0, |(at, _)| at);
    Cow::Owned(format!("{beginning}...{}", &text[end..]))
}
