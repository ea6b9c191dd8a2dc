//! `lockctl explain`: what rules mean, and pages about lockctl as a whole.

mod args;
mod text;

use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::diag::{Area, RULES, Rule, TOPICS, Topic, nearest};
use crate::report::{CommandResult, Failure, ResultSubject, Sentence, TextBlock, json};
pub(in crate::cli) use args::ExplainArgs;

/// Maximum number of names that are offered for one that is unknown.
const MAX_OFFERED: usize = 6;

impl Command for ExplainArgs {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        run(common, self, world)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::blocks(result, look)
    }
}

fn run(_: &Common, args: &ExplainArgs, _: World<'_>) -> CommandResult {
    if args.names.is_empty() {
        let all = ResultSubject::Pages(
            TOPICS.iter().map(topic_row).collect(),
            Area::ALL
                .into_iter()
                .flat_map(Area::rules)
                .map(rule_row)
                .collect(),
        );
        let text = "`lockctl explain NAME` shows the page of a topic or rule";
        return CommandResult {
            remarks: vec![Sentence::note(text)],
            ..CommandResult::of("explain", all)
        };
    }
    let mut topics: Vec<json::TopicRow> = Vec::new();
    let mut rules: Vec<json::RuleRow> = Vec::new();
    let mut failures = Vec::new();
    for name in &args.names {
        if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
            if !topics.iter().any(|row| row.topic == name) {
                let page = Some(topic.page);
                topics.push(json::TopicRow {
                    page,
                    ..topic_row(topic)
                });
            }
        } else if let Some(rule) = RULES.iter().find(|rule| rule.name == name) {
            if !rules.iter().any(|row| row.rule == name) {
                let page = Some(rule.page);
                rules.push(json::RuleRow {
                    page,
                    ..rule_row(rule)
                });
            }
        } else {
            let help = match meant(name).as_slice() {
                [] => "`lockctl explain` lists all topics and rules".to_owned(),
                [name] => format!("did you mean {name}?"),
                several => format!("did you mean one of {}?", several.join(", ")),
            };
            failures.push(Failure {
                title: format!("there is no rule or topic {name:?}"),
                help: Some(help),
                ..Failure::default()
            });
        }
    }
    if failures.is_empty() {
        CommandResult::of("explain", ResultSubject::Pages(topics, rules))
    } else {
        CommandResult::failed("explain", failures)
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
        level: rule.level().into(),
        topic: rule.area.title(),
        meaning: rule.meaning,
        page: None,
    }
}

/// Returns the names that may be meant by one that is unknown: the nearest, else those that have the
/// most words in common with it.
fn meant(name: &str) -> Vec<&'static str> {
    let all = || {
        TOPICS
            .iter()
            .map(|topic| topic.name)
            .chain(RULES.iter().map(|rule| rule.name))
    };
    let name = name.to_lowercase();
    if let Some(close) = nearest(&name, all()) {
        return vec![close];
    }
    // No name is near in its spelling; names that share words are offered instead.
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    let common = |other: &str| other.split('-').filter(|word| words.contains(word)).count();
    let most = all().map(common).max().unwrap_or_default();
    all()
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
    }
}
