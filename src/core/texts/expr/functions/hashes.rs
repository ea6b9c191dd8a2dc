//! Hashes of texts and of files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest;

use super::arguments::{CallArguments, CallFault, CallResult};
use super::files;
use crate::expr::typed::Typed;

/// Computes the hash `D` of a text, written in one of the two ways below.
pub(super) fn of_text<D: Digest>(
    args: &CallArguments<'_>,
    shown: fn(&[u8]) -> String,
) -> CallResult {
    Ok(Typed::string(shown(&D::digest(args.text(0)))))
}

/// Computes the hash `D` of a file.
pub(super) fn of_file<D: Digest>(
    args: &CallArguments<'_>,
    shown: fn(&[u8]) -> String,
) -> CallResult {
    // Other functions of files blame the argument, these the call.
    let bytes =
        files::read(args.around, args.text(0), args.work).map_err(CallFault::without_argument)?;
    Ok(Typed::string(shown(&D::digest(bytes))))
}

pub(super) fn in_hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

pub(super) fn in_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
