//! `policy { … }`: the providers and versions that may be locked, and the exemptions from that.

use super::names::{EXAMPLE, distinct, own_name, platforms, provider};
use super::values::{BodySchema, Located, ProjectReader, choice, listed};
use super::{PlatformName, ProviderName, RuleSetting, SettingPlace};
use crate::addr::{Hostname, ProviderAddr, ProviderPattern};
use crate::diag::{Area, Diagnostic, Level, RULES, Span, did_you_mean, rules};
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Body};
use crate::package::{AgePolicy, KeyId, MinAge, Undated};
use crate::version::{Constraints, Version};

const POLICY: BodySchema = BodySchema {
    subject: "a policy block",
    arguments: &[
        "allow",
        "deny",
        "hosts",
        "prereleases",
        "one_version",
        "require_lock",
        "platforms",
        "min_age",
        "max_age",
        "undated",
    ],
    blocks: &["provider", "exempt"],
};

const POLICY_PROVIDER: BodySchema = BodySchema {
    subject: "a provider block in policy",
    arguments: &["key_id", "min_age"],
    blocks: &[],
};

const EXEMPT: BodySchema = BodySchema {
    subject: "an exempt block",
    arguments: &["provider", "reason", "until"],
    blocks: &[],
};

const UNDATED: [(&str, Undated); 2] = [("accept", Undated::Accept), ("refuse", Undated::Refuse)];

/// The words of `prereleases`, with whether they are refused.
const PRERELEASES: [(&str, bool); 2] = [("accept", false), ("refuse", true)];

/// `policy { … }`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The providers that may be locked; `None` if any may.
    pub allow: Option<PolicyList>,
    /// The providers that must not be locked.
    pub deny: Vec<PolicyEntry>,
    /// The hosts that providers may come from; `None` if they may come from any.
    pub hosts: Option<HostList>,
    /// The place that refuses pre-releases.
    pub no_prereleases: Option<SettingPlace>,
    /// The providers that all roots must lock at one version.
    pub one_version: Vec<PolicyEntry>,
    /// Every directory with configuration that no other one calls is a root and must have a lock file.
    pub require_lock: bool,
    /// The platforms that must be covered, whichever are wanted beside them.
    pub platforms: Vec<PlatformName>,
    /// The only key that may sign the releases of a provider.
    pub keys: Vec<PinnedKey>,
    /// Minimum age of a release.
    pub min_age: Option<MinAge>,
    /// Minimum ages of the releases of single providers.
    pub min_ages: Vec<(ProviderName, MinAge)>,
    /// The age of a release that is reported as too old.
    pub max_age: Option<MinAge>,
    /// The treatment of a release without any date.
    pub undated: Undated,
    /// The providers that a rule of a policy does not concern.
    pub exempt: Vec<RuleSetting>,
}

/// A list of a policy, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyList {
    pub entries: Vec<PolicyEntry>,
    pub place: SettingPlace,
}

/// The list `hosts` of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList {
    /// Each with its place in the file.
    pub hosts: Vec<(Hostname, SettingPlace)>,
    /// The place of the list.
    pub place: SettingPlace,
}

/// The reason why a policy refuses a provider or a version, with the place that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyRefusal {
    /// No entry of `allow` is about the provider.
    NotAllowed(SettingPlace),
    /// The host is none of `hosts`.
    Host(SettingPlace),
    /// An entry of `deny` is about the provider.
    Denied(SettingPlace),
    /// The entries of `allow` about the provider name other versions.
    VersionNotAllowed(SettingPlace),
    /// An entry of `deny` names the version.
    VersionDenied(SettingPlace),
    /// The version is a pre-release.
    Prerelease(SettingPlace),
}

impl PolicyRefusal {
    /// Returns the name of its rule.
    #[must_use]
    pub fn rule(self) -> &'static str {
        match self {
            Self::NotAllowed(_) | Self::Host(_) | Self::Denied(_) => rules::PROVIDER_NOT_ALLOWED,
            _ => rules::VERSION_NOT_ALLOWED,
        }
    }
}

/// An element of `allow`, `deny` or `one_version`: a pattern of providers, and perhaps versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyEntry {
    /// The entry as it is written, as in `hashicorp/aws < 5.30`.
    pub text: String,
    /// The place of the entry in the file.
    pub place: SettingPlace,
    /// Its versions; every version if it names none.
    pub versions: Option<Constraints>,
    // What the pattern means to each flavor that takes it for one. Invariant: to at least one.
    meanings: Vec<(Flavor, ProviderPattern)>,
}

/// `provider "ADDR" { key_id = "…" }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedKey {
    /// Whose releases it signs.
    pub provider: ProviderName,
    /// The key by its ID or fingerprint.
    pub key: KeyId,
    /// The place of the key in the file.
    pub place: SettingPlace,
}

impl PolicyEntry {
    /// Returns true if the pattern is about a provider, by the rules of a flavor.
    #[must_use]
    pub fn names(&self, provider: &ProviderAddr, flavor: Flavor) -> bool {
        // A text that is no pattern to this flavor is about nothing here.
        self.meanings
            .iter()
            .any(|(reader, glob)| *reader == flavor && glob.allows(provider))
    }

    /// Returns true if a version is one of those that the entry names.
    ///
    /// Versions are compared by their order alone, so that `< 5.30` includes `5.30.0-beta1`.
    #[must_use]
    pub fn has_version(&self, version: &Version) -> bool {
        self.versions
            .iter()
            .flatten()
            .all(|term| term.is_met_by(version))
    }
}

impl Policy {
    /// Returns how old a release of a provider must be, if that matters.
    #[must_use]
    pub fn age(&self, provider: &ProviderAddr, flavor: Flavor) -> Option<AgePolicy> {
        if self.exempts(rules::RELEASE_TOO_YOUNG, provider, flavor) {
            return None;
        }
        let min_age = self
            .min_ages
            .iter()
            .find(|(name, _)| name.means(provider, flavor))
            .map(|(_, age)| *age)
            .or(self.min_age)?;
        AgePolicy::new(min_age, self.undated)
    }

    /// Returns true if an exemption from a rule is about a provider, or about all.
    #[must_use]
    pub fn exempts(&self, rule: &str, provider: &ProviderAddr, flavor: Flavor) -> bool {
        self.exempt.iter().any(|setting| {
            let name = setting.provider.as_ref();
            setting.rule == rule && name.is_none_or(|name| name.means(provider, flavor))
        })
    }

    /// Returns why a provider, or a version of it, must not be locked; built-in providers need no permission.
    #[must_use]
    pub fn refusal(
        &self,
        provider: &ProviderAddr,
        version: Option<&Version>,
        flavor: Flavor,
    ) -> Option<PolicyRefusal> {
        // A built-in provider is a part of the program, and no lock file has it.
        if provider.is_builtin(flavor) {
            return None;
        }
        let denied = self
            .deny
            .iter()
            .filter(|entry| entry.names(provider, flavor));
        // Denied as a whole: that beats every list that allows something.
        if let Some(entry) = denied.clone().find(|entry| entry.versions.is_none()) {
            return Some(PolicyRefusal::Denied(entry.place));
        }
        let is_of_host = |(host, _): &(Hostname, _)| host == provider.hostname();
        if let Some(list) = &self.hosts
            && !list.hosts.iter().any(is_of_host)
        {
            return Some(PolicyRefusal::Host(list.place));
        }
        let allowed = self.allow.as_ref().map(|list| {
            let about: Vec<_> = list
                .entries
                .iter()
                .filter(|entry| entry.names(provider, flavor))
                .collect();
            (list.place, about)
        });
        if let Some((place, about)) = &allowed
            && about.is_empty()
        {
            return Some(PolicyRefusal::NotAllowed(*place));
        }
        // What follows depends on the version, which is unknown before one is selected.
        let version = version?;
        if let Some(entry) = denied.into_iter().find(|entry| entry.has_version(version)) {
            return Some(PolicyRefusal::VersionDenied(entry.place));
        }
        if let Some((_, about)) = &allowed
            && !about.iter().any(|entry| entry.has_version(version))
        {
            return Some(PolicyRefusal::VersionNotAllowed(about[0].place));
        }
        self.no_prereleases
            .filter(|_| version.is_prerelease())
            .map(PolicyRefusal::Prerelease)
    }

    /// Returns true if a version may be selected of a provider that is allowed.
    #[must_use]
    pub fn admits(&self, provider: &ProviderAddr, version: &Version, flavor: Flavor) -> bool {
        self.refusal(provider, Some(version), flavor)
            .is_none_or(|refusal| {
                refusal.rule() != rules::VERSION_NOT_ALLOWED
                    || self.exempts(refusal.rule(), provider, flavor)
            })
    }
}

pub(super) fn read(body: &Body, reader: &mut ProjectReader) -> Policy {
    reader.names(body, &POLICY);
    let allow = entries(body, "allow", reader)
        .zip(place(body, "allow", reader))
        .map(|(entries, place)| PolicyList { entries, place });
    let mut policy = Policy {
        allow,
        deny: entries(body, "deny", reader).unwrap_or_default(),
        hosts: hosts(body, reader),
        no_prereleases: reader
            .text(body, "prereleases")
            .and_then(|text| choice("Invalid choice", &text, &PRERELEASES, reader))
            .filter(|are_refused| *are_refused)
            .and_then(|_| place(body, "prereleases", reader)),
        one_version: one_version(body, reader),
        require_lock: reader.flag(body, "require_lock").unwrap_or(false),
        platforms: platforms(body, reader),
        min_age: age(body, "min_age", reader),
        max_age: age(body, "max_age", reader),
        undated: reader
            .text(body, "undated")
            .and_then(|text| choice("Invalid choice", &text, &UNDATED, reader))
            .unwrap_or_default(),
        ..Policy::default()
    };
    let mut named = Vec::new();
    for block in reader.blocks(body, "provider") {
        reader.names(&block.body, &POLICY_PROVIDER);
        // All arguments are read before a bad name ends the block, so that its other faults are reported, too.
        let name = own_name(block, &mut named, reader);
        let min_age = age(&block.body, "min_age", reader);
        let key = key(block, reader);
        let place = place(&block.body, "key_id", reader);
        let Some(provider) = name else { continue };
        policy
            .min_ages
            .extend(min_age.map(|min_age| (provider.clone(), min_age)));
        if let (Some(key), Some(place)) = (key, place) {
            policy.keys.push(PinnedKey {
                provider,
                key,
                place,
            });
        }
    }
    let mut exempted: Vec<(RuleSetting, Span)> = Vec::new();
    for block in reader.blocks(body, "exempt") {
        if let Some(setting) = exempt(block, reader) {
            distinct(&setting, block, &exempted, reader);
            exempted.push((setting, block.header));
        }
    }
    policy.exempt = exempted.into_iter().map(|(setting, _)| setting).collect();
    policy
}

fn place(body: &Body, name: &str, reader: &ProjectReader) -> Option<SettingPlace> {
    let argument = body.attribute(name)?;
    Some(reader.place(argument.value.span))
}

/// Reads a list of patterns with versions.
fn entries(body: &Body, name: &str, reader: &mut ProjectReader) -> Option<Vec<PolicyEntry>> {
    let texts = reader.some_texts(body, name)?;
    Some(
        texts
            .into_iter()
            .filter_map(|text| entry(text, reader))
            .collect(),
    )
}

fn entry(text: Located<String>, reader: &mut ProjectReader) -> Option<PolicyEntry> {
    let (pattern, versions) = match text.value.trim().split_once(char::is_whitespace) {
        Some((pattern, versions)) => (pattern, Some(versions)),
        None => (&*text.value, None),
    };
    // A pattern without a hostname means another registry to each program.
    let mut meanings = Vec::new();
    let mut failure = None;
    for flavor in Flavor::ALL {
        match ProviderPattern::parse_policy(pattern, flavor) {
            Ok(glob) => meanings.push((flavor, glob)),
            Err(error) => failure = Some(error),
        }
    }
    // A pattern that one program alone can read is about that one.
    if meanings.is_empty() {
        let examples = ["hashicorp/aws", "hashicorp/*", "example.com/*/*"];
        let help = format!("write a pattern as in {}", listed(&examples));
        let remark = failure.map_or_else(String::new, |error| error.to_string());
        reader.invalid("Invalid pattern", text.span, &remark, &help);
        return None;
    }
    let versions = match versions.map(Constraints::parse_config) {
        Some(Err(error)) => {
            let help = "write versions behind the pattern as in \"hashicorp/aws >= 5.30, < 6\"";
            reader.invalid("Invalid versions", text.span, &error.to_string(), help);
            return None;
        }
        versions => versions.and_then(Result::ok),
    };
    Some(PolicyEntry {
        place: reader.place(text.span),
        text: text.value,
        versions,
        meanings,
    })
}

fn hosts(body: &Body, reader: &mut ProjectReader) -> Option<HostList> {
    let mut hosts = Vec::new();
    for text in reader.some_texts(body, "hosts")? {
        let place = reader.place(text.span);
        hosts.extend(reader.host(&text).map(|host| (host, place)));
    }
    let place = place(body, "hosts", reader)?;
    Some(HostList { hosts, place })
}

/// Reads `one_version`: patterns, or `true` for every provider.
fn one_version(body: &Body, reader: &mut ProjectReader) -> Vec<PolicyEntry> {
    let Some(argument) = body.attribute("one_version") else {
        return Vec::new();
    };
    let span = argument.value.span;
    match reader.is_flag(&argument.value) {
        Some(false) => Vec::new(),
        Some(true) => {
            let value = "*/*/*".to_owned();
            entry(Located { value, span }, reader).into_iter().collect()
        }
        None => entries(body, "one_version", reader).unwrap_or_default(),
    }
}

fn age(body: &Body, name: &str, reader: &mut ProjectReader) -> Option<MinAge> {
    let text = reader.text(body, name)?;
    let age = text.value.parse::<MinAge>();
    if let Err(error) = &age {
        let help = "write a number of hours, days or weeks, as in 12h, 7d or 2w";
        reader.invalid("Invalid age", text.span, &error.to_string(), help);
    }
    age.ok()
}

fn key(block: &Block, reader: &mut ProjectReader) -> Option<KeyId> {
    if block.body.attribute("key_id").is_none() {
        if block.body.attribute("min_age").is_none() {
            let help = "write key_id = \"…\", as `lockctl lock -v` prints it, or min_age = \"…\"";
            let remark = "key_id or min_age is missing";
            reader.invalid("Missing argument", block.header, remark, help);
        }
        return None;
    }
    let text = reader.text(&block.body, "key_id")?;
    let key = KeyId::parse(&text.value);
    // A fingerprint of version 4 has 20 bytes, and the ID of the key is its last 8 (RFC 4880 section 12.2).
    if key.is_none() {
        let remark = "this is neither the ID of a key nor its fingerprint";
        let help = "write 16 or 40 hexadecimal digits, as in 34365D9472D7468F";
        reader.invalid("Invalid key", text.span, remark, help);
    }
    key
}

/// Reads `exempt "RULE" { … }`.
fn exempt(block: &Block, reader: &mut ProjectReader) -> Option<RuleSetting> {
    reader.names(&block.body, &EXEMPT);
    let label = reader.label(block, rules::RELEASE_TOO_YOUNG)?;
    let rules = || RULES.iter().filter(|rule| rule.area == Area::Policy);
    let rule = rules().find(|rule| rule.name == label.text);
    if rule.is_none() {
        let names: Vec<&str> = rules().map(|rule| rule.name).collect();
        let help = did_you_mean(&label.text, &names)
            .unwrap_or_else(|| format!("it can be {}", names.join(", ")));
        let remark = "this is no rule of a policy";
        reader.invalid("Unknown rule", label.span, remark, &help);
    }
    let reason = reader.reason(block, "an exemption needs a reason");
    let Some(text) = reader.text(&block.body, "provider") else {
        // A provider of another type was reported already.
        if block.body.attribute("provider").is_none() {
            let help = format!("write provider = {EXAMPLE:?}");
            let remark = "an exemption is about one provider";
            reader.invalid("Missing provider", block.header, remark, &help);
        }
        return None;
    };
    let provider = provider(&text.value, text.span, reader)?;
    let until = reader.until(&block.body)?;
    // An exception without an end outlives its reason.
    if until.is_none() {
        let note = Diagnostic::note(rules::PROJECT_ODD, "Exemption without an end")
            .at(reader.file, block.header, "it counts for ever")
            .help("write until = \"YEAR-MONTH-DAY\"");
        reader.push(note);
    }
    Some(RuleSetting {
        rule: rule?.name,
        level: Level::Off,
        reason: Some(reason),
        provider: Some(provider),
        until,
        place: reader.place(block.header),
    })
}
