//! The grammar of URLs as the library of both programs reads it: looser than the one for requests.

use super::query;

/// The form that the grammar of RFC 3986 gives to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlForm {
    WithScheme,
    /// A text that could be a reference to something below another URL.
    WithoutScheme,
    Bad,
}

/// Finds out what a text is.
pub(super) fn form_of(text: &str) -> UrlForm {
    // A control character is bad at any position.
    if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return UrlForm::Bad;
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if query::unescape(fragment).is_none() {
        return UrlForm::Bad;
    }
    let Ok((scheme, rest)) = scheme_of(text) else {
        return UrlForm::Bad;
    };
    let form = match scheme {
        Some(_) => UrlForm::WithScheme,
        None => UrlForm::WithoutScheme,
    };
    let path = rest.split('?').next().unwrap_or_default();
    if !path.starts_with('/') {
        let first = path.split('/').next().unwrap_or_default();
        return match scheme {
            Some(_) => form,
            // The colon could be taken for that of a scheme (RFC 3986, 4.2).
            None if first.contains(':') => UrlForm::Bad,
            None => form_of_path(path, form),
        };
    }
    // Without a scheme three slashes begin a path, not an empty host.
    let has_authority = scheme.is_some() || !path.starts_with("///");
    match path.strip_prefix("//").filter(|_| has_authority) {
        Some(rest) => {
            let (authority, _) = rest.split_once('/').unwrap_or((rest, ""));
            if !is_authority(authority) {
                return UrlForm::Bad;
            }
            form_of_path(&rest[authority.len()..], form)
        }
        None => form_of_path(path, form),
    }
}

fn form_of_path(path: &str, form: UrlForm) -> UrlForm {
    match query::unescape(path) {
        Some(_) => form,
        None => UrlForm::Bad,
    }
}

/// Splits off the scheme; `Err` for a colon without one.
fn scheme_of(text: &str) -> Result<(Option<&str>, &str), ()> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at > 0 => return Ok((Some(&text[..at]), &text[at + 1..])),
            b':' => return Err(()),
            _ => break,
        }
    }
    Ok((None, text))
}

fn is_authority(text: &str) -> bool {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", text),
    };
    let in_user = |b: u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b);
    let good_user = user.bytes().all(in_user) && query::unescape(user).is_some();
    let port = match host.strip_prefix('[') {
        // The text in the brackets is not checked here; a request to the host fails if it is no address.
        Some(rest) => match rest.rsplit_once(']') {
            Some((_, port)) => port,
            None => return false,
        },
        None => host.rfind(':').map_or("", |at| &host[at..]),
    };
    let good_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    good_user && good_port && host.bytes().all(in_host)
}

fn in_host(byte: u8) -> bool {
    !byte.is_ascii() || query::is_unreserved(byte) || b"!$&'()*+,;=:[]<>\"".contains(&byte)
}

/// Prints the path of a URL whose text was not changed.
pub(super) fn path_as_written(path: &str) -> Option<String> {
    let decoded = query::unescape(path)?;
    let stands = |b: u8| in_path(b) || b"!'()*[]%".contains(&b);
    if path.bytes().all(stands) {
        return Some(path.to_owned());
    }
    Some(escaped_path(&decoded))
}

/// Prints a decoded path.
pub(super) fn escaped_path(decoded: &[u8]) -> String {
    let mut text = String::with_capacity(decoded.len());
    for byte in decoded {
        query::push_escaped(&mut text, *byte, in_path(*byte));
    }
    text
}

/// Prints a host that was taken from some text.
pub(super) fn escaped_host(host: &str) -> String {
    let mut text = String::with_capacity(host.len());
    for byte in host.bytes() {
        if byte.is_ascii() {
            query::push_escaped(&mut text, byte, in_host(byte));
        } else {
            query::push_escaped(&mut text, byte, false);
        }
    }
    text
}

fn in_path(byte: u8) -> bool {
    query::is_unreserved(byte) || b"$&+,/:;=@".contains(&byte)
}

/// Brings a path with slashes to its shortest form, as both programs do: `.`, `..` and double slashes
/// are resolved as far as the path alone shows; an empty path is `.`.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if *last != ".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(".."),
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, form: UrlForm) {
        assert_eq!(form_of(text), form, "{text:?}");
    }

    #[test]
    fn the_grammar_is_loose() {
        for text in [
            "https://h/a b",
            "C:\\m",
            "git::",
            "a.b:o/r",
            "file://./m",
            "https://u:p@h:8443/x",
            "https://[::1]:80/",
            "s:%zz",
            "https://h:/x",
        ] {
            check(text, UrlForm::WithScheme);
        }
        for text in ["", "m", "/abs", "a/b:c", "//h/x", "///x", "m?a:b", "1a"] {
            check(text, UrlForm::WithoutScheme);
        }
        for text in [
            "a\nb",
            ":x",
            "a@b:c",
            "https://h:o/r",
            "https://h/%zz",
            "https://h#%",
            "https://a b/",
            "https://[::1/",
            "https://[::1]x/",
            "https://u ser@h/",
            "%",
        ] {
            check(text, UrlForm::Bad);
        }
    }

    #[test]
    fn paths_are_cleaned() {
        for (path, clean_path) in [
            ("", "."),
            ("a//b/./c/..", "a/b"),
            ("../..//x", "../../x"),
            ("/../a/", "/a"),
            ("a/..", "."),
            ("a/../../b", "../b"),
        ] {
            assert_eq!(clean(path), clean_path, "of {path:?}");
        }
    }

    #[test]
    fn paths_keep_their_escapes_where_those_are_good() {
        for (path, printed) in [
            ("/a%2Fb", "/a%2Fb"),
            ("/a b", "/a%20b"),
            ("/a*(b)", "/a*(b)"),
            ("/é", "/%C3%A9"),
        ] {
            assert_eq!(path_as_written(path).as_deref(), Some(printed));
        }
        assert_eq!(path_as_written("/%z"), None);
        assert_eq!(escaped_host("a/b é"), "a%2Fb%20%C3%A9");
    }
}
