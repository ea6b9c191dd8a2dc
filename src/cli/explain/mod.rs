//! `lockctl explain`: what rules mean.

mod args;
mod text;

use crate::cli::args::Common;
use crate::cli::{Command, Look, Stderr, World};
use crate::diag::{RULES, Rule, Topic, nearest};
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
    let mut rules: Vec<&'static Rule> = Vec::new();
    let mut failures = Vec::new();
    for name in &args.rules {
        match RULES.iter().find(|rule| rule.name == name) {
            Some(rule) if rules.contains(&rule) => {}
            Some(rule) => rules.push(rule),
            None => failures.push(unknown(name)),
        }
    }
    if !failures.is_empty() {
        return CommandResult::failed("explain", failures);
    }
    let mut remarks = Vec::new();
    let rows: Vec<json::Rule> = if rules.is_empty() {
        let text = "`lockctl explain RULE` says what follows from it and how to fix it";
        remarks.push(Sentence::note(text));
        let listed = Topic::ALL.into_iter().flat_map(Topic::rules);
        listed.map(row).collect()
    } else {
        let row_with_page = |rule: &'static Rule| json::Rule {
            page: Some(rule.page),
            ..row(rule)
        };
        rules.into_iter().map(row_with_page).collect()
    };
    CommandResult {
        remarks,
        ..CommandResult::of("explain", Subject::Rules(rows))
    }
}

fn row(rule: &'static Rule) -> json::Rule {
    json::Rule {
        rule: rule.name,
        level: rule.level().into(),
        topic: rule.topic.title(),
        meaning: rule.meaning,
        page: None,
    }
}

fn unknown(name: &str) -> Failure {
    let offered = meant(name);
    let help = match offered.as_slice() {
        [] => "`lockctl explain` lists all rules".to_owned(),
        [one] => format!("did you mean {one}?"),
        several => format!("did you mean one of {}?", several.join(", ")),
    };
    Failure {
        title: format!("there is no rule {name:?}"),
        help: Some(help),
        ..Failure::default()
    }
}

/// Returns the names that may be meant by one that is unknown: the nearest, else those that have the
/// most words in common with it.
fn meant(name: &str) -> Vec<&'static str> {
    let all = || RULES.iter().map(|rule| rule.name);
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
        assert_eq!(
            meant("platforms"),
            ["platforms-incomplete", "platforms-unattributed"]
        );
        assert!(meant("").is_empty() && meant("quux").is_empty());
    }
}
