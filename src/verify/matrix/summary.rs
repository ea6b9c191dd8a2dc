//! Predictions summed up: platforms with the same fate together, and all providers of a run together.

use std::collections::BTreeMap;

use super::Row;
use crate::addr::ProviderAddr;
use crate::coverage::{Outcome, Prediction, Route};
use crate::platform::Platform;

/// Platforms on which the same happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformGroup {
    /// The platforms, at least one.
    pub platforms: Vec<Platform>,
    /// What happens there: one prediction for each route, in the order of `Route::ALL`; none for a
    /// platform that is not wanted.
    pub predictions: Vec<Prediction>,
    /// What happens in the root as it is now, if one of them is the platform of this machine.
    pub here: Vec<Prediction>,
}

/// Returns what happens because of one provider, each platform by itself.
#[must_use]
pub fn of_provider(rows: &[Row], provider: &ProviderAddr) -> Vec<PlatformGroup> {
    let own = rows.iter().filter(|row| row.provider == *provider);
    own.map(|row| PlatformGroup {
        platforms: vec![row.platform.clone()],
        predictions: row.predictions.clone(),
        here: row.here.clone(),
    })
    .collect()
}

/// Returns what happens because of all providers, each platform by itself: a program looks at all of
/// them in one run, so the worst that any of them causes happens.
#[must_use]
pub fn combine(rows: &[Row]) -> Vec<PlatformGroup> {
    let mut platforms: BTreeMap<&Platform, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        platforms.entry(&row.platform).or_default().push(row);
    }
    let platforms = platforms.into_iter();
    platforms
        .map(|(platform, rows)| {
            let of_route = |at: usize| {
                let known = rows.iter().filter_map(|row| row.predictions.get(at));
                worst(known.collect())
            };
            PlatformGroup {
                platforms: vec![platform.clone()],
                predictions: (0..Route::ALL.len()).filter_map(of_route).collect(),
                here: combine_here(&rows),
            }
        })
        .collect()
}

/// Returns the worst in the root as it is now; nothing where it is unknown for a provider.
fn combine_here(rows: &[&Row]) -> Vec<Prediction> {
    if rows.iter().any(|row| row.here.is_empty()) {
        return Vec::new();
    }
    let count = rows.iter().map(|row| row.here.len()).min().unwrap_or(0);
    let of_route = |at: usize| worst(rows.iter().map(|row| &row.here[at]).collect());
    (0..count).filter_map(of_route).collect()
}

/// Joins the groups to which the same happens; the one with the most platforms comes last, as what
/// goes for all others.
#[must_use]
pub fn fold(groups: Vec<PlatformGroup>) -> Vec<PlatformGroup> {
    let mut folded: Vec<PlatformGroup> = Vec::new();
    for group in groups {
        let mut known = folded.iter_mut();
        match known.find(|known| known.predictions == group.predictions) {
            Some(known) => {
                known.platforms.extend(group.platforms);
                known.here.extend(group.here);
            }
            None => folded.push(group),
        }
    }
    folded.sort_by_key(|group| group.platforms.len());
    folded
}

/// Returns the worst of several predictions about one route.
///
/// What is sure to fail fails, whatever the others do, with what the program reports first; anything else may be worse where one that is
/// assumed comes out otherwise.
fn worst(predictions: Vec<&Prediction>) -> Option<Prediction> {
    let is_assumed = predictions.iter().any(|one| one.assumed);
    let fails = |one: &&&Prediction| one.outcome == Outcome::Fails && !one.assumed;
    let sure = predictions.iter().filter(fails);
    if let Some(first) = sure.min_by_key(|one| one.is_about_entries()) {
        return Some((*first).clone());
    }
    let outcome = predictions.iter().map(|one| one.outcome).max()?;
    let first = predictions.iter().find(|one| one.outcome == outcome)?;
    Some(Prediction {
        assumed: is_assumed,
        unchecked: outcome != Outcome::Fails && predictions.iter().any(|one| one.unchecked),
        ..(*first).clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flavor::Flavor;

    fn row(provider: &str, platform: &str, outcome: Outcome, assumed: bool) -> Row {
        let predictions = Route::ALL.map(|route| Prediction {
            route,
            outcome,
            title: None,
            unchecked: false,
            assumed,
        });
        Row {
            provider: ProviderAddr::parse(provider, Flavor::Terraform1_16).expect("an address"),
            platform: platform.parse().expect("a platform"),
            predictions: predictions.to_vec(),
            here: Vec::new(),
        }
    }

    /// Writes groups as `platform+platform outcome`, with a `?` where it is assumed.
    fn text(groups: &[PlatformGroup]) -> Vec<String> {
        let groups = groups.iter().map(|group| {
            let platforms: Vec<String> = group.platforms.iter().map(ToString::to_string).collect();
            let prediction = &group.predictions[0];
            let mark = if prediction.assumed { "?" } else { "" };
            format!(
                "{} {}{mark}",
                platforms.join("+"),
                prediction.outcome.word()
            )
        });
        groups.collect()
    }

    #[test]
    fn platforms_with_the_same_fate_share_a_group() {
        let rows = [
            row("a/a", "linux_amd64", Outcome::Passes, false),
            row("a/a", "linux_arm64", Outcome::Fails, false),
            row("a/a", "windows_amd64", Outcome::Passes, false),
            row("b/b", "linux_arm64", Outcome::Passes, false),
        ];
        let own = fold(of_provider(&rows, &rows[0].provider));
        let passes = Outcome::Passes.word();
        let fails = Outcome::Fails.word();
        assert_eq!(
            text(&own),
            [
                format!("linux_arm64 {fails}"),
                format!("linux_amd64+windows_amd64 {passes}"),
            ]
        );
    }

    #[test]
    fn the_worst_of_all_providers_happens() {
        let rows = [
            row("a/a", "linux_amd64", Outcome::Passes, true),
            row("b/b", "linux_amd64", Outcome::Rewrites, false),
            row("a/a", "linux_arm64", Outcome::Passes, true),
            row("b/b", "linux_arm64", Outcome::Fails, false),
        ];
        let rewrites = Outcome::Rewrites.word();
        let fails = Outcome::Fails.word();
        assert_eq!(
            text(&combine(&rows)),
            [
                format!("linux_amd64 {rewrites}?"),
                format!("linux_arm64 {fails}"),
            ]
        );
    }
    #[test]
    fn what_is_wrong_with_packages_is_reported_before_the_verdict_on_entries() {
        let titled = |provider: &str, title: &'static str| {
            let mut row = row(provider, "linux_amd64", Outcome::Fails, false);
            let predictions = row.predictions.iter_mut();
            predictions.for_each(|one| one.title = Some(title.into()));
            row
        };
        let rows = [
            titled("a/a", "Inconsistent dependency lock file"),
            titled("b/b", "Required plugins are not installed"),
        ];
        let all = combine(&rows);
        let title = all[0].predictions[0].title.as_deref();
        assert_eq!(title, Some("Required plugins are not installed"));
    }
}
