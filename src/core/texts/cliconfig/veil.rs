//! The part of a file that people may see: its outline and its names, never a value.

use super::node::ConfigEntry;

/// Hides all but the outline. Within quotes nothing is shown: punctuation there may be that of a password.
pub(super) fn outline(bytes: &[u8]) -> Vec<u8> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    // Offsets stay as they are, so that a diagnostic points to the right place.
    let veil = |byte: &u8| {
        let is_quote = *byte == b'"' && !(is_quoted && is_escaped);
        is_escaped = *byte == b'\\' && !is_escaped;
        // A string ends on its line, whether it is closed or not.
        is_quoted = *byte != b'\n' && is_quoted != is_quote;
        let is_sign = !is_quoted && b"{}[]=:,".contains(byte);
        if is_quote || is_sign || byte.is_ascii_whitespace() {
            *byte
        } else {
            b'*'
        }
    };
    bytes.iter().map(veil).collect()
}

/// Shows the names of a file that was parsed: those of blocks and their arguments, the labels of
/// `host`, `credentials` and `oci_credentials` blocks, the names of services, and those of installation methods.
///
/// Deeper items have no known names, and stay hidden.
pub(super) fn show_names(entries: &[ConfigEntry], bytes: &[u8], shown: &mut [u8]) {
    let mut show = |entry: &ConfigEntry| {
        let span = entry.key.span.start..entry.key.span.end;
        if let (Some(from), Some(to)) = (bytes.get(span.clone()), shown.get_mut(span)) {
            to.copy_from_slice(from);
        }
    };
    for top in entries {
        show(top);
        let is = |name: &str| top.key.text.eq_ignore_ascii_case(name);
        if is("provider_installation") {
            for method in top.value.entries() {
                show(method);
                method.value.entries().into_iter().for_each(&mut show);
            }
        }
        if is("oci_default_credentials") {
            top.value.entries().into_iter().for_each(&mut show);
        }
        // In other blocks a name may be a secret in the wrong place.
        if !is("host") && !is("credentials") && !is("oci_credentials") {
            continue;
        }
        for label in top.value.entries() {
            show(label);
            for argument in label.value.entries() {
                show(argument);
                if is("host") && argument.key.text.eq_ignore_ascii_case("services") {
                    argument.value.entries().into_iter().for_each(&mut show);
                }
            }
        }
    }
}
