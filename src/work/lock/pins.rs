//! The file of pinned modules of a root: what it is now, and what a run makes of it.

use crate::config::{Loaded, RemoteCall};
use crate::diag::counted;
use crate::pins::{self, PinText, Pins};
use crate::report::json::RootStatus;
use crate::report::{Failure, RootResult};
use crate::review::{PinChangeKind, pin_changes};
use crate::run::World;
use crate::workspace::PinUse;
use crate::world::{Exclusive, Replaced, Replacement};

use super::args::LockOptions;

/// The pins that a run is to move, as far as no root has them.
pub(super) struct MovedPins<'r> {
    wanted: &'r PinUse,
    unmatched: Vec<&'r str>,
    /// A root of the run pins its modules.
    has_pins: bool,
}

impl<'r> MovedPins<'r> {
    pub(super) fn new(pins: &'r PinUse) -> Self {
        Self {
            wanted: pins,
            unmatched: match pins {
                PinUse::Moved(names) => names.iter().map(String::as_str).collect(),
                PinUse::Read | PinUse::Kept => Vec::new(),
            },
            has_pins: false,
        }
    }

    /// Takes note of the calls of a root.
    pub(super) fn see(&mut self, text: Option<&PinText>, loaded: &Loaded) {
        if text.is_none() {
            return;
        }
        self.has_pins = true;
        self.unmatched.retain(|name| {
            let moved = PinUse::Moved(vec![(*name).to_owned()]);
            !loaded
                .remote_calls
                .iter()
                .any(|call| moved.moves(&call.key))
        });
    }

    /// Says which pins could not be moved, because no root has them.
    pub(super) fn failures(&self) -> Vec<Failure> {
        if !matches!(self.wanted, PinUse::Moved(_)) {
            return Vec::new();
        }
        if !self.has_pins {
            return vec![
                Failure::new("no root of this run pins its modules")
                    .help("write `modules { lock = true }` to the project file"),
            ];
        }
        self.unmatched
            .iter()
            .map(|name| {
                Failure::new(format!("no call of a remote module is named {name}"))
                    .help("`lockctl tree` lists the calls; write module.a.module.b as a.b")
            })
            .collect()
    }
}

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
    world: World<'_>,
    options: &LockOptions,
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
    for change in pin_changes(&text.document.pins, new) {
        let sentence = format!("module {} {}", change.module, change.cause);
        if change.kind == PinChangeKind::Added {
            result.detail(sentence);
        } else {
            result.remark(sentence);
        }
    }
    result.remark(if options.writes() {
        format!("{path}: {} pinned", counted(new.len(), "module"))
    } else {
        format!("{path} would change")
    });
    result.changed = Some(true);
    if options.check {
        result.status = result.status.max(RootStatus::Findings);
    }
    Ok(Replaced::Done)
}
