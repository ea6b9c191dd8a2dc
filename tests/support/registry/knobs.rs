//! What a registry does differently from a good one: knobs, and rules for single requests.
//!
//! Names and meanings are those of the recorded scenarios, whose `knobs` can be passed as they are.

use serde_json::{Map, Value};

use super::keys::{SignWith, TestKey};
use super::route::Kind;

/// How a registry behaves.
#[derive(Clone, Debug)]
pub(crate) struct Knobs {
    /// How many hops lead to a package.
    pub(crate) redirects: u64,
    /// The bearer token wanted below `/v1/`.
    pub(crate) token: Option<String>,
    /// Compresses documents for clients that accept it.
    pub(crate) gzip: bool,
    /// Serves parts of packages.
    pub(crate) ranges: bool,
    /// Writes URLs without an origin into download documents.
    pub(crate) relative_urls: bool,
    /// Adds hashes and sizes of all platforms to download documents.
    pub(crate) packages: bool,
    /// Which schemes of hashes the network mirror states.
    pub(crate) mirror_hashes: Vec<String>,
    /// Announces no keys, whatever `keys` says.
    pub(crate) no_keys: bool,
    /// The announced keys.
    pub(crate) keys: Vec<TestKey>,
    pub(crate) sign_with: SignWith,
    /// That field of every announced key.
    pub(crate) trust_signature: String,
    /// Edits of SHA256SUMS before it is signed.
    pub(crate) sums: Vec<String>,
    rules: Vec<Rule>,
}

/// What is done to one answer, as a recorded rule states it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) action: String,
    fields: Map<String, Value>,
}

/// A fault with the requests that it befalls.
#[derive(Clone, Debug)]
struct Rule {
    /// Empty for all of them.
    kinds: Vec<String>,
    /// A part of the path.
    path: String,
    method: Option<String>,
    skip: u64,
    /// How many more requests; `None` for all of them.
    left: Option<u64>,
    fault: Fault,
}

impl Knobs {
    /// A registry that does everything right.
    pub(crate) fn good() -> Self {
        Self {
            redirects: 0,
            token: None,
            gzip: true,
            ranges: true,
            relative_urls: false,
            packages: false,
            mirror_hashes: vec!["zh".to_owned(), "h1".to_owned()],
            no_keys: false,
            keys: vec![TestKey::Main],
            sign_with: SignWith::Main,
            trust_signature: String::new(),
            sums: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Reads a JSON object of knobs; what it does not mention is as in a good registry.
    pub(crate) fn parse(given: &Value) -> Self {
        let mut knobs = Self::good();
        let given = given.as_object().cloned().unwrap_or_default();
        for (name, value) in &given {
            match name.as_str() {
                "redirects" => knobs.redirects = value.as_u64().unwrap(),
                "token" => knobs.token = value.as_str().map(str::to_owned),
                "gzip" => knobs.gzip = value.as_bool().unwrap(),
                "ranges" => knobs.ranges = value.as_bool().unwrap(),
                "relative_urls" => knobs.relative_urls = value.as_bool().unwrap(),
                "packages" => knobs.packages = value.as_bool().unwrap(),
                "mirror_hashes" => knobs.mirror_hashes = texts(value).map(str::to_owned).collect(),
                "no_keys" => knobs.no_keys = value.as_bool().unwrap(),
                "keys" => knobs.keys = texts(value).map(TestKey::named).collect(),
                "sign_with" => knobs.sign_with = SignWith::named(value.as_str().unwrap()),
                "trust_signature" => knobs.trust_signature = value.as_str().unwrap().to_owned(),
                "sums" => knobs.sums = texts(value).map(str::to_owned).collect(),
                "rules" => {
                    knobs.rules = value.as_array().unwrap().iter().map(Rule::parse).collect();
                }
                other => panic!("unknown knob {other}"),
            }
        }
        knobs
    }

    /// The fault of the first rule that a request falls under; the rule counts it.
    pub(crate) fn fault(&mut self, kind: Kind, path: &str, method: &str) -> Option<Fault> {
        let hit = |rule: &mut Rule| rule.hits(kind, path, method).then(|| rule.fault.clone());
        self.rules.iter_mut().find_map(hit)
    }
}

impl Rule {
    fn parse(given: &Value) -> Self {
        let fields = given.as_object().expect("a rule is an object").clone();
        let kinds = match fields.get("kind") {
            None => Vec::new(),
            Some(Value::String(all)) if all == "*" => Vec::new(),
            Some(Value::String(one)) => vec![one.clone()],
            Some(several) => texts(several).map(str::to_owned).collect(),
        };
        let unknown = kinds
            .iter()
            .find(|kind| !Kind::NAMES.contains(&kind.as_str()));
        assert_eq!(unknown, None, "unknown kind");
        let text = |name| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let path = text("path").unwrap_or_default();
        let plain = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
        assert!(path.chars().all(plain), "no plain text: {path}");
        Self {
            kinds,
            path,
            method: text("method"),
            skip: fields.get("skip").map_or(0, |n| n.as_u64().unwrap()),
            left: match fields.get("times").map_or(1, |n| n.as_i64().unwrap()) {
                -1 => None,
                times => Some(times.try_into().unwrap()),
            },
            fault: Fault::parse(fields),
        }
    }

    fn hits(&mut self, kind: Kind, path: &str, method: &str) -> bool {
        let meant = self.left != Some(0)
            && (self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind.name()))
            && self.method.as_deref().is_none_or(|wanted| wanted == method)
            && path.contains(&self.path);
        if !meant {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.left = self.left.map(|left| left - 1);
        true
    }
}

impl Fault {
    /// All actions beside status codes.
    const ACTIONS: &[&str] = &[
        "status",
        "reset",
        "close",
        "reset_mid",
        "truncate",
        "length",
        "flip",
        "slow",
        "slowloris",
        "stall",
        "html",
        "bad_json",
        "wrong_checksum",
        "bad_signature",
        "other_key",
        "garbage_signature",
        "missing_signature",
        "no_keys",
        "wrong_platform",
        "wrong_packages",
        "wrong_size",
        "missing_package",
        "patch",
        "answer",
    ];

    fn parse(fields: Map<String, Value>) -> Self {
        let action = match &fields["action"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let known = action.parse::<u16>().is_ok() || Self::ACTIONS.contains(&action.as_str());
        assert!(known, "unknown action {action}");
        Self { action, fields }
    }

    /// The status code that is the whole fault.
    pub(crate) fn status(&self) -> Option<u16> {
        if self.action == "status" {
            return Some(self.number("status", 500) as u16);
        }
        self.action.parse().ok()
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// A text field; empty if it is not there.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.field(name).and_then(Value::as_str).unwrap_or("")
    }

    /// A number field.
    pub(crate) fn number(&self, name: &str, otherwise: u64) -> u64 {
        self.field(name)
            .and_then(Value::as_u64)
            .unwrap_or(otherwise)
    }

    /// The seconds of a stall.
    pub(crate) fn seconds(&self) -> f64 {
        self.field("seconds")
            .and_then(Value::as_f64)
            .unwrap_or(30.0)
    }

    /// The object field `name`, as pairs.
    pub(crate) fn pairs(&self, name: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.field(name)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().expect("a list of texts");
    list.iter().map(|text| text.as_str().expect("a text"))
}
