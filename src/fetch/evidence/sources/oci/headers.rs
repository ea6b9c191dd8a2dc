//! The header fields that a registry of OCI artifacts answers with.

use std::collections::BTreeMap;

/// The authentication scheme that a registry demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// By a user and a password.
    Basic,
    /// By a token that is to be had elsewhere.
    Bearer {
        realm: String,
        /// The name of the service, in words of the registry.
        service: Option<String>,
    },
}

/// Maximum number of characters that are read of a field; real ones have some hundreds.
const MAX_CHARS: usize = 8 * 1024;

/// Reads the fields `WWW-Authenticate`; a token is preferred to a password.
///
/// # Errors
/// In words, if no known scheme is among them.
pub(super) fn challenge<'a>(fields: impl Iterator<Item = &'a str>) -> Result<Challenge, String> {
    let mut basic = None;
    let mut other = None;
    for field in fields {
        for (scheme, parameters) in schemes(field) {
            let get = |name: &str| parameters.get(name).cloned();
            match (scheme.to_ascii_lowercase().as_str(), get("realm")) {
                ("bearer", Some(realm)) => {
                    return Ok(Challenge::Bearer {
                        realm,
                        service: get("service"),
                    });
                }
                ("bearer", None) => {
                    other = Some("it names no place for tokens".to_owned());
                }
                ("basic", _) => basic = Some(Challenge::Basic),
                (name, _) => other = Some(format!("its scheme is {name:?}")),
            }
        }
    }
    basic.ok_or_else(|| other.unwrap_or_else(|| "it names no scheme".to_owned()))
}

/// Splits a field into schemes with their parameters, the names of these in lower case.
fn schemes(field: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut found: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    let mut rest: &str = match field.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => &field[..end],
        None => field,
    };
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=', '"']).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if word.is_empty() {
            // Nothing, or something that has no meaning here.
            return found;
        }
        let Some(value) = behind.trim_start().strip_prefix('=') else {
            found.push((word.to_owned(), BTreeMap::new()));
            rest = behind;
            continue;
        };
        let (value, behind) = value_of(value.trim_start());
        if let Some((_, parameters)) = found.last_mut() {
            parameters.entry(word.to_ascii_lowercase()).or_insert(value);
        }
        rest = behind;
    }
}

/// Reads a value, in quotes or not; returns it with what follows.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

/// Finds the next page in fields `Link`: what is marked as next, or the first link without any mark.
pub(super) fn next_page<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    fields.find_map(|field| {
        field
            .split('<')
            .skip(1)
            .filter_map(|link| link.split_once('>'))
            .find(|(_, parameters)| {
                let relation = parameters.split([';', ',']).find_map(|parameter| {
                    let (name, value) = parameter.split_once('=')?;
                    let is_relation = name.trim().eq_ignore_ascii_case("rel");
                    is_relation.then(|| value_of(value.trim()).0)
                });
                relation.is_none_or(|relation| {
                    relation
                        .split_whitespace()
                        .any(|word| word.eq_ignore_ascii_case("next"))
                })
            })
            .map(|(target, _)| target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &[&str], want: Result<Challenge, &str>) {
        let found = challenge(fields.iter().copied());
        assert_eq!(found, want.map_err(str::to_owned), "{fields:?}");
    }

    fn bearer(realm: &str, service: Option<&str>) -> Challenge {
        Challenge::Bearer {
            realm: realm.to_owned(),
            service: service.map(str::to_owned),
        }
    }

    #[test]
    fn challenges_are_read() {
        check(&["Basic realm=\"lab\""], Ok(Challenge::Basic));
        check(&["basic"], Ok(Challenge::Basic));
        check(
            &["Bearer realm=\"https://a.example/token\",service=\"lab\", scope=\"x:y:pull,push\""],
            Ok(bearer("https://a.example/token", Some("lab"))),
        );
        check(
            &["BEARER Service=lab , realm=\"https://a.example/t?a=\\\"b\\\"\""],
            Ok(bearer("https://a.example/t?a=\"b\"", Some("lab"))),
        );
        check(
            &[
                "Negotiate",
                "Basic realm=\"x, Bearer realm=y\", Bearer realm=\"https://t\"",
            ],
            Ok(bearer("https://t", None)),
        );
        check(&["Negotiate abc==, Basic"], Ok(Challenge::Basic));
        check(&["Bearer"], Err("it names no place for tokens"));
        check(&["Digest realm=\"x\""], Err("its scheme is \"digest\""));
        check(&[], Err("it names no scheme"));
        check(&["", "=x", "\"open"], Err("it names no scheme"));
        check(&["Basic realm=\"open"], Ok(Challenge::Basic));
    }

    #[test]
    fn next_pages_are_found() {
        let next = |fields: &[&'static str]| next_page(fields.iter().copied());
        assert_eq!(
            next(&["</v2/a/tags/list?last=1>; rel=\"next\""]),
            Some("/v2/a/tags/list?last=1")
        );
        assert_eq!(next(&["<b>"]), Some("b"));
        assert_eq!(
            next(&["<a>; rel=prev, <b>; title=\"x\"; rel=\"last next\""]),
            Some("b")
        );
        assert_eq!(next(&["<a>; rel=prev", "<b,c>;REL=Next"]), Some("b,c"));
        assert_eq!(next(&["<a>; rel=prev"]), None);
        assert_eq!(next(&["<a>; rel = \"prev\"; title=\"next\""]), None);
        assert_eq!(next(&["<a", "a>", ""]), None);
        assert_eq!(next(&[]), None);
    }
}
