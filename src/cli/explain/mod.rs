//! `lockctl explain`: what rules mean, and pages about lockctl as a whole.

mod args;
mod text;

use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::diag::{Area, RULES, Rule, TOPICS, Topic, nearest};
use crate::report::{Block, CommandResult, Failure, Sentence, Subject, json};
pub(in crate::cli) use args::Explain;

/// How many names are offered for one that is unknown.
const MAX_OFFERED: usize = 6;

impl Command for Explain {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        run(common, self, world)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<Block> {
        text::blocks(result, look)
    }
}

fn run(_: &Common, args: &Explain, _: World<'_>) -> CommandResult {
    if args.names.is_empty() {
        let rules = Area::ALL.into_iter().flat_map(Area::rules).map(rule_row);
        let all = Subject::Pages(TOPICS.iter().map(topic_row).collect(), rules.collect());
        let text = "`lockctl explain NAME` shows the page of a topic or rule";
        return CommandResult {
            remarks: vec![Sentence::note(text)],
            ..CommandResult::of("explain", all)
        };
    }
    let mut topics: Vec<json::Topic> = Vec::new();
    let mut rules: Vec<json::Rule> = Vec::new();
    let mut failures = Vec::new();
    for name in &args.names {
        if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
            if !topics.iter().any(|row| row.topic == name) {
                let page = Some(topic.page);
                topics.push(json::Topic {
                    page,
                    ..topic_row(topic)
                });
            }
        } else if let Some(rule) = RULES.iter().find(|rule| rule.name == name) {
            if !rules.iter().any(|row| row.rule == name) {
                let page = Some(rule.page);
                rules.push(json::Rule {
                    page,
                    ..rule_row(rule)
                });
            }
        } else {
            failures.push(unknown(name));
        }
    }
    if failures.is_empty() {
        CommandResult::of("explain", Subject::Pages(topics, rules))
    } else {
        CommandResult::failed("explain", failures)
    }
}

fn topic_row(topic: &'static Topic) -> json::Topic {
    json::Topic {
        topic: topic.name,
        summary: topic.summary,
        page: None,
    }
}

fn rule_row(rule: &'static Rule) -> json::Rule {
    json::Rule {
        rule: rule.name,
        level: rule.level().into(),
        topic: rule.area.title(),
        meaning: rule.meaning,
        page: None,
    }
}

fn unknown(name: &str) -> Failure {
    let offered = meant(name);
    let help = match offered.as_slice() {
        [] => "`lockctl explain` lists all topics and rules".to_owned(),
        [one] => format!("did you mean {one}?"),
        several => format!("did you mean one of {}?", several.join(", ")),
    };
    Failure {
        title: format!("there is no rule or topic {name:?}"),
        help: Some(help),
        ..Failure::default()
    }
}

/// Returns the names that may be meant by one that is unknown: the nearest, else those that have the
/// most words in common with it.
fn meant(name: &str) -> Vec<&'static str> {
    let all = || {
        let topics = TOPICS.iter().map(|topic| topic.name);
        topics.chain(RULES.iter().map(|rule| rule.name))
    };
    let name = name.to_lowercase();
    if let Some(one) = nearest(&name, all()) {
        return vec![one];
    }
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    let common = |other: &str| other.split('-').filter(|word| words.contains(word)).count();
    let most = all().map(common).max().unwrap_or_default();
    let close = all().filter(|other| most > 0 && common(other) == most);
    close.take(MAX_OFFERED).collect()
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
