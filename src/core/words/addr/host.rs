//! Hostnames in their two forms: Unicode for people and files, ASCII for order and requests.

use std::cmp::Ordering;
use std::fmt;

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};

/// A hostname with an optional port, in normal form.
///
/// Shown in Unicode, ordered and compared by its ASCII (punycode) form with the port, as lock
/// files are sorted (rules 2.1).
#[derive(Clone, Debug)]
pub struct Hostname {
    ascii: Box<str>,
    unicode: Box<str>,
}

/// A text that is no hostname.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no hostname")]
pub struct HostnameError {
    text: String,
}

/// The dots that UTS 46 maps to a full stop.
const DOTS: [char; 4] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

impl Hostname {
    /// Reads a hostname as [`FromStr`](std::str::FromStr) does, but takes labels in lower-case
    /// punycode as well: names of variables are often written so (`cliconfig` rules 4.2).
    ///
    /// # Errors
    /// If it is no hostname.
    ///
    /// ```
    /// use lockctl_core::addr::Hostname;
    ///
    /// assert_eq!(Hostname::parse_either("xn--caf-dma.example")?, "café.example".parse()?);
    /// # Ok::<(), lockctl_core::addr::HostnameError>(())
    /// ```
    pub fn parse_either(text: &str) -> Result<Self, HostnameError> {
        // The check for punycode looks at lower case only.
        text.split('.')
            .map(|label| match label.strip_prefix("xn--") {
                Some(rest) => format!("XN--{rest}"),
                None => label.to_owned(),
            })
            .collect::<Vec<_>>()
            .join(".")
            .parse()
    }

    /// Returns the form that files and messages show, as in `café.example:8443`.
    #[must_use]
    pub fn unicode(&self) -> &str {
        &self.unicode
    }

    /// Returns the form that requests and sorting use, as in `xn--caf-dma.example:8443`.
    #[must_use]
    pub fn ascii(&self) -> &str {
        &self.ascii
    }
}

impl std::str::FromStr for Hostname {
    type Err = HostnameError;

    /// Reads a hostname and brings it to normal form: lower case, UTS 46 mapping, port 443 left
    /// out, leading zeros of a port dropped (rules 2).
    ///
    /// A label in lower-case punycode is refused, one that starts with `XN--` is not.
    ///
    /// ```
    /// use lockctl_core::addr::Hostname;
    ///
    /// let host: Hostname = "CAFÉ.example:443".parse()?;
    /// assert_eq!((host.unicode(), host.ascii()), ("café.example", "xn--caf-dma.example"));
    /// # Ok::<(), lockctl_core::addr::HostnameError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, HostnameError> {
        let error = || HostnameError {
            text: text.to_owned(),
        };
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, port_suffix(port).ok_or_else(error)?),
            None => (text, String::new()),
        };
        // Both programs keep punycode out, so that one host has one spelling in files (rules 2).
        if name.split(DOTS).any(|label| label.starts_with("xn--")) {
            return Err(error());
        }
        // A trailing dot is kept, and makes another host (rules 2.4).
        let rooted = name.trim_end_matches(DOTS);
        let dots = ".".repeat(name[rooted.len()..].chars().count());
        // A single `XN--` means an empty label, which both programs let through.
        let unicode = map(rooted, Hyphens::Check).ok_or_else(error)?;
        let well_formed = |label: &str| {
            !label.is_empty() && label.chars().all(|c| !c.is_ascii() || is_label_char(c))
        };
        if !unicode.split('.').all(well_formed) {
            return Err(error());
        }
        let ascii = if unicode.is_ascii() {
            unicode.clone()
        } else {
            let mapped = Uts46::new().to_ascii(
                unicode.as_bytes(),
                AsciiDenyList::EMPTY,
                Hyphens::Check,
                idna::uts46::DnsLength::Ignore,
            );
            mapped.map_err(|_| error())?.into_owned()
        };
        Ok(Self {
            ascii: format!("{ascii}{dots}{port}").into(),
            unicode: format!("{unicode}{dots}{port}").into(),
        })
    }
}

/// Returns the port with its colon in normal form; nothing for 443.
fn port_suffix(text: &str) -> Option<String> {
    // Both programs read the number with an optional plus sign.
    let digits = text.strip_prefix('+').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let port: u16 = if significant.is_empty() {
        0
    } else {
        significant.parse().ok()?
    };
    // The default port is left out, however it was written (rules 2.3).
    Some(if port == 443 {
        String::new()
    } else {
        format!(":{port}")
    })
}

/// Applies the UTS 46 mapping, non-transitional, to Unicode.
pub(super) fn map(text: &str, hyphens: Hyphens) -> Option<String> {
    let (mapped, verdict) = Uts46::new().to_unicode(text.as_bytes(), AsciiDenyList::EMPTY, hyphens);
    verdict.ok()?;
    Some(mapped.into_owned())
}

/// Returns whether an ASCII character may be in a label in normal form.
pub(super) fn is_label_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unicode)
    }
}

impl PartialEq for Hostname {
    fn eq(&self, other: &Self) -> bool {
        self.ascii == other.ascii
    }
}

impl Eq for Hostname {}

impl PartialOrd for Hostname {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hostname {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ascii.cmp(&other.ascii)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, unicode: &str) {
        assert_eq!(
            given.parse::<Hostname>().expect("valid").unicode(),
            unicode,
            "from {given:?}"
        );
    }

    #[test]
    fn normal_form_is_that_of_the_programs() {
        check("Example.COM", "example.com");
        check("example.com:08443", "example.com:8443");
        check("example.com:00443", "example.com");
        check("example.com:+1", "example.com:1");
        check("example.com:0", "example.com:0");
        check("example.com.", "example.com.");
        check("XN--caf-dma.example", "café.example");
        check("a.Xn--caf-dma", "a.café");
        check("straße.example", "straße.example");
        check("a。b", "a.b");
        check("127.0.0.1", "127.0.0.1");
        check(&"x".repeat(70), &"x".repeat(70));
    }

    #[test]
    fn what_the_programs_refuse_is_refused() {
        let refused = [
            "",
            ".",
            ".com",
            "a..b",
            "-a.com",
            "a-.com",
            "ab--cd.com",
            "exa_mple.com",
            "[",
            "[::1]",
            "xn--caf-dma.example",
            "a:",
            "a:x",
            "a:65536",
            "a:-1",
            "a:99999999999999999999",
            "a b",
            "١.com",
            "אa.com",
            "a\u{200c}b.com",
        ];
        for text in refused {
            assert!(text.parse::<Hostname>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn punycode_is_read_where_it_is_asked_for() {
        let read = |text| Hostname::parse_either(text).map(|host| host.to_string());
        assert_eq!(
            read("xn--caf-dma.Example:443").as_deref(),
            Ok("café.example")
        );
        assert_eq!(read("a.café:1").as_deref(), Ok("a.café:1"));
        for text in ["", "xn--\u{e9}.com", "xn--a-.com", "a..b", "xn--a:x"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn order_is_that_of_the_ascii_form() {
        let mut hosts: Vec<Hostname> = [
            "y.example",
            "été.example",
            "example.com:8443",
            "example.com.au",
            "example.com",
        ]
        .iter()
        .map(|text| text.parse().expect("valid"))
        .collect();
        hosts.sort();
        let sorted: Vec<&str> = hosts.iter().map(Hostname::unicode).collect();
        assert_eq!(
            sorted,
            [
                "example.com",
                "example.com.au",
                "example.com:8443",
                "été.example",
                "y.example"
            ]
        );
    }
}
