//! `action_trigger` blocks, which the newer versions of Terraform have (config rules 11.4).

use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Expr};
use crate::module_config::faults::Faults;
use crate::module_config::language;
use crate::module_config::syntax::references::{self, ReferenceSubject};
use crate::module_config::validate::bodies;

/// The events that may trigger an action; the first four are the oldest.
const EVENTS: [&str; 6] = [
    "before_create",
    "after_create",
    "before_update",
    "after_update",
    "before_destroy",
    "after_destroy",
];

pub(super) fn check(block: &Block, faults: &mut Faults) {
    bodies::check(&block.body, &language::TRIGGER, faults);
    let (mut events, mut actions) = (0, 0);
    for argument in bodies::known(&language::TRIGGER, &block.body, faults.flavor) {
        let value = &argument.value;
        match &*argument.name.text {
            "events" => {
                let known = match faults.flavor {
                    Flavor::Terraform1_16 => &EVENTS[..],
                    _ => &EVENTS[..4],
                };
                let mut seen: Vec<&str> = Vec::new();
                for item in references::list(value, faults) {
                    let event = references::word(item).unwrap_or_default();
                    if !known.contains(&event) {
                        let title = format!("Invalid \"event\" value {event}");
                        let remark = format!("the events are {}", known.join(", "));
                        faults.invalid(title.trim_end(), item.span, &remark);
                    } else if seen.contains(&event) {
                        faults.invalid(format!("Duplicate {event:?} event"), item.span, "");
                    } else {
                        seen.push(event);
                    }
                }
                events = seen.len();
            }
            "actions" => {
                let items = references::list(value, faults);
                actions = items.len();
                items.iter().for_each(|item| action(item, faults));
            }
            "on_failure" => {
                let word = references::word(value).unwrap_or_default();
                if !["halt", "taint", "continue"].contains(&word) {
                    let remark = "write halt, taint or continue";
                    faults.invalid("Invalid \"on_failure\" keyword", value.span, remark);
                }
            }
            _ => {}
        }
    }
    if actions == 0 {
        faults.invalid("No actions specified", block.header, "name an action");
    }
    if events == 0 {
        faults.invalid("No events specified", block.header, "name an event");
    }
}

/// Checks that an item names one action of this module.
fn action(item: &Expr, faults: &mut Faults) {
    const NO_ACTION: &str = "Invalid action argument inside action_triggers";
    let mut actions = 0;
    for used in references::inside(item) {
        let title = match ReferenceSubject::of(used, faults.flavor) {
            Err(title) => title,
            Ok(ReferenceSubject::Action) => {
                actions += 1;
                continue;
            }
            Ok(ReferenceSubject::Count(_) | ReferenceSubject::Each(_)) => continue,
            Ok(ReferenceSubject::InsideAction) => "Unexpected attribute in action reference",
            Ok(ReferenceSubject::Module) => "Invalid reference to action outside this module",
            Ok(ReferenceSubject::Resource { .. }) => NO_ACTION,
            // The first version with actions only counts those that are there.
            Ok(ReferenceSubject::Other) if faults.flavor != Flavor::Terraform1_16 => continue,
            Ok(ReferenceSubject::Other) => NO_ACTION,
        };
        return faults.invalid(title, item.span, "write action.TYPE.NAME");
    }
    match actions {
        0 => faults.invalid("No actions specified", item.span, "write action.TYPE.NAME"),
        1 => {}
        _ => faults.invalid("Invalid action expression", item.span, "name one action"),
    }
}
