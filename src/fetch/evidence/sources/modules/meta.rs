//! Loose markup: one element states the address of a module (rules 13.5).

/// Markup that is not read, since its characters are not in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OtherCharset;

/// Finds the `content` of the first `meta` element with the name `terraform-get`; the body of a page does not
/// count.
///
/// # Errors
/// If the text declares another charset than UTF-8 or ASCII, or is in none.
pub(super) fn terraform_get(bytes: &[u8]) -> Result<Option<String>, OtherCharset> {
    let text = std::str::from_utf8(bytes).map_err(|_| OtherCharset)?;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = behind(comment, "-->");
        } else if let Some(instruction) = rest.strip_prefix('?') {
            // The declaration of XML may state a charset.
            let declaration = instruction
                .split("?>")
                .next()
                .and_then(|text| text.strip_prefix("xml"));
            let (stated, _) = attributes(declaration.unwrap_or_default());
            let charset = value(&stated, "encoding").unwrap_or("utf-8");
            if !["utf-8", "ascii"]
                .iter()
                .any(|known| charset.eq_ignore_ascii_case(known))
            {
                return Err(OtherCharset);
            }
            rest = behind(instruction, "?>");
        } else if rest.starts_with('!') {
            rest = behind(rest, ">");
        } else if let Some(end) = rest.strip_prefix('/') {
            // The element counts in the head alone, as in go-getter (rules 13.5).
            if name_of(end).eq_ignore_ascii_case("head") {
                return Ok(None);
            }
            rest = behind(end, ">");
        } else {
            let name = name_of(rest);
            if name.eq_ignore_ascii_case("body") {
                return Ok(None);
            }
            let (attributes, behind) = attributes(&rest[name.len()..]);
            rest = behind;
            if name.eq_ignore_ascii_case("meta")
                && value(&attributes, "name") == Some("terraform-get")
                && let Some(content) = value(&attributes, "content")
                && !content.is_empty()
            {
                return Ok(Some(content.to_owned()));
            }
        }
    }
    Ok(None)
}

fn name_of(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || "/>=<\"'".contains(c));
    &text[..end.unwrap_or(text.len())]
}

fn behind<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, behind)| behind)
}

/// Reads attributes up to the end of their element; returns what follows it.
fn attributes(text: &str) -> (Vec<(&str, String)>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if let Some(behind) = rest.strip_prefix('>') {
            return (found, behind);
        }
        let name = name_of(rest);
        if name.is_empty() {
            // A stray character of another kind is passed over; a `<` begins the next element.
            match rest.chars().next() {
                Some('<') | None => return (found, rest),
                Some(stray) => rest = &rest[stray.len_utf8()..],
            }
            continue;
        }
        rest = rest[name.len()..].trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            found.push((name, String::new()));
            continue;
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| "\"'".contains(*c));
        let (value, behind) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => {
                let end = value.find(|c: char| c.is_whitespace() || c == '>');
                value.split_at(end.unwrap_or(value.len()))
            }
        };
        found.push((name, decoded(value)));
        rest = behind;
    }
}

fn value<'a>(attributes: &'a [(&str, String)], name: &str) -> Option<&'a str> {
    attributes
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| &**value)
}

/// Replaces the entities that a URL may need; an unknown one stays as it is.
fn decoded(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        found.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = rest[1..]
            .split_once(';')
            .and_then(|(name, behind)| Some((character(name)?, behind)));
        match entity {
            Some((character, behind)) => {
                found.push(character);
                rest = behind;
            }
            None => {
                found.push('&');
                rest = &rest[1..];
            }
        }
    }
    found + rest
}

fn character(name: &str) -> Option<char> {
    let code = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        name => name.strip_prefix('#')?,
    };
    let code = match code.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => code.parse().ok()?,
    };
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, found: Option<&str>) {
        assert_eq!(
            terraform_get(text.as_bytes()).expect("UTF-8").as_deref(),
            found,
            "of {text}"
        );
    }

    #[test]
    fn the_element_is_found_in_loose_markup() {
        let meta = "<meta name=\"terraform-get\" content=\"https://h/p.zip\">";
        let found = Some("https://h/p.zip");
        check(meta, found);
        check(
            &format!("<html><head>{meta}</head><body></body></html>"),
            found,
        );
        check(
            &format!("<!DOCTYPE html>\n<HTML><title>x</title><br>{meta}"),
            found,
        );
        check(&format!("<!-- {meta} --><?x?>{meta}"), found);
        check(
            "<META CONTENT='https://h/p.zip' Name = terraform-get />",
            found,
        );
        check(
            &format!("<meta name=terraform-get content=''>{meta}"),
            found,
        );
        check(&format!("<a b=\"c\" d <{}", &meta[1..]), found);
        check(
            "<meta name='terraform-get' content='h?a=1&amp;b=&#50;&#x33;&c;&d'>",
            Some("h?a=1&b=23&c;&d"),
        );
    }

    #[test]
    fn what_stands_elsewhere_does_not_count() {
        let meta = "<meta name=\"terraform-get\" content=\"x\">";
        check(&format!("<html><body>{meta}"), None);
        check(&format!("<head></head>{meta}"), None);
        check(&format!("<!-- {meta}"), None);
        check("<meta name=\"Terraform-Get\" content=\"x\">", None);
        check("<meta name=\"terraform-get\">", None);
        check("", None);
        check("<", None);
        check("<meta name=\"terraform-get\" content=\"", None);
    }

    #[test]
    fn other_charsets_are_refused() {
        let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><meta>";
        assert_eq!(terraform_get(text.as_bytes()), Err(OtherCharset));
        assert_eq!(terraform_get(b"PK\xff"), Err(OtherCharset));
        check("<?xml version=\"1.0\" encoding=\"UTF-8\"?><meta>", None);
    }
}
