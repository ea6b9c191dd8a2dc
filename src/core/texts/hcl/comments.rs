//! Comments of a file, by span.

use super::{SourceText, scan};
use crate::diag::Span;

/// Finds every comment of a file in native syntax, in its order.
///
/// A comment that ends with its line does not include the line end.
///
/// ```
/// let comments = lockctl_core::hcl::comments(b"# one\na = \"# none\" // two\n/* three */\n");
/// assert_eq!(comments.len(), 3);
/// ```
#[must_use]
pub fn comments(bytes: &[u8]) -> Vec<Span> {
    let text = SourceText::decode(bytes).text;
    let mut found = Vec::new();
    let mut at = 0;
    // Between two tokens there is nothing but white space and comments.
    for token in scan::tokens(&text, Span::new(0, text.len())) {
        while at < token.start {
            let rest = &text[at..token.start];
            let len = if let Some(inside) = rest.strip_prefix("/*") {
                inside.find("*/").map_or(rest.len(), |end| end + 4)
            } else if rest.starts_with('#') || rest.starts_with("//") {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            found.push(Span::new(at, at + len));
            at += len;
        }
        at = token.end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        let found: Vec<&str> = comments(text.as_bytes())
            .iter()
            .map(|span| &text[span.start..span.end])
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn every_form_is_found_and_nothing_else() {
        check("", &[]);
        check("# a\r\n# b", &["# a", "# b"]);
        check(
            "a = 1 # x\n// y\n/* z\n z */ b = 2",
            &["# x", "// y", "/* z\n z */"],
        );
        check("/**/ /* a */ # b", &["/**/", "/* a */", "# b"]);
        check("a = \"# no // no /* no */\"\n", &[]);
        check("a = <<E\n# no\nE\n# yes\n", &["# yes"]);
    }
}
