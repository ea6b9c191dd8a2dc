//! The file of pinned modules of a root: what it is now, and what a run makes of it.

use crate::config::{Loaded, RemoteCall};
use crate::pins::{self, PinText, Pins};
use crate::report::json::RootStatus;
use crate::report::{Failure, RootResult};
use crate::review::{PinChangeKind, pin_changes};
use crate::run::World;
use crate::world::{Exclusive, Replaced, Replacement};

use super::args::LockOptions;

/// The pins that a root is to have.
pub(super) fn planned(text: Option<&PinText>, loaded: &Loaded) -> Option<Pins> {
    let old = &text?.document.pins;
    let mut pins = Pins::new();
    // What cannot be seen may have calls as well.
    if !loaded.requirements.unseen_calls.is_empty() {
        pins.clone_from(old);
    }
    for RemoteCall { key, pin, .. } in &loaded.remote_calls {
        // A package that could not be fetched keeps its pin.
        match pin.as_ref().or_else(|| old.get(key)) {
            Some(pin) => pins.insert(key.clone(), pin.clone()),
            None => None,
        };
    }
    Some(pins)
}

/// Writes the pins of a root, or reports what would be written; returns true if they changed.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write(
    planned: Option<&Pins>,
    text: Option<&PinText>,
    (world, options): (World<'_>, &LockOptions),
    held: Option<&Exclusive>,
    result: &mut RootResult,
) -> Result<Replaced, Failure> {
    let (Some(text), Some(new)) = (text, planned) else {
        return Ok(Replaced::Done);
    };
    let written = pins::write(new);
    let is_same = match &text.bytes {
        Some(bytes) => **bytes == *written.as_bytes(),
        None => new.is_empty(),
    };
    if is_same {
        return Ok(Replaced::Done);
    }
    if options.writes() {
        let file = Replacement {
            path: &text.path,
            old: text.bytes.as_deref(),
            new: written.as_bytes(),
        };
        let replaced = match held {
            Some(held) => world.disk.replace_held(held, file),
            None => world.disk.replace(file.path, file.old, file.new),
        };
        let unwritable = |error: std::io::Error| {
            Failure::new(format!("{} cannot be written", text.path.display()))
                .because(error.to_string())
        };
        if replaced.map_err(unwritable)? == Replaced::Changed {
            return Ok(Replaced::Changed);
        }
    }
    let path = text.path.display();
    let changes = pin_changes(&text.document.pins, new);
    for change in &changes {
        let sentence = format!("module {} {}", change.key, change.clause());
        if change.kind == PinChangeKind::Added {
            result.detail(sentence);
        } else {
            result.remark(sentence);
        }
    }
    result.remark(if options.writes() {
        format!(
            "{path}: {} pinned",
            crate::diag::counted(new.len(), "module")
        )
    } else {
        format!("{path} would change")
    });
    result.changed = Some(true);
    if options.check {
        result.status = result.status.max(RootStatus::Findings);
    }
    Ok(Replaced::Done)
}
