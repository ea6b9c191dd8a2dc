//! Paths of Go modules, compared case-insensitively.

/// Prefix of the names of provider repositories.
const PROVIDER_PREFIX: &str = "terraform-provider-";

/// The path of a Go module, split into base and major suffix (rules 3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoModulePath {
    /// The path in lower case, without a suffix.
    base: Box<str>,
    /// The number of the suffix `/vN`, if there is one.
    major: Option<u64>,
    /// The path as written.
    text: Box<str>,
}

impl GoModulePath {
    /// Makes a path of any text; nothing is checked.
    pub fn new(text: &str) -> Self {
        let suffix = text.rsplit_once("/v").and_then(|(base, number)| {
            // `parse` alone would also accept a sign, as in `/v+2`.
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            Some((base, number.parse().ok().filter(|_| is_number)?))
        });
        let (base, major) = match suffix {
            Some((base, major)) => (base, Some(major)),
            None => (text, None),
        };
        Self {
            // Hosts and GitHub ignore case, and publishers spell their own names in several ways.
            base: base.to_lowercase().into(),
            major,
            text: text.into(),
        }
    }

    /// Returns the path in lower case, without its major suffix.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the number of the suffix `/vN`, if there is one.
    pub fn major(&self) -> Option<u64> {
        self.major
    }

    /// Returns the path as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the provider type in the name of the module, in lower case.
    pub fn provider_type(&self) -> Option<&str> {
        let (_, name) = self.base.rsplit_once('/')?;
        name.strip_prefix(PROVIDER_PREFIX)
    }

    /// Returns true if both the bases and the suffixes are the same.
    pub fn is_same(&self, other: &Self) -> bool {
        self.base == other.base && self.major == other.major
    }

    /// Returns true if the path begins with a host, as the paths of published modules do.
    pub fn has_host(&self) -> bool {
        let (host, _) = self.base.split_once('/').unwrap_or((&self.base, ""));
        host.contains('.') && !host.starts_with('.')
    }
}

/// Returns the base of the path of a provider's module on GitHub.
pub(super) fn on_github(namespace: &str, type_name: &str) -> String {
    format!("github.com/{namespace}/{PROVIDER_PREFIX}{type_name}").to_lowercase()
}
