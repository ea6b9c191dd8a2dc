//! The query of a package address: read and written as the programs do it (rules 5.8).

/// The arguments of a query in the order of the text, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    arguments: Vec<(String, String)>,
}

/// A query that cannot be read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the query has a bad escape or a semicolon")]
pub struct QueryError;

impl Query {
    /// Reads a query without its question mark.
    ///
    /// # Errors
    /// If an argument has a bad escape or a semicolon, or is no text once decoded.
    ///
    /// ```
    /// use lockctl_core::addr::module::Query;
    ///
    /// let query = Query::parse("b=x+y&a=%2F")?;
    /// assert_eq!(query.encode(), "a=%2F&b=x+y");
    /// # Ok::<(), lockctl_core::addr::module::QueryError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let arguments = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| argument(pair).ok_or(QueryError))
            .collect::<Result<_, _>>()?;
        Ok(Self { arguments })
    }

    /// Reads a query and leaves out the arguments that cannot be read.
    #[must_use]
    pub fn parse_readable(text: &str) -> Self {
        let arguments = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .filter_map(argument)
            .collect();
        Self { arguments }
    }

    /// Returns the first value of an argument.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.arguments()
            .find(|(argument, _)| *argument == name)
            .map(|(_, value)| value)
    }

    /// Removes all values of an argument.
    pub fn remove(&mut self, name: &str) {
        self.arguments.retain(|(other, _)| other != name);
    }

    /// Sets an argument to one value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.arguments.push((name.to_owned(), value.to_owned()));
    }

    /// Lists the arguments in the order of the text.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &str)> {
        self.arguments
            .iter()
            .map(|(name, value)| (&**name, &**value))
    }

    /// Returns the text of the query: sorted by name, each name with `=`.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut sorted = Vec::from_iter(&self.arguments);
        // Stable: values of one name keep their order.
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        sorted
            .iter()
            .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
            .collect::<Vec<_>>()
            .join("&")
    }
}

fn argument(pair: &str) -> Option<(String, String)> {
    // To the programs a semicolon makes the argument unreadable (rules 5.8).
    if pair.contains(';') {
        return None;
    }
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    Some((decode(name)?, decode(value)?))
}

fn decode(text: &str) -> Option<String> {
    // Queries are read as in forms, where `+` is a blank (rules 5.8).
    String::from_utf8(unescape(&text.replace('+', " "))?).ok()
}

/// Decodes `%XX`; `None` for a bad escape.
pub(super) fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    Some(decoded)
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => escaped.push('+'),
            byte => push_escaped(&mut escaped, byte, is_unreserved(byte)),
        }
    }
    escaped
}

/// Returns whether a byte never needs an escape.
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

/// Appends a byte, escaped unless `stands` is true.
pub(super) fn push_escaped(text: &mut String, byte: u8, stands: bool) {
    if stands {
        text.push(char::from(byte));
    } else {
        text.push_str(&format!("%{byte:02X}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, encoded: &str) {
        assert_eq!(
            Query::parse_readable(given).encode(),
            encoded,
            "of {given:?}"
        );
    }

    #[test]
    fn arguments_are_sorted_and_encoded_again() {
        check("z=1&a=x+y", "a=x+y&z=1");
        check("a=2&a=1&b", "a=2&a=1&b=");
        check("a=x%20y/é&&", "a=x+y%2F%C3%A9");
        check("a=%zz&b=1;2&c=%ff&d=%4", "");
        check("", "");
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for bad in ["a=%zz", "a;b", "%"] {
            assert_eq!(Query::parse(bad), Err(QueryError), "{bad:?}");
        }
    }

    #[test]
    fn the_first_value_counts() {
        let mut query = Query::parse_readable("ref=a&ref=b&x=1");
        assert_eq!(query.get("ref"), Some("a"));
        query.set("x", "2");
        query.remove("ref");
        assert_eq!(query.arguments().collect::<Vec<_>>(), [("x", "2")]);
    }
}
