//! Calls whose source or version cannot be computed here (rules 9).

use std::ops::ControlFlow;

use super::{Reached, TreeWalk, place_of};
use crate::config::tree::manifest::{self, Installed};
use crate::config::tree::unseen::IS_COMPUTED;
use crate::config::tree::way::{CallSite, Sourcing};
use crate::diag::{Diagnostic, Label, rules};
use crate::module_config::file::SourcePlace;
use crate::module_config::flood;

/// The placeholder for a source that is computed.
const COMPUTED: &str = "the source is computed";

impl TreeWalk<'_> {
    /// Follows a call whose source or version depends on values that are not known here: to what was
    /// installed for it, which the manifest has under the name of the call.
    pub(super) fn computed(
        &mut self,
        way: CallSite<'_>,
        written: Option<&str>,
        place: SourcePlace,
        reason: Option<&Diagnostic>,
    ) -> ControlFlow<()> {
        let labels: Vec<Label> = reason
            .into_iter()
            .flat_map(|reason| reason.primary.iter().chain(&reason.related))
            .cloned()
            .collect();
        let way = CallSite {
            sourcing: Sourcing::NotComputed(labels.first().cloned()),
            ..way
        };
        let key = way.path.manifest_key();
        // The program that installed it knew the values (rules 5.2).
        let found = self.manifest.find(&key, way.call, &self.reader);
        let shown = written.unwrap_or(COMPUTED);
        match found {
            Ok(Installed { dir, source }) => {
                if self.reported.insert((place, IS_COMPUTED)) {
                    let remark = format!("what is installed for it counts: {source}");
                    let mut note = Diagnostic::note(rules::CONFIGURATION_ODD, IS_COMPUTED)
                        .at(place.file, place.span, remark)
                        .help("install the modules again after a change of the values");
                    note.related.extend(labels);
                    flood::push(&mut self.reader.found, note);
                }
                self.follow(&way, Reached::on_disk(&source, dir))
            }
            // The answer is incomplete then, and no error of the program is predicted (rules 9.9).
            Err(manifest::NOT_INSTALLED) => {
                let unseen = self.unseen(&way, shown, IS_COMPUTED, place);
                for label in labels {
                    self.unseen.explain(way.call, Some(label));
                }
                // A variable without a value can be given one.
                let help = reason
                    .filter(|reason| reason.code == rules::VARIABLE_NOT_SET)
                    .and_then(|reason| reason.help.clone());
                self.unseen.advise(way.call, help);
                unseen
            }
            Err(title) => self.unseen(&way, shown, title, place_of(way.call, title)),
        }
    }
}
