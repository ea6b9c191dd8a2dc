//! Lock files that have CRLF line ends, as a checkout makes them.

/// The line of `.gitattributes` that keeps LF in every checkout.
pub const LF_ATTRIBUTE: &str = ".terraform.lock.hcl text eol=lf";

/// Returns true if a text is the canonical one, but with CRLF at the end of each line.
#[must_use]
pub fn has_crlf_only(bytes: &[u8], canonical: &str) -> bool {
    bytes == canonical.replace('\n', "\r\n").as_bytes()
}
