//! The merge of two files of pinned modules that started from one.

use std::collections::{BTreeMap, BTreeSet};

use super::markers::Markers;
use super::merge::MergePreference;
use crate::pins::{self, Pins};
use crate::remote_module::ModulePin;

/// The result of a merge of pins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedPins {
    /// The pins that need no manual resolution.
    pub pins: Pins,
    /// Pins that both sides changed, each in its own way: ours, those of the base, theirs.
    pub conflicts: BTreeMap<String, [Option<ModulePin>; 3]>,
}

/// Merges pins one by one: what only one side changed is taken from there.
///
/// Where both sides moved a module of one source to versions of a registry, `Newest` takes the newer one, as with
/// providers. Two commits have no order, so that only a side that is preferred settles them.
#[must_use]
pub fn merge_pins([base, ours, theirs]: [&Pins; 3], prefer: MergePreference) -> MergedPins {
    let mut merged = MergedPins::default();
    let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for key in keys {
        let sides = [ours, base, theirs].map(|side| side.get(key));
        let [our_pin, before, their_pin] = sides;
        let pin = if our_pin == their_pin || their_pin == before {
            our_pin
        } else if our_pin == before {
            their_pin
        } else {
            match (prefer, newer(our_pin, their_pin)) {
                (MergePreference::Ours, _) => our_pin,
                (MergePreference::Theirs, _) => their_pin,
                (MergePreference::Newest, Some(newer)) => Some(newer),
                (MergePreference::Newest | MergePreference::Fail, _) => {
                    merged
                        .conflicts
                        .insert(key.clone(), sides.map(|pin| pin.cloned()));
                    continue;
                }
            }
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

impl MergedPins {
    /// Prints the file, with markers around each block that needs manual resolution.
    #[must_use]
    pub fn write(&self, markers: &Markers) -> String {
        let mut blocks: BTreeMap<&String, String> = self
            .pins
            .iter()
            .map(|(key, pin)| (key, pins::write_pin(key, pin)))
            .collect();
        for (key, sides) in &self.conflicts {
            let side = |pin: &Option<ModulePin>| {
                pin.as_ref()
                    .map_or_else(String::new, |pin| pins::write_pin(key, pin))
            };
            blocks.insert(key, markers.around_blocks(&sides.each_ref().map(side)));
        }
        pins::write_blocks(blocks.values())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PREFERENCES: [MergePreference; 4] = [
        MergePreference::Newest,
        MergePreference::Ours,
        MergePreference::Theirs,
        MergePreference::Fail,
    ];

    /// Few keys and pins, so that they meet.
    fn any_pins() -> impl Strategy<Value = Pins> {
        let key = prop::sample::select(vec!["a", "a.b", "a-b", "b", "c.\u{e4}"]);
        let pin = (0..4_u8, any::<bool>()).prop_map(|(number, is_registry)| {
            let version = format!("1.{number}.0").parse().ok();
            ModulePin {
                source: format!("source-{is_registry}"),
                version: version.filter(|_| is_registry),
                commit: (!is_registry).then(|| format!("{number:040}")),
                hash: format!("h1:{number}").parse().expect("a hash"),
            }
        });
        prop::collection::btree_map(key.prop_map(str::to_owned), pin, 0..5)
    }

    proptest! {
        #[test]
        fn merges_keep_the_rules(base in any_pins(), ours in any_pins(), theirs in any_pins()) {
            for prefer in PREFERENCES {
                let merge = |sides| merge_pins(sides, prefer);
                let alone = |pins: &Pins| MergedPins {
                    pins: pins.clone(),
                    ..MergedPins::default()
                };
                assert_eq!(merge([&base, &ours, &ours]), alone(&ours));
                assert_eq!(merge([&base, &ours, &base]), alone(&ours));
                assert_eq!(merge([&base, &base, &theirs]), alone(&theirs));
                let merged = merge([&base, &ours, &theirs]);
                check(&merged, [&base, &ours, &theirs], prefer);
                let text = merged.write(&markers());
                let whole = pins::read(text.as_bytes());
                assert_eq!(whole.is_some(), merged.conflicts.is_empty(), "{text}");
                assert!(whole.is_none_or(|pins| pins == merged.pins));
            }
        }
    }

    fn markers() -> Markers {
        Markers {
            size: 7,
            ours: "ours".to_owned(),
            base: None,
            theirs: "theirs".to_owned(),
        }
    }

    #[track_caller]
    fn check(merged: &MergedPins, [base, ours, theirs]: [&Pins; 3], prefer: MergePreference) {
        let keys = base.keys().chain(ours.keys()).chain(theirs.keys());
        for key in keys {
            let [before, our_pin, their_pin] = [base, ours, theirs].map(|side| side.get(key));
            let is_both = our_pin != before && their_pin != before && our_pin != their_pin;
            let found = merged.pins.get(key);
            // Nothing is invented, and a conflict is only where both sides changed a pin.
            assert!([our_pin, their_pin].contains(&found) || merged.conflicts.contains_key(key));
            assert!(is_both || !merged.conflicts.contains_key(key), "{key}");
            if is_both && prefer == MergePreference::Fail {
                assert!(merged.conflicts.contains_key(key), "{key}");
            }
            if is_both && prefer == MergePreference::Theirs {
                assert_eq!(found, their_pin, "{key}");
            }
        }
    }
}
