//! How `lockctl convert` reads beyond what `lockctl lock` says.

use crate::flavor::Flavor;
use crate::report::json::{ConvertedProvider, NotConverted};
use crate::run::unseen::some_of;

/// Lists the entries that stay as they are, each with the reason.
pub(in crate::cli) fn lines(converted: &[ConvertedProvider], flavor: Flavor) -> Vec<String> {
    let lines = converted.iter().filter_map(|one| {
        let name = format!("{} {}", one.provider.short(flavor), one.version);
        let places = some_of(one.places.iter().cloned()).join(", ");
        Some(match one.reason? {
            NotConverted::OtherHost => {
                format!("{name} stays as it is: it is on another registry")
            }
            NotConverted::Named => {
                format!("{name} stays as it is: {places} names its registry")
            }
            NotConverted::State => format!(
                "{name} stays as it is: the state names its registry ({places}); `{} state \
                 replace-provider` changes that",
                flavor.command()
            ),
        })
    });
    lines.collect()
}
