//! Calls whose modules cannot be seen.

use std::collections::BTreeMap;

use crate::config::tree::way::CallSite;
use crate::diag::{Diagnostic, Help, Label, RootCommand, rules};
use crate::module_config::file::SourcePlace;
use crate::requirement::{UnseenCall, UnseenReason};

/// The title of a call into a git submodule that is not checked out.
pub(super) const NOT_CHECKED_OUT: &str = "Git submodule is not checked out";

/// The title of a call whose source or version is computed.
pub(super) const IS_COMPUTED: &str = "Module call is computed";

/// The title of a local call into the package of a call that cannot be seen.
pub(super) const IN_UNSEEN: &str = "Module is in another one that is not visible";

/// The reason why the module of a call cannot be seen, as the note on it says.
pub(super) struct Obstacle {
    pub(super) title: &'static str,
    /// The place that the program shows.
    pub(super) place: SourcePlace,
    pub(super) reason: UnseenReason,
    pub(super) causes: Vec<Label>,
    pub(super) help: Option<Help>,
}

impl Obstacle {
    pub(super) fn new(title: &'static str, place: SourcePlace) -> Self {
        let (reason, help) = match title {
            NOT_CHECKED_OUT => {
                let help = RootCommand::new("git submodule update --init").run("");
                (UnseenReason::NotCheckedOut, Some(help))
            }
            IS_COMPUTED => (UnseenReason::NotComputed, None),
            _ => (UnseenReason::NotHere, None),
        };
        Self {
            title,
            place,
            reason,
            causes: Vec::new(),
            help,
        }
    }
}

/// The calls whose modules cannot be seen, each as it is written.
#[derive(Default)]
pub(super) struct UnseenModules {
    pub(super) calls: Vec<UnseenCall>,
    /// The note on each call.
    pub(super) notes: Vec<Diagnostic>,
    /// The index in these lists of the call at each place.
    known: BTreeMap<SourcePlace, usize>,
}

impl UnseenModules {
    /// Notes a call with the reason.
    pub(super) fn add(&mut self, way: &CallSite<'_>, source: &str, obstacle: Obstacle) {
        let place = way.call.place;
        let SourcePlace { file, span } = way.call.computed().unwrap_or(place);
        let known = self.known.get(&place).copied();
        let ways = 1 + known.map_or(0, |at| self.calls[at].ways);
        // With its path if there is only one.
        let remark = match ways {
            1 => format!("what {} requires is unknown", way.path),
            _ => format!("what this module requires is unknown; {ways} ways lead to this call"),
        };
        let shown = obstacle.place;
        let mut note = Diagnostic::note(rules::MODULE_NOT_VISIBLE, obstacle.title)
            .at(shown.file, shown.span, remark);
        note.related = obstacle.causes;
        note.help = obstacle.help;
        note.package = way.call.repository();
        match known {
            Some(at) => {
                let call = &mut self.calls[at];
                call.ways = ways;
                // What helps on one way helps.
                call.reason = call.reason.min(obstacle.reason);
                self.notes[at] = note;
            }
            None => {
                self.known.insert(place, self.calls.len());
                self.notes.push(note);
                self.calls.push(UnseenCall {
                    module: way.path.clone(),
                    ways,
                    source: source.to_owned(),
                    reason: obstacle.reason,
                    file,
                    span,
                });
            }
        }
    }
}
