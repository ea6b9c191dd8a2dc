//! Predictions of what the programs will do with a lock file, route by route.

use serde::Serialize;

pub use crate::coverage::{Outcome, Route};

use crate::addr::ProviderAddr;
use crate::coverage::Prediction;
use crate::platform::Platform;
use crate::verify::matrix::{self, PredictionRow};

/// A prediction for one provider on one platform, by one route; or in a whole run, because of all
/// providers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixRow {
    /// The provider, with its registry; null for the run as a whole, which has the worst outcome of any
    /// provider.
    #[cfg_attr(test, schemars(schema_with = "nullable_text"))]
    pub provider: Option<ProviderAddr>,
    /// The platform, as in `linux_amd64`.
    pub platform: Platform,
    /// The outcome by one route.
    #[serde(flatten)]
    pub prediction: Prediction,
}

impl MatrixRow {
    /// Makes the rows of all predictions of a root, then those of the whole run.
    pub(crate) fn of_all(predicted: &[PredictionRow]) -> Vec<Self> {
        let of_providers = predicted.iter().flat_map(|row| {
            let predictions = row.predictions.iter().chain(&row.here);
            predictions.map(|prediction| Self::of(Some(&row.provider), &row.platform, prediction))
        });
        let groups = matrix::combine(predicted);
        let whole = groups.iter().flat_map(|group| {
            group.platforms.iter().flat_map(|platform| {
                let predictions = group.predictions.iter().chain(&group.here);
                predictions.map(|prediction| Self::of(None, platform, prediction))
            })
        });
        of_providers.chain(whole).collect()
    }

    fn of(provider: Option<&ProviderAddr>, platform: &Platform, prediction: &Prediction) -> Self {
        Self {
            provider: provider.cloned(),
            platform: platform.clone(),
            prediction: prediction.clone(),
        }
    }
}

/// The schema of a text that is always there and may be null.
#[cfg(test)]
fn nullable_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["string", "null"] })
}
