//! Checksum files, which `checksum=file:URL` names (rules 13.3).

use crate::addr::Url;
use crate::hash::Checksum;
use crate::sources::FetchError;
use crate::sources::net::{Ask, HOPS, Net, Redirects};

/// Maximum size of a checksum file, in bytes.
const MAX_SUMS_BYTES: u64 = 1024 * 1024;

/// Fetches a checksum file and returns the checksum of a file by its name; `None` if it has none for it.
///
/// # Errors
/// If the file cannot be fetched.
pub fn checksum_of(net: &Net<'_>, url: &Url, name: &str) -> Result<Option<Checksum>, FetchError> {
    let credentials = (net.package_credentials)(url);
    let ask = Ask {
        url,
        headers: &[],
        credentials: credentials.as_ref(),
        hops: HOPS,
        limit: MAX_SUMS_BYTES,
        timeout: net.policy.document_timeout,
        redirects: Redirects::NoDowngrade,
    };
    let answer = net.document(&ask, net.policy.packages())?;
    if answer.status != 200 {
        return Err(answer.refusal());
    }
    Ok(find(&String::from_utf8_lossy(&answer.body), name))
}

/// Finds the line of a name: `DIGITS  NAME`, `DIGITS *NAME`, `KIND (NAME) = DIGITS`, or digits alone.
fn find(text: &str, name: &str) -> Option<Checksum> {
    text.lines().find_map(|line| {
        let line = line.trim();
        let (digits, listed) = match line.split_once(" = ") {
            Some((head, digits)) => {
                let (kind, listed) = head.split_once(" (")?;
                (format!("{kind}:{digits}"), listed.strip_suffix(')')?)
            }
            None => match line.split_once(char::is_whitespace) {
                Some((digits, listed)) => (digits.to_owned(), listed.trim_start()),
                // A list of a single checksum without a name applies to any file.
                None => (line.to_owned(), name),
            },
        };
        // `sha256sum --binary` marks a name by `*`, and `find` writes `./` before it.
        let listed = listed.strip_prefix('*').unwrap_or(listed);
        let listed = listed.strip_prefix("./").unwrap_or(listed);
        (listed == name).then(|| Checksum::parse(&digits).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_name_is_found() {
        let digits = "900150983cd24fb0d6963f7d28e17f72";
        let wanted = Checksum::parse(digits).ok();
        for text in [
            format!("{digits}  p.zip\n"),
            format!("00  other\n{digits} *./p.zip"),
            format!("MD5 (p.zip) = {digits}\n"),
            format!("{digits}\n"),
        ] {
            assert_eq!(find(&text, "p.zip"), wanted, "in {text}");
        }
        for text in ["", "x  p.zip", "MD5 (q.zip) = 00", "MD5 p.zip = 00", " = "] {
            assert_eq!(find(text, "p.zip"), None, "in {text}");
        }
    }
}
