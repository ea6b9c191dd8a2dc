//! `lockctl explain`: what rules and errors mean, and pages about lockctl as a whole.

mod output;
mod text;
mod text_symptoms;

use std::rc::Rc;

use clap::Args;

use crate::diag::{Area, RULES, Rule, nearest};
use crate::guide::search::{is_common, names, page_named, search};
use crate::guide::{TOPICS, Topic};
use crate::report::FINDINGS;
use crate::report::{CommandResult, Failure, Look, ResultSubject, Sentence, TextBlock, json};
use crate::run::command::Command;
use crate::run::options::examples;
use crate::run::session::Session;

/// The argument that means standard input.
const STANDARD: &str = "-";

/// Maximum number of names that are offered for one that is unknown.
const MAX_OFFERED: usize = 6;

/// Explain findings, topics, and errors of terraform and tofu
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl explain", "list all topics and rules"),
    ("lockctl explain platforms-incomplete", "what a finding means and how to fix it"),
    ("lockctl explain \"checksums do not match\"", "search all pages for words"),
    ("terraform init 2>&1 | lockctl explain -", "what an error means and how to fix it"),
]))]
pub(crate) struct ExplainArgs {
    /// Rules, topics, or words to search; - reads output of terraform or tofu [default: list all pages]
    #[arg(value_name = "TEXT")]
    pub(crate) names: Vec<String>,
}

impl Command for ExplainArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        match names[..] {
            [] => {
                let rules = Area::ALL.into_iter().flat_map(Area::rules);
                let all = ResultSubject::Pages(
                    TOPICS.iter().map(topic_row).collect(),
                    rules.map(rule_row).collect(),
                );
                let text = "`lockctl explain NAME` shows the page of a topic or rule, and any other text is searched";
                CommandResult {
                    remarks: vec![Sentence::note(text)],
                    ..CommandResult::of("explain", all)
                }
            }
            [STANDARD] => output::explain(session),
            _ if names.contains(&STANDARD) => CommandResult::failed(
                "explain",
                [Failure::new("- cannot be combined with other words")
                    .help("give either words, or - and an output on standard input")],
            ),
            _ => match names.iter().map(|name| page_named(name)).collect() {
                Some(pages) => named_pages(pages),
                // Some words for a page are several, as `minimum age` is.
                None => match page_named(&names.join(" ")) {
                    Some(page) => named_pages(vec![page]),
                    None => found_pages(&names.join(" ")),
                },
            },
        }
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        match &result.subject {
            ResultSubject::Symptoms(rows) => text_symptoms::blocks(rows, look),
            ResultSubject::Matches(rows) => text::matches(rows, &self.names.join(" ")),
            _ => text::blocks(result, look),
        }
    }
}

/// Shows the pages that were named, each once.
fn named_pages(pages: Vec<&'static str>) -> CommandResult {
    let mut topics: Vec<json::TopicRow> = Vec::new();
    let mut rules: Vec<json::RuleRow> = Vec::new();
    for name in pages {
        if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
            if !topics.iter().any(|row| row.topic == name) {
                let page = Some(topic.page);
                topics.push(json::TopicRow {
                    page,
                    ..topic_row(topic)
                });
            }
        } else if let Some(rule) = RULES.iter().find(|rule| rule.name == name)
            && !rules.iter().any(|row| row.rule == name)
        {
            let page = Some(rule.page);
            rules.push(json::RuleRow {
                page,
                ..rule_row(rule)
            });
        }
    }
    CommandResult::of("explain", ResultSubject::Pages(topics, rules))
}

/// Searches all pages for words; the answer is bad if no page has them.
fn found_pages(words: &str) -> CommandResult {
    let rows = search(words);
    let remark = match (rows.is_empty(), meant(words).as_slice()) {
        (false, _) => "`lockctl explain NAME` shows a page".to_owned(),
        (true, []) => "`lockctl explain` lists all topics and rules".to_owned(),
        (true, [name]) => format!("did you mean {name}?"),
        (true, several) => format!("did you mean one of {}?", several.join(", ")),
    };
    CommandResult {
        exit: if rows.is_empty() { FINDINGS } else { 0 },
        remarks: vec![Sentence::note(remark)],
        ..CommandResult::of("explain", ResultSubject::Matches(rows))
    }
}

fn topic_row(topic: &'static Topic) -> json::TopicRow {
    json::TopicRow {
        topic: topic.name,
        summary: topic.summary,
        page: None,
    }
}

fn rule_row(rule: &'static Rule) -> json::RuleRow {
    json::RuleRow {
        rule: rule.name,
        level: rule.level(),
        topic: rule.area.title(),
        meaning: rule.meaning,
        page: None,
    }
}

/// Returns the names that may be meant by one that is unknown: the nearest, else those that have the
/// most words in common with it.
fn meant(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    if let Some(close) = nearest(&name, names()) {
        return vec![close];
    }
    // No name is near in its spelling; names that share words are offered instead.
    let words: Vec<&str> = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !is_common(word))
        .collect();
    let common = |other: &str| other.split('-').filter(|word| words.contains(word)).count();
    let most = names().map(common).max().unwrap_or_default();
    names()
        .filter(|other| most > 0 && common(other) == most)
        .take(MAX_OFFERED)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_may_be_meant_are_offered() {
        assert_eq!(meant("provider-not-lockd"), ["provider-not-locked"]);
        assert_eq!(meant("Provider-Not-Locked"), ["provider-not-locked"]);
        assert_eq!(meant("locked provider"), ["provider-not-locked"]);
        assert_eq!(meant("exit-code"), ["exit-codes"]);
        assert_eq!(
            meant("project"),
            ["project-file", "project-invalid", "project-odd"]
        );
        assert_eq!(
            meant("platforms"),
            ["platforms-incomplete", "platforms-unattributed"]
        );
        assert!(meant("").is_empty() && meant("quux").is_empty());
        assert!(meant("why is it not chosen").is_empty());
    }
}
