//! The merge of two files of pins that started from one.

use std::collections::BTreeSet;

use super::Pins;
use crate::remote_module::ModulePin;

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedPins {
    /// The pins of both sides; of a conflict, ours.
    pub pins: Pins,
    /// The keys that both sides changed, each in its own way.
    pub conflicts: BTreeSet<String>,
}

/// Merges pins one by one: what only one side changed is taken from there.
///
/// Where both sides moved a module of one source to versions of a registry, the newer one is taken, as with providers.
/// Two commits have no order: that is a conflict.
#[must_use]
pub fn merge(base: &Pins, ours: &Pins, theirs: &Pins) -> MergedPins {
    let mut merged = MergedPins::default();
    let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for key in keys {
        let (before, our_pin, their_pin) = (base.get(key), ours.get(key), theirs.get(key));
        let pin = if our_pin == their_pin || their_pin == before {
            our_pin
        } else if our_pin == before {
            their_pin
        } else if let Some(newer) = newer(our_pin, their_pin) {
            Some(newer)
        } else {
            merged.conflicts.insert(key.clone());
            our_pin
        };
        if let Some(pin) = pin {
            merged.pins.insert(key.clone(), pin.clone());
        }
    }
    merged
}

/// Returns the pin of the newer version, if both are of one source and have different versions.
fn newer<'p>(ours: Option<&'p ModulePin>, theirs: Option<&'p ModulePin>) -> Option<&'p ModulePin> {
    let (ours, theirs) = (ours?, theirs?);
    let (our_version, their_version) = (ours.version.as_ref()?, theirs.version.as_ref()?);
    let is_comparable = ours.source == theirs.source && our_version != their_version;
    is_comparable.then_some(if our_version > their_version {
        ours
    } else {
        theirs
    })
}
