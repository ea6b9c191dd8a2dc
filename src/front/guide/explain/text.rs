//! The text of `lockctl explain`: a list of all topics and rules, or their pages.

use crate::diag::{Area, Level, named};
use crate::guide::{TOPICS, Topic};
use crate::report::json::PageMatchRow;
use crate::report::{Column, CommandResult, Look, ResultSubject, Row, Table, TextBlock, reading};

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
    if !pages.is_empty() {
        let between = if look.markdown {
            TextBlock::Page("\n".to_owned(), look.columns)
        } else {
            TextBlock::Lines(vec![String::new()])
        };
        return pages.join(&between);
    }
    let mut list = "# Topics\n\n".to_owned();
    for Topic { name, summary, .. } in TOPICS {
        list += &format!("- `{name}`: {summary}\n");
    }
    for area in Area::ALL {
        list += &format!("\n# {}\n\n", area.title());
        for rule in area.rules() {
            let (name, level, meaning) = (rule.name, rule.level(), rule.meaning);
            list += &format!("- `{name}` ({level}): {meaning}\n");
        }
    }
    vec![TextBlock::Page(list, look.columns)]
}

/// Lists the pages that have some words, each with the line that has most of them.
pub(super) fn matches(rows: &[PageMatchRow], words: &str) -> Vec<TextBlock> {
    if rows.is_empty() {
        return vec![TextBlock::Lines(vec![format!(
            "no page has these words: {words}"
        )])];
    }
    let rows = rows.iter().map(|row| Row {
        details: vec![row.line.clone()],
        ..Row::new("", [row.page.into(), row.summary.into()])
    });
    let columns = [Column::Key("PAGE"), Column::Key("ABOUT")];
    let table = Table::new(&columns, rows).in_order().without_head();
    vec![TextBlock::Table(table)]
}
