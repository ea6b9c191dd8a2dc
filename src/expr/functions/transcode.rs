//! Functions that write the bytes of a text in other characters: base64 and percent encoding.

use std::io::Read as _;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use flate2::read::MultiGzDecoder;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{Fault, Function, Gives, Limits, Needs, Takes, files, text};
use crate::expr::typed::Typed;

type Ran = Result<Typed, Fault>;

/// The programs pass over bits that are left at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// What is escaped in the query of a URL.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs: Needs::Parts,
        gives: Gives::Text,
        run,
    }
}

const ONE: &[Takes] = &[Takes::Text];
const TWO: &[Takes] = &[Takes::Text, Takes::Text];

pub(super) const TABLE: &[Function] = &[
    of("base64decode", ONE, |args, _| {
        let bytes = from_base64(text(args, 0)).ok_or_else(|| refused("this is no base64"))?;
        in_utf8(bytes)
    }),
    of("base64encode", ONE, |args, _| {
        Ok(Typed::string(STANDARD.encode(text(args, 0))))
    }),
    of("base64gunzip", ONE, unzipped),
    of("filebase64", ONE, |args, limits| {
        let bytes = files::read(limits.around, text(args, 0), limits.work)?;
        Ok(Typed::string(STANDARD.encode(bytes)))
    }),
    of("textdecodebase64", TWO, |args, _| {
        let charset = charset(text(args, 1))?;
        let bytes = from_base64(text(args, 0));
        let bytes = bytes.ok_or_else(|| Fault::Argument(0, "this is no base64".to_owned()))?;
        let reason = "this has characters that the encoding has not";
        let decoded = charset.decode(&bytes)?;
        let decoded = decoded.filter(|text| !text.contains(char::REPLACEMENT_CHARACTER));
        let decoded = decoded.ok_or_else(|| Fault::Argument(0, reason.to_owned()))?;
        Ok(Typed::string(decoded))
    }),
    of("textencodebase64", TWO, |args, _| {
        let bytes = charset(text(args, 1))?.encode(text(args, 0));
        Ok(Typed::string(STANDARD.encode(bytes)))
    }),
    of("urldecode", ONE, |args, _| url_decoded(text(args, 0))),
    of("urlencode", ONE, |args, _| {
        let escaped = utf8_percent_encode(text(args, 0), QUERY).to_string();
        Ok(Typed::string(escaped.replace("%20", "+")))
    }),
];

fn refused(reason: &str) -> Fault {
    Fault::Call(reason.to_owned())
}

/// Decodes base64, which may have several lines.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.replace(['\n', '\r'], "")).ok()
}

fn in_utf8(bytes: Vec<u8>) -> Ran {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Typed::string(text)),
        Err(_) => Err(refused("the result is no UTF-8")),
    }
}

fn unzipped(args: &[Typed], limits: &Limits<'_>) -> Ran {
    let bytes = from_base64(text(args, 0)).ok_or_else(|| refused("this is no base64"))?;
    let most = u64::try_from(limits.work).unwrap_or(u64::MAX);
    let mut unzipped = Vec::new();
    let read = MultiGzDecoder::new(&*bytes)
        .take(most.saturating_add(1))
        .read_to_end(&mut unzipped);
    limits.allow(unzipped.len())?;
    match read {
        Ok(_) => in_utf8(unzipped),
        Err(_) if !bytes.starts_with(&[0x1f, 0x8b]) => Err(refused("this is no gzip")),
        Err(_) => Err(Fault::Uncertain("this gzip is damaged")),
    }
}

/// A character set other than that of the language.
enum Charset {
    Utf8,
    Utf16(fn([u8; 2]) -> u16, fn(u16) -> [u8; 2]),
}

/// Finds a character set. The programs have all that are registered.
fn charset(name: &str) -> Result<Charset, Fault> {
    match &*name.to_ascii_lowercase() {
        "utf-8" => Ok(Charset::Utf8),
        "utf-16le" => Ok(Charset::Utf16(u16::from_le_bytes, u16::to_le_bytes)),
        "utf-16be" => Ok(Charset::Utf16(u16::from_be_bytes, u16::to_be_bytes)),
        _ => Err(Fault::Uncertain("this character set")),
    }
}

impl Charset {
    fn encode(&self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16(_, write) => text.encode_utf16().flat_map(write).collect(),
        }
    }

    /// Decodes a text; `None` if something in it is no character.
    fn decode(&self, bytes: &[u8]) -> Result<Option<String>, Fault> {
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
                Err(Fault::Uncertain("this begins with a byte order mark"))
            }
            other => Ok(other),
        }
    }
}

fn url_decoded(text: &str) -> Ran {
    let is_escape = |rest: &str| {
        let digits = rest.get(..2).unwrap_or_default();
        digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    if !text.split('%').skip(1).all(is_escape) {
        return Err(refused("invalid URL escape"));
    }
    let spaced = text.replace('+', " ");
    match percent_decode_str(&spaced).decode_utf8() {
        Ok(decoded) => Ok(Typed::string(decoded)),
        Err(_) => Err(Fault::Uncertain("the result is no UTF-8")),
    }
}
