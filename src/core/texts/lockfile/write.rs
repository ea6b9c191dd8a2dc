//! Model to bytes (rules 1).

use std::fmt::Write as _;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

use super::{LockFile, ProviderLock};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;

/// Prints a lock file exactly as the program of the flavor writes it.
///
/// ```
/// use lockctl_core::flavor::Flavor;
/// use lockctl_core::lockfile::{LockFile, write};
///
/// let empty = write(&LockFile::default(), Flavor::Terraform1_11);
/// assert_eq!(empty, Flavor::Terraform1_11.header());
/// ```
#[must_use]
pub fn write(lock: &LockFile, flavor: Flavor) -> String {
    let mut out = flavor.header().to_owned();
    for (addr, entry) in &lock.providers {
        // One empty line before each block, and no other ones (rules 1.2).
        out.push('\n');
        out.push_str(&write_entry(addr, entry));
    }
    out
}

/// Prints the block of one provider; [`write()`](fn@write) puts an empty line before each.
#[must_use]
pub fn write_entry(addr: &ProviderAddr, entry: &ProviderLock) -> String {
    let mut out = String::from("provider ");
    quote(&mut out, &addr.to_string());
    out.push_str(" {\n");
    let constraints = entry.constraints.to_string();
    // Neighbouring one-line arguments are aligned; `hashes` never takes part (rules 1.3).
    if constraints.is_empty() {
        out.push_str("  version = ");
        quote(&mut out, &entry.version.to_string());
    } else {
        out.push_str("  version     = ");
        quote(&mut out, &entry.version.to_string());
        out.push_str("\n  constraints = ");
        quote(&mut out, &constraints);
    }
    out.push('\n');
    // The programs refuse an empty list (rules 2.7), so the argument is left out.
    if !entry.hashes.is_empty() {
        out.push_str("  hashes = [\n");
        // The last one has a comma, too (rules 1.4).
        for hash in entry.hashes.iter() {
            out.push_str("    ");
            quote(&mut out, hash.as_str());
            out.push_str(",\n");
        }
        out.push_str("  ]\n");
    }
    out.push_str("}\n");
    out
}

/// Writes a quoted string with its escapes (rules 1.6).
pub(in crate::texts) fn quote(out: &mut String, text: &str) {
    out.push('"');
    // Nearly every text is a hash or a version, and has nothing to escape.
    let is_plain = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\' | b'$' | b'%');
    let plain = text.bytes().take_while(|b| is_plain(*b)).count();
    let (plain, rest) = text.split_at(plain);
    out.push_str(plain);
    // The programs print these as they are.
    let is_printable = |c: char| match c.general_category_group() {
        _ if c.is_ascii() => c == ' ' || c.is_ascii_graphic(),
        GeneralCategoryGroup::Letter
        | GeneralCategoryGroup::Mark
        | GeneralCategoryGroup::Number
        | GeneralCategoryGroup::Punctuation
        | GeneralCategoryGroup::Symbol => true,
        _ => false,
    };
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Only a brace behind it would open a template.
            '$' | '%' if chars.peek() == Some(&'{') => out.extend([c, c]),
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let written = if code < 0x10000 {
                    write!(out, "\\u{code:04x}")
                } else {
                    write!(out, "\\U{code:08x}")
                };
                written.expect("writing to a string cannot fail");
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, wanted: &str) {
        let mut out = String::new();
        quote(&mut out, given);
        assert_eq!(out, wanted, "from {given:?}");
    }

    #[test]
    fn escapes_are_those_of_the_programs() {
        check("h1:é😀 x", "\"h1:é😀 x\"");
        check("a\n\r\t\"\\", r#""a\n\r\t\"\\""#);
        check("$ % $x %{ ${ $${", r#""$ % $x %%{ $${ $$${""#);
        check(
            "\u{a0}\u{ad}\u{200b}\u{7f}\u{0}",
            r#""\u00a0\u00ad\u200b\u007f\u0000""#,
        );
        check("\u{e0001}", r#""\U000e0001""#);
    }
}
