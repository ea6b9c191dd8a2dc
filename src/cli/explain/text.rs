//! How `lockctl explain` reads: a table of all rules, or their pages.

use std::fmt::Write as _;

use crate::cli::Look;
use crate::diag::{Level, RULES, Rule, Topic, named};
use crate::report::{Block, CommandResult, Subject, page, reading};

/// How narrow the column of meanings gets at most.
const MIN_MEANING: usize = 20;

/// Returns what people read of a result.
pub(super) fn blocks(result: &CommandResult, look: Look) -> Vec<Block> {
    let Subject::Rules(rows) = &result.subject else {
        return Vec::new();
    };
    let has_pages = rows.iter().any(|row| row.page.is_some());
    match (has_pages, look.markdown) {
        (false, true) => vec![Block::Page(markdown(), look.columns)],
        (false, false) => table(look.columns),
        (true, _) => pages(rows.iter().map(|row| named(row.rule)), look),
    }
}

/// Shows pages, with an empty line between them.
fn pages<'a>(rules: impl Iterator<Item = &'a Rule>, look: Look) -> Vec<Block> {
    let mut blocks = Vec::new();
    for rule in rules {
        let is_first = blocks.is_empty();
        if look.markdown {
            let gap = if is_first { "" } else { "\n" };
            let page = format!("{gap}{}", rule.page);
            blocks.push(Block::Page(page, look.columns));
            continue;
        }
        if !is_first {
            blocks.push(Block::Lines(vec![String::new()]));
        }
        blocks.extend(shown(rule, look.columns));
    }
    blocks
}

/// Shows a page below the line that findings of the rule have.
fn shown(rule: &Rule, columns: usize) -> [Block; 4] {
    let meaning = match rule.level() {
        Level::As(_) => rule.meaning.to_owned(),
        Level::Off => format!("{} (off, unless a project file sets a level)", rule.meaning),
    };
    let tone = reading::tone(rule.severity);
    let (_, page) = rule.page.split_once("\n\n").unwrap_or_default();
    [
        Block::Heading(rule.name.to_owned()),
        Block::Remark(tone, meaning),
        Block::Lines(vec![String::new()]),
        Block::Page(page.to_owned(), columns),
    ]
}

/// Lists all rules for a terminal, below their topics.
fn table(columns: usize) -> Vec<Block> {
    let names = RULES.iter().map(|rule| rule.name.len());
    let names = names.max().unwrap_or_default();
    let levels = RULES.iter().map(|rule| rule.level().to_string().len());
    let levels = levels.max().unwrap_or_default();
    let before = names + levels + 6;
    let room = columns.saturating_sub(before).max(MIN_MEANING);
    let mut blocks = Vec::new();
    for (at, topic) in Topic::ALL.into_iter().enumerate() {
        if at > 0 {
            blocks.push(Block::Lines(vec![String::new()]));
        }
        blocks.push(Block::Heading(topic.title().to_owned()));
        for rule in topic.rules() {
            let words: Vec<&str> = rule.meaning.split_whitespace().collect();
            let level = rule.level().to_string();
            let mut lines = page::wrapped(&words, room).into_iter();
            let first = lines.next().unwrap_or_default();
            let first = format!("  {:names$}  {level:levels$}  {first}", rule.name);
            let rest = lines.map(|line| format!("{:before$}{line}", ""));
            blocks.push(Block::Lines(std::iter::once(first).chain(rest).collect()));
        }
    }
    blocks
}

/// Lists all rules as Markdown.
fn markdown() -> String {
    let mut text = "# Rules\n".to_owned();
    for topic in Topic::ALL {
        let _ = write!(
            text,
            "\n## {}\n\n| Rule | Level | Meaning |\n|---|---|---|\n",
            topic.title()
        );
        for rule in topic.rules() {
            let (name, level, meaning) = (rule.name, rule.level(), rule.meaning);
            let _ = writeln!(text, "| `{name}` | {level} | {meaning} |");
        }
    }
    text
}
