//! The text of `lockctl explain`: a table of all topics and rules, or their pages.

use std::fmt::Write as _;

use crate::diag::{Area, Level, RULES, named};
use crate::guide::{TOPICS, Topic};
use crate::report::json::PageMatchRow;
use crate::report::{CommandResult, Look, ResultSubject, TextBlock, page, reading};

/// Minimum width of the column of meanings.
const MIN_MEANING: usize = 20;

/// Returns what people read of a result.
pub(super) fn blocks(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let ResultSubject::Pages(topics, rules) = &result.subject else {
        return Vec::new();
    };
    let page = |page: &'static str| vec![TextBlock::Page(page.to_owned(), look.columns)];
    let of_topics = topics.iter().filter_map(|row| row.page).map(page);
    let of_rules = rules
        .iter()
        .filter(|row| row.page.is_some())
        .map(|row| match named(row.rule) {
            rule if look.markdown => page(rule.page),
            rule => {
                let meaning = match rule.level() {
                    Level::As(_) => rule.meaning.to_owned(),
                    Level::Off => {
                        format!("{} (off, unless a project file sets a level)", rule.meaning)
                    }
                };
                // The page begins with the name of the rule, which the heading says already.
                let (_, page) = rule.page.split_once("\n\n").unwrap_or_default();
                vec![
                    TextBlock::Heading(rule.name.to_owned()),
                    TextBlock::Remark(reading::tone(rule.severity), meaning),
                    TextBlock::Lines(vec![String::new()]),
                    TextBlock::Page(page.to_owned(), look.columns),
                ]
            }
        });
    let pages: Vec<Vec<TextBlock>> = of_topics.chain(of_rules).collect();
    match (pages.is_empty(), look.markdown) {
        (false, true) => pages.join(&TextBlock::Page("\n".to_owned(), look.columns)),
        (false, false) => pages.join(&TextBlock::Lines(vec![String::new()])),
        (true, true) => vec![TextBlock::Page(markdown(), look.columns)],
        (true, false) => table(look.columns),
    }
}

/// Lists all topics and rules for a terminal.
fn table(columns: usize) -> Vec<TextBlock> {
    let names = RULES
        .iter()
        .map(|rule| rule.name.len())
        .max()
        .unwrap_or_default();
    let topic_names = TOPICS
        .iter()
        .map(|topic| topic.name.len())
        .max()
        .unwrap_or_default();
    let topic_line = |topic: &Topic| format!("  {:topic_names$}  {}", topic.name, topic.summary);
    let topics = TOPICS.iter().map(topic_line).collect();
    let mut blocks = vec![
        TextBlock::Heading("Topics".to_owned()),
        TextBlock::Lines(topics),
    ];
    let levels = RULES
        .iter()
        .map(|rule| rule.level().to_string().len())
        .max()
        .unwrap_or_default();
    // Two spaces come before the name, before the level and before the meaning.
    let before = names + levels + 6;
    let room = columns.saturating_sub(before).max(MIN_MEANING);
    for area in Area::ALL {
        blocks.push(TextBlock::Lines(vec![String::new()]));
        blocks.push(TextBlock::Heading(area.title().to_owned()));
        for rule in area.rules() {
            let words: Vec<&str> = rule.meaning.split_whitespace().collect();
            let level = rule.level().to_string();
            let mut lines = page::wrapped(&words, room).into_iter();
            let first = lines.next().unwrap_or_default();
            let first = format!("  {:names$}  {level:levels$}  {first}", rule.name);
            let rest = lines.map(|line| format!("{:before$}{line}", ""));
            blocks.push(TextBlock::Lines(
                std::iter::once(first).chain(rest).collect(),
            ));
        }
    }
    blocks
}

/// Lists all topics and rules as Markdown.
fn markdown() -> String {
    let mut text = "# Topics\n\n| Topic | About |\n|---|---|\n".to_owned();
    for topic in TOPICS {
        let _ = writeln!(text, "| `{}` | {} |", topic.name, topic.summary);
    }
    text.push_str("\n# Rules\n");
    for area in Area::ALL {
        let _ = write!(
            text,
            "\n## {}\n\n| Rule | Level | Meaning |\n|---|---|---|\n",
            area.title()
        );
        for rule in area.rules() {
            let (name, level, meaning) = (rule.name, rule.level(), rule.meaning);
            let _ = writeln!(text, "| `{name}` | {level} | {meaning} |");
        }
    }
    text
}

/// Lists the pages that have some words, each with the line that has most of them.
pub(super) fn matches(rows: &[PageMatchRow], words: &str, look: Look) -> Vec<TextBlock> {
    if rows.is_empty() {
        return vec![TextBlock::Lines(vec![format!(
            "no page has these words: {words}"
        )])];
    }
    if look.markdown {
        let mut text = "| Page | About | Line |\n|---|---|---|\n".to_owned();
        for row in rows {
            let line = row.line.replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {} | {line} |", row.page, row.summary);
        }
        return vec![TextBlock::Page(text, look.columns)];
    }
    let lines = rows
        .iter()
        .flat_map(|row| {
            [
                format!("{}  {}", row.page, row.summary),
                format!("    {}", row.line),
            ]
        })
        .collect();
    vec![TextBlock::Lines(lines)]
}
