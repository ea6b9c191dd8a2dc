//! Colours on a terminal, and the filter that keeps foreign text from steering it.

use anstyle::{AnsiColor, Style};
use comfy_table::Table;

use super::Tone;

/// The use of colours, which alone never carry meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// Text without any colour.
    Off,
    /// Text with ANSI escape sequences.
    On,
}

pub(super) const BOLD: Style = Style::new().bold();

/// The style of explanations.
pub(super) const FAINT: Style = Style::new().dimmed();

/// The style of what surrounds the lines of a file.
pub(super) const GUTTER: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::BrightBlue)));

pub(super) fn style(tone: Tone) -> Style {
    plain(tone).bold()
}

/// Returns the style of a tone without weight.
pub(super) fn plain(tone: Tone) -> Style {
    let color = match tone {
        Tone::Good => AnsiColor::Green,
        Tone::Note => AnsiColor::Cyan,
        Tone::Warning => AnsiColor::Yellow,
        Tone::Bad => AnsiColor::Red,
    };
    Style::new().fg_color(Some(color.into()))
}

pub(super) fn styled(colors: Colors, style: Style, text: &str) -> String {
    match colors {
        Colors::Off => text.to_owned(),
        Colors::On => format!("{style}{text}{style:#}"),
    }
}

/// Returns true for a character that could steer a terminal, begin a line of its own or hide text: control characters
/// but the tab, other line ends, and marks that have no width or turn the direction of writing.
pub(super) fn steers(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(
            c,
            // Bidirectional marks and characters without width: text shows in another order than it is compared,
            // as in CVE-2021-42574. These are Default_Ignorable_Code_Point and Bidi_Control of Unicode 16, the
            // line and paragraph separators, and the interlinear marks.
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Replaces each character that [`steers`].
pub(super) fn harmless(text: &str) -> String {
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| if steers(c) { '\u{fffd}' } else { c })
        .collect()
}

/// As [`harmless`], for our own text of several lines.
pub(super) fn harmless_lines(text: &str) -> String {
    text.split('\n')
        .map(harmless)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Puts cells into columns: one line for each row, made harmless, without trailing space.
pub(super) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    for row in rows {
        table.add_row(row.iter().map(|cell| harmless(cell)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The properties are those that `regex` knows, of Unicode 16.
    #[test]
    fn each_character_is_judged_by_its_properties() {
        let properties = r"^[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u{fff9}-\u{fffb}]$";
        let steers = regex::Regex::new(properties).expect("a pattern");
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let is_replaced = harmless(&text) != text;
            let is_wanted = c != '\t' && steers.is_match(&text);
            assert_eq!(is_replaced, is_wanted, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn nothing_foreign_steers_the_terminal() {
        assert_eq!(
            harmless("a\u{1b}[31mb\u{202e}c\td\n::error::"),
            "a\u{fffd}[31mb\u{fffd}c\td\u{fffd}::error::"
        );
    }
}
