//! Functions that write the bytes of a text in other characters: base64 and percent encoding.

use std::io::Read as _;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use flate2::read::MultiGzDecoder;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::arguments::{CallArguments, CallFault, CallResult};
use super::files;
use crate::expr::typed::Typed;

/// Decodes as Go does, which ignores bits that are left at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The characters that are escaped in the query of a URL.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

const NO_BASE64: &str = "this is no base64";

/// Decodes base64, which may have several lines.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.replace(['\n', '\r'], "")).ok()
}

fn in_utf8(bytes: Vec<u8>) -> CallResult {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Typed::string(text)),
        Err(_) => Err(CallFault::call("the result is no UTF-8")),
    }
}

pub(super) fn base64_decode(args: &CallArguments<'_>) -> CallResult {
    in_utf8(from_base64(args.text(0)).ok_or_else(|| CallFault::call(NO_BASE64))?)
}

pub(super) fn base64_encode(args: &CallArguments<'_>) -> CallResult {
    Ok(Typed::string(STANDARD.encode(args.text(0))))
}

pub(super) fn base64_gunzip(args: &CallArguments<'_>) -> CallResult {
    let bytes = from_base64(args.text(0)).ok_or_else(|| CallFault::call(NO_BASE64))?;
    let limit = u64::try_from(args.work).unwrap_or(u64::MAX);
    let mut unzipped = Vec::new();
    let read = MultiGzDecoder::new(&*bytes)
        .take(limit.saturating_add(1))
        .read_to_end(&mut unzipped);
    // A few bytes of gzip may unpack to gigabytes: no more than the limit is read.
    args.allow(unzipped.len())?;
    match read {
        Ok(_) => in_utf8(unzipped),
        Err(_) if !bytes.starts_with(&[0x1f, 0x8b]) => Err(CallFault::call("this is no gzip")),
        Err(_) => Err(CallFault::Uncertain("this gzip is damaged")),
    }
}

pub(super) fn filebase64(args: &CallArguments<'_>) -> CallResult {
    let bytes = files::read(args.around, args.text(0), args.work)?;
    Ok(Typed::string(STANDARD.encode(bytes)))
}

pub(super) fn textdecodebase64(args: &CallArguments<'_>) -> CallResult {
    let charset = Charset::of_name(args.text(1))?;
    let bytes = from_base64(args.text(0)).ok_or_else(|| CallFault::argument(0, NO_BASE64))?;
    let text = charset
        .decode(&bytes)?
        // The programs cannot tell it from a character that failed.
        .filter(|text| !text.contains(char::REPLACEMENT_CHARACTER));
    text.map(Typed::string)
        .ok_or_else(|| CallFault::argument(0, "this has characters that the encoding has not"))
}

pub(super) fn textencodebase64(args: &CallArguments<'_>) -> CallResult {
    let bytes = Charset::of_name(args.text(1))?.encode(args.text(0));
    Ok(Typed::string(STANDARD.encode(bytes)))
}

/// A character set by its IANA name.
enum Charset {
    Utf8,
    Utf16(fn([u8; 2]) -> u16, fn(u16) -> [u8; 2]),
}

impl Charset {
    /// Finds a character set. The programs have all that IANA has registered.
    fn of_name(name: &str) -> CallResult<Self> {
        match &*name.to_ascii_lowercase() {
            "utf-8" => Ok(Self::Utf8),
            "utf-16le" => Ok(Self::Utf16(u16::from_le_bytes, u16::to_le_bytes)),
            "utf-16be" => Ok(Self::Utf16(u16::from_be_bytes, u16::to_be_bytes)),
            _ => Err(CallFault::Uncertain("this character set")),
        }
    }

    fn encode(&self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16(_, write) => text.encode_utf16().flat_map(write).collect(),
        }
    }

    /// Decodes a text; `None` if some bytes are no character.
    fn decode(&self, bytes: &[u8]) -> CallResult<Option<String>> {
        let decoded = match self {
            Self::Utf8 => str::from_utf8(bytes).map(str::to_owned).ok(),
            Self::Utf16(read, _) => {
                let (pairs, rest) = bytes.as_chunks::<2>();
                let units: Vec<u16> = pairs.iter().map(|pair| read(*pair)).collect();
                String::from_utf16(&units).ok().filter(|_| rest.is_empty())
            }
        };
        match decoded {
            Some(text) if text.starts_with('\u{feff}') => {
                Err(CallFault::Uncertain("this begins with a byte order mark"))
            }
            other => Ok(other),
        }
    }
}

pub(super) fn urldecode(args: &CallArguments<'_>) -> CallResult {
    let text = args.text(0);
    let is_escape = |rest: &str| {
        let digits = rest.get(..2).unwrap_or_default();
        digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    if !text.split('%').skip(1).all(is_escape) {
        return Err(CallFault::call("invalid URL escape"));
    }
    match percent_decode_str(&text.replace('+', " ")).decode_utf8() {
        Ok(decoded) => Ok(Typed::string(decoded)),
        Err(_) => Err(CallFault::Uncertain("the result is no UTF-8")),
    }
}

pub(super) fn urlencode(args: &CallArguments<'_>) -> CallResult {
    // A space is `+` in a query.
    let escaped = utf8_percent_encode(args.text(0), QUERY).to_string();
    Ok(Typed::string(escaped.replace("%20", "+")))
}
