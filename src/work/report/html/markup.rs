//! The text of HTML and SVG: the only place that escapes.

use std::fmt;

use crate::diag::shortened;
use crate::report::style::harmless;

/// Maximum length of a foreign text, in characters: a longer one loses its middle.
const MAX_CHARS: usize = 400;

/// The markup of a page under construction.
///
/// Markup is known at compile time; everything else passes through [`escaped`].
#[derive(Clone, Debug, Default)]
pub(super) struct Markup(String);

/// Makes a text harmless in HTML and SVG, as content and inside of quotes.
///
/// Characters that steer or hide text, and those that XML does not allow, are replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in harmless(&shortened(text, MAX_CHARS)).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' => out.push(' '),
            // Noncharacters: no escape exists for them.
            c if u32::from(c) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&c) => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

/// Rounds a coordinate to tenths: longer fractions would be most of a picture.
pub(super) fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

impl Markup {
    /// Adds markup of our own.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds markup of our own with values in it: each replaces a `{}`, escaped.
    pub(super) fn put(&mut self, markup: &'static str, values: &[&dyn fmt::Display]) -> &mut Self {
        let mut parts = markup.split("{}");
        self.raw(parts.next().unwrap_or_default());
        assert_eq!(parts.clone().count(), values.len(), "values of {markup}");
        for (value, part) in values.iter().zip(parts) {
            self.text(&value.to_string()).raw(part);
        }
        self
    }

    /// Adds any text, escaped.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// Adds a sentence, whose commands are in backticks.
    pub(super) fn prose(&mut self, text: &str) -> &mut Self {
        for (at, part) in text.split('`').enumerate() {
            if at % 2 == 1 {
                self.put("<code>{}</code>", &[&part]);
            } else {
                self.text(part);
            }
        }
        self
    }

    /// Adds markup that was made before.
    pub(super) fn add(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Returns the text of the page.
    #[must_use]
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_foreign_is_markup() {
        assert_eq!(
            escaped("<script a=\"b\" c='d'>&\u{202e}\u{1b}[31m\t\n\u{ffff}"),
            "&lt;script a=&quot;b&quot; c=&#39;d&#39;&gt;&amp;\u{fffd}\u{fffd}[31m \u{fffd}\u{fffd}"
        );
        assert_eq!(escaped(&"x".repeat(10_000)).len(), MAX_CHARS + 3);
    }

    /// Reads a text as a browser does.
    fn read(text: &str) -> String {
        [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&amp;", "&"),
        ]
        .iter()
        .fold(text.to_owned(), |text, (escape, c)| text.replace(escape, c))
    }

    proptest! {
        #[test]
        fn escaped_text_is_read_as_it_was_written(text in any::<String>()) {
            let escaped = escaped(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let kept: String = harmless(&shortened(&text, MAX_CHARS))
                .chars()
                .map(|c| match c {
                    '\t' => ' ',
                    c if read(&super::escaped(&c.to_string())) == "\u{fffd}" => '\u{fffd}',
                    c => c,
                })
                .collect();
            prop_assert_eq!(read(&escaped), kept);
        }
    }
}
