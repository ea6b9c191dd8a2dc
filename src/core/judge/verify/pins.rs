//! The calls of remote modules against their pins.

use super::inputs::RootInputs;
use crate::diag::{Diagnostic, Finding, Severity, rules};

/// Reports calls that are not pinned, and pins that no call has.
#[must_use]
pub(super) fn check(root: &RootInputs<'_>) -> Vec<Finding> {
    let (Some(text), Some(configuration)) = (root.pins, root.configuration) else {
        return Vec::new();
    };
    let mut faults = text.diagnostics.clone();
    if faults.iter().any(|fault| fault.severity == Severity::Error) || root.is_unread() {
        return faults.into_iter().map(Finding::from).collect();
    }
    let (path, pins) = (text.path.display(), &text.document.pins);
    for call in &configuration.remote_calls {
        let remark = match pins.get(&call.key) {
            Some(pin) if call.fits(pin) => continue,
            Some(pin) if pin.source == call.source.shown() => {
                format!("{path} pins a version that the call does not allow")
            }
            Some(pin) => format!("{path} pins {}", pin.source),
            None => format!("{path} has no pin for it"),
        };
        let title = format!("Module {} is not pinned", call.key);
        let error = Diagnostic::error(rules::MODULE_NOT_PINNED, title);
        faults.push(
            error
                .at(call.file, call.span, remark)
                .help(root.advice.lock.run(" to pin it")),
        );
    }
    // What cannot be seen may call any of them.
    if configuration.requirements.unseen_calls.is_empty() {
        let called = |key: &String| {
            configuration
                .remote_calls
                .iter()
                .any(|call| call.key == *key)
        };
        for (key, span) in &text.document.places {
            if let Some(file) = text.file
                && !called(key)
            {
                let title = format!("No call has the pin {key}");
                let warning = Diagnostic::warning(rules::MODULE_PIN_UNUSED, title);
                faults.push(
                    warning
                        .at(file, *span, "pinned here")
                        .help(root.advice.lock.run(" to remove it")),
                );
            }
        }
    }
    faults.into_iter().map(Finding::from).collect()
}
