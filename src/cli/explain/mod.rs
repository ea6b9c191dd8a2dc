//! `lockctl explain`: what rules mean.

use std::fmt::Write as _;

use crate::cli::World;
use crate::cli::args::{Common, Explain, Format};
use crate::cli::output::{Output, RootOutput};
use crate::cli::roots::Ran;
use crate::diag::{Level, RULES, Rule, Severity, TOPICS, named, nearest};
use crate::report::{Block, Failure, Tone, json, page};
use crate::world::Stream;

/// How wide text is where no terminal tells, in columns.
const USUAL_COLUMNS: usize = 80;

/// How narrow the column of meanings gets at most.
const MIN_MEANING: usize = 20;

/// How many names are offered for one that is unknown.
const MAX_OFFERED: usize = 6;

pub(in crate::cli) fn run(common: &Common, args: &Explain, world: World<'_>) -> Output {
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
        return failed(failures);
    }
    let columns = world.env.columns(Stream::Stdout).unwrap_or(USUAL_COLUMNS);
    let mut output = Output::of_roots("explain", Ran::default());
    if rules.is_empty() {
        output.rules = listed().map(|(topic, rule)| row(topic, rule)).collect();
        output.report.results = match common.format {
            Format::Markdown => vec![Block::Page(markdown(), columns)],
            _ => table(columns),
        };
        let text = "`lockctl explain RULE` says what follows from it and how to mend it";
        let remark = Block::Remark(Tone::Note, text.to_owned());
        output.report.notes.push(remark);
        return output;
    }
    for rule in rules {
        let topic = listed().find_map(|(topic, own)| (own == rule).then_some(topic));
        output.rules.push(json::Rule {
            page: Some(rule.page()),
            ..row(topic.unwrap_or_default(), rule)
        });
        let results = &mut output.report.results;
        let is_first = results.is_empty();
        match common.format {
            Format::Markdown => {
                let gap = if is_first { "" } else { "\n" };
                let page = rule.page();
                results.push(Block::Page(format!("{gap}{page}"), columns));
            }
            _ => {
                if !is_first {
                    results.push(Block::Lines(vec![String::new()]));
                }
                results.extend(shown(rule, columns));
            }
        }
    }
    output
}

/// Lists every rule by topic.
fn listed() -> impl Iterator<Item = (&'static str, &'static Rule)> {
    let topics = TOPICS.iter();
    topics.flat_map(|topic| topic.names().map(|name| (topic.title, named(name))))
}

fn row(topic: &'static str, rule: &Rule) -> json::Rule {
    json::Rule {
        rule: rule.name,
        level: rule.level().into(),
        topic,
        meaning: rule.meaning,
        page: None,
    }
}

/// Shows a page below the line that findings of the rule have.
fn shown(rule: &Rule, columns: usize) -> [Block; 4] {
    let meaning = match rule.level() {
        Level::As(_) => rule.meaning.to_owned(),
        Level::Off => format!("{} (off, unless a project file sets a level)", rule.meaning),
    };
    let tone = match rule.severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Warning,
        Severity::Note => Tone::Note,
    };
    let (_, page) = rule.page().split_once("\n\n").unwrap_or_default();
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
    for (at, topic) in TOPICS.iter().enumerate() {
        if at > 0 {
            blocks.push(Block::Lines(vec![String::new()]));
        }
        blocks.push(Block::Heading(topic.title.to_owned()));
        for rule in topic.names().map(named) {
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
    for topic in TOPICS {
        let _ = write!(
            text,
            "\n## {}\n\n| Rule | Level | Meaning |\n|---|---|---|\n",
            topic.title
        );
        for rule in topic.names().map(named) {
            let (name, level, meaning) = (rule.name, rule.level(), rule.meaning);
            let _ = writeln!(text, "| `{name}` | {level} | {meaning} |");
        }
    }
    text
}

fn failed(failures: Vec<Failure>) -> Output {
    let mut output = RootOutput::new(".".to_owned());
    for failure in failures {
        output.fail(failure);
    }
    let ran = Ran {
        outputs: vec![output],
        ..Ran::default()
    };
    Output::of_roots("explain", ran)
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
