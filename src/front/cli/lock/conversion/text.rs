//! The lines of `lockctl convert` beside the text of `lockctl lock`.

use crate::flavor::Flavor;
use crate::locker::NotConverted;
use crate::report::json::ConvertedProvider;
use crate::run::unseen::some_of;

/// Lists the entries that stay as they are, each with the reason.
pub(in crate::front::cli::lock) fn lines(
    converted: &[ConvertedProvider],
    flavor: Flavor,
) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in converted {
        let name = format!("{} {}", entry.provider.short(flavor), entry.version);
        let places = some_of(entry.places.iter().cloned()).join(", ");
        lines.push(match entry.reason {
            None => continue,
            Some(NotConverted::OtherHost) => {
                format!("{name} stays as it is: it is on another registry")
            }
            Some(NotConverted::Named) => {
                format!("{name} stays as it is: {places} names its registry")
            }
            Some(NotConverted::State) => format!(
                "{name} stays as it is: the state names its registry ({places}); `{} state \
                 replace-provider` changes that",
                flavor.command()
            ),
        });
    }
    lines
}
