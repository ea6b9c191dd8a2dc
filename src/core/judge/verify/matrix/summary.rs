//! Predictions summed up: platforms with the same fate together, and all providers of a run together.

use std::collections::BTreeMap;

use super::PredictionRow;
use crate::addr::ProviderAddr;
use crate::coverage::{Outcome, Prediction, Route};
use crate::platform::Platform;

/// Platforms with the same predictions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformGroup {
    /// The platforms, at least one.
    pub platforms: Vec<Platform>,
    /// One prediction for each route, in the order of `Route::ALL`; none for a platform that is not wanted.
    pub predictions: Vec<Prediction>,
    /// The outcomes in the root as it is now, if one of them is the platform of this machine.
    pub here: Vec<Prediction>,
}

/// Returns the predictions for one provider, each platform by itself.
#[must_use]
pub fn of_provider(rows: &[PredictionRow], provider: &ProviderAddr) -> Vec<PlatformGroup> {
    rows.iter()
        .filter(|row| row.provider == *provider)
        .map(|row| PlatformGroup {
            platforms: vec![row.platform.clone()],
            predictions: row.predictions.clone(),
            here: row.here.clone(),
        })
        .collect()
}

/// Returns the predictions for all providers, each platform by itself: a program looks at all of them in one
/// run, so the worst outcome of any of them is that of the run.
#[must_use]
pub fn combine(rows: &[PredictionRow]) -> Vec<PlatformGroup> {
    let mut platforms: BTreeMap<&Platform, Vec<&PredictionRow>> = BTreeMap::new();
    for row in rows {
        platforms.entry(&row.platform).or_default().push(row);
    }
    platforms
        .into_iter()
        .map(|(platform, rows)| {
            let of_route = |route: usize| {
                worst(
                    rows.iter()
                        .filter_map(|row| row.predictions.get(route))
                        .collect(),
                )
            };
            // Where the outcome for a provider is unknown, that of the run is: its row is empty, hence the least.
            let known = rows.iter().map(|row| row.here.len()).min().unwrap_or(0);
            PlatformGroup {
                platforms: vec![platform.clone()],
                predictions: (0..Route::ALL.len()).filter_map(of_route).collect(),
                here: (0..known)
                    .filter_map(|route| worst(rows.iter().map(|row| &row.here[route]).collect()))
                    .collect(),
            }
        })
        .collect()
}

/// Joins the groups with the same predictions.
#[must_use]
pub fn fold(groups: Vec<PlatformGroup>) -> Vec<PlatformGroup> {
    let mut folded: Vec<PlatformGroup> = Vec::new();
    for group in groups {
        let equal = folded
            .iter_mut()
            .find(|other| other.predictions == group.predictions);
        match equal {
            Some(equal) => {
                equal.platforms.extend(group.platforms);
                equal.here.extend(group.here);
            }
            None => folded.push(group),
        }
    }
    // The largest group comes last, because its label is that of all other platforms.
    folded.sort_by_key(|group| group.platforms.len());
    folded
}

/// Returns the worst of several predictions about one route.
fn worst(predictions: Vec<&Prediction>) -> Option<Prediction> {
    // A certain failure of one provider is that of the run, with the title that the program reports first.
    let sure_failure = predictions
        .iter()
        .filter(|prediction| prediction.outcome == Outcome::Fails && !prediction.assumed)
        // A missing package is reported before a missing entry (`coverage` rules 4.7).
        .min_by_key(|prediction| prediction.is_about_entries());
    if let Some(failure) = sure_failure {
        return Some((*failure).clone());
    }
    let outcome = predictions
        .iter()
        .map(|prediction| prediction.outcome)
        .max()?;
    let first = predictions
        .iter()
        .find(|prediction| prediction.outcome == outcome)?;
    Some(Prediction {
        // The outcome of the run may be worse if an assumed one comes out differently.
        assumed: predictions.iter().any(|prediction| prediction.assumed),
        unchecked: outcome != Outcome::Fails
            && predictions.iter().any(|prediction| prediction.unchecked),
        ..(*first).clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flavor::Flavor;

    fn row(provider: &str, platform: &str, outcome: Outcome, assumed: bool) -> PredictionRow {
        let predictions = Route::ALL.map(|route| Prediction {
            route,
            outcome,
            title: None,
            unchecked: false,
            assumed,
        });
        PredictionRow {
            provider: ProviderAddr::parse(provider, Flavor::Terraform1_16).expect("an address"),
            platform: platform.parse().expect("a platform"),
            predictions: predictions.to_vec(),
            here: Vec::new(),
        }
    }

    /// Writes groups as `platform+platform outcome`, with a `?` where it is assumed.
    fn text(groups: &[PlatformGroup]) -> Vec<String> {
        let lines = groups.iter().map(|group| {
            let platforms: Vec<String> = group.platforms.iter().map(ToString::to_string).collect();
            let prediction = &group.predictions[0];
            let mark = if prediction.assumed { "?" } else { "" };
            format!(
                "{} {}{mark}",
                platforms.join("+"),
                prediction.outcome.word()
            )
        });
        lines.collect()
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
            for prediction in &mut row.predictions {
                prediction.title = Some(title.into());
            }
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
