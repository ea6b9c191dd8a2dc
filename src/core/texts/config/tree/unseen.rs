//! Calls whose modules cannot be seen.

use std::collections::BTreeMap;

use crate::config::tree::way::CallSite;
use crate::diag::{Diagnostic, Help, Label, RootCommand, rules};
use crate::module_config::decode::contents::Call;
use crate::module_config::file::SourcePlace;
use crate::requirement::{UnseenCall, UnseenReason};

/// The title of a call into a git submodule that is not checked out.
pub(super) const NOT_CHECKED_OUT: &str = "Git submodule is not checked out";

/// The title of a call whose source or version is computed.
pub(super) const IS_COMPUTED: &str = "Module call is computed";

/// The title of a local call into the package of a call that cannot be seen.
pub(super) const IN_UNSEEN: &str = "Module is in another one that is not visible";

/// The calls whose modules cannot be seen, each as it is written.
#[derive(Default)]
pub(super) struct UnseenModules {
    pub(super) calls: Vec<UnseenCall>,
    pub(super) notes: Vec<Diagnostic>,
    /// The index in these lists of the call at each place.
    known: BTreeMap<SourcePlace, usize>,
}

impl UnseenModules {
    /// Notes a call with the reason.
    pub(super) fn add(
        &mut self,
        way: &CallSite<'_>,
        source: &str,
        title: &str,
        shown: SourcePlace,
    ) {
        let place = way.call.place;
        let reason = match title {
            NOT_CHECKED_OUT => UnseenReason::NotCheckedOut,
            IS_COMPUTED => UnseenReason::NotComputed,
            _ => UnseenReason::NotHere,
        };
        if let Some(at) = self.known.get(&place) {
            let call = &mut self.calls[*at];
            call.ways += 1;
            // What helps on one way helps.
            call.reason = call.reason.min(reason);
            let mut note = not_visible(call, title, shown);
            note.package = way.call.repository();
            self.notes[*at] = note;
            return;
        }
        self.known.insert(place, self.calls.len());
        let SourcePlace { file, span } = way.call.computed().unwrap_or(place);
        let call = UnseenCall {
            module: way.path.clone(),
            ways: 1,
            source: source.to_owned(),
            reason,
            file,
            span,
        };
        let mut note = not_visible(&call, title, shown);
        note.package = way.call.repository();
        self.notes.push(note);
        self.calls.push(call);
    }

    /// Adds to the note on a call what keeps its source from being computed.
    pub(super) fn explain(&mut self, call: &Call, reason: Option<Label>) {
        let note = self.known.get(&call.place).map(|at| &mut self.notes[*at]);
        if let (Some(note), Some(reason)) = (note, reason)
            && !note.related.contains(&reason)
        {
            note.related.push(reason);
        }
    }

    /// Adds to the note on a call what to do.
    pub(super) fn advise(&mut self, call: &Call, help: Option<Help>) {
        let note = self.known.get(&call.place).map(|at| &mut self.notes[*at]);
        if let (Some(note), Some(help)) = (note, help) {
            note.help = Some(help);
        }
    }

    /// States why the module of a call cannot be seen.
    pub(super) fn set_reason(&mut self, call: &Call, reason: UnseenReason) {
        if let Some(at) = self.known.get(&call.place) {
            self.calls[*at].reason = reason;
        }
    }
}

/// Makes the note that a call is not visible, with its path if there is only one.
fn not_visible(call: &UnseenCall, title: &str, place: SourcePlace) -> Diagnostic {
    let remark = match call.ways {
        1 => format!("what {} requires is unknown", call.module),
        ways => format!("what this module requires is unknown; {ways} ways lead to this call"),
    };
    let note =
        Diagnostic::note(rules::MODULE_NOT_VISIBLE, title).at(place.file, place.span, remark);
    match title {
        NOT_CHECKED_OUT => note.help(RootCommand::new("git submodule update --init").run("")),
        _ => note,
    }
}
