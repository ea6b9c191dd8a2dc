//! A step chart: the versions of one provider over time, a line for each group of roots that moved alike.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use super::ReportedRelease;
use super::markup::{Markup, tenths};
use crate::addr::ProviderAddr;
use crate::diag::{counted, counted_as};
use crate::package::calendar::{day, read_day};
use crate::report::json::{EntrySide, PastChange};
use crate::review::ChangeKind;
use crate::version::Version;

/// Maximum number of lines in colour; further ones are grey.
pub(super) const MAX_LINES: usize = 6;
/// Maximum number of grey lines.
const MAX_REST: usize = 30;
/// Maximum number of marked changes, the newest.
const MAX_MARKS: usize = 40;
/// Maximum number of labels of the axis of versions.
const MAX_LABELS: usize = 9;

/// Width of a chart, in pixels, and its margins.
pub(super) const WIDTH: f64 = 760.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 64.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 24.0;

/// The letters of lines in colour.
pub(super) const LETTERS: [&str; MAX_LINES] = ["A", "B", "C", "D", "E", "F"];
const CLASSES: [&str; MAX_LINES] = ["l0", "l1", "l2", "l3", "l4", "l5"];

/// The properties of releases that are known on this machine.
pub(super) type Releases = BTreeMap<(ProviderAddr, Version), ReportedRelease>;

/// A change of a root's entry, the root by its name.
pub(super) type RootChange<'a> = (&'a str, &'a PastChange);

/// The day from which a root locks a version; `None` from which it locks none.
type Step<'a> = (SystemTime, Option<&'a Version>);

/// The versions of one provider over time.
pub(super) struct StepChart<'a> {
    /// The roots that moved alike, with their steps; the largest group first.
    pub(super) lines: Vec<(Vec<&'a str>, Vec<Step<'a>>)>,
    /// The versions, in their order.
    versions: Vec<&'a Version>,
    marks: Vec<ChangeMark<'a>>,
    from: SystemTime,
    to: SystemTime,
}

/// A change that deserves a look.
struct ChangeMark<'a> {
    time: SystemTime,
    version: &'a Version,
    glyph: &'static str,
    text: String,
}

/// Returns the glyph and the words of a kind of change, if the version alone does not show it.
fn glyph(kind: ChangeKind) -> Option<(&'static str, &'static str)> {
    match kind {
        ChangeKind::HostSwitched | ChangeKind::NamespaceSwitched => Some(("⇄", "address changed")),
        ChangeKind::HashesReplaced => Some(("✖", "hashes replaced")),
        ChangeKind::HashesAdded => Some(("+", "hashes or platforms added")),
        ChangeKind::HashesRemoved => Some(("−", "hashes or platforms removed")),
        ChangeKind::Downgraded => Some(("▼", "version went down")),
        _ => None,
    }
}

/// Returns the keys before and after a change, if both are known and differ.
pub(super) fn key_change(change: &PastChange, releases: &Releases) -> Option<String> {
    let keys = |side: &Option<EntrySide>| {
        let side = side.as_ref()?;
        let known = releases.get(&(side.provider.clone(), side.version.clone()))?;
        (!known.keys.is_empty()).then(|| known.keys.join(", "))
    };
    let (old, new) = (keys(&change.old)?, keys(&change.new)?);
    (old != new).then(|| format!("signing key changed from {old} to {new}"))
}

/// Returns the day of a change.
pub(super) fn day_of(change: &PastChange) -> Option<SystemTime> {
    read_day(change.date.get(..10)?)
}

impl<'a> StepChart<'a> {
    /// Makes a chart of the changes of one provider; `None` if no version is among them.
    ///
    /// It ends at `end`, if that is later than the last change.
    pub(super) fn of(
        provider: &ProviderAddr,
        changes: &[RootChange<'a>],
        releases: &Releases,
        end: Option<SystemTime>,
    ) -> Option<Self> {
        let mut changes = changes.to_vec();
        changes.sort_by_key(|(root, change)| (Reverse(change.newer_commits), *root));
        let mut steps: BTreeMap<&str, Vec<Step<'a>>> = BTreeMap::new();
        for (root, change) in &changes {
            // A root that moved to another address locks no version of this one any more.
            let version = change
                .new
                .as_ref()
                .filter(|side| side.provider == *provider)
                .map(|side| &side.version);
            let steps = steps.entry(root).or_default();
            let last = steps.last().copied();
            if last.is_none_or(|(_, last)| last != version) {
                // Clocks of authors differ, and time does not run backwards in a chart.
                let time =
                    day_of(change)?.max(last.map_or(SystemTime::UNIX_EPOCH, |(time, _)| time));
                steps.push((time, version));
            }
        }
        let versions: BTreeSet<&Version> =
            steps.values().flatten().filter_map(|(_, v)| *v).collect();
        let times = || steps.values().flatten().map(|(time, _)| *time);
        let from = times().min()?;
        let to = times().max()?.max(end.unwrap_or(from));
        let mut groups: BTreeMap<Vec<Step<'a>>, Vec<&'a str>> = BTreeMap::new();
        for (root, steps) in steps {
            groups.entry(steps).or_default().push(root);
        }
        let mut lines: Vec<_> = groups
            .into_iter()
            .map(|(steps, roots)| (roots, steps))
            .collect();
        lines.sort_by_key(|(roots, _)| (Reverse(roots.len()), roots[0]));
        (!versions.is_empty()).then(|| Self {
            lines,
            versions: versions.into_iter().collect(),
            marks: marks(provider, &changes, releases),
            from,
            // Something that happened on one day has a width, too.
            to: to.max(from + Duration::from_secs(86_400)),
        })
    }

    fn row(&self) -> f64 {
        (220.0 / self.versions.len() as f64).clamp(3.0, 18.0)
    }

    pub(super) fn height(&self) -> f64 {
        TOP + self.row() * self.versions.len() as f64 + BOTTOM
    }

    fn x(&self, time: SystemTime) -> f64 {
        let days = |from: SystemTime| {
            let span = time.duration_since(from).unwrap_or_default();
            span.as_secs_f64()
        };
        let whole = self.to.duration_since(self.from).unwrap_or_default();
        LEFT + (WIDTH - LEFT - RIGHT) * days(self.from) / whole.as_secs_f64()
    }

    fn y(&self, version: &Version) -> f64 {
        let at = self.versions.iter().position(|other| *other == version);
        let below = self.versions.len() - at.unwrap_or(0);
        TOP + self.row() * (below as f64 - 0.5)
    }

    /// Says in one sentence what the picture shows.
    pub(super) fn description(&self, name: &str) -> String {
        let (oldest, newest) = (self.versions[0], self.versions[self.versions.len() - 1]);
        format!(
            "Versions of {name} from {} to {}: {} between {oldest} and {newest}, {}",
            day(self.from),
            day(self.to),
            counted(self.versions.len(), "version"),
            counted_as(self.lines.len(), "group of roots", "groups of roots"),
        )
    }

    /// Draws the axes, the lines and the marks.
    pub(super) fn draw(&self, out: &mut Markup) {
        let bottom = self.height() - BOTTOM;
        let step = self.versions.len().div_ceil(MAX_LABELS);
        for version in self.versions.iter().rev().step_by(step) {
            let y = self.y(version);
            out.put(
                "<path class=\"axis\" d=\"M{} {}H{}\"/><text class=\"end\" x=\"{}\" y=\"{}\">{}</text>",
                &[
                    &LEFT,
                    &tenths(y),
                    &(WIDTH - RIGHT),
                    &(LEFT - 6.0),
                    &tenths(y + 4.0),
                    version,
                ],
            );
        }
        for (time, label) in self.ticks() {
            let x = tenths(self.x(time));
            out.put(
                "<path class=\"axis\" d=\"M{} {}V{}\"/><text class=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
                &[
                    &x,
                    &TOP,
                    &tenths(bottom),
                    &x,
                    &tenths(bottom + 16.0),
                    &label,
                ],
            );
        }
        // The largest groups are drawn last, above the others.
        for (at, (_, steps)) in self
            .lines
            .iter()
            .enumerate()
            .take(MAX_LINES + MAX_REST)
            .rev()
        {
            self.line(out, steps, at);
        }
        for mark in &self.marks {
            out.put(
                "<text class=\"mark\" x=\"{}\" y=\"{}\">{}<title>{}</title></text>",
                &[
                    &tenths(self.x(mark.time)),
                    &tenths(self.y(mark.version) + 4.0),
                    &mark.glyph,
                    &mark.text,
                ],
            );
        }
    }

    fn line(&self, out: &mut Markup, steps: &[Step<'_>], at: usize) {
        // Lines on one version lie beside each other.
        let shift = if at < MAX_LINES {
            (at as f64 - 2.5) * (self.row() / 8.0).min(1.6)
        } else {
            0.0
        };
        let class = CLASSES.get(at).copied().unwrap_or("rest");
        out.put("<path class=\"{}\" d=\"", &[&class]);
        let mut is_drawn = false;
        let mut end = None;
        for (time, version) in steps {
            let x = tenths(self.x(*time));
            if is_drawn {
                out.put("H{}", &[&x]);
            }
            if let Some(version) = version {
                let y = self.y(version) + shift;
                if is_drawn {
                    out.put("V{}", &[&tenths(y)]);
                } else {
                    out.put("M{} {}", &[&x, &tenths(y)]);
                }
                end = Some(y);
            }
            is_drawn = version.is_some();
        }
        if is_drawn {
            out.put("H{}", &[&(WIDTH - RIGHT)]);
        }
        out.raw("\"/>");
        if let (true, Some(y), Some(letter)) = (is_drawn, end, LETTERS.get(at)) {
            // Letters of lines that end at one version stand side by side.
            let before = self.lines[..at].iter().filter(|(_, other)| {
                other.last().map(|(_, version)| version) == steps.last().map(|(_, version)| version)
            });
            let x = WIDTH - RIGHT + 4.0 + 9.0 * before.count() as f64;
            out.put(
                "<text x=\"{}\" y=\"{}\">{}</text>",
                &[&tenths(x), &tenths(y + 4.0 - shift), letter],
            );
        }
    }

    /// Returns the beginnings of years; of a shorter time its first and its last day.
    fn ticks(&self) -> Vec<(SystemTime, String)> {
        let year = |time| day(time)[..4].parse::<u32>().unwrap_or(0);
        let years: Vec<(SystemTime, String)> = (year(self.from) + 1..=year(self.to))
            .filter_map(|year| Some((read_day(&format!("{year:04}-01-01"))?, year.to_string())))
            .collect();
        let step = years.len().div_ceil(12).max(1);
        if years.is_empty() {
            vec![(self.from, day(self.from)), (self.to, day(self.to))]
        } else {
            years.into_iter().step_by(step).collect()
        }
    }
}

/// Returns the marks of changes, those of one day and one kind together; the newest ones.
fn marks<'a>(
    provider: &ProviderAddr,
    changes: &[RootChange<'a>],
    releases: &Releases,
) -> Vec<ChangeMark<'a>> {
    let mut marks: BTreeMap<(Reverse<SystemTime>, &Version, &'static str), (String, usize)> =
        BTreeMap::new();
    for (_, change) in changes {
        let side = [&change.new, &change.old]
            .into_iter()
            .flatten()
            // Of a provider that moved only the side with this address belongs to the chart.
            .find(|side| side.provider == *provider);
        let (Some(time), Some(side)) = (day_of(change), side) else {
            continue;
        };
        let key = key_change(change, releases).map(|text| ("K", text));
        let kinds = change
            .kinds
            .iter()
            .filter_map(|kind| glyph(*kind))
            .map(|(glyph, words)| (glyph, words.to_owned()));
        for (glyph, words) in kinds.chain(key) {
            let mark = marks
                .entry((Reverse(time), &side.version, glyph))
                .or_insert_with(|| {
                    let text = format!(
                        "{} {} by {}: {words}",
                        day(time),
                        change.commit.short(),
                        change.author
                    );
                    (text, 0)
                });
            mark.1 += 1;
        }
    }
    marks
        .into_iter()
        // The newest come first in the map, so that the oldest are left out.
        .take(MAX_MARKS)
        .map(
            |((Reverse(time), version, glyph), (text, roots))| ChangeMark {
                time,
                version,
                glyph,
                text: format!("{text}, in {}", counted(roots, "root")),
            },
        )
        .collect()
}
