//! Words, searched in all pages and in the errors of the programs that these explain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::known;
use super::topics::TOPICS;
use crate::diag::RULES;
use crate::report::json::PageMatchRow;

/// Maximum number of pages that a search returns.
pub(crate) const MAX_MATCHES: usize = 5;

/// Maximum number of words that are searched, so that a pasted log does not take long.
const MAX_WORDS: usize = 32;

/// Words, a file of data.
static WORDS: LazyLock<Words> = LazyLock::new(|| {
    serde_json::from_str(include_str!("words.json")).expect("a test reads the words")
});

#[derive(Deserialize)]
pub(crate) struct Words {
    /// Words that users type, with the pages that answer them, the most likely one first. Words are in lower case,
    /// with hyphens, and in the singular.
    pub(super) aliases: BTreeMap<String, Vec<String>>,
    /// Words that the programs and the pages use for one thing.
    synonyms: BTreeMap<String, String>,
    /// Words that are in every page and say nothing about a subject.
    common: Vec<String>,
    /// Commands of the programs, and words that are tried for commands, with the help for them.
    pub(crate) commands: BTreeMap<String, String>,
    /// Options of the programs, and options that are tried, with the help for them.
    pub(crate) options: BTreeMap<String, String>,
}

/// Returns the words that users type, with what they mean.
pub(crate) fn words() -> &'static Words {
    &WORDS
}

/// Returns the names of all pages.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let rules = RULES.iter().map(|rule| rule.name);
    TOPICS.iter().map(|topic| topic.name).chain(rules)
}

/// Returns the name of the page that a word means: that of a rule or topic, however it is spelled, or of an
/// alias.
pub(crate) fn page_named(word: &str) -> Option<&'static str> {
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    // Both `mirror` and `mirrors` are typed, and the table has one of them.
    let singular = word.strip_suffix('s').unwrap_or(&word);
    let aliases = &WORDS.aliases;
    names().find(|name| *name == word).or_else(|| {
        let pages = aliases.get(&word).or_else(|| aliases.get(singular))?;
        Some(&*pages[0])
    })
}

/// Returns true for a word that says nothing about a subject.
pub(crate) fn is_common(word: &str) -> bool {
    WORDS.common.iter().any(|common| common == word)
}

/// The searched parts of a page, with the weight of a word in each.
const NAME: f64 = 8.0;
const ALIAS: f64 = 6.0;
const SUMMARY: f64 = 4.0;
const PRINTED: f64 = 3.0;
const HEADING: f64 = 2.0;
const TEXT: f64 = 1.0;
const EXAMPLE: f64 = 0.5;

/// The share of a word's weight that a synonym of it has.
const OF_SYNONYM: f64 = 0.4;

/// A page as it is searched.
struct SearchedPage {
    name: &'static str,
    summary: &'static str,
    lines: Vec<SearchedLine>,
}

/// A line of a page, or a text that leads to it.
struct SearchedLine {
    shown: String,
    words: BTreeSet<String>,
    /// The score of a word in that part.
    weight: f64,
}

/// A searched word, and how many pages have it.
struct SearchTerm {
    word: String,
    synonym: Option<&'static str>,
    rarity: f64,
}

/// Finds the pages that have most of the words, the best first.
pub(crate) fn search(text: &str) -> Vec<PageMatchRow> {
    let topics = TOPICS
        .iter()
        .map(|topic| SearchedPage::of(topic.name, topic.summary, topic.page));
    let rules = RULES
        .iter()
        .map(|rule| SearchedPage::of(rule.name, rule.meaning, rule.page));
    // Some 100 pages of 50 lines are read anew for each search: a few milliseconds, and no index to keep.
    let pages: Vec<SearchedPage> = topics.chain(rules).collect();
    let terms = terms(text, &pages);
    let mut found: Vec<(f64, PageMatchRow)> = pages
        .iter()
        .filter_map(|page| page.matched(&terms))
        .collect();
    // Pages that fit equally well are in the order of their names, so that output is the same on every run.
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.page.cmp(b.1.page)));
    found.truncate(MAX_MATCHES);
    found.into_iter().map(|(_, found)| found).collect()
}

/// Splits a text into the words that are searched, each with how rare it is.
fn terms(text: &str, pages: &[SearchedPage]) -> Vec<SearchTerm> {
    let all = split(text);
    // A question such as `why not` has nothing else to search for.
    let keeps_common = all.iter().all(|word| is_common(word));
    all.into_iter()
        .filter(|word| keeps_common || !is_common(word))
        // A single letter is a name in an example.
        .filter(|word| word.chars().nth(1).is_some())
        .take(MAX_WORDS)
        .map(|word| {
            let mut term = SearchTerm {
                synonym: WORDS.synonyms.get(&word).map(String::as_str),
                word,
                rarity: 1.0,
            };
            let with = pages
                .iter()
                .filter(|page| {
                    page.lines
                        .iter()
                        .any(|line| term.weight_in(&line.words) > 0.0)
                })
                .count();
            term.rarity = (1.0 + pages.len() as f64 / (1.0 + with as f64)).ln();
            term
        })
        .collect()
}

impl SearchTerm {
    /// Returns how much of the word a line has: all, the part of a synonym, or nothing.
    fn weight_in(&self, words: &BTreeSet<String>) -> f64 {
        // `platform` finds `platforms`, and `lock` does not find `lockctl`, which is in every page.
        let has = |word: &str| {
            words.contains(word)
                || word.len() >= 5 && words.iter().any(|other| other.starts_with(word))
        };
        if has(&self.word) {
            1.0
        } else if self.synonym.is_some_and(has) {
            OF_SYNONYM
        } else {
            0.0
        }
    }
}

impl SearchedPage {
    fn of(name: &'static str, summary: &'static str, page: &str) -> Self {
        let aliases = WORDS.aliases.iter().filter_map(|(alias, pages)| {
            let at = pages.iter().position(|page| page == name)?;
            Some((&**alias, if at == 0 { ALIAS } else { SUMMARY }))
        });
        // A text beside a title says more than the title, which other errors have as well.
        let printed = known::all()
            .iter()
            .filter(|known| known.page == name)
            .flat_map(|known| {
                if known.says.is_empty() {
                    &known.titles
                } else {
                    &known.says
                }
            });
        let mut in_example = false;
        let text = page.lines().map(|line| {
            // A line in an example may begin with `#`, which is a comment there.
            let heading = line.trim_start_matches('#');
            if line.starts_with("```") {
                in_example = !in_example;
                ("", TEXT)
            } else if in_example {
                (line.trim(), EXAMPLE)
            } else if heading.len() < line.len() {
                (heading.trim(), HEADING)
            } else {
                (line.trim().trim_start_matches("- "), TEXT)
            }
        });
        let lines = [(name, NAME), (summary, SUMMARY)]
            .into_iter()
            .chain(aliases)
            .chain(text)
            .map(|(line, weight)| SearchedLine::of(line, weight));
        let printed = printed.map(|text| SearchedLine {
            shown: format!("the programs print: {text}"),
            ..SearchedLine::of(text, PRINTED)
        });
        let lines = lines.chain(printed).collect();
        Self {
            name,
            summary,
            lines,
        }
    }

    /// Returns how well the page fits, and the line that fits best; nothing if it lacks most of the words.
    fn matched(&self, terms: &[SearchTerm]) -> Option<(f64, PageMatchRow)> {
        let mut score = 0.0;
        let mut covered = 0.0;
        let mut wanted = 0.0;
        for term in terms {
            let best = self
                .lines
                .iter()
                .map(|line| term.weight_in(&line.words) * line.weight)
                .fold(0.0, f64::max);
            score += best * term.rarity;
            wanted += term.rarity;
            if best > 0.0 {
                covered += term.rarity;
            }
        }
        // A page that has only the common words of a question would be listed for every question.
        if covered * 2.0 < wanted || covered == 0.0 {
            return None;
        }
        // Words on one line say more than the same words in different sections.
        let together = |line: &SearchedLine| {
            let sum: f64 = terms
                .iter()
                .map(|term| term.weight_in(&line.words) * term.rarity)
                .sum();
            sum * line.weight.min(PRINTED).sqrt()
        };
        let mut line = None;
        let mut best = 0.0;
        for shown in &self.lines {
            // Names and aliases are shown already, or are no lines of the page.
            if shown.weight <= PRINTED && shown.words.len() > 1 && together(shown) > best {
                line = Some(shown);
                best = together(shown);
            }
        }
        let coverage = covered / wanted;
        let found = PageMatchRow {
            page: self.name,
            summary: self.summary,
            line: line.map_or_else(|| self.summary.to_owned(), |line| line.shown.clone()),
        };
        Some(((score + 2.0 * best) * coverage * coverage, found))
    }
}

impl SearchedLine {
    fn of(text: &str, weight: f64) -> Self {
        Self {
            shown: text.to_owned(),
            words: split(text).into_iter().collect(),
            weight,
        }
    }
}

/// Splits a text into words in lower case and in the singular.
fn split(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let word = word.to_lowercase();
        let singular = match word.strip_suffix('s') {
            Some(stem) if word.len() > 3 && !stem.ends_with(['s', 'u', 'i']) => {
                match stem.strip_suffix("hashe") {
                    Some(before) => format!("{before}hash"),
                    None => stem.to_owned(),
                }
            }
            _ => word,
        };
        if !found.contains(&singular) {
            found.push(singular);
        }
    }
    found
}
