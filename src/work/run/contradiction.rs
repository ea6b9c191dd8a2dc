//! The alarm about a file whose facts contradict those that are kept.

use crate::package::{Fact, PackageId};
use crate::report::Failure;
use crate::report::json::FactContradiction;
use crate::store::{Contradiction, FactOrigin, StoredFact};

/// Maximum number of contradictions that an alarm lists.
const MAX_LISTED: usize = 5;

/// Returns contradictions as results have them.
pub(crate) fn rows(contradictions: &[Contradiction]) -> Vec<FactContradiction> {
    let rows = contradictions.iter().map(|Contradiction { stated, kept }| {
        let StoredFact { fact, origin, .. } = kept;
        let PackageId {
            provider,
            version,
            platform,
        } = &fact.id;
        FactContradiction {
            provider: provider.to_string(),
            version: version.to_string(),
            platform: platform.to_string(),
            zh: fact.zh.clone(),
            stated_h1: stated.h1.clone(),
            stated_size: stated.size,
            kept_h1: fact.h1.clone(),
            kept_size: fact.size,
            kept_from: match origin {
                FactOrigin::Computed => None,
                FactOrigin::Imported(from) | FactOrigin::Signed(from) => Some(from.clone()),
            },
        }
    });
    rows.collect()
}

/// Explains why nothing is done with a file: `done` is what would have been done.
pub(crate) fn alarm(file: &str, contradictions: &[Contradiction], done: &str) -> Failure {
    let cause = |Contradiction { stated, kept }: &Contradiction| {
        let PackageId {
            provider,
            version,
            platform,
        } = &kept.fact.id;
        let known = match &kept.origin {
            FactOrigin::Computed => "computed here".to_owned(),
            FactOrigin::Imported(from) => format!("imported from {from}"),
            FactOrigin::Signed(key) => format!("signed by {key}"),
        };
        // Facts about one zip contradict each other in the `h1:`, or else in the size (`store`
        // rules 4.2).
        let what = |fact: &Fact| {
            if stated.h1 == kept.fact.h1 {
                format!("{} bytes", fact.size)
            } else {
                fact.h1.to_string()
            }
        };
        let (stated, kept) = (what(stated), what(&kept.fact));
        format!("{provider} {version} {platform}: it states {stated}, {known}: {kept}")
    };
    let mut causes: Vec<String> = contradictions.iter().take(MAX_LISTED).map(cause).collect();
    let more = contradictions.len() - causes.len();
    if more > 0 {
        causes.push(format!("{more} more"));
    }
    // What was computed here comes from the bytes of a signed package (`store` rules 1.1), so that the
    // file is wrong.
    let is_own = |contradiction: &Contradiction| contradiction.kept.origin == FactOrigin::Computed;
    let help = if contradictions.iter().any(is_own) {
        format!("nothing was {done}; find out who wrote {file}: what it states is false")
    } else {
        format!(
            "nothing was {done}; one of both is false: `lockctl cache clean --imported` removes what \
             was imported, and the next `lockctl lock` computes it"
        )
    };
    Failure {
        title: format!("{file} contradicts facts that are kept"),
        causes,
        help: Some(help),
    }
}
